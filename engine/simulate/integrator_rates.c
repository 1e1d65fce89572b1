/* integrator_rates.c — see integrator_int.h. */
#include "engine/simulate/integrator_int.h"

#include "engine/base/monotonic.h"

#include <math.h>
#include <string.h>

/* kkt_margin of states beside a singular one: from where on rough stages are left, and where rounding is felt; the part of a
 * step that interpolation across begins with. */
static const double NEAR = 0.1, ACROSS = 1e-3, PART_OF_STEP = 0.15;
/* The next step may be longer than the last one by so much: it must not go over a singular state. */
static const double NEXT_STEP = 1.2;

static const double WORK = 30; /* times what the tolerances amount to in the energy, of errors of W */

/* --- rates ---------------------------------------------------------------------------------------------------------- */

/* Only where w = q'; BDF solves for states that it projects. */
static bool minds_singularity(const integrator *w) {
    return !w->kind->implicit && !w->home && w->model->formulation->variables == VARIABLES_VELOCITIES &&
           w->model->settings.projection == HAMEL_PROJECTION_ON;
}

bool integrator_stopped(integrator *w) {
    hamel_status asked = hamel_ask(w->options.poll);
    if (asked == HAMEL_CANCELED) w->canceled = true;
    if (asked == HAMEL_LIMIT || (w->options.deadline > 0 && monotonic_coarse() > w->options.deadline))
        w->timed_out = true;
    return w->canceled || w->timed_out;
}

static int remember_failure(integrator *w, hamel_status status, double t, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < w->state_count; i++) sum += 0 * y[i];
    if (!isfinite(t)) return -1;                            /* the step size is lost; the failure before says why */
    if (w->failure != HAMEL_OK && !isfinite(sum)) return 1; /* and so does it where the state is lost */
    w->failure = status;
    w->failed_evaluations++;
    w->failed_t = t;
    memcpy(w->failed_state, y, w->state_count * sizeof *y);
    return status == HAMEL_NO_MEMORY ? -1 : 1; /* recoverable: a smaller step may avoid it */
}

/* The rate at which positions approach their constraints where velocities meet theirs anyway: that of the slower root
 * of Baumgarte's equation r² + 2αr + β² = 0. */
static double approach(const integrator *w) {
    double a = w->alpha, b = w->beta;
    return a > b ? a - sqrt(a * a - b * b) : a;
}

/* As any rates, where w = q': small systems would spend as much time on copies as on this. */
static hamel_status rates_of_velocities(integrator *w, double t, const double *y, double *out, hamel_error *error) {
    for (size_t i = 0; i < w->n; i++) out[i] = w->velocity[i] = y[w->n + i];
    return kinetics_rates(w->kinetics, t, y, w->velocity, w->alpha, w->beta, out + w->n, w->wanted_lambda, error);
}

/* q', w', and the multipliers in w->lambda where they are needed, of a state. */
hamel_status integrator_evaluate(integrator *w, double t, const double *y, double *out, hamel_error *error) {
    kinetics *k = w->kinetics;
    if (w->plain) return rates_of_velocities(w, t, y, out, error);
    bool positions_only = variables_meet_constraints(w->variables);
    double alpha = positions_only ? 0 : w->alpha, beta = positions_only ? 0 : w->beta;
    hamel_status status = variables_velocities(w->variables, t, y, y + w->n, w->velocity, error);
    if (status == HAMEL_OK)
        status = kinetics_rates(k, t, y, w->velocity, alpha, beta, w->acceleration, w->wanted_lambda, error);
    if (status == HAMEL_OK) status = variables_rates(w->variables, w->acceleration, w->lambda, out + w->n);
    memcpy(out, w->velocity, w->n * sizeof *out);
    if (status != HAMEL_OK || !positions_only || approach(w) == 0) return status;
    return kinetics_approach_positions(k, approach(w), out);
}

/* --- beside singular states ---------------------------------------------------------------------------------------------
 *
 * Where constraints become dependent for an instant (a linkage stretched out), branches of the motion cross, and what
 * misses the constraints by δ at the distance s from there moves the velocity by δ/s²: soon onto another branch. So
 * everything is taken at the nearest state on the constraints, and what misses them decays without a say in it. Where
 * rounding alone is too much, accelerations are interpolated from states before and after (across.h). */

/* Accelerations, and multipliers, at the state on the constraints nearest to (y, v). */
static hamel_status nearest_accelerations(integrator *w, double t, const double *y) {
    double *q = w->scratch, *v = q + w->n, worst = 0;
    memcpy(q, y, w->n * sizeof *q);
    memcpy(v, w->velocity, w->n * sizeof *v);
    hamel_status status = kinetics_project(w->kinetics, t, q, v, &worst, NULL);
    if (status == HAMEL_OK && !(worst < 1e-9)) return HAMEL_INCOMPATIBLE;
    return status == HAMEL_OK ? kinetics_accelerations(w->kinetics, 0, 0, w->acceleration, w->lambda, NULL) : status;
}

