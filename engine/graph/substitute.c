/* substitute.c — replaces symbols in expressions, and lists the terms of sums, both without recursion. */
#include "engine/graph/graph_int.h"

#include <assert.h>
#include <string.h>

graph_node graph_substitute(graph *g, graph_node root, graph_symbol_kind kind, const graph_node *replacement,
                            size_t count) {
    unsigned bit = GRAPH_DEPENDS(kind);
    if (root < 0 || g->status != HAMEL_OK) return GRAPH_NONE;
    assert(kind < SYMBOL_KIND_COUNT && (size_t)root < g->count);
    if (!(g->cells[root].depends & bit)) return root;
    size_t depth = 0;
    /* Nodes created during the walk have no entries in `mark` and `map`, but the walk never visits them. */
    graph_node *map = arena_grow(g->scratch, g->map, &g->map_capacity, g->capacity, sizeof *map);
    if (!map) return graph_fail(g, HAMEL_NO_MEMORY);
    g->map = map;
    if (!graph_walk_begin(g) || !graph_walk_push(g, &depth, root)) return GRAPH_NONE;
    uint32_t *mark = g->mark, stamp = g->stamp;
    while (depth > 0) {
        graph_node node = g->stack[depth - 1];
        graph_cell cell = g->cells[node];
        size_t before = depth;
        if (mark[node] != stamp && cell.op != GRAPH_IS_SYMBOL) {
            graph_node to[3] = {GRAPH_NONE, GRAPH_NONE, GRAPH_NONE};
            for (int k = 0; k < graph_arity(&cell); k++) {
                graph_node o = cell.as.operand[k];
                to[k] = !(g->cells[o].depends & bit) ? o : mark[o] == stamp ? map[o] : GRAPH_NONE;
                if (to[k] == GRAPH_NONE && !graph_walk_push(g, &depth, o)) return GRAPH_NONE;
            }
            if (depth > before) continue;
            map[node] = graph_apply(g, (graph_op)cell.op, to[0], to[1], to[2]);
            if (map[node] == GRAPH_NONE) return GRAPH_NONE;
        } else if (mark[node] != stamp) {
            bool replaced =
                cell.kind == kind && (size_t)cell.as.index < count && replacement[cell.as.index] != GRAPH_NONE;
            map[node] = replaced ? replacement[cell.as.index] : node;
        }
        mark[node] = stamp;
        depth--;
    }
    return map[root];
}

typedef struct term_entry {
    graph_node node, factor; /* factor: GRAPH_NONE means 1 */
    signed char sign;
} term_entry;

/* Returns the factor of a product or quotient that contains only parameters and numbers, and sets *rest to the other
 * factor. Returns GRAPH_NONE if there is no such factor. The caller distributes the factor over a sum, so that m/2·(a +
 * b) has two terms. */
static graph_node constant_factor(graph *g, const graph_cell *cell, graph_node *rest) {
    unsigned varying = ~GRAPH_DEPENDS(SYMBOL_PARAMETER);
    graph_node x = cell->as.operand[0], y = cell->as.operand[1];
    *rest = x;
    if (cell->op == GRAPH_DIV && !(graph_depends(g, y) & varying)) return graph_div(g, graph_number(g, 1), y);
    if (cell->op != GRAPH_MUL) return GRAPH_NONE;
    if (!(graph_depends(g, y) & varying)) return y;
    *rest = y;
    return graph_depends(g, x) & varying ? GRAPH_NONE : x;
}

static bool is_sum(const graph *g, graph_node node) {
    uint8_t op = graph_at(g, node)->op;
    return op == GRAPH_ADD || op == GRAPH_SUB || op == GRAPH_NEG;
}

/* Splits an entry into one or two parts, out[2]. Returns the number of parts, or 0 if the entry is a single term. */
static int take_apart(graph *g, term_entry e, term_entry out[2]) {
    graph_cell cell = *graph_at(g, e.node);
    if (cell.op == GRAPH_NEG) {
        out[0] = (term_entry){cell.as.operand[0], e.factor, (signed char)-e.sign};
        return 1;
    }
    if (cell.op == GRAPH_ADD || cell.op == GRAPH_SUB) { /* the left operand is last, because it is popped first */
        out[0] = (term_entry){cell.as.operand[1], e.factor, (signed char)(cell.op == GRAPH_SUB ? -e.sign : e.sign)};
        out[1] = (term_entry){cell.as.operand[0], e.factor, e.sign};
        return 2;
    }
    graph_node rest, deeper, factor = constant_factor(g, &cell, &rest);
    if (factor == GRAPH_NONE) return 0;
    graph_cell inner = *graph_at(g, rest); /* split only if `rest` is a sum or has constant factors */
    if (!is_sum(g, rest) && constant_factor(g, &inner, &deeper) == GRAPH_NONE) return 0;
    out[0] = (term_entry){rest, e.factor == GRAPH_NONE ? factor : graph_mul(g, e.factor, factor), e.sign};
    return 1;
}

/* Returns true if `node` is a sum that was split before. Otherwise marks the sum as split. */
static bool was_split(const graph *g, graph_node node, arena *memory, graph_sums *sums, size_t count) {
    uint8_t op = graph_at(g, node)->op;
    if (!sums || sums->terms + count < GRAPH_TERMS_FREE || (op != GRAPH_ADD && op != GRAPH_SUB)) return false;
    size_t before = sums->capacity;
    uint8_t *split = arena_grow(memory, sums->split, &sums->capacity, (size_t)node + 1, sizeof *split);
    if (!split) return false;
    memset(split + before, 0, sums->capacity - before);
    sums->split = split;
    bool found = split[node];
    split[node] = 1;
    return found;
}

size_t graph_terms(graph *g, graph_node root, arena *memory, graph_sums *sums, graph_node **terms,
                   signed char **signs) {
    term_entry *stack = NULL;
    size_t depth = 0, capacity = 0, count = 0, term_capacity = 0, sign_capacity = 0;
    *terms = NULL;
    *signs = NULL;
    if (root < 0 || !(stack = arena_grow(memory, stack, &capacity, 1, sizeof *stack))) return 0;
    stack[depth++] = (term_entry){root, GRAPH_NONE, 1};
    while (depth > 0) {
        term_entry e = stack[--depth], parts[2];
        int made = was_split(g, e.node, memory, sums, count) ? 0 : take_apart(g, e, parts);
        if (made && !(stack = arena_grow(memory, stack, &capacity, depth + 2, sizeof *stack))) return 0;
        for (int k = 0; k < made; k++) stack[depth++] = parts[k];
        if (made) continue;
        if (!(*terms = arena_grow(memory, *terms, &term_capacity, count + 1, sizeof **terms))) return 0;
        if (!(*signs = arena_grow(memory, *signs, &sign_capacity, count + 1, sizeof **signs))) return 0;
        (*terms)[count] = e.factor == GRAPH_NONE ? e.node : graph_mul(g, e.factor, e.node);
        if ((*terms)[count] < 0) return 0;
        (*signs)[count++] = e.sign;
    }
    if (sums) sums->terms += count;
    return count;
}
