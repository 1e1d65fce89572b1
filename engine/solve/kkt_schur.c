/* kkt_schur.c — see the header. Rows are numbered in the order of their elimination from `take_order` on. Of the
 * matrix only the diagonal and the columns of L below it are kept, in one array: first k pivots, then the entries that
 * `start` and `row` list by columns. A sum of products makes each entry before it is eliminated; the products to be
 * subtracted then are listed by where they go, in the order in which they come up. */
#include "engine/solve/kkt_schur.h"

#include "engine/solve/kkt_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

/* Lists stay in proportion to A: products for an entry of it, when the matrix is made and when it is factored. */
enum { TERMS_MOST = 32, UPDATES_MOST = 64 };
/* A product by lists costs as much as two of dense columns. */
enum { LISTED = 2 };

struct kkt_schur {
    size_t n, k, entries, below; /* of A; of L below the diagonal */
    int *constraint;             /* k: which constraint a row is */
    int *row_start;              /* k + 1 */
    int *place, *column;         /* entries: of A's values; the coordinate */
    int *start, *row;            /* k + 1, below: columns of L, rows rising */
    int *term_start;             /* k + below + 1: products that make an entry of the matrix */
    int *left, *right;           /* entries of A */
    int *target;                 /* of what is subtracted, into `value` */
    size_t terms, updates;
    size_t at_M, at_A;
    const int *mass; /* coordinate of an entry of M */
    double *inverse; /* n: M⁻¹ */
    double *a, *b;   /* entries: A, A M⁻¹ */
    double *value;   /* k + below: 1/D and L, once factored */
    double *z;       /* k */
    double margin;
};

/* What only the making needs. */
typedef struct builder {
    const kkt *k;
    kkt_schur *s;
    int *by_column, *column_start; /* entries of A by coordinate */
    int *row_of;                   /* entries: their row */
    int *neighbor_start, *neighbor;
    int *order;               /* k: rows taken in the order of elimination */
    int *mark, *where, *next; /* k + 1 each */
} builder;

static void *numbers(size_t count) {
    return calloc(count + 1, sizeof(int));
}

/* --- rows and columns of A ------------------------------------------------------------------------------------------ */

/* A's rows in the order given by rank (a row taken → its number). */
static void list_rows(builder *b, const int *rank) {
    const hamel_model *model = b->k->model;
    kkt_schur *s = b->s;
    memset(s->row_start, 0, (s->k + 1) * sizeof *s->row_start);
    for (size_t c = 0; c < s->k; c++) s->constraint[rank[c]] = b->k->taken[c];
    for (size_t e = 0; e < model->A.count; e++) {
        int row = b->k->row_of[model->A.row[e]];
        if (row >= 0) s->row_start[rank[row] + 1]++;
    }
    for (size_t c = 0; c < s->k; c++) s->row_start[c + 1] += s->row_start[c];
    memcpy(b->next, s->row_start, s->k * sizeof *b->next);
    for (size_t e = 0; e < model->A.count; e++) {
        int row = b->k->row_of[model->A.row[e]];
        if (row < 0) continue;
        int at = b->next[rank[row]]++;
        s->place[at] = (int)e;
        s->column[at] = model->A.column[e];
        b->row_of[at] = rank[row];
    }
}

/* Entries by coordinate, rows rising. Returns how many pairs of rows share one. */
static size_t list_columns(builder *b) {
    const kkt_schur *s = b->s;
    size_t pairs = 0;
    memset(b->column_start, 0, (s->n + 1) * sizeof *b->column_start);
    for (size_t e = 0; e < s->entries; e++) b->column_start[s->column[e] + 1]++;
    for (size_t j = 0; j < s->n; j++) {
        size_t here = (size_t)b->column_start[j + 1];
        pairs += here * (here + 1) / 2;
        b->column_start[j + 1] += b->column_start[j];
    }
    for (size_t e = s->entries; e-- > 0;) b->by_column[--b->column_start[s->column[e] + 1]] = (int)e;
    /* each start has moved into the place of the one before */
    memmove(b->column_start, b->column_start + 1, s->n * sizeof *b->column_start);
    b->column_start[s->n] = (int)s->entries;
    return pairs;
}

