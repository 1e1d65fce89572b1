/* series_flag.c — the steps of a flag in Taylor series at one configuration.
 *
 * The forms are expanded in the coordinates that their coefficients contain, as far as the steps differentiate, from
 * partial derivatives made in the graph. Ranks are those of the values. A component counts relative to the largest term
 * that a bracket ever had in it, so that neither units nor what rounding leaves of it matter; and where all terms are below
 * 1e-13 of the coefficients that they are derivatives of, they are rounding. */
#include "engine/analyze/flag.h"
#include "engine/analyze/series.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-9, LEAST = 1e-4; /* a term: times DEPENDENT of the coefficients, rounding */

/* Derivatives of all entries, and entries of the matrix of forms times coefficients. */
enum { DERIVATIVES_MOST = 200000, NUMBERS_MOST = 4000000 };

typedef struct series_numbers {
    series_space space;
    size_t *variable; /* width: which variable of the series a column is; `variables` for none */
    double *slope;    /* a series */
    double *largest;  /* rank: terms of a component */
    double *scaled;   /* rank */
    row_basis basis;
} series_numbers;

static bool is_zero(const series_space *s, const double *x) {
    for (size_t i = 0; i < s->count; i++)
        if (x[i] != 0) return false;
    return true;
}

static bool begin(flag_fields *f, flag_scalar *row, size_t r) {
    const series_numbers *n = f->numbers;
    if (!row[r].series) row[r].series = arena_alloc(f->memory, n->space.count, sizeof *row[r].series);
    if (row[r].series) memset(row[r].series, 0, n->space.count * sizeof *row[r].series);
    return row[r].series != NULL;
}

static bool add(flag_fields *f, flag_scalar *row, size_t r, int sign, const flag_scalar *x, flag_scalar y,
                size_t column) {
    series_numbers *n = f->numbers;
    const series_space *s = &n->space;
    size_t variable = n->variable[column];
    if (variable == s->variables || (x && is_zero(s, x->series))) return true;
    series_partial(s, y.series, variable, n->slope);
    n->largest[r] = fmax(n->largest[r], fabs(n->slope[0] * (x ? x->series[0] : 1)));
    if (x)
        series_add_product(s, row[r].series, sign, x->series, n->slope);
    else
        for (size_t i = 0; i < s->count; i++) row[r].series[i] += sign * n->slope[i];
    return true;
}

static bool add_scaled(series_numbers *n, const flag_scalar *row, size_t rank) {
    for (size_t r = 0; r < rank; r++) n->scaled[r] = n->largest[r] > 0 ? row[r].series[0] / n->largest[r] : 0;
    return row_basis_add(&n->basis, n->scaled);
}

static bool keep(flag_fields *f, flag_scalar *row, bool *independent) {
    series_numbers *n = f->numbers;
    row_basis_clear(&n->basis); /* the scales may have changed */
    n->basis.floor = DEPENDENT;
    for (size_t k = 0; k < f->count; k++) (void)add_scaled(n, f->vertical + k * f->rank, f->rank);
    *independent = add_scaled(n, row, f->rank);
    if (!*independent) return true;
    memcpy(f->vertical + f->count * f->rank, row, f->rank * sizeof *row);
    memset(row, 0, f->rank * sizeof *row); /* the next one is another */
    return true;
}

static const flag_arithmetic in_series = {begin, add, keep};

/* --- expansion ---------------------------------------------------------------------------------------------------- */

/* Numbers the columns whose symbols some entry contains; columns[variable] is the way back. */
static bool find_variables(const forms *f, series_numbers *n, arena *memory, size_t *columns, size_t *count) {
    graph_node *below;
    size_t nodes = graph_below(f->a->system->graph, f->nodes, f->entry_count, memory, &below);
    n->variable = arena_alloc(memory, f->width, sizeof *n->variable);
    if (nodes == 0 || !n->variable) return false;
    *count = 0;
    for (size_t j = 0; j < f->width; j++) {
        graph_node name = flag_symbol(f, j);
        size_t place = graph_position(below, nodes, name);
        bool occurs = place < nodes && below[place] == name;
        n->variable[j] = SIZE_MAX;
        if (!occurs) continue;
        columns[*count] = j;
        n->variable[j] = (*count)++;
    }
    for (size_t j = 0; j < f->width; j++)
        if (n->variable[j] == SIZE_MAX) n->variable[j] = *count;
    return true;
}

