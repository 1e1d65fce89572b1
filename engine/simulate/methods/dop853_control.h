/* dop853_control.h — step control of DOP853 for one integration.
 *
 * runge_kutta.c and members_vec8.c use these functions, so a member takes the same steps alone and in a SIMD lane.
 * Sources: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, Springer 1993, and their program
 * DOP853. */
#pragma once

#include "engine/simulate/methods/dop853.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Factor on tolerances, because the errors of steps accumulate. The errors with this factor are listed in
 * engine/simulate/README.md, "Sweeps". */
static const double DOP853_SAFETY = 0.03;
/* Bounds on the ratio of successive steps (loc. cit., II.4). If the system is at rest, the first step is at most 1e-4,
 * whatever the unit of time (dop853_probe). This may be much too short, so the second step may be longer by the factor
 * DOP853_GROW_FIRST. */
static const double DOP853_SHRINK = 1.0 / 3, DOP853_GROW = 6, DOP853_GROW_FIRST = 1e4;
/* Ratio of the next step to the estimated step that just meets the tolerance. DOP853 uses 0.9; 0.8 saves a third of the
 * rejected steps. */
static const double DOP853_SAFE = 0.8;
/* A step that would end less than 1 % of its length before the stop is lengthened to end at the stop. Its error, of
 * order 8, grows by 8 % at most. */
static const double DOP853_STRETCH = 1.01;
/* The stability limit of h |λ| on the negative real axis (Hairer & Wanner, Solving ODEs II, IV.2). */
static const double DOP853_STABLE = 6.1;
/* At tight tolerances, the error of a fast decaying component limits the step before stability does. The system then
 * counts as stiff if h |λ| is above DECAYS and the rates change opposite to the state (cosine below AGAINST). The
 * cosine is −1 for a decay and 0 for an oscillation. Forty steps with h |λ| = 1.5 reduce a decaying part of the motion
 * by exp(−60). A decay that is detected for longer is therefore not part of the motion, and the system is stiff. */
static const double DOP853_DECAYS = 1.5, DOP853_AGAINST = -0.9;

static inline double dop853_eighth_root(double x) {
    return sqrt(sqrt(sqrt(x)));
}

/* Returns the length of the Euler step that estimates the second derivative before the first step (loc. cit., II.4), at
 * most `bound`. `state` and `rate` are weighted norms of the state and of its rate. */
static inline double dop853_probe(double state, double rate, double bound) {
    return fmin(state < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * state / rate, bound);
}

/* Returns the first step (loc. cit., II.4). `probe` is the length of the Euler step, `rate` the norm of the rates
 * before it, and `change` the norm of their change. */
static inline double dop853_first_step(double probe, double rate, double change) {
    double most = fmax(rate, change / probe);
    return fmin(100 * probe, most <= 1e-15 ? fmax(1e-6, 1e-3 * probe) : dop853_eighth_root(0.01 / most));
}

/* Returns the step to try, which ends neither after the stop nor slightly before it. `left` is the time to the stop. */
static inline double dop853_bounded_step(double next, double most, double left) {
    double h = fmin(next, most);
    return left <= fmin(DOP853_STRETCH * h, most) ? left : h;
}

/* Returns false if the step is too short for the time to change reliably. */
static inline bool dop853_is_long_enough(double h, double t) {
    return h > 4 * DBL_EPSILON * fabs(t);
}

/* Returns the end of a step from dop853_bounded_step. */
static inline double dop853_end(double t, double h, double stop) {
    return h == stop - t ? stop : t + h;
}

/* Combines the weighted norms of the two error estimates to one estimate that is proportional to h^8 (loc. cit.,
 * II.10). A step is accurate if this estimate is at most 1. */
static inline double dop853_error(double h, double fifth, double third) {
    double both = sqrt(fifth * fifth + 0.01 * third * third);
    return both > 0 ? h * fifth * fifth / both : 0;
}

/* Returns the ratio of the next step to this one. `first` is true if no step has been accepted since the start. */
static inline double dop853_ratio(double error, bool first) {
    return fmin(first ? DOP853_GROW_FIRST : DOP853_GROW, fmax(DOP853_SHRINK, DOP853_SAFE / dop853_eighth_root(error)));
}

/* Returns the step after an accepted step h. `rejected` is true if the previous try was rejected. */
static inline double dop853_next_step(double h, double ratio, bool rejected) {
    return h * (rejected ? fmin(ratio, 1) : ratio);
}

/* Returns true if the system seems stiff, from two states at the same time. `states` and `rates` are the squared norms
 * of the differences of these states and of their rates. `product` is the scalar product of the two differences. */
static inline bool dop853_shows_stiffness(double rates, double states, double product, double h) {
    if (h * h * rates > DOP853_STABLE * DOP853_STABLE * states) return true;
    return h * h * rates > DOP853_DECAYS * DOP853_DECAYS * states && product < DOP853_AGAINST * sqrt(rates * states);
}
