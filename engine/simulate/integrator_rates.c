/* integrator_rates.c — the functions of the stepper problem: rates, projection and weights. */
#include "engine/simulate/integrator.h"

#include "engine/base/monotonic.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool integrator_stopped(integrator *w) {
    hamel_status asked = hamel_ask(w->options.poll);
    if (asked == HAMEL_CANCELED) w->canceled = true;
    if (asked == HAMEL_LIMIT || (w->options.deadline > 0 && monotonic_coarse() > w->options.deadline))
        w->timed_out = true;
    return w->canceled || w->timed_out;
}

static int note_failure(integrator *w, hamel_status status, double t, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < w->state_count; i++) sum += 0 * y[i];
    if (!isfinite(t)) return -1;                            /* an earlier failure has made the step size invalid */
    if (w->failure != HAMEL_OK && !isfinite(sum)) return 1; /* an earlier failure has made the state invalid */
    w->failure = status;
    w->failed_evaluations++;
    w->failed_t = t;
    memcpy(w->failed_state, y, w->state_count * sizeof *y);
    return status == HAMEL_NO_MEMORY ? -1 : 1; /* recoverable: a smaller step may avoid the failure */
}

/* Returns the rate at which violations of position constraints should decay if the velocities satisfy the velocity
 * constraints exactly. This rate is the decay rate of the slower root of Baumgarte's equation r² + 2αr + β² = 0. */
static double approach_rate(const integrator *w) {
    double a = w->alpha, b = w->beta;
    return a > b ? a - sqrt(a * a - b * b) : a;
}

/* For w = q', does the same as integrator_evaluate without copies, which are expensive for small systems. */
static hamel_status rates_of_velocities(integrator *w, double t, const double *y, double *out, hamel_error *error) {
    for (size_t i = 0; i < w->n; i++) out[i] = w->velocity[i] = y[w->n + i];
    return dynamics_rates(w->dynamics, t, y, w->velocity, w->alpha, w->beta, out + w->n, w->wanted_lambda, error);
}

hamel_status integrator_evaluate(integrator *w, double t, const double *y, double *out, hamel_error *error) {
    dynamics *k = w->dynamics;
    if (w->plain) return rates_of_velocities(w, t, y, out, error);
    bool positions_only = variables_meet_constraints(w->variables);
    double alpha = positions_only ? 0 : w->alpha, beta = positions_only ? 0 : w->beta;
    hamel_status status = variables_velocities(w->variables, t, y, y + w->n, w->velocity, error);
    if (status == HAMEL_OK)
        status = dynamics_rates(k, t, y, w->velocity, alpha, beta, w->acceleration, w->wanted_lambda, error);
    if (status == HAMEL_OK) status = variables_rates(w->variables, w->acceleration, w->lambda, out + w->n);
    memcpy(out, w->velocity, w->n * sizeof *out);
    if (status != HAMEL_OK || !positions_only || approach_rate(w) == 0) return status;
    return dynamics_approach_positions(k, approach_rate(w), out);
}

int integrator_rates(void *user, double t, const double *y, double *out) {
    integrator *w = user;
    if (!w->evaluating_dense && integrator_stopped(w)) return -1;
    hamel_status status = integrator_evaluate(w, t, y, out, NULL);
    if (w->model->m > 0) status = singularity_correct_rates(w, t, y, out, status);
    if (w->too_near) return -1;
    if (status != HAMEL_OK) return note_failure(w, status, t, y);
    if (!w->model->dynamics.energy_rate) return 0;
    double *power = out + w->state_count;
    *power = dynamics_energy_rate(w->dynamics, t, y, w->velocity, w->lambda);
    return isfinite(*power) ? 0 : note_failure(w, HAMEL_NOT_FINITE, t, y);
}

/* The linearized constraints are stabilized like the constraints of the motion. BDF projects states but not
 * sensitivities, so with BDF only the sensitivities are stabilized. Stabilization does not act along the constraint
 * manifold. */
int integrator_forward_rates(void *user, double t, const double *y, N_Vector *s, N_Vector *ds) {
    integrator *w = user;
    double alpha = w->forward_rate > 0 ? w->forward_rate : w->alpha;
    double beta = w->forward_rate > 0 ? w->forward_rate : w->beta;
    if (integrator_stopped(w)) return -1;
    hamel_status status = forward_rates(w->forward, t, y, y + w->n, alpha, beta, s, ds);
    return status == HAMEL_OK ? 0 : note_failure(w, status, t, y);
}

/* Removes the component normal to the constraint manifold from a change (dq, dw) of a state. w->variables must have
 * been evaluated at this state last. */
static hamel_status project_change(integrator *w, double *change) {
    double *dv = w->scratch;
    hamel_status status = variables_velocity_change(w->variables, change, change + w->n, dv);
    if (status == HAMEL_OK) status = dynamics_project_direction(w->dynamics, change, dv);
    return status == HAMEL_OK ? variables_change(w->variables, change, dv, change + w->n) : status;
}

/* Only the error along the constraint manifold is controlled. Control of the normal component would halve the error at
 * the ninth decile of 105 constrained examples (rtol 1e-9). However, the normal component grows without bound near
 * singular configurations. If components differ by four powers of ten (Andrews' mechanism), rounding errors of the
 * normal component would stop the run. */
int integrator_project(void *user, double t, const double *y, double *c, double *error) {
    integrator *w = user;
    assert(y != w->scratch && w->model->m > 0);
    double *q = w->scratch, *v = q + w->n, worst = 0;
    size_t n = w->n;
    memcpy(q, y, n * sizeof *q);
    memcpy(v, w->velocity, n * sizeof *v);
    hamel_status status = variables_velocities(w->variables, t, y, y + n, v, NULL);
    if (status == HAMEL_OK) status = dynamics_project(w->dynamics, t, q, v, &worst, NULL);
    if (status == HAMEL_OK) status = variables_from_velocities(w->variables, t, q, v, c + n);
    memcpy(c, q, n * sizeof *c);
    if (status == HAMEL_OK && error) status = project_change(w, error);
    if (status != HAMEL_OK) return note_failure(w, status, t, y);
    if (!(worst < ON_CONSTRAINTS)) return 1;
    for (size_t i = 0; i < w->state_count; i++) c[i] -= y[i];
    if (w->model->dynamics.energy_rate) c[w->state_count] = 0;
    return 0;
}

int integrator_weights(void *user, const double *y, double *weight) {
    integrator *w = user;
    const double *atol = w->atol, factor = w->atol_factor, rtol = w->rtol;
    double finite = 0; /* 0·x is 0 for finite x and NaN otherwise, so the loop has no branch */
    for (size_t i = 0; i < w->state_count; i++) {
        weight[i] = control_weight(rtol, factor * atol[i], y[i]);
        finite += 0 * weight[i];
    }
    if (w->model->dynamics.energy_rate)
        weight[w->state_count] =
            control_work_weight(y[w->state_count], &w->most_work, w->start_energy, w->model->settings.rtol, rtol);
    return finite == 0 ? 0 : -1;
}