/* Rows that share a coordinate with each row, itself among them. */
static void list_neighbors(builder *b) {
    const kkt_schur *s = b->s;
    int count = 0;
    for (size_t c = 0; c < s->k; c++) b->mark[c] = -1;
    for (int c = 0; c < (int)s->k; c++) {
        b->neighbor_start[c] = count;
        for (int e = s->row_start[c]; e < s->row_start[c + 1]; e++)
            for (int f = b->column_start[s->column[e]]; f < b->column_start[s->column[e] + 1]; f++) {
                int other = b->row_of[b->by_column[f]];
                if (b->mark[other] == c) continue;
                b->mark[other] = c;
                b->neighbor[count++] = other;
            }
    }
    b->neighbor_start[s->k] = count;
}

/* Small systems keep the order that they are given in, and with it the margin that the dense way finds. */
static bool take_order(builder *b) {
    size_t k = b->s->k;
    if (k == 0 || b->k->prefers_dense) return true;
    int result = amd_order((int)k, b->neighbor_start, b->neighbor, b->order, NULL, NULL);
    if (result != AMD_OK && result != AMD_OK_BUT_JUMBLED) return false;
    for (size_t c = 0; c < k; c++) b->where[b->order[c]] = (int)c;
    list_rows(b, b->where);
    (void)list_columns(b);
    list_neighbors(b);
    return true;
}

/* --- the factor ------------------------------------------------------------------------------------------------------ */

