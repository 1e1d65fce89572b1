/* graph_int.h — declarations private to engine/graph. */
#pragma once

#include "engine/graph/graph.h"

/* The memo of derivatives maps (node, direction) to a node. A direction is the node of a symbol or a constant below. */
enum { DIRECTION_RATE = -2, DIRECTION_BIAS = -3 };

typedef struct graph_memo {
    graph_node node, direction, result;
} graph_memo;

struct graph {
    arena *memory;       /* owns the tables, and the cells once the graph is closed */
    arena *scratch;      /* owns all other arrays; NULL once the graph is closed */
    hamel_status status; /* sticky */
    bool (*refuses)(void *context);
    void *context; /* argument of `refuses` */
    uint32_t work; /* number of nodes made or visited; `refuses` is called once per WATCHED nodes */
    graph_cell *cells;
    size_t count, capacity, max_nodes;
    const graph_table **tables;
    size_t table_count, table_capacity;
    graph_node *slots; /* hash table of cells with open addressing; GRAPH_NONE: empty slot */
    size_t slot_count;
    graph_memo *memo;
    size_t memo_count, memo_slots;
    uint32_t *mark; /* mark[cell] equals `stamp` if the current walk has visited the cell */
    size_t mark_capacity;
    uint32_t stamp;
    graph_node *stack; /* stack of the current walk */
    size_t stack_capacity;
    graph_node *map; /* map[cell]: result of the current substitution */
    size_t map_capacity;
    graph_node *found; /* result of graph_support */
    size_t found_capacity;
};

/* Mixes h so that each bit of the result depends on each bit of h (finalizer of MurmurHash3). The mixing is needed
 * because hash tables use only the low bits. */
static inline uint64_t graph_mix(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33);
}

/* Sets the sticky status unless an earlier error has set it. Returns GRAPH_NONE. */
graph_node graph_fail(graph *g, hamel_status status);

/* Returns the node of exactly this operation, without simplification. */
graph_node graph_intern(graph *g, const graph_cell *cell);

/* simplify.c: returns the node of an equal but simpler expression if a rule applies. Otherwise returns the result of
 * graph_intern. Operands must be valid. */
graph_node graph_simplify(graph *g, graph_op op, graph_node x, graph_node y, graph_node z);

/* Starts a walk: grows the array of marks and increments the stamp. If out of memory, sets the sticky status and
 * returns false. */
bool graph_walk_begin(graph *g);

/* Pushes a node on the stack of the walk and increments *depth, which the caller owns. Returns false if out of
 * memory. */
bool graph_walk_push(graph *g, size_t *depth, graph_node node);

int graph_arity(const graph_cell *cell); /* 0 for numbers and symbols */
