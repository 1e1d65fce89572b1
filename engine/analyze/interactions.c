/* interactions.c — forces and couples on elements, their virtual work, and the bodies between which they act.
 *
 *     δW = F·(δr + δφ × (p − r)) + C·δφ          force F at the point p and couple C on an element at r (Baruh 4.5)
 *
 * The coefficients of δr and δφ are ∂r/∂q_k and ∂ω/∂q'_k. If ∂r/∂t and ω at q' = 0 replace these coefficients, the
 * expression is the temporal component of the force (Papastavridis 3.4). */
#include "engine/analyze/forces_int.h"

#include <assert.h>
#include <string.h>

static bool slot_moves(const hamel_system *s, int32_t slot) {
    if (slot < 0) return false;
    const bind_slot *own = &s->binder->slots[slot];
    for (size_t k = 0; k < own->count; k++)
        if (graph_depends(s->graph, own->nodes[k]) & GRAPH_DEPENDS(SYMBOL_COORDINATE)) return true;
    return false;
}

int32_t interaction_owner(const hamel_system *s, int32_t element) {
    while (element >= 0) {
        const system_located *e = &s->binder->located[element];
        if (strcmp(e->kind, "body") == 0 || strcmp(e->kind, "particle") == 0) return element;
        if (slot_moves(s, e->position_slot) || slot_moves(s, e->orientation_slot)) return OWNER_UNKNOWN;
        /* a frame whose origin and axes belong to different frames is fixed to neither of them */
        if (e->turns && e->parent != e->axes) return OWNER_UNKNOWN;
        element = e->parent;
    }
    return OWNER_GROUND;
}

static void set_vector(graph_node to[3], const graph_node from[3]) {
    for (int k = 0; k < 3; k++) to[k] = from[k];
}

static void scale_vector(graph *g, graph_node factor, graph_node x[3]) {
    for (int k = 0; k < 3; k++) x[k] = graph_mul(g, factor, x[k]);
}

/* Sets `force` to the force of a spring or damper on the first end. For a rod, sets the unit vector from the second end
 * to the first. */
static void set_axial(hamel_system *s, const system_interaction *i, graph_node force[3]) {
    graph *g = s->graph;
    const system_located *all = s->binder->located;
    graph_node scale = i->strength;
    for (int k = 0; k < 3; k++) force[k] = graph_sub(g, all[i->ends[0]].position[k], all[i->ends[1]].position[k]);
    graph_node distance = graph_unary(g, GRAPH_SQRT, node_vector_dot(g, force, force));
    bool natural = i->kind == INTERACTION_SPRING && graph_is_zero(g, i->length);
    if (i->kind == INTERACTION_SPRING && !natural) scale = graph_mul(g, scale, graph_sub(g, distance, i->length));
    if (i->kind == INTERACTION_DAMPER) scale = graph_mul(g, scale, graph_rate(g, distance));
    scale = i->kind == INTERACTION_ROD ? graph_number(g, 1) : graph_neg(g, scale);
    scale_vector(g, natural ? scale : graph_div(g, scale, distance), force);
}

/* Sets the force and the couple on the first end, and marks the point of action as not set. */
static void set_first(hamel_system *s, const system_interaction *i, wrench *to) {
    graph *g = s->graph;
    for (int k = 0; k < 3; k++) to->force[k] = to->couple[k] = graph_number(g, 0), to->point[k] = GRAPH_NONE;
    switch ((interaction_kind)i->kind) {
    case INTERACTION_GRAVITY:
        set_vector(to->force, i->first);
        scale_vector(g, i->strength, to->force);
        break;
    case INTERACTION_LOAD:
        set_vector(to->force, i->first);
        set_vector(to->couple, i->second);
        break;
    case INTERACTION_SPRING:
    case INTERACTION_DAMPER:
    case INTERACTION_ROD: set_axial(s, i, to->force); break;
    case INTERACTION_FORCE:
        if (i->axis < 0) set_vector(to->force, i->first);
        if (i->axis >= 0) to->force[i->axis] = graph_number(g, 1);
        break;
    case INTERACTION_COUPLE: node_vector_cross(g, i->first, i->second, to->couple); break;
    }
}

