/* prefer.h — Prefer: wait=N (RFC 7240, 4.3): delays the reply until the submitted job or batch has ended. */
#pragma once

#include "server/http/request.h"

/* A submitted job or batch, with functions that read it and reply. */
typedef struct awaited {
    void *context; /* owned by this struct */

    /* Reads the store again. If the work continues, returns false and sets *wait to the change to wait for. */
    bool (*ended)(const request *r, void *context, follow_wait *wait);
    void (*reply)(request *r, void *context);
    void (*clear)(void *context);
} awaited;

/* Replies when the work has ended or the requested time, at most two minutes, is over. Replies immediately if no time
 * is requested, if the daemon is shutting down, or if there are too many followers. Holds no run slot while it
 * waits. */
handled prefer_wait(request *r, const awaited *what);
