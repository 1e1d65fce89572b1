/* energies.c — kinetic energy T, potential energy V, Lagrangian L and acceleration energy S (Gibbs–Appell function). */
#include "engine/mechanics/equations.h"

#include "engine/system/elements.h"

#include <assert.h>

graph_node *energies_lagrangian_terms(hamel_system *s, size_t *count) {
    graph_node *given = NULL;
    signed char *signs = NULL;
    graph_sums sums = {0};
    size_t given_count =
        s->lagrangian >= 0 ? graph_terms(s->graph, s->lagrangian, s->memory, &sums, &given, &signs) : 0;
    *count = given_count + s->kinetic_count + s->potential_count;
    graph_node *terms = arena_alloc(s->memory, *count, sizeof *terms), *at = terms;
    if (!terms) return binder_graph_fault(s, ""), NULL;
    for (size_t i = 0; i < given_count; i++) *at++ = signs[i] < 0 ? graph_neg(s->graph, given[i]) : given[i];
    for (size_t i = 0; i < s->kinetic_count; i++) *at++ = s->kinetic[i];
    for (size_t i = 0; i < s->potential_count; i++) *at++ = graph_neg(s->graph, s->potential[i]);
    return terms;
}

graph_node *energies_slopes(const hamel_equations *e) {
    hamel_system *s = e->system;
    size_t count;
    graph_node *terms = energies_lagrangian_terms(s, &count), *slope = node_array(s, e->n);
    for (size_t k = 0; terms && slope && k < count; k++) {
        int32_t *list;
        size_t support = node_support(s, terms[k], SYMBOL_COORDINATE, &list);
        for (size_t i = 0; i < support; i++) {
            graph_node part = graph_partial(s->graph, terms[k], s->q[list[i]]);
            slope[list[i]] = graph_add(s->graph, slope[list[i]], part);
        }
    }
    return terms ? slope : NULL;
}

bool energies_inertia_is_constant(const hamel_system *s, const graph_node *inertia, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (graph_depends(s->graph, inertia[i]) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER)) return false;
    return true;
}

graph_node energies_kinetic_of_particle(hamel_system *s, const system_particle *p, int component) {
    graph *g = s->graph;
    graph_node v = graph_rate(g, p->position[component]);
    return graph_mul(g, graph_number(g, 0.5), graph_mul(g, p->mass, graph_binary(g, GRAPH_POW, v, graph_number(g, 2))));
}

graph_node energies_kinetic_of_rotor(hamel_system *s, const system_rotor *r) {
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum = graph_add(g, sum, graph_mul(g, r->inertia[3 * i + j], graph_mul(g, r->omega[i], r->omega[j])));
    return graph_mul(g, graph_number(g, 0.5), sum);
}

static graph_node sum_nodes(graph *g, const graph_node *terms, size_t count) {
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < count; i++) sum = graph_add(g, sum, terms[i]);
    return sum;
}

static graph_node need_energies(const hamel_equations *e, const char *what) {
    if (e->system->acceleration_energy >= 0) {
        (void)hamel_fail(e->system->error, HAMEL_INVALID, "/acceleration_energy", 0,
                         "a system given by its acceleration energy has no %s", what);
        hamel_suggest(e->system->error,
                      "give kinetic_energy instead, or write the quantity as an expression in the outputs");
        return GRAPH_NONE;
    }
    (void)hamel_fail(e->system->error, HAMEL_INVALID, "/lagrangian", 0,
                     "a system given by a lagrangian alone has no separate %s", what);
    hamel_suggest(e->system->error, "use energy() or jacobi_integral(), or give kinetic_energy and potential_energy");
    return GRAPH_NONE;
}

graph_node energies_kinetic(const hamel_equations *e) {
    hamel_system *s = e->system;
    bool none = s->lagrangian >= 0 || s->acceleration_energy >= 0;
    return none ? need_energies(e, "kinetic energy") : sum_nodes(s->graph, s->kinetic, s->kinetic_count);
}

/* Returns the part of one term of T that has the given degree in the velocities (Papastavridis 3.9): T0 = T(q' = 0), T1
 * = Σ q'_i ∂T/∂q'_i(q' = 0), T2 = ½ Σ q'_i q'_j ∂²T/∂q'_i∂q'_j. If the term is not quadratic, adds an error and returns
 * GRAPH_NONE. */
static graph_node part_of_term(hamel_system *s, graph_node term, int degree, const graph_node *zeros) {
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    int32_t *list, *second;
    if (degree == 0) return graph_substitute(g, term, SYMBOL_VELOCITY, zeros, s->coordinate_count);
    size_t count = node_support(s, term, SYMBOL_VELOCITY, &list);
    for (size_t i = 0; i < count; i++) {
        graph_node p = graph_partial(g, term, s->v[list[i]]), factor = GRAPH_NONE;
        size_t inner = node_support(s, p, SYMBOL_VELOCITY, &second);
        if (degree == 1) factor = graph_substitute(g, p, SYMBOL_VELOCITY, zeros, s->coordinate_count);
        if (degree == 2) factor = graph_number(g, 0);
        for (size_t j = 0; j < inner; j++) {
            graph_node m = graph_partial(g, p, s->v[second[j]]);
            if (graph_depends(g, m) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) {
                (void)hamel_fail(s->error, HAMEL_INVALID, "/kinetic_energy", 0,
                                 "the kinetic energy is not quadratic in the velocities, so it has no parts by degree");
                return GRAPH_NONE;
            }
            if (degree == 2) factor = graph_add(g, factor, graph_mul(g, m, s->v[second[j]]));
        }
        sum = graph_add(g, sum, graph_mul(g, s->v[list[i]], factor));
    }
    return degree == 2 ? graph_mul(g, graph_number(g, 0.5), sum) : sum;
}

