/* discrete_state.h — the part of the state that is constant between two events: active constraints and the branches of
 * nonsmooth operators (engine/mechanics/nonsmooth.h). */
#pragma once

#include "engine/model/model.h"

typedef struct discrete_state {
    const hamel_model *model;
    bool *active;             /* m: true if the constraint acts */
    double *branches;         /* branch of each nonsmooth operator of the model */
    double *arguments, *work; /* arguments: outputs of the program that chooses the branches; work: its workspace */
    double *place;            /* n: scratch */
    /* Branches are chosen at the time t + ahead. At the initial state, `ahead` is positive, so that a run begins on the
     * branch that it enters. Later, `ahead` is 0. */
    double ahead;
} discrete_state;

/* Sets the initially active constraints. The branches are not set. Returns false if out of memory. */
bool discrete_state_create(discrete_state *state, const hamel_model *model, arena *memory);

/* Returns the inputs of a program at a state, with the current branches. Arrays that the program does not read may be
 * NULL. */
static inline program_inputs discrete_state_inputs(const discrete_state *state, const double *t, const double *q,
                                                   const double *v, const double *a, const double *lambda) {
    program_inputs in = model_inputs(state->model, t, q, v, a, lambda, NULL);
    in.values[SYMBOL_BRANCH] = state->branches;
    return in;
}

/* Chooses the branches at the state extrapolated by the time `ahead`. An operator that depends on accelerations,
 * multipliers or reactions keeps its branch. */
void discrete_state_choose_branches(discrete_state *state, double t, const double *q, const double *v);

/* Call after branches have changed. Chooses the branch of each operator whose argument contains a nonsmooth operator,
 * as in abs(mod(t, 2) - 1). The branch of this outer operator is chosen at the time t + `moment`, so that all branches
 * after t are consistent. */
void discrete_state_follow_inner(discrete_state *state, double t, const double *q, const double *v, double moment);
