/* slips.c — frictions that stick, gathered by the speed that they hold back. */
#include "engine/model/model.h"

static hamel_status no_memory(hamel_model *model, hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "/constraints", 0, "the system needs more than %zu MiB of memory",
                      model->limits.memory >> 20);
}

/* Rows beyond ideal_count → slips; the frictions of each in `slip_frictions`. */
static bool gather(hamel_model *model) {
    const hamel_system *s = model->system;
    size_t total = 0;
    model->slip_count = model->m - model->ideal_count;
    model->slips = arena_alloc(&model->memory, model->slip_count, sizeof *model->slips);
    model->slip_frictions = arena_alloc(&model->memory, s->friction_count, sizeof *model->slip_frictions);
    if (!model->slips || !model->slip_frictions) return false;
    for (size_t k = 0; k < s->friction_count; k++)
        if (s->frictions[k].row >= 0) model->slips[(size_t)s->frictions[k].row - model->ideal_count].last++;
    for (size_t j = 0; j < model->slip_count; j++) {
        model_slip *slip = &model->slips[j];
        size_t count = slip->last;
        slip->row = (int)(model->ideal_count + j);
        slip->first = slip->last = total;
        total += count;
    }
    for (size_t k = 0; k < s->friction_count; k++)
        if (s->frictions[k].row >= 0)
            model->slip_frictions[model->slips[(size_t)s->frictions[k].row - model->ideal_count].last++] = k;
    return true;
}

graph_node *model_slip_directions(hamel_model *model) {
    hamel_system *s = model->system;
    graph_node *directions = arena_alloc(&model->memory, model->m - model->ideal_count, sizeof *directions);
    for (size_t c = model->ideal_count; directions && c < model->m; c++)
        directions[c - model->ideal_count] = graph_unary(s->graph, GRAPH_SIGN, s->constraints[c].equation);
    return directions;
}

hamel_status model_compile_slips(hamel_model *model, const graph_node *directions, hamel_error *error) {
    hamel_system *s = model->system;
    graph *g = s->graph;
    if (model->m == model->ideal_count) return HAMEL_OK;
    graph_node *nodes = arena_alloc(&model->memory, s->friction_count, sizeof *nodes), zero = graph_number(g, 0);
    if (!nodes || !gather(model)) return no_memory(model, error);
    for (size_t j = 0; j < model->slip_count; j++) {
        size_t i = model->slips[j].switched = (size_t)graph_at(g, directions[j])->as.index;
        s->switches[i].kind = SWITCH_SLIP;
        s->switches[i].slip = (int32_t)j;
    }
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        graph_node square = zero;
        for (int i = 0; i < 3; i++) square = graph_add(g, square, graph_mul(g, f->normal[i], f->normal[i]));
        nodes[k] = f->row >= 0 ? graph_mul(g, f->limit, graph_unary(g, GRAPH_SQRT, square)) : zero;
    }
    if (graph_status(g) != HAMEL_OK) return equations_status(s);
    return program_compile(&model->bounds, &model->memory, g, nodes, s->friction_count, error);
}
