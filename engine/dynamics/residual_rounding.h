/* residual_rounding.h — whether constraints hold as well as their own rounding allows.
 *
 * A residual is measured relative to its gradient, Σ |A_ci| max(1, |q_i|) (kinetics.h). If the terms of a constraint
 * are much larger than that and cancel, as the positions of two points of one body in millimetres do, rounding alone
 * exceeds any fixed part of it. Then the bound of the rounding error of the expression decides (graph_evaluate). */
#ifndef HAMEL_SOLVE_RESIDUAL_ROUNDING_H
#define HAMEL_SOLVE_RESIDUAL_ROUNDING_H

#include "engine/solve/kinetics.h"

/* *rounding: whether each residual of a level, at the state evaluated last, after kinetics_residuals, is at most
 * `scaled` as kinetics_scaled has it, or within its rounding. If the former fails, it walks through the expressions and
 * allocates: not for a right-hand side. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status residuals_find_rounding(const kinetics *k, bool position, double scaled, bool *rounding) HAMEL_CHECKED;

#endif
