/* events.c — applies events: sets values, activates and deactivates constraints, and limits the frequency of events. */
#include "engine/simulate/events.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* If an event leaves a scaled constraint violated by more than MISS, the run fails. Projection removes smaller
 * violations. Users may round values to six significant digits, as for INITIAL_MISS (tolerances.h). */
static const double MISS = 1e-6;
/* If EVENTS_RECENT events happen within this part of the time span, the run fails. A whole run at this rate would have
 * 1e8 events. More frequent events accumulate at one instant (Zeno), or are due to rounding at rest. */
static const double ZENO_PART = 1e-6;
/* At one time, at most TOGETHER events may happen, plus TOGETHER_PAIRS for each ordered pair of events. If n touching
 * balls have equal masses, they collide at most n²/2 times. Other masses and restitutions can cause more collisions, so
 * the bound is 40 times larger. */
static const double TOGETHER = 1000, TOGETHER_PAIRS = 20;
bool events_create(events *e, arena *memory, dynamics *k, sensitivities *s, double *const *sensitive) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m, count = model->events.count, jumps = model->events.jump_count;
    *e = (events){.model = model, .dynamics = k, .sensitivities = s, .sensitive = sensitive, .last = NAN};
    assert(jumps >= count && (s == NULL) == (sensitive == NULL));
    e->values = arena_doubles(memory, jumps);
    e->bends = arena_doubles(memory, jumps);
    e->bend_slack = arena_doubles(memory, jumps);
    e->before = arena_doubles(memory, count);
    e->record = impact_record_create(model, memory);
    e->scratch = arena_doubles(memory, 5 * n + 2 * m + count);
    e->flags = arena_alloc(memory, 2 * m + count, sizeof *e->flags);
    return uncertainty_create(&e->jumps, memory, k, model->events.jumps) && !memory->failed;
}

void events_evaluate(events *e, const motion_state *at) {
    program_inputs in = motion_inputs(e->dynamics, at);
    program_evaluate(e->model->events.jumps, &in, e->jumps.work, e->values);
}

void events_bend(events *e, const motion_state *at) {
    uncertainty_find(&e->jumps, at, NULL, e->bend_slack, e->bends);
    for (size_t i = 0; i < e->model->events.count; i++)
        if (!e->model->events.list[i].has_bend) e->bends[i] = e->bend_slack[i] = 0;
}

static hamel_status switch_constraints(events *e, const int32_t *list, size_t count, bool active, hamel_error *error) {
    if (count == 0) return HAMEL_OK;
    for (size_t k = 0; k < count; k++) e->dynamics->discrete_state.active[list[k]] = active;
    if (dynamics_select(e->dynamics, e->dynamics->discrete_state.active) == HAMEL_OK) return HAMEL_OK;
    return hamel_out_of_memory(error);
}

static hamel_status assign_values(events *e, const model_event *event, double t, double *q, double *v,
                                  hamel_error *error) {
    size_t n = e->model->n;
    for (size_t k = 0; k < event->set_count; k++) {
        size_t target = (size_t)event->targets[k];
        double value = e->values[event->at_set + k];
        if (!isfinite(value))
            return hamel_fail(error, HAMEL_NOT_FINITE, event->pointer, 0,
                              "at t = %.9g the event `%s` sets `%s%s` to a value that is not finite", t, event->name,
                              e->model->system->coordinates[target % n].name, target < n ? "" : "'");
        *(target < n ? &q[target] : &v[target - n]) = value;
    }
    return HAMEL_OK;
}

/* `before` is the residual before the assignment. If projection is off, the state may have drifted before the event. */
static hamel_status check_assigned(events *e, const model_event *event, double before, double t, hamel_error *error) {
    dynamics *k = e->dynamics;
    double position, velocity, allowed = fmax(MISS, 2 * before);
    bool first = true;
    dynamics_residuals(k, &position, &velocity);
    if (fmax(position, velocity) <= allowed) return HAMEL_OK;
    for (size_t c = 0; c < e->model->m; c++) {
        position = dynamics_scaled(k, c, true);
        velocity = dynamics_scaled(k, c, false);
        if (!(fmax(position, velocity) > allowed)) continue;
        bool level = position >= velocity;
        (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                         "at t = %.9g the values set by event `%s` violate the constraint `%s` by %.6g%s", t,
                         event->name, e->model->system->constraints[c].name, dynamics_level(k, level)[c],
                         level ? "" : " at velocity level");
        if (first)
            hamel_suggest(error, "set every coordinate or velocity in the constraint, or deactivate it in the event");
        first = false;
    }
    return HAMEL_INTEGRATION;
}

static hamel_status set_values(events *e, const model_event *event, double t, double *q, double *v,
                               hamel_error *error) {
    double position, velocity;
    if (event->set_count == 0) return HAMEL_OK;
    hamel_status status = dynamics_evaluate(e->dynamics, t, q, v, error);
    if (status != HAMEL_OK) return status;
    dynamics_residuals(e->dynamics, &position, &velocity);
    status = assign_values(e, event, t, q, v, error);
    if (status == HAMEL_OK && e->sensitivities) sensitivities_assign(e->sensitivities, event, e->sensitive);
    if (status == HAMEL_OK) status = dynamics_evaluate(e->dynamics, t, q, v, error);
    return status == HAMEL_OK ? check_assigned(e, event, fmax(position, velocity), t, error) : status;
}

