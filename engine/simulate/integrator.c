/* integrator.c — steps, changes of method and restarts. integrator_rates.c computes the rates. */
#include "engine/simulate/integrator.h"

#include "engine/base/tolerances.h"
#include "engine/simulate/uncertainty.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Rate of stabilization times step size with Adams. Larger values shorten the steps, because Adams' higher orders are
 * stable on the negative real axis only up to a few hundredths. On pendulums over 1,000 s, values from 0.005 to 0.05
 * were measured to keep the drift at the tolerance. */
static const double STABILIZATION = 0.02;
/* Safety factor on the tolerances of BDF near singular configurations, where rounding errors of the accelerations grow.
 * With the usual factor 0.003, tolerances could be below the rounding errors, and steps would shrink without end.
 * multistep.c lists the errors for a factor of 0.1. */
static const double SAFETY_NEAR_SINGULARITY = 0.1;
/* First step of collocation, relative to the last step: LONGER after a Runge–Kutta method, MUCH_LONGER after a
 * multistep method. Order 20 allows longer steps than the order 8 of DOP853, and much longer steps than multistep
 * methods. Both factors are estimates. If a factor is too large, the error test rejects and shortens the first step. If
 * it is too small, collocation takes more steps until the step size has grown. */
static const double LONGER = 2, MUCH_LONGER = 20;
/* Part of the largest rank margin above which the suspended method resumes. The value is above 0.1, at which
 * collocation starts, so that the methods do not alternate. */
static const double LEFT = 0.15;

/* Bits of the methods used so far: `auto` uses each method at most once, in this order. */
enum { USED_ERK = 1, USED_ADAMS = 2, USED_BDF = 4 };

/* Bound on consecutive collocation steps. A sharp turn near a singular configuration takes about a hundred steps. */
enum { COLLOCATION_STEPS = 300 };

/* --- creation ----------------------------------------------------------------------------------------------------- */

bool integrator_limit_step(integrator *w, double most) {
    double given = w->model->settings.max_step;
    w->stepper->most = given > 0 ? fmin(most, given) : most;
    return !w->kind->limit || w->kind->limit(w->stepper);
}

static void close_method(integrator *w) {
    if (w->stepper) w->before = integrator_count(w);
    stepper_close(w->stepper);
    w->stepper = NULL;
    newton_solver_free(w->newton);
    w->newton = NULL;
    arena_free(&w->method_memory);
}

static bool attach_newton_solver(void *user, void *cvode, SUNContext context) {
    integrator *w = user;
    w->newton = newton_solver_attach(&w->method_memory, cvode, w->variables, w->dynamics, w->velocity, context);
    return w->newton != NULL;
}

/* Sets the stabilization constants when a method starts. If Baumgarte's constants are not specified, the stabilization
 * is 0 until follow_step sets it from the step size. */
static void set_stabilization(integrator *w) {
    const model_settings *s = &w->model->settings;
    bool given = s->projection == HAMEL_PROJECTION_BAUMGARTE;
    w->alpha = given ? s->baumgarte[0] : 0;
    w->beta = given ? s->baumgarte[1] : 0;
}

static bool start_method(integrator *w) {
    const hamel_model *model = w->model;
    bool constrained = model->settings.projection == HAMEL_PROJECTION_ON && model->m > 0;
    set_stabilization(w);
    w->forward_rate = 0;
    w->since_start = 0;
    w->window = (stiffness_window){.failed = w->failed_evaluations};
    w->atol_factor = w->options.tolerance_factor * w->safety;
    w->rtol = fmax(model->settings.rtol * w->atol_factor, RTOL_LEAST);
    w->problem = (stepper_problem){.length = w->state_count + (model->dynamics.energy_rate ? 1 : 0),
                                   .stop = model->settings.stop,
                                   .memory = &w->method_memory,
                                   .user = w,
                                   .rates = integrator_rates,
                                   .weights = integrator_weights,
                                   .project = constrained ? integrator_project : NULL,
                                   .margin = singularity_relative_margin,
                                   .attach_linear_solver = attach_newton_solver,
                                   .forward = w->forward,
                                   .forward_rates = integrator_forward_rates};
    w->stepper = w->kind->open(w->kind, &w->problem, w->t, w->y);
    return w->stepper && integrator_limit_step(w, INFINITY);
}

