/* evaluate.c — evaluates a graph at a point, with bounds on the rounding errors.
 *
 * A single loop evaluates all cells. Expressions that are evaluated often are compiled instead (engine/compile). The
 * error bound on a result is the effect of the operands' errors plus the rounding error of the operation. */
#include "engine/graph/graph_int.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static double value_of(const graph *g, graph_op op, const double *x) {
    if (op != GRAPH_TABLE) return graph_op_value(op, x[0], x[1], x[2]);
    return table_value(graph_tables(g)[(size_t)x[1]], x[0], (int)x[2]);
}

/* Returns Σ_k |op(x + e_k) − op(x)|, where e_k is the error of operand k. */
static double spread(const graph *g, graph_op op, double value, const double *x, const double *e, int arity) {
    double sum = 0;
    for (int k = 0; k < arity; k++) {
        double y[3] = {x[0], x[1], x[2]};
        if (e[k] == 0) continue;
        y[k] += e[k];
        double moved = fabs(value_of(g, op, y) - value);
        sum += isfinite(moved) ? moved : 0; /* if `moved` is not finite, y is outside the domain of op */
    }
    return sum;
}

static void evaluate_symbol(const graph_cell *cell, const graph_point *at, double *value, double *error) {
    const double *values = at->values[cell->kind];
    size_t index = (size_t)cell->as.index, count = at->count[cell->kind];
    *value = values && (count == 0 || index < count) ? values[index] : 0;
    *error = at->error[cell->kind] * fmax(1, fabs(*value));
}

void graph_evaluate(const graph *g, graph_node last, const graph_point *at, double *value, double *error) {
    for (graph_node i = 0; i <= last; i++) {
        const graph_cell *cell = graph_at(g, i);
        double x[3] = {0, 0, 0}, e[3] = {0, 0, 0};
        error[i] = 0;
        if (cell->op == GRAPH_IS_NUMBER) {
            value[i] = cell->as.number;
        } else if (cell->op == GRAPH_IS_SYMBOL) {
            evaluate_symbol(cell, at, &value[i], &error[i]);
        } else {
            int arity = graph_op_get((graph_op)cell->op)->arity;
            for (int k = 0; k < arity; k++) {
                x[k] = value[cell->as.operand[k]];
                e[k] = error[cell->as.operand[k]];
            }
            value[i] = value_of(g, (graph_op)cell->op, x);
            error[i] = spread(g, (graph_op)cell->op, value[i], x, e, arity) + 2 * DBL_EPSILON * fabs(value[i]);
        }
    }
}

bool graph_values(const graph *g, const graph_node *nodes, size_t count, const graph_point *at, double *values,
                  double *errors) {
    graph_node last = GRAPH_NONE;
    for (size_t k = 0; k < count; k++) last = nodes[k] > last ? nodes[k] : last;
    assert(last < (graph_node)g->count);
    if (last == GRAPH_NONE) return true;
    double *value = malloc(2 * ((size_t)last + 1) * sizeof *value);
    if (!value) return false;
    graph_evaluate(g, last, at, value, value + last + 1);
    for (size_t k = 0; k < count; k++) {
        if (nodes[k] == GRAPH_NONE) continue;
        values[k] = value[nodes[k]];
        if (errors) errors[k] = value[(size_t)last + 1 + (size_t)nodes[k]];
    }
    free(value);
    return true;
}
