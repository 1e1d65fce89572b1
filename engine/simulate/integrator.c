/* integrator.c — see the header. Steps are taken by a stepper (stepper.h); what it integrates is
 * in integrator_rates.c. */
#include "engine/simulate/integrator_int.h"

#include "engine/simulate/energy.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adams: rate of stabilization times step size. Its higher orders are stable for a few hundredths on the negative real
 * axis; more shortens the steps. Measured on pendulums over 1,000 s: 0.005 to 0.05 keep the drift at the tolerance. */
static const double STABILIZATION = 0.02;
/* Up to dependent constraints rounding grows in the accelerations, and steps of a tolerance below it shrink for ever: the
 * method that is to step across such a place is given more room. */
static const double SAFETY_ACROSS = 0.1;
/* The crossing method: its first step, over the last one of a Runge-Kutta method or of one of several steps; the part of the
 * largest margin beyond which that one goes on. */
static const double LONGER = 2, MUCH_LONGER = 20, LEFT = 0.15;
static const double RTOL_LEAST = 1e-13; /* below, rounding makes the step count grow without any gain */
enum { STIFF_WINDOW = 50, SETTLED = 20 };
/* auto: so many steps in a row that are so much shorter than those before, which count 2 % less with each step, come up
 * to a singularity. After a step that failed for another reason the next few grow again. Beside a singular state short
 * steps are given more time. */
static const double SHRUNK = 0.05, FORGOTTEN = 0.02;
enum { SHRUNK_STEPS = 10, BESIDE_STEPS = 40 };

/* The order in which `auto` may go through the methods. */
enum { USED_ERK = 1, USED_ADAMS = 2, USED_BDF = 4 };

static const double CREEP_PART = 1e-13; /* of the span */
enum { CREEP_STEPS = 1000 };

/* Sharp turns near a singularity take a hundred steps. */
enum { CROSSING_STEPS = 300 };

/* --- creation ------------------------------------------------------------------------------------------------------- */

bool integrator_limit_step(integrator *w, double most) {
    double given = w->model->settings.max_step;
    return w->kind->limit(w->stepper, given > 0 ? fmin(most, given) : most);
}

static void close_method(integrator *w) {
    if (w->stepper) w->kind->close(w->stepper);
    w->stepper = NULL;
}

/* At a start: Baumgarte's constants as given, or none until the step size is known (follow_step). */
static void set_stabilization(integrator *w) {
    const model_settings *s = &w->model->settings;
    bool given = s->projection == HAMEL_PROJECTION_BAUMGARTE;
    w->alpha = given ? s->baumgarte[0] : 0;
    w->beta = given ? s->baumgarte[1] : 0;
}

static bool open_method(integrator *w) {
    const hamel_model *model = w->model;
    bool constrained = model->settings.projection == HAMEL_PROJECTION_ON && model->m > 0;
    set_stabilization(w);
    w->along_rate = 0;
    w->since_start = 0;
    w->window_steps = w->window_stiff = 0;
    w->window_evaluations = w->failed_evaluations;
    w->atol_factor = w->options.tolerance_factor * w->safety;
    w->rtol = fmax(model->settings.rtol * w->atol_factor, RTOL_LEAST);
    w->problem = (stepper_problem){.length = w->state_count + (model->energy_rate ? 1 : 0),
                                   .stop = model->settings.stop,
                                   .user = w,
                                   .rates = integrator_rates,
                                   .weights = integrator_weights,
                                   .project = constrained ? integrator_project : NULL,
                                   .margin = integrator_margin_here,
                                   .rates_along = integrator_rates_along,
                                   .forward = w->forward,
                                   .variables = w->variables,
                                   .kinetics = w->kinetics,
                                   .velocity = w->velocity};
    w->stepper = w->kind->open(&w->problem, w->t, w->y);
    return w->stepper && integrator_limit_step(w, INFINITY);
}

static hamel_status no_memory(hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the integrator");
}

