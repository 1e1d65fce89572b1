/* friction.c — geometry of Coulomb friction: the sliding point, its slip velocity, and the normal force on the point.
 *
 * The reaction of f = 0 on the point P is λ g. If f contains position(P, k), g is the gradient of f with respect to the
 * position of P. If f is written in coordinates, g follows from ∂f/∂q and J = ∂s/∂q', where s is the slip velocity of
 * P:
 *
 *     Jᵀ g = ∂f/∂q,     g = (J Jᵀ)⁻¹ J ∂f/∂q                (for P in Cartesian coordinates g = ∇f)
 *
 * Without `against`, the slip velocity is the velocity of P. With `against`, it is the velocity of P relative to the
 * material of `against`, on which the opposite force acts. f may contain coordinates of other elements (a relaxed
 * constraint such as θ − φ = 0, Baruh example 4.12). For coordinates that move P, the reaction must be equivalent to a
 * force at P. */
#include "engine/system/elements.h"
#include "engine/system/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAMED = 8 };
/* Largest accepted error of Jᵀ g = ∂f/∂q, relative to the largest ∂f/∂q_i. Rounding errors are about 1e-16 times the
 * condition number of J Jᵀ, so condition numbers up to 1e10 are accepted. If no force at the point is equivalent to the
 * reaction, the error is of the order of 1. */
static const double NO_FORCE = 1e-6;

/* Elements that coordinate i moves: items[first[i]] to items[first[i+1] − 1]. */
typedef struct moved {
    int32_t *items;
    size_t *first;
} moved;

typedef struct friction_work {
    hamel_system *s;
    moved moved;           /* filled when first needed; until then items is NULL */
    graph_node *start;     /* initial values of the coordinates */
    graph_node start_time; /* simulation.start */
    bool *seen;            /* scratch, one flag for each located element */
} friction_work;

static bool can_be_pressed(const system_located *e) {
    return *e->name && strcmp(e->kind, "frame") != 0;
}

/* If `count` is not NULL, counts the elements that each coordinate moves. Otherwise lists these elements in *out. */
static void walk_moved(hamel_system *s, size_t *count, moved *out) {
    const system_binder *b = s->binder;
    for (size_t e = 0; e < b->located_count; e++) {
        if (!can_be_pressed(&b->located[e])) continue;
        const graph_node *r = b->located[e].position;
        graph_node sum = graph_add(s->graph, r[0], graph_add(s->graph, r[1], r[2]));
        const int32_t *support;
        size_t n = graph_support(s->graph, sum, SYMBOL_COORDINATE, &support);
        for (size_t k = 0; k < n; k++) {
            if (count) count[support[k]]++;
            if (out) out->items[out->first[support[k]]++] = (int32_t)e;
        }
    }
}

static bool find_moved(friction_work *w) {
    hamel_system *s = w->s;
    size_t n = s->coordinate_count, total = 0;
    size_t *first = binder_alloc(s, n + 1, sizeof *first, "/constraints");
    if (!first) return false;
    walk_moved(s, first, NULL);
    for (size_t i = 0; i <= n; i++) {
        size_t here = i < n ? first[i] : 0;
        first[i] = total;
        total += here;
    }
    w->moved.first = first;
    w->moved.items = binder_alloc(s, total + 1, sizeof *w->moved.items, "/constraints");
    if (!w->moved.items) return false;
    walk_moved(s, NULL, &w->moved);
    for (size_t i = n; i > 0; i--) first[i] = first[i - 1]; /* walk_moved has advanced first[i] to the next start */
    first[0] = 0;
    return true;
}

/* Adds an element unless it has been added before. *count counts all elements, of which the list contains the first
 * NAMED. */
static void add_candidate(friction_work *w, int32_t element, int32_t list[NAMED], size_t *count) {
    if (w->seen[element]) return;
    w->seen[element] = true;
    if (*count < NAMED) list[*count] = element;
    ++*count;
}

