/* events.c — assignments, impulses and changes of active constraints by events, and the limit on the frequency of events. */
#include "engine/simulate/events.h"

#include "engine/simulate/impulse.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* A state that violates a constraint by at most this (scaled, as for initial values) is projected; more is an error. */
static const double MISS = 1e-6;
/* EVENTS_RECENT events within this part of the span: a whole run at that rate would have 1e8, far more than its steps.
 * Shorter intervals shrink without end, or are rounding in a motion at rest at a zero. */
static const double ZENO_PART = 1e-6;
/* Events at one time: n touching balls of equal mass collide n² / 2 times; other masses and losses need more. */
static const double TOGETHER = 1000, TOGETHER_PAIRS = 20;

bool events_create(events *e, arena *memory, const hamel_model *model, dynamics *k, sensitivities *s,
                   double *const *sensitive) {
    size_t jumps = model->events.jump_count;
    *e = (events){.model = model, .dynamics = k, .sensitivities = s, .sensitive = sensitive, .last = NAN};
    assert(jumps >= model->events.count && (s == NULL) == (sensitive == NULL));
    e->values = arena_alloc(memory, jumps, sizeof *e->values);
    e->bends = arena_alloc(memory, 2 * jumps, sizeof *e->bends);
    e->bend_slack = e->bends + jumps;
    e->before = arena_alloc(memory, model->events.count, sizeof *e->before);
    e->impulses = arena_alloc(memory, model->m, sizeof *e->impulses);
    return e->values && e->bends && e->before && e->impulses &&
           uncertainty_create(&e->jumps, memory, model, model->events.jumps);
}

static program_inputs jump_inputs(const events *e, const double *t, const double *q, const double *v, const double *a,
                                  const double *lambda, const double *free) {
    program_inputs in = model_inputs(e->model, t, q, v, a, lambda, free);
    in.values[SYMBOL_IDEAL] = e->dynamics->ideal;
    in.values[SYMBOL_NONIDEAL] = e->dynamics->nonideal;
    return in;
}

void events_evaluate(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                     const double *free) {
    program_inputs in = jump_inputs(e, &t, q, v, a, lambda, free);
    program_evaluate(e->model->events.jumps, &in, e->jumps.work, e->values);
}

void events_bend(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                 const double *free) {
    program_inputs in = jump_inputs(e, &t, q, v, a, lambda, free);
    uncertainty_find(&e->jumps, &in, q, v, a, NULL, e->bend_slack, e->bends);
    for (size_t i = 0; i < e->model->events.count; i++)
        if (!e->model->events.list[i].has_bend) e->bends[i] = e->bend_slack[i] = 0;
}

/* --- actions --------------------------------------------------------------------------------------------------------- */

static hamel_status switch_constraints(events *e, const int32_t *list, size_t count, bool active, hamel_error *error) {
    if (count == 0) return HAMEL_OK;
    for (size_t k = 0; k < count; k++) e->dynamics->discrete_state.active[list[k]] = active;
    if (dynamics_select(e->dynamics, e->dynamics->discrete_state.active) == HAMEL_OK) return HAMEL_OK;
    return hamel_out_of_memory(error);
}

static const char *target_name(const hamel_model *model, int32_t target, const char **prime) {
    size_t i = (size_t)target;
    *prime = i < model->n ? "" : "'";
    return model->system->coordinates[i % model->n].name;
}

static hamel_status assign_values(events *e, const model_event *event, double t, double *q, double *v,
                                  hamel_error *error) {
    size_t n = e->model->n;
    for (size_t k = 0; k < event->set_count; k++) {
        size_t target = (size_t)event->targets[k];
        double value = e->values[event->at_set + k];
        const char *prime, *name = target_name(e->model, event->targets[k], &prime);
        if (!isfinite(value))
            return hamel_fail(error, HAMEL_NOT_FINITE, event->pointer, 0,
                              "at t = %.9g the event `%s` sets `%s%s` to a value that is not finite", t, event->name,
                              name, prime);
        *(target < n ? &q[target] : &v[target - n]) = value;
    }
    return HAMEL_OK;
}

/* Returns the larger scaled residual of the constraint. Sets *position to true if it is the one of the position level. */
static double worst_residual(const dynamics *k, size_t c, bool *position) {
    double at = dynamics_scaled(k, c, true), moving = dynamics_scaled(k, c, false);
    *position = at >= moving;
    return fmax(at, moving);
}

