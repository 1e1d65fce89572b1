/* rotation.c — rotation matrices and angular velocities of orientations.
 *
 *   Euler       R = R_i(x1) R_j(x2) R_k(x3) for intrinsic sequences. An extrinsic sequence is an intrinsic one
 *               in reverse order (Papastavridis 1.11, A21, A23). ω = e_i x1' + R_i e_j x2' + R_i R_j e_k x3'.
 *   quaternion  ω = 2 (e0 e' − e0' e ∓ e × e'), − in body axes, + in outer axes (Baruh 7.7; Greenwood 3.29)
 *   matrix      Rᵀ R' and R' Rᵀ are the antisymmetric tensors of ω in body and in outer axes (Papastavridis A11)
 *
 * All matrices map components in body axes to components in outer axes. */
#include "engine/system/elements.h"

#include <assert.h>
#include <string.h>

static void identity(graph *g, graph_node m[9]) {
    for (int k = 0; k < 9; k++) m[k] = graph_number(g, k % 4 == 0);
}

bool node_vector_is_zero(const graph *g, const graph_node x[3]) {
    return graph_is_zero(g, x[0]) && graph_is_zero(g, x[1]) && graph_is_zero(g, x[2]);
}

graph_node node_vector_dot(graph *g, const graph_node a[3], const graph_node b[3]) {
    graph_node sum = graph_mul(g, a[0], b[0]);
    for (int k = 1; k < 3; k++) sum = graph_add(g, sum, graph_mul(g, a[k], b[k]));
    return sum;
}

void node_matrix_times(graph *g, const graph_node a[9], const graph_node b[9], graph_node out[9]) {
    assert(out != a && out != b);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            graph_node column[3] = {b[j], b[3 + j], b[6 + j]};
            out[3 * i + j] = node_vector_dot(g, a + 3 * i, column);
        }
}

void node_matrix_apply(graph *g, const graph_node m[9], const graph_node x[3], graph_node out[3]) {
    assert(out != x);
    for (size_t i = 0; i < 3; i++) out[i] = node_vector_dot(g, m + 3 * i, x);
}

void node_matrix_apply_transposed(graph *g, const graph_node m[9], const graph_node x[3], graph_node out[3]) {
    assert(out != x);
    for (int j = 0; j < 3; j++) {
        graph_node column[3] = {m[j], m[3 + j], m[6 + j]};
        out[j] = node_vector_dot(g, column, x);
    }
}

void node_vector_cross(graph *g, const graph_node a[3], const graph_node b[3], graph_node out[3]) {
    assert(out != a && out != b);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = graph_sub(g, graph_mul(g, a[i], b[j]), graph_mul(g, a[j], b[i]));
    }
}

/* Computes the matrix of a rotation about coordinate axis k. */
static void elementary(graph *g, int k, graph_node angle, graph_node out[9]) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    graph_node c = graph_unary(g, GRAPH_COS, angle), s = graph_unary(g, GRAPH_SIN, angle);
    identity(g, out);
    out[3 * i + i] = out[3 * j + j] = c;
    out[3 * i + j] = graph_neg(g, s);
    out[3 * j + i] = s;
}

/* Adds the rate of an angle about coordinate axis k to an angular velocity. */
static void add_rate(graph *g, int k, graph_node angle, graph_node omega[3]) {
    omega[k] = graph_add(g, graph_rate(g, angle), omega[k]);
}

/* Computes the rotation and adds the rates of the angles to omega and omega_body, which must be 0 before the call. */
static void euler(graph *g, const int axis[3], const graph_node angle[3], graph_node rotation[9], graph_node omega[3],
                  graph_node omega_body[3]) {
    graph_node single[3][9], pair[9], term[3];
    for (int k = 0; k < 3; k++) elementary(g, axis[k], angle[k], single[k]);
    node_matrix_times(g, single[0], single[1], pair);
    node_matrix_times(g, pair, single[2], rotation);
    add_rate(g, axis[2], angle[2], omega); /* rates are added from the innermost axis outwards */
    for (int k = 1; k >= 0; k--) {
        node_matrix_apply(g, single[k], omega, term);
        add_rate(g, axis[k], angle[k], memcpy(omega, term, sizeof term));
    }
    add_rate(g, axis[0], angle[0], omega_body); /* rates are added from the outermost axis inwards */
    for (int k = 1; k < 3; k++) {
        node_matrix_apply_transposed(g, single[k], omega_body, term);
        add_rate(g, axis[k], angle[k], memcpy(omega_body, term, sizeof term));
    }
}