/* Updates w->start_energy. Evaluates the state first, because the dynamics may have evaluated another state last. If
 * the evaluation fails, the first step reports the error. */
static void note_energy(integrator *w, const double *q, const double *v, double work) {
    const hamel_model *model = w->model;
    const double *M = w->dynamics->values + model->dynamics.M.at, *Q = w->dynamics->values + model->dynamics.at_Q;
    if (dynamics_evaluate(w->dynamics, w->t, q, v, NULL) != HAMEL_OK) return;
    double energy = energy_tolerance(model, M, Q, q, v, work) + energy_at_rest(model, M);
    w->start_energy = fmax(w->start_energy, energy);
}

/* Sets w->y and its tolerances from (q, q'). */
static hamel_status set_state(integrator *w, const double *q, const double *v, double work) {
    double *y = w->y;
    memcpy(y, q, w->n * sizeof *y);
    memcpy(w->velocity, v, w->n * sizeof *v);
    if (w->model->dynamics.energy_rate) {
        y[w->state_count] = work;
        note_energy(w, q, v, work);
    }
    memcpy(w->atol, w->model->settings.atol, w->n * sizeof *w->atol);
    hamel_status status = variables_from_velocities(w->variables, w->t, q, v, y + w->n);
    if (status == HAMEL_OK) variables_tolerances(w->variables, w->model->settings.atol, w->atol + w->n);
    return status;
}

static bool needs_multipliers(const integrator *w) {
    const program *rate = w->model->dynamics.energy_rate;
    return dynamics_needs_multipliers(w->dynamics) || variables_need_multipliers(w->variables) ||
           (rate && (program_depends(rate) & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)));
}

/* At equal error the Runge–Kutta method takes half the time of Adams in the median of the examples. The Runge–Kutta
 * method rarely takes more time than Adams (tests/bench/bench_methods.c). With thousands of coordinates the two methods
 * take the same time. */
static const stepper_kind *first_method(const hamel_model *model) {
    static const stepper_kind *const given[] = {[HAMEL_METHOD_AUTO] = NULL,
                                                [HAMEL_METHOD_BDF] = &stepper_bdf,
                                                [HAMEL_METHOD_ADAMS] = &stepper_adams,
                                                [HAMEL_METHOD_ERK] = &stepper_erk};
    const stepper_kind *kind = given[model->settings.method];
    return kind ? kind : model->sensitivities ? &stepper_adams : &stepper_erk;
}

static void set_method(integrator *w, const stepper_kind *kind, double safety) {
    w->used |= kind == &stepper_erk     ? USED_ERK
               : kind == &stepper_adams ? USED_ADAMS
               : kind == &stepper_bdf   ? USED_BDF
                                        : 0u; /* collocation is not counted as a method */
    w->kind = kind;
    w->safety = safety;
}

