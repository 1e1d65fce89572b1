/* gauss.c — Gauss's principle of least constraint.
 *
 *     G(q'') = ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b,     M a = Q      Gauss 1829; Greenwood 4.320-4.340;
 *                                                                             Papastavridis A94
 *
 * M, Q, A and b are those of Lagrange's equations: the accelerations solve a least-squares problem
 * (engine/linear/least_constraint.h) that allows redundant constraints and has no multipliers. The principle covers
 * constraints on accelerations. */
#include "engine/mechanics/formulation.h"

const formulation formulation_gauss = {
    "gauss",
    "Gauss's principle of least constraint: accelerations as a least-squares problem",
    SOLVER_LEAST_CONSTRAINT,
    VARIABLES_VELOCITIES,
    NEED_ANY & ~NEED_SIZE,
    lagrange_derive,
};
