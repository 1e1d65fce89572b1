/* poll.h — the question that long work asks its caller at short intervals: whether to continue.
 *
 * The caller can cancel the work, bound it by budgets of its own, or block the question for a while to let other work
 * have the processor. Work asks at each evaluation, so an answer must be cheap on average. Once an answer is not
 * HAMEL_OK, all later ones are the same. */
#ifndef HAMEL_BASE_POLL_H
#define HAMEL_BASE_POLL_H

#include "engine/base/error.h"

typedef struct hamel_poll hamel_poll;
struct hamel_poll {
    /* HAMEL_OK: continue. HAMEL_CANCELED: nobody waits for the result. HAMEL_LIMIT: a budget is used up. */
    hamel_status (*ask)(hamel_poll *poll);
    const char *spent; /* after HAMEL_LIMIT: the name of that budget, such as "wall time" */
};

/* `poll` may be NULL: continue. */
static inline hamel_status hamel_ask(hamel_poll *poll) {
    return poll ? poll->ask(poll) : HAMEL_OK;
}

#endif
