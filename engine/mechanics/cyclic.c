/* cyclic.c — lists the conditions under which coordinates are cyclic and their momenta conserved. */
#include "engine/mechanics/cyclic.h"

#include "engine/system/binder.h"

#include <assert.h>

typedef struct gathering {
    const hamel_equations *e;
    cyclic_conditions *out;
} gathering;

static bool add_condition(gathering *w, graph_node node, int32_t coordinate, cyclic_place place, int32_t where) {
    hamel_system *s = w->e->system;
    cyclic_conditions *c = w->out;
    if (node < 0) return false;
    if (graph_is_zero(s->graph, node)) return true;
    cyclic_condition *items = arena_grow(s->memory, c->items, &c->capacity, c->count + 1, sizeof *items);
    if (!items) return binder_graph_fault(s, "");
    c->items = items;
    items[c->count++] = (cyclic_condition){node, coordinate, where, place};
    return true;
}

/* Adds the condition ∂node/∂q_i = 0 for each coordinate in the node. */
static bool add_contents(gathering *w, graph_node node, cyclic_place place, int32_t where) {
    hamel_system *s = w->e->system;
    int32_t *list;
    size_t count = node_support(s, node, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++)
        if (!add_condition(w, graph_partial(s->graph, node, s->q[list[i]]), list[i], place, where)) return false;
    return true;
}

static bool add_lagrangian(gathering *w) {
    graph_node *slope = energies_slopes(w->e);
    for (size_t i = 0; slope && i < w->e->n; i++)
        if (!add_condition(w, slope[i], (int32_t)i, CYCLIC_IN_LAGRANGIAN, -1)) return false;
    return slope != NULL;
}

static bool add_force_condition(gathering *w, graph_node force, int32_t on) {
    return add_contents(w, force, CYCLIC_IN_FORCE, on) && add_condition(w, force, on, CYCLIC_FORCED, on);
}

static bool add_force_conditions(gathering *w) {
    const hamel_equations *e = w->e;
    for (size_t i = 0; i < e->n; i++) {
        if (!add_force_condition(w, e->given[i], (int32_t)i)) return false;
        if (e->nonideal && !add_force_condition(w, e->nonideal[i], (int32_t)i)) return false;
    }
    for (size_t k = 0; k < e->F.count; k++)
        if (!add_force_condition(w, e->F.entries[k].node, e->F.entries[k].row)) return false;
    return true;
}

static bool add_constraint_conditions(gathering *w) {
    const hamel_equations *e = w->e;
    for (size_t c = 0; c < e->m; c++)
        if (!add_contents(w, e->system->constraints[c].equation, CYCLIC_IN_CONSTRAINT, (int32_t)c)) return false;
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        if (!add_condition(w, a->node, a->column, CYCLIC_CONSTRAINED, a->row)) return false;
    }
    return true;
}

bool cyclic_list(cyclic_conditions *out, const hamel_equations *e) {
    assert(out->count == 0 && e->given);
    gathering w = {e, out};
    graph_node S = e->system->acceleration_energy;
    if (!add_lagrangian(&w) || !add_force_conditions(&w) || !add_constraint_conditions(&w)) return false;
    return S < 0 || add_contents(&w, S, CYCLIC_IN_ACCELERATION_ENERGY, -1);
}
