/* followers.h — responses that wait for a change of a job, for a slow client, or for a deadline.
 *
 * A follower has no thread and no run slot. A follower consists of a step function, which is called repeatedly on one
 * of a few threads. A step never blocks: it writes as much as possible and reports the condition for its next call. A
 * separate thread watches the store and queues the steps of followers whose job has changed. */
#pragma once

#include "server/access.h"
#include "server/http/stream.h"
#include "server/jobs/store.h"

typedef struct followers followers;

/* Condition for the next step of a follower. The step is also called at time `until` and when the stream is
 * canceled. */
typedef struct follow_wait {
    bool ended;  /* the follower has ended, and its context has been freed */
    bool reader; /* true: wait for space in the stream; false: wait for a change of the store */
    /* wait until job `number` has a revision other than `revision` or, if `number` is 0, until the store has changed */
    int64_t number, revision;
    double from, until; /* earliest and latest time of the next step (clock_seconds) */
} follow_wait;
typedef follow_wait follow_step(void *context);

followers *followers_open(store *s, size_t most); /* NULL if out of memory or if no thread can be started */
void followers_close(followers *set); /* waits until all followers have ended; call after canceling their streams */

/* Calls the step repeatedly until it sets `ended`. From this call on, writes to the stream do not block (stream.h). If
 * there are too many followers or memory is exhausted, returns false and never calls the step. */
bool followers_add(followers *set, stream *s, token_owner *owner, follow_step *step, void *context);

size_t followers_count(followers *set);
