/* hamilton.c — Hamilton's canonical equations, with multipliers for constraints.
 *
 *     q'_i = ∂H/∂p_i,     p'_i = −∂H/∂q_i + Q_i + Σ λ_c A_ci          Greenwood 2.3; Talamucci 23
 *
 * Here p = ∂L/∂q', and H = p·q' − L is the Jacobi integral. H(q, p, t) is never formed. By Legendre's transformation,
 * ∂H/∂p is the q' that belongs to p. Likewise, −∂H/∂q at fixed p is ∂L/∂q at fixed q'. This file derives the right-hand
 * side of p'. engine/dynamics/momenta.c computes q' from p. Lagrange's equations are derived as well, because they
 * determine the multipliers. */
#include "engine/mechanics/formulation.h"

hamel_status hamilton_derive(hamel_equations *e) {
    hamel_status status = lagrange_derive(e);
    if (status != HAMEL_OK) return status;
    e->momentum_rate = energies_slopes(e);
    for (size_t i = 0; e->momentum_rate && i < e->n; i++)
        e->momentum_rate[i] = graph_add(e->system->graph, e->momentum_rate[i], e->given[i]);
    return equations_status(e->system);
}
