/* response.h — from a filled-in reply to what libmicrohttpd sends. */
#ifndef HAMEL_SERVER_HTTP_RESPONSE_H
#define HAMEL_SERVER_HTTP_RESPONSE_H

#include "server/http/request.h"

/* After the handler, on its thread: gives a body to GET an ETag, answers 304 to a client that has it already, and
 * compresses for one that asks for gzip. */
void response_finish(request *r);

/* Whether the answer with this media type is to be compressed for this client. */
bool response_coded(const request *r, const char *media_type);

/* RFC 9110 13.1.2: true when a 304 is the answer. `header` may be NULL. */
bool etag_matches(const char *header, const char *etag);

/* The headers of a response under way. */
typedef struct response_headers {
    struct MHD_Response *response;
    bool complete; /* false once there was no memory for one, or its value was none that HTTP can carry */
} response_headers;
void response_add(response_headers *h, const char *name, const char *value);

/* With all headers, or NULL; on the HTTP thread. */
struct MHD_Response *response_make(request *r);

#endif
