/* runge_kutta.h — transfer of states between the stepper `erk` and SIMD lanes, which take the same steps. */
#pragma once

#include "engine/simulate/methods/dop853_vec8.h"
#include "engine/simulate/methods/stepper.h"

/* Makes the step that an SIMD lane has tried the last step of the stepper. The step ends at t; next_h is the length to
 * try next. `extended`: the SIMD lane has computed the continuous extension. The counts do not change. */
void runge_kutta_set_step(stepper *s, const dop853_vec8 *d, int lane, double t, double next_h, bool extended);

/* Returns true if an SIMD lane can take the next step: the stepper has taken a step, or has been restarted without a
 * first step. */
bool runge_kutta_suits_lane(const stepper *s);

/* Sets the SIMD lane to the state after the last step, with its rates. Sets *begun to false, and no rates, if the
 * stepper has been restarted. Returns the length to try next, or 0. */
double runge_kutta_get_state(const stepper *s, dop853_vec8 *d, int lane, bool *begun);
