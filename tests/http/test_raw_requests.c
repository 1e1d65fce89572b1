/* test_raw_requests.c — raw requests that client libraries do not send. For each row of the table, the test checks the
 * first status and whether the daemon closes the connection. If a proxy and the daemon could disagree on the end of a
 * request, a second request to /smuggled follows. The daemon must not respond to the second request. Responses without
 * X-Request-Id come from libmicrohttpd. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define HOST "Host: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"
/* A second request, sent if the first request leaves the connection open. */
static const char behind[] = "GET /healthz HTTP/1.1\r\n" HOST "X-Request-Id: behind\r\nConnection: close\r\n\r\n";

#define NEXT "GET /smuggled HTTP/1.1\r\n" HOST "\r\n"

typedef struct raw_request {
    const char *name, *bytes;
    size_t length; /* number of bytes, which may contain NUL */
    int status;    /* 0 if the connection is closed without a response */
    bool closes;
} raw_request;

#define RAW(name, status, closes, bytes) \
    { name, bytes, sizeof(bytes) - 1, status, closes }

/* clang-format off */
static const raw_request requests[] = {
    RAW("a plain request",                  200, false, "GET /healthz HTTP/1.1\r\n" HOST "\r\n"),
    RAW("HTTP/1.0 without Host",            200, true,  "GET /healthz HTTP/1.0\r\n\r\n"),
    RAW("the absolute form of the URL",     200, false, "GET http://localhost/healthz HTTP/1.1\r\n" HOST "\r\n"),
    RAW("two lengths, the first longer",    400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 5\r\nContent-Length: 0\r\n\r\n{\"a\":" NEXT),
    RAW("two lengths, the first shorter",   400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 0\r\nContent-Length: 5\r\n\r\n{\"a\":" NEXT),
    RAW("two equal lengths",                400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" NEXT),
    RAW("a list of lengths",                400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 2, 2\r\n\r\n{}" NEXT),
    RAW("a signed length",                  400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: +2\r\n\r\n{}" NEXT),
    RAW("a negative length",                400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: -2\r\n\r\n{}" NEXT),
    RAW("a hexadecimal length",             400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 0x2\r\n\r\n{}" NEXT),
    RAW("a length, then chunked",           400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW("chunked, then a length",           400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" NEXT),
    RAW("the transfer coding identity",     400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: identity\r\n\r\n{}" NEXT),
    RAW("an unknown transfer coding",       400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW("two codings in one header",        400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW("two Transfer-Encodings",           400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW("chunked in HTTP/1.0",              400, true,  "POST /v1/jobs HTTP/1.0\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" NEXT),
    RAW("a space before the colon",         400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length : 60\r\n\r\n" NEXT),
    RAW("no Host",                          400, true,  "GET /healthz HTTP/1.1\r\n\r\n"),
    RAW("two Hosts",                        400, true,  "GET /healthz HTTP/1.1\r\n" HOST "Host: other\r\n\r\n"),
    RAW("an empty Host",                    400, true,  "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"),
    RAW("a foreign Host",                   421, true,  "POST /v1/jobs HTTP/1.1\r\nHost: evil.example\r\n" JSON "Content-Length: 60\r\n\r\n" NEXT),
    RAW("a Host with a path",               400, true,  "GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    RAW("two Authorizations",               400, true,  "GET /v1/jobs HTTP/1.1\r\n" HOST "Authorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n"),
    RAW("two Content-Types",                400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}" NEXT),
    RAW("two Content-Encodings",            400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Encoding: identity\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}" NEXT),
    RAW("two Idempotency-Keys",             400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Idempotency-Key: a\r\nIdempotency-Key: a\r\nContent-Length: 2\r\n\r\n{}" NEXT),
    RAW("two Last-Event-IDs",               400, true,  "GET /v1/jobs HTTP/1.1\r\n" HOST "Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n"),
    RAW("two Origins",                      400, true,  "GET /healthz HTTP/1.1\r\n" HOST "Origin: http://a\r\nOrigin: http://b\r\n\r\n"),
    RAW("two request ids",                  400, true,  "GET /healthz HTTP/1.1\r\n" HOST "X-Request-Id: a\r\nX-Request-Id: b\r\n\r\n"),
    RAW("two Accept headers",               200, false, "GET /healthz HTTP/1.1\r\n" HOST "Accept: text/csv\r\nAccept: application/json\r\n\r\n"),
    RAW("NUL in a value (cut off there)",   200, false, "GET /healthz HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"),
    RAW("a control character in a value",   400, true,  "GET /healthz HTTP/1.1\r\n" HOST "X: a\x01" "b\r\n\r\n"),
    RAW("a control character in a name",    400, true,  "GET /healthz HTTP/1.1\r\n" HOST "X\x02: a\r\n\r\n"),
    RAW("a bracket in a name",              400, true,  "GET /healthz HTTP/1.1\r\n" HOST "X(y): a\r\n\r\n"),
    RAW("a dot segment",                    400, true,  "GET /v1/../healthz HTTP/1.1\r\n" HOST "\r\n"),
    RAW("an escaped dot segment",           400, true,  "GET /v1/%2e%2e%2fhealthz HTTP/1.1\r\n" HOST "\r\n"),
    RAW("an encoded slash",                 400, true,  "GET /v1%2fjobs HTTP/1.1\r\n" HOST "\r\n"),
    RAW("an encoded slash in a name",       400, true,  "GET /v1/examples/a%2Fb HTTP/1.1\r\n" HOST "\r\n"),
    RAW("an encoded slash in a query",      200, false, "GET /v1/jobs?name=a%2Fb HTTP/1.1\r\n" HOST "\r\n"),
    RAW("NUL in the path",                  400, true,  "GET /healthz%00x HTTP/1.1\r\n" HOST "\r\n"),
    RAW("NUL in the query",                 400, true,  "GET /v1/jobs?name=a%00b HTTP/1.1\r\n" HOST "\r\n"),
    RAW("a line end in the path",           400, true,  "GET /a%0d%0ab HTTP/1.1\r\n" HOST "\r\n"),
    RAW("an incomplete escape",             400, true,  "GET /healthz%2 HTTP/1.1\r\n" HOST "\r\n"),
    RAW("non-ASCII bytes in the path",      400, true,  "GET /\xc3\xa9 HTTP/1.1\r\n" HOST "\r\n"),
    RAW("a path without a slash",           400, true,  "GET healthz HTTP/1.1\r\n" HOST "\r\n"),
    RAW("OPTIONS for the whole server",     204, false, "OPTIONS * HTTP/1.1\r\n" HOST "\r\n"),
    RAW("GET with an asterisk",             405, false, "GET * HTTP/1.1\r\n" HOST "\r\n"),
    RAW("a request line of one word",       0,   true,  "GET\r\n\r\n"),
    RAW("a request line of two words",      400, true,  "GET /healthz\r\n\r\n"),
    RAW("a request line of four words",     400, true,  "GET /healthz HTTP/1.1 x\r\n" HOST "\r\n"),
    RAW("a method in lower case",           405, false, "get /healthz HTTP/1.1\r\n" HOST "\r\n"),
    RAW("a header without a colon",         400, true,  "GET /healthz HTTP/1.1\r\n" HOST "X y\r\n\r\n"),
    RAW("a future version",                 505, true,  "GET /healthz HTTP/2.0\r\n" HOST "\r\n"),
    RAW("a chunk size that overflows",      413, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n" NEXT),
    RAW("an invalid chunk size",            400, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" NEXT),
    RAW("POST without a length",            411, false, "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "\r\n"),
    RAW("a length above the limit",         413, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: 99999999999\r\n\r\n{}"),
    RAW("Expect with a rejected body",      415, true,  "POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"),
    RAW("noise",                            0,   true,  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
};
/* clang-format on */

static test_daemon d;

static int status_of(const char *text) {
    int status = 0;
    return sscanf(text, "HTTP/1.%*c %d", &status) == 1 ? status : 0;
}

static void a_raw_request_is_answered_as_in_the_table(void **state) {
    const raw_request *r = *state;
    char *out = malloc(1 << 20), sent[1024];
    size_t length = r->length;
    assert_non_null(out);
    assert_true(length + sizeof behind <= sizeof sent);
    memcpy(sent, r->bytes, length);
    if (!r->closes) length = (size_t)(stpcpy(sent + length, behind) - sent);
    bool closed;
    exchange(&d, sent, length, NULL, out, 1 << 20, &closed);
    const char *first = strstr(out, "X-Request-Id:"), *second = first ? strstr(first + 1, "X-Request-Id:") : NULL;
    if (status_of(out) != r->status || !second != r->closes) {
        print_error("%s: status %d (expected %d), %s\n%s\n", r->name, status_of(out), r->status,
                    second ? "stayed open" : "closed", out);
    }
    assert_true(closed);
    assert_int_equal(status_of(out), r->status);
    assert_int_equal(!second,
                     r->closes); /* the second request has a response if and only if the connection stays open */
    if (second) assert_memory_equal(second, "X-Request-Id: behind", 20);
    assert_null(strstr(out, "/smuggled"));
    free(out);
}

/* If libmicrohttpd cannot parse a request, it sends its own error page. This page must not contain parts of the
 * request. */
static void responses_of_the_library_repeat_nothing_of_the_request(void **state) {
    (void)state;
    static const char *const odd[] = {
        "GET /kilroy\r\n\r\n",
        "GET /kilroy HTTP/2.0\r\n" HOST "\r\n",
        "GET /kilroy HTTP/1.1 kilroy\r\n" HOST "\r\n",
        "GET / HTTP/1.1\r\n" HOST "kilroy\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Content-Length: kilroy\r\n\r\n{}",
        "POST /v1/jobs HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\nkilroy\r\n",
    };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        char out[4096];
        bool closed;
        exchange(&d, odd[i], strlen(odd[i]), NULL, out, sizeof out, &closed);
        assert_true(status_of(out) >= 400);
        assert_true(closed);
        assert_null(strstr(out, "kilroy"));
        assert_null(strcasestr(out, "microhttpd"));
    }
}

/* Sends `before`, `count` letters, and `after`. */
static int status_of_long(const char *before, size_t letters, const char *after, char *out, size_t room) {
    size_t head = strlen(before), tail = strlen(after);
    char *bytes = malloc(head + letters + tail);
    assert_non_null(bytes);
    memcpy(bytes, before, head);
    memset(bytes + head, 'a', letters);
    memcpy(bytes + head + letters, after, tail);
    bool closed;
    exchange(&d, bytes, head + letters + tail, NULL, out, room, &closed);
    free(bytes);
    assert_true(closed);
    return status_of(out);
}

static void paths_that_are_too_long_are_414(void **state) {
    (void)state;
    char out[4096];
    assert_int_equal(status_of_long("GET /", 600, " HTTP/1.1\r\n" HOST "\r\n", out, sizeof out), 414);
    assert_non_null(strstr(out, "/problems/target-too-long"));
}

static void headers_that_are_too_long_are_431(void **state) {
    (void)state;
    char out[4096];
    assert_int_equal(status_of_long("GET /healthz HTTP/1.1\r\n" HOST "X: ", 40000, "\r\n\r\n", out, sizeof out), 431);
    assert_non_null(strstr(out, "/problems/headers-too-large"));
}

static void two_requests_in_one_packet_get_two_answers_in_order(void **state) {
    (void)state;
    static const char both[] = "GET /healthz HTTP/1.1\r\n" HOST "X-Request-Id: one\r\n\r\n"
                               "GET /readyz HTTP/1.1\r\n" HOST "X-Request-Id: two\r\nConnection: close\r\n\r\n";
    char out[4096];
    bool closed;
    exchange(&d, both, sizeof both - 1, NULL, out, sizeof out, &closed);
    const char *one = strstr(out, "X-Request-Id: one"), *two = strstr(out, "X-Request-Id: two");
    assert_non_null(one);
    assert_non_null(two);
    assert_true(one < two);
    assert_true(closed);
}

static void a_half_sent_request_is_closed_at_its_deadline(void **state) {
    (void)state;
    static const char half[] = "GET /healthz HTTP/1.1\r\nHost: loc";
    char out[512];
    bool closed;
    exchange(&d, half, sizeof half - 1, NULL, out, sizeof out, &closed);
    assert_true(closed);
}

/* A client that sends one byte per second never exceeds an idle timeout, so the deadline for the whole request must
 * close the connection. */
static void dripping_requests_are_closed_and_do_not_hinder_others(void **state) {
    (void)state;
    enum { DRIPS = 100 };
    int sockets[DRIPS], served = 0;
    for (int i = 0; i < DRIPS; i++) sockets[i] = connect_to(&d);
    int open_ones = DRIPS;
    for (double until = hang_time(); open_ones > 0 && now_seconds() < until; sleep_seconds(0.5)) {
        open_ones = 0;
        for (int i = 0; i < DRIPS; i++) {
            char byte;
            if (recv(sockets[i], &byte, 1, MSG_DONTWAIT) == 0) continue; /* the server has closed this connection */
            open_ones += send(sockets[i], "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
        }
        answer a = ask(&d, "GET", "/healthz", NULL, NULL);
        assert_int_equal(a.status, 200);
        answer_clear(&a);
        served += open_ones > 0;
    }
    assert_int_equal(open_ones, 0);
    assert_true(served > 0);
    for (int i = 0; i < DRIPS; i++) close(sockets[i]);
}

int main(void) {
    enum { TABLE = sizeof requests / sizeof requests[0], OTHERS = 6 };
    struct CMUnitTest tests[TABLE + OTHERS] = {{0}};
    for (size_t i = 0; i < TABLE; i++) {
        tests[i] = (struct CMUnitTest){.name = requests[i].name,
                                       .test_func = a_raw_request_is_answered_as_in_the_table,
                                       .initial_state = (void *)(uintptr_t)&requests[i]};
    }
    const struct CMUnitTest others[OTHERS] = {
        cmocka_unit_test(responses_of_the_library_repeat_nothing_of_the_request),
        cmocka_unit_test(paths_that_are_too_long_are_414),
        cmocka_unit_test(headers_that_are_too_long_are_431),
        cmocka_unit_test(two_requests_in_one_packet_get_two_answers_in_order),
        cmocka_unit_test(a_half_sent_request_is_closed_at_its_deadline),
        cmocka_unit_test(dripping_requests_are_closed_and_do_not_hinder_others),
    };
    memcpy(tests + TABLE, others, sizeof others);
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("raw_requests", tests, start_shared_daemon, end_shared_daemon);
}
