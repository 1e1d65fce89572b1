/* gibbs_appell.c — the Gibbs–Appell equations.
 *
 *     ∂S/∂u'_r = Q_r                                                  Greenwood 4.275-4.283, 4.298; Papastavridis 3.5.21c
 *     S = Σ ½ m a·a + Σ (½ α·Iα + α·(ω × Iω)) + terms of T (Papastavridis A69) + S as given
 *
 * ∂S/∂u'_r = Σ_i ∂S/∂q''_i Φ_ir, and S is quadratic in q'': so M = ∂²S/∂q''∂q'', what of ∂S/∂q'' is free of accelerations
 * moves to the right-hand side, and both are projected by Φ. Constraints may be put into S at once, unlike into T
 * (Papastavridis A77). */
#include "engine/mechanics/formulation.h"

static bool add_particle_terms(hamel_equations *e) {
    size_t count;
    graph_node *terms = energies_acceleration_terms(e->system, &count);
    if (!terms) return false;
    for (size_t i = 0; i < count; i++)
        if (!appell_add_term(e, terms[i])) return false;
    return true;
}

static bool add_rotor_terms(hamel_equations *e) {
    hamel_system *s = e->system;
    for (size_t i = 0; i < s->rotor_count; i++)
        if (!appell_add_term(e, energies_acceleration_of_rotor(s, &s->rotors[i]))) return false;
    return true;
}

static hamel_status derive_gibbs_appell(hamel_equations *e) {
    return quasi_velocities_derive(e, add_particle_terms, add_rotor_terms);
}

const formulation formulation_gibbs_appell = {
    "gibbs-appell",
    "the Gibbs-Appell equations: derivatives of an energy of accelerations, in quasi-velocities",
    SOLVER_PROJECTION,
    VARIABLES_VELOCITIES,
    NEED_NONLINEAR_CONSTRAINTS | NEED_ACCELERATION_ENERGY,
    derive_gibbs_appell,
};
