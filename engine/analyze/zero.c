/* zero.c — is an expression identically zero?
 *
 * Its value at a sample is computed together with a bound of its rounding error (graph_evaluate). An expression that
 * stays within that bound at every sample is taken for zero. */
#include "engine/analyze/analysis_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STATE_ERROR = 1e-11; /* of values that a projection has moved */
static const double SAFETY = 8;

typedef struct evaluation {
    double *value, *error; /* one a cell */
} evaluation;

bool zero_test_add(analysis *a, graph_node node, bool *nonzero) {
    return zero_test_add_regional(a, node, nonzero, NULL);
}

bool zero_test_add_regional(analysis *a, graph_node node, bool *nonzero, uint64_t *beyond) {
    if (node < 0) return false;
    if (*nonzero || graph_is_zero(a->system->graph, node)) return true;
    double number;
    if (graph_is_number(a->system->graph, node, &number)) {
        *nonzero = true;
        return true;
    }
    zero_test *tests = arena_grow(a->memory, a->tests, &a->test_capacity, a->test_count + 1, sizeof *tests);
    if (!tests) return false;
    a->tests = tests;
    tests[a->test_count++] = (zero_test){node, nonzero, beyond};
    return true;
}

/* Everything up to the largest node, at one sample. */
static bool evaluate(analysis *a, evaluation *w, const sample *at, bool free_velocities, graph_node last) {
    program_inputs in =
        model_inputs(a->model, &at->t, at->q, free_velocities ? at->free_v : at->v, at->a, at->lambda, at->a);
    graph_point point = {{0}, {0}};
    w->value = malloc(((size_t)last + 1) * sizeof *w->value);
    w->error = malloc(((size_t)last + 1) * sizeof *w->error);
    if (!w->value || !w->error) return false;
    in.values[SYMBOL_NONIDEAL] = at->nonideal;
    in.values[SYMBOL_IDEAL] = at->nonideal;
    memcpy(point.values, in.values, sizeof point.values);
    if (a->m > 0) point.error[SYMBOL_COORDINATE] = point.error[SYMBOL_VELOCITY] = STATE_ERROR;
    graph_evaluate(a->system->graph, last, &point, w->value, w->error);
    return true;
}

static void evaluation_free(evaluation *w) {
    free(w->value);
    free(w->error);
}

/* Records the result of a test at a sample, or at region k. */
static void note(const zero_test *test, const evaluation *w, bool regional, size_t k) {
    if (fabs(w->value[test->node]) <= SAFETY * w->error[test->node]) return;
    if (regional && test->beyond)
        *test->beyond |= UINT64_C(1) << k;
    else
        *test->nonzero = true;
}

hamel_status zero_tests_run(analysis *a) {
    graph_node last = 0;
    for (size_t k = 0; k < a->test_count; k++) last = a->tests[k].node > last ? a->tests[k].node : last;
    for (size_t s = 0; s < SAMPLE_COUNT + a->other_count && a->test_count; s++) {
        evaluation w;
        bool regional = s >= SAMPLE_COUNT;
        const sample *at = regional ? &a->others[s - SAMPLE_COUNT].at : &a->samples[s];
        bool good = evaluate(a, &w, at, false, last);
        for (size_t k = 0; good && k < a->test_count; k++) note(&a->tests[k], &w, regional, s - SAMPLE_COUNT);
        evaluation_free(&w);
        if (!good) return analysis_no_memory(a);
    }
    a->test_count = 0;
    return HAMEL_OK;
}

hamel_status zero_values(analysis *a, const sample *at, bool free_velocities, const graph_node *nodes, size_t count,
                         double *values) {
    evaluation w;
    graph_node last = 0;
    for (size_t k = 0; k < count; k++) last = nodes[k] > last ? nodes[k] : last;
    bool good = evaluate(a, &w, at, free_velocities, last);
    for (size_t k = 0; good && k < count; k++) values[k] = w.value[nodes[k]];
    evaluation_free(&w);
    return good ? HAMEL_OK : analysis_no_memory(a);
}
