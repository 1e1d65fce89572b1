/* test_requests.c — faults of the machine while a daemon is in use. Allocations fail, sockets break, the disk is
 * temporarily full, the clock is shifted by an hour, or descriptors run out. The daemon must continue, report errors,
 * release all resources, and recover automatically. */
#include "api/simulate.h"
#include "tests/fault/faults.h"
#include "tests/http/daemon.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYSTEM_BYTES = 512, PATH_BYTES = 128 };

static test_daemon d;
static faults *f;

static void start(const char *const *arguments) {
    f = faults_begin();
    assert_non_null(f);
    daemon_start(&d, arguments);
    faults_end();
}

static void end(void) {
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    daemon_remove(&d);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

typedef struct question {
    const char *name, *method, *path, *body;
    const char *const *headers;
    long good; /* expected status without faults */
} question;

static const char *const as_lines[] = {"Content-Type: application/json", "Accept: application/x-ndjson", NULL};

/* Checks that the response is complete, reports exhausted memory, or is missing or cut off. */
static void check_starved(const question *q, const answer *a, long nth) {
    bool whole = a->status == q->good, none = a->status == 0;
    /* 500 if the store runs out of memory, which the daemon reports as a storage problem */
    bool told = a->status == 503 || a->status == 500;
    bool bounded = a->status == 422 && strstr(a->body, "memory"); /* 422 if an analysis reports its memory limit */
    if (!whole && !none && !told && !bounded)
        print_error("%s, allocation %ld: %ld %s\n", q->name, nth, a->status, a->body);
    assert_true(whole || none || told || bounded);
}

static void check_well(const question *q) {
    answer a = ask(&d, q->method, q->path, q->headers, q->body);
    if (a.status != q->good) print_error("%s: %ld %s\n", q->name, a.status, a.body);
    assert_int_equal(a.status, q->good);
    answer_clear(&a);
}

static long starve(const question *q) {
    long failed = 0;
    bool reached = true;
    for (long nth = 1; reached; nth += 1 + (long_tests() ? 0 : nth / 30), failed++) {
        fault_order(f, FAULT_MEMORY, nth, false, 0);
        answer a = ask(&d, q->method, q->path, q->headers, q->body);
        reached = fault_cancel(f, FAULT_MEMORY) >= nth;
        check_starved(q, &a, nth);
        answer_clear(&a);
        if (failed % 16 == 0) check_well(q);
    }
    check_well(q);
    return failed;
}

/* Waits until connections and jobs of earlier requests have ended. */
static void wait_until_quiet(void) {
    double until = hang_time();
    while (daemon_metric(&d, "hamel_jobs_queued") + daemon_metric(&d, "hamel_jobs_running") > 0 ||
           daemon_metric(&d, "hamel_http_connections") > 1) {
        assert_true(now_seconds() < until);
        sleep_seconds(0.01);
    }
}

static void each_allocation_may_fail_and_the_next_request_is_served(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], analysis[SYSTEM_BYTES + 64], batch[SYSTEM_BYTES + 64];
    oscillator(system, sizeof system, "starved", 1, 11);
    /* Linearization does not use FLINT, which ends its process without releasing blocks if an allocation fails. */
    snprintf(analysis, sizeof analysis, "{\"analyses\":[\"linearization\"],\"system\":%s}", system);
    snprintf(batch, sizeof batch, "{\"systems\":[%s]}", system);
    const question questions[] = {
        {"a stream", "POST", "/v1/simulations", system, as_lines, 200},
        {"a job", "POST", "/v1/jobs", system, json_type, 201},
        {"a batch", "POST", "/v1/batches", batch, json_type, 201},
        {"an analysis", "POST", "/v1/analyses", analysis, json_type, 200},
        {"a check", "POST", "/v1/checks", system, json_type, 200},
        {"a list", "GET", "/v1/jobs?limit=5", NULL, NULL, 200},
        {"metrics", "GET", "/metrics", NULL, NULL, 200},
    };
    start((const char *const[]){"--workers", "1", "--cache", "0", NULL});
    for (size_t k = 0; k < sizeof questions / sizeof *questions; k++) {
        check_well(&questions[k]);
        wait_until_quiet();
        long before = atomic_load(&f->live), failed = starve(&questions[k]);
        /* A leak of one block per failed allocation adds `failed` blocks, twice the first term. The 60 blocks allow for
         * caches that grow during the first requests. */
        long more = LONG_MAX, bound = failed / 2 + 60;
        for (double until = hang_time(); more > bound && now_seconds() < until; sleep_seconds(0.1))
            more = atomic_load(&f->live) - before; /* the number decreases while connections end and jobs complete */
        print_message("%s: %ld allocations failed, %ld blocks more in use\n", questions[k].name, failed, more);
        assert_true(more <= bound);
    }
    char *id = submit(&d, system);
    wait_for_status(&d, id, "completed"); /* the queue continues for other clients */
    free(id);
    end();
}

