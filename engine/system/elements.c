/* elements.c — translates elements. Particles and bodies become kinetic energies, and gravity becomes a potential or a
 * force. Springs become potentials or forces. Dampers and loads become generalized forces.
 *
 *   T    ½ m v·v + ½ ω·Iω, ω and I in body axes   (Greenwood 3.91; Papastavridis A26)
 *   Q_i  F·∂r/∂q_i + M·∂ω/∂q'_i                   (Greenwood 4.13; Papastavridis A70) */
#include "engine/system/elements.h"
#include "engine/system/units.h"

#include <assert.h>
#include <string.h>

static graph_node half_square(graph *g, graph_node factor, graph_node x) {
    return graph_mul(g, graph_number(g, 0.5), graph_mul(g, factor, graph_binary(g, GRAPH_POW, x, graph_number(g, 2))));
}

/* For each symbol of the kind `kind` in x, adds force · ∂x/∂symbol to the generalized force of the symbol's
 * coordinate. */
static void add_along(hamel_system *s, graph_node force, graph_node x, graph_symbol_kind kind, const char *pointer) {
    assert(kind == SYMBOL_COORDINATE || kind == SYMBOL_VELOCITY);
    graph *g = s->graph;
    const int32_t *support;
    if (graph_is_zero(g, force)) return;
    if (s->units) units_note(s, graph_mul(g, force, x), pointer, kind == SYMBOL_COORDINATE ? UNIT_WORK : UNIT_POWER, 0);
    size_t n = graph_support(g, x, kind, &support);
    int32_t *list =
        n ? binder_alloc(s, n, sizeof *list, pointer) : NULL; /* copied: adding nodes invalidates the list */
    if (!list) return;
    binder_note_work(s, force, x, kind);
    memcpy(list, support, n * sizeof *list);
    for (size_t i = 0; i < n; i++)
        binder_add_force(s, list[i], graph_mul(g, force, graph_partial(g, x, graph_symbol(g, kind, list[i]))));
}

/* Adds F ∂r/∂q_i for one component of r. */
static void add_force_along(hamel_system *s, graph_node force, graph_node r, const char *pointer) {
    add_along(s, force, r, SYMBOL_COORDINATE, pointer);
}

typedef struct gravity_field {
    graph_node g[3];
    bool constant;
} gravity_field;

static bool bind_gravity(hamel_system *s, gravity_field *field) {
    const hamel_expressions *given = &s->description->gravity;
    if (given->count && !s->description->particle_count && !s->description->body_count) {
        system_fail(s, given->pointer, "gravity acts on particles and bodies, but the system has neither");
        hamel_suggest(s->error, "declare particles or bodies, or write the weight into `potential_energy`, as m*g*y");
    }
    field->constant = true;
    for (size_t k = 0; k < 3; k++) field->g[k] = graph_number(s->graph, 0);
    if (given->count && s->dimension && (int)given->count != s->dimension)
        system_fail(s, given->pointer, "gravity has %zu components, but positions have %d", given->count, s->dimension);
    for (size_t k = 0; k < given->count && k < 3; k++) {
        field->g[k] = system_bind(s, &given->items[k], PLACE_POSITION, NULL, SYNTAX_EXPRESSION, NULL);
        if (field->g[k] < 0) return false;
        if (!binder_is_constant(s, field->g[k])) field->constant = false;
    }
    return true;
}

/* Adds the kinetic energy m v·v/2 and the weight, one component after the other. If m and g are constant, the weight is
 * a potential −m g·r, otherwise a force. */
