/* path.c — rates of accelerations; jerk, curvature, torsion and Frenet's triad of the path of a point.
 *
 *   d/dt f(t, q, q', q'') = ∂f/∂t + Σ q' ∂f/∂q + q'' ∂f/∂q' + q''' ∂f/∂q''
 *   t = v/|v|,  b = v × a/|v × a|,  n = b × t              Frenet's triad           Papastavridis 1.2, 1.7
 *   curvature |v × a|/|v|³,  torsion (v × a)·j/|v × a|²
 *
 * q''' is computed from the time derivative of the equations of motion (engine/dynamics/jerk.h). Normal, binormal and
 * torsion do not exist while v × a = 0. While v = 0, the tangent and the curvature do not exist either. */
#include "engine/system/kinematics.h"

#include <assert.h>

/* Returns the reason why the equations of motion cannot be differentiated, as the end of a sentence with "because", or
 * NULL if they can be. */
static const char *reason_against_jerk(const hamel_system *s) {
    const graph *g = s->graph;
    if (s->friction_count > 0) return "of friction, whose force is not differentiable";
    if (graph_depends(g, s->dissipation) & GRAPH_DEPENDS(SYMBOL_MULTIPLIER)) return "forces contain multipliers";
    for (size_t i = 0; i < s->coordinate_count; i++) {
        if (!graph_is_zero(g, s->coordinates[i].nonideal)) return "of nonideal constraints";
        if (graph_depends(g, s->coordinates[i].force) & GRAPH_DEPENDS(SYMBOL_MULTIPLIER))
            return "forces contain multipliers";
    }
    return NULL;
}

graph_node path_rate(hamel_system *s, graph_node node) {
    graph *g = s->graph;
    const int32_t *list;
    if (node < 0) return GRAPH_NONE;
    graph_node rate = graph_rate(g, node);
    size_t count = graph_support(g, node, SYMBOL_ACCELERATION, &list);
    const char *reason = count > 0 ? reason_against_jerk(s) : NULL;
    if (reason) {
        system_fail(s, "", "the rate of an acceleration is unknown because %s", reason);
        return GRAPH_NONE;
    }
    int32_t *own = arena_alloc(s->memory, count, sizeof *own);
    for (size_t k = 0; own && k < count; k++) own[k] = list[k];
    for (size_t k = 0; own && k < count; k++) {
        graph_node slope = graph_partial(g, node, s->a[own[k]]);
        rate = graph_add(g, rate, graph_mul(g, slope, graph_symbol(g, SYMBOL_JERK, own[k])));
    }
    return own ? rate : GRAPH_NONE;
}

/* The velocity and the acceleration of a point, v × a, and |v × a|. */
typedef struct path_rates {
    graph_node v[3], a[3], cross[3], size;
} path_rates;

static path_rates rates_of(hamel_system *s, const kinematic_call *call) {
    const system_located *e = &s->binder->located[call->elements[0]];
    path_rates p;
    for (int k = 0; k < 3; k++) {
        p.v[k] = graph_rate(s->graph, e->position[k]);
        p.a[k] = graph_rate(s->graph, p.v[k]);
    }
    node_vector_cross(s->graph, p.v, p.a, p.cross);
    p.size = graph_unary(s->graph, GRAPH_SQRT, node_vector_dot(s->graph, p.cross, p.cross));
    return p;
}

static graph_node speed_of(graph *g, const path_rates *p) {
    return graph_unary(g, GRAPH_SQRT, node_vector_dot(g, p->v, p->v));
}

graph_node path_jerk(hamel_system *s, const kinematic_call *call) {
    return path_rate(s, rates_of(s, call).a[call->component]);
}

graph_node path_curvature(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    path_rates p = rates_of(s, call);
    return graph_div(g, p.size, graph_binary(g, GRAPH_POW, speed_of(g, &p), graph_number(g, 3)));
}

graph_node path_torsion(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    graph_node j[3];
    path_rates p = rates_of(s, call);
    for (int k = 0; k < 3; k++)
        if ((j[k] = path_rate(s, p.a[k])) < 0) return GRAPH_NONE;
    return graph_div(g, node_vector_dot(g, p.cross, j), node_vector_dot(g, p.cross, p.cross));
}

graph_node path_axis(hamel_system *s, const kinematic_call *call) {
    graph *g = s->graph;
    graph_node tangent[3], binormal[3], normal[3];
    path_rates p = rates_of(s, call);
    for (int k = 0; k < 3; k++) {
        tangent[k] = graph_div(g, p.v[k], speed_of(g, &p));
        binormal[k] = graph_div(g, p.cross[k], p.size);
    }
    node_vector_cross(g, binormal, tangent, normal);
    return call->quantity == QUANTITY_PATH_TANGENT    ? tangent[call->component]
           : call->quantity == QUANTITY_PATH_BINORMAL ? binormal[call->component]
                                                      : normal[call->component];
}
