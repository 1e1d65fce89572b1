/* exact_flag.c — the steps of a flag in expressions.
 *
 * Every entry is arranged (engine/algebra), so that what vanishes identically is 0. What is not seen to vanish counts as
 * different from it: dimensions found here are never too small, those found at a configuration never too large, and where
 * the two agree they are certain. Parameters are symbols, but pivots are chosen that do not vanish at their values. */
#include "engine/algebra/eliminate.h"
#include "engine/analyze/flag.h"

#include <string.h>

/* Of a group's forms, nodes of their expressions and of one bracket's, brackets in all. Beyond, algebra takes longer than all
 * else in an analysis. */
enum { COLUMNS_MOST = 24, FORM_NODES = 150, BRACKET_NODES = 600, BRACKETS_MOST = 48 };

typedef struct expression_numbers {
    graph *g;
    graph_point near;
    graph_node *table; /* (rank + 1) × (rank + 1) */
    int *pivots;       /* rank + 1 */
    const forms *forms;
    effort *work;
    size_t offered;
} expression_numbers;

static bool begin(flag_fields *f, flag_scalar *row, size_t r) {
    row[r].node = graph_number(((expression_numbers *)f->numbers)->g, 0);
    return row[r].node >= 0;
}

static bool add(flag_fields *f, flag_scalar *row, size_t r, int sign, const flag_scalar *x, flag_scalar y,
                size_t column) {
    const expression_numbers *n = f->numbers;
    graph_node term = graph_partial(n->g, y.node, flag_symbol(n->forms, column));
    if (x) term = graph_mul(n->g, x->node, term);
    row[r].node = sign > 0 ? graph_add(n->g, row[r].node, term) : graph_sub(n->g, row[r].node, term);
    return row[r].node >= 0;
}

static bool is_short(const flag_fields *f, const graph_node *nodes, size_t count, size_t most) {
    graph_node *below;
    size_t found = graph_below(((expression_numbers *)f->numbers)->g, nodes, count, f->memory, &below);
    return found > 0 && found <= most;
}

/* Rows so far and the new one, reduced against each other. */
static bool keep(flag_fields *f, flag_scalar *row, bool *independent) {
    expression_numbers *n = f->numbers;
    size_t rank = f->rank, rows = f->count + 1, pivots = 0;
    if (++n->offered > BRACKETS_MOST) return false;
    for (size_t i = 0; i < rows; i++) {
        const flag_scalar *from = i < f->count ? f->vertical + i * rank : row;
        for (size_t r = 0; r < rank; r++) n->table[i * (rank + 1) + r] = from[r].node;
        n->table[i * (rank + 1) + rank] = graph_number(n->g, 0);
    }
    if (!is_short(f, n->table, rows * (rank + 1), BRACKET_NODES)) return false;
    if (!eliminate_within(n->g, n->table, rows, rank, &n->near, n->pivots, rows, n->work, f->memory)) return false;
    if (n->work->spent) return false;
    for (size_t i = 0; i < rows; i++) pivots += n->pivots[i] >= 0;
    *independent = pivots == rows;
    for (size_t i = 0; *independent && i < rows; i++)
        for (size_t r = 0; r < rank; r++) f->vertical[i * rank + r].node = n->table[i * (rank + 1) + r];
    return true;
}

static const flag_arithmetic in_expressions = {begin, add, keep};

/* The forms of all rows, dt on the right side, as it is solved for no more than the velocities. */
static graph_node *matrix_of(const forms *f, arena *memory) {
    graph *g = f->a->system->graph;
    size_t width = f->coordinate_count + 1;
    graph_node *table = arena_alloc(memory, f->row_count * width, sizeof *table);
    for (size_t k = 0; table && k < f->row_count * width; k++) table[k] = graph_number(g, 0);
    for (size_t e = 0; table && e < f->entry_count; e++)
        table[f->entry_row[e] * width + f->entry_column[e]] = f->nodes[e];
    return table;
}

/* b, and which columns are solved for. False where rows contradict each other, or the rank is not `rank`. */
static bool read_solution(flag_fields *fields, const forms *f, const graph_node *table, const int *pivots,
                          bool *solved) {
    size_t width = f->coordinate_count + 1, others = f->width - f->rank, found = 0, count = 0;
    graph *g = f->a->system->graph;
    for (size_t i = 0; i < f->row_count; i++) {
        if (pivots[i] < 0 && !graph_is_zero(g, table[i * width + f->coordinate_count])) return false;
        if (pivots[i] < 0) continue;
        if (found == f->rank) return false;
        solved[pivots[i]] = true;
        fields->pivot[found++] = (size_t)pivots[i];
    }
    if (found < f->rank) return false;
    for (size_t j = 0; j < f->width; j++)
        if (!solved[j]) fields->other[count++] = j;
    for (size_t i = 0, r = 0; i < f->row_count; i++) {
        if (pivots[i] < 0) continue;
        for (size_t j = 0; j < others; j++) fields->b[r * others + j].node = table[i * width + fields->other[j]];
        r++;
    }
    return true;
}

static bool climb(forms *f, const sample *near, bool derived, size_t most, flag_growth *growth, arena *memory) {
    expression_numbers n = {.g = f->a->system->graph, .forms = f, .work = &f->a->work};
    flag_fields fields = {.arithmetic = &in_expressions, .numbers = &n, .memory = memory};
    size_t rank = f->rank, others = f->width - rank;
    program_inputs in = model_inputs(f->a->model, &near->t, near->q, near->v, near->a, near->lambda, NULL);
    memcpy(n.near.values, in.values, sizeof n.near.values);
    fields.width = f->width;
    fields.rank = rank;
    fields.steps_most = FLAG_STEPS;
    n.table = arena_alloc(memory, (rank + 1) * (rank + 1), sizeof *n.table);
    n.pivots = arena_alloc(memory, rank + 1, sizeof *n.pivots);
    fields.pivot = arena_alloc(memory, rank, sizeof *fields.pivot);
    fields.other = arena_alloc(memory, others, sizeof *fields.other);
    fields.b = arena_alloc(memory, rank * others, sizeof *fields.b);
    fields.vertical = arena_alloc(memory, (rank + 1) * rank, sizeof *fields.vertical);
    int *pivots = arena_alloc(memory, f->row_count, sizeof *pivots);
    bool *solved = arena_alloc(memory, f->width, sizeof *solved);
    graph_node *table = matrix_of(f, memory);
    if (!n.table || !n.pivots || !fields.pivot || !fields.other || !fields.b || !fields.vertical || !pivots ||
        !solved || !table)
        return false;
    size_t entries = f->row_count * (f->coordinate_count + 1);
    if (!is_short(&fields, table, entries, FORM_NODES)) return false;
    if (!eliminate_within(n.g, table, f->row_count, f->coordinate_count, &n.near, pivots, f->row_count, n.work, memory))
        return false;
    if (n.work->spent) return false;
    return read_solution(&fields, f, table, pivots, solved) && flag_climb(&fields, derived, most, growth);
}

hamel_status flag_by_expressions(forms *f, const sample *near, bool derived, size_t most, flag_growth *growth,
                                 bool *good) {
    arena memory;
    *good = false;
    if (f->row_count > COLUMNS_MOST || f->width > COLUMNS_MOST) return HAMEL_OK;
    arena_init(&memory, f->a->model->limits.memory);
    *good = climb(f, near, derived, most, growth, &memory);
    arena_free(&memory);
    return graph_status(f->a->system->graph) == HAMEL_OK ? HAMEL_OK : equations_status(f->a->system);
}
