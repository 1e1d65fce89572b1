/* dynamics_residual.h — the residual of accelerations and multipliers in the equations of motion:
 *
 *     M q'' = Q + R,     A q'' = b,     R = Aᵀλ for ideal constraints
 *
 * in Lagrange's form, whatever formulation found the solution. The residual of a row of motion is relative to
 * the largest sum of absolute terms among the rows that are coupled with it, each divided by the root of its diagonal entry
 * of M; that of a constraint to the absolute terms of its own row and to the accelerations that such forces give. It is the
 * normwise backward error of the system scaled to a unit diagonal (Higham, Accuracy and Stability of Numerical Algorithms,
 * 2nd ed., theorem 7.1), and does not depend on units. Where all terms vanish but for rounding, as on a straight path at
 * constant speed, momentum that comes or goes within the time of the whole run counts as a term. */
#ifndef HAMEL_SOLVE_DYNAMICS_RESIDUAL_H
#define HAMEL_SOLVE_DYNAMICS_RESIDUAL_H

#include "engine/model/model.h"

typedef struct dynamics_residual dynamics_residual;

/* NULL without memory. Nothing is allocated afterwards. */
dynamics_residual *dynamics_residual_create(const hamel_model *model);
void dynamics_residual_free(dynamics_residual *r);

/* The residuals of the rows of motion and of the constraints. */
typedef struct dynamics_missed {
    double motion, constraints;
} dynamics_missed;

/* `values` are outputs of the dynamics program at velocities v[n]: M, A and b are read. Q[n]; R[n], or NULL for Aᵀλ; a[n],
 * lambda[m]; usual[m]: usual lengths of rows (row_survey.h), 0 where unknown. INFINITY where something is not finite. */
dynamics_missed dynamics_residual_of(dynamics_residual *r, const double *values, const double *v, const double *Q,
                                     const double *R, const double *usual, const double *a, const double *lambda);

#endif
