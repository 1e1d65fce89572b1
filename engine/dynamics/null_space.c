/* null_space.c — see the header for the equations. */
#include "engine/dynamics/null_space.h"

#include "engine/base/finite.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct null_space {
    const hamel_model *model;
    const discrete_state *state;
    velocity_basis *basis; /* NULL for least constraint, where Φ is the identity */
    size_t n, m, freedom, acceleration_count;
    size_t *acceleration; /* indices of the acceleration constraints */
    bool *implied;        /* acceleration_count: true if other constraints imply the constraint at the state */
    const double *values; /* outputs of the dynamics program, borrowed */
    double *M, *A;        /* M: n × n; A: n × m, row c of A is stored as column c */
    double *MPhi, *H, *E; /* MPhi: n × freedom; H: freedom × freedom; E: freedom × acceleration_count */
    double *phi, *y, *f;  /* n each */
    double *right;        /* m */
    least_constraint least;
    rank_qr rows;        /* factors of all rows of A, used to compute multipliers */
    const double *usual; /* m, or NULL: usual lengths of rows (rank_survey.h); borrowed */
    bool has_rows;
    /* for nonzero W only; X: n × m, responses q'' to the columns of W; L: m × m, factors of 1 − L (factor_responses) */
    double *X, *L;
    double *lu_scale, *column;              /* for nonzero W only; lu_scale: m; column: n, one column of W */
    size_t *pivot;                          /* with W: m */
    const model_transitivity *transitivity; /* NULL: projection */
    double *derivatives, *derivatives_work; /* outputs and workspace of transitivity->program: p, derivatives of Ψ */
    /* weight: P_j of each quasi-velocity and constraint; P: n entries, P_j of the basis rows */
    double *weight, *P;
    double *covector; /* n: terms with Hamel's coefficients on the left-hand side */
    double t;         /* t, q, v: state at which the system was factored; q, v: borrowed */
    const double *q, *v;
    double *shift, *shift_work; /* shift: n entries; shift_work: workspace of model->dynamics.reaction_shift, or NULL */
};

null_space *null_space_create(const hamel_model *model, const discrete_state *state, velocity_basis *basis,
                              arena *memory) {
    size_t n = model->n, m = model->m, w = model->dynamics.W.count ? m : 0;
    null_space *s = arena_alloc(memory, 1, sizeof *s);
    if (!s) return NULL;
    *s = (null_space){.model = model, .state = state, .basis = basis, .n = n, .m = m};
    s->acceleration = arena_alloc(memory, m, sizeof *s->acceleration);
    s->implied = arena_alloc(memory, m, sizeof *s->implied);
    s->pivot = arena_alloc(memory, w, sizeof *s->pivot);
    s->shift_work = model_workspace(model, model->dynamics.reaction_shift, memory);
    const model_transitivity *table = s->transitivity = model->transitivity;
    s->derivatives_work = model_workspace(model, table ? table->program : NULL, memory);
    bool good = least_constraint_create(&s->least, n, m);
    good = rank_qr_create(&s->rows, n, m) && good;
    good = ARENA_DOUBLES(memory, {&s->M, n * n}, {&s->A, n * m}, {&s->MPhi, n * n}, {&s->H, n * n}, {&s->E, n * m},
                         {&s->phi, n}, {&s->y, n}, {&s->f, n}, {&s->right, m}, {&s->X, n * w}, {&s->L, w * w},
                         {&s->lu_scale, w}, {&s->column, n}, {&s->covector, n}, {&s->shift, n},
                         {&s->derivatives, table ? table->count : 0}, {&s->weight, table ? table->row_count : 0},
                         {&s->P, n}) &&
           good;
    if (!good) {
        null_space_free(s);
        return NULL;
    }
    for (size_t c = 0; c < m; c++)
        if (model->order[c] == CONSTRAINT_ACCELERATION) s->acceleration[s->acceleration_count++] = c;
    return s;
}

void null_space_free(null_space *s) {
    if (!s) return;
    least_constraint_free(&s->least);
    rank_qr_free(&s->rows);
}

void null_space_expect(null_space *s, size_t rank, const double *usual) {
    s->rows.limit = rank;
    s->usual = usual;
    if (!s->basis) s->least.rows.limit = rank;
}

/* --- factors ------------------------------------------------------------------------------------------------------ */

