/* kinetic_rates.c — derives the rates of a function K(t, q, q') and the operators of kinetic_rates.h.
 *
 * While rates are derived, the velocity symbol with index j · stride + k represents q_k^(j + 1) for all j ≥ 0.
 * graph_rate replaces each velocity symbol by the acceleration symbol with the same index. This acceleration symbol is
 * then renamed to the velocity symbol with index (j + 1) · stride + k. */
#include "engine/mechanics/kinetic_rates.h"

#include "engine/mechanics/equations.h"

#include <assert.h>

/* Allocates an array of `count` elements GRAPH_NONE in the system's memory. Returns NULL if out of memory. */
static graph_node *no_nodes(hamel_system *s, size_t count) {
    graph_node *list = arena_alloc(s->memory, count, sizeof *list);
    for (size_t i = 0; list && i < count; i++) list[i] = GRAPH_NONE;
    return list;
}

/* Returns an array of order · stride elements. Element j · stride + k is the symbol of q_k^(j + 2), which replaces the
 * acceleration symbol with this index. Returns NULL if out of memory. */
static graph_node *next_derivatives(hamel_system *s, int order, size_t stride) {
    graph_node *renamed = no_nodes(s, (size_t)order * stride);
    for (size_t j = 0; renamed && j < (size_t)order; j++)
        for (size_t k = 0; k < s->coordinate_count; k++)
            renamed[j * stride + k] = graph_symbol(s->graph, SYMBOL_VELOCITY, (int32_t)((j + 1) * stride + k));
    return renamed;
}

bool kinetic_rates_derive(kinetic_rates *out, hamel_system *s, graph_node function, int order, size_t stride) {
    assert(1 <= order && order <= KINETIC_RATES_MOST && stride >= s->coordinate_count);
    graph *g = s->graph;
    size_t n = s->coordinate_count, count = (size_t)order * stride;
    graph_node *renamed = next_derivatives(s, order, stride), *usual = no_nodes(s, stride + n);
    graph_node *highest = no_nodes(s, n);
    *out = (kinetic_rates){.order = order, .stride = stride};
    out->upper = no_nodes(s, n);
    out->lower = no_nodes(s, n);
    if (!renamed || !usual || !highest || !out->upper || !out->lower) return false;
    out->rate[0] = function;
    for (int j = 1; j <= order; j++)
        out->rate[j] = graph_substitute(g, graph_rate(g, out->rate[j - 1]), SYMBOL_ACCELERATION, renamed, count);
    for (size_t k = 0; k < n; k++) {
        usual[stride + k] = s->a[k];
        highest[k] = graph_symbol(g, SYMBOL_VELOCITY, (int32_t)((size_t)(order - 1) * stride + k));
    }
    if (graph_status(g) != HAMEL_OK) return false;
    if (!graph_gradient(g, &out->rate[order], 1, highest, n, out->upper) ||
        !graph_gradient(g, &out->rate[0], 1, s->q, n, out->lower))
        return false;
    for (size_t k = 0; k < n; k++)
        out->upper[k] = graph_substitute(g, out->upper[k], SYMBOL_VELOCITY, usual, stride + n);
    for (int j = 1; j <= order; j++)
        out->rate[j] = graph_substitute(g, out->rate[j], SYMBOL_VELOCITY, usual, stride + n);
    return graph_status(g) == HAMEL_OK;
}

graph_node kinetic_rates_operator(const kinetic_rates *rates, hamel_system *s, size_t k) {
    assert(k < s->coordinate_count);
    graph *g = s->graph;
    graph_node times = graph_mul(g, graph_number(g, rates->order + 1), rates->lower[k]);
    return graph_div(g, graph_sub(g, rates->upper[k], times), graph_number(g, rates->order));
}
