/* lane.c — interpolated output leaves the manifold, so the copy that is written is projected; the integration itself
 * never sees it. */
#include "engine/simulate/lane.h"

#include "engine/simulate/energy.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest scaled residual of a row; projections reach rounding, far below. */
static const double ROW_RESIDUAL = 1e-9;
/* Tolerances by which a projection may turn velocities, as of energies (energy.c). */
static const double TURNED = 1e3;
/* At the start branches are those that the motion enters within this part of the span, as of other functions (roots.c). */
static const double START_PART = 1e-13;
static const double GROWN = 1.2;  /* of a velocity, from which the tolerance of the energy is found once more */
static const double SHORTER = 64; /* than a first step that missed an event */

static bool create_sensitivities(lane *l) {
    const model_sensitivities *inputs = l->model->sensitivities;
    if (!inputs) return true;
    size_t length = 2 * l->model->n;
    l->sensitivities = sensitivities_create(l->kinetics);
    l->along = calloc(2 * inputs->count, sizeof *l->along);
    l->derivatives = calloc(inputs->count * (inputs->column_count + 2 * length), sizeof *l->derivatives);
    if (!l->sensitivities || !l->along || !l->derivatives) return false;
    l->since_along = l->along + inputs->count;
    for (size_t i = 0; i < 2 * inputs->count; i++)
        l->along[i] = l->derivatives + inputs->count * inputs->column_count + i * length;
    return true;
}

hamel_status lane_start_sensitivities(lane *l, hamel_error *error) {
    if (!l->sensitivities) return HAMEL_OK;
    return sensitivities_start(l->sensitivities, l->t, l->q, l->v, l->along, error);
}

bool lane_create(lane *l, const hamel_model *model, hamel_error *error) {
    size_t n = model->n, m = model->m;
    *l = (lane){.model = model, .t = model->settings.start, .turned = -1};
    l->kinetics = kinetics_create(model);
    l->q = calloc(11 * n + m + model->observed_count + 2 * model->header.column_count + 1, sizeof *l->q);
    l->meeting = calloc(model->event_count + 1, sizeof *l->meeting);
    bool good = l->kinetics && l->q && l->meeting && create_sensitivities(l);
    if (good && model->root_count > 0)
        good = (model->slip_count == 0 || (l->sticking = sticking_create(l->kinetics))) &&
               events_create(&l->events, model, l->kinetics, l->sensitivities, l->along) &&
               (!model->continuity || (l->change = branch_change_create(l->kinetics))) &&
               (l->roots = roots_create(model, l->kinetics, l->sticking));
    if (!good) {
        (void)hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the run");
        return false;
    }
    l->kinetics->mode.ahead = isfinite(model->settings.stop) ? START_PART * (model->settings.stop - l->t) : 0;
    l->v = l->q + n;
    l->a = l->v + n;
    l->free = l->a + n;
    l->lambda = l->free + n;
    l->since_q = l->lambda + m;
    l->since_v = l->since_q + n;
    l->given = l->since_v + n;
    l->fastest = l->given + 2 * n;
    l->end = l->fastest + n;
    l->observed = l->end + 2 * n;
    l->before = l->observed + model->observed_count;
    l->after = l->before + model->header.column_count;
    memcpy(l->q, model->q0, n * sizeof *l->q);
    memcpy(l->v, model->v0, n * sizeof *l->v);
    return true;
}

void lane_free(lane *l) {
    integrator_free(l->integrator);
    roots_free(l->roots);
    sticking_free(l->sticking);
    branch_change_free(l->change);
    events_free(&l->events);
    sensitivities_free(l->sensitivities);
    free(l->along), free(l->derivatives);
    kinetics_free(l->kinetics);
    free(l->meeting);
    free(l->q);
    *l = (lane){0};
}

static program_inputs observed_inputs(const lane *l) {
    program_inputs in = model_inputs(l->model, &l->t, l->q, l->v, l->a, l->lambda, l->free);
    in.values[SYMBOL_IDEAL] = l->kinetics->ideal;
    in.values[SYMBOL_NONIDEAL] = l->kinetics->nonideal;
    in.values[SYMBOL_BRANCH] = l->kinetics->mode.branches;
    return in;
}