/* The kinetics may have evaluated another state last. One that is not finite is told of by the first step. */
static void note_energy(integrator *w, const double *q, const double *v, double work) {
    const hamel_model *model = w->model;
    const double *M = w->kinetics->values + model->at_M, *Q = w->kinetics->values + model->at_Q;
    if (kinetics_evaluate(w->kinetics, w->t, q, v, NULL) != HAMEL_OK) return;
    double energy = energy_tolerance(model, M, Q, q, v, work) + energy_at_rest(model, M);
    w->least_energy = fmax(w->least_energy, energy);
}

/* y and its tolerances from (q, q'). */
static hamel_status set_state(integrator *w, const double *q, const double *v, double work) {
    double *y = w->y;
    memcpy(y, q, w->n * sizeof *y);
    memcpy(w->velocity, v, w->n * sizeof *v);
    if (w->model->energy_rate) {
        y[w->state_count] = work;
        note_energy(w, q, v, work);
    }
    memcpy(w->atol, w->model->settings.atol, w->n * sizeof *w->atol);
    hamel_status status = variables_from_velocities(w->variables, w->t, q, v, y + w->n);
    if (status == HAMEL_OK) variables_tolerances(w->variables, w->model->settings.atol, w->atol + w->n);
    return status;
}

static bool needs_multipliers(const integrator *w) {
    const program *rate = w->model->energy_rate;
    return kinetics_needs_multipliers(w->kinetics) || variables_need_multipliers(w->variables) ||
           (rate && (program_depends(rate) & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)));
}

static bool allocate(integrator *w) {
    const hamel_model *model = w->model;
    size_t length = w->n + variables_count(w->variables) + 1; /* W */
    w->state_count = length - 1;
    w->acceleration = calloc(4 * w->n + model->m + 4 * length, sizeof *w->acceleration);
    if (!w->acceleration) return false;
    w->velocity = w->acceleration + w->n;
    w->scratch = w->velocity + w->n;
    w->lambda = w->scratch + 2 * w->n;
    w->wanted_lambda = needs_multipliers(w) ? w->lambda : NULL;
    w->failed_state = w->lambda + model->m;
    w->atol = w->failed_state + length;
    w->y = w->atol + length;
    w->dense = w->y + length;
    if (!w->options.sensitivities) return true;
    w->forward =
        forward_create(w->options.sensitivities, w->state_count + (model->energy_rate ? 1 : 0), w->options.start_along);
    return w->forward != NULL;
}

/* At the same error the Runge–Kutta method takes half the time of Adams in the median of the examples, and as long at most
 * where there is anything to integrate (tests/bench/bench_methods.c); with thousands of coordinates both are alike. */
static const stepper_kind *first_method(const hamel_model *model) {
    switch (model->settings.method) {
    case HAMEL_METHOD_BDF: return &stepper_bdf;
    case HAMEL_METHOD_ADAMS: return &stepper_adams;
    case HAMEL_METHOD_ERK: return &stepper_erk;
    case HAMEL_METHOD_AUTO: break;
    }
    return model->sensitivities ? &stepper_adams : &stepper_erk;
}

static void choose(integrator *w, const stepper_kind *kind, double safety) {
    w->used |= kind == &stepper_erk     ? USED_ERK
               : kind == &stepper_adams ? USED_ADAMS
               : kind == &stepper_bdf   ? USED_BDF
                                        : 0u; /* the crossing method is part of the others */
    w->kind = kind;
    w->safety = safety;
}

/* The state in q, v has no variables. */
static hamel_status explain_state(const integrator *w, hamel_status status, hamel_error *error) {
    if (status == HAMEL_NO_MEMORY) return no_memory(error);
    if (status == HAMEL_INTERNAL)
        return hamel_fail(error, status, "", 0, "the integration cannot continue from t = %.17g", w->t);
    return hamel_fail(error, status, "", 0,
                      "at t = %.9g the variables of formulation `%s` are not determined by the velocities%s", w->t,
                      w->model->formulation->name, status == HAMEL_NOT_FINITE ? ": they are not finite" : "");
}

