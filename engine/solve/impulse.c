/* impulse.c — one saddle-point system: the active rows and the impulsive one, at the level of velocities. */
#include "engine/solve/impulse.h"

#include <stdlib.h>

static const double CONTRADICTION = 1e-6; /* of dependent rows, relative to the jump: far above rounding */

static hamel_status jump(kinetics *k, double t, const double *q, double *v, size_t c, double restitution,
                         const impulse_along *along, double *multiplier, double *scratch, hamel_error *error) {
    size_t n = k->model->n, m = k->model->m;
    double *change = scratch, *target = scratch + n, *multipliers = target + m;
    hamel_status status = kinetics_evaluate(k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < m; i++) target[i] = -kinetics_velocity(k)[i];
    target[c] *= 1 + restitution;
    status = kkt_factor(k->velocities, k->values);
    if (status == HAMEL_OK) status = kkt_solve(k->velocities, NULL, target, CONTRADICTION, change, multipliers);
    if (status == HAMEL_INCOMPATIBLE) {
        (void)hamel_fail(error, status, k->model->system->constraints[c].pointer, 0,
                         "at t = %.9g the active constraints do not let this impulse change any velocity", t);
        hamel_suggest(error, "the struck constraint depends on others; deactivate one of them in the event");
        return status;
    }
    sensitivities_impulse at = {c, restitution, change, multipliers};
    if (status == HAMEL_OK && along->sensitivities)
        status = sensitivities_strike(along->sensitivities, along->event, &at, along->s);
    if (status != HAMEL_OK) return kinetics_explain(k, status, error);
    for (size_t i = 0; i < n; i++) v[i] += change[i];
    *multiplier = multipliers[c];
    return HAMEL_OK;
}

hamel_status impulse_apply(kinetics *k, double t, const double *q, double *v, size_t c, double restitution,
                           const impulse_along *along, double *multiplier, hamel_error *error) {
    size_t n = k->model->n, m = k->model->m;
    bool was = k->mode.active[c];
    double *scratch = calloc(n + 2 * m + 1, sizeof *scratch);
    k->mode.active[c] = true;
    hamel_status status = scratch ? kinetics_select(k, k->mode.active) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = jump(k, t, q, v, c, restitution, along, multiplier, scratch, error);
    k->mode.active[c] = was;
    hamel_status back = kinetics_select(k, k->mode.active);
    free(scratch);
    if (status == HAMEL_OK) status = back;
    if (status == HAMEL_NO_MEMORY && error && error->status == HAMEL_OK)
        (void)hamel_fail(error, status, "", 0, "no memory for an impulse");
    return status;
}