static void fill_matrices(null_space *s) {
    const hamel_model *model = s->model;
    size_t n = s->n;
    memset(s->M, 0, n * n * sizeof *s->M);
    memset(s->A, 0, n * s->m * sizeof *s->A);
    sparse_block_to_dense_symmetric(&model->dynamics.M, s->values, n, s->M);
    sparse_block_to_dense_transposed(&model->dynamics.A, s->values, n, s->A);
    s->has_rows = false;
}

/* Computes column a of E. If the other constraints imply a row, for example as the rate of a velocity constraint, the
 * projection of the row consists of rounding errors. The projected row is then set to 0, because rounding errors scaled
 * to unit length would otherwise act as a constraint. */
static void project_row(null_space *s, const double *Phi, size_t a) {
    assert(a < s->acceleration_count && s->freedom <= s->n);
    const double *row = s->A + s->n * s->acceleration[a];
    double *out = s->E + s->freedom * a, most = 0, left = 0;
    for (size_t k = 0; k < s->freedom; k++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < s->n; i++) {
            double term = row[i] * Phi[i + s->n * k];
            sum += term;
            size += fabs(term);
        }
        out[k] = sum;
        left = fmax(left, fabs(sum));
        most = fmax(most, size);
    }
    s->implied[a] = left <= RANK_TOLERANCE * most;
    if (s->implied[a]) memset(out, 0, s->freedom * sizeof *out);
}

/* Computes M Φ, H = ΦᵀM Φ and E = (A_a Φ)ᵀ. */
static void project_mass(null_space *s, const double *Phi) {
    const hamel_model *model = s->model;
    size_t n = s->n, p = s->freedom;
    memset(s->MPhi, 0, n * p * sizeof *s->MPhi);
    for (size_t k = 0; k < p; k++)
        sparse_block_multiply_symmetric(&model->dynamics.M, s->values, 1, Phi + n * k, s->MPhi + n * k);
    for (size_t k = 0; k < p; k++)
        for (size_t l = k; l < p; l++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += Phi[i + n * l] * s->MPhi[i + n * k];
            s->H[l + p * k] = s->H[k + p * l] = sum;
        }
    for (size_t a = 0; a < s->acceleration_count; a++) project_row(s, Phi, a);
}

static bool factor_rows(null_space *s) {
    if (s->has_rows) return true;
    rank_qr_load(&s->rows, s->m, s->A, s->usual);
    s->has_rows = rank_qr_factor(&s->rows);
    return s->has_rows;
}

/* Adds Σ_j P_j Σ_k (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) q'_k to covector_i. */
static void add_curl(null_space *s) {
    const model_transitivity *table = s->transitivity;
    for (size_t e = 0; e < table->curl.count; e++) {
        double part = s->weight[table->curl.row[e]] * s->derivatives[table->curl.at + e];
        int i = table->curl.column[e], k = table->curl_k[e];
        s->covector[i] += part * s->v[k];
        s->covector[k] -= part * s->v[i];
    }
}

/* Computes the terms with Hamel's coefficients (engine/mechanics/boltzmann_hamel.c) as a covector to be multiplied by
 * Φ. Let P_j = ∂ℓ/∂u_j = Σ_i p_i Φ_ij. Implicit differentiation gives Φ' = −Φ Ψ' Φ and (∂q'/∂q at fixed u) = −Φ (∂u/∂q
 * at fixed q'). It follows that
 *
 *     d/dt ∂ℓ/∂u_r = Σ_i Φ_ir dp_i/dt − Σ_j P_j Σ_i dΨ_ji/dt Φ_ir
 *     Σ_i Φ_ir ∂ℓ/∂q_i = Σ_i Φ_ir (∂L/∂q_i − Σ_j P_j ∂u_j/∂q_i)
 *
 * Therefore, − P dΨ/dt Φ + P ∂u/∂q Φ + P γ u + P γ_t is added to Σ_i Φ_ir (dp_i/dt − ∂L/∂q_i). The sum γ u is over all
 * quasi-velocities, so that Φ u + φ = q'. The u_j of constraints are 0 at states that satisfy the constraints. These
 * u_j are nevertheless included, because the stages of a step violate the constraints slightly. Without these u_j, the
 * result would depend on the choice of the basis. Rows that complete the basis are constant. If rows are redundant,
 * their basis varies with the state. This variation adds only multiples of the rows, whose product with Φ is 0. */
