/* impact_order.h — whether the order of impacts at one instant affects the velocities. */
#ifndef HAMEL_SIMULATE_IMPACT_ORDER_H
#define HAMEL_SIMULATE_IMPACT_ORDER_H

#include "engine/simulate/events.h"
#include "engine/simulate/roots.h"

/* `meeting`, of the events: the contacts, two at least, that close at this state. Follows their impacts in the order of
 * declaration and in the reverse one until none approaches; *matters: the velocities afterwards differ by more than
 * tolerances account for. Nothing happens to the state, to the mode or to sensitivities; the kinetics are left evaluated
 * elsewhere. HAMEL_OK or HAMEL_NO_MEMORY with a fault. */
hamel_status impact_order_matters(events *e, const roots *w, const roots_state *at, const bool *meeting, bool *matters,
                                  hamel_error *error) HAMEL_CHECKED;

#endif
