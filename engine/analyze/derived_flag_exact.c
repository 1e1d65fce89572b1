/* derived_flag_exact.c — steps of a derived flag, computed with expressions.
 *
 * Every entry is simplified (engine/algebra) to find the entries that vanish identically. An entry that algebra cannot
 * reduce to 0 is treated as nonzero, so the dimensions found here are never too small. Dimensions found at a
 * configuration are never too large, so equal results are exact. Parameters are symbols, but pivots must not vanish at
 * the given parameter values. */
#include "engine/algebra/eliminate.h"
#include "engine/analyze/growth_vector.h"

#include <assert.h>
#include <string.h>

/* Upper bounds of a group's rows and columns, the nodes of its forms, the nodes of a bracket, and the number of
 * brackets. Larger groups are not tried, because algebra would take longer than the rest of an analysis. */
enum { COLUMNS_MOST = 24, FORM_NODES = 150, BRACKET_NODES = 600, BRACKETS_MOST = 48 };

/* The forms, solved for as many differentials p as there are independent ones, leave the fields
 *     X_j = ∂_j − Σ_r b_rj ∂_p(r)         j: the other columns
 * whose brackets have components along the ∂_p only. Such a vertical field is a row with one expression per form. */
typedef struct fields_of_group {
    const forms *forms;
    graph *g;
    graph_point near;
    work_budget *work;
    arena *memory;
    size_t width, rank;    /* number of columns; of forms */
    size_t *pivot, *other; /* columns p (rank) and j (width − rank) */
    graph_node *b;         /* rank × (width − rank) */
    graph_node *vertical;  /* count × rank, row by row; space for rank + 1 rows */
    size_t count;          /* number of vertical fields found */
    graph_node *table;     /* (rank + 1) × (rank + 1) */
    int *pivots;           /* rank + 1 */
    size_t offered;
} fields_of_group;

/* Sets component r of the row to 0. Returns false if the graph failed. */
static bool clear_component(const fields_of_group *f, graph_node *row, size_t r) {
    row[r] = graph_number(f->g, 0);
    return row[r] >= 0;
}

/* Adds ± x · ∂y/∂column to component r of the row; x = NULL means 1. */
static bool add_partial(const fields_of_group *f, graph_node *row, size_t r, int sign, const graph_node *x,
                        graph_node y, size_t column) {
    graph_node term = graph_partial(f->g, y, forms_symbol(f->forms, column));
    if (x) term = graph_mul(f->g, *x, term);
    row[r] = sign > 0 ? graph_add(f->g, row[r], term) : graph_sub(f->g, row[r], term);
    return row[r] >= 0;
}

static bool is_short(const fields_of_group *f, const graph_node *nodes, size_t count, size_t most) {
    graph_node *below;
    size_t found = graph_below(f->g, nodes, count, f->memory, &below);
    return found > 0 && found <= most;
}

/* Adds a row to the vertical fields if it is independent of them; all rows are then fully eliminated. Sets
 * *independent. Returns false if a limit is exceeded. */
static bool keep_if_independent(fields_of_group *f, const graph_node *row, bool *independent) {
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
    *independent = pivots == rows;
    for (size_t i = 0; *independent && i < rows; i++)
        memcpy(f->vertical + i * rank, f->table + i * (rank + 1), rank * sizeof *f->vertical);
    return true;
}

/* --- the steps ---------------------------------------------------------------------------------------------------- */

static size_t free_count(const fields_of_group *f) {
    return f->width - f->rank;
}

static graph_node entry(const fields_of_group *f, size_t r, size_t j) {
    return f->b[r * free_count(f) + j];
}

/* Adds ± X_j(y) to component r. */
static bool add_slope(fields_of_group *f, graph_node *row, size_t r, int sign, size_t j, graph_node y) {
    if (!add_partial(f, row, r, sign, NULL, y, f->other[j])) return false;
    for (size_t s = 0; s < f->rank; s++) {
        graph_node b = entry(f, s, j);
        if (!add_partial(f, row, r, -sign, &b, y, f->pivot[s])) return false;
    }
    return true;
}

/* Adds ± Z(y) to component r. */
static bool add_vertical_slope(fields_of_group *f, graph_node *row, size_t r, int sign, const graph_node *Z,
                               graph_node y) {
    for (size_t s = 0; s < f->rank; s++)
        if (!add_partial(f, row, r, sign, &Z[s], y, f->pivot[s])) return false;
    return true;
}

/* Sets `row` to [X_i, X_j]. */
static bool bracket_of_free(fields_of_group *f, size_t i, size_t j, graph_node *row) {
    for (size_t r = 0; r < f->rank; r++)
        if (!clear_component(f, row, r) || !add_slope(f, row, r, -1, i, entry(f, r, j)) ||
            !add_slope(f, row, r, 1, j, entry(f, r, i)))
            return false;
    return true;
}

/* Sets `row` to [X_j, Z]. */
static bool bracket_with_vertical(fields_of_group *f, size_t j, const graph_node *Z, graph_node *row) {
    for (size_t r = 0; r < f->rank; r++)
        if (!clear_component(f, row, r) || !add_slope(f, row, r, 1, j, Z[r]) ||
            !add_vertical_slope(f, row, r, 1, Z, entry(f, r, j)))
            return false;
    return true;
}

/* Sets `row` to [Y, Z]. */
static bool bracket_of_verticals(fields_of_group *f, const graph_node *Y, const graph_node *Z, graph_node *row) {
    for (size_t r = 0; r < f->rank; r++)
        if (!clear_component(f, row, r) || !add_vertical_slope(f, row, r, 1, Y, Z[r]) ||
            !add_vertical_slope(f, row, r, -1, Z, Y[r]))
            return false;
    return true;
}

static bool offer_bracket_row(fields_of_group *f, graph_node *row) {
    bool independent;
    if (!keep_if_independent(f, row, &independent)) return false;
    if (independent) f->count++;
    return true;
}

static bool add_first_brackets(fields_of_group *f, graph_node *row, size_t most) {
    for (size_t i = 1; i < free_count(f); i++)
        for (size_t j = 0; j < i && f->count < most; j++)
            if (!bracket_of_free(f, i, j, row) || !offer_bracket_row(f, row)) return false;
    return true;
}

/* Adds brackets with the fields found before this step. The fields are copied, because f->vertical changes during the
 * step. */
static bool add_next_brackets(fields_of_group *f, graph_node *row, bool derived, size_t most) {
    size_t before = f->count;
    graph_node *fields = arena_alloc(f->memory, before * f->rank, sizeof *fields);
    if (!fields) return false;
    memcpy(fields, f->vertical, before * f->rank * sizeof *fields);
    for (size_t k = 0; k < before; k++) {
        const graph_node *Z = fields + k * f->rank;
        for (size_t j = 0; j < free_count(f) && f->count < most; j++)
            if (!bracket_with_vertical(f, j, Z, row) || !offer_bracket_row(f, row)) return false;
        for (size_t i = 0; derived && i < k && f->count < most; i++)
            if (!bracket_of_verticals(f, fields + i * f->rank, Z, row) || !offer_bracket_row(f, row)) return false;
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
    fields_of_group fields = {.forms = f, .g = f->a->system->graph, .work = &f->a->work, .memory = memory};
    fields.near = sample_point(f->a, near, false);
    fields.width = f->width;
    fields.rank = f->rank;
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
