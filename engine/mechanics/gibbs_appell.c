/* gibbs_appell.c — the Gibbs–Appell equations.
 *
 *     ∂S/∂u'_r = Q_r                                                  Greenwood 4.275-4.283, 4.298; Papastavridis 3.5.21c
 *     S = Σ ½ m a·a + Σ (½ α·Iα + α·(ω × Iω)) + terms of T (Papastavridis A69) + S as given
 *
 * ∂S/∂u'_r = Σ_i ∂S/∂q''_i Φ_ir, and S is quadratic in q'': so M = ∂²S/∂q''∂q'', what of ∂S/∂q'' is free of accelerations
 * goes to the right, and both are projected by Φ. Constraints may be put into S at once, unlike into T
 * (Papastavridis A77). */
#include "engine/mechanics/formulation.h"

static bool add_others(hamel_equations *e) {
    size_t count;
    graph_node *terms = energies_acceleration_terms(e->system, &count);
    if (!terms) return false;
    for (size_t i = 0; i < count; i++)
        if (!appell_add_term(e, terms[i])) return false;
    return true;
}

static bool add_rotors(hamel_equations *e) {
    hamel_system *s = e->system;
    for (size_t i = 0; i < s->rotor_count; i++)
        if (!appell_add_term(e, energies_acceleration_of_rotor(s, &s->rotors[i]))) return false;
    return true;
}

static hamel_status derive(hamel_equations *e) {
    hamel_status status = lagrange_derive(e);
    if (status == HAMEL_OK) status = inertia_replace(e, add_others, add_rotors);
    return status == HAMEL_OK ? quasi_velocities_derive(e) : status;
}

const formulation formulation_gibbs_appell = {
    "gibbs-appell",
    "the Gibbs-Appell equations: derivatives of an energy of accelerations, in quasi-velocities",
    SOLVER_PROJECTION,
    VARIABLES_VELOCITIES,
    NEED_NONLINEAR_CONSTRAINTS | NEED_ACCELERATION_ENERGY,
    derive,
};
