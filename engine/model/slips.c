/* slips.c — groups the frictions of contacts that can stick. Frictions with the same slip velocity form one group. */
#include "engine/model/model.h"

#include <assert.h>

/* Lists the slips with their rows, and stores the number of frictions of each slip in its `last`. At the first row of a
 * slip, of_row is set to the index of the slip plus 1. */
static void find_slips(hamel_model *model, size_t *of_row) {
    const hamel_system *s = model->system;
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        if (f->row < 0) continue;
        size_t row = (size_t)f->row, *slip = &of_row[row - model->ideal_count];
        if (*slip == 0) {
            model->friction.slips[model->friction.slip_count++] = (model_slip){.row = row, .parts = f->along_count};
            *slip = model->friction.slip_count;
        }
        model->friction.slips[*slip - 1].last++;
    }
}

/* Fills slip_frictions with the frictions of each slip. Returns false if out of memory. */
static bool gather(hamel_model *model) {
    const hamel_system *s = model->system;
    size_t total = 0, rows = model->m - model->ideal_count;
    size_t *of_row = arena_alloc(&model->memory, rows, sizeof *of_row);
    model->friction.slips = arena_alloc(&model->memory, rows, sizeof *model->friction.slips);
    model->friction.slip_frictions =
        arena_alloc(&model->memory, s->friction_count, sizeof *model->friction.slip_frictions);
    if (!of_row || !model->friction.slips || !model->friction.slip_frictions) return false;
    find_slips(model, of_row);
    for (size_t j = 0; j < model->friction.slip_count; j++) {
        model_slip *slip = &model->friction.slips[j];
        size_t count = slip->last;
        slip->first = slip->last = total;
        total += count;
    }
    for (size_t k = 0; k < s->friction_count; k++) {
        if (s->frictions[k].row < 0) continue;
        model_slip *slip = &model->friction.slips[of_row[(size_t)s->frictions[k].row - model->ideal_count] - 1];
        model->friction.slip_frictions[slip->last++] = k;
    }
    return true;
}

graph_node *model_slip_directions(hamel_model *model) {
    assert(model->ideal_count <= model->m);
    hamel_system *s = model->system;
    graph_node *directions = arena_alloc(&model->memory, model->m - model->ideal_count, sizeof *directions);
    for (size_t c = model->ideal_count; directions && c < model->m; c++)
        directions[c - model->ideal_count] = s->constraints[c].equation;
    for (size_t k = 0; directions && k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        if (f->row >= 0 && f->held < 0)
            directions[(size_t)f->row - model->ideal_count] = graph_unary(s->graph, GRAPH_SIGN, f->along[0]);
    }
    return directions;
}

/* Connects the slip with the nonsmooth operators whose branches represent its direction. */
static void join_directions(hamel_model *model, model_slip *slip, const graph_node *directions) {
    hamel_system *s = model->system;
    const system_friction *f = &s->frictions[model->friction.slip_frictions[slip->first]];
    for (size_t part = 0; part < slip->parts; part++) {
        graph_node direction = directions[slip->row + part - model->ideal_count];
        size_t i = f->held >= 0 ? (size_t)f->held + part : (size_t)graph_at(s->graph, direction)->as.index;
        assert(i < s->nonsmooth_count);
        if (f->held >= 0)
            s->nonsmooth[i].argument = direction;
        else
            s->nonsmooth[i].kind = NONSMOOTH_SLIP;
        s->nonsmooth[i].slip = (int32_t)(slip - model->friction.slips);
        s->nonsmooth[i].part = (int32_t)part;
        slip->nonsmooth[part] = i;
    }
}

hamel_status model_compile_slips(hamel_model *model, const graph_node *directions) {
    hamel_system *s = model->system;
    graph *g = s->graph;
    if (model->m == model->ideal_count) return HAMEL_OK;
    if (!gather(model)) return equations_exhausted(model->system);
    graph_node *nodes = arena_alloc(&model->memory, model->m - model->ideal_count + s->friction_count, sizeof *nodes);
    if (!nodes) return equations_exhausted(model->system);
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        graph_node square = graph_number(g, 0);
        for (int i = 0; i < 3; i++) square = graph_add(g, square, graph_mul(g, f->normal[i], f->normal[i]));
        nodes[k] = f->row >= 0 ? graph_mul(g, f->limit, graph_unary(g, GRAPH_SQRT, square)) : graph_number(g, 0);
    }
    model->friction.bounds_count = s->friction_count;
    for (size_t j = 0; j < model->friction.slip_count; j++) {
        model_slip *slip = &model->friction.slips[j];
        join_directions(model, slip, directions);
        slip->at_facing = model->friction.bounds_count;
        for (size_t i = 0; slip->parts > 1 && i < slip->parts; i++)
            nodes[model->friction.bounds_count++] = s->frictions[model->friction.slip_frictions[slip->first]].facing[i];
    }
    if (graph_status(g) != HAMEL_OK) return equations_status(s);
    return model_compile(model, &model->friction.bounds, nodes, model->friction.bounds_count);
}
