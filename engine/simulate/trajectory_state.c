/* trajectory_state.c — evaluation of states between steps.
 *
 * Interpolated states violate the constraints slightly. A copy of each interpolated state is projected and output; the
 * integration is not affected. The integrands of integrals over time are evaluated at states that are interpolated and
 * projected in this way. */
#include "engine/simulate/trajectory_int.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/jerk.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* If a velocity exceeds its previous maximum by this factor, the energy tolerance is evaluated again. The kinetic part
 * of the tolerance is quadratic in the velocities, so it grows at most by a factor of 1.44 between two evaluations. */
static const double GROWN = 1.2;
/* Relative change of a state by change_rounding: 8 rounding units, enough to change the rounding errors of all later
 * operations. */
static const double ROUNDING = 8 * DBL_EPSILON;

motion_state trajectory_state(const trajectory *l) {
    return (motion_state){
        l->t, l->q, l->v, l->a, l->lambda, l->free, l->events.values, l->events.bends, l->events.bend_slack};
}

/* Returns the inputs of the observation program at `at`, the state evaluated last, including the integrals over
 * time. */
static program_inputs observed_inputs(const trajectory *l, const motion_state *at) {
    program_inputs in = motion_inputs(l->dynamics, at);
    in.values[SYMBOL_INTEGRAL] = l->integral;
    return in;
}

/* Returns HAMEL_NOT_FINITE, with an error, if the observed value i is not finite. */
static hamel_status require_number(const trajectory *l, size_t i, hamel_error *error) {
    const hamel_model *model = l->model;
    char place[200] = "an invariant, a check or the energy";
    if (isfinite(l->observed[i])) return HAMEL_OK;
    if (i < model->observation.output_count)
        snprintf(place, sizeof place, "the output `%s`", model_output_name(model, i));
    motion_state at = trajectory_state(l);
    program_inputs in = observed_inputs(l, &at);
    return model_not_finite(model, model->observation.program, &in, l->dynamics->observed_work, l->t,
                            model->observation.pointers[i], place, error);
}

hamel_status trajectory_require_check(const trajectory *l, size_t check, hamel_error *error) {
    return require_number(l, (size_t)(trajectory_checks(l) - l->observed) + check, error);
}

/* Returns true if a value must be finite at each state. A check that applies to one time only may be undefined at other
 * times. */
static bool is_always_required(const hamel_model *model, size_t i) {
    size_t checks = model->observation.output_count + model->observation.invariant_count;
    if (i < checks || i >= checks + model->observation.check_count) return true;
    return model->observation.checks[i - checks].at == HAMEL_CHECK_ALWAYS;
}

static hamel_status find_free(trajectory *l, hamel_error *error) {
    if (!l->model->observation.needs_free) return HAMEL_OK;
    hamel_status status = dynamics_free_accelerations(l->dynamics, l->a, l->lambda, l->free);
    if (status == HAMEL_SINGULAR)
        return hamel_fail(error, status, "/outputs", 0,
                          "at t = %.9g gauss() and gauss_nonideal() need a mass matrix that is not singular", l->t);
    return status == HAMEL_OK ? status : dynamics_explain(l->dynamics, status, error);
}

static hamel_status evaluate_observed(trajectory *l, hamel_error *error) {
    const hamel_model *model = l->model;
    hamel_status status = find_free(l, error);
    if (status != HAMEL_OK) return status;
    if (model->observation.jerk) status = jerk_compute(l->dynamics, l->a, l->lambda);
    if (status != HAMEL_OK) return dynamics_explain(l->dynamics, status, error);
    motion_state at = trajectory_state(l);
    program_inputs in = observed_inputs(l, &at);
    program_evaluate(model->observation.program, &in, l->dynamics->observed_work, l->observed);
    for (size_t i = 0; i < model->observation.count && status == HAMEL_OK; i++)
        if (!isfinite(l->observed[i]) && is_always_required(model, i)) status = require_number(l, i, error);
    return status;
}

/* Adds the error that no state satisfies all constraints. A state that violates the constraints is never output. */
static hamel_status fail_projection(const trajectory *l, hamel_error *error) {
    const hamel_model *model = l->model;
    size_t worst = 0;
    double most = -1;
    for (size_t c = 0; c < model->m; c++) {
        double scaled = fmax(dynamics_scaled(l->dynamics, c, true), dynamics_scaled(l->dynamics, c, false));
        if (scaled > most) most = scaled, worst = c;
    }
    const system_constraint *c = &model->system->constraints[worst];
    (void)hamel_fail(error, HAMEL_INCOMPATIBLE, c->pointer, 0,
                     "at t = %.9g no state near the motion satisfies all constraints: `%s` is off by %.3g", l->t,
                     c->name,
                     fmax(fabs(dynamics_position(l->dynamics)[worst]), fabs(dynamics_velocity(l->dynamics)[worst])));
    hamel_suggest(error,
                  "end the run earlier, or check whether the constraints contradict each other from this time on");
    return HAMEL_INCOMPATIBLE;
}

