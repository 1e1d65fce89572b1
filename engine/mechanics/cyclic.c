/* cyclic.c — lists the conditions under which coordinates are cyclic and their momenta conserved. */
#include "engine/mechanics/cyclic.h"

#include "engine/system/binder.h"

#include <assert.h>

static bool add_condition(cyclic_conditions *c, graph_node node, int32_t coordinate, cyclic_place place,
                          int32_t where) {
    hamel_system *s = c->equations->system;
    if (node < 0) return false;
    if (graph_is_zero(s->graph, node)) return true;
    cyclic_condition *items = arena_grow(s->memory, c->items, &c->capacity, c->count + 1, sizeof *items);
    if (!items) return binder_graph_fault(s, "");
    c->items = items;
    items[c->count++] = (cyclic_condition){node, coordinate, where, place};
    return true;
}

/* Adds the condition ∂node/∂q_i = 0 for each coordinate q_i that `node` contains. */
static bool add_contents(cyclic_conditions *c, graph_node node, cyclic_place place, int32_t where) {
    hamel_system *s = c->equations->system;
    int32_t *list;
    size_t count = node_support(s, node, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++)
        if (!add_condition(c, graph_partial(s->graph, node, s->q[list[i]]), list[i], place, where)) return false;
    return true;
}

static bool add_lagrangian(cyclic_conditions *c) {
    graph_node *slope = energies_slopes(c->equations);
    for (size_t i = 0; slope && i < c->equations->n; i++)
        if (!add_condition(c, slope[i], (int32_t)i, CYCLIC_IN_LAGRANGIAN, -1)) return false;
    return slope != NULL;
}

static bool add_force_condition(cyclic_conditions *c, graph_node force, int32_t on) {
    return add_contents(c, force, CYCLIC_IN_FORCE, on) && add_condition(c, force, on, CYCLIC_FORCED, on);
}

static bool add_force_conditions(cyclic_conditions *c) {
    const hamel_equations *e = c->equations;
    for (size_t i = 0; i < e->n; i++) {
        if (!add_force_condition(c, e->given[i], (int32_t)i)) return false;
        if (e->nonideal && !add_force_condition(c, e->nonideal[i], (int32_t)i)) return false;
    }
    for (size_t k = 0; k < e->F.count; k++)
        if (!add_force_condition(c, e->F.entries[k].node, e->F.entries[k].row)) return false;
    return true;
}

static bool add_constraint_conditions(cyclic_conditions *c) {
    const hamel_equations *e = c->equations;
    for (size_t k = 0; k < e->m; k++)
        if (!add_contents(c, e->system->constraints[k].equation, CYCLIC_IN_CONSTRAINT, (int32_t)k)) return false;
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        if (!add_condition(c, a->node, a->column, CYCLIC_CONSTRAINED, a->row)) return false;
    }
    return true;
}

bool cyclic_list(cyclic_conditions *out, const hamel_equations *e) {
    assert(out->count == 0 && e->given);
    graph_node S = e->system->acceleration_energy;
    out->equations = e;
    if (!add_lagrangian(out) || !add_force_conditions(out) || !add_constraint_conditions(out)) return false;
    return S < 0 || add_contents(out, S, CYCLIC_IN_ACCELERATION_ENERGY, -1);
}
