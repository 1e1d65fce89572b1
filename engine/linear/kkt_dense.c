/* kkt_dense.c — saddle-point systems of small and redundant models. The methods are named in kkt.h. */
#include "engine/solve/kkt_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Coordinates of one row may have masses as unequal as the square of this before the augmented matrix loses digits of the
 * lighter ones: what a row adds is sized by its own coordinates, the lightest of them counted as this part of the heaviest
 * (of M_ii = 0 nothing else is known). */
static const double LIGHTEST = 1e-3;

/* Rows of A that x misses by more than this of their terms are refined; matrices of 40 rows leave some 1e-15. A step takes
 * the error to a part of ε·κ: one is enough at 1e-14, and three at the least pivot that Cholesky accepts. */
static const double REFINED = 1e-13;
enum { REFINEMENTS = 3 };

kkt_dense *kkt_dense_create(const kkt *k) {
    size_t n = k->n, c = k->capacity, all = n + c;
    kkt_dense *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->margin = 1;
    size_t doubles = n * n + 2 * n * c + c * c + 2 * c + 7 * all + 16;
    double *at = calloc(doubles, sizeof *at);
    d->pivot = calloc(all + 1, sizeof *d->pivot);
    d->A = at;
    if (!row_space_create(&d->rows, n, c) || !at || !d->pivot) {
        kkt_dense_free(d);
        return NULL;
    }
    at += n * c;
    d->L = at, at += n * n;
    d->Y = at, at += n * c;
    d->S = at, at += c * c;
    d->scale = at, at += c;
    d->sigma = at, at += c;
    d->w = at, at += all;
    d->z = at, at += all;
    d->y = at, at += all;
    d->rho = at, at += all;
    d->left = at, at += all;
    d->change = at, at += all;
    d->inverse = at;
    return d;
}

void kkt_dense_free(kkt_dense *d) {
    if (!d) return;
    row_space_free(&d->rows);
    free(d->A); /* the block that all arrays but these lie in */
    free(d->LU);
    free(d->pivot);
    free(d);
}

void kkt_dense_forget(kkt_dense *d) {
    free(d->LU);
    d->LU = NULL;
    d->augment = false;
}

