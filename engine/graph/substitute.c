/* substitute.c — expressions with symbols replaced, and sums taken apart. Both walks are iterative. */
#include "engine/graph/graph_int.h"

static bool map_ready(graph *g) {
    if (g->map_capacity >= g->capacity) return true;
    g->map = arena_alloc(g->memory, g->capacity, sizeof *g->map);
    if (!g->map) {
        if (g->status == HAMEL_OK) g->status = HAMEL_NO_MEMORY;
        return false;
    }
    g->map_capacity = g->capacity;
    return true;
}

graph_node graph_substitute(graph *g, graph_node root, graph_symbol_kind kind, const graph_node *replacement, size_t count) {
    unsigned bit = GRAPH_DEPENDS(kind);
    if (root < 0 || g->status != HAMEL_OK) return GRAPH_NONE;
    if (!(g->cells[root].depends & bit)) return root;
    size_t depth = 0;
    /* Nodes made on the way lie beyond the marks' and the map's length, but are never looked up in them. */
    if (!graph_walk_begin(g) || !map_ready(g) || !graph_walk_push(g, &depth, root)) return GRAPH_NONE;
    uint32_t *mark = g->mark;
    graph_node *map = g->map;
    uint32_t stamp = g->stamp;
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
            bool replaced = cell.kind == kind && (size_t)cell.as.index < count && replacement[cell.as.index] != GRAPH_NONE;
            map[node] = replaced ? replacement[cell.as.index] : node;
        }
        mark[node] = stamp;
        depth--;
    }
    return map[root];
}

size_t graph_terms(graph *g, graph_node root, arena *memory, graph_node **terms, signed char **signs) {
    typedef struct entry {
        graph_node node;
        signed char sign;
    } entry;
    entry *stack = NULL;
    size_t depth = 0, capacity = 0, count = 0, term_capacity = 0, sign_capacity = 0;
    *terms = NULL;
    *signs = NULL;
    if (root < 0 || !(stack = arena_grow(memory, stack, &capacity, 1, sizeof *stack))) return 0;
    stack[depth++] = (entry){root, 1};
    while (depth > 0) {
        entry e = stack[--depth];
        graph_cell cell = *graph_at(g, e.node);
        if (cell.op == GRAPH_ADD || cell.op == GRAPH_SUB || cell.op == GRAPH_NEG) {
            if (!(stack = arena_grow(memory, stack, &capacity, depth + 2, sizeof *stack))) return 0;
            if (cell.op != GRAPH_NEG)
                stack[depth++] = (entry){cell.as.operand[1], (signed char)(cell.op == GRAPH_SUB ? -e.sign : e.sign)};
            stack[depth++] = (entry){cell.as.operand[0], (signed char)(cell.op == GRAPH_NEG ? -e.sign : e.sign)};
            continue;
        }
        if (!(*terms = arena_grow(memory, *terms, &term_capacity, count + 1, sizeof **terms))) return 0;
        if (!(*signs = arena_grow(memory, *signs, &sign_capacity, count + 1, sizeof **signs))) return 0;
        (*terms)[count] = e.node;
        (*signs)[count++] = e.sign;
    }
    return count;
}
