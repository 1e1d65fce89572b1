/* kkt.c — which rows, which representation; the sparse one. kkt_ldl.c is tried first each time. */
#include "engine/solve/kkt_int.h"

#include "engine/base/finite.h"
#include "engine/solve/redundancy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Up to here dense algebra wins whatever the pattern; beyond, sparse when at most a tenth of the matrix is filled. Where rows
 * are redundant dense matrices find the margin, too, which the compliance does not: they are taken as long as they take no
 * more than a few times as long (braced square of 25 particles and 72 rods 3 times, of 36 5 times, of 64 14 times). */
enum { DENSE_ALWAYS = 48, REDUNDANT_DENSE_MAX = 160, DENSE_FALLBACK_MAX = 3000 };
/* Larger systems whose rows depend on each other: each row yields a little, and iteration takes that back. */
static const double COMPLIANCE = 1e-10, SPREAD = 1e-3, PROXIMAL_REST = 1e-14;
enum { PROXIMAL_STEPS = 40 };

static bool takes(const hamel_model *model, kkt_rows rows, size_t c) {
    switch (rows) {
    case KKT_ALL: return true;
    case KKT_HOLONOMIC: return model->order[c] == CONSTRAINT_HOLONOMIC;
    case KKT_NO_ACCELERATION: return model->order[c] != CONSTRAINT_ACCELERATION;
    default: return false;
    }
}

/* Triplets in a fixed order; with values NULL they are only counted. Returns their number. */
static size_t list_entries(const kkt *k, int *rows, int *columns, const double *values, double *out) {
    const hamel_model *m = k->model;
    size_t at = 0;
    int n = (int)k->n;
#define ENTRY(i, j, value)                           \
    do {                                             \
        if (rows) rows[at] = (i), columns[at] = (j); \
        if (out) out[at] = (value);                  \
        at++;                                        \
    } while (0)
    for (size_t e = 0; e < m->M.count; e++) {
        ENTRY(m->M.row[e], m->M.column[e], values[m->at_M + e]);
        if (m->M.row[e] != m->M.column[e]) ENTRY(m->M.column[e], m->M.row[e], values[m->at_M + e]);
    }
    for (size_t e = 0; e < m->A.count; e++) {
        int row = k->row_of[m->A.row[e]];
        if (row < 0) continue;
        ENTRY(n + row, m->A.column[e], values[m->at_A + e]);
        ENTRY(m->A.column[e], n + row, -values[m->at_A + e]);
    }
    for (size_t e = 0; k->with_W && e < m->W.count; e++) {
        int row = k->row_of[m->W.column[e]];
        if (row >= 0) ENTRY(m->W.row[e], n + row, -values[m->at_W + e]);
    }
    for (int c = 0; c < (int)k->k; c++) ENTRY(n + c, n + c, k->compliant ? k->compliance : 0);
#undef ENTRY
    return at;
}

static void free_sparse(kkt *k) {
    sparse_free(k->sparse);
    free(k->sparse_values);
    free(k->sparse_x);
    free(k->before);
    k->before = NULL;
    k->compliant = false;
    k->sparse = NULL;
    k->sparse_values = k->sparse_x = NULL;
}

static bool create_sparse(kkt *k, size_t count) {
    int *rows = calloc(count + 1, sizeof *rows), *columns = calloc(count + 1, sizeof *columns);
    k->sparse_values = calloc(count + 1, sizeof *k->sparse_values);
    k->sparse_x = calloc(k->n + k->k + 1, sizeof *k->sparse_x);
    k->before = calloc(k->k + 1, sizeof *k->before);
    if (rows && columns && k->sparse_values && k->sparse_x && k->before) {
        list_entries(k, rows, columns, NULL, NULL);
        k->sparse = sparse_create(k->n + k->k, rows, columns, count);
    }
    free(rows);
    free(columns);
    return k->sparse != NULL;
}

