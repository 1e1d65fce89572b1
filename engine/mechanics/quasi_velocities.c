/* quasi_velocities.c — the derivation that formulations in quasi-velocities share, and the user's quasi-velocities
 *
 *     u = C(q,t) q' + d(q,t),     u' = C q'' + (dC/dt q' + dd/dt)                      Greenwood 4.236; Papastavridis 2.9
 *
 * and Maggi's equations: Lagrange's, projected onto the directions that the constraints leave free.
 *
 *     Σ_i Φ_ir (d/dt ∂L/∂q'_i − ∂L/∂q_i − Q_i) = 0,   r = 1 … n − m      Greenwood 4.8; Papastavridis 3.5.21a;
 *     q' = Φ u + φ                                                        Talamucci 2015, eq. 9, 10
 *
 * The constraints enter through Φ, not through the kinetic energy. q' follows from u and therefore always satisfies the
 * velocity constraints. For constraints that are not linear in the velocities Φ_ir = ∂q'_i/∂u_r (Papastavridis A91). Φ is
 * computed numerically at each state (engine/dynamics/velocity_basis.h). */
#include "engine/mechanics/formulation.h"

#include <assert.h>

hamel_status quasi_velocities_derive(hamel_equations *e, bool (*add_others)(hamel_equations *e),
                                     bool (*add_rotors)(hamel_equations *e)) {
    assert(!add_others == !add_rotors);
    hamel_system *s = e->system;
    hamel_status status = lagrange_derive(e);
    if (status == HAMEL_OK && add_others) status = inertia_replace(e, add_others, add_rotors);
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
