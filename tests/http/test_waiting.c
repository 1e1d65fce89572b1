/* test_waiting.c — clients that wait for jobs, or do not read responses, must not exhaust the resources of other
 * clients. */
#include "tests/http/tokens.h"

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

enum { MANY, ONE, TOKENS, SYSTEM_BYTES = 1024, LARGE = 900000, PATH_BYTES = 160 };

static test_daemon d;
static test_token tokens[TOKENS];
static char token_file[] = TOKEN_FILE_NAME;

static int make_tokens(void **state) {
    (void)state;
    tokens[MANY] = token_make("many", "\"read\",\"run\",\"admin\"", "{}");
    tokens[ONE] = token_make("one", "\"read\",\"run\"", "{}");
    token_file_make(token_file);
    token_file_write(token_file, tokens, TOKENS);
    return 0;
}

static int remove_tokens(void **state) {
    (void)state;
    unlink(token_file);
    return 0;
}

static void end(void) {
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

/* ---- clients ---------------------------------------------------------------------------------------------------- */

/* Sends a request and does not read the response. */
static int send_only(const char *method, const char *path, const char *headers, const char *body) {
    char head[1024];
    int s = connect_to(&d), small = 4096;
    setsockopt(s, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    int length = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n",
                          method, path, headers, strlen(body));
    assert_int_equal(write(s, head, (size_t)length), length);
    assert_int_equal(write(s, body, strlen(body)), (ssize_t)strlen(body));
    return s;
}

static int follow(const char *id, const char *what, const char *headers) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/v1/jobs/%s/%s", id, what);
    return send_only("GET", path, headers, "");
}

static void wait_for_metric(const char *series, double value) {
    double until = hang_time(), found = -1;
    while ((found = daemon_metric(&d, series)) != value && now_seconds() < until) sleep_seconds(0.02);
    if (found != value) print_error("%s is %g, not %g\n", series, found, value);
    assert_true(found == value);
}

static long status_of(const char *method, const char *path, const char *const *headers, const char *body) {
    answer a = ask(&d, method, path, headers, body);
    long status = a.status;
    char retry[16];
    if (status == 503 || status == 429) assert_true(answer_header(&a, "Retry-After", retry, sizeof retry));
    answer_clear(&a);
    return status;
}

/* ---- clients that wait ------------------------------------------------------------------------------------------ */

static void waiting_clients_use_no_run_slot(void **state) {
    (void)state;
    enum { EACH = 20 };
    int sockets[3 * EACH];
    char system[SYSTEM_BYTES], small[SYSTEM_BYTES];
    daemon_start(&d, (const char *const[]){"--workers", "1", "--streams", "3", "--waiting", "1", NULL});
    char *running = submit(&d, endless(system, sizeof system)), *queued = submit(&d, system);
    oscillator(small, sizeof small, "small", 1, 3);
    size_t before = daemon_resident_bytes(&d);
    for (int k = 0; k < EACH; k++) {
        sockets[k] = follow(queued, "results?follow=true", "");
        sockets[EACH + k] = follow(k % 2 ? queued : running, "events", "");
        sockets[2 * EACH + k] =
            send_only("POST", "/v1/jobs", "Content-Type: application/json\r\nPrefer: wait=100\r\n", small);
        wait_for_metric("hamel_http_followers", 3 * k + 3);
    }
    assert_int_equal(status_of("GET", "/readyz", NULL, NULL), 200);
    assert_int_equal(status_of("POST", "/v1/simulations", json_type, small), 200);
    assert_int_equal(status_of("POST", "/v1/jobs", json_type, small), 201);
    if (slowness() <= 1) assert_true(daemon_resident_bytes(&d) < before + (size_t)20 * 1024 * 1024);
    for (int k = 0; k < 3 * EACH; k++) close(sockets[k]);
    wait_for_metric("hamel_http_followers", 0);
    free(running);
    free(queued);
    end();
}

