/* test_budget.c — budgets of CPU time for a request, for all derivations of a submission, and for an owner per day. A
 * request must yield its CPU slot in every phase.
 *
 * Sharing is checked by the order of replies, which does not depend on the machine. */
#include "engine/base/text_buffer.h"
#include "tests/http/tokens.h"

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

enum { HOSTILE, OTHER, TOKENS, BODY_BYTES = 256 * 1024, SYSTEM_BYTES = 4096 };

static test_token tokens[TOKENS];
static char token_file[] = TOKEN_FILE_NAME;

static void start(test_daemon *d, const char *const *arguments) {
    const char *all[16] = {"--tokens", token_file, "--workers", "2"};
    for (size_t k = 0; arguments[k]; k++) all[4 + k] = arguments[k];
    daemon_start(d, all);
}

static void end(test_daemon *d) {
    assert_int_equal(daemon_end(d, SIGTERM), 0);
    daemon_remove(d);
}

static int set_up(void **state) {
    (void)state;
    tokens[HOSTILE] = token_make("hostile", "\"read\",\"run\"", "{\"cpu_seconds_per_day\": 1}");
    tokens[OTHER] = token_make("other", "\"read\",\"run\"", "{}");
    token_file_make(token_file);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(token_file);
    return 0;
}

/* Writes the token file. If `quota` is false, the hostile token has no quota. */
static void write_tokens(bool quota) {
    test_token all[TOKENS] = {tokens[HOSTILE], tokens[OTHER]};
    if (!quota) all[HOSTILE].quotas = "{}";
    token_file_write(token_file, all, TOKENS);
}

/* Returns a request of 4 kB that takes minutes: a search for equilibria of 22 pursuers. */
static char *hungry_analysis(void) {
    enum { COUNT = 22 };
    text_buffer b;
    text_buffer_init(&b, BODY_BYTES);
    text_buffer_puts(&b, "{\"analyses\":[\"equilibrium\"],\"options\":{\"equilibrium\":{\"starts\":10000}},"
                         "\"system\":{\"hamel\":1,\"simulation\":{\"stop\":1.8,\"samples\":3},\"coordinates\":[");
    for (int k = 0; k < COUNT; k++)
        text_buffer_printf(&b, "%s{\"name\":\"x%d\",\"initial\":%g},{\"name\":\"y%d\",\"velocity\":2}", k ? "," : "", k,
                           0.1 * k, k);
    text_buffer_puts(&b, "],\"kinetic_energy\":\"0");
    for (int k = 0; k < COUNT; k++) text_buffer_printf(&b, "+(x%d'^2+y%d'^2)/2", k, k);
    text_buffer_puts(&b, "\",\"potential_energy\":\"0");
    for (int k = 0; k + 1 < COUNT; k++) text_buffer_printf(&b, "+sin(x%d-x%d)^4*cos(y%d)^2", k, k + 1, k);
    text_buffer_puts(&b, "\",\"constraints\":[");
    for (int k = 0; k < COUNT; k++)
        text_buffer_printf(&b, "%s{\"name\":\"c%d\",\"equation\":\"x%d'*(3-y%d)-y%d'*(t-x%d)=0\"}", k ? "," : "", k, k,
                           k, k, k);
    text_buffer_puts(&b, "]}}");
    return text_buffer_take(&b, NULL);
}

/* Appends a planar chain of `links`. Each chain has its own gravity, so no derivation can be reused. */
static void add_chain(text_buffer *b, int links, int number) {
    text_buffer_printf(b,
                       "{\"hamel\":1,\"coordinates\":[{\"name\":\"q[i]\",\"for\":\"i=1..%d\",\"initial\":\"0.1*i\"}],"
                       "\"kinetic_energy\":\"sum(i,1,%d,sum(j,1,i,cos(q[j])*q[j]')^2+sum(j,1,i,sin(q[j])*q[j]')^2)/2\","
                       "\"potential_energy\":\"%d.5*sum(i,1,%d,sum(j,1,i,cos(q[j])))\","
                       "\"simulation\":{\"stop\":1,\"samples\":3}}",
                       links, links, number, links);
}

static char *costly_batch(int count, int links) {
    text_buffer b;
    text_buffer_init(&b, BODY_BYTES);
    for (int k = 0; k < count; k++) {
        text_buffer_puts(&b, k ? "," : "[");
        add_chain(&b, links, k);
    }
    text_buffer_puts(&b, "]");
    return text_buffer_take(&b, NULL);
}

static int send_request(const test_daemon *d, const test_token *t, const char *path, const char *body) {
    text_buffer request;
    text_buffer_init(&request, 2 * BODY_BYTES);
    text_buffer_printf(&request,
                       "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\nContent-Length: "
                       "%zu\r\n\r\n%s",
                       path, t->header, strlen(body), body);
    int s = connect_to(d);
    assert_int_equal(send(s, request.bytes, request.length, MSG_NOSIGNAL), request.length);
    text_buffer_free(&request);
    return s;
}

