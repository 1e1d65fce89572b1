/* events.c — assignments, impulses and changes of active constraints by events, and the limit on the frequency of
 * events. */
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
/* An energy gain is treated as a rounding error if it is below this fraction of the sum of the absolute values of its
 * terms. Rounding errors are about 1e-16 times the condition number of the impulse equations, so the value allows
 * condition numbers up to 1e6. */
static const double GAIN_ROUNDING = 1e-10;

bool events_create(events *e, arena *memory, dynamics *k, sensitivities *s, double *const *sensitive) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m, count = model->events.count, jumps = model->events.jump_count;
    *e = (events){.model = model, .dynamics = k, .sensitivities = s, .sensitive = sensitive, .last = NAN};
    assert(jumps >= count && (s == NULL) == (sensitive == NULL));
    e->values = arena_doubles(memory, jumps);
    e->bends = arena_doubles(memory, jumps);
    e->bend_slack = arena_doubles(memory, jumps);
    e->before = arena_doubles(memory, count);
    e->impulses = arena_doubles(memory, m);
    e->scratch = arena_doubles(memory, 4 * n + 2 * m + count);
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

/* Returns the energy that the impulses add, without the work of moving constraints: Σ Λ_c (ψ⁺ + ψ⁻)/2 with ψ⁺ = −e ψ⁻.
 * If the sum is below its rounding error, returns 0. An impulse on one constraint never adds energy if e ≤ 1. Several
 * impulses with different restitutions may add energy (Kane & Levinson, Dynamics (1985), 5.8). */
static double energy_gain(const dynamics *k, const model_event *event, const double *restitutions,
                          const double *multipliers) {
    double sum = 0, size = 0;
    for (size_t i = 0; i < event->impulse_count; i++) {
        double term = 0.5 * multipliers[event->impulses[i]] * dynamics_velocity(k)[event->impulses[i]];
        sum += (1 - restitutions[i]) * term;
        size += (1 + restitutions[i]) * fabs(term);
    }
    return fabs(sum) > GAIN_ROUNDING * size ? sum : 0;
}

/* Replaces v by the velocities after the simultaneous impulses of an event. Each impulse acts on a constraint c with
 * Newton's restitution e_c, and all active constraints k remain satisfied:
 *
 *     M (v⁺ − v⁻) = Aᵀ Λ,   A_k v⁺ + f_k = 0,   A_c v⁺ + f_c = −e_c (A_c v⁻ + f_c).
 *
 * f are the terms without velocities (moving constraints), and Λ are the multipliers integrated over the impact.
 * Configuration and impressed forces do not change during the impact. The equation M (v⁺ − v⁻) = Aᵀ Λ holds for
 * persisting and new constraints (Papastavridis, Analytical Mechanics, ch. 4). Active constraints that are not linear
 * in the velocities act with their gradient before the impulse. */
static hamel_status solve_impulses(events *e, const model_event *event, double t, const double *q, double *v,
                                   double *gain, hamel_error *error) {
    dynamics *k = e->dynamics;
    size_t n = e->model->n, m = e->model->m;
    const double *restitutions = e->values + event->at_restitution;
    double *change = e->scratch, *target = change + n, *multipliers = target + m;
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < m; i++) target[i] = -dynamics_velocity(k)[i];
    for (size_t i = 0; i < event->impulse_count; i++) target[event->impulses[i]] *= 1 + restitutions[i];
    status = kkt_factor(k->velocities, k->values);
    if (status == HAMEL_OK) status = kkt_solve(k->velocities, NULL, target, JUMP_CONTRADICTION, change, multipliers);
    if (status == HAMEL_INCOMPATIBLE) {
        (void)hamel_fail(
            error, HAMEL_INTEGRATION, e->model->system->constraints[event->impulses[0]].pointer, 0,
            event->impulse_count == 1
                ? "at t = %.9g the active constraints prevent this impulse from changing any velocity"
                : "at t = %.9g the active constraints prevent the velocities that the restitutions of these "
                  "impulses require",
            t);
        hamel_suggest(error,
                      "deactivate a constraint in the event, so that the constraint of the impulse is not redundant");
        return HAMEL_INTEGRATION;
    }
    sensitivities_impulse at = {restitutions, change, multipliers};
    if (status == HAMEL_OK && e->sensitivities)
        status = sensitivities_strike(e->sensitivities, event, &at, e->sensitive);
    if (status != HAMEL_OK) return dynamics_explain(k, status, error);
    for (size_t i = 0; i < n; i++) v[i] += change[i];
    for (size_t i = 0; i < event->impulse_count; i++) e->impulses[i] = multipliers[event->impulses[i]];
    *gain = energy_gain(k, event, restitutions, multipliers);
    return HAMEL_OK;
}

/* Applies the impulses. The constraints on which they act are active during the impulses only. */
static hamel_status strike_constraints(events *e, const model_event *event, double t, const double *q, double *v,
                                       double *gain, hamel_error *error) {
    dynamics *k = e->dynamics;
    bool *active = k->discrete_state.active;
    assert(k->velocities && event->impulse_count > 0);
    memcpy(e->flags, active, e->model->m * sizeof *active);
    for (size_t i = 0; i < event->impulse_count; i++) active[event->impulses[i]] = true;
    hamel_status status = dynamics_select(k, active);
    if (status == HAMEL_OK) status = solve_impulses(e, event, t, q, v, gain, error);
    memcpy(active, e->flags, e->model->m * sizeof *active);
    hamel_status back = dynamics_select(k, active);
    if (status == HAMEL_OK) status = back;
    return status == HAMEL_NO_MEMORY ? hamel_out_of_memory(error) : status;
}

/* Energy that a restitution above 1 adds is intended by the user and is not an error. */
static hamel_status apply_impulses(events *e, const model_event *event, double t, const double *q, double *v,
                                   hamel_error *error) {
    bool adds_energy;
    double gain = 0;
    if (event->impulse_count == 0) return HAMEL_OK;
    hamel_status status = check_restitutions(event, e->values + event->at_restitution, t, &adds_energy, error);
    if (status == HAMEL_OK) status = strike_constraints(e, event, t, q, v, &gain, error);
    if (status != HAMEL_OK || !(gain > 0)) return status;
    if (adds_energy) {
        if (!e->gains && !event->named_gain) e->gains = event, e->gained_at = t;
        return HAMEL_OK;
    }
    (void)hamel_fail(
        error, HAMEL_INTEGRATION, event->pointer, 0,
        "at t = %.9g the impulses of the event `%s` add the energy %.6g, because their restitutions differ", t,
        event->name, gain);
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