/* What is observed at i has to be a number. */
static hamel_status demand_number(const lane *l, size_t i, hamel_error *error) {
    const hamel_model *model = l->model;
    char place[200] = "an invariant, a check or the energy";
    if (isfinite(l->observed[i])) return HAMEL_OK;
    if (i < model->output_count) snprintf(place, sizeof place, "the output `%s`", model_output_name(model, i));
    program_inputs in = observed_inputs(l);
    return model_not_finite(model, model->observed, &in, l->kinetics->observed_work, l->t, model->observed_pointers[i],
                            place, error);
}

hamel_status lane_demand_check(const lane *l, size_t check, hamel_error *error) {
    return demand_number(l, (size_t)(lane_checks(l) - l->observed) + check, error);
}

/* Whether it is wanted at each state; checks of one time may have no value at others. */
static bool is_always_wanted(const hamel_model *model, size_t i) {
    size_t checks = model->output_count + model->invariant_count;
    if (i < checks || i >= checks + model->check_count) return true;
    return model->checks[i - checks].at == HAMEL_CHECK_ALWAYS;
}

static hamel_status observe(lane *l, hamel_error *error) {
    const hamel_model *model = l->model;
    hamel_status status = HAMEL_OK;
    if (model->needs_free) status = kinetics_free_accelerations(l->kinetics, l->free);
    if (status == HAMEL_SINGULAR)
        return hamel_fail(error, status, "/outputs", 0, "at t = %.9g gauss() needs a mass matrix that is not singular",
                          l->t);
    if (status != HAMEL_OK) return kinetics_explain(l->kinetics, status, error);
    program_inputs in = observed_inputs(l);
    program_evaluate(model->observed, &in, l->kinetics->observed_work, l->observed);
    for (size_t i = 0; i < model->observed_count && status == HAMEL_OK; i++)
        if (is_always_wanted(model, i)) status = demand_number(l, i, error);
    return status;
}

/* No row leaves off the manifold. */
static hamel_status fail_projection(const lane *l, hamel_error *error) {
    const hamel_model *model = l->model;
    size_t worst = 0;
    double most = -1;
    for (size_t c = 0; c < model->m; c++) {
        double scaled = fmax(kinetics_scaled(l->kinetics, c, true), kinetics_scaled(l->kinetics, c, false));
        if (scaled > most) most = scaled, worst = c;
    }
    const system_constraint *c = &model->system->constraints[worst];
    (void)hamel_fail(error, HAMEL_INCOMPATIBLE, c->pointer, 0,
                     "at t = %.9g no state near the motion satisfies all constraints: `%s` is off by %.3g", l->t,
                     c->name,
                     fmax(fabs(kinetics_position(l->kinetics)[worst]), fabs(kinetics_velocity(l->kinetics)[worst])));
    hamel_suggest(error, "constraints contradict each other from here on, or the mechanism has reached its end");
    return HAMEL_INCOMPATIBLE;
}

static hamel_status fail_dependence(const lane *l, hamel_error *error) {
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.17g constraints are dependent, and %s cannot be told there", l->t,
                     l->sensitivities ? "sensitivities" : "the motion");
    hamel_suggest(error, l->sensitivities
                             ? "leave them out, or end the run before"
                             : "leave that time out of those of rows, checks and events, or move it a little");
    return HAMEL_INTEGRATION;
}

/* Whether the projection has changed the velocities by no more than tolerances and what becomes of them may account for. */
static bool keeps_velocities(const lane *l) {
    const model_settings *s = &l->model->settings;
    size_t n = l->model->n;
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(l->v[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(l->v[i] - l->given[n + i]) <= TURNED * (s->rtol * size + s->atol[i]))) return false;
    return true;
}

/* Where constraints are dependent for an instant the state, given off the constraints, is found from those beside it. */
static hamel_status settle_across(lane *l, bool *between, hamel_error *error) {
    kinetics *k = l->kinetics;
    size_t n = l->model->n, bytes = n * sizeof *l->q;
    bool near;
    const across *found = NULL;
    double residual[2];
    hamel_status status = integrator_see_across(l->integrator, l->t, l->given, l->given + n, &near, &found, error);
    *between = status == HAMEL_OK && found;
    if (status != HAMEL_OK || !near) return status;
    if (l->sensitivities || (!found && !keeps_velocities(l))) return fail_dependence(l, error);
    if (found) {
        memcpy(l->q, found->q, bytes);
        memcpy(l->v, found->v, bytes);
    }
    status = kinetics_evaluate(k, l->t, l->q, l->v, error); /* others have been since */
    if (status != HAMEL_OK) return status;
    if (!found) return kinetics_accelerations(k, 0, 0, l->a, l->lambda, error);
    memcpy(l->a, found->a, bytes);
    memcpy(l->lambda, found->lambda, l->model->m * sizeof *l->lambda);
    memcpy(k->ideal, found->reaction, 2 * bytes);
    l->missed = kinetics_missed(k, l->a, l->lambda);
    kinetics_residuals(k, &residual[0], &residual[1]);
    return fmax(residual[0], residual[1]) < ROW_RESIDUAL ? HAMEL_OK : fail_projection(l, error);
}

