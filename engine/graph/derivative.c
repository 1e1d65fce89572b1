/* derivative.c — forward derivatives of the graph, with respect to a symbol or along the motion.
 *
 * The same iterative walk computes all kinds of derivatives, which differ only in the derivative of a symbol. Each
 * (node, direction) is computed once and memoized, so shared subexpressions are differentiated once. */
#include "engine/graph/graph_int.h"

/* Define the builder names of operators.h as node constructors. */
#define N_(c) graph_number(g, c)
#define ADD_(a, b) graph_add(g, a, b)
#define SUB_(a, b) graph_sub(g, a, b)
#define MUL_(a, b) graph_mul(g, a, b)
#define DIV_(a, b) graph_div(g, a, b)
#define POW_(a, b) graph_binary(g, GRAPH_POW, a, b)
#define NEG_(a) graph_neg(g, a)
#define SIN_(a) graph_unary(g, GRAPH_SIN, a)
#define COS_(a) graph_unary(g, GRAPH_COS, a)
#define SINH_(a) graph_unary(g, GRAPH_SINH, a)
#define COSH_(a) graph_unary(g, GRAPH_COSH, a)
#define TANH_(a) graph_unary(g, GRAPH_TANH, a)
#define SECH_(a) graph_unary(g, GRAPH_SECH, a)
#define LOG_(a) graph_unary(g, GRAPH_LOG, a)
#define SQRT_(a) graph_unary(g, GRAPH_SQRT, a)
#define SIGN_(a) graph_unary(g, GRAPH_SIGN, a)
#define FLOOR_(a) graph_unary(g, GRAPH_FLOOR, a)
#define CHOOSE_(op, a, b) graph_apply(g, GRAPH_IF, graph_binary(g, op, a, b), graph_number(g, 1), graph_number(g, 0))
#define LE_(a, b) CHOOSE_(GRAPH_LE, a, b)
#define LT_(a, b) CHOOSE_(GRAPH_LT, a, b)
#define GE_(a, b) CHOOSE_(GRAPH_GE, a, b)
#define GT_(a, b) CHOOSE_(GRAPH_GT, a, b)

/* Returns ∂op/∂operand k for operands X, Y and result F. */
static graph_node partial_of(graph *g, graph_op op, int k, graph_node X, graph_node Y, graph_node F) {
    switch (op) {
#define OP(name, text, arity, kind, value, dx, dy) \
    case GRAPH_##name: return k == 0 ? (dx) : (dy);
        GRAPH_OPERATOR_LIST(OP)
#undef OP
    default: return GRAPH_NONE;
    }
    (void)X, (void)Y, (void)F;
}

static size_t memo_slot(const graph *g, graph_node node, graph_node direction) {
    size_t s = (size_t)graph_mix((uint64_t)(uint32_t)node << 32 | (uint32_t)direction) & (g->memo_slots - 1);
    while (g->memo[s].node != GRAPH_NONE && (g->memo[s].node != node || g->memo[s].direction != direction))
        s = (s + 1) & (g->memo_slots - 1);
    return s;
}

static bool memo_grow(graph *g) {
    size_t count = g->memo_slots ? g->memo_slots * 2 : 1024;
    graph_memo *old = g->memo;
    size_t old_slots = g->memo_slots;
    graph_memo *fresh = arena_alloc(g->scratch, count, sizeof *fresh);
    if (!fresh) {
        if (g->status == HAMEL_OK) g->status = HAMEL_NO_MEMORY;
        return false;
    }
    for (size_t i = 0; i < count; i++) fresh[i].node = GRAPH_NONE;
    g->memo = fresh;
    g->memo_slots = count;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i].node != GRAPH_NONE) fresh[memo_slot(g, old[i].node, old[i].direction)] = old[i];
    return true;
}

static bool memo_put(graph *g, graph_node node, graph_node direction, graph_node result) {
    if (g->memo_count * 2 >= g->memo_slots && !memo_grow(g)) return false;
    g->memo[memo_slot(g, node, direction)] = (graph_memo){node, direction, result};
    g->memo_count++;
    return true;
}

/* Returns the kinds of symbols that can make the derivative of a node nonzero. */
static unsigned direction_kinds(const graph *g, graph_node direction) {
    if (direction >= 0) return g->cells[direction].depends;
    return GRAPH_DEPENDS(SYMBOL_TIME) | GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY);
}

