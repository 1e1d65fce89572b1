/* kkt_dense.c — dense solvers for small and redundant saddle-point systems (methods: kkt.h). */
#include "engine/base/tolerances.h"
#include "engine/linear/kkt_int.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lower bound on the masses M_ii that enter the weight of a row of A in the augmented matrix, relative to the largest
 * mass in the row. The bound also provides a scale for coordinates with M_ii = 0. A mass below the bound loses digits
 * when the term of the row is added: at 1e-6 of the largest mass, at most three digits. A smaller bound would give
 * smaller pivots for coordinates with M_ii = 0. */
static const double LIGHTEST = 1e-3;

/* If the residual of a row of A, relative to the terms of the row, exceeds this bound, the solution is refined. Without
 * refinement, the residual of a system of 40 rows is about 1e-15. Each step of refinement multiplies the error by about
 * ε·κ, where κ is the condition number. Three steps suffice even at the smallest pivot that Cholesky accepts. */
static const double REFINED = 1e-13;
enum { REFINEMENTS = 3 };

bool kkt_dense_create(kkt *k) {
    if (k->dense) return true;
    size_t n = k->n, c = k->capacity, all = n + c;
    kkt_dense *d = arena_alloc(&k->memory, 1, sizeof *d);
    if (!d) return false;
    d->pivot = arena_alloc(&k->memory, all, sizeof *d->pivot);
    bool allocated = ARENA_DOUBLES(&k->memory, {&d->A, n * c}, {&d->L, n * n}, {&d->Y, n * c}, {&d->S, c * c},
                                   {&d->scale, c}, {&d->sigma, c}, {&d->inverse, n}, {&d->w, all}, {&d->z, all},
                                   {&d->y, all}, {&d->rho, all}, {&d->left, all}, {&d->change, all});
    if (!rank_qr_create(&d->rows, n, c) || !allocated) {
        rank_qr_free(&d->rows);
        return false;
    }
    k->dense = d;
    return true;
}

void kkt_dense_free(kkt_dense *d) {
    if (d) rank_qr_free(&d->rows);
}

void kkt_dense_discard(kkt_dense *d) {
    d->LU = NULL; /* allocated from k->selected, which kkt_select frees */
    d->augment = false;
}

