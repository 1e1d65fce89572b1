/* located.c — binds particles, bodies, points and frames: names, slots, positions and axes in inertial components.
 *
 * A position may be given in a frame, and a frame in another frame, in any order. An expression may contain the
 * position of an element whose expressions contain positions of other elements. Each element is therefore bound when
 * first needed, and chains of frames are followed with a stack, not by recursion. */
#include "engine/system/elements.h"
#include "engine/system/units.h"

#include <assert.h>
#include <string.h>

static bool check_dimension(hamel_system *s, const hamel_position *p) {
    int dimension = (int)p->at.count;
    if (dimension == 0) return true;
    if (s->dimension == 0) s->dimension = dimension;
    if (dimension == s->dimension) return true;
    return system_fail(s, p->pointer, "the position has %d components, but other positions of the system have %d",
                       dimension, s->dimension);
}

/* The parts of a description that define one located element. */
typedef struct located_source {
    const char *name, *pointer, *kind;
    const hamel_position *position;
    const hamel_orientation *orientation; /* bodies and frames only */
    const char *in, *in_pointer;
} located_source;

/* Adds an element without parent and axes, which located_find_parents sets. Returns the index of the element, or −1
 * after adding an error. */
static int32_t add_located(hamel_system *s, const located_source *from, const char *name, const loop_scope *scope) {
    system_binder *b = s->binder;
    const hamel_position *p = from->position;
    const hamel_orientation *o = from->orientation;
    if (!check_dimension(s, p)) return -1;
    system_located e = {name, from->pointer, from->kind, p, o, from->in, from->in_pointer, .turns = o != NULL};
    e.parent = e.axes = e.position_slot = e.orientation_slot = e.norm = -1;
    e.mass = GRAPH_NONE;
    for (int k = 0; k < 9; k++) e.inertia[k] = graph_number(s->graph, 0);
    if (!scope_copy(s, scope, &e.loops, &e.loop_count)) return -1;
    if (p->at.count) e.position_slot = binder_add_slot(s, name, p->pointer, &p->at, PLACE_POSITION, scope);
    if (o && o->values.count)
        e.orientation_slot = binder_add_slot(s, name, o->pointer, &o->values, PLACE_POSITION, scope);
    if (!binder_append(s, &b->located, &b->located_count, &b->located_capacity, &e, sizeof e, e.pointer)) return -1;
    return (int32_t)b->located_count - 1;
}

static void declare_family(hamel_system *s, located_source from, const hamel_family *family) {
    family_iterator f;
    if (!from.name) return;
    for (family_begin(&f, s, family); family_next(&f);) {
        const char *name = family_member(s, from.name, from.pointer, &f.scope);
        int32_t index = name ? add_located(s, &from, name, &f.scope) : -1;
        if (index < 0) return;
        if (!binder_declare_element(s, &s->binder->elements, name, (size_t)index, from.pointer, "elements") &&
            s->error->status == HAMEL_NO_MEMORY)
            return;
    }
}

/* Adds the error that the axes are unknown, because the frame of a position does not determine the axes of an
 * orientation or inertia. */
static bool refuse_axes(hamel_system *s, const char *name, const hamel_position *p) {
    system_fail(s, p->pointer,
                "the position of `%s` is given in `%s`, but the frame in which its axes are given is missing", name,
                p->frame);
    return hamel_suggest(s->error,
                         "write \"in\": \"%s\" and the position as a plain list, so that both are given in `%s`",
                         p->frame, p->frame),
           false;
}

void located_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    for (size_t i = 0; i < d->particle_count; i++) {
        const hamel_particle *p = &d->particles[i];
        if (p->position.at.count)
            declare_family(s, (located_source){p->name, p->pointer, "particle", .position = &p->position}, &p->family);
    }
    for (size_t i = 0; i < d->body_count; i++) {
        const hamel_body *b = &d->bodies[i];
        if (!b->name || !b->position.at.count) continue;
        if (!b->in && b->position.frame && (b->orientation.kind != HAMEL_PARALLEL || b->inertia.count))
            (void)refuse_axes(s, b->name, &b->position);
        located_source from = {b->name, b->pointer, "body", &b->position, &b->orientation, b->in, b->in_pointer};
        declare_family(s, from, &b->family);
    }
    for (size_t i = 0; i < d->point_count; i++) {
        const hamel_point *p = &d->points[i];
        declare_family(s, (located_source){p->name, p->pointer, "point", .position = &p->position}, &p->family);
    }
    for (size_t i = 0; i < d->frame_count; i++) {
        const hamel_point *p = &d->frames[i];
        located_source from = {p->name, p->pointer, "frame", &p->position, &p->orientation, p->in, p->in_pointer};
        declare_family(s, from, &p->family);
    }
}