static hamel_status fail_singular(const trajectory *l, hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.17g the constraint Jacobian is singular, and %s not determined there", l->t,
                     l->sensitivities ? "sensitivities are" : "the motion is");
    hamel_suggest(error, l->sensitivities ? "omit the sensitivities, or end the run earlier"
                                          : "choose a slightly different time for the row, check or event");
    return HAMEL_INTEGRATION;
}

/* Returns true if the projection has changed each velocity by at most ANOTHER_MOTION times its tolerance. */
static bool keeps_velocities(const trajectory *l) {
    const model_settings *s = &l->model->settings;
    size_t n = l->model->n;
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(l->v[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(l->v[i] - l->unprojected[n + i]) <= ANOTHER_MOTION * (s->rtol * size + s->atol[i]))) return false;
    return true;
}

/* Close to a singular configuration, replaces the state by an interpolation of states on both sides of the
 * configuration. */
static hamel_status replace_singular(trajectory *l, bool *between, hamel_error *error) {
    dynamics *k = l->dynamics;
    size_t n = l->model->n, bytes = n * sizeof *l->q;
    bool near;
    const singular_state *found = NULL;
    double residual[2];
    hamel_status status =
        singularity_replace_state(l->integrator, l->t, l->unprojected, l->unprojected + n, &near, &found, error);
    *between = status == HAMEL_OK && found;
    if (status != HAMEL_OK || !near) return status;
    if (l->sensitivities || (!found && !keeps_velocities(l))) return fail_singular(l, error);
    if (found) {
        memcpy(l->q, found->q, bytes);
        memcpy(l->v, found->v, bytes);
    }
    status = dynamics_evaluate(k, l->t, l->q, l->v, error); /* other states were evaluated in between */
    if (status != HAMEL_OK) return status;
    if (!found) return dynamics_accelerations(k, 0, 0, l->a, l->lambda, error);
    memcpy(l->a, found->a, bytes);
    memcpy(l->lambda, found->lambda, l->model->m * sizeof *l->lambda);
    memcpy(k->ideal, found->ideal, bytes);
    memcpy(k->nonideal, found->nonideal, bytes);
    l->residual = dynamics_missed(k, l->a, l->lambda);
    dynamics_residuals(k, &residual[0], &residual[1]);
    return fmax(residual[0], residual[1]) < ON_CONSTRAINTS ? HAMEL_OK : fail_projection(l, error);
}

/* Computes accelerations and multipliers of the state in q, v. Close to a singular configuration, rounding may prevent
 * a solution that satisfies all constraints. The state, its accelerations and its multipliers are then interpolated. */
static hamel_status solve_motion(trajectory *l, bool projected, bool *between, hamel_error *error) {
    dynamics *k = l->dynamics;
    /* replace_singular and the ranks after events need the factorization */
    bool regular = l->integrator && !l->integrator->near_singularity && l->model->events.root_count == 0;
    hamel_status solved = regular ? dynamics_rates(k, l->t, l->q, l->v, 0, 0, l->a, l->lambda, NULL)
                                  : dynamics_accelerations(k, 0, 0, l->a, l->lambda, NULL);
    hamel_status status = HAMEL_OK;
    bool determined = solved != HAMEL_NOT_FINITE && solved != HAMEL_NO_MEMORY && solved != HAMEL_CANCELED;
    if (projected && l->integrator && determined) status = replace_singular(l, between, error);
    if (status != HAMEL_OK || *between || solved == HAMEL_OK) return status;
    return dynamics_accelerations(k, 0, 0, l->a, l->lambda, error);
}

/* Returns true if a program reads accelerations, multipliers or reactions. */
static bool reads_motion(const program *p) {
    const unsigned motion = GRAPH_DEPENDS(SYMBOL_ACCELERATION) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER) |
                            GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    return (program_depends(p) & motion) != 0;
}

/* Returns true if a row or check needs accelerations and multipliers because outputs, events or sensitivities use them.
 * Also returns true near a singular configuration, and if the equations of motion have not been verified since the last
 * step. */
static bool needs_motion(const trajectory *l) {
    const hamel_model *model = l->model;
    return !l->integrator || l->integrator->near_singularity || l->integrator->steps != l->verified_steps ||
           model->events.root_count > 0 || l->sensitivities || model->observation.needs_free ||
           model->observation.jerk || reads_motion(model->observation.program);
}