static void lower_mass(hamel_system *s, const gravity_field *field, graph_node mass, const system_located *e,
                       const char *pointer) {
    graph *g = s->graph;
    const graph_node *position = e->position;
    bool carried = e->velocity[0] != GRAPH_NONE; /* position and velocity may have different axes */
    system_particle own = {pointer, mass, {position[0], position[1], position[2]}, (int32_t)(e - s->binder->located)};
    if (!binder_append(s, &s->particles, &s->particle_count, &s->particle_capacity, &own, sizeof own, pointer)) return;
    system_interaction weight_of = binder_interaction(s, INTERACTION_GRAVITY, e, NULL);
    weight_of.strength = mass;
    memcpy(weight_of.first, field->g, sizeof weight_of.first);
    if (s->description->gravity.count) binder_add_interaction(s, &weight_of);
    bool potential = field->constant && binder_is_constant(s, mass);
    for (int k = 0; k < 3; k++) {
        static const char what[] = "the position of a mass";
        if (carried) system_note_continuous(s, position[k], pointer, what);
        graph_node velocity = carried ? e->velocity[k] : system_rate(s, position[k], pointer, what),
                   kinetic = half_square(g, mass, velocity), weight = graph_mul(g, mass, field->g[k]);
        if (graph_status(g) != HAMEL_OK) {
            binder_graph_fault(s, pointer);
            return;
        }
        if (!graph_is_zero(g, kinetic)) binder_add_energy(s, kinetic, true, pointer);
        if (graph_is_zero(g, weight)) continue;
        if (potential)
            binder_add_energy(s, graph_neg(g, graph_mul(g, weight, position[k])), false,
                              s->description->gravity.pointer);
        else
            add_force_along(s, weight, position[k], s->description->gravity.pointer);
    }
}

/* Binds the inertia to a 3 × 3 matrix in body axes. Adds an error and returns false on failure. */
static bool bind_inertia(hamel_system *s, const hamel_body *b, const loop_scope *scope, graph_node out[9]) {
    graph_node zero = graph_number(s->graph, 0);
    for (int k = 0; k < 9; k++) out[k] = zero;
    size_t count = b->inertia.count;
    if (count == 3 && s->dimension == 2)
        return system_fail(s, b->inertia.pointer, "a planar body has one moment of inertia, found 3");
    if (count == 1 && s->dimension == 3)
        return system_fail(s, b->inertia.pointer,
                           "a spatial body has three principal moments of inertia or a 3×3 list, found 1");
    for (size_t k = 0; k < count; k++) {
        graph_node node = system_bind(s, &b->inertia.items[k], PLACE_POSITION, scope, SYNTAX_EXPRESSION, NULL);
        if (node < 0) return false;
        out[count == 9 ? k : count == 3 ? 4 * k : 8] = node;
    }
    return true;
}

static void lower_rotation(hamel_system *s, system_located *e, const graph_node inertia[9], const char *pointer) {
    assert(e->ready && e->turns);
    graph *g = s->graph;
    system_rotor own;
    memcpy(own.inertia, inertia, sizeof own.inertia);
    memcpy(own.omega, e->omega_body, sizeof own.omega);
    own.element = (int32_t)(e - s->binder->located);
    system_rotor *rotor = binder_append(s, &s->rotors, &s->rotor_count, &s->rotor_capacity, &own, sizeof own, pointer);
    if (!rotor) return;
    for (size_t i = 0; i < 3; i++) {
        graph_node diagonal = half_square(g, inertia[4 * i], e->omega_body[i]);
        if (!graph_is_zero(g, diagonal)) binder_add_energy(s, diagonal, true, pointer);
        for (size_t j = i + 1; j < 3; j++) { /* the two entries may differ by rounding, so the mean is used */
            graph_node product =
                graph_mul(g, graph_number(g, 0.5), graph_add(g, inertia[3 * i + j], inertia[3 * j + i]));
            graph_node mixed = graph_mul(g, product, graph_mul(g, e->omega_body[i], e->omega_body[j]));
            if (!graph_is_zero(g, mixed)) binder_add_energy(s, mixed, true, pointer);
            rotor->inertia[3 * i + j] = rotor->inertia[3 * j + i] = product;
        }
    }
    memcpy(e->inertia, rotor->inertia, sizeof e->inertia);
}