static bool parse_sequence(hamel_system *s, const hamel_orientation *o, int axis[3], bool *extrinsic) {
    const char *text = o->sequence ? o->sequence : "";
    bool good = strlen(text) == 3, upper = strspn(text, "XYZ") == 3, lower = strspn(text, "xyz") == 3;
    for (int k = 0; good && k < 3; k++) axis[k] = (text[k] | 32) - 'x';
    good = good && (upper || lower) && axis[0] != axis[1] && axis[1] != axis[2];
    *extrinsic = lower;
    if (good) return true;
    system_fail(s, o->sequence_pointer ? o->sequence_pointer : o->pointer, "`%.20s` is not an Euler sequence", text);
    return hamel_suggest(s->error, "write three axes with different neighbours: \"ZXZ\", \"ZYX\", ... (intrinsic), or "
                                   "\"zxz\", ... (extrinsic)"),
           false;
}

static void quaternion(graph *g, const graph_node e[4], graph_node rotation[9], graph_node omega[3],
                       graph_node omega_body[3]) {
    graph_node two = graph_number(g, 2), rate[4], cross[3], square[4];
    for (int k = 0; k < 4; k++) {
        rate[k] = graph_rate(g, e[k]);
        square[k] = graph_binary(g, GRAPH_POW, e[k], two);
    }
    node_vector_cross(g, e + 1, rate + 1, cross);
    for (size_t i = 0; i < 3; i++) {
        size_t j = (i + 1) % 3, k = (i + 2) % 3;
        graph_node along = graph_sub(g, graph_mul(g, e[0], rate[1 + i]), graph_mul(g, rate[0], e[1 + i]));
        omega[i] = graph_mul(g, two, graph_add(g, along, cross[i]));
        omega_body[i] = graph_mul(g, two, graph_sub(g, along, cross[i]));
        rotation[4 * i] =
            graph_sub(g, graph_add(g, square[0], square[1 + i]), graph_add(g, square[1 + j], square[1 + k]));
        graph_node mixed = graph_mul(g, e[1 + i], e[1 + j]), turn = graph_mul(g, e[0], e[1 + k]);
        rotation[3 * i + j] = graph_mul(g, two, graph_sub(g, mixed, turn));
        rotation[3 * j + i] = graph_mul(g, two, graph_add(g, mixed, turn));
    }
}

static void matrix(graph *g, const graph_node R[9], graph_node omega[3], graph_node omega_body[3]) {
    graph_node rate[9];
    for (int k = 0; k < 9; k++) rate[k] = graph_rate(g, R[k]);
    for (size_t i = 0; i < 3; i++) {
        size_t j = (i + 1) % 3, k = (i + 2) % 3;
        graph_node column_j[3] = {rate[j], rate[3 + j], rate[6 + j]}, column_k[3] = {R[k], R[3 + k], R[6 + k]};
        omega[i] = node_vector_dot(g, rate + 3 * k, R + 3 * j); /* (R' Rᵀ)_kj */
        omega_body[i] = node_vector_dot(g, column_k, column_j); /* (Rᵀ R')_kj */
    }
}

bool rotation_of(hamel_system *s, const hamel_orientation *o, const graph_node *values, graph_node rotation[9],
                 graph_node omega[3], graph_node omega_body[3]) {
    graph *g = s->graph;
    int axis[3];
    bool extrinsic;
    for (int k = 0; k < 3; k++) omega[k] = omega_body[k] = graph_number(g, 0);
    switch (o->kind) {
    case HAMEL_PARALLEL: identity(g, rotation); return true;
    case HAMEL_ANGLE:
        elementary(g, 2, values[0], rotation);
        omega[2] = omega_body[2] = graph_rate(g, values[0]);
        return true;
    case HAMEL_EULER:
        if (!parse_sequence(s, o, axis, &extrinsic)) return false;
        if (extrinsic)
            euler(g, (int[]){axis[2], axis[1], axis[0]}, (graph_node[]){values[2], values[1], values[0]}, rotation,
                  omega, omega_body);
        else
            euler(g, axis, values, rotation, omega, omega_body);
        return true;
    case HAMEL_QUATERNION: quaternion(g, values, rotation, omega, omega_body); return true;
    case HAMEL_MATRIX:
        memcpy(rotation, values, 9 * sizeof *rotation);
        matrix(g, rotation, omega, omega_body);
        return true;
    }
    return false;
}

graph_node rotation_sine(hamel_system *s, const hamel_orientation *o, const graph_node *values) {
    if (o->kind != HAMEL_EULER) return GRAPH_NONE;
    bool same = (o->sequence[0] | 32) == (o->sequence[2] | 32);
    return graph_unary(s->graph, same ? GRAPH_SIN : GRAPH_COS, values[1]);
}
