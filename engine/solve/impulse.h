/* impulse.h — velocities that jump under an impulsive constraint. */
#ifndef HAMEL_SOLVE_IMPULSE_H
#define HAMEL_SOLVE_IMPULSE_H

#include "engine/solve/sensitivities.h"

/* What is differentiated along, for `event`: sensitivities NULL for nothing. */
typedef struct impulse_along {
    sensitivities *sensitivities;
    const model_event *event;
    double *const *s;
} impulse_along;

/* Replaces v by the velocities after an impulse on constraint c with Newton's restitution e, all active constraints kept:
 *
 *     M (v⁺ − v⁻) = Aᵀ Λ,   A_k v⁺ + f_k = 0 of the active rows k,   A_c v⁺ + f_c = −e (A_c v⁻ + f_c)
 *
 * with f the terms free of velocities (moving constraints). Λ are the multipliers integrated over the instant; configuration
 * and given forces do not change in it (Papastavridis, Analytical Mechanics, ch. 4: Δ ∂T/∂q' = Aᵀ Λ; constraints that
 * persist and the new one enter alike). Rows of the active constraints that are not linear in the velocities act by
 * their direction before the impulse.
 *
 * Constraint c need not be active and is afterwards what it was before. *multiplier gets Λ_c. HAMEL_OK, or a fault: HAMEL_INCOMPATIBLE when the active
 * constraints do not let the velocity of c change. */
hamel_status impulse_apply(kinetics *k, double t, const double *q, double *v, size_t c, double restitution,
                           const impulse_along *along, double *multiplier, hamel_error *error) HAMEL_CHECKED;

#endif
