/* dop853_vec8.h — DOP853 (dop853_template.h) for eight members of a sweep in SIMD lanes, with error estimates and a
 * test for stiffness.
 *
 * Each lane has its own time and step and does not depend on the others. Terms are summed in the same order as in
 * runge_kutta.c, so the results of a lane have the same bits as if its member ran alone. The caller accepts or rejects
 * steps (dop853_control.h). */
#pragma once

#include "engine/base/vec8.h"

#define DOP853_STATE dop853_vec8
#define DOP853_REAL vec8
#define DOP853_BLOCK 1
#include "engine/simulate/methods/dop853_template.h"

VEC8_FUNCTION(inline void, dop853_vec8_sum,
              (const dop853_vec8 *d, const vec8 *h, const double *c, size_t count, const vec8 *from, vec8 *out),
              (d, h, c, count, from, out))

static inline void dop853_vec8_dense(const dop853_vec8 *d, vec8 *out) {
    for (size_t f = 0; f < DOP853_ROWS; f++)
        dop853_vec8_sum(d, &d->h, dop853_dense[f], DOP853_ALL, NULL, out + f * d->length);
}

/* Sets *fifth and *third to the sums of the squares of the weighted error estimates per step size. */
VEC8_INLINE void dop853_vec8_errors_body(const dop853_vec8 *d, const vec8 *weights, vec8 *fifth, vec8 *third) {
    vec8 fifth_sum = {0}, third_sum = {0};
    for (size_t i = 0; i < d->length; i++) {
        vec8 e5 = {0}, e3 = {0};
        for (size_t k = 0; k < DOP853_STAGES; k++) {
            if (dop853_error_5[k] == 0) continue; /* both estimates have the same zeros */
            e5 += dop853_error_5[k] * d->slopes[k * d->length + i];
            e3 += dop853_error_3[k] * d->slopes[k * d->length + i];
        }
        e5 *= weights[i];
        e3 *= weights[i];
        fifth_sum += e5 * e5;
        third_sum += e3 * e3;
    }
    *fifth = fifth_sum;
    *third = third_sum;
}
VEC8_FUNCTION(inline void, dop853_vec8_errors, (const dop853_vec8 *d, const vec8 *weights, vec8 *fifth, vec8 *third),
              (d, weights, fifth, third))

/* Keeps the difference between the new state and the last stage, before the new state is projected. The continuous
 * extension overwrites the difference. */
static inline void dop853_vec8_keep_change(const dop853_vec8 *d) {
    vec8 *change = dop853_vec8_slope(d, DOP853_STAGES + 1);
    for (size_t i = 0; i < d->length; i++) change[i] = d->next[i] - d->stage[i];
}

/* Arguments of dop853_shows_stiffness, computed from the last two slopes and the difference that
 * dop853_vec8_keep_change has kept. */
typedef struct dop853_vec8_changes {
    vec8 rates, states, product;
} dop853_vec8_changes;

VEC8_INLINE void dop853_vec8_compare_body(const dop853_vec8 *d, dop853_vec8_changes *out) {
    dop853_vec8_changes sum = {{0}, {0}, {0}};
    const vec8 *last = dop853_vec8_slope(d, DOP853_STAGES - 1), *end = dop853_vec8_slope(d, DOP853_STAGES),
               *change = dop853_vec8_slope(d, DOP853_STAGES + 1);
    for (size_t i = 0; i < d->length; i++) {
        vec8 state = change[i], slope = end[i] - last[i];
        sum.rates += slope * slope;
        sum.states += state * state;
        sum.product += slope * state;
    }
    *out = sum;
}
VEC8_FUNCTION(inline void, dop853_vec8_compare, (const dop853_vec8 *d, dop853_vec8_changes *out), (d, out))
