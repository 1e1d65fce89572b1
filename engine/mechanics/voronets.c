/* voronets.c — Voronets' equations: the velocity constraints are solved for dependent velocities q'_D.
 *
 *     q'_D = Σ_I b_DI q'_I + b_D                                    Papastavridis 2.11.9; Intro 3.8
 *
 *     d/dt ∂T_o/∂q'_I − ∂T_o/∂q_I − Σ_D b_DI ∂T_o/∂q_D
 *         − Σ_D p_D (Σ_I' w^D_II' q'_I' + w^D_I) = Q_I + Σ_D b_DI Q_D
 *
 *     w^D_II' = ∂b_DI/∂(q_I') − ∂b_DI'/∂(q_I),     ∂/∂(q_I) = ∂/∂q_I + Σ_D b_DI ∂/∂q_D      Papastavridis E2.12.1
 *     w^D_I   = ∂b_DI/∂t + Σ_D' b_D' ∂b_DI/∂q_D' − ∂b_D/∂(q_I)
 *
 * T_o(t, q, q'_I) is T with the dependent velocities replaced, and p_D is ∂T/∂q'_D with the same replacement. All
 * holonomic and velocity constraints are solved together. If the description contains a Lagrangian, the Lagrangian
 * replaces T, and Q contains only the forces without a potential.
 *
 * The equations are those of Boltzmann and Hamel for the quasi-velocities q'_I and ω_D = q'_D − Σ b_DI q'_I − b_D:
 * γ^D_II' = −w^D_II', γ^D_I = −w^D_I, and γ^I vanishes (Papastavridis P2.12.4). Runs therefore need the derivatives of
 * the constraint gradients only. At each state, b and its derivatives are computed from these derivatives
 * (engine/dynamics/null_space.c). If the constraints no longer determine the velocities q'_D accurately, other
 * dependent coordinates are chosen. Quasi-velocities of the description are not used. */
#include "engine/mechanics/formulation.h"

hamel_status voronets_derive(hamel_equations *e) {
    hamel_status status = lagrange_derive(e);
    return status == HAMEL_OK ? boltzmann_hamel_coefficients(e) : status;
}
