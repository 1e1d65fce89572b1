/* rigid_motion.c — poles, instantaneous screw axis, and the wrench of all forces on a body.
 *
 *   velocity pole      r + e3 × v/ω                                in the plane; its velocity is 0
 *   acceleration pole  r + ρ, a + α × ρ + ω × (ω × ρ) = 0
 *   screw axis         through r + ω × v/ω², along ω; pitch v·ω/ω²           Papastavridis 1.9
 *   wrench             through r + F × M/F², along F = dp/dt; pitch F·M/F², with M = dH_G/dt
 *
 * v, a, ω and α are the velocity and acceleration of the centre of mass, and the angular velocity and acceleration. The
 * denominators vanish if ω = 0 (velocity pole, screw axis), if ω × α = 0 in space or ω = α = 0 in the plane
 * (acceleration pole), and if F = 0 (wrench). The value is then not finite, and a run ends with an error that names the
 * expression. */
#include "engine/system/kinematics.h"

#include <assert.h>

static const system_located *need_axes(hamel_system *s, const kinematic_call *call) {
    const system_located *e = &s->binder->located[call->elements[0]];
    if (e->turns && !node_vector_is_zero(s->graph, e->omega)) return e;
    system_fail(s, e->pointer, "`%s` does not rotate, so %s() does not exist", e->name, quantity_text(call->quantity));
    return hamel_suggest(s->error, "name a body or a frame with an orientation"), NULL;
}

static void rates(graph *g, const graph_node x[3], graph_node out[3]) {
    for (int k = 0; k < 3; k++) out[k] = graph_rate(g, x[k]);
}

graph_node velocity_pole_node(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    const system_located *e = need_axes(s, call);
    graph_node v[3], own[3];
    if (!e) return GRAPH_NONE;
    if (s->dimension == 3) {
        system_fail(s, e->pointer, "the velocity pole exists only in the plane, but positions have three components");
        return hamel_suggest(s->error, "use screw_point(%s, k) and screw_pitch(%s)", e->name, e->name), GRAPH_NONE;
    }
    rates(g, e->position, v);
    graph_node offset[3] = {graph_neg(g, graph_div(g, v[1], e->omega[2])), graph_div(g, v[0], e->omega[2]),
                            graph_number(g, 0)};
    node_matrix_apply_transposed(g, e->rotation, offset, own);
    if (call->quantity == QUANTITY_VELOCITY_POLE_BODY) return own[call->component];
    return graph_add(g, e->position[call->component], offset[call->component]);
}

/* Returns component k of the solution x of B x = y by Cramer's rule. c[0], c[1] and c[2] are the columns of B. */
static graph_node cramer(graph *g, graph_node c[3][3], const graph_node y[3], int k) {
    graph_node cross[3], whole[3];
    node_vector_cross(g, c[(k + 1) % 3], c[(k + 2) % 3], cross);
    node_vector_cross(g, c[1], c[2], whole);
    return graph_div(g, node_vector_dot(g, y, cross), node_vector_dot(g, c[0], whole));
}

/* Returns component k of the acceleration pole relative to the centre of mass in the plane, ρ = (ω² a + α e3 × a)/(ω⁴ +
 * α²), with the angular velocity w = ω. Component 2 is 0. */
static graph_node planar_pole(graph *g, graph_node w, graph_node alpha, const graph_node a[3], int k) {
    if (k == 2) return graph_number(g, 0);
    graph_node square = graph_mul(g, w, w);
    graph_node turned = graph_mul(g, alpha, k == 0 ? graph_neg(g, a[1]) : a[0]);
    graph_node size = graph_add(g, graph_mul(g, square, square), graph_mul(g, alpha, alpha));
    return graph_div(g, graph_add(g, graph_mul(g, square, a[k]), turned), size);
}

graph_node acceleration_pole_node(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    const system_located *e = need_axes(s, call);
    graph_node v[3], a[3], alpha[3], c[3][3], minus[3];
    int k = call->component;
    if (!e) return GRAPH_NONE;
    rates(g, e->position, v);
    rates(g, v, a);
    rates(g, e->omega, alpha);
    if (s->dimension == 2) return graph_add(g, e->position[k], planar_pole(g, e->omega[2], alpha[2], a, k));
    for (int i = 0; i < 3; i++) { /* column i: α × e_i + ω (ω·e_i) − ω² e_i */
        graph_node unit[3], turned[3], square = node_vector_dot(g, e->omega, e->omega);
        for (int j = 0; j < 3; j++) unit[j] = graph_number(g, i == j);
        node_vector_cross(g, alpha, unit, turned);
        for (int j = 0; j < 3; j++) {
            graph_node along = graph_mul(g, e->omega[i], e->omega[j]);
            c[i][j] = graph_sub(g, graph_add(g, turned[j], along), graph_mul(g, square, unit[j]));
        }
        minus[i] = graph_neg(g, a[i]);
    }
    return graph_add(g, e->position[k], cramer(g, c, minus, k));
}

/* Returns component k of x × y/x². This vector points from the centre of mass to the nearest point of the axis along
 * x. */
static graph_node central_offset(graph *g, const graph_node x[3], const graph_node y[3], int k) {
    graph_node cross[3];
    node_vector_cross(g, x, y, cross);
    return graph_div(g, cross[k], node_vector_dot(g, x, x));
}

graph_node screw_point_node(hamel_system *s, const kinematic_call *call) {
    const system_located *e = need_axes(s, call);
    graph_node v[3];
    if (!e) return GRAPH_NONE;
    rates(s->graph, e->position, v);
    return graph_add(s->graph, e->position[call->component], central_offset(s->graph, e->omega, v, call->component));
}

graph_node screw_pitch_node(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    const system_located *e = need_axes(s, call);
    graph_node v[3];
    if (!e) return GRAPH_NONE;
    rates(g, e->position, v);
    return graph_div(g, node_vector_dot(g, v, e->omega), node_vector_dot(g, e->omega, e->omega));
}

/* Sets force[3] and moment[3] to the resultant of all forces on a body or particle and to their moment about its centre
 * of mass. Returns the element, or NULL after adding an error. */
static const system_located *wrench_of(hamel_system *s, const kinematic_call *call, graph_node force[3],
                                       graph_node moment[3]) {
    const system_located *e = &s->binder->located[call->elements[0]];
    graph_node p[3], spin[3];
    kinematic_call linear = *call;
    for (linear.component = 0; linear.component < 3; linear.component++)
        if ((p[linear.component] = momenta_linear(s, &linear)) < 0) return NULL;
    if (!momenta_spin(s, e, spin)) return NULL;
    rates(s->graph, p, force);
    rates(s->graph, spin, moment);
    return e;
}

graph_node wrench_point_node(hamel_system *s, const kinematic_call *call) {
    graph_node force[3], moment[3];
    int k = call->component;
    const system_located *e = wrench_of(s, call, force, moment);
    return e ? graph_add(s->graph, e->position[k], central_offset(s->graph, force, moment, k)) : GRAPH_NONE;
}

graph_node wrench_pitch_node(hamel_system *s, const kinematic_call *call) {
    graph_node force[3], moment[3];
    if (!wrench_of(s, call, force, moment)) return GRAPH_NONE;
    return graph_div(s->graph, node_vector_dot(s->graph, force, moment), node_vector_dot(s->graph, force, force));
}