/* Returns the element with this name, expanded in scope, or NULL if the declaration of the element failed. */
static system_located *element_of(hamel_system *s, const char *name, const char *pointer, const loop_scope *scope) {
    const char *expanded = name ? family_name(s, name, pointer, scope) : NULL;
    int32_t found = expanded ? binder_find(&s->binder->elements, expanded) : -1;
    return found >= 0 && s->binder->located[found].ready ? &s->binder->located[found] : NULL;
}

/* Warns if a body has an orientation but no inertia, or an inertia but no orientation. */
static void warn_of_inertia(hamel_system *s, const hamel_body *b, const system_located *e) {
    bool turns = !node_vector_is_zero(s->graph, e->omega);
    if (turns && b->inertia.count == 0 && s->kinetic_given == 0) /* the user's T may contain the rotation */
        system_warn(s, b->pointer, "`%s` rotates but has no inertia: it moves like a particle", e->name);
    if (!turns && b->inertia.count && b->orientation.kind == HAMEL_PARALLEL)
        system_warn(s, b->inertia.pointer,
                    "the inertia of `%s` has no effect: without an orientation the body does not rotate", e->name);
}

static void lower_masses(hamel_system *s) {
    const hamel_description *d = s->description;
    gravity_field field;
    family_iterator f;
    if (!bind_gravity(s, &field)) return;
    for (size_t i = 0; i < d->particle_count; i++)
        for (family_begin(&f, s, &d->particles[i].family); family_next(&f);) {
            const hamel_particle *p = &d->particles[i];
            graph_node mass = system_bind(s, &p->mass, PLACE_POSITION, &f.scope, SYNTAX_EXPRESSION, NULL);
            system_located *e = element_of(s, p->name, p->pointer, &f.scope);
            if (!e || mass < 0) continue;
            e->mass = mass;
            validity_mass(s, &p->mass, mass, e->name);
            lower_mass(s, &field, mass, e, p->pointer);
        }
    for (size_t i = 0; i < d->body_count; i++)
        for (family_begin(&f, s, &d->bodies[i].family); family_next(&f);) {
            const hamel_body *b = &d->bodies[i];
            graph_node mass = system_bind(s, &b->mass, PLACE_POSITION, &f.scope, SYNTAX_EXPRESSION, NULL), inertia[9];
            bool inert = bind_inertia(s, b, &f.scope, inertia);
            system_located *e = element_of(s, b->name, b->pointer, &f.scope);
            if (!e || mass < 0 || !inert) continue;
            e->mass = mass;
            e->has_inertia = b->inertia.count > 0;
            validity_mass(s, &b->mass, mass, e->name);
            validity_inertia(s, &b->inertia, inertia, e->name);
            warn_of_inertia(s, b, e);
            lower_mass(s, &field, mass, e, b->pointer);
            lower_rotation(s, e, inertia, b->pointer);
        }
}

/* Sets the origin to "spring s1", or to "spring 2" if the spring is unnamed. */
static void name_origin(hamel_system *s, const char *kind, const char *name, size_t index, const loop_scope *scope) {
    if (name) name = family_member(s, name, "", scope);
    s->origin =
        name ? arena_format(s->memory, "%s %s", kind, name) : arena_format(s->memory, "%s %zu", kind, index + 1);
}

/* Binds the ends of a spring or damper. Sets difference[3] to the vector from the second end to the first, and the ends
 * of `own`. Returns false after adding an error. */
static bool bind_ends(hamel_system *s, const hamel_link *l, const loop_scope *scope, graph_node difference[3],
                      system_interaction *own) {
    graph *g = s->graph;
    if (l->end_count != 2) return false;
    int32_t a = located_end(s, &l->between[0], scope), b = located_end(s, &l->between[1], scope);
    if (a < 0 || b < 0) return false;
    const system_located *all = s->binder->located;
    for (int k = 0; k < 3; k++) difference[k] = graph_sub(g, all[a].position[k], all[b].position[k]);
    *own = binder_interaction(s, INTERACTION_SPRING, &all[a], &all[b]);
    return true;
}