static void axpy(size_t n, double a, const double *x, double *y) {
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void fill_mass(const kkt *k, double *L, const double *values) {
    memset(L, 0, k->n * k->n * sizeof *L);
    sparse_block_to_dense(k->M, values, k->n, L);
}

static void fill_rows(const kkt *k, double *A, const double *values) {
    const sparse_block *p = k->A;
    memset(A, 0, k->n * k->k * sizeof *A);
    for (size_t e = 0; e < p->count; e++) {
        int row = k->row_of[p->row[e]];
        if (row >= 0) A[(size_t)p->column[e] + k->n * (size_t)row] = values[k->A->at + e];
    }
}

/* Returns the length of row c relative to its usual length. */
static double usual_part(const kkt *k, const kkt_dense *d, size_t c) {
    const double *row = d->A + k->n * c;
    return k->usual ? rank_qr_part(sqrt(dense_dot(k->n, row, row)), k->usual[k->taken[c]]) : 1;
}

/* Returns the weight σ of a row, 1/σ = Σ A_ci²/M_ii. With this weight, the term of the row in the augmented matrix is
 * as large as M. Returns 0 if the row is zero. */
static double weight_of(size_t n, const double *row, const double *mass, double most) {
    double heaviest = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        if (row[i] != 0) heaviest = fmax(heaviest, mass[i]);
    if (!(heaviest > 0)) heaviest = most;
    for (size_t i = 0; i < n; i++) sum += row[i] * row[i] / fmax(mass[i], LIGHTEST * heaviest);
    return sum > 0 ? 1 / sum : 0;
}

/* Factors M + Aᵀ diag(σ) A. The accelerations are unique if [M; A] has full rank, that is, if this matrix is positive
 * definite (Udwadia & Phohomsiri, Proc. R. Soc. A 462 (2006) 2097). */
static bool factor_augmented(const kkt *k, kkt_dense *d, const double *values) {
    size_t n = k->n;
    double *mass = d->w, most = 0;
    fill_mass(k, d->L, values);
    for (size_t i = 0; i < n; i++) most = fmax(most, mass[i] = fabs(d->L[i + n * i]));
    if (!(most > 0)) most = 1;
    for (size_t c = 0; c < k->k; c++) {
        const double *row = d->A + n * c;
        double part = usual_part(k, d, c);
        /* the second factor is small if the row consists of rounding errors */
        d->sigma[c] = weight_of(n, row, mass, most) * fmin(1, part * part);
        for (size_t j = 0; j < n; j++) {
            double a = d->sigma[c] * row[j];
            for (size_t i = j; a != 0 && i < n; i++) d->L[i + n * j] += a * row[i];
        }
    }
    d->augmented = k->k > 0 && dense_cholesky(n, d->L);
    return d->augmented;
}

/* Returns true if a pivot of LLᵀ is so small relative to its diagonal entry of M that the pivot may be a rounding
 * error. */
static bool looks_singular(const kkt *k, const double *L, const double *values) {
    const sparse_block *M = k->M;
    for (size_t e = 0; e < M->count; e++) {
        if (M->row[e] != M->column[e]) continue;
        double root = L[(size_t)M->row[e] * (k->n + 1)];
        if (!(root * root > MASS_PIVOT_KEPT * values[k->M->at + e])) return true;
    }
    return false;
}

/* Factors a diagonal M, such as that of particles in Cartesian coordinates. Returns false if M is not positive
 * definite. */
static bool factor_diagonal(const kkt *k, kkt_dense *d, const double *values) {
    const sparse_block *M = k->M;
    for (size_t e = 0; e < M->count; e++) {
        double mass = values[k->M->at + e];
        if (!(mass > 0)) return false;
        d->inverse[M->row[e]] = 1 / sqrt(mass);
    }
    return M->count == k->n; /* no entry is missing */
}

/* Computes x := L⁻¹ x with solve = dense_forward, or x := L⁻ᵀ x with solve = dense_backward. */
static void solve_mass(const kkt *k, const kkt_dense *d, void (*solve)(size_t, const double *, double *), double *x) {
    if (!d->diagonal) solve(k->n, d->L, x);
    for (size_t i = 0; d->diagonal && i < k->n; i++) x[i] *= d->inverse[i];
}

/* Factors M. If M appears singular, for example with quaternions, factors the augmented matrix instead. If the
 * augmented matrix is singular too, M may be regular with very unequal masses, so M is factored after all. Once M has
 * appeared singular, later calls try the augmented matrix first. The last pivot of a singular M is a rounding error. If
 * a leading minor nearly vanishes as well, this error can be so large that it would be accepted as a pivot. */
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
        solve_mass(k, d, dense_forward, y);
        double length = sqrt(dense_dot(k->n, y, y));
        d->scale[c] = length > 0 ? 1 / length : 1;
        for (size_t i = 0; i < k->n; i++) y[i] *= d->scale[c];
    }
}

/* Factors YᵀY by Cholesky. Returns false if rows may be redundant. */
static bool factor_schur(kkt *k, kkt_dense *d) {
    size_t c = k->k;
    if (c > k->n || kkt_expects_redundancy(k)) return false;
    for (size_t j = 0; j < c; j++)
        for (size_t i = j; i < c; i++) d->S[i + c * j] = dense_dot(k->n, d->Y + k->n * i, d->Y + k->n * j);
    if (!dense_cholesky(c, d->S)) return false;
    k->margin = 1;
    for (size_t j = 0; j < c; j++) k->margin = fmin(k->margin, d->S[j + c * j]);
    return k->margin * k->margin > CHOLESKY_RANK_TOLERANCE;
}

/* Factors Y by rank-revealing QR. The columns of Y have unit length. If the usual length of a row is known, its column
 * is first multiplied by the length of the row relative to the usual length. */
static bool factor_rank(kkt *k, kkt_dense *d) {
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
    bool good = rank_qr_factor(&d->rows);
    k->rank = d->rows.rank;
    k->margin = rank_qr_margin(&d->rows);
    return good;
}

