/* kane.c — Kane's equations (Greenwood's general dynamical equation): d'Alembert's principle projected onto the
 * admissible directions.
 *
 *     Σ_i m_i a_i·γ_ir + Σ_i (I_i α_i + ω_i × I_i ω_i)·β_ir = Q_r               Greenwood 4.297; Kane & Levinson 1985
 *     γ_ir = ∂v_i/∂u_r,   β_ir = ∂ω_i/∂u_r
 *
 * γ_ir is Σ_j ∂v_i/∂q'_j Φ_jr, and β_ir is Σ_j ∂ω_i/∂q'_j Φ_jr. Kane's equations are therefore projections of M q'' = Q
 * with
 *
 *     M = Σ m JᵀJ + Σ J_ωᵀ I J_ω,     Q = forces − Σ m Jᵀ a_0 − Σ J_ωᵀ (I α_0 + ω × I ω)
 *
 * where a_0 and α_0 are the accelerations at q'' = 0. Kinetic energies are differentiated, as in Lagrange's equations,
 * only if the user specifies them as expressions or if masses vary. Rotations are in body axes, in which α is the rate
 * of the components of ω. */
#include "engine/mechanics/formulation.h"
#include "engine/system/elements.h"

/* Adds the inertia force m a of one position component x, projected onto ∂x/∂q. */
static bool add_component(hamel_equations *e, graph_node mass, graph_node x) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node bias = graph_mul(g, mass, graph_rate_bias(g, graph_rate(g, x)));
    int32_t *list;
    size_t count = node_support(s, x, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++) {
        graph_node gamma = graph_partial(g, x, s->q[list[i]]), weighted = graph_mul(g, mass, gamma);
        e->Q[list[i]] = graph_sub(g, e->Q[list[i]], graph_mul(g, gamma, bias));
        for (size_t j = 0; j <= i; j++) {
            graph_node entry = graph_mul(g, weighted, graph_partial(g, x, s->q[list[j]]));
            if (!pattern_add(s, &e->M, list[i], list[j], entry)) return false;
        }
    }
    return true;
}

static bool add_particle(hamel_equations *e, const system_particle *p) {
    bool constant = energies_inertia_is_constant(e->system, &p->mass, 1);
    for (int k = 0; k < 3; k++)
        if (!(constant ? add_component(e, p->mass, p->position[k])
                       : lagrange_add_term(e, energies_kinetic_of_particle(e->system, p, k))))
            return false;
    return true;
}

/* Computes I α_0 + ω × I ω. */
static void rate_of_spin(graph *g, const system_rotor *r, graph_node out[3]) {
    graph_node bias[3], momentum[3], gyroscopic[3];
    for (int k = 0; k < 3; k++) bias[k] = graph_rate_bias(g, r->omega[k]);
    node_matrix_apply(g, r->inertia, bias, out);
    node_matrix_apply(g, r->inertia, r->omega, momentum);
    node_vector_cross(g, r->omega, momentum, gyroscopic);
    for (int k = 0; k < 3; k++) out[k] = graph_add(g, out[k], gyroscopic[k]);
}

static bool add_rotor(hamel_equations *e, const system_rotor *r) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    if (!energies_inertia_is_constant(s, r->inertia, 9)) return lagrange_add_term(e, energies_kinetic_of_rotor(s, r));
    graph_node bias[3];
    int32_t *list;
    size_t count = node_support(s, energies_kinetic_of_rotor(s, r), SYMBOL_VELOCITY, &list); /* all velocities in ω */
    rate_of_spin(g, r, bias);
    for (size_t i = 0; i < count; i++) {
        graph_node beta[3], weighted[3];
        for (int k = 0; k < 3; k++) beta[k] = graph_partial(g, r->omega[k], s->v[list[i]]);
        node_matrix_apply(g, r->inertia, beta, weighted);
        e->Q[list[i]] = graph_sub(g, e->Q[list[i]], node_vector_dot(g, beta, bias));
        for (size_t j = 0; j <= i; j++) {
            for (int k = 0; k < 3; k++) beta[k] = graph_partial(g, r->omega[k], s->v[list[j]]);
            if (!pattern_add(s, &e->M, list[i], list[j], node_vector_dot(g, weighted, beta))) return false;
        }
    }
    return true;
}

static bool add_others(hamel_equations *e) {
    hamel_system *s = e->system;
    for (size_t i = 0; i < s->kinetic_given; i++)
        if (!lagrange_add_term(e, s->kinetic[i])) return false;
    for (size_t i = 0; i < s->particle_count; i++)
        if (!add_particle(e, &s->particles[i])) return false;
    return true;
}

static bool add_rotors(hamel_equations *e) {
    for (size_t i = 0; i < e->system->rotor_count; i++)
        if (!add_rotor(e, &e->system->rotors[i])) return false;
    return true;
}

hamel_status kane_derive(hamel_equations *e) {
    return quasi_velocities_derive(e, add_others, add_rotors);
}