/* Returns the index of the frame or body with this name, −1 if name is NULL, or −2 after adding an error. */
static int32_t find_parent(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope) {
    if (!name) return -1;
    const char *expanded = family_name(s, name, pointer, scope);
    if (!expanded) return -2;
    int32_t index = binder_find(&s->binder->elements, expanded);
    if (index >= 0 && s->binder->located[index].turns) return index;
    if (index >= 0) {
        system_fail(s, pointer, "`%s` is a %s, which has no axes; name a frame or a body", expanded,
                    s->binder->located[index].kind);
        return -2;
    }
    system_fail(s, pointer, "unknown frame or body `%s`", expanded);
    return binder_suggest_nearest(s, &s->binder->elements, expanded), -2;
}

/* Resolves the frame or body in which an element is given. A position that names a frame is given in that frame and
 * moves with it. */
static bool find_parents(hamel_system *s, system_located *e) {
    loop_scope scope;
    scope_from(&scope, e->loops, e->loop_count);
    int32_t in = find_parent(s, e->in, e->in_pointer, &scope),
            frame = find_parent(s, e->given->frame, e->given->frame_pointer, &scope);
    if (in < -1 || frame < -1) return false;
    e->parent = e->given->frame ? frame : in;
    e->axes = e->turns ? in : e->parent;
    return true;
}

void located_find_parents(hamel_system *s) {
    for (size_t i = 0; i < s->binder->located_count; i++) (void)find_parents(s, &s->binder->located[i]);
}

static void note_angles(hamel_system *s, const system_located *e, const graph_node *values) {
    for (size_t k = 0; k < e->orientation->values.count; k++) {
        const hamel_expression *angle = &e->orientation->values.items[k];
        units_note(s, values[k], angle->pointer, UNIT_ANGLE, 0);
        if (angle->is_number) system_warn_degrees(s, angle->pointer, "the angle", angle->number);
    }
}

/* Returns true if the axes of an element are inertial. */
static bool is_parallel(const hamel_system *s, const system_located *e) {
    double value;
    for (int k = 0; k < 9; k++)
        if (!graph_is_number(s->graph, e->rotation[k], &value) || value != (k % 4 == 0)) return false;
    return true;
}

/* Records the sine of the angle between the first and third Euler axes if it depends on coordinates. A message uses the
 * sine if the orientation becomes singular. */
static bool note_sine(hamel_system *s, const system_located *e, const hamel_orientation *o, const graph_node *values) {
    graph_node sine = rotation_sine(s, o, values);
    if (sine < 0 || !(graph_depends(s->graph, sine) & GRAPH_DEPENDS(SYMBOL_COORDINATE))) return true;
    system_angles own = {e->name, binder_text(s, o->pointer, o->pointer), sine};
    return own.pointer &&
           binder_append(s, &s->angles, &s->angles_count, &s->angles_capacity, &own, sizeof own, own.pointer);
}

/* Elements in at least this number of nested frames and bodies store their velocity, from which the velocities of the
 * elements in them follow. Differentiating a position instead also differentiates nine entries of a rotation matrix for
 * each frame. The depths 0, 2 and 4 were compared in chains of 3 to 200 bodies, each in a frame of the previous body.
 * The times of the derivation and of the right-hand side agree within 8 % (engine/mechanics/README.md). With depth 4,
 * the equations derived for a double pendulum are the same as without this method. */
enum { VELOCITY_DEPTH = 4 };

/* Computes the velocity of an element from that of its parent p. `at` and `rotation` are its position and rotation
 * in the axes of p.
 *
 *   in the plane  v = v_p + ω_p × R_p at + R_p at'       inertial axes
 *   in space      u = Sᵀ (u_p + ω_p × at + at')          axes of the element; S = `rotation`
 *
 * v is the derivative of r = r_p + R_p at, and u = Rᵀ v with R = R_p S. Featherstone (Rigid Body Dynamics Algorithms,
 * 2008, 2.8) gives the same recursion for spatial velocities. */
static void carry_velocity(hamel_system *s, system_located *e, const graph_node at[3], const graph_node rotation[9]) {
    graph *g = s->graph;
    const system_located *p = &s->binder->located[e->parent];
    graph_node rate[3], turn[3], arm[3], sum[3];
    bool planar = s->dimension == 2;
    for (int k = 0; k < 3; k++) rate[k] = graph_rate(g, at[k]);
    if (planar) {
        node_matrix_apply(g, p->rotation, at, arm);
        node_vector_cross(g, p->omega, arm, turn);
        node_matrix_apply(g, p->rotation, rate, sum);
    } else {
        node_vector_cross(g, p->omega_body, at, turn);
        memcpy(sum, rate, sizeof sum);
    }
    for (int k = 0; k < 3; k++) sum[k] = graph_add(g, graph_add(g, p->velocity[k], turn[k]), sum[k]);
    if (planar)
        memcpy(e->velocity, sum, sizeof sum);
    else
        node_matrix_apply_transposed(g, rotation, sum, e->velocity);
}

