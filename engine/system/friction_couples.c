/* friction_couples.c — rolling and pivoting friction of rolling joints (Papastavridis 1.18).
 *
 *     |M_r| ≤ e_r N,   |M_p| ≤ e_p N          couples opposite to the rolling and the pivoting velocity
 *
 * N is the normal force of the joint, and the lengths e_r and e_p are the coefficients. The couple is −e N w/|w| while
 * the rolling or pivoting velocity w is not 0, so w replaces the slip velocity of Coulomb friction. If w = 0, the
 * contact sticks until the couple necessary for w = 0 exceeds e N. N is the magnitude of the multiplier of one equation
 * of the joint, so the normal must be an inertial coordinate axis. */
#include "engine/system/elements.h"
#include "engine/system/units.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Returns the index, 0 to 2, of the inertial axis that is parallel to the normal. If the normal is not constant and
 * parallel to an axis, adds an error and returns −1. */
static int normal_axis(hamel_system *s, const system_contact *c, const char *pointer) {
    int axis = -1;
    double value;
    for (int k = 0; k < 3; k++) {
        if (!binder_number(s, c->normal[k], &value)) value = NAN;
        if (fabs(value) == 1) axis = k;
        if (value != 0 && fabs(value) != 1) {
            system_fail(s, pointer, "friction of a rolling joint needs a constant normal along an inertial axis");
            return hamel_suggest(s->error, "choose the inertial axes such that one of them is normal to the surface"),
                   -1;
        }
    }
    return axis;
}

/* Returns the index of the joint's constraint whose multiplier is the normal force, or −1 after adding an error. */
static int32_t normal_equation(hamel_system *s, const system_contact *c, int axis, const char *pointer) {
    const char *name = arena_format(s->memory, "%s.%d", c->name, axis + 1);
    int32_t index = name ? system_constraint_index(s, name) : -1;
    if (index < 0) return -1; /* an error about the joint has been added */
    if (!graph_is_number(s->graph, s->constraints[index].equation, NULL)) return index;
    system_fail(s, pointer,
                "the normal force of `%s` is unknown, because no coordinate moves the wheel along the normal", c->name);
    return hamel_suggest(s->error, "add a coordinate along the normal to the position of the wheel"), -1;
}

static bool bind_length(hamel_system *s, const hamel_expression *e, const loop_scope *scope, graph_node *out) {
    double value;
    *out = system_bind(s, e, PLACE_ENERGY, scope, SYNTAX_EXPRESSION, NULL);
    if (*out < 0 || !binder_number(s, *out, &value) || value >= 0) return *out >= 0;
    return system_fail(s, e->pointer, "the friction length must not be negative, found %.9g", value);
}

/* Sets slip[3] to the relative angular velocity along the normal (`pivots` is true) or perpendicular to the normal. */
static void find_spin(hamel_system *s, const system_contact *c, int axis, bool pivots, graph_node slip[3]) {
    for (int k = 0; k < 3; k++) slip[k] = (k == axis) == pivots ? c->spin[k] : graph_number(s->graph, 0);
}

/* Sets f->along to the components of the angular velocity that are 0 while the contact sticks. Returns false after
 * adding an error. */
static bool find_components(hamel_system *s, const char *pointer, system_friction *f) {
    graph_node list[3];
    size_t count = 0;
    f->row = f->held = -1;
    if (f->regularization > 0) return true;
    for (int k = 0; k < 3; k++)
        if (!graph_is_zero(s->graph, f->slip[k])) list[count++] = f->slip[k];
    if (count == 1) return friction_add_speed(s, pointer, list[0], f);
    for (size_t k = 0; k < count; k++) { /* the components are perpendicular to the normal */
        f->facing[k] = graph_number(s->graph, 0);
        f->along[f->along_count++] = list[k];
    }
    return true;
}

/* Adds the rolling or the pivoting couple with the length `e`. f.normal must be perpendicular to f.slip. It has unit
 * length, so that the normal force is |λ|. */
static void add_couple(hamel_system *s, const system_contact *c, const hamel_expression *e, bool pivots) {
    const hamel_friction_couples *in = &c->joint->friction;
    loop_scope scope;
    if (!hamel_expression_given(e)) return;
    scope_from(&scope, c->loops, c->loop_count);
    int axis = normal_axis(s, c, in->pointer);
    int32_t row = axis >= 0 ? normal_equation(s, c, axis, in->pointer) : -1;
    system_friction f = {.constraint = row, .pointer = e->pointer, .ends = {c->ends[0], c->ends[1]}};
    if (row < 0 || !bind_length(s, e, &scope, &f.coefficient)) return;
    f.limit = f.coefficient;
    if (hamel_expression_given(&in->regularization) &&
        !system_number(s, &in->regularization, &scope, &f.regularization))
        return;
    if (f.regularization < 0) {
        system_fail(s, in->regularization.pointer, "the regularization is an angular speed and must not be negative");
        return;
    }
    if (!pivots && s->dimension == 3 && f.regularization == 0 &&
        !node_vector_is_zero(s->graph, s->binder->located[c->ends[1]].omega)) {
        system_fail(s, e->pointer, "rolling friction on a surface that may rotate needs `regularization`");
        hamel_suggest(s->error, "add \"regularization\", an angular speed below which the couple is reduced");
        return;
    }
    find_spin(s, c, axis, pivots, f.slip);
    for (int k = 0; k < 3; k++) f.normal[k] = graph_number(s->graph, k == (pivots ? (axis + 1) % 3 : axis));
    if (node_vector_is_zero(s->graph, f.slip)) {
        system_fail(s, e->pointer, "`%s` cannot %s", c->name, pivots ? "pivot" : "roll");
        return;
    }
    const char *kept = binder_text(s, e->pointer, e->pointer);
    if (kept && friction_find_coordinates(s, &f) && find_components(s, kept, &f)) {
        f.pointer = kept;
        binder_append(s, &s->frictions, &s->friction_count, &s->friction_capacity, &f, sizeof f, kept);
    }
}

void friction_couples_lower(hamel_system *s) {
    for (size_t i = 0; i < s->binder->contact_count; i++) {
        const system_contact *c = &s->binder->contact_list[i];
        if (!c->joint->friction.pointer) continue;
        add_couple(s, c, &c->joint->friction.rolling, false);
        add_couple(s, c, &c->joint->friction.pivoting, true);
    }
}
