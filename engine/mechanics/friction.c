/* friction.c — Coulomb friction: its force per unit of |λ|, the magnitude of a multiplier.
 *
 *     M q'' = Q + Aᵀλ + F |λ|,     F_ik = −μ |g| s_t·∂s/∂q'_i / √(|s_t|² + ε²)          Udwadia 2000, eq. 36-39
 *
 * λ is the multiplier in the motion with friction, not the multiplier that the constraints would have without friction.
 * The two multipliers agree only if A M⁻¹F = 0, as for a particle on a curve (Papastavridis A66, Baruh example 4.12 and
 * exercise 4.41). s is the velocity of the point relative to the surface (the slip), and λ g is the normal force. s_t
 * is the part of s along the surface. If the equation of the constraint contains only the coordinates of the point, s·g
 * = 0 and is not computed. If ε is not specified, a point that comes to rest sticks (dynamics/stick_slip.h). The
 * direction of sliding is then a branch, which a run keeps constant between events. */
#include "engine/mechanics/equations.h"
#include "engine/system/elements.h"

#include <assert.h>
#include <float.h>

/* Returns true if s·g may differ from 0, because the surface moves with time or with other coordinates. */
static bool surface_moves(const hamel_equations *e, const system_friction *f) {
    hamel_system *s = e->system;
    graph_node equation = s->constraints[f->constraint].equation;
    if (graph_depends(s->graph, equation) & GRAPH_DEPENDS(SYMBOL_TIME)) return true;
    const int32_t *support;
    size_t count = graph_support(s->graph, equation, SYMBOL_COORDINATE, &support);
    for (size_t i = 0, at = 0; i < count; i++) { /* both lists are sorted */
        while (at < f->count && f->coordinates[at] < support[i]) at++;
        if (at == f->count || f->coordinates[at] != support[i]) return true;
    }
    return false;
}

static bool add_friction_entry(hamel_equations *e, const system_friction *f, int32_t column, int32_t i,
                               graph_node force) {
    graph *g = e->system->graph;
    graph_node magnitude = graph_unary(g, GRAPH_ABS, graph_symbol(g, SYMBOL_MULTIPLIER, f->constraint));
    e->residual[i] = graph_sub(g, e->residual[i], graph_mul(g, force, magnitude));
    return e->residual[i] >= 0 && pattern_add(e->system, &e->F, i, column, force);
}

/* Returns −μ|g|. The friction force is the product of this value, |λ| and the unit vector of the slip. */
static graph_node pressure(const hamel_equations *e, const system_friction *f, graph_node square) {
    graph *g = e->system->graph;
    return graph_neg(g, graph_mul(g, f->coefficient, graph_unary(g, GRAPH_SQRT, square)));
}

/* Adds the forces −μ|g| Σ_j u_j ∂w_j/∂q'_i, where w is the slip along the surface and u the direction of w. */
static bool add_along(hamel_equations *e, int32_t column, const system_friction *f, const graph_node *u) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node factor = pressure(e, f, node_vector_dot(g, f->normal, f->normal));
    for (size_t i = 0; i < f->count; i++) {
        graph_node sum = graph_number(g, 0);
        for (size_t j = 0; j < f->along_count; j++) {
            graph_node slope = graph_partial(g, f->along[j], s->v[f->coordinates[i]]);
            sum = graph_add(g, sum, graph_mul(g, u[j], slope));
        }
        if (!add_friction_entry(e, f, column, f->coordinates[i], graph_mul(g, factor, sum))) return false;
    }
    return true;
}

static graph_node dot_along(graph *g, const system_friction *f, const graph_node *x, const graph_node *y) {
    graph_node sum = graph_number(g, 0);
    for (size_t j = 0; j < f->along_count; j++) sum = graph_add(g, sum, graph_mul(g, x[j], y[j]));
    return sum;
}

/* Sets `u` to the direction of a slip w in space. D is the last direction of the slip, scaled to a negligible speed:
 *
 *     u = r/|r|,    r = (w·D) w + (D·D) D
 *
 * If |w| is much larger than |D|, u is w/|w|. When sliding begins, w = 0 and u is D/|D|. When sliding ends, w passes
 * through 0 along D, and u remains D/|D|. A step can therefore pass the instant of rest. In the plane, the constant
 * sign of the slip has the same effect. r·D > 0 always. If D = 0 (the point sticks), u = 0. DBL_MIN prevents |r| = 0
 * and is negligible against |r|² ≥ 1e-240 (dynamics/stick_slip.c). */
