/* redundancy.c — sparse elimination row by row, each with the largest entry of its rest as pivot.
 *
 * A row that is kept is stored reduced, with the multiples of earlier pivots that were taken from it; a row whose rest is
 * rounding is the sum of such multiples, which back substitution turns into a combination of the rows as given. */
#include "engine/solve/redundancy.h"

#include "engine/base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double INVOLVED = 1e-9; /* of the largest part of a combination */

typedef struct term {
    int index; /* column of a row, or pivot of a combination */
    double value;
} term;

typedef struct pivot {
    size_t row;                  /* constraint */
    int column;                  /* of the pivot */
    double value, size;          /* the pivot; the largest entry of the row as given */
    size_t entries, entry_count; /* of the reduced row, in `terms` */
    size_t parts, part_count;    /* what was taken from it: multiples of earlier pivots, in `terms` */
} pivot;

typedef struct elimination {
    arena memory;
    const hamel_model *model;
    const double *A, *usual;
    size_t *row_start; /* entries of A by row: m + 1 */
    pivot *pivots;
    size_t rank;
    int *pivot_of; /* n: column → pivot, or −1 */
    double *x;     /* n: the row at work */
    bool *present; /* n */
    int *columns;  /* n: where x is present */
    size_t column_count;
    int *heap; /* pivots that are to be taken from x, smallest first */
    size_t heap_count;
    term *parts; /* of the row at work */
    size_t part_count;
    term *terms;
    size_t term_count, term_capacity;
    double *y; /* rank: combination at work */
    double tolerance;
    size_t item_count, item_capacity, weight_capacity;
} elimination;

static bool begin(elimination *e, const hamel_model *model, const double *values) {
    size_t n = model->n, m = model->m;
    *e = (elimination){.model = model, .A = values + model->at_A};
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
    for (size_t k = 0; k < model->A.count; k++) e->row_start[(size_t)model->A.row[k] + 1]++;
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

/* x[column] += value; a pivot's column that appears is to be eliminated. */
static void add_to_row(elimination *e, int column, double value) {
    if (!e->present[column]) {
        e->present[column] = true;
        e->columns[e->column_count++] = column;
        e->x[column] = 0;
        if (e->pivot_of[column] >= 0) heap_push(e, e->pivot_of[column]);
    }
    e->x[column] += value;
}

/* The row of a constraint without its parts along the pivots. Returns the largest entry of the row as given. */
static double reduce(elimination *e, size_t c) {
    double size = 0;
    e->column_count = e->heap_count = e->part_count = 0;
    for (size_t k = e->row_start[c]; k < e->row_start[c + 1]; k++) {
        add_to_row(e, e->model->A.column[k], e->A[k]);
        size = fmax(size, fabs(e->A[k]));
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

/* y := the row of a dependent constraint as a combination of the rows of the pivots. Returns the largest part. */
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

hamel_status redundancy_find(redundancy *out, const hamel_model *model, const double *values, const bool *taken,
                             const double *usual, double tolerance) {
    elimination e;
    size_t m = model->m;
    *out = (redundancy){0};
    bool good = begin(&e, model, values);
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

void redundancy_names(const redundancy *r, const hamel_model *model, size_t set, char *text, size_t size) {
    size_t first = r->first[set], last = r->first[set + 1];
    text[0] = '\0';
    for (size_t k = first, at = 0; k < last && at + 1 < size; k++) {
        const char *join = k == first ? "" : k + 1 == last ? " and " : ", ";
        int n = snprintf(text + at, size - at, "%s`%s`", join, model->system->constraints[r->items[k]].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* One block: the report, the lists, pointers to names, texts. `at` walks through texts. */
static const char *copy_name(const hamel_model *model, size_t c, char **at) {
    const char *name = model->system->constraints[c].name, *copy = *at;
    *at = stpcpy(*at, name) + 1;
    return copy;
}

hamel_redundancy *redundancy_report(const redundancy *r, const hamel_model *model) {
    size_t names = r->first[r->count], bytes = 0;
    for (size_t k = 0; k < names; k++) bytes += strlen(model->system->constraints[r->items[k]].name) + 1;
    size_t lists = sizeof(hamel_redundancy) + (r->count + 1) * sizeof(hamel_names);
    hamel_redundancy *out = calloc(1, lists + 2 * (names + 1) * sizeof(char *) + 2 * bytes + 1);
    if (!out) return NULL;
    out->rank = r->rank;
    out->set_count = r->count;
    out->sets = (hamel_names *)(out + 1);
    const char **list = (const char **)((char *)out + lists);
    char *text = (char *)(list + 2 * (names + 1));
    for (size_t k = 0; k < r->count; k++) {
        out->sets[k] = (hamel_names){list, r->first[k + 1] - r->first[k]};
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) *list++ = copy_name(model, r->items[i], &text);
    }
    out->not_unique.items = list;
    for (size_t c = 0; c < model->m && names > 0; c++)
        if (r->involved[c]) out->not_unique.items[out->not_unique.count++] = copy_name(model, c, &text);
    return out;
}
