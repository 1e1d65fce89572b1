/* joints.c — translates joints to named constraints NAME.1, NAME.2, ..., and adds the norm constraints of quaternions.
 *
 * r is the position of an end. R is its rotation matrix (body axes to inertial) with the columns R1, R2, R3. ω is its
 * angular velocity in inertial axes. A point of a body and a position in a frame rotate with that body or frame.
 *
 *   coincident  r_A − r_B = 0, in inertial components
 *   distance    |r_A − r_B| − length = 0. The multiplier is the compression force in the rod, negative in tension.
 *   revolute    coincident; in space also (R_A s)·(R_B axis) = 0 for two directions s perpendicular to the axis
 *   prismatic   (R_A s)·(r_A − r_B) = 0 for each direction s perpendicular to the axis; no relative rotation
 *   fixed       coincident; no relative rotation
 *   rolling     v_W + ω_W × (p − r_W) − v_S − ω_S × (p − r_S) = 0, in inertial components,
 *               at p = r_W − radius R_S normal/|normal|. W rolls on the surface of S. `normal` points away from S.
 *   knife_edge  (R_A (e3 × direction))·(v_A − v_B − ω_B × (r_A − r_B)) = 0. Without B, v_B and ω_B are 0.
 *
 * README.md defines "no relative rotation", the axes to which `axis`, `direction` and `normal` refer, and the end W. */
#include "engine/system/elements.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct joint_work {
    hamel_system *s;
    const hamel_joint *j;
    const loop_scope *scope;
    const char *name;
    const system_located *a, *b; /* the ends; b is NULL for a knife edge on a surface at rest */
    int next;                    /* the next equation is NAME.next */
    bool lengths;                /* true if the equations compare positions, false if they compare directions */
    const graph_node *direction; /* vector whose squared length is a factor of the equations, or NULL */
} joint_work;

/* An equation without coordinates counts as satisfied if its error is at most this fraction of its terms. The value is
 * about 1000 rounding units (2.2e-16), because each term is the result of many rounded operations. */
static const double HOLDS = 2e-13;

static const char KEEPS_TOGETHER[] = "use a `coincident` joint to keep two positions together";

/* Computes Σ |x_k| with all coordinates set to 0. Components that depend on time count as 0. */
static double length_scale(hamel_system *s, const graph_node x[3], const graph_node *zeros) {
    double sum = 0, value;
    for (int k = 0; k < 3; k++) {
        graph_node at_zero = graph_substitute(s->graph, x[k], SYMBOL_COORDINATE, zeros, s->coordinate_count);
        if (at_zero >= 0 && binder_number(s, at_zero, &value)) sum += fabs(value);
    }
    return sum;
}

/* Estimates the size of an equation's terms from the positions and directions in the equation. The value of the
 * equation does not measure rounding errors, because its terms may cancel. */
static double size_of_terms(const joint_work *w) {
    hamel_system *s = w->s;
    graph_node *zeros = arena_alloc(s->memory, s->coordinate_count, sizeof *zeros);
    if (!zeros) return 0;
    for (size_t i = 0; i < s->coordinate_count; i++) zeros[i] = graph_number(s->graph, 0);
    double size = 1;
    if (w->lengths) size = length_scale(s, w->a->position, zeros) + (w->b ? length_scale(s, w->b->position, zeros) : 0);
    if (w->direction) size *= pow(length_scale(s, w->direction, zeros), 2);
    return size;
}

/* Replaces an equation without coordinates by 0 if it holds up to rounding. */
static graph_node without_rounding(const joint_work *w, graph_node f) {
    const unsigned moving = GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY);
    double value;
    if (f < 0 || (graph_depends(w->s->graph, f) & moving) || !binder_number(w->s, f, &value)) return f;
    if (!(fabs(value) <= HOLDS * size_of_terms(w))) return f;
    binder_note_judged(w->s, f);
    return graph_number(w->s->graph, 0);
}

/* Sets the next equation f = 0 of the joint, and records `own`, the force or couple that the multiplier of the equation
 * multiplies. */
