/* servo.c — constraints whose reaction has a given direction: servo-constraints (Papastavridis 3.1, 3.2; Appell, Béghin).
 *
 *     M q'' = Q + Dᵀλ,   A q'' = b          D: coefficients of the control force, A: gradients of the constraints
 *
 * A servo-constraint f = 0 is satisfied by means of a control force. The reaction on coordinate i is λ D_i instead of λ
 * ∂f/∂q_i, so the reaction does work in virtual displacements. The difference λ (D_i − ∂f/∂q_i) is added to Q as a
 * force that depends on λ. The solvers treat such forces exactly, by W = ∂Q/∂λ (engine/linear/kkt.h). */
#include "engine/system/elements.h"
#include "engine/system/units.h"

#include <assert.h>
#include <string.h>

static bool refuse_direction(hamel_system *s, const system_constraint *c, const char *reason) {
    return system_fail(s, c->described->direction.pointer, "the reaction of `%s` cannot have a given direction: %s",
                       c->name, reason);
}

bool binder_is_nonsmooth(hamel_system *s, graph_node f) {
    static const graph_op ops[] = {GRAPH_ABS,  GRAPH_SIGN, GRAPH_MIN, GRAPH_MAX,  GRAPH_FLOOR,
                                   GRAPH_CEIL, GRAPH_MOD,  GRAPH_IF,  GRAPH_TABLE};
    graph_node *below;
    size_t count = graph_below(s->graph, &f, 1, s->memory, &below);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (graph_at(s->graph, below[i])->op == ops[k]) return true;
    return false;
}

/* Returns false after adding an error if c is inactive at the start, or if its equation may jump or have a kink. Also
 * returns false after adding an error if the system has friction or nonideal constraints. Impacts, jumps, friction and
 * nonideal reactions are defined by gradients of constraints. */
static bool may_have_direction(hamel_system *s, const system_constraint *c) {
    if (c->inactive) return refuse_direction(s, c, "it is not active from the start");
    if (c->described->nonideal.count || c->described->friction.pointer)
        return refuse_direction(s, c, "it has `nonideal` or `friction`");
    if (binder_is_nonsmooth(s, c->equation))
        return refuse_direction(s, c, "its equation contains a function with kinks or jumps");
    for (size_t i = 0; i < s->binder->contact_count; i++)
        if (s->binder->contact_list[i].joint->friction.pointer) return refuse_direction(s, c, "a joint has `friction`");
    for (size_t i = 0; i < s->constraint_count; i++) {
        const hamel_constraint *other = s->constraints[i].described;
        if (other && (other->nonideal.count || other->friction.pointer))
            return refuse_direction(s, c, "other constraints have `nonideal` or `friction`");
    }
    return true;
}

/* Adds the coefficients of `direction` that are given for coordinates to c->direction. */
static void bind_coefficients(hamel_system *s, const system_constraint *c, const loop_scope *scope) {
    const hamel_named_list *list = &c->described->direction.coordinates;
    for (size_t k = 0; k < list->count; k++) {
        const hamel_named *item = &list->items[k];
        const char *name = item->name && item->value.count ? family_name(s, item->name, item->pointer, scope) : NULL;
        int32_t index = name ? system_coordinate_index(s, name) : -1;
        if (name && index < 0) {
            system_fail(s, item->pointer, "`%s` is not a coordinate, so a reaction cannot act on it", name);
            binder_suggest_nearest(s, &s->binder->coordinates, name);
        }
        if (index < 0) continue;
        graph_node D = system_bind(s, &item->value.items[0], PLACE_ENERGY, scope, SYNTAX_EXPRESSION, NULL);
        if (D >= 0) c->direction[index] = graph_add(s->graph, c->direction[index], D);
    }
}

/* Adds the generalized forces F·∂r/∂q_i of the vector F at the point `on` to c->direction. */
static void bind_force_direction(hamel_system *s, const system_constraint *c, const loop_scope *scope) {
    const hamel_reaction_direction *d = &c->described->direction;
    graph *g = s->graph;
    if (!d->on.name && d->vector.count == 0) return;
    if (!d->on.name || d->vector.count == 0 || (int)d->vector.count != s->dimension) {
        system_fail(s, d->pointer, "a direction at a point needs `on` and `vector` with %d components", s->dimension);
        return;
    }
    int32_t index = located_end(s, &d->on, scope);
    for (size_t k = 0; k < d->vector.count && index >= 0; k++) {
        graph_node F = system_bind(s, &d->vector.items[k], PLACE_ENERGY, scope, SYNTAX_EXPRESSION, NULL);
        graph_node r = s->binder->located[index].position[k];
        for (size_t i = 0; F >= 0 && i < s->coordinate_count; i++) {
            graph_node slope = graph_partial(g, r, s->q[i]);
            if (!graph_is_zero(g, slope)) c->direction[i] = graph_add(g, c->direction[i], graph_mul(g, F, slope));
        }
    }
}

/* Adds the generalized forces λ (D_i − ∂f/∂q_i) of the constraint `index`, and records the work of its reaction. */
static void redirect(hamel_system *s, size_t index) {
    const system_constraint *c = &s->constraints[index];
    graph *g = s->graph;
    const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION};
    const graph_node *symbols[] = {s->q, s->v, s->a};
    graph_node lambda = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)index);
    binder_note_work(s, graph_neg(g, lambda), c->equation, kinds[c->order]);
    s->origin = arena_format(s->memory, "direction of %s", c->name);
    for (size_t i = 0; i < s->coordinate_count; i++) {
        graph_node D = c->direction[i], gradient = graph_partial(g, c->equation, symbols[c->order][i]);
        graph_node force = graph_mul(g, lambda, D);
        if (!graph_is_zero(g, D)) {
            units_note(s, force, c->described->direction.pointer, UNIT_FORCE, i);
            binder_note_work(s, force, s->q[i], SYMBOL_COORDINATE);
        }
        graph_node change = graph_mul(g, lambda, graph_sub(g, D, gradient));
        if (!graph_is_zero(g, change)) binder_add_force(s, (int32_t)i, change);
    }
}

static bool is_all_zero(const hamel_system *s, const graph_node *nodes) {
    for (size_t i = 0; i < s->coordinate_count; i++)
        if (!graph_is_zero(s->graph, nodes[i])) return false;
    return true;
}

void servos_lower(hamel_system *s) {
    for (size_t i = 0; i < s->constraint_count; i++) {
        system_constraint *c = &s->constraints[i];
        loop_scope scope;
        if (!c->described || !c->described->direction.pointer || c->equation < 0 || !may_have_direction(s, c)) continue;
        c->direction = binder_alloc(s, s->coordinate_count, sizeof *c->direction, c->pointer);
        if (!c->direction) return;
        for (size_t k = 0; k < s->coordinate_count; k++) c->direction[k] = graph_number(s->graph, 0);
        scope_from(&scope, c->loops, c->loop_count);
        size_t faults = s->error->count;
        bind_coefficients(s, c, &scope);
        bind_force_direction(s, c, &scope);
        if (s->error->count > faults) continue;
        if (is_all_zero(s, c->direction))
            (void)refuse_direction(s, c, "the direction is 0");
        else
            redirect(s, i);
    }
}
