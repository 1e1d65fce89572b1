/* newton_progress.h — stopping test for Newton's method at the level of rounding errors.
 *
 * The method squares relative errors, so the iteration ends when the next step would be smaller than rounding errors.
 * Rounding errors are larger if terms cancel. An iteration therefore also ends when its error is small and no longer
 * halves. */
#pragma once

#include "engine/base/tolerances.h"

#include <math.h>

/* Relative sizes: the iteration ends below `rounding`; below `stalled`, it ends if a step does not halve the error. */
typedef struct newton_tolerances {
    double rounding, stalled;
} newton_tolerances;

/* Tolerances of scaled residuals (tolerances.h). 4e-16 is two rounding errors of 1. 1e-12 is the rounding error of
 * cancelling terms several thousand times as large. */
static const newton_tolerances NEWTON_RESIDUAL = {4e-16, 1e-12};
/* Tolerances of steps relative to the solution. 1e-13 is the rounding error n ε of a system with several hundred
 * coordinates. Unless terms cancel, a step of 1e-8 is followed by a step of 1e-16. */
static const newton_tolerances NEWTON_STEP = {1e-13, 1e-8};

/* Returns true if the iteration ends with an error or step of the relative size `size`. For NaN, returns false. *before
 * is the previous size; set *before to INFINITY before the first call. */
static inline bool newton_has_ended(double *before, double size, newton_tolerances t) {
    bool stalled = size <= t.stalled && size > 0.5 * *before;
    *before = size;
    return size <= t.rounding || stalled;
}
