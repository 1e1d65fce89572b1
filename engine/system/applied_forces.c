/* applied_forces.c — binds the forces of the description:
 *
 *   - generalized forces on coordinates and quasi-velocities;
 *   - Rayleigh's dissipation function;
 *   - the prescribed part of the reaction of a nonideal constraint.
 *
 * Forces are bound after the equations of the constraints, because a force may contain multipliers and reactions. */
#include "engine/system/binder.h"
#include "engine/system/units.h"

#include <assert.h>

/* Returns the node of lambda(c) or reaction(c, x) in a force. The node contains the multiplier of c, which is computed
 * together with the accelerations. */
static graph_node force_quantity(void *context, syntax_quantity quantity, const int32_t *arguments) {
    hamel_system *s = context;
    assert(0 <= arguments[0] && (size_t)arguments[0] < s->constraint_count);
    const system_constraint *c = &s->constraints[arguments[0]];
    graph_node lambda = graph_symbol(s->graph, SYMBOL_MULTIPLIER, arguments[0]);
    if (quantity == QUANTITY_LAMBDA) return lambda;
    if (c->described && c->described->direction.pointer) {
        system_fail(s, c->pointer, "the force contains reaction() of `%s`, whose reaction has a given direction",
                    c->name);
        return hamel_suggest(s->error, "write the product of lambda(%s) and the coefficient of the direction", c->name),
               GRAPH_NONE;
    }
    const graph_node *symbols = c->order == CONSTRAINT_HOLONOMIC ? s->q : c->order == CONSTRAINT_VELOCITY ? s->v : s->a;
    return graph_mul(s->graph, lambda, graph_partial(s->graph, c->equation, symbols[arguments[1]]));
}

graph_node binder_force(hamel_system *s, const hamel_expression *e, const loop_scope *scope) {
    system_quantities quantities = {s, force_quantity};
    return system_bind(s, e, PLACE_FORCE, scope, SYNTAX_EXPRESSION, s->error->count ? NULL : &quantities);
}

/* Binds Rayleigh's function, which may contain the same symbols as forces, including reactions. */
void forces_dissipation(hamel_system *s) {
    const hamel_expression *e = &s->description->dissipation;
    s->dissipation = binder_force(s, e, NULL);
    units_note(s, s->dissipation, e->pointer, UNIT_POWER, 0);
    if (s->dissipation == GRAPH_NONE) s->dissipation = graph_number(s->graph, 0);
}

/* Returns the index of the coordinate on which a force acts, or −1 after adding an error. */
static int32_t force_coordinate(hamel_system *s, const hamel_named *force, const char *what, const char *name) {
    int32_t index = system_coordinate_index(s, name);
    if (index >= 0) return index;
    system_fail(s, force->pointer, "`%s` is not a coordinate, so %s cannot act on it", name, what);
    return binder_suggest_nearest(s, &s->binder->coordinates, name), -1;
}

/* Returns the node of ideal(x) in a prescribed reaction C. C may depend on the ideal reaction (Udwadia 2000, eq.
 * 28). */
static graph_node ideal_quantity(void *context, syntax_quantity quantity, const int32_t *arguments) {
    hamel_system *s = context;
    return quantity == QUANTITY_IDEAL ? graph_symbol(s->graph, SYMBOL_IDEAL, arguments[0]) : GRAPH_NONE;
}

static void bind_nonideal(hamel_system *s, const system_constraint *c) {
    const hamel_named_list *list = &c->described->nonideal;
    system_quantities quantities = {s, ideal_quantity};
    loop_scope scope;
    scope_from(&scope, c->loops, c->loop_count);
    for (size_t k = 0; k < list->count; k++) {
        const hamel_named *item = &list->items[k];
        const char *name = item->name && item->value.count ? family_name(s, item->name, item->pointer, &scope) : NULL;
        if (!name) continue;
        int32_t index = force_coordinate(s, item, "a part of a reaction", name);
        graph_node C = system_bind(s, &item->value.items[0], PLACE_NONIDEAL, &scope, SYNTAX_EXPRESSION, &quantities);
        if (index < 0 || C < 0) continue;
        units_note(s, C, item->value.items[0].pointer, UNIT_FORCE, (size_t)index);
        s->coordinates[index].nonideal = graph_add(s->graph, s->coordinates[index].nonideal, C);
    }
}

/* Adds the generalized forces Q_u ∂u/∂q'_i of a force Q_u on the quasi-velocity u (Papastavridis A70). */
static void add_quasi_force(hamel_system *s, const system_quasi_velocity *u, graph_node Q) {
    binder_note_work(s, Q, u->definition, SYMBOL_VELOCITY);
    for (size_t i = 0; i < s->coordinate_count; i++) {
        graph_node slope = graph_partial(s->graph, u->definition, s->v[i]);
        if (!graph_is_zero(s->graph, slope)) binder_add_force(s, (int32_t)i, graph_mul(s->graph, Q, slope));
    }
}

static bool bind_force(hamel_system *s, const hamel_named *force, const loop_scope *scope) {
    const char *name = family_name(s, force->name, force->pointer, scope);
    if (!name) return false;
    int32_t entry = binder_find(&s->binder->quantities, name);
    bool quasi = entry >= 0 && entry % ENTRY_KINDS == ENTRY_QUASI;
    int32_t index = quasi ? entry / ENTRY_KINDS : force_coordinate(s, force, "a generalized force", name);
    graph_node Q = binder_force(s, &force->value.items[0], scope);
    if (index < 0) return false;
    if (quasi) {
        units_note(s, Q, force->pointer, UNIT_QUASI_FORCE, (size_t)index);
        if (Q >= 0) add_quasi_force(s, &s->quasi[index], Q);
        return true;
    }
    units_note(s, Q, force->pointer, UNIT_FORCE, (size_t)index);
    if (Q < 0) return true;
    binder_add_force(s, index, Q);
    binder_note_work(s, Q, s->q[index], SYMBOL_COORDINATE);
    return true;
}

void forces_given(hamel_system *s) {
    const hamel_named_list *list = &s->description->generalized_forces;
    family_iterator f;
    s->origin = "generalized_forces";
    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i].name || !list->items[i].value.count) continue;
        for (family_begin(&f, s, &list->items[i].family); family_next(&f);)
            if (!bind_force(s, &list->items[i], &f.scope)) break;
    }
}

void forces_nonideal(hamel_system *s) {
    for (size_t c = 0; c < s->constraint_count; c++)
        if (s->constraints[c].described) bind_nonideal(s, &s->constraints[c]);
}