size_t interaction_wrenches(hamel_system *s, const system_interaction *i, wrench list[2]) {
    graph *g = s->graph;
    const system_located *all = s->binder->located;
    wrench *first = &list[0], *second = &list[1];
    set_first(s, i, first);
    first->element = i->ends[0];
    if (i->point == AT_GIVEN_POINT) set_vector(first->point, i->second);
    if (i->point == AT_FIRST_ORIGIN || i->point == AT_SECOND_ORIGIN) {
        int32_t at = i->ends[i->point == AT_SECOND_ORIGIN];
        if (at >= 0) set_vector(first->point, all[at].position);
    }
    if (i->constraint >= 0) {
        graph_node lambda = graph_symbol(g, SYMBOL_MULTIPLIER, i->constraint);
        scale_vector(g, lambda, first->force);
        scale_vector(g, lambda, first->couple);
    }
    if (i->ends[1] < 0) return 1;
    *second = *first;
    second->element = i->ends[1];
    for (int k = 0; k < 3; k++) {
        second->force[k] = graph_neg(g, first->force[k]);
        second->couple[k] = graph_neg(g, first->couple[k]);
    }
    return 2;
}

/* Sets r to the displacement of the origin of an element, and phi to the rotation of the element, per δq_k. If k = n,
 * both are per dt. */
static void element_displacement(hamel_system *s, const system_located *e, size_t k, graph_node r[3],
                                 graph_node phi[3]) {
    graph *g = s->graph;
    graph_node *zeros = k < s->coordinate_count ? NULL : node_array(s, s->coordinate_count);
    for (int c = 0; c < 3; c++) {
        if (k < s->coordinate_count) {
            r[c] = graph_partial(g, e->position[c], s->q[k]);
            phi[c] = graph_partial(g, e->omega[c], s->v[k]);
        } else {
            r[c] = graph_partial(g, e->position[c], graph_symbol(g, SYMBOL_TIME, 0));
            phi[c] = zeros ? graph_substitute(g, e->omega[c], SYMBOL_VELOCITY, zeros, s->coordinate_count) : GRAPH_NONE;
        }
    }
}

graph_node interaction_work(hamel_system *s, const wrench *x, size_t k) {
    assert(x->element >= 0 && k <= s->coordinate_count);
    graph *g = s->graph;
    const system_located *e = &s->binder->located[x->element];
    graph_node r[3], phi[3], arm[3], turn[3];
    element_displacement(s, e, k, r, phi);
    if (x->point[0] != GRAPH_NONE) {
        for (int c = 0; c < 3; c++) arm[c] = graph_sub(g, x->point[c], e->position[c]);
        node_vector_cross(g, phi, arm, turn);
        for (int c = 0; c < 3; c++) r[c] = graph_add(g, r[c], turn[c]);
    }
    return graph_add(g, node_vector_dot(g, x->force, r), node_vector_dot(g, x->couple, phi));
}

static const char *owner_name(force_work *w, int32_t owner) {
    if (owner == OWNER_GROUND) return "ground";
    return arena_format(w->a->memory, "%s", w->a->system->binder->located[owner].name);
}

hamel_status interaction_classify(force_work *w, hamel_action *to, const int32_t ends[2]) {
    const hamel_system *s = w->a->system;
    int32_t owners[2] = {interaction_owner(s, ends[0]), interaction_owner(s, ends[1])};
    if (owners[0] == OWNER_UNKNOWN || owners[1] == OWNER_UNKNOWN) return HAMEL_OK;
    if (owners[0] == OWNER_GROUND && owners[1] == OWNER_GROUND) return HAMEL_OK;
    to->scope = owners[0] >= 0 && owners[1] >= 0 ? "internal" : "external";
    for (int k = 0; k < 2; k++)
        if (!(to->between[k] = owner_name(w, owners[k]))) return analysis_no_memory(w->a);
    return HAMEL_OK;
}
