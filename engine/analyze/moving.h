/* moving.h — constraints and forces that exclude rest, because they change with time or require motion. */
#pragma once

#include "engine/analyze/statics.h"

/* Call it if no equilibrium was found. Adds an error for each constraint whose Φ_t or B does not vanish at random
 * configurations (Papastavridis, example 3.2.5), and for each force that changes with time there. Returns HAMEL_INVALID
 * if there is such an error, else HAMEL_OK. */
hamel_status moving_refuse(statics *s, hamel_error *error) HAMEL_CHECKED;
