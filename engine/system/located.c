/* located.c — particles, bodies, points and frames: names, slots, and places in inertial components.
 *
 * Places may be given in other frames, and frames inside frames, in any order; expressions may ask for positions of
 * elements whose own expressions ask for others. So everything is bound when first needed, and chains of frames are
 * walked with a list, not by recursion. */
#include "engine/system/elements.h"

#include <string.h>

static bool check_dimension(hamel_system *s, const hamel_position *p) {
    int dimension = (int)p->at.count;
    if (dimension == 0) return true;
    if (s->dimension == 0) s->dimension = dimension;
    if (dimension == s->dimension) return true;
    (void)hamel_fail(s->error, HAMEL_INVALID, p->pointer, 0,
                     "a position with %d components in a system whose others have %d", dimension, s->dimension);
    return false;
}

/* Adds an element with the given position and orientation; returns its index or −1. Parents are found later. */
static int32_t add(hamel_system *s, const char *name, const char *pointer, const char *kind,
                   const hamel_position *position, const hamel_orientation *orientation, const loop_scope *scope) {
    system_binder *b = s->binder;
    if (!check_dimension(s, position)) return -1;
    system_located *all = binder_grow(s, b->located, &b->located_capacity, b->located_count, sizeof *all, pointer);
    if (!all) return -1;
    b->located = all;
    size_t index = b->located_count;
    all[index] = (system_located){
        .name = name, .pointer = pointer, .kind = kind, .parent = -1, .position_slot = -1, .orientation_slot = -1};
    all[index].orientation = orientation;
    if (position->at.count)
        all[index].position_slot = binder_add_slot(s, name, position->pointer, &position->at, PLACE_POSITION, scope);
    if (orientation && orientation->values.count)
        all[index].orientation_slot =
            binder_add_slot(s, name, orientation->pointer, &orientation->values, PLACE_POSITION, scope);
    b->located_count++;
    return (int32_t)index;
}

static bool declare(hamel_system *s, const char *name, const char *pointer, const char *kind,
                    const hamel_position *position, const hamel_orientation *orientation, const loop_scope *scope) {
    const char *expanded = family_member(s, name, pointer, scope);
    if (!expanded) return false;
    int32_t index = add(s, expanded, pointer, kind, position, orientation, scope);
    if (index < 0) return false;
    s->binder->located[index].turns = orientation != NULL;
    return binder_declare_element(s, &s->binder->elements, expanded, (size_t)index, pointer, "elements") ||
           s->error->status != HAMEL_NO_MEMORY;
}

void located_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    family_iterator f;
    for (size_t i = 0; i < d->particle_count; i++) {
        const hamel_particle *p = &d->particles[i];
        if (!p->name || !p->position.at.count) continue;
        for (family_begin(&f, s, &p->family); family_next(&f);)
            if (!declare(s, p->name, p->pointer, "particle", &p->position, NULL, &f.scope)) break;
    }
    for (size_t i = 0; i < d->body_count; i++) {
        const hamel_body *b = &d->bodies[i];
        if (!b->name || !b->position.at.count) continue;
        for (family_begin(&f, s, &b->family); family_next(&f);)
            if (!declare(s, b->name, b->pointer, "body", &b->position, &b->orientation, &f.scope)) break;
    }
    for (size_t i = 0; i < d->point_count + d->frame_count; i++) {
        bool frame = i >= d->point_count;
        const hamel_point *p = frame ? &d->frames[i - d->point_count] : &d->points[i];
        if (!p->name) continue;
        for (family_begin(&f, s, &p->family); family_next(&f);)
            if (!declare(s, p->name, p->pointer, frame ? "frame" : "point", &p->position,
                         frame ? &p->orientation : NULL, &f.scope))
                break;
    }
}