/* Accelerations and multipliers of the state in q, v. If constraints are dependent for an instant, rounding may leave
 * no accelerations that satisfy all of them; then the state is interpolated, too. */
static hamel_status solve(lane *l, bool projected, bool *between, hamel_error *error) {
    hamel_status solved = kinetics_accelerations(l->kinetics, 0, 0, l->a, l->lambda, NULL), status = HAMEL_OK;
    bool determined = solved != HAMEL_NOT_FINITE && solved != HAMEL_NO_MEMORY;
    if (projected && l->integrator && determined) status = settle_across(l, between, error);
    if (status != HAMEL_OK || *between || solved == HAMEL_OK) return status;
    return kinetics_accelerations(l->kinetics, 0, 0, l->a, l->lambda, error);
}

/* Sees the state in q, v at l->t as it is: projected, and so on. */
static hamel_status settle(lane *l, hamel_error *error) {
    const hamel_model *model = l->model;
    bool projected = model->settings.projection == HAMEL_PROJECTION_ON && model->m > 0;
    bool between = false; /* its state and accelerations are interpolated */
    double worst = 0;
    hamel_status status = HAMEL_OK;
    memcpy(l->given, l->q, 2 * model->n * sizeof *l->q); /* q and v lie together */
    if (!l->kinetics->survey.done) status = row_survey_find(l->kinetics, l->t, l->q, l->v);
    if (status == HAMEL_NO_MEMORY) return hamel_fail(error, status, "", 0, "no memory for the run");
    if (projected)
        status = kinetics_project(l->kinetics, l->t, l->q, l->v, &worst, error);
    else
        status = kinetics_evaluate(l->kinetics, l->t, l->q, l->v, error);
    if (status == HAMEL_OK && !(worst < ROW_RESIDUAL)) return fail_projection(l, error);
    if (status == HAMEL_OK) status = solve(l, projected, &between, error);
    if (status == HAMEL_OK && !between) status = kinetics_verify(l->kinetics, l->a, l->lambda, &l->missed, error);
    if (status == HAMEL_OK) status = observe(l, error);
    if (status != HAMEL_OK || !l->sensitivities) return status;
    sensitivities_part(l->sensitivities, l->v, l->a, l->along);
    return sensitivities_see(l->sensitivities, l->t, l->q, l->v, l->along, l->derivatives, error);
}

/* Projected positions belong to other velocities where momenta are constants of the motion. */
static hamel_status keep_constants(lane *l, hamel_error *error) {
    double worst;
    if (!l->integrator || !l->model->cyclic || l->model->settings.projection != HAMEL_PROJECTION_ON) return HAMEL_OK;
    hamel_status status = kinetics_project(l->kinetics, l->t, l->q, l->v, &worst, error);
    return status == HAMEL_OK ? integrator_keep_constants(l->integrator, l->t, l->q, l->v, error) : status;
}

hamel_status lane_see(lane *l, double t, hamel_error *error) {
    l->t = t;
    if (l->integrator) kinetics_recall(l->kinetics, &l->memory);
    hamel_status status =
        l->integrator ? integrator_interpolate(l->integrator, t, l->q, l->v, &l->work, error) : HAMEL_OK;
    if (status == HAMEL_OK && l->sensitivities && l->integrator)
        status = integrator_interpolate_sensitivities(l->integrator, t, l->along, error);
    if (status == HAMEL_OK) status = keep_constants(l, error);
    l->work += l->gained;
    return status == HAMEL_OK ? settle(l, error) : status;
}

