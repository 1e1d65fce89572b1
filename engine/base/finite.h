/* finite.h — tests arrays for NaN and infinity. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true if all values are finite. 0·x is 0 if x is finite, otherwise NaN, so the loop needs no branch. */
static inline bool all_finite(const double *x, size_t count) {
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += 0 * x[i + k];
    for (; i < count; i++) sum[0] += 0 * x[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) == 0;
}
