/* graph_int.h — what the files of engine/graph share and nobody else sees. */
#ifndef HAMEL_GRAPH_GRAPH_INT_H
#define HAMEL_GRAPH_GRAPH_INT_H

#include "engine/graph/graph.h"

/* Memo of derivatives: (node, direction) → node. A direction is a symbol's node or one of these. */
enum { DIRECTION_RATE = -2, DIRECTION_BIAS = -3 };

typedef struct graph_memo {
    graph_node node, direction, result;
} graph_memo;

struct graph {
    arena *memory;
    hamel_status status; /* sticky */
    bool (*refuses)(void *context);
    void *context; /* of `refuses` */
    uint32_t work; /* nodes made or visited: `refuses` is called after each WATCHED of them */
    graph_cell *cells;
    size_t count, capacity, max_nodes;
    const graph_table **tables;
    size_t table_count, table_capacity;
    graph_node *slots; /* open addressing over cells; GRAPH_NONE empty */
    size_t slot_count;
    graph_memo *memo;
    size_t memo_count, memo_slots;
    uint32_t *mark; /* one a cell: equal to `stamp` when visited in this walk */
    size_t mark_capacity;
    uint32_t stamp;
    graph_node *stack; /* of walks */
    size_t stack_capacity;
    graph_node *map; /* of substitutions, one a cell */
    size_t map_capacity;
    int32_t *found; /* of graph_support */
    size_t found_capacity;
};

/* Every bit of the result depends on every bit of h (the finalizer of MurmurHash3): tables use the low ones. */
static inline uint64_t graph_mix(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
}

/* The node for exactly this operation, without simplification. */
graph_node graph_intern(graph *g, const graph_cell *cell);

/* simplify.c: the node for an equal, simpler expression, or graph_intern's. Operands are valid. */
graph_node graph_simplify(graph *g, graph_op op, graph_node x, graph_node y, graph_node z);

/* Starts a walk: grows the marks, takes a new stamp. False without memory (sticky status set). */
bool graph_walk_begin(graph *g);

/* Pushes on the walk's stack; false without memory. `depth` is the caller's. */
bool graph_walk_push(graph *g, size_t *depth, graph_node node);

int graph_arity(const graph_cell *cell); /* 0 for numbers and symbols */

/* derivative.c: ∂node/∂operand k, of an operator but `if`. */
graph_node graph_derivative_by_operand(graph *g, graph_node node, int k);

#endif
