/* moving.h — constraints and forces that exclude rest, because they change with time or require motion. */
#ifndef HAMEL_ANALYZE_MOVING_H
#define HAMEL_ANALYZE_MOVING_H

#include "engine/analyze/statics.h"

/* When no equilibrium was found: HAMEL_INVALID with a fault for each constraint with Φ_t or B and each force with ∂Q/∂t that
 * does not vanish at random configurations (Papastavridis, example 3.2.5); HAMEL_OK when nothing forbids rest. */
hamel_status moving_refuse(statics *s, hamel_error *error) HAMEL_CHECKED;

#endif
