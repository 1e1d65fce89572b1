/* gibbs_appell.c — the Gibbs–Appell equations, and Gibbs–Appell functions specified by the user.
 *
 *     ∂S/∂q''_i = Q_i + Σ λ_c A_ci                                   Greenwood 4.283; Papastavridis 3.5.21c
 *     ∂S/∂u'_r = Q_r                                                 Greenwood 4.275-4.283, 4.298
 *     S = Σ ½ m a·a + Σ (½ α·Iα + α·(ω × Iω)) + terms of T (Papastavridis A69) + S as specified
 *
 * S(q, q', q'', t) is quadratic in the accelerations, so M_ij = ∂²S/∂q''_i∂q''_j. The part of ∂S/∂q'' without
 * accelerations moves to the right-hand side. As ∂S/∂u'_r = Σ_i ∂S/∂q''_i Φ_ir, M and Q are projected by Φ. Unlike T, S
 * may already contain constraints (Papastavridis A77). M is then singular, but the equations of motion and the
 * constraints together determine the accelerations. Energies and momenta cannot be recovered from S. */
#include "engine/mechanics/formulation.h"

static bool add_appell_row(hamel_equations *e, graph_node term, int32_t i, const int32_t *list, size_t count) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    const graph_node *zeros = equations_zeros(e);
    if (!zeros) return false;
    graph_node force = graph_partial(g, term, s->a[i]);
    graph_node without = graph_substitute(g, force, SYMBOL_ACCELERATION, zeros, e->n);
    for (size_t k = 0; k < count && list[k] <= i; k++) {
        graph_node entry = graph_partial(g, force, s->a[list[k]]);
        if (graph_depends(g, entry) & GRAPH_DEPENDS(SYMBOL_ACCELERATION)) {
            (void)hamel_fail(s->error, HAMEL_INVALID, "/acceleration_energy", 0,
                             "the acceleration energy is not quadratic in the accelerations");
            return false;
        }
        if (!pattern_add(s, &e->M, i, list[k], entry)) return false;
    }
    e->Q[i] = graph_sub(g, e->Q[i], without);
    e->residual[i] = graph_add(g, e->residual[i], force);
    return e->residual[i] >= 0;
}

bool appell_add_term(hamel_equations *e, graph_node term) {
    int32_t *list;
    size_t count = node_support(e->system, term, SYMBOL_ACCELERATION, &list);
    for (size_t k = 0; k < count; k++)
        if (!add_appell_row(e, term, list[k], list, count)) return false;
    return true;
}

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

hamel_status gibbs_appell_derive(hamel_equations *e) {
    return quasi_velocities_derive(e, add_particle_terms, add_rotor_terms);
}
