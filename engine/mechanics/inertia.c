/* inertia.c — M and Q from masses and moments of inertia without differentiating the kinetic energy. */
#include "engine/mechanics/equations.h"

#include <assert.h>

bool inertia_is_constant(const hamel_system *s, const graph_node *inertia, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (graph_depends(s->graph, inertia[i]) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER)) return false;
    return true;
}

graph_node inertia_of_particle(hamel_system *s, const system_particle *p, int component) {
    graph *g = s->graph;
    graph_node v = graph_rate(g, p->position[component]);
    return graph_mul(g, graph_number(g, 0.5), graph_mul(g, p->mass, graph_binary(g, GRAPH_POW, v, graph_number(g, 2))));
}

graph_node inertia_of_rotor(hamel_system *s, const system_rotor *r) {
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum = graph_add(g, sum, graph_mul(g, r->inertia[3 * i + j], graph_mul(g, r->omega[i], r->omega[j])));
    return graph_mul(g, graph_number(g, 0.5), sum);
}

static bool prepare_equations(hamel_equations *own, const hamel_equations *e) {
    hamel_system *s = e->system;
    *own = (hamel_equations){.system = s, .n = e->n, .zeros = e->zeros};
    own->momentum = node_array(s, e->n);
    own->Q = node_array(s, e->n);
    own->residual = node_array(s, e->n);
    return own->momentum && own->Q && own->residual;
}

/* Fills reaction_shift: Lagrange's Q of the rotors minus that of `rotors`. */
static bool shift_reactions(hamel_equations *e, const hamel_equations *rotors) {
    hamel_system *s = e->system;
    hamel_equations lagrange;
    bool zero = true;
    if (s->rotor_count == 0 || e->m == 0) return true;
    if (!prepare_equations(&lagrange, e)) return false;
    for (size_t i = 0; i < s->rotor_count; i++)
        if (!lagrange_add_term(&lagrange, inertia_of_rotor(s, &s->rotors[i]))) return false;
    for (size_t i = 0; i < e->n; i++) {
        lagrange.Q[i] = graph_sub(s->graph, lagrange.Q[i], rotors->Q[i]);
        zero = zero && graph_is_zero(s->graph, lagrange.Q[i]);
    }
    if (!zero) e->reaction_shift = lagrange.Q;
    return true;
}

hamel_status inertia_replace(hamel_equations *e, bool (*add_others)(hamel_equations *e),
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
