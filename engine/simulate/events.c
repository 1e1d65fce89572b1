/* events.c — see the header. */
#include "engine/simulate/events.h"

#include "engine/solve/impulse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A state that misses a constraint by no more (scaled, as initial values) is moved onto it; more is a fault. */
static const double MISS = 1e-6;
/* EVENTS_RECENT instants within this part of the span: a whole run of them would have 1e8, far more than its steps. Below
 * that lie intervals that shrink without end, and those that noise makes of a motion that rests at a zero. */
static const double ZENO_PART = 1e-6;
/* Events at one instant: n touching balls of equal mass collide n² / 2 times; other masses and losses take some more. */
static const double TOGETHER = 1000, TOGETHER_PAIRS = 20;

bool events_create(events *e, const hamel_model *model, kinetics *k, sensitivities *along, double *const *s) {
    *e = (events){.model = model, .kinetics = k, .along = along, .s = s, .instant = NAN};
    e->values = calloc(3 * model->jump_count + model->event_count + model->m + 1, sizeof *e->values);
    if (!e->values || !uncertainty_create(&e->jumps, model, model->jumps)) return false;
    e->bends = e->values + model->jump_count;
    e->bend_slack = e->bends + model->jump_count;
    e->before = e->bend_slack + model->jump_count;
    e->impulses = e->before + model->event_count;
    return true;
}

void events_free(events *e) {
    uncertainty_free(&e->jumps);
    free(e->values);
    *e = (events){0};
}

static program_inputs inputs_of(const events *e, const double *t, const double *q, const double *v, const double *a,
                                const double *lambda, const double *free) {
    program_inputs in = model_inputs(e->model, t, q, v, a, lambda, free);
    in.values[SYMBOL_IDEAL] = e->kinetics->ideal;
    in.values[SYMBOL_NONIDEAL] = e->kinetics->nonideal;
    return in;
}

void events_evaluate(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                     const double *free) {
    program_inputs in = inputs_of(e, &t, q, v, a, lambda, free);
    program_evaluate(e->model->jumps, &in, e->jumps.work, e->values);
}

void events_bend(events *e, double t, const double *q, const double *v, const double *a, const double *lambda,
                 const double *free) {
    program_inputs in = inputs_of(e, &t, q, v, a, lambda, free);
    uncertainty_find(&e->jumps, &in, q, v, a, NULL, e->bend_slack, e->bends);
    for (size_t i = 0; i < e->model->event_count; i++)
        if (!e->model->events[i].has_bend) e->bends[i] = e->bend_slack[i] = 0;
}

/* --- actions --------------------------------------------------------------------------------------------------------- */

static hamel_status switch_constraints(events *e, const int32_t *list, size_t count, bool active, hamel_error *error) {
    if (count == 0) return HAMEL_OK;
    for (size_t k = 0; k < count; k++) e->kinetics->mode.active[list[k]] = active;
    if (kinetics_select(e->kinetics, e->kinetics->mode.active) == HAMEL_OK) return HAMEL_OK;
    return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory to switch constraints");
}

static const char *target_name(const hamel_model *model, int32_t target, const char **prime) {
    size_t i = (size_t)target;
    *prime = i < model->n ? "" : "'";
    return model->system->coordinates[i % model->n].name;
}

