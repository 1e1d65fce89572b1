/* outputs.c — derived quantities by name, for outputs, invariants, checks and events. */
#include "engine/mechanics/energy_rate.h"
#include "engine/mechanics/equations.h"
#include "engine/mechanics/form_residual.h"

#include "engine/system/binder.h"
#include "engine/system/units.h"

static graph_node entry_of(const hamel_equations *e, int32_t c, int32_t i) {
    size_t first, count = pattern_row(&e->A, c, &first);
    for (size_t k = first; k < first + count; k++)
        if (e->A.entries[k].column == i) return e->A.entries[k].node;
    return graph_number(e->system->graph, 0);
}

/* Returns the reaction of constraint c on coordinate i per unit of λ_c: D_ci of a servo-constraint, otherwise A_ci. */
static graph_node coefficient_of(const hamel_equations *e, int32_t c, int32_t i) {
    const system_constraint *at = &e->system->constraints[c];
    return at->direction ? at->direction[i] : entry_of(e, c, i);
}

/* Returns A_c · x, or D_c · x if c is a servo-constraint. x[n] has one node for each coordinate. */
static graph_node row_times(const hamel_equations *e, int32_t c, const graph_node *x) {
    graph *g = e->system->graph;
    graph_node sum = graph_number(g, 0);
    const graph_node *direction = e->system->constraints[c].direction;
    for (size_t i = 0; direction && i < e->n; i++) sum = graph_add(g, sum, graph_mul(g, direction[i], x[i]));
    if (direction) return sum;
    size_t first, count = pattern_row(&e->A, c, &first);
    for (size_t k = first; k < first + count; k++)
        sum = graph_add(g, sum, graph_mul(g, e->A.entries[k].node, x[e->A.entries[k].column]));
    return sum;
}

static graph_node ideal_reaction(const hamel_equations *e, int32_t i) {
    graph *g = e->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        if (a->column == i && !e->system->constraints[a->row].direction)
            sum = graph_add(g, sum, graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row)));
    }
    return sum;
}

/* Returns the part of the reaction on q_i that servo-constraints exert, Σ λ_c D_ci. */
static graph_node servo_reaction(const hamel_equations *e, int32_t i) {
    graph *g = e->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t c = 0; c < e->system->ideal_count; c++) {
        const graph_node *direction = e->system->constraints[c].direction;
        if (!direction) continue;
        sum = graph_add(g, sum, graph_mul(g, direction[i], graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c)));
    }
    return sum;
}

/* Returns q''_i − a_i, the acceleration due to the constraints. */
static graph_node deviation_of(const hamel_equations *e, int32_t i) {
    graph *g = e->system->graph;
    return graph_sub(g, e->system->a[i], graph_symbol(g, SYMBOL_FREE, i));
}

/* Returns true if reactions have a part that is not Aᵀλ. */
static bool has_nonideal(const hamel_equations *e) {
    return e->nonideal || e->F.count > 0;
}

/* Returns Gauss's function ½ (q'' − a)ᵀ M (q'' − a), where a are the accelerations without constraints (Papastavridis
 * A94). M (q'' − a) is the sum Q^c of all reactions, so Gauss's function is ½ Q^c·(q'' − a). */
static graph_node gauss_function(const hamel_equations *e) {
    graph *g = e->system->graph;
    for (size_t c = 0; c < e->system->constraint_count; c++) {
        if (!e->system->constraints[c].direction) continue;
        (void)hamel_fail(e->system->error, HAMEL_INVALID, e->system->constraints[c].pointer, 0,
                         "gauss() is not defined for `%s`, whose reaction has a given direction",
                         e->system->constraints[c].name);
        return GRAPH_NONE;
    }
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; !has_nonideal(e) && k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        graph_node force = graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row));
        sum = graph_add(g, sum, graph_mul(g, force, deviation_of(e, a->column)));
    }
    for (size_t i = 0; has_nonideal(e) && i < e->n; i++) {
        graph_node ideal = graph_symbol(g, SYMBOL_IDEAL, (int32_t)i),
                   nonideal = graph_symbol(g, SYMBOL_NONIDEAL, (int32_t)i);
        sum = graph_add(g, sum, graph_mul(g, graph_add(g, ideal, nonideal), deviation_of(e, (int32_t)i)));
    }
    return graph_mul(g, graph_number(g, 0.5), sum);
}

