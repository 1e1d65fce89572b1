/* form_residual.c — derives the residuals that form_residual.h defines. */
#include "engine/mechanics/form_residual.h"

#include "engine/mechanics/kinetic_rates.h"

#include <assert.h>

static graph_node lagrangian_of(const hamel_equations *e) {
    graph *g = e->system->graph;
    size_t count;
    const graph_node *terms = energies_lagrangian_terms(e->system, &count);
    graph_node sum = terms ? graph_number(g, 0) : GRAPH_NONE;
    for (size_t i = 0; terms && i < count; i++) sum = graph_add(g, sum, terms[i]);
    return sum;
}

/* Returns d/dt ∂K/∂q'_k − ∂K/∂q_k, the operator of Lagrange's equations. */
static graph_node lagrange_operator(hamel_system *s, graph_node K, size_t k) {
    graph *g = s->graph;
    return graph_sub(g, graph_rate(g, graph_partial(g, K, s->v[k])), graph_partial(g, K, s->q[k]));
}

static graph_node operator_of_rate(const hamel_equations *e, int order, size_t k) {
    kinetic_rates rates;
    graph_node L = lagrangian_of(e);
    if (L < 0 || !kinetic_rates_derive(&rates, e->system, L, order, e->n)) return GRAPH_NONE;
    return kinetic_rates_operator(&rates, e->system, k);
}

/* Returns ∂S/∂q''_k for translations plus d/dt ∂T/∂q'_k − ∂T/∂q_k for rotations, minus the same operator of V. The S of
 * a rotation is valid only for quaternions of length 1, so the derivative of S with respect to one component is
 * wrong. */
static graph_node operator_of_jourdain(const hamel_equations *e, size_t k) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    size_t count;
    if (s->lagrangian >= 0) return energies_acceleration(e); /* adds the error */
    const graph_node *terms = energies_acceleration_terms(s, &count);
    graph_node sum = terms ? graph_neg(g, lagrange_operator(s, energies_potential(e), k)) : GRAPH_NONE;
    for (size_t i = 0; terms && i < count; i++) sum = graph_add(g, sum, graph_partial(g, terms[i], s->a[k]));
    for (size_t i = 0; i < s->rotor_count; i++)
        sum = graph_add(g, sum, lagrange_operator(s, energies_kinetic_of_rotor(s, &s->rotors[i]), k));
    return sum;
}

graph_node form_residual(const hamel_equations *e, residual_form form, size_t k, graph_node reaction) {
    assert(k < e->n && e->given);
    graph *g = e->system->graph;
    graph_node E = GRAPH_NONE;
    size_t faults = e->system->error->count;
    if (form == RESIDUAL_JOURDAIN) {
        E = operator_of_jourdain(e, k);
    } else if (energies_need_momentum(e, reaction, "Lagrangian") < 0 && e->system->error->count > faults) {
        return GRAPH_NONE;
    } else if (form == RESIDUAL_CENTRAL) {
        E = lagrange_operator(e->system, lagrangian_of(e), k);
    } else {
        E = operator_of_rate(e, 1 + (int)form - (int)RESIDUAL_NIELSEN, k);
    }
    return graph_sub(g, graph_sub(g, E, e->given[k]), reaction);
}
