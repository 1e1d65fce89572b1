/* reduced.c — see the header for the equations. */
#include "engine/solve/reduced.h"

#include "engine/base/finite.h"
#include "engine/solve/transitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Part of its terms that is left of an acceleration constraint's row in the free directions, below which it counts as implied
 * by the other constraints: the sine of an angle, as of rows in row_space.c. */
static const double IMPLIED = 1e-10;

struct reduced {
    const hamel_model *model;
    const motion_mode *mode;
    frame *frame; /* NULL: least constraint, Φ is the identity */
    size_t n, m, freedom, acceleration_count;
    size_t *acceleration; /* indices of the acceleration constraints */
    bool *implied;        /* acceleration_count: whether the other constraints imply it at this state */
    const double *values; /* of the dynamics program, borrowed */
    double *M, *A;        /* n × n; n × m: row c of A is a column */
    double *MPhi, *H, *E; /* n × freedom; freedom × freedom; freedom × acceleration_count */
    double *phi, *y, *f;  /* n each */
    double *right;        /* m */
    least_constraint least;
    row_space rows;      /* of all of A, for multipliers */
    const double *usual; /* m, or NULL: usual lengths of rows (row_survey.h); borrowed */
    bool has_rows;
    /* with W: q'' and λ that its columns call forth, n × m and m × m; one column of W, n */
    double *X, *L, *lu_scale, *column;
    size_t *pivot;
    transitivity *transitivity; /* NULL: projection */
    double *covector;           /* n: what it adds on the left */
    double t;                   /* the state factored for; q and v are borrowed */
    const double *q, *v;
    double *shift, *shift_work; /* n and workspace of model->reaction_shift, where there is one */
};

static bool create_shift(reduced *r) {
    const program *p = r->model->reaction_shift;
    if (!p) return true;
    r->shift = calloc(r->n + program_workspace_doubles(p) + 1, sizeof *r->shift);
    if (!r->shift) return false;
    r->shift_work = r->shift + r->n;
    program_inputs in = model_inputs(r->model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(p, &in, r->shift_work);
    return true;
}

static bool create_responses(reduced *r) {
    size_t n = r->n, m = r->m;
    if (r->model->W.count == 0) return true;
    r->X = calloc(n * m + m * m + m + n + 1, sizeof *r->X);
    r->pivot = calloc(m + 1, sizeof *r->pivot);
    if (!r->X || !r->pivot) return false;
    r->L = r->X + n * m;
    r->lu_scale = r->L + m * m;
    r->column = r->lu_scale + m;
    return true;
}

reduced *reduced_create(const hamel_model *model, const motion_mode *mode, frame *f) {
    reduced *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    size_t n = model->n, m = model->m;
    *r = (reduced){.model = model, .mode = mode, .frame = f, .n = n, .m = m};
    double *at = calloc(3 * n * n + 2 * n * m + 4 * n + m + 1, sizeof *at);
    r->M = at;
    r->acceleration = calloc(m + 1, sizeof *r->acceleration);
    r->implied = calloc(m + 1, sizeof *r->implied);
    bool good = at && r->acceleration && r->implied;
    good = least_constraint_create(&r->least, n, m) && good;
    good = row_space_create(&r->rows, n, m) && good;
    if (model->transitivity) good = (r->transitivity = transitivity_create(model, mode)) != NULL && good;
    if (!good || !create_responses(r) || !create_shift(r)) {
        reduced_free(r);
        return NULL;
    }
    r->A = at += n * n;
    r->MPhi = at += n * m;
    r->H = at += n * n;
    r->E = at += n * n;
    r->phi = at += n * m;
    r->y = at += n;
    r->f = at += n;
    r->covector = at += n;
    r->right = at + n;
    for (size_t c = 0; c < m; c++)
        if (model->order[c] == CONSTRAINT_ACCELERATION) r->acceleration[r->acceleration_count++] = c;
    return r;
}

void reduced_free(reduced *r) {
    if (!r) return;
    least_constraint_free(&r->least);
    row_space_free(&r->rows);
    transitivity_free(r->transitivity);
    free(r->M); /* the block of all doubles but those for W */
    free(r->acceleration);
    free(r->implied);
    free(r->X);
    free(r->pivot);
    free(r->shift);
    free(r);
}

void reduced_expect(reduced *r, size_t rank, const double *usual) {
    r->rows.limit = rank;
    r->usual = usual;
    if (!r->frame) r->least.rows.limit = rank;
}

/* --- factors ----------------------------------------------------------------------------------------------------------- */

static void fill(reduced *r) {
    const hamel_model *model = r->model;
    size_t n = r->n;
    memset(r->M, 0, n * n * sizeof *r->M);
    memset(r->A, 0, n * r->m * sizeof *r->A);
    for (size_t e = 0; e < model->M.count; e++) {
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        r->M[i + n * j] = r->M[j + n * i] = r->values[model->at_M + e];
    }
    for (size_t e = 0; e < model->A.count; e++)
        r->A[(size_t)model->A.column[e] + n * (size_t)model->A.row[e]] = r->values[model->at_A + e];
    r->has_rows = false;
}

/* Column a of E. If the constraints imply a row, as the rate of one of them, only rounding is left of it. Such a row is
 * set to 0, because at unit length its rounding would act as a constraint. */
static void project_row(reduced *r, const double *Phi, size_t a) {
    const double *row = r->A + r->n * r->acceleration[a];
    double *out = r->E + r->freedom * a, most = 0, left = 0;
    for (size_t k = 0; k < r->freedom; k++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < r->n; i++) {
            double term = row[i] * Phi[i + r->n * k];
            sum += term;
            size += fabs(term);
        }
        out[k] = sum;
        left = fmax(left, fabs(sum));
        most = fmax(most, size);
    }
    r->implied[a] = left <= IMPLIED * most;
    if (r->implied[a]) memset(out, 0, r->freedom * sizeof *out);
}

