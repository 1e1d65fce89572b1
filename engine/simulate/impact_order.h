/* impact_order.h — test whether the order of impacts at one instant affects the velocities. */
#pragma once

#include "engine/simulate/events.h"
#include "engine/simulate/roots.h"

/* Follows the impacts of the contacts with closing[event] = true (at least two), in the order of declaration and in the
 * reverse order, until no contact approaches. Sets *matters to true if the final velocities differ by more than the
 * tolerances. State, discrete state and sensitivities do not change, but the dynamics have evaluated another state. Returns
 * HAMEL_OK, or HAMEL_NO_MEMORY with an error. */
hamel_status impact_order_matters(events *e, const roots *w, const roots_state *at, const bool *closing, bool *matters,
                                  hamel_error *error) HAMEL_CHECKED;
