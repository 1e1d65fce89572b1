/* transport.c — the smallest involutive distribution that contains D, without a single Lie bracket.
 *
 * Along a curve x' = X(x, s) whose field X lies in D, carry D back to the start by the flow. What it sweeps out there is
 * the tangent space of the orbit, which for analytic systems is the closure of D under brackets (Sussmann, Trans. AMS
 * 180 (1973) 171); one curve that is general enough does (Sontag, J. Differential Equations 78 (1989) 105). So brackets of
 * every depth come from first derivatives:
 *
 *     X = P(x) w(s)                        P the orthogonal projector onto D, w random and smooth
 *     δX = −A⁺ (δA) X − P (δA)ᵀ A⁺ᵀ w      the derivative of the projector (Golub & Pereyra 1973)
 *     Ξ' = −(∂X/∂x)ᵀ Ξ,  Ξ(0) = 1          carries D(x(s)) back: Ξᵀ D
 *
 * No chart and no dependent coordinates are chosen, nothing is inverted symbolically. The curve is integrated by
 * extrapolation of the modified midpoint rule to order 16 (Gragg; Hairer, Nørsett & Wanner II.9), so that what does not
 * belong to the closure is found at the level of rounding; the rank is that of a QR with column pivoting, whose pivots
 * must leave a gap. Random choices can only miss directions, and do so with probability zero up to rounding. */
#include "engine/analyze/forms.h"

#include "engine/solve/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, ATTEMPTS = 8, CURVES = 4, STEPS_MIN = 8 };
static const double DEPENDENT = 1e-11; /* of forms on the way: a singular configuration */
static const double LENGTH = 4;        /* of the first curve, in s */
static const double PRECISION = 1e-13; /* of a step */
/* Pivots of the closure's basis relative to the first: rounding is near 1e-15, what brackets of depth k leave falls like
 * the k-th power of something, so that a fall beyond GAP to the level of rounding is no bracket. */
static const double PRESENT = 1e-12, GAP = 1e-5;

typedef struct transport {
    forms *f;
    size_t N, k, size;                     /* size: of a state, N + N² */
    row_basis basis;                       /* of the forms at the configuration seen last */
    size_t *position;                      /* row → position among the chosen, k otherwise */
    double *amplitude, *frequency, *phase; /* N: w */
    double *w, *X, *mu, *row, *y, *z, *column;
    double *J, *unit;                                  /* N × N; directions */
    double *slope_X, *slope_mu;                        /* N × k: (∂A/∂x_j) X; N × N: (∂A/∂x_j)ᵀ mu */
    double *state, *rate, *middle[3], *table[COLUMNS]; /* `size` each */
    double *swept;                                     /* N × columns, column by column */
    size_t swept_count, swept_capacity, steps;         /* of a curve */
    double *qr, *tau, *scratch;
    size_t *pivot;
} transport;

/* --- the field ------------------------------------------------------------------------------------------------------ */

static bool load_forms(transport *c, const double *x) {
    forms *f = c->f;
    if (!forms_evaluate(f, x)) return false;
    row_basis_clear(&c->basis);
    for (size_t r = 0; r < c->k; r++) {
        forms_row(f, f->chosen[r], c->row);
        if (!row_basis_add(&c->basis, c->row)) return false;
    }
    return true;
}

/* (∂A/∂x_j) X and (∂A/∂x_j)ᵀ mu for all j. */
static bool load_slopes(transport *c, const double *x) {
    forms *f = c->f;
    memset(c->slope_X, 0, c->N * c->k * sizeof *c->slope_X);
    memset(c->slope_mu, 0, c->N * c->N * sizeof *c->slope_mu);
    for (size_t j = 0; j < c->N; j += PROGRAM_LANES) {
        size_t count = c->N - j < PROGRAM_LANES ? c->N - j : PROGRAM_LANES;
        if (!forms_differentiate(f, x, c->unit + j * c->N, count)) return false;
        for (size_t e = 0; e < f->entry_count; e++) {
            size_t r = c->position[f->entry_row[e]], i = f->entry_column[e];
            if (r == c->k) continue;
            for (size_t lane = 0; lane < count; lane++) {
                double slope = f->dots[e * PROGRAM_LANES + lane];
                c->slope_X[(j + lane) * c->k + r] += slope * c->X[i];
                c->slope_mu[(j + lane) * c->N + i] += slope * c->mu[r];
            }
        }
    }
    return true;
}

/* Column j of ∂X/∂x into row j of J, so that J holds the transpose. */
static void jacobian_column(transport *c, size_t j) {
    double *out = c->J + j * c->N;
    memcpy(c->y, c->slope_X + j * c->k, c->k * sizeof *c->y);
    memcpy(c->z, c->slope_mu + j * c->N, c->N * sizeof *c->z);
    row_basis_solve(&c->basis, c->y, out);
    row_basis_reduce(&c->basis, c->z);
    for (size_t i = 0; i < c->N; i++) out[i] = -out[i] - c->z[i];
}

