/* evaluate.c — values of a graph at a point, with bounds of their rounding errors.
 *
 * A loop over all cells, for questions that are asked a few times; what is asked often is compiled (engine/compile). Each
 * operation adds what its operands' errors make of it, and its own rounding. */
#include "engine/graph/graph_int.h"

#include <float.h>
#include <math.h>

static double value_of(const graph *g, graph_op op, const double *x) {
    if (op != GRAPH_TABLE) return graph_op_value(op, x[0], x[1], x[2]);
    return table_value(graph_tables(g)[(size_t)x[1]], x[0], (int)x[2]);
}

/* |op(x + e) − op(x)|, one operand at a time. */
static double spread(const graph *g, graph_op op, double value, const double *x, const double *e, int arity) {
    double sum = 0;
    for (int k = 0; k < arity; k++) {
        double y[3] = {x[0], x[1], x[2]};
        if (e[k] == 0) continue;
        y[k] += e[k];
        double moved = fabs(value_of(g, op, y) - value);
        sum += isfinite(moved) ? moved : 0; /* the edge of a domain */
    }
    return sum;
}

static void evaluate_symbol(const graph_cell *cell, const graph_point *at, double *value, double *error) {
    const double *values = at->values[cell->kind];
    *value = values ? values[cell->as.index] : 0;
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
