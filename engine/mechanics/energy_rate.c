/* energy_rate.c — the Jacobi integral h, its rate, and the terms of the rate.
 *
 *   h = q'·∂L/∂q' − L                                                   Greenwood 4.369; T2 − T0 + V for natural systems
 *   dh/dt = Σ Q_i q'_i − Σ λ_c a_ct − ∂L/∂t                             Greenwood 4.379
 *
 * Q are the forces without a potential. a_ct is the part of constraint c, at velocity level, that does not depend on
 * velocities. Because A_c·q' = −a_ct along the motion, a catastatic constraint contributes 0. If a constraint is not
 * linear in the velocities, its power is λ ∂f/∂q'·q' (Papastavridis A82, A91). */
#include "engine/mechanics/energy_rate.h"

#include "engine/system/elements.h"

#include <assert.h>

graph_node energy_constraint_power(const hamel_equations *e, size_t c, const graph_node *zeros) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    const system_constraint *constraint = &s->constraints[c];
    graph_node time = graph_symbol(g, SYMBOL_TIME, 0), sum = graph_number(g, 0);
    size_t first, count = pattern_row(&e->A, (int32_t)c, &first);
    bool linear = constraint->order == CONSTRAINT_HOLONOMIC;
    if (linear) return graph_neg(g, graph_partial(g, constraint->equation, time));
    for (size_t k = first; k < first + count; k++)
        sum = graph_add(g, sum, graph_mul(g, e->A.entries[k].node, s->v[e->A.entries[k].column]));
    if (constraint->order == CONSTRAINT_ACCELERATION) return sum;
    linear = true;
    for (size_t k = first; k < first + count; k++)
        if (graph_depends(g, e->A.entries[k].node) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) linear = false;
    if (!linear) return sum;
    return graph_neg(g, graph_substitute(g, constraint->equation, SYMBOL_VELOCITY, zeros, e->n));
}

/* Returns the power of the prescribed reactions C and of friction for the velocities x[n]: the power of all reactions
 * minus the power of Aᵀλ. The expressions of C cannot be used, because they contain the multipliers of ideal
 * constraints. / */
static graph_node nonideal_power(const hamel_equations *e, const graph_node *x) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    for (int32_t i = 0; i < (int32_t)e->n; i++) {
        graph_node whole = graph_add(g, graph_symbol(g, SYMBOL_IDEAL, i), graph_symbol(g, SYMBOL_NONIDEAL, i));
        sum = graph_add(g, sum, graph_mul(g, whole, x[i]));
    }
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        graph_node force = graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row));
        sum = graph_sub(g, sum, graph_mul(g, force, x[a->column]));
    }
    return sum;
}

static graph_node dissipated_power(const hamel_equations *e, const graph_node *x) {
    hamel_system *s = e->system;
    graph_node sum = graph_number(s->graph, 0);
    int32_t *list;
    size_t count = node_support(s, s->dissipation, SYMBOL_VELOCITY, &list);
    for (size_t i = 0; i < count; i++) {
        graph_node slope = graph_partial(s->graph, s->dissipation, s->v[list[i]]);
        sum = graph_sub(s->graph, sum, graph_mul(s->graph, slope, x[list[i]]));
    }
    return sum;
}

/* Returns true if the power of friction must be computed from the symbols of the nonideal reactions. F|λ| is the force
 * of friction only while points slide, and some points can stick. */
static bool friction_is_reaction(const hamel_equations *e) {
    return e->held && !e->nonideal && e->m > e->system->ideal_count;
}

/* Returns the power of friction for the velocities x[n], including the reactions on points that stick. */
static graph_node whole_friction_power(const hamel_equations *e, const graph_node *x) {
    graph *g = e->system->graph;
    bool is_reaction = friction_is_reaction(e);
    graph_node sum = is_reaction ? graph_number(g, 0) : friction_power(e, x);
    for (int32_t i = 0; is_reaction && i < (int32_t)e->n; i++)
        sum = graph_add(g, sum, graph_mul(g, graph_symbol(g, SYMBOL_NONIDEAL, i), x[i]));
    for (size_t k = 0; !is_reaction && k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        if ((size_t)a->row < e->system->ideal_count) continue;
        graph_node force = graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row));
        sum = graph_add(g, sum, graph_mul(g, force, x[a->column]));
    }
    return sum;
}

/* Returns true if the power of friction can be separated from that of the prescribed reactions. If constraints
 * prescribe reactions and points can stick, only the sum of both forces is known: adds an error and returns false. */
static bool can_separate_friction(const hamel_equations *e) {
    if (!e->held || !e->nonideal || e->m == e->system->ideal_count) return true;
    (void)hamel_fail(e->system->error, HAMEL_INVALID, "/constraints", 0,
                     "the powers of prescribed reactions and of sticking friction cannot be separated");
    hamel_suggest(e->system->error, "use energy_rate()");
    return false;
}

/* Returns the power of the force λ (D − A_c), which replaces the reaction λ A_c of the servo-constraint c by λ D. The
 * forces of the coordinates (`force`) include λ (D − A_c). */
static graph_node redirected_power(const hamel_equations *e, size_t c, const graph_node *x) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    size_t first, count = pattern_row(&e->A, (int32_t)c, &first);
    for (size_t i = 0; i < e->n; i++) sum = graph_add(g, sum, graph_mul(g, s->constraints[c].direction[i], x[i]));
    for (size_t k = first; k < first + count; k++)
        sum = graph_sub(g, sum, graph_mul(g, e->A.entries[k].node, x[e->A.entries[k].column]));
    return graph_mul(g, sum, graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c));
}

