/* sticking.h — frictions that stick: which hold, and which way the others slip.
 *
 * Of each slip w along a surface (model.h: one speed, or in space a vector) one of these is so between two events:
 *
 *     slips    w ≠ 0, or about to be; its frictions are −μ|N| w/|w|, held so that they do not turn about as w passes 0
 *              (mechanics/friction.c)
 *     sticks   w = 0 as a constraint, whose multiplier F holds the point: |F| ≤ Σ μ_s |N| over its frictions
 *     idle     none of its constraints is active: neither
 *
 * What a slip does that has come to rest is decided by contradiction (Papastavridis, A31; Pfeiffer & Glocker, Multibody
 * Dynamics with Unilateral Contacts, 1996, ch. 5): all stick, until one exceeds its limit: that slips against the force
 * which could not hold it; and one that would slip backwards sticks. */
#ifndef HAMEL_SOLVE_STICKING_H
#define HAMEL_SOLVE_STICKING_H

#include "engine/solve/kinetics.h"

typedef struct sticking sticking;

/* NULL without memory. `k` is borrowed; its model has slips. */
sticking *sticking_create(kinetics *k);
void sticking_free(sticking *w);

/* Slip j has come to rest, or exceeds its limit: known to the next decision, whatever rounding makes of it. */
void sticking_mark(sticking *w, size_t j);

/* Lets everything loose, for an event to act. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status sticking_release(sticking *w) HAMEL_CHECKED;

/* Decides at (t, q, v) and gives the mode of the kinetics the result. Speeds no larger than the tolerances can tell from 0
 * are at rest. HAMEL_SINGULAR, with a fault, when no decision agrees with itself; or a status of kinetics_accelerations. */
hamel_status sticking_decide(sticking *w, double t, const double *q, const double *v, hamel_error *error) HAMEL_CHECKED;

/* Whether any slip sticks, so that sticking_distance needs multipliers. */
bool sticking_any(const sticking *w);

/* Evaluates the limits at a state with its multipliers; takes in component `part` of slip j there. */
void sticking_evaluate(sticking *w, const program_inputs *state);
void sticking_see(sticking *w, size_t j, size_t part, double speed);

/* How far slip j, with limits and components as taken in last, is from its next decision: the speed in its direction, or
 * what the limit leaves; positive for an idle one. */
double sticking_distance(const sticking *w, size_t j);

/* Whether any slip has a direction that turns; takes these from the components taken in last. */
bool sticking_turns(const sticking *w);
void sticking_follow(sticking *w);

/* The size of the forces that slip j compares, as evaluated last; 0 for one that does not stick. */
double sticking_scale(const sticking *w, size_t j);

/* How far beyond its edge slip j stood, at most, after the last decision. */
double sticking_slack(const sticking *w, size_t j);

#endif
