/* sparse.c — sparse LU by KLU for a fixed pattern. This file adds to KLU:
 *
 *   - The caller's entries may have any order and contain duplicates. They are mapped once to compressed columns with
 *     sorted rows.
 *   - Rows are scaled by powers of two, without rounding, before KLU is called. The refinement step and the pivot test
 *     therefore use exactly the matrix that was factored.
 *   - A matrix is rejected if a pivot is not above SINGULAR times the largest entry of its column. KLU itself rejects
 *     only zero pivots, and rounding seldom produces exact zeros. The test does not depend on the scale of a column.
 *   - The pivots are reused for other values as long as the reciprocal growth of U is at least GROWTH times its value
 *     when the pivots were chosen. */
#include "engine/linear/sparse.h"

#include "engine/base/arena.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>

/* If a pivot is at most this fraction of the largest entry of its column, the pivot may be a rounding error. In a
 * sparse elimination, an entry is updated only a few times, with a rounding error of ε each time. The factor 64 allows
 * for 64 updates. */
#define SINGULAR (64 * DBL_EPSILON)
#define GROWTH 1e-3 /* growth costs at most three digits, which refinement recovers */

struct sparse {
    arena memory;
    int n;
    size_t count;     /* number of the caller's entries */
    int *place;       /* place[e]: index in `value` of the caller's entry e */
    int *start, *row; /* compressed columns: start[n + 1] */
    double *value;    /* equilibrated entries */
    double *scale;    /* scale factor of each row */
    double *most;     /* largest equilibrated entry of each column */
    double *rhs, *x;  /* rhs: right-hand side; x: solution */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    double growth; /* reciprocal growth of U when the pivots were chosen */
    bool factored; /* true if the last factorization succeeded */
};

/* --- the pattern ------------------------------------------------------------------------------------------------- */

/* Returns the row or column of an item. Items are the caller's entries, then the diagonal. */
static int key_of(const int *keys, size_t count, int item) {
    return (size_t)item < count ? keys[item] : item - (int)count;
}

/* Sorts items by counting: writes the items of `from` to `to` by increasing key, and keeps the order of items with
 * equal keys. If `from` is NULL, sorts all items. */
static void sort_items(size_t n, const int *keys, size_t count, const int *from, int *to, int *buckets) {
    size_t total = count + n;
    memset(buckets, 0, (n + 1) * sizeof *buckets);
    for (size_t i = 0; i < total; i++) buckets[key_of(keys, count, (int)i) + 1]++;
    for (size_t k = 0; k < n; k++) buckets[k + 1] += buckets[k];
    for (size_t i = 0; i < total; i++) {
        int item = from ? from[i] : (int)i;
        to[buckets[key_of(keys, count, item)]++] = item;
    }
}

/* Builds the compressed columns from items sorted by column and row. Duplicates share an entry. */
static void compress(sparse *s, const int *rows, const int *columns, const int *items) {
    size_t total = s->count + (size_t)s->n;
    int last_row = -1, last_column = -1, filled = 0;
    for (size_t i = 0; i < total; i++) {
        int row = key_of(rows, s->count, items[i]), column = key_of(columns, s->count, items[i]);
        if (row != last_row || column != last_column) s->row[filled++] = row;
        if ((size_t)items[i] < s->count) s->place[items[i]] = filled - 1;
        s->start[column + 1] = filled;
        last_row = row;
        last_column = column;
    }
}

static bool build_pattern(sparse *s, const int *rows, const int *columns) {
    size_t n = (size_t)s->n, total = s->count + n;
    arena scratch = {0};
    int *by_row = arena_ints(&scratch, total), *items = arena_ints(&scratch, total),
        *buckets = arena_ints(&scratch, n + 1);
    if (!scratch.failed) {
        sort_items(n, rows, s->count, NULL, by_row, buckets);
        sort_items(n, columns, s->count, by_row, items, buckets);
        compress(s, rows, columns, items);
    }
    bool done = !scratch.failed;
    arena_free(&scratch);
    return done;
}

static bool create_sparse_arrays(sparse *s) {
    size_t n = (size_t)s->n, total = s->count + n;
    s->place = arena_ints(&s->memory, s->count);
    s->start = arena_ints(&s->memory, n + 1);
    s->row = arena_ints(&s->memory, total);
    return ARENA_DOUBLES(&s->memory, {&s->value, total}, {&s->scale, n}, {&s->most, n}, {&s->rhs, n}, {&s->x, n});
}

/* The bounds are estimates. Up to 48 rows, the fixed cost of KLU is assumed to exceed the cost of a dense
 * factorization. In larger matrices, an entry is assumed to cost ten times as much with KLU as in a dense matrix. */
bool sparse_is_faster(size_t n, size_t count) {
    return n > 48 && (double)count <= 0.1 * (double)n * (double)n;
}

