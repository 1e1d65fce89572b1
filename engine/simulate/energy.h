/* energy.h — what the tolerances of a run amount to in its energy. */
#ifndef HAMEL_SIMULATE_ENERGY_H
#define HAMEL_SIMULATE_ENERGY_H

#include "engine/model/model.h"

/* To first order: Σ |∂T/∂q'_i| (rtol |q'_i| + atol_i) + |Q_i| (rtol |q_i| + atol_i), and rounding. M and Q as the dynamics
 * program gives them. */
double energy_tolerance(const hamel_model *model, const double *M, const double *Q, const double *q, const double *v,
                        double energy);

/* The same for velocities of the size atol/rtol, of which tolerances make no difference to rest: Σ M_ii atol_i²/rtol. */
double energy_at_rest(const hamel_model *model, const double *M);

/* Whether the work balance is off by far more than the tolerances asked for account for. */
bool energy_is_unbalanced(double error, double tolerance);

#endif