/* rate := d state/ds; state is x, then Ξ row by row. False where the curve leaves the region of regular points. */
static bool field(transport *c, double s, const double *state, double *rate) {
    size_t N = c->N;
    const double *Xi = state + N;
    for (size_t i = 0; i < N; i++) c->w[i] = c->amplitude[i] * cos(c->frequency[i] * s + c->phase[i]);
    if (!load_forms(c, state)) return false;
    memcpy(c->X, c->w, N * sizeof *c->X);
    row_basis_reduce(&c->basis, c->X);
    row_basis_project(&c->basis, c->w, c->mu);
    if (!load_slopes(c, state)) return false;
    for (size_t j = 0; j < N; j++) jacobian_column(c, j);
    memcpy(rate, c->X, N * sizeof *rate);
    memset(rate + N, 0, N * N * sizeof *rate);
    for (size_t i = 0; i < N; i++) /* Ξ'_i = −Σ_l (∂X_l/∂x_i) Ξ_l */
        for (size_t l = 0; l < N; l++) {
            double slope = c->J[i * N + l];
            for (size_t p = 0; slope != 0 && p < N; p++) rate[N + i * N + p] -= slope * Xi[l * N + p];
        }
    return true;
}

/* --- one step ------------------------------------------------------------------------------------------------------- */

/* The modified midpoint rule with n substeps and Gragg's smoothing; its error is a series in (H/n)². */
static bool midpoint(transport *c, double s, double H, int n, double *out) {
    double h = H / n, *before = c->middle[0], *now = c->middle[1], *next = c->middle[2];
    memcpy(before, c->state, c->size * sizeof *before);
    if (!field(c, s, before, c->rate)) return false;
    for (size_t i = 0; i < c->size; i++) now[i] = before[i] + h * c->rate[i];
    for (int m = 1; m < n; m++) {
        if (!field(c, s + m * h, now, c->rate)) return false;
        for (size_t i = 0; i < c->size; i++) next[i] = before[i] + 2 * h * c->rate[i];
        double *free = before;
        before = now;
        now = next;
        next = free;
    }
    if (!field(c, s + H, now, c->rate)) return false;
    for (size_t i = 0; i < c->size; i++) out[i] = 0.5 * (now[i] + before[i] + h * c->rate[i]);
    return true;
}

/* Aitken–Neville over 2, 4, ..., 2·COLUMNS substeps. False when the step is not as precise as it must be. */
static bool step(transport *c, double s, double H) {
    double error = 0;
    for (int j = 0; j < COLUMNS; j++) {
        if (!midpoint(c, s, H, 2 * (j + 1), c->table[j])) return false;
        for (int k = j - 1; k >= 0; k--) { /* table[k] becomes the column of order one higher */
            double ratio = (double)(j + 1) / (double)(k + 1), factor = 1 / (ratio * ratio - 1);
            const double *fine = c->table[k + 1];
            double *coarse = c->table[k];
            if (j == COLUMNS - 1 && k == 0)
                for (size_t i = 0; i < c->size; i++)
                    error = fmax(error, fabs(factor * (fine[i] - coarse[i])) / fmax(1, fabs(fine[i])));
            for (size_t i = 0; i < c->size; i++) coarse[i] = fine[i] + factor * (fine[i] - coarse[i]);
        }
    }
    memcpy(c->state, c->table[0], c->size * sizeof *c->state);
    return error < PRECISION;
}

/* --- the closure ---------------------------------------------------------------------------------------------------- */

/* D at the end of the curve so far, carried back. */
static bool sweep(transport *c, uint64_t *seed) {
    const double *Xi = c->state + c->N;
    if (!load_forms(c, c->state)) return false;
    for (size_t d = 0; d < c->N - c->k && c->swept_count < c->swept_capacity; d++) {
        double *out = c->swept + c->swept_count++ * c->N;
        for (size_t i = 0; i < c->N; i++) c->z[i] = random_uniform(seed, -1, 1);
        row_basis_reduce(&c->basis, c->z);
        row_basis_reduce(&c->basis, c->z);
        memset(out, 0, c->N * sizeof *out);
        for (size_t l = 0; l < c->N; l++)
            for (size_t i = 0; i < c->N; i++) out[i] += Xi[l * c->N + i] * c->z[l];
    }
    return true;
}

/* Each coordinate in its own scale. */
static void scale_swept(transport *c) {
    memcpy(c->qr, c->swept, c->N * c->swept_count * sizeof *c->qr);
    for (size_t i = 0; i < c->N; i++) {
        double largest = 0;
        for (size_t p = 0; p < c->swept_count; p++) largest = fmax(largest, fabs(c->qr[p * c->N + i]));
        for (size_t p = 0; p < c->swept_count && largest > PRESENT; p++) c->qr[p * c->N + i] /= largest;
    }
}

