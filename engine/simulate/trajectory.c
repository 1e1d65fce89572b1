/* trajectory.c — takes the steps of a trajectory and applies events. trajectory_state.c evaluates states between
 * steps. */
#include "engine/simulate/trajectory_int.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/jerk.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* After ROOTS_MISSED, the integration restarts with a first step that is shorter by this factor. A smaller factor needs
 * more restarts to separate close roots; a larger factor needs more steps to regain the step size. */
static const double SHORTENED = 64;

static bool create_sensitivities(trajectory *l) {
    const model_sensitivities *inputs = l->model->sensitivities;
    if (!inputs) return true;
    arena *memory = &l->dynamics->memory;
    size_t length = 2 * l->model->n;
    l->sensitivities = sensitivities_create(l->dynamics);
    l->sensitive = arena_alloc(memory, 2 * inputs->count, sizeof *l->sensitive);
    l->derivatives = arena_doubles(memory, inputs->count * (inputs->column_count + 2 * length));
    if (!l->sensitivities || memory->failed) return false;
    l->start_sensitive = l->sensitive + inputs->count;
    for (size_t i = 0; i < 2 * inputs->count; i++)
        l->sensitive[i] = l->derivatives + inputs->count * inputs->column_count + i * length;
    return true;
}

hamel_status trajectory_start_sensitivities(trajectory *l, hamel_error *error) {
    if (!l->sensitivities) return HAMEL_OK;
    return sensitivities_start(l->sensitivities, l->t, l->q, l->v, l->sensitive, error);
}

static bool create_integrals(trajectory *l) {
    const hamel_model *model = l->model;
    arena *memory = &l->dynamics->memory;
    size_t count = model->observation.integral_count;
    l->integral = arena_doubles(memory, count);
    l->kept = arena_doubles(memory, count > 0 ? 4 * model->n + 2 * model->m : 0);
    l->integrand_work = model_workspace(model, model->observation.integrands, memory);
    return time_integrals_create(&l->integrals, memory, count, fmax(model->settings.rtol, RTOL_LEAST), l->t);
}

static bool create_vectors(trajectory *l) {
    const hamel_model *model = l->model;
    arena *memory = &l->dynamics->memory;
    size_t n = model->n, columns = model->header.column_count;
    const struct {
        double **array;
        size_t length;
    } vectors[] = {{&l->q, 2 * n},           {&l->a, n},           {&l->free, 2 * n},
                   {&l->lambda, model->m},   {&l->start_q, n},     {&l->start_v, n},
                   {&l->unprojected, 2 * n}, {&l->fastest, n},     {&l->end, 2 * n},
                   {&l->before, columns},    {&l->after, columns}, {&l->observed, model->observation.count}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i].array = arena_doubles(memory, vectors[i].length);
    l->closing = arena_alloc(memory, model->events.count, sizeof *l->closing);
    if (memory->failed) return false;
    l->v = l->q + n;
    memcpy(l->q, model->q0, n * sizeof *l->q);
    memcpy(l->v, model->v0, n * sizeof *l->v);
    return true;
}

static bool create_events(trajectory *l) {
    const hamel_model *model = l->model;
    if (model->events.root_count == 0) return true;
    if (model->friction.slip_count > 0 && !(l->stick_slip = stick_slip_create(l->dynamics))) return false;
    if (model->continuity.program && !(l->branches = branch_change_create(l->dynamics))) return false;
    l->roots = roots_create(&l->dynamics->memory, l->dynamics, l->stick_slip);
    return l->roots && events_create(&l->events, &l->dynamics->memory, l->dynamics, l->sensitivities, l->sensitive);
}

hamel_status trajectory_create(trajectory *l, const hamel_model *model, hamel_error *error) {
    *l = (trajectory){.model = model, .t = model->settings.start, .turned = -1, .verified_steps = -1};
    l->dynamics = dynamics_create(model);
    if (!l->dynamics || !create_vectors(l) || !create_sensitivities(l) || !create_integrals(l) || !create_events(l))
        return hamel_out_of_memory(error);
    l->dynamics->discrete_state.ahead = isfinite(model->settings.stop) ? INSTANT * (model->settings.stop - l->t) : 0;
    return HAMEL_OK;
}

