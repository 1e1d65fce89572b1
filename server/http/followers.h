/* followers.h — answers that wait: for a change of a job, for a reader to take bytes, for a time to be over.
 *
 * A follower has no thread and no run slot. It is a function that is called again and again (a step), on one of a few
 * threads, and never waits in it: it does what can be done now and returns what to wait for. One more thread watches
 * the store and calls those whose job has changed. */
#ifndef HAMEL_SERVER_HTTP_FOLLOWERS_H
#define HAMEL_SERVER_HTTP_FOLLOWERS_H

#include "server/access.h"
#include "server/http/stream.h"
#include "server/jobs/store.h"

typedef struct followers followers;

/* What a step waits for. Whatever it is, the next step comes when its stream is canceled, and by `until`. */
typedef struct follow_wait {
    bool ended;               /* nothing: the context is gone */
    bool reader;              /* room in the stream; otherwise a change of the store: */
    int64_t number, revision; /* this job has another revision; number 0: any change */
    double from, until;       /* by stamp_seconds: not before, and at the latest */
} follow_wait;
typedef follow_wait follow_step(void *context);

followers *followers_open(store *s, size_t most); /* NULL without memory or threads */
void followers_close(followers *set);             /* waits for the end of all; their streams have been canceled */

/* Calls the step from now on until it has ended. From then on the stream does not wait for its reader (stream.h). False
 * when there are too many or memory ends; then the step is never called. */
bool followers_add(followers *set, stream *s, access_holder *holder, follow_step *step, void *context);

size_t followers_count(followers *set);

#endif
