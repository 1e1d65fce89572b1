/* sensitivities_start.c — derivatives of consistent initial values.
 *
 * x = q − q0 is the limit of  M0 x − Aᵀμ = 0,  A x = A (q − q0) − Φ(q)  (initial_values.c), and δ of both gives
 *
 *     M0 δx − Aᵀδμ = δAᵀμ − δM0 x,     A δx = A (δq − δq0) − δΦ
 *
 * where δA and δΦ are along δq: an iteration that converges as that of x did, and at once where x = 0. The same for the
 * velocities.
 *
 * Where quasi-velocities have initial values the given velocities are v0 = E⁺r (initial_velocities.c), and theirs are
 *
 *     δv0 = E⁺(δr − δE v0) + (1 − E⁺E) δEᵀy,     Eᵀy = v0
 *
 * the derivative of a solution of least norm (Golub & Pereyra, SIAM J. Numer. Anal. 10 (1973) 413, eq. 4.12). */
#include "engine/solve/initial_values.h"
#include "engine/solve/sensitivities_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = SENSITIVITY_LANES, START_ITERATIONS = 60 };
/* Relative changes: one that ends the iteration, and one above which it has led nowhere. */
static const double SETTLED = 1e-13, UNSETTLED = 1e-9;

/* w->g, w->r from lane `lane` of the dynamics' tangents; `given`, `now`: δ of the level. */
static void start_right_side(sensitivities *w, size_t input, size_t lane, bool position, const double *given,
                             const double *now, const double *moved) {
    const hamel_model *model = w->model;
    const double *A = w->kinetics->values + model->at_A, *A_along = w->dynamics + model->at_A * LANES,
                 *f = w->dynamics + (position ? model->at_position : model->at_velocity) * LANES,
                 *M_along = w->mass_rates + input * model->M.count;
    memset(w->g, 0, w->n * sizeof *w->g);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        w->g[i] -= M_along[e] * moved[j];
        if (i != j) w->g[j] -= M_along[e] * moved[i];
    }
    for (size_t c = 0; c < w->m; c++) w->r[c] = -f[c * LANES + lane];
    for (size_t e = 0; e < model->A.count; e++) {
        int c = model->A.row[e], j = model->A.column[e];
        w->g[j] += A_along[e * LANES + lane] * w->mu[c];
        w->r[c] += A[e] * (now[j] - given[j]);
    }
}

/* One iteration of a batch; returns the largest change relative to the sizes. */
static hamel_status start_once(sensitivities *w, size_t batch, bool position, const double *moved, double *const *s,
                               double *change) {
    kkt *system = position ? w->kinetics->positions : w->kinetics->velocities;
    *change = 0;
    directions d = directions_of(w, batch, (const double *const *)s);
    sensitivities_dynamics(w, &d);
    for (size_t lane = 0; lane < d.count; lane++) {
        size_t input = (size_t)d.first + lane;
        const double *given = (position ? w->inputs->q0 : w->given_rates) + input * w->n;
        double *now = s[input] + (position ? 0 : w->n), size = 0, most = 0;
        start_right_side(w, input, lane, position, given, now, moved);
        hamel_status status = kkt_solve(system, w->g, w->r, INFINITY, w->x, NULL);
        if (status != HAMEL_OK) return status;
        for (size_t i = 0; i < w->n; i++) {
            double next = given[i] + w->x[i];
            most = fmax(most, fabs(next - now[i]));
            size = fmax(size, fabs(next));
            now[i] = next;
        }
        if (!isfinite(most)) return HAMEL_NOT_FINITE;
        *change = fmax(*change, size > 0 ? most / size : 0);
    }
    return HAMEL_OK;
}

/* w->mu := the multipliers of the step from the given values to the consistent ones, w->step := that step. */
static hamel_status start_step(sensitivities *w, bool position, const double *now, const double *given) {
    kinetics *k = w->kinetics;
    const hamel_model *model = w->model;
    kkt *system = position ? k->positions : k->velocities;
    memcpy(k->values + model->at_M, w->mass, model->M.count * sizeof *w->mass);
    for (size_t i = 0; i < w->n; i++) w->step[i] = now[i] - given[i];
    memset(w->r, 0, w->m * sizeof *w->r);
    for (size_t e = 0; e < model->A.count; e++)
        w->r[model->A.row[e]] += k->values[model->at_A + e] * w->step[model->A.column[e]];
    hamel_status status = kkt_factor(system, k->values);
    return status == HAMEL_OK ? kkt_solve(system, NULL, w->r, INFINITY, w->x, w->mu) : status;
}

static hamel_status start_level(sensitivities *w, bool position, const double *now, const double *given,
                                double *const *s) {
    if (!sensitivities_has_level(w, position)) return HAMEL_OK;
    hamel_status status = start_step(w, position, now, given);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        double change = INFINITY;
        for (int i = 0; i < START_ITERATIONS && status == HAMEL_OK && change > SETTLED; i++)
            status = start_once(w, batch, position, w->step, s, &change);
        if (status == HAMEL_OK && !(change < UNSETTLED)) status = HAMEL_SINGULAR;
    }
    return status;
}