/* Rank of what was swept, at most `most`. *clear: all of them, or the next pivot falls to the level of rounding. */
static size_t rank_of_swept(transport *c, size_t most, bool *clear) {
    size_t N = c->N, rank = 0, last = c->swept_count < N ? c->swept_count : N;
    scale_swept(c);
    (void)dense_qr(N, c->swept_count, N, c->qr, c->tau, c->pivot, 0, c->scratch);
    double first = fabs(c->qr[0]), before = 1, here = 1;
    for (; rank < last && rank < most; rank++) {
        here = fabs(c->qr[rank * N + rank]) / first;
        if (!(here > PRESENT)) break;
        before = here;
    }
    *clear = rank == most || (rank < last && here < GAP * before);
    return rank;
}

static void draw_control(transport *c, uint64_t *seed) {
    for (size_t i = 0; i < c->N; i++) {
        c->amplitude[i] = random_uniform(seed, 0.5, 1.5);
        c->frequency[i] = random_uniform(seed, 1, 4);
        c->phase[i] = random_uniform(seed, 0, 6.28);
    }
}

static bool run_curve(transport *c, const double *x, double length, uint64_t *seed) {
    size_t steps = c->steps, kept = c->swept_count;
    double H = length / (double)steps;
    draw_control(c, seed);
    memset(c->state, 0, c->size * sizeof *c->state);
    memcpy(c->state, x, c->N * sizeof *x);
    for (size_t i = 0; i < c->N; i++) c->state[c->N + i * c->N + i] = 1;
    bool good = true;
    for (size_t i = 0; i < steps && good; i++)
        good = sweep(c, seed) && !system_interrupted(c->f->a->system) && step(c, (double)i * H, H);
    good = good && sweep(c, seed);
    if (!good) c->swept_count = kept;
    return good;
}

static double *take(double **at, size_t count) {
    double *taken = *at;
    *at += count;
    return taken;
}

static bool allocate(transport *c, double **memory) {
    size_t N = c->N, k = c->k, state = c->size, columns = c->swept_capacity;
    size_t total = 9 * N + 2 * k + N + 4 * N * N + N * k + (5 + COLUMNS) * state + 2 * N * columns + N + 2 * columns;
    double *at = *memory = calloc(total + 1, sizeof *at);
    c->position = calloc(c->f->row_count + 1, sizeof *c->position);
    c->pivot = calloc(columns + N + 1, sizeof *c->pivot);
    if (!at || !c->position || !c->pivot) return false;
    double **const vectors[] = {&c->amplitude, &c->frequency, &c->phase, &c->w, &c->X, &c->row, &c->z, &c->column};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = take(&at, N);
    c->mu = take(&at, k);
    c->y = take(&at, k);
    c->J = take(&at, N * N);
    c->unit = take(&at, N * N);
    c->slope_mu = take(&at, N * N);
    c->slope_X = take(&at, N * k);
    c->state = take(&at, state);
    c->rate = take(&at, state);
    for (int i = 0; i < 3; i++) c->middle[i] = take(&at, state);
    for (int i = 0; i < COLUMNS; i++) c->table[i] = take(&at, state);
    c->swept = take(&at, N * columns);
    c->qr = take(&at, N * columns);
    c->tau = take(&at, N);
    c->scratch = take(&at, 2 * columns);
    for (size_t i = 0; i < N; i++) c->unit[i * N + i] = 1;
    return true;
}

/* Curves until the rank is clear: shorter ones where one left the regular region, longer ones to tell small from none. */
static hamel_status follow_curves(transport *c, const double *x, uint64_t seed, size_t most, size_t *dimension,
                                  bool *clear) {
    double length = LENGTH;
    int curves = 0;
    for (int i = 0; i < ATTEMPTS && curves < CURVES && !*clear; i++) {
        if (run_curve(c, x, curves % 2 ? 2 * length : length, &seed)) {
            curves++;
            *dimension = rank_of_swept(c, most, clear);
        } else {
            length *= 0.5;
        }
        if (c->f->a->error->status != HAMEL_OK) return c->f->a->error->status; /* canceled */
    }
    return HAMEL_OK;
}

hamel_status transport_dimension(forms *f, const double *x, uint64_t seed, size_t *dimension, bool *clear) {
    transport c = {.f = f, .N = f->width, .k = f->rank, .size = f->width * (f->width + 1)};
    size_t d = c.N - c.k;
    double *memory = NULL;
    hamel_status status = HAMEL_OK;
    c.steps = 2 * (c.N + d - 1) / d + STEPS_MIN;
    c.swept_capacity = CURVES * (c.steps + 1) * d;
    *clear = false;
    bool good = allocate(&c, &memory);
    if (!row_basis_init(&c.basis, c.k, c.N, DEPENDENT) || !good) {
        status = analysis_no_memory(f->a);
    } else {
        for (size_t r = 0; r < f->row_count; r++) c.position[r] = c.k;
        for (size_t r = 0; r < c.k; r++) c.position[f->chosen[r]] = r;
        status = follow_curves(&c, x, seed, c.N - f->holonomic_rank, dimension, clear);
    }
    row_basis_free(&c.basis);
    free(memory);
    free(c.position);
    free(c.pivot);
    return status;
}
