/* test_streams.c — live runs: formats, concurrency, clients that read slowly or disconnect, exhausted run slots, and
 * shutdown.
 *
 * No test depends on the speed of the machine. */
#include "tests/http/daemon.h"

#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYSTEM_BYTES = 512, MIB = 1024 * 1024 };

static test_daemon d;

/* Sends a request for a run and returns the socket. */
static int begin_run(const char *system, const char *accept) {
    char head[512];
    int s = connect_to(&d);
    int length = snprintf(head, sizeof head,
                          "POST /v1/simulations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                          "Accept: %s\r\nContent-Length: %zu\r\n\r\n",
                          accept, strlen(system));
    assert_int_equal(send(s, head, (size_t)length, MSG_NOSIGNAL), length);
    assert_int_equal(send(s, system, strlen(system), MSG_NOSIGNAL), strlen(system));
    return s;
}

/* Waits for bytes and stores at most `room` of them. Returns the number of stored bytes, or 0 at the end of the
 * stream. */
static size_t receive(int s, char *out, size_t room) {
    wait_for_bytes(s);
    ssize_t n = recv(s, out, room, 0);
    return n > 0 ? (size_t)n : 0;
}

/* Waits until the daemon uses less than a twentieth of a core during `seconds`. */
static void wait_until_idle_for(double seconds) {
    double until = hang_time(), before;
    do {
        assert_true(now_seconds() < until);
        before = daemon_cpu_seconds(&d);
        sleep_seconds(seconds);
    } while (daemon_cpu_seconds(&d) - before >= seconds / 20);
}

static void wait_until_idle(void) {
    wait_until_idle_for(0.5);
}

/* Waits until this number of requests use or wait for a run slot. */
static void wait_for_streams(double count) {
    double until = hang_time();
    while (daemon_metric(&d, "hamel_http_streams") != count && now_seconds() < until) sleep_seconds(0.01);
    assert_true(daemon_metric(&d, "hamel_http_streams") == count);
}

static answer run(const char *accept) {
    char system[SYSTEM_BYTES], header[128];
    snprintf(header, sizeof header, "Accept: %s", accept);
    const char *headers[] = {"Content-Type: application/json", header, NULL};
    answer a = ask(&d, "POST", "/v1/simulations", headers, oscillator(system, sizeof system, "o", 10, 101));
    assert_int_equal(a.status, 200);
    return a;
}

static size_t count_of(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) count++;
    return count;
}

/* ---- formats ---- */

static void ndjson_has_a_header_rows_and_a_summary(void **state) {
    (void)state;
    answer a = run("*/*");
    char type[64];
    answer_header(&a, "Content-Type", type, sizeof type);
    assert_string_equal(type, "application/x-ndjson");
    assert_int_equal(strncmp(a.body, "{\"header\":", 10), 0);
    assert_int_equal(count_of(a.body, "\n{\"row\":["), 101);
    assert_int_equal(count_of(a.body, "\n{\"summary\":{\"status\":\"completed\""), 1);
    assert_int_equal(a.body[a.length - 1], '\n');
    answer_clear(&a);
}

static void csv_rows_follow_the_motion(void **state) {
    (void)state;
    answer a = run("text/csv");
    const char *line = strchr(a.body, '\n');
    int rows = 0;
    assert_int_equal(strncmp(a.body, "t,x,x'\n", 7), 0);
    for (; line && line[1]; line = strchr(line + 1, '\n'), rows++) {
        double t, x, v;
        assert_int_equal(sscanf(line + 1, "%lf,%lf,%lf", &t, &x, &v), 3);
        assert_true(fabs(x - cos(t)) < 1e-4);
        assert_true(fabs(v + sin(t)) < 1e-4);
    }
    assert_int_equal(rows, 101);
    answer_clear(&a);
}

