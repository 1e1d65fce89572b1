/* program.c — compiles graph nodes to a program: reachable subgraph, operations, order, slots, instructions.
 *
 * Constants and inputs have the first slots. Constants, inputs, outputs, and the values that the prepared part passes
 * to the rest keep their slots. Any other slot is reused after the last use of its value (linear scan in the order of
 * evaluation). A workspace therefore remains small enough for the cache. An operation may write the slot of an operand
 * that no later operation reads. */
#include "engine/compile/program_int.h"

#include <assert.h>
#include <string.h>

/* The state of a compilation. */
typedef struct builder {
    const graph *g;
    arena scratch, *memory; /* memory: owns the program */
    program *p;
    program_reachable reachable;
    program_operation *operations; /* one per value */
    uint32_t *order;               /* values in the order of evaluation */
    uint32_t *slot;                /* slot[value]: slot of the workspace */
    uint32_t *last_use;            /* last_use[value]: position in `order`; KEPT: the slot is not reused */
    uint32_t *free_slots;
    size_t order_count, free_count;
    size_t places;        /* number of values in families */
    uint32_t first_place; /* slot of the first of these values */
} builder;

enum { KEPT = UINT32_MAX, MOST_VALUES = INT32_MAX / 4 };

static bool builder_reserve(builder *b) {
    size_t n = b->reachable.count;
    b->operations = arena_alloc(&b->scratch, n, sizeof *b->operations);
    b->order = arena_alloc(&b->scratch, n, sizeof *b->order);
    b->slot = arena_alloc(&b->scratch, n, sizeof *b->slot);
    b->last_use = arena_alloc(&b->scratch, n, sizeof *b->last_use);
    b->free_slots = arena_alloc(&b->scratch, n, sizeof *b->free_slots);
    return !b->scratch.failed;
}

static const graph_cell *cell_of(const builder *b, size_t value) {
    return graph_at(b->g, b->reachable.nodes[value]);
}

/* Returns true if a number or symbol needs a slot, because an operation reads it or because it is an output. */
static bool has_slot(const builder *b, size_t value) {
    return b->operations[value].uses > 0 || b->operations[value].output;
}

static bool place_constants(builder *b) {
    program *p = b->p;
    size_t n = 0;
    for (size_t i = 0; i < b->reachable.count; i++) n += cell_of(b, i)->op == GRAPH_IS_NUMBER && has_slot(b, i);
    double *constants = arena_alloc(b->memory, n, sizeof *constants);
    if (!constants) return false;
    p->constants = constants;
    for (size_t i = 0; i < b->reachable.count; i++) {
        const graph_cell *cell = cell_of(b, i);
        if (cell->op != GRAPH_IS_NUMBER || !has_slot(b, i)) continue;
        b->slot[i] = (uint32_t)p->constant_count;
        constants[p->constant_count++] = cell->as.number;
    }
    return true;
}

/* Counts the inputs of each kind, then assigns their slots, grouped by kind. */
static bool place_inputs(builder *b) {
    program *p = b->p;
    size_t next[SYMBOL_KIND_COUNT + 1] = {0};
    for (size_t i = 0; i < b->reachable.count; i++) {
        const graph_cell *cell = cell_of(b, i);
        if (cell->op == GRAPH_IS_SYMBOL && has_slot(b, i)) next[cell->kind + 1]++;
    }
    for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++) next[kind + 1] += next[kind];
    memcpy(p->input_start, next, sizeof next);
    uint32_t *index = arena_alloc(b->memory, next[SYMBOL_KIND_COUNT], sizeof *index);
    if (!index) return false;
    p->input_index = index;
    for (size_t i = 0; i < b->reachable.count; i++) {
        const graph_cell *cell = cell_of(b, i);
        if (cell->op != GRAPH_IS_SYMBOL || !has_slot(b, i)) continue;
        size_t at = next[cell->kind]++;
        index[at] = (uint32_t)cell->as.index;
        b->slot[i] = (uint32_t)(p->constant_count + at);
    }
    p->slot_count = p->constant_count + p->input_start[SYMBOL_KIND_COUNT];
    return true;
}

static void find_last_uses(builder *b) {
    assert(b->order_count <= b->reachable.count && b->p->prepared_count <= b->order_count);
    for (size_t i = 0; i < b->reachable.count; i++)
        if (b->operations[i].output || cell_of(b, i)->op >= GRAPH_OP_COUNT) b->last_use[i] = KEPT;
    for (size_t i = 0; i < b->order_count; i++) {
        const program_operation *o = &b->operations[b->order[i]];
        for (int k = 0; k < o->arity; k++) {
            uint32_t *last = &b->last_use[o->arg[k]];
            if (b->operations[o->arg[k]].prepared && !o->prepared) *last = KEPT;
            if (*last != KEPT) *last = (uint32_t)i;
        }
    }
}

static uint32_t take_slot(builder *b, uint32_t value) {
    uint32_t place = b->operations[value].place;
    b->slot[value] = place != PROGRAM_NO_VALUE ? b->first_place + place
                     : b->free_count           ? b->free_slots[--b->free_count]
                                               : (uint32_t)b->p->slot_count++;
    return b->slot[value];
}

static program_instruction place_operation(builder *b, size_t position) {
    const program_operation *o = &b->operations[b->order[position]];
    uint32_t operand[3] = {0, 0, 0};
    for (int k = 0; k < o->arity; k++) {
        uint32_t value = o->arg[k];
        operand[k] = b->slot[value];
        if (b->last_use[value] != position) continue;
        b->last_use[value] = KEPT; /* prevents a second release if the operation reads the operand twice */
        if (b->operations[value].place == PROGRAM_NO_VALUE) b->free_slots[b->free_count++] = b->slot[value];
    }
    uint32_t dst = take_slot(b, b->order[position]);
    if (o->op == PROGRAM_SINCOS) operand[2] = take_slot(b, o->second);
    return (program_instruction){dst | (uint64_t)operand[0] << 32, operand[1] | (uint64_t)operand[2] << 32};
}

