/* events.c — declares events: coordinates to set, and constraints to activate, to deactivate or to apply an impulse to.
 *
 * The equation of an impulse becomes a constraint that is active only during the impulse. Such rows follow all others, so
 * that the numbers of declared constraints do not change. */
#include "engine/system/elements.h"

#include <string.h>

static bool out_of_memory(hamel_system *s, const char *pointer) {
    return binder_graph_fault(s, pointer);
}

/* --- set ------------------------------------------------------------------------------------------------------------ */

/* Returns the target "x" or "x'" of an assignment; −1 after adding an error. */
static int32_t target_of(hamel_system *s, const hamel_named *item, const loop_scope *scope) {
    size_t length = strlen(item->name);
    bool velocity = length > 0 && item->name[length - 1] == '\'';
    const char *base = arena_text(s->memory, item->name, velocity ? length - 1 : length);
    if (!base) return out_of_memory(s, item->pointer), -1;
    const char *name = family_name(s, base, item->pointer, scope);
    if (!name) return -1;
    int32_t index = system_coordinate_index(s, name);
    if (index >= 0) return velocity ? (int32_t)s->coordinate_count + index : index;
    system_fail(s, item->pointer, "an event cannot set `%s`: `%s` is not a coordinate", item->name, name);
    const char *nearest = system_nearest_coordinate(s, name);
    if (nearest) hamel_suggest(s->error, "did you mean `%s%s`?", nearest, velocity ? "'" : "");
    return -1;
}

static bool resolve_set(hamel_system *s, system_event *e, const loop_scope *scope) {
    const hamel_named_list *list = &e->described->set;
    e->targets = arena_alloc(s->memory, list->count, sizeof *e->targets);
    e->values = arena_alloc(s->memory, list->count, sizeof *e->values);
    if (!e->targets || !e->values) return out_of_memory(s, e->pointer);
    for (size_t k = 0; k < list->count; k++) {
        const hamel_named *item = &list->items[k];
        int32_t target = item->name && item->value.count ? target_of(s, item, scope) : -1;
        if (target < 0) continue;
        e->targets[e->set_count] = target;
        e->values[e->set_count++] = &item->value.items[0];
    }
    return true;
}

/* --- constraints ---------------------------------------------------------------------------------------------------- */

static void no_constraint(hamel_system *s, const char *pointer, const char *name) {
    system_fail(s, pointer, "unknown constraint `%s`", name);
    const char *nearest = system_nearest_constraint(s, name);
    if (nearest) hamel_suggest(s->error, "did you mean `%s`?", nearest);
}

static bool resolve_references(hamel_system *s, const hamel_references *list, const loop_scope *scope, int32_t **out,
                               size_t *count) {
    *out = arena_alloc(s->memory, list->count, sizeof **out);
    if (!*out) return out_of_memory(s, "/events");
    for (size_t k = 0; k < list->count; k++) {
        if (!list->names[k]) continue;
        const char *name = binder_looks_like_name(list->names[k])
                               ? family_name(s, list->names[k], list->pointers[k], scope)
                               : list->names[k]; /* J.1 */
        if (!name) continue;
        int32_t index = system_constraint_index(s, name);
        if (index >= 0)
            (*out)[(*count)++] = index;
        else
            no_constraint(s, list->pointers[k], name);
    }
    return true;
}

/* Checks that the constraint of an impulse is linear in the velocities: their jump then depends on its two ends only. */
static bool can_strike(hamel_system *s, const hamel_impulse *impulse, int32_t c) {
    const system_constraint *at = &s->constraints[c];
    graph *g = s->graph;
    const int32_t *found;
    if (at->order == CONSTRAINT_HOLONOMIC || at->equation < 0) return true;
    bool linear = at->order == CONSTRAINT_VELOCITY;
    size_t n = linear ? graph_support(g, at->equation, SYMBOL_VELOCITY, &found) : 0;
    for (size_t i = 0; i < n && linear; i++) {
        n = graph_support(g, at->equation, SYMBOL_VELOCITY, &found); /* again: adding nodes invalidates the list */
        linear = !(graph_depends(g, graph_partial(g, at->equation, s->v[found[i]])) & GRAPH_DEPENDS(SYMBOL_VELOCITY));
    }
    if (linear) return true;
    system_fail(s, impulse->constraint.pointer,
                "an impulse needs a constraint on positions, or one that is linear in the velocities");
    return false;
}

