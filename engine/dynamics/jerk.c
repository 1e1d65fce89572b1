/* jerk.c — see jerk.h. */
#include "engine/dynamics/jerk.h"

#include "engine/base/finite.h"

#include <assert.h>

/* If the equations of redundant constraints disagree by more than this fraction of the right-hand side, the constraints
 * are reported as contradictory. The value is that of dynamics.c. */
static const double CONTRADICTION = 1e-3;

hamel_status jerk_compute(dynamics *k, const double *a, const double *lambda) {
    const hamel_model *model = k->model;
    const size_t n = model->n;
    assert(model->observation.jerk && !k->without_mass);
    program_inputs in = discrete_state_inputs(&k->discrete_state, &k->t, k->q, k->v, a, lambda);
    program_evaluate(model->observation.jerk, &in, k->jerk_work, k->jerk_right);
    for (size_t c = 0; c < model->m; c++) /* the solver ignores inactive constraints and sets their multipliers to 0 */
        if (!k->discrete_state.active[c]) k->jerk_right[n + c] = 0;
    if (!all_finite(k->jerk_right, n + model->m)) return HAMEL_NOT_FINITE;
    hamel_status status = motion_factor(&k->motion, k->t, k->q, k->v, k->values);
    if (status != HAMEL_OK) return status;
    return motion_solve(&k->motion, k->jerk_right, k->jerk_right + n, CONTRADICTION, k->jerk, k->jerk_lambda);
}
