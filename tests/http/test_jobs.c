/* test_jobs.c — stored runs: submission, reading, lists, results, cancelation, deletion, and restarts of the daemon. */
#include "tests/http/daemon.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SYSTEM_BYTES = 512, PATH_BYTES = 256 };

static test_daemon d;

static const char *job_path(char *out, const char *id, const char *rest) {
    snprintf(out, PATH_BYTES, "/v1/jobs/%s%s", id, rest);
    return out;
}

static cJSON *get_job(const char *id) {
    char path[PATH_BYTES];
    return ask_json(&d, "GET", job_path(path, id, ""), NULL, NULL, 200);
}

static answer results(const char *id, const char *query, const char *accept) {
    char path[PATH_BYTES], rest[PATH_BYTES], header[128];
    snprintf(rest, sizeof rest, "/results%s", query);
    snprintf(header, sizeof header, "Accept: %s", accept);
    return ask(&d, "GET", job_path(path, id, rest), (const char *const[]){header, NULL}, NULL);
}

static size_t lines_of(const char *text) {
    size_t count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

static char *completed_job(const char *name, double stop_time, double samples) {
    char system[SYSTEM_BYTES];
    char *id = submit(&d, oscillator(system, sizeof system, name, stop_time, samples));
    wait_for_status(&d, id, "completed");
    return id;
}

static void delete_job(const char *id) {
    char path[PATH_BYTES];
    assert_int_equal(ask_status(&d, "DELETE", job_path(path, id, ""), NULL), 204);
}

/* ---- states of a job ---- */

static void a_job_is_accepted_runs_and_completes(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], location[PATH_BYTES], expected[PATH_BYTES];
    answer a = ask(&d, "POST", "/v1/jobs", json_type, oscillator(system, sizeof system, "one", 10, 11));
    assert_int_equal(a.status, 201);
    cJSON *job = answer_json(&a);
    char *id = strdup(json_text_of(job, "id"));
    assert_true(answer_header(&a, "Location", location, sizeof location));
    assert_string_equal(location, job_path(expected, id, ""));
    assert_string_equal(json_text_of(job, "name"), "one");
    const cJSON *links = cJSON_GetObjectItemCaseSensitive(job, "links");
    assert_string_equal(json_text_of(links, "self"), location);
    assert_string_equal(json_text_of(links, "system"), job_path(expected, id, "/system"));
    assert_string_equal(json_text_of(links, "results"), job_path(expected, id, "/results"));
    assert_string_equal(json_text_of(links, "cancel"), job_path(expected, id, "/cancel"));
    cJSON_Delete(job);
    answer_clear(&a);
    wait_for_status(&d, id, "completed");
    job = get_job(id);
    assert_true(json_number_of(job, "progress") == 1);
    assert_int_equal(strlen(json_text_of(job, "created")), strlen("2026-01-31T12:00:00.000Z"));
    assert_true(strlen(json_text_of(job, "started")) > 0 && strlen(json_text_of(job, "finished")) > 0);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(job, "summary"), "status"), "completed");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(job, "problem")));
    cJSON_Delete(job);
    free(id);
}

static void the_description_is_returned_byte_for_byte(void **state) {
    (void)state;
    char system[SYSTEM_BYTES + 64], path[PATH_BYTES], plain[SYSTEM_BYTES];
    snprintf(system, sizeof system, " \n\t%s  \r\n", oscillator(plain, sizeof plain, "\\u00e9", 1, 3));
    char *id = submit(&d, system);
    answer a = ask(&d, "GET", job_path(path, id, "/system"), NULL, NULL);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.length, strlen(system));
    assert_string_equal(a.body, system);
    answer_clear(&a);
    free(id);
}

static void a_client_may_wait_for_the_end(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], applied[32];
    const char *headers[] = {"Content-Type: application/json", "Prefer: respond-async, Wait = \"100\"", NULL};
    answer a = ask(&d, "POST", "/v1/jobs", headers, oscillator(system, sizeof system, "waited", 10, 11));
    assert_int_equal(a.status, 201);
    assert_true(answer_header(&a, "Preference-Applied", applied, sizeof applied));
    assert_string_equal(applied, "wait=100");
    cJSON *job = answer_json(&a);
    assert_string_equal(json_text_of(job, "status"), "completed");
    cJSON_Delete(job);
    answer_clear(&a);
}

