/* slips.c — frictions that stick, gathered by the slip that they hold back. */
#include "engine/model/model.h"

static hamel_status no_memory(hamel_model *model, hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "/constraints", 0, "the system needs more than %zu MiB of memory",
                      model->limits.memory >> 20);
}

/* The slips with their rows; of each the number of its frictions in `last`, of each first row its slip in `of_row`. */
static void find_slips(hamel_model *model, size_t *of_row) {
    const hamel_system *s = model->system;
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        if (f->row < 0) continue;
        size_t row = (size_t)f->row, *slip = &of_row[row - model->ideal_count];
        if (*slip == 0) {
            model->slips[model->slip_count++] = (model_slip){.row = row, .parts = f->along_count};
            *slip = model->slip_count;
        }
        model->slips[*slip - 1].last++;
    }
}

/* The frictions of each slip in `slip_frictions`. */
static bool gather(hamel_model *model) {
    const hamel_system *s = model->system;
    size_t total = 0, rows = model->m - model->ideal_count;
    size_t *of_row = arena_alloc(&model->memory, rows, sizeof *of_row);
    model->slips = arena_alloc(&model->memory, rows, sizeof *model->slips);
    model->slip_frictions = arena_alloc(&model->memory, s->friction_count, sizeof *model->slip_frictions);
    if (!of_row || !model->slips || !model->slip_frictions) return false;
    find_slips(model, of_row);
    for (size_t j = 0; j < model->slip_count; j++) {
        model_slip *slip = &model->slips[j];
        size_t count = slip->last;
        slip->first = slip->last = total;
        total += count;
    }
    for (size_t k = 0; k < s->friction_count; k++) {
        if (s->frictions[k].row < 0) continue;
        model_slip *slip = &model->slips[of_row[(size_t)s->frictions[k].row - model->ideal_count] - 1];
        model->slip_frictions[slip->last++] = k;
    }
    return true;
}

graph_node *model_slip_directions(hamel_model *model) {
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

/* Which switches hold the direction of a slip. */
static void join_switches(hamel_model *model, model_slip *slip, const graph_node *directions) {
    hamel_system *s = model->system;
    const system_friction *f = &s->frictions[model->slip_frictions[slip->first]];
    for (size_t part = 0; part < slip->parts; part++) {
        graph_node direction = directions[slip->row + part - model->ideal_count];
        size_t i = f->held >= 0 ? (size_t)f->held + part : (size_t)graph_at(s->graph, direction)->as.index;
        if (f->held >= 0)
            s->switches[i].argument = direction;
        else
            s->switches[i].kind = SWITCH_SLIP;
        s->switches[i].slip = (int32_t)(slip - model->slips);
        s->switches[i].part = (int32_t)part;
        slip->switched[part] = i;
    }
}

hamel_status model_compile_slips(hamel_model *model, const graph_node *directions, hamel_error *error) {
    hamel_system *s = model->system;
    graph *g = s->graph;
    if (model->m == model->ideal_count) return HAMEL_OK;
    if (!gather(model)) return no_memory(model, error);
    graph_node *nodes = arena_alloc(&model->memory, model->m - model->ideal_count + s->friction_count, sizeof *nodes);
    if (!nodes) return no_memory(model, error);
    for (size_t k = 0; k < s->friction_count; k++) {
        const system_friction *f = &s->frictions[k];
        graph_node square = graph_number(g, 0);
        for (int i = 0; i < 3; i++) square = graph_add(g, square, graph_mul(g, f->normal[i], f->normal[i]));
        nodes[k] = f->row >= 0 ? graph_mul(g, f->limit, graph_unary(g, GRAPH_SQRT, square)) : graph_number(g, 0);
    }
    model->bounds_count = s->friction_count;
    for (size_t j = 0; j < model->slip_count; j++) {
        model_slip *slip = &model->slips[j];
        join_switches(model, slip, directions);
        slip->at_facing = model->bounds_count;
        for (size_t i = 0; slip->parts > 1 && i < slip->parts; i++)
            nodes[model->bounds_count++] = s->frictions[model->slip_frictions[slip->first]].facing[i];
    }
    if (graph_status(g) != HAMEL_OK) return equations_status(s);
    return program_compile(&model->bounds, &model->memory, g, nodes, model->bounds_count, error);
}
