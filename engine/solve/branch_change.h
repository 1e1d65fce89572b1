/* branch_change.h — the instant at which abrupt operators take other branches: what jumps there, and what must not.
 *
 * In the limit of ever steeper changes configuration and time stand still while forces grow. With the branches before (−) and
 * after (+), and Λ the multipliers integrated over the instant,
 *
 *     p⁺(t, q, v⁺) − p⁻(t, q, v⁻) = A⁺ᵀ Λ,     ψ⁺(t, q, v⁺) = 0,     p = ∂L/∂q'
 *
 * (Papastavridis, Analytical Mechanics, ch. 4: Δ ∂T/∂q' = Aᵀ Λ for constraints that are imposed suddenly and persist). A
 * position prescribed with a kink in time moves T, which has that velocity in it, from p⁻ to p⁺; a prescribed velocity that
 * jumps moves ψ. By all formulations: the momenta are those of Lagrange's function.
 *
 * Refused are: jumps of what is differentiated along the motion, whose rate is infinite; jumps of momenta or of the energy
 * where coordinates or velocities, not time alone, decide on the branch, since ∂L/∂q is infinite there as well; and velocities
 * that jump where forces contain the multipliers, friction among them. */
#ifndef HAMEL_SOLVE_BRANCH_CHANGE_H
#define HAMEL_SOLVE_BRANCH_CHANGE_H

#include "engine/solve/kinetics.h"

typedef struct branch_change branch_change;

typedef struct branch_jump {
    bool jumped;    /* velocities have */
    double energy;  /* by how much h has changed */
    int32_t turned; /* a constraint on velocities whose direction has jumped and that took part, or −1 */
    const double *change, *multipliers; /* n, m: v⁺ − v⁻ and Λ; until the next call */
    bool momenta;                       /* p⁺(v) is not p⁻(v): not the constraints alone have moved */
} branch_jump;

/* `k` is borrowed; its model has a program `continuity`. NULL without memory. */
branch_change *branch_change_create(kinetics *k);
void branch_change_free(branch_change *c);

/* Refuses, before a run from q, v, what jumps at a time that can be foreseen, by the same amount wherever the system is.
 * HAMEL_OK, HAMEL_INVALID. The branches of `k` are others afterwards. */
hamel_status branch_change_foresee(branch_change *c, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

/* Notes what there is by the branches in force at the state (t, q, v). */
hamel_status branch_change_begin(branch_change *c, double t, const double *q, const double *v,
                                 hamel_error *error) HAMEL_CHECKED;

/* Branches have changed since, and nothing else: v⁻ becomes v⁺. HAMEL_OK, HAMEL_INTEGRATION with a fault, HAMEL_NOT_FINITE,
 * HAMEL_SINGULAR. */
hamel_status branch_change_end(branch_change *c, double *v, branch_jump *jump, hamel_error *error) HAMEL_CHECKED;

#endif
