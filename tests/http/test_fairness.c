/* test_fairness.c — one owner requests all resources while another owner requests few resources.
 *
 * The tests check the order of events, which does not depend on the machine. --time-limit limits the time for which a
 * job occupies a worker. */
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

enum { MANY, ONE, TOKENS, WORKERS = 2, STREAMS = 40, WAITING = 8, SYSTEM_BYTES = 1024, CLAIMS_MOST = 1000 };

static test_daemon d;
static test_token tokens[TOKENS];
static char token_file[] = TOKEN_FILE_NAME;

static int set_up(void **state) {
    (void)state;
    tokens[MANY] = token_make("many", "\"read\",\"run\"", "{}");
    tokens[ONE] = token_make("one", "\"read\",\"run\"", "{}");
    token_file_make(token_file);
    token_file_write(token_file, tokens, TOKENS);
    daemon_start(&d, (const char *const[]){"--tokens", token_file, "--workers", "2" /* WORKERS */, "--streams", "40",
                                           "--waiting", "8", "--max-members", "100000", NULL});
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    int code = daemon_end(&d, SIGTERM);
    daemon_remove(&d);
    unlink(token_file);
    return code;
}

static double count_of(const cJSON *batch, const char *status) {
    return json_number_of(cJSON_GetObjectItemCaseSensitive(batch, "counts"), status);
}

/* Submits a batch whose members take some milliseconds each. */
static cJSON *submit_batch(int members) {
    char body[SYSTEM_BYTES];
    snprintf(
        body, sizeof body,
        "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"parameters\":{\"k\":1},"
        "\"kinetic_energy\":\"x'^2/2\",\"potential_energy\":\"k*x^2/2\",\"simulation\":{\"stop\":1000,\"samples\":2},"
        "\"sweep\":{\"over\":{\"k\":{\"from\":1,\"to\":2,\"count\":%d}},\"collect\":[\"final\"]}}",
        members);
    answer a = ask_with(&d, &tokens[MANY], "POST", "/v1/batches", body);
    if (a.status != 201) print_error("%s\n", a.body);
    assert_int_equal(a.status, 201);
    cJSON *batch = answer_json(&a);
    answer_clear(&a);
    return batch;
}

static cJSON *look_at(const cJSON *batch) {
    char path[128];
    snprintf(path, sizeof path, "/v1/batches/%s", json_text_of(batch, "id"));
    answer a = ask_with(&d, &tokens[MANY], "GET", path, NULL);
    cJSON *now = answer_json(&a);
    answer_clear(&a);
    return now;
}

/* Submits a small job and waits for its end. */
static cJSON *run_a_job(void) {
    char system[SYSTEM_BYTES];
    const char *const headers[] = {"Content-Type: application/json", "Prefer: wait=120", tokens[ONE].header, NULL};
    answer a = ask(&d, "POST", "/v1/jobs", headers, oscillator(system, sizeof system, "one", 1, 11));
    cJSON *job = answer_json(&a);
    assert_string_equal(json_text_of(job, "status"), "completed");
    answer_clear(&a);
    return job;
}

/* The times at which workers claimed members between the submission and the start of a job, by the daemon's clock.
 * Times are strings whose alphabetical order is chronological. */
typedef struct claims {
    char times[CLAIMS_MOST][40];
    size_t count;
} claims;

static void note_claim(claims *c, const char *started, const cJSON *job) {
    assert_int_equal(strlen(started), strlen(json_text_of(job, "created")));
    if (strcmp(started, json_text_of(job, "created")) <= 0 || strcmp(started, json_text_of(job, "started")) >= 0)
        return;
    for (size_t k = 0; k < c->count; k++)
        if (strcmp(c->times[k], started) == 0) return;
    assert_true(c->count < CLAIMS_MOST);
    snprintf(c->times[c->count++], sizeof c->times[0], "%s", started);
}