static hamel_status rates_beside_singularity(integrator *w, double t, const double *y, double *out) {
    size_t n = w->n;
    const double *q = w->scratch, *v = q + n;
    hamel_status status = nearest_accelerations(w, t, y);
    for (size_t i = 0; i < n; i++) {
        out[i] = v[i] - w->alpha * (y[i] - q[i]);
        out[n + i] = w->acceleration[i] - w->alpha * (w->velocity[i] - v[i]);
    }
    return status;
}

/* The motion was smooth over the steps before, which were longer. */
static hamel_status rates_across_singularity(integrator *w, double t, const double *y, double *out) {
    if (w->calm_step == 0) return rates_beside_singularity(w, t, y, out);
    hamel_status status = across_find(&w->across, w->kinetics, t, y, w->velocity, PART_OF_STEP * w->calm_step);
    memcpy(out, w->velocity, w->n * sizeof *out);
    memcpy(out + w->n, w->across.a, w->n * sizeof *out);
    memcpy(w->lambda, w->across.lambda, w->model->m * sizeof *out);
    return status;
}

/* Rough stages must not come near a singular state: they would be taken at the nearest states of another branch. Steps are
 * long enough to pass such a place between two of them, so whoever has another method keeps well away. Dependent
 * constraints that have lost a little of their dependence off the motion look the same; at the nearest state they do not. */
static hamel_status rates_at_rough_stage(integrator *w, double t, const double *y, double *out, hamel_status found) {
    double least = (w->may_change || integrator_may_cross(w) ? NEAR : INTEGRATOR_BESIDE) * w->widest;
    if (w->margin >= least && found == HAMEL_OK) return HAMEL_OK;
    hamel_status status = rates_beside_singularity(w, t, y, out);
    w->too_near = !w->looking && (status != HAMEL_OK || kinetics_margin(w->kinetics) < least);
    return status;
}

bool integrator_may_cross(const integrator *w) {
    return !w->home && !w->shy && !w->forward && w->model->m > 0 &&
           w->model->settings.projection == HAMEL_PROJECTION_ON;
}

bool integrator_is_near(integrator *w) {
    double near = fmax(NEAR * w->widest, NEXT_STEP * w->closing);
    if (!integrator_may_cross(w) || w->kind->rough_stages || w->margin >= near) return false;
    return variables_velocities(w->variables, w->t, w->y, w->y + w->n, w->velocity, NULL) != HAMEL_OK ||
           nearest_accelerations(w, w->t, w->y) != HAMEL_OK || kinetics_margin(w->kinetics) < near;
}

/* Rates of other variables than velocities are taken as they are; but no stage comes near a singular state. */
static hamel_status watch_rough_stage(integrator *w, double t, const double *y, hamel_status found) {
    if (!w->kind->rough_stages || w->looking || !integrator_may_cross(w)) return found;
    if (w->margin >= NEAR * w->widest && found == HAMEL_OK) return found;
    hamel_status status = nearest_accelerations(w, t, y);
    w->too_near = status != HAMEL_OK || kinetics_margin(w->kinetics) < NEAR * w->widest;
    return found;
}

/* Rates as they are to be used, from those found as anywhere.
 *
 * Of redundant constraints that turn at the rate ω each keeps its own Φ'' = 0, and what they have in common grows as
 * exp(ωt) off them (n·Φ'' = δ'' − ω²δ for Φ = n(t)δ with |n| = 1): there the rates of the nearest state are taken all along. */
static hamel_status rates_beside(integrator *w, double t, const double *y, double *out, hamel_status status) {
    if (status == HAMEL_NOT_FINITE) return status;
    if (!minds_singularity(w)) return watch_rough_stage(w, t, y, status);
    if (w->kind->rough_stages) return rates_at_rough_stage(w, t, y, out, status);
    if (w->margin >= INTEGRATOR_BESIDE && kkt_expects_redundancy(w->kinetics->all))
        return rates_beside_singularity(w, t, y, out);
    if (w->margin >= INTEGRATOR_BESIDE) return status;
    return w->margin < ACROSS ? rates_across_singularity(w, t, y, out) : rates_beside_singularity(w, t, y, out);
}

hamel_status integrator_see_across(integrator *w, double t, const double *q, const double *v, bool *near,
                                   const across **found, hamel_error *error) {
    kinetics *k = w->kinetics;
    double margin = kinetics_margin(k);
    if (integrator_rank(w) < w->rank) margin = 0;
    *found = NULL;
    *near = w->beside && margin < INTEGRATOR_REGULAR * w->widest;
    if (!*near) return HAMEL_OK;
    if (integrator_loses_velocities(w, margin)) return integrator_explain_dependence(w, t, margin, error);
    double step = PART_OF_STEP * fmax(w->t - w->previous, w->calm_step);
    double d = across_distance(&w->across, k, t, q, v, step, INTEGRATOR_REGULAR * w->widest, w->rank);
    if (d > 0 && across_find(&w->across, k, t, q, v, d) == HAMEL_OK) *found = &w->across;
    return HAMEL_OK;
}

size_t integrator_rank(const integrator *w) {
    const kinetics *k = w->kinetics;
    return k->motion.frame ? kkt_rank(k->all) : motion_rank(&k->motion);
}