static void take_rows(kkt *k, const bool *active) {
    k->selection++;
    k->k = 0;
    k->limit = SIZE_MAX;
    k->usual = NULL;
    for (size_t c = 0; c < k->model->m; c++) {
        bool take = takes(k->model, k->rows, c) && (!active || active[c]);
        k->row_of[c] = take ? (int)k->k : -1;
        if (take) k->taken[k->k++] = (int)c;
    }
}

kkt *kkt_create(const hamel_model *model, kkt_rows rows) {
    kkt *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->model = model;
    k->rows = rows;
    k->n = model->n;
    k->row_of = calloc(model->m + 1, sizeof *k->row_of);
    k->taken = calloc(model->m + 1, sizeof *k->taken);
    if (!k->row_of || !k->taken) {
        kkt_free(k);
        return NULL;
    }
    take_rows(k, NULL);
    k->capacity = k->k;
    k->with_W = rows == KKT_ALL && model->W.count > 0;
    k->least_reaction = model->formulation->solver == SOLVER_LEAST_REACTION;
    k->diagonal = true;
    for (size_t e = 0; e < model->M.count; e++)
        if (model->M.row[e] != model->M.column[e]) k->diagonal = false;
    size_t all = k->n + k->k, count = list_entries(k, NULL, NULL, NULL, NULL);
    k->use_dense = k->prefers_dense = all <= DENSE_ALWAYS || (double)count > 0.1 * (double)all * (double)all;
    bool made = k->use_dense ? (k->dense = kkt_dense_create(k)) != NULL : create_sparse(k, count);
    if (made && kkt_ldl_create(k, &k->ldl) == HAMEL_OK) return k;
    kkt_free(k);
    return NULL;
}

void kkt_free(kkt *k) {
    if (!k) return;
    kkt_dense_free(k->dense);
    kkt_ldl_free(k->ldl);
    free_sparse(k);
    free(k->row_of);
    free(k->taken);
    free(k);
}

void kkt_expect_singular(kkt *k) {
    k->singular = true;
}

hamel_status kkt_select(kkt *k, const bool *active) {
    take_rows(k, active);
    if (k->dense) kkt_dense_forget(k->dense);
    kkt_ldl_free(k->ldl);
    k->use_ldl = false;
    hamel_status status = kkt_ldl_create(k, &k->ldl);
    k->use_dense = k->prefers_dense;
    if (k->use_dense || status != HAMEL_OK) return status;
    free_sparse(k);
    return create_sparse(k, list_entries(k, NULL, NULL, NULL, NULL)) ? HAMEL_OK : HAMEL_NO_MEMORY;
}

void kkt_expect(kkt *k, size_t rank, const double *usual) {
    k->limit = rank;
    k->usual = usual;
}

bool kkt_expects_redundancy(const kkt *k) {
    return k->limit < k->k;
}

bool kkt_prefers_sparse(const kkt *k) {
    return !k->prefers_dense && k->n + k->k > REDUNDANT_DENSE_MAX;
}

/* E as part of the least Σ A_ci²/M_ii, what a row's own entry of A M⁻¹Aᵀ is of the size of. One number for all rows, or
 * the λ found would be of least norm in another metric. */
static void find_compliance(kkt *k, const double *values) {
    const hamel_model *m = k->model;
    double *mass = k->sparse_x, *own = mass + k->n, least = INFINITY, most = 0; /* scratch until the next solution */
    memset(mass, 0, (k->n + k->k) * sizeof *mass);
    for (size_t e = 0; e < m->M.count; e++)
        if (m->M.row[e] == m->M.column[e]) mass[m->M.row[e]] = values[m->at_M + e];
    for (size_t e = 0; e < m->A.count; e++) {
        int row = k->row_of[m->A.row[e]];
        double a = values[m->at_A + e], here = mass[m->A.column[e]];
        if (row >= 0) own[row] += a * a / (here > 0 ? here : 1);
    }
    for (size_t c = 0; c < k->k; c++) {
        if (own[c] > 0) least = fmin(least, own[c]);
        most = fmax(most, own[c]);
    }
    k->compliance = most > 0 ? COMPLIANCE * fmax(least, SPREAD * most) : COMPLIANCE;
}