static void equation(joint_work *w, graph_node f, system_interaction own) {
    char name[400];
    snprintf(name, sizeof name, "%s.%d", w->name, w->next++);
    int32_t index = system_constraint_index(w->s, name);
    if (index < 0) return;
    own.constraint = index;
    own.origin = NULL;
    binder_add_interaction(w->s, &own);
    binder_set_equation(w->s, (size_t)index, without_rounding(w, f));
}

/* Returns the interaction "force on the first end along an inertial axis, 0 to 2", which acts at the origin of each
 * end. */
static system_interaction force_along_axis(const joint_work *w, int axis) {
    system_interaction own = binder_interaction(w->s, INTERACTION_FORCE, w->a, w->b);
    own.axis = (int8_t)axis;
    return own;
}

/* Returns the interaction "force on the first end along `direction`" (inertial components), which acts at `point`. */
static system_interaction force_along(const joint_work *w, const graph_node direction[3], interaction_point point) {
    system_interaction own = binder_interaction(w->s, INTERACTION_FORCE, w->a, w->b);
    memcpy(own.first, direction, sizeof own.first);
    own.point = (uint8_t)point;
    return own;
}

/* Returns the interaction of the equation a·b = const, the couple a × b on the first end. a is fixed in the first end,
 * and b is fixed in the second end. */
static system_interaction couple_of(const joint_work *w, const graph_node a[3], const graph_node b[3]) {
    system_interaction own = binder_interaction(w->s, INTERACTION_COUPLE, w->a, w->b);
    memcpy(own.first, a, sizeof own.first);
    memcpy(own.second, b, sizeof own.second);
    return own;
}

static void difference(const joint_work *w, graph_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = graph_sub(w->s->graph, w->a->position[k], w->b->position[k]);
}

static void coincident(joint_work *w) {
    w->lengths = true;
    for (int k = 0; k < w->s->dimension; k++)
        equation(w, graph_sub(w->s->graph, w->a->position[k], w->b->position[k]), force_along_axis(w, k));
}

/* Checks that the length is positive: |r| has no derivative at r = 0. */
static bool has_length(const joint_work *w, graph_node length) {
    double value;
    if (length < 0 || !binder_number(w->s, length, &value) || value > 0) return length >= 0;
    system_fail(w->s, w->j->length.pointer, "the length of a `distance` joint must be greater than 0, found %.9g",
                value);
    if (value == 0) hamel_suggest(w->s->error, "%s", KEEPS_TOGETHER);
    return false;
}

static void distance(joint_work *w) {
    graph *g = w->s->graph;
    graph_node between[3];
    w->lengths = true;
    difference(w, between);
    if (!hamel_expression_given(&w->j->length)) system_fail(w->s, w->j->pointer, "a `distance` joint needs `length`");
    graph_node length = system_bind(w->s, &w->j->length, PLACE_POSITION, w->scope, SYNTAX_EXPRESSION, NULL);
    if (has_length(w, length))
        equation(w, graph_sub(g, graph_unary(g, GRAPH_SQRT, node_vector_dot(g, between, between)), length),
                 binder_interaction(w->s, INTERACTION_ROD, w->a, w->b));
}

/* Copies column k of the rotation matrix: body axis k in inertial components. */
static void axis_of(const system_located *e, int k, graph_node out[3]) {
    for (int i = 0; i < 3; i++) out[i] = e->rotation[3 * i + k];
}

static bool zero_axis(const joint_work *w) {
    return system_fail(w->s, w->j->direction.pointer, "`%s` needs a vector that is not zero", w->j->name);
}

/* Computes two directions perpendicular to c: c × e and c × (c × e), where e is the coordinate axis with the smallest
 * |c_k|. */
static bool square_directions(const joint_work *w, const graph_node c[3], graph_node first[3], graph_node second[3]) {
    const hamel_expressions *axis = &w->j->direction;
    double value[3] = {0};
    int least = 0;
    for (size_t k = 0; k < 3; k++) {
        if (k < axis->count && !system_number(w->s, &axis->items[k], w->scope, &value[k])) return false;
        if (value[k] * value[k] < value[least] * value[least]) least = (int)k;
    }
    if (value[0] == 0 && value[1] == 0 && value[2] == 0) return zero_axis(w);
    graph_node e[3];
    for (int k = 0; k < 3; k++) e[k] = graph_number(w->s->graph, k == least);
    node_vector_cross(w->s->graph, c, e, first);
    node_vector_cross(w->s->graph, c, first, second);
    return true;
}

