/* graph_int.h — declarations private to engine/graph. */
#pragma once

#include "engine/graph/graph.h"

/* The memo of derivatives maps (node, direction) to a node. A direction is the node of a symbol, or one of these. */
enum { DIRECTION_RATE = -2, DIRECTION_BIAS = -3 };

typedef struct graph_memo {
    graph_node node, direction, result;
} graph_memo;

struct graph {
    arena *memory;       /* owns the tables, and the cells once the graph is closed */
    arena *scratch;      /* owns everything else; NULL once the graph is closed */
    hamel_status status; /* sticky */
    bool (*refuses)(void *context);
    void *context; /* argument of `refuses` */
    uint32_t work; /* nodes made or visited; `refuses` is called after each WATCHED nodes */
    graph_cell *cells;
    size_t count, capacity, max_nodes;
    const graph_table **tables;
    size_t table_count, table_capacity;
    graph_node *slots; /* hash table of cells with open addressing; GRAPH_NONE: empty slot */
    size_t slot_count;
    graph_memo *memo;
    size_t memo_count, memo_slots;
    uint32_t *mark; /* one per cell: equals `stamp` if the cell was visited in this walk */
    size_t mark_capacity;
    uint32_t stamp;
    graph_node *stack; /* stack of the current walk */
    size_t stack_capacity;
    graph_node *map; /* results of the current substitution, one per cell */
    size_t map_capacity;
    int32_t *found; /* result of graph_support */
    size_t found_capacity;
};

/* Mixes h so that each bit of the result depends on each bit of h (finalizer of MurmurHash3). Hash tables use the low
 * bits. */
static inline uint64_t graph_mix(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
}

/* Returns the node of exactly this operation, without simplification. */
graph_node graph_intern(graph *g, const graph_cell *cell);

/* simplify.c: returns the node of an equal, simpler expression if there is one, otherwise that of graph_intern. Operands
 * must be valid. */
graph_node graph_simplify(graph *g, graph_op op, graph_node x, graph_node y, graph_node z);

/* Starts a walk: grows the array of marks and increments the stamp. If out of memory, sets the sticky status and returns
 * false. */
bool graph_walk_begin(graph *g);

/* Pushes a node on the stack of the walk and increments *depth, which the caller owns. Returns false if out of
 * memory. */
bool graph_walk_push(graph *g, size_t *depth, graph_node node);

int graph_arity(const graph_cell *cell); /* 0 for numbers and symbols */

/* derivative.c: returns ∂node/∂operand k for any operator except `if`. */
graph_node graph_derivative_by_operand(graph *g, graph_node node, int k);
