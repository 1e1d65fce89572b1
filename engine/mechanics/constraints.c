/* constraints.c — differentiates every constraint to the level of accelerations.
 *
 *   holonomic     Φ(q,t) = 0           A = ∂Φ/∂q,    A q'' = −(d/dt dΦ/dt without accelerations)
 *   velocity      f(q,q',t) = 0        A = ∂f/∂q',   A q'' = −(df/dt without accelerations)
 *   acceleration  f(q,q',q'',t) = 0    A = ∂f/∂q'',  A q'' = −f(q'' = 0), f linear in q''
 *
 * A is also the direction of the ideal reaction Aᵀλ. For velocity constraints that are not linear, this direction
 * follows from Chetaev's rule (Papastavridis A91). For acceleration constraints, the direction follows from Gauss's
 * principle, in which a constraint appears through its derivatives with respect to the accelerations (A92). The form A
 * q'' = b is that of Udwadia & Kalaba, Proc. R. Soc. A 439 (1992) 407, eq. 2.3. */
#include "engine/mechanics/equations.h"

#include <assert.h>

static graph_node without_accelerations(hamel_equations *e, graph_node f) {
    const graph_node *zeros = equations_zeros(e);
    return zeros ? graph_substitute(e->system->graph, f, SYMBOL_ACCELERATION, zeros, e->n) : GRAPH_NONE;
}

static bool derive_row(hamel_equations *e, size_t c) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    const system_constraint *constraint = &s->constraints[c];
    graph_node f = constraint->equation, rate, bias;
    graph_symbol_kind kind = constraint->order == CONSTRAINT_HOLONOMIC  ? SYMBOL_COORDINATE
                             : constraint->order == CONSTRAINT_VELOCITY ? SYMBOL_VELOCITY
                                                                        : SYMBOL_ACCELERATION;
    int32_t *support;
    size_t count = node_support(s, f, kind, &support);
    for (size_t i = 0; i < count; i++) {
        graph_node slope = graph_partial(g, f, graph_symbol(g, kind, support[i]));
        if (kind == SYMBOL_ACCELERATION && (graph_depends(g, slope) & GRAPH_DEPENDS(SYMBOL_ACCELERATION))) {
            (void)hamel_fail(s->error, HAMEL_INVALID, constraint->pointer, 0,
                             "the constraint `%s` is not linear in the accelerations", constraint->name);
            return false;
        }
        if (!pattern_add(s, &e->A, (int32_t)c, support[i], slope)) return false;
    }
    e->position[c] = e->velocity[c] = GRAPH_NONE;
    if (constraint->order == CONSTRAINT_ACCELERATION) {
        rate = f;
        bias = without_accelerations(e, f);
    } else {
        if (constraint->order == CONSTRAINT_HOLONOMIC) e->position[c] = f;
        e->velocity[c] = constraint->order == CONSTRAINT_HOLONOMIC ? graph_rate(g, f) : f;
        rate = graph_rate(g, e->velocity[c]);
        bias = graph_rate_bias(g, e->velocity[c]);
    }
    e->b[c] = graph_neg(g, bias);
    e->residual[e->n + c] = rate;
    return e->b[c] >= 0 && rate >= 0;
}

/* Adds −Aᵀλ to the residuals of the equations of motion. */
static void add_reactions(hamel_equations *e) {
    graph *g = e->system->graph;
    for (size_t k = 0; k < e->A.count; k++) {
        const matrix_entry *a = &e->A.entries[k];
        graph_node force = graph_mul(g, a->node, graph_symbol(g, SYMBOL_MULTIPLIER, a->row));
        e->residual[a->column] = graph_sub(g, e->residual[a->column], force);
    }
}

hamel_status constraints_derive(hamel_equations *e) {
    assert(e->residual && e->A.count == 0);
    hamel_system *s = e->system;
    for (size_t c = 0; c < e->m; c++)
        if (!derive_row(e, c) && s->error->status == HAMEL_OK) return equations_status(s);
    if (s->error->status != HAMEL_OK || !pattern_finish(s, &e->A)) return equations_status(s);
    add_reactions(e);
    return equations_status(s);
}
