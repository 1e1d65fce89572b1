/* impulse.h — velocities that jump under impulsive constraints. */
#ifndef HAMEL_SOLVE_IMPULSE_H
#define HAMEL_SOLVE_IMPULSE_H

#include "engine/solve/sensitivities.h"

/* The sensitivities that are propagated across the impulse; NULL without sensitivities. */
typedef struct impulse_along {
    sensitivities *sensitivities;
    double *const *s;
} impulse_along;

/* Replaces v by the velocities after the impulses of an event, each on a constraint c with Newton's restitution e_c, all at
 * once and all active constraints kept:
 *
 *     M (v⁺ − v⁻) = Aᵀ Λ,   A_k v⁺ + f_k = 0 of the active rows k,   A_c v⁺ + f_c = −e_c (A_c v⁻ + f_c)
 *
 * with f the terms free of velocities (moving constraints). Λ are the multipliers integrated over the instant; configuration
 * and given forces do not change in it (Papastavridis, Analytical Mechanics, ch. 4: Δ ∂T/∂q' = Aᵀ Λ; constraints that
 * persist and the new ones enter alike). Rows of the active constraints that are not linear in the velocities act by
 * their direction before the impulse.
 *
 * The constraints c need not be active and are afterwards what they were before. multipliers[i] gets the Λ of the event's
 * i-th impulse. *gain gets the energy that the impulses add beyond the work of moving constraints,
 * Σ Λ_c (1 − e_c)(A_c v⁻ + f_c)/2, and 0 where that is rounding: an impulse on one constraint never adds energy with e ≤ 1,
 * several with different restitutions may (Kane & Levinson, Dynamics (1985), 5.8).
 * HAMEL_OK, or a fault: HAMEL_INTEGRATION when the active constraints do not let these velocities change. */
hamel_status impulse_apply(kinetics *k, double t, const double *q, double *v, const model_event *event,
                           const double *restitutions, const impulse_along *along, double *multipliers, double *gain,
                           hamel_error *error) HAMEL_CHECKED;

#endif