void trajectory_free(trajectory *l) {
    integrator_free(l->integrator);
    dynamics_free(l->dynamics);
    *l = (trajectory){0};
}

/* Returns the state evaluated last, with the rates of the root functions. */
static motion_state present_state(trajectory *l) {
    motion_state at = trajectory_state(l);
    events_evaluate(&l->events, &at);
    return at;
}

/* Saves the state evaluated last, from which the integration and the search for events start. */
static hamel_status start_search(trajectory *l, bool changed, hamel_error *error) {
    size_t bytes = l->model->n * sizeof *l->q;
    l->start_t = l->t;
    l->start_work = l->work - l->event_work;
    time_integrals_mark(&l->integrals);
    memcpy(l->start_q, l->q, bytes);
    memcpy(l->start_v, l->v, bytes);
    size_t count = l->sensitivities ? sensitivities_count(l->sensitivities) : 0;
    for (size_t i = 0; i < count; i++) memcpy(l->start_sensitive[i], l->sensitive[i], 2 * bytes);
    motion_state at = present_state(l);
    if (changed || !l->integrator) events_bend(&l->events, &at);
    hamel_status status = roots_start(l->roots, &at, changed, &l->event_pending, error);
    l->chained = l->event_pending && l->integrator;
    return status;
}

/* Decides which contacts stick at (q, v), and evaluates the state with these contacts. */
static hamel_status decide_sticking(trajectory *l, hamel_error *error) {
    hamel_status status = l->stick_slip ? stick_slip_decide(l->stick_slip, l->t, l->q, l->v, error) : HAMEL_OK;
    return status == HAMEL_OK ? trajectory_evaluate_here(l, error) : status;
}

static hamel_status limit_steps(trajectory *l, hamel_error *error) {
    if (!l->stick_slip || integrator_limit_step(l->integrator, roots_pace(l->roots))) return HAMEL_OK;
    return hamel_fail(error, HAMEL_INTERNAL, "", 0, "could not set the maximum step size");
}

hamel_status trajectory_start(trajectory *l, const integrator_options *options, hamel_error *error) {
    hamel_status status = HAMEL_OK;
    assert(!l->integrator && l->t == l->model->settings.start);
    if (l->roots) {
        if (l->branches) status = branch_change_foresee(l->branches, l->q, l->v, error);
        if (status == HAMEL_OK)
            status = trajectory_evaluate_here(l, error); /* the branches are then held until the next event */
        l->dynamics->held = true;
        motion_state at = present_state(l);
        if (status == HAMEL_OK) status = roots_follow_jump(l->roots, &at, error);
        l->dynamics->discrete_state.ahead = 0;
        if (status == HAMEL_OK) status = decide_sticking(l, error);
        if (status == HAMEL_OK) status = start_search(l, false, error);
    }
    if (status != HAMEL_OK) return status;
    status = integrator_create(&l->integrator, l->dynamics, l->q, l->v, options, error);
    l->recalled = dynamics_remember(l->dynamics);
    return status == HAMEL_OK ? limit_steps(l, error) : status;
}

/* After a step that skipped two roots of the same function, restarts at the beginning of the step with a shorter first
 * step. */
static hamel_status repeat_shorter(trajectory *l, hamel_error *error) {
    double step = (l->integrator->t - l->start_t) / SHORTENED;
    size_t i = 0;
    if (!(step > 8 * DBL_EPSILON * fmax(fabs(l->start_t), fabs(l->model->settings.stop)))) {
        while (!l->roots->of[i].passed) i++;
        return events_fail_zeno(&l->events, i, l->start_t, l->integrator->t, error);
    }
    roots_again(l->roots);
    time_integrals_rewind(&l->integrals);
    return integrator_restart(l->integrator, l->start_t, l->start_q, l->start_v,
                              (const double *const *)l->start_sensitive, l->start_work, step, error);
}

