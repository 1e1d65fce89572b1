/* kkt_sparse.c — solves large saddle-point systems with KLU. If rows are redundant, a compliance is added to each row,
 * and an iteration removes the effect of the compliance. */
#include "engine/linear/kkt_int.h"

#include "engine/base/tolerances.h"
#include "engine/linear/redundancy.h"

#include <math.h>
#include <string.h>

/* Largest number of unknowns at which a system is factored as a dense matrix when rows become redundant. A matrix of
 * 3000² doubles takes 72 MB. */
enum { DENSE_FALLBACK_MAX = 3000 };
/* The compliance is COMPLIANCE times the smallest row size Σ A_ci²/M_ii. This row size is bounded from below by SPREAD
 * times the largest row size. COMPLIANCE · SPREAD = 1e-13 is 450 ε, so rounding errors do not hide the compliance. */
static const double SPREAD = 1e-3;
/* The proximal iteration ends when the residual is below PROXIMAL_REST times the right-hand side, a few tens of
 * rounding errors ε. If the equations are consistent, each step multiplies the residual by about COMPLIANCE = 1e-10, so
 * two steps are needed. The iteration also ends when a step does not halve the residual, so PROXIMAL_STEPS steps reduce
 * the residual by a factor of about 2⁴⁰ = 1e12. */
static const double PROXIMAL_REST = 1e-14;
enum { PROXIMAL_STEPS = 40 };

bool kkt_sparse_create(kkt *k) {
    kkt_sparse *s = &k->sparse;
    const triplets *t = &k->entries;
    size_t all = k->n + k->k;
    s->lu = sparse_create(all, t->row, t->column, t->count);
    return s->lu && ARENA_DOUBLES(&k->selected, {&s->values, t->count}, {&s->x, all}, {&s->before, k->k});
}

void kkt_sparse_free(kkt *k) {
    sparse_free(k->sparse.lu);
    k->sparse = (kkt_sparse){0};
}

/* Factors the system with KLU. KLU does not compute a rank margin. If LDLᵀ was tried before, the rank margin that LDLᵀ
 * computed is used. */
static hamel_status factor_with(kkt *k, const double *values, double compliance, size_t rank) {
    kkt_sparse *s = &k->sparse;
    k->rank = rank;
    k->margin = k->ldl ? kkt_ldl_margin(k->ldl) : 1;
    s->compliance = compliance;
    triplets_fill(&k->entries, values, s->values);
    for (size_t e = k->entries.count - k->k; e < k->entries.count; e++) s->values[e] = compliance;
    return sparse_factor(s->lu, s->values);
}

/* Returns the compliance: COMPLIANCE times the smallest Σ A_ci²/M_ii, an estimate of the diagonal of A M⁻¹Aᵀ. All rows
 * have the same compliance, because λ would otherwise have least norm in another metric. */
static double find_compliance(const kkt *k, const double *values) {
    double *mass = k->sparse.x, *own = mass + k->n, least = INFINITY, most = 0; /* free until the next solution */
    memset(mass, 0, (k->n + k->k) * sizeof *mass);
    sparse_block_diagonal(k->M, values, mass);
    for (size_t e = 0; e < k->A->count; e++) {
        int row = k->row_of[k->A->row[e]];
        double a = values[k->A->at + e], here = mass[k->A->column[e]];
        if (row >= 0) own[row] += a * a / (here > 0 ? here : 1);
    }
    for (size_t c = 0; c < k->k; c++) {
        if (own[c] > 0) least = fmin(least, own[c]);
        most = fmax(most, own[c]);
    }
    return most > 0 ? COMPLIANCE * fmax(least, SPREAD * most) : COMPLIANCE;
}

static hamel_status factor_compliant(kkt *k, const double *values) {
    k->kind = &kkt_by_compliance;
    return factor_with(k, values, find_compliance(k, values), k->sparse.rank);
}

/* Finds the rank of the rows and factors the system with compliance. The compliance is used until the next kkt_select,
 * because redundant constraints usually remain redundant. */
static hamel_status make_compliant(kkt *k, const double *values) {
    redundancy found;
    bool *taken = arena_alloc(&k->selected, k->m, sizeof *taken);
    if (!taken) return HAMEL_NO_MEMORY;
    for (size_t c = 0; c < k->k; c++) taken[k->taken[c]] = true;
    hamel_status status = redundancy_find(&found, k->A, values, taken, NULL, RANK_TOLERANCE);
    k->sparse.rank = found.rank;
    redundancy_free(&found);
    if (status != HAMEL_OK) return status;
    k->fallback = &kkt_by_compliance;
    return factor_compliant(k, values);
}