static int rising(const void *one, const void *other) {
    int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

/* Adds those of `rows` that come after column j and are not in it yet. */
static size_t join(builder *b, int j, const int *rows, int count, size_t filled) {
    for (int i = 0; i < count; i++) {
        if (rows[i] <= j || b->mark[rows[i]] == j) continue;
        b->mark[rows[i]] = j;
        b->s->row[filled++] = rows[i];
    }
    return filled;
}

static bool reserve_rows(kkt_schur *s, size_t needed, size_t *capacity) {
    if (needed <= *capacity) return true;
    *capacity = 2 * needed;
    int *longer = realloc(s->row, (*capacity + 1) * sizeof *longer);
    if (!longer) return false;
    s->row = longer;
    return true;
}

/* Column j of L has the rows of the matrix, and those of each column whose first row is j. False without memory. */
static bool find_columns(builder *b) {
    kkt_schur *s = b->s;
    int *first = b->where, *next = b->next; /* columns that go into one: heads of lists, and links */
    size_t filled = 0, capacity = 0;
    for (size_t c = 0; c < s->k; c++) b->mark[c] = first[c] = next[c] = -1;
    for (int j = 0; j < (int)s->k; j++) {
        s->start[j] = (int)filled;
        if (!reserve_rows(s, filled + s->k, &capacity)) return false;
        int count = b->neighbor_start[j + 1] - b->neighbor_start[j];
        filled = join(b, j, b->neighbor + b->neighbor_start[j], count, filled);
        for (int c = first[j]; c >= 0; c = next[c])
            filled = join(b, j, s->row + s->start[c], s->start[c + 1] - s->start[c], filled);
        s->start[j + 1] = (int)filled;
        size_t here = filled - (size_t)s->start[j];
        s->updates += here * (here + 1) / 2;
        if (s->updates > UPDATES_MOST * s->entries) return true;
        qsort(s->row + s->start[j], here, sizeof *s->row, rising);
        if (here == 0) continue;
        int parent = s->row[s->start[j]];
        next[j] = first[parent];
        first[parent] = j;
    }
    s->below = filled;
    return true;
}

/* where[i] := place of entry (i, j) in `value`. */
static void scatter(builder *b, int j) {
    const kkt_schur *s = b->s;
    b->where[j] = j;
    for (int t = s->start[j]; t < s->start[j + 1]; t++) b->where[s->row[t]] = (int)s->k + t;
}

/* The products that make an entry: counted first, then listed. */
static void list_terms(builder *b, bool count) {
    kkt_schur *s = b->s;
    for (int j = 0; j < (int)s->k; j++) {
        scatter(b, j);
        for (int e = s->row_start[j]; e < s->row_start[j + 1]; e++)
            for (int f = b->column_start[s->column[e]]; f < b->column_start[s->column[e] + 1]; f++) {
                int other = b->by_column[f], row = b->row_of[other];
                if (row < j) continue;
                if (count) {
                    s->term_start[b->where[row] + 1]++;
                } else {
                    int at = s->term_start[b->where[row]]++;
                    s->left[at] = e;
                    s->right[at] = other;
                }
            }
    }
}

static void make_terms(builder *b) {
    kkt_schur *s = b->s;
    size_t places = s->k + s->below;
    list_terms(b, true);
    for (size_t i = 0; i < places; i++) s->term_start[i + 1] += s->term_start[i];
    list_terms(b, false);
    memmove(s->term_start + 1, s->term_start, places * sizeof *s->term_start);
    s->term_start[0] = 0;
}

static void list_updates(builder *b) {
    const kkt_schur *s = b->s;
    int *target = s->target;
    for (int j = 0; j < (int)s->k; j++)
        for (int t = s->start[j]; t < s->start[j + 1]; t++) {
            scatter(b, s->row[t]);
            for (int u = t; u < s->start[j + 1]; u++) *target++ = b->where[s->row[u]];
        }
}

/* --- making ---------------------------------------------------------------------------------------------------------- */

static bool fits(const kkt *k) {
    const model_pattern *M = &k->model->M;
    return k->diagonal && M->count == k->n && !k->with_W && !k->least_reaction;
}

/* Whether the listed way is the shorter one. Beyond a certain size dense matrices are no choice. */
static bool is_shorter(const kkt_schur *s, const kkt *k) {
    double n = (double)s->n, c = (double)s->k, dense = 2 * n * c + n * c * (c + 1) / 2 + c * c * c / 6 + n;
    return s->updates <= UPDATES_MOST * s->entries &&
           (!k->prefers_dense || LISTED * (double)kkt_schur_operations(s) <= dense + 2 * n);
}

static bool reserve_builder(builder *b) {
    kkt_schur *s = b->s;
    s->constraint = numbers(s->k);
    s->row_start = numbers(s->k + 1);
    s->start = numbers(s->k + 1);
    s->place = numbers(s->entries);
    s->column = numbers(s->entries);
    b->by_column = numbers(s->entries);
    b->row_of = numbers(s->entries);
    b->column_start = numbers(s->n + 1);
    b->neighbor_start = numbers(s->k + 1);
    b->order = numbers(s->k);
    b->mark = numbers(s->k);
    b->where = numbers(s->k);
    b->next = numbers(s->k);
    return s->constraint && s->row_start && s->start && s->place && s->column && b->by_column && b->row_of &&
           b->column_start && b->neighbor_start && b->order && b->mark && b->where && b->next;
}

static void free_builder(builder *b) {
    free(b->by_column), free(b->row_of), free(b->column_start), free(b->neighbor_start), free(b->neighbor);
    free(b->order), free(b->mark), free(b->where), free(b->next);
}

static bool reserve_numbers(kkt_schur *s) {
    size_t places = s->k + s->below;
    s->term_start = numbers(places + 1);
    s->left = numbers(s->terms);
    s->right = numbers(s->terms);
    s->target = numbers(s->updates);
    s->inverse = calloc(s->n + 2 * s->entries + places + s->k + 1, sizeof *s->inverse);
    if (!s->term_start || !s->left || !s->right || !s->target || !s->inverse) return false;
    s->a = s->inverse + s->n;
    s->b = s->a + s->entries;
    s->value = s->b + s->entries;
    s->z = s->value + places;
    return true;
}

/* *good: false when the lists would be out of proportion. */
static bool build(builder *b, bool *good) {
    kkt_schur *s = b->s;
    *good = false;
    if (!reserve_builder(b)) return false;
    for (size_t c = 0; c < s->k; c++) b->where[c] = (int)c;
    list_rows(b, b->where);
    s->terms = list_columns(b);
    if (s->terms > TERMS_MOST * s->entries) return true;
    if (!(b->neighbor = numbers(2 * s->terms))) return false;
    list_neighbors(b);
    if (!take_order(b) || !find_columns(b)) return false;
    if (!is_shorter(s, b->k)) return true;
    if (!reserve_numbers(s)) return false;
    make_terms(b);
    list_updates(b);
    *good = true;
    return true;
}

hamel_status kkt_schur_create(const kkt *k, kkt_schur **out) {
    const hamel_model *model = k->model;
    *out = NULL;
    if (!fits(k)) return HAMEL_OK;
    kkt_schur *s = calloc(1, sizeof *s);
    if (!s) return HAMEL_NO_MEMORY;
    *s = (kkt_schur){.n = k->n, .k = k->k, .at_M = model->at_M, .at_A = model->at_A, .mass = model->M.row, .margin = 1};
    for (size_t e = 0; e < model->A.count; e++)
        if (k->row_of[model->A.row[e]] >= 0) s->entries++;
    builder b = {.k = k, .s = s};
    bool good, done = build(&b, &good);
    free_builder(&b);
    if (good)
        *out = s;
    else
        kkt_schur_free(s);
    return done ? HAMEL_OK : HAMEL_NO_MEMORY;
}

void kkt_schur_free(kkt_schur *s) {
    if (!s) return;
    free(s->constraint), free(s->row_start), free(s->place), free(s->column), free(s->start), free(s->row);
    free(s->term_start), free(s->left), free(s->right), free(s->target);
    free(s->inverse); /* the block that all numbers lie in */
    free(s);
}

/* --- numbers --------------------------------------------------------------------------------------------------------- */

static bool invert_masses(kkt_schur *s, const double *mass) {
    bool good = true;
    for (size_t e = 0; e < s->n; e++) {
        good = good && mass[e] > 0;
        s->inverse[s->mass[e]] = 1 / mass[e];
    }
    return good;
}

static void assemble(kkt_schur *s, const double *A) {
    for (size_t e = 0; e < s->entries; e++) {
        s->a[e] = A[s->place[e]];
        s->b[e] = s->a[e] * s->inverse[s->column[e]];
    }
    for (size_t i = 0; i < s->k + s->below; i++) {
        double sum = 0;
        for (int t = s->term_start[i]; t < s->term_start[i + 1]; t++) sum += s->a[s->left[t]] * s->b[s->right[t]];
        s->value[i] = sum;
    }
}

/* A pivot beside the diagonal entry that it was is the squared sine of its row's angle to those before. */
static bool eliminate(kkt_schur *s) {
    const int *target = s->target;
    double *value = s->value, *l = value + s->k, least = 1;
    memcpy(s->z, value, s->k * sizeof *value);
    for (size_t j = 0; j < s->k; j++) {
        double pivot = value[j], inverse = 1 / pivot;
        if (!(pivot > KKT_DEPENDENT * s->z[j])) return false;
        least = fmin(least, pivot / s->z[j]);
        value[j] = inverse;
        for (int t = s->start[j]; t < s->start[j + 1]; t++) {
            double factor = l[t] * inverse;
            for (int u = t; u < s->start[j + 1]; u++) value[*target++] -= factor * l[u];
            l[t] = factor;
        }
    }
    s->margin = sqrt(least);
    return true;
}

bool kkt_schur_factor(kkt_schur *s, const double *values) {
    if (!invert_masses(s, values + s->at_M)) return false;
    assemble(s, values + s->at_A);
    return eliminate(s);
}

/* z := (A M⁻¹Aᵀ)⁻¹ z. */
static void substitute(const kkt_schur *s) {
    const double *l = s->value + s->k;
    double *z = s->z;
    for (size_t j = 0; j < s->k; j++)
        for (int t = s->start[j]; t < s->start[j + 1]; t++) z[s->row[t]] -= l[t] * z[j];
    for (size_t j = s->k; j-- > 0;) {
        double sum = z[j] * s->value[j];
        for (int t = s->start[j]; t < s->start[j + 1]; t++) sum -= l[t] * z[s->row[t]];
        z[j] = sum;
    }
}

void kkt_schur_solve(kkt_schur *s, const double *g, const double *r, double *x, double *lambda) {
    for (size_t j = 0; j < s->k; j++) {
        double sum = r[s->constraint[j]];
        for (int e = s->row_start[j]; g && e < s->row_start[j + 1]; e++) sum -= s->b[e] * g[s->column[e]];
        s->z[j] = sum;
    }
    substitute(s);
    for (size_t i = 0; i < s->n; i++) x[i] = g ? g[i] * s->inverse[i] : 0;
    for (size_t j = 0; j < s->k; j++) {
        double force = s->z[j];
        for (int e = s->row_start[j]; e < s->row_start[j + 1]; e++) x[s->column[e]] += s->b[e] * force;
        if (lambda) lambda[s->constraint[j]] = force;
    }
}

double kkt_schur_margin(const kkt_schur *s) {
    return s->margin;
}

size_t kkt_schur_operations(const kkt_schur *s) {
    return s->n + s->entries + s->terms + s->updates;
}
