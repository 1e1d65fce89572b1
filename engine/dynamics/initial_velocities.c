/* initial_velocities.c — initial velocities from initial values of quasi-velocities.
 *
 * Solves linear equations E v = r. E has one row for each
 *   velocity-level constraint              A v = −ψ(v = 0), exact if linear
 *   quasi-velocity with an initial value   U v = u − U_0
 *   coordinate whose velocity is specified by the user
 * The solution of least norm is computed by a rank-revealing QR of Eᵀ (Golub & Van Loan 5.6.2). */
#include "engine/base/tolerances.h"
#include "engine/dynamics/initial_values.h"
#include "engine/linear/rank_qr.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct rows {
    arena memory;
    size_t n, count;
    double *E;             /* n × count: Eᵀ */
    double *r;             /* count */
    double *work, *values; /* work, values: workspace and outputs of the program of the quasi-velocities */
    rank_qr space;
} rows;

static size_t most_rows(const hamel_model *model) {
    return model->m + model->quasi.count + model->n;
}

static bool rows_create(rows *w, const hamel_model *model) {
    size_t n = model->n, most = most_rows(model), doubles = program_workspace_doubles(model->quasi.program);
    *w = (rows){.n = n};
    return rank_qr_create(&w->space, n, most) &&
           ARENA_DOUBLES(&w->memory, {&w->E, n * most}, {&w->r, most}, {&w->work, doubles},
                         {&w->values, model->quasi.count * (n + 1)});
}

static void rows_free(rows *w) {
    arena_free(&w->memory);
    rank_qr_free(&w->space);
}

/* The values from which the rows are filled, or the tangents of these values. Successive entries of an array are
 * `stride` doubles apart. */
typedef struct row_values {
    /* outputs of the dynamics program and of the program of the quasi-velocities, or tangents of these outputs */
    const double *dynamics, *quasi;
    const double *u0, *v0; /* initial values of the quasi-velocities (u0) and of the velocities (v0) */
    size_t stride;
    double one; /* ∂v_j/∂v_j, which is 1; its tangent is 0 */
} row_values;

static void add_constraint_rows(rows *w, const dynamics *k, const row_values *from) {
    const hamel_model *model = k->model;
    for (size_t c = 0; c < model->m; c++) {
        if (model->order[c] == CONSTRAINT_ACCELERATION || !k->discrete_state.active[c]) continue;
        for (size_t e = 0; e < model->dynamics.A.count; e++)
            if ((size_t)model->dynamics.A.row[e] == c)
                w->E[(size_t)model->dynamics.A.column[e] + w->n * w->count] =
                    from->dynamics[(model->dynamics.A.at + e) * from->stride];
        w->r[w->count++] = -from->dynamics[(model->dynamics.at_velocity + c) * from->stride];
    }
}

static void add_quasi(rows *w, const hamel_model *model, const row_values *from) {
    for (size_t i = 0; i < model->quasi.count; i++) {
        const double *U = from->quasi + i * (w->n + 1) * from->stride;
        for (size_t j = 0; j < w->n; j++) w->E[j + w->n * w->count] = U[j * from->stride];
        w->r[w->count++] = from->u0[i] - U[w->n * from->stride];
    }
}

static void add_given(rows *w, const hamel_model *model, const row_values *from) {
    for (size_t j = 0; j < w->n; j++) {
        if (!model->velocity_given[j]) continue;
        w->E[j + w->n * w->count] = from->one;
        w->r[w->count++] = from->v0[j];
    }
}

static void fill_velocity_rows(rows *w, const dynamics *k, const row_values *from) {
    w->count = 0;
    memset(w->E, 0, w->n * most_rows(k->model) * sizeof *w->E);
    add_constraint_rows(w, k, from);
    add_quasi(w, k->model, from);
    add_given(w, k->model, from);
}

/* Fills the rows at (t, q), where `k` was evaluated last with zero velocities. */
static void rows_at(rows *w, const dynamics *k, double t, const double *q) {
    const hamel_model *model = k->model;
    program_inputs in = model_inputs(model, &t, q, NULL, NULL, NULL, NULL);
    program_prepare(model->quasi.program, &in, w->work);
    program_evaluate(model->quasi.program, &in, w->work, w->values);
    row_values from = {k->values, w->values, model->quasi.initial, model->v0, 1, 1};
    fill_velocity_rows(w, k, &from);
}

