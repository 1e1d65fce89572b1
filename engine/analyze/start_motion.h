/* start_motion.h — the motion in the initial state, for analyses of forces and reactions. */
#pragma once

#include "engine/analyze/analysis_int.h"

/* The consistent initial state with its accelerations, multipliers and reactions. All arrays are in the arena of the
 * analysis. If all constraints are ideal, `ideal` and `nonideal` are 0. */
typedef struct start_motion {
    double t, *q, *v, *a, *lambda;
    /* ideal, nonideal: the two parts of the reaction; ideal_lambda: multipliers of the ideal part */
    double *ideal, *nonideal, *ideal_lambda;
    double *values; /* outputs of the dynamics program at the state */
    bool *active;   /* m: constraints that act; those of friction act if the contact sticks */
} start_motion;

/* Finds the motion in the initial state, with the contacts that stick there. On failure, adds an error. */
hamel_status start_motion_find(analysis *a, start_motion *s) HAMEL_CHECKED;
