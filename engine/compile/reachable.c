/* cone.c — the part of the graph below some nodes, operands first.
 *
 * A depth-first walk with a stack of its own (user-sized data is never recursed on). Nodes come out in post-order: an
 * operand stands shortly before its first use, which keeps values short-lived. A hash table of the nodes met, not a
 * bitmap of the graph, keeps the cost linear in the cone: a model compiles many small programs from one large graph. */
#include "engine/compile/program_int.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

/* A node on the walk and the operand to look at next. */
typedef struct cone_frame {
    graph_node node;
    int32_t next;
} cone_frame;

typedef struct cone_stack {
    cone_frame *frames;
    size_t count, capacity;
} cone_stack;

static size_t key_slot(const program_cone *cone, graph_node node) {
    uint64_t hash = (uint64_t)(uint32_t)node * 0x9E3779B97F4A7C15u;
    size_t i = (size_t)(hash >> 32) & cone->key_mask;
    while (cone->keys[i] != GRAPH_NONE && cone->keys[i] != node) i = (i + 1) & cone->key_mask;
    return i;
}

/* Doubles the hash table, which is kept at most half full. Nodes on the stack have no value yet: keys alone tell. */
static bool grow_table(program_cone *cone, size_t size) {
    graph_node *old_keys = cone->keys;
    uint32_t *old_values = cone->values;
    size_t old_size = old_keys ? cone->key_mask + 1 : 0;
    graph_node *keys = malloc(size * sizeof *keys);
    uint32_t *values = malloc(size * sizeof *values);
    if (!keys || !values) {
        free(keys);
        free(values);
        return false;
    }
    for (size_t i = 0; i < size; i++) keys[i] = GRAPH_NONE;
    cone->keys = keys;
    cone->values = values;
    cone->key_mask = size - 1;
    for (size_t i = 0; i < old_size; i++) {
        if (old_keys[i] == GRAPH_NONE) continue;
        size_t slot = key_slot(cone, old_keys[i]);
        keys[slot] = old_keys[i];
        values[slot] = old_values[i];
    }
    free(old_keys);
    free(old_values);
    return true;
}

/* Marks `node` as met and puts it on the stack, unless it was met before. */
static bool visit(program_cone *cone, cone_stack *stack, size_t *met, graph_node node) {
    size_t slot = key_slot(cone, node);
    if (cone->keys[slot] == node) return true;
    if (stack->count == stack->capacity) {
        size_t capacity = stack->capacity ? 2 * stack->capacity : FIRST_CAPACITY;
        cone_frame *frames = realloc(stack->frames, capacity * sizeof *frames);
        if (!frames) return false;
        stack->frames = frames;
        stack->capacity = capacity;
    }
    if (2 * (*met + 1) > cone->key_mask) {
        if (!grow_table(cone, 2 * (cone->key_mask + 1))) return false;
        slot = key_slot(cone, node);
    }
    cone->keys[slot] = node;
    cone->values[slot] = PROGRAM_NO_VALUE;
    (*met)++;
    stack->frames[stack->count++] = (cone_frame){node, 0};
    return true;
}

static bool append(program_cone *cone, graph_node node) {
    if (cone->count == cone->capacity) {
        size_t capacity = cone->capacity ? 2 * cone->capacity : FIRST_CAPACITY;
        graph_node *nodes = realloc(cone->nodes, capacity * sizeof *nodes);
        if (!nodes) return false;
        cone->nodes = nodes;
        cone->capacity = capacity;
    }
    cone->values[key_slot(cone, node)] = (uint32_t)cone->count;
    cone->nodes[cone->count++] = node;
    return true;
}

static bool walk(program_cone *cone, cone_stack *stack, const graph *g, const graph_node *nodes, size_t count) {
    size_t met = 0;
    for (size_t i = 0; i < count; i++) {
        if (!visit(cone, stack, &met, nodes[i])) return false;
        while (stack->count) {
            cone_frame *top = &stack->frames[stack->count - 1];
            const graph_cell *cell = graph_at(g, top->node);
            graph_node operand = GRAPH_NONE;
            if (cell->op < GRAPH_OP_COUNT && top->next < 3) operand = cell->as.operand[top->next++];
            if (operand != GRAPH_NONE) {
                if (!visit(cone, stack, &met, operand)) return false;
                continue;
            }
            if (!append(cone, top->node)) return false;
            stack->count--;
        }
    }
    return true;
}

hamel_status program_cone_collect(program_cone *cone, const graph *g, const graph_node *nodes, size_t count) {
    *cone = (program_cone){0};
    cone_stack stack = {0};
    bool done = grow_table(cone, FIRST_CAPACITY) && walk(cone, &stack, g, nodes, count);
    free(stack.frames);
    return done ? HAMEL_OK : HAMEL_NO_MEMORY;
}

uint32_t program_cone_find(const program_cone *cone, graph_node node) {
    return cone->values[key_slot(cone, node)];
}

void program_cone_free(program_cone *cone) {
    free(cone->nodes);
    free(cone->keys);
    free(cone->values);
    *cone = (program_cone){0};
}
