/* redundancy.c — sparse elimination row by row, each with the largest remaining entry as pivot.
 *
 * An independent row is stored in reduced form, with the multiples of earlier pivot rows that were subtracted. A row
 * that reduces to rounding is the sum of such multiples; back substitution turns it into a combination of the given
 * rows. */
#include "engine/linear/redundancy.h"

#include "engine/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double INVOLVED = 1e-9; /* smallest part of a combination, relative to the largest, above rounding */

typedef struct term {
    int index; /* column of a row, or pivot of a combination */
    double value;
} term;

typedef struct pivot {
    size_t row;                  /* constraint */
    int column;                  /* column of the pivot */
    double value, size;          /* the pivot; the largest entry of the given row */
    size_t entries, entry_count; /* range in `terms` of the reduced row */
    size_t parts, part_count;    /* range in `terms` of the subtracted multiples of earlier pivot rows */
} pivot;

typedef struct elimination {
    arena memory;
    const sparse_block *A;
    const double *entry, *usual; /* entries of A; usual lengths of its rows */
    size_t *row_start;           /* entries of A by row: m + 1 */
    pivot *pivots;
    size_t rank;
    int *pivot_of; /* n: pivot of each column, or −1 */
    double *x;     /* n: the current row */
    bool *present; /* n */
    int *columns;  /* n: columns in which x is present */
    size_t column_count;
    int *heap; /* pivots still to be subtracted from x, smallest first */
    size_t heap_count;
    term *parts; /* parts of the current row */
    size_t part_count;
    term *terms;
    size_t term_count, term_capacity;
    double *y; /* rank: the current combination */
    double tolerance;
    size_t item_count, item_capacity, weight_capacity;
} elimination;

static bool begin(elimination *e, const sparse_block *A, const double *values) {
    size_t n = A->columns, m = A->rows;
    *e = (elimination){.A = A, .entry = values + A->at};
    arena_init(&e->memory, 0);
    e->row_start = arena_alloc(&e->memory, m + 2, sizeof *e->row_start);
    e->pivots = arena_alloc(&e->memory, m + 1, sizeof *e->pivots);
    e->pivot_of = arena_alloc(&e->memory, n + 1, sizeof *e->pivot_of);
    e->x = arena_alloc(&e->memory, n + 1, sizeof *e->x);
    e->present = arena_alloc(&e->memory, n + 1, sizeof *e->present);
    e->columns = arena_alloc(&e->memory, n + 1, sizeof *e->columns);
    e->heap = arena_alloc(&e->memory, n + 1, sizeof *e->heap);
    e->parts = arena_alloc(&e->memory, n + 1, sizeof *e->parts);
    e->y = arena_alloc(&e->memory, m + 1, sizeof *e->y);
    if (!e->row_start || !e->pivots || !e->pivot_of || !e->x || !e->present || !e->columns || !e->heap || !e->parts ||
        !e->y)
        return false;
    for (size_t i = 0; i < n; i++) e->pivot_of[i] = -1;
    for (size_t k = 0; k < A->count; k++) e->row_start[(size_t)A->row[k] + 1]++;
    for (size_t c = 0; c < m; c++) e->row_start[c + 1] += e->row_start[c];
    return true;
}

/* --- a heap of pivots --------------------------------------------------------------------------------------------- */

static void heap_push(elimination *e, int p) {
    size_t at = e->heap_count++;
    for (; at > 0 && e->heap[(at - 1) / 2] > p; at = (at - 1) / 2) e->heap[at] = e->heap[(at - 1) / 2];
    e->heap[at] = p;
}

static int heap_pop(elimination *e) {
    int top = e->heap[0], last = e->heap[--e->heap_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < e->heap_count) {
        if (child + 1 < e->heap_count && e->heap[child + 1] < e->heap[child]) child++;
        if (e->heap[child] >= last) break;
        e->heap[at] = e->heap[child];
        at = child;
    }
    e->heap[at] = last;
    return top;
}

/* --- elimination -------------------------------------------------------------------------------------------------- */

/* Adds `value` to x[column]. If the column has a pivot, pushes it on the heap for elimination. */
static void add_to_row(elimination *e, int column, double value) {
    if (!e->present[column]) {
        e->present[column] = true;
        e->columns[e->column_count++] = column;
        e->x[column] = 0;
        if (e->pivot_of[column] >= 0) heap_push(e, e->pivot_of[column]);
    }
    e->x[column] += value;
}

/* Sets x to the row of a constraint with the pivot rows eliminated. Returns the largest entry of the given row. */
static double reduce(elimination *e, size_t c) {
    double size = 0;
    e->column_count = e->heap_count = e->part_count = 0;
    for (size_t k = e->row_start[c]; k < e->row_start[c + 1]; k++) {
        add_to_row(e, e->A->column[k], e->entry[k]);
        size = fmax(size, fabs(e->entry[k]));
    }
    while (e->heap_count > 0) {
        int p = heap_pop(e);
        const pivot *at = &e->pivots[p];
        double part = e->x[at->column] / at->value;
        if (part == 0) continue;
        e->parts[e->part_count++] = (term){p, part};
        for (size_t k = at->entries; k < at->entries + at->entry_count; k++)
            add_to_row(e, e->terms[k].index, -part * e->terms[k].value);
        e->x[at->column] = 0;
    }
    return size;
}