/* Adds an error if the variables or the method cannot start from a state. */
static hamel_status explain_state(const integrator *w, hamel_status status, hamel_error *error) {
    if (status == HAMEL_CANCELED || (error && error->status != HAMEL_OK)) return status;
    if (status == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    if (status == HAMEL_INTERNAL)
        return hamel_fail(error, status, "", 0, "the integration cannot continue from t = %.17g", w->t);
    return hamel_fail(
        error, status, "", 0, "at t = %.9g the variables of formulation `%s` are not determined by the velocities%s",
        w->t, w->model->formulation->name, status == HAMEL_NOT_FINITE ? ": the computed values are not finite" : "");
}

/* Arrays for a state (q, w, W) have 2n + 1 elements, the largest length of a state. */
static bool allocate_integrator(integrator *w, arena *memory) {
    size_t n = w->n, length = 2 * n + 1;
    double *vectors = arena_alloc(memory, 4 * n + w->model->m + 4 * length, sizeof *vectors);
    if (!vectors || !singular_state_create(&w->singular, memory, w->model)) return false;
    w->acceleration = vectors;
    w->velocity = w->acceleration + n;
    w->scratch = w->velocity + n;
    w->failed_state = w->scratch + 2 * n;
    w->atol = w->failed_state + length;
    w->y = w->atol + length;
    w->dense = w->y + length;
    w->lambda = w->dense + length;
    if (!w->options.sensitivities) return true;
    size_t integrated = w->state_count + (w->model->dynamics.energy_rate ? 1 : 0);
    w->forward = forward_create(memory, w->options.sensitivities, integrated, w->options.start_sensitive);
    return w->forward != NULL;
}

/* Starts the method from (q, v) with the current number of variables. */
static hamel_status open_at(integrator *w, const double *q, const double *v, double work) {
    w->plain = variables_are_velocities(w->variables);
    w->state_count = w->n + variables_count(w->variables);
    assert(w->state_count <= 2 * w->n);
    w->wanted_lambda = needs_multipliers(w) ? w->lambda : NULL;
    hamel_status status = set_state(w, q, v, work);
    return status != HAMEL_OK || start_method(w) ? status : HAMEL_NO_MEMORY;
}

hamel_status integrator_create(integrator **out, dynamics *k, const double *q, const double *v,
                               const integrator_options *options, hamel_error *error) {
    const hamel_model *model = k->model;
    integrator *w = arena_alloc(&k->memory, 1, sizeof *w);
    *out = NULL;
    assert(options->tolerance_factor > 0);
    assert((options->sensitivities != NULL) == (model->sensitivities != NULL));
    if (!w) return hamel_out_of_memory(error);
    *w = (integrator){.model = model,
                      .dynamics = k,
                      .options = *options,
                      .n = model->n,
                      .state_count = 2 * model->n,
                      .margin = 1,
                      .start_margin = 1,
                      .t = model->settings.start,
                      .previous = model->settings.start};
    const stepper_kind *first = first_method(model);
    set_method(w, first, first->safety);
    w->may_change = model->settings.method == HAMEL_METHOD_AUTO;
    w->variables = variables_create(k, w->t, q, v, error);
    hamel_status status = w->variables                ? HAMEL_OK
                          : error->status != HAMEL_OK ? error->status
                          : integrator_stopped(w)     ? HAMEL_CANCELED
                                                      : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = allocate_integrator(w, &k->memory) ? open_at(w, q, v, 0) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) *out = w;
    if (status == HAMEL_OK) return status;
    integrator_free(w);
    return explain_state(w, status, error);
}

void integrator_free(integrator *w) {
    if (!w) return;
    close_method(w);
    forward_free(w->forward);
    variables_free(w->variables);
}

/* --- stepping ----------------------------------------------------------------------------------------------------- */

stepper_counts integrator_count(const integrator *w) {
    return w->stepper ? stepper_add_counts(w->before, stepper_count(w->stepper)) : w->before;
}

static hamel_status change_method(integrator *w, const stepper_kind *kind, double safety, hamel_error *error) {
    close_method(w);
    set_method(w, kind, safety);
    w->may_change = kind != &stepper_bdf;
    return start_method(w) ? HAMEL_OK : hamel_out_of_memory(error);
}

/* Changes the method and the variables at the present state. If `plain` is true, the new variables are the velocities;
 * otherwise they are the variables of the formulation. `step` is the first step to try. */
static hamel_status exchange_method(integrator *w, const stepper_kind *kind, double safety, bool plain, double step,
                                    hamel_error *error) {
    double *q = w->singular.q, *v = w->singular.v, worst;
    double work = w->model->dynamics.energy_rate ? w->y[w->state_count] : 0;
    memcpy(q, w->y, w->n * sizeof *q);
    memcpy(v, w->velocity, w->n * sizeof *v); /* initial guess */
    hamel_status status = variables_velocities(w->variables, w->t, q, w->y + w->n, v, error);
    if (status == HAMEL_OK && !w->kind->projects) status = dynamics_project(w->dynamics, w->t, q, v, &worst, error);
    if (status == HAMEL_OK) status = variables_change_kind(w->variables, plain, w->t, q, v, error);
    if (status != HAMEL_OK) return status;
    close_method(w);
    set_method(w, kind, safety);
    status = open_at(w, q, v, work);
    if (status == HAMEL_OK && !w->kind->restart(w->stepper, w->t, w->y, step)) status = HAMEL_NO_MEMORY;
    return status == HAMEL_OK ? HAMEL_OK : explain_state(w, status, error);
}

static hamel_status start_collocation(integrator *w, hamel_error *error) {
    double step = w->stepper->last;
    w->suspended_safety = w->safety;
    w->suspended_step = step;
    w->suspended = w->kind;
    w->collocation_steps = 0;
    step *= w->suspended->rough_stages ? LONGER : MUCH_LONGER;
    return exchange_method(w, &stepper_collocation, stepper_collocation.safety, true, step, error);
}

