/* stick_slip.h — decides which friction contacts stick and in which directions the other contacts slide.
 *
 * The slip w of a contact is its relative velocity along a surface (model.h): a speed in the plane, a vector in space.
 * Between two events, each contact is in one of these states:
 *     sliding    w ≠ 0, or w = 0 and |w| increases. Each friction force of the contact is −μ|N| d with a stored
 *                direction d = w/|w|, so the force does not reverse when w passes through 0 (mechanics/friction.c).
 *     sticking   w = 0 is a constraint. The multiplier F of this constraint is the friction force. The contact sticks
 *                as long as |F| is at most Σ μ_s |N|, summed over the friction elements of the contact.
 *     idle       All constraints that press the contact together are inactive.
 *
 * The state of a contact with w = 0 is decided iteratively (Papastavridis, A31; Pfeiffer & Glocker, Multibody Dynamics
 * with Unilateral Contacts, 1996, ch. 5). Initially, all contacts with w = 0 stick. In each round, the contact whose
 * force exceeds its limit by the largest factor starts to slide, in the direction opposite to its friction force. If a
 * contact that started to slide accelerates against its direction, it sticks again. */
#pragma once

#include "engine/dynamics/dynamics.h"

typedef struct stick_slip stick_slip;

/* Allocates from k->memory; `k` is borrowed, and its model must have at least one slip. Returns NULL if out of
 * memory. */
stick_slip *stick_slip_create(dynamics *k);

/* Records that an event was located where slip j becomes 0, or where its friction force reaches the limit. The next
 * decision then treats slip j as 0, even if rounding has left a small value. */
void stick_slip_mark(stick_slip *w, size_t j);

/* Ends sticking at all contacts. Call this function before an event changes the velocities. Returns HAMEL_OK or
 * HAMEL_NO_MEMORY. */
hamel_status stick_slip_release(stick_slip *w) HAMEL_CHECKED;

/* Decides which contacts stick at (t, q, v) and sets the discrete state of the dynamics accordingly. A contact can
 * stick only if its slip is 0 within the integration tolerances. If no combination of sticking and sliding contacts is
 * consistent, adds an error and returns HAMEL_SINGULAR. Otherwise returns the status of dynamics_accelerations. */
hamel_status stick_slip_decide(stick_slip *w, double t, const double *q, const double *v,
                               hamel_error *error) HAMEL_CHECKED;

/* Returns true if any contact sticks. stick_slip_evaluate must then be called before stick_slip_distance. */
bool stick_slip_any_sticks(const stick_slip *w);

/* stick_slip_evaluate computes the friction forces and their limits at `state`, which must contain the multipliers.
 * stick_slip_set_speed sets component `part` of slip j at the same state. */
void stick_slip_evaluate(stick_slip *w, const program_inputs *state);
void stick_slip_set_speed(stick_slip *w, size_t j, size_t part, double speed);

/* Returns the root function of contact j at the state of the last two calls above. For a sliding contact, the function
 * is the component of the slip in the stored direction. For a sticking contact, the function is the friction limit
 * minus the friction force. For an idle contact, the function is 1. */
double stick_slip_distance(const stick_slip *w, size_t j);

/* stick_slip_turns returns true if any contact slides in space, where the direction of its slip can rotate between
 * events. For each such contact, stick_slip_follow stores the direction of the components set last. */
bool stick_slip_turns(const stick_slip *w);
void stick_slip_follow(stick_slip *w);

/* Returns the magnitude of the terms in the root function of contact j if the contact sticks: friction force plus
 * limit. Otherwise returns 0. */
double stick_slip_scale(const stick_slip *w, size_t j);

/* Returns a bound on the error of the root function of contact j at the last decision. If slip j was not 0 at that
 * time, returns 0. */
double stick_slip_slack(const stick_slip *w, size_t j);