static void axpy(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void fill_mass(const kkt *k, double *L, const double *values) {
    const model_pattern *M = &k->model->M;
    memset(L, 0, k->n * k->n * sizeof *L);
    for (size_t e = 0; e < M->count; e++)
        L[(size_t)M->row[e] + k->n * (size_t)M->column[e]] = values[k->model->at_M + e];
}

static void fill_rows(const kkt *k, double *A, const double *values) {
    const model_pattern *p = &k->model->A;
    memset(A, 0, k->n * k->k * sizeof *A);
    for (size_t e = 0; e < p->count; e++) {
        int row = k->row_of[p->row[e]];
        if (row >= 0) A[(size_t)p->column[e] + k->n * (size_t)row] = values[k->model->at_A + e];
    }
}

/* The length of row c in parts of its usual one. */
static double usual_part(const kkt *k, const kkt_dense *d, size_t c) {
    const double *row = d->A + k->n * c;
    return k->usual ? row_space_part(sqrt(dense_dot(k->n, row, row)), k->usual[k->taken[c]]) : 1;
}

/* σ of a row: its part of the augmented matrix is as large as M is there, 1/σ = Σ A_ci²/M_ii. 0 for a row of zeros. */
static double weight_of(size_t n, const double *row, const double *mass, double most) {
    double heaviest = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (row[i] != 0) heaviest = fmax(heaviest, mass[i]);
    if (!(heaviest > 0)) heaviest = most;
    for (size_t i = 0; i < n; i++) sum += row[i] * row[i] / fmax(mass[i], LIGHTEST * heaviest);
    return sum > 0 ? 1 / sum : 0;
}

/* M + Aᵀ diag(σ) A (Udwadia & Phohomsiri, Proc. R. Soc. A 462 (2006) 2097: the motion is unique when [M; A] has full rank,
 * which is when this is positive definite). */
static bool factor_augmented(const kkt *k, kkt_dense *d, const double *values) {
    size_t n = k->n;
    double *mass = d->w, most = 0;
    fill_mass(k, d->L, values);
    for (size_t i = 0; i < n; i++) most = fmax(most, mass[i] = fabs(d->L[i + n * i]));
    if (!(most > 0)) most = 1;
    for (size_t c = 0; c < k->k; c++) {
        const double *row = d->A + n * c;
        double part = usual_part(k, d, c);
        d->sigma[c] = weight_of(n, row, mass, most) * fmin(1, part * part); /* a row of rounding has no weight */
        for (size_t j = 0; j < n; j++) {
            double a = d->sigma[c] * row[j];
            for (size_t i = j; a != 0 && i < n; i++) d->L[i + n * j] += a * row[i];
        }
    }
    d->augmented = k->k > 0 && dense_cholesky(n, d->L);
    return d->augmented;
}

/* Whether a pivot of LLᵀ is so small relative to its diagonal entry of M that it may be rounding. */
static bool looks_singular(const kkt *k, const double *L, const double *values) {
    const model_pattern *M = &k->model->M;
    for (size_t e = 0; e < M->count; e++) {
        if (M->row[e] != M->column[e]) continue;
        double root = L[(size_t)M->row[e] * (k->n + 1)];
        if (!(root * root > MASS_PIVOT_KEPT * values[k->model->at_M + e])) return true;
    }
    return false;
}

/* Particles in Cartesian coordinates: L is the square root of a diagonal. */
static bool factor_diagonal(const kkt *k, kkt_dense *d, const double *values) {
    const model_pattern *M = &k->model->M;
    for (size_t e = 0; e < M->count; e++) {
        double mass = values[k->model->at_M + e];
        if (!(mass > 0)) return false;
        d->inverse[M->row[e]] = 1 / sqrt(mass);
    }
    return M->count == k->n; /* none is missing */
}

/* x := L⁻¹ x and x := L⁻ᵀ x. */
static void scale_by_mass(size_t n, const double *inverse, double *x) {
    for (size_t i = 0; i < n; i++) x[i] *= inverse[i];
}

static void mass_forward(const kkt *k, const kkt_dense *d, double *x) {
    if (d->diagonal)
        scale_by_mass(k->n, d->inverse, x);
    else
        dense_forward(k->n, d->L, x);
}

static void mass_backward(const kkt *k, const kkt_dense *d, double *x) {
    if (d->diagonal)
        scale_by_mass(k->n, d->inverse, x);
    else
        dense_backward(k->n, d->L, x);
}

/* A singular M (quaternions) may come out of Cholesky with a pivot made of rounding: where constraints make up for it,
 * the augmented matrix is taken; where they do not, M may still be regular with very unequal masses. A mass matrix that
 * was singular once is augmented from then on: near states where a leading minor vanishes, too, rounding would pass
 * for a pivot of honest size. */
static bool factor_mass(const kkt *k, kkt_dense *d, const double *values) {
    d->augmented = false;
    d->diagonal = k->diagonal && factor_diagonal(k, d, values);
    if (d->diagonal) return true;
    if ((k->singular || d->augment) && factor_augmented(k, d, values)) return true;
    fill_mass(k, d->L, values);
    bool regular = dense_cholesky(k->n, d->L);
    if (regular && (k->k == 0 || !looks_singular(k, d->L, values))) return true;
    d->augment = factor_augmented(k, d, values);
    if (d->augment) return true;
    fill_mass(k, d->L, values);
    return regular && dense_cholesky(k->n, d->L);
}

static void make_directions(const kkt *k, kkt_dense *d) {
    memcpy(d->Y, d->A, k->n * k->k * sizeof *d->Y);
    for (size_t c = 0; c < k->k; c++) {
        double *y = d->Y + k->n * c;
        mass_forward(k, d, y);
        double length = sqrt(dense_dot(k->n, y, y));
        d->scale[c] = length > 0 ? 1 / length : 1;
        for (size_t i = 0; i < k->n; i++) y[i] *= d->scale[c];
    }
}

static bool factor_schur(const kkt *k, kkt_dense *d) {
    size_t c = k->k;
    if (c > k->n || kkt_expects_redundancy(k)) return false;
    for (size_t j = 0; j < c; j++)
        for (size_t i = j; i < c; i++) d->S[i + c * j] = dense_dot(k->n, d->Y + k->n * i, d->Y + k->n * j);
    if (!dense_cholesky(c, d->S)) return false;
    d->margin = 1;
    for (size_t j = 0; j < c; j++) d->margin = fmin(d->margin, d->S[j + c * j]);
    return d->margin * d->margin > KKT_DEPENDENT;
}

/* Y has unit columns already; where the usual length of rows is known, it is the unit. */
static bool factor_rank(const kkt *k, kkt_dense *d) {
    d->rows.k = k->k;
    d->rows.limit = k->limit;
    for (size_t c = 0; c < k->k; c++) {
        double *y = d->Y + k->n * c, part = usual_part(k, d, c);
        for (size_t i = 0; part != 1 && i < k->n; i++) y[i] *= part;
        d->scale[c] *= part;
        d->rows.length[c] = part;
    }
    memcpy(d->rows.QR, d->Y, k->n * k->k * sizeof *d->Y);
    memcpy(d->rows.scale, d->scale, k->k * sizeof *d->scale);
    bool good = row_space_factor(&d->rows);
    d->rank = d->rows.rank;
    d->margin = row_space_margin(&d->rows);
    return good;
}

static hamel_status factor_lu(const kkt *k, kkt_dense *d, const double *values) {
    size_t n = k->n, all = n + k->k;
    const hamel_model *model = k->model;
    if (!d->LU) {
        d->LU = calloc(all * all + all, sizeof *d->LU);
        if (!d->LU) return HAMEL_NO_MEMORY;
        d->lu_scale = d->LU + all * all;
    }
    memset(d->LU, 0, all * all * sizeof *d->LU);
    for (size_t e = 0; e < model->M.count; e++) {
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        d->LU[i + all * j] = d->LU[j + all * i] = values[model->at_M + e];
    }
    for (size_t c = 0; c < k->k; c++)
        for (size_t i = 0; i < n; i++) {
            d->LU[n + c + all * i] = d->A[i + n * c];
            d->LU[i + all * (n + c)] = -d->A[i + n * c];
        }
    for (size_t e = 0; k->with_W && e < model->W.count; e++) {
        int row = k->row_of[model->W.column[e]];
        if (row >= 0) d->LU[(size_t)model->W.row[e] + all * (n + (size_t)row)] -= values[model->at_W + e];
    }
    d->mode = DENSE_LU;
    d->rank = k->k;
    return dense_lu(all, d->LU, d->pivot, d->lu_scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

hamel_status kkt_dense_factor(const kkt *k, kkt_dense *d, const double *values) {
    fill_rows(k, d->A, values);
    d->rank = k->k;
    if (k->with_W || !factor_mass(k, d, values)) return factor_lu(k, d, values);
    make_directions(k, d);
    d->mode = DENSE_SCHUR;
    if (!k->least_reaction && factor_schur(k, d)) return HAMEL_OK;
    d->mode = DENSE_RANK;
    return factor_rank(k, d) ? HAMEL_OK : HAMEL_SINGULAR;
}

/* λ̂ := (YᵀY)⁻¹ρ; w += Y λ̂. */
static void solve_schur(const kkt *k, kkt_dense *d) {
    memcpy(d->z, d->rho, k->k * sizeof *d->z);
    dense_forward(k->k, d->S, d->z);
    dense_backward(k->k, d->S, d->z);
    for (size_t c = 0; c < k->k; c++) axpy(k->n, d->z[c], d->Y + k->n * c, d->w);
}

/* w += Y λ̂ and λ̂ in d->rho; false when the dependent rows contradict by more than the tolerance. */
static bool solve_rank(const kkt *k, kkt_dense *d, double tolerance) {
    double contradiction = row_space_coordinates(&d->rows, d->rho, d->z);
    row_space_vector(&d->rows, d->z, d->y);
    axpy(k->n, 1, d->y, d->w);
    row_space_scaled_multipliers(&d->rows, d->z, d->rho);
    return contradiction <= tolerance;
}

static void solve_lu(const kkt *k, kkt_dense *d, const double *g, const double *r, double *x) {
    size_t n = k->n;
    for (size_t i = 0; i < n; i++) d->w[i] = g ? g[i] : 0;
    for (size_t c = 0; c < k->k; c++) d->w[n + c] = r[k->taken[c]];
    dense_lu_solve(n + k->k, d->LU, d->pivot, d->lu_scale, d->w);
    memcpy(x, d->w, n * sizeof *x);
    for (size_t c = 0; c < k->k; c++) {
        d->rho[c] = d->w[n + c];
        d->scale[c] = 1;
    }
}

/* x and λ̂ (in d->rho) of the factored system, not by LU. HAMEL_INCOMPATIBLE as kkt_solve. */
static hamel_status solve_directions(const kkt *k, kkt_dense *d, const double *g, const double *r, double tolerance,
                                     double *x) {
    size_t n = k->n;
    hamel_status status = HAMEL_OK;
    for (size_t i = 0; i < n; i++) d->w[i] = g ? g[i] : 0;
    for (size_t c = 0; d->augmented && c < k->k; c++) axpy(n, d->sigma[c] * r[c], d->A + n * c, d->w);
    mass_forward(k, d, d->w);
    for (size_t c = 0; c < k->k; c++) d->rho[c] = d->scale[c] * r[c] - dense_dot(n, d->Y + n * c, d->w);
    if (d->mode == DENSE_SCHUR) {
        solve_schur(k, d);
        memcpy(d->rho, d->z, k->k * sizeof *d->rho);
    } else if (!solve_rank(k, d, tolerance)) {
        status = HAMEL_INCOMPATIBLE;
    }
    memcpy(x, d->w, n * sizeof *x);
    mass_backward(k, d, x);
    return status;
}

/* d->left := r − A x. Returns the largest of it beside the terms of its row. */
static double find_left(const kkt *k, kkt_dense *d, const double *r, const double *x) {
    double worst = 0;
    for (size_t c = 0; c < k->k; c++) {
        const double *row = d->A + k->n * c;
        double left = r[k->taken[c]], terms = fabs(left);
        for (size_t i = 0; i < k->n; i++) {
            double term = row[i] * x[i];
            left -= term;
            terms += fabs(term);
        }
        d->left[c] = left;
        if (fabs(left) > worst * terms) worst = fabs(left) / terms;
    }
    return worst;
}

/* Iterative refinement of the rows of A (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapter 12): where
 * M is nearly singular and A makes up for it, x is the difference of two large numbers. */
static void refine(const kkt *k, kkt_dense *d, const double *r, double *x, double *lambda) {
    double worst = find_left(k, d, r, x);
    for (int step = 0; step < REFINEMENTS && worst > REFINED; step++) {
        double before = worst;
        (void)solve_directions(k, d, NULL, d->left, INFINITY, d->change);
        axpy(k->n, 1, d->change, x);
        worst = find_left(k, d, r, x);
        if (!(worst < before)) {
            axpy(k->n, -1, d->change, x);
            return;
        }
        for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] += d->scale[c] * d->rho[c];
    }
}

hamel_status kkt_dense_solve(const kkt *k, kkt_dense *d, const double *g, const double *r, double tolerance, double *x,
                             double *lambda) {
    hamel_status status = HAMEL_OK;
    if (d->mode == DENSE_LU) {
        solve_lu(k, d, g, r, x);
    } else {
        for (size_t c = 0; c < k->k; c++) d->left[c] = r[k->taken[c]];
        status = solve_directions(k, d, g, d->left, tolerance, x);
    }
    for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] = d->scale[c] * d->rho[c];
    if (d->mode != DENSE_LU && status == HAMEL_OK) refine(k, d, r, x, lambda);
    return status;
}
