/* sensitivities_start.c — derivatives of consistent initial values.
 *
 * x = q − q0 is the limit of the iteration  M0 x − Aᵀμ = 0,  A x = A (q − q0) − Φ(q)  (initial_values.c).
 * Differentiation gives
 *
 *     M0 δx − Aᵀδμ = δAᵀμ − δM0 x,     A δx = A (δq − δq0) − δΦ
 *
 * where δA and δΦ are derivatives along δq. The iteration for δx converges at the rate of the iteration for x, and in
 * one step if x = 0. The equations for velocities have the same form.
 *
 * If quasi-velocities have initial values, the original velocities are v0 = E⁺r (initial_velocities.c). The derivative
 * of this solution of least norm is (Golub & Pereyra, SIAM J. Numer. Anal. 10 (1973) 413, eq. 4.12)
 *
 *     δv0 = E⁺(δr − δE v0) + (1 − E⁺E) δEᵀy,     Eᵀy = v0 */
#include "engine/dynamics/initial_values.h"
#include "engine/linear/newton_progress.h"
#include "engine/sensitivity/sensitivities_int.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LANES = SENSITIVITY_LANES, START_ITERATIONS = 60 };
/* If the relative change in the last iteration exceeds this bound, the derivatives are reported as undefined.
 * Convergence is linear, so the error may exceed the last change. Six digits are correct if the error is at most a
 * thousand times the last change. */
static const double UNSETTLED = 1e-9;

/* Sets w->g and w->r from one lane of the dynamics tangents. `given` and `now` are derivatives of the original and the
 * current coordinates, or velocities if `position` is false. */
static void start_right_side(sensitivities *w, size_t input, size_t lane, bool position, const double *given,
                             const double *now, const double *moved) {
    const hamel_model *model = w->model;
    const double *A = w->dynamics->values + model->dynamics.A.at,
                 *A_along = w->dynamics_tangents + model->dynamics.A.at * LANES,
                 *f = w->dynamics_tangents +
                      (position ? model->dynamics.at_position : model->dynamics.at_velocity) * LANES,
                 *M_along = w->mass_rates + input * model->dynamics.M.count;
    memset(w->g, 0, w->n * sizeof *w->g);
    assert(model->dynamics.M.at == 0);
    sparse_block_multiply_symmetric(&model->dynamics.M, M_along, -1, moved, w->g);
    for (size_t c = 0; c < w->m; c++) w->r[c] = -f[c * LANES + lane];
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        int c = model->dynamics.A.row[e], j = model->dynamics.A.column[e];
        w->g[j] += A_along[e * LANES + lane] * w->mu[c];
        w->r[c] += A[e] * (now[j] - given[j]);
    }
}

/* Performs one iteration for a group of inputs. Sets *change to the largest relative change. */
static hamel_status start_once(sensitivities *w, size_t batch, bool position, const double *moved, double *const *s,
                               double *change) {
    kkt *system = dynamics_system(w->dynamics, position);
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

/* Sets w->step to the step from the original values to the consistent values, and w->mu to the multipliers of this
 * step. */
static hamel_status start_step(sensitivities *w, bool position, const double *now, const double *given) {
    dynamics *k = w->dynamics;
    const hamel_model *model = w->model;
    kkt *system = dynamics_system(k, position);
    memcpy(k->values + model->dynamics.M.at, w->mass, model->dynamics.M.count * sizeof *w->mass);
    for (size_t i = 0; i < w->n; i++) w->step[i] = now[i] - given[i];
    memset(w->r, 0, w->m * sizeof *w->r);
    sparse_block_multiply(&model->dynamics.A, k->values, 1, w->step, w->r);
    hamel_status status = kkt_factor(system, k->values);
    return status == HAMEL_OK ? kkt_solve(system, NULL, w->r, INFINITY, w->x, w->mu) : status;
}

static hamel_status start_level(sensitivities *w, bool position, const double *now, const double *given,
                                double *const *s) {
    if (!dynamics_has_level(w->dynamics, position)) return HAMEL_OK;
    hamel_status status = start_step(w, position, now, given);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        double change = INFINITY;
        for (int i = 0; i < START_ITERATIONS && status == HAMEL_OK && change > NEWTON_STEP.rounding; i++)
            status = start_once(w, batch, position, w->step, s, &change);
        if (status == HAMEL_OK && !(change < UNSETTLED)) status = HAMEL_SINGULAR;
    }
    return status;
}