/* M Φ by the entries of M, then H = ΦᵀM Φ and E = (A_a Φ)ᵀ. */
static void project(reduced *r, const double *Phi) {
    const hamel_model *model = r->model;
    size_t n = r->n, p = r->freedom;
    memset(r->MPhi, 0, n * p * sizeof *r->MPhi);
    for (size_t e = 0; e < model->M.count; e++) {
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        double mass = r->values[model->at_M + e];
        for (size_t k = 0; k < p; k++) {
            r->MPhi[i + n * k] += mass * Phi[j + n * k];
            if (i != j) r->MPhi[j + n * k] += mass * Phi[i + n * k];
        }
    }
    for (size_t k = 0; k < p; k++)
        for (size_t l = k; l < p; l++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += Phi[i + n * l] * r->MPhi[i + n * k];
            r->H[l + p * k] = r->H[k + p * l] = sum;
        }
    for (size_t a = 0; a < r->acceleration_count; a++) project_row(r, Phi, a);
}

static bool factor_rows(reduced *r) {
    if (r->has_rows) return true;
    row_space_load(&r->rows, r->m, r->A, r->usual);
    r->has_rows = row_space_factor(&r->rows);
    return r->has_rows;
}

/* λ = Λ(M q'' − g − W λ) with q'' = q''_0 + X λ, Λ the multipliers of a reaction: (1 − L) λ = Λ(M q''_0 − g) with
 * L = Λ(M X − W), column by column. */
static hamel_status factor_responses(reduced *r);

hamel_status reduced_factor(reduced *r, double t, const double *q, const double *v, const double *values) {
    const hamel_model *model = r->model;
    hamel_status status;
    r->t = t;
    r->q = q;
    r->v = v;
    r->values = values;
    fill(r);
    if (!r->frame) {
        status = least_constraint_factor(&r->least, r->n, r->M, r->m, r->A, r->usual);
    } else {
        status = frame_factor(r->frame, values + model->at_A, values + model->at_C);
        if (status != HAMEL_OK) return status;
        r->freedom = r->frame->freedom;
        if (r->transitivity) {
            status = transitivity_evaluate(r->transitivity, t, q, v);
            if (status != HAMEL_OK) return status;
            transitivity_covector(r->transitivity, r->frame, v, r->covector);
        }
        project(r, frame_directions(r->frame));
        status = least_constraint_factor(&r->least, r->freedom, r->H, r->acceleration_count, r->E, NULL);
    }
    return status == HAMEL_OK && model->W.count ? factor_responses(r) : status;
}

/* --- solutions ---------------------------------------------------------------------------------------------------------- */

/* φ_2: accelerations without u'. */
static void bias_accelerations(reduced *r, const double *b) {
    frame *f = r->frame;
    const double *bias = r->values + r->model->at_quasi_bias;
    memset(r->phi, 0, r->n * sizeof *r->phi);
    for (size_t k = 0; k < f->user_count; k++) r->phi[k] = -bias[f->user[k]];
    frame_gather(f, b, 1, r->phi + f->freedom);
    frame_solve(f, r->phi);
}

/* q'' under the forces g; b NULL: the part linear in g alone. Returns by how much acceleration constraints contradict. */
static double accelerations(reduced *r, const double *g, const double *b, double *x) {
    size_t n = r->n, p = r->freedom;
    if (!b) memset(r->right, 0, r->m * sizeof *r->right);
    if (!r->frame) return least_constraint_solve(&r->least, g, b ? b : r->right, x);
    const double *Phi = frame_directions(r->frame);
    if (b)
        bias_accelerations(r, b);
    else
        memset(r->phi, 0, n * sizeof *r->phi);
    for (size_t k = 0; k < p; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            double more = r->transitivity && b ? r->covector[i] : 0;
            sum += Phi[i + n * k] * (g[i] - more) - r->MPhi[i + n * k] * r->phi[i];
        }
        r->f[k] = sum;
    }
    for (size_t a = 0; a < r->acceleration_count; a++) {
        const double *row = r->A + n * r->acceleration[a];
        double right = b ? b[r->acceleration[a]] : 0, size = fabs(right);
        for (size_t i = 0; i < n; i++) {
            right -= row[i] * r->phi[i];
            size += fabs(row[i] * r->phi[i]);
        }
        r->right[a] = r->implied[a] && size > 0 ? right / size : right; /* its contradiction is relative */
    }
    double contradiction = least_constraint_solve(&r->least, r->f, r->right, r->y);
    memcpy(x, r->phi, n * sizeof *x);
    for (size_t k = 0; k < p; k++)
        for (size_t i = 0; i < n; i++) x[i] += Phi[i + n * k] * r->y[k];
    return contradiction;
}

