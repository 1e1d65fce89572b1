/* uncertainty.h — first-order error bounds of the outputs of a program at a state known to within the tolerances. */
#ifndef HAMEL_SIMULATE_UNCERTAINTY_H
#define HAMEL_SIMULATE_UNCERTAINTY_H

#include "engine/model/model.h"

typedef struct uncertainty {
    const hamel_model *model;
    const program *program; /* borrowed */
    double *work;           /* the program's own, prepared */
    double *tangent_work, *seeds, *dots;
} uncertainty;

/* False without memory. */
bool uncertainty_create(uncertainty *u, const hamel_model *model, const program *p);
void uncertainty_free(uncertainty *u);

/* Of output i at a state with the accelerations a, over all coordinates and velocities y_k:
 *
 *     value[i] = Σ |∂f_i/∂y_k| (rtol |y_k| + atol_k)      (NULL: not wanted)
 *     rate[i] = Σ |∂f_i/∂y_k| (rtol |y_k'| + atol_k)
 *     motion[i] = Σ ∂f_i/∂y_k y_k' + ∂f_i/∂t              (NULL: not wanted)
 *
 * Slopes that are not finite count as 0. */
void uncertainty_find(uncertainty *u, const program_inputs *in, const double *q, const double *v, const double *a,
                      double *value, double *rate, double *motion);

#endif