/* w->mass and its rates: M of the given state. */
static void note_mass(sensitivities *w, double *const *s) {
    const hamel_model *model = w->model;
    size_t masses = model->M.count;
    memcpy(w->mass, w->kinetics->values + model->at_M, masses * sizeof *w->mass);
    for (size_t batch = 0; batch < sensitivities_batches(w); batch++) {
        directions d = directions_of(w, batch, (const double *const *)s);
        sensitivities_dynamics(w, &d);
        for (size_t lane = 0; lane < d.count; lane++)
            for (size_t e = 0; e < masses; e++)
                w->mass_rates[((size_t)d.first + lane) * masses + e] = w->dynamics[(model->at_M + e) * LANES + lane];
    }
}

/* The velocity half of s, where quasi-velocities gave the velocities v; `rest` and `tangents`: see below. */
static hamel_status follow_quasi(sensitivities *w, double *rest, double *tangents, const double *v, double *const *s,
                                 hamel_error *error) {
    const hamel_model *model = w->model;
    double t = model->settings.start, *work = tangents + program_output_count(model->quasi) * LANES;
    program_inputs in = model_inputs(model, &t, model->q0, NULL, NULL, NULL, NULL);
    program_prepare(model->quasi, &in, work);
    hamel_status status = kinetics_evaluate(w->kinetics, t, model->q0, rest, error);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, (const double *const *)s);
        double *to[LANES];
        for (size_t k = 0; k < d.count; k++) {
            to[k] = s[(size_t)d.first + k] + w->n;
            memset(to[k], 0, w->n * sizeof **to);
        }
        sensitivities_dynamics(w, &d);
        program_inputs seeds = sensitivities_seeds(w, &d);
        program_tangent(model->quasi, &in, &seeds, work, w->tangent_work, NULL, tangents);
        initial_directions along = {d.count, w->dynamics, tangents,
                                    w->inputs->u0 + (size_t)d.first * model->quasi_initial_count,
                                    w->inputs->v0 + (size_t)d.first * w->n};
        status = initial_velocities_along(w->kinetics, v, &along, to);
    }
    return status;
}

/* given[n], s: the velocities from which consistent ones were sought. */
static hamel_status start_velocities(sensitivities *w, double *given, double *const *s, hamel_error *error) {
    const hamel_model *model = w->model;
    memcpy(given, model->v0, w->n * sizeof *given);
    if (!model->quasi) return HAMEL_OK;
    hamel_status status = initial_velocities_from_quasi(w->kinetics, model->settings.start, model->q0, given, error);
    double *rest = calloc(
        w->n + program_output_count(model->quasi) * LANES + program_workspace_doubles(model->quasi) + 1, sizeof *rest);
    if (!rest) status = HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = follow_quasi(w, rest, rest + w->n, given, s, error);
    free(rest);
    if (status != HAMEL_OK || !rest) return status;
    for (size_t i = 0; i < w->count; i++) memcpy(w->given_rates + i * w->n, s[i] + w->n, w->n * sizeof **s);
    return HAMEL_OK;
}

static hamel_status no_derivatives(hamel_status status, hamel_error *error) {
    if (status == HAMEL_OK || error->status != HAMEL_OK) return status;
    if (status == HAMEL_NO_MEMORY) return hamel_fail(error, status, "", 0, "no memory for the initial values");
    (void)hamel_fail(error, HAMEL_SINGULAR, "/simulation/sensitivities", 0,
                     "the consistent initial values have no derivatives");
    hamel_suggest(error, "give initial values that are nearer to the constraints");
    return HAMEL_SINGULAR;
}

hamel_status sensitivities_start(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                                 hamel_error *error) {
    const hamel_model *model = w->model;
    kinetics *k = w->kinetics;
    size_t n = w->n;
    for (size_t i = 0; i < w->count; i++) {
        memcpy(s[i], w->inputs->q0 + i * n, n * sizeof **s);
        memcpy(s[i] + n, w->inputs->v0 + i * n, n * sizeof **s);
        memcpy(w->given_rates + i * n, w->inputs->v0 + i * n, n * sizeof **s);
    }
    hamel_status status = start_velocities(w, w->given, s, error);
    if (status != HAMEL_OK || w->m == 0) return no_derivatives(status, error);
    status = kinetics_evaluate(k, t, model->q0, w->given, error);
    if (status != HAMEL_OK) return status;
    note_mass(w, s);
    status = kinetics_evaluate(k, t, q, w->given, error);
    if (status == HAMEL_OK) status = start_level(w, true, q, model->q0, s);
    if (status == HAMEL_OK) status = kinetics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = start_level(w, false, v, w->given, s);
    return no_derivatives(status, error);
}
