/* finite_rotation.c — angle, axis and Gibbs vector of the rotation that carries the axes of one element to those of
 * another.
 *
 *   R = cos χ 1 + (1 − cos χ) n nᵀ + sin χ [n×]         Papastavridis 1.10 (Euler, Rodrigues), 0 ≤ χ ≤ π
 *   γ = n tan(χ/2)                                      Gibbs vector
 *
 * Angle, axis and Gibbs vector are computed from a multiple (e0, e) of the quaternion of R: tan(χ/2) = |e|/e0. Each row
 * of the 4 × 4 matrix 4 (e0, e)ᵀ(e0, e) is such a multiple, and its elements are sums of elements of R. The row with
 * the largest diagonal element is accurate for all angles (Shepperd, J. Guidance Control 1 (1978) 223). */
#include "engine/system/kinematics.h"

#include <assert.h>

static graph_node choose(graph *g, graph_op relation, graph_node x, graph_node y, graph_node yes, graph_node no) {
    return graph_apply(g, GRAPH_IF, graph_binary(g, relation, x, y), yes, no);
}

/* Sets `out` to the matrix 4 (e0, e)ᵀ(e0, e) for the quaternion (e0, e) of the rotation R (row by row). */
static void products(graph *g, const graph_node R[9], graph_node out[4][4]) {
    graph_node one = graph_number(g, 1);
    for (size_t i = 0; i < 3; i++) {
        size_t j = (i + 1) % 3, k = (i + 2) % 3;
        graph_node others = graph_add(g, R[4 * j], R[4 * k]);
        out[1 + i][1 + i] = graph_sub(g, graph_add(g, one, R[4 * i]), others);
        out[0][1 + i] = out[1 + i][0] = graph_sub(g, R[3 * k + j], R[3 * j + k]);
        out[1 + i][1 + j] = out[1 + j][1 + i] = graph_add(g, R[3 * i + j], R[3 * j + i]);
    }
    out[0][0] = graph_add(g, graph_add(g, one, R[0]), graph_add(g, R[4], R[8]));
}

/* Sets out[4] to a positive multiple of the quaternion (e0, e) of the rotation R, with e0 ≥ 0. */
static void quaternion_of(graph *g, const graph_node R[9], graph_node out[4]) {
    graph_node rows[4][4], pair[2][4], size[2];
    products(g, R, rows);
    for (size_t h = 0; h < 2; h++) {
        graph_node first = rows[2 * h][2 * h], second = rows[2 * h + 1][2 * h + 1];
        for (int k = 0; k < 4; k++) pair[h][k] = choose(g, GRAPH_GE, first, second, rows[2 * h][k], rows[2 * h + 1][k]);
        size[h] = graph_binary(g, GRAPH_MAX, first, second);
    }
    for (int k = 0; k < 4; k++) out[k] = choose(g, GRAPH_GE, size[0], size[1], pair[0][k], pair[1][k]);
    graph_node zero = graph_number(g, 0), scalar = out[0];
    for (int k = 0; k < 4; k++) out[k] = choose(g, GRAPH_LT, scalar, zero, graph_neg(g, out[k]), out[k]);
}

/* Sets out[4] to a positive multiple of the quaternion of the first element's axes relative to those of the second
 * element, or to inertial axes. Returns false after adding an error. */
static bool relative_quaternion(hamel_system *s, const kinematic_call *call, graph_node out[4]) {
    graph *g = s->graph;
    graph_node relative[9];
    const system_located *all = s->binder->located, *e = &all[call->elements[0]];
    const system_located *to = call->elements[1] >= 0 ? &all[call->elements[1]] : NULL;
    const system_located *bad = !e->turns ? e : to && !to->turns ? to : NULL;
    if (bad) {
        system_fail(s, bad->pointer, "`%s` has no axes", bad->name);
        return hamel_suggest(s->error, "name a body or a frame"), false;
    }
    for (size_t i = 0; i < 9; i++) {
        relative[i] = e->rotation[i];
        if (!to) continue;
        graph_node row[3] = {to->rotation[i / 3], to->rotation[3 + i / 3], to->rotation[6 + i / 3]},
                   column[3] = {e->rotation[i % 3], e->rotation[3 + i % 3], e->rotation[6 + i % 3]};
        relative[i] = node_vector_dot(g, row, column);
    }
    quaternion_of(g, relative, out);
    return true;
}

graph_node rotation_angle_node(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    graph_node e[4];
    if (!relative_quaternion(s, call, e)) return GRAPH_NONE;
    graph_node length = graph_unary(g, GRAPH_SQRT, node_vector_dot(g, e + 1, e + 1));
    return graph_mul(g, graph_number(g, 2), graph_binary(g, GRAPH_ATAN2, length, e[0]));
}

graph_node rotation_axis_node(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    graph_node e[4];
    if (!relative_quaternion(s, call, e)) return GRAPH_NONE;
    return graph_div(g, e[1 + call->component], graph_unary(g, GRAPH_SQRT, node_vector_dot(g, e + 1, e + 1)));
}

graph_node gibbs_vector_node(hamel_system *s, const kinematic_call *call) {
    graph_node e[4];
    return relative_quaternion(s, call, e) ? graph_div(s->graph, e[1 + call->component], e[0]) : GRAPH_NONE;
}