/* Collects the elements P for which the equation contains position(P, k) or a similar call. */
static void note_elements(friction_work *w, const system_constraint *c, const loop_scope *scope) {
    system_binder *b = w->s->binder;
    b->noting = true;
    b->noted_count = 0;
    (void)system_bind(w->s, c->written, PLACE_CONSTRAINT, scope, SYNTAX_EQUATION, NULL);
    b->noting = false;
}

static bool is_noted(const friction_work *w, int32_t element) {
    const system_binder *b = w->s->binder;
    for (size_t k = 0; k < b->noted_count; k++)
        if (b->noted[k] == element) return true;
    return false;
}

/* Lists the elements whose position occurs in the equation. If there are no such elements, lists the elements that the
 * coordinates of the equation move. */
static size_t candidates(friction_work *w, const system_constraint *c, int32_t list[NAMED]) {
    hamel_system *s = w->s;
    system_binder *b = s->binder;
    size_t count = 0;
    memset(w->seen, 0, b->located_count * sizeof *w->seen);
    for (size_t k = 0; k < b->noted_count; k++)
        if (can_be_pressed(&b->located[b->noted[k]])) add_candidate(w, b->noted[k], list, &count);
    if (count > 0 || (!w->moved.items && !find_moved(w))) return count;
    const int32_t *support;
    size_t n = graph_support(s->graph, c->equation, SYMBOL_COORDINATE, &support);
    for (size_t k = 0; k < n; k++)
        for (size_t i = w->moved.first[support[k]]; i < w->moved.first[support[k] + 1]; i++)
            add_candidate(w, w->moved.items[i], list, &count);
    return count;
}

