/* slots.c — binds definitions and parameters before the expressions that refer to them.
 *
 * A walk over an expression notes the unbound slots that it needs. These are bound first, with an explicit stack, and the
 * expression is walked again. If a slot needs one that is still on the stack, the definitions are circular. */
#include "engine/system/binder.h"
#include "engine/system/units.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Computes the number of a parameter once the numbers of the parameters in its expression are known. */
static bool bind_parameter(hamel_system *s, int32_t index, graph_node node) {
    assert((size_t)index < s->parameter_count);
    double value;
    const hamel_expression *e = &s->binder->slots[index].value->items[0];
    if (!binder_number(s, node, &value)) {
        if (graph_status(s->graph) != HAMEL_OK) return binder_graph_fault(s, e->pointer);
        system_fail(s, e->pointer, "the value of `%s` is not finite", s->parameter_names[index]);
        if (e->text) hamel_quote(s->error, e->text, strlen(e->text));
        return false;
    }
    s->parameter_values[index] = value;
    s->parameter_nodes[index] = node;
    s->binder->parameter_numbers[index] = graph_number(s->graph, value);
    return true;
}

static bool bind_slot_once(hamel_system *s, int32_t index, bool *complete) {
    bind_slot slot = s->binder->slots[index]; /* a copy: binding may move the array */
    loop_scope scope;
    scope_from(&scope, slot.loops, slot.loop_count);
    *complete = true;
    bool good = true;
    for (size_t k = 0; k < slot.count; k++) {
        bool whole;
        size_t faults = s->error->count + s->error->omitted;
        slot.nodes[k] = binder_walk(s, &slot.value->items[k], slot.place, &scope, SYNTAX_EXPRESSION, NULL, &whole);
        if (slot.nodes[k] < 0) good = false;
        if (slot.nodes[k] < 0 && s->error->count + s->error->omitted == faults) binder_graph_fault(s, slot.pointer);
        if (!whole) {
            *complete = false;
            return good; /* bind the slots that it needs, then walk this component again */
        }
    }
    if (good && (size_t)index < s->parameter_count) good = bind_parameter(s, index, slot.nodes[0]);
    for (size_t k = 0; k < slot.count; k++) {
        bool parameter = (size_t)index < s->parameter_count;
        units_note(s, slot.nodes[k], slot.value->items[k].pointer, parameter ? UNIT_PARAMETER : UNIT_ANY_ONE,
                   (size_t)index);
    }
    bind_slot *at = &s->binder->slots[index];
    memcpy(at->nodes, slot.nodes, sizeof at->nodes);
    at->state = good ? SLOT_BOUND : SLOT_FAULTY;
    return good;
}

static bool report_cycle(hamel_system *s, const int32_t *open, size_t count, int32_t again) {
    char text[240] = "";
    size_t at = 0, from = 0;
    while (from < count && open[from] != again) from++;
    for (size_t k = from; k <= count && at + 1 < sizeof text; k++) {
        int32_t slot = k < count ? open[k] : again;
        if (s->binder->slots[slot].state != SLOT_OPEN) continue;
        int n = snprintf(text + at, sizeof text - at, "%s%s", at ? " → " : "", s->binder->slots[slot].name);
        at += n > 0 ? (size_t)n : 0;
    }
    return system_fail(s, s->binder->slots[again].pointer, "circular definitions: %s", text);
}

bool binder_resolve_slot(hamel_system *s, int32_t root) {
    assert(0 <= root && (size_t)root < s->binder->slot_count);
    system_binder *b = s->binder;
    int32_t *open = NULL;
    size_t depth = 0, capacity = 0;
    if (b->slots[root].state == SLOT_BOUND) return true;
    if (b->slots[root].state == SLOT_FAULTY) return false;
    if (!(open = arena_grow(s->memory, open, &capacity, 1, sizeof *open)))
        return binder_graph_fault(s, b->slots[root].pointer);
    open[depth++] = root;
    bool good = true;
    while (depth > 0) {
        int32_t slot = open[depth - 1];
        bool complete;
        if (b->slots[slot].state == SLOT_BOUND || b->slots[slot].state == SLOT_FAULTY) {
            depth--;
            continue;
        }
        b->slots[slot].state = SLOT_OPEN;
        if (!bind_slot_once(s, slot, &complete)) {
            b->slots[slot].state = SLOT_FAULTY;
            good = false;
        }
        if (complete || b->slots[slot].state == SLOT_FAULTY) continue;
        for (size_t k = 0; k < b->waiting_count; k++) {
            int32_t need = b->waiting[k];
            if (b->slots[need].state == SLOT_OPEN) { /* already on the path: circular */
                good = report_cycle(s, open, depth, need);
                b->slots[need].state = b->slots[slot].state = SLOT_FAULTY;
                break;
            }
            if (!(open = arena_grow(s->memory, open, &capacity, depth + 1, sizeof *open)))
                return binder_graph_fault(s, b->slots[root].pointer);
            open[depth++] = need;
        }
    }
    return good;
}

graph_node system_bind(hamel_system *s, const hamel_expression *e, system_place place, const loop_scope *scope,
                       syntax_goal goal, const system_quantities *quantities) {
    if (!hamel_expression_given(e)) return GRAPH_NONE;
    bool complete;
    size_t faults = s->error->count + s->error->omitted;
    graph_node node = binder_walk(s, e, place, scope, goal, quantities, &complete);
    if (!complete && node >= 0) {
        size_t count = s->binder->waiting_count;
        int32_t *needs = arena_alloc(s->memory, count, sizeof *needs);
        if (!needs) return binder_graph_fault(s, e->pointer), GRAPH_NONE;
        memcpy(needs, s->binder->waiting, count * sizeof *needs);
        for (size_t k = 0; k < count; k++)
            if (!binder_resolve_slot(s, needs[k])) return GRAPH_NONE;
        node = binder_walk(s, e, place, scope, goal, quantities, &complete);
    }
    if (node < 0 && s->error->count + s->error->omitted == faults) binder_graph_fault(s, e->pointer);
    units_note(s, node, e->pointer, UNIT_ANY_ONE, 0);
    return node;
}

/* Reports why an expression of parameters has no finite value. */
static bool report_not_finite(hamel_system *s, const hamel_expression *e) {
    if (graph_status(s->graph) != HAMEL_OK) return binder_graph_fault(s, e->pointer);
    system_fail(s, e->pointer, "the value is not finite");
    if (e->text) hamel_quote(s->error, e->text, strlen(e->text));
    return false;
}

bool binder_slot_number(hamel_system *s, int32_t index, double *value) {
    assert(0 <= index && (size_t)index < s->binder->slot_count);
    const bind_slot *slot = &s->binder->slots[index];
    const hamel_expression *e = &slot->value->items[0];
    if (slot->state != SLOT_BOUND) return false;
    binder_note_structural(s, slot->nodes[0]);
    return binder_number(s, slot->nodes[0], value) || report_not_finite(s, e);
}

bool system_node_number(hamel_system *s, const hamel_expression *e, graph_node node, double *value) {
    return binder_number(s, node, value) || report_not_finite(s, e);
}

bool system_number(hamel_system *s, const hamel_expression *e, const loop_scope *scope, double *value) {
    graph_node node = system_bind(s, e, PLACE_PARAMETERS, scope, SYNTAX_EXPRESSION, NULL);
    binder_note_judged(s, node);
    return node >= 0 && system_node_number(s, e, node, value);
}
