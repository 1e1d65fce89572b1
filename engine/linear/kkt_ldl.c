/* kkt_ldl.c — LDLᵀ factorization by lists of products (kkt_ldl.h). Unknowns are numbered in elimination order. The
 * array `value` contains the pivots and then the entries of L below the diagonal, which `start` and `row` list by
 * columns. The elimination subtracts products from these values; `target` lists their indices in elimination order. */
#include "engine/linear/kkt_ldl_int.h"

#include "engine/base/tolerances.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/camd.h>

#define LDL_REAL double
#define LDL_NAME(name) name
#include "engine/linear/kkt_ldl_template.h"

/* Upper bound on the number of products per entry of the matrix. With this bound, the lists take at most 256 bytes per
 * entry. */
enum { UPDATES_MOST = 64 };
/* A listed product costs as much as LISTED products of a dense factorization. Dense factorizations also have a fixed
 * cost, so up to ALWAYS products the list is always used. Measured: for a full matrix, lists and dense code take the
 * same time at 12 rows. For a tridiagonal matrix of 48 rows, lists take a tenth of the time of dense code. */
enum { LISTED = 2, ALWAYS = 300 };

/* Work arrays of the construction. */
typedef struct builder {
    const kkt_ldl_form *form;
    kkt_ldl *s;
    arena memory;
    int *one, *other;               /* per entry: its two unknowns, numbered as in `order` */
    int *neighbor_start, *neighbor; /* per unknown: the unknowns with which it shares an entry */
    int *rank;                      /* all: position of each unknown in the elimination order */
    int *mark, *first, *next;       /* all each */
} builder;

/* --- the pattern -------------------------------------------------------------------------------------------------- */

/* Returns true for entries of A and of the lower triangle of M. */
static bool is_listed(const triplets *t, size_t e) {
    return t->from[e] >= 0 && t->row[e] >= t->column[e];
}

static void list_entries(builder *b) {
    const triplets *t = b->form->entries;
    size_t at = 0;
    for (size_t e = 0; e < t->count; e++) {
        if (!is_listed(t, e)) continue;
        b->s->from[at] = t->from[e];
        b->one[at] = t->row[e];
        b->other[at++] = t->column[e];
    }
}

/* For each unknown, lists the unknowns with which it shares an entry. Unknowns are numbered by `rank`. */
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

/* Chooses the elimination order. Small systems keep the caller's order, so that this solver and the dense solver
 * compute the same rank margin. Returns false if out of memory. */
static bool take_order(builder *b) {
    kkt_ldl *s = b->s;
    for (size_t i = 0; i < s->all; i++) s->order[i] = b->rank[i] = (int)i;
    list_neighbors(b);
    if (!b->form->sparse || s->all == 0) return true;
    for (size_t i = 0; i < s->all; i++) b->mark[i] = i >= s->n; /* rows are ordered after coordinates */
    int result = camd_order((int)s->all, b->neighbor_start, b->neighbor, s->order, NULL, NULL, b->mark);
    for (size_t i = 0; i < s->all; i++) b->rank[s->order[i]] = (int)i;
    list_neighbors(b);
    return result == CAMD_OK || result == CAMD_OK_BUT_JUMBLED;
}

/* --- the factor --------------------------------------------------------------------------------------------------- */