/* Returns to the method that collocation has replaced. A multistep method chooses its own first step. */
static hamel_status resume_suspended(integrator *w, hamel_error *error) {
    const stepper_kind *kind = w->suspended;
    assert(kind);
    w->suspended = NULL;
    return exchange_method(w, kind, w->suspended_safety, false, kind->rough_stages ? w->suspended_step : 0, error);
}

static bool looks_stiff(integrator *w) {
    if (!w->may_change || w->suspended) return false;
    stepper_counts c = w->stepper->counts;
    return stiffness_window_shows(&w->window, (stiffness_window){c.steps, c.stiff, w->failed_evaluations},
                                  w->kind->stiff_of_many);
}

/* Near a singular configuration, reactions grow without bound at states that violate the constraints. The
 * fixed-point iteration of Adams then converges only if the steps become ever shorter. BDF uses Newton's method and
 * projects each state, so BDF can pass the configuration. */
static bool approaches_singularity(integrator *w) {
    if (!w->may_change || w->model->m == 0 || w->suspended) return false;
    return shrinking_steps_show(&w->shrinking, w->stepper->last, w->since_start, w->near_singularity);
}

/* The rate of stabilization decreases with growing step size but never increases. If the rate could increase, a rate
 * that limits the step size would shorten the steps, and shorter steps would increase the rate further. Stabilization
 * starts when the method has reached its order and step size. */
static void follow_step(integrator *w) {
    if (w->model->m == 0 || w->model->settings.projection != HAMEL_PROJECTION_ON) return;
    double h = w->stepper->last;
    if (!(h > 0) || w->since_start < SETTLED) return;
    double rate = STABILIZATION / h;
    double *followed = w->kind->projects ? &w->forward_rate : &w->alpha;
    if (*followed == 0 || rate < 0.5 * *followed) *followed = rate;
    if (!w->kind->projects) w->beta = w->alpha;
}

/* Repeats the failed evaluation to add an error with its time and cause. */
static hamel_status explain_evaluation(integrator *w, hamel_error *error) {
    const double t = w->failed_t;
    if (w->failure == HAMEL_OK || w->failure == HAMEL_CANCELED) return w->failure;
    if (w->failure == HAMEL_NO_MEMORY) return hamel_out_of_memory(error);
    w->alpha = w->beta = 0;
    hamel_status status = integrator_evaluate(w, t, w->failed_state, w->dense, error);
    if (status == HAMEL_OK)
        status = dynamics_check_energy_rate(w->dynamics, t, w->failed_state, w->velocity, w->lambda, error);
    if (status != HAMEL_OK || w->failure != HAMEL_NOT_FINITE) return status;
    return hamel_fail(error, HAMEL_NOT_FINITE, "", 0, "at t = %.9g the rate of %s is not finite", t,
                      w->forward ? "a sensitivity" : "the energy");
}

static hamel_status explain_step(integrator *w, step_result result, hamel_error *error) {
    hamel_status status = explain_evaluation(w, error);
    if (status != HAMEL_OK) return status;
    bool shrank = result == STEP_TOO_ERRONEOUS || result == STEP_NOT_CONVERGENT;
    if (shrank && w->model->m > 0 && w->margin < SINGULARITY_NEAR * w->largest_margin)
        return singularity_explain(w, w->t, w->margin, error);
    const char *message = w->stepper->message;
    const char *why = result == STEP_TOO_ERRONEOUS    ? "the error test failed even with the smallest step"
                      : result == STEP_NOT_CONVERGENT ? "the nonlinear iteration did not converge even with the "
                                                        "smallest step"
                      : result == STEP_TOO_SHORT      ? "start and stop are too close to each other"
                      : message[0]                    ? message
                                                      : "the integration method failed";
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0, "at t = %.17g the integration cannot continue: %s",
                     w->t, why);
    hamel_suggest(error, "look for a singularity near this time; try a larger rtol or another method");
    return HAMEL_INTEGRATION;
}

/* Before a singularity steps can shrink without end although none of them fails. Many consecutive tiny steps are
 * therefore treated as a failure, caused by the last failed evaluation since a step of normal length. */