/* Binds the components of `axis`, `normal` or `direction`. */
static bool bind_direction(const joint_work *w, graph_node out[3]) {
    hamel_system *s = w->s;
    const hamel_expressions *given = &w->j->direction;
    const char *type = w->j->type;
    for (size_t k = 0; k < 3; k++) out[k] = graph_number(s->graph, 0);
    for (size_t k = 0; k < given->count && k < 3; k++) {
        out[k] = system_bind(s, &given->items[k], PLACE_POSITION, w->scope, SYNTAX_EXPRESSION, NULL);
        if (out[k] < 0) return false;
    }
    if (given->count && (int)given->count == s->dimension) return !node_vector_is_zero(s->graph, out) || zero_axis(w);
    const char *key = strcmp(type, "rolling") == 0 ? "normal" : strcmp(type, "knife_edge") == 0 ? "direction" : "axis";
    return system_fail(s, given->count ? given->pointer : w->j->pointer, "a `%s` joint needs `%s` with %d components",
                       type, key, s->dimension);
}

static void no_rotation(joint_work *w) {
    graph *g = w->s->graph;
    graph_node a[3], b[3];
    w->lengths = false;
    w->direction = NULL;
    if (w->s->dimension == 2) { /* sine of the angle between the first axes of the two ends */
        axis_of(w->a, 1, a);
        axis_of(w->b, 0, b);
        equation(w, node_vector_dot(g, a, b), couple_of(w, a, b));
        return;
    }
    for (int k = 0; k < 3; k++) {
        axis_of(w->a, (k + 1) % 3, a);
        axis_of(w->b, (k + 2) % 3, b);
        equation(w, node_vector_dot(g, a, b), couple_of(w, a, b));
    }
}

/* Adds an error if an end is a particle, which has no axes. If the particle were given inertial axes, the other end
 * could not rotate. */
static bool have_axes(const joint_work *w, const char *instead) {
    for (int k = 0; k < 2; k++) {
        const system_located *e = k ? w->b : w->a;
        if (strcmp(e->kind, "particle") != 0) continue;
        system_fail(w->s, w->j->between[k].pointer, "`%s` is a particle, and a `%s` joint needs two ends with axes",
                    e->name, w->j->type);
        return hamel_suggest(w->s->error, "%s", instead), false;
    }
    return true;
}

/* Checks that the axis of a planar revolute joint is omitted or is the third axis. */
static bool is_third_axis(const joint_work *w) {
    const hamel_expressions *axis = &w->j->direction;
    bool third = axis->count == 0 || axis->count == 3;
    for (size_t k = 0; k < 2 && axis->count == 3; k++)
        third = third && axis->items[k].is_number && axis->items[k].number == 0;
    if (third) return true;
    system_fail(w->s, axis->pointer, "a revolute joint in the plane rotates about the third axis");
    return hamel_suggest(w->s->error, "leave out `axis`"), false;
}

static void revolute(joint_work *w) {
    graph *g = w->s->graph;
    graph_node c[3], square[2][3], outer[3], axis[3];
    coincident(w);
    if (w->s->dimension == 2) {
        (void)is_third_axis(w);
        return;
    }
    if (!have_axes(w, KEEPS_TOGETHER) || !bind_direction(w, c) || !square_directions(w, c, square[0], square[1]))
        return;
    w->lengths = false;
    w->direction = c;
    node_matrix_apply(g, w->b->rotation, c, axis);
    for (int k = 0; k < 2; k++) {
        node_matrix_apply(g, w->a->rotation, square[k], outer);
        equation(w, node_vector_dot(g, outer, axis), couple_of(w, outer, axis));
    }
}