/* Returns the power of the forces without a potential, except those of servo-constraints, for the velocities x[n]. */
static graph_node impressed_power(const hamel_equations *e, const graph_node *x) {
    hamel_system *s = e->system;
    graph_node sum = graph_number(s->graph, 0);
    for (size_t i = 0; i < e->n; i++)
        sum = graph_add(s->graph, sum, graph_mul(s->graph, s->coordinates[i].force, x[i]));
    for (size_t c = 0; c < s->ideal_count; c++)
        if (s->constraints[c].direction) sum = graph_sub(s->graph, sum, redirected_power(e, c, x));
    return sum;
}

graph_node energy_servo_power(const hamel_equations *e, const graph_node *x) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t c = 0; c < s->ideal_count; c++) {
        const graph_node *direction = s->constraints[c].direction;
        for (size_t i = 0; direction && i < e->n; i++)
            sum = graph_add(
                g, sum, graph_mul(g, graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c), graph_mul(g, direction[i], x[i])));
    }
    return sum;
}

graph_node energy_power(const hamel_equations *e, energy_term term, const graph_node *x) {
    hamel_system *s = e->system;
    if ((term == ENERGY_FRICTION || term == ENERGY_NONIDEAL) && !can_separate_friction(e)) return GRAPH_NONE;
    if (term == ENERGY_DISSIPATION) return dissipated_power(e, x);
    if (term == ENERGY_FRICTION) return whole_friction_power(e, x);
    if (term == ENERGY_NONIDEAL && e->nonideal) return graph_sub(s->graph, nonideal_power(e, x), friction_power(e, x));
    return term == ENERGY_IMPRESSED ? impressed_power(e, x) : graph_number(s->graph, 0);
}

/* Returns −∂L/∂t. */
static graph_node time_term(const hamel_equations *e) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    size_t count;
    graph_node *terms = energies_lagrangian_terms(s, &count), sum = graph_number(g, 0);
    for (size_t i = 0; terms && i < count; i++)
        if (graph_depends(g, terms[i]) & GRAPH_DEPENDS(SYMBOL_TIME))
            sum = graph_sub(g, sum, graph_partial(g, terms[i], graph_symbol(g, SYMBOL_TIME, 0)));
    return terms ? sum : GRAPH_NONE;
}

/* Returns the power of the reactions of ideal constraints and servo-constraints. The constraints of points that stick
 * are not included, because their power belongs to friction. */
static graph_node reactions_term(const hamel_equations *e) {
    graph *g = e->system->graph;
    const graph_node *zeros = node_array(e->system, e->n);
    graph_node sum = graph_number(g, 0);
    for (size_t c = 0; zeros && c < e->system->ideal_count; c++) {
        graph_node power =
            graph_mul(g, energy_constraint_power(e, c, zeros), graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c));
        if (!e->system->constraints[c].direction) sum = graph_add(g, sum, power);
    }
    return zeros ? graph_add(g, sum, energy_servo_power(e, e->system->v)) : GRAPH_NONE;
}

graph_node energy_rate_term(const hamel_equations *e, energy_term term) {
    if (energies_need_momentum(e, 0, "energy rate") < 0) return GRAPH_NONE;
    if (term == ENERGY_TIME) return time_term(e);
    return term == ENERGY_REACTIONS ? reactions_term(e) : energy_power(e, term, e->system->v);
}

graph_node energy_rate_sum(const hamel_equations *e) {
    static const energy_term all[] = {ENERGY_IMPRESSED, ENERGY_DISSIPATION, ENERGY_TIME, ENERGY_REACTIONS,
                                      ENERGY_FRICTION};
    if (energies_need_momentum(e, 0, "energy rate") < 0) return GRAPH_NONE;
    if (!friction_is_reaction(e)) return e->jacobi_rate;
    graph_node sum = graph_number(e->system->graph, 0);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        sum = graph_add(e->system->graph, sum, energy_rate_term(e, all[k]));
    return sum;
}

hamel_status energies_derive(hamel_equations *e) {
    assert(e->momentum && e->given);
    hamel_system *s = e->system;
    graph *g = s->graph;
    size_t count;
    graph_node *terms = energies_lagrangian_terms(s, &count), time = graph_symbol(g, SYMBOL_TIME, 0);
    if (!terms) return equations_status(s);
    e->jacobi = graph_number(g, 0);
    e->jacobi_rate = graph_number(g, 0);
    if (s->acceleration_energy >= 0) return equations_status(s); /* momenta and the energy balance are undefined */
    for (size_t i = 0; i < e->n; i++) {
        e->jacobi = graph_add(g, e->jacobi, graph_mul(g, s->v[i], e->momentum[i]));
        e->jacobi_rate = graph_add(g, e->jacobi_rate, graph_mul(g, e->given[i], s->v[i]));
    }
    for (size_t i = 0; i < count; i++) {
        e->jacobi = graph_sub(g, e->jacobi, terms[i]);
        if (graph_depends(g, terms[i]) & GRAPH_DEPENDS(SYMBOL_TIME))
            e->jacobi_rate = graph_sub(g, e->jacobi_rate, graph_partial(g, terms[i], time));
    }
    e->jacobi_rate = graph_add(g, e->jacobi_rate, e->nonideal ? nonideal_power(e, s->v) : friction_power(e, s->v));
    const graph_node *zeros = equations_zeros(e);
    for (size_t c = 0; zeros && c < e->m; c++) {
        graph_node power =
            graph_mul(g, energy_constraint_power(e, c, zeros), graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c));
        e->jacobi_rate = graph_add(g, e->jacobi_rate, power);
    }
    return equations_status(s);
}
