/* newton_solver.h — the Newton systems of BDF behind SUNDIALS' matrix and linear solver interfaces.
 *
 * CVODE decides when a linearization is stale (its "linear system function" is told) and when to factor; the mathematics
 * is in engine/solve/newton_matrix.h. */
#ifndef HAMEL_SIMULATE_NEWTON_SOLVER_H
#define HAMEL_SIMULATE_NEWTON_SOLVER_H

#include "engine/solve/variables.h"

#include <sundials/sundials_nvector.h>

typedef struct newton_solver newton_solver;

/* Makes the solver and gives it to CVODE, whose user data must be set already and whose nonlinear solver must be
 * Newton's. `x` and `k` are borrowed; v[n] are velocities near the present ones. NULL without memory. */
newton_solver *newton_solver_attach(void *cvode, variables *x, kinetics *k, const double *v, SUNContext context);
void newton_solver_free(newton_solver *s); /* after CVodeFree */

double newton_solver_linearizations(const newton_solver *s); /* 0 for NULL */

#endif
