/* events.c — declares events. An event sets coordinates, and activates or deactivates constraints, or enforces them by
 * an impulse. The percussions of an event act on points and coordinates.
 *
 * The equation of an impulse becomes a constraint that is active only during the impulse. These constraints follow all
 * declared constraints, so the indices of declared constraints do not change. */
#include "engine/system/elements.h"

#include <assert.h>
#include <string.h>

/* Returns the index of the assigned coordinate x, or n + its index for the velocity x'. Returns −1 after adding an
 * error. */
static int32_t target_of(hamel_system *s, const hamel_named *item, const loop_scope *scope) {
    size_t length = strlen(item->name);
    bool velocity = length > 0 && item->name[length - 1] == '\'';
    const char *base = arena_text(s->memory, item->name, velocity ? length - 1 : length);
    if (!base) return binder_graph_fault(s, item->pointer), -1;
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
    e->targets = binder_alloc(s, list->count, sizeof *e->targets, e->pointer);
    e->values = binder_alloc(s, list->count, sizeof *e->values, e->pointer);
    if (!e->targets || !e->values) return false;
    for (size_t k = 0; k < list->count; k++) {
        const hamel_named *item = &list->items[k];
        int32_t target = item->name && item->value.count ? target_of(s, item, scope) : -1;
        if (target < 0) continue;
        e->targets[e->set_count] = target;
        e->values[e->set_count++] = &item->value.items[0];
    }
    return true;
}

static bool no_constraint(hamel_system *s, const char *pointer, const char *name) {
    system_fail(s, pointer, "unknown constraint `%s`", name);
    return binder_suggest_nearest(s, &s->binder->constraints, name);
}

static bool resolve_references(hamel_system *s, const hamel_references *list, const loop_scope *scope, int32_t **out,
                               size_t *count) {
    *out = binder_alloc(s, list->count, sizeof **out, "/events");
    for (size_t k = 0; *out && k < list->count; k++) {
        const char *name = list->names[k];
        if (name && binder_looks_like_name(name))
            name = family_name(s, name, list->pointers[k], scope); /* a name such as J.1 is not expanded */
        if (!name) continue;
        int32_t index = system_constraint_index(s, name);
        if (index >= 0)
            (*out)[(*count)++] = index;
        else
            no_constraint(s, list->pointers[k], name);
    }
    return *out != NULL;
}

/* Checks that the constraint of an impulse is linear in the velocities. The jump of the velocities then depends only on
 * the velocities before and after the impulse. */
static bool can_strike(hamel_system *s, const hamel_impulse *impulse, int32_t c) {
    assert(0 <= c && (size_t)c < s->constraint_count);
    const system_constraint *at = &s->constraints[c];
    if (at->order == CONSTRAINT_HOLONOMIC || at->equation < 0) return true;
    if (at->order == CONSTRAINT_VELOCITY && binder_is_linear(s, at->equation)) return true;
    return system_fail(s, impulse->constraint.pointer,
                       "an impulse needs a constraint on positions, or one that is linear in the velocities");
}

/* Adds the equation of an impulse as a constraint. The name of the constraint is the text of the equation. In a family,
 * the name of the event precedes the text. Returns the index of the constraint, or −1 after adding an error. */
static int32_t add_impulsive_row(hamel_system *s, const system_event *e, const hamel_expression *equation,
                                 const loop_scope *scope) {
    size_t index;
    graph_node f = system_bind(s, equation, PLACE_CONSTRAINT, scope, SYNTAX_EQUATION, NULL);
    const char *name = !equation->text     ? e->name
                       : e->loop_count > 0 ? arena_format(s->memory, "%s: %s", e->name, equation->text)
                                           : binder_text(s, equation->text, equation->pointer);
    if (!name) return binder_graph_fault(s, equation->pointer), -1;
    if (f < 0 || !binder_add_row(s, name, equation->pointer, &index)) return -1;
    s->constraints[index].inactive = true;
    binder_set_equation(s, index, f);
    return (int32_t)index;
}

/* Returns the index of the constraint of an impulse, or −1 after adding an error. */
static int32_t struck(hamel_system *s, const system_event *e, const hamel_expression *c, const loop_scope *scope) {
    if (c->text && binder_looks_like_name(c->text)) {
        const char *name = family_name(s, c->text, c->pointer, scope);
        if (!name) return -1;
        int32_t index = system_constraint_index(s, name);
        if (index >= 0) return index;
        if (binder_find(&s->binder->quantities, name) < 0) return no_constraint(s, c->pointer, name), -1;
    }
    return add_impulsive_row(s, e, c, scope);
}