static bool place_instructions(builder *b) {
    program *p = b->p;
    program_instruction *code = arena_alloc(b->memory, b->order_count, sizeof *code);
    graph_node *nodes = arena_alloc(b->memory, b->order_count, sizeof *nodes);
    if (!code || !nodes) return false;
    p->instructions = code;
    p->nodes = nodes;
    p->instruction_count = b->order_count;
    for (size_t i = 0; i < b->order_count; i++) {
        code[i] = place_operation(b, i);
        nodes[i] = b->reachable.nodes[b->order[i]];
    }
    return true;
}

/* Groups instructions into runs. A run does not extend from the prepared part into the rest. */
static bool place_runs(builder *b) {
    program *p = b->p;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        program_run *runs = pass ? arena_alloc(b->memory, count, sizeof *runs) : NULL;
        if (pass && !runs) return false;
        count = 0;
        for (size_t i = 0; i < b->order_count; i++) {
            uint32_t op = b->operations[b->order[i]].op;
            bool starts = i == 0 || i == p->prepared_count || b->operations[b->order[i - 1]].op != op;
            if (starts && i == p->prepared_count) p->prepared_runs = count;
            if (starts) count++;
            if (!runs) continue;
            if (starts) runs[count - 1] = (program_run){op, 0};
            runs[count - 1].count++;
        }
        p->runs = runs;
    }
    p->run_count = count;
    if (p->prepared_count == b->order_count) p->prepared_runs = count;
    return true;
}

static bool place_outputs(builder *b, const uint32_t *values, size_t count) {
    program *p = b->p;
    uint32_t *slots = arena_alloc(b->memory, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < count; i++) {
        slots[i] = b->slot[values[i]];
        p->depends |= cell_of(b, values[i])->depends;
    }
    p->output_slots = slots;
    p->output_count = count;
    if (!p->slot_count) p->slot_count = 1; /* unused operands refer to slot 0, so it must exist */
    return true;
}

static hamel_status build(builder *b, const graph_node *nodes, uint32_t *values, size_t count) {
    hamel_status status = program_reachable_collect(&b->reachable, b->g, nodes, count);
    if (status) return status;
    if (b->reachable.count > MOST_VALUES) return HAMEL_LIMIT;
    if (graph_refused(b->g)) return HAMEL_CANCELED;
    if (!builder_reserve(b)) return HAMEL_NO_MEMORY;
    for (size_t i = 0; i < count; i++) values[i] = program_reachable_find(&b->reachable, nodes[i]);
    status = program_select(b->operations, &b->reachable, b->g, values, count);
    if (status) return status;
    if (graph_refused(b->g)) return HAMEL_CANCELED;
    status = program_schedule(b->operations, b->reachable.count, b->order, &b->order_count, &b->p->prepared_count,
                              &b->places);
    if (status) return status;
    if (graph_refused(b->g)) return HAMEL_CANCELED;
    if (!place_constants(b) || !place_inputs(b)) return HAMEL_NO_MEMORY;
    b->first_place = (uint32_t)b->p->slot_count;
    b->p->slot_count += b->places;
    find_last_uses(b);
    if (!place_instructions(b) || !place_runs(b) || !place_outputs(b, values, count)) return HAMEL_NO_MEMORY;
    return HAMEL_OK;
}

/* If a node is GRAPH_NONE, reports an error with the status of the graph. */
static hamel_status check_nodes(const graph *g, const graph_node *nodes, size_t count, hamel_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (nodes[i] >= 0 && (size_t)nodes[i] < graph_count(g)) continue;
        hamel_status status = graph_status(g) ? graph_status(g) : HAMEL_INTERNAL;
        return hamel_fail(error, status, NULL, 0, "the expression graph could not be built: %s",
                          hamel_status_meaning(status));
    }
    return HAMEL_OK;
}

hamel_status program_compile(program **out, arena *memory, const graph *g, const graph_node *nodes, size_t count,
                             hamel_error *error) {
    *out = NULL;
    hamel_status status = check_nodes(g, nodes, count, error);
    if (status) return status;
    builder b = {.g = g, .memory = memory, .p = arena_alloc(memory, 1, sizeof(program))};
    if (b.p) b.p->tables = graph_tables(g);
    uint32_t *values = arena_alloc(&b.scratch, count, sizeof *values);
    status = b.p && values ? build(&b, nodes, values, count) : HAMEL_NO_MEMORY;
    program_reachable_free(&b.reachable);
    arena_free(&b.scratch);
    if (status)
        return hamel_fail(error, status, NULL, 0, "%zu expressions could not be compiled: %s", count,
                          hamel_status_meaning(status));
    *out = b.p;
    return HAMEL_OK;
}

size_t program_output_count(const program *p) {
    return p->output_count;
}

size_t program_instruction_count(const program *p) {
    return p->instruction_count;
}

unsigned program_depends(const program *p) {
    return p->depends;
}

size_t program_reads(const program *p, graph_symbol_kind kind, const uint32_t **indices) {
    *indices = p->input_index + p->input_start[kind];
    return p->input_start[kind + 1] - p->input_start[kind];
}

size_t program_workspace_doubles(const program *p) {
    return p->slot_count;
}