/* The index of the frame or body of that name; −1 for none given, −2 with a fault. */
static int32_t find_parent(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope) {
    if (!name) return -1;
    const char *expanded = family_name(s, name, pointer, scope);
    if (!expanded) return -2;
    const symbol_table *elements = &s->binder->elements;
    int32_t found = symbol_find(elements, expanded, strlen(expanded));
    int32_t index = found < 0 ? -1 : elements->symbols[found].value;
    if (index >= 0 && s->binder->located[index].turns) return index;
    if (index >= 0) {
        (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "`%s` is a %s, which has no axes; name a frame or a body",
                         expanded, s->binder->located[index].kind);
        return -2;
    }
    (void)hamel_fail(s->error, HAMEL_INVALID, pointer, 0, "there is no frame or body named `%s`", expanded);
    const char *nearest = symbol_nearest(elements, expanded, strlen(expanded));
    if (nearest) hamel_suggest(s->error, "did you mean `%s`?", nearest);
    return -2;
}

/* Parents in the order of declaration, when all names are known. */
void located_find_parents(hamel_system *s) {
    const hamel_description *d = s->description;
    size_t at = 0, total = s->binder->located_count;
    size_t counts[4] = {d->particle_count, d->body_count, d->point_count, d->frame_count};
    for (int kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < counts[kind] && at < total; i++) {
            const hamel_position *position = kind == 0   ? &d->particles[i].position
                                             : kind == 1 ? &d->bodies[i].position
                                             : kind == 2 ? &d->points[i].position
                                                         : &d->frames[i].position;
            const hamel_family *family = kind == 0   ? &d->particles[i].family
                                         : kind == 1 ? &d->bodies[i].family
                                         : kind == 2 ? &d->points[i].family
                                                     : &d->frames[i].family;
            const char *pointer = kind == 0   ? d->particles[i].pointer
                                  : kind == 1 ? d->bodies[i].pointer
                                  : kind == 2 ? d->points[i].pointer
                                              : d->frames[i].pointer;
            const char *name = kind == 3 && d->frames[i].in ? d->frames[i].in : position->frame;
            const char *where = kind == 3 && d->frames[i].in ? d->frames[i].in_pointer : position->frame_pointer;
            family_iterator f;
            for (family_begin(&f, s, family);
                 at < total && s->binder->located[at].pointer == pointer && family_next(&f); at++) {
                int32_t parent = find_parent(s, name, where, &f.scope);
                if (parent >= -1) s->binder->located[at].parent = parent;
            }
        }
}

/* Own place in the parent's, then in inertial components. All slots are bound. */
static bool compute(hamel_system *s, system_located *e) {
    graph *g = s->graph;
    const system_binder *b = s->binder;
    graph_node zero = graph_number(g, 0), at[3] = {zero, zero, zero}, rotation[9], omega[3], omega_body[3];
    static const hamel_orientation parallel = {.kind = HAMEL_PARALLEL};
    const hamel_orientation *o = e->orientation ? e->orientation : &parallel;
    if (e->position_slot >= 0)
        for (int k = 0; k < b->slots[e->position_slot].count && k < 3; k++) at[k] = b->slots[e->position_slot].nodes[k];
    const graph_node *values = e->orientation_slot >= 0 ? b->slots[e->orientation_slot].nodes : NULL;
    if (!values) o = &parallel;
    if (s->dimension == 2 && o->kind != HAMEL_PARALLEL && o->kind != HAMEL_ANGLE) {
        (void)hamel_fail(s->error, HAMEL_INVALID, o->pointer, 0, "the orientation of `%s` in the plane is an `angle`",
                         e->name);
        return false;
    }
    if (!rotation_of(s, o, values, rotation, omega, omega_body)) return false;
    if (e->parent < 0) {
        memcpy(e->position, at, sizeof at);
        memcpy(e->rotation, rotation, sizeof rotation);
        memcpy(e->omega, omega, sizeof omega);
        memcpy(e->omega_body, omega_body, sizeof omega_body);
    } else {
        const system_located *p = &b->located[e->parent];
        graph_node turned[3];
        node_matrix_apply(g, p->rotation, at, turned);
        for (int k = 0; k < 3; k++) e->position[k] = graph_add(g, p->position[k], turned[k]);
        node_matrix_times(g, p->rotation, rotation, e->rotation);
        node_matrix_apply(g, p->rotation, omega, turned);
        for (int k = 0; k < 3; k++) e->omega[k] = graph_add(g, p->omega[k], turned[k]);
        node_matrix_apply_transposed(g, rotation, p->omega_body, turned);
        for (int k = 0; k < 3; k++) e->omega_body[k] = graph_add(g, omega_body[k], turned[k]);
    }
    e->ready = true;
    return graph_status(g) == HAMEL_OK || binder_graph_fault(s, e->pointer);
}

