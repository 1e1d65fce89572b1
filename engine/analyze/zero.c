/* zero.c — tests whether expressions are identically zero.
 *
 * graph_values computes the value of an expression at a sample, with a bound on the rounding error. An expression is
 * treated as identically zero if its value is within this bound at every sample. */
#include "engine/analyze/analysis_int.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool zero_test_add(analysis *a, graph_node node, bool *nonzero, uint64_t *beyond) {
    if (node < 0) return false;
    if (*nonzero || graph_is_zero(a->system->graph, node)) return true;
    *nonzero = graph_is_number(a->system->graph, node, NULL);
    if (*nonzero) return true;
    zero_test *tests = arena_grow(a->memory, a->tests, &a->test_capacity, a->test_count + 1, sizeof *tests);
    if (!tests) return false;
    a->tests = tests;
    tests[a->test_count++] = (zero_test){node, nonzero, beyond};
    return true;
}

graph_point sample_point(const analysis *a, const sample *at, bool free_velocities) {
    program_inputs in =
        model_inputs(a->model, &at->t, at->q, free_velocities ? at->free_v : at->v, at->a, at->lambda, at->a);
    graph_point point = {{0}, {0}, {0}};
    in.values[SYMBOL_NONIDEAL] = at->nonideal;
    in.values[SYMBOL_IDEAL] = at->nonideal;
    memcpy(point.values, in.values, sizeof point.values);
    if (a->m > 0) point.error[SYMBOL_COORDINATE] = point.error[SYMBOL_VELOCITY] = PROJECTION_ERROR;
    return point;
}

hamel_status zero_tests_run(analysis *a) {
    assert(a->test_count <= a->test_capacity && a->other_count <= REGIONS_MOST);
    size_t count = a->test_count;
    graph_node *nodes = arena_alloc(a->memory, count, sizeof *nodes);
    double *values = arena_doubles(a->memory, count), *errors = arena_doubles(a->memory, count);
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t k = 0; k < count; k++) nodes[k] = a->tests[k].node;
    for (size_t s = 0; s < SAMPLE_COUNT + a->other_count && count > 0; s++) {
        bool regional = s >= SAMPLE_COUNT;
        const graph_point point = sample_point(a, regional ? &a->others[s - SAMPLE_COUNT].at : &a->samples[s], false);
        if (!graph_values(a->system->graph, nodes, count, &point, values, errors)) return analysis_no_memory(a);
        for (size_t k = 0; k < count; k++) {
            const zero_test *test = &a->tests[k];
            if (fabs(values[k]) <= ROUNDING_SAFETY * errors[k]) continue;
            if (regional && test->beyond)
                *test->beyond |= UINT64_C(1) << (s - SAMPLE_COUNT);
            else
                *test->nonzero = true;
        }
    }
    a->test_count = 0;
    return HAMEL_OK;
}

hamel_status zero_values(analysis *a, const sample *at, bool free_velocities, const graph_node *nodes, size_t count,
                         double *values) {
    const graph_point point = sample_point(a, at, free_velocities);
    return graph_values(a->system->graph, nodes, count, &point, values, NULL) ? HAMEL_OK : analysis_no_memory(a);
}
