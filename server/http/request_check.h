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

/* What is wrong with a request in one line, and the status to answer: 400, 414 or 431. */
typedef struct request_fault {
    const char *text; /* static; NULL: nothing is */
    int status;
} request_fault;

request_fault request_check_headers(struct MHD_Connection *connection, const char *version);

/* Splits the request target as it was sent into the decoded path (NUL-terminated, "" when it is not sound) and checks all
 * of it. The path of a request about the server as a whole is "*" (RFC 9112 3.2.4). */
request_fault request_check_target(const char *target, char *path, size_t room);

/* Whether a Host header, of whatever port, names this machine (localhost or a loopback address) or one of `names`, which
 * are separated by commas. A page in a browser whose own host name leads here (DNS rebinding) sends that name. */
bool request_host_allowed(const char *host, const char *names);

/* Whether text[length] is an item of a list that is separated by commas and blanks; letters count without their case. */
bool request_text_listed(const char *list, const char *text, size_t length);

/* True when `text` may stand in a header, a log and a problem: 1..128 visible characters that need no quoting. */
bool request_id_sane(const char *text);

/* W3C Trace Context: VERSION-TRACE-PARENT-FLAGS in lower-case hexadecimal. */
bool trace_parent_sane(const char *text);

#endif