static void prismatic(joint_work *w) {
    graph *g = w->s->graph;
    graph_node c[3], outer[3], between[3];
    if (!have_axes(w, "give a particle that slides on a body the position {\"frame\": BODY, \"at\": [...]}") ||
        !bind_direction(w, c))
        return;
    w->lengths = true;
    w->direction = c;
    difference(w, between);
    graph_node square[2][3] = {{graph_neg(g, c[1]), c[0], graph_number(g, 0)}};
    if (w->s->dimension == 3 && !square_directions(w, c, square[0], square[1])) return;
    for (int k = 0; k < w->s->dimension - 1; k++) {
        node_matrix_apply(g, w->a->rotation, square[k], outer);
        equation(w, node_vector_dot(g, outer, between), force_along(w, outer, AT_SECOND_ORIGIN));
    }
    no_rotation(w);
}

static void fixed(joint_work *w) {
    if (!have_axes(w, KEEPS_TOGETHER)) return;
    coincident(w);
    no_rotation(w);
}

static int turning(const hamel_system *s, const system_located *e) {
    return !node_vector_is_zero(s->graph, e->omega) + (e->turns && strcmp(e->kind, "body") == 0);
}

/* Records the contact of a rolling joint, which contact_point(), contact_slip() and friction couples use. All vectors
 * have inertial components. `normal` need not have unit length. */
static void note_contact(const joint_work *w, const graph_node place[3], const graph_node normal[3],
                         const graph_node slip[3], const system_located *wheel, const system_located *surface) {
    hamel_system *s = w->s;
    graph *g = s->graph;
    system_binder *b = s->binder;
    const system_located *all = s->binder->located;
    system_contact own = {.name = w->name, .joint = w->j};
    own.ends[0] = (int32_t)(wheel - all);
    own.ends[1] = (int32_t)(surface - all);
    if (!scope_copy(s, w->scope, &own.loops, &own.loop_count)) return;
    graph_node length = graph_unary(g, GRAPH_SQRT, node_vector_dot(g, normal, normal));
    for (int k = 0; k < 3; k++) {
        own.point[k] = place[k];
        own.normal[k] = graph_div(g, normal[k], length);
        own.slip[k] = slip[k];
        own.spin[k] = graph_sub(g, wheel->omega[k], surface->omega[k]);
    }
    if (binder_find(&b->contacts, w->name) >= 0) return; /* an error about the second use of the name has been added */
    if (binder_append(s, &b->contact_list, &b->contact_count, &b->contact_capacity, &own, sizeof own, w->j->pointer))
        (void)binder_declare_element(s, &b->contacts, w->name, b->contact_count - 1, w->j->pointer, "joints");
}

static void rolling(joint_work *w) {
    hamel_system *s = w->s;
    graph *g = s->graph;
    const hamel_joint *j = w->j;
    graph_node n[3], outer[3], place[3], own[3], under[3], slip[3];
    const system_located *wheel = turning(s, w->a) > turning(s, w->b) ? w->a : w->b;
    const system_located *surface = wheel == w->a ? w->b : w->a;
    if (!hamel_expression_given(&j->radius)) system_fail(s, j->pointer, "a `rolling` joint needs `radius`");
    if (turning(s, wheel) == 0) {
        system_fail(s, j->pointer, "neither end of the `rolling` joint `%s` is a body that can rotate", w->name);
        return;
    }
    graph_node radius = system_bind(s, &j->radius, PLACE_POSITION, w->scope, SYNTAX_EXPRESSION, NULL);
    if (radius < 0 || !validity_radius(s, &j->radius, radius) || !bind_direction(w, n)) return;
    graph_node arm = graph_div(g, radius, graph_unary(g, GRAPH_SQRT, node_vector_dot(g, n, n)));
    node_matrix_apply(g, surface->rotation, n, outer);
    for (int k = 0; k < 3; k++) place[k] = graph_sub(g, wheel->position[k], graph_mul(g, arm, outer[k]));
    if (binder_is_constant(s, n[0]) && binder_is_constant(s, n[1]) && binder_is_constant(s, n[2]))
        validity_side(s, j->direction.pointer, w->name, outer, radius, wheel, surface);
    located_carried(s, wheel, place, own);
    located_carried(s, surface, place, under);
    w->lengths = true;
    for (int k = 0; k < 3; k++) slip[k] = graph_sub(g, own[k], under[k]);
    for (int k = 0; k < s->dimension; k++) {
        system_interaction at = binder_interaction(s, INTERACTION_FORCE, wheel, surface);
        at.axis = (int8_t)k;
        at.point = AT_GIVEN_POINT;
        memcpy(at.second, place, sizeof at.second);
        equation(w, slip[k], at);
    }
    note_contact(w, place, outer, slip, wheel, surface);
}

