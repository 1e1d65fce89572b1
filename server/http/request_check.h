/* request_check.h — checks of requests that libmicrohttpd 0.9 accepts and the daemon must refuse.
 *
 * The library uses the first of several Content-Length headers and prefers Transfer-Encoding to Content-Length. The
 * library waits forever after an unknown coding, and truncates a path at %00. In each case a proxy and the daemon may
 * disagree on where a request ends or what its target is. The daemon replies 400 to such a request and closes the
 * connection. */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

/* Bound on the names and values of all headers together. Browsers and proxies send a few KiB. */
enum { REQUEST_HEADERS_BYTES = 24 * 1024 };

/* An error in a request, with its HTTP status: 400, 414 or 431. */
typedef struct request_fault {
    const char *text; /* static text of one line; NULL if there is no error */
    int status;
} request_fault;

request_fault request_check_headers(struct MHD_Connection *connection, const char *version);

/* Checks the request target and writes its decoded path, NUL-terminated. If the target is invalid, writes "". The path
 * of a request about the whole server is "*" (RFC 9112 3.2.4). */
request_fault request_check_target(const char *target, char *path, size_t room);

/* Returns true if a Host header, with any port, names localhost, a loopback address, or one of the comma-separated
 * `names`. The check detects DNS rebinding: a web page whose host name resolves to this machine sends that name. */
bool request_host_allowed(const char *host, const char *names);

/* Returns true if text[0..length) is an item of a list separated by commas and blanks. Ignores case. */
bool request_text_listed(const char *list, const char *text, size_t length);

/* Returns true if `text` can be used in headers, logs and problems: 1 to 128 visible characters that need no
 * quoting. */
bool request_id_sane(const char *text);

/* Returns true for a traceparent of W3C Trace Context: VERSION-TRACE-PARENT-FLAGS in lower-case hexadecimal. */
bool trace_parent_sane(const char *text);
