/* gauss.c — Gauss's functions and their slopes; see gauss.h.
 *
 * With M = L Lᵀ and z = Lᵀ d, directions with dᵀ M d = 1 have |z| = 1. The slope of G along d is Q^c·d = (L⁻¹Q^c)·z,
 * and the slope of G_ni is (L⁻¹Aᵀλ)·z. Let x be L⁻¹Q^c for G, and L⁻¹Aᵀλ for G_ni. The largest slope is the length of
 * the part of x that is orthogonal to the rows of A L⁻ᵀ. The value of the function is |x|²/2. */
#include "engine/analyze/gauss.h"

#include "engine/analyze/rank_rows.h"
#include "engine/analyze/start_motion.h"
#include "engine/base/tolerances.h"
#include "engine/linear/dense.h"

#include <math.h>
#include <string.h>

/* Copies the lower triangle of M from the dynamics values to a column-major n × n matrix. */
static void fill_mass(const analysis *a, const start_motion *s, double *M) {
    const sparse_block *from = &a->model->dynamics.M;
    for (size_t e = 0; e < from->count; e++)
        M[(size_t)from->row[e] + a->n * (size_t)from->column[e]] = s->values[from->at + e];
}

/* Adds Aᵀλ of the constraints [first, last) to out[n]. */
static void add_reactions(const analysis *a, const start_motion *s, size_t first, size_t last, double *out) {
    const sparse_block *A = &a->model->dynamics.A;
    for (size_t e = 0; e < A->count; e++) {
        size_t c = (size_t)A->row[e];
        if (c >= first && c < last) out[A->column[e]] += s->values[A->at + e] * s->lambda[c];
    }
}

/* Subtracts from x[n] its projection on the span of the orthonormal basis. The second pass reduces rounding errors.
 * Returns the length of the remaining vector. */
static double length_outside(const rank_rows *basis, double *x) {
    size_t n = basis->width;
    for (int pass = 0; pass < 2; pass++)
        for (size_t r = 0; r < basis->rank; r++) {
            const double *row = basis->Q + r * n;
            double part = rank_rows_dot(n, row, x);
            for (size_t i = 0; i < n; i++) x[i] -= part * row[i];
        }
    return sqrt(rank_rows_dot(n, x, x));
}

/* Adds the rows of A L⁻ᵀ to the basis, except the rows of sticking friction. */
static void span_constraints(const analysis *a, const start_motion *s, const double *L, double *row, rank_rows *basis) {
    const sparse_block *A = &a->model->dynamics.A;
    size_t e = 0;
    for (size_t c = 0; c < a->model->m; c++) {
        memset(row, 0, a->n * sizeof *row);
        for (; e < A->count && (size_t)A->row[e] == c; e++) row[A->column[e]] = s->values[A->at + e];
        if (c >= a->model->ideal_count) continue; /* the row belongs to sticking friction */
        dense_forward(a->n, L, row);
        (void)rank_rows_add(basis, row);
    }
}

static hamel_status measure(analysis *a, const start_motion *s, const double *total, double *ideal, hamel_gauss *to) {
    size_t n = a->n;
    double *L = arena_doubles(a->memory, n * n), *row = arena_doubles(a->memory, n),
           *force = arena_doubles(a->memory, n);
    rank_rows basis;
    if (a->memory->failed) return analysis_no_memory(a);
    fill_mass(a, s, L);
    if (!dense_cholesky(n, L))
        return hamel_fail(a->error, HAMEL_SINGULAR, "", 0,
                          "the mass matrix is singular in the initial state, so Gauss's function is not defined");
    bool made = rank_rows_init(&basis, a->model->m, n, RANK_TOLERANCE);
    if (made) {
        memcpy(force, total, n * sizeof *force);
        span_constraints(a, s, L, row, &basis);
        dense_forward(n, L, force);
        dense_forward(n, L, ideal);
        to->gauss = 0.5 * rank_rows_dot(n, force, force);
        to->gauss_nonideal = 0.5 * rank_rows_dot(n, ideal, ideal);
        to->slope_scale = sqrt(2 * fmax(to->gauss, to->gauss_nonideal));
        to->directions = n - basis.rank;
        to->slope = to->directions > 0 ? length_outside(&basis, force) : 0;
        to->slope_nonideal = to->directions > 0 ? length_outside(&basis, ideal) : 0;
    }
    rank_rows_free(&basis);
    return made ? HAMEL_OK : analysis_no_memory(a);
}

static hamel_status list_reactions(analysis *a, const start_motion *s, const double *total, const double *ideal,
                                   hamel_gauss *to) {
    bool split = a->model->dynamics.nonideal || a->model->friction.count > 0;
    const char *const *names = analysis_coordinate_names(a);
    to->reactions = arena_alloc(a->memory, a->n, sizeof *to->reactions);
    if (!names || !to->reactions) return analysis_no_memory(a);
    for (; to->count < a->n; to->count++) {
        size_t i = to->count;
        to->reactions[i] = (hamel_reaction_parts){.coordinate = names[i],
                                                  .ideal = split ? s->ideal[i] : total[i],
                                                  .nonideal = split ? s->nonideal[i] : 0,
                                                  .prescribed = split ? total[i] - ideal[i] : 0};
        if (!isfinite(total[i]) || !isfinite(ideal[i]))
            return hamel_fail(a->error, HAMEL_NOT_FINITE, "", 0,
                              "the reaction on `%s` is not finite in the initial state", names[i]);
    }
    return HAMEL_OK;
}

static hamel_status find_gauss(analysis *a, void *result, void *context) {
    hamel_gauss *to = result;
    start_motion start;
    (void)context;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK && a->n > HAMEL_GAUSS_MOST)
        status =
            hamel_fail(a->error, HAMEL_LIMIT, "/coordinates", 0,
                       "Gauss's functions are computed for at most %d coordinates, found %zu", HAMEL_GAUSS_MOST, a->n);
    if (status == HAMEL_OK) status = start_motion_find(a, &start);
    if (status != HAMEL_OK) return status;
    double *total = arena_doubles(a->memory, a->n), *ideal = arena_doubles(a->memory, a->n);
    if (!total || !ideal) return analysis_no_memory(a);
    bool split = a->model->dynamics.nonideal || a->model->friction.count > 0;
    add_reactions(a, &start, 0, a->model->ideal_count, ideal);
    for (size_t i = 0; i < a->n; i++) total[i] = split ? start.ideal[i] + start.nonideal[i] : ideal[i];
    status = list_reactions(a, &start, total, ideal, to);
    return status == HAMEL_OK ? measure(a, &start, total, ideal, to) : status;
}

hamel_status hamel_find_gauss(hamel_gauss **out, const hamel_description *d, const hamel_limits *limits,
                              hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, find_gauss, NULL, out);
}

void hamel_gauss_free(hamel_gauss *found) {
    analysis_result_free(found);
}
