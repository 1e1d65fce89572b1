/* kkt.c — which rows, which representation; the sparse one. */
#include "engine/solve/kkt_int.h"

#include <math.h>
#include <stdlib.h>

/* Up to here dense algebra wins whatever the pattern; beyond, sparse when at most a tenth of the matrix is filled. */
enum { DENSE_ALWAYS = 48, DENSE_FALLBACK_MAX = 3000 };

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
#undef ENTRY
    return at;
}

static void free_sparse(kkt *k) {
    sparse_free(k->sparse);
    free(k->sparse_values);
    free(k->sparse_x);
    k->sparse = NULL;
    k->sparse_values = k->sparse_x = NULL;
}

static bool create_sparse(kkt *k, size_t count) {
    int *rows = calloc(count + 1, sizeof *rows), *columns = calloc(count + 1, sizeof *columns);
    k->sparse_values = calloc(count + 1, sizeof *k->sparse_values);
    k->sparse_x = calloc(k->n + k->k + 1, sizeof *k->sparse_x);
    if (rows && columns && k->sparse_values && k->sparse_x) {
        list_entries(k, rows, columns, NULL, NULL);
        k->sparse = sparse_create(k->n + k->k, rows, columns, count);
    }
    free(rows);
    free(columns);
    return k->sparse != NULL;
}

static void take_rows(kkt *k, const bool *active) {
    k->k = 0;
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
    if (k->use_dense ? !(k->dense = kkt_dense_create(k)) : !create_sparse(k, count)) {
        kkt_free(k);
        return NULL;
    }
    return k;
}

void kkt_free(kkt *k) {
    if (!k) return;
    kkt_dense_free(k->dense);
    free_sparse(k);
    free(k->row_of);
    free(k->taken);
    free(k);
}

hamel_status kkt_select(kkt *k, const bool *active) {
    take_rows(k, active);
    if (k->dense) kkt_dense_forget(k->dense);
    k->use_dense = k->prefers_dense;
    if (k->use_dense) return HAMEL_OK;
    free_sparse(k);
    return create_sparse(k, list_entries(k, NULL, NULL, NULL, NULL)) ? HAMEL_OK : HAMEL_NO_MEMORY;
}

hamel_status kkt_factor(kkt *k, const double *values) {
    if (!k->use_dense) {
        list_entries(k, NULL, NULL, values, k->sparse_values);
        hamel_status status = sparse_factor(k->sparse, k->sparse_values);
        if (status != HAMEL_SINGULAR || k->n + k->k > DENSE_FALLBACK_MAX) return status;
        if (!k->dense && !(k->dense = kkt_dense_create(k))) return HAMEL_NO_MEMORY;
        k->use_dense = true; /* from here on: dependence of constraints rarely goes away */
    }
    return kkt_dense_factor(k, k->dense, values);
}

static hamel_status solve_sparse(kkt *k, const double *g, const double *r, double *x, double *lambda) {
    for (size_t i = 0; i < k->n; i++) k->sparse_x[i] = g ? g[i] : 0;
    for (size_t c = 0; c < k->k; c++) k->sparse_x[k->n + c] = r[k->taken[c]];
    hamel_status status = sparse_solve(k->sparse, k->sparse_x);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < k->n; i++) x[i] = k->sparse_x[i];
    for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] = k->sparse_x[k->n + c];
    return HAMEL_OK;
}

hamel_status kkt_solve(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    for (size_t c = 0; lambda && k->k < k->model->m && c < k->model->m; c++) lambda[c] = 0;
    hamel_status status =
        k->use_dense ? kkt_dense_solve(k, k->dense, g, r, tolerance, x, lambda) : solve_sparse(k, g, r, x, lambda);
    for (size_t i = 0; status == HAMEL_OK && i < k->n; i++)
        if (!isfinite(x[i])) status = HAMEL_SINGULAR;
    return status;
}

size_t kkt_rank(const kkt *k) {
    return k->use_dense ? k->dense->rank : k->k;
}

double kkt_margin(const kkt *k) {
    return k->use_dense && k->k > 0 && k->dense->mode != DENSE_LU ? k->dense->margin : 1;
}

size_t kkt_dependent(const kkt *k, size_t *list) {
    if (!k->use_dense || k->dense->mode != DENSE_RANK) return 0;
    size_t count = 0;
    for (size_t p = k->dense->rank; p < k->k; p++) list[count++] = (size_t)k->taken[k->dense->rows.pivot[p]];
    return count;
}
