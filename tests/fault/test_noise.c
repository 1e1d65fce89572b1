/* test_noise.c — sends requests with bytes changed, removed, duplicated and moved. The daemon must respond or close the
 * connection, leak no descriptor, and serve other clients.
 *
 * Usage: test_noise [COUNT [SEED]]. The default is 3,000 requests, or 200,000 with HAMEL_TEST_LONG.
 *
 * The seed is fixed, so failures are reproducible. If a test fails, it prints the last bytes that were sent. */
#include "tests/http/daemon.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOISE_BYTES = 4096, CHANGES_MOST = 6, ROUND = 250, SLOW_MOST = 20 };

static test_daemon d;
static size_t count_wanted = 3000;
static unsigned seed = 1;

#define SYSTEM                                                                                     \
    "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"kinetic_energy\":\"x'^2/2\"," \
    "\"potential_energy\":\"x^2/2\",\"simulation\":{\"stop\":1,\"samples\":3}}"
#define HEAD "Host: localhost\r\nContent-Type: application/json\r\n"

/* clang-format off */
static const char *const requests[] = {
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /v1/jobs?limit=2&status=queued&cursor=7 HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
    "GET /v1/jobs/00000000000000000000000000000000/results?from=0&to=1&every=2&columns=t,x HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv;q=0.5, */*\r\n\r\n",
    "GET /v1/jobs/00000000000000000000000000000000/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 12\r\n\r\n",
    "GET /v1/batches?limit=1 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \"a\", W/\"b\"\r\nAuthorization: Bearer x\r\n\r\n",
    "OPTIONS /v1/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a\r\nAccess-Control-Request-Method: POST\r\n\r\n",
    "POST /v1/simulations HTTP/1.1\r\n" HEAD "Content-Length: 141\r\n\r\n" SYSTEM,
    "POST /v1/checks HTTP/1.1\r\n" HEAD "Accept: application/xml\r\nContent-Length: 141\r\n\r\n" SYSTEM,
    "POST /v1/simulations HTTP/1.1\r\n" HEAD "Transfer-Encoding: chunked\r\n\r\n8d\r\n" SYSTEM "\r\n0\r\n\r\n",
    "POST /v1/analyses HTTP/1.1\r\n" HEAD "Content-Length: 152\r\n\r\n{\"system\":" SYSTEM "}",
    "POST /v1/batches HTTP/1.1\r\n" HEAD "Idempotency-Key: k\r\nContent-Length: 155\r\n\r\n{\"systems\":[" SYSTEM "]}",
    "HEAD / HTTP/1.0\r\n\r\nGET /v1/examples HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
};
/* clang-format on */
enum { REQUESTS = sizeof requests / sizeof requests[0] };

static size_t below(size_t bound) {
    return bound ? (size_t)rand_r(&seed) % bound : 0;
}

/* Changes the bytes at a few positions and returns the new length. */
static size_t change(char *bytes, size_t length) {
    static const char telling[] = "\r\n\0 :;,%/?&=\"{}[]0f-+.\x7f\xff";
    for (size_t k = 1 + below(CHANGES_MOST); k > 0 && length > 1; k--) {
        size_t at = below(length), span = 1 + below(16);
        if (span > length - at) span = length - at;
        switch (below(5)) {
        case 0: bytes[at] = (char)below(256); break;
        case 1: bytes[at] = telling[below(sizeof telling - 1)]; break;
        case 2: /* removes bytes */
            memmove(bytes + at, bytes + at + span, length - at - span);
            length -= span;
            break;
        case 3: /* duplicates bytes */
            if (length + span > NOISE_BYTES) break;
            memmove(bytes + at + span, bytes + at, length - at);
            length += span;
            break;
        default: memmove(bytes + below(length - span + 1), bytes + at, span); break;
        }
    }
    return length;
}

/* Sends the bytes, waits briefly for a response, and closes the connection. */
static void throw(const char *bytes, size_t length, bool patient) {
    char bin[512];
    int s = connect_to(&d);
    (void)!send(s, bytes, length, MSG_NOSIGNAL);
    struct pollfd look = {.fd = s, .events = POLLIN};
    if (poll(&look, 1, patient ? 200 : 2) > 0) (void)!recv(s, bin, sizeof bin, 0);
    close(s);
}

static void print_bytes(const char *bytes, size_t length) {
    for (size_t k = 0; k < length; k++)
        print_error(bytes[k] >= 0x20 && bytes[k] < 0x7f ? "%c" : "\\x%02x", (unsigned char)bytes[k]);
    print_error("\n");
}

static void malformed_requests_are_answered_or_closed(void **state) {
    (void)state;
    static char bytes[NOISE_BYTES];
    daemon_start(&d, (const char *const[]){"--time-limit", "1", NULL});
    size_t before = daemon_descriptors(&d);
    for (size_t k = 0; k < count_wanted; k++) {
        const char *request = requests[below(REQUESTS)];
        size_t length = strlen(request);
        memcpy(bytes, request, length);
        length = change(bytes, length);
        throw(bytes, length, below(SLOW_MOST) == 0);
        if (k % ROUND != ROUND - 1) continue;
        answer a = ask(&d, "GET", "/healthz", NULL, NULL);
        if (a.status != 200) print_bytes(bytes, length);
        assert_int_equal(a.status, 200);
        answer_clear(&a);
    }
    double until = hang_time();
    while (daemon_descriptors(&d) > before + 4 && now_seconds() < until) sleep_seconds(0.05);
    assert_true(daemon_descriptors(&d) <= before + 4);
    char system[512];
    char *id = submit(&d, oscillator(system, sizeof system, "after", 1, 3));
    wait_for_status(&d, id, "completed");
    free(id);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

int main(int argc, char **argv) {
    if (long_tests()) count_wanted = 200000;
    if (argc > 1) count_wanted = strtoul(argv[1], NULL, 10);
    if (argc > 2) seed = (unsigned)strtoul(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(malformed_requests_are_answered_or_closed)};
    return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