/* Partial derivatives of each entry, `count` of one after those of the other. False when they grow too many. */
static bool differentiate(const forms *f, const series_space *s, const size_t *columns, graph_node *nodes) {
    graph *g = f->a->system->graph;
    size_t before = graph_count(g), room = f->a->model->limits.nodes;
    for (size_t e = 0; e < f->entry_count; e++) {
        graph_node *of = nodes + e * s->count;
        of[0] = f->nodes[e];
        for (size_t i = 1; i < s->count; i++) {
            if (graph_count(g) - before > DERIVATIVES_MOST || graph_count(g) > room / 2) return false;
            graph_node above = of[s->parent[i]];
            of[i] = graph_is_zero(g, above) ? above : graph_partial(g, above, flag_symbol(f, columns[s->last[i]]));
        }
    }
    return graph_status(g) == HAMEL_OK;
}

static double factorials(const series_space *s, size_t i) {
    double product = 1;
    for (size_t v = 0; v < s->variables; v++)
        for (size_t k = 2; k <= s->exponent[i * s->variables + v]; k++) product *= (double)k;
    return product;
}

/* The matrix of the chosen forms, rank × width series. NULL without memory or when it is too much. */
static double *expand(const forms *f, const series_space *s, const sample *at, const size_t *columns, arena *memory,
                      hamel_status *status) {
    size_t count = f->entry_count * s->count;
    graph_node *nodes = arena_alloc(memory, count, sizeof *nodes);
    double *values = arena_alloc(memory, count, sizeof *values);
    double *matrix = arena_alloc(memory, f->rank * f->width * s->count, sizeof *matrix);
    *status = HAMEL_OK;
    if (!nodes || !values || !matrix || !differentiate(f, s, columns, nodes)) return NULL;
    *status = zero_values(f->a, at, false, nodes, count, values);
    if (*status != HAMEL_OK) return NULL;
    for (size_t e = 0, k = 0; e < f->entry_count; e++) {
        while (k < f->rank && f->chosen[k] < f->entry_row[e]) k++;
        if (k == f->rank || f->chosen[k] != f->entry_row[e]) continue;
        double *to = matrix + (k * f->width + f->entry_column[e]) * s->count;
        for (size_t i = 0; i < s->count; i++) {
            to[i] += values[e * s->count + i] / factorials(s, i);
            if (!isfinite(to[i])) return NULL;
        }
    }
    return matrix;
}

/* --- solution ----------------------------------------------------------------------------------------------------- */

typedef struct series_matrix {
    const series_space *space;
    double *entries;
    size_t rows, columns, unknowns; /* time is no unknown */
    double *inverse, *scratch;
} series_matrix;

static double *at(const series_matrix *m, size_t i, size_t j) {
    return m->entries + (i * m->columns + j) * m->space->count;
}

/* The entry that is largest in its row, over the rows from `first` on. */
static void choose_pivot(const series_matrix *m, const bool *used, size_t first, size_t *row, size_t *column) {
    double best = -1;
    for (size_t i = first; i < m->rows; i++) {
        double length = 0;
        for (size_t j = 0; j < m->columns; j++) length = fmax(length, fabs(at(m, i, j)[0]));
        for (size_t j = 0; j < m->unknowns; j++) {
            double size = length > 0 ? fabs(at(m, i, j)[0]) / length : 0;
            if (used[j] || size <= best) continue;
            best = size;
            *row = i;
            *column = j;
        }
    }
}

static void swap_rows(series_matrix *m, size_t i, size_t k) {
    size_t length = m->columns * m->space->count;
    for (size_t j = 0; i != k && j < length; j++) {
        double kept = at(m, i, 0)[j];
        at(m, i, 0)[j] = at(m, k, 0)[j];
        at(m, k, 0)[j] = kept;
    }
}

static void clear_column(series_matrix *m, size_t pivot, size_t column) {
    size_t bytes = m->space->count * sizeof(double);
    series_invert(m->space, at(m, pivot, column), m->inverse);
    for (size_t j = 0; j < m->columns; j++) {
        memset(m->scratch, 0, bytes);
        series_add_product(m->space, m->scratch, 1, at(m, pivot, j), m->inverse);
        memcpy(at(m, pivot, j), m->scratch, bytes);
    }
    for (size_t i = 0; i < m->rows; i++) {
        if (i == pivot || is_zero(m->space, at(m, i, column))) continue;
        memcpy(m->scratch, at(m, i, column), bytes);
        for (size_t j = 0; j < m->columns; j++)
            series_add_product(m->space, at(m, i, j), -1, m->scratch, at(m, pivot, j));
    }
}