static void knife_edge(joint_work *w) {
    hamel_system *s = w->s;
    graph *g = s->graph;
    graph_node d[3], side[3], outer[3], velocity[3], under[3];
    const graph_node e[3] = {graph_number(g, 0), graph_number(g, 0), graph_number(g, 1)};
    if (!bind_direction(w, d)) return;
    w->lengths = true;
    w->direction = d;
    if (!graph_is_zero(g, d[2])) {
        system_fail(s, w->j->direction.pointer, "the direction of the knife edge `%s` must not have a third component",
                    w->name);
        hamel_suggest(s->error, "use a frame in the body whose third axis is perpendicular to the knife edge");
        return;
    }
    node_vector_cross(g, e, d, side);
    node_matrix_apply(g, w->a->rotation, side, outer);
    for (int k = 0; k < 3; k++)
        velocity[k] = system_rate(s, w->a->position[k], w->j->pointer, "the position of a knife edge");
    if (w->b) {
        located_carried(s, w->b, w->a->position, under);
        for (int k = 0; k < 3; k++) velocity[k] = graph_sub(g, velocity[k], under[k]);
    }
    equation(w, node_vector_dot(g, outer, velocity), force_along(w, outer, AT_FIRST_ORIGIN));
}

enum { JOINT_TYPES = 7 };
static const char *const type_names[JOINT_TYPES] = {"coincident", "distance", "revolute",  "prismatic",
                                                    "fixed",      "rolling",  "knife_edge"};
static const struct {
    int equations[2]; /* number of equations in the plane and in space */
    size_t ends;      /* smallest number of ends */
    void (*lower)(joint_work *w);
} types[JOINT_TYPES] = {{{2, 3}, 2, coincident}, {{1, 1}, 2, distance}, {{2, 5}, 2, revolute},  {{2, 5}, 2, prismatic},
                        {{3, 6}, 2, fixed},      {{2, 3}, 2, rolling},  {{1, 1}, 1, knife_edge}};

static int type_of(const char *name) {
    for (int k = 0; name && k < JOINT_TYPES; k++)
        if (strcmp(type_names[k], name) == 0) return k;
    return -1;
}

static bool declare_joint(hamel_system *s, const hamel_joint *j, int type, const loop_scope *scope) {
    const char *name = family_member(s, j->name, j->pointer, scope);
    size_t index;
    for (int k = 1; name && k <= types[type].equations[s->dimension == 3]; k++) {
        const char *own = arena_format(s->memory, "%s.%d", name, k);
        if (!own || !binder_add_constraint(s, own, j->pointer, &index)) return false;
    }
    return name != NULL;
}

enum { ALIAS_DEPTH = 16 };

/* Returns true if an expression is the name of a coordinate, or of a definition that is an alias of a coordinate. */
static bool is_coordinate(hamel_system *s, const hamel_expression *e, const loop_scope *scope) {
    loop_scope inner = *scope;
    for (int depth = 0; depth < ALIAS_DEPTH; depth++) { /* definitions may be circular */
        if (!e->text || !binder_looks_like_name(e->text)) return false;
        const char *name = family_name(s, e->text, e->pointer, &inner);
        int32_t entry = name ? binder_find(&s->binder->quantities, name) : -1;
        if (entry < 0 || entry % ENTRY_KINDS != ENTRY_SLOT)
            return entry >= 0 && entry % ENTRY_KINDS == ENTRY_COORDINATE;
        const bind_slot *slot = &s->binder->slots[entry / ENTRY_KINDS];
        e = &slot->value->items[0];
        scope_from(&inner, slot->loops, slot->loop_count);
    }
    return false;
}

