/* impulse.h — jumps of velocities caused by impulsive constraints. */
#pragma once

#include "engine/sensitivity/sensitivities.h"

/* Sensitivities that are propagated across an impulse. */
typedef struct impulse_sensitivities {
    sensitivities *sensitivities;
    double *const *s;
} impulse_sensitivities;

/* Replaces v by the velocities after the simultaneous impulses of an event. Each impulse acts on a constraint c with Newton's
 * restitution e_c, and all active constraints remain satisfied:
 *
 *     M (v⁺ − v⁻) = Aᵀ Λ,   A_k v⁺ + f_k = 0 of the active rows k,   A_c v⁺ + f_c = −e_c (A_c v⁻ + f_c)
 *
 * where f are the terms free of velocities (moving constraints) and Λ are the multipliers integrated over the impact.
 * Configuration and given forces do not change during the impact (Papastavridis, Analytical Mechanics, ch. 4:
 * Δ ∂T/∂q' = Aᵀ Λ, for persisting and new constraints alike). Active constraints that are not linear in the velocities act
 * with their gradient before the impulse.
 *
 * The constraints c need not be active, and the set of active constraints does not change. Sets multipliers[i] to the Λ of
 * the event's i-th impulse. Sets *gain to the energy that the impulses add beyond the work of moving constraints,
 * Σ Λ_c (1 − e_c)(A_c v⁻ + f_c)/2, or to 0 if that is rounding. An impulse on one constraint never adds energy if e ≤ 1;
 * several impulses with different restitutions may (Kane & Levinson, Dynamics (1985), 5.8).
 * Returns HAMEL_INTEGRATION with an error if the active constraints do not allow this change of velocities; HAMEL_NO_MEMORY;
 * other statuses as dynamics_evaluate. */
hamel_status impulse_apply(dynamics *k, double t, const double *q, double *v, const model_event *event,
                           const double *restitutions, const impulse_sensitivities *carried, double *multipliers,
                           double *gain, hamel_error *error) HAMEL_CHECKED;