integrator *integrator_create(const hamel_model *model, kinetics *k, const double *q, const double *v,
                              const integrator_options *options, hamel_error *error) {
    integrator *w = calloc(1, sizeof *w);
    if (!w) return (void)no_memory(error), NULL;
    *w = (integrator){.model = model,
                      .kinetics = k,
                      .options = *options,
                      .n = model->n,
                      .margin = 1,
                      .start_margin = 1,
                      .t = model->settings.start};
    w->previous = w->t;
    const stepper_kind *first = first_method(model);
    choose(w, first, first->safety);
    w->may_change = model->settings.method == HAMEL_METHOD_AUTO;
    w->variables = variables_create(k, w->t, q, v, error);
    w->plain = w->variables && variables_are_velocities(w->variables);
    bool good = across_create(&w->across, model) && w->variables && allocate(w);
    hamel_status status = good ? set_state(w, q, v, 0) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK && open_method(w)) return w;
    if (error->status == HAMEL_OK) (void)explain_state(w, status == HAMEL_OK ? HAMEL_NO_MEMORY : status, error);
    integrator_free(w);
    return NULL;
}

/* All that depends on the number of variables. */
static void release(integrator *w) {
    close_method(w);
    forward_free(w->forward);
    w->forward = NULL;
    free(w->acceleration);
    w->acceleration = NULL;
}

void integrator_free(integrator *w) {
    if (!w) return;
    release(w);
    across_free(&w->across);
    variables_free(w->variables);
    free(w);
}

/* --- stepping ------------------------------------------------------------------------------------------------------- */

integrator_counts integrator_count(const integrator *w) {
    integrator_counts c = w->before;
    if (!w->stepper) return c;
    stepper_counts more = w->kind->count(w->stepper);
    c.steps += more.steps;
    c.rhs += more.rhs;
    c.projections += more.projections;
    c.jacobians += more.jacobians;
    return c;
}

static hamel_status change(integrator *w, const stepper_kind *kind, double safety, hamel_error *error) {
    w->before = integrator_count(w);
    close_method(w);
    choose(w, kind, safety);
    w->may_change = kind != &stepper_bdf;
    return open_method(w) ? HAMEL_OK : no_memory(error);
}

/* Recreates vectors and method after the number of variables has changed. */
static hamel_status resize(integrator *w, const double *q, const double *v, double work) {
    w->before = integrator_count(w);
    release(w);
    hamel_status status = allocate(w) ? set_state(w, q, v, work) : HAMEL_NO_MEMORY;
    return status != HAMEL_OK || open_method(w) ? status : HAMEL_NO_MEMORY;
}

/* Another method from the state in force on, with velocities as states if `plain`, else with those of the formulation.
 * `step` is the first one to try. */
static hamel_status exchange(integrator *w, const stepper_kind *kind, double safety, bool plain, double step,
                             hamel_error *error) {
    double *q = w->across.q, *v = w->across.v, worst, work = w->model->energy_rate ? w->y[w->state_count] : 0;
    memcpy(q, w->y, w->n * sizeof *q);
    memcpy(v, w->velocity, w->n * sizeof *v); /* a guess */
    hamel_status status = variables_velocities(w->variables, w->t, q, w->y + w->n, v, error);
    if (status == HAMEL_OK && !w->kind->projects) status = kinetics_project(w->kinetics, w->t, q, v, &worst, error);
    if (status == HAMEL_OK) status = variables_change_kind(w->variables, plain, w->t, q, v, error);
    if (status != HAMEL_OK) return status;
    w->plain = variables_are_velocities(w->variables);
    w->before = integrator_count(w);
    close_method(w);
    choose(w, kind, safety);
    status = resize(w, q, v, work);
    if (status == HAMEL_OK && !w->kind->restart(w->stepper, w->t, w->y, step)) status = HAMEL_NO_MEMORY;
    return status == HAMEL_OK ? HAMEL_OK : explain_state(w, status, error);
}

