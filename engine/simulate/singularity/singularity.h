/* passage.h — what comes out of a place where constraints are nearly dependent must be what went in.
 *
 * Where rows of A become dependent for an instant, motions branch, and errors of the size δ move the velocity by δ/s² at
 * the distance s (kkt_margin): nothing in error control notices that another branch was taken. So the state before such
 * a place is kept and held against the one behind it. Along one motion
 *   the Jacobi integral, where it is conserved, does not change: by no more than a step's tolerances, many times over, amount to;
 *   velocities change by what the accelerations on both sides make of the time in between (the trapezoidal rule): onto
 *   another branch they jump by their own size. Long steps of the crossing method check this themselves.
 * Only places are judged that may have been dependent in truth: an instant was found (crossing.h), or the margin fell
 * below √rtol, where the tolerance no longer tells branches apart. A run that fails is cut off there. */
#ifndef HAMEL_SIMULATE_PASSAGE_H
#define HAMEL_SIMULATE_PASSAGE_H

#include "engine/simulate/lane.h"

typedef struct passage {
    double *v, *a; /* n each, borrowed: before */
    bool inside, crossed;
    bool noted;                   /* in the last step */
    bool rough;                   /* met or crossed by a method that does not judge its own steps */
    double t, balance, tolerance; /* before: time, h − W, and what the tolerances amount to in h */
    double least;                 /* margin met since, relative to the largest of the run */
    double at;                    /* of the last instant found */
    char names[300];              /* of the constraints that became dependent there; may be empty */
} passage;

/* An instant of dependence at t has been found in the last step; `names` (may be NULL): of the constraints. */
void passage_note(passage *p, double t, const char *names);

/* Takes the last step of the lane into account. HAMEL_INTEGRATION when the motion behind is not that before. */
hamel_status passage_follow(passage *p, lane *l, hamel_error *error) HAMEL_CHECKED;

/* Whether the lane has just been so near that a projection moves velocities by more than the tolerance: such a state says
 * nothing about the motion. */
bool passage_is_deep(const passage *p, const lane *l);

/* An event has changed the motion: what was before does not count. */
void passage_forget(passage *p);

#endif
