/* slots.c — binds definitions and parameters before the expressions that refer to them.
 *
 * Binding an expression notes the unbound slots that the expression needs (bind.c). The noted slots are bound first,
 * with an explicit stack, and the expression is bound again. If a slot needs a slot that is still on the stack, the
 * definitions are circular. */
#include "engine/system/binder.h"
#include "engine/system/units.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Reports that an expression of numbers and parameters has no finite value. */
static bool report_not_finite(hamel_system *s, const hamel_expression *e, const char *what) {
    if (graph_status(s->graph) != HAMEL_OK) return binder_graph_fault(s, e->pointer);
    system_fail(s, e->pointer, "%s is not finite", what ? what : "the value");
    if (e->text) hamel_quote(s->error, e->text, strlen(e->text));
    return false;
}

/* Computes the value of a parameter from the values of the parameters in its expression. */
static bool bind_parameter(hamel_system *s, int32_t index, graph_node node) {
    assert((size_t)index < s->parameter_count);
    double value;
    const hamel_expression *e = &s->binder->slots[index].value->items[0];
    if (!binder_number(s, node, &value))
        return report_not_finite(s, e, arena_format(s->memory, "the value of `%s`", s->parameter_names[index]));
    s->parameter_values[index] = value;
    s->parameter_nodes[index] = node;
    s->binder->parameter_numbers[index] = graph_number(s->graph, value);
    return true;
}

static bool bind_slot_once(hamel_system *s, int32_t index, bool *complete) {
    bind_slot slot = s->binder->slots[index]; /* copied, because binding may move the array */
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
            return good; /* the caller binds the slots that the component needs, then calls again */
        }
    }
    if (good && (size_t)index < s->parameter_count) good = bind_parameter(s, index, slot.nodes[0]);
    unit_rule rule = (size_t)index < s->parameter_count ? UNIT_PARAMETER : UNIT_ANY_ONE;
    for (size_t k = 0; k < slot.count; k++)
        units_note(s, slot.nodes[k], slot.value->items[k].pointer, rule, (size_t)index);
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
    if (b->slots[root].state == SLOT_BOUND || b->slots[root].state == SLOT_FAULTY)
        return b->slots[root].state == SLOT_BOUND;
    bool good = binder_append(s, &open, &depth, &capacity, &root, sizeof root, b->slots[root].pointer);
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
            if (b->slots[need].state == SLOT_OPEN) { /* a circular definition */
                good = report_cycle(s, open, depth, need);
                b->slots[need].state = b->slots[slot].state = SLOT_FAULTY;
                break;
            }
            if (!binder_append(s, &open, &depth, &capacity, &need, sizeof need, b->slots[root].pointer)) return false;
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
        int32_t *needs = binder_alloc(s, count, sizeof *needs, e->pointer);
        if (!needs) return GRAPH_NONE;
        memcpy(needs, s->binder->waiting, count * sizeof *needs);
        for (size_t k = 0; k < count; k++)
            if (!binder_resolve_slot(s, needs[k])) return GRAPH_NONE;
        node = binder_walk(s, e, place, scope, goal, quantities, &complete);
    }
    if (node < 0 && s->error->count + s->error->omitted == faults) binder_graph_fault(s, e->pointer);
    units_note(s, node, e->pointer, UNIT_ANY_ONE, 0);
    return node;
}

bool binder_slot_number(hamel_system *s, int32_t index, double *value) {
    assert(0 <= index && (size_t)index < s->binder->slot_count);
    const bind_slot *slot = &s->binder->slots[index];
    if (slot->state != SLOT_BOUND) return false;
    binder_note_structural(s, slot->nodes[0]);
    return system_node_number(s, &slot->value->items[0], slot->nodes[0], value);
}

bool system_node_number(hamel_system *s, const hamel_expression *e, graph_node node, double *value) {
    return binder_number(s, node, value) || report_not_finite(s, e, NULL);
}

bool system_number(hamel_system *s, const hamel_expression *e, const loop_scope *scope, double *value) {
    graph_node node = system_bind(s, e, PLACE_PARAMETERS, scope, SYNTAX_EXPRESSION, NULL);
    binder_note_judged(s, node);
    return node >= 0 && system_node_number(s, e, node, value);
}
