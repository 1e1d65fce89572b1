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

/* The last id in the stream, as text. */
static void last_id(const answer *a, char *out, size_t room) {
    const char *found = NULL;
    for (const char *at = a->body; (at = strstr(at, "\nid: ")) != NULL; at += 5) found = at + 5;
    assert_non_null(found);
    snprintf(out, room, "%.*s", (int)strcspn(found, "\n"), found);
}

static void the_stream_tells_the_life_of_a_job_and_ends_with_it(void **state) {
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
    assert_null(strstr(end + 1, "\nevent: ")); /* nothing after it */
    long long before = 0;
    for (const char *at = a.body; (at = strstr(at, "\nid: ")) != NULL; at += 5) {
        long long revision = strtoll(at + 5, NULL, 10);
        assert_true(revision > before);
        before = revision;
    }
    last_id(&a, id_text, sizeof id_text);
    answer_clear(&a);
    a = events_of(id, id_text); /* the end has been seen */
    assert_int_equal(a.status, 204);
    answer_clear(&a);
    a = events_of(id, "1"); /* something has happened since */
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(a.body, "\"status\":\"completed\""));
    answer_clear(&a);
    free(id);
}

static void whoever_comes_back_hears_only_what_is_new(void **state) {
    (void)state;
    char system[512], path[PATH_BYTES], request[300], out[8192], id_text[32];
    bool closed;
    char *id = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, id, "running", 20);
    snprintf(request, sizeof request, "GET /v1/jobs/%s/events HTTP/1.1\r\nHost: x\r\n\r\n", id);
    exchange(&d, request, strlen(request), 1.5, out, sizeof out, &closed);
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

static void a_deleted_job_says_so(void **state) {
    (void)state;
    char system[512], path[PATH_BYTES], request[300], out[8192];
    char *id = submit(&d, endless(system, sizeof system));
    int s = connect_to(&d);
    int length = snprintf(request, sizeof request, "GET /v1/jobs/%s/events HTTP/1.1\r\nHost: x\r\n\r\n", id);
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

static void what_is_not_there_or_not_wanted_is_refused(void **state) {
    (void)state;
    cJSON_Delete(ask_json(&d, "GET", "/v1/jobs/00000000000000000000000000000000/events", NULL, NULL, 404));
    const char *headers[] = {"Accept: application/json", NULL};
    cJSON_Delete(ask_json(&d, "GET", "/v1/jobs/00000000000000000000000000000000/events", headers, NULL, 406));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stream_tells_the_life_of_a_job_and_ends_with_it),
        cmocka_unit_test(whoever_comes_back_hears_only_what_is_new),
        cmocka_unit_test(a_deleted_job_says_so),
        cmocka_unit_test(what_is_not_there_or_not_wanted_is_refused),
    };
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("events", tests, start_shared_daemon, end_shared_daemon);
}
