/* derived_flag_exact.c — steps of a derived flag, computed with expressions.
 *
 * Every entry is simplified (engine/algebra) to find the entries that vanish identically. An entry that algebra cannot
 * reduce to 0 is treated as nonzero, so the dimensions found here are never too small. Dimensions found at a
 * configuration are never too large, so equal results are exact. Parameters are symbols, but pivots must not vanish at
 * the parameter values of the description. */
#include "engine/algebra/eliminate.h"
#include "engine/analyze/growth_vector.h"

#include <assert.h>
#include <string.h>

/* Upper bounds. COLUMNS_MOST: rows, and columns, of a group. FORM_NODES: nodes of the forms of a group. BRACKET_NODES:
 * nodes of a bracket. BRACKETS_MOST: number of brackets. The algebra of larger groups would take longer than the rest
 * of an analysis. */
enum { COLUMNS_MOST = 24, FORM_NODES = 150, BRACKET_NODES = 600, BRACKETS_MOST = 48 };

/* The forms are solved for as many differentials p as there are independent forms. Each other column j gives a field
 *     X_j = ∂_j − Σ_r b_rj ∂_p(r).
 * The brackets of the X_j are vertical: they have components along the ∂_p only. A vertical field is a row with one
 * expression per form. */
typedef struct fields_of_group {
    const forms *forms;
    graph *g;
    graph_point near;
    work_budget *work;
    arena *memory;
    size_t width, rank;    /* width: number of columns; rank: number of forms */
    size_t *pivot, *other; /* pivot: the `rank` columns p; other: the width − rank columns j */
    graph_node *b;         /* rank × (width − rank) */
    graph_node *vertical;  /* count × rank: components of the vertical fields; space for rank + 1 fields */
    size_t count;          /* number of vertical fields found */
    graph_node *table;     /* (rank + 1) × (rank + 1) */
    int *pivots;           /* rank + 1 */
    size_t offered;
} fields_of_group;

static bool is_short(const fields_of_group *f, const graph_node *nodes, size_t count, size_t most) {
    graph_node *below;
    size_t found = graph_below(f->g, nodes, count, f->memory, &below);
    return found > 0 && found <= most;
}

/* If a row is independent of the vertical fields, adds the row to these fields and applies Gauss–Jordan elimination to
 * all of them. Returns false if a limit is exceeded. */
static bool keep_if_independent(fields_of_group *f, const graph_node *row) {
    assert(f->count <= f->rank);
    size_t rank = f->rank, rows = f->count + 1, pivots = 0;
    if (++f->offered > BRACKETS_MOST) return false;
    for (size_t i = 0; i < rows; i++) {
        const graph_node *from = i < f->count ? f->vertical + i * rank : row;
        memcpy(f->table + i * (rank + 1), from, rank * sizeof *from);
        f->table[i * (rank + 1) + rank] = graph_number(f->g, 0);
    }
    if (!is_short(f, f->table, rows * (rank + 1), BRACKET_NODES)) return false;
    if (!eliminate_within(f->g, f->table, rows, rank, &f->near, f->pivots, rows, f->work, f->memory)) return false;
    if (f->work->spent) return false;
    for (size_t i = 0; i < rows; i++) pivots += f->pivots[i] >= 0;
    if (pivots < rows) return true;
    for (size_t i = 0; i < rows; i++)
        memcpy(f->vertical + i * rank, f->table + i * (rank + 1), rank * sizeof *f->vertical);
    f->count++;
    return true;
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

/* The vertical field with these components, or X_j if `vertical` is NULL. */
typedef struct field {
    const graph_node *vertical;
    size_t j;
} field;

static size_t free_count(const fields_of_group *f) {
    return f->width - f->rank;
}

/* Returns component r of a vertical field. For a field X_j, returns b_rj, the negative of component r. */
static graph_node component(const fields_of_group *f, field a, size_t r) {
    return a.vertical ? a.vertical[r] : f->b[r * free_count(f) + a.j];
}

/* Adds ± the derivative of y along the field a to *sum. Returns false if a node cannot be created. */
static bool add_slope(const fields_of_group *f, graph_node *sum, int sign, field a, graph_node y) {
    if (!a.vertical) {
        graph_node partial = graph_partial(f->g, y, forms_symbol(f->forms, f->other[a.j]));
        *sum = sign > 0 ? graph_add(f->g, *sum, partial) : graph_sub(f->g, *sum, partial);
        sign = -sign;
    }
    for (size_t s = 0; s < f->rank; s++) {
        graph_node partial = graph_partial(f->g, y, forms_symbol(f->forms, f->pivot[s]));
        graph_node term = graph_mul(f->g, component(f, a, s), partial);
        *sum = sign > 0 ? graph_add(f->g, *sum, term) : graph_sub(f->g, *sum, term);
    }
    return *sum >= 0;
}

/* If the bracket [a, b] is independent of the vertical fields, adds the bracket to these fields. Returns false if a
 * limit is exceeded. */
static bool offer_bracket(fields_of_group *f, graph_node *row, field a, field b) {
    for (size_t r = 0; r < f->rank; r++) {
        row[r] = graph_number(f->g, 0);
        if (!add_slope(f, &row[r], b.vertical ? 1 : -1, a, component(f, b, r)) ||
            !add_slope(f, &row[r], a.vertical ? -1 : 1, b, component(f, a, r)))
            return false;
    }
    return keep_if_independent(f, row);
}

static bool add_first_brackets(fields_of_group *f, graph_node *row, size_t most) {
    for (size_t i = 1; i < free_count(f); i++)
        for (size_t j = 0; j < i && f->count < most; j++)
            if (!offer_bracket(f, row, (field){NULL, i}, (field){NULL, j})) return false;
    return true;
}

/* Adds brackets with the vertical fields found before this step. These fields are copied, because f->vertical changes
 * during the step. */
static bool add_next_brackets(fields_of_group *f, graph_node *row, bool derived, size_t most) {
    size_t before = f->count;
    graph_node *fields = arena_alloc(f->memory, before * f->rank, sizeof *fields);
    if (!fields) return false;
    memcpy(fields, f->vertical, before * f->rank * sizeof *fields);
    for (size_t k = 0; k < before; k++) {
        field last = {fields + k * f->rank, 0};
        for (size_t j = 0; j < free_count(f) && f->count < most; j++)
            if (!offer_bracket(f, row, (field){NULL, j}, last)) return false;
        for (size_t i = 0; derived && i < k && f->count < most; i++)
            if (!offer_bracket(f, row, (field){fields + i * f->rank, 0}, last)) return false;
    }
    return true;
}

static bool find_exact_flag(fields_of_group *f, bool derived, size_t most, flag_dimensions *flag) {
    assert(most <= f->rank);
    graph_node *row = arena_alloc(f->memory, f->rank, sizeof *row);
    f->count = 0;
    flag->steps = 1;
    flag->dimension[0] = free_count(f);
    if (!row) return false;
    for (size_t before = 0; flag->steps < DERIVED_FLAG_STEPS; before = f->count) {
        bool good = flag->steps == 1 ? add_first_brackets(f, row, most) : add_next_brackets(f, row, derived, most);
        if (!good) return false;
        if (f->count == before) return true;
        flag->dimension[flag->steps++] = free_count(f) + f->count;
        if (f->count == most) return true;
    }
    return false;
}

/* --- the forms ---------------------------------------------------------------------------------------------------- */

/* Returns the coefficients of all rows. The last column, dt, is the right-hand side: rows are solved for velocities
 * only. */
static graph_node *matrix_of(const forms *f, arena *memory) {
    graph *g = f->a->system->graph;
    size_t width = f->coordinate_count + 1;
    graph_node *table = arena_alloc(memory, f->row_count * width, sizeof *table);
    for (size_t k = 0; table && k < f->row_count * width; k++) table[k] = graph_number(g, 0);
    for (size_t e = 0; table && e < f->entry_count; e++)
        table[f->entry_row[e] * width + f->entry_column[e]] = f->nodes[e];
    return table;
}

/* Reads b and the pivot columns from the eliminated table. Returns false if rows contradict each other or the rank is
 * not f->rank. */
static bool read_solution(fields_of_group *fields, const forms *f, const graph_node *table, const int *pivots,
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
        for (size_t j = 0; j < others; j++) fields->b[r * others + j] = table[i * width + fields->other[j]];
        r++;
    }
    return true;
}

