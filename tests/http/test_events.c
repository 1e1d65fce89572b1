/* test_events.c — changes of a job as server-sent events: order, resumption, end, deletion. */
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 128 };
static test_daemon d;

static answer events_of(const char *id, const char *last) {
    char path[PATH_BYTES], header[64];
    snprintf(path, sizeof path, "/v1/jobs/%s/events", id);
    snprintf(header, sizeof header, "Last-Event-ID: %s", last ? last : "");
    return ask(&d, "GET", path, (const char *const[]){last ? header : "Accept: text/event-stream", NULL}, NULL);
}

/* Copies the last id in the stream, as text. */
static void last_id(const answer *a, char *out, size_t room) {
    const char *found = NULL;
    for (const char *at = a->body; (at = strstr(at, "\nid: ")) != NULL; at += 5) {
        if (strchr(at + 5, '\n')) found = at + 5; /* only complete lines */
    }
    assert_non_null(found);
    snprintf(out, room, "%.*s", (int)strcspn(found, "\n"), found);
}

static void the_stream_reports_the_changes_of_a_job_and_ends_with_it(void **state) {
    (void)state;
    char system[512], type[64], id_text[32];
    char *id = submit(&d, oscillator(system, sizeof system, "watched", 2e4, 2e5));
    answer a = events_of(id, NULL);
    assert_int_equal(a.status, 200);
    assert_true(answer_header(&a, "Content-Type", type, sizeof type));
    assert_string_equal(type, "text/event-stream");
    assert_int_equal(strncmp(a.body, "event: status\nid: ", 18), 0);
    const char *end = strstr(a.body, "\"status\":\"completed\"");
    assert_non_null(end);
    assert_null(strstr(end + 1, "\nevent: ")); /* no event follows */
    long long before = 0;
    for (const char *at = a.body; (at = strstr(at, "\nid: ")) != NULL; at += 5) {
        long long revision = strtoll(at + 5, NULL, 10);
        assert_true(revision > before);
        before = revision;
    }
    last_id(&a, id_text, sizeof id_text);
    answer_clear(&a);
    a = events_of(id, id_text); /* the client has received the last event */
    assert_int_equal(a.status, 204);
    answer_clear(&a);
    a = events_of(id, "1"); /* the client has received only the first event */
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.body, "\"status\":\"completed\""));
    answer_clear(&a);
    free(id);
}

static void a_client_that_reconnects_gets_new_changes_only(void **state) {
    (void)state;
    char system[512], path[PATH_BYTES], request[300], out[8192], id_text[32];
    bool closed;
    char *id = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, id, "running");
    snprintf(request, sizeof request, "GET /v1/jobs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", id);
    exchange(&d, request, strlen(request), "\n\n", out, sizeof out, &closed); /* a complete event */
    assert_false(closed);
    assert_non_null(strstr(out, "\nevent: progress\n") ? strstr(out, "\nevent: progress\n")
                                                       : strstr(out, "event: status"));
    answer seen = {.body = out};
    last_id(&seen, id_text, sizeof id_text);
    snprintf(path, sizeof path, "/v1/jobs/%s/cancel", id);
    answer a = ask(&d, "POST", path, NULL, NULL);
    answer_clear(&a);
    a = events_of(id, id_text);
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.body, "\"status\":\"canceled\""));
    answer_clear(&a);
    free(id);
}

static void the_deletion_of_a_job_is_an_event(void **state) {
    (void)state;
    char system[512], path[PATH_BYTES], request[300], out[8192];
    char *id = submit(&d, endless(system, sizeof system));
    int s = connect_to(&d);
    int length = snprintf(request, sizeof request, "GET /v1/jobs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n", id);
    assert_int_equal(write(s, request, (size_t)length), length);
    assert_true(read(s, out, sizeof out) > 0);
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    answer a = ask(&d, "DELETE", path, NULL, NULL);
    assert_int_equal(a.status, 204);
    answer_clear(&a);
    size_t got = 0;
    ssize_t n;
    out[0] = '\0';
    while (got + 1 < sizeof out && !strstr(out, "event: deleted") &&
           (n = read(s, out + got, sizeof out - 1 - got)) > 0) {
        got += (size_t)n;
        out[got] = '\0';
    }
    assert_non_null(strstr(out, "event: deleted"));
    close(s);
    free(id);
}

/* ---- rows as events ---- */