static void clear_row(elimination *e) {
    for (size_t k = 0; k < e->column_count; k++) e->present[e->columns[k]] = false;
}

static term *grow_terms(elimination *e, size_t count) {
    term *terms = arena_grow(&e->memory, e->terms, &e->term_capacity, e->term_count + count, sizeof *terms);
    if (terms) e->terms = terms;
    return terms;
}

static bool keep_row(elimination *e, size_t c, int column, double size) {
    pivot *p = &e->pivots[e->rank];
    if (!grow_terms(e, e->column_count + e->part_count)) return false;
    *p = (pivot){.row = c, .column = column, .value = e->x[column], .size = size, .entries = e->term_count};
    for (size_t k = 0; k < e->column_count; k++) {
        int j = e->columns[k];
        if (e->x[j] != 0) e->terms[e->term_count++] = (term){j, e->x[j]};
    }
    p->entry_count = e->term_count - p->entries;
    p->parts = e->term_count;
    p->part_count = e->part_count;
    memcpy(e->terms + e->term_count, e->parts, e->part_count * sizeof *e->parts);
    e->term_count += e->part_count;
    e->pivot_of[column] = (int)e->rank++;
    return true;
}

/* --- dependent rows ----------------------------------------------------------------------------------------------- */

/* Sets y to the coefficients of a dependent row in terms of the pivot rows. Returns the largest part. */
static double combine(elimination *e, double size) {
    double most = size;
    memset(e->y, 0, e->rank * sizeof *e->y);
    for (size_t k = 0; k < e->part_count; k++) e->y[e->parts[k].index] = e->parts[k].value;
    for (size_t p = e->rank; p-- > 0;) {
        const pivot *at = &e->pivots[p];
        if (e->y[p] == 0) continue;
        for (size_t k = at->parts; k < at->parts + at->part_count; k++)
            e->y[e->terms[k].index] -= e->y[p] * e->terms[k].value;
        most = fmax(most, fabs(e->y[p]) * at->size);
    }
    return most;
}

static bool add_item(elimination *e, redundancy *r, size_t c, double weight) {
    if (e->item_count == e->item_capacity) {
        size_t capacity = 2 * e->item_capacity + 32;
        size_t *items = realloc(r->items, capacity * sizeof *items);
        if (items) r->items = items;
        double *weights = realloc(r->weights, capacity * sizeof *weights);
        if (weights) r->weights = weights;
        if (!items || !weights) return false;
        e->item_capacity = capacity;
    }
    r->items[e->item_count] = c;
    r->weights[e->item_count++] = weight;
    r->involved[c] = true;
    return true;
}

static bool add_set(elimination *e, redundancy *r, size_t c, double size) {
    double most = combine(e, size);
    for (size_t p = 0; p < e->rank; p++) /* pivots are in the order of their rows */
        if (fabs(e->y[p]) * e->pivots[p].size > INVOLVED * most && !add_item(e, r, e->pivots[p].row, -e->y[p]))
            return false;
    if (!add_item(e, r, c, 1)) return false;
    r->dependent[r->count++] = c;
    r->first[r->count] = e->item_count;
    return true;
}

static bool take_row(elimination *e, redundancy *r, size_t c) {
    double size = reduce(e, c), most = 0;
    int column = -1;
    for (size_t k = 0; k < e->column_count; k++)
        if (fabs(e->x[e->columns[k]]) > most) most = fabs(e->x[e->columns[k]]), column = e->columns[k];
    if (e->usual) size = fmax(size, e->usual[c]);
    bool kept = most > e->tolerance * size;
    if (!kept) r->rest[r->count] = size > 0 ? most / size : 0;
    bool good = kept ? keep_row(e, c, column, size) : add_set(e, r, c, size);
    clear_row(e);
    return good;
}

hamel_status redundancy_find(redundancy *out, const sparse_block *A, const double *values, const bool *taken,
                             const double *usual, double tolerance) {
    elimination e;
    size_t m = A->rows;
    *out = (redundancy){0};
    bool good = begin(&e, A, values);
    e.tolerance = tolerance;
    e.usual = usual;
    out->dependent = calloc(m + 1, sizeof *out->dependent);
    out->first = calloc(m + 2, sizeof *out->first);
    out->rest = calloc(m + 1, sizeof *out->rest);
    out->involved = calloc(m + 1, sizeof *out->involved);
    good = good && out->dependent && out->first && out->rest && out->involved;
    for (size_t c = 0; good && c < m; c++)
        if (!taken || taken[c]) good = take_row(&e, out, c);
    out->rank = e.rank;
    arena_free(&e.memory);
    return good ? HAMEL_OK : HAMEL_NO_MEMORY;
}

void redundancy_free(redundancy *r) {
    free(r->dependent);
    free(r->first);
    free(r->items);
    free(r->weights);
    free(r->involved);
    free(r->rest);
    *r = (redundancy){0};
}

bool redundancy_holds(const redundancy *r, size_t set, size_t constraint) {
    for (size_t k = r->first[set]; k < r->first[set + 1]; k++)
        if (r->items[k] == constraint) return true;
    return false;
}

double redundancy_contradiction(const redundancy *r, size_t set, const double *right) {
    double sum = 0;
    for (size_t k = r->first[set]; k < r->first[set + 1]; k++) sum += r->weights[k] * right[r->items[k]];
    return fabs(sum);
}
