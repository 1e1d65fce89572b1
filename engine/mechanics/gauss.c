/* gauss.c — Gauss's principle of least constraint.
 *
 *     G(q'') = ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b,     M a = Q      Gauss 1829; Greenwood 4.320-4.340;
 *                                                                             Papastavridis A94
 *
 * M, Q, A and b are those of Lagrange's equations: what differs is that accelerations are the answer of a least-squares
 * problem (engine/solve/least_constraint.h), in which dependent constraints are nothing special and multipliers do not
 * occur. Acceleration constraints are what the principle was made for. */
#include "engine/mechanics/formulation.h"

const formulation formulation_gauss = {
    "gauss",
    "Gauss's principle of least constraint: accelerations as a least-squares problem",
    SOLVER_LEAST_CONSTRAINT,
    VARIABLES_VELOCITIES,
    NEED_ANY & ~NEED_SIZE,
    lagrange_derive,
};