/* The crossing method, with longer steps. */
static hamel_status cross(integrator *w, hamel_error *error) {
    double step = w->kind->last_step(w->stepper);
    w->home_safety = w->safety;
    w->home_step = step;
    w->home = w->kind;
    w->crossing_steps = 0;
    step *= w->home->rough_stages ? LONGER : MUCH_LONGER;
    return exchange(w, &stepper_collocation, stepper_collocation.safety, true, step, error);
}

/* Returns from the crossing method. A multistep method finds its own first step size. */
static hamel_status return_home(integrator *w, hamel_error *error) {
    const stepper_kind *home = w->home;
    w->home = NULL;
    return exchange(w, home, w->home_safety, false, home->rough_stages ? w->home_step : 0, error);
}

static bool looks_stiff(integrator *w) {
    if (!w->may_change || w->home) return false;
    stepper_counts c = w->kind->count(w->stepper);
    if (c.steps - w->window_steps < STIFF_WINDOW) return false;
    double signs = (c.stiff - w->window_stiff) - (w->failed_evaluations - w->window_evaluations);
    w->window_steps = c.steps;
    w->window_stiff = c.stiff;
    w->window_evaluations = w->failed_evaluations;
    return signs >= w->kind->stiff_of_many;
}

/* Near a position where constraints become dependent, reactions grow without bound as soon as a state is off the
 * constraints, and the fixed-point iteration converges in ever shorter steps only. Newton's method is not bound to them,
 * and BDF's projection keeps each state on the constraints: it steps across. */
static bool closes_in(integrator *w) {
    if (!w->may_change || w->model->m == 0 || w->home) return false;
    double h = w->kind->last_step(w->stepper);
    w->longest = w->since_start < SETTLED ? 0 : fmax(h, (1 - FORGOTTEN) * w->longest);
    w->shrunk_steps = h < SHRUNK * w->longest ? w->shrunk_steps + 1 : 0;
    return w->shrunk_steps >= (w->beside ? BESIDE_STEPS : SHRUNK_STEPS);
}

/* The rate of stabilization follows the step size, but never up: a rate that limits the step would otherwise shrink it
 * without end. It starts when the order has grown and the step is no longer that of the start. */
static void follow_step(integrator *w) {
    if (w->model->m == 0 || w->model->settings.projection != HAMEL_PROJECTION_ON) return;
    double h = w->kind->last_step(w->stepper);
    if (!(h > 0) || w->since_start < SETTLED) return;
    double rate = STABILIZATION / h;
    double *followed = w->kind->projects ? &w->along_rate : &w->alpha;
    if (*followed == 0 || rate < 0.5 * *followed) *followed = rate;
    if (!w->kind->projects) w->beta = w->alpha;
}

void integrator_suggest_passing(const integrator *w, hamel_error *error) {
    if (w->model->settings.projection != HAMEL_PROJECTION_ON)
        hamel_suggest(error, "keep `projection` on: a singular configuration can only be crossed on the constraints");
    else if (w->forward)
        hamel_suggest(error, "omit the sensitivities: without them singular configurations are crossed");
    else if (w->model->settings.method != HAMEL_METHOD_AUTO)
        hamel_suggest(error, "use method auto: it changes to bdf if the system becomes stiff");
    else
        hamel_suggest(error, "try another rtol or other initial values");
}

/* The crossing method has come to where rounding is as large as the distance from dependence. */
static hamel_status explain_ambiguity(integrator *w, hamel_error *error) {
    char names[400];
    bool named = kinetics_dependent_names(w->kinetics, w->margin, names, sizeof names);
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "near t = %.9g the constraints%s%s are so close to dependence that rounding decides how the "
                     "motion continues",
                     w->t, named ? " " : "", named ? names : "");
    hamel_suggest(error, "change a length or an initial value a little: the constraints should either become dependent "
                         "or stay far from that");
    return HAMEL_INTEGRATION;
}