/* Returns true if a row or check needs the dynamics program. `motion` is the result of needs_motion. If it is false, a
 * row of a system without constraints whose states are q and q' needs only the outputs and the energy. */
static bool needs_dynamics(const trajectory *l, bool motion) {
    return motion || l->model->m > 0 || !l->integrator->plain;
}

/* Projects the state in l->q, l->v at l->t onto the constraints. If `motion` is true, also computes l->a and l->lambda.
 * Sets *between to true if state and accelerations are interpolated from both sides of a singular configuration. */
static hamel_status settle_state(trajectory *l, bool motion, bool *between, hamel_error *error) {
    const hamel_model *model = l->model;
    bool projected = model->settings.projection == HAMEL_PROJECTION_ON && model->m > 0;
    double worst = 0;
    hamel_status status = HAMEL_OK;
    *between = false;
    if (projected) memcpy(l->unprojected, l->q, 2 * model->n * sizeof *l->q); /* q and v */
    l->has_dynamics = !l->integrator || needs_dynamics(l, motion);
    if (!l->dynamics->survey.done) status = rank_survey_find(l->dynamics, l->t, l->q, l->v);
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    if (projected)
        status = dynamics_project(l->dynamics, l->t, l->q, l->v, &worst, error);
    else if (l->has_dynamics)
        status = dynamics_evaluate_without_mass(l->dynamics, l->t, l->q, l->v, error);
    if (status == HAMEL_OK && !(worst < ON_CONSTRAINTS)) return fail_projection(l, error);
    return status == HAMEL_OK && motion ? solve_motion(l, projected, between, error) : status;
}

/* Evaluates the state in q, v at l->t, as trajectory_evaluate does after the interpolation. If `motion` is false, omits
 * accelerations and multipliers. */
static hamel_status evaluate_state(trajectory *l, bool motion, hamel_error *error) {
    bool between;
    hamel_status status = settle_state(l, motion, &between, error);
    if (status == HAMEL_OK && motion) {
        if (!between) status = dynamics_verify(l->dynamics, l->a, l->lambda, &l->residual, error);
        if (l->integrator) l->verified_steps = l->integrator->steps;
    }
    if (status == HAMEL_OK) status = evaluate_observed(l, error);
    if (status != HAMEL_OK || !l->sensitivities) return status;
    sensitivities_part(l->sensitivities, l->v, l->a, l->sensitive);
    return sensitivities_see(l->sensitivities, l->t, l->q, l->v, l->sensitive, l->derivatives, error);
}

hamel_status trajectory_evaluate_here(trajectory *l, hamel_error *error) {
    return evaluate_state(l, true, error);
}

/* If momenta are constants of the motion, projects the state and computes the velocities again from these momenta. */
static hamel_status keep_constants(trajectory *l, hamel_error *error) {
    double worst;
    if (!l->model->momenta.cyclic || l->model->settings.projection != HAMEL_PROJECTION_ON) return HAMEL_OK;
    hamel_status status = dynamics_project(l->dynamics, l->t, l->q, l->v, &worst, error);
    return status == HAMEL_OK ? integrator_keep_constants(l->integrator, l->t, l->q, l->v, error) : status;
}

/* Multiplies each number in l->q and l->v by 1 ± ROUNDING. The signs depend on `sample`. */
static void change_rounding(trajectory *l, int sample) {
    for (size_t i = 0; i < 2 * l->model->n; i++)
        l->q[i] *= 1 + ((i * 2654435761u >> sample) & 1 ? ROUNDING : -ROUNDING); /* Knuth's multiplicative hash */
}

/* An integrand_function with the trajectory as context: evaluates the program observation.integrands at a time within
 * the last step. */
static hamel_status evaluate_integrands(void *context, double t, int sample, double *values, hamel_error *error) {
    trajectory *l = context;
    const model_observation *o = &l->model->observation;
    bool motion = o->needs_free || reads_motion(o->integrands) || l->integrator->near_singularity, between;
    double work;
    l->t = sample ? fmin(t + ROUNDING * fabs(t), l->integrator->t) : t;
    dynamics_recall(l->dynamics, &l->recalled);
    hamel_status status = integrator_interpolate(l->integrator, l->t, l->q, l->v, &work, error);
    if (status == HAMEL_OK && sample) change_rounding(l, sample);
    if (status == HAMEL_OK) status = keep_constants(l, error);
    if (status == HAMEL_OK) status = settle_state(l, motion, &between, error);
    if (status == HAMEL_OK) status = find_free(l, error);
    if (status != HAMEL_OK) return status;
    motion_state at = trajectory_state(l);
    program_inputs in = motion_inputs(l->dynamics, &at);
    program_evaluate(o->integrands, &in, l->integrand_work, values);
    for (size_t i = 0; i < o->integral_count; i++)
        if (!isfinite(values[i]))
            return model_not_finite(l->model, o->integrands, &in, l->integrand_work, t, o->integral_pointers[i],
                                    "the integrand of an integral", error);
    return HAMEL_OK;
}