static int rising(const void *one, const void *other) {
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

/* Adds to column j each element of `rows` that is greater than j and not yet in the column. Returns the new number of
 * elements in s->row. */
static size_t join(const builder *b, int j, const int *rows, int count, size_t filled) {
    for (int i = 0; i < count; i++) {
        if (rows[i] <= j || b->mark[rows[i]] == j) continue;
        b->mark[rows[i]] = j;
        b->s->row[filled++] = rows[i];
    }
    return filled;
}

/* Finds the row indices of each column j of L. These are the rows of column j of the matrix, and the rows of each
 * column of L whose first row is j. Stops early if the lists become too long. Returns false if out of memory. */
static bool find_columns(builder *b) {
    kkt_ldl *s = b->s;
    int *first = b->first, *next = b->next; /* per column: linked list of the columns to merge into it */
    size_t capacity = 0;
    for (size_t i = 0; i < s->all; i++) b->mark[i] = first[i] = next[i] = -1;
    for (int j = 0; j < (int)s->all && s->updates <= UPDATES_MOST * s->entries; j++) {
        size_t filled = s->below;
        int *rows = arena_grow(&s->memory, s->row, &capacity, filled + s->all, sizeof *rows);
        if (!rows) return false;
        s->row = rows;
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

/* Sets b->mark[i] to the index of entry (i, j) in `value`. */
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

/* --- construction ------------------------------------------------------------------------------------------------- */

/* Returns true if lists are faster than dense matrices. For a large sparse system, whose alternative is KLU, returns
 * true unless the lists are too long. */
static bool is_faster(const kkt_ldl *s, const kkt_ldl_form *form) {
    double n = (double)form->n, c = (double)form->k;
    double dense = n * n * n / 6 + n * n * c / 2 + n * c * c / 2 + c * c * c / 6;
    if (s->updates > UPDATES_MOST * s->entries) return false;
    return form->sparse || s->updates <= ALWAYS || LISTED * (double)s->updates <= dense;
}

static bool create_builder(builder *b) {
    kkt_ldl *s = b->s;
    int **const per_unknown[] = {&b->rank, &b->mark, &b->first, &b->next, &b->neighbor_start};
    int **const per_entry[] = {&b->one, &b->other};
    for (size_t i = 0; i < 5; i++) *per_unknown[i] = arena_ints(&b->memory, s->all + 1);
    for (size_t i = 0; i < 2; i++) *per_entry[i] = arena_ints(&b->memory, s->entries);
    b->neighbor = arena_ints(&b->memory, 2 * s->entries);
    s->order = arena_ints(&s->memory, s->all);
    s->constraint = arena_ints(&s->memory, s->all);
    s->start = arena_ints(&s->memory, s->all + 1);
    s->from = arena_ints(&s->memory, s->entries);
    s->place = arena_ints(&s->memory, s->entries);
    return !s->memory.failed && !b->memory.failed;
}

/* Sets *good to false if dense matrices are faster. Returns false if out of memory. */
static bool build(builder *b, bool *good) {
    kkt_ldl *s = b->s;
    *good = false;
    if (!create_builder(b)) return false;
    list_entries(b);
    if (!take_order(b) || !find_columns(b)) return false;
    if (!is_faster(s, b->form)) return true;
    s->target = arena_ints(&s->memory, s->updates);
    if (!ARENA_DOUBLES(&s->memory, {&s->value, s->all + s->below}, {&s->given, s->entries}, {&s->z, s->all},
                       {&s->before, s->all}))
        return false;
    list_updates(b);
    find_places(b);
    for (size_t i = s->n; i < s->all; i++) s->constraint[i] = b->form->taken[(size_t)s->order[i] - s->n];
    *good = true;
    return true;
}

hamel_status kkt_ldl_create(const kkt_ldl_form *form, kkt_ldl **out) {
    *out = NULL;
    kkt_ldl *s = calloc(1, sizeof *s);
    if (!s) return HAMEL_NO_MEMORY;
    *s = (kkt_ldl){.n = form->n, .all = form->n + form->k, .margin = 1};
    for (size_t e = 0; e < form->entries->count; e++) s->entries += is_listed(form->entries, e);
    s->least = mass_pivot_least(form->n, form->diagonal, form->k > 0);
    builder b = {.form = form, .s = s};
    bool good, done = build(&b, &good);
    arena_free(&b.memory);
    if (good)
        *out = s;
    else
        kkt_ldl_free(s);
    return done ? HAMEL_OK : HAMEL_NO_MEMORY;
}

void kkt_ldl_free(kkt_ldl *s) {
    if (!s) return;
    arena_free(&s->memory);
    free(s);
}

/* --- factorization and solution ----------------------------------------------------------------------------------- */

/* Eliminates the coordinates and advances *target. Returns false if a pivot is too small. */
static bool factor_mass(kkt_ldl *s, const int **target) {
    double *value = s->value, least = INFINITY, most = 0, kept = s->all > s->n ? MASS_PIVOT_KEPT : 0;
    memcpy(s->before, value, s->n * sizeof *value);
    for (size_t j = 0; j < s->n; j++) {
        double pivot = value[j];
        if (pivot < least) least = pivot;
        if (pivot > most) most = pivot;
        if (!(pivot > kept * s->before[j])) return false;
        *target = eliminate(s, j, value, *target);
    }
    return s->n == 0 || least > s->least * most;
}

/* Copies the entries of the matrix. Returns true if the entries are bit-identical to those of the last factorization.
 * Zeros of different sign count as different, so that results do not depend on earlier factorizations. A projection
 * changes velocities last, and the matrix rarely depends on velocities, so accelerations at the projected state often
 * need no new factorization. */
static bool is_same_matrix(kkt_ldl *s, const double *values) {
    uint64_t changed = 0;
    for (size_t e = 0; e < s->entries; e++) {
        uint64_t before, now;
        memcpy(&before, &s->given[e], sizeof before);
        memcpy(&now, &values[s->from[e]], sizeof now);
        changed |= before ^ now;
        s->given[e] = values[s->from[e]];
    }
    return s->factored && changed == 0;
}

bool kkt_ldl_factor(kkt_ldl *s, const double *values) {
    double *value = s->value, sine = 1;
    const int *target = s->target;
    if (is_same_matrix(s, values)) return true;
    s->margin = 1;
    s->factored = false;
    memset(value, 0, (s->all + s->below) * sizeof *value);
    for (size_t e = 0; e < s->entries; e++) value[s->place[e]] = s->given[e];
    if (!factor_mass(s, &target)) return false;
    memcpy(s->before + s->n, value + s->n, (s->all - s->n) * sizeof *value);
    for (size_t j = s->n; j < s->all; j++) { /* squared sine of the angle between the row and the rows before it */
        double squared = value[j] / s->before[j];
        s->margin = sqrt(fmax(squared, 0));
        if (!(squared > CHOLESKY_RANK_TOLERANCE)) return false;
        if (squared < sine) sine = squared;
        target = eliminate(s, j, value, target);
    }
    s->margin = sqrt(sine);
    s->factored = true;
    return true;
}

void kkt_ldl_solve(kkt_ldl *s, const double *g, const double *r, double *x, double *lambda) {
    double *z = s->z;
    for (size_t i = 0; i < s->n; i++) z[i] = g ? g[s->order[i]] : 0;
    for (size_t i = s->n; i < s->all; i++) z[i] = r[s->constraint[i]];
    substitute(s, g ? 0 : s->n, s->value, z);
    for (size_t i = 0; i < s->n; i++) x[s->order[i]] = z[i];
    for (size_t i = s->n; lambda && i < s->all; i++) lambda[s->constraint[i]] = -z[i];
}

double kkt_ldl_margin(const kkt_ldl *s) {
    return s->margin;
}

size_t kkt_ldl_operations(const kkt_ldl *s) {
    return s->all + s->below + s->updates;
}