static void the_other_formats_are_served_on_request(void **state) {
    (void)state;
    answer a = run("text/event-stream");
    assert_int_equal(count_of(a.body, "event: row\n"), 101);
    assert_int_equal(count_of(a.body, "event: summary\n"), 1);
    answer_clear(&a);
    a = run("application/json");
    cJSON *tree = answer_json(&a);
    const cJSON *columns = cJSON_GetObjectItemCaseSensitive(tree, "columns");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(columns, "x")), 101);
    cJSON_Delete(tree);
    answer_clear(&a);
    a = run("application/x-npy");
    assert_memory_equal(a.body, "\x93NUMPY", 6);
    answer_clear(&a);
}

static void the_same_run_gives_the_same_rows(void **state) {
    (void)state;
    answer a = run("text/csv"), b = run("text/csv");
    assert_int_equal(a.length, b.length);
    assert_memory_equal(a.body, b.body, a.length);
    answer_clear(&a);
    answer_clear(&b);
}

/* ---- concurrency ---- */

static void rows_are_sent_while_the_run_continues(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], bytes[4096];
    int s = begin_run(endless(system, sizeof system), "application/x-ndjson");
    size_t n = receive(s, bytes, sizeof bytes - 1);
    assert_true(n > 0);
    bytes[n] = '\0';
    assert_int_equal(strncmp(bytes, "HTTP/1.1 200", 12), 0);
    close(s);
    wait_until_idle();
}

static void two_hundred_streams_all_progress(void **state) {
    (void)state;
    enum { STREAMS = 200 };
    int sockets[STREAMS];
    size_t got[STREAMS] = {0};
    char system[SYSTEM_BYTES], *bytes = malloc(MIB);
    assert_non_null(bytes);
    endless(system, sizeof system);
    for (int i = 0; i < STREAMS; i++) sockets[i] = begin_run(system, "text/csv");
    double until = hang_time();
    int moving = 0;
    /* each stream must send more bytes than its ring buffer of 256 KiB can hold */
    while (moving < STREAMS && now_seconds() < until) {
        moving = 0;
        for (int i = 0; i < STREAMS; i++) {
            ssize_t n = recv(sockets[i], bytes, MIB, MSG_DONTWAIT);
            if (n > 0) got[i] += (size_t)n;
            moving += got[i] > 320 * 1024;
        }
        answer a = ask(&d, "GET", "/healthz", NULL, NULL); /* other requests are still served */
        assert_int_equal(a.status, 200);
        answer_clear(&a);
    }
    size_t resident = daemon_resident_bytes(&d);
    for (int i = 0; i < STREAMS; i++) close(sockets[i]);
    free(bytes);
    if (moving < STREAMS) print_error("only %d of %d streams sent more than 320 KiB\n", moving, STREAMS);
    assert_int_equal(moving, STREAMS);
    /* 200 ring buffers of 256 KiB take 50 MiB. The other 150 MiB of the bound, 0.75 MiB per stream, are for the runs
     * and their stacks. With unbounded buffers, the memory would grow with the number of rows. */
    if (slowness() <= 1) assert_true(resident < (size_t)200 * MIB);
    wait_until_idle();
}

static void streams_with_paused_readers_use_no_cpu_time(void **state) {
    (void)state;
    enum { STREAMS = 100 };
    int sockets[STREAMS];
    char system[SYSTEM_BYTES];
    endless(system, sizeof system);
    for (int i = 0; i < STREAMS; i++) sockets[i] = begin_run(system, "text/csv");
    for (int i = 0; i < STREAMS; i++) wait_for_bytes(sockets[i]);
    wait_until_idle_for(2); /* all ring buffers and sockets are full */
    for (int i = 0; i < STREAMS; i++) close(sockets[i]);
    wait_until_idle();
}

/* ---- readers ---- */

/* State of a reader that removes the chunk framing and checks the times of rows: row k has t = k/20. */
typedef struct row_reader {
    char line[256];
    size_t length, rows, chunk_left;
    int phase; /* 0: head, 1: chunk size, 2: chunk, 3: line end after a chunk */
    char size[20];
    size_t size_length;
} row_reader;

