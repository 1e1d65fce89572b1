/* graph.c — storage of the expression graph: hash-consing, symbols, walks.
 *
 * Cells are stored in one growing array in the order of their creation, operands before results. Pointers into the
 * array become invalid when the array grows, so code that creates nodes works on copies of cells. The hash function
 * needs no secret seed against crafted collisions, because the size of a graph is bounded and each description has its
 * own graph. */
#include "engine/graph/graph_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, WATCHED = 1024 };

static uint64_t number_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t cell_hash(const graph_cell *c) {
    uint64_t h = graph_mix(((uint64_t)c->op << 8) | c->kind);
    if (c->op == GRAPH_IS_NUMBER) return graph_mix(h ^ number_bits(c->as.number));
    if (c->op == GRAPH_IS_SYMBOL) return graph_mix(h ^ (uint64_t)(uint32_t)c->as.index);
    for (int k = 0; k < 3; k++) h = graph_mix(h ^ (uint64_t)(uint32_t)c->as.operand[k]);
    return h;
}

static bool cell_equal(const graph_cell *a, const graph_cell *b) {
    if (a->op != b->op || a->kind != b->kind) return false;
    if (a->op == GRAPH_IS_NUMBER) return number_bits(a->as.number) == number_bits(b->as.number);
    if (a->op == GRAPH_IS_SYMBOL) return a->as.index == b->as.index;
    return memcmp(a->as.operand, b->as.operand, sizeof a->as.operand) == 0;
}

graph_node graph_fail(graph *g, hamel_status status) {
    if (g->status == HAMEL_OK) g->status = status;
    return GRAPH_NONE;
}

graph *graph_create(arena *memory, arena *scratch, size_t max_nodes) {
    graph *g = arena_alloc(memory, 1, sizeof *g);
    if (!g) return NULL;
    g->memory = memory;
    g->scratch = scratch;
    g->max_nodes = max_nodes ? max_nodes : (size_t)INT32_MAX;
    g->slots = arena_alloc(scratch, FIRST_SLOTS, sizeof *g->slots);
    if (!g->slots) return NULL;
    g->slot_count = FIRST_SLOTS;
    for (size_t i = 0; i < g->slot_count; i++) g->slots[i] = GRAPH_NONE;
    return g;
}

bool graph_close(graph *g) {
    assert(g->scratch && g->status == HAMEL_OK);
    graph_cell *cells = arena_alloc(g->memory, g->count, sizeof *cells);
    if (!cells) return false;
    memcpy(cells, g->cells, g->count * sizeof *cells);
    *g = (graph){.memory = g->memory,
                 .cells = cells,
                 .count = g->count,
                 .capacity = g->count,
                 .tables = g->tables,
                 .table_count = g->table_count};
    return true;
}

void graph_watch(graph *g, bool (*refuses)(void *context), void *context) {
    g->refuses = refuses;
    g->context = context;
}

bool graph_refused(const graph *g) {
    return g->refuses && g->refuses(g->context);
}

/* Counts one operation on nodes. If the callback requests cancellation, sets the sticky status and returns false. */
static bool may_work(graph *g) {
    if (++g->work % WATCHED != 0 || !graph_refused(g)) return true;
    return graph_fail(g, HAMEL_CANCELED) != GRAPH_NONE;
}

hamel_status graph_status(const graph *g) {
    return g->status;
}
size_t graph_count(const graph *g) {
    return g->count;
}
const graph_cell *graph_at(const graph *g, graph_node node) {
    return &g->cells[node];
}
unsigned graph_depends(const graph *g, graph_node node) {
    return node < 0 ? 0u : g->cells[node].depends;
}

int graph_arity(const graph_cell *cell) {
    return cell->op < GRAPH_OP_COUNT ? graph_op_get((graph_op)cell->op)->arity : 0;
}

bool graph_is_number(const graph *g, graph_node node, double *value) {
    if (node < 0 || g->cells[node].op != GRAPH_IS_NUMBER) return false;
    if (value) *value = g->cells[node].as.number;
    return true;
}