static void an_incomplete_job_reports_its_progress(void **state) {
    (void)state;
    const char *headers[] = {"Content-Type: application/json", "Prefer: wait=60", NULL};
    cJSON *job = ask_json(&d, "POST", "/v1/jobs", headers,
                          "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"kinetic_energy\":\"x'^2/2\","
                          "\"potential_energy\":\"x^2/2\",\"simulation\":{\"stop\":100,\"max_steps\":20}}",
                          201);
    assert_string_equal(json_text_of(job, "status"), "incomplete");
    const cJSON *summary = cJSON_GetObjectItemCaseSensitive(job, "summary");
    double reached = json_number_of(summary, "t");
    assert_true(reached > 1 && reached < 99);
    assert_true(fabs(json_number_of(job, "progress") - reached / 100) <= 0.5e-4);
    cJSON_Delete(job);
}

static void waiting_ends_at_its_time_limit(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Prefer: wait=1", NULL};
    double begin = now_seconds();
    cJSON *job = ask_json(&d, "POST", "/v1/jobs", headers, endless(system, sizeof system), 201);
    assert_true(now_seconds() - begin >= 0.9); /* the response was sent although the run continues */
    assert_true(strcmp(json_text_of(job, "status"), "running") == 0 ||
                strcmp(json_text_of(job, "status"), "queued") == 0);
    delete_job(json_text_of(job, "id"));
    cJSON_Delete(job);
}

static void an_unchanged_job_is_304(void **state) {
    (void)state;
    char *id = completed_job("tagged", 1, 3);
    char path[PATH_BYTES], etag[64], header[96];
    answer a = ask(&d, "GET", job_path(path, id, ""), NULL, NULL);
    assert_true(answer_header(&a, "ETag", etag, sizeof etag));
    answer_clear(&a);
    snprintf(header, sizeof header, "If-None-Match: \"other\", %s", etag);
    a = ask(&d, "GET", path, (const char *const[]){header, NULL}, NULL);
    assert_int_equal(a.status, 304);
    assert_int_equal(a.length, 0);
    answer_clear(&a);
    a = ask(&d, "GET", path, (const char *const[]){"If-None-Match: \"other\"", NULL}, NULL);
    assert_int_equal(a.status, 200);
    answer_clear(&a);
    free(id);
}

static void a_run_that_fails_is_kept_with_its_problem(void **state) {
    (void)state;
    const char *off =
        "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":2},\"y\"],"
        "\"kinetic_energy\":\"(x'^2+y'^2)/2\",\"constraints\":[{\"name\":\"c\",\"equation\":\"x^2+y^2=1\"}],"
        "\"simulation\":{\"stop\":1}}";
    char *id = submit(&d, off);
    wait_for_status(&d, id, "failed");
    cJSON *job = get_job(id);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(job, "problem"), "type"),
                        "/problems/inconsistent-initial-values");
    cJSON_Delete(job);
    answer a = results(id, "", "text/csv");
    assert_int_equal(a.status, 422); /* a live request for this run has the same status */
    answer_clear(&a);
    free(id);
}

/* The integrator steps over a narrow peak of the potential without evaluating it, but an output row is on the peak. The
 * resulting error of the energy balance makes the run fail. */
static void a_run_that_fails_its_own_checks_is_stored_as_failed(void **state) {
    (void)state;
    const char *denied = "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"velocity\":4}],"
                         "\"kinetic_energy\":\"x'^2/2\",\"potential_energy\":\"exp(-(1000*(x-2))^2)\","
                         "\"simulation\":{\"stop\":1,\"samples\":3}}";
    char *id = submit(&d, denied);
    wait_for_status(&d, id, "failed");
    cJSON *job = get_job(id);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(job, "problem"), "type"),
                        "/problems/integration-failed");
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(job, "summary"), "status"), "failed");
    cJSON_Delete(job);
    answer stored = results(id, "", "application/x-ndjson");
    assert_int_equal(stored.status, 200);
    const char *summary = strstr(stored.body, "{\"summary\":{\"status\":\"failed\"");
    assert_non_null(summary);
    assert_non_null(strstr(summary, "\n{\"problem\":"));
    assert_non_null(strstr(stored.body, "{\"row\":[1,"));
    answer_clear(&stored);
    free(id);
}

/* ---- results ---- */

