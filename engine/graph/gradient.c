/* gradient.c — reverse accumulation: computes all derivatives of a sum L of expressions in one sweep.
 *
 * Let v̄ = ∂L/∂v for each node v below L. Then L̄ = 1, and v̄ = Σ w̄ ∂w/∂v over the nodes w that have v as an operand
 * (Griewank & Walther, Evaluating Derivatives, 2nd ed., 3.2). Results come after their operands, so in one pass from the
 * last node to the first each v̄ is complete when it is used. Cost: linear in the nodes below the roots. */
#include "engine/graph/graph_int.h"

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
        graph_node share = graph_mul(g, graph_derivative_by_operand(g, node, k), bar);
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
    if (!good && g->status == HAMEL_OK) g->status = HAMEL_NO_MEMORY;
    return good;
}
