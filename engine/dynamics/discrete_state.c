/* mode.c — see the header. */
#include "engine/solve/mode.h"

#include <stdlib.h>

bool mode_create(motion_mode *mode, const hamel_model *model) {
    size_t count = model->system->switch_count;
    *mode = (motion_mode){.model = model};
    mode->active = calloc(model->m + 1, sizeof *mode->active);
    mode->branches = calloc(2 * count + model->n + 1, sizeof *mode->branches);
    mode->work = calloc((model->switches ? program_workspace_doubles(model->switches) : 0) + 1, sizeof *mode->work);
    if (!mode->active || !mode->branches || !mode->work) return false;
    mode->arguments = mode->branches + count;
    mode->place = mode->arguments + count;
    for (size_t c = 0; c < model->m; c++) mode->active[c] = model->active[c];
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    if (model->switches) program_prepare(model->switches, &in, mode->work);
    return true;
}

void mode_free(motion_mode *mode) {
    free(mode->active);
    free(mode->branches);
    free(mode->work);
    *mode = (motion_mode){0};
}

static void find_arguments(motion_mode *mode, double t, const double *q, const double *v, double moment) {
    t += moment;
    for (size_t i = 0; i < mode->model->n; i++) mode->place[i] = q[i] + moment * v[i];
    program_inputs in = model_inputs(mode->model, &t, mode->place, v, NULL, NULL, NULL);
    program_evaluate(mode->model->switches, &in, mode->work, mode->arguments);
}

void mode_choose_branches(motion_mode *mode, double t, const double *q, const double *v) {
    const hamel_system *s = mode->model->system;
    if (!mode->model->switches) return;
    find_arguments(mode, t, q, v, mode->ahead);
    for (size_t i = 0; i < s->switch_count; i++)
        if (s->switches[i].held) mode->branches[i] = switch_branch(&s->switches[i], mode->arguments[i]);
}

void mode_follow_inner(motion_mode *mode, double t, const double *q, const double *v, double moment) {
    const hamel_system *s = mode->model->system;
    find_arguments(mode, t, q, v, moment);
    for (size_t i = 0; i < s->switch_count; i++) {
        const system_switch *at = &s->switches[i];
        bool slip = at->kind == SWITCH_SLIP || at->kind == SWITCH_GLIDE;
        if (at->held && !slip && (graph_depends(s->graph, at->argument) & GRAPH_DEPENDS(SYMBOL_BRANCH)))
            mode->branches[i] = switch_branch(at, mode->arguments[i]);
    }
}