static hamel_status assign(events *e, const model_event *event, double t, double *q, double *v, hamel_error *error) {
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

/* What the constraint is off by, of the two levels the worse one. */
static double worst_residual(const kinetics *k, size_t c, bool *position) {
    double at = kinetics_scaled(k, c, true), moving = kinetics_scaled(k, c, false);
    *position = at >= moving;
    return fmax(at, moving);
}

/* `before`: what the state missed before (without projection it may have drifted). */
static hamel_status check_assigned(events *e, const model_event *event, double before, double t, hamel_error *error) {
    kinetics *k = e->kinetics;
    double position, velocity, allowed = fmax(MISS, 2 * before);
    bool first = true;
    kinetics_residuals(k, &position, &velocity);
    if (fmax(position, velocity) <= allowed) return HAMEL_OK;
    for (size_t c = 0; c < e->model->m; c++) {
        bool where;
        if (!(worst_residual(k, c, &where) > allowed)) continue;
        (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                         "at t = %.9g what the event `%s` sets misses the constraint `%s` by %.6g%s", t, event->name,
                         e->model->system->constraints[c].name,
                         where ? kinetics_position(k)[c] : kinetics_velocity(k)[c],
                         where ? "" : " at the level of velocities");
        if (first) hamel_suggest(error, "set all that the constraint joins together, or deactivate it in the event");
        first = false;
    }
    return HAMEL_INTEGRATION;
}

static hamel_status set_values(events *e, const model_event *event, double t, double *q, double *v,
                               hamel_error *error) {
    double position, velocity;
    if (event->set_count == 0) return HAMEL_OK;
    hamel_status status = kinetics_evaluate(e->kinetics, t, q, v, error);
    if (status != HAMEL_OK) return status;
    kinetics_residuals(e->kinetics, &position, &velocity);
    status = assign(e, event, t, q, v, error);
    if (status == HAMEL_OK && e->along) sensitivities_assign(e->along, event, e->s);
    if (status == HAMEL_OK) status = kinetics_evaluate(e->kinetics, t, q, v, error);
    return status == HAMEL_OK ? check_assigned(e, event, fmax(position, velocity), t, error) : status;
}

static hamel_status check_restitutions(const model_event *event, const double *restitutions, double t, bool *lively,
                                       hamel_error *error) {
    *lively = false;
    for (size_t i = 0; i < event->impulse_count; i++) {
        double e = restitutions[i];
        *lively = *lively || e > 1;
        if (!isfinite(e) || e < 0)
            return hamel_fail(error, isfinite(e) ? HAMEL_INTEGRATION : HAMEL_NOT_FINITE, event->pointer, 0,
                              "at t = %.9g the restitution of the event `%s` is %s", t, event->name,
                              isfinite(e) ? "negative" : "not finite");
    }
    return HAMEL_OK;
}

/* With a restitution above 1 the user adds energy deliberately. */
static hamel_status strike(events *e, const model_event *event, double t, const double *q, double *v,
                           hamel_error *error) {
    const double *restitutions = e->values + event->at_restitution;
    bool lively;
    double gain;
    if (event->impulse_count == 0) return HAMEL_OK;
    hamel_status status = check_restitutions(event, restitutions, t, &lively, error);
    impulse_along along = {e->along, e->s};
    if (status == HAMEL_OK)
        status = impulse_apply(e->kinetics, t, q, v, event, restitutions, &along, e->impulses, &gain, error);
    if (status != HAMEL_OK || !(gain > 0)) return status;
    if (lively) {
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

/* A constraint can only be taken up where the state satisfies it. */
static hamel_status check_activated(events *e, const model_event *event, double t, hamel_error *error) {
    kinetics *k = e->kinetics;
    double position, velocity;
    kinetics_residuals(k, &position, &velocity);
    for (size_t i = 0; i < event->activate_count; i++) {
        size_t c = (size_t)event->activate[i];
        const char *name = e->model->system->constraints[c].name;
        if (kinetics_scaled(k, c, true) > MISS) {
            (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                             "at t = %.9g the event `%s` cannot activate `%s`: its equation is off by %.6g", t,
                             event->name, name, kinetics_position(k)[c]);
            hamel_suggest(error, "let the event happen where the equation holds, or set coordinates that satisfy it");
        } else if (kinetics_scaled(k, c, false) > MISS) {
            (void)hamel_fail(error, HAMEL_INTEGRATION, event->pointer, 0,
                             "at t = %.9g the event `%s` cannot activate `%s`: the velocities miss it by %.6g", t,
                             event->name, name, kinetics_velocity(k)[c]);
            hamel_suggest(error, "add an impulse on `%s` with restitution 0 to the event, or set velocities", name);
        }
    }
    return error ? error->status : HAMEL_OK;
}

hamel_status events_act(events *e, size_t i, double t, double *q, double *v, hamel_error *error) {
    const model_event *event = &e->model->events[i];
    hamel_status status = switch_constraints(e, event->deactivate, event->deactivate_count, false, error);
    if (status == HAMEL_OK) status = set_values(e, event, t, q, v, error);
    if (status == HAMEL_OK) status = strike(e, event, t, q, v, error);
    if (status != HAMEL_OK || event->activate_count == 0) return status;
    status = switch_constraints(e, event->activate, event->activate_count, true, error);
    if (status == HAMEL_OK) status = kinetics_evaluate(e->kinetics, t, q, v, error);
    return status == HAMEL_OK ? check_activated(e, event, t, error) : status;
}

/* --- how often ------------------------------------------------------------------------------------------------------- */

static hamel_status fail(const events *e, size_t i, double t, const char *how, hamel_error *error) {
    const hamel_model *model = e->model;
    if (i < model->event_count) {
        (void)hamel_fail(error, HAMEL_INTEGRATION, model->events[i].pointer, 0,
                         "at t = %.9g the event `%s` happens too often in too short a time (Zeno): %s", t,
                         model->events[i].name, how);
        hamel_suggest(error, "end the run there by an event with `terminate`, or let one activate the constraint that "
                             "then holds; smaller tolerances resolve shorter times");
        return HAMEL_INTEGRATION;
    }
    text_buffer text;
    text_buffer_init(&text, 400);
    system_name_symbol(model->system, SYMBOL_BRANCH, (int32_t)(i - model->event_count), &text);
    (void)hamel_fail(error, HAMEL_INTEGRATION, "", 0,
                     "at t = %.9g `%s` changes too often in too short a time (Zeno): %s", t,
                     text.failed || !text.bytes ? "a branch of the equations" : text.bytes, how);
    hamel_suggest(error,
                  "both sides drive the motion back to the edge: smooth it, as x/sqrt(x^2 + eps^2) for sign(x), or "
                  "describe dry friction by the key `friction` of a constraint");
    text_buffer_free(&text);
    return HAMEL_INTEGRATION;
}

hamel_status events_fail_zeno(const events *e, size_t i, double since, double t, hamel_error *error) {
    char how[100];
    snprintf(how, sizeof how, "the time of %.2g since the last one is too short for the tolerances", t - since);
    return fail(e, i, since, how, error);
}

hamel_status events_note(events *e, size_t i, double t, hamel_error *error) {
    const model_settings *s = &e->model->settings;
    size_t slot = (size_t)fmod(e->count, EVENTS_RECENT);
    double oldest = e->recent[slot];
    char how[100];
    e->together = t == e->instant ? e->together + 1 : 1;
    if (t == e->instant) {
        double most = TOGETHER + TOGETHER_PAIRS * (double)e->model->event_count * (double)e->model->event_count;
        if (e->together <= most) return HAMEL_OK;
        snprintf(how, sizeof how, "%.0f times at one instant, together with others", e->together);
        return fail(e, i, t, how, error);
    }
    e->instant = e->recent[slot] = t;
    e->count++;
    if (e->count <= EVENTS_RECENT || t - oldest > ZENO_PART * (s->stop - s->start)) return HAMEL_OK;
    snprintf(how, sizeof how, "%d times within %.2g", EVENTS_RECENT, t - oldest);
    return fail(e, i, t, how, error);
}