static hamel_status find_covector(null_space *s) {
    const model_transitivity *table = s->transitivity;
    program_inputs in = discrete_state_inputs(s->state, &s->t, s->q, s->v, NULL, NULL);
    program_evaluate(table->program, &in, s->derivatives_work, s->derivatives);
    if (!all_finite(s->derivatives, table->count)) return HAMEL_NOT_FINITE;
    memcpy(s->P, s->derivatives + table->at_momentum, s->n * sizeof *s->P);
    velocity_basis_solve_transposed(s->basis, s->P);
    memset(s->weight, 0, table->row_count * sizeof *s->weight);
    for (size_t j = 0; j < s->basis->user_count; j++) s->weight[s->basis->user[j]] = s->P[j];
    velocity_basis_scatter(s->basis, s->P + s->basis->freedom, s->weight + s->model->system->quasi_count);
    memset(s->covector, 0, s->n * sizeof *s->covector);
    sparse_block_multiply_transposed(&table->rate, s->derivatives, -1, s->weight, s->covector);
    sparse_block_multiply_transposed(&table->slope, s->derivatives, 1, s->weight, s->covector);
    add_curl(s);
    sparse_block_multiply_transposed(&table->time, s->derivatives, 1, s->weight, s->covector);
    return HAMEL_OK;
}

static hamel_status factor_responses(null_space *s);

hamel_status null_space_factor(null_space *s, double t, const double *q, const double *v, const double *values) {
    assert(!s->basis || (s->basis->model == s->model && s->basis->n == s->n));
    const hamel_model *model = s->model;
    hamel_status status;
    s->t = t, s->q = q, s->v = v;
    s->values = values;
    fill_matrices(s);
    if (!s->basis) {
        status = least_constraint_factor(&s->least, s->n, s->M, s->m, s->A, s->usual);
    } else {
        status = velocity_basis_factor(s->basis, values + model->dynamics.A.at, values + model->dynamics.C.at);
        if (status != HAMEL_OK) return status;
        s->freedom = s->basis->freedom;
        if (s->transitivity) {
            status = find_covector(s);
            if (status != HAMEL_OK) return status;
        }
        project_mass(s, velocity_basis_directions(s->basis));
        status = least_constraint_factor(&s->least, s->freedom, s->H, s->acceleration_count, s->E, NULL);
    }
    return status == HAMEL_OK && model->dynamics.W.count ? factor_responses(s) : status;
}

/* --- solutions ---------------------------------------------------------------------------------------------------- */

/* Computes φ_2, the accelerations for u' = 0. */
static void bias_accelerations(null_space *s, const double *b) {
    velocity_basis *basis = s->basis;
    const double *bias = s->values + s->model->dynamics.at_quasi_bias;
    memset(s->phi, 0, s->n * sizeof *s->phi);
    for (size_t k = 0; k < basis->user_count; k++) s->phi[k] = -bias[basis->user[k]];
    velocity_basis_gather(basis, b, s->phi + basis->freedom);
    velocity_basis_solve(basis, s->phi);
}

/* Computes q'' for the forces g. If b is NULL, computes the response to g. Returns the contradiction of the
 * acceleration constraints. */
static double accelerations(null_space *s, const double *g, const double *b, double *x) {
    size_t n = s->n, p = s->freedom;
    if (!b) memset(s->right, 0, s->m * sizeof *s->right);
    if (!s->basis) return least_constraint_solve(&s->least, g, b ? b : s->right, x);
    const double *Phi = velocity_basis_directions(s->basis);
    if (b)
        bias_accelerations(s, b);
    else
        memset(s->phi, 0, n * sizeof *s->phi);
    for (size_t k = 0; k < p; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double more = s->transitivity && b ? s->covector[i] : 0;
            sum += Phi[i + n * k] * (g[i] - more) - s->MPhi[i + n * k] * s->phi[i];
        }
        s->f[k] = sum;
    }
    for (size_t a = 0; a < s->acceleration_count; a++) {
        const double *row = s->A + n * s->acceleration[a];
        double right = b ? b[s->acceleration[a]] : 0, size = fabs(right);
        for (size_t i = 0; i < n; i++) {
            right -= row[i] * s->phi[i];
            size += fabs(row[i] * s->phi[i]);
        }
        bool relative = s->implied[a] && size > 0; /* for an implied row, right / size is the relative contradiction */
        s->right[a] = relative ? right / size : right;
    }
    double contradiction = least_constraint_solve(&s->least, s->f, s->right, s->y);
    memcpy(x, s->phi, n * sizeof *x);
    for (size_t k = 0; k < p; k++)
        for (size_t i = 0; i < n; i++) x[i] += Phi[i + n * k] * s->y[k];
    return contradiction;
}

