/* redundancy.c — rank of A, redundant constraints, and uniqueness of the multipliers.
 *
 * In the report, the field `redundant` of a constraint refers to all states. The sets of redundant constraints refer to
 * the initial state, which may be singular. */
#include "engine/analyze/analysis_int.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/initial_values.h"
#include "engine/dynamics/redundancy_report.h"

#include <string.h>

/* Reports the largest rank at the samples, and the constraints that are redundant at every sample. */
static hamel_status report_rank(analysis *a) {
    const matrix_pattern *A = &a->equations.A;
    graph_node *nodes = arena_alloc(a->memory, A->count, sizeof *nodes);
    double *values = arena_doubles(a->memory, A->count), *row = arena_doubles(a->memory, a->n);
    bool *independent = arena_alloc(a->memory, a->m, sizeof *independent);
    rank_rows basis = {0};
    size_t largest = 0;
    hamel_status status = HAMEL_OK;
    if (!rank_rows_init(&basis, a->groups.most_constraints, a->groups.most_coordinates, SAMPLED_RANK_TOLERANCE) ||
        a->memory->failed)
        status = analysis_no_memory(a);
    for (size_t k = 0; status == HAMEL_OK && k < A->count; k++) nodes[k] = A->entries[k].node;
    for (size_t s = 0; s < SAMPLE_COUNT && status == HAMEL_OK; s++) {
        status = zero_values(a, &a->samples[s], false, nodes, A->count, values);
        size_t rank = 0;
        for (size_t k = 0; k < a->groups.count && status == HAMEL_OK; k++)
            rank += groups_rank(&a->groups, k, A, values, &basis, row, independent);
        if (rank > largest) largest = rank;
    }
    rank_rows_free(&basis);
    for (size_t c = 0; status == HAMEL_OK && c < a->m; c++) a->report->constraints[c].redundant = !independent[c];
    a->report->degrees_of_freedom = a->n - largest;
    return status;
}

static hamel_status report_dependence(analysis *a, const dynamics *k) {
    redundancy found;
    hamel_status status = redundancy_find(&found, &a->model->dynamics.A, k->values, k->discrete_state.active,
                                          k->survey.usual, RANK_TOLERANCE);
    if (status == HAMEL_OK && !(a->report->redundancy = redundancy_report(&found, a->model))) status = HAMEL_NO_MEMORY;
    for (size_t c = 0; status == HAMEL_OK && c < a->m; c++) a->report->constraints[c].unique = !found.involved[c];
    redundancy_free(&found);
    return status == HAMEL_OK ? status : analysis_no_memory(a);
}

/* Evaluates `k` at the consistent initial state. If no consistent velocities are found near those of the description,
 * evaluates the first sample instead. One cause is a nonlinear velocity constraint whose gradient vanishes, for example
 * at rest. */
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

hamel_status redundancy_derive(analysis *a) {
    hamel_status status = report_rank(a);
    if (status != HAMEL_OK) return status;
    double *q = arena_doubles(a->memory, 2 * a->n);
    dynamics *k = q ? dynamics_create(a->model) : NULL;
    if (!k) return analysis_no_memory(a);
    status = evaluate_start(a, k, q, q + a->n);
    if (status == HAMEL_OK) status = report_dependence(a, k);
    dynamics_free(k);
    return status;
}
