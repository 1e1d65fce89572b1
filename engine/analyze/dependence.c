/* dependence.c — sets of redundant constraints in the initial state, and uniqueness of the multipliers.
 *
 * `redundant` in the report holds at every state. The sets found here hold in the initial state, which may be
 * singular. */
#include "engine/analyze/analysis_int.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/initial_values.h"
#include "engine/dynamics/redundancy_report.h"

#include <string.h>

static hamel_status report_dependence(analysis *a, const dynamics *k) {
    redundancy found;
    hamel_status status = redundancy_find(&found, &a->model->dynamics.A, k->values, k->discrete_state.active,
                                          k->survey.usual, RANK_TOLERANCE);
    if (status == HAMEL_OK && !(a->report->redundancy = redundancy_report(&found, a->model))) status = HAMEL_NO_MEMORY;
    for (size_t c = 0; status == HAMEL_OK && c < a->m; c++) a->report->constraints[c].unique = !found.involved[c];
    redundancy_free(&found);
    return status == HAMEL_OK ? status : analysis_no_memory(a);
}

/* Evaluates `k` at the consistent initial state. If no consistent velocities are found near the given ones, evaluates
 * the first sample instead: the gradient of a nonlinear velocity constraint may vanish, for example at rest. */
static hamel_status evaluate_start(analysis *a, dynamics *k, double *q, double *v) {
    const hamel_model *model = a->model;
    double start = model->settings.start, residual;
    memcpy(q, model->q0, a->n * sizeof *q);
    memcpy(v, model->v0, a->n * sizeof *v);
    hamel_status status = initial_velocities_from_quasi(k, start, q, v, a->error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(k, start, q, v, HAMEL_INITIALIZATION_PROJECT, &residual, a->error);
    if (status != HAMEL_INCOMPATIBLE) return status;
    hamel_error_clear(a->error);
    return dynamics_evaluate(k, a->samples[0].t, a->samples[0].q, a->samples[0].v, a->error);
}

hamel_status dependence_derive(analysis *a) {
    double *q = arena_alloc(a->memory, 2 * a->n, sizeof *q), *v = q + a->n;
    dynamics *k = q ? dynamics_create(a->model) : NULL;
    if (!k) return analysis_no_memory(a);
    hamel_status status = evaluate_start(a, k, q, v);
    if (status == HAMEL_OK) status = report_dependence(a, k);
    dynamics_free(k);
    return status;
}
