/* nearby.c — rates and states near singular configurations.
 *
 * Rates are evaluated at the nearest state on the constraint manifold, and a separate term damps the constraint
 * violation. Where rounding errors are too large, accelerations are interpolated from earlier and later states
 * (interpolation.c). */
#include "engine/simulate/integrator.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rank margin s below which accelerations are interpolated. The rounding error ε/s² is 2e-10 there. */
static const double INTERPOLATED = 1e-3;
/* First distance d of the interpolation, relative to a step. With this value, the outermost states, at ±5d, are three
 * quarters of a step away. */
static const double PART_OF_STEP = 0.15;
static const double NEXT_STEP = 1.2; /* assumed largest ratio of the next step to the last one */

/* Computes accelerations and multipliers at the state on the constraint manifold nearest to y. */
static hamel_status nearest_accelerations(integrator *w, double t, const double *y) {
    double *q = w->scratch, *v = q + w->n, worst = 0;
    memcpy(q, y, w->n * sizeof *q);
    memcpy(v, w->velocity, w->n * sizeof *v);
    hamel_status status = dynamics_project(w->dynamics, t, q, v, &worst, NULL);
    if (status == HAMEL_OK && !(worst < ON_CONSTRAINTS)) return HAMEL_INCOMPATIBLE;
    return status == HAMEL_OK ? dynamics_accelerations(w->dynamics, 0, 0, w->acceleration, w->lambda, NULL) : status;
}

static hamel_status projected_rates(integrator *w, double t, const double *y, double *out) {
    size_t n = w->n;
    const double *q = w->scratch, *v = q + n;
    hamel_status status = nearest_accelerations(w, t, y);
    for (size_t i = 0; i < n; i++) {
        out[i] = v[i] - w->alpha * (y[i] - q[i]);
        out[n + i] = w->acceleration[i] - w->alpha * (w->velocity[i] - v[i]);
    }
    return status;
}

/* Computes the rates by interpolation. The distance of its states is proportional to the last regular step, because the
 * motion was smooth during that step. */
static hamel_status interpolated_rates(integrator *w, double t, const double *y, double *out) {
    if (w->regular_step == 0) return projected_rates(w, t, y, out);
    hamel_status status =
        singular_state_interpolate(&w->singular, w->dynamics, t, y, w->velocity, PART_OF_STEP * w->regular_step);
    memcpy(out, w->velocity, w->n * sizeof *out);
    memcpy(out + w->n, w->singular.a, w->n * sizeof *out);
    memcpy(w->lambda, w->singular.lambda, w->model->m * sizeof *out);
    return status;
}

/* Inaccurate stages must not be near a singular configuration, because the nearest state could be on another branch. A
 * long step can pass such a configuration between two stages. If another method is available, stages therefore keep a
 * larger distance. The rank margin is computed at the nearest state on the constraint manifold. Off the manifold,
 * redundant constraints are slightly inconsistent, and the configuration seems singular. */
static hamel_status rough_stage_rates(integrator *w, double t, const double *y, double *out, hamel_status found) {
    bool other = w->may_change || singularity_allows_collocation(w);
    double least = (other ? SINGULARITY_ROUGH : SINGULARITY_NEAR) * w->largest_margin;
    if (w->margin >= least && found == HAMEL_OK) return HAMEL_OK;
    hamel_status status = projected_rates(w, t, y, out);
    w->too_near = !w->evaluating_dense && (status != HAMEL_OK || dynamics_margin(w->dynamics) < least);
    return status;
}

bool singularity_allows_collocation(const integrator *w) {
    return !w->suspended && !w->collocation_failed && !w->forward && w->model->m > 0 &&
           w->model->settings.projection == HAMEL_PROJECTION_ON;
}

bool singularity_needs_collocation(integrator *w) {
    double near = fmax(SINGULARITY_ROUGH * w->largest_margin, NEXT_STEP * w->margin_drop);
    if (!singularity_allows_collocation(w) || w->kind->rough_stages || w->margin >= near) return false;
    return variables_velocities(w->variables, w->t, w->y, w->y + w->n, w->velocity, NULL) != HAMEL_OK ||
           nearest_accelerations(w, w->t, w->y) != HAMEL_OK || dynamics_margin(w->dynamics) < near;
}

/* Leaves the rates of variables other than velocities unchanged, but rejects stages near a singular configuration. */
static hamel_status watch_rough_stage(integrator *w, double t, const double *y, hamel_status found) {
    if (!w->kind->rough_stages || w->evaluating_dense || !singularity_allows_collocation(w)) return found;
    if (w->margin >= SINGULARITY_ROUGH * w->largest_margin && found == HAMEL_OK) return found;
    hamel_status status = nearest_accelerations(w, t, y);
    w->too_near = status != HAMEL_OK || dynamics_margin(w->dynamics) < SINGULARITY_ROUGH * w->largest_margin;
    return found;
}

/* Returns true if rates are evaluated at the nearest state on the constraint manifold. This requires that the
 * integrated variables are the velocities q', and a method other than BDF, because BDF projects its states. */
static bool evaluates_nearest(const integrator *w) {
    return !w->kind->implicit && !w->suspended && w->model->formulation->variables == VARIABLES_VELOCITIES &&
           w->model->settings.projection == HAMEL_PROJECTION_ON;
}