void lane_row(const lane *l, double *row) {
    const hamel_model *model = l->model;
    size_t n = model->n;
    for (size_t c = 0; c < model->header.column_count; c++) {
        size_t i = model->recorded[c];
        row[c] = i == 0                          ? l->t
                 : i <= n                        ? l->q[i - 1]
                 : i <= 2 * n                    ? l->v[i - 1 - n]
                 : i < model->state_column_count ? l->observed[i - 1 - 2 * n]
                                                 : l->derivatives[i - model->state_column_count];
    }
}

double lane_energy_tolerance(const lane *l) {
    const double *values = l->kinetics->values;
    return energy_tolerance(l->model, values + l->model->at_M, values + l->model->at_Q, l->q, l->v, lane_jacobi(l));
}

double lane_energy_tolerance_of_step(lane *l) {
    const hamel_model *model = l->model;
    kinetics *k = l->kinetics;
    const double *near = integrator_near_velocities(l->integrator);
    double t = integrator_time(l->integrator), *q = l->end, *v = q + model->n, work;
    bool grown = false;
    for (size_t i = 0; i < model->n; i++) grown = grown || fabs(near[i]) > GROWN * l->fastest[i];
    if (!grown || l->due || integrator_interpolate(l->integrator, t, q, v, &work, NULL) != HAMEL_OK ||
        kinetics_evaluate(k, t, q, v, NULL) != HAMEL_OK)
        return 0;
    for (size_t i = 0; i < model->n; i++) l->fastest[i] = fmax(l->fastest[i], fmax(fabs(near[i]), fabs(v[i])));
    return energy_tolerance(model, k->values + model->at_M, k->values + model->at_Q, q, v, lane_jacobi(l));
}

/* --- steps and events ------------------------------------------------------------------------------------------------ */

/* The state seen last. */
static roots_state here(lane *l) {
    events_evaluate(&l->events, l->t, l->q, l->v, l->a, l->lambda, l->free);
    return (roots_state){
        l->t, l->q, l->v, l->a, l->lambda, l->free, l->events.values, l->events.bends, l->events.bend_slack};
}

/* Notes the state seen last as the one from which integration and search go on. */
static hamel_status begin(lane *l, bool changed, hamel_error *error) {
    size_t bytes = l->model->n * sizeof *l->q;
    l->since = l->t;
    l->since_work = l->work - l->gained;
    memcpy(l->since_q, l->q, bytes);
    memcpy(l->since_v, l->v, bytes);
    size_t count = l->sensitivities ? sensitivities_count(l->sensitivities) : 0;
    for (size_t i = 0; i < count; i++) memcpy(l->since_along[i], l->along[i], 2 * bytes);
    roots_state at = here(l);
    if (changed || !l->integrator) events_bend(&l->events, l->t, l->q, l->v, l->a, l->lambda, l->free);
    hamel_status status = roots_start(l->roots, &at, changed, &l->due, error);
    l->again = l->due && l->integrator;
    return status;
}

/* What sticks from the state in q, v on; that is seen. */
static hamel_status decide(lane *l, hamel_error *error) {
    hamel_status status = l->sticking ? sticking_decide(l->sticking, l->t, l->q, l->v, error) : HAMEL_OK;
    return status == HAMEL_OK ? settle(l, error) : status;
}

static hamel_status keep_pace(lane *l, hamel_error *error) {
    if (!l->sticking || integrator_limit_step(l->integrator, roots_pace(l->roots))) return HAMEL_OK;
    return hamel_fail(error, HAMEL_INTERNAL, "", 0, "the integration takes no limit to its steps");
}

hamel_status lane_start(lane *l, const integrator_options *options, hamel_error *error) {
    hamel_status status = HAMEL_OK;
    if (l->roots) {
        if (l->change) status = branch_change_foresee(l->change, l->q, l->v, error);
        if (status == HAMEL_OK) status = settle(l, error); /* branches of this state are held from here on */
        l->kinetics->held = true;
        roots_state at = here(l);
        if (status == HAMEL_OK) status = roots_follow_jump(l->roots, &at, error);
        l->kinetics->mode.ahead = 0;
        if (status == HAMEL_OK) status = decide(l, error);
        if (status == HAMEL_OK) status = begin(l, false, error);
    }
    if (status != HAMEL_OK) return status;
    l->integrator = integrator_create(l->model, l->kinetics, l->q, l->v, options, error);
    l->memory = kinetics_remember(l->kinetics);
    return l->integrator ? keep_pace(l, error) : error->status;
}