/* Reads a page of members, newest first. Sets `cursor` to the cursor of the next page, or to "" after the last page. */
static void note_claims(claims *c, const cJSON *batch, const char *status, const cJSON *job, char cursor[64]) {
    char path[256];
    snprintf(path, sizeof path, "/v1/jobs?batch=%s&status=%s&limit=500%s%s", json_text_of(batch, "id"), status,
             cursor[0] ? "&cursor=" : "", cursor);
    answer a = ask_with(&d, &tokens[MANY], "GET", path, NULL);
    cJSON *list = answer_json(&a);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items");
    const char *next = json_text_of(list, "next");
    for (const cJSON *member = items ? items->child : NULL; member; member = member->next) {
        const char *started = json_text_of(member, "started");
        note_claim(c, started, job);
        if (strcmp(started, json_text_of(job, "created")) < 0) next = "";
    }
    snprintf(cursor, 64, "%s", next);
    cJSON_Delete(list);
    answer_clear(&a);
}

/* Returns the number of times at which members were claimed between the submission and the start of the job. */
static size_t claims_before(const cJSON *batch, const cJSON *job) {
    static const char *const began[] = {"running", "completed"};
    claims c = {.count = 0};
    for (size_t k = 0; k < 2; k++) {
        char cursor[64] = "";
        do note_claims(&c, batch, began[k], job, cursor);
        while (cursor[0]);
    }
    return c.count;
}

static void a_job_does_not_wait_for_many_jobs_of_another_owner(void **state) {
    (void)state;
    cJSON *batch = submit_batch(long_tests() ? 100000 : 10000);
    for (int k = 0; k < 5; k++) {
        cJSON *job = run_a_job();
        /* a worker starts the first member of a claim, then the others (members_run.c), so a claim has two times */
        assert_true(claims_before(batch, job) <= 2 * WORKERS);
        cJSON_Delete(job);
    }
    cJSON *now = look_at(batch);
    assert_true(count_of(now, "queued") > 0);    /* some members of the batch were still queued when each job ended */
    assert_true(count_of(now, "completed") > 0); /* other members have already completed */
    char path[128];
    snprintf(path, sizeof path, "/v1/batches/%s", json_text_of(batch, "id"));
    assert_int_equal(status_with(&d, &tokens[MANY], "DELETE", path, NULL), 204);
    cJSON_Delete(now);
    cJSON_Delete(batch);
}

static int begin_endless(const test_token *t) {
    char system[SYSTEM_BYTES], request[2 * SYSTEM_BYTES];
    /* the run computes for hours without a row, so that it never waits for the client */
    oscillator(system, sizeof system, "endless", 1e9, 2);
    int length = snprintf(request, sizeof request,
                          "POST /v1/simulations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s\r\n"
                          "Content-Length: %zu\r\n\r\n%s",
                          t->header, strlen(system), system);
    int s = connect_to(&d);
    assert_int_equal(send(s, request, (size_t)length, MSG_NOSIGNAL), length);
    return s;
}

static int status_on(int s) {
    char head[64] = "";
    int status = 0;
    wait_for_bytes(s);
    ssize_t n = recv(s, head, sizeof head - 1, 0);
    return n > 0 && sscanf(head, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* One owner requests more endless streams than there are run slots and gets half of the slots. The other owner must
 * still get a slot and CPU time. */
static void a_stream_does_not_wait_for_many_streams_of_another_owner(void **state) {
    (void)state;
    enum { PLACES = STREAMS + WAITING };
    int sockets[PLACES], turned_away = 0;
    char system[SYSTEM_BYTES];
    for (int k = 0; k < PLACES; k++) sockets[k] = begin_endless(&tokens[MANY]);
    for (int k = PLACES / 2; k < PLACES; k++) turned_away += status_on(sockets[k]) == 429;
    assert_int_equal(turned_away, PLACES / 2);
    for (int k = 0; k < 5; k++) {
        answer a =
            ask_with(&d, &tokens[ONE], "POST", "/v1/simulations", oscillator(system, sizeof system, "one", 1, 11));
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(a.body, "\"summary\""));
        answer_clear(&a);
    }
    for (int k = 0; k < PLACES; k++) close(sockets[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_does_not_wait_for_many_jobs_of_another_owner),
        cmocka_unit_test(a_stream_does_not_wait_for_many_streams_of_another_owner),
    };
    return cmocka_run_group_tests_name("fairness", tests, set_up, tear_down);
}
