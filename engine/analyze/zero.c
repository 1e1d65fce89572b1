/* zero.c — is an expression identically zero?
 *
 * Its value at a sample is computed together with a bound of its rounding error, by a loop over the graph: each operation
 * adds what its operands' errors make of it and its own rounding. An expression that stays within that bound at every
 * sample is taken for zero. */
#include "engine/analyze/analysis_int.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double STATE_ERROR = 1e-11; /* of values that a projection has moved */
static const double SAFETY = 8;

typedef struct evaluation {
    double *value, *error; /* one a cell */
    program_inputs in;
    bool exact[SYMBOL_KIND_COUNT];
} evaluation;

bool zero_test_add(analysis *a, graph_node node, bool *nonzero) {
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
    tests[a->test_count++] = (zero_test){node, nonzero};
    return true;
}

/* |op(x + e) − op(x)|, one operand at a time. */
static double spread(graph_op op, double value, const double *x, const double *e, int arity) {
    double sum = 0;
    for (int k = 0; k < arity; k++) {
        double y[3] = {x[0], x[1], x[2]};
        if (e[k] == 0) continue;
        y[k] += e[k];
        double moved = fabs(graph_op_value(op, y[0], y[1], y[2]) - value);
        sum += isfinite(moved) ? moved : 0; /* the edge of a domain */
    }
    return sum;
}

static void evaluate_cell(evaluation *w, const graph *g, graph_node node) {
    const graph_cell *cell = graph_at(g, node);
    double x[3] = {0, 0, 0}, e[3] = {0, 0, 0};
    w->error[node] = 0;
    if (cell->op == GRAPH_IS_NUMBER) {
        w->value[node] = cell->as.number;
        return;
    }
    if (cell->op == GRAPH_IS_SYMBOL) {
        const double *values = w->in.values[cell->kind];
        w->value[node] = values ? values[cell->as.index] : 0;
        if (!w->exact[cell->kind]) w->error[node] = STATE_ERROR * fmax(1, fabs(w->value[node]));
        return;
    }
    int arity = graph_op_get((graph_op)cell->op)->arity;
    for (int k = 0; k < arity; k++) {
        x[k] = w->value[cell->as.operand[k]];
        e[k] = w->error[cell->as.operand[k]];
    }
    double value = w->value[node] = graph_op_value((graph_op)cell->op, x[0], x[1], x[2]);
    w->error[node] = spread((graph_op)cell->op, value, x, e, arity) + 2 * DBL_EPSILON * fabs(value);
}

/* Everything up to the largest node, at one sample. */
static bool evaluate(analysis *a, evaluation *w, const sample *at, bool free_velocities, graph_node last) {
    *w = (evaluation){0};
    w->value = malloc(((size_t)last + 1) * sizeof *w->value);
    w->error = malloc(((size_t)last + 1) * sizeof *w->error);
    if (!w->value || !w->error) return false;
    w->in = model_inputs(a->model, &at->t, at->q, free_velocities ? at->free_v : at->v, at->a, at->lambda, at->a);
    w->in.values[SYMBOL_NONIDEAL] = at->nonideal;
    w->in.values[SYMBOL_IDEAL] = at->nonideal;
    for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++)
        w->exact[kind] = a->m == 0 || (kind != SYMBOL_COORDINATE && kind != SYMBOL_VELOCITY);
    for (graph_node i = 0; i <= last; i++) evaluate_cell(w, a->system->graph, i);
    return true;
}

static void evaluation_free(evaluation *w) {
    free(w->value);
    free(w->error);
}

hamel_status zero_tests_run(analysis *a) {
    graph_node last = 0;
    for (size_t k = 0; k < a->test_count; k++) last = a->tests[k].node > last ? a->tests[k].node : last;
    for (size_t s = 0; s < SAMPLE_COUNT && a->test_count; s++) {
        evaluation w;
        bool good = evaluate(a, &w, &a->samples[s], false, last);
        for (size_t k = 0; good && k < a->test_count; k++) {
            graph_node node = a->tests[k].node;
            if (!(fabs(w.value[node]) <= SAFETY * w.error[node])) *a->tests[k].nonzero = true;
        }
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