graph_node energies_kinetic_part(const hamel_equations *e, int degree) {
    assert(0 <= degree && degree <= 2);
    hamel_system *s = e->system;
    if (s->lagrangian >= 0 || s->acceleration_energy >= 0) return need_energies(e, "kinetic energy");
    const graph_node *zeros = node_array(s, s->coordinate_count);
    graph_node sum = graph_number(s->graph, 0);
    for (size_t i = 0; zeros && i < s->kinetic_count && sum >= 0; i++)
        sum = graph_add(s->graph, sum, part_of_term(s, s->kinetic[i], degree, zeros));
    return zeros ? sum : GRAPH_NONE;
}

graph_node energies_potential(const hamel_equations *e) {
    hamel_system *s = e->system;
    return s->lagrangian >= 0 ? need_energies(e, "potential energy")
                              : sum_nodes(s->graph, s->potential, s->potential_count);
}

/* Returns S of one term of T, up to terms without accelerations. ∂S/∂q''_i = d/dt ∂T/∂q'_i − ∂T/∂q_i (Papastavridis
 * A69) is linear in q''. Therefore S = Σ q''_i (½(rate + rate without q'') − ∂T/∂q_i) with rate = d/dt ∂T/∂q'_i. */
static graph_node acceleration_of_term(hamel_system *s, graph_node term) {
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    int32_t *list;
    size_t count = node_support(s, term, SYMBOL_VELOCITY, &list);
    for (size_t i = 0; i < count; i++) {
        graph_node p = graph_partial(g, term, s->v[list[i]]);
        graph_node mean = graph_mul(g, graph_number(g, 0.5), graph_add(g, graph_rate(g, p), graph_rate_bias(g, p)));
        sum = graph_add(g, sum, graph_mul(g, s->a[list[i]], mean));
    }
    count = node_support(s, term, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++)
        sum = graph_sub(g, sum, graph_mul(g, s->a[list[i]], graph_partial(g, term, s->q[list[i]])));
    return sum;
}

/* Returns ½ α·Iα + α·(ω × Iω) in body axes, which is S of the rotor up to terms without accelerations (Papastavridis
 * A88). */
graph_node energies_acceleration_of_rotor(hamel_system *s, const system_rotor *r) {
    graph *g = s->graph;
    if (!energies_inertia_is_constant(s, r->inertia, 9))
        return acceleration_of_term(s, energies_kinetic_of_rotor(s, r));
    graph_node sum = graph_number(g, 0), alpha[3], momentum[3], gyroscopic[3];
    for (int i = 0; i < 3; i++) alpha[i] = graph_rate(g, r->omega[i]);
    node_matrix_apply(g, r->inertia, r->omega, momentum);
    node_vector_cross(g, r->omega, momentum, gyroscopic);
    for (int i = 0; i < 3; i++) {
        sum = graph_add(g, sum, graph_mul(g, alpha[i], gyroscopic[i]));
        for (int l = 0; l < 3; l++) {
            graph_node product = graph_mul(g, alpha[i], graph_mul(g, r->inertia[3 * i + l], alpha[l]));
            sum = graph_add(g, sum, graph_mul(g, graph_number(g, 0.5), product));
        }
    }
    return sum;
}

/* Returns ½ m a² for one component of the acceleration (Greenwood 4.272). */
static graph_node acceleration_of_particle(hamel_system *s, const system_particle *p, int component) {
    graph *g = s->graph;
    if (!energies_inertia_is_constant(s, &p->mass, 1))
        return acceleration_of_term(s, energies_kinetic_of_particle(s, p, component));
    graph_node a = graph_rate(g, graph_rate(g, p->position[component]));
    return graph_mul(g, graph_number(g, 0.5), graph_mul(g, p->mass, graph_binary(g, GRAPH_POW, a, graph_number(g, 2))));
}

graph_node *energies_acceleration_terms(hamel_system *s, size_t *count) {
    bool given = s->acceleration_energy >= 0;
    *count = given + s->kinetic_given + 3 * s->particle_count;
    graph_node *terms = arena_alloc(s->memory, *count, sizeof *terms), *at = terms;
    if (!terms) return binder_graph_fault(s, ""), NULL;
    if (given) *at++ = s->acceleration_energy;
    for (size_t i = 0; i < s->kinetic_given; i++) *at++ = acceleration_of_term(s, s->kinetic[i]);
    for (size_t i = 0; i < s->particle_count; i++)
        for (int k = 0; k < 3; k++) *at++ = acceleration_of_particle(s, &s->particles[i], k);
    return terms;
}

graph_node energies_acceleration(const hamel_equations *e) {
    hamel_system *s = e->system;
    size_t count;
    if (s->lagrangian >= 0) return need_energies(e, "acceleration energy");
    graph_node *terms = energies_acceleration_terms(s, &count);
    graph_node sum = terms ? sum_nodes(s->graph, terms, count) : GRAPH_NONE;
    for (size_t i = 0; i < s->rotor_count; i++)
        sum = graph_add(s->graph, sum, energies_acceleration_of_rotor(s, &s->rotors[i]));
    return sum;
}

graph_node energies_need_momentum(const hamel_equations *e, graph_node node, const char *what) {
    return e->system->acceleration_energy >= 0 ? need_energies(e, what) : node;
}
