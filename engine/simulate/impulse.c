/* impulse.c — one saddle-point system: the active rows and the impulsive ones, at the level of velocities. */
#include "engine/solve/impulse.h"

#include <math.h>
#include <stdlib.h>

static const double CONTRADICTION = 1e-6; /* of dependent rows, relative to the jump: far above rounding */
static const double ROUNDING = 1e-10;     /* of the terms of an energy, which cancel */

/* The energy that the impulses add beyond the work of moving constraints: Σ Λ_c (ψ⁺ + ψ⁻)/2 with ψ⁺ = −e ψ⁻. */
static double gained(const kinetics *k, const model_event *event, const double *restitutions,
                     const double *multipliers) {
    double sum = 0, size = 0;
    for (size_t i = 0; i < event->impulse_count; i++) {
        double term = 0.5 * multipliers[event->impulses[i]] * kinetics_velocity(k)[event->impulses[i]];
        sum += (1 - restitutions[i]) * term;
        size += (1 + restitutions[i]) * fabs(term);
    }
    return fabs(sum) > ROUNDING * size ? sum : 0;
}

static hamel_status jump(kinetics *k, double t, const double *q, double *v, const model_event *event,
                         const double *restitutions, const impulse_along *along, double *out, double *gain,
                         double *scratch, hamel_error *error) {
    size_t n = k->model->n, m = k->model->m;
    double *change = scratch, *target = scratch + n, *multipliers = target + m;
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < m; i++) target[i] = -kinetics_velocity(k)[i];
    for (size_t i = 0; i < event->impulse_count; i++) target[event->impulses[i]] *= 1 + restitutions[i];
    status = kkt_factor(k->velocities, k->values);
    if (status == HAMEL_OK) status = kkt_solve(k->velocities, NULL, target, CONTRADICTION, change, multipliers);
    if (status == HAMEL_INCOMPATIBLE) {
        (void)hamel_fail(error, HAMEL_INTEGRATION, k->model->system->constraints[event->impulses[0]].pointer, 0,
                         event->impulse_count == 1
                             ? "at t = %.9g the active constraints do not let this impulse change any velocity"
                             : "at t = %.9g the active constraints do not let these impulses give the velocities that "
                               "their restitutions require",
                         t);
        hamel_suggest(error, "the struck constraint depends on others; deactivate one of them in the event");
        return HAMEL_INTEGRATION;
    }
    sensitivities_impulse at = {restitutions, change, multipliers};
    if (status == HAMEL_OK && along->sensitivities)
        status = sensitivities_strike(along->sensitivities, event, &at, along->s);
    if (status != HAMEL_OK) return kinetics_explain(k, status, error);
    for (size_t i = 0; i < n; i++) v[i] += change[i];
    for (size_t i = 0; i < event->impulse_count; i++) out[i] = multipliers[event->impulses[i]];
    *gain = gained(k, event, restitutions, multipliers);
    return HAMEL_OK;
}

hamel_status impulse_apply(kinetics *k, double t, const double *q, double *v, const model_event *event,
                           const double *restitutions, const impulse_along *along, double *multipliers, double *gain,
                           hamel_error *error) {
    size_t n = k->model->n, m = k->model->m, count = event->impulse_count;
    double *scratch = calloc(n + 2 * m + 1, sizeof *scratch);
    bool *was = calloc(count + 1, sizeof *was), *active = k->mode.active;
    hamel_status status = scratch && was ? HAMEL_OK : HAMEL_NO_MEMORY;
    for (size_t i = 0; i < count && status == HAMEL_OK; i++) {
        was[i] = active[event->impulses[i]];
        active[event->impulses[i]] = true;
    }
    if (status == HAMEL_OK) {
        status = kinetics_select(k, active);
        if (status == HAMEL_OK)
            status = jump(k, t, q, v, event, restitutions, along, multipliers, gain, scratch, error);
        for (size_t i = 0; i < count; i++) active[event->impulses[i]] = was[i];
        hamel_status back = kinetics_select(k, active);
        if (status == HAMEL_OK) status = back;
    }
    free(scratch);
    free(was);
    if (status == HAMEL_NO_MEMORY && error && error->status == HAMEL_OK)
        (void)hamel_fail(error, status, "", 0, "no memory for an impulse");
    return status;
}