/* Returns ½ (M q'' − Q − C)ᵀ M⁻¹ (M q'' − Q − C), half of Udwadia's function G_ni (2000, eq. 15). C is the prescribed
 * reaction of nonideal constraints, including friction. Along the motion, M q'' − Q − C is the part Aᵀλ of the
 * reactions that does no virtual work. The symbols SYMBOL_FREE with indices n + i represent M⁻¹Aᵀλ. The multipliers of
 * sticking friction are omitted, because they belong to C. */
static graph_node gauss_function_of_nonideal(const hamel_equations *e) {
    graph *g = e->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        if ((size_t)a->row >= e->system->ideal_count) continue;
        graph_node force = graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row));
        sum = graph_add(g, sum, graph_mul(g, force, graph_symbol(g, SYMBOL_FREE, (int32_t)e->n + a->column)));
    }
    return graph_mul(g, graph_number(g, 0.5), sum);
}

/* Returns L: T − V, or the lagrangian of the description. On failure, adds an error and returns GRAPH_NONE. */
static graph_node lagrangian_of(const hamel_equations *e) {
    size_t count;
    graph *g = e->system->graph;
    if (energies_need_momentum(e, graph_number(g, 0), "action") < 0) return GRAPH_NONE;
    graph_node sum = graph_number(g, 0), *terms = energies_lagrangian_terms(e->system, &count);
    for (size_t k = 0; terms && k < count; k++) sum = graph_add(g, sum, terms[k]);
    return terms ? sum : GRAPH_NONE;
}

/* Returns Σ q_k dp_k/dt, where dp_k/dt = ∂L/∂q_k + forces + reactions. With z = q in the time-integral theorem of
 * Papastavridis (Intro 7), d/dt Σ p_k q_k = Σ p_k q'_k + Σ q_k dp_k/dt. For particles in Cartesian coordinates, this
 * is Clausius' virial Σ F·r. */
static graph_node virial_of(const hamel_equations *e) {
    graph *g = e->system->graph;
    const graph_node *slope = energies_slopes(e);
    graph_node sum = graph_number(g, 0);
    if (energies_need_momentum(e, sum, "virial") < 0 || !slope) return GRAPH_NONE;
    for (size_t i = 0; i < e->n; i++) {
        int32_t k = (int32_t)i;
        graph_node ideal = has_nonideal(e) ? graph_symbol(g, SYMBOL_IDEAL, k) : ideal_reaction(e, k);
        graph_node rate = graph_add(g, graph_add(g, slope[i], e->given[i]), ideal);
        if (has_nonideal(e)) rate = graph_add(g, rate, graph_symbol(g, SYMBOL_NONIDEAL, k));
        sum = graph_add(g, sum, graph_mul(g, e->system->q[i], rate));
    }
    return sum;
}

/* Returns the sum of all reactions on q_i that e->given does not contain. e->given contains the forces λ (D_i − A_ci)
 * of servo-constraints. The sum therefore contains λ A_ci for these constraints, as for ideal constraints. */
static graph_node remaining_reaction(const hamel_equations *e, int32_t i) {
    graph *g = e->system->graph;
    graph_node sum = graph_number(g, 0);
    if (has_nonideal(e)) return graph_add(g, graph_symbol(g, SYMBOL_IDEAL, i), graph_symbol(g, SYMBOL_NONIDEAL, i));
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        if (a->column == i) sum = graph_add(g, sum, graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row)));
    }
    return sum;
}

static graph_node let_go(const hamel_equations *e, graph_node node) {
    return node < 0 ? node : friction_let_go(e, node);
}

/* Returns the term `term` (an energy_term) of dh/dt, or the sum of all terms if `term` is negative. */
static graph_node rate_of_energy(const hamel_equations *e, int32_t term) {
    graph_node rate = term < 0 ? energy_rate_sum(e) : energy_rate_term(e, (energy_term)term);
    return let_go(e, rate);
}