sparse *sparse_create(size_t n, const int *rows, const int *columns, size_t count) {
    if (n >= INT_MAX / 2 || count >= INT_MAX / 2) return NULL; /* KLU's int indices would overflow */
    for (size_t i = 0; i < count; i++) assert(rows[i] >= 0 && (size_t)rows[i] < n);
    for (size_t i = 0; i < count; i++) assert(columns[i] >= 0 && (size_t)columns[i] < n);
    sparse *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n = (int)n;
    s->count = count;
    klu_defaults(&s->common);
    s->common.scale = 0;
    if (n == 0) return s;
    if (!create_sparse_arrays(s) || !build_pattern(s, rows, columns)) {
        sparse_free(s);
        return NULL;
    }
    return s;
}

void sparse_free(sparse *s) {
    if (!s) return;
    klu_free_numeric(&s->numeric, &s->common);
    klu_free_symbolic(&s->symbolic, &s->common);
    arena_free(&s->memory);
    free(s);
}

/* --- factorization and solution ----------------------------------------------------------------------------------- */

/* Sums duplicates and finds the largest entry of each row. Returns false if an entry is not finite. */
static bool assemble(sparse *s, const double *values) {
    int nonzeros = s->start[s->n];
    memset(s->value, 0, (size_t)nonzeros * sizeof *s->value);
    memset(s->scale, 0, (size_t)s->n * sizeof *s->scale);
    for (size_t i = 0; i < s->count; i++) s->value[s->place[i]] += values[i];
    for (int k = 0; k < nonzeros; k++) {
        double v = fabs(s->value[k]);
        if (!(v <= DBL_MAX)) return false;
        if (v > s->scale[s->row[k]]) s->scale[s->row[k]] = v;
    }
    return true;
}

static void equilibrate(sparse *s) {
    for (int i = 0; i < s->n; i++) {
        int exponent = 0;
        if (s->scale[i] > 0) (void)frexp(s->scale[i], &exponent);
        s->scale[i] = ldexp(1, exponent < -1022 ? 1022 : -exponent);
    }
    for (int j = 0; j < s->n; j++) {
        double most = 0;
        for (int k = s->start[j]; k < s->start[j + 1]; k++) {
            s->value[k] *= s->scale[s->row[k]];
            most = fmax(most, fabs(s->value[k]));
        }
        s->most[j] = most;
    }
}

static bool has_bad_pivot(const sparse *s) {
    const double *pivot = s->numeric->Udiag;
    for (int k = 0; k < s->n; k++)
        if (!(fabs(pivot[k]) > SINGULAR * s->most[s->symbolic->Q[k]])) return true;
    return false;
}

static hamel_status status_of(const sparse *s) {
    return s->common.status == KLU_SINGULAR ? HAMEL_SINGULAR : HAMEL_NO_MEMORY;
}

static double reciprocal_growth(sparse *s) {
    bool known = klu_rgrowth(s->start, s->row, s->value, s->symbolic, s->numeric, &s->common);
    return known ? s->common.rgrowth : 0;
}

/* Factors with the pivots of the previous factorization. Returns true if these pivots are still accurate. */
static bool refactor(sparse *s) {
    if (!klu_refactor(s->start, s->row, s->value, s->symbolic, s->numeric, &s->common)) return false;
    if (s->common.status != KLU_OK || has_bad_pivot(s)) return false;
    return reciprocal_growth(s) >= GROWTH * s->growth;
}

static hamel_status factor_afresh(sparse *s) {
    klu_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_factor(s->start, s->row, s->value, s->symbolic, &s->common);
    if (!s->numeric) return status_of(s);
    if (has_bad_pivot(s)) {
        klu_free_numeric(&s->numeric, &s->common);
        return HAMEL_SINGULAR;
    }
    s->growth = reciprocal_growth(s);
    s->factored = true;
    return HAMEL_OK;
}

hamel_status sparse_factor(sparse *s, const double *values) {
    s->factored = false;
    if (s->n == 0) return HAMEL_OK;
    if (!assemble(s, values)) return HAMEL_NOT_FINITE;
    equilibrate(s);
    if (!s->symbolic) s->symbolic = klu_analyze(s->n, s->start, s->row, &s->common);
    if (!s->symbolic) return status_of(s);
    if (!s->numeric || !refactor(s)) return factor_afresh(s);
    s->factored = true;
    return HAMEL_OK;
}

/* Subtracts A x from rhs. */
static void subtract_product(sparse *s) {
    for (int j = 0; j < s->n; j++)
        for (int k = s->start[j]; k < s->start[j + 1]; k++) s->rhs[s->row[k]] -= s->value[k] * s->x[j];
}

hamel_status sparse_solve(sparse *s, double *x) {
    if (s->n == 0) return HAMEL_OK;
    if (!s->factored) return HAMEL_SINGULAR;
    for (int i = 0; i < s->n; i++) s->x[i] = s->rhs[i] = s->scale[i] * x[i];
    if (!klu_solve(s->symbolic, s->numeric, s->n, 1, s->x, &s->common)) return HAMEL_INTERNAL;
    subtract_product(s);
    if (!klu_solve(s->symbolic, s->numeric, s->n, 1, s->rhs, &s->common)) return HAMEL_INTERNAL;
    for (int i = 0; i < s->n; i++) {
        s->x[i] += s->rhs[i];
        if (!isfinite(s->x[i])) return HAMEL_NOT_FINITE;
    }
    memcpy(x, s->x, (size_t)s->n * sizeof *x);
    return HAMEL_OK;
}