/* If the gradients of redundant constraints rotate at the rate ω, each constraint satisfies Φ'' = 0, but their common
 * violation grows as exp(ωt): n·Φ'' = δ'' − ω²δ for Φ = n(t)δ with |n| = 1. If constraints are redundant, the rates of
 * the nearest state are therefore always used. */
hamel_status singularity_correct_rates(integrator *w, double t, const double *y, double *out, hamel_status status) {
    assert(w->model->m > 0);
    if (!w->dynamics->motion.basis)
        w->margin = w->dynamics->margin;
    else if (evaluates_nearest(w)) /* costs an additional factorization */
        w->margin = dynamics_margin(w->dynamics);
    if (w->margin < w->least_margin) w->least_margin = w->margin;
    if (status == HAMEL_NOT_FINITE) return status;
    if (!evaluates_nearest(w)) return watch_rough_stage(w, t, y, status);
    if (w->kind->rough_stages) return rough_stage_rates(w, t, y, out, status);
    if (w->margin >= SINGULARITY_NEAR)
        return kkt_expects_redundancy(w->dynamics->all) ? projected_rates(w, t, y, out) : status;
    return w->margin < INTERPOLATED ? interpolated_rates(w, t, y, out) : projected_rates(w, t, y, out);
}

/* At the rank margin s, errors δ of the positions change velocities by δ/s and their rates by δ/s². These changes must
 * be within the tolerance, except with BDF, which projects each state. */
bool singularity_loses_velocities(const integrator *w, double margin) {
    double s = margin / w->largest_margin;
    return variables_meet_constraints(w->variables) && !w->kind->implicit && w->model->m > 0 &&
           s * s < w->model->settings.rtol * w->options.tolerance_factor;
}

hamel_status singularity_replace_state(integrator *w, double t, const double *q, const double *v, bool *near,
                                       const singular_state **found, hamel_error *error) {
    dynamics *k = w->dynamics;
    assert(w->largest_margin >= 0 && w->previous <= w->t);
    double margin = singularity_rank(w) < w->rank ? 0 : dynamics_margin(k);
    *found = NULL;
    *near = w->near_singularity && margin < SINGULARITY_REGULAR * w->largest_margin;
    if (!*near) return HAMEL_OK;
    if (singularity_loses_velocities(w, margin)) return singularity_explain(w, t, margin, error);
    double step = PART_OF_STEP * fmax(w->t - w->previous, w->regular_step);
    double d =
        singular_state_distance(&w->singular, k, t, q, v, step, SINGULARITY_REGULAR * w->largest_margin, w->rank);
    if (d > 0 && singular_state_interpolate(&w->singular, k, t, q, v, d) == HAMEL_OK) *found = &w->singular;
    return HAMEL_OK;
}

size_t singularity_rank(const integrator *w) {
    const dynamics *k = w->dynamics;
    return k->motion.basis ? kkt_rank(k->all) : motion_rank(&k->motion);
}

double singularity_relative_margin(void *user) {
    integrator *w = user;
    dynamics *k = w->dynamics;
    if (k->motion.basis) w->margin = dynamics_margin(k);
    if (singularity_rank(w) < w->rank) return 0;
    return w->largest_margin > w->margin ? w->margin / w->largest_margin : 1;
}

void singularity_suggest(const integrator *w, hamel_error *error) {
    if (w->model->settings.projection != HAMEL_PROJECTION_ON)
        hamel_suggest(error, "keep `projection` on: without projection a run cannot pass singular configurations");
    else if (w->forward)
        hamel_suggest(error, "omit the sensitivities: with sensitivities a run cannot pass singular configurations");
    else if (w->model->settings.method != HAMEL_METHOD_AUTO)
        hamel_suggest(error, "use method auto: it changes to bdf if the system becomes stiff");
    else
        hamel_suggest(error, "try another rtol or other initial values");
}

hamel_status singularity_explain_ambiguity(integrator *w, hamel_error *error) {
    char names[400];
    bool named = dynamics_dependent_names(w->dynamics, w->margin, names, sizeof names);
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "near t = %.9g the constraints%s%s are so close to redundancy that rounding decides how the "
                     "motion continues",
                     w->t, named ? " " : "", named ? names : "");
    hamel_suggest(error, "change a length or an initial value slightly, so that the constraints either become "
                         "redundant or remain clearly independent");
    return HAMEL_INTEGRATION;
}

/* With an explicit method, t is well before the configuration itself, because the stages of the method keep a distance
 * from the configuration. */
hamel_status singularity_explain(integrator *w, double t, double margin, hamel_error *error) {
    char names[400];
    const char *method = integrator_method(w);
    bool named = dynamics_dependent_names(w->dynamics, margin, names, sizeof names);
    if (w->kind->rough_stages && w->model->formulation->variables == VARIABLES_VELOCITIES)
        (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                         "near t = %.9g the constraints%s%s become redundant, and the stages of method %s are too "
                         "inaccurate to pass this configuration",
                         t, named ? " " : "", named ? names : "", method);
    else
        (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                         "at t = %.9g the constraints%s%s become redundant, and formulation `%s` cannot continue "
                         "there with method %s",
                         t, named ? " " : "", named ? names : "", w->model->formulation->name, method);
    singularity_suggest(w, error);
    return HAMEL_INTEGRATION;
}