static hamel_status factor_klu(kkt *k, const double *values) {
    k->kind = &kkt_by_klu;
    hamel_status status = factor_with(k, values, 0, k->k);
    if (status != HAMEL_SINGULAR || k->k == 0) return status;
    if (k->n + k->k > DENSE_FALLBACK_MAX) return make_compliant(k, values);
    if (!kkt_dense_create(k)) return HAMEL_NO_MEMORY;
    k->fallback = &kkt_by_cholesky; /* later factorizations begin with Cholesky */
    return k->fallback->factor(k, values);
}

/* Solves A x + E λ = r + E λ_before with the compliance E, which is 0 for KLU alone. */
static hamel_status solve_once(kkt *k, const double *g, const double *r) {
    kkt_sparse *s = &k->sparse;
    for (size_t i = 0; i < k->n; i++) s->x[i] = g ? g[i] : 0;
    for (size_t c = 0; c < k->k; c++)
        s->x[k->n + c] = r[k->taken[c]] + (s->compliance > 0 ? s->compliance * s->before[c] : 0);
    return sparse_solve(s->lu, s->x);
}

static void copy_solution(const kkt *k, double *x, double *lambda) {
    memcpy(x, k->sparse.x, k->n * sizeof *x);
    for (size_t c = 0; lambda && c < k->k; c++) lambda[k->taken[c]] = k->sparse.x[k->n + c];
}

static hamel_status solve_klu(kkt *k, const double *g, const double *r, double tolerance, double *x, double *lambda) {
    (void)tolerance; /* not used, because rows are independent */
    hamel_status status = solve_once(k, g, r);
    if (status == HAMEL_OK) copy_solution(k, x, lambda);
    return status;
}

/* Iterates A x + E λ_i+1 = r + E λ_i, beginning with λ_0 = 0. This proximal point method (Rockafellar, SIAM J. Control
 * Optim. 14 (1976) 877) converges to the λ of least norm. If rows contradict each other, the iteration stalls, and A x
 * is the part of r in the range of A. Stores the solution in k->sparse.x and the largest residual in *rest. */
static hamel_status iterate(kkt *k, const double *g, const double *r, double size, double *rest) {
    kkt_sparse *s = &k->sparse;
    double last = INFINITY;
    hamel_status status = HAMEL_OK;
    memset(s->before, 0, k->k * sizeof *s->before);
    *rest = 0;
    for (int i = 0; i < PROXIMAL_STEPS && status == HAMEL_OK; i++) {
        status = solve_once(k, g, r);
        *rest = 0;
        for (size_t c = 0; c < k->k; c++) {
            *rest = fmax(*rest, fabs(s->compliance * (s->x[k->n + c] - s->before[c])));
            s->before[c] = s->x[k->n + c];
        }
        if (*rest <= PROXIMAL_REST * size || *rest > 0.5 * last) break;
        last = *rest;
    }
    return status;
}

/* Projects λ onto the range of A, which contains the λ of least norm. The iteration divides rounding errors of x by the
 * small E. Without the projection, the quotients would accumulate in the part of λ that exerts no force. */
static hamel_status project_multipliers(kkt *k, double *lambda) {
    double rest, size = 0;
    int n = (int)k->n;
    for (size_t c = 0; c < k->k; c++) size = fmax(size, fabs(lambda[k->taken[c]]));
    hamel_status status = iterate(k, NULL, lambda, size, &rest);
    for (size_t c = 0; c < k->k; c++) lambda[k->taken[c]] = 0;
    for (size_t e = 0; e < k->entries.count; e++) {
        int row = k->entries.row[e] - n, column = k->entries.column[e];
        if (row >= 0 && column < n) lambda[k->taken[row]] += k->sparse.values[e] * k->sparse.x[column];
    }
    return status;
}

static hamel_status solve_compliant(kkt *k, const double *g, const double *r, double tolerance, double *x,
                                    double *lambda) {
    double size = 1, rest;
    for (size_t c = 0; c < k->k; c++) size = fmax(size, fabs(r[k->taken[c]]));
    hamel_status status = iterate(k, g, r, size, &rest);
    if (status != HAMEL_OK) return status;
    copy_solution(k, x, lambda);
    if (lambda) status = project_multipliers(k, lambda);
    return status != HAMEL_OK ? status : rest <= tolerance * size ? HAMEL_OK : HAMEL_INCOMPATIBLE;
}

const kkt_kind kkt_by_klu = {factor_klu, solve_klu};
const kkt_kind kkt_by_compliance = {factor_compliant, solve_compliant};
