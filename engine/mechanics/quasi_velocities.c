/* quasi_velocities.c — the derivation that formulations in quasi-velocities share, and Maggi's equations.
 *
 * The user's quasi-velocities are
 *
 *     u = C(q,t) q' + d(q,t),     u' = C q'' + (dC/dt q' + dd/dt)                    Greenwood 4.236; Papastavridis 2.9
 *
 * Maggi's equations are Lagrange's, projected onto the directions that the constraints leave free:
 *
 *     Σ_i Φ_ir (d/dt ∂L/∂q'_i − ∂L/∂q_i − Q_i) = 0,   r = 1 … n − m      Greenwood 4.8; Papastavridis 3.5.21a;
 *     q' = Φ u + φ                                                        Talamucci 2015, eq. 9, 10
 *
 * The constraints enter through Φ, not through the kinetic energy. q' follows from u and therefore always satisfies the
 * velocity constraints. If constraints are not linear in the velocities, Φ_ir = ∂q'_i/∂u_r (Papastavridis A91). Φ is
 * computed numerically at each state (engine/dynamics/velocity_basis.h). */
#include "engine/mechanics/formulation.h"

#include <assert.h>

static bool prepare_equations(hamel_equations *own, const hamel_equations *e) {
    hamel_system *s = e->system;
    *own = (hamel_equations){.system = s, .n = e->n, .zeros = e->zeros};
    own->momentum = node_array(s, e->n);
    own->Q = node_array(s, e->n);
    own->residual = node_array(s, e->n);
    return own->momentum && own->Q && own->residual;
}

/* Fills reaction_shift: the contribution of rotations to Lagrange's Q minus their contribution in this formulation. */
static bool shift_reactions(hamel_equations *e, const hamel_equations *rotors) {
    hamel_system *s = e->system;
    hamel_equations lagrange;
    bool zero = true;
    if (s->rotor_count == 0 || e->m == 0) return true;
    if (!prepare_equations(&lagrange, e)) return false;
    for (size_t i = 0; i < s->rotor_count; i++)
        if (!lagrange_add_term(&lagrange, energies_kinetic_of_rotor(s, &s->rotors[i]))) return false;
    for (size_t i = 0; i < e->n; i++) {
        lagrange.Q[i] = graph_sub(s->graph, lagrange.Q[i], rotors->Q[i]);
        zero = zero && graph_is_zero(s->graph, lagrange.Q[i]);
    }
    if (!zero) e->reaction_shift = lagrange.Q;
    return true;
}

/* Replaces the contributions of masses to M and Q by contributions that are derived without differentiating the kinetic
 * energy. The terms of potentials and impressed forces do not change. */
static hamel_status replace_inertia(hamel_equations *e, bool (*add_others)(hamel_equations *e),
                                    bool (*add_rotors)(hamel_equations *e)) {
    assert(e->M.count > 0 || e->system->kinetic_count == 0);
    hamel_system *s = e->system;
    hamel_equations own;
    if (!prepare_equations(&own, e) || !add_rotors(&own) || !shift_reactions(e, &own) || !add_others(&own))
        return equations_status(s);
    for (size_t i = 0; i < s->potential_count; i++)
        if (!lagrange_add_term(&own, graph_neg(s->graph, s->potential[i]))) return equations_status(s);
    for (size_t i = 0; i < e->n; i++) own.Q[i] = graph_add(s->graph, own.Q[i], e->given[i]);
    if (!pattern_finish(s, &own.M)) return equations_status(s);
    e->M = own.M;
    e->Q = own.Q;
    return equations_status(s);
}

hamel_status quasi_velocities_derive(hamel_equations *e, bool (*add_others)(hamel_equations *e),
                                     bool (*add_rotors)(hamel_equations *e)) {
    assert(!add_others == !add_rotors);
    hamel_system *s = e->system;
    hamel_status status = lagrange_derive(e);
    if (status == HAMEL_OK && add_others) status = replace_inertia(e, add_others, add_rotors);
    if (status != HAMEL_OK) return status;
    e->quasi = node_array(s, s->quasi_count);
    e->quasi_bias = node_array(s, s->quasi_count);
    if (!e->quasi || !e->quasi_bias) return equations_status(s);
    for (size_t r = 0; r < s->quasi_count; r++) {
        graph_node u = s->quasi[r].definition;
        int32_t *list;
        size_t count = node_support(s, u, SYMBOL_VELOCITY, &list);
        e->quasi[r] = u;
        e->quasi_bias[r] = graph_rate_bias(s->graph, u);
        for (size_t i = 0; i < count; i++)
            if (!pattern_add(s, &e->C, (int32_t)r, list[i], graph_partial(s->graph, u, s->v[list[i]])))
                return equations_status(s);
    }
    (void)pattern_finish(s, &e->C);
    return equations_status(s);
}

hamel_status maggi_derive(hamel_equations *e) {
    return quasi_velocities_derive(e, NULL, NULL);
}
