/* operators.c — names and arities of the operators as data, and their evaluation.
 *
 * The data and the evaluation are expanded from GRAPH_OPERATOR_LIST, so a new operator needs only a line in that
 * list. */
#include "engine/graph/operators.h"

#include <assert.h>
#include <stddef.h>

enum { NUM = 0, COND = 1 };

static const graph_op_info OPERATORS[GRAPH_OP_COUNT] = {
#define OP(name, text, arity, kind, value, dx, dy) [GRAPH_##name] = {text, arity, kind},
    GRAPH_OPERATOR_LIST(OP)
#undef OP
        [GRAPH_TABLE] = {"table", 3, NUM},
};

const graph_op_info *graph_op_get(graph_op op) {
    assert((size_t)op < GRAPH_OP_COUNT);
    return &OPERATORS[op];
}

double graph_op_value(graph_op op, double x, double y, double z) {
    switch (op) {
#define OP(name, text, arity, kind, value, dx, dy) \
    case GRAPH_##name: return value;
        GRAPH_OPERATOR_LIST(OP)
#undef OP
    case GRAPH_TABLE:
    case GRAPH_OP_COUNT: break;
    }
    assert(0 && "TABLE has no value without its table");
    return 0.0;
}