hamel_status trajectory_search_step(trajectory *l, hamel_error *error) {
    roots_finding finding;
    hamel_status status = roots_search(l->roots, l->integrator, &finding, error);
    if (status != HAMEL_OK) return status;
    l->event_pending = finding == ROOTS_FOUND;
    if (finding == ROOTS_MISSED) return repeat_shorter(l, error);
    return limit_steps(l, error);
}

hamel_status trajectory_step(trajectory *l, hamel_error *error) {
    assert(l->integrator && !l->event_pending);
    hamel_status status = trajectory_advance_integrals(l, error);
    if (status != HAMEL_OK) return status;
    dynamics_recall(l->dynamics, &l->recalled);
    status = integrator_step(l->integrator, error);
    l->recalled = dynamics_remember(l->dynamics);
    return status == HAMEL_OK && l->roots ? trajectory_search_step(l, error) : status;
}

double trajectory_reach(const trajectory *l) {
    return l->event_pending ? l->roots->t : l->integrator->t;
}

static hamel_status meet_sensitivities(trajectory *l, size_t i, hamel_error *error) {
    return l->sensitivities ? sensitivities_meet(l->sensitivities, i, l->roots->of[i].from_zero, l->sensitive, error)
                            : HAMEL_OK;
}

/* Applies event i. The energy that the event adds or removes is not an integration error, so this energy is added to
 * W. */
static hamel_status apply_event(trajectory *l, size_t i, hamel_error *error) {
    double energy = trajectory_jacobi(l);
    motion_state at = present_state(l);
    double rate = at.rates[i];
    trajectory_row(l, l->before);
    bool changes = model_event_acts(&l->model->events.list[i]);
    hamel_status status = changes ? meet_sensitivities(l, i, error) : HAMEL_OK;
    if (status == HAMEL_OK && changes && l->stick_slip && stick_slip_release(l->stick_slip) != HAMEL_OK)
        status = hamel_out_of_memory(error);
    if (status == HAMEL_OK) status = events_act(&l->events, i, l->t, l->q, l->v, error);
    if (status == HAMEL_OK && changes) status = roots_follow_jump(l->roots, &at, error);
    if (status == HAMEL_OK) status = changes ? decide_sticking(l, error) : trajectory_evaluate_here(l, error);
    l->event_work += trajectory_jacobi(l) - energy;
    l->work += trajectory_jacobi(l) - energy;
    trajectory_row(l, l->after);
    roots_acted(l->roots, i, rate, present_state(l).rates[i]);
    return status;
}

static hamel_status note_rates(trajectory *l, hamel_error *error) {
    motion_state at = present_state(l);
    for (size_t i = 0; i < l->model->events.count; i++) {
        l->events.before[i] = at.rates[i];
        if (l->roots->of[i].passed && roots_contradicts(l->roots, i, at.rates[i]))
            return events_fail_zeno(&l->events, i, l->start_t, l->t, error);
    }
    return HAMEL_OK;
}

/* Returns true if another impact at the same time has already opened this contact. */
static bool is_opened(trajectory *l, size_t i) {
    double rate = present_state(l).rates[i], before = l->events.before[i];
    bool opened = l->model->events.list[i].contact && roots_is_apart(l->roots, i, before, rate);
    if (opened) roots_acted(l->roots, i, before, rate);
    return opened;
}

/* Completes a change of branches at which velocities may jump. The work of such an impact is not an integration error,
 * so this work is added to W. */
