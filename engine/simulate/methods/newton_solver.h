/* newton_solver.h — solver for the Newton systems of BDF, with SUNDIALS' matrix and linear solver interfaces.
 *
 * CVODE decides when to linearize and when to factor. The functions of engine/dynamics/newton_matrix.h linearize and
 * factor. */
#pragma once

#include "engine/base/arena.h"
#include "engine/dynamics/variables.h"

#include <sundials/sundials_nvector.h>

typedef struct newton_solver newton_solver;

/* Creates the solver in `memory` and attaches it to CVODE. CVODE's user data must be set, and its nonlinear solver must
 * be Newton's method. `x` and `k` are borrowed. v[n] is the initial guess of the velocities. Returns NULL if out of
 * memory or if CVODE reports an error. */
newton_solver *newton_solver_attach(arena *memory, void *cvode, variables *x, dynamics *k, const double *v,
                                    SUNContext context);
void newton_solver_free(newton_solver *s); /* call it after CVodeFree and before `memory` is freed */
