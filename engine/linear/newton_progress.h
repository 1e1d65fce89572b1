/* newton_progress.h — stopping test for Newton's method at the level of rounding errors.
 *
 * Each step of the method squares the relative error, so the iteration ends when the error is as small as rounding
 * errors. If terms cancel, rounding errors are larger. The iteration therefore also ends when the error is small and a
 * step no longer halves it. */
#pragma once

#include "engine/base/tolerances.h"

#include <math.h>

/* Bounds on relative sizes. The iteration ends if the size is at most `rounding`, or if the size is at most `stalled`
 * and the last step has not halved it. */
typedef struct newton_tolerances {
    double rounding, stalled;
} newton_tolerances;

/* Tolerances for scaled residuals (tolerances.h). 4e-16 is two rounding errors ε. 1e-12 is the rounding error of
 * canceling terms that are several thousand times as large as the scale. */
static const newton_tolerances NEWTON_RESIDUAL = {4e-16, 1e-12};
/* Tolerances for steps relative to the solution. 1e-13 is the rounding error n ε of a system with several hundred
 * coordinates. Unless terms cancel, a step of 1e-8 is followed by a step of 1e-16, so a step below 1e-8 that is not
 * halved consists of rounding errors. */
static const newton_tolerances NEWTON_STEP = {1e-13, 1e-8};

/* Returns true if the iteration is to end. `size` is the relative size of the current error or step. If `size` is NaN,
 * returns false. The function keeps the previous size in *before. The caller sets *before to INFINITY before the first
 * call. */
static inline bool newton_has_ended(double *before, double size, newton_tolerances t) {
    bool stalled = size <= t.stalled && size > 0.5 * *before;
    *before = size;
    return size <= t.rounding || stalled;
}