/* Adds an error if the state does not satisfy a constraint that the event activates. */
static hamel_status check_activated(events *e, const model_event *event, double t, hamel_error *error) {
    dynamics *k = e->dynamics;
    double position, velocity;
    dynamics_residuals(k, &position, &velocity);
    for (size_t i = 0; i < event->activate_count; i++) {
        size_t c = (size_t)event->activate[i];
        const char *name = e->model->system->constraints[c].name;
        if (dynamics_scaled(k, c, true) > MISS) {
            (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                             "at t = %.9g the event `%s` cannot activate `%s`: its equation is off by %.6g", t,
                             event->name, name, dynamics_position(k)[c]);
            hamel_suggest(error, "let the event happen where the equation holds, or set coordinates that satisfy it");
        } else if (dynamics_scaled(k, c, false) > MISS) {
            (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                             "at t = %.9g the event `%s` cannot activate `%s`: the velocities violate it by %.6g", t,
                             event->name, name, dynamics_velocity(k)[c]);
            hamel_suggest(error, "add an impulse on `%s` with restitution 0 to the event, or set velocities", name);
        }
    }
    return error ? error->status : HAMEL_OK;
}

hamel_status events_act(events *e, size_t i, double t, double *q, double *v, hamel_error *error) {
    const model_event *event = &e->model->events.list[i];
    if (e->recording && e->record) impact_record_begin(e->record, e->dynamics->discrete_state.active);
    hamel_status status = switch_constraints(e, event->deactivate, event->deactivate_count, false, error);
    if (status == HAMEL_OK) status = set_values(e, event, t, q, v, error);
    if (status == HAMEL_OK) status = impulses_apply(e, event, t, q, v, error);
    if (status != HAMEL_OK || event->activate_count == 0) return status;
    status = switch_constraints(e, event->activate, event->activate_count, true, error);
    if (status == HAMEL_OK) status = dynamics_evaluate(e->dynamics, t, q, v, error);
    return status == HAMEL_OK ? check_activated(e, event, t, error) : status;
}

static hamel_status fail_frequency(const events *e, size_t i, double t, const char *how, hamel_error *error) {
    const hamel_model *model = e->model;
    if (i < model->events.count) {
        (void)hamel_fail(error, HAMEL_INTEGRATION, model->events.list[i].pointer, 0,
                         "at t = %.9g the event `%s` happens too often (Zeno): %s", t, model->events.list[i].name, how);
        hamel_suggest(error, "end the run at this event with `terminate`, or let the event activate the constraint "
                             "that holds afterwards; smaller tolerances resolve shorter times");
        return HAMEL_INTEGRATION;
    }
    text_buffer text;
    text_buffer_init(&text, 400);
    system_name_symbol(model->system, SYMBOL_BRANCH, (int32_t)(i - model->events.count), &text);
    (void)hamel_fail(error, HAMEL_INTEGRATION, "", 0, "at t = %.9g `%s` changes too often (Zeno): %s", t,
                     text.failed || !text.bytes ? "a branch of the equations" : text.bytes, how);
    hamel_suggest(
        error, "smooth the expression, for example sign(x) as x/sqrt(x^2 + eps^2), or describe dry friction with the "
               "key `friction` of a constraint");
    text_buffer_free(&text);
    return HAMEL_INTEGRATION;
}

hamel_status events_fail_zeno(const events *e, size_t i, double since, double t, hamel_error *error) {
    char how[100];
    snprintf(how, sizeof how, "%.2g after its last occurrence, a time too short for the tolerances", t - since);
    return fail_frequency(e, i, since, how, error);
}

hamel_status events_note(events *e, size_t i, double t, hamel_error *error) {
    const model_settings *s = &e->model->settings;
    size_t slot = e->count % EVENTS_RECENT;
    double oldest = e->recent[slot];
    char how[100];
    assert(i < e->model->events.root_count);
    e->together = t == e->last ? e->together + 1 : 1;
    if (t == e->last) {
        double most = TOGETHER + TOGETHER_PAIRS * (double)e->model->events.count * (double)e->model->events.count;
        if ((double)e->together <= most) return HAMEL_OK;
        snprintf(how, sizeof how, "%zu events and changes of branch at one instant", e->together);
        return fail_frequency(e, i, t, how, error);
    }
    e->last = e->recent[slot] = t;
    e->count++;
    if (e->count <= EVENTS_RECENT || t - oldest > ZENO_PART * (s->stop - s->start)) return HAMEL_OK;
    snprintf(how, sizeof how, "%d times within %.2g", EVENTS_RECENT, t - oldest);
    return fail_frequency(e, i, t, how, error);
}