static hamel_status factor_lu(kkt *k, const double *values) {
    kkt_dense *d = k->dense;
    size_t n = k->n, all = n + k->k;
    if (!d->LU) {
        bool allocated =
            ARENA_DOUBLES(&k->selected, {&d->entries, k->entries.count}, {&d->lu_scale, all}, {&d->LU, all * all});
        if (!allocated) d->LU = NULL;
        if (!allocated) return HAMEL_NO_MEMORY;
    }
    triplets_fill(&k->entries, values, d->entries);
    triplets_to_dense(&k->entries, d->entries, all, d->LU);
    k->kind = &kkt_by_lu;
    k->rank = k->k;
    k->margin = 1;
    return dense_lu(all, d->LU, d->pivot, d->lu_scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

/* Factors M and A M⁻¹Aᵀ by Cholesky. If M is indefinite or W is not zero, delegates to LU. If rows may be redundant or
 * least reactions are requested, delegates to QR. */
static hamel_status factor_cholesky(kkt *k, const double *values) {
    kkt_dense *d = k->dense;
    assert(d);
    fill_rows(k, d->A, values);
    k->rank = k->k;
    if (k->W || !factor_mass(k, d, values)) return factor_lu(k, values);
    make_directions(k, d);
    k->kind = &kkt_by_cholesky;
    if (!k->least_reaction && factor_schur(k, d)) return HAMEL_OK;
    k->kind = &kkt_by_qr;
    return factor_rank(k, d) ? HAMEL_OK : HAMEL_SINGULAR;
}

/* Sets d->z to λ̂ = (YᵀY)⁻¹ρ and adds Y λ̂ to w. */
static void solve_schur(const kkt *k, kkt_dense *d) {
    memcpy(d->z, d->rho, k->k * sizeof *d->z);
    dense_forward(k->k, d->S, d->z);
    dense_backward(k->k, d->S, d->z);
    for (size_t c = 0; c < k->k; c++) axpy(k->n, d->z[c], d->Y + k->n * c, d->w);
}

/* Stores λ̂ in d->rho and adds Y λ̂ to w. Returns the contradiction of redundant rows. */
static double solve_rank(const kkt *k, kkt_dense *d) {
    double contradiction = rank_qr_coordinates(&d->rows, d->rho, d->z);
    rank_qr_vector(&d->rows, d->z, d->y);
    axpy(k->n, 1, d->y, d->w);
    rank_qr_scaled_multipliers(&d->rows, d->z, d->rho);
    return contradiction;
}

static hamel_status solve_lu(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    kkt_dense *d = k->dense;
    size_t n = k->n;
    (void)tolerance; /* not used, because rows are independent */
    for (size_t i = 0; i < n; i++) d->w[i] = g ? g[i] : 0;
    for (size_t c = 0; c < k->k; c++) d->w[n + c] = r[k->taken[c]];
    dense_lu_solve(n + k->k, d->LU, d->pivot, d->lu_scale, d->w);
    memcpy(x, d->w, n * sizeof *x);
    for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] = d->w[n + c];
    return HAMEL_OK;
}

/* Solves for x and λ̂ (in d->rho) with the factors of Cholesky or QR. Returns HAMEL_INCOMPATIBLE under the same
 * condition as kkt_solve. */
static hamel_status solve_directions(const kkt *k, kkt_dense *d, const double *g, const double *r, double tolerance,
                                     double *x) {
    size_t n = k->n;
    hamel_status status = HAMEL_OK;
    for (size_t i = 0; i < n; i++) d->w[i] = g ? g[i] : 0;
    for (size_t c = 0; d->augmented && c < k->k; c++) axpy(n, d->sigma[c] * r[c], d->A + n * c, d->w);
    solve_mass(k, d, dense_forward, d->w);
    for (size_t c = 0; c < k->k; c++) d->rho[c] = d->scale[c] * r[c] - dense_dot(n, d->Y + n * c, d->w);
    if (k->kind == &kkt_by_cholesky) {
        solve_schur(k, d);
        memcpy(d->rho, d->z, k->k * sizeof *d->rho);
    } else if (!(solve_rank(k, d) <= tolerance)) {
        status = HAMEL_INCOMPATIBLE;
    }
    memcpy(x, d->w, n * sizeof *x);
    solve_mass(k, d, dense_backward, x);
    return status;
}

/* Sets d->left to the residual r − A x. Returns the largest residual of a row relative to the terms of the row. */
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

/* Iterative refinement of the rows of A (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapter 12).
 * Refinement is needed if M is nearly singular and constraints compensate for this: x is then the difference of two
 * large numbers. */
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

static hamel_status solve_dense(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    kkt_dense *d = k->dense;
    for (size_t c = 0; c < k->k; c++) d->left[c] = r[k->taken[c]];
    hamel_status status = solve_directions(k, d, g, d->left, tolerance, x);
    for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] = d->scale[c] * d->rho[c];
    if (status == HAMEL_OK) refine(k, d, r, x, lambda);
    return status;
}

const kkt_kind kkt_by_cholesky = {factor_cholesky, solve_dense};
const kkt_kind kkt_by_qr = {factor_cholesky, solve_dense};
const kkt_kind kkt_by_lu = {factor_lu, solve_lu};
