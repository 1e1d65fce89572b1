/* momenta.c — linear and angular momenta of bodies, of particles and of the system, and the centre of mass.
 *
 *   p = m v_G                              linear momentum
 *   H_P = (r_G − r_P) × m v_G + R I ω'     angular momentum about the point P; v is inertial even if P moves
 *                                          (absolute angular momentum, Papastavridis 1.6, 1.16)
 *
 * G is the centre of mass, I is the inertia about G in body axes, and R is the rotation of the body. Momenta of the
 * system are sums over all bodies and particles. If the description also contains an energy as an expression, momenta
 * of the system are rejected: the positions of the masses in such an energy are unknown. */
#include "engine/system/kinematics.h"

#include <assert.h>

static graph_node scaled_velocity(hamel_system *s, const system_located *e, int k) {
    return graph_mul(s->graph, e->mass, graph_rate(s->graph, e->position[k]));
}

static bool need_mass(hamel_system *s, const system_located *e) {
    if (e->mass >= 0) return true;
    system_fail(s, e->pointer, "`%s` has no mass, so it has no momentum", e->name);
    return hamel_suggest(s->error, "name a body or a particle"), false;
}

/* Returns true if the description contains a kinetic energy, Lagrangian or acceleration energy as an expression, which
 * may contain masses and inertias that are not those of elements. */
static bool has_given_energy(const hamel_system *s) {
    return s->kinetic_given > 0 || s->lagrangian >= 0 || s->acceleration_energy >= 0;
}

static bool need_elements(hamel_system *s) {
    bool given = has_given_energy(s), found = false;
    for (size_t i = 0; i < s->binder->located_count; i++) found = found || s->binder->located[i].mass >= 0;
    if (found && !given) return true;
    system_fail(s, "",
                given ? "the momentum and the mass of the system are unknown, because an energy is given as an "
                        "expression"
                      : "the system has no bodies or particles, whose momenta could be added");
    return hamel_suggest(s->error, "describe all masses by `bodies` and `particles`"), false;
}

bool momenta_spin(hamel_system *s, const system_located *e, graph_node out[3]) {
    graph *g = s->graph;
    graph_node own[3];
    for (int k = 0; k < 3; k++) out[k] = graph_number(g, 0);
    if (!e->turns || node_vector_is_zero(g, e->omega)) return true;
    if (!e->has_inertia && has_given_energy(s)) {
        system_fail(s, e->pointer, "the inertia of `%s` is unknown, because an energy is given as an expression",
                    e->name);
        return hamel_suggest(s->error, "give the `inertia` of the body instead"), false;
    }
    node_matrix_apply(g, e->inertia, e->omega_body, own);
    node_matrix_apply(g, e->rotation, own, out);
    return true;
}

/* Sets out[3] to the angular momentum of the body or particle `e` about the position p[3]. */
static bool angular_about(hamel_system *s, const system_located *e, const graph_node p[3], graph_node out[3]) {
    graph *g = s->graph;
    graph_node arm[3], momentum[3], moment[3], spin[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = graph_sub(g, e->position[k], p[k]);
        momentum[k] = scaled_velocity(s, e, k);
    }
    if (!momenta_spin(s, e, spin)) return false;
    node_vector_cross(g, arm, momentum, moment);
    for (int k = 0; k < 3; k++) out[k] = graph_add(g, moment[k], spin[k]);
    return true;
}

graph_node momenta_linear(hamel_system *s, const kinematic_call *call) {
    const system_located *e = &s->binder->located[call->elements[0]];
    return need_mass(s, e) ? scaled_velocity(s, e, call->component) : GRAPH_NONE;
}

graph_node momenta_angular(hamel_system *s, const kinematic_call *call) {
    const system_located *all = s->binder->located, *e = &all[call->elements[0]];
    const system_located *about = call->elements[1] >= 0 ? &all[call->elements[1]] : e;
    graph_node out[3];
    return need_mass(s, e) && angular_about(s, e, about->position, out) ? out[call->component] : GRAPH_NONE;
}

graph_node momenta_total_linear(hamel_system *s, const kinematic_call *call) {
    graph_node sum = graph_number(s->graph, 0);
    if (!need_elements(s)) return GRAPH_NONE;
    for (size_t i = 0; i < s->binder->located_count; i++) {
        const system_located *e = &s->binder->located[i];
        if (e->mass >= 0) sum = graph_add(s->graph, sum, scaled_velocity(s, e, call->component));
    }
    return sum;
}

graph_node momenta_total_angular(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    graph_node sum = graph_number(g, 0), origin[3] = {sum, sum, sum}, own[3];
    const system_located *all = s->binder->located;
    const graph_node *about = call->elements[0] >= 0 ? all[call->elements[0]].position : origin;
    if (!need_elements(s)) return GRAPH_NONE;
    for (size_t i = 0; i < s->binder->located_count; i++) {
        if (all[i].mass < 0) continue;
        if (!angular_about(s, &all[i], about, own)) return GRAPH_NONE;
        sum = graph_add(g, sum, own[call->component]);
    }
    return sum;
}

graph_node momenta_center(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    graph_node mass = graph_number(g, 0), sum = mass;
    if (!need_elements(s)) return GRAPH_NONE;
    for (size_t i = 0; i < s->binder->located_count; i++) {
        const system_located *e = &s->binder->located[i];
        if (e->mass < 0) continue;
        mass = graph_add(g, mass, e->mass);
        sum = graph_add(g, sum, graph_mul(g, e->mass, e->position[call->component]));
    }
    return graph_div(g, sum, mass);
}