static void hold_direction(hamel_equations *e, const system_friction *f, graph_node u[3]) {
    graph *g = e->system->graph;
    graph_node D[3], r[3];
    for (size_t j = 0; j < f->along_count; j++) D[j] = graph_symbol(g, SYMBOL_BRANCH, f->held + (int32_t)j);
    graph_node way = dot_along(g, f, f->along, D), square = dot_along(g, f, D, D);
    for (size_t j = 0; j < f->along_count; j++)
        r[j] = graph_add(g, graph_mul(g, way, f->along[j]), graph_mul(g, square, D[j]));
    graph_node size = graph_unary(g, GRAPH_SQRT, graph_add(g, dot_along(g, f, r, r), graph_number(g, DBL_MIN)));
    for (size_t j = 0; j < f->along_count; j++) u[j] = graph_div(g, r[j], size);
}

/* Adds the friction of a point that can stick. If the slip has one component, its sign is a branch, which is constant
 * between events and 0 while the point sticks. */
static bool add_sticking(hamel_equations *e, int32_t column, const system_friction *f) {
    graph *g = e->system->graph;
    graph_node u[3];
    if (f->along_count == 1)
        u[0] = graph_unary(g, GRAPH_SIGN, f->along[0]);
    else
        hold_direction(e, f, u);
    return add_along(e, column, f, u);
}

static bool add_friction(hamel_equations *e, size_t index) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    const system_friction *f = &s->frictions[index];
    if (f->regularization == 0 && f->along_count == 0) return true;
    if (f->regularization == 0 && (f->along_count == 1 || e->held)) return add_sticking(e, (int32_t)index, f);
    graph_node square = node_vector_dot(g, f->normal, f->normal), along[3];
    graph_node part =
        surface_moves(e, f) ? graph_div(g, node_vector_dot(g, f->slip, f->normal), square) : graph_number(g, 0);
    for (int k = 0; k < 3; k++) along[k] = graph_sub(g, f->slip[k], graph_mul(g, part, f->normal[k]));
    graph_node floor = graph_number(g, f->regularization * f->regularization);
    graph_node speed = graph_unary(g, GRAPH_SQRT, graph_add(g, node_vector_dot(g, along, along), floor));
    graph_node factor = graph_div(g, pressure(e, f, square), speed);
    for (size_t i = 0; i < f->count; i++) {
        graph_node slope[3];
        for (int k = 0; k < 3; k++) slope[k] = graph_partial(g, f->slip[k], s->v[f->coordinates[i]]);
        graph_node force = graph_mul(g, factor, node_vector_dot(g, along, slope));
        if (!add_friction_entry(e, f, (int32_t)index, f->coordinates[i], force)) return false;
    }
    return true;
}

hamel_status friction_derive(hamel_equations *e) {
    assert(e->residual && e->F.count == 0);
    bool good = true;
    for (size_t k = 0; good && k < e->system->friction_count; k++) good = add_friction(e, k);
    (void)(good && pattern_finish(e->system, &e->F));
    return equations_status(e->system);
}

graph_node friction_power(const hamel_equations *e, const graph_node *x) {
    graph *g = e->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < e->F.count; k++) {
        const matrix_entry *f = &e->F.entries[k];
        int32_t c = e->system->frictions[f->column].constraint;
        graph_node force = graph_mul(g, f->node, graph_unary(g, GRAPH_ABS, graph_symbol(g, SYMBOL_MULTIPLIER, c)));
        sum = graph_add(g, sum, graph_mul(g, force, x[f->row]));
    }
    return sum;
}

graph_node friction_let_go(const hamel_equations *e, graph_node node) {
    assert(graph_status(e->system->graph) == HAMEL_OK);
    hamel_system *s = e->system;
    if (!(graph_depends(s->graph, node) & GRAPH_DEPENDS(SYMBOL_BRANCH))) return node;
    graph_node *slips = node_array(s, s->nonsmooth_count);
    for (size_t i = 0; slips && i < s->nonsmooth_count; i++) slips[i] = s->nonsmooth[i].written;
    return slips ? graph_substitute(s->graph, node, SYMBOL_BRANCH, slips, s->nonsmooth_count) : GRAPH_NONE;
}
