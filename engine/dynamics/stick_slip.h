/* stick_slip.h — decides which friction contacts stick and in which direction the other contacts slide.
 *
 * The slip w of a contact is its relative velocity along the surface (model.h: a speed, or a vector in space). Contact
 * j is the contact of slip j. Between two events, each contact has one of these states:
 *     slides   w ≠ 0, or w = 0 and |w| increases. Its frictions are −μ|N| w/|w|. Their direction is fixed and does not
 *              reverse when w passes 0 (mechanics/friction.c).
 *     sticks   w = 0 is a constraint. Its multiplier F is the friction force: |F| ≤ Σ μ_s |N| over its frictions.
 *     idle     All its constraints are inactive.
 *
 * If w = 0, the state of the contact is decided iteratively (Papastavridis, A31; Pfeiffer & Glocker, Multibody Dynamics
 * with Unilateral Contacts, 1996, ch. 5). At first all contacts with w = 0 stick. Then the contact whose friction force
 * exceeds its limit by the largest factor is released, and the direction of its slip becomes opposite to this force. If
 * the slip of a released contact accelerates against its direction, the contact sticks again. */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct stick_slip stick_slip;

/* Allocates from k->memory; `k` is borrowed and its model must have slips. Returns NULL if out of memory. */
stick_slip *stick_slip_create(dynamics *k);

/* Records an event of contact j: its slip has reached 0, or its friction force has reached the limit. The next decision
 * treats the slip as 0, regardless of rounding. */
void stick_slip_mark(stick_slip *w, size_t j);

/* Releases all contacts. Call this function before an event changes the velocities. Returns HAMEL_OK or
 * HAMEL_NO_MEMORY. */
hamel_status stick_slip_release(stick_slip *w) HAMEL_CHECKED;

/* Decides which contacts stick at (t, q, v) and sets the discrete state of the dynamics. A slip is treated as 0 if it
 * is within the tolerances of 0. If no state is consistent, adds an error and returns HAMEL_SINGULAR. Otherwise returns
 * a status of dynamics_accelerations. */
hamel_status stick_slip_decide(stick_slip *w, double t, const double *q, const double *v,
                               hamel_error *error) HAMEL_CHECKED;

/* Returns true if any contact sticks, so that stick_slip_distance needs multipliers. */
bool stick_slip_any_sticks(const stick_slip *w);

/* stick_slip_evaluate computes the friction limits at a state with its multipliers. stick_slip_set_speed sets component
 * `part` of slip j at that state. */
void stick_slip_evaluate(stick_slip *w, const program_inputs *state);
void stick_slip_set_speed(stick_slip *w, size_t j, size_t part, double speed);

/* Returns the root function of contact j for the limits and components set last. While the contact slides, the function
 * is the speed in the direction of the slip. While the contact sticks, the function is the limit minus the friction
 * force. If the contact is idle, the function is 1. */
double stick_slip_distance(const stick_slip *w, size_t j);

/* stick_slip_turns returns true if any slip in space has a direction that may turn. stick_slip_follow sets these
 * directions from the components set last. */
bool stick_slip_turns(const stick_slip *w);
void stick_slip_follow(stick_slip *w);

/* Returns the magnitude of the forces that were last compared for contact j, or 0 if the contact does not stick. */
double stick_slip_scale(const stick_slip *w, size_t j);

/* Returns a bound on the error of the root function of contact j after the last decision, or 0 if the slip was not
 * 0. */
double stick_slip_slack(const stick_slip *w, size_t j);
