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

/* With all headers; on the HTTP thread. NULL without memory. */
struct MHD_Response *response_make(request *r);

#endif
