/* kkt_ldl.c — see the header. Unknowns are numbered in the order of their elimination. Of the matrix only the diagonal
 * and the columns of L below it are kept, in one array: first the pivots, then the entries that `start` and `row` list
 * by columns. The products that an elimination subtracts are listed by where they go, in the order in which they
 * come up. */
#include "engine/solve/kkt_ldl.h"

#include "engine/solve/kkt_int.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/camd.h>

/* Lists stay in proportion to the matrix: products for an entry of it. */
enum { UPDATES_MOST = 64 };
/* A product by lists costs as much as two of dense columns, which take some hundred to get under way (measured: full
 * matrices of 12 rows are even, a tridiagonal one of 48 takes a tenth of the time by lists). */
enum { LISTED = 2, ALWAYS = 300 };
struct kkt_ldl {
    size_t n, all, entries, below; /* coordinates; with rows taken; of M's triangle and A; of L below the diagonal */
    size_t updates;
    int *order;           /* all: coordinate, or n + row taken */
    int *constraint;      /* all: which constraint, of rows */
    int *from, *place;    /* entries: into the values given, and into `value` */
    int *start, *row;     /* all + 1, below: columns of L, rows rising */
    int *target;          /* updates: of what is subtracted, into `value` */
    double *value;        /* all + below: 1/D and L, once factored */
    double *z, *before;   /* all each: a solution; diagonals of M and of A M⁻¹Aᵀ */
    double margin, least; /* least: part of the largest pivot of M that each one has to keep */
};

/* What only the making needs. */
typedef struct builder {
    const kkt *k;
    kkt_ldl *s;
    int *one, *other;               /* entries: their unknowns, as in `order` */
    int *neighbor_start, *neighbor; /* unknowns that share an entry, both ways */
    int *rank;                      /* all: of an unknown */
    int *mark, *first, *next;       /* all each */
} builder;

static int *numbers(size_t count) {
    return calloc(count + 1, sizeof(int));
}

/* --- the pattern ----------------------------------------------------------------------------------------------------- */

static size_t count_entries(const kkt *k) {
    const model_pattern *A = &k->model->A;
    size_t count = k->model->M.count;
    for (size_t e = 0; e < A->count; e++) count += k->row_of[A->row[e]] >= 0;
    return count;
}

static void list_entries(builder *b) {
    const hamel_model *model = b->k->model;
    size_t at = 0;
    for (size_t e = 0; e < model->M.count; e++, at++) {
        b->s->from[at] = (int)(model->at_M + e);
        b->one[at] = model->M.row[e];
        b->other[at] = model->M.column[e];
    }
    for (size_t e = 0; e < model->A.count; e++) {
        int row = b->k->row_of[model->A.row[e]];
        if (row < 0) continue;
        b->s->from[at] = (int)(model->at_A + e);
        b->one[at] = (int)b->k->n + row;
        b->other[at++] = model->A.column[e];
    }
}

/* By rank: of each unknown, those that it shares an entry with. */
static void list_neighbors(builder *b) {
    const kkt_ldl *s = b->s;
    int *start = b->neighbor_start;
    memset(start, 0, (s->all + 1) * sizeof *start);
    for (size_t e = 0; e < s->entries; e++) {
        start[b->rank[b->one[e]] + 1]++;
        start[b->rank[b->other[e]] + 1]++;
    }
    for (size_t i = 0; i < s->all; i++) start[i + 1] += start[i];
    memcpy(b->next, start, s->all * sizeof *start);
    for (size_t e = 0; e < s->entries; e++) {
        int i = b->rank[b->one[e]], j = b->rank[b->other[e]];
        b->neighbor[b->next[i]++] = j;
        b->neighbor[b->next[j]++] = i;
    }
}

/* Small systems keep the order that they are given in, and with it the margin that the dense way finds. False without
 * memory. */
static bool take_order(builder *b) {
    kkt_ldl *s = b->s;
    for (size_t i = 0; i < s->all; i++) s->order[i] = b->rank[i] = (int)i;
    list_neighbors(b);
    if (b->k->prefers_dense || s->all == 0) return true;
    for (size_t i = 0; i < s->all; i++) b->mark[i] = i >= s->n; /* rows after coordinates */
    int result = camd_order((int)s->all, b->neighbor_start, b->neighbor, s->order, NULL, NULL, b->mark);
    for (size_t i = 0; i < s->all; i++) b->rank[s->order[i]] = (int)i;
    list_neighbors(b);
    return result == CAMD_OK || result == CAMD_OK_BUT_JUMBLED;
}

/* --- the factor ------------------------------------------------------------------------------------------------------ */