/* Gauss–Jordan with full pivoting; pivot[i] is the column of row i, other[] are the rest. False at a singular state. */
static bool solve(series_matrix *m, bool *used, size_t *pivot, size_t *other) {
    for (size_t i = 0; i < m->rows; i++) {
        size_t row = i, column = 0;
        choose_pivot(m, used, i, &row, &column);
        if (!(fabs(at(m, row, column)[0]) > 0)) return false;
        swap_rows(m, i, row);
        clear_column(m, i, column);
        used[column] = true;
        pivot[i] = column;
    }
    for (size_t j = 0, count = 0; j < m->columns; j++)
        if (!used[j]) other[count++] = j;
    return true;
}

static bool allocate(flag_fields *fields, series_numbers *n, series_matrix *m, bool **used) {
    arena *memory = fields->memory;
    size_t count = n->space.count, rank = fields->rank;
    n->slope = arena_alloc(memory, count, sizeof *n->slope);
    n->largest = arena_alloc(memory, rank, sizeof *n->largest);
    n->scaled = arena_alloc(memory, rank, sizeof *n->scaled);
    m->inverse = arena_alloc(memory, count, sizeof *m->inverse);
    m->scratch = arena_alloc(memory, count, sizeof *m->scratch);
    *used = arena_alloc(memory, fields->width, sizeof **used);
    fields->pivot = arena_alloc(memory, rank, sizeof *fields->pivot);
    fields->other = arena_alloc(memory, fields->width - rank, sizeof *fields->other);
    fields->b = arena_alloc(memory, rank * (fields->width - rank), sizeof *fields->b);
    fields->vertical = arena_alloc(memory, rank * rank, sizeof *fields->vertical);
    return n->slope && n->largest && n->scaled && m->inverse && m->scratch && *used && fields->pivot && fields->other &&
           fields->b && fields->vertical && row_basis_init(&n->basis, rank, rank, DEPENDENT);
}

static void take_solution(flag_fields *fields, const series_matrix *m) {
    size_t others = fields->width - fields->rank;
    series_numbers *n = fields->numbers;
    for (size_t r = 0; r < fields->rank; r++) {
        double largest = 1; /* that of the pivot */
        for (size_t j = 0; j < others; j++) {
            double *b = at(m, r, fields->other[j]);
            fields->b[r * others + j].series = b;
            largest = fmax(largest, fabs(b[0]));
        }
        n->largest[r] = LEAST * largest;
    }
}

/* With series of one order. */
static hamel_status climb(forms *f, const sample *sample_at, size_t order, bool derived, size_t most,
                          flag_growth *growth, bool *good, arena *memory) {
    series_numbers n = {0};
    flag_fields fields = {.arithmetic = &in_series, .numbers = &n, .memory = memory, .width = f->width};
    series_matrix m = {.space = &n.space, .rows = f->rank, .columns = f->width, .unknowns = f->coordinate_count};
    size_t variables, *columns = arena_alloc(memory, f->width, sizeof *columns);
    bool *used;
    hamel_status status = HAMEL_OK;
    *good = false;
    fields.rank = f->rank;
    fields.steps_most = order;
    if (!columns || !find_variables(f, &n, memory, columns, &variables)) return HAMEL_OK;
    if (!series_space_init(&n.space, variables, order, memory)) return HAMEL_OK;
    if ((f->rank * (f->width + f->rank) + f->entry_count) * n.space.count > NUMBERS_MOST) return HAMEL_OK;
    m.entries = expand(f, &n.space, sample_at, columns, memory, &status);
    if (!m.entries) return status;
    if (allocate(&fields, &n, &m, &used) && solve(&m, used, fields.pivot, fields.other)) {
        take_solution(&fields, &m);
        *good = flag_climb(&fields, derived, most, growth);
    }
    row_basis_free(&n.basis);
    return HAMEL_OK;
}

hamel_status flag_by_series(forms *f, const sample *sample_at, bool derived, size_t most, flag_growth *growth,
                            bool *good) {
    hamel_status status = HAMEL_OK;
    *good = false;
    for (size_t order = 2; order <= most + 1 && status == HAMEL_OK && !*good; order++) {
        arena memory;
        if (system_interrupted(f->a->system)) return f->a->error->status;
        arena_init(&memory, f->a->model->limits.memory);
        status = climb(f, sample_at, order, derived, most, growth, good, &memory);
        arena_free(&memory);
        if (graph_status(f->a->system->graph) != HAMEL_OK) return equations_status(f->a->system);
    }
    return status;
}
