/* impact.h — the report of a run about the impulses of one event.
 *
 * The velocities jump from v⁻ to v⁺ at an unchanged configuration:
 *
 *     M (v⁺ − v⁻) = P + Aᵀ Λ
 *
 * P are the generalized impulses of the percussions, and Λ are the impulses of the multipliers. Each constraint of the
 * shock has one of Appell's four types (Papastavridis, Analytical Mechanics, ch. 4, Table 1), which follow from whether
 * the constraint acts before and after the shock:
 *
 *     type     1        2      3      4
 *     before   yes      no     yes    no
 *     during   yes      yes    yes    yes
 *     after    yes      yes    no     no
 *
 * Constraints of the types 1 and 2 persist: v⁺ satisfies their equations. The unknowns are v⁺ and Λ. The equations are
 * the n equations of impulsive motion and the equations of the persistent constraints. The degree of indeterminacy is
 * therefore the number of constraints of the types 3 and 4. Newton's restitution gives the missing equations. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct hamel_impact_constraint {
    const char *name;     /* of a constraint, or the equation of an impulse as in the description */
    int type;             /* 1 to 4 */
    double impulse;       /* Λ */
    double before, after; /* rate of the equation before and after the impulses */
    bool unique;          /* false if other impulses have the same effect, because the constraint is redundant */
} hamel_impact_constraint;

/* A theorem on impulses that applies to the event. `actual` is the value of the theorem's function for v⁺. For Carnot's
 * theorems, `other` is the value that the theorem predicts for `actual`. For a theorem on a minimum (maximum), `other`
 * is the smallest (largest) value at `alternatives` random velocities that the theorem admits. */
typedef struct hamel_impact_theorem {
    const char *name; /* "carnot_first", "carnot_second", "carnot_third", "kelvin", "bertrand_delaunay" or "robin" */
    double actual, other;
    size_t alternatives; /* 0 for Carnot's theorems */
    bool holds;          /* whether the values agree with the theorem up to rounding errors */
} hamel_impact_theorem;

enum { HAMEL_IMPACT_THEOREMS = 6 };

/* The impulses of an event. The run owns the arrays, which are valid during the callback only. */
typedef struct hamel_impact {
    const double *impulses; /* of the constraints in `impulse`, in the order of the description */
    size_t impulse_count;
    bool has_percussion;
    const double *percussion;       /* n: generalized impulses P */
    const char *const *coordinates; /* n: names */
    size_t velocity_count, equation_count;
    const hamel_impact_constraint *constraints; /* all constraints that act during the shock */
    size_t constraint_count, redundant;         /* redundant: number of constraints minus rank */
    /* The kinetic energy before and after the impulses, and the work of the impulses through the mean velocities, Σ (P +
     * Aᵀ Λ)·(v⁺ + v⁻)/2. If T has terms linear in the velocities, the work includes the change of these terms, which is
     * the work of the prescribed motion. For a lagrangian, T is its part T2. has_energy is false if the description has
     * no kinetic energy. */
    bool has_energy;
    double kinetic_before, kinetic_after, work;
    const hamel_impact_theorem *theorems;
    size_t theorem_count;
} hamel_impact;