/* Declares the norm constraint of a quaternion if a component is a coordinate. The norm of any other quaternion must be
 * 1. */
static bool declare_norm(hamel_system *s, system_located *e) {
    const hamel_orientation *o = e->orientation;
    loop_scope scope;
    size_t index;
    bool varies = false;
    if (!o || o->kind != HAMEL_QUATERNION) return true;
    scope_from(&scope, e->loops, e->loop_count);
    for (size_t k = 0; k < o->values.count; k++) varies = is_coordinate(s, &o->values.items[k], &scope) || varies;
    if (!varies) return true;
    const char *name = arena_format(s->memory, "%s.norm", e->name);
    if (!name || !binder_add_constraint(s, name, o->pointer, &index)) return false;
    e->norm = (int32_t)index;
    return true;
}

void joints_declare(hamel_system *s) {
    const hamel_description *d = s->description;
    family_iterator f;
    for (size_t i = 0; i < s->binder->located_count; i++)
        if (!declare_norm(s, &s->binder->located[i])) break;
    for (size_t i = 0; i < d->joint_count; i++) {
        const hamel_joint *j = &d->joints[i];
        int type = type_of(j->type);
        if (j->type && type < 0) {
            system_fail(s, j->type_pointer, "unknown joint type `%s`", j->type);
            const char *nearest = nearest_name(type_names, JOINT_TYPES, j->type, strlen(j->type));
            hamel_suggest(s->error,
                          "%s%s%suse one of coincident, distance, revolute, prismatic, fixed, rolling, knife_edge",
                          nearest ? "did you mean `" : "", nearest ? nearest : "", nearest ? "`? " : "");
        }
        if (!j->name || type < 0) continue;
        for (family_begin(&f, s, &j->family); family_next(&f);)
            if (!declare_joint(s, j, type, &f.scope)) break;
    }
}

static void lower_joint(hamel_system *s, const hamel_joint *j, int type, const loop_scope *scope) {
    assert(0 <= type && type < JOINT_TYPES);
    const char *name = family_name(s, j->name, j->pointer, scope);
    if (!name || j->end_count == 0) return;
    if (j->end_count < types[type].ends) {
        system_fail(s, j->pointer, "a `%s` joint needs two elements", j->type);
        return;
    }
    int32_t a = located_end(s, &j->between[0], scope), b = j->end_count > 1 ? located_end(s, &j->between[1], scope) : a;
    if (a < 0 || b < 0) return;
    const system_located *all = s->binder->located;
    joint_work w = {s, j, scope, name, &all[a], j->end_count > 1 ? &all[b] : NULL, .next = 1, .lengths = true};
    types[type].lower(&w);
}

static void lower_norm(hamel_system *s, const system_located *e) {
    graph *g = s->graph;
    if (e->norm < 0 || e->orientation_slot < 0 || s->binder->slots[e->orientation_slot].state != SLOT_BOUND) return;
    graph_node sum = graph_number(g, -1), two = graph_number(g, 2);
    for (int k = 0; k < 4; k++)
        sum = graph_add(g, sum, graph_binary(g, GRAPH_POW, s->binder->slots[e->orientation_slot].nodes[k], two));
    /* validity.c checks a norm without coordinates */
    if (!(graph_depends(g, sum) & GRAPH_DEPENDS(SYMBOL_COORDINATE))) sum = graph_number(g, 0);
    binder_set_equation(s, (size_t)e->norm, sum);
}

void joints_lower(hamel_system *s) {
    const hamel_description *d = s->description;
    family_iterator f;
    for (size_t i = 0; i < s->binder->located_count; i++) lower_norm(s, &s->binder->located[i]);
    for (size_t i = 0; i < d->joint_count; i++) {
        int type = type_of(d->joints[i].type);
        if (!d->joints[i].name || type < 0) continue;
        for (family_begin(&f, s, &d->joints[i].family); family_next(&f);) lower_joint(s, &d->joints[i], type, &f.scope);
    }
}