/* Stores M at the original state and its derivatives. */
static void note_mass(sensitivities *w, double *const *s) {
    const hamel_model *model = w->model;
    size_t masses = model->dynamics.M.count;
    memcpy(w->mass, w->dynamics->values + model->dynamics.M.at, masses * sizeof *w->mass);
    for (size_t batch = 0; batch < sensitivities_batches(w); batch++) {
        directions d = directions_of(w, batch, (const double *const *)s);
        sensitivities_dynamics(w, &d);
        for (size_t lane = 0; lane < d.count; lane++)
            for (size_t e = 0; e < masses; e++)
                w->mass_rates[((size_t)d.first + lane) * masses + e] =
                    w->dynamics_tangents[(model->dynamics.M.at + e) * LANES + lane];
    }
}

/* Computes the velocity half of s if quasi-velocities determine the velocities v. */
static hamel_status follow_quasi(sensitivities *w, const double *v, double *const *s, hamel_error *error) {
    const hamel_model *model = w->model;
    double t = model->settings.start;
    program_inputs in = model_inputs(model, &t, model->q0, NULL, NULL, NULL, NULL);
    hamel_status status = dynamics_evaluate(w->dynamics, t, model->q0, w->at_rest, error);
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, (const double *const *)s);
        double *to[LANES];
        for (size_t k = 0; k < d.count; k++) {
            to[k] = s[(size_t)d.first + k] + w->n;
            memset(to[k], 0, w->n * sizeof **to);
        }
        sensitivities_dynamics(w, &d);
        program_inputs seeds = sensitivities_seeds(w, &d);
        program_tangent(model->quasi.program, &in, &seeds, w->quasi_work, w->tangent_work, NULL, w->quasi_tangents);
        initial_directions along = {d.count, w->dynamics_tangents, w->quasi_tangents,
                                    w->inputs->u0 + (size_t)d.first * model->quasi.count,
                                    w->inputs->v0 + (size_t)d.first * w->n};
        status = initial_velocities_along(w->dynamics, v, &along, to);
    }
    return status;
}

/* Sets given[n] to the velocities before they were made consistent, and the velocity half of s to the derivatives of
 * these velocities. */
static hamel_status start_velocities(sensitivities *w, double *given, double *const *s, hamel_error *error) {
    const hamel_model *model = w->model;
    memcpy(given, model->v0, w->n * sizeof *given);
    if (!model->quasi.program) return HAMEL_OK;
    hamel_status status = initial_velocities_from_quasi(w->dynamics, model->settings.start, model->q0, given, error);
    if (status == HAMEL_OK) status = follow_quasi(w, given, s, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < w->count; i++) memcpy(w->given_rates + i * w->n, s[i] + w->n, w->n * sizeof **s);
    return HAMEL_OK;
}

static hamel_status no_derivatives(hamel_status status, hamel_error *error) {
    if (status == HAMEL_OK || error->status != HAMEL_OK) return status;
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    (void)hamel_fail(error, HAMEL_SINGULAR, "/simulation/sensitivities", 0,
                     "the consistent initial values have no derivatives");
    hamel_suggest(error, "give initial values that satisfy the constraints more accurately");
    return HAMEL_SINGULAR;
}

hamel_status sensitivities_start(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                                 hamel_error *error) {
    assert(w->count > 0 && w->dynamics->model == w->model);
    const hamel_model *model = w->model;
    dynamics *k = w->dynamics;
    size_t n = w->n;
    for (size_t i = 0; i < w->count; i++) {
        memcpy(s[i], w->inputs->q0 + i * n, n * sizeof **s);
        memcpy(s[i] + n, w->inputs->v0 + i * n, n * sizeof **s);
        memcpy(w->given_rates + i * n, w->inputs->v0 + i * n, n * sizeof **s);
    }
    hamel_status status = start_velocities(w, w->given, s, error);
    if (status != HAMEL_OK || w->m == 0) return no_derivatives(status, error);
    status = dynamics_evaluate(k, t, model->q0, w->given, error);
    if (status != HAMEL_OK) return status;
    note_mass(w, s);
    status = dynamics_evaluate(k, t, q, w->given, error);
    if (status == HAMEL_OK) status = start_level(w, true, q, model->q0, s);
    if (status == HAMEL_OK) status = dynamics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = start_level(w, false, v, w->given, s);
    return no_derivatives(status, error);
}