static bool resolve_impulses(hamel_system *s, system_event *e, const loop_scope *scope) {
    const hamel_impulses *list = &e->described->impulses;
    e->impulses = binder_alloc(s, list->count, sizeof *e->impulses, e->pointer);
    for (size_t k = 0; e->impulses && k < list->count; k++) {
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
    return e->impulses != NULL;
}

/* Sets p->along and p->count for a percussion at a point: its components act along the inertial coordinates of the
 * point. Returns false after adding an error. */
static bool find_struck_point(hamel_system *s, const hamel_percussion *d, system_percussion *p,
                              const loop_scope *scope) {
    int32_t index = located_end(s, &d->at, scope);
    if (index < 0) return false;
    const system_located *point = &s->binder->located[index];
    bool moves = false;
    p->count = (size_t)s->dimension;
    if (d->vector.count != p->count)
        return system_fail(s, d->vector.pointer, "the percussion has %zu components, but positions have %d",
                           d->vector.count, s->dimension);
    for (size_t k = 0; k < p->count; k++) {
        p->along[k] = point->position[k];
        moves = moves || (graph_depends(s->graph, p->along[k]) & GRAPH_DEPENDS(SYMBOL_COORDINATE));
    }
    if (!moves) system_warn(s, d->pointer, "the percussion has no effect: no coordinate moves its point");
    return true;
}

static bool find_struck_coordinate(hamel_system *s, const hamel_percussion *d, system_percussion *p,
                                   const loop_scope *scope) {
    const char *name = family_name(s, d->on, d->on_pointer, scope);
    int32_t index = name ? system_coordinate_index(s, name) : -1;
    if (!name) return false;
    if (index >= 0) {
        p->count = 1;
        p->along[0] = s->q[index];
        return true;
    }
    system_fail(s, d->on_pointer, "unknown coordinate `%s`", name);
    const char *nearest = system_nearest_coordinate(s, name);
    if (nearest) hamel_suggest(s->error, "did you mean `%s`?", nearest);
    return false;
}

/* Rejects events with percussions that also assign a coordinate: the point of a percussion is evaluated before the
 * assignment. */
static bool check_percussion_and_set(hamel_system *s, const system_event *e) {
    for (size_t k = 0; k < e->set_count; k++)
        if (e->targets[k] < (int32_t)s->coordinate_count) {
            system_fail(s, e->pointer, "the event `%s` sets a coordinate and applies a percussion", e->name);
            return hamel_suggest(s->error, "declare two events, so that the order of these actions is clear"), false;
        }
    return true;
}

static bool resolve_percussions(hamel_system *s, system_event *e, const loop_scope *scope) {
    const hamel_percussions *list = &e->described->percussions;
    e->percussions = binder_alloc(s, list->count, sizeof *e->percussions, e->pointer);
    if (list->count > 0 && e->percussions) (void)check_percussion_and_set(s, e);
    for (size_t k = 0; e->percussions && k < list->count; k++) {
        const hamel_percussion *d = &list->items[k];
        system_percussion p = {.described = d};
        bool point = d->at.pointer && d->vector.count > 0;
        if (!point && (!d->on || !hamel_expression_given(&d->value))) continue; /* the reader has reported the error */
        if (point ? find_struck_point(s, d, &p, scope) : find_struck_coordinate(s, d, &p, scope))
            e->percussions[e->percussion_count++] = p;
    }
    return e->percussions != NULL;
}

/* If the event has impulses or percussions or activates constraints, rejects servo-constraints: impulses of reactions
 * are computed along gradients only. */
static bool has_ideal_impact(hamel_system *s, const system_event *e) {
    if (e->described->impulses.count + e->described->percussions.count + e->activate_count == 0) return true;
    for (size_t c = 0; c < s->constraint_count; c++)
        if (s->constraints[c].direction)
            return system_fail(s, e->pointer,
                               "the impact of the event `%s` is unknown, because the reaction of `%s` has a given "
                               "direction",
                               e->name, s->constraints[c].name);
    return true;
}

static bool declare_event(hamel_system *s, symbol_table *names, const hamel_event *described, const loop_scope *scope) {
    const char *name = family_member(s, described->name, described->pointer, scope);
    if (!name || !binder_declare_element(s, names, name, s->event_count, described->pointer, "events")) return false;
    const char *kept = binder_text(s, described->pointer, described->pointer);
    system_event e = {.name = name, .pointer = kept, .described = described, .when = GRAPH_NONE};
    return kept && scope_copy(s, scope, &e.loops, &e.loop_count) && resolve_set(s, &e, scope) &&
           resolve_references(s, &described->activate, scope, &e.activate, &e.activate_count) &&
           resolve_references(s, &described->deactivate, scope, &e.deactivate, &e.deactivate_count) &&
           has_ideal_impact(s, &e) && resolve_impulses(s, &e, scope) && resolve_percussions(s, &e, scope) &&
           binder_append(s, &s->events, &s->event_count, &s->event_capacity, &e, sizeof e, kept);
}

void events_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    symbol_table names;
    family_iterator f;
    s->named_count = s->constraint_count;
    if (d->event_count == 0) return;
    if (symbol_table_init(&names, s->memory) != HAMEL_OK) {
        binder_graph_fault(s, "/events");
        return;
    }
    for (size_t i = 0; i < d->event_count; i++) {
        if (!d->events[i].name || !hamel_expression_given(&d->events[i].when)) continue;
        for (family_begin(&f, s, &d->events[i].family); family_next(&f);)
            if (!declare_event(s, &names, &d->events[i], &f.scope)) break;
    }
}