static graph_node get(void *context, syntax_quantity quantity, const int32_t *arguments) {
    const hamel_equations *e = context;
    hamel_system *s = e->system;
    graph *g = s->graph;
    int32_t x = arguments[0], y = arguments[1];
    switch (quantity) {
    case QUANTITY_KINETIC_ENERGY: return x < 0 ? energies_kinetic(e) : energies_kinetic_part(e, x);
    case QUANTITY_POTENTIAL_ENERGY: return energies_potential(e);
    case QUANTITY_ENERGY:
        return s->lagrangian >= 0 ? e->jacobi : graph_add(g, energies_kinetic(e), energies_potential(e));
    case QUANTITY_JACOBI_INTEGRAL: return energies_need_momentum(e, e->jacobi, "Jacobi integral");
    case QUANTITY_ENERGY_RATE: return rate_of_energy(e, x);
    case QUANTITY_QUASI_ENERGY: return quasi_energy(e);
    case QUANTITY_QUASI_ENERGY_RATE: return let_go(e, quasi_energy_rate(e, x < 0 ? ENERGY_TERMS : x));
    case QUANTITY_MOMENTUM: return energies_need_momentum(e, e->momentum[x], "momenta");
    case QUANTITY_LAMBDA: return graph_symbol(g, SYMBOL_MULTIPLIER, x);
    case QUANTITY_REACTION: return graph_mul(g, graph_symbol(g, SYMBOL_MULTIPLIER, x), coefficient_of(e, x, y));
    case QUANTITY_IDEAL: return has_nonideal(e) ? graph_symbol(g, SYMBOL_IDEAL, x) : ideal_reaction(e, x);
    case QUANTITY_NONIDEAL: return has_nonideal(e) ? graph_symbol(g, SYMBOL_NONIDEAL, x) : servo_reaction(e, x);
    case QUANTITY_RESIDUAL: return s->constraints[x].equation;
    case QUANTITY_VELOCITY_RESIDUAL:
        if (e->velocity[x] >= 0) return e->velocity[x];
        (void)hamel_fail(s->error, HAMEL_INVALID, s->constraints[x].pointer, 0,
                         "the acceleration constraint `%s` has no velocity residual", s->constraints[x].name);
        return GRAPH_NONE;
    case QUANTITY_POWER: return graph_mul(g, graph_symbol(g, SYMBOL_MULTIPLIER, x), row_times(e, x, s->v));
    case QUANTITY_GAUSS: return gauss_function(e);
    case QUANTITY_GAUSS_NONIDEAL: return gauss_function_of_nonideal(e);
    case QUANTITY_ACCELERATION_ENERGY: return energies_acceleration(e);
    case QUANTITY_ACTION: return system_integral(s, lagrangian_of(e), "");
    case QUANTITY_VIRIAL: return virial_of(e);
    case QUANTITY_FORM_RESIDUAL: return form_residual(e, (residual_form)x, (size_t)y, remaining_reaction(e, y));
    default: return GRAPH_NONE; /* all other quantities are bound by the binder */
    }
}

/* Checks that each expression has the unit of the values and tolerances with which it is compared. */
static void check_units(hamel_system *s, const hamel_observed *o) {
    const hamel_description *d = s->description;
    for (size_t i = 0; i < d->check_count; i++) {
        const hamel_expression *against[] = {&d->checks[i].equals, &d->checks[i].tolerance, &d->checks[i].min,
                                             &d->checks[i].max};
        for (size_t k = 0; k < 4 && o->checks[i] >= 0; k++)
            units_note_number(s, against[k], NULL, UNIT_LIKE, (size_t)o->checks[i]);
        units_note_number(s, &d->checks[i].time, NULL, UNIT_TIME, 0);
    }
    for (size_t i = 0; i < d->invariant_count; i++)
        if (o->invariants[i] >= 0)
            units_note_number(s, &d->invariants[i].tolerance, NULL, UNIT_LIKE, (size_t)o->invariants[i]);
    units_check(s);
}

/* Checks a constant restitution. Other restitutions are checked when the event happens. */
static void check_restitution(hamel_system *s, system_event *at, graph_node restitution, const char *pointer) {
    double value;
    if (restitution < 0 || !binder_number(s, restitution, &value)) return;
    if (value > 1) system_warn(s, pointer, "the restitution is %.9g: the impulse adds energy", value);
    at->named_gain = at->named_gain || value > 1;
    if (value >= 0) return;
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "a restitution must not be negative, found %.9g", value);
}

static bool bind_restitutions(hamel_system *s, system_event *at, const loop_scope *scope,
                              const system_quantities *quantities) {
    const hamel_impulses *list = &at->described->impulses;
    at->restitutions = node_array(s, list->count);
    for (size_t k = 0; k < list->count && at->restitutions; k++) {
        const hamel_expression *e = &list->items[k].restitution;
        at->restitutions[k] = system_bind(s, e, PLACE_OUTPUT, scope, SYNTAX_EXPRESSION, quantities);
        check_restitution(s, at, at->restitutions[k], e->pointer);
        units_note(s, at->restitutions[k], e->pointer, UNIT_NUMBER, 0);
    }
    return at->restitutions != NULL;
}