bool graph_is_zero(const graph *g, graph_node node) {
    double value;
    return graph_is_number(g, node, &value) && value == 0;
}

static bool rehash(graph *g) {
    size_t count = g->slot_count * 2;
    graph_node *slots = arena_alloc(g->scratch, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < count; i++) slots[i] = GRAPH_NONE;
    for (size_t i = 0; i < g->count; i++) {
        size_t s = (size_t)cell_hash(&g->cells[i]) & (count - 1);
        while (slots[s] != GRAPH_NONE) s = (s + 1) & (count - 1);
        slots[s] = (graph_node)i;
    }
    g->slots = slots;
    g->slot_count = count;
    return true;
}

static uint16_t operands_depend(const graph *g, const graph_cell *c) {
    unsigned bits = 0;
    for (int k = 0; k < 3; k++) bits |= graph_depends(g, c->as.operand[k]);
    return (uint16_t)bits;
}

graph_node graph_intern(graph *g, const graph_cell *cell) {
    assert(g->scratch);
    size_t s = (size_t)cell_hash(cell) & (g->slot_count - 1);
    if (!may_work(g)) return GRAPH_NONE;
    for (; g->slots[s] != GRAPH_NONE; s = (s + 1) & (g->slot_count - 1))
        if (cell_equal(&g->cells[g->slots[s]], cell)) return g->slots[s];
    if (g->count >= g->max_nodes) return graph_fail(g, HAMEL_LIMIT);
    graph_cell *cells = arena_grow(g->scratch, g->cells, &g->capacity, g->count + 1, sizeof *cells);
    if (!cells) return graph_fail(g, HAMEL_NO_MEMORY);
    g->cells = cells;
    graph_node node = (graph_node)g->count++;
    cells[node] = *cell;
    if (cell->op < GRAPH_OP_COUNT) cells[node].depends = operands_depend(g, cell);
    g->slots[s] = node;
    if (g->count * 2 > g->slot_count && !rehash(g)) return graph_fail(g, HAMEL_NO_MEMORY);
    return node;
}

graph_node graph_number(graph *g, double value) {
    if (g->status != HAMEL_OK) return GRAPH_NONE;
    graph_cell cell = {.op = GRAPH_IS_NUMBER,
                       .as.number = value == 0 ? 0.0 : value}; /* −0 becomes 0, so that zero is one node */
    return graph_intern(g, &cell);
}

graph_node graph_symbol(graph *g, graph_symbol_kind kind, int32_t index) {
    if (g->status != HAMEL_OK) return GRAPH_NONE;
    graph_cell cell = {
        .op = GRAPH_IS_SYMBOL, .kind = (uint8_t)kind, .depends = (uint16_t)GRAPH_DEPENDS(kind), .as.index = index};
    return graph_intern(g, &cell);
}

graph_node graph_apply(graph *g, graph_op op, graph_node x, graph_node y, graph_node z) {
    if (g->status != HAMEL_OK) return GRAPH_NONE;
    int arity = graph_op_get(op)->arity;
    if (x < 0 || (arity > 1 && y < 0) || (arity > 2 && z < 0)) return GRAPH_NONE;
    return graph_simplify(g, op, x, arity > 1 ? y : GRAPH_NONE, arity > 2 ? z : GRAPH_NONE);
}

int32_t graph_add_table(graph *g, const graph_table *table) {
    const graph_table **all = arena_grow(g->memory, g->tables, &g->table_capacity, g->table_count + 1, sizeof *all);
    if (!all) return (void)graph_fail(g, HAMEL_NO_MEMORY), -1;
    g->tables = all;
    all[g->table_count] = table;
    return (int32_t)g->table_count++;
}

const graph_table *const *graph_tables(const graph *g) {
    return g->tables;
}

size_t graph_table_count(const graph *g) {
    return g->table_count;
}

graph_node graph_lookup(graph *g, graph_node x, int32_t table, int order) {
    return graph_apply(g, GRAPH_TABLE, x, graph_number(g, table), graph_number(g, order));
}