/* If an allocation fails, FLINT and GMP abort their process, which is a child of the daemon. Blocks of that process are
 * not released one by one, so they are not counted. */
static void libraries_without_memory_end_one_analysis(void **state) {
    (void)state;
    const api_example *example = NULL;
    for (size_t k = 0; !example || strcmp(example->name, "baruh_4_7_two_link_pendulum") != 0; k++)
        example = api_example_at(k);
    char body[8192], *id;
    snprintf(body, sizeof body, "{\"analyses\":[\"equations\"],\"system\":%.*s}", (int)example->length, example->json);
    const question q = {"written equations", "POST", "/v1/analyses", body, json_type, 200};
    long refused = 0, tried = 0;
    bool reached = true;
    start((const char *const[]){"--workers", "1", NULL});
    check_well(&q);
    for (long nth = 1; reached; nth += 1 + nth / (long_tests() ? 50 : 10), tried++) {
        fault_order(f, FAULT_MEMORY, nth, false, 0);
        answer a = ask(&d, q.method, q.path, q.headers, q.body);
        reached = fault_cancel(f, FAULT_MEMORY) >= nth;
        check_starved(&q, &a, nth);
        refused += a.status == 422;
        answer_clear(&a);
    }
    print_message("%ld allocations failed, %ld analyses rejected\n", tried, refused);
    assert_true(refused > 0);
    check_well(&q);
    id = submit(&d, example->json);
    wait_for_status(&d, id, "completed");
    free(id);
    end();
}

/* Waits until the job is completed, or failed for lack of memory. */
static void wait_for_end(const char *id) {
    char path[PATH_BYTES], status[32] = "queued", type[64] = "";
    double until = hang_time();
    snprintf(path, sizeof path, "/v1/jobs/%s", id);
    while ((strcmp(status, "queued") == 0 || strcmp(status, "running") == 0) && now_seconds() < until) {
        cJSON *told = ask_json(&d, "GET", path, NULL, NULL, 200);
        snprintf(status, sizeof status, "%s", json_text_of(told, "status"));
        snprintf(type, sizeof type, "%s", json_text_of(cJSON_GetObjectItemCaseSensitive(told, "problem"), "type"));
        cJSON_Delete(told);
        sleep_seconds(0.02);
    }
    if (strcmp(status, "completed") == 0) return;
    assert_string_equal(status, "failed");
    assert_string_equal(type, "/problems/out-of-memory");
}

static void a_daemon_without_any_memory_recovers(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    start((const char *const[]){"--workers", "1", NULL});
    oscillator(system, sizeof system, "starved", 1, 11);
    char *before = submit(&d, system);
    for (int k = 0; k < 10; k++) {
        fault_order(f, FAULT_MEMORY, 1 + 37 * k, true, 0);
        answer a = ask(&d, "POST", k % 2 ? "/v1/jobs" : "/v1/simulations", json_type, system);
        fault_cancel(f, FAULT_MEMORY);
        assert_true(a.status == 0 || a.status >= 200);
        answer_clear(&a);
    }
    char *after = submit(&d, system);
    wait_for_status(&d, after, "completed");
    wait_for_end(before);
    free(before);
    free(after);
    end();
}

/* ---- sockets ---------------------------------------------------------------------------------------------------- */

static void a_socket_that_breaks_ends_its_request_only(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    start((const char *const[]){"--workers", "1", NULL});
    oscillator(system, sizeof system, "broken", 100, 4001);
    static const int errors[] = {EPIPE, ECONNRESET, EIO};
    size_t before = daemon_descriptors(&d);
    for (size_t e = 0; e < 3; e++) {
        for (long nth = 1; nth < 8; nth++) {
            fault_order(f, e == 2 ? FAULT_RECEIVE : FAULT_SEND, nth, false, errors[e]);
            answer a = ask(&d, "POST", "/v1/simulations", json_type, system);
            (void)fault_cancel(f, e == 2 ? FAULT_RECEIVE : FAULT_SEND);
            answer_clear(&a);
        }
        answer a = ask(&d, "GET", "/healthz", NULL, NULL);
        assert_int_equal(a.status, 200);
        answer_clear(&a);
    }
    double until = hang_time();
    while (daemon_descriptors(&d) > before + 2 && now_seconds() < until) sleep_seconds(0.05);
    assert_true(daemon_descriptors(&d) <= before + 2);
    end();
}

/* ---- the disk --------------------------------------------------------------------------------------------------- */