static answer rows_of(const char *id, const char *last) {
    char path[PATH_BYTES], header[64];
    snprintf(path, sizeof path, "/v1/jobs/%s/results", id);
    snprintf(header, sizeof header, "Last-Event-ID: %s", last);
    return ask(&d, "GET", path, (const char *const[]){"Accept: text/event-stream", header, NULL}, NULL);
}

static void rows_are_resumed_after_the_last_one_received(void **state) {
    (void)state;
    enum { ROWS = 20, LAST = ROWS + 2 }; /* header, rows, summary */
    char system[512], last[16], marker[32], none[8];
    char *id = submit(&d, oscillator(system, sizeof system, "rows", 2, ROWS));
    wait_for_status(&d, id, "completed");
    answer whole = rows_of(id, "");
    assert_int_equal(whole.status, 200);
    for (int k = 1; k < LAST; k += 5) {
        snprintf(last, sizeof last, "%d", k);
        snprintf(marker, sizeof marker, "\nid: %d\n", k);
        const char *seen = strstr(whole.body, marker);
        assert_non_null(seen);
        const char *rest = strstr(seen, "\n\n");
        assert_non_null(rest);
        answer a = rows_of(id, last);
        assert_int_equal(a.status, 200);
        assert_string_equal(a.body, rest + 2);
        /* a partial body must not have the ETag of the complete body */
        assert_false(answer_header(&a, "ETag", none, sizeof none));
        answer_clear(&a);
    }
    snprintf(last, sizeof last, "%d", LAST);
    answer a = rows_of(id, last);
    assert_int_equal(a.status, 204);
    answer_clear(&a);
    a = rows_of(id, "what?");
    assert_string_equal(a.body, whole.body);
    answer_clear(&a);
    answer_clear(&whole);
    free(id);
}

static void a_live_result_is_resumed_after_the_last_row_received(void **state) {
    (void)state;
    static char out[1 << 20];
    char system[512], bytes[300], last[32], marker[64], path[PATH_BYTES];
    bool closed;
    char *id = submit(&d, oscillator(system, sizeof system, "live", 1e8, 1e7));
    wait_for_status(&d, id, "running");
    /* a response in HTTP/1.0 is not chunked */
    static const char form[] = "GET /v1/jobs/%s/results?follow=true&every=1000 HTTP/1.0\r\n"
                               "Accept: text/event-stream\r\nLast-Event-ID: %s\r\n\r\n";
    snprintf(bytes, sizeof bytes, form, id, "");
    exchange(&d, bytes, strlen(bytes), "event: row", out, sizeof out, &closed);
    answer seen = {.body = out};
    last_id(&seen, last, sizeof last);
    snprintf(bytes, sizeof bytes, form, id, last);
    exchange(&d, bytes, strlen(bytes), "event: row", out, sizeof out, &closed);
    const char *first = strstr(out, "\nid: ");
    assert_non_null(first);
    snprintf(marker, sizeof marker, "\nid: %lld\n", strtoll(last, NULL, 10) + 1);
    assert_int_equal(strncmp(first, marker, strlen(marker)), 0);

    answer a = ask(&d, "GET", (snprintf(path, sizeof path, "/v1/jobs/%s/results?every=1000000", id), path),
                   (const char *const[]){"Accept: text/event-stream", NULL}, NULL);
    const char *so_far = strstr(a.body, "event: summary\n");
    assert_non_null(so_far);
    assert_null(strstr(so_far, "\nid: ")); /* the summary has no id, because the next number belongs to the next row */
    answer_clear(&a);
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    a = ask(&d, "DELETE", path, NULL, NULL);
    answer_clear(&a);
    free(id);
}

static void unknown_jobs_and_unsupported_types_are_rejected(void **state) {
    (void)state;
    cJSON_Delete(ask_json(&d, "GET", "/v1/jobs/00000000000000000000000000000000/events", NULL, NULL, 404));
    const char *headers[] = {"Accept: application/json", NULL};
    cJSON_Delete(ask_json(&d, "GET", "/v1/jobs/00000000000000000000000000000000/events", headers, NULL, 406));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream_reports_the_changes_of_a_job_and_ends_with_it),
        cmocka_unit_test(a_client_that_reconnects_gets_new_changes_only),
        cmocka_unit_test(the_deletion_of_a_job_is_an_event),
        cmocka_unit_test(rows_are_resumed_after_the_last_one_received),
        cmocka_unit_test(a_live_result_is_resumed_after_the_last_row_received),
        cmocka_unit_test(unknown_jobs_and_unsupported_types_are_rejected),
    };
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("events", tests, start_shared_daemon, end_shared_daemon);
}