/* The events of a bouncing ball must have the same positions among the rows as in the live run. */
static void events_are_stored_among_the_rows(void **state) {
    (void)state;
    const char *ball = "{\"hamel\":1,\"coordinates\":[{\"name\":\"y\",\"initial\":1}],\"kinetic_energy\":\"y'^2/2\","
                       "\"potential_energy\":\"9.81*y\",\"events\":[{\"name\":\"bounce\",\"when\":\"y\","
                       "\"direction\":\"falling\",\"set\":{\"y'\":\"-0.8*y'\"}}],"
                       "\"simulation\":{\"stop\":2,\"samples\":41}}";
    const char *headers[] = {"Content-Type: application/json", NULL};
    answer live = ask(&d, "POST", "/v1/simulations", headers, ball);
    assert_int_equal(live.status, 200);
    char *id = submit(&d, ball);
    wait_for_status(&d, id, "completed");
    answer stored = results(id, "", "application/x-ndjson");
    /* Up to the summary, the lines are equal, except that only the live run sends progress lines. */
    const char *a = live.body, *b = stored.body;
    size_t events = 0, lines = 0;
    while (strncmp(a, "{\"summary\"", 10) != 0) {
        size_t length = strcspn(a, "\n");
        if (strncmp(a, "{\"progress\"", 11) != 0) {
            assert_int_equal(length, strcspn(b, "\n"));
            assert_memory_equal(a, b, length);
            events += strncmp(a, "{\"event\"", 8) == 0;
            lines++;
            b += length + 1;
        }
        a += length + 1;
    }
    assert_int_equal(strncmp(b, "{\"summary\"", 10), 0);
    assert_true(events >= 2 && lines == 42 + events);
    answer_clear(&stored);
    stored = results(id, "?from=1.5", "application/x-ndjson"); /* the first bounce is at t = 0.45 */
    assert_null(strstr(stored.body, "\"t\":0.45"));
    answer_clear(&stored);
    stored = results(id, "", "text/csv"); /* CSV output omits events */
    assert_null(strstr(stored.body, "bounce"));
    answer_clear(&stored);
    answer_clear(&live);
    free(id);
}

static void results_come_in_every_format_and_equal_a_live_run(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    oscillator(system, sizeof system, "formats", 10, 101);
    char *id = submit(&d, system);
    wait_for_status(&d, id, "completed");
    static const char *const accepts[] = {"text/csv", "application/x-npy"};
    for (size_t i = 0; i < 2; i++) {
        char header[128];
        snprintf(header, sizeof header, "Accept: %s", accepts[i]);
        const char *headers[] = {"Content-Type: application/json", header, NULL};
        answer live = ask(&d, "POST", "/v1/simulations", headers, system);
        answer stored = results(id, "", accepts[i]);
        assert_int_equal(stored.status, 200);
        assert_int_equal(stored.length, live.length);
        assert_memory_equal(stored.body, live.body, live.length);
        answer_clear(&live);
        answer_clear(&stored);
    }
    answer a = results(id, "", "application/x-ndjson");
    assert_int_equal(lines_of(a.body), 103);
    assert_non_null(strstr(a.body, "{\"summary\":{\"status\":\"completed\""));
    answer_clear(&a);
    a = results(id, "", "application/json");
    cJSON_Delete(answer_json(&a));
    answer_clear(&a);
    a = results(id, "", "image/png");
    assert_int_equal(a.status, 406);
    answer_clear(&a);
    free(id);
}

static void results_can_be_restricted_and_thinned(void **state) {
    (void)state;
    char *id = completed_job("cut", 10, 101);
    answer a = results(id, "?from=2&to=3", "text/csv");
    assert_int_equal(lines_of(a.body), 12);
    assert_int_equal(strncmp(a.body, "t,x,x'\n2,", 9), 0);
    answer_clear(&a);
    a = results(id, "?every=25", "text/csv");
    assert_int_equal(lines_of(a.body), 6);
    answer_clear(&a);
    a = results(id, "?columns=x%27,t&to=0", "text/csv");
    assert_int_equal(strncmp(a.body, "x',t\n", 5), 0);
    assert_int_equal(lines_of(a.body), 2);
    answer_clear(&a);
    a = results(id, "?columns=x&every=50", "application/x-ndjson");
    assert_non_null(strstr(a.body, "\"columns\":[\"x\"]"));
    assert_non_null(strstr(a.body, "\n{\"row\":[1]}\n"));
    answer_clear(&a);
    free(id);
}

