/* monotonic.h — CLOCK_MONOTONIC in seconds. */
#pragma once

#include <time.h>

static inline double monotonic_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double monotonic(void) {
    return monotonic_of(CLOCK_MONOTONIC);
}

/* Returns the time of the last clock interrupt, at most 10 ms ago. The call is faster than monotonic(). */
static inline double monotonic_coarse(void) {
    return monotonic_of(CLOCK_MONOTONIC_COARSE);
}
