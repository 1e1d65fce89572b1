/* boltzmann_hamel.c — the Boltzmann–Hamel equations: Lagrange's equations in quasi-velocities.
 *
 *     d/dt ∂ℓ/∂u_r − Σ_i Φ_ir ∂ℓ/∂q_i + Σ_j Σ_l ∂ℓ/∂u_j γ^j_rl u_l + Σ_j ∂ℓ/∂u_j γ^j_r = Q_r,   r = 1 … p
 *                                                       Greenwood 4.383, 4.395; Papastavridis 3.5.21d; Talamucci 20, 27
 *     γ^j_rl = Σ_ik (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) Φ_kl Φ_ir
 *     γ^j_r  = Σ_ik (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) Φ_kt Φ_ir + Σ_i (∂Ψ_ji/∂t − ∂Ψ_jt/∂q_i) Φ_ir
 *
 * ℓ(q, u, t) is L as a function of all n quasi-velocities Ψ q' + ψ_t. The quasi-velocities of the constraints are set
 * to zero after differentiation. The sum over j therefore has n terms, and the sum over l has p terms. The derivatives
 * of ℓ and Φ = Ψ⁻¹ are computed numerically, by implicit differentiation (engine/dynamics/null_space.c). This file
 * derives the derivatives of Ψ that null_space.c needs. If row j of Ψ is exact, as for a holonomic constraint, all γ^j
 * vanish. Rows that complete Ψ to a square matrix are constant. */
#include "engine/mechanics/formulation.h"

#include "engine/system/binder.h"

static bool add_curl(hamel_equations *e, int32_t row, int32_t i, int32_t k, graph_node node) {
    transitivity_nodes *t = e->transitivity;
    if (node < 0) return false;
    if (graph_is_zero(e->system->graph, node)) return true;
    curl_entry *all = arena_grow(e->system->memory, t->curl, &t->curl_capacity, t->curl_count + 1, sizeof *all);
    if (!all) return binder_graph_fault(e->system, "");
    t->curl = all;
    all[t->curl_count++] = (curl_entry){row, i, k, node};
    return true;
}

/* Adds dΨ_ji/dt. If the row is not exact, also adds ∂Ψ_ji/∂q_k and ∂Ψ_ji/∂t. */
static bool add_entry(hamel_equations *e, int32_t row, int32_t i, graph_node psi, bool exact) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    transitivity_nodes *t = e->transitivity;
    int32_t *list;
    if (!pattern_add(s, &t->rate, row, i, graph_rate_bias(g, psi))) return false;
    if (exact) return true;
    size_t count = node_support(s, psi, SYMBOL_COORDINATE, &list);
    for (size_t k = 0; k < count; k++)
        if (list[k] != i && !add_curl(e, row, i, list[k], graph_partial(g, psi, s->q[list[k]]))) return false;
    return pattern_add(s, &t->time, row, i, graph_partial(g, psi, graph_symbol(g, SYMBOL_TIME, 0)));
}

/* Adds ∂u_j/∂q_i at fixed q' for row j. If the row is not exact, also adds −∂Ψ_jt/∂q_i. */
static bool add_transitivity_row(hamel_equations *e, int32_t row, graph_node u, bool exact) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    transitivity_nodes *t = e->transitivity;
    const graph_node *zeros = equations_zeros(e);
    int32_t *list;
    if (!zeros) return false;
    size_t count = node_support(s, u, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++)
        if (!pattern_add(s, &t->slope, row, list[i], graph_partial(g, u, s->q[list[i]]))) return false;
    graph_node rest = graph_substitute(g, u, SYMBOL_VELOCITY, zeros, e->n);
    count = exact ? 0 : node_support(s, rest, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++)
        if (!pattern_add(s, &t->time, row, list[i], graph_neg(g, graph_partial(g, rest, s->q[list[i]])))) return false;
    return rest >= 0;
}

static bool add_quasi_velocities(hamel_equations *e) {
    for (size_t k = 0; k < e->C.count; k++)
        if (!add_entry(e, e->C.entries[k].row, e->C.entries[k].column, e->C.entries[k].node, false)) return false;
    for (size_t r = 0; e->quasi && r < e->system->quasi_count; r++)
        if (!add_transitivity_row(e, (int32_t)r, e->quasi[r], false)) return false;
    return true;
}

static bool add_constraint_rows(hamel_equations *e) {
    hamel_system *s = e->system;
    int32_t first = (int32_t)s->quasi_count;
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        constraint_order order = s->constraints[a->row].order;
        if (order == CONSTRAINT_ACCELERATION) continue;
        if (!add_entry(e, first + a->row, a->column, a->node, order == CONSTRAINT_HOLONOMIC)) return false;
    }
    for (size_t c = 0; c < e->m; c++) {
        constraint_order order = s->constraints[c].order;
        if (order == CONSTRAINT_ACCELERATION) continue;
        if (!add_transitivity_row(e, first + (int32_t)c, e->velocity[c], order == CONSTRAINT_HOLONOMIC)) return false;
    }
    return true;
}

hamel_status boltzmann_hamel_coefficients(hamel_equations *e) {
    hamel_system *s = e->system;
    transitivity_nodes *t = e->transitivity = arena_alloc(s->memory, 1, sizeof *t);
    if (!t) return binder_graph_fault(s, ""), equations_status(s);
    *t = (transitivity_nodes){.row_count = s->quasi_count + e->m};
    bool good = add_quasi_velocities(e) && add_constraint_rows(e);
    (void)(good && pattern_finish(s, &t->rate) && pattern_finish(s, &t->slope) && pattern_finish(s, &t->time));
    return equations_status(s);
}

hamel_status boltzmann_hamel_derive(hamel_equations *e) {
    hamel_status status = quasi_velocities_derive(e, NULL, NULL);
    return status == HAMEL_OK ? boltzmann_hamel_coefficients(e) : status;
}
