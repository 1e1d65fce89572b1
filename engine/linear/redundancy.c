/* redundancy.c — sparse elimination row by row. The pivot of a row is its largest remaining entry.
 *
 * A row is independent of all others if it alone has an entry in some column. Such rows are removed first, one after
 * the other. In chains and trees no row remains, and the cost is linear in the number of entries. The elimination of
 * the rows of a chain from its first link on would cost O(n²), because the reduced rows fill in.
 *
 * An independent row becomes a pivot row. It is stored in reduced form, together with the multiples of earlier pivot
 * rows that were subtracted. If only rounding errors remain of a row, the row is a sum of multiples of pivot rows. Back
 * substitution then expresses the row in terms of rows of A. */
#include "engine/linear/redundancy.h"

#include <math.h>
#include <string.h>

/* In a combination of rows, terms below this fraction of the largest term are treated as rounding errors. The bound
 * equals SAMPLED_RANK_TOLERANCE, the largest residual of a row that counts as redundant. */
static const double INVOLVED = 1e-9;

/* Smallest entry, relative to the size of its row, that makes a row independent alone. The bound is far above the
 * tolerances of ranks, at most 1e-6, so that rounding cannot decide. A row without such an entry is eliminated. */
static const double ALONE = 1e-2;

typedef struct term {
    int index; /* column of a row, or pivot of a combination */
    double value;
} term;

typedef struct pivot {
    size_t row;                  /* constraint */
    int column;                  /* column of the pivot */
    double value, size;          /* value: the pivot; size: largest entry of the row of A */
    size_t entries, entry_count; /* range in `terms` of the reduced row */
    size_t parts, part_count;    /* range in `terms` of the subtracted multiples of earlier pivot rows */
} pivot;

typedef struct elimination {
    arena *memory; /* arena of the result */
    const sparse_block *A;
    const double *entry, *usual; /* entry: entries of A; usual: usual lengths of the rows of A */
    size_t *row_start;           /* m + 1: index in A of the first entry of each row */
    pivot *pivots;
    size_t rank;
    int *pivot_of; /* n: index of the pivot in each column, or −1 */
    double *x;     /* n: the current row */
    bool *present; /* n: true if `columns` contains the column */
    int *columns;  /* n: columns in which x may be nonzero */
    size_t column_count;
    int *heap; /* n: binary heap of the pivots to be subtracted from x, smallest first */
    size_t heap_count;
    term *parts; /* n: multiples of pivot rows subtracted from x */
    size_t part_count;
    term *terms; /* reduced rows and parts of all pivots */
    size_t term_count, term_capacity;
    double *y;     /* rank: the current combination of pivot rows */
    bool *removed; /* m: true if the row is known to be independent of the rows that are not removed */
    double tolerance;
    size_t item_count, item_capacity, weight_capacity;
} elimination;

static bool begin(elimination *e, arena *memory, const sparse_block *A, const double *values) {
    size_t n = A->columns, m = A->rows;
    *e = (elimination){.memory = memory, .A = A, .entry = values + A->at};
    e->row_start = arena_alloc(memory, m + 2, sizeof *e->row_start);
    e->pivots = arena_alloc(memory, m, sizeof *e->pivots);
    e->pivot_of = arena_ints(memory, n);
    e->present = arena_alloc(memory, n, sizeof *e->present);
    e->columns = arena_ints(memory, n);
    e->heap = arena_ints(memory, n);
    e->parts = arena_alloc(memory, n, sizeof *e->parts);
    e->removed = arena_alloc(memory, m, sizeof *e->removed);
    if (!ARENA_DOUBLES(memory, {&e->x, n}, {&e->y, m})) return false;
    for (size_t i = 0; i < n; i++) e->pivot_of[i] = -1;
    for (size_t k = 0; k < A->count; k++) e->row_start[(size_t)A->row[k] + 1]++;
    for (size_t c = 0; c < m; c++) e->row_start[c + 1] += e->row_start[c];
    return true;
}

/* --- rows that are independent alone ------------------------------------------------------------------------------ */

/* The remaining entries of a column. If there is only one, `rows` is its row. */
typedef struct column_entries {
    size_t count, rows; /* rows: sum of the row indices */
} column_entries;

/* Returns true if the entry of row c in column j makes the row independent of all rows without such an entry. */
static bool is_independent(const elimination *e, size_t c, int j) {
    double size = e->usual ? e->usual[c] : 0, entry = 0;
    for (size_t k = e->row_start[c]; k < e->row_start[c + 1]; k++) {
        size = fmax(size, fabs(e->entry[k]));
        if (e->A->column[k] == j) entry = fabs(e->entry[k]);
    }
    return entry > ALONE * size;
}