static hamel_status finish_jump(trajectory *l, hamel_error *error) {
    branch_jump jump;
    hamel_status status = branch_change_end(l->branches, l->v, &jump, error);
    if (status != HAMEL_OK) return status;
    l->event_work += jump.energy;
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

/* Sets the branches of the operators that have passed an edge. If the branches keep changing at one time, adds an error
 * that names the first operator. */
static hamel_status change_branches(trajectory *l, bool *changed, hamel_error *error) {
    size_t count, first = l->model->events.count;
    motion_state at = present_state(l);
    hamel_status status = l->branches ? branch_change_begin(l->branches, l->t, l->q, l->v, error) : HAMEL_OK;
    if (status == HAMEL_OK) status = roots_flip(l->roots, &at, &count, error);
    if (status != HAMEL_OK) return status;
    *changed = count > 0;
    if (count == 0) return status;
    discrete_state_follow_inner(&l->dynamics->discrete_state, l->t, l->q, l->v,
                                INSTANT * (l->model->settings.stop - l->model->settings.start));
    l->branch_changes += (long)count;
    while (!l->roots->of[first].passed) first++;
    for (size_t i = first; i < l->model->events.root_count && status == HAMEL_OK; i++)
        if (l->roots->of[i].passed) status = meet_sensitivities(l, i, error);
    if (status == HAMEL_OK) status = events_note(&l->events, first, l->t, error);
    if (status == HAMEL_OK && l->branches) status = finish_jump(l, error);
    return status == HAMEL_OK ? decide_sticking(l, error) : status;
}

/* If several contacts close at the same time, checks whether the order of their impacts affects the velocities. */
static hamel_status note_order(trajectory *l, hamel_error *error) {
    size_t found[2] = {0, 0}, count = 0;
    bool matters = false;
    for (size_t i = 0; i < l->model->events.count; i++) {
        l->closing[i] = roots_meet(l->roots, i, l->events.before[i]);
        if (l->closing[i]) found[count++ > 0] = i;
    }
    if (count < 2 || (l->unordered > 0 && l->unordered_last == l->t)) return HAMEL_OK;
    motion_state at = present_state(l);
    hamel_status status = impact_order_matters(&l->events, l->roots, &at, l->closing, &matters, error);
    if (status == HAMEL_OK)
        status = trajectory_evaluate_here(l, error); /* again: impact_order_matters evaluates other states */
    if (status != HAMEL_OK || !matters) return status;
    l->unordered_last = l->t;
    if (l->unordered++ > 0) return HAMEL_OK;
    l->unordered_first = l->t;
    memcpy(l->unordered_events, found, sizeof found);
    return HAMEL_OK;
}

hamel_status trajectory_apply_events(trajectory *l, trajectory_report *report, void *context, bool *terminated,
                                     hamel_error *error) {
    const hamel_model *model = l->model;
    bool changed = false;
    assert(l->event_pending);
    *terminated = false;
    hamel_status status = trajectory_advance_integrals(l, error);
    if (status == HAMEL_OK) status = trajectory_evaluate(l, l->roots->t, error);
    if (status == HAMEL_OK && l->sensitivities)
        status = sensitivities_instant(l->sensitivities, l->chained, (const double *const *)l->sensitive, error);
    if (status == HAMEL_OK) status = change_branches(l, &changed, error);
    if (status == HAMEL_OK) status = note_rates(l, error);
    if (status == HAMEL_OK) status = note_order(l, error);
    for (size_t i = 0; i < model->events.count && !*terminated && status == HAMEL_OK; i++) {
        const model_event *event = &model->events.list[i];
        hamel_event_record record = {event->name,
                                     l->t,
                                     l->before,
                                     l->after,
                                     model->header.column_count,
                                     l->events.recording && model_event_strikes(event) ? &l->events.record->impact
                                                                                       : NULL};
        if (!l->roots->of[i].passed || is_opened(l, i)) continue;
        status = apply_event(l, i, error);
        if (status == HAMEL_OK) status = events_note(&l->events, i, l->t, error);
        if (status == HAMEL_OK && report && !report(context, &record)) return HAMEL_CANCELED;
        *terminated = event->terminate;
        changed = changed || model_event_acts(event);
    }
    if (status == HAMEL_OK) status = start_search(l, changed, error);
    if (status != HAMEL_OK || *terminated) return status;
    if (!changed) return trajectory_search_step(l, error); /* the rest of the step is still valid */
    status = integrator_restart(l->integrator, l->t, l->q, l->v, (const double *const *)l->sensitive, l->start_work, 0,
                                error);
    return status == HAMEL_OK ? limit_steps(l, error) : status;
}
