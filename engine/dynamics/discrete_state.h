/* mode.h — what holds between two events of a run: which constraints act, and which branch each operator takes that changes
 * abruptly (engine/mechanics/switches.h). */
#ifndef HAMEL_SOLVE_MODE_H
#define HAMEL_SOLVE_MODE_H

#include "engine/model/model.h"

typedef struct motion_mode {
    const hamel_model *model;
    bool *active;             /* m: a constraint that is not exerts nothing and asks for nothing */
    double *branches;         /* of the model's switches */
    double *arguments, *work; /* of the program that chooses them */
    double *place;            /* n: scratch */
    double ahead;             /* a moment: branches are those that the motion is about to enter; 0 in between */
} motion_mode;

/* The constraints that act at the start; branches have no value yet. False without memory. */
bool mode_create(motion_mode *mode, const hamel_model *model);
void mode_free(motion_mode *mode);

/* Takes the branches of the operators as they are at this state, or a moment ahead of it: a run that starts at an edge
 * begins with the branch that it moves into. An operator that depends on unknowns of the solution keeps its branch. */
void mode_choose_branches(motion_mode *mode, double t, const double *q, const double *v);

/* Call after branches have changed. An operator that contains a changed one, as abs in abs(mod(t, 2) - 1), takes the
 * branch of a moment ahead, so that the branches on each side of the instant are consistent. */
void mode_follow_inner(motion_mode *mode, double t, const double *q, const double *v, double moment);

#endif
