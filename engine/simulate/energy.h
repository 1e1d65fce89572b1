/* energy.h — the effect of the tolerances of a run on its energy. */
#pragma once

#include "engine/model/model.h"

/* Returns the energy tolerance Σ |∂T/∂q'_i| (rtol |q'_i| + atol_i) + |Q_i| (rtol |q_i| + atol_i), which is of first order,
 * plus the rounding of the energy. M and Q are outputs of the dynamics program at the state q[n], v[n]. */
double energy_tolerance(const hamel_model *model, const double *M, const double *Q, const double *q, const double *v,
                        double energy);

/* Returns Σ M_ii atol_i²/rtol, the energy tolerance for velocities atol/rtol, which the tolerances treat as rest. */
double energy_at_rest(const hamel_model *model, const double *M);

/* Returns true if an error of the work balance is far larger than the energy tolerance. */
bool energy_is_unbalanced(double error, double tolerance);
