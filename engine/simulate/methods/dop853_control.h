/* dop853_control.h — step control of DOP853 for one integration.
 *
 * runge_kutta.c and members_vec8.c use these functions, so a member takes the same steps in a SIMD lane as in a run of
 * its own. Sources: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, Springer 1993, and their
 * program DOP853. */
#pragma once

#include "engine/simulate/methods/dop853.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Factor on tolerances, because the errors of steps accumulate. The errors with this factor are listed in
 * engine/simulate/README.md, "Sweeps". */
static const double DOP853_SAFETY = 0.03;
/* Bounds on the ratio of successive steps (loc. cit., II.4). The estimated first step may be far too short for a system
 * at rest, so it may grow by DOP853_GROW_FIRST; chosen. */
static const double DOP853_SHRINK = 1.0 / 3, DOP853_GROW = 6, DOP853_GROW_FIRST = 1e4;
/* Ratio of the next step to the estimated step that just meets the tolerance. DOP853 uses 0.9; 0.8 saves a third of the
 * rejected steps. */
static const double DOP853_SAFE = 0.8;
/* A step that would end within this part of its length before the stop ends at the stop; chosen. */
static const double DOP853_STRETCH = 1.01;
/* The stability limit of h |λ| on the negative real axis (Hairer & Wanner, Solving ODEs II, IV.2). */
static const double DOP853_STABLE = 6.1;
/* At tight tolerances, the error of a fast decaying part of the motion bounds the step before stability does. The
 * system counts as stiff if h |λ| is above DECAYS and the change of the rates is opposite to that of the state (cosine
 * below AGAINST). For oscillations the two changes are perpendicular. Over forty steps a fast decaying part vanishes,
 * so it is not the motion itself. Both bounds are chosen. */
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

/* Returns a combination of both estimates that falls as h^8 (loc. cit., II.10), from their weighted norms. A step with
 * an error of at most 1 is accurate. */
static inline double dop853_error(double h, double fifth, double third) {
    double both = sqrt(fifth * fifth + 0.01 * third * third);
    return both > 0 ? h * fifth * fifth / both : 0;
}

/* Returns the ratio of the next step to this one. `first`: no step has been accepted since the start. */
static inline double dop853_ratio(double error, bool first) {
    return fmin(first ? DOP853_GROW_FIRST : DOP853_GROW, fmax(DOP853_SHRINK, DOP853_SAFE / dop853_eighth_root(error)));
}

/* Returns the next step after an accepted one. `rejected`: the try before was rejected. */
static inline double dop853_next_step(double h, double ratio, bool rejected) {
    return h * (rejected ? fmin(ratio, 1) : ratio);
}

/* Returns true if the system seems stiff. Rates differ at two states at the same time. `rates` and `states` are the
 * squared lengths of both differences, and `product` is their scalar product. */
static inline bool dop853_shows_stiffness(double rates, double states, double product, double h) {
    if (h * h * rates > DOP853_STABLE * DOP853_STABLE * states) return true;
    return h * h * rates > DOP853_DECAYS * DOP853_DECAYS * states && product < DOP853_AGAINST * sqrt(rates * states);
}