static bool is_answered(int s) {
    struct pollfd look = {.fd = s, .events = POLLIN};
    return poll(&look, 1, 0) != 0;
}

/* ---- time of one request ---------------------------------------------------------------------------------------- */

static cJSON *budget_problem_of(answer *a) {
    if (a->status != 422 && a->status != 503) print_error("%ld %s\n", a->status, a->body);
    assert_true(a->status == 422 || a->status == 503); /* the status depends on the load of the machine */
    cJSON *problem = answer_json(a);
    assert_string_equal(json_text_of(problem, "type"), "/problems/budget");
    answer_clear(a);
    return problem;
}

static void an_analysis_ends_at_the_time_limit(void **state) {
    (void)state;
    test_daemon d;
    char *body = hungry_analysis();
    write_tokens(false);
    start(&d, (const char *const[]){"--time-limit", "1", NULL});
    answer a = ask_with(&d, &tokens[OTHER], "POST", "/v1/analyses", body);
    cJSON *problem = budget_problem_of(&a);
    assert_string_equal(json_text_of(problem, "budget"), "wall time");
    cJSON_Delete(problem);
    free(body);
    end(&d);
}

static void the_derivations_of_a_batch_have_one_budget(void **state) {
    (void)state;
    test_daemon d;
    char *many = costly_batch(400, 80), *few = costly_batch(2, 4);
    write_tokens(false);
    start(&d, (const char *const[]){"--derive-limit", "1", NULL});
    answer a = ask_with(&d, &tokens[OTHER], "POST", "/v1/batches", many);
    assert_int_equal(a.status, 422); /* the derivations exceed the CPU time of the request */
    cJSON *problem = budget_problem_of(&a);
    assert_non_null(strstr(json_text_of(problem, "detail"), "several batches"));
    cJSON_Delete(problem);
    a = ask_with(&d, &tokens[OTHER], "GET", "/v1/jobs", NULL);
    cJSON *jobs = answer_json(&a);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(jobs, "items")), 0); /* no job is stored */
    cJSON_Delete(jobs);
    answer_clear(&a);
    assert_int_equal(status_with(&d, &tokens[OTHER], "POST", "/v1/batches", few), 201);
    free(many);
    free(few);
    end(&d);
}

/* ---- sharing ---------------------------------------------------------------------------------------------------- */

/* Two requests that would take minutes occupy both CPU slots. A run and a submission of another token must be answered
 * before these two requests end. */
static void check_sharing(const char *path, const char *body) {
    test_daemon d;
    char system[SYSTEM_BYTES];
    int hostile[2];
    write_tokens(false);
    start(&d, (const char *const[]){NULL});
    for (int k = 0; k < 2; k++) hostile[k] = send_request(&d, &tokens[HOSTILE], path, body);
    for (int k = 0; k < 5; k++) {
        oscillator(system, sizeof system, "small", 1 + k, 3);
        assert_int_equal(status_with(&d, &tokens[OTHER], "POST", "/v1/simulations", system), 200);
        oscillator(system, sizeof system, "small", 10 + k, 3);
        assert_int_equal(status_with(&d, &tokens[OTHER], "POST", "/v1/jobs", system), 201);
        sleep_seconds(0.05); /* in total, the five pauses give both hostile requests 0.25 s to start */
    }
    for (int k = 0; k < 2; k++) {
        assert_false(is_answered(hostile[k]));
        close(hostile[k]);
    }
    end(&d);
}

static void an_analysis_yields_its_slot(void **state) {
    (void)state;
    char *body = hungry_analysis();
    check_sharing("/v1/analyses", body);
    free(body);
}

static void a_submission_yields_its_slot(void **state) {
    (void)state;
    char *body = costly_batch(400, 60);
    check_sharing("/v1/batches", body);
    free(body);
}

/* No client reads a response while a job runs, but the job uses a CPU slot. Two endless jobs must yield their slots to
 * the runs of another token. */
static void jobs_yield_their_slots(void **state) {
    (void)state;
    test_daemon d;
    char system[SYSTEM_BYTES];
    write_tokens(false);
    start(&d, (const char *const[]){NULL});
    for (int k = 0; k < 2; k++) {
        oscillator(system, sizeof system, "endless", 1e9 + k, 2);
        assert_int_equal(status_with(&d, &tokens[HOSTILE], "POST", "/v1/jobs", system), 201);
    }
    for (int k = 0; k < 5; k++) {
        oscillator(system, sizeof system, "small", 1 + k, 3);
        assert_int_equal(status_with(&d, &tokens[OTHER], "POST", "/v1/simulations", system), 200);
    }
    end(&d);
}

/* ---- daily CPU quota --------------------------------------------------------------------------------------------- */