static void wrong_filters_are_400(void **state) {
    (void)state;
    char *id = completed_job("wrong", 1, 3);
    static const char *const queries[] = {"?from=a",       "?to=inf",     "?every=0",    "?every=1.5",
                                          "?columns=y",    "?columns=t,", "?columns=",   "?columns=t,x,x%27,t",
                                          "?follow=maybe", "?until=1",    "?columns=t,t"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        answer a = results(id, queries[i], "text/csv");
        bool expected = a.status == 400 || (i == 5 && a.status == 200); /* a trailing comma is accepted */
        if (!expected) print_error("%s: %ld\n", queries[i], a.status);
        assert_true(expected);
        answer_clear(&a);
    }
    free(id);
}

static void results_of_a_running_job_are_those_stored_so_far(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    char *id = submit(&d, endless(system, sizeof system));
    double until = hang_time();
    size_t rows = 0;
    while (rows < 10 && now_seconds() < until) {
        answer a = results(id, "?to=100", "application/x-ndjson");
        if (a.status == 200) {
            rows = lines_of(a.body);
            assert_non_null(strstr(a.body, "{\"summary\":{\"status\":\"running\""));
        } else {
            assert_int_equal(a.status, 409);
        }
        answer_clear(&a);
        sleep_seconds(0.1);
    }
    assert_true(rows >= 10);
    answer a = ask(&d, "DELETE", job_path(path, id, ""), NULL, NULL);
    answer_clear(&a);
    free(id);
}

static void following_a_job_returns_all_rows_until_its_end(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    oscillator(system, sizeof system, "followed", 20000, 200001);
    char *id = submit(&d, system);
    answer a = results(id, "?follow=true", "text/csv");
    assert_int_equal(a.status, 200);
    assert_int_equal(lines_of(a.body), 200002);
    cJSON *job = get_job(id);
    assert_string_equal(json_text_of(job, "status"), "completed");
    cJSON_Delete(job);
    answer stored = results(id, "", "text/csv");
    assert_int_equal(stored.length, a.length);
    assert_memory_equal(stored.body, a.body, a.length);
    answer_clear(&stored);
    answer_clear(&a);
    free(id);
}

/* ---- repeated submission ---- */

static void the_same_key_gives_the_same_job(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], other[SYSTEM_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Idempotency-Key: key-1", NULL};
    oscillator(system, sizeof system, "keyed", 1, 3);
    cJSON *first = ask_json(&d, "POST", "/v1/jobs", headers, system, 201);
    cJSON *second = ask_json(&d, "POST", "/v1/jobs", headers, system, 201);
    assert_string_equal(json_text_of(first, "id"), json_text_of(second, "id"));
    cJSON *conflict = ask_json(&d, "POST", "/v1/jobs", headers, oscillator(other, sizeof other, "keyed", 2, 3), 409);
    assert_string_equal(json_text_of(conflict, "type"), "/problems/idempotency-key");
    cJSON_Delete(first);
    cJSON_Delete(second);
    cJSON_Delete(conflict);
    const char *bad[] = {"Content-Type: application/json", "Idempotency-Key: a\tb", NULL};
    cJSON_Delete(ask_json(&d, "POST", "/v1/jobs", bad, system, 400));
}

enum { SENDERS = 20, SENDINGS = 5 };
typedef struct sender {
    pthread_t thread;
    char ids[SENDINGS][40];
} sender;

static void *send_same(void *context) {
    sender *s = context;
    char system[SYSTEM_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Idempotency-Key: key-parallel", NULL};
    oscillator(system, sizeof system, "parallel", 1, 3);
    for (int i = 0; i < SENDINGS; i++) {
        answer a = ask(&d, "POST", "/v1/jobs", headers, system);
        const char *id = a.status == 201 ? strstr(a.body, "\"id\":\"") : NULL;
        snprintf(s->ids[i], sizeof s->ids[i], "%.32s", id ? id + 6 : "");
        answer_clear(&a);
    }
    return NULL;
}

static void a_key_sent_a_hundred_times_simultaneously_creates_one_job(void **state) {
    (void)state;
    static sender senders[SENDERS];
    for (int i = 0; i < SENDERS; i++)
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_same, &senders[i]), 0);
    for (int i = 0; i < SENDERS; i++) pthread_join(senders[i].thread, NULL);
    assert_int_equal(strlen(senders[0].ids[0]), 32);
    for (int i = 0; i < SENDERS; i++) {
        for (int k = 0; k < SENDINGS; k++) assert_string_equal(senders[i].ids[k], senders[0].ids[0]);
    }
    cJSON *list = ask_json(&d, "GET", "/v1/jobs?name=parallel", NULL, NULL, 200);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(list, "items")), 1);
    cJSON_Delete(list);
}

/* ---- lists ---- */

