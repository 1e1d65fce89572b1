/* impact.h — the report of a run about the impulses of one event.
 *
 * The velocities jump from v⁻ to v⁺ and the configuration is unchanged:
 *
 *     M (v⁺ − v⁻) = P + Aᵀ Λ
 *
 * P are the generalized impulses of the percussions, and Λ are the impulses of the multipliers. Each constraint that
 * acts during the shock has one of Appell's four types (Papastavridis, Analytical Mechanics, ch. 4, Table 1), depending
 * on whether the constraint acts before and after the shock:
 *
 *     type     1        2      3      4
 *     before   yes      no     yes    no
 *     during   yes      yes    yes    yes
 *     after    yes      yes    no     no
 *
 * Constraints of the types 1 and 2 persist: v⁺ satisfies their equations. The unknowns are the n velocities v⁺ and one
 * Λ for each constraint of the shock. The equations are the n equations of impulsive motion and the equations of the
 * persistent constraints. One equation is therefore missing for each constraint of the types 3 and 4. Newton's
 * restitution gives these equations. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct hamel_impact_constraint {
    const char *name;     /* name of the constraint, or the text of the equation if the impulse has its own equation */
    int type;             /* 1 to 4 */
    double impulse;       /* Λ */
    double before, after; /* rate of the constraint function f before and after the impulses */
    bool unique;          /* false if the constraints do not determine `impulse`, because they are redundant */
} hamel_impact_constraint;

/* A theorem on impulses that applies to the event. `actual` is the value of the theorem's function for v⁺. For Carnot's
 * theorems, `other` is the value that the theorem predicts for `actual`. For Kelvin's and Robin's theorems, `other` is
 * the smallest value at `alternatives` random velocities that the theorem admits. For the theorem of Bertrand and
 * Delaunay, `other` is the largest value with one of `alternatives` random additional constraints. */
typedef struct hamel_impact_theorem {
    const char *name; /* "carnot_first", "carnot_second", "carnot_third", "kelvin", "bertrand_delaunay" or "robin" */
    double actual, other;
    size_t alternatives; /* 0 for Carnot's theorems */
    bool holds;          /* true if `actual` and `other` agree with the theorem up to rounding errors */
} hamel_impact_theorem;

enum { HAMEL_IMPACT_THEOREMS = 6 };

/* The report about the impulses of one event. The run owns the arrays, which are valid during the callback only. */
typedef struct hamel_impact {
    const double *impulses; /* Λ of the constraints in `impulse`, in the order of the description */
    size_t impulse_count;
    bool has_percussion;
    const double *percussion;       /* n: generalized impulses P of all percussions */
    const char *const *coordinates; /* n: names of the coordinates */
    size_t velocity_count, equation_count;
    const hamel_impact_constraint *constraints; /* all constraints that act during the shock */
    size_t constraint_count, redundant;         /* redundant: constraint_count minus the rank of A */
    /* The kinetic energy before and after the impulses, and the work of the impulses through the mean velocities, Σ (P
     * + Aᵀ Λ)·(v⁺ + v⁻)/2. If T has terms linear in the velocities, `work` includes the change of these terms, which is
     * the work of the prescribed motion. For a lagrangian, T is replaced by T2 − T0 + V, which changes as T2 does.
     * has_energy is false if the description has an acceleration energy instead of a kinetic energy. */
    bool has_energy;
    double kinetic_before, kinetic_after, work;
    const hamel_impact_theorem *theorems;
    size_t theorem_count;
} hamel_impact;
