/* uncertainty.h — first-order error bounds of the outputs of a program at a state that is accurate to the tolerances. */
#pragma once

#include "engine/base/arena.h"
#include "engine/model/model.h"

typedef struct uncertainty {
    const hamel_model *model;
    const program *program; /* borrowed */
    double *work;           /* workspace of the program, prepared */
    double *tangent_work, *seeds, *dots;
} uncertainty;

/* Allocates the workspaces in `memory`. Returns false if out of memory. */
bool uncertainty_create(uncertainty *u, arena *memory, const hamel_model *model, const program *p);

/* Computes for each output i, at a state with the accelerations a, with sums over all coordinates and velocities y_k:
 *
 *     value[i] = Σ |∂f_i/∂y_k| (rtol |y_k| + atol_k)      (may be NULL)
 *     rate[i] = Σ |∂f_i/∂y_k| (rtol |y_k'| + atol_k)
 *     motion[i] = Σ ∂f_i/∂y_k y_k' + ∂f_i/∂t              (may be NULL)
 *
 * Partial derivatives that are not finite are treated as 0. */
void uncertainty_find(uncertainty *u, const program_inputs *in, const double *q, const double *v, const double *a,
                      double *value, double *rate, double *motion);