static void more_clients_than_may_wait_are_rejected_or_answered_immediately(void **state) {
    (void)state;
    int sockets[3];
    char system[SYSTEM_BYTES], path[PATH_BYTES], applied[32];
    daemon_start(&d, (const char *const[]){"--workers", "1", "--followers", "3", NULL});
    char *running = submit(&d, endless(system, sizeof system));
    for (int k = 0; k < 3; k++) sockets[k] = follow(running, "events", "");
    wait_for_metric("hamel_http_followers", 3);
    snprintf(path, sizeof path, "/v1/jobs/%s/events", running);
    assert_int_equal(status_of("GET", path, NULL, NULL), 503);
    snprintf(path, sizeof path, "/v1/jobs/%s/results", running);
    assert_int_equal(status_of("GET", path, NULL, NULL), 503);
    double begin = now_seconds();
    answer a = ask(&d, "POST", "/v1/jobs",
                   (const char *const[]){"Content-Type: application/json", "Prefer: wait=100", NULL}, system);
    assert_int_equal(a.status, 201); /* the daemon ignores Prefer: wait if too many clients wait */
    assert_false(answer_header(&a, "Preference-Applied", applied, sizeof applied));
    assert_true(now_seconds() - begin < 90);
    answer_clear(&a);
    close(sockets[0]);
    wait_for_metric("hamel_http_followers", 2);
    for (int k = 1; k < 3; k++) close(sockets[k]);
    free(running);
    end();
}

static void one_token_cannot_use_all_waiting_slots(void **state) {
    (void)state;
    enum { FOLLOWERS = 8 };
    int sockets[FOLLOWERS];
    size_t held = 0;
    char system[SYSTEM_BYTES], path[PATH_BYTES], header[160];
    daemon_start(&d, (const char *const[]){"--workers", "1", "--tokens", token_file, "--followers", "8", NULL});
    answer a = ask_with(&d, &tokens[MANY], "POST", "/v1/jobs", endless(system, sizeof system));
    cJSON *job = answer_json(&a);
    answer_clear(&a);
    snprintf(path, sizeof path, "/v1/jobs/%s/results?follow=true", json_text_of(job, "id"));
    snprintf(header, sizeof header, "%s\r\n", tokens[MANY].header);
    for (; held < FOLLOWERS; held++) {
        char status[16] = "";
        sockets[held] = send_only("GET", path, header, "");
        assert_int_equal(recv(sockets[held], status, strlen("HTTP/1.1 200"), MSG_WAITALL), strlen("HTTP/1.1 200"));
        if (strstr(status, "429")) break;
        assert_non_null(strstr(status, "200"));
    }
    assert_int_equal(held, FOLLOWERS / 2);
    a = ask_with(&d, &tokens[ONE], "POST", "/v1/jobs", oscillator(system, sizeof system, "small", 1, 3));
    assert_int_equal(a.status, 201);
    cJSON *own = answer_json(&a);
    answer_clear(&a);
    snprintf(path, sizeof path, "/v1/jobs/%s/results", json_text_of(own, "id"));
    assert_int_not_equal(status_with(&d, &tokens[ONE], "GET", path, NULL), 429);
    assert_int_not_equal(status_with(&d, &tokens[ONE], "GET", path, NULL), 503);
    for (size_t k = 0; k <= held; k++) close(sockets[k]);
    cJSON_Delete(own);
    cJSON_Delete(job);
    end();
}

/* ---- clients that do not read ----------------------------------------------------------------------------------- */

/* Submits a job whose name is so long that the description has almost 1 MiB. */
static char *submit_large(void) {
    static char system[LARGE + SYSTEM_BYTES], name[LARGE + 1];
    memset(name, 'n', LARGE);
    return submit(&d, oscillator(system, sizeof system, name, 1, 3));
}

