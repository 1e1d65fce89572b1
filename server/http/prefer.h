/* prefer.h — Prefer: wait=N (RFC 7240, 4.3): an answer held back until what was submitted has ended. */
#ifndef HAMEL_SERVER_HTTP_PREFER_H
#define HAMEL_SERVER_HTTP_PREFER_H

#include "server/http/request.h"

/* What was submitted, as its reply has it. */
typedef struct awaited {
    void *context; /* owned */

    /* Looks at the store anew. False while it goes on; then *wait has the change to wait for. */
    bool (*ended)(const request *r, void *context, follow_wait *wait);
    void (*reply)(request *r, void *context);
    void (*clear)(void *context);
} awaited;

/* Replies once it has ended, or the time is over that the request asks for, two minutes at most; at once when it asks for
 * none, the daemon ends, or no follower has a place. While it waits it has no run slot. */
handled prefer_wait(request *r, const awaited *what);

#endif