static void check_stopped_run(const test_daemon *d, int k) {
    char system[SYSTEM_BYTES];
    oscillator(system, sizeof system, "endless", 1e9 + k, 2);
    answer a = ask_with(d, &tokens[HOSTILE], "POST", "/v1/simulations", system);
    assert_int_equal(a.status, 200);
    if (!strstr(a.body, "\"incomplete\"") || !strstr(a.body, "processor time that the token"))
        print_error("%s\n", a.body);
    assert_non_null(strstr(a.body, "\"incomplete\""));
    assert_non_null(strstr(a.body, "at its limit of the processor time that the token may use today"));
    answer_clear(&a);
}

static void check_refused(const test_daemon *d) {
    char retry[32];
    answer a = ask_with(d, &tokens[HOSTILE], "POST", "/v1/simulations", "{}");
    assert_int_equal(a.status, 429);
    assert_true(answer_header(&a, "Retry-After", retry, sizeof retry));
    assert_true(strtol(retry, NULL, 10) > 0);
    answer_clear(&a);
}

static void a_used_up_quota_stops_a_run(void **state) {
    (void)state;
    test_daemon d;
    write_tokens(true);
    start(&d, (const char *const[]){"--time-limit", "100", NULL});
    check_stopped_run(&d, 0);
    check_refused(&d);
    end(&d);
}

static void check_outlives(int signal_number) {
    test_daemon d;
    const char *const arguments[] = {"--tokens", token_file, "--time-limit", "100", NULL};
    write_tokens(true);
    daemon_start(&d, arguments);
    check_stopped_run(&d, 0);
    if (signal_number == SIGKILL) sleep_seconds(2.5); /* a kill may lose the usage of the last second */
    daemon_end(&d, signal_number);
    daemon_start_again(&d, arguments);
    check_refused(&d);
    end(&d);
}

static void a_used_up_quota_persists_across_restarts(void **state) {
    (void)state;
    check_outlives(SIGTERM);
}

static void a_used_up_quota_persists_across_crashes(void **state) {
    (void)state;
    check_outlives(SIGKILL);
}

static void a_used_up_quota_stops_an_analysis(void **state) {
    (void)state;
    test_daemon d;
    char *body = hungry_analysis();
    write_tokens(true);
    start(&d, (const char *const[]){"--time-limit", "100", NULL});
    answer a = ask_with(&d, &tokens[HOSTILE], "POST", "/v1/analyses", body);
    assert_int_equal(a.status, 429);
    cJSON *problem = answer_json(&a);
    assert_string_equal(json_text_of(problem, "type"), "/problems/quota");
    cJSON_Delete(problem);
    answer_clear(&a);
    free(body);
    end(&d);
}

static void a_used_up_quota_stops_jobs(void **state) {
    (void)state;
    test_daemon d;
    char system[SYSTEM_BYTES], path[128];
    write_tokens(true);
    start(&d, (const char *const[]){"--time-limit", "100", NULL});
    char *ids[3] = {NULL};
    for (int k = 0; k < 3; k++) {
        oscillator(system, sizeof system, "endless", 1e9 + k, 2);
        answer a = ask_with(&d, &tokens[HOSTILE], "POST", "/v1/jobs", system);
        assert_int_equal(a.status, 201);
        cJSON *job = answer_json(&a);
        ids[k] = strdup(json_text_of(job, "id"));
        cJSON_Delete(job);
        answer_clear(&a);
    }
    /* The quota stops the runs of two jobs and prevents the start of the third job. */
    static const char *const statuses[] = {"incomplete", "incomplete", "failed"};
    for (int k = 0; k < 3; k++) {
        cJSON *job = NULL;
        snprintf(path, sizeof path, "/v1/jobs/%s", ids[k]);
        for (double until = hang_time();; sleep_seconds(0.02)) {
            answer a = ask_with(&d, &tokens[HOSTILE], "GET", path, NULL);
            cJSON_Delete(job);
            job = answer_json(&a);
            answer_clear(&a);
            const char *status = json_text_of(job, "status");
            if ((strcmp(status, "queued") != 0 && strcmp(status, "running") != 0) || now_seconds() > until) break;
        }
        assert_string_equal(json_text_of(job, "status"), statuses[k]);
        if (k == 2) {
            const cJSON *problem = cJSON_GetObjectItemCaseSensitive(job, "problem");
            assert_string_equal(json_text_of(problem, "type"), "/problems/quota");
        }
        cJSON_Delete(job);
        free(ids[k]);
    }
    end(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_analysis_ends_at_the_time_limit),
        cmocka_unit_test(the_derivations_of_a_batch_have_one_budget),
        cmocka_unit_test(an_analysis_yields_its_slot),
        cmocka_unit_test(a_submission_yields_its_slot),
        cmocka_unit_test(jobs_yield_their_slots),
        cmocka_unit_test(a_used_up_quota_stops_a_run),
        cmocka_unit_test(a_used_up_quota_persists_across_restarts),
        cmocka_unit_test(a_used_up_quota_persists_across_crashes),
        cmocka_unit_test(a_used_up_quota_stops_an_analysis),
        cmocka_unit_test(a_used_up_quota_stops_jobs),
    };
    return cmocka_run_group_tests_name("budget", tests, set_up, tear_down);
}