/* Sets the velocity of an element, or GRAPH_NONE if its depth is below VELOCITY_DEPTH. */
static void find_velocity(hamel_system *s, system_located *e, const graph_node at[3], const graph_node rotation[9]) {
    graph *g = s->graph;
    const system_located *p = e->parent >= 0 ? &s->binder->located[e->parent] : NULL;
    e->depth = p ? p->depth + 1 : 0;
    for (int k = 0; k < 3; k++) e->velocity[k] = GRAPH_NONE;
    if (e->depth < VELOCITY_DEPTH) return;
    if (p && p->velocity[0] != GRAPH_NONE && e->axes == e->parent) {
        carry_velocity(s, e, at, rotation);
        return;
    }
    graph_node rate[3];
    for (int k = 0; k < 3; k++) e->velocity[k] = rate[k] = graph_rate(g, e->position[k]);
    if (s->dimension == 3) node_matrix_apply_transposed(g, e->rotation, rate, e->velocity);
}

/* Computes position and axes in the frame where they are given, then in inertial components. All slots must be
 * bound. */
static bool compute(hamel_system *s, system_located *e) {
    graph *g = s->graph;
    const system_binder *b = s->binder;
    graph_node zero = graph_number(g, 0), at[3] = {zero, zero, zero}, rotation[9], omega[3], omega_body[3], turned[3];
    static const hamel_orientation parallel = {.kind = HAMEL_PARALLEL};
    const hamel_orientation *o = e->orientation ? e->orientation : &parallel;
    if (e->position_slot >= 0)
        for (int k = 0; k < b->slots[e->position_slot].count && k < 3; k++) at[k] = b->slots[e->position_slot].nodes[k];
    graph_node values[SLOT_NODES];
    if (e->orientation_slot >= 0)
        memcpy(values, b->slots[e->orientation_slot].nodes, sizeof values);
    else
        o = &parallel;
    if (s->dimension == 2 && o->kind != HAMEL_PARALLEL && o->kind != HAMEL_ANGLE)
        return system_fail(s, o->pointer, "`%s` is in the plane, so its orientation must be an `angle`", e->name);
    if (o != &parallel && !validity_orientation(s, e, values)) return false;
    if (o->kind == HAMEL_ANGLE || o->kind == HAMEL_EULER) note_angles(s, e, values);
    if (!rotation_of(s, o, values, rotation, omega, omega_body) || !note_sine(s, e, o, values)) return false;
    for (int k = 0; k < 9; k++) system_note_continuous(s, rotation[k], o->pointer, "an orientation");
    memcpy(e->position, at, sizeof at);
    memcpy(e->rotation, rotation, sizeof rotation);
    memcpy(e->omega, omega, sizeof omega);
    memcpy(e->omega_body, omega_body, sizeof omega_body);
    if (e->parent >= 0) {
        const system_located *p = &b->located[e->parent];
        bool frame = strcmp(e->kind, "frame") == 0; /* for a frame, the position is the origin of its axes */
        if (frame && e->axes < 0 && !is_parallel(s, p)) return refuse_axes(s, e->name, e->given);
        node_matrix_apply(g, p->rotation, at, turned);
        for (int k = 0; k < 3; k++) e->position[k] = graph_add(g, p->position[k], turned[k]);
    }
    if (e->axes >= 0) {
        const system_located *a = &b->located[e->axes];
        node_matrix_times(g, a->rotation, rotation, e->rotation);
        node_matrix_apply(g, a->rotation, omega, turned);
        for (int k = 0; k < 3; k++) e->omega[k] = graph_add(g, a->omega[k], turned[k]);
        node_matrix_apply_transposed(g, rotation, a->omega_body, turned);
        for (int k = 0; k < 3; k++) e->omega_body[k] = graph_add(g, omega_body[k], turned[k]);
    }
    find_velocity(s, e, at, rotation);
    e->ready = true;
    return graph_status(g) == HAMEL_OK || binder_graph_fault(s, e->pointer);
}

static bool faulty(const system_binder *b, const system_located *e) {
    return e->failed || (e->position_slot >= 0 && b->slots[e->position_slot].state == SLOT_FAULTY) ||
           (e->orientation_slot >= 0 && b->slots[e->orientation_slot].state == SLOT_FAULTY);
}

/* A depth-first search through elements and their frames, with a stack of the elements to visit. */
typedef struct located_search {
    hamel_system *s;
    int32_t *stack;
    size_t depth, capacity, number;
    bool complete; /* true if all slots visited so far are bound */
} located_search;

