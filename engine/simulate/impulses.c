/* impulses.c — computes the jump of the velocities by the impulses and percussions of an event. */
#include "engine/simulate/events.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* An energy gain is treated as a rounding error if it is below this fraction of the sum of the absolute values of its
 * terms. Rounding errors are about 1e-16 times the condition number of the impulse equations, so the value allows
 * condition numbers up to 1e6. */
static const double GAIN_ROUNDING = 1e-10;

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

/* Sets momentum[n] to the sum of the generalized impulses of all percussions. Adds an error if an impulse is not
 * finite. */
static hamel_status add_percussions(const events *e, const model_event *event, double t, double *momentum,
                                    hamel_error *error) {
    memset(momentum, 0, e->model->n * sizeof *momentum);
    for (size_t i = 0; i < event->momentum_count; i++) {
        double value = e->values[event->at_momentum + i];
        if (!isfinite(value))
            return hamel_fail(error, HAMEL_NOT_FINITE, event->pointer, 0,
                              "at t = %.9g a percussion of the event `%s` is not finite", t, event->name);
        momentum[event->momentum_columns[i]] += value;
    }
    return HAMEL_OK;
}

/* Adds the error that no velocities satisfy the equations of redundant constraints after the impulses. target[m] are
 * the required changes of the constraint rates. */
static hamel_status fail_blocked(const events *e, const model_event *event, double t, const double *target,
                                 hamel_error *error) {
    dynamics *k = e->dynamics;
    dynamics_contradiction found;
    hamel_status status = dynamics_find_contradiction(k, k->discrete_state.active, target, &found);
    if (status == HAMEL_NO_MEMORY) return status;
    const char *pointer =
        event->impulse_count > 0 ? e->model->system->constraints[event->impulses[0]].pointer : event->pointer;
    if (event->impulse_count == 1)
        (void)hamel_fail(error, HAMEL_INTEGRATION, pointer, 0,
                         "at t = %.9g the active constraints prevent this impulse from changing any velocity", t);
    else if (status == HAMEL_OK && found.count > 1)
        (void)hamel_fail(error, HAMEL_INTEGRATION, pointer, 0,
                         "at t = %.9g the velocities that the constraints %s require after the impulses contradict "
                         "each other by %.6g",
                         t, found.names, found.off);
    else
        (void)hamel_fail(error, HAMEL_INTEGRATION, pointer, 0,
                         "at t = %.9g no velocities satisfy the constraints after the impulses of the event `%s`", t,
                         event->name);
    hamel_suggest(error, event->impulse_count > 1
                             ? "give redundant constraints restitutions that agree, or deactivate one of them"
                             : "deactivate a constraint in the event, so that the constraint of the impulse is not "
                               "redundant");
    return HAMEL_INTEGRATION;
}

/* Sets change[n] to v⁺ − v⁻ and multipliers[m] to Λ for the simultaneous impulses of an event. momentum[n] is P, the
 * generalized impulses of the percussions. target[m] is scratch. Each impulse acts on a constraint c with Newton's
 * restitution e_c, and all active constraints k remain satisfied:
 *
 *     M (v⁺ − v⁻) = P + Aᵀ Λ,   A_k v⁺ + f_k = 0,   A_c v⁺ + f_c = −e_c (A_c v⁻ + f_c).
 *
 * f are the terms without velocities (moving constraints), and Λ are the multipliers integrated over the impact.
 * Configuration and impressed forces do not change during the impact. The equation M (v⁺ − v⁻) = P + Aᵀ Λ applies to
 * constraints that persist and to constraints that act during the shock only (Papastavridis, Analytical Mechanics, ch.
 * 4). Active constraints that are not linear in the velocities act with their gradient before the impulse. */
static hamel_status solve_jump(events *e, const model_event *event, double t, const double *momentum, double *target,
                               double *change, double *multipliers, hamel_error *error) {
    dynamics *k = e->dynamics;
    const double *restitutions = e->values + event->at_restitution;
    for (size_t i = 0; i < e->model->m; i++) target[i] = -dynamics_velocity(k)[i];
    for (size_t i = 0; i < event->impulse_count; i++) target[event->impulses[i]] *= 1 + restitutions[i];
    hamel_status status = kkt_factor(k->velocities, k->values);
    if (status == HAMEL_OK)
        status = kkt_solve(k->velocities, momentum, target, JUMP_CONTRADICTION, change, multipliers);
    return status == HAMEL_INCOMPATIBLE ? fail_blocked(e, event, t, target, error) : status;
}

/* Replaces v[n] by the velocities after the impulses. Sets *gain to the energy that the impulses of the constraints
 * add, without the work of percussions and of moving constraints. */
static hamel_status solve_impulses(events *e, const model_event *event, double t, const double *q, double *v,
                                   double *gain, hamel_error *error) {
    dynamics *k = e->dynamics;
    size_t n = e->model->n, m = e->model->m;
    const double *restitutions = e->values + event->at_restitution;
    double *change = e->scratch, *momentum = change + n, *target = momentum + n, *multipliers = target + m;
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    if (status == HAMEL_OK) status = add_percussions(e, event, t, momentum, error);
    if (status != HAMEL_OK) return status;
    status = solve_jump(e, event, t, momentum, target, change, multipliers, error);
    if (status == HAMEL_INTEGRATION) return status;
    sensitivities_impulse at = {restitutions, change, multipliers};
    if (status == HAMEL_OK && e->sensitivities)
        status = sensitivities_strike(e->sensitivities, event, &at, e->sensitive);
    impact_data data = {v, change, momentum, restitutions, multipliers};
    if (status == HAMEL_OK && e->recording) status = impact_record_note(e->record, k, event, e->values, &data);
    if (status != HAMEL_OK) return dynamics_explain(k, status, error);
    for (size_t i = 0; i < n; i++) v[i] += change[i];
    *gain = energy_gain(k, event, restitutions, multipliers);
    return HAMEL_OK;
}

/* Applies the impulses. The constraints on which they act are active during the impulses only. */
static hamel_status strike_constraints(events *e, const model_event *event, double t, const double *q, double *v,
                                       double *gain, hamel_error *error) {
    dynamics *k = e->dynamics;
    bool *active = k->discrete_state.active;
    assert(k->velocities && model_event_strikes(event));
    memcpy(e->flags, active, e->model->m * sizeof *active);
    for (size_t i = 0; i < event->impulse_count; i++) active[event->impulses[i]] = true;
    hamel_status status = dynamics_select(k, active);
    if (status == HAMEL_OK) status = solve_impulses(e, event, t, q, v, gain, error);
    memcpy(active, e->flags, e->model->m * sizeof *active);
    hamel_status back = dynamics_select(k, active);
    if (status == HAMEL_OK) status = back;
    return status == HAMEL_NO_MEMORY ? hamel_out_of_memory(error) : status;
}

/* An energy gain is an error only if the event has no percussions and no restitution above 1, because the user intends
 * the energy that these add. */
hamel_status impulses_apply(events *e, const model_event *event, double t, const double *q, double *v,
                            hamel_error *error) {
    bool adds_energy;
    double gain = 0;
    if (!model_event_strikes(event)) return HAMEL_OK;
    hamel_status status = check_restitutions(event, e->values + event->at_restitution, t, &adds_energy, error);
    if (status == HAMEL_OK) status = strike_constraints(e, event, t, q, v, &gain, error);
    if (status != HAMEL_OK || !(gain > 0) || event->percussion_count > 0) return status;
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
