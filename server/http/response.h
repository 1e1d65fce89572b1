/* response.h — converts a reply to a response of libmicrohttpd. */
#pragma once

#include "server/http/request.h"

/* Completes a reply after its handler has returned, on the same thread. The reply to a GET gets an ETag, and becomes a
 * 304 if the client has that version. If the client accepts gzip, the body is compressed. */
void response_finish(request *r);

/* Returns true if a reply of this media type should be compressed for this client. */
bool response_coded(const request *r, const char *media_type);

/* Returns true if If-None-Match requires a 304 (RFC 9110 13.1.2). `header` may be NULL. */
bool etag_matches(const char *header, const char *etag);

/* A response under construction. */
typedef struct response_headers {
    struct MHD_Response *response;
    bool complete; /* false if a header could not be added */
} response_headers;
void response_add(response_headers *h, const char *name, const char *value);

/* Makes a response with all headers; returns NULL if out of memory. Call on the HTTP thread. */
struct MHD_Response *response_make(request *r);
