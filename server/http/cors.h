/* cors.h — which pages of other origins may call this server from a browser (Fetch standard, 3.2).
 *
 * The configuration is `*` or a list of origins, separated by commas; empty: none. Credentials are never allowed:
 * tokens travel in a header that a page sets itself, so `*` gives away nothing that a page does not have already. */
#ifndef HAMEL_SERVER_HTTP_CORS_H
#define HAMEL_SERVER_HTTP_CORS_H

#include "server/http/response.h"

/* Adds the headers that this request's Origin calls for, if any; on an answer to OPTIONS those of a preflight too. */
void cors_add_headers(const request *r, response_headers *h);

#endif