static bool creeps(integrator *w) {
    const model_settings *s = &w->model->settings;
    bool creeping = control_creeps(w->t - w->previous, s->stop - s->start, &w->tiny_steps);
    if (w->tiny_steps == 0) w->failure = HAMEL_OK;
    return creeping;
}

/* Restarts the current method with the same number of variables. */
static hamel_status reinitialize(integrator *w, const double *q, const double *v, double work, double step) {
    set_stabilization(w);
    w->since_start = 0;
    if (w->forward) forward_move(w->forward, w->options.start_sensitive);
    hamel_status status = set_state(w, q, v, work);
    return status != HAMEL_OK || w->kind->restart(w->stepper, w->t, w->y, step) ? status : HAMEL_INTERNAL;
}

hamel_status integrator_restart(integrator *w, double t, const double *q, const double *v,
                                const double *const *sensitive, double work, double step, hamel_error *error) {
    size_t count = variables_count(w->variables);
    assert(t >= w->previous && t <= w->model->settings.stop && step >= 0);
    w->options.start_sensitive = sensitive;
    w->t = w->previous = t;
    w->failure = HAMEL_OK;
    w->largest_margin = 0; /* other constraints may be active now */
    w->rank = 0;
    hamel_status status = variables_restart(w->variables, t, q, v, error);
    if (status != HAMEL_OK) return status;
    bool same = variables_count(w->variables) == count;
    if (!same) close_method(w);
    status = same ? reinitialize(w, q, v, work, step) : open_at(w, q, v, work);
    return status == HAMEL_OK ? HAMEL_OK : explain_state(w, status, error);
}

/* If the rest of the span is too short for a step, ends the integration. */
static bool is_at_end(integrator *w) {
    double stop = w->model->settings.stop;
    if (!control_is_at_stop(w->t, stop)) return false;
    w->previous = w->t = stop;
    return true;
}

static void follow_margin(integrator *w) {
    double step = w->t - w->previous;
    if (w->dynamics->motion.basis)
        w->margin = dynamics_margin(w->dynamics); /* called once per step, because each call costs a factorization */
    w->least_margin = fmin(w->least_margin, w->margin);
    w->largest_margin = fmax(w->largest_margin, w->margin);
    size_t rank = singularity_rank(w);
    if (rank > w->rank) w->rank = rank;
    w->near_singularity =
        w->suspended || singularity_may_be_within(w->least_margin, w->start_margin, w->margin_slope, step);
    w->margin_drop = w->start_margin - w->margin;
    w->margin_slope = step > 0 ? fabs(w->margin - w->start_margin) / step : 0;
    w->start_margin = w->margin;
}

/* Starts or ends collocation, if necessary, between two steps. */
static hamel_status choose_collocation(integrator *w, hamel_error *error) {
    bool regular = w->margin > LEFT * w->largest_margin;
    if (regular) w->collocation_failed = false;
    if (!w->suspended) return singularity_needs_collocation(w) ? start_collocation(w, error) : HAMEL_OK;
    w->collocation_failed = !regular && w->collocation_steps > COLLOCATION_STEPS;
    return regular || w->collocation_failed ? resume_suspended(w, error) : HAMEL_OK;
}

static step_result try_step(integrator *w) {
    return w->kind->step(w->stepper, &w->t, w->y);
}

/* Takes one step. If the stages of the current method are too inaccurate near a singularity, collocation or Adams is
 * used. If Adams fails, BDF is used. */
static hamel_status take_step(integrator *w, hamel_error *error) {
    w->too_near = false;
    step_result result = try_step(w);
    if (w->too_near) {
        w->too_near = false;
        bool collocates = singularity_allows_collocation(w);
        if (!collocates && !w->may_change) return singularity_explain(w, w->t, w->margin, error);
        hamel_status status =
            collocates ? start_collocation(w, error) : change_method(w, &stepper_adams, stepper_adams.safety, error);
        if (status != HAMEL_OK) return status;
        result = try_step(w);
    }
    bool failed = result != STEP_TAKEN && result != STEP_ENDED;
    if (w->suspended && failed && w->margin < SINGULARITY_REGULAR * w->largest_margin)
        return result == STEP_REFUSED ? singularity_explain_ambiguity(w, error)
                                      : singularity_explain(w, w->t, w->margin, error);
    if (w->suspended && failed) {
        w->collocation_failed = true;
        hamel_status status = resume_suspended(w, error);
        return status == HAMEL_OK ? take_step(w, error) : status; /* recurses once: collocation has ended */
    }
    w->collocation_steps++;
    if (failed && w->failure != HAMEL_NOT_FINITE && w->may_change && !w->canceled && !w->timed_out) {
        hamel_status status = change_method(w, &stepper_bdf, SAFETY_NEAR_SINGULARITY, error);
        if (status != HAMEL_OK) return status;
        result = try_step(w);
    }
    if (w->canceled || w->timed_out) return HAMEL_CANCELED;
    w->since_start++;
    w->steps += result == STEP_TAKEN;
    return result == STEP_TAKEN ? HAMEL_OK : explain_step(w, result, error);
}