static void take_row_byte(row_reader *r, char c) {
    if (c != '\n') {
        assert_true(r->length + 1 < sizeof r->line);
        r->line[r->length++] = c;
        return;
    }
    r->line[r->length] = '\0';
    r->length = 0;
    if (r->rows++ == 0) return; /* the column names */
    double t = strtod(r->line, NULL), expected = (double)(r->rows - 2) * (4e6 / (8e7 - 1));
    assert_true(fabs(t - expected) < 1e-6);
}

static void take_byte(row_reader *r, char c) {
    if (r->phase == 0) {
        r->size[r->size_length++ & 3] = c;
        bool ends = r->size_length >= 4 && c == '\n' && r->size[(r->size_length - 2) & 3] == '\r' &&
                    r->size[(r->size_length - 3) & 3] == '\n';
        if (!ends) return;
        r->phase = 1;
        r->size_length = 0;
    } else if (r->phase == 1) {
        if (c != '\n') {
            assert_true(r->size_length + 1 < sizeof r->size);
            r->size[r->size_length++] = c;
            return;
        }
        r->size[r->size_length] = '\0';
        r->chunk_left = strtoul(r->size, NULL, 16);
        r->size_length = 0;
        r->phase = 2;
    } else if (r->phase == 2) {
        take_row_byte(r, c);
        if (--r->chunk_left == 0) r->phase = 3;
    } else if (c == '\n') {
        r->phase = 1;
    }
}

static void a_paused_reader_costs_no_memory_and_loses_no_rows(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], *bytes = malloc(MIB);
    row_reader r = {.phase = 0};
    assert_non_null(bytes);
    int s = begin_run(endless(system, sizeof system), "text/csv");
    wait_for_bytes(s);
    wait_until_idle(); /* ring buffer and socket are full */
    size_t before = daemon_resident_bytes(&d);
    sleep_seconds(long_tests() ? 60 : 3);
    assert_true(daemon_resident_bytes(&d) < before + MIB + 256 * 1024);
    for (size_t total = 0; total < (size_t)20 * MIB;) {
        size_t n = receive(s, bytes, MIB);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) take_byte(&r, bytes[i]);
        total += n;
    }
    assert_true(r.rows > 50000);
    close(s);
    free(bytes);
    wait_until_idle();
}

static void disconnected_clients_release_their_resources(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], byte[64];
    endless(system, sizeof system);
    wait_until_idle();
    size_t before = daemon_descriptors(&d);
    int rounds = long_tests() ? 1000 : 100;
    for (int i = 0; i < rounds; i++) {
        int s = begin_run(system, i % 2 ? "text/csv" : "application/json");
        if (i % 6 == 3) receive(s, byte, sizeof byte);
        close(s);
    }
    wait_until_idle();
    double until = hang_time();
    while (daemon_descriptors(&d) > before + 2) {
        assert_true(now_seconds() < until);
        sleep_seconds(0.1);
    }
}

static void a_client_that_closes_stops_the_run_of_a_silent_stream(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], byte[16];
    /* The run computes for a long time between its two rows, so no write can detect the disconnection. */
    oscillator(system, sizeof system, "silent", 1e7, 2);
    wait_until_idle();
    int s = begin_run(system, "text/csv");
    assert_true(receive(s, byte, sizeof byte) > 0);
    double begun = daemon_cpu_seconds(&d);
    for (double until = hang_time(); daemon_cpu_seconds(&d) < begun + 0.2;) assert_true(now_seconds() < until);
    close(s);
    wait_until_idle();
}

static void a_reader_that_stalls_is_disconnected(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], *bytes = malloc(MIB);
    assert_non_null(bytes);
    daemon_end(&d, SIGTERM);
    daemon_start_again(&d, (const char *const[]){"--stall", "1", NULL});
    int s = begin_run(endless(system, sizeof system), "text/csv");
    wait_for_bytes(s);
    wait_until_idle();
    wait_for_streams(0);
    size_t total = 0, n;
    while ((n = receive(s, bytes, MIB)) > 0) total += n; /* receive the remaining bytes until the end */
    assert_true(total < (size_t)32 * MIB);
    close(s);
    free(bytes);
}