static bool allocate_fields(fields_of_group *f) {
    arena *memory = f->memory;
    size_t rank = f->rank, others = f->width - rank;
    f->table = arena_alloc(memory, (rank + 1) * (rank + 1), sizeof *f->table);
    f->pivots = arena_alloc(memory, rank + 1, sizeof *f->pivots);
    f->pivot = arena_alloc(memory, rank, sizeof *f->pivot);
    f->other = arena_alloc(memory, others, sizeof *f->other);
    f->b = arena_alloc(memory, rank * others, sizeof *f->b);
    f->vertical = arena_alloc(memory, (rank + 1) * rank, sizeof *f->vertical);
    return !memory->failed;
}

static bool solve_and_climb(forms *f, const sample *near, bool derived, size_t most, flag_dimensions *flag,
                            arena *memory) {
    fields_of_group fields = {.forms = f,
                              .g = f->a->system->graph,
                              .near = sample_point(f->a, near, false),
                              .work = &f->a->work,
                              .memory = memory,
                              .width = f->width,
                              .rank = f->rank};
    int *pivots = arena_alloc(memory, f->row_count, sizeof *pivots);
    bool *solved = arena_alloc(memory, f->width, sizeof *solved);
    graph_node *table = matrix_of(f, memory);
    if (!allocate_fields(&fields)) return false;
    if (!is_short(&fields, table, f->row_count * (f->coordinate_count + 1), FORM_NODES)) return false;
    if (!eliminate_within(fields.g, table, f->row_count, f->coordinate_count, &fields.near, pivots, f->row_count,
                          fields.work, memory) ||
        fields.work->spent)
        return false;
    return read_solution(&fields, f, table, pivots, solved) && find_exact_flag(&fields, derived, most, flag);
}

hamel_status derived_flag_by_expressions(forms *f, const sample *near, bool derived, size_t most, flag_dimensions *flag,
                                         bool *good) {
    arena memory;
    *good = false;
    if (f->row_count > COLUMNS_MOST || f->width > COLUMNS_MOST) return HAMEL_OK;
    arena_init(&memory, f->a->model->limits.memory);
    *good = solve_and_climb(f, near, derived, most, flag, &memory);
    arena_free(&memory);
    return graph_status(f->a->system->graph) == HAMEL_OK ? HAMEL_OK : equations_status(f->a->system);
}
