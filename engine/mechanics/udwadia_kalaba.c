/* udwadia_kalaba.c — the explicit equation of motion of constrained systems.
 *
 *     q'' = a + M^(−1/2) (A M^(−1/2))⁺ (b − A a),     a = M⁻¹ Q           Udwadia & Kalaba 1992, eq. 2.5
 *
 * M, Q, A and b are those of Lagrange's equations; the reaction is found directly, as that of least
 * M⁻¹-norm, by a pseudo-inverse. A may therefore have any rank; multipliers are computed from the reaction afterwards.
 * Any square root of M serves: with M = L Lᵀ the pseudo-inverse is taken of A L⁻ᵀ (engine/linear/kkt.c). */
#include "engine/mechanics/formulation.h"

const formulation formulation_udwadia_kalaba = {
    "udwadia-kalaba",
    "the Udwadia-Kalaba equation: reactions of least norm by a pseudo-inverse, redundant constraints welcome",
    SOLVER_LEAST_REACTION,
    VARIABLES_VELOCITIES,
    NEED_ANY,
    lagrange_derive,
};
