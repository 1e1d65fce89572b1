/* continuity.c — functions that are compared when a nonsmooth operator changes its branch.
 *
 * At a change of branch, only impulses of constraints change the momenta p = ∂L/∂q'. Functions that are differentiated
 * along the motion must have the same value on both branches (engine/dynamics/branch_change.h). */
#include "engine/model/model.h"

#include <assert.h>
#include <string.h>

/* Appends a function to compare. Returns false if out of memory. */
static bool note(hamel_model *model, graph_node *nodes, graph_node node, model_continuous what) {
    if (node < 0) return true;
    /* a copy, because the owner may free the text */
    what.pointer = arena_text(&model->memory, what.pointer, strlen(what.pointer));
    nodes[model->continuity.count] = node;
    model->continuity.functions[model->continuity.count++] = what;
    return what.pointer != NULL;
}

bool model_list_continuity(hamel_model *model, const hamel_equations *e, graph_node **list) {
    assert(e->momentum && e->m == model->m);
    const hamel_system *s = model->system;
    size_t most = s->continuous_count + e->m;
    graph_node *nodes = *list = arena_alloc(&model->memory, e->n + 1 + most, sizeof *nodes);
    model->continuity.functions = arena_alloc(&model->memory, most + 1, sizeof *model->continuity.functions);
    if (!nodes || !model->continuity.functions) return false;
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

static bool any_branch(const graph *g, const graph_node *nodes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (graph_depends(g, nodes[i]) & GRAPH_DEPENDS(SYMBOL_BRANCH)) return true;
    return false;
}

/* Compares only the functions that depend on a branch. */
hamel_status model_compile_continuity(hamel_model *model, graph_node *list, const graph_node *dynamics) {
    assert(!model->continuity.program);
    const graph *g = model->system->graph;
    size_t n = model->n, kept = 0;
    graph_node *at = list + n + 1;
    for (size_t i = 0; i < model->continuity.count; i++) {
        if (!any_branch(g, &at[i], 1)) continue;
        at[kept] = at[i];
        model->continuity.functions[kept++] = model->continuity.functions[i];
    }
    model->continuity.count = kept;
    if (!any_branch(g, list, n + 1 + kept) &&
        !any_branch(g, dynamics + model->dynamics.A.at, model->dynamics.A.count) &&
        !any_branch(g, dynamics + model->dynamics.at_velocity, model->m))
        return HAMEL_OK;
    return model_compile(model, &model->continuity.program, list, n + 1 + kept);
}
