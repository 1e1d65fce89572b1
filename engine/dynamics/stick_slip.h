/* stick_slip.h — decides which friction contacts stick and in which direction the other contacts slip.
 *
 * Each slip w along a surface (model.h: a speed, or a vector in space) has one of these states between two events:
 *     slips    w ≠ 0, or w = 0 and |w| increases. Its frictions are −μ|N| w/|w|. Their direction is fixed and does not
 *              reverse when w passes 0 (mechanics/friction.c).
 *     sticks   w = 0 is a constraint. Its multiplier F is the friction force: |F| ≤ Σ μ_s |N| over its frictions.
 *     idle     All its constraints are inactive.
 *
 * If w = 0, the state of the slip is decided iteratively (Papastavridis, A31; Pfeiffer & Glocker, Multibody Dynamics
 * with Unilateral Contacts, 1996, ch. 5). At first all slips with w = 0 stick. Then the slip whose force exceeds its
 * limit most is released, and its direction becomes opposite to its friction force. If a released slip accelerates
 * against its direction, it sticks again. */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct stick_slip stick_slip;

/* Allocates from k->memory; `k` is borrowed and its model must have slips. Returns NULL if out of memory. */
stick_slip *stick_slip_create(dynamics *k);

/* Records that an event has found slip j at rest or beyond its limit. The next decision treats the slip as
 * at rest, regardless of rounding. */
void stick_slip_mark(stick_slip *w, size_t j);

/* Releases all slips. Call it before an event changes the velocities. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status stick_slip_release(stick_slip *w) HAMEL_CHECKED;

/* Decides which slips stick at (t, q, v) and sets the discrete state of the dynamics. Slips whose speed is within the
 * tolerances of 0 are at rest. If no state is consistent, adds an error and returns HAMEL_SINGULAR. Otherwise returns a
 * status of dynamics_accelerations. */
hamel_status stick_slip_decide(stick_slip *w, double t, const double *q, const double *v,
                               hamel_error *error) HAMEL_CHECKED;

/* Returns true if any slip sticks, so that stick_slip_distance needs multipliers. */
bool stick_slip_any_sticks(const stick_slip *w);

/* stick_slip_evaluate computes the friction limits at a state with its multipliers. stick_slip_set_speed sets component
 * `part` of slip j at that state. */
void stick_slip_evaluate(stick_slip *w, const program_inputs *state);
void stick_slip_set_speed(stick_slip *w, size_t j, size_t part, double speed);

/* Returns the root function of slip j for the limits and components set last. While j slips, the function is the speed
 * in the direction of the slip. While j sticks, the function is the limit minus the force. If j is idle, the function
 * is 1. */
double stick_slip_distance(const stick_slip *w, size_t j);

/* stick_slip_turns returns true if any slip in space has a direction that may turn. stick_slip_follow sets these
 * directions from the components set last. */
bool stick_slip_turns(const stick_slip *w);
void stick_slip_follow(stick_slip *w);

/* Returns the magnitude of the forces that were last compared for slip j, or 0 for a slip that does not stick. */
double stick_slip_scale(const stick_slip *w, size_t j);

/* Returns a bound on the error of the root function of slip j after the last decision, or 0 if the slip was not at
 * rest. */
double stick_slip_slack(const stick_slip *w, size_t j);
