/* momenta.c — nodes for the conversion between momenta and velocities. */
#include "engine/model/model.h"

#include <assert.h>

/* p and ψ are linear in q' if their derivatives M and A do not depend on q'. */
static bool are_linear(const graph *g, const matrix_pattern *p) {
    for (size_t k = 0; k < p->count; k++)
        if (graph_depends(g, p->entries[k].node) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false;
    return true;
}

bool model_list_momenta(hamel_model *model, const hamel_equations *e, graph_node **list) {
    assert(e->n == model->n && e->m == model->m);
    graph *g = model->system->graph;
    if (!e->momentum_rate && !e->cyclic) return true;
    graph_node zero = graph_number(g, 0);
    model->momenta.at_momentum = e->M.count + e->A.count;
    model->momenta.at_velocity = model->momenta.at_momentum + e->n;
    model->momenta.count = model->momenta.at_velocity + e->m;
    model->momenta.cyclic = e->cyclic;
    model->momenta.linear = are_linear(g, &e->M) && are_linear(g, &e->A);
    graph_node *nodes = *list = arena_alloc(&model->memory, model->momenta.count, sizeof *nodes), *at = nodes;
    if (!nodes || zero < 0) return false;
    at = model_append_pattern(model_append_pattern(at, &e->M), &e->A);
    at = model_append_nodes(at, e->momentum, e->n, zero);
    model_append_nodes(at, e->velocity, e->m, zero);
    return true;
}
