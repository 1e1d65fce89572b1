/* continuity.c — the values that are compared at the instant at which an operator changes its branch.
 *
 * Momenta p = ∂L/∂q' of the branch before become those of the branch after, and functions that are differentiated along
 * the motion must have the same value on both branches (engine/solve/branch_change.h). */
#include "engine/model/model.h"

#include <string.h>

/* Entries that are compared: those noted with the system, and the equations of holonomic constraints. */
static bool note(hamel_model *model, graph_node *nodes, graph_node node, model_continuous what) {
    if (node < 0) return true;
    what.pointer = arena_text(&model->memory, what.pointer, strlen(what.pointer)); /* outlives the description */
    nodes[model->continuous_count] = node;
    model->continuous[model->continuous_count++] = what;
    return what.pointer != NULL;
}

bool model_list_continuity(hamel_model *model, const hamel_equations *e, graph_node **list) {
    const hamel_system *s = model->system;
    size_t most = s->continuous_count + e->m;
    graph_node *nodes = *list = arena_alloc(&model->memory, e->n + 1 + most, sizeof *nodes);
    model->continuous = arena_alloc(&model->memory, most + 1, sizeof *model->continuous);
    if (!nodes || !model->continuous) return false;
    graph_node *at = nodes + e->n + 1;
    memcpy(nodes, e->momentum, e->n * sizeof *nodes);
    nodes[e->n] = e->jacobi;
    for (size_t i = 0; i < s->continuous_count; i++) {
        const system_continuous *from = &s->continuous[i];
        if (!note(model, at, from->node, (model_continuous){from->pointer, from->what, -1})) return false;
    }
    for (size_t c = 0; c < e->m; c++)
        if (!note(model, at, e->position[c], (model_continuous){s->constraints[c].pointer, "", (int32_t)c}))
            return false;
    return true;
}

static bool has_branch(const graph *g, graph_node node) {
    return graph_depends(g, node) & GRAPH_DEPENDS(SYMBOL_BRANCH);
}

static bool any_branch(const graph *g, const graph_node *nodes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (has_branch(g, nodes[i])) return true;
    return false;
}

/* Keeps only the entries that have branches. */
hamel_status model_compile_continuity(hamel_model *model, graph_node *list, const graph_node *dynamics,
                                      hamel_error *error) {
    const graph *g = model->system->graph;
    size_t n = model->n, kept = 0;
    graph_node *at = list + n + 1;
    for (size_t i = 0; i < model->continuous_count; i++) {
        if (!has_branch(g, at[i])) continue;
        at[kept] = at[i];
        model->continuous[kept++] = model->continuous[i];
    }
    model->continuous_count = kept;
    if (!any_branch(g, list, n + 1 + kept) && !any_branch(g, dynamics + model->at_A, model->A.count) &&
        !any_branch(g, dynamics + model->at_velocity, model->m))
        return HAMEL_OK;
    return program_compile(&model->continuity, &model->memory, model->system->graph, list, n + 1 + kept, error);
}