/* Stages of an explicit method end well before the instant itself. */
hamel_status integrator_explain_dependence(integrator *w, double t, double margin, hamel_error *error) {
    char names[400];
    bool named = kinetics_dependent_names(w->kinetics, margin, names, sizeof names);
    bool rough = w->kind->rough_stages && w->model->formulation->variables == VARIABLES_VELOCITIES;
    if (rough)
        (void)hamel_fail(
            error, HAMEL_INTEGRATION, "/simulation", 0,
            "near t = %.9g the constraints%s%s become dependent, and the stages of method %s are too rough "
            "to cross such a place",
            t, named ? " " : "", named ? names : "", integrator_method(w));
    else
        (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                         "at t = %.9g the constraints%s%s become dependent, and formulation `%s` cannot go on there by "
                         "method %s",
                         t, named ? " " : "", named ? names : "", w->model->formulation->name, integrator_method(w));
    integrator_suggest_passing(w, error);
    return HAMEL_INTEGRATION;
}

static hamel_status explain(integrator *w, step_result result, hamel_error *error) {
    if (w->failure != HAMEL_OK) {
        w->alpha = w->beta = 0;
        hamel_status status = integrator_evaluate(w, w->failed_t, w->failed_state, w->dense, error);
        if (status != HAMEL_OK) return status;
        const double t = w->failed_t;
        status = kinetics_check_energy_rate(w->kinetics, t, w->failed_state, w->velocity, w->lambda, error);
        if (status != HAMEL_OK) return status;
        if (w->failure == HAMEL_NOT_FINITE)
            return hamel_fail(error, HAMEL_NOT_FINITE, "", 0, "at t = %.9g the rate of %s is not finite", t,
                              w->forward ? "a sensitivity" : "the energy");
    }
    bool shrank = result == STEP_TOO_ERRONEOUS || result == STEP_NOT_CONVERGENT;
    if (shrank && w->model->m > 0 && w->margin < INTEGRATOR_BESIDE * w->widest)
        return integrator_explain_dependence(w, w->t, w->margin, error);
    const char *message = w->kind->message(w->stepper);
    const char *why = result == STEP_TOO_ERRONEOUS    ? "the error test failed even with the smallest step"
                      : result == STEP_NOT_CONVERGENT ? "the nonlinear iteration did not converge even with the "
                                                        "smallest step"
                      : result == STEP_TOO_SHORT      ? "start and stop are too close to each other"
                      : message[0]                    ? message
                                                      : "the integrator gave up";
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0, "at t = %.17g the integration cannot continue: %s",
                     w->t, why);
    hamel_suggest(error, "look for a singularity near this time; a larger rtol or another method may pass it");
    return HAMEL_INTEGRATION;
}

/* Before a singularity steps can shrink for ever without failing: many in a row that together lead nowhere are a failure,
 * and the evaluation that failed last says why. Real progress makes that evaluation history. */
static bool creeps(integrator *w) {
    const model_settings *s = &w->model->settings;
    bool tiny = w->t - w->previous < CREEP_PART * (s->stop - s->start);
    w->tiny_steps = tiny ? w->tiny_steps + 1 : 0;
    if (!tiny) w->failure = HAMEL_OK;
    return w->tiny_steps > CREEP_STEPS;
}

static hamel_status reinitialize(integrator *w, const double *q, const double *v, double work, double step) {
    set_stabilization(w);
    w->since_start = 0;
    if (w->forward) forward_move(w->forward, w->options.start_along);
    hamel_status status = set_state(w, q, v, work);
    return status != HAMEL_OK || w->kind->restart(w->stepper, w->t, w->y, step) ? status : HAMEL_INTERNAL;
}

