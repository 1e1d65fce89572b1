/* branch_change.h — velocity jumps at branch changes of nonsmooth operators, and checks for jumps that have no
 * solution.
 *
 * A velocity jump is the limit of ever faster changes: during the jump, configuration and time are constant, and forces
 * grow without bound. The velocities after the jump satisfy
 *
 *     p⁺(t, q, v⁺) − p⁻(t, q, v⁻) = A⁺ᵀ Λ,     ψ⁺(t, q, v⁺) = 0,     p = ∂L/∂q'
 *
 * where − and + denote the branches before and after the jump, and Λ are the integrals of the multipliers over the
 * instant. For constraints that are imposed suddenly and persist, this is Δ ∂T/∂q' = Aᵀ Λ (Papastavridis, Analytical
 * Mechanics, ch. 4). If a prescribed position has a kink in time, its velocity jumps. T contains this velocity, so p⁺
 * differs from p⁻. If a prescribed velocity jumps, ψ⁺ differs from ψ⁻. These equations hold for all formulations,
 * because p are the momenta of the Lagrangian.
 *
 * Three kinds of jumps are reported as errors. Functions that are differentiated along the motion must not jump,
 * because their rates would be infinite. If coordinates or velocities cause the branch change, momenta and energy must
 * not jump, because ∂L/∂q is infinite there. Velocities must not jump if forces contain the multipliers, as friction
 * does. */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct branch_change branch_change;

typedef struct branch_jump {
    bool jumped;                        /* true if velocities have jumped */
    double energy;                      /* change of the energy h */
    int32_t turned;                     /* index of a constraint with an impulse and a changed row of A, or −1 */
    const double *change, *multipliers; /* change: v⁺ − v⁻ (n); multipliers: Λ (m); valid until the next call */
    bool momenta;                       /* true if p⁺(v) differs from p⁻(v); otherwise only ψ has changed */
} branch_jump;

/* Allocates from k->memory; `k` is borrowed and its model must have a program `continuity`. Returns NULL if out of
 * memory. */
branch_change *branch_change_create(dynamics *k);

/* Call this function before a run that starts at (q, v). Adds an error if a function that must be continuous has a jump
 * at a time known in advance. The jump must be the same at all sampled configurations. Returns HAMEL_OK or
 * HAMEL_INVALID. Changes the branches of `k`. */
hamel_status branch_change_foresee(branch_change *c, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

/* Stores the values on the current branches at the state (t, q, v). */
hamel_status branch_change_begin(branch_change *c, double t, const double *q, const double *v,
                                 hamel_error *error) HAMEL_CHECKED;

/* Replaces v⁻ by v⁺. Call this function after branch_change_begin, when only the branches have changed. Returns
 * HAMEL_OK, HAMEL_INTEGRATION with an error, HAMEL_NOT_FINITE or HAMEL_SINGULAR. */
hamel_status branch_change_end(branch_change *c, double *v, branch_jump *jump, hamel_error *error) HAMEL_CHECKED;
