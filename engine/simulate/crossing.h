/* crossing.h — instants at which constraints become dependent within a step.
 *
 * There branches of the motion cross (a linkage is stretched out), and the mechanism goes on along the one that its
 * velocity is tangent to. No step ends there but by chance, so the distance from it (kkt_margin), which falls to zero
 * and rises again, is followed to its bottom on the dense output. */
#ifndef HAMEL_SIMULATE_CROSSING_H
#define HAMEL_SIMULATE_CROSSING_H

#include "engine/simulate/lane.h"

/* Whether the part of the last step that is in reach passes such an instant; then *t is it, and the kinetics have
 * evaluated the state there. Looks only where the step came near one. `q` and `v` are scratch, n each. */
hamel_status crossing_find(lane *l, double *q, double *v, bool *found, double *t, hamel_error *error) HAMEL_CHECKED;

#endif
