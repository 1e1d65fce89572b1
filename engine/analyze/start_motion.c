/* start_motion.c — dynamics and reactions at the initial state; see start_motion.h. */
#include "engine/analyze/start_motion.h"

#include "engine/dynamics/initial_values.h"
#include "engine/dynamics/stick_slip.h"

#include <math.h>
#include <string.h>

/* Decides which contacts are sticking, as at the start of a run, and evaluates the dynamics again. */
static hamel_status decide_sticking(analysis *a, dynamics *k, start_motion *s) {
    if (a->model->friction.slip_count == 0) return HAMEL_OK;
    stick_slip *slips = stick_slip_create(k);
    discrete_state_choose_branches(&k->discrete_state, s->t, s->q, s->v);
    k->held = true;
    hamel_status status = slips ? stick_slip_decide(slips, s->t, s->q, s->v, a->error) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = dynamics_evaluate(k, s->t, s->q, s->v, a->error);
    return status == HAMEL_OK ? dynamics_accelerations(k, 0, 0, s->a, s->lambda, a->error) : status;
}

/* Stores the ideal and nonideal reactions, and the multipliers of the ideal reactions. If all constraints are ideal,
 * these multipliers are those of the motion. */
static hamel_status note_reactions(analysis *a, dynamics *k, start_motion *s) {
    const hamel_model *model = a->model;
    memcpy(s->active, k->discrete_state.active, model->m * sizeof *s->active);
    memcpy(s->values, k->values, model->dynamics.count * sizeof *s->values);
    memcpy(s->ideal, k->ideal, a->n * sizeof *s->ideal);
    memcpy(s->nonideal, k->nonideal, a->n * sizeof *s->nonideal);
    memcpy(s->ideal_lambda, s->lambda, model->m * sizeof *s->lambda);
    if (!model->dynamics.nonideal) return HAMEL_OK;
    double *unused = arena_doubles(a->memory, a->n);
    if (!unused) return HAMEL_NO_MEMORY;
    return motion_solve(&k->motion, k->values + model->dynamics.at_Q, k->b, INFINITY, unused, s->ideal_lambda);
}

hamel_status start_motion_find(analysis *a, start_motion *s) {
    const hamel_model *model = a->model;
    hamel_status status = HAMEL_NO_MEMORY;
    double **const lists[] = {&s->q, &s->v, &s->a, &s->ideal, &s->nonideal};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = arena_doubles(a->memory, a->n);
    s->t = model->settings.start;
    s->lambda = arena_doubles(a->memory, model->m);
    s->ideal_lambda = arena_doubles(a->memory, model->m);
    s->values = arena_doubles(a->memory, model->dynamics.count);
    s->active = arena_alloc(a->memory, model->m, sizeof *s->active);
    dynamics *k = dynamics_create(model);
    if (k && !a->memory->failed) {
        status = initial_state(k, s->q, s->v, s->a, s->lambda, a->error);
        if (status == HAMEL_OK) status = decide_sticking(a, k, s);
        if (status == HAMEL_OK) status = note_reactions(a, k, s);
        if (status != HAMEL_OK && a->error->status == HAMEL_OK) status = dynamics_explain(k, status, a->error);
    }
    dynamics_free(k);
    return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
}