hamel_status integrator_step(integrator *w, hamel_error *error) {
    assert(w->stepper && w->t <= w->model->settings.stop);
    w->previous = w->t;
    w->least_margin = 1;
    if (is_at_end(w)) return HAMEL_OK;
    hamel_status status = choose_collocation(w, error);
    if (status == HAMEL_OK && looks_stiff(w)) status = change_method(w, &stepper_bdf, stepper_bdf.safety, error);
    if (status == HAMEL_OK && approaches_singularity(w))
        status = change_method(w, &stepper_bdf, SAFETY_NEAR_SINGULARITY, error);
    if (status == HAMEL_OK) status = take_step(w, error);
    if (status != HAMEL_OK) return status;
    if (creeps(w)) return explain_step(w, STEP_TOO_ERRONEOUS, error);
    follow_margin(w);
    if (singularity_loses_velocities(w, w->margin)) return singularity_explain(w, w->t, w->margin, error);
    if (w->least_margin >= SINGULARITY_NEAR) w->regular_step = fmax(w->t - w->previous, 0.9 * w->regular_step);
    follow_step(w);
    return HAMEL_OK;
}

double integrator_least_rtol(const integrator *w) {
    return RTOL_LEAST / w->atol_factor;
}

const char *integrator_method(const integrator *w) {
    static const char *const names[] = {
        [USED_ERK] = "erk",
        [USED_ADAMS] = "adams",
        [USED_BDF] = "bdf",
        [USED_ERK | USED_ADAMS] = "erk, adams",
        [USED_ERK | USED_BDF] = "erk, bdf",
        [USED_ADAMS | USED_BDF] = "adams, bdf",
        [USED_ERK | USED_ADAMS | USED_BDF] = "erk, adams, bdf",
    };
    return names[w->used];
}

hamel_status integrator_interpolate(integrator *w, double t, double *q, double *v, double *work, hamel_error *error) {
    bool here = t == w->t || w->previous == w->t, direct = !here && w->plain && !w->model->dynamics.energy_rate;
    double *dense = direct && v == q + w->n ? q : w->dense; /* a copy takes as long as a short interpolation */
    const double *y = here ? w->y : dense;
    assert(here || (t >= w->previous && t <= w->t));
    w->evaluating_dense = true;
    bool found = here || w->kind->interpolate(w->stepper, t, dense);
    w->evaluating_dense = false;
    if (!found) return explain_step(w, STEP_NOT_EVALUATED, error);
    *work = 0;
    if (dense == q) return HAMEL_OK;
    memcpy(q, y, w->n * sizeof *q);
    memcpy(v, w->plain ? y + w->n : w->velocity, w->n * sizeof *v); /* w->velocity is an initial guess */
    *work = w->model->dynamics.energy_rate ? y[w->state_count] : 0;
    return w->plain ? HAMEL_OK : variables_velocities(w->variables, t, q, y + w->n, v, error);
}

hamel_status integrator_interpolate_sensitivities(integrator *w, double t, double *const *s, hamel_error *error) {
    bool here = t == w->t || w->previous == w->t;
    if (here ? forward_interpolate(w->forward, NULL, t, s) : w->kind->interpolate_forward(w->stepper, t, s))
        return HAMEL_OK;
    return hamel_fail(error, HAMEL_INTERNAL, "", 0, "no dense output of the sensitivities at t = %.9g", t);
}

hamel_status integrator_keep_constants(integrator *w, double t, const double *q, double *v, hamel_error *error) {
    hamel_status status = variables_from_velocities(w->variables, t, q, v, w->scratch);
    return status == HAMEL_OK ? variables_velocities(w->variables, t, q, w->scratch, v, error) : status;
}
