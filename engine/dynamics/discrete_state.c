/* discrete_state.c — see the header. */
#include "engine/dynamics/discrete_state.h"

#include <assert.h>

bool discrete_state_create(discrete_state *state, const hamel_model *model, arena *memory) {
    size_t count = model->system->nonsmooth_count;
    *state = (discrete_state){.model = model,
                              .active = arena_alloc(memory, model->m, sizeof *state->active),
                              .branches = arena_doubles(memory, count),
                              .arguments = arena_doubles(memory, count),
                              .place = arena_doubles(memory, model->n),
                              .work = model_workspace(model, model->events.nonsmooth, memory)};
    if (memory->failed) return false;
    for (size_t c = 0; c < model->m; c++) state->active[c] = model->active[c];
    return true;
}

static void find_arguments(discrete_state *state, double t, const double *q, const double *v, double moment) {
    t += moment;
    for (size_t i = 0; i < state->model->n; i++) state->place[i] = q[i] + moment * v[i];
    program_inputs in = model_inputs(state->model, &t, state->place, v, NULL, NULL, NULL);
    program_evaluate(state->model->events.nonsmooth, &in, state->work, state->arguments);
}

void discrete_state_choose_branches(discrete_state *state, double t, const double *q, const double *v) {
    const hamel_system *s = state->model->system;
    if (!state->model->events.nonsmooth) return;
    find_arguments(state, t, q, v, state->ahead);
    for (size_t i = 0; i < s->nonsmooth_count; i++)
        if (s->nonsmooth[i].held) state->branches[i] = nonsmooth_branch(&s->nonsmooth[i], state->arguments[i]);
}

void discrete_state_follow_inner(discrete_state *state, double t, const double *q, const double *v, double moment) {
    assert(state->model->events.nonsmooth);
    const hamel_system *s = state->model->system;
    find_arguments(state, t, q, v, moment);
    for (size_t i = 0; i < s->nonsmooth_count; i++) {
        const system_nonsmooth *at = &s->nonsmooth[i];
        if (at->held && !nonsmooth_is_slip(at) &&
            (graph_depends(s->graph, at->argument) & GRAPH_DEPENDS(SYMBOL_BRANCH)))
            state->branches[i] = nonsmooth_branch(at, state->arguments[i]);
    }
}