/* `before`: the residual before the assignment (without projection the state may have drifted). */
static hamel_status check_assigned(events *e, const model_event *event, double before, double t, hamel_error *error) {
    dynamics *k = e->dynamics;
    double position, velocity, allowed = fmax(MISS, 2 * before);
    bool first = true;
    dynamics_residuals(k, &position, &velocity);
    if (fmax(position, velocity) <= allowed) return HAMEL_OK;
    for (size_t c = 0; c < e->model->m; c++) {
        bool where;
        if (!(worst_residual(k, c, &where) > allowed)) continue;
        (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                         "at t = %.9g the values set by event `%s` violate the constraint `%s` by %.6g%s", t,
                         event->name, e->model->system->constraints[c].name,
                         where ? dynamics_position(k)[c] : dynamics_velocity(k)[c], where ? "" : " at velocity level");
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

static hamel_status check_restitutions(const model_event *event, const double *restitutions, double t,
                                       bool *adds_energy, hamel_error *error) {
    *adds_energy = false;
    for (size_t i = 0; i < event->impulse_count; i++) {
        double e = restitutions[i];
        *adds_energy = *adds_energy || e > 1;
        if (!isfinite(e) || e < 0)
            return hamel_fail(error, isfinite(e) ? HAMEL_INTEGRATION : HAMEL_NOT_FINITE, event->pointer, 0,
                              "at t = %.9g the restitution of the event `%s` is %s", t, event->name,
                              isfinite(e) ? "negative" : "not finite");
    }
    return HAMEL_OK;
}

/* Energy that a restitution above 1 adds is intended by the user and is not an error. */
static hamel_status apply_impulses(events *e, const model_event *event, double t, const double *q, double *v,
                                   hamel_error *error) {
    const double *restitutions = e->values + event->at_restitution;
    bool adds_energy;
    double gain;
    if (event->impulse_count == 0) return HAMEL_OK;
    hamel_status status = check_restitutions(event, restitutions, t, &adds_energy, error);
    impulse_sensitivities carried = {e->sensitivities, e->sensitive};
    if (status == HAMEL_OK)
        status = impulse_apply(e->dynamics, t, q, v, event, restitutions, &carried, e->impulses, &gain, error);
    if (status != HAMEL_OK || !(gain > 0)) return status;
    if (adds_energy) {
        if (!e->gains && !event->named_gain) e->gains = event, e->gained_at = t;
        return HAMEL_OK;
    }
    (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                     "at t = %.9g the impulses of the event `%s` add the energy %.6g: different restitutions at one "
                     "instant contradict each other",
                     t, event->name, gain);
    hamel_suggest(error, "give all impulses of the event the same restitution, or declare separate events");
    return HAMEL_INTEGRATION;
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
    hamel_status status = switch_constraints(e, event->deactivate, event->deactivate_count, false, error);
    if (status == HAMEL_OK) status = set_values(e, event, t, q, v, error);
    if (status == HAMEL_OK) status = apply_impulses(e, event, t, q, v, error);
    if (status != HAMEL_OK || event->activate_count == 0) return status;
    status = switch_constraints(e, event->activate, event->activate_count, true, error);
    if (status == HAMEL_OK) status = dynamics_evaluate(e->dynamics, t, q, v, error);
    return status == HAMEL_OK ? check_activated(e, event, t, error) : status;
}

/* --- frequency ------------------------------------------------------------------------------------------------------- */

static hamel_status fail_frequency(const events *e, size_t i, double t, const char *how, hamel_error *error) {
    const hamel_model *model = e->model;
    if (i < model->events.count) {
        (void)hamel_fail(error, HAMEL_INTEGRATION, model->events.list[i].pointer, 0,
                         "at t = %.9g the event `%s` happens too often in too short a time (Zeno): %s", t,
                         model->events.list[i].name, how);
        hamel_suggest(error, "end the run there by an event with `terminate`, or let one activate the constraint that "
                             "then holds; smaller tolerances resolve shorter times");
        return HAMEL_INTEGRATION;
    }
    text_buffer text;
    text_buffer_init(&text, 400);
    system_name_symbol(model->system, SYMBOL_BRANCH, (int32_t)(i - model->events.count), &text);
    (void)hamel_fail(error, HAMEL_INTEGRATION, "", 0,
                     "at t = %.9g `%s` changes too often in too short a time (Zeno): %s", t,
                     text.failed || !text.bytes ? "a branch of the equations" : text.bytes, how);
    hamel_suggest(
        error,
        "both sides drive the motion back to the edge: smooth the expression, as x/sqrt(x^2 + eps^2) for sign(x), or "
        "describe dry friction by the key `friction` of a constraint");
    text_buffer_free(&text);
    return HAMEL_INTEGRATION;
}

hamel_status events_fail_zeno(const events *e, size_t i, double since, double t, hamel_error *error) {
    char how[100];
    snprintf(how, sizeof how, "the time of %.2g since the last one is too short for the tolerances", t - since);
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
        snprintf(how, sizeof how, "%zu times at one instant, together with others", e->together);
        return fail_frequency(e, i, t, how, error);
    }
    e->last = e->recent[slot] = t;
    e->count++;
    if (e->count <= EVENTS_RECENT || t - oldest > ZENO_PART * (s->stop - s->start)) return HAMEL_OK;
    snprintf(how, sizeof how, "%d times within %.2g", EVENTS_RECENT, t - oldest);
    return fail_frequency(e, i, t, how, error);
}