/* ---- limits ---- */

static void if_all_run_slots_are_busy_the_answer_is_503(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], bytes[256], retry[16];
    int sockets[3];
    daemon_end(&d, SIGTERM);
    daemon_start_again(&d, (const char *const[]){"--streams", "2", "--waiting", "1", NULL});
    endless(system, sizeof system);
    for (int i = 0; i < 3; i++) {
        sockets[i] = begin_run(system, "text/csv");
        if (i < 2) assert_true(receive(sockets[i], bytes, sizeof bytes) > 0);
    }
    wait_for_streams(3);
    answer a = ask(&d, "POST", "/v1/simulations", json_type, system);
    assert_int_equal(a.status, 503);
    assert_true(answer_header(&a, "Retry-After", retry, sizeof retry));
    answer_clear(&a);
    answer ready = ask(&d, "GET", "/readyz", NULL, NULL);
    assert_int_equal(ready.status, 503);
    assert_non_null(strstr(ready.body, "run slots"));
    answer_clear(&ready);
    answer still = ask(&d, "GET", "/v1/jobs", NULL, NULL); /* other requests are still served */
    assert_int_equal(still.status, 200);
    answer_clear(&still);
    close(sockets[0]); /* releases a run slot for the waiting request */
    assert_true(receive(sockets[2], bytes, sizeof bytes) > 0);
    for (int i = 1; i < 3; i++) close(sockets[i]);
    wait_for_streams(0);
    ready = ask(&d, "GET", "/readyz", NULL, NULL);
    assert_int_equal(ready.status, 200);
    answer_clear(&ready);
}

static void a_run_beyond_the_time_limit_is_incomplete(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    daemon_end(&d, SIGTERM);
    daemon_start_again(&d, (const char *const[]){"--time-limit", "0.5", NULL});
    answer a = ask(&d, "POST", "/v1/simulations", json_type, oscillator(system, sizeof system, "long", 1e7, 11));
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.body, "{\"summary\":{\"status\":\"incomplete\""));
    answer_clear(&a);
}

/* ---- shutdown ---- */

/* Reads the rest of a response and returns its size. Stores the last bytes in `tail`. */
static size_t receive_rest(int s, char *bytes, size_t room, char tail[512]) {
    size_t n, total = 0, kept = 0;
    while ((n = receive(s, bytes, room)) > 0) {
        size_t fresh = n < 255 ? n : 255, old = kept < 255 ? kept : 255;
        memmove(tail, tail + kept - old, old);
        memcpy(tail + old, bytes + n - fresh, fresh);
        kept = old + fresh;
        total += n;
    }
    tail[kept] = '\0';
    return total;
}

static void wait_until_refused(void) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)d.port)};
    inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
    for (bool taken = true; taken;) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        taken = connect(s, (const struct sockaddr *)&there, sizeof there) == 0;
        close(s);
        if (taken) sleep_seconds(0.02);
    }
}

static void every_stream_ends_with_a_problem_on_shutdown(void **state) {
    (void)state;
    enum { STREAMS = 100 };
    int sockets[STREAMS], told = 0;
    daemon_end(&d, SIGTERM);
    daemon_start_again(&d, (const char *const[]){"--grace", "120", NULL});
    char system[SYSTEM_BYTES], *bytes = malloc(MIB), tail[512];
    assert_non_null(bytes);
    endless(system, sizeof system);
    for (int i = 0; i < STREAMS; i++) sockets[i] = begin_run(system, "application/x-ndjson");
    for (int i = 0; i < STREAMS; i++) assert_true(receive(sockets[i], bytes, 64) > 0);
    kill(d.pid, SIGINT);
    for (int i = 0; i < STREAMS; i++) {
        receive_rest(sockets[i], bytes, MIB, tail);
        told += strstr(tail, "/problems/shutting-down") != NULL && strstr(tail, "\r\n0\r\n\r\n") != NULL;
        close(sockets[i]);
    }
    int code = daemon_end(&d, SIGTERM);
    assert_int_equal(told, STREAMS);
    assert_int_equal(code, 0);
    free(bytes);
}