static void the_total_size_of_unread_answers_is_limited(void **state) {
    (void)state;
    enum { CLIENTS = 60, BUDGET = 4 * 1024 * 1024 };
    int sockets[CLIENTS];
    char path[PATH_BYTES];
    daemon_start(&d, (const char *const[]){"--answers", "4194304" /* BUDGET */, NULL});
    char *id = submit_large();
    snprintf(path, sizeof path, "/v1/jobs/%s/system", id);
    assert_int_equal(status_of("GET", path, NULL, NULL), 200);
    wait_for_metric("hamel_answer_bytes", 0);
    size_t before = daemon_resident_bytes(&d);
    for (int k = 0; k < CLIENTS; k++) sockets[k] = send_only("GET", path, "", "");
    double until = hang_time();
    while (daemon_metric(&d, "hamel_answer_bytes") < BUDGET - LARGE - SYSTEM_BYTES && now_seconds() < until)
        sleep_seconds(0.02);
    answer a = ask(&d, "GET", path, NULL, NULL);
    assert_int_equal(a.status, 503);
    cJSON *problem = answer_json(&a);
    assert_string_equal(json_text_of(problem, "type"), "/problems/budget");
    assert_string_equal(json_text_of(problem, "budget"), "answers");
    cJSON_Delete(problem);
    answer_clear(&a);
    assert_true(daemon_metric(&d, "hamel_answer_bytes") <= BUDGET);
    if (slowness() <= 1) assert_true(daemon_resident_bytes(&d) < before + (size_t)8 * BUDGET);
    assert_int_equal(status_of("GET", "/v1/batches", NULL, NULL), 200); /* small responses are still sent */
    for (int k = 0; k < CLIENTS; k++) close(sockets[k]);
    wait_for_metric("hamel_answer_bytes", 0);
    assert_int_equal(status_of("GET", path, NULL, NULL), 200);
    free(id);
    end();
}

static void an_answer_that_is_not_read_in_time_is_aborted(void **state) {
    (void)state;
    char path[PATH_BYTES];
    daemon_start(&d, (const char *const[]){"--stall", "1", NULL});
    char *id = submit_large();
    snprintf(path, sizeof path, "/v1/jobs/%s/system", id);
    int s = send_only("GET", path, "", "");
    wait_for_bytes(s);
    wait_for_metric("hamel_http_connections", 1); /* only the metrics request has a connection */
    wait_for_metric("hamel_answer_bytes", 0);
    close(s);
    free(id);
    end();
}

static void rows_buffered_by_a_format_count_as_answers(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    static const char *const json[] = {"Accept: application/json", "Content-Type: application/json", NULL};
    static const char *const lines[] = {"Accept: application/x-ndjson", "Content-Type: application/json", NULL};
    daemon_start(&d, (const char *const[]){"--answers", "65536", NULL});
    oscillator(system, sizeof system, "rows", 100, 20001);
    assert_int_equal(status_of("POST", "/v1/simulations", json, system), 503);
    assert_int_equal(status_of("POST", "/v1/simulations", lines, system), 200);
    char *id = submit(&d, system);
    wait_for_status(&d, id, "completed");
    snprintf(path, sizeof path, "/v1/jobs/%s/results", id);
    assert_int_equal(status_of("GET", path, json, NULL), 503);
    assert_int_equal(status_of("GET", path, lines, NULL), 200);
    wait_for_metric("hamel_answer_bytes", 0);
    free(id);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_clients_use_no_run_slot),
        cmocka_unit_test(more_clients_than_may_wait_are_rejected_or_answered_immediately),
        cmocka_unit_test(one_token_cannot_use_all_waiting_slots),
        cmocka_unit_test(the_total_size_of_unread_answers_is_limited),
        cmocka_unit_test(an_answer_that_is_not_read_in_time_is_aborted),
        cmocka_unit_test(rows_buffered_by_a_format_count_as_answers),
    };
    return cmocka_run_group_tests_name("waiting", tests, make_tokens, remove_tokens);
}
