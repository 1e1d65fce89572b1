/* poll.h — callback that cancels or bounds long computations.
 *
 * The owner of the callback can cancel the computation, bound it by a budget, or block in the callback to yield the
 * processor. The callback is called at each evaluation and must be cheap on average. Once the callback has returned a
 * status other than HAMEL_OK, it must return the same status in all later calls. */
#pragma once

#include "engine/base/error.h"

typedef struct hamel_poll hamel_poll;
struct hamel_poll {
    /* HAMEL_OK: continue. HAMEL_CANCELED: the result is no longer needed. HAMEL_LIMIT: a budget is used up. */
    hamel_status (*ask)(hamel_poll *poll);
    const char *spent; /* after HAMEL_LIMIT: name of the exhausted budget, such as "wall time" */
};

/* Calls the callback. Returns HAMEL_OK if `poll` is NULL. */
static inline hamel_status hamel_ask(hamel_poll *poll) {
    return poll ? poll->ask(poll) : HAMEL_OK;
}