static int32_t add_impulsive_row(hamel_system *s, const system_event *e, const hamel_expression *equation,
                                 const loop_scope *scope) {
    size_t index;
    graph_node f = system_bind(s, equation, PLACE_CONSTRAINT, scope, SYNTAX_EQUATION, NULL);
    if (f < 0 || !binder_add_row(s, e->name, equation->pointer, &index)) return -1;
    s->constraints[index].inactive = true;
    binder_set_equation(s, index, f);
    return (int32_t)index;
}

/* Returns the index of the constraint of an impulse; −1 after adding an error. */
static int32_t struck(hamel_system *s, const system_event *e, const hamel_expression *c, const loop_scope *scope) {
    if (c->text && binder_looks_like_name(c->text)) {
        const char *name = family_name(s, c->text, c->pointer, scope);
        if (!name) return -1;
        int32_t index = system_constraint_index(s, name);
        if (index >= 0) return index;
        if (symbol_find(&s->binder->quantities, name, strlen(name)) < 0) {
            no_constraint(s, c->pointer, name);
            return -1;
        }
    }
    return add_impulsive_row(s, e, c, scope);
}

static bool resolve_impulses(hamel_system *s, system_event *e, const loop_scope *scope) {
    const hamel_impulses *list = &e->described->impulses;
    e->impulses = arena_alloc(s->memory, list->count, sizeof *e->impulses);
    if (!e->impulses) return out_of_memory(s, e->pointer);
    for (size_t k = 0; k < list->count; k++) {
        const hamel_impulse *impulse = &list->items[k];
        if (!hamel_expression_given(&impulse->constraint)) continue;
        int32_t c = struck(s, e, &impulse->constraint, scope);
        if (c < 0 || !can_strike(s, impulse, c)) continue;
        for (size_t i = 0; i < e->impulse_count; i++)
            if (e->impulses[i] == c)
                system_fail(s, impulse->pointer, "the event `%s` applies two impulses to `%s`", e->name,
                            s->constraints[c].name);
        e->impulses[e->impulse_count++] = c;
    }
    return true;
}

/* --- events --------------------------------------------------------------------------------------------------------- */

static bool declare_event(hamel_system *s, symbol_table *names, const hamel_event *described, const loop_scope *scope) {
    const char *name = family_member(s, described->name, described->pointer, scope);
    if (!name) return false;
    if (!binder_declare_element(s, names, name, s->event_count, described->pointer, "events")) return false;
    system_event *all = binder_grow(s, s->events, &s->event_capacity, s->event_count, sizeof *all, described->pointer);
    const char *kept = arena_text(s->memory, described->pointer, strlen(described->pointer));
    if (!all || !kept) return false;
    s->events = all;
    system_event *e = &all[s->event_count];
    *e = (system_event){.name = name, .pointer = kept, .described = described, .when = GRAPH_NONE};
    if (!scope_copy(s, scope, &e->loops, &e->loop_count) || !resolve_set(s, e, scope) ||
        !resolve_references(s, &described->activate, scope, &e->activate, &e->activate_count) ||
        !resolve_references(s, &described->deactivate, scope, &e->deactivate, &e->deactivate_count) ||
        !resolve_impulses(s, e, scope))
        return false;
    s->event_count++;
    return true;
}

void events_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    symbol_table names;
    family_iterator f;
    s->named_count = s->constraint_count;
    if (d->event_count == 0) return;
    if (symbol_table_init(&names, s->memory) != HAMEL_OK) {
        out_of_memory(s, "/events");
        return;
    }
    for (size_t i = 0; i < d->event_count; i++) {
        if (!d->events[i].name || !hamel_expression_given(&d->events[i].when)) continue;
        for (family_begin(&f, s, &d->events[i].family); family_next(&f);)
            if (!declare_event(s, &names, &d->events[i], &f.scope)) break;
    }
}