/* Sets l->integral[integral_count] to the integrals up to t, which is within the last step. Afterwards restores the
 * state evaluated last, and the multipliers at which the next iteration for forces starts. */
static hamel_status integrate_to(trajectory *l, double t, hamel_error *error) {
    const size_t n = l->model->n, m = l->model->m;
    if (l->integrals.count == 0) return HAMEL_OK;
    double *const arrays[] = {l->q, l->a, l->lambda, l->dynamics->lambda}, time = l->t; /* q is followed by v */
    const size_t lengths[] = {2 * n, n, m, m};
    equation_residual residual = l->residual;
    bool had_dynamics = l->has_dynamics;
    double *kept = l->kept;
    for (size_t k = 0; k < 4; kept += lengths[k++]) memcpy(kept, arrays[k], lengths[k] * sizeof *kept);
    hamel_status status = time_integrals_to(&l->integrals, t, evaluate_integrands, l, l->integral, error);
    kept = l->kept;
    for (size_t k = 0; k < 4; kept += lengths[k++]) memcpy(arrays[k], kept, lengths[k] * sizeof *kept);
    l->t = time;
    l->residual = residual;
    l->has_dynamics = had_dynamics;
    return status;
}

hamel_status trajectory_advance_integrals(trajectory *l, hamel_error *error) {
    if (l->integrals.count == 0) return HAMEL_OK;
    double reach = fmax(trajectory_reach(l), l->integrals.t);
    hamel_status status = integrate_to(l, reach, error);
    if (status == HAMEL_OK) time_integrals_advance(&l->integrals, reach, l->integral);
    return status;
}

static hamel_status evaluate_at(trajectory *l, double t, bool motion, hamel_error *error) {
    l->t = t;
    if (!l->integrator) return trajectory_evaluate_here(l, error);
    hamel_status status = integrate_to(l, t, error);
    if (status != HAMEL_OK) return status;
    if (needs_dynamics(l, motion)) dynamics_recall(l->dynamics, &l->recalled);
    status = integrator_interpolate(l->integrator, t, l->q, l->v, &l->work, error);
    if (status == HAMEL_OK && l->sensitivities)
        status = integrator_interpolate_sensitivities(l->integrator, t, l->sensitive, error);
    if (status == HAMEL_OK) status = keep_constants(l, error);
    l->work += l->event_work;
    return status == HAMEL_OK ? evaluate_state(l, motion, error) : status;
}

hamel_status trajectory_evaluate(trajectory *l, double t, hamel_error *error) {
    return evaluate_at(l, t, true, error);
}

hamel_status trajectory_visit(trajectory *l, double t, hamel_error *error) {
    return evaluate_at(l, t, needs_motion(l), error);
}

void trajectory_row(const trajectory *l, double *row) {
    const hamel_model *model = l->model;
    size_t n = model->n;
    for (size_t c = 0; c < model->header.column_count; c++) {
        size_t i = model->columns.recorded[c];
        row[c] = i == 0                           ? l->t
                 : i <= n                         ? l->q[i - 1]
                 : i <= 2 * n                     ? l->v[i - 1 - n]
                 : i < model->columns.state_count ? l->observed[i - 1 - 2 * n]
                                                  : l->derivatives[i - model->columns.state_count];
    }
}

double trajectory_energy_tolerance(const trajectory *l) {
    return motion_energy_tolerance(l->dynamics, l->q, l->v, trajectory_jacobi(l));
}

double trajectory_energy_tolerance_of_step(trajectory *l) {
    const hamel_model *model = l->model;
    dynamics *k = l->dynamics;
    const double *near = l->integrator->velocity;
    double t = l->integrator->t, *q = l->end, *v = q + model->n, work;
    bool grown = false;
    for (size_t i = 0; i < model->n; i++) grown = grown || fabs(near[i]) > GROWN * l->fastest[i];
    if (!grown || l->event_pending || integrator_interpolate(l->integrator, t, q, v, &work, NULL) != HAMEL_OK ||
        dynamics_evaluate_without_mass(k, t, q, v, NULL) != HAMEL_OK)
        return 0;
    for (size_t i = 0; i < model->n; i++) l->fastest[i] = fmax(l->fastest[i], fmax(fabs(near[i]), fabs(v[i])));
    return motion_energy_tolerance(k, q, v, trajectory_jacobi(l));
}