static graph_node derive_symbol(graph *g, graph_node node, graph_node direction) {
    if (direction >= 0) return graph_number(g, node == direction);
    graph_cell cell = g->cells[node];
    switch (cell.kind) {
    case SYMBOL_TIME: return graph_number(g, 1);
    case SYMBOL_COORDINATE: return graph_symbol(g, SYMBOL_VELOCITY, cell.as.index);
    case SYMBOL_VELOCITY:
        return direction == DIRECTION_RATE ? graph_symbol(g, SYMBOL_ACCELERATION, cell.as.index) : graph_number(g, 0);
    default: return graph_number(g, 0);
    }
}

/* Returns the derivative of `node` if it is memoized or trivial, or GRAPH_NONE if it must be computed. */
static graph_node known(graph *g, graph_node node, graph_node direction, unsigned kinds) {
    if (!(g->cells[node].depends & kinds)) return graph_number(g, 0);
    if (g->cells[node].op == GRAPH_IS_SYMBOL) return derive_symbol(g, node, direction);
    if (g->memo_slots == 0) return GRAPH_NONE;
    const graph_memo *m = &g->memo[memo_slot(g, node, direction)];
    return m->node == GRAPH_NONE ? GRAPH_NONE : m->result;
}

/* Returns the derivative of the next order of the table at the same argument. */
static graph_node next_of_table(graph *g, const graph_node operand[3]) {
    graph_node order = graph_add(g, operand[2], graph_number(g, 1));
    return graph_apply(g, GRAPH_TABLE, operand[0], operand[1], order);
}

graph_node graph_derivative_by_operand(graph *g, graph_node node, int k) {
    graph_cell cell = g->cells[node];
    if (cell.op == GRAPH_TABLE) return next_of_table(g, cell.as.operand);
    return partial_of(g, (graph_op)cell.op, k, cell.as.operand[0], cell.as.operand[1], node);
}

/* Applies the chain rule. The derivatives of all operands must be memoized. */
static graph_node combine(graph *g, graph_node node, const graph_node dot[3]) {
    graph_cell cell = g->cells[node];
    if (cell.op == GRAPH_IF) return graph_apply(g, GRAPH_IF, cell.as.operand[0], dot[1], dot[2]);
    graph_node sum = graph_number(g, 0);
    for (int k = 0; k < graph_arity(&cell) && k < 2; k++) {
        if (graph_is_zero(g, dot[k])) continue;
        sum = graph_add(g, sum, graph_mul(g, graph_derivative_by_operand(g, node, k), dot[k]));
    }
    return sum;
}

static graph_node derive(graph *g, graph_node root, graph_node direction) {
    if (g->status != HAMEL_OK || root < 0) return GRAPH_NONE;
    unsigned kinds = direction_kinds(g, direction);
    graph_node result = known(g, root, direction, kinds);
    size_t depth = 0;
    if (result != GRAPH_NONE || !graph_walk_push(g, &depth, root)) return result;
    while (depth > 0) {
        graph_node node = g->stack[depth - 1], dot[3] = {GRAPH_NONE, GRAPH_NONE, GRAPH_NONE};
        graph_cell cell = g->cells[node];
        size_t before = depth;
        for (int k = 0; k < graph_arity(&cell); k++) {
            dot[k] = known(g, cell.as.operand[k], direction, kinds);
            if (g->status != HAMEL_OK) return GRAPH_NONE;
            if (dot[k] == GRAPH_NONE && !graph_walk_push(g, &depth, cell.as.operand[k])) return GRAPH_NONE;
        }
        if (depth > before) continue; /* operands first */
        depth--;
        if (known(g, node, direction, kinds) != GRAPH_NONE) continue; /* the node was pushed twice */
        result = combine(g, node, dot);
        if (result == GRAPH_NONE || !memo_put(g, node, direction, result)) return GRAPH_NONE;
    }
    return known(g, root, direction, kinds);
}

graph_node graph_slope(graph *g, graph_node node, int k) {
    graph_cell cell = *graph_at(g, node);
    graph_node x = cell.as.operand[0], y = cell.as.operand[1];
    if (cell.op == GRAPH_POW && k == 0) return graph_div(g, graph_mul(g, y, node), x);
    return graph_derivative_by_operand(g, node, k);
}

graph_node graph_partial(graph *g, graph_node node, graph_node symbol) {
    return symbol < 0 ? GRAPH_NONE : derive(g, node, symbol);
}
graph_node graph_rate(graph *g, graph_node node) {
    return derive(g, node, DIRECTION_RATE);
}
graph_node graph_rate_bias(graph *g, graph_node node) {
    return derive(g, node, DIRECTION_BIAS);
}