/* Computes v of least norm. Returns the contradiction of redundant rows, relative to their right-hand side or 1. */
static double solve_rows(rows *w, double *v) {
    assert(w->count <= w->space.most);
    double worst = 0;
    rank_qr_load(&w->space, w->count, w->E, NULL);
    if (!rank_qr_factor(&w->space)) return INFINITY;
    (void)rank_qr_solution(&w->space, w->r, v);
    for (size_t c = 0; c < w->count; c++) {
        double sum = -w->r[c];
        for (size_t j = 0; j < w->n; j++) sum += w->E[j + w->n * c] * v[j];
        worst = fmax(worst, fabs(sum) / fmax(1, fabs(w->r[c])));
    }
    return worst;
}

static hamel_status fail_contradiction(double by, hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INCONSISTENT, "/quasi_velocities", 0,
                     "the initial values of quasi-velocities, the given velocities and the constraints contradict each "
                     "other by %.3g",
                     by);
    hamel_suggest(error, "specify fewer initial quasi-velocities and velocities, because the constraints "
                         "determine the others");
    return HAMEL_INCONSISTENT;
}

hamel_status initial_velocities_from_quasi(dynamics *k, double t, const double *q, double *v, hamel_error *error) {
    const hamel_model *model = k->model;
    rows w;
    if (!model->quasi.program) return HAMEL_OK;
    bool good = rows_create(&w, model);
    memset(v, 0, model->n * sizeof *v);
    hamel_status status = good ? dynamics_evaluate(k, t, q, v, error) : hamel_out_of_memory(error);
    if (status == HAMEL_OK) {
        rows_at(&w, k, t, q);
        double contradiction = solve_rows(&w, v);
        if (!(contradiction <= INITIAL_MISS)) status = fail_contradiction(contradiction, error);
    }
    rows_free(&w);
    return status;
}

/* --- tangents ----------------------------------------------------------------------------------------------------- */

/* Computes dv = E⁺(δr − δE v) + (1 − E⁺E) δEᵀy with Eᵀy = v. */
static void differentiate_rows(rows *w, const rows *moved, const double *v, double *y, double *right, double *dv) {
    assert(moved->count == w->count && moved->n == w->n);
    double *f = right + w->count;
    memset(f, 0, w->n * sizeof *f);
    rank_qr_multipliers(&w->space, v, y);
    for (size_t c = 0; c < w->count; c++)
        for (size_t j = 0; j < w->n; j++) f[j] += moved->E[j + w->n * c] * y[c];
    for (size_t c = 0; c < w->count; c++) {
        right[c] = moved->r[c];
        for (size_t j = 0; j < w->n; j++) right[c] -= moved->E[j + w->n * c] * v[j] + w->E[j + w->n * c] * f[j];
    }
    (void)rank_qr_solution(&w->space, right, dv);
    for (size_t j = 0; j < w->n; j++) dv[j] += f[j];
}

hamel_status initial_velocities_along(dynamics *k, const double *v, const initial_directions *d, double *const *dv) {
    const hamel_model *model = k->model;
    size_t n = model->n, most = most_rows(model);
    rows w = {0}, moved = {0};
    double *y, *right, *solution;
    bool good = rows_create(&w, model) && rows_create(&moved, model) &&
                ARENA_DOUBLES(&moved.memory, {&y, most}, {&right, most + n}, {&solution, n});
    if (good) rows_at(&w, k, k->t, k->q);
    if (good) (void)solve_rows(&w, solution); /* factors the rows */
    for (size_t lane = 0; good && lane < d->count; lane++) {
        row_values from = {d->dynamics + lane, d->quasi + lane, d->u0 + lane * model->quasi.count,
                           d->v0 + lane * n,   PROGRAM_LANES,   0};
        fill_velocity_rows(&moved, k, &from);
        differentiate_rows(&w, &moved, v, y, right, dv[lane]);
    }
    rows_free(&w);
    rows_free(&moved);
    return good ? HAMEL_OK : HAMEL_NO_MEMORY;
}