/* The step went over a whole flight, from a zero and back: once more from there with a shorter one. */
static hamel_status shorten(lane *l, hamel_error *error) {
    double step = (integrator_time(l->integrator) - l->since) / SHORTER;
    size_t i = 0;
    if (!(step > 8 * DBL_EPSILON * fmax(fabs(l->since), fabs(l->model->settings.stop)))) {
        while (!roots_passed(l->roots, i)) i++;
        return events_fail_zeno(&l->events, i, l->since, integrator_time(l->integrator), error);
    }
    roots_again(l->roots);
    return integrator_restart(l->integrator, l->since, l->since_q, l->since_v, (const double *const *)l->since_along,
                              l->since_work, step, error);
}

static hamel_status search(lane *l, hamel_error *error) {
    roots_finding finding;
    hamel_status status = roots_search(l->roots, l->integrator, &finding, error);
    if (status != HAMEL_OK) return status;
    l->due = finding == ROOTS_FOUND;
    if (finding == ROOTS_MISSED) return shorten(l, error);
    return keep_pace(l, error);
}

hamel_status lane_step(lane *l, hamel_error *error) {
    kinetics_recall(l->kinetics, &l->memory);
    hamel_status status = integrator_step(l->integrator, error);
    l->memory = kinetics_remember(l->kinetics);
    return status == HAMEL_OK && l->roots ? search(l, error) : status;
}

double lane_reach(const lane *l) {
    return l->due ? roots_time(l->roots) : integrator_time(l->integrator);
}

static hamel_status meet(lane *l, size_t i, hamel_error *error) {
    return l->sensitivities ? sensitivities_meet(l->sensitivities, i, roots_stood(l->roots, i), l->along, error)
                            : HAMEL_OK;
}

/* What an event does to the energy is no error of the integration: W takes it up. */
static hamel_status act(lane *l, size_t i, hamel_error *error) {
    double energy = lane_jacobi(l);
    roots_state at = here(l);
    double rate = at.rates[i];
    lane_row(l, l->before);
    bool changes = model_event_acts(&l->model->events[i]);
    hamel_status status = changes ? meet(l, i, error) : HAMEL_OK;
    if (status == HAMEL_OK && changes && l->sticking && sticking_release(l->sticking) != HAMEL_OK)
        status = hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory to switch constraints");
    if (status == HAMEL_OK) status = events_act(&l->events, i, l->t, l->q, l->v, error);
    if (status == HAMEL_OK && changes) status = roots_follow_jump(l->roots, &at, error);
    if (status == HAMEL_OK) status = changes ? decide(l, error) : settle(l, error);
    l->gained += lane_jacobi(l) - energy;
    l->work += lane_jacobi(l) - energy;
    lane_row(l, l->after);
    roots_acted(l->roots, i, rate, here(l).rates[i]);
    return status;
}

/* Notes the rates at which functions pass. */
static hamel_status note_rates(lane *l, hamel_error *error) {
    roots_state at = here(l);
    for (size_t i = 0; i < l->model->event_count; i++) {
        l->events.before[i] = at.rates[i];
        if (roots_passed(l->roots, i) && roots_contradicts(l->roots, i, at.rates[i]))
            return events_fail_zeno(&l->events, i, l->since, l->t, error);
    }
    return HAMEL_OK;
}

/* Whether an impact at the same instant has opened this contact before it closed. */
static bool is_opened(lane *l, size_t i) {
    roots_state at = here(l);
    if (!l->model->events[i].contact || !roots_is_apart(l->roots, i, l->events.before[i], at.rates[i])) return false;
    roots_acted(l->roots, i, l->events.before[i], at.rates[i]);
    return true;
}

/* The work of an impact at which velocities jump is not an integration error, so it is added to W. */
static hamel_status jump(lane *l, hamel_error *error) {
    branch_jump jump;
    hamel_status status = branch_change_end(l->change, l->v, &jump, error);
    if (status != HAMEL_OK) return status;
    l->gained += jump.energy;
    l->work += jump.energy;
    if (jump.turned >= 0 && l->turned < 0) {
        l->turned = jump.turned;
        l->turned_at = l->t;
        l->turned_energy = jump.energy;
    }
    if (!jump.jumped || !l->sensitivities) return HAMEL_OK;
    (void)hamel_fail(
        error, HAMEL_INTEGRATION, "/simulation/sensitivities", 0,
        "at t = %.9g velocities jump as prescribed, and sensitivities across such a jump are not supported", l->t);
    hamel_suggest(error, "omit the sensitivities, end the run earlier, or make the prescribed velocity continuous");
    return HAMEL_INTEGRATION;
}

