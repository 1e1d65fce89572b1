/* request_check.h — what libmicrohttpd 0.9 lets through and must not be let through.
 *
 * It takes the first of several Content-Length headers, prefers Transfer-Encoding where both are given, waits for ever
 * on codings that it does not know, and cuts a path at %00: each is a way to make two parties disagree on where a
 * request ends or what it asks for. A request with any of these is answered 400 and its connection closed. */
#ifndef HAMEL_SERVER_HTTP_REQUEST_CHECK_H
#define HAMEL_SERVER_HTTP_REQUEST_CHECK_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

enum { REQUEST_HEADERS_BYTES = 24 * 1024 }; /* names and values together */

/* NULL when the headers are sound, else what is wrong in one line, with the status to answer: 400, or 431. */
const char *request_check_headers(struct MHD_Connection *connection, const char *version, int *status);

/* Splits the request target as it was sent into the decoded path (NUL-terminated) and checks all of it. NULL when sound. */
const char *request_check_target(const char *target, char *path, size_t room);

/* True when `text` may stand in a header, a log and a problem: 1..128 visible characters that need no quoting. */
bool request_id_sane(const char *text);

/* W3C Trace Context: VERSION-TRACE-PARENT-FLAGS in lower-case hexadecimal. */
bool trace_parent_sane(const char *text);

#endif