/* λ of least norm for the reaction M x − g. */
static bool multipliers(reduced *r, const double *x, const double *g, double *lambda) {
    const hamel_model *model = r->model;
    if (!factor_rows(r)) return false;
    for (size_t i = 0; i < r->n; i++) r->f[i] = -g[i];
    for (size_t e = 0; e < model->M.count; e++) {
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        double mass = r->values[model->at_M + e];
        r->f[i] += mass * x[j];
        if (i != j) r->f[j] += mass * x[i];
    }
    row_space_multipliers(&r->rows, r->f, lambda);
    return true;
}

static hamel_status factor_responses(reduced *r) {
    const hamel_model *model = r->model;
    size_t n = r->n, m = r->m;
    memset(r->X, 0, n * m * sizeof *r->X);
    for (size_t e = 0; e < model->W.count; e++)
        r->X[(size_t)model->W.row[e] + n * (size_t)model->W.column[e]] = r->values[model->at_W + e];
    bool good = true;
    for (size_t c = 0; c < m && good; c++) {
        double *L = r->L + m * c;
        memcpy(r->column, r->X + n * c, n * sizeof *r->column);
        (void)accelerations(r, r->column, NULL, r->X + n * c);
        good = multipliers(r, r->X + n * c, r->column, L);
        for (size_t d = 0; d < m; d++) L[d] = (d == c) - L[d];
    }
    return good && dense_lu(m, r->L, r->pivot, r->lu_scale) ? HAMEL_OK : HAMEL_SINGULAR;
}

/* Whether redundant rows agree with each other. */
static bool rows_agree(const reduced *r, const double *x, const double *b, double tolerance) {
    for (size_t c = 0; r->frame && frame_is_redundant(r->frame) && c < r->m; c++) {
        double residual = -b[c], size = 0;
        if (r->model->order[c] == CONSTRAINT_ACCELERATION) continue;
        for (size_t i = 0; i < r->n; i++) {
            residual += r->A[i + r->n * c] * x[i];
            size = fmax(size, fabs(r->A[i + r->n * c]));
        }
        if (r->usual) size = fmax(size, r->usual[c]);
        if (fabs(residual) > tolerance * fmax(size, fabs(b[c]))) return false; /* false if the product is ∞ · 0 */
    }
    return true;
}

const double *reduced_forces(reduced *r, const double *g) {
    if (!r->shift) return g;
    program_inputs in = model_inputs(r->model, &r->t, r->q, r->v, NULL, NULL, NULL);
    in.values[SYMBOL_BRANCH] = r->mode->branches;
    program_evaluate(r->model->reaction_shift, &in, r->shift_work, r->shift);
    for (size_t i = 0; i < r->n; i++) r->shift[i] += g[i];
    return r->shift;
}

/* λ from x without W's part, and that part into x. */
static hamel_status finish(reduced *r, const double *g, double *x, double *lambda) {
    size_t n = r->n, m = r->m;
    if (lambda && !multipliers(r, x, g, lambda)) return HAMEL_SINGULAR;
    if (lambda && r->X) {
        dense_lu_solve(m, r->L, r->pivot, r->lu_scale, lambda);
        for (size_t c = 0; c < m; c++)
            for (size_t i = 0; i < n; i++) x[i] += r->X[i + n * c] * lambda[c];
    }
    return all_finite(x, n) ? HAMEL_OK : HAMEL_SINGULAR;
}

hamel_status reduced_solve(reduced *r, const double *g, const double *b, double tolerance, double *x, double *lambda) {
    double contradiction = accelerations(r, g, b, x);
    hamel_status status = finish(r, lambda ? reduced_forces(r, g) : g, x, lambda);
    if (status != HAMEL_OK) return status;
    return contradiction <= tolerance && rows_agree(r, x, b, tolerance) ? HAMEL_OK : HAMEL_INCOMPATIBLE;
}

hamel_status reduced_respond(reduced *r, const double *g, double *x, double *lambda) {
    (void)accelerations(r, g, NULL, x);
    return finish(r, g, x, lambda);
}

size_t reduced_rank(const reduced *r) {
    return r->frame ? r->rows.rank : r->least.rows.rank;
}

double reduced_margin(const reduced *r) {
    return r->frame ? 1 : row_space_margin(&r->least.rows);
}