static void the_daemon_recovers_automatically_from_a_full_disk(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    start((const char *const[]){"--workers", "1", NULL});
    char *running = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, running, "running");
    char *queued = submit(&d, oscillator(system, sizeof system, "queued", 10, 11));
    fault_order(f, FAULT_WRITE, 1, true, ENOSPC);
    answer refused = ask(&d, "POST", "/v1/jobs", json_type, system);
    assert_int_equal(refused.status, 503);
    assert_non_null(strstr(refused.body, "/problems/disk-full"));
    answer_clear(&refused);
    answer live = ask(&d, "POST", "/v1/simulations", json_type, system);
    assert_int_equal(live.status, 200); /* a live run needs no disk space */
    answer_clear(&live);
    size_t told_before = count_in_log(&d, "\"event\":\"store\"");
    for (double until = hang_time(); count_in_log(&d, "\"event\":\"store\"") < told_before + 2; sleep_seconds(0.05)) {
        assert_true(now_seconds() < until); /* the run can neither store its rows nor be requeued */
    }
    live = ask(&d, "POST", "/v1/simulations", json_type, system);
    assert_int_equal(live.status, 200); /* the waiting job must not occupy the only CPU slot */
    answer_clear(&live);
    fault_cancel(f, FAULT_WRITE);
    wait_for_log(&d, "postponed");
    wait_for_status(&d, running, "running"); /* running again */
    snprintf(path, sizeof path, "/v1/jobs/%s", running);
    answer gone = ask(&d, "DELETE", path, NULL, NULL);
    assert_int_equal(gone.status, 204);
    answer_clear(&gone);
    wait_for_status(&d, queued, "completed");
    free(running);
    free(queued);
    end();
}

/* ---- the clock -------------------------------------------------------------------------------------------------- */

static void shifting_the_clock_by_an_hour_changes_nothing(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    static const long shifts[] = {3600, -3600, 0};
    start((const char *const[]){"--workers", "1", "--keep-days", "1", "--time-limit", "60", NULL});
    char *done = submit(&d, oscillator(system, sizeof system, "done", 1, 3));
    wait_for_status(&d, done, "completed");
    char *running = submit(&d, endless(system, sizeof system));
    wait_for_status(&d, running, "running");
    for (size_t k = 0; k < 3; k++) {
        atomic_store(&f->clock_shift, shifts[k]);
        sleep_seconds(1.2); /* in seconds: several periods of the watchdog, job deletion and the workers' polls */
        wait_for_status(&d, running, "running");
        wait_for_status(&d, done, "completed");
        answer a = ask(&d, "POST", "/v1/simulations", json_type, oscillator(system, sizeof system, "now", 1, 3));
        assert_int_equal(a.status, 200);
        answer_clear(&a);
        answer m = ask(&d, "GET", "/metrics", NULL, NULL);
        assert_null(strstr(m.body, "seconds -")); /* ages must not be negative */
        answer_clear(&m);
    }
    snprintf(path, sizeof path, "/v1/jobs/%s/cancel", running);
    answer a = ask(&d, "POST", path, NULL, NULL);
    assert_int_equal(a.status, 202);
    answer_clear(&a);
    wait_for_status(&d, running, "canceled");
    free(done);
    free(running);
    end();
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

static void without_a_descriptor_left_the_daemon_waits(void **state) {
    (void)state;
    enum { SOCKETS = 40 };
    int held[SOCKETS];
    char system[SYSTEM_BYTES];
    struct rlimit before, few;
    start((const char *const[]){"--workers", "1", NULL});
    char *id = submit(&d, oscillator(system, sizeof system, "few", 2000, 2001));
    assert_int_equal(prlimit(d.pid, RLIMIT_NOFILE, NULL, &before), 0);
    few = (struct rlimit){.rlim_cur = daemon_descriptors(&d) + 4, .rlim_max = before.rlim_max};
    assert_int_equal(prlimit(d.pid, RLIMIT_NOFILE, &few, NULL), 0);
    for (size_t k = 0; k < SOCKETS; k++) held[k] = connect_to(&d);
    double cpu = daemon_cpu_seconds(&d);
    sleep_seconds(1);
    /* the daemon must not poll in a busy loop while it cannot accept connections */
    assert_true(daemon_cpu_seconds(&d) - cpu < 0.9);
    for (size_t k = 0; k < SOCKETS; k++) close(held[k]);
    assert_int_equal(prlimit(d.pid, RLIMIT_NOFILE, &before, NULL), 0);
    wait_for_status(&d, id, "completed");
    free(id);
    end();
}

int main(void) {
    if (slowness() > 1) {
        puts("1..0 # SKIP faults cannot be injected, because sanitizers replace the allocator");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail_and_the_next_request_is_served),
        cmocka_unit_test(libraries_without_memory_end_one_analysis),
        cmocka_unit_test(a_daemon_without_any_memory_recovers),
        cmocka_unit_test(a_socket_that_breaks_ends_its_request_only),
        cmocka_unit_test(the_daemon_recovers_automatically_from_a_full_disk),
        cmocka_unit_test(shifting_the_clock_by_an_hour_changes_nothing),
        cmocka_unit_test(without_a_descriptor_left_the_daemon_waits),
    };
    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