/* The rows of the short run do not fit in the ring buffer and the sockets, so the client must read before the run can
 * end. */
static void streamed_runs_may_finish_after_sigterm_and_endless_ones_are_canceled(void **state) {
    (void)state;
    enum { ROWS = 400000 };
    char system[SYSTEM_BYTES], tail[512], *bytes = malloc(MIB);
    assert_non_null(bytes);
    daemon_start_again(&d, (const char *const[]){"--grace", "600", NULL});
    int ends = begin_run(oscillator(system, sizeof system, "ends", 100, ROWS), "application/x-ndjson");
    assert_true(receive(ends, bytes, 64) > 0);
    kill(d.pid, SIGTERM);
    wait_until_refused();
    assert_true(receive_rest(ends, bytes, MIB, tail) > (size_t)10 * MIB);
    assert_non_null(strstr(tail, "\"manifest\":"));
    assert_non_null(strstr(tail, "\r\n0\r\n\r\n"));
    close(ends);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_start_again(&d, (const char *const[]){"--grace", slowness() > 1 ? "60" : "16", NULL});
    int endless_run = begin_run(endless(system, sizeof system), "application/x-ndjson");
    assert_true(receive(endless_run, bytes, 64) > 0);
    kill(d.pid, SIGTERM);
    receive_rest(endless_run, bytes, MIB, tail);
    assert_non_null(strstr(tail, "/problems/shutting-down"));
    close(endless_run);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    free(bytes);
}

static void a_reader_that_pauses_does_not_delay_the_shutdown(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    daemon_start_again(&d, (const char *const[]){"--grace", "1", NULL});
    int s = begin_run(endless(system, sizeof system), "text/csv");
    int waiting = begin_run(endless(system, sizeof system), "application/json");
    wait_for_bytes(s);
    wait_for_streams(2);
    assert_int_equal(daemon_end(&d, SIGTERM), 0); /* the daemon ends normally although neither run has completed */
    close(s);
    close(waiting);
}

static void an_idle_connection_does_not_delay_the_shutdown(void **state) {
    (void)state;
    daemon_start_again(&d, (const char *const[]){"--grace", "3600", NULL});
    int s = connect_to(&d);
    assert_int_equal(daemon_end(&d, SIGINT), 0);
    close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndjson_has_a_header_rows_and_a_summary),
        cmocka_unit_test(csv_rows_follow_the_motion),
        cmocka_unit_test(the_other_formats_are_served_on_request),
        cmocka_unit_test(the_same_run_gives_the_same_rows),
        cmocka_unit_test(rows_are_sent_while_the_run_continues),
        cmocka_unit_test(two_hundred_streams_all_progress),
        cmocka_unit_test(streams_with_paused_readers_use_no_cpu_time),
        cmocka_unit_test(a_paused_reader_costs_no_memory_and_loses_no_rows),
        cmocka_unit_test(disconnected_clients_release_their_resources),
        cmocka_unit_test(a_client_that_closes_stops_the_run_of_a_silent_stream),
        cmocka_unit_test(a_reader_that_stalls_is_disconnected),
        cmocka_unit_test(if_all_run_slots_are_busy_the_answer_is_503),
        cmocka_unit_test(a_run_beyond_the_time_limit_is_incomplete),
        cmocka_unit_test(every_stream_ends_with_a_problem_on_shutdown),
        cmocka_unit_test(streamed_runs_may_finish_after_sigterm_and_endless_ones_are_canceled),
        cmocka_unit_test(a_reader_that_pauses_does_not_delay_the_shutdown),
        cmocka_unit_test(an_idle_connection_does_not_delay_the_shutdown),
    };
    daemon_share(&d, (const char *const[]){"--log-level", "info", "--stall", "600", NULL});
    return cmocka_run_group_tests_name("streams", tests, start_shared_daemon, end_shared_daemon);
}
