/* events.c — the functions whose zeros are events, and what happens there, as programs: the first is asked at every step,
 * the others only where something happens. */
#include "engine/model/model.h"

static const unsigned STATE = GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME) |
                              GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY);

static hamel_status no_memory(hamel_model *model, hamel_error *error) {
    return hamel_fail(error, HAMEL_NO_MEMORY, "/events", 0, "the system needs more than %zu MiB of memory",
                      model->limits.memory >> 20);
}

/* d/dt of a root along the motion, or 0 when it contains what has no rate. */
static graph_node rate_of(graph *g, graph_node root, bool *known) {
    *known = !(graph_depends(g, root) & ~STATE);
    return *known ? graph_rate(g, root) : graph_number(g, 0);
}

/* Whether the change of velocities by the event changes this rate of its function. */
static bool changes_rate(graph *g, const system_event *e, graph_node rate, size_t n) {
    const int32_t *found;
    size_t count = graph_support(g, rate, SYMBOL_VELOCITY, &found);
    if (e->impulse_count > 0) return count > 0;
    for (size_t k = 0; k < count * e->set_count; k++)
        if (e->targets[k / count] == (int32_t)n + found[k % count]) return true;
    return false;
}

static size_t count_jumps(const hamel_system *s) {
    size_t count = s->event_count;
    for (size_t i = 0; i < s->event_count; i++) count += s->events[i].set_count + s->events[i].impulse_count;
    return count;
}

/* Fills the event and appends its nodes. */
static void take_event(hamel_model *model, size_t i, graph_node *roots, graph_node *jumps) {
    const system_event *from = &model->system->events[i];
    graph *g = model->system->graph;
    model_event *to = &model->events[i];
    *to = (model_event){.name = from->name,
                        .pointer = from->pointer,
                        .direction = from->described->direction,
                        .terminate = from->described->terminate,
                        .set_count = from->set_count,
                        .targets = from->targets,
                        .impulse_count = from->impulse_count,
                        .impulses = from->impulses,
                        .named_gain = from->named_gain,
                        .activate_count = from->activate_count,
                        .deactivate_count = from->deactivate_count,
                        .activate = from->activate,
                        .deactivate = from->deactivate};
    roots[i] = from->when;
    jumps[i] = rate_of(g, from->when, &to->has_rate);
    to->has_bend = to->has_rate && !(graph_depends(g, jumps[i]) & ~STATE);
    to->contact = to->has_bend && changes_rate(g, from, jumps[i], model->n);
    to->at_set = model->jump_count;
    for (size_t k = 0; k < from->set_count; k++) jumps[model->jump_count++] = from->assigned[k];
    to->at_restitution = model->jump_count;
    for (size_t k = 0; k < from->impulse_count; k++)
        jumps[model->jump_count++] = from->restitutions[k] >= 0 ? from->restitutions[k] : graph_number(g, 0);
}

/* The arguments of the switches, as they are written. */
static hamel_status compile_switches(hamel_model *model, hamel_error *error) {
    hamel_system *s = model->system;
    graph_node *nodes = arena_alloc(&model->memory, s->switch_count, sizeof *nodes);
    if (!nodes) return no_memory(model, error);
    for (size_t i = 0; i < s->switch_count; i++)
        nodes[i] = s->switches[i].held ? s->switches[i].written : graph_number(s->graph, 0);
    return program_compile(&model->switches, &model->memory, s->graph, nodes, s->switch_count, error);
}

hamel_status events_compile(hamel_model *model, hamel_error *error) {
    hamel_system *s = model->system;
    size_t count = model->root_count = s->event_count + s->switch_count;
    if (count == 0) return HAMEL_OK;
    graph_node *roots = arena_alloc(&model->memory, count, sizeof *roots),
               *jumps = arena_alloc(&model->memory, count_jumps(s), sizeof *jumps);
    model->events = arena_alloc(&model->memory, s->event_count, sizeof *model->events);
    if (!roots || !jumps || !model->events) return no_memory(model, error);
    model->event_count = model->jump_count = s->event_count;
    for (size_t i = 0; i < s->event_count; i++) take_event(model, i, roots, jumps);
    for (size_t i = 0; i < s->switch_count; i++) roots[s->event_count + i] = s->switches[i].argument;
    if (graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    hamel_status status = program_compile(&model->roots, &model->memory, s->graph, roots, count, error);
    if (status == HAMEL_OK)
        status = program_compile(&model->jumps, &model->memory, s->graph, jumps, model->jump_count, error);
    if (status == HAMEL_OK && s->switch_count > 0) status = compile_switches(model, error);
    if (status != HAMEL_OK) return status;
    if ((program_depends(model->roots) | program_depends(model->jumps)) & GRAPH_DEPENDS(SYMBOL_FREE))
        model->needs_free = true;
    return HAMEL_OK;
}
