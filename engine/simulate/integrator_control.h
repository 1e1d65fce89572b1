/* integrator_control.h — error weights, detection of stiffness, and the end of an integration.
 *
 * integrator.c and members_vec8.c use these functions, so a member in a SIMD lane is treated as if it ran alone. */
#pragma once

#include "engine/base/tolerances.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* STIFF_WINDOW: number of steps between two checks for stiffness. A shorter window would count a transient as
 * stiffness; a longer window delays the change of method. CREEP_STEPS: if more consecutive steps are shorter than
 * INSTANT, the integration fails. A thousand of these steps advance by less than 1e-10 of the span. */
enum { STIFF_WINDOW = 50, CREEP_STEPS = 1000 };
/* Tolerance of W, as a multiple of the energy tolerance. With this value, W increases the number of steps over all
 * examples by less than 0.1 % (README.md). */
static const double WORK_TOLERANCE = 30;
/* Rounding error of W relative to its largest value, a few hundred units in the last place. A smaller error of W does
 * not limit the step size. */
static const double WORK_ROUNDING = 1e-13;

/* Returns the weight of an error in a component y of the state. `atol` includes the method's factor on tolerances. */
static inline double control_weight(double rtol, double atol, double y) {
    return 1 / (rtol * fabs(y) + atol);
}

/* Returns the weight of an error in the work integral, whose tolerance is relative to the largest W so far, *most_work.
 * `least` is the largest energy tolerance of all starts, `asked` the rtol of the description. */
static inline double control_work_weight(double work, double *most_work, double least, double asked, double rtol) {
    *most_work = fmax(*most_work, fabs(work));
    double energy = fmax(least, asked * *most_work);
    double allowed = WORK_TOLERANCE * rtol / asked * energy + WORK_ROUNDING * *most_work;
    return allowed > 0 ? 1 / allowed : 0;
}

/* Counts at the start of a window of STIFF_WINDOW steps: steps, steps that indicate stiffness, failed evaluations. */
typedef struct stiffness_window {
    long steps, stiff, failed;
} stiffness_window;

/* Returns true if a window ends at the counts `now`, and at least `many` of its steps indicate stiffness. */
static inline bool stiffness_window_shows(stiffness_window *window, stiffness_window now, long many) {
    if (now.steps - window->steps < STIFF_WINDOW) return false;
    long signs = (now.stiff - window->stiff) - (now.failed - window->failed);
    *window = now;
    return signs >= many;
}

/* Number of steps after which the order and the step size of a restarted method count as settled. A multistep method
 * needs at least twelve steps to reach order 12. */
enum { SETTLED = 20 };
/* With `auto`, SHRUNK_STEPS consecutive steps shorter than SHRUNK times the longest recent step indicate a singularity.
 * The length of the longest step decays by DECAY at each step, so steps that shrink by less than 2 % each do not count.
 * After a single failure, steps grow again within fewer than SHRUNK_STEPS steps. Near a singular configuration short
 * steps are common, so SHRUNK_STEPS_NEAR applies there. */
static const double SHRUNK = 0.05, DECAY = 0.02;
enum { SHRUNK_STEPS = 10, SHRUNK_STEPS_NEAR = 40 };

/* longest: length of the longest step, reduced by the fraction DECAY at each step; count: number of consecutive steps
 * shorter than SHRUNK times `longest`. */
typedef struct shrinking_steps {
    double longest;
    long count;
} shrinking_steps;

/* Adds the last step, of length h, `since_start` steps after the method started. Returns true if steps keep shrinking.
 * near: whether the last step may contain a singular configuration. */
static inline bool shrinking_steps_show(shrinking_steps *s, double h, long since_start, bool near) {
    s->longest = since_start < SETTLED ? 0 : fmax(h, (1 - DECAY) * s->longest);
    s->count = h < SHRUNK * s->longest ? s->count + 1 : 0;
    return s->count >= (near ? SHRUNK_STEPS_NEAR : SHRUNK_STEPS);
}

/* Returns true if the rest of the span is too short for a step. */
static inline bool control_is_at_stop(double t, double stop) {
    return !(stop - t > 8 * DBL_EPSILON * fmax(fabs(t), fabs(stop)));
}

/* Counts consecutive steps that are too short to be resolved in a run of length `span`. Returns true if their number
 * exceeds CREEP_STEPS. */
static inline bool control_creeps(double step, double span, long *tiny_steps) {
    *tiny_steps = step < INSTANT * span ? *tiny_steps + 1 : 0;
    return *tiny_steps > CREEP_STEPS;
}
