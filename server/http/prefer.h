/* prefer.h — Prefer: wait=N (RFC 7240, 4.3): an answer held back until what was submitted has ended. */
#ifndef HAMEL_SERVER_HTTP_PREFER_H
#define HAMEL_SERVER_HTTP_PREFER_H

#include "server/http/request.h"

/* Waits as long as the request of a stream's thread asks for, two minutes at most, and then has its reply say so.
 * `ended` looks at the store anew, at the beginning and whenever something has changed there; true ends the wait, as do
 * the client's going and the end of the daemon. */
void prefer_wait(request *r, bool (*ended)(const request *r, void *context), void *context);

#endif