/* Removes row c from the columns. Appends columns with one remaining entry to the list `single`. */
static void remove_row(elimination *e, size_t c, column_entries *columns, int *single, size_t *single_count) {
    e->removed[c] = true;
    for (size_t k = e->row_start[c]; k < e->row_start[c + 1]; k++) {
        column_entries *column = &columns[e->A->column[k]];
        column->rows -= c;
        if (--column->count == 1) single[(*single_count)++] = e->A->column[k];
    }
}

/* Removes rows with an entry that is alone in its column, until no such row remains. Returns the number of removed rows
 * in *removed, and false if out of memory. */
static bool remove_independent(elimination *e, const bool *taken, size_t *removed) {
    size_t n = e->A->columns, count = 0;
    column_entries *columns = arena_alloc(e->memory, n, sizeof *columns);
    int *single = arena_ints(e->memory, n); /* a column enters the list at most once */
    *removed = 0;
    if (!columns || !single) return false;
    for (size_t k = 0; k < e->A->count; k++) {
        size_t c = (size_t)e->A->row[k];
        if (taken && !taken[c]) continue;
        columns[e->A->column[k]].count++;
        columns[e->A->column[k]].rows += c;
    }
    for (size_t j = 0; j < n; j++)
        if (columns[j].count == 1) single[count++] = (int)j;
    while (count > 0) {
        int j = single[--count];
        if (columns[j].count != 1 || !is_independent(e, columns[j].rows, j)) continue;
        remove_row(e, columns[j].rows, columns, single, &count);
        ++*removed;
    }
    return true;
}

/* --- heap of pivots ----------------------------------------------------------------------------------------------- */

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

/* Adds `value` to x[column]. If the column has a pivot, pushes the pivot on the heap for elimination. */
static void add_to_row(elimination *e, int column, double value) {
    if (!e->present[column]) {
        e->present[column] = true;
        e->columns[e->column_count++] = column;
        e->x[column] = 0;
        if (e->pivot_of[column] >= 0) heap_push(e, e->pivot_of[column]);
    }
    e->x[column] += value;
}

/* Sets x to the row of constraint c and eliminates the pivot rows from x. Returns the largest entry of the row before
 * the elimination. */
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

/* Appends row c to the pivot rows. e->x holds the row after elimination. Returns false if out of memory. */
static bool keep_row(elimination *e, size_t c, int column, double size) {
    pivot *p = &e->pivots[e->rank];
    size_t needed = e->term_count + e->column_count + e->part_count;
    term *terms = arena_grow(e->memory, e->terms, &e->term_capacity, needed, sizeof *terms);
    if (!terms) return false;
    e->terms = terms;
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

/* --- redundant rows ----------------------------------------------------------------------------------------------- */

/* Sets y to the coefficients of a redundant row as a linear combination of the pivot rows of A. Returns the size of the
 * largest term of this combination. */
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
    size_t needed = e->item_count + 1;
    size_t *items = arena_grow(e->memory, r->items, &e->item_capacity, needed, sizeof *items);
    double *weights = arena_grow(e->memory, r->weights, &e->weight_capacity, needed, sizeof *weights);
    if (!items || !weights) return false;
    r->items = items;
    r->weights = weights;
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
    for (size_t k = 0; k < e->column_count; k++) e->present[e->columns[k]] = false;
    return kept ? keep_row(e, c, column, size) : add_set(e, r, c, size);
}

hamel_status redundancy_find(redundancy *out, const sparse_block *A, const double *values, const bool *taken,
                             const double *usual, double tolerance) {
    elimination e;
    size_t m = A->rows;
    *out = (redundancy){0};
    out->dependent = arena_alloc(&out->memory, m, sizeof *out->dependent);
    out->first = arena_alloc(&out->memory, m + 1, sizeof *out->first);
    out->rest = arena_doubles(&out->memory, m);
    out->involved = arena_alloc(&out->memory, m, sizeof *out->involved);
    size_t removed = 0;
    bool good = begin(&e, &out->memory, A, values);
    e.tolerance = tolerance;
    e.usual = usual;
    good = good && remove_independent(&e, taken, &removed);
    for (size_t c = 0; good && c < m; c++)
        if ((!taken || taken[c]) && !e.removed[c]) good = take_row(&e, out, c);
    out->rank = removed + e.rank;
    return good ? HAMEL_OK : HAMEL_NO_MEMORY;
}

void redundancy_free(redundancy *r) {
    arena_free(&r->memory);
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
