/* monotonic.h — seconds of a clock that nobody sets, from a beginning of its own. */
#ifndef HAMEL_BASE_MONOTONIC_H
#define HAMEL_BASE_MONOTONIC_H

#include <time.h>

static inline double monotonic_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double monotonic(void) {
    return monotonic_of(CLOCK_MONOTONIC);
}

/* To a few milliseconds, and a tenth of the time that an exact look takes. */
static inline double monotonic_coarse(void) {
    return monotonic_of(CLOCK_MONOTONIC_COARSE);
}

#endif