/* Returns a text such as "the stiffness of spring s1". */
static const char *described(hamel_system *s, const char *what) {
    const char *text = arena_format(s->memory, "%s %s", what, s->origin ? s->origin : "");
    return text ? text : what;
}

static bool depends_on_any(const hamel_system *s, const graph_node x[3], graph_symbol_kind kind) {
    const graph *g = s->graph;
    return (graph_depends(g, x[0]) | graph_depends(g, x[1]) | graph_depends(g, x[2])) & GRAPH_DEPENDS(kind);
}

static void warn_of_rest(hamel_system *s, const hamel_link *l, const graph_node difference[3]) {
    if (!depends_on_any(s, difference, SYMBOL_COORDINATE))
        system_warn(s, l->pointer, "%s has no effect: no coordinate moves its ends relative to each other", s->origin);
}

/* Adds V = k (|A−B| − l)²/2. For l = 0, V is written k |A−B|²/2, which is smooth where the ends meet. If k or l depends
 * on the state, adds the force −k (|A−B| − l) along the line through the ends instead of a potential. */
static void lower_spring(hamel_system *s, const hamel_link *l, const loop_scope *scope) {
    graph *g = s->graph;
    graph_node difference[3];
    system_interaction own;
    graph_node k = binder_force(s, &l->strength, scope);
    graph_node length = hamel_expression_given(&l->length)
                            ? system_bind(s, &l->length, PLACE_POSITION, scope, SYNTAX_EXPRESSION, NULL)
                            : graph_number(g, 0);
    if (k < 0 || length < 0 || !bind_ends(s, l, scope, difference, &own)) return;
    own.strength = k;
    own.length = length;
    binder_add_interaction(s, &own);
    system_warn_negative(s, &l->strength, k, described(s, "the stiffness of"),
                         "a stretched spring pushes its ends apart");
    system_warn_negative(s, &l->length, length, described(s, "the length of"), "a distance is never negative");
    warn_of_rest(s, l, difference);
    bool natural = graph_is_zero(g, length);
    graph_node square = node_vector_dot(g, difference, difference);
    graph_node distance = natural ? GRAPH_NONE : graph_unary(g, GRAPH_SQRT, square);
    unsigned moving =
        GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER);
    if (!(graph_depends(g, k) & moving) && !(graph_depends(g, length) & moving)) {
        graph_node v = natural ? graph_mul(g, graph_number(g, 0.5), graph_mul(g, k, square))
                               : half_square(g, k, graph_sub(g, distance, length));
        binder_add_energy(s, v, false, l->pointer);
    } else if (natural) {
        for (int i = 0; i < 3; i++)
            add_force_along(s, graph_neg(g, graph_mul(g, k, difference[i])), difference[i], l->pointer);
    } else {
        add_force_along(s, graph_neg(g, graph_mul(g, k, graph_sub(g, distance, length))), distance, l->pointer);
    }
}

/* Adds the force −c d|A−B|/dt along the line through the ends; c may contain all symbols that a force may contain. */
static void lower_damper(hamel_system *s, const hamel_link *l, const loop_scope *scope) {
    graph *g = s->graph;
    graph_node difference[3];
    system_interaction own;
    graph_node c = binder_force(s, &l->strength, scope);
    if (c < 0 || !bind_ends(s, l, scope, difference, &own)) return;
    own.kind = INTERACTION_DAMPER;
    own.strength = c;
    binder_add_interaction(s, &own);
    system_warn_negative(s, &l->strength, c, described(s, "the coefficient of"), "the damper adds energy");
    warn_of_rest(s, l, difference);
    graph_node distance = graph_unary(g, GRAPH_SQRT, node_vector_dot(g, difference, difference));
    add_force_along(s, graph_neg(g, graph_mul(g, c, system_rate(s, distance, l->pointer, "the length of a damper"))),
                    distance, l->pointer);
}