double integrator_margin_here(void *user) {
    integrator *w = user;
    kinetics *k = w->kinetics;
    if (k->motion.frame) w->margin = kinetics_margin(k);
    if (integrator_rank(w) < w->rank) return 0;
    return w->widest > w->margin ? w->margin / w->widest : 1;
}

int integrator_rates(void *user, double t, const double *y, double *out) {
    integrator *w = user;
    if (!w->looking && integrator_stopped(w)) return -1;
    hamel_status status = integrator_evaluate(w, t, y, out, NULL);
    if (!w->kinetics->motion.frame)
        w->margin = w->kinetics->margin;
    else if (w->model->m > 0 && minds_singularity(w)) /* by a factorization of its own */
        w->margin = kinetics_margin(w->kinetics);
    if (w->margin < w->least_margin) w->least_margin = w->margin;
    status = rates_beside(w, t, y, out, status);
    if (w->too_near) return -1;
    if (status != HAMEL_OK) return remember_failure(w, status, t, y);
    if (!w->model->energy_rate) return 0;
    double *power = out + w->state_count;
    *power = kinetics_energy_rate(w->kinetics, t, y, w->velocity, w->lambda);
    return isfinite(*power) ? 0 : remember_failure(w, HAMEL_NOT_FINITE, t, y);
}

/* The linearized constraints are kept as those of the motion are. BDF projects states, and not sensitivities: there the
 * stabilization is theirs alone, and changes nothing else, as it vanishes along the constraints. */
int integrator_rates_along(void *user, double t, const double *y, N_Vector *s, N_Vector *ds) {
    integrator *w = user;
    double alpha = w->along_rate > 0 ? w->along_rate : w->alpha, beta = w->along_rate > 0 ? w->along_rate : w->beta;
    if (integrator_stopped(w)) return -1;
    hamel_status status = forward_rates(w->forward, t, y, y + w->n, alpha, beta, s, ds);
    return status == HAMEL_OK ? 0 : remember_failure(w, status, t, y);
}

/* --- projection and weights ------------------------------------------------------------------------------------------- */

/* What leads off the manifold is taken out of a change (dq, dw) of the state given last to w->variables. */
static hamel_status project_change(integrator *w, double *change) {
    double *dv = w->scratch;
    hamel_status status = variables_velocity_change(w->variables, change, change + w->n, dv);
    if (status == HAMEL_OK) status = kinetics_project_direction(w->kinetics, change, dv);
    return status == HAMEL_OK ? variables_change(w->variables, change, dv, change + w->n) : status;
}

/* Errors count along the constraints only. Counted across, too, they would tell how far along a step comes back (half the
 * error at nine in ten of 105 constrained examples, at rtol 1e-9); but towards dependent constraints that part grows without
 * bound, and the rounding that a projection leaves, of the largest component in all, stops systems whose components differ
 * by four powers of ten (Andrews' mechanism). */
int integrator_project(void *user, double t, const double *y, double *c, double *error) {
    integrator *w = user;
    double *q = w->scratch, *v = q + w->n, worst = 0;
    size_t n = w->n;
    memcpy(q, y, n * sizeof *q);
    memcpy(v, w->velocity, n * sizeof *v);
    hamel_status status = variables_velocities(w->variables, t, y, y + n, v, NULL);
    if (status == HAMEL_OK) status = kinetics_project(w->kinetics, t, q, v, &worst, NULL);
    if (status == HAMEL_OK) status = variables_from_velocities(w->variables, t, q, v, c + n);
    memcpy(c, q, n * sizeof *c);
    if (status == HAMEL_OK && error) status = project_change(w, error);
    if (status != HAMEL_OK) return remember_failure(w, status, t, y);
    if (!(worst < 1e-9)) return 1;
    for (size_t i = 0; i < w->state_count; i++) c[i] -= y[i];
    if (w->model->energy_rate) c[w->state_count] = 0;
    return 0;
}

/* W keeps no step short that the motion would let be longer, but where the motion is far simpler than the work: a few times
 * what is asked of the motion is asked of it, relative to the largest W so far; nor does rounding. */
static double work_weight(integrator *w, double work) {
    static const double ROUNDING = 1e-13;
    w->most_work = fmax(w->most_work, fabs(work));
    double asked = fmax(w->least_energy, w->model->settings.rtol * w->most_work);
    double allowed = WORK * w->rtol / w->model->settings.rtol * asked + ROUNDING * w->most_work;
    return allowed > 0 ? 1 / allowed : 0;
}

int integrator_weights(void *user, const double *y, double *weight) {
    integrator *w = user;
    const double *atol = w->atol, factor = w->atol_factor, rtol = w->rtol;
    double finite = 0; /* 0·x is 0 for finite x and NaN otherwise: no branch in the loop */
    for (size_t i = 0; i < w->state_count; i++) {
        double allowed = rtol * fabs(y[i]) + factor * atol[i];
        weight[i] = 1 / allowed;
        finite += 0 * weight[i];
    }
    if (w->model->energy_rate) weight[w->state_count] = work_weight(w, y[w->state_count]);
    return finite == 0 ? 0 : -1;
}