static hamel_status factor_sparse(kkt *k, const double *values) {
    if (k->compliant) find_compliance(k, values);
    list_entries(k, NULL, NULL, values, k->sparse_values);
    return sparse_factor(k->sparse, k->sparse_values);
}

/* The rank once: dependence of constraints rarely goes away. */
static hamel_status make_compliant(kkt *k, const double *values) {
    redundancy found;
    bool *taken = calloc(k->model->m + 1, sizeof *taken);
    if (!taken) return HAMEL_NO_MEMORY;
    for (size_t c = 0; c < k->k; c++) taken[k->taken[c]] = true;
    hamel_status status = redundancy_find(&found, k->model, values, taken, NULL, REDUNDANCY_TOLERANCE);
    k->sparse_rank = found.rank;
    redundancy_free(&found);
    free(taken);
    if (status != HAMEL_OK) return status;
    k->compliant = true;
    return factor_sparse(k, values);
}

hamel_status kkt_factor(kkt *k, const double *values) {
    bool singular = k->singular || (k->dense && k->dense->augment); /* or M has been so */
    if (k->singular && k->k == 0) return HAMEL_SINGULAR;
    k->use_ldl = k->ldl && !singular && !kkt_expects_redundancy(k) && kkt_ldl_factor(k->ldl, values);
    if (k->use_ldl) return HAMEL_OK;
    if (kkt_expects_redundancy(k) && kkt_prefers_sparse(k)) {
        k->compliant = true;
        k->use_dense = false;
        k->sparse_rank = k->limit;
    }
    if (!k->use_dense) {
        hamel_status status = factor_sparse(k, values);
        if (status != HAMEL_SINGULAR || k->k == 0 || k->compliant) return status;
        if (k->n + k->k > DENSE_FALLBACK_MAX) return make_compliant(k, values);
        if (!k->dense && !(k->dense = kkt_dense_create(k))) return HAMEL_NO_MEMORY;
        k->use_dense = true; /* from here on: dependence of constraints rarely goes away */
    }
    return kkt_dense_factor(k, k->dense, values);
}

kkt_memory kkt_remember(const kkt *k) {
    return (kkt_memory){k->selection, k->dense && k->dense->augment, k->use_dense, k->compliant};
}

void kkt_recall(kkt *k, kkt_memory memory) {
    if (memory.selection != k->selection) return;
    if (k->dense) k->dense->augment = memory.augment;
    k->use_dense = memory.use_dense;
    k->compliant = memory.compliant;
}

static hamel_status solve_sparse_once(kkt *k, const double *g, const double *r, const double *before) {
    for (size_t i = 0; i < k->n; i++) k->sparse_x[i] = g ? g[i] : 0;
    for (size_t c = 0; c < k->k; c++)
        k->sparse_x[k->n + c] = r[k->taken[c]] + (k->compliant ? k->compliance * before[c] : 0);
    return sparse_solve(k->sparse, k->sparse_x);
}

/* With the compliance E: A x + E λ_i+1 = r + E λ_i, from λ_0 = 0 on, which converges to the λ of least norm (Rockafellar,
 * SIAM J. Control Optim. 14 (1976) 877: the proximal point method) and stands still off it where rows contradict: then A x
 * is the part of r that lies in the range of A. Solution in k->sparse_x; *rest is what is left of r. */
