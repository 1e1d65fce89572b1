/* dop853_scalar.h — DOP853 (dop853_template.h) for one state. */
#pragma once

#define DOP853_STATE dop853_scalar
#define DOP853_REAL double
#define DOP853_BLOCK 4
#include "engine/simulate/methods/dop853_template.h"

static inline __attribute__((always_inline)) void dop853_scalar_sum(const dop853_scalar *d, const double *h,
                                                                    const double *c, size_t count, const double *from,
                                                                    double *out) {
    dop853_scalar_sum_body(d, h, c, count, from, out);
}

static inline void dop853_scalar_dense(const dop853_scalar *d, double *out) {
    const size_t length = d->length;
    const double *const rows[] = {dop853_dense[0], dop853_dense[1], dop853_dense[2], dop853_dense[3]};
    double *const outs[] = {out, out + length, out + 2 * length, out + 3 * length};
    dop853_scalar_sums_body(d, &d->h, rows, DOP853_ROWS, DOP853_ALL, outs);
}