/* Adds an error if an expression of an event contains an integral over time. */
static void reject_integral(hamel_system *s, graph_node node, const char *pointer) {
    if (node < 0 || !(graph_depends(s->graph, node) & GRAPH_DEPENDS(SYMBOL_INTEGRAL))) return;
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "events must not depend on integrals over time");
    hamel_suggest(s->error, "use integrals only in outputs, invariants and checks");
}

static bool bind_event(hamel_system *s, system_event *at, const system_quantities *quantities) {
    loop_scope scope;
    scope_from(&scope, at->loops, at->loop_count);
    at->assigned = node_array(s, at->set_count);
    if (!at->assigned) return false;
    at->when = system_bind(s, &at->described->when, PLACE_OUTPUT, &scope, SYNTAX_CROSSING, quantities);
    if (!bind_restitutions(s, at, &scope, quantities) || !percussions_bind(s, at, &scope, quantities)) return false;
    reject_integral(s, at->when, at->described->when.pointer);
    for (size_t k = 0; k < at->described->impulses.count; k++)
        reject_integral(s, at->restitutions[k], at->described->impulses.items[k].restitution.pointer);
    for (size_t k = 0; k < at->momentum_count; k++) reject_integral(s, at->momenta[k], at->pointer);
    for (size_t k = 0; k < at->set_count; k++) {
        size_t target = (size_t)at->targets[k], n = s->coordinate_count;
        at->assigned[k] = system_bind(s, at->values[k], PLACE_OUTPUT, &scope, SYNTAX_EXPRESSION, quantities);
        reject_integral(s, at->assigned[k], at->values[k]->pointer);
        if (target < n && at->assigned[k] >= 0 &&
            (graph_depends(s->graph, at->assigned[k]) & GRAPH_DEPENDS(SYMBOL_VELOCITY)))
            system_warn(s, at->values[k]->pointer,
                        "the coordinate `%s` is set to an expression of velocities; to set its velocity, write %s'",
                        s->coordinates[target].name, s->coordinates[target].name);
        units_note(s, at->assigned[k], at->values[k]->pointer, target < n ? UNIT_INITIAL : UNIT_VELOCITY, target % n);
    }
    return true;
}

/* Returns hamel_observed.kinetic. */
static graph_node energy_of_impulses(const hamel_system *s, const hamel_equations *e) {
    size_t i = 0;
    while (i < s->event_count && s->events[i].impulse_count == 0 && s->events[i].percussion_count == 0) i++;
    if (!e || i == s->event_count || s->acceleration_energy >= 0) return GRAPH_NONE;
    return s->lagrangian >= 0 ? e->jacobi : energies_kinetic(e);
}

hamel_status outputs_bind(hamel_observed *out, hamel_system *s, const hamel_equations *e) {
    const hamel_description *d = s->description;
    system_quantities provider = {(void *)e, get}, *quantities = e ? &provider : NULL;
    out->outputs = node_array(s, s->output_count);
    out->invariants = node_array(s, d->invariant_count);
    out->checks = node_array(s, d->check_count);
    if (!out->outputs || !out->invariants || !out->checks) return equations_status(s);
    for (size_t i = 0; i < s->output_count; i++) {
        loop_scope scope;
        out->outputs[i] = s->outputs[i].node;
        if (!s->outputs[i].expression) continue;
        scope_from(&scope, s->outputs[i].loops, s->outputs[i].loop_count);
        out->outputs[i] = system_bind(s, s->outputs[i].expression, PLACE_OUTPUT, &scope, SYNTAX_EXPRESSION, quantities);
    }
    for (size_t i = 0; i < d->invariant_count; i++)
        out->invariants[i] =
            system_bind(s, &d->invariants[i].expression, PLACE_OUTPUT, NULL, SYNTAX_EXPRESSION, quantities);
    for (size_t i = 0; i < d->check_count; i++)
        out->checks[i] = system_bind(s, &d->checks[i].expression, PLACE_OUTPUT, NULL, SYNTAX_EXPRESSION, quantities);
    for (size_t i = 0; i < s->event_count; i++)
        if (!bind_event(s, &s->events[i], quantities)) break;
    out->kinetic = energy_of_impulses(s, e);
    if (e) check_units(s, out);
    return equations_status(s);
}
