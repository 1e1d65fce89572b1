/* dependence.c — which constraints depend on which others at the initial state, and whose multipliers are unique.
 *
 * Unlike the flag `redundant`, which asks what holds at every state, this is asked where a run begins: a mechanism may
 * start in a singular position. */
#include "engine/analyze/analysis_int.h"

#include "engine/solve/initial_values.h"
#include "engine/solve/redundancy.h"

#include <string.h>

static hamel_status report(analysis *a, const kinetics *k) {
    redundancy found;
    hamel_status status =
        redundancy_find(&found, a->model, k->values, k->mode.active, k->survey.usual, REDUNDANCY_TOLERANCE);
    if (status == HAMEL_OK && !(a->report->redundancy = redundancy_report(&found, a->model))) status = HAMEL_NO_MEMORY;
    for (size_t c = 0; status == HAMEL_OK && c < a->m; c++) a->report->constraints[c].unique = !found.involved[c];
    redundancy_free(&found);
    return status == HAMEL_OK ? status : analysis_no_memory(a);
}

/* Evaluates `k` at the start, made consistent. No velocities near the given ones may be: where a nonlinear velocity
 * constraint has no gradient, as at rest, there is no way to it. Then a state that the samples have found serves. */
static hamel_status evaluate_start(analysis *a, kinetics *k, double *q, double *v) {
    const hamel_model *model = a->model;
    double start = model->settings.start, residual;
    memcpy(q, model->q0, a->n * sizeof *q);
    memcpy(v, model->v0, a->n * sizeof *v);
    hamel_status status = initial_velocities_from_quasi(k, start, q, v, a->error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(k, start, q, v, HAMEL_INITIALIZATION_PROJECT, &residual, a->error);
    if (status != HAMEL_INCOMPATIBLE) return status;
    hamel_error_clear(a->error);
    return kinetics_evaluate(k, a->samples[0].t, a->samples[0].q, a->samples[0].v, a->error);
}

hamel_status dependence_derive(analysis *a) {
    double *q = arena_alloc(a->memory, 2 * a->n, sizeof *q), *v = q + a->n;
    kinetics *k = q ? kinetics_create(a->model) : NULL;
    if (!k) return analysis_no_memory(a);
    hamel_status status = evaluate_start(a, k, q, v);
    if (status == HAMEL_OK) status = report(a, k);
    kinetics_free(k);
    return status;
}