static void bind_vector(hamel_system *s, const hamel_expressions *e, const loop_scope *scope, graph_node out[3]) {
    for (size_t k = 0; k < 3; k++) out[k] = graph_number(s->graph, 0);
    for (size_t k = 0; k < e->count; k++) {
        graph_node node = binder_force(s, &e->items[k], scope);
        if (node >= 0) out[e->count == 1 ? 2 : k] = node; /* a single expression is the third component */
    }
}

static void lower_load(hamel_system *s, const hamel_load *l, const loop_scope *scope) {
    graph_node force[3], torque[3];
    if (!l->on) return;
    hamel_end on = {l->on_pointer, l->on, {0}};
    int32_t index = located_end(s, &on, scope);
    bind_vector(s, &l->force, scope, force);
    bind_vector(s, &l->torque, scope, torque);
    if (index < 0) return;
    const system_located *e = &s->binder->located[index];
    if (l->torque.count && strcmp(e->kind, "body") != 0) {
        system_fail(s, l->torque.pointer, "a torque acts on a body, but `%s` is a %s", e->name, e->kind);
        return;
    }
    if (l->torque.count && (l->torque.count == 1) != (s->dimension == 2)) {
        system_fail(s, l->torque.pointer,
                    s->dimension == 2 ? "a torque in the plane is one expression, found %zu"
                                      : "a torque in space has 3 components, found %zu",
                    l->torque.count);
        return;
    }
    if (l->force.count && s->dimension && (int)l->force.count != s->dimension)
        system_fail(s, l->force.pointer, "the force has %zu components, but positions have %d", l->force.count,
                    s->dimension);
    if (l->force.count && !depends_on_any(s, e->position, SYMBOL_COORDINATE))
        system_warn(s, l->force.pointer, "the force has no effect: no coordinate moves `%s`", e->name);
    if (l->torque.count && !depends_on_any(s, e->omega, SYMBOL_VELOCITY))
        system_warn(s, l->torque.pointer, "the torque has no effect: no coordinate rotates `%s`", e->name);
    system_interaction own = binder_interaction(s, INTERACTION_LOAD, e, NULL);
    memcpy(own.first, force, sizeof own.first);
    memcpy(own.second, torque, sizeof own.second);
    binder_add_interaction(s, &own);
    for (int k = 0; k < 3; k++) {
        add_force_along(s, force[k], e->position[k], l->force.pointer);
        add_along(s, torque[k], e->omega[k], SYMBOL_VELOCITY, l->torque.pointer); /* M ∂ω/∂q'_i */
    }
}

/* Translates all springs or all dampers. Springs and dampers share a name space, and their names are optional. */
static void lower_links(hamel_system *s, const hamel_link *links, size_t count, const char *kind,
                        void (*lower)(hamel_system *, const hamel_link *, const loop_scope *)) {
    family_iterator f;
    for (size_t i = 0; i < count; i++)
        for (family_begin(&f, s, &links[i].family); family_next(&f);) {
            const hamel_link *l = &links[i];
            const char *name = l->name ? family_member(s, l->name, l->pointer, &f.scope) : NULL;
            if (l->name && !name) break;
            if (name && !binder_declare_element(s, &s->binder->links, name, 0, l->pointer, "springs or dampers")) break;
            name_origin(s, kind, l->name, i, &f.scope);
            lower(s, l, &f.scope);
        }
}

void elements_lower(hamel_system *s) {
    const hamel_description *d = s->description;
    family_iterator f;
    s->origin = "gravity";
    lower_masses(s);
    lower_links(s, d->springs, d->spring_count, "spring", lower_spring);
    lower_links(s, d->dampers, d->damper_count, "damper", lower_damper);
    for (size_t i = 0; i < d->load_count; i++)
        for (family_begin(&f, s, &d->loads[i].family); family_next(&f);) {
            name_origin(s, "load on", d->loads[i].on, i, &f.scope);
            lower_load(s, &d->loads[i], &f.scope);
        }
}
