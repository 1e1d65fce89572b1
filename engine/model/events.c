/* events.c — programs for the root functions of events (evaluated at every step) and for the values that events assign
 * (evaluated only at events). */
#include "engine/model/model.h"

#include <assert.h>

static const unsigned STATE = GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME) |
                              GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY);

/* Returns d/dt of a root function along the motion, or 0 if the function contains symbols without a known rate. */
static graph_node rate_of(graph *g, graph_node root, bool *known) {
    *known = !(graph_depends(g, root) & ~STATE);
    return *known ? graph_rate(g, root) : graph_number(g, 0);
}

/* Returns true if the rate of the event's root function depends on the velocities that the event changes. */
static bool changes_rate(graph *g, const system_event *e, graph_node rate, size_t n) {
    const int32_t *found;
    size_t count = graph_support(g, rate, SYMBOL_VELOCITY, &found);
    if (e->impulse_count > 0 || e->percussion_count > 0) return count > 0;
    for (size_t k = 0; k < count * e->set_count; k++)
        if (e->targets[k / count] == (int32_t)n + found[k % count]) return true;
    return false;
}

static size_t count_jumps(const hamel_system *s) {
    size_t count = s->event_count;
    for (size_t i = 0; i < s->event_count; i++)
        count += s->events[i].set_count + s->events[i].impulse_count + s->events[i].momentum_count;
    return count;
}

/* Fills event i, and appends its nodes to the lists of roots and jumps. */
static void take_event(hamel_model *model, size_t i, graph_node *roots, graph_node *jumps) {
    const system_event *from = &model->system->events[i];
    graph *g = model->system->graph;
    model_event *to = &model->events.list[i];
    *to = (model_event){.name = from->name,
                        .pointer = from->pointer,
                        .direction = from->described->direction,
                        .terminate = from->described->terminate,
                        .set_count = from->set_count,
                        .targets = from->targets,
                        .impulse_count = from->impulse_count,
                        .impulses = from->impulses,
                        .percussion_count = from->percussion_count,
                        .momentum_count = from->momentum_count,
                        .momentum_rows = from->momentum_rows,
                        .momentum_columns = from->momentum_columns,
                        .named_gain = from->named_gain,
                        .activate_count = from->activate_count,
                        .deactivate_count = from->deactivate_count,
                        .activate = from->activate,
                        .deactivate = from->deactivate};
    roots[i] = from->when;
    jumps[i] = rate_of(g, from->when, &to->has_rate);
    to->has_bend = to->has_rate && !(graph_depends(g, jumps[i]) & ~STATE);
    to->contact = to->has_bend && changes_rate(g, from, jumps[i], model->n);
    to->at_set = model->events.jump_count;
    for (size_t k = 0; k < from->set_count; k++) jumps[model->events.jump_count++] = from->assigned[k];
    to->at_restitution = model->events.jump_count;
    for (size_t k = 0; k < from->impulse_count; k++)
        jumps[model->events.jump_count++] = from->restitutions[k] >= 0 ? from->restitutions[k] : graph_number(g, 0);
    to->at_momentum = model->events.jump_count;
    for (size_t k = 0; k < from->momentum_count; k++) jumps[model->events.jump_count++] = from->momenta[k];
}

/* Compiles the arguments of the nonsmooth operators before branch symbols are substituted. */
static hamel_status compile_nonsmooth(hamel_model *model) {
    hamel_system *s = model->system;
    graph_node *nodes = arena_alloc(&model->memory, s->nonsmooth_count, sizeof *nodes);
    if (!nodes) return equations_exhausted(model->system);
    for (size_t i = 0; i < s->nonsmooth_count; i++)
        nodes[i] = s->nonsmooth[i].held ? s->nonsmooth[i].written : graph_number(s->graph, 0);
    return model_compile(model, &model->events.nonsmooth, nodes, s->nonsmooth_count);
}

static bool is_mass_free_of_velocities(const hamel_model *model) {
    const model_dynamics *d = &model->dynamics;
    size_t first = d->mass ? d->at_mass : d->M.at, end = d->mass ? d->count : first + d->M.count;
    for (size_t i = first; i < end; i++)
        if (graph_depends(model->system->graph, d->nodes[i]) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false;
    return true;
}

/* Sets events.quadratic. If an event has impulses or percussions, adds an error unless M is free of velocities.
 * Otherwise M (v⁺ − v⁻) would not be the change of the momenta. */
static hamel_status check_quadratic(hamel_model *model) {
    model->events.quadratic = is_mass_free_of_velocities(model);
    for (size_t i = 0; i < model->events.count && !model->events.quadratic; i++) {
        const model_event *e = &model->events.list[i];
        if (model_event_strikes(e))
            return hamel_fail(model->system->error, HAMEL_INVALID, e->pointer, 0,
                              "an impulse needs a kinetic energy that is quadratic in the velocities");
    }
    return HAMEL_OK;
}

hamel_status events_compile(hamel_model *model, const hamel_observed *o) {
    assert(!model->events.roots);
    hamel_system *s = model->system;
    size_t count = model->events.root_count = s->event_count + s->nonsmooth_count;
    if (count == 0) return HAMEL_OK;
    graph_node *roots = arena_alloc(&model->memory, count, sizeof *roots),
               *jumps = arena_alloc(&model->memory, count_jumps(s), sizeof *jumps);
    model->events.list = arena_alloc(&model->memory, s->event_count, sizeof *model->events.list);
    if (!roots || !jumps || !model->events.list) return equations_exhausted(model->system);
    model->events.count = model->events.jump_count = s->event_count;
    for (size_t i = 0; i < s->event_count; i++) take_event(model, i, roots, jumps);
    for (size_t i = 0; i < s->nonsmooth_count; i++) roots[s->event_count + i] = s->nonsmooth[i].argument;
    if (graph_status(s->graph) != HAMEL_OK) return equations_status(s);
    assert(model->events.jump_count == count_jumps(s));
    hamel_status status = model_compile(model, &model->events.roots, roots, count);
    if (status == HAMEL_OK) status = model_compile(model, &model->events.jumps, jumps, model->events.jump_count);
    if (status == HAMEL_OK && s->nonsmooth_count > 0) status = compile_nonsmooth(model);
    if (status == HAMEL_OK && o->kinetic >= 0) status = model_compile(model, &model->events.kinetic, &o->kinetic, 1);
    if (status == HAMEL_OK) status = check_quadratic(model);
    if (status != HAMEL_OK) return status;
    if ((program_depends(model->events.roots) | program_depends(model->events.jumps)) & GRAPH_DEPENDS(SYMBOL_FREE))
        model->observation.needs_free = true;
    return HAMEL_OK;
}
