/* impulse.c — solution of a saddle-point system at velocity level for the active and the impulsive constraints. */
#include "engine/simulate/impulse.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double GAIN_ROUNDING = 1e-10; /* rounding of the energy gain, relative to its terms, which cancel */

/* Returns the energy that the impulses add beyond the work of moving constraints: Σ Λ_c (ψ⁺ + ψ⁻)/2 with ψ⁺ = −e ψ⁻. */
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

static hamel_status solve_jump(dynamics *k, double t, const double *q, double *v, const model_event *event,
                               const double *restitutions, const impulse_sensitivities *carried, double *out,
                               double *gain, double *scratch, hamel_error *error) {
    size_t n = k->model->n, m = k->model->m;
    double *change = scratch, *target = scratch + n, *multipliers = target + m;
    hamel_status status = dynamics_evaluate(k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < m; i++) target[i] = -dynamics_velocity(k)[i];
    for (size_t i = 0; i < event->impulse_count; i++) target[event->impulses[i]] *= 1 + restitutions[i];
    status = kkt_factor(k->velocities, k->values);
    if (status == HAMEL_OK) status = kkt_solve(k->velocities, NULL, target, JUMP_CONTRADICTION, change, multipliers);
    if (status == HAMEL_INCOMPATIBLE) {
        (void)hamel_fail(error, HAMEL_INTEGRATION, k->model->system->constraints[event->impulses[0]].pointer, 0,
                         event->impulse_count == 1
                             ? "at t = %.9g the active constraints do not let this impulse change any velocity"
                             : "at t = %.9g the active constraints do not let these impulses give the velocities that "
                               "their restitutions require",
                         t);
        hamel_suggest(error, "the constraint of the impulse depends on others; deactivate one of them in the event");
        return HAMEL_INTEGRATION;
    }
    sensitivities_impulse at = {restitutions, change, multipliers};
    if (status == HAMEL_OK && carried->sensitivities)
        status = sensitivities_strike(carried->sensitivities, event, &at, carried->s);
    if (status != HAMEL_OK) return dynamics_explain(k, status, error);
    for (size_t i = 0; i < n; i++) v[i] += change[i];
    for (size_t i = 0; i < event->impulse_count; i++) out[i] = multipliers[event->impulses[i]];
    *gain = energy_gain(k, event, restitutions, multipliers);
    return HAMEL_OK;
}

hamel_status impulse_apply(dynamics *k, double t, const double *q, double *v, const model_event *event,
                           const double *restitutions, const impulse_sensitivities *carried, double *multipliers,
                           double *gain, hamel_error *error) {
    size_t n = k->model->n, m = k->model->m, count = event->impulse_count;
    double *scratch = calloc(n + 2 * m + 1, sizeof *scratch);
    bool *was = calloc(count + 1, sizeof *was), *active = k->discrete_state.active;
    assert(k->velocities && count > 0);
    hamel_status status = scratch && was ? HAMEL_OK : HAMEL_NO_MEMORY;
    for (size_t i = 0; i < count && status == HAMEL_OK; i++) {
        was[i] = active[event->impulses[i]];
        active[event->impulses[i]] = true;
    }
    if (status == HAMEL_OK) {
        status = dynamics_select(k, active);
        if (status == HAMEL_OK)
            status = solve_jump(k, t, q, v, event, restitutions, carried, multipliers, gain, scratch, error);
        for (size_t i = 0; i < count; i++) active[event->impulses[i]] = was[i];
        hamel_status back = dynamics_select(k, active);
        if (status == HAMEL_OK) status = back;
    }
    free(scratch);
    free(was);
    if (status == HAMEL_NO_MEMORY && error && error->status == HAMEL_OK) (void)hamel_out_of_memory(error);
    return status;
}
