/* start_motion.h — the motion in the initial state, which the analyses of forces and reactions use. */
#pragma once

#include "engine/analyze/analysis_int.h"

/* The consistent initial state with its accelerations, multipliers and reactions. All arrays are in the arena of the
 * analysis. If the system has neither nonideal constraints nor friction, the entries of `ideal` and `nonideal` are
 * 0. */
typedef struct start_motion {
    double t, *q, *v, *a, *lambda;
    /* ideal, nonideal: the two parts of the reaction; ideal_lambda: multipliers of the ideal part */
    double *ideal, *nonideal, *ideal_lambda;
    double *values; /* outputs of the dynamics program at the state */
    bool *active;   /* m entries: true if the constraint acts; a constraint of friction acts if its contact sticks */
} start_motion;

/* Computes the motion in the initial state, and decides which contacts stick. On failure, adds an error. */
hamel_status start_motion_find(analysis *a, start_motion *s) HAMEL_CHECKED;