bool graph_walk_begin(graph *g) {
    assert(g->scratch);
    uint32_t *mark = arena_grow(g->scratch, g->mark, &g->mark_capacity, g->capacity, sizeof *mark);
    if (!mark) return graph_fail(g, HAMEL_NO_MEMORY) != GRAPH_NONE;
    g->mark = mark;        /* new marks are 0 and therefore differ from the stamp */
    if (++g->stamp == 0) { /* the counter has wrapped, so old marks could equal new stamps */
        memset(g->mark, 0, g->mark_capacity * sizeof *g->mark);
        g->stamp = 1;
    }
    return true;
}

bool graph_walk_push(graph *g, size_t *depth, graph_node node) {
    if (!may_work(g)) return false;
    graph_node *stack = arena_grow(g->scratch, g->stack, &g->stack_capacity, *depth + 1, sizeof *stack);
    if (!stack) return graph_fail(g, HAMEL_NO_MEMORY) != GRAPH_NONE;
    g->stack = stack;
    stack[(*depth)++] = node;
    return true;
}

static int by_index(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Lists the nodes of the reachable subgraph of the roots in the order of visits. If `kinds` is not 0, omits operands
 * that depend on none of these kinds. Grows *nodes in `memory`. Returns the number of nodes, or 0 if a root is
 * GRAPH_NONE or if out of memory. */
static size_t list_below(graph *g, const graph_node *roots, size_t count, unsigned kinds, arena *memory,
                         graph_node **nodes, size_t *capacity) {
    size_t depth = 0, found = 0;
    if (!graph_walk_begin(g)) return 0;
    for (size_t i = 0; i < count; i++)
        if (roots[i] < 0 || !graph_walk_push(g, &depth, roots[i])) return 0;
    while (depth > 0) {
        graph_node at = g->stack[--depth];
        if (g->mark[at] == g->stamp) continue;
        g->mark[at] = g->stamp;
        graph_cell cell = g->cells[at];
        graph_node *list = arena_grow(memory, *nodes, capacity, found + 1, sizeof *list);
        if (!list) return 0;
        *nodes = list;
        list[found++] = at;
        for (int k = 0; k < graph_arity(&cell); k++) {
            graph_node o = cell.as.operand[k];
            bool listed = kinds == 0 || (g->cells[o].depends & kinds) != 0;
            if (listed && g->mark[o] != g->stamp && !graph_walk_push(g, &depth, o)) return 0;
        }
    }
    return found;
}

size_t graph_support(graph *g, graph_node node, graph_symbol_kind kind, const int32_t **indices) {
    size_t found = 0;
    *indices = NULL;
    if (!(graph_depends(g, node) & GRAPH_DEPENDS(kind))) return 0;
    size_t below = list_below(g, &node, 1, GRAPH_DEPENDS(kind), g->scratch, &g->found, &g->found_capacity);
    if (below == 0) return graph_fail(g, HAMEL_NO_MEMORY), 0;
    for (size_t k = 0; k < below; k++) {
        const graph_cell *cell = &g->cells[g->found[k]];
        if (cell->op == GRAPH_IS_SYMBOL) g->found[found++] = cell->as.index;
    }
    qsort(g->found, found, sizeof *g->found, by_index);
    *indices = g->found;
    return found;
}

size_t graph_below(graph *g, const graph_node *roots, size_t count, arena *memory, graph_node **nodes) {
    size_t capacity = 0;
    *nodes = NULL;
    size_t found = list_below(g, roots, count, 0, memory, nodes, &capacity);
    if (found > 0) qsort(*nodes, found, sizeof **nodes, by_index);
    return found;
}

graph_node graph_literal(graph *g, graph_op op, graph_node x, graph_node y) {
    graph_cell cell = {.op = (uint8_t)op, .as.operand = {x, y, GRAPH_NONE}};
    bool missing = x < 0 || (y < 0 && graph_op_get(op)->arity == 2);
    return missing || g->status != HAMEL_OK ? GRAPH_NONE : graph_intern(g, &cell);
}