hamel_status integrator_restart(integrator *w, double t, const double *q, const double *v, const double *const *along,
                                double work, double step, hamel_error *error) {
    size_t count = variables_count(w->variables);
    w->options.start_along = along;
    w->t = w->previous = t;
    w->failure = HAMEL_OK;
    w->widest = 0; /* other constraints may act */
    w->rank = 0;
    hamel_status status = variables_restart(w->variables, t, q, v, error);
    if (status != HAMEL_OK) return status;
    bool same = variables_count(w->variables) == count;
    status = same ? reinitialize(w, q, v, work, step) : resize(w, q, v, work);
    return status == HAMEL_OK ? HAMEL_OK : explain_state(w, status, error);
}

/* What is left is too short for a step. */
static bool at_the_end(integrator *w) {
    double stop = w->model->settings.stop;
    if (stop - w->t > 8 * DBL_EPSILON * fmax(fabs(w->t), fabs(stop))) return false;
    w->previous = w->t = stop;
    return true;
}

/* A step may be longer than the way to a singular state: then the margin would have fallen to zero in it. */
static void follow_margin(integrator *w) {
    double step = w->t - w->previous;
    if (w->kinetics->motion.frame) w->margin = kinetics_margin(w->kinetics); /* too dear for each right-hand side */
    w->least_margin = fmin(w->least_margin, w->margin);
    w->widest = fmax(w->widest, w->margin);
    size_t rank = integrator_rank(w);
    if (rank > w->rank) w->rank = rank;
    w->beside = w->home || w->least_margin < INTEGRATOR_BESIDE || w->start_margin < 2 * w->slope * step;
    w->closing = w->start_margin - w->margin;
    w->slope = step > 0 ? fabs(w->margin - w->start_margin) / step : 0;
    w->start_margin = w->margin;
}

/* BDF keeps each state on the constraints. */
bool integrator_loses_velocities(const integrator *w, double margin) {
    double s = margin / w->widest;
    return variables_meet_constraints(w->variables) && !w->kind->implicit && w->model->m > 0 &&
           s * s < w->model->settings.rtol * w->options.tolerance_factor;
}

/* Takes the crossing method, or leaves it, between two steps. */
static hamel_status choose_crossing(integrator *w, hamel_error *error) {
    bool apart = w->margin > LEFT * w->widest;
    if (apart) w->shy = false;
    if (!w->home) return integrator_is_near(w) ? cross(w, error) : HAMEL_OK;
    w->shy = !apart && w->crossing_steps > CROSSING_STEPS;
    return apart || w->shy ? return_home(w, error) : HAMEL_OK;
}

/* One step; by the crossing method, or by Adams, where the stages of the method in force are too rough; by BDF if it gives
 * up. */
static hamel_status take_step(integrator *w, hamel_error *error) {
    w->too_near = false;
    step_result result = w->kind->step(w->stepper, &w->t, w->y);
    if (w->too_near) {
        w->too_near = false;
        bool crosses = integrator_may_cross(w);
        if (!crosses && !w->may_change) return integrator_explain_dependence(w, w->t, w->margin, error);
        hamel_status status = crosses ? cross(w, error) : change(w, &stepper_adams, stepper_adams.safety, error);
        if (status != HAMEL_OK) return status;
        result = w->kind->step(w->stepper, &w->t, w->y);
    }
    if (w->home && result != STEP_TAKEN && result != STEP_ENDED && w->margin < INTEGRATOR_REGULAR * w->widest)
        return result == STEP_REFUSED ? explain_ambiguity(w, error)
                                      : integrator_explain_dependence(w, w->t, w->margin, error);
    if (w->home && result != STEP_TAKEN && result != STEP_ENDED) {
        w->shy = true;
        hamel_status status = return_home(w, error);
        return status == HAMEL_OK ? take_step(w, error)
                                  : status; /* recurs once, since a shy integrator does not cross */
    }
    w->crossing_steps++;
    bool other_may_pass = result != STEP_TAKEN && result != STEP_ENDED && w->failure != HAMEL_NOT_FINITE;
    if (other_may_pass && w->may_change && !w->canceled && !w->timed_out) {
        hamel_status status = change(w, &stepper_bdf, SAFETY_ACROSS, error);
        if (status != HAMEL_OK) return status;
        result = w->kind->step(w->stepper, &w->t, w->y);
    }
    if (w->canceled || w->timed_out) return HAMEL_CANCELED;
    w->since_start++;
    w->steps += result == STEP_TAKEN;
    return result == STEP_TAKEN ? HAMEL_OK : explain(w, result, error);
}