/* Computes λ of least norm for the reaction M x − g. */
static bool multipliers(null_space *s, const double *x, const double *g, double *lambda) {
    const hamel_model *model = s->model;
    if (!factor_rows(s)) return false;
    for (size_t i = 0; i < s->n; i++) s->f[i] = -g[i];
    sparse_block_multiply_symmetric(&model->dynamics.M, s->values, 1, x, s->f);
    rank_qr_multipliers(&s->rows, s->f, lambda);
    return true;
}

/* Computes and factors the matrix 1 − L, which accounts for W. Let Λ be the map from a reaction to its multipliers.
 * Then λ = Λ(M q'' − g − W λ) and q'' = q''_0 + X λ give (1 − L) λ = Λ(M q''_0 − g). L = Λ(M X − W) is computed column
 * by column. */
static hamel_status factor_responses(null_space *s) {
    const hamel_model *model = s->model;
    size_t n = s->n, m = s->m;
    memset(s->X, 0, n * m * sizeof *s->X);
    sparse_block_to_dense(&model->dynamics.W, s->values, n, s->X);
    bool good = true;
    for (size_t c = 0; c < m && good; c++) {
        double *L = s->L + m * c;
        memcpy(s->column, s->X + n * c, n * sizeof *s->column);
        (void)accelerations(s, s->column, NULL, s->X + n * c);
        good = multipliers(s, s->X + n * c, s->column, L);
        for (size_t d = 0; d < m; d++) L[d] = (d == c) - L[d];
    }
    return good && dense_lu(m, s->L, s->pivot, s->lu_scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

/* Returns true if the right-hand sides of redundant rows agree. */
static bool rows_agree(const null_space *s, const double *x, const double *b, double tolerance) {
    for (size_t c = 0; s->basis && velocity_basis_is_redundant(s->basis) && c < s->m; c++) {
        double residual = -b[c], size = 0;
        if (s->model->order[c] == CONSTRAINT_ACCELERATION) continue;
        for (size_t i = 0; i < s->n; i++) {
            residual += s->A[i + s->n * c] * x[i];
            size = fmax(size, fabs(s->A[i + s->n * c]));
        }
        if (s->usual) size = fmax(size, s->usual[c]);
        if (fabs(residual) > tolerance * fmax(size, fabs(b[c])))
            return false; /* a NaN, the result of ∞ · 0, fails the comparison and is accepted */
    }
    return true;
}

const double *null_space_forces(null_space *s, const double *g) {
    if (!s->model->dynamics.reaction_shift) return g;
    program_inputs in = discrete_state_inputs(s->state, &s->t, s->q, s->v, NULL, NULL);
    program_evaluate(s->model->dynamics.reaction_shift, &in, s->shift_work, s->shift);
    for (size_t i = 0; i < s->n; i++) s->shift[i] += g[i];
    return s->shift;
}

/* Computes λ from the solution x for W = 0, then adds the response to W λ to x. */
static hamel_status finish_solution(null_space *s, const double *g, double *x, double *lambda) {
    size_t n = s->n, m = s->m;
    if (lambda && !multipliers(s, x, g, lambda)) return HAMEL_SINGULAR;
    if (lambda && s->model->dynamics.W.count) {
        dense_lu_solve(m, s->L, s->pivot, s->lu_scale, lambda);
        for (size_t c = 0; c < m; c++)
            for (size_t i = 0; i < n; i++) x[i] += s->X[i + n * c] * lambda[c];
    }
    return all_finite(x, n) ? HAMEL_OK : HAMEL_SINGULAR;
}

hamel_status null_space_solve(null_space *s, const double *g, const double *b, double tolerance, double *x,
                              double *lambda) {
    assert(x != g && s->values && (lambda || s->model->dynamics.W.count == 0));
    double contradiction = accelerations(s, g, b, x);
    hamel_status status = finish_solution(s, b && lambda ? null_space_forces(s, g) : g, x, lambda);
    if (status != HAMEL_OK || !b) return status;
    return contradiction <= tolerance && rows_agree(s, x, b, tolerance) ? HAMEL_OK : HAMEL_INCOMPATIBLE;
}

size_t null_space_rank(const null_space *s) {
    return s->basis ? s->rows.rank : s->least.rows.rank;
}

double null_space_margin(const null_space *s) {
    return s->basis ? 1 : rank_qr_margin(&s->least.rows);
}
