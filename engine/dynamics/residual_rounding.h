/* residual_rounding.h — test whether residuals are rounding errors of their expressions.
 *
 * A residual is measured relative to its gradient, Σ |A_ci| max(1, |q_i|) (dynamics.h). If the terms of a constraint
 * are much larger and cancel, as positions in millimetres of two points of one body, their rounding exceeds any fixed
 * fraction of that scale. The residual is then compared with a bound on the rounding error of the expression
 * (graph_evaluate). */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Sets *rounding to true if each residual of a level is at most `scaled` (dynamics_scaled) or within its rounding. Call
 * after dynamics_residuals. If a residual exceeds `scaled`, the function evaluates the expressions and allocates
 * memory, so do not use it in right-hand sides. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status residuals_find_rounding(const dynamics *k, bool position, double scaled, bool *rounding) HAMEL_CHECKED;