hamel_status integrator_step(integrator *w, hamel_error *error) {
    w->previous = w->t;
    w->least_margin = 1;
    if (at_the_end(w)) return HAMEL_OK;
    hamel_status status = choose_crossing(w, error);
    if (status == HAMEL_OK && looks_stiff(w)) status = change(w, &stepper_bdf, stepper_bdf.safety, error);
    if (status == HAMEL_OK && closes_in(w)) status = change(w, &stepper_bdf, SAFETY_ACROSS, error);
    if (status == HAMEL_OK) status = take_step(w, error);
    if (status != HAMEL_OK) return status;
    if (creeps(w)) return explain(w, STEP_TOO_ERRONEOUS, error);
    follow_margin(w);
    if (integrator_loses_velocities(w, w->margin)) return integrator_explain_dependence(w, w->t, w->margin, error);
    if (w->least_margin >= INTEGRATOR_BESIDE) w->calm_step = fmax(w->t - w->previous, 0.9 * w->calm_step);
    follow_step(w);
    return HAMEL_OK;
}

bool integrator_crosses(const integrator *w) {
    return w->home != NULL;
}
double integrator_instant(const integrator *w) {
    return w->home ? collocation_instant(w->stepper) : NAN;
}
bool integrator_beside_singularity(const integrator *w) {
    return w->beside;
}
double integrator_margin(const integrator *w) {
    return w->widest > 0 ? w->least_margin / w->widest : 1;
}
double integrator_least_rtol(const integrator *w) {
    return RTOL_LEAST / w->atol_factor;
}
double integrator_steps(const integrator *w) {
    return w->steps;
}
const double *integrator_near_velocities(const integrator *w) {
    return w->velocity;
}
double integrator_time(const integrator *w) {
    return w->t;
}
double integrator_previous_time(const integrator *w) {
    return w->previous;
}
bool integrator_timed_out(const integrator *w) {
    return w->timed_out;
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
    bool here = t == w->t || w->previous == w->t;
    const double *y = here ? w->y : w->dense;
    w->looking = true;
    bool found = here || w->kind->interpolate(w->stepper, t, w->dense);
    w->looking = false;
    if (!found) return explain(w, STEP_NOT_EVALUATED, error);
    memcpy(q, y, w->n * sizeof *q);
    memcpy(v, w->velocity, w->n * sizeof *v); /* a guess */
    *work = w->model->energy_rate ? y[w->state_count] : 0;
    return variables_velocities(w->variables, t, q, y + w->n, v, error);
}

hamel_status integrator_interpolate_sensitivities(integrator *w, double t, double *const *s, hamel_error *error) {
    bool here = t == w->t || w->previous == w->t;
    if (here ? forward_interpolate(w->forward, NULL, t, s) : w->kind->interpolate_along(w->stepper, t, s))
        return HAMEL_OK;
    return hamel_fail(error, HAMEL_INTERNAL, "", 0, "no dense output of the sensitivities at t = %.9g", t);
}

hamel_status integrator_keep_constants(integrator *w, double t, const double *q, double *v, hamel_error *error) {
    hamel_status status = variables_from_velocities(w->variables, t, q, v, w->scratch);
    return status == HAMEL_OK ? variables_velocities(w->variables, t, q, w->scratch, v, error) : status;
}
