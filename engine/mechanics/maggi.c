/* maggi.c — Maggi's equations: Lagrange's, projected onto the directions that the constraints leave free.
 *
 *     Σ_i Φ_ir (d/dt ∂L/∂q'_i − ∂L/∂q_i − Q_i) = 0,   r = 1 … n − m      Greenwood 4.8; Papastavridis 3.5.21a;
 *     q' = Φ u + φ                                                        Talamucci 2015, eq. 9, 10
 *
 * The constraints enter through Φ, not through the kinetic energy. States are (q, u): q' follows from u and therefore
 * always satisfies the velocity constraints. For constraints that are not linear in the velocities Φ_ir = ∂q'_i/∂u_r
 * (Papastavridis A91). Φ is made from numbers at each state (engine/dynamics/velocity_basis.h). */
#include "engine/mechanics/formulation.h"

static hamel_status derive_maggi(hamel_equations *e) {
    return quasi_velocities_derive(e, NULL, NULL);
}

const formulation formulation_maggi = {
    "maggi",
    "Maggi's equations: Lagrange's projected onto the free directions, in quasi-velocities",
    SOLVER_PROJECTION,
    VARIABLES_VELOCITIES,
    NEED_ANY & ~NEED_SIZE,
    derive_maggi,
};
