/* dop853_vec8.h — DOP853 (dop853_template.h) for eight members of a sweep in SIMD lanes, with error estimate and stiffness.
 *
 * Each lane has its own time and step and does not depend on the others. The caller accepts or rejects steps. */
#pragma once

#include "engine/base/vec8.h"

#include <math.h>

#define DOP853_STATE dop853_vec8
#define DOP853_REAL vec8
#define DOP853_BLOCK 1
#define DOP853_SCALE_FACTOR(h, c) (c)
#define DOP853_SCALE_SUM(h, sum) ((h) * (sum))
#include "engine/simulate/methods/dop853_template.h"

VEC8_FUNCTION(inline void, dop853_vec8_sum,
              (const dop853_vec8 *d, const vec8 *h, const double *c, size_t count, const vec8 *from, vec8 *out),
              (d, h, c, count, from, out))

/* Sets *error to the estimated error of the step tried, as a weighted root mean square:
 *     |h| e5² / √(length (e5² + e3²/100))   (Hairer, Nørsett & Wanner, I, II.10, and their code).
 * e5 and e3 are the weighted norms of the two estimates. A step with an error of at most 1 is accurate. atol has
 * `length` numbers. */
VEC8_INLINE void dop853_vec8_error_body(const dop853_vec8 *d, double rtol, const double *atol, vec8 *error) {
    vec8 fifth = {0}, third = {0};
    for (size_t i = 0; i < d->length; i++) {
        vec8 e5 = {0}, e3 = {0}, scale = {0};
        for (size_t k = 0; k < DOP853_STAGES; k++) {
            if (dop853_error_5[k] == 0) continue; /* both estimates have the same zeros */
            e5 += dop853_error_5[k] * d->slopes[k * d->length + i];
            e3 += dop853_error_3[k] * d->slopes[k * d->length + i];
        }
        for (int k = 0; k < VEC8_SIZE; k++) {
            double before = fabs(d->y[i][k]), after = fabs(d->next[i][k]);
            scale[k] = before > after ? before : after;
        }
        scale = 1 / (rtol * scale + atol[i]);
        e5 *= scale;
        e3 *= scale;
        fifth += e5 * e5;
        third += e3 * e3;
    }
    vec8 both = (double)d->length * (fifth + 0.01 * third);
    for (int k = 0; k < VEC8_SIZE; k++) {
        double size = fifth[k] * fabs(d->h[k]) / sqrt(both[k]);
        (*error)[k] = both[k] == 0 ? 0 : size;
    }
}
VEC8_FUNCTION(inline void, dop853_vec8_error, (const dop853_vec8 *d, double rtol, const double *atol, vec8 *error),
              (d, rtol, atol, error))

/* Estimates h |λ|, where λ is the dominant eigenvalue, from the last two slopes. Steps with a value above DOP853_STABLE
 * are bounded by stability. */
static inline void dop853_vec8_stiffness(const dop853_vec8 *d, vec8 *product) {
    vec8 slopes = {0}, states = {0};
    const vec8 *last = dop853_vec8_slope(d, DOP853_STAGES - 1), *end = dop853_vec8_slope(d, DOP853_STAGES);
    for (size_t i = 0; i < d->length; i++) {
        vec8 slope = end[i] - last[i], state = d->next[i] - d->stage[i];
        slopes += slope * slope;
        states += state * state;
    }
    vec8 values = {0};
    for (int k = 0; k < VEC8_SIZE; k++) values[k] = states[k] > 0 ? fabs(d->h[k]) * sqrt(slopes[k] / states[k]) : 0;
    *product = values;
}