/* Switches take their new branches; the first of them speaks for all when they do so without end. */
static hamel_status flip(lane *l, bool *changed, hamel_error *error) {
    size_t count, first = l->model->event_count;
    roots_state at = here(l);
    hamel_status status = l->change ? branch_change_begin(l->change, l->t, l->q, l->v, error) : HAMEL_OK;
    if (status == HAMEL_OK) status = roots_flip(l->roots, &at, &count, error);
    if (status != HAMEL_OK) return status;
    *changed = count > 0;
    if (count == 0) return status;
    mode_follow_inner(&l->kinetics->mode, l->t, l->q, l->v,
                      START_PART * (l->model->settings.stop - l->model->settings.start));
    l->switches += (double)count;
    while (!roots_passed(l->roots, first)) first++;
    for (size_t i = first; i < l->model->root_count && status == HAMEL_OK; i++)
        if (roots_passed(l->roots, i)) status = meet(l, i, error);
    if (status == HAMEL_OK) status = events_note(&l->events, first, l->t, error);
    if (status == HAMEL_OK && l->change) status = jump(l, error);
    return status == HAMEL_OK ? decide(l, error) : status;
}

/* Checks whether the order matters if several contacts close at one instant. */
static hamel_status note_order(lane *l, hamel_error *error) {
    size_t found[2] = {0, 0}, count = 0;
    bool matters = false;
    for (size_t i = 0; i < l->model->event_count; i++) {
        l->meeting[i] = roots_meet(l->roots, i, l->events.before[i]);
        if (l->meeting[i]) found[count++ > 0] = i;
    }
    if (count < 2 || (l->disordered > 0 && l->disordered_last == l->t)) return HAMEL_OK;
    roots_state at = here(l);
    hamel_status status = impact_order_matters(&l->events, l->roots, &at, l->meeting, &matters, error);
    if (status == HAMEL_OK) status = settle(l, error); /* evaluates the state once more */
    if (status != HAMEL_OK || !matters) return status;
    l->disordered_last = l->t;
    if (l->disordered++ > 0) return HAMEL_OK;
    l->disordered_first = l->t;
    memcpy(l->disordered_events, found, sizeof found);
    return HAMEL_OK;
}

hamel_status lane_happen(lane *l, lane_tell *tell, void *context, bool *terminated, hamel_error *error) {
    const hamel_model *model = l->model;
    bool changed = false;
    *terminated = false;
    hamel_status status = lane_see(l, roots_time(l->roots), error);
    if (status == HAMEL_OK && l->sensitivities)
        status = sensitivities_instant(l->sensitivities, l->again, (const double *const *)l->along, error);
    if (status == HAMEL_OK) status = flip(l, &changed, error);
    if (status == HAMEL_OK) status = note_rates(l, error);
    if (status == HAMEL_OK) status = note_order(l, error);
    for (size_t i = 0; i < model->event_count && !*terminated && status == HAMEL_OK; i++) {
        const model_event *event = &model->events[i];
        hamel_happening happening = {
            event->name,         l->t, l->before, l->after, model->header.column_count, l->events.impulses,
            event->impulse_count};
        if (!roots_passed(l->roots, i) || is_opened(l, i)) continue;
        status = act(l, i, error);
        if (status == HAMEL_OK) status = events_note(&l->events, i, l->t, error);
        if (status == HAMEL_OK && tell && !tell(context, &happening)) return HAMEL_CANCELED;
        *terminated = event->terminate;
        changed = changed || model_event_acts(event);
    }
    if (status == HAMEL_OK) status = begin(l, changed, error);
    if (status != HAMEL_OK || *terminated) return status;
    if (!changed) return search(l, error); /* what is left of the step is as good as before */
    status =
        integrator_restart(l->integrator, l->t, l->q, l->v, (const double *const *)l->along, l->since_work, 0, error);
    return status == HAMEL_OK ? keep_pace(l, error) : status;
}
