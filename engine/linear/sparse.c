/* sparse.c — KLU behind a fixed pattern.
 *
 * What stands here beyond calls to KLU:
 *   - the caller's entries, in his order and with duplicates, are mapped once to compressed columns with sorted rows;
 *   - rows are equilibrated here, by powers of two (no rounding), not by KLU: the residual of the refinement step and
 *     the pivot test then see the very matrix that was factored;
 *   - KLU calls singular only a pivot that is exactly zero. Rounding seldom leaves a zero, so a pivot is refused, too,
 *     when cancellation has left less than SINGULAR of the largest entry of its column: a test that no scaling of a
 *     column (a unit, a mass) can move;
 *   - old pivots are kept while the growth of U stays within GROWTH of what it was when they were chosen. */
#include "engine/solve/sparse.h"

#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>

#define SINGULAR (64 * DBL_EPSILON)
#define GROWTH 1e-3

struct sparse {
    int n;
    size_t count;     /* the caller's entries */
    int *place;       /* of a caller's entry: index into values */
    int *start, *row; /* compressed columns: start[n + 1] */
    double *value;    /* equilibrated */
    double *scale;    /* of a row */
    double *most;     /* of a column: largest equilibrated entry */
    double *rhs, *x;  /* of a solve */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    double growth; /* reciprocal growth of U when the pivots were chosen */
    bool factored; /* the last factorization succeeded */
};

/* --- the pattern ------------------------------------------------------------------------------------------------- */

/* Row or column of an item: the caller's entries, then the diagonal. */
static int key_of(const int *keys, size_t count, int item) {
    return (size_t)item < count ? keys[item] : item - (int)count;
}

/* One stable counting sort: `to` holds the items of `from` by increasing key. `from` NULL: the items as they are. */
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

/* Items sorted by column and row become columns; equal pairs share a place. */
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
    int *by_row = calloc(total, sizeof *by_row), *items = calloc(total, sizeof *items);
    int *buckets = malloc((n + 1) * sizeof *buckets);
    bool done = by_row && items && buckets;
    if (done) {
        sort_items(n, rows, s->count, NULL, by_row, buckets);
        sort_items(n, columns, s->count, by_row, items, buckets);
        compress(s, rows, columns, items);
    }
    free(by_row);
    free(items);
    free(buckets);
    return done;
}

static bool reserve(sparse *s) {
    size_t n = (size_t)s->n, total = s->count + n;
    s->place = calloc(s->count + 1, sizeof *s->place);
    s->start = calloc(n + 1, sizeof *s->start);
    s->row = calloc(total, sizeof *s->row);
    s->value = calloc(total, sizeof *s->value);
    s->scale = calloc(4 * n, sizeof *s->scale);
    if (!s->place || !s->start || !s->row || !s->value || !s->scale) return false;
    s->most = s->scale + n;
    s->rhs = s->scale + 2 * n;
    s->x = s->scale + 3 * n;
    return true;
}

sparse *sparse_create(size_t n, const int *rows, const int *columns, size_t count) {
    if (n >= INT_MAX / 2 || count >= INT_MAX / 2) return NULL; /* no machine has the memory, KLU no such index */
    for (size_t i = 0; i < count; i++) assert(rows[i] >= 0 && (size_t)rows[i] < n);
    for (size_t i = 0; i < count; i++) assert(columns[i] >= 0 && (size_t)columns[i] < n);
    sparse *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n = (int)n;
    s->count = count;
    klu_defaults(&s->common);
    s->common.scale = 0;
    if (n == 0) return s;
    if (!reserve(s) || !build_pattern(s, rows, columns)) {
        sparse_free(s);
        return NULL;
    }
    return s;
}

void sparse_free(sparse *s) {
    if (!s) return;
    klu_free_numeric(&s->numeric, &s->common);
    klu_free_symbolic(&s->symbolic, &s->common);
    free(s->place);
    free(s->start);
    free(s->row);
    free(s->value);
    free(s->scale);
    free(s);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Sums the caller's entries and finds each row's largest; false when an entry is not finite. */
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

/* True when the old pivots still serve. */
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

/* rhs := rhs - A x. */
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