static hamel_status iterate_sparse(kkt *k, const double *g, const double *r, double size, double *rest) {
    double *before = k->before, last = INFINITY;
    hamel_status status = HAMEL_OK;
    memset(before, 0, k->k * sizeof *before);
    *rest = 0;
    for (int i = 0; i < PROXIMAL_STEPS && status == HAMEL_OK; i++) {
        status = solve_sparse_once(k, g, r, before);
        *rest = 0;
        for (size_t c = 0; k->compliant && c < k->k; c++) {
            *rest = fmax(*rest, fabs(k->compliance * (k->sparse_x[k->n + c] - before[c])));
            before[c] = k->sparse_x[k->n + c];
        }
        if (*rest <= PROXIMAL_REST * size || *rest > 0.5 * last) break;
        last = *rest;
    }
    return status;
}

/* The rounding of a solution, divided by E, has collected in the part of λ that exerts nothing: the part in the range of
 * A is all that λ of least norm has. */
static hamel_status project_multipliers(kkt *k, double *lambda) {
    const hamel_model *m = k->model;
    double rest, size = 0;
    for (size_t c = 0; c < k->k; c++) size = fmax(size, fabs(lambda[k->taken[c]]));
    hamel_status status = iterate_sparse(k, NULL, lambda, size, &rest);
    size_t at = 0; /* as list_entries has A */
    for (size_t e = 0; e < m->M.count; e++) at += m->M.row[e] != m->M.column[e] ? 2 : 1;
    for (size_t c = 0; c < k->k; c++) lambda[k->taken[c]] = 0;
    for (size_t e = 0; e < m->A.count; e++) {
        if (k->row_of[m->A.row[e]] < 0) continue;
        lambda[m->A.row[e]] += k->sparse_values[at] * k->sparse_x[m->A.column[e]];
        at += 2;
    }
    return status;
}

static hamel_status solve_sparse(kkt *k, const double *g, const double *r, double tolerance, double *x,
                                 double *lambda) {
    double size = 1, rest;
    for (size_t c = 0; c < k->k; c++) size = fmax(size, fabs(r[k->taken[c]]));
    hamel_status status = iterate_sparse(k, g, r, size, &rest);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < k->n; i++) x[i] = k->sparse_x[i];
    for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] = k->sparse_x[k->n + c];
    if (lambda && k->compliant) status = project_multipliers(k, lambda);
    return status != HAMEL_OK ? status : rest <= tolerance * size ? HAMEL_OK : HAMEL_INCOMPATIBLE;
}

hamel_status kkt_solve(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    for (size_t c = 0; lambda && k->k < k->model->m && c < k->model->m; c++) lambda[c] = 0;
    hamel_status status = HAMEL_OK;
    if (k->use_ldl)
        kkt_ldl_solve(k->ldl, g, r, x, lambda);
    else if (k->use_dense)
        status = kkt_dense_solve(k, k->dense, g, r, tolerance, x, lambda);
    else
        status = solve_sparse(k, g, r, tolerance, x, lambda);
    return status == HAMEL_OK && !all_finite(x, k->n) ? HAMEL_SINGULAR : status;
}

size_t kkt_rank(const kkt *k) {
    if (k->use_ldl) return k->k;
    return k->use_dense ? k->dense->rank : k->compliant ? k->sparse_rank : k->k;
}

double kkt_margin(const kkt *k) {
    if (!kkt_finds_margin(k)) return 1;
    if (k->use_ldl || !k->use_dense) return kkt_ldl_margin(k->ldl);
    return k->dense->mode != DENSE_LU ? k->dense->margin : 1;
}

bool kkt_finds_margin(const kkt *k) {
    return k->k > 0 && (k->use_dense || (k->ldl && !k->compliant));
}

size_t kkt_dependent(const kkt *k, size_t *list) {
    if (k->use_ldl || !k->use_dense || k->dense->mode != DENSE_RANK) return 0;
    size_t count = 0;
    for (size_t p = k->dense->rank; p < k->k; p++) list[count++] = (size_t)k->taken[k->dense->rows.pivot[p]];
    return count;
}