static void lists_go_from_new_to_old_page_by_page(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES] = "/v1/jobs?name=page&limit=3", *ids[8];
    for (int i = 0; i < 8; i++) ids[i] = submit(&d, oscillator(system, sizeof system, "page", 1, 3));
    int seen = 0;
    for (int pages = 0; path[0]; pages++) {
        assert_true(pages < 3);
        cJSON *list = ask_json(&d, "GET", path, NULL, NULL, 200);
        const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items");
        for (const cJSON *item = items->child; item; item = item->next) {
            assert_string_equal(json_text_of(item, "id"), ids[7 - seen]);
            seen++;
        }
        const char *next = json_text_of(list, "next");
        path[0] = '\0';
        if (*next) snprintf(path, sizeof path, "/v1/jobs?name=page&limit=3&cursor=%s", next);
        cJSON_Delete(list);
    }
    assert_int_equal(seen, 8);
    for (int i = 0; i < 8; i++) wait_for_status(&d, ids[i], "completed");
    cJSON *list = ask_json(&d, "GET", "/v1/jobs?name=page&status=completed", NULL, NULL, 200);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(list, "items")), 8);
    cJSON_Delete(list);
    list = ask_json(&d, "GET", "/v1/jobs?name=page&status=failed", NULL, NULL, 200);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(list, "items")), 0);
    cJSON_Delete(list);
    for (int i = 0; i < 8; i++) free(ids[i]);
}

/* Three jobs with names of 100,000 bytes fill a page, so a page contains fewer jobs than requested. */
static void a_page_of_long_texts_ends_early_and_the_next_continues(void **state) {
    (void)state;
    enum { NAME = 100000, JOBS = 5 };
    static char system[NAME + SYSTEM_BYTES], name[NAME + 1];
    char path[PATH_BYTES] = "/v1/jobs?limit=5", *ids[JOBS];
    memset(name, 'n', NAME);
    for (int i = 0; i < JOBS; i++) ids[i] = submit(&d, oscillator(system, sizeof system, name, 1, 3));
    wait_for_status(&d, ids[0], "completed");
    size_t seen = 0, pages = 0;
    for (; seen < JOBS; pages++) {
        answer a = ask(&d, "GET", path, NULL, NULL);
        assert_true(a.length < 4 * NAME);
        cJSON *list = answer_json(&a);
        answer_clear(&a);
        const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items");
        for (const cJSON *item = items->child; item && seen < JOBS; item = item->next, seen++) {
            assert_string_equal(json_text_of(item, "id"), ids[JOBS - 1 - seen]);
            /* only the job itself contains the summary */
            assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(item, "summary")));
        }
        snprintf(path, sizeof path, "/v1/jobs?limit=5&cursor=%s", json_text_of(list, "next"));
        cJSON_Delete(list);
    }
    assert_int_equal(pages, 2);
    for (int i = 0; i < JOBS; i++) {
        wait_for_status(&d, ids[i], "completed");
        delete_job(ids[i]);
        free(ids[i]);
    }
}

/* ---- cancel and delete ---- */

static void a_running_job_can_be_canceled_again_and_again(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    char *id = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, id, "running");
    job_path(path, id, "/cancel");
    cJSON_Delete(ask_json(&d, "POST", path, NULL, "", 202));
    wait_for_status(&d, id, "canceled");
    cJSON *job = ask_json(&d, "POST", path, NULL, "", 202);
    assert_string_equal(json_text_of(job, "status"), "canceled");
    cJSON_Delete(job);
    cJSON_Delete(ask_json(&d, "POST", "/v1/jobs/00000000000000000000000000000000/cancel", NULL, "", 404));
    free(id);
}

static void a_queued_job_is_canceled_without_running(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES], *running[64];
    endless(system, sizeof system);
    int busy = 64; /* exceeds the number of workers */
    for (int i = 0; i < busy; i++) running[i] = submit(&d, system);
    cJSON *job = ask_json(&d, "POST", job_path(path, running[busy - 1], "/cancel"), NULL, "", 202);
    assert_string_equal(json_text_of(job, "status"), "canceled");
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(job, "started")));
    cJSON_Delete(job);
    for (int i = 0; i < busy; i++) {
        delete_job(running[i]);
        cJSON_Delete(ask_json(&d, "GET", job_path(path, running[i], ""), NULL, NULL, 404));
        free(running[i]);
    }
    free(completed_job("after", 1, 3)); /* the workers are available again */
}

