/* momenta.c — the list by which momenta and velocities are turned into each other. */
#include "engine/model/model.h"

/* p and ψ are linear in q' when their derivatives M and A are free of it. */
static bool are_linear(const graph *g, const matrix_pattern *p) {
    for (size_t k = 0; k < p->count; k++)
        if (graph_depends(g, p->entries[k].node) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false;
    return true;
}

static graph_node *append(graph_node *at, const matrix_pattern *p) {
    for (size_t k = 0; k < p->count; k++) *at++ = p->entries[k].node;
    return at;
}

bool model_list_momenta(hamel_model *model, const hamel_equations *e, graph_node **list) {
    graph *g = model->system->graph;
    if (!e->momentum_rate && !e->cyclic) return true;
    graph_node zero = graph_number(g, 0);
    model->at_momentum = e->M.count + e->A.count;
    model->at_momentum_velocity = model->at_momentum + e->n;
    model->momenta_count = model->at_momentum_velocity + e->m;
    model->cyclic = e->cyclic;
    model->momenta_linear = are_linear(g, &e->M) && are_linear(g, &e->A);
    graph_node *nodes = *list = arena_alloc(&model->memory, model->momenta_count, sizeof *nodes), *at = nodes;
    if (!nodes || zero < 0) return false;
    at = append(append(at, &e->M), &e->A);
    for (size_t i = 0; i < e->n; i++) *at++ = e->momentum[i];
    for (size_t c = 0; c < e->m; c++) *at++ = e->velocity[c] >= 0 ? e->velocity[c] : zero;
    return true;
}
