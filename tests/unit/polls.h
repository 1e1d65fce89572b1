/* polls.h — polls that stop work when a flag is set or a time limit is reached. */
#pragma once

#include "engine/base/monotonic.h"
#include "engine/base/poll.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct flag_poll {
    hamel_poll poll; /* must be the first member, because flag_poll_ask casts its argument */
    atomic_bool canceled;
} flag_poll;

static inline hamel_status flag_poll_ask(hamel_poll *poll) {
    return atomic_load(&((flag_poll *)poll)->canceled) ? HAMEL_CANCELED : HAMEL_OK;
}

static inline flag_poll flag_poll_of(bool canceled) {
    return (flag_poll){.poll = {.ask = flag_poll_ask}, .canceled = canceled};
}

typedef struct clock_poll {
    hamel_poll poll; /* must be the first member, because clock_poll_ask casts its argument */
    double until;    /* time at which work must stop, on the clock of monotonic() */
} clock_poll;

static inline hamel_status clock_poll_ask(hamel_poll *poll) {
    return monotonic_coarse() > ((clock_poll *)poll)->until ? HAMEL_LIMIT : HAMEL_OK;
}

static inline clock_poll clock_poll_of(double seconds) {
    return (clock_poll){.poll = {.ask = clock_poll_ask, .spent = "patience"}, .until = monotonic() + seconds};
}