static bool faulty(const system_binder *b, const system_located *e) {
    return (e->position_slot >= 0 && b->slots[e->position_slot].state == SLOT_FAULTY) ||
           (e->orientation_slot >= 0 && b->slots[e->orientation_slot].state == SLOT_FAULTY);
}

bool located_need(hamel_system *s, int32_t element, bool *complete) {
    system_binder *b = s->binder;
    int32_t *chain = NULL;
    size_t length = 0, capacity = 0;
    *complete = true;
    for (int32_t at = element; at >= 0 && !b->located[at].ready; at = b->located[at].parent) {
        const system_located *e = &b->located[at];
        if (length > b->located_count) {
            (void)hamel_fail(s->error, HAMEL_INVALID, e->pointer, 0,
                             "frames contain each other in a circle: `%s` lies inside itself", e->name);
            return false;
        }
        if (!(chain = arena_grow(s->memory, chain, &capacity, length + 1, sizeof *chain)))
            return binder_graph_fault(s, e->pointer);
        chain[length++] = at;
        if (e->position_slot >= 0 && !binder_need_slot(s, e->position_slot)) *complete = false;
        if (e->orientation_slot >= 0 && !binder_need_slot(s, e->orientation_slot)) *complete = false;
        if (faulty(b, e)) *complete = false; /* its fault is told where it is written */
    }
    while (*complete && length > 0)
        if (!compute(s, &b->located[chain[--length]])) return false;
    return true;
}

void located_resolve(hamel_system *s) {
    system_binder *b = s->binder;
    bool complete;
    for (size_t i = 0; i < b->located_count; i++) {
        if (b->located[i].position_slot >= 0) binder_resolve_slot(s, b->located[i].position_slot);
        if (b->located[i].orientation_slot >= 0) binder_resolve_slot(s, b->located[i].orientation_slot);
    }
    for (size_t i = 0; i < b->located_count && s->error->status == HAMEL_OK; i++)
        if (!located_need(s, (int32_t)i, &complete)) return;
}

int32_t located_end(hamel_system *s, const hamel_end *end, const loop_scope *scope) {
    const symbol_table *elements = &s->binder->elements;
    bool complete;
    if (!end->name && end->position.at.count == 0) return -1; /* the reader has said so */
    if (!end->name) {
        int32_t index = add(s, "", end->pointer, "position", &end->position, NULL, scope);
        if (index < 0) return -1;
        int32_t parent = find_parent(s, end->position.frame, end->position.frame_pointer, scope),
                slot = s->binder->located[index].position_slot;
        s->binder->located[index].parent = parent;
        return parent >= -1 && binder_resolve_slot(s, slot) && located_need(s, index, &complete) && complete ? index
                                                                                                             : -1;
    }
    const char *name = family_name(s, end->name, end->pointer, scope);
    int32_t found = name ? symbol_find(elements, name, strlen(name)) : -1;
    if (found >= 0) {
        int32_t index = elements->symbols[found].value;
        return located_need(s, index, &complete) && complete ? index : -1;
    }
    if (!name) return -1;
    (void)hamel_fail(s->error, HAMEL_INVALID, end->pointer, 0, "there is no particle, body, point or frame named `%s`",
                     name);
    const char *nearest = symbol_nearest(elements, name, strlen(name));
    if (nearest) hamel_suggest(s->error, "did you mean `%s`?", nearest);
    return -1;
}

void located_carried(hamel_system *s, const system_located *e, const graph_node p[3], graph_node out[3]) {
    graph *g = s->graph;
    graph_node arm[3], turn[3];
    for (int k = 0; k < 3; k++) arm[k] = graph_sub(g, p[k], e->position[k]);
    node_vector_cross(g, e->omega, arm, turn);
    for (int k = 0; k < 3; k++) out[k] = graph_add(g, graph_rate(g, e->position[k]), turn[k]);
}
