/* reachable.c — lists the reachable subgraph of some nodes, operands first.
 *
 * The depth-first walk has an explicit stack, because the depth depends on the user's input. Nodes are listed in
 * post-order. An operand therefore comes shortly before its first use, and few values must be stored at the same time.
 * A model compiles many small programs from one large graph. Visited nodes are therefore stored in a hash table, not in
 * a bitmap of the graph, so that the cost is linear in the size of the reachable subgraph. */
#include "engine/compile/program_int.h"

#include <assert.h>
#include <stdlib.h>

enum { TABLE_FIRST = 64 };

/* A node on the stack, and the index of its operand to visit next. */
typedef struct reach_frame {
    graph_node node;
    int32_t next;
} reach_frame;

typedef struct reach_stack {
    reach_frame *frames;
    size_t count, capacity;
} reach_stack;

static size_t key_slot(const program_reachable *r, graph_node node) {
    uint64_t hash = (uint64_t)(uint32_t)node * 0x9E3779B97F4A7C15u;
    size_t i = (size_t)(hash >> 32) & r->key_mask;
    while (r->keys[i] != GRAPH_NONE && r->keys[i] != node) i = (i + 1) & r->key_mask;
    return i;
}

/* Grows the hash table, which is kept at most half full. The table also contains the nodes on the stack, which have no
 * value yet. */
static bool grow_table(program_reachable *r, size_t size) {
    const program_reachable old = *r;
    size_t old_size = old.keys ? old.key_mask + 1 : 0;
    assert(size > old_size && (size & (size - 1)) == 0 && 2 * r->count <= size);
    r->keys = arena_alloc(&r->memory, size, sizeof *r->keys);
    r->values = arena_alloc(&r->memory, size, sizeof *r->values);
    if (r->memory.failed) return false;
    for (size_t i = 0; i < size; i++) r->keys[i] = GRAPH_NONE;
    r->key_mask = size - 1;
    for (size_t i = 0; i < old_size; i++) {
        if (old.keys[i] == GRAPH_NONE) continue;
        size_t slot = key_slot(r, old.keys[i]);
        r->keys[slot] = old.keys[i];
        r->values[slot] = old.values[i];
    }
    return true;
}

/* Pushes `node` on the stack unless it was visited before. */
static bool visit_node(program_reachable *r, reach_stack *stack, size_t *visited, graph_node node) {
    size_t slot = key_slot(r, node);
    if (r->keys[slot] == node) return true;
    reach_frame *frames =
        arena_grow(&r->memory, stack->frames, &stack->capacity, stack->count + 1, sizeof *stack->frames);
    if (!frames) return false;
    stack->frames = frames;
    if (2 * (*visited + 1) > r->key_mask) {
        if (!grow_table(r, 2 * (r->key_mask + 1))) return false;
        slot = key_slot(r, node);
    }
    r->keys[slot] = node;
    r->values[slot] = PROGRAM_NO_VALUE;
    (*visited)++;
    stack->frames[stack->count++] = (reach_frame){node, 0};
    return true;
}

static bool append_node(program_reachable *r, graph_node node) {
    graph_node *nodes = arena_grow(&r->memory, r->nodes, &r->capacity, r->count + 1, sizeof *nodes);
    if (!nodes) return false;
    r->nodes = nodes;
    r->values[key_slot(r, node)] = (uint32_t)r->count;
    r->nodes[r->count++] = node;
    return true;
}

static bool walk(program_reachable *r, const graph *g, const graph_node *nodes, size_t count) {
    reach_stack stack = {0};
    size_t visited = 0;
    for (size_t i = 0; i < count; i++) {
        if (!visit_node(r, &stack, &visited, nodes[i])) return false;
        while (stack.count) {
            reach_frame *top = &stack.frames[stack.count - 1];
            const graph_cell *cell = graph_at(g, top->node);
            graph_node operand = GRAPH_NONE;
            if (cell->op < GRAPH_OP_COUNT && top->next < 3) operand = cell->as.operand[top->next++];
            if (operand != GRAPH_NONE) {
                if (!visit_node(r, &stack, &visited, operand)) return false;
                continue;
            }
            if (!append_node(r, top->node)) return false;
            stack.count--;
        }
    }
    return true;
}

/* The symbols of subgraphs of at least this size are sorted, so that loops read neighboring inputs (families.c). */
enum { LONG_LIST = 2048 };

static int by_index(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* Moves the symbols to the front, in the order of their kinds and indices. */
static bool sort_symbols(program_reachable *r, const graph *g) {
    uint64_t *keys = arena_alloc(&r->memory, r->count, sizeof *keys);
    graph_node *nodes = arena_alloc(&r->memory, r->count, sizeof *nodes);
    size_t symbols = 0, rest = 0;
    if (!keys || !nodes) return false;
    for (size_t i = 0; i < r->count; i++) {
        const graph_cell *cell = graph_at(g, r->nodes[i]);
        if (cell->op == GRAPH_IS_SYMBOL)
            keys[symbols++] = (uint64_t)cell->kind << 60 | (uint64_t)cell->as.index << 32 | i;
    }
    qsort(keys, symbols, sizeof *keys, by_index);
    for (size_t i = 0; i < symbols; i++) nodes[i] = r->nodes[(uint32_t)keys[i]];
    for (size_t i = 0; i < r->count; i++)
        if (graph_at(g, r->nodes[i])->op != GRAPH_IS_SYMBOL) nodes[symbols + rest++] = r->nodes[i];
    for (size_t i = 0; i < r->count; i++) r->values[key_slot(r, nodes[i])] = (uint32_t)i;
    r->nodes = nodes;
    return true;
}

hamel_status program_reachable_collect(program_reachable *r, const graph *g, const graph_node *nodes, size_t count) {
    *r = (program_reachable){0};
    bool good = grow_table(r, TABLE_FIRST) && walk(r, g, nodes, count);
    if (good && r->count >= LONG_LIST) good = sort_symbols(r, g);
    return good ? HAMEL_OK : HAMEL_NO_MEMORY;
}

uint32_t program_reachable_find(const program_reachable *r, graph_node node) {
    size_t slot = key_slot(r, node);
    assert(r->keys[slot] == node);
    return r->values[slot];
}

void program_reachable_free(program_reachable *r) {
    arena_free(&r->memory);
    *r = (program_reachable){0};
}
