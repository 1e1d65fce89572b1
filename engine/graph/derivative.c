/* derivative.c — forward derivatives with respect to a symbol or along the motion, and gradients by reverse mode.
 *
 * All forward derivatives use the same iterative walk. They differ only in the derivatives of the symbols. The
 * derivative of each node in each direction is computed once and memoized, so shared subexpressions are differentiated
 * once. */
#include "engine/graph/graph_int.h"

#include <assert.h>

/* The expressions of operators.h are written with these macros. Here each macro creates a node of the graph. */
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
    size_t old_slots = g->memo_slots, count = old_slots ? old_slots * 2 : 1024;
    graph_memo *old = g->memo, *fresh = arena_alloc(g->scratch, count, sizeof *fresh);
    if (!fresh) return graph_fail(g, HAMEL_NO_MEMORY) != GRAPH_NONE;
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

/* Returns the kinds of symbols whose derivative in this direction can be nonzero. The derivative of a node that depends
 * on none of these kinds is 0. */
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

/* Returns ∂node/∂operand k for any operator except IF. For TABLE, returns the table's derivative of the next order. */
static graph_node by_operand(graph *g, graph_node node, int k) {
    graph_cell cell = g->cells[node];
    const graph_node *o = cell.as.operand;
    assert(cell.op < GRAPH_OP_COUNT && cell.op != GRAPH_IF && k < 2);
    if (cell.op != GRAPH_TABLE) return partial_of(g, (graph_op)cell.op, k, o[0], o[1], node);
    return graph_apply(g, GRAPH_TABLE, o[0], o[1], graph_add(g, o[2], graph_number(g, 1)));
}

/* Applies the chain rule; dot[] contains the derivatives of the operands. */
static graph_node combine(graph *g, graph_node node, const graph_node dot[3]) {
    graph_cell cell = g->cells[node];
    if (cell.op == GRAPH_IF) return graph_apply(g, GRAPH_IF, cell.as.operand[0], dot[1], dot[2]);
    graph_node sum = graph_number(g, 0);
    for (int k = 0; k < graph_arity(&cell) && k < 2; k++) {
        if (graph_is_zero(g, dot[k])) continue;
        sum = graph_add(g, sum, graph_mul(g, by_operand(g, node, k), dot[k]));
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
        if (depth > before) continue; /* the operands must be differentiated first */
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
    return by_operand(g, node, k);
}

graph_node graph_partial(graph *g, graph_node node, graph_node symbol) {
    assert(symbol < 0 || g->cells[symbol].op == GRAPH_IS_SYMBOL);
    return symbol < 0 ? GRAPH_NONE : derive(g, node, symbol);
}
graph_node graph_rate(graph *g, graph_node node) {
    return derive(g, node, DIRECTION_RATE);
}
graph_node graph_rate_bias(graph *g, graph_node node) {
    return derive(g, node, DIRECTION_BIAS);
}

/* --- reverse accumulation ------------------------------------------------------------------------------------------
 *
 * Let v̄ = ∂L/∂v for each node v in the reachable subgraph of L, the sum of the roots. Then L̄ = 1, and v̄ = Σ w̄ ∂w/∂v
 * over the nodes w that have v as an operand (Griewank & Walther, Evaluating Derivatives, 2nd ed., 3.2). Every operator
 * has a higher id than its operands. In a pass from the last node to the first, each v̄ is therefore complete before it
 * is used. The cost is linear in the size of the subgraph. */

static bool pass_on(graph *g, graph_node *adjoint, graph_node node, int k, graph_node share, unsigned kinds) {
    graph_node operand = g->cells[node].as.operand[k];
    if (!(g->cells[operand].depends & kinds) || graph_is_zero(g, share)) return share >= 0;
    adjoint[operand] = adjoint[operand] == GRAPH_NONE ? share : graph_add(g, adjoint[operand], share);
    return adjoint[operand] >= 0;
}

/* Adds the adjoint of a node times its partial derivatives to the adjoints of its operands. */
static bool spread(graph *g, graph_node *adjoint, graph_node node, unsigned kinds) {
    graph_cell cell = g->cells[node];
    graph_node bar = adjoint[node], x = cell.as.operand[0], zero = graph_number(g, 0);
    if (cell.op == GRAPH_IF)
        return pass_on(g, adjoint, node, 1, graph_apply(g, GRAPH_IF, x, bar, zero), kinds) &&
               pass_on(g, adjoint, node, 2, graph_apply(g, GRAPH_IF, x, zero, bar), kinds);
    int arity = cell.op == GRAPH_TABLE ? 1 : graph_arity(&cell);
    for (int k = 0; k < arity && k < 2; k++) {
        if (!(g->cells[cell.as.operand[k]].depends & kinds)) continue;
        graph_node share = graph_mul(g, by_operand(g, node, k), bar);
        if (!pass_on(g, adjoint, node, k, share, kinds)) return false;
    }
    return true;
}

bool graph_gradient(graph *g, const graph_node *roots, size_t root_count, const graph_node *symbols, size_t count,
                    graph_node *slopes) {
    arena memory;
    graph_node *nodes, one = graph_number(g, 1);
    unsigned kinds = 0;
    arena_init(&memory, SIZE_MAX);
    for (size_t i = 0; i < count; i++) kinds |= g->cells[symbols[i]].depends;
    size_t below = graph_below(g, roots, root_count, &memory, &nodes);
    size_t room = below ? (size_t)nodes[below - 1] + 1 : 0;
    graph_node *adjoint = arena_alloc(&memory, room + 1, sizeof *adjoint);
    bool good = adjoint && (below > 0 || root_count == 0);
    for (size_t i = 0; good && i < room; i++) adjoint[i] = GRAPH_NONE;
    for (size_t i = 0; good && i < root_count; i++)
        adjoint[roots[i]] = adjoint[roots[i]] == GRAPH_NONE ? one : graph_add(g, adjoint[roots[i]], one);
    for (size_t i = below; good && i-- > 0;)
        if (adjoint[nodes[i]] != GRAPH_NONE) good = spread(g, adjoint, nodes[i], kinds);
    for (size_t i = 0; good && i < count; i++) {
        bool reached = (size_t)symbols[i] < room && adjoint[symbols[i]] != GRAPH_NONE;
        slopes[i] = reached ? adjoint[symbols[i]] : graph_number(g, 0);
    }
    arena_free(&memory);
    return good || graph_fail(g, HAMEL_NO_MEMORY) != GRAPH_NONE;
}