static bool push_element(located_search *w, int32_t element) {
    assert(element < (int32_t)w->s->binder->located_count); /* −1: inertial */
    const system_located *all = w->s->binder->located;
    if (element < 0 || all[element].ready) return true;
    const system_located *e = &all[element];
    if (e->walk == w->number)
        return !e->open /* already visited, but waiting for slots */ ||
               system_fail(w->s, e->pointer, "circular frames: `%s` is given in its own frame", e->name);
    return binder_append(w->s, &w->stack, &w->depth, &w->capacity, &element, sizeof element, e->pointer);
}

/* Visits the frame of an element first; computes the element at its second visit. Returns false after adding an
 * error. */
static bool visit_element(located_search *w, int32_t element) {
    hamel_system *s = w->s;
    system_located *e = &s->binder->located[element];
    if (e->walk == w->number) {
        w->depth--;
        if (!e->open) return true;
        e->open = false;
        assert(!e->ready);
        if (!w->complete || compute(s, e)) return true;
        e->failed = true;
        return false;
    }
    e->walk = w->number;
    e->open = true;
    if (e->position_slot >= 0 && !binder_need_slot(s, e->position_slot)) w->complete = false;
    if (e->orientation_slot >= 0 && !binder_need_slot(s, e->orientation_slot)) w->complete = false;
    if (faulty(s->binder, e)) w->complete = false; /* the error is reported at the slot */
    return push_element(w, e->parent) && (e->axes == e->parent || push_element(w, e->axes));
}

bool located_need(hamel_system *s, int32_t element, bool *complete) {
    assert(0 <= element && (size_t)element < s->binder->located_count);
    located_search w = {.s = s, .number = ++s->binder->walk_count, .complete = true};
    bool good = push_element(&w, element);
    while (good && w.depth > 0) good = visit_element(&w, w.stack[w.depth - 1]);
    *complete = w.complete;
    return good;
}

void located_resolve(hamel_system *s) {
    system_binder *b = s->binder;
    bool complete;
    for (size_t i = 0; i < b->located_count && s->error->status == HAMEL_OK; i++)
        if (!located_need(s, (int32_t)i, &complete)) return;
}

/* Adds an unnamed element for a position; returns its index, or −1 after adding an error. */
static int32_t add_position(hamel_system *s, const hamel_end *end, const loop_scope *scope) {
    if (end->position.at.count == 0) return -1; /* the reader has reported the error */
    int32_t index =
        add_located(s, &(located_source){NULL, end->pointer, "position", .position = &end->position}, "", scope);
    if (index < 0 || !find_parents(s, &s->binder->located[index])) return -1;
    return binder_resolve_slot(s, s->binder->located[index].position_slot) ? index : -1;
}

int32_t located_end(hamel_system *s, const hamel_end *end, const loop_scope *scope) {
    bool complete;
    const char *name = end->name ? family_name(s, end->name, end->pointer, scope) : NULL;
    int32_t index = !end->name ? add_position(s, end, scope) : name ? binder_find(&s->binder->elements, name) : -1;
    if (index >= 0) return located_need(s, index, &complete) && complete ? index : -1;
    if (!name) return -1;
    system_fail(s, end->pointer, "unknown particle, body, point or frame `%s`", name);
    return binder_suggest_nearest(s, &s->binder->elements, name), -1;
}

void located_carried(hamel_system *s, const system_located *e, const graph_node p[3], graph_node out[3]) {
    graph *g = s->graph;
    assert(e->ready);
    graph_node arm[3], turn[3];
    for (int k = 0; k < 3; k++) arm[k] = graph_sub(g, p[k], e->position[k]);
    node_vector_cross(g, e->omega, arm, turn);
    for (int k = 0; k < 3; k++)
        out[k] = graph_add(g, system_rate(s, e->position[k], e->pointer, "a position"), turn[k]);
}

system_interaction binder_interaction(hamel_system *s, interaction_kind kind, const system_located *first,
                                      const system_located *second) {
    const system_located *all = s->binder->located;
    const system_located *const ends[2] = {first, second};
    system_interaction own = {.kind = (uint8_t)kind, .axis = -1, .origin = s->origin, .constraint = -1};
    own.strength = own.length = GRAPH_NONE;
    for (int k = 0; k < 3; k++) own.first[k] = own.second[k] = GRAPH_NONE;
    for (int k = 0; k < 2; k++) own.ends[k] = ends[k] ? (int32_t)(ends[k] - all) : -1;
    return own;
}

void binder_add_interaction(hamel_system *s, const system_interaction *interaction) {
    binder_append(s, &s->interactions, &s->interaction_count, &s->interaction_capacity, interaction,
                  sizeof *interaction, "");
}