/* Returns the index of the element at the sliding point of the constraint, or −1 after adding an error. */
static int32_t pressed(friction_work *w, const system_constraint *c, const hamel_friction *f, const loop_scope *scope) {
    hamel_system *s = w->s;
    if (f->on.name) return located_end(s, &f->on, scope);
    int32_t list[NAMED];
    size_t count = candidates(w, c, list);
    if (count == 1) return list[0];
    if (s->error->status != HAMEL_OK) return -1;
    char names[400] = "";
    const system_located *all = s->binder->located;
    for (size_t k = 0, at = 0; k < count && k < NAMED && at < sizeof names; k++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s`%s`", k ? ", " : "", all[list[k]].name);
    if (count == 0) {
        system_fail(s, f->pointer, "friction acts on a particle or point, but no coordinate in `%s` moves one",
                    c->name);
        return hamel_suggest(s->error, "declare the sliding point in `points` and name it in `on`"), -1;
    }
    const char *others = count > NAMED ? " and others" : "";
    system_fail(s, f->pointer, "the constraint `%s` can press on %s%s", c->name, names, others);
    return hamel_suggest(s->error, "use `on` to name the element that slides"), -1;
}

/* Evaluates a node at the initial coordinates. Returns false if the value is not finite. */
static bool at_start(friction_work *w, graph_node node, double *value) {
    hamel_system *s = w->s;
    node = graph_substitute(s->graph, node, SYMBOL_COORDINATE, w->start, s->coordinate_count);
    node = graph_substitute(s->graph, node, SYMBOL_TIME, &w->start_time, 1);
    return node >= 0 && binder_number(s, node, value);
}

bool friction_find_coordinates(hamel_system *s, system_friction *f) {
    const int32_t *support;
    graph_node sum = graph_add(s->graph, f->slip[0], graph_add(s->graph, f->slip[1], f->slip[2]));
    f->count = graph_support(s->graph, sum, SYMBOL_VELOCITY, &support);
    f->coordinates = binder_alloc(s, f->count + 1, sizeof *f->coordinates, "/constraints");
    if (f->coordinates && f->count > 0) memcpy(f->coordinates, support, f->count * sizeof *f->coordinates);
    return f->coordinates != NULL;
}

/* Computes g = (J Jᵀ)⁻¹ J ∂f/∂q without the components in which the point cannot move. Returns false if J Jᵀ is
 * singular. */
static bool find_normal(friction_work *w, const system_constraint *c, system_friction *f) {
    graph *g = w->s->graph;
    graph_node G[3][3], h[3], cross[3][3], zero = graph_number(g, 0);
    for (int k = 0; k < 3; k++) h[k] = G[k][0] = G[k][1] = G[k][2] = zero;
    for (size_t i = 0; i < f->count; i++) {
        graph_node slope = graph_partial(g, c->equation, w->s->q[f->coordinates[i]]), J[3];
        for (int k = 0; k < 3; k++) J[k] = graph_partial(g, f->slip[k], w->s->v[f->coordinates[i]]);
        for (int k = 0; k < 3; k++) {
            h[k] = graph_add(g, h[k], graph_mul(g, J[k], slope));
            for (int l = 0; l < 3; l++) G[k][l] = graph_add(g, G[k][l], graph_mul(g, J[k], J[l]));
        }
    }
    for (int k = 0; k < 3; k++)
        if (graph_is_zero(g, G[k][k])) G[k][k] = graph_number(g, 1);
    for (int k = 0; k < 3; k++) node_vector_cross(g, G[(k + 1) % 3], G[(k + 2) % 3], cross[k]);
    graph_node determinant = node_vector_dot(g, G[0], cross[0]);
    for (int k = 0; k < 3; k++) {
        graph_node sum = zero;
        for (int l = 0; l < 3; l++) sum = graph_add(g, sum, graph_mul(g, h[l], cross[l][k]));
        f->normal[k] = graph_div(g, sum, determinant);
    }
    double value, size = 1;
    for (int k = 0; k < 3; k++) {
        if (!at_start(w, G[k][k], &value)) return false;
        size *= value;
    }
    return at_start(w, determinant, &value) && value > 1e-12 * size;
}

/* Computes g if f contains the position of the element. Binds f again with symbols in place of the position, and
 * differentiates f with respect to these symbols. The symbols are of the kind SYMBOL_FREE, because no constraint
 * contains symbols of this kind. */
static bool find_gradient(friction_work *w, const system_constraint *c, int32_t element, const loop_scope *scope,
                          graph_node normal[3]) {
    hamel_system *s = w->s;
    graph_node place[3], *position = s->binder->located[element].position;
    memcpy(place, position, sizeof place);
    for (int k = 0; k < 3; k++) position[k] = graph_symbol(s->graph, SYMBOL_FREE, k);
    graph_node f = system_bind(s, c->written, PLACE_OUTPUT, scope, SYNTAX_EQUATION, NULL);
    position = s->binder->located[element].position;
    memcpy(position, place, sizeof place);
    for (int k = 0; f >= 0 && k < 3; k++) {
        graph_node slope = graph_partial(s->graph, f, graph_symbol(s->graph, SYMBOL_FREE, k));
        normal[k] = graph_substitute(s->graph, slope, SYMBOL_FREE, place, 3);
    }
    return f >= 0;
}

/* Returns true if Jᵀ g = ∂f/∂q at the initial state. Otherwise returns false and sets *worst to the coordinate with the
 * largest error. */
static bool is_force_at_point(friction_work *w, const system_constraint *c, const system_friction *f, int32_t *worst) {
    graph *g = w->s->graph;
    double most = 0, size = 0;
    for (size_t i = 0; i < f->count; i++) {
        graph_node slope = graph_partial(g, c->equation, w->s->q[f->coordinates[i]]), miss = graph_neg(g, slope);
        for (int k = 0; k < 3; k++) {
            graph_node J = graph_partial(g, f->slip[k], w->s->v[f->coordinates[i]]);
            miss = graph_add(g, miss, graph_mul(g, J, f->normal[k]));
        }
        double a, b;
        if (!at_start(w, slope, &a) || !at_start(w, miss, &b)) return false;
        size = fmax(size, fabs(a));
        if (fabs(b) > most) most = fabs(b), *worst = f->coordinates[i];
    }
    return most <= NO_FORCE * size;
}

static bool check_point(friction_work *w, const system_constraint *c, const hamel_friction *in,
                        const system_friction *f, const char *name) {
    hamel_system *s = w->s;
    int32_t worst = -1;
    if (is_force_at_point(w, c, f, &worst)) return true;
    if (graph_status(s->graph) != HAMEL_OK) return binder_graph_fault(s, in->pointer);
    system_fail(s, in->pointer, "the reaction of `%s` is not equivalent to a force at `%s`: they differ in `%s`",
                c->name, name, worst >= 0 ? s->coordinates[worst].name : "the initial state");
    return hamel_suggest(s->error, "use `on` to name the point that the constraint keeps in place"), false;
}

/* Computes the slip velocity of the element: its inertial velocity or, with `against`, its velocity relative to the
 * material of `against`. */
static bool find_slip(friction_work *w, const hamel_friction *in, const system_located *e, const loop_scope *scope,
                      graph_node slip[3]) {
    hamel_system *s = w->s;
    graph_node matter[3], place[3];
    memcpy(place, e->position, sizeof place);
    for (int k = 0; k < 3; k++) slip[k] = system_rate(s, place[k], in->pointer, "the position of a contact");
    if (!in->against.name) return true;
    int32_t carrier = located_end(s, &in->against, scope);
    if (carrier < 0) return false;
    located_carried(s, &s->binder->located[carrier], place, matter);
    for (int k = 0; k < 3; k++) slip[k] = graph_sub(s->graph, slip[k], matter[k]);
    return true;
}

/* Binds a coefficient of friction. If the coefficient is constant and negative, adds an error. */
static graph_node coefficient(hamel_system *s, const hamel_expression *e, const loop_scope *scope) {
    double value;
    graph_node node = system_bind(s, e, PLACE_ENERGY, scope, SYNTAX_EXPRESSION, NULL);
    units_note(s, node, e->pointer, UNIT_NUMBER, 0);
    if (node < 0 || !binder_number(s, node, &value) || value >= 0) return node;
    system_fail(s, e->pointer, "a coefficient of friction must not be negative, found %.9g", value);
    return GRAPH_NONE;
}

/* Binds the static coefficient. Adds an error and returns false if the static coefficient is less than the sliding
 * one. */
static bool bind_limit(hamel_system *s, const hamel_friction *in, const loop_scope *scope, system_friction *out) {
    double sliding, sticking;
    out->limit = out->coefficient;
    if (!hamel_expression_given(&in->limit)) return true;
    out->limit = coefficient(s, &in->limit, scope);
    if (out->limit < 0) return false;
    if (!binder_number(s, out->coefficient, &sliding) || !binder_number(s, out->limit, &sticking) ||
        sticking >= sliding)
        return true;
    return system_fail(s, in->limit.pointer, "`static` must not be less than `coefficient`, found %.9g and %.9g",
                       sticking, sliding);
}

static bool bind_numbers(hamel_system *s, const hamel_friction *in, const loop_scope *scope, system_friction *out) {
    out->coefficient = coefficient(s, &in->coefficient, scope);
    if (out->coefficient < 0) return false;
    if (hamel_expression_given(&in->regularization) &&
        !system_number(s, &in->regularization, scope, &out->regularization))
        return false;
    if (out->regularization == 0) return bind_limit(s, in, scope, out);
    if (out->regularization < 0)
        return system_fail(s, in->regularization.pointer, "the regularization is a speed and must not be negative");
    if (!hamel_expression_given(&in->limit)) return true;
    system_fail(s, in->limit.pointer, "regularized friction does not stick, so `static` has no effect");
    return hamel_suggest(s->error, "leave out `regularization`, or `static`"), false;
}

/* Computes the slip speed s·τ in the plane, τ = e3 × g/|g|. */
static bool find_speed(hamel_system *s, const hamel_friction *in, system_friction *f) {
    graph *g = s->graph;
    graph_node along = graph_sub(g, graph_mul(g, f->slip[1], f->normal[0]), graph_mul(g, f->slip[0], f->normal[1]));
    graph_node size = graph_unary(g, GRAPH_SQRT, node_vector_dot(g, f->normal, f->normal));
    return friction_add_speed(s, in->pointer, graph_div(g, along, size), f);
}

bool friction_add_speed(hamel_system *s, const char *pointer, graph_node speed, system_friction *f) {
    graph *g = s->graph;
    graph_node direction = graph_unary(g, GRAPH_SIGN, speed);
    if (direction < 0) return binder_graph_fault(s, pointer);
    if (graph_at(g, direction)->op == GRAPH_NEG) direction = graph_at(g, direction)->as.operand[0];
    if (graph_at(g, direction)->op != GRAPH_SIGN) return true; /* the sign is constant: the point cannot slide */
    f->along[f->along_count++] = graph_at(g, direction)->as.operand[0];
    return true;
}

/* Transforms x to the axes of `against`. In these axes, a surface fixed to `against` has a constant normal. */
static void turn_to_carrier(hamel_system *s, const hamel_friction *in, const loop_scope *scope, graph_node x[3]) {
    if (!in->against.name) return;
    graph_node turned[3];
    node_matrix_apply_transposed(s->graph, s->binder->located[located_end(s, &in->against, scope)].rotation, x, turned);
    memcpy(x, turned, sizeof turned);
}

/* Computes the part of the slip velocity along the surface in space: s − n (n·s), n = g/|g|. */
static bool find_slip_along(hamel_system *s, const hamel_friction *in, const loop_scope *scope, system_friction *f) {
    graph *g = s->graph;
    graph_node size = graph_unary(g, GRAPH_SQRT, node_vector_dot(g, f->normal, f->normal)), facing[3], along[3];
    for (int k = 0; k < 3; k++) facing[k] = graph_div(g, f->normal[k], size);
    graph_node across = node_vector_dot(g, facing, f->slip);
    for (int k = 0; k < 3; k++) along[k] = graph_sub(g, f->slip[k], graph_mul(g, facing[k], across));
    turn_to_carrier(s, in, scope, along);
    turn_to_carrier(s, in, scope, facing);
    for (int k = 0; k < 3; k++) {
        if (graph_is_zero(g, along[k])) continue;
        f->facing[f->along_count] = facing[k];
        f->along[f->along_count++] = along[k];
    }
    return graph_status(g) == HAMEL_OK || binder_graph_fault(s, in->pointer);
}

static bool find_what_sticks(hamel_system *s, const hamel_friction *in, const loop_scope *scope, system_friction *f) {
    f->row = f->held = -1;
    if (f->regularization > 0 || f->count == 0) return true;
    return s->dimension == 3 ? find_slip_along(s, in, scope, f) : find_speed(s, in, f);
}

/* Computes the gradient g. Adds an error and returns false if the reaction is not equivalent to a force at the
 * point. */
static bool find_force(friction_work *w, const system_constraint *c, const hamel_friction *in, int32_t element,
                       const loop_scope *scope, system_friction *f) {
    hamel_system *s = w->s;
    const char *name = s->binder->located[element].name;
    if (is_noted(w, element)) return find_gradient(w, c, element, scope, f->normal);
    if (find_normal(w, c, f)) return check_point(w, c, in, f, name);
    if (graph_status(s->graph) != HAMEL_OK) return false;
    system_fail(s, in->pointer,
                "the coordinates do not let `%s` move in every direction, so its normal force is undefined", name);
    return hamel_suggest(s->error, "add coordinates in which the point could leave `%s`", c->name), false;
}

static void lower_friction(friction_work *w, size_t index) {
    hamel_system *s = w->s;
    assert(index < s->constraint_count && s->constraints[index].described);
    const system_constraint *c = &s->constraints[index];
    const hamel_friction *in = &c->described->friction;
    loop_scope scope;
    scope_from(&scope, c->loops, c->loop_count);
    if (c->order != CONSTRAINT_HOLONOMIC) {
        system_fail(s, in->pointer, "friction needs a constraint on positions, but `%s` contains velocities", c->name);
        return;
    }
    system_friction f = {.constraint = (int32_t)index, .pointer = c->pointer};
    bool numbers = bind_numbers(s, in, &scope, &f);
    note_elements(w, c, &scope);
    int32_t element = pressed(w, c, in, &scope);
    if (!numbers || element < 0 || !find_slip(w, in, &s->binder->located[element], &scope, f.slip)) return;
    for (int k = 0; k < 3; k++) units_note_number(s, &in->regularization, &scope, UNIT_LIKE, (size_t)f.slip[k]);
    f.ends[0] = element;
    f.ends[1] = in->against.name ? located_end(s, &in->against, &scope) : -1;
    if (friction_find_coordinates(s, &f) && find_force(w, c, in, element, &scope, &f) &&
        find_what_sticks(s, in, &scope, &f))
        binder_append(s, &s->frictions, &s->friction_count, &s->friction_capacity, &f, sizeof f, in->pointer);
}

static bool prepare_frictions(friction_work *w) {
    hamel_system *s = w->s;
    double start = 0;
    (void)system_number(s, &s->description->simulation.start, NULL, &start);
    w->start_time = graph_number(s->graph, start);
    w->start = binder_alloc(s, s->coordinate_count, sizeof *w->start, "/constraints");
    w->seen = binder_alloc(s, s->binder->located_count + 1, sizeof *w->seen, "/constraints");
    if (!w->start || !w->seen) return false;
    for (size_t i = 0; i < s->coordinate_count; i++) w->start[i] = graph_number(s->graph, s->coordinates[i].initial);
    return true;
}

void frictions_lower(hamel_system *s) {
    friction_work w = {.s = s};
    bool prepared = false;
    for (size_t c = 0; c < s->constraint_count; c++) {
        const struct hamel_constraint *d = s->constraints[c].described;
        if (!d || !d->friction.pointer || s->constraints[c].equation < 0) continue;
        if (!prepared && !(prepared = prepare_frictions(&w))) return;
        lower_friction(&w, c);
    }
}

/* Adds a nonsmooth operator for each component of the slip direction, which is held between events. */
static bool add_held(hamel_system *s, system_friction *f) {
    for (size_t k = 0; k < f->along_count; k++) {
        system_nonsmooth own = {
            .kind = NONSMOOTH_DIRECTION, .written = f->along[k], .argument = f->along[k], .held = true, .next = -1};
        if (k == 0) f->held = (int32_t)s->nonsmooth_count;
        if (!binder_append(s, &s->nonsmooth, &s->nonsmooth_count, &s->nonsmooth_capacity, &own, sizeof own, f->pointer))
            return false;
    }
    return true;
}

/* Finds or adds the constraints `along` = 0. owner[node] is the index of the friction that added the constraints for
 * that node, or −1. */
static bool add_rows(hamel_system *s, size_t which, int32_t *owner) {
    assert(which < s->friction_count && s->frictions[which].along_count > 0);
    system_friction *f = &s->frictions[which];
    const system_friction *same = owner[f->along[0]] >= 0 ? &s->frictions[owner[f->along[0]]] : NULL;
    if (same && same->along_count == f->along_count &&
        memcmp(same->along, f->along, f->along_count * sizeof *f->along) == 0) {
        f->row = same->row;
        f->held = same->held;
        return true;
    }
    owner[f->along[0]] = (int32_t)which;
    for (size_t k = 0; k < f->along_count; k++) {
        size_t index;
        const char *name = s->constraints[f->constraint].name;
        name = f->along_count > 1 ? arena_format(s->memory, "%s.friction[%zu]", name, k + 1)
                                  : arena_format(s->memory, "%s.friction", name);
        if (!name || !binder_add_row(s, name, f->pointer, &index)) return false;
        s->constraints[index].inactive = true;
        binder_set_equation(s, index, f->along[k]);
        if (k == 0) f->row = (int32_t)index;
    }
    return f->along_count == 1 || add_held(s, f);
}

void frictions_add_rows(hamel_system *s) {
    size_t nodes = graph_count(s->graph);
    s->ideal_count = s->constraint_count;
    if (s->friction_count == 0) return;
    int32_t *owner = binder_alloc(s, nodes, sizeof *owner, "/constraints");
    if (!owner) return;
    for (size_t i = 0; i < nodes; i++) owner[i] = -1;
    for (size_t k = 0; k < s->friction_count; k++)
        if (s->frictions[k].along_count > 0 && !add_rows(s, k, owner)) return;
}