static void a_deleted_job_is_removed_with_its_data(void **state) {
    (void)state;
    char path[PATH_BYTES];
    static const char *const rests[] = {"", "/system", "/results"};
    char *id = completed_job("gone", 1, 3);
    delete_job(id);
    for (size_t i = 0; i < 3; i++) cJSON_Delete(ask_json(&d, "GET", job_path(path, id, rests[i]), NULL, NULL, 404));
    cJSON_Delete(ask_json(&d, "DELETE", job_path(path, id, ""), NULL, NULL, 404));
    free(id);
}

/* ---- restarts of the daemon ---- */

static void an_interrupted_job_continues_after_its_last_row(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    double span = floor(400000 / slowness());
    oscillator(system, sizeof system, "interrupted", span, span + 1);
    char *id = submit(&d, system);
    wait_for_status(&d, id, "running");
    sleep_seconds(0.7);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_start_again(&d, NULL);
    for (int kills = 0; kills < 2; kills++) {
        sleep_seconds(0.3);
        daemon_end(&d, SIGKILL);
        daemon_start_again(&d, NULL);
    }
    wait_for_status(&d, id, "completed");
    answer a = results(id, "", "text/csv");
    const char *headers[] = {"Content-Type: application/json", "Accept: text/csv", NULL};
    answer live = ask(&d, "POST", "/v1/simulations", headers, system);
    assert_int_equal(lines_of(a.body), (size_t)span + 2);
    assert_int_equal(a.length, live.length);
    assert_memory_equal(a.body, live.body, a.length);
    answer_clear(&live);
    answer_clear(&a);
    free(id);
}

static void a_second_daemon_on_the_same_data_is_rejected(void **state) {
    (void)state;
    char output[2048];
    int code =
        daemon_run((const char *const[]){"--listen", "127.0.0.1:0", "--data", d.data, NULL}, output, sizeof output);
    assert_int_equal(code, 5);
    assert_non_null(strstr(output, "another daemon"));
}

static void the_memory_store_works_and_is_not_persistent(void **state) {
    (void)state;
    test_daemon kept = d;
    daemon_start(&d, (const char *const[]){"--store", "memory:", NULL});
    char *id = completed_job("brief", 10, 11);
    answer a = results(id, "", "text/csv");
    assert_int_equal(lines_of(a.body), 12);
    answer_clear(&a);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_start_again(&d, (const char *const[]){"--store", "memory:", NULL});
    char path[PATH_BYTES];
    cJSON_Delete(ask_json(&d, "GET", job_path(path, id, ""), NULL, NULL, 404));
    free(id);
    daemon_remove(&d);
    d = kept;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_accepted_runs_and_completes),
        cmocka_unit_test(the_description_is_returned_byte_for_byte),
        cmocka_unit_test(a_client_may_wait_for_the_end),
        cmocka_unit_test(an_incomplete_job_reports_its_progress),
        cmocka_unit_test(waiting_ends_at_its_time_limit),
        cmocka_unit_test(an_unchanged_job_is_304),
        cmocka_unit_test(a_run_that_fails_is_kept_with_its_problem),
        cmocka_unit_test(a_run_that_fails_its_own_checks_is_stored_as_failed),
        cmocka_unit_test(events_are_stored_among_the_rows),
        cmocka_unit_test(results_come_in_every_format_and_equal_a_live_run),
        cmocka_unit_test(results_can_be_restricted_and_thinned),
        cmocka_unit_test(wrong_filters_are_400),
        cmocka_unit_test(results_of_a_running_job_are_those_stored_so_far),
        cmocka_unit_test(following_a_job_returns_all_rows_until_its_end),
        cmocka_unit_test(the_same_key_gives_the_same_job),
        cmocka_unit_test(a_key_sent_a_hundred_times_simultaneously_creates_one_job),
        cmocka_unit_test(lists_go_from_new_to_old_page_by_page),
        cmocka_unit_test(a_page_of_long_texts_ends_early_and_the_next_continues),
        cmocka_unit_test(a_running_job_can_be_canceled_again_and_again),
        cmocka_unit_test(a_queued_job_is_canceled_without_running),
        cmocka_unit_test(a_deleted_job_is_removed_with_its_data),
        cmocka_unit_test(an_interrupted_job_continues_after_its_last_row),
        cmocka_unit_test(a_second_daemon_on_the_same_data_is_rejected),
        cmocka_unit_test(the_memory_store_works_and_is_not_persistent),
    };
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("jobs", tests, start_shared_daemon, end_shared_daemon);
}