static int rising(const void *one, const void *other) {
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

/* Adds those of `rows` that come after column j and are not in it yet. */
static size_t join(const builder *b, int j, const int *rows, int count, size_t filled) {
    for (int i = 0; i < count; i++) {
        if (rows[i] <= j || b->mark[rows[i]] == j) continue;
        b->mark[rows[i]] = j;
        b->s->row[filled++] = rows[i];
    }
    return filled;
}

static bool reserve_rows(kkt_ldl *s, size_t needed, size_t *capacity) {
    if (needed <= *capacity) return true;
    *capacity = 2 * needed;
    int *longer = realloc(s->row, (*capacity + 1) * sizeof *longer);
    if (!longer) return false;
    s->row = longer;
    return true;
}

/* Column j of L has the rows of the matrix, and those of each column whose first row is j. Stops where the lists would
 * be out of proportion. False without memory. */
static bool find_columns(builder *b) {
    kkt_ldl *s = b->s;
    int *first = b->first, *next = b->next; /* columns that go into one: heads of lists, and links */
    size_t capacity = 0;
    for (size_t i = 0; i < s->all; i++) b->mark[i] = first[i] = next[i] = -1;
    for (int j = 0; j < (int)s->all && s->updates <= UPDATES_MOST * s->entries; j++) {
        size_t filled = s->below;
        if (!reserve_rows(s, filled + s->all, &capacity)) return false;
        int begin = b->neighbor_start[j], count = b->neighbor_start[j + 1] - begin;
        filled = join(b, j, b->neighbor + begin, count, filled);
        for (int c = first[j]; c >= 0; c = next[c])
            filled = join(b, j, s->row + s->start[c], s->start[c + 1] - s->start[c], filled);
        size_t here = filled - s->below;
        s->below = filled;
        s->start[j + 1] = (int)filled;
        s->updates += here * (here + 1) / 2;
        qsort(s->row + s->start[j], here, sizeof *s->row, rising);
        if (here == 0) continue;
        int parent = s->row[s->start[j]];
        next[j] = first[parent];
        first[parent] = j;
    }
    return true;
}

/* b->mark[i] := place of entry (i, j) in `value`. */
static void scatter(builder *b, int j) {
    const kkt_ldl *s = b->s;
    b->mark[j] = j;
    for (int t = s->start[j]; t < s->start[j + 1]; t++) b->mark[s->row[t]] = (int)s->all + t;
}

static void list_updates(builder *b) {
    const kkt_ldl *s = b->s;
    int *target = s->target;
    for (int j = 0; j < (int)s->all; j++)
        for (int t = s->start[j]; t < s->start[j + 1]; t++) {
            scatter(b, s->row[t]);
            for (int u = t; u < s->start[j + 1]; u++) *target++ = b->mark[s->row[u]];
        }
}

static void find_places(builder *b) {
    const kkt_ldl *s = b->s;
    for (size_t e = 0; e < s->entries; e++) {
        int i = b->rank[b->one[e]], j = b->rank[b->other[e]], low = i < j ? i : j, high = i < j ? j : i;
        const int *column = s->row + s->start[low];
        size_t count = (size_t)(s->start[low + 1] - s->start[low]);
        const int *found = low == high ? NULL : bsearch(&high, column, count, sizeof *column, rising);
        s->place[e] = found ? (int)s->all + (int)(found - s->row) : low;
    }
}

/* --- making ---------------------------------------------------------------------------------------------------------- */

/* Beyond a certain size dense matrices are no choice. */
static bool is_faster(const kkt_ldl *s, const kkt *k) {
    double n = (double)k->n, c = (double)k->k, dense = n * n * n / 6 + n * n * c / 2 + n * c * c / 2 + c * c * c / 6;
    if (s->updates > UPDATES_MOST * s->entries) return false;
    return !k->prefers_dense || s->updates <= ALWAYS || LISTED * (double)s->updates <= dense;
}

static bool reserve_builder(builder *b) {
    kkt_ldl *s = b->s;
    s->order = numbers(s->all);
    s->constraint = numbers(s->all);
    s->start = numbers(s->all + 1);
    s->from = numbers(s->entries);
    s->place = numbers(s->entries);
    b->one = numbers(s->entries);
    b->other = numbers(s->entries);
    b->neighbor_start = numbers(s->all + 1);
    b->neighbor = numbers(2 * s->entries);
    b->rank = numbers(s->all);
    b->mark = numbers(s->all);
    b->first = numbers(s->all);
    b->next = numbers(s->all);
    return s->order && s->constraint && s->start && s->from && s->place && b->one && b->other && b->neighbor_start &&
           b->neighbor && b->rank && b->mark && b->first && b->next;
}

static void free_builder(builder *b) {
    free(b->one), free(b->other), free(b->neighbor_start), free(b->neighbor);
    free(b->rank), free(b->mark), free(b->first), free(b->next);
}

static bool reserve_numbers(kkt_ldl *s) {
    s->target = numbers(s->updates);
    s->value = calloc(3 * s->all + s->below + 1, sizeof *s->value);
    if (!s->target || !s->value) return false;
    s->z = s->value + s->all + s->below;
    s->before = s->z + s->all;
    return true;
}

/* *good: false where the dense way is to be taken. False without memory. */
static bool build(builder *b, bool *good) {
    kkt_ldl *s = b->s;
    *good = false;
    if (!reserve_builder(b)) return false;
    list_entries(b);
    if (!take_order(b) || !find_columns(b)) return false;
    if (!is_faster(s, b->k)) return true;
    if (!reserve_numbers(s)) return false;
    list_updates(b);
    find_places(b);
    for (size_t i = s->n; i < s->all; i++) s->constraint[i] = b->k->taken[(size_t)s->order[i] - s->n];
    *good = true;
    return true;
}

hamel_status kkt_ldl_create(const kkt *k, kkt_ldl **out) {
    *out = NULL;
    if (k->with_W || k->least_reaction) return HAMEL_OK;
    kkt_ldl *s = calloc(1, sizeof *s);
    if (!s) return HAMEL_NO_MEMORY;
    *s = (kkt_ldl){.n = k->n, .all = k->n + k->k, .entries = count_entries(k), .margin = 1};
    s->least = mass_pivot_least(k->n, k->diagonal, k->k > 0);
    builder b = {.k = k, .s = s};
    bool good, done = build(&b, &good);
    free_builder(&b);
    if (good)
        *out = s;
    else
        kkt_ldl_free(s);
    return done ? HAMEL_OK : HAMEL_NO_MEMORY;
}

void kkt_ldl_free(kkt_ldl *s) {
    if (!s) return;
    free(s->order), free(s->constraint), free(s->from), free(s->place), free(s->start), free(s->row), free(s->target);
    free(s->value); /* the block that all numbers lie in */
    free(s);
}

/* --- numbers --------------------------------------------------------------------------------------------------------- */

/* Returns the list of what later columns subtract. */
static const int *eliminate(const kkt_ldl *s, size_t j, const int *target) {
    double *value = s->value, *l = value + s->all, inverse = 1 / value[j];
    int end = s->start[j + 1];
    value[j] = inverse;
    for (int t = s->start[j]; t < end; t++) {
        double factor = l[t] * inverse;
        for (int u = t; u < end; u++) value[*target++] -= factor * l[u];
        l[t] = factor;
    }
    return target;
}

/* The coordinates; *target moves past what they subtract. False where a pivot is too small. */
static bool factor_mass(kkt_ldl *s, const int **target) {
    double *value = s->value, least = INFINITY, most = 0, kept = s->all > s->n ? MASS_PIVOT_KEPT : 0;
    memcpy(s->before, value, s->n * sizeof *value);
    for (size_t j = 0; j < s->n; j++) {
        double pivot = value[j];
        if (pivot < least) least = pivot;
        if (pivot > most) most = pivot;
        if (!(pivot > kept * s->before[j])) return false;
        *target = eliminate(s, j, *target);
    }
    return s->n == 0 || least > s->least * most;
}

bool kkt_ldl_factor(kkt_ldl *s, const double *values) {
    double *value = s->value, sine = 1;
    const int *target = s->target;
    s->margin = 1;
    memset(value, 0, (s->all + s->below) * sizeof *value);
    for (size_t e = 0; e < s->entries; e++) value[s->place[e]] = values[s->from[e]];
    if (!factor_mass(s, &target)) return false;
    memcpy(s->before + s->n, value + s->n, (s->all - s->n) * sizeof *value);
    for (size_t j = s->n; j < s->all; j++) { /* a pivot beside what it was: the squared sine of the row's angle */
        double squared = value[j] / s->before[j];
        s->margin = sqrt(fmax(squared, 0));
        if (!(squared > KKT_DEPENDENT)) return false;
        if (squared < sine) sine = squared;
        target = eliminate(s, j, target);
    }
    s->margin = sqrt(sine);
    return true;
}

void kkt_ldl_solve(kkt_ldl *s, const double *g, const double *r, double *x, double *lambda) {
    const double *l = s->value + s->all;
    const int *start = s->start, *row = s->row;
    double *z = s->z;
    for (size_t i = 0; i < s->n; i++) z[i] = g ? g[s->order[i]] : 0;
    for (size_t i = s->n; i < s->all; i++) z[i] = r[s->constraint[i]];
    for (size_t j = g ? 0 : s->n; j < s->all; j++)
        for (int t = start[j]; t < start[j + 1]; t++) z[row[t]] -= l[t] * z[j];
    for (size_t j = s->all; j-- > 0;) {
        double sum = z[j] * s->value[j];
        for (int t = start[j]; t < start[j + 1]; t++) sum -= l[t] * z[row[t]];
        z[j] = sum;
    }
    for (size_t i = 0; i < s->n; i++) x[s->order[i]] = z[i];
    for (size_t i = s->n; lambda && i < s->all; i++) lambda[s->constraint[i]] = -z[i];
}

double kkt_ldl_margin(const kkt_ldl *s) {
    return s->margin;
}

size_t kkt_ldl_operations(const kkt_ldl *s) {
    return s->all + s->below + s->updates;
}
