/* branch_change.h — jumps at the instant at which nonsmooth operators change their branches, and jumps that are
 * refused.
 *
 * In the limit of ever steeper changes, configuration and time are constant while forces grow. With the branches before
 * (−) and after (+), and Λ the multipliers integrated over the instant,
 *
 *     p⁺(t, q, v⁺) − p⁻(t, q, v⁻) = A⁺ᵀ Λ,     ψ⁺(t, q, v⁺) = 0,     p = ∂L/∂q'
 *
 * (Papastavridis, Analytical Mechanics, ch. 4: Δ ∂T/∂q' = Aᵀ Λ for constraints that are imposed suddenly and persist).
 * A position prescribed with a kink in time changes T, which contains its velocity, and so p⁻ becomes p⁺; a prescribed
 * velocity that jumps changes ψ. This holds for all formulations: the momenta are those of the Lagrangian.
 *
 * Three kinds of jumps are refused: jumps of functions that are differentiated along the motion, because their
 * rate is infinite; jumps of momenta or of the energy at a branch that coordinates or velocities decide, not time
 * alone, because ∂L/∂q is infinite there as well; and jumps of velocities if forces contain the multipliers, as
 * friction does. */
#ifndef HAMEL_SOLVE_BRANCH_CHANGE_H
#define HAMEL_SOLVE_BRANCH_CHANGE_H

#include "engine/solve/kinetics.h"

typedef struct branch_change branch_change;

typedef struct branch_jump {
    bool jumped;    /* whether velocities have jumped */
    double energy;  /* change of h */
    int32_t turned; /* a constraint on velocities whose direction has jumped and that took part, or −1 */
    const double *change, *multipliers; /* n, m: v⁺ − v⁻ and Λ; until the next call */
    bool momenta;                       /* p⁺(v) differs from p⁻(v): more than the constraints has changed */
} branch_jump;

/* `k` is borrowed; its model has a program `continuity`. NULL without memory. */
branch_change *branch_change_create(kinetics *k);
void branch_change_free(branch_change *c);

/* Refuses, before a run from q, v, functions that jump at a known time by the same amount at all states. HAMEL_OK or
 * HAMEL_INVALID. Changes the branches of `k`. */
hamel_status branch_change_foresee(branch_change *c, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

/* Stores the values on the current branches at the state (t, q, v). */
hamel_status branch_change_begin(branch_change *c, double t, const double *q, const double *v,
                                 hamel_error *error) HAMEL_CHECKED;

/* Call after only the branches have changed: v⁻ becomes v⁺. HAMEL_OK, HAMEL_INTEGRATION with a fault, HAMEL_NOT_FINITE,
 * HAMEL_SINGULAR. */
hamel_status branch_change_end(branch_change *c, double *v, branch_jump *jump, hamel_error *error) HAMEL_CHECKED;

#endif
