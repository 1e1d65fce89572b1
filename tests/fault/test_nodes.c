/* test_nodes.c — several daemons with one queue in PostgreSQL. Daemons are killed or suspended. No accepted job may be
 * lost, and every result must equal that of an undisturbed run.
 *
 * HAMEL_TEST_LONG adds jobs and kills, and uses the default lease. */
#include "tests/fault/queue_nodes.h"
#include "tests/http/tokens.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static void several_nodes_run_each_job_once(void **state) {
    (void)state;
    submitted s = new_jobs(long_tests() ? JOBS_MOST : 300);
    snprintf(lease, sizeof lease, "60"); /* in seconds; a lease of this length does not expire on a busy machine */
    start_nodes(NODES);
    double begin = now_seconds();
    submit_jobs(&s);
    check_history(&s);
    print_message("%zu jobs in %.1f s\n", s.count, now_seconds() - begin);
    assert_int_equal(s.unanswered, 0);
    assert_int_equal(in_database("SELECT count(*) FROM jobs WHERE attempt<>1"), 0);
    for (size_t k = 0; k < NODES; k++) {
        assert_true(daemon_metric(&nodes[k], "hamel_runs_total{kind=\"job\",outcome=\"completed\"}") > 0);
        assert_true(daemon_metric(&nodes[k], "hamel_runs_fenced_total") == 0);
    }
    check_rows(&s);
    free(s.ids);
}

static void jobs_of_killed_nodes_are_run_by_others(void **state) {
    (void)state;
    size_t kills = long_tests() ? 30 : 4;
    submitted s = new_jobs(long_tests() ? 3000 : 150);
    pthread_t submitter;
    start_nodes(NODES);
    char *batch = submit_batch(&s), path[PATH_BYTES];
    assert_int_equal(pthread_create(&submitter, NULL, submit_jobs, &s), 0);
    for (size_t k = 0; k < kills; k++) {
        sleep_seconds(long_tests() ? 2 : random_seconds(0.2, 0.8));
        size_t victim = random_node();
        daemon_end(&nodes[victim], SIGKILL);
        start_node(victim, true);
    }
    double killed = now_seconds();
    pthread_join(submitter, NULL);
    check_history(&s);
    print_message("%zu jobs, %zu unanswered, %zu kills, all jobs completed %.1f s after the last kill\n", s.count,
                  s.unanswered, kills, now_seconds() - killed);
    check_rows(&s);
    snprintf(path, sizeof path, "/v1/batches/%s", batch);
    cJSON *counted = ask_json(&nodes[0], "GET", path, NULL, NULL, 200);
    assert_true(json_number_of(cJSON_GetObjectItemCaseSensitive(counted, "counts"), "completed") == MEMBERS);
    cJSON_Delete(counted);
    free(batch);
    free(s.ids);
}

/* The SQL statement below locks the rows that the node must write, until the node has renewed its lease twice. One
 * renewal is not enough, because the first renewal may have started before the node waited for the lock. */
static void a_lease_is_renewed_while_a_change_waits(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    snprintf(lease, sizeof lease, "3");
    start_nodes(1);
    char *id = submit(&nodes[0], endless(system, sizeof system));
    wait_for_status(&nodes[0], id, "running");
    in_database("DO 'DECLARE renewed BIGINT; waits TIMESTAMPTZ; BEGIN PERFORM 1 FROM jobs FOR UPDATE;"
                " WHILE waits IS NULL LOOP PERFORM pg_sleep(0.02);"
                " SELECT min(waitstart) INTO waits FROM pg_locks WHERE NOT granted; END LOOP;"
                " FOR k IN 1..2 LOOP SELECT max(lease_until) INTO renewed FROM nodes;"
                " WHILE (SELECT max(lease_until) FROM nodes)=renewed LOOP PERFORM pg_sleep(0.02); END LOOP; END LOOP;"
                " IF waits IS DISTINCT FROM (SELECT min(waitstart) FROM pg_locks WHERE NOT granted)"
                " THEN RAISE ''it came after the change''; END IF; END'");
    free(id);
}

/* A node is suspended for three lease periods during its runs, and then continues. */
static void writes_after_the_end_of_a_lease_are_rejected(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    submitted s = new_jobs(16);
    start_nodes(1);
    for (size_t k = 0; k < 8; k++) {
        char *id = submit(&nodes[0], system_of(7, system));
        snprintf(s.ids[s.count++], sizeof s.ids[0], "%s", id);
        free(id);
    }
    wait_for_number("SELECT count(*) FROM jobs WHERE status=1", 2);
    kill(nodes[0].pid, SIGSTOP);
    start_node(node_count++, false);
    double stopped = now_seconds();
    wait_for_number("SELECT count(*) FROM jobs WHERE status<2", 0);
    print_message("the other node completed all jobs %.1f s after the suspension\n", now_seconds() - stopped);
    if (now_seconds() - stopped < 3 * lease_seconds()) sleep_seconds(3 * lease_seconds() - (now_seconds() - stopped));
    kill(nodes[0].pid, SIGCONT);
    double until = hang_time();
    while (daemon_metric(&nodes[0], "hamel_leases_lost_total{whose=\"own\"}") < 1 && now_seconds() < until)
        sleep_seconds(0.1);
    while (daemon_metric(&nodes[0], "hamel_runs_fenced_total") < 1 && now_seconds() < until) sleep_seconds(0.1);
    assert_true(daemon_metric(&nodes[0], "hamel_leases_lost_total{whose=\"own\"}") >= 1);
    assert_true(daemon_metric(&nodes[0], "hamel_runs_fenced_total") >= 1);
    assert_true(daemon_metric(&nodes[1], "hamel_leases_lost_total{whose=\"swept\"}") >= 1);
    check_history(&s);
    char *id = submit(&nodes[0], system_of(0, system)); /* the node accepts jobs again */
    wait_for_status(&nodes[0], id, "completed");
    free(id);
    free(s.ids);
}

static void a_job_that_crashes_its_nodes_fails_and_others_continue(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    int kills = 0;
    snprintf(lease, sizeof lease, "1");
    start_nodes(1);
    char *bad = submit(&nodes[0], oscillator(system, sizeof system, "bad", 4e6, 2));
    char *good = submit(&nodes[0], oscillator(system, sizeof system, "good", 10000, 2));
    for (;; kills++) {
        double until = hang_time();
        int64_t attempt, failed;
        do {
            attempt = in_database("SELECT attempt FROM jobs WHERE name='bad' AND status=1");
            failed = in_database("SELECT count(*) FROM jobs WHERE name='bad' AND status=4");
        } while (attempt <= kills && !failed && now_seconds() < until);
        assert_true(attempt > kills || failed);
        if (failed) break;
        daemon_end(&nodes[0], SIGKILL);
        start_node(0, true);
    }
    print_message("the job failed after %d killed nodes\n", kills);
    assert_in_range(kills, 3,
                    4); /* four if the first run has stored a row, because a stored row resets the count of failures */
    wait_for_status(&nodes[0], good, "completed");
    snprintf(path, sizeof path, "/v1/jobs/%s", bad);
    cJSON *job = ask_json(&nodes[0], "GET", path, NULL, NULL, 200);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(job, "problem"), "type"), "/problems/crashed");
    cJSON_Delete(job);
    free(bad);
    free(good);
}

static void a_job_is_canceled_through_any_node(void **state) {
    (void)state;
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    start_nodes(1);
    char *id = submit(&nodes[0], endless(system, sizeof system));
    wait_for_status(&nodes[0], id, "running");
    start_node(node_count++, false);
    snprintf(path, sizeof path, "/v1/jobs/%s/cancel", id);
    cJSON_Delete(ask_json(&nodes[1], "POST", path, NULL, NULL, 202));
    wait_for_status(&nodes[1], id, "canceled");
    free(id);
}

typedef struct same_key {
    size_t node;
    char id[40];
} same_key;

static void *submit_with_key(void *context) {
    same_key *one = context;
    char system[SYSTEM_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Idempotency-Key: the-same", NULL};
    answer a = ask(&nodes[one->node], "POST", "/v1/jobs", headers, system_of(0, system));
    const char *id = a.status == 201 || a.status == 200 ? strstr(a.body, "\"id\":\"") : NULL;
    snprintf(one->id, sizeof one->id, "%.32s", id ? id + 6 : "");
    answer_clear(&a);
    return NULL;
}

static void simultaneous_requests_with_the_same_key_at_all_nodes_create_one_job(void **state) {
    enum { CLIENTS = 30 };
    pthread_t threads[CLIENTS];
    same_key asked[CLIENTS];
    (void)state;
    start_nodes(NODES);
    for (size_t k = 0; k < CLIENTS; k++) {
        asked[k].node = k % NODES;
        assert_int_equal(pthread_create(&threads[k], NULL, submit_with_key, &asked[k]), 0);
    }
    for (size_t k = 0; k < CLIENTS; k++) pthread_join(threads[k], NULL);
    for (size_t k = 0; k < CLIENTS; k++) assert_string_equal(asked[k].id, asked[0].id);
    assert_int_equal(strlen(asked[0].id), 32);
    assert_int_equal(in_database("SELECT count(*) FROM jobs"), 1);
}

/* ---- fairness --------------------------------------------------------------------------------------------------- */

static void many_jobs_of_one_owner_do_not_delay_the_only_job_of_another(void **state) {
    enum { ANN, BOB, HOLDERS };
    const test_token owners[HOLDERS] = {token_make("ann", "\"read\",\"run\"", "{}"),
                                        token_make("bob", "\"read\",\"run\"", "{}")};
    char file_name[] = TOKEN_FILE_NAME, system[SYSTEM_BYTES];
    (void)state;
    token_file_make(file_name);
    token_file_write(file_name, owners, HOLDERS);
    const char *const arguments[] = {"--store",  queue_url, "--lease",       lease,    "--workers", "1",
                                     "--tokens", file_name, "--max-members", "100000", NULL};
    daemon_start(&nodes[node_count++], arguments);
    snprintf(system, sizeof system,
             "{\"hamel\":1,\"parameters\":{\"k\":1},\"coordinates\":[{\"name\":\"x\",\"initial\":1}],"
             "\"kinetic_energy\":\"x'^2/2\",\"potential_energy\":\"k*x^2/2\","
             "\"simulation\":{\"stop\":100,\"samples\":11},"
             "\"sweep\":{\"over\":{\"k\":{\"from\":1,\"to\":2,\"count\":%d}},\"collect\":[\"final\"]}}",
             long_tests() ? 100000 : 3000);
    answer batch = ask_with(&nodes[0], &owners[ANN], "POST", "/v1/batches", system);
    if (batch.status != 201) print_error("%s\n", batch.body);
    assert_int_equal(batch.status, 201);
    answer_clear(&batch);
    wait_for_number("SELECT CAST(count(*)>0 AS INTEGER) FROM jobs WHERE owner='ann' AND status=2", 1);
    answer single =
        ask_with(&nodes[0], &owners[BOB], "POST", "/v1/jobs", oscillator(system, sizeof system, "one", 10, 11));
    assert_int_equal(single.status, 201);
    answer_clear(&single);
    wait_for_number("SELECT count(*) FROM jobs WHERE owner='bob' AND status=2", 1);
    int64_t before = in_database("SELECT count(*) FROM jobs AS a, jobs AS b WHERE a.owner='ann' AND b.owner='bob' AND "
                                 "a.started>b.created AND a.started<b.started");
    int64_t behind = in_database("SELECT count(*) FROM jobs WHERE owner='ann' AND status=0");
    print_message("%lld jobs of ann started before the job of bob, %lld are still queued\n", (long long)before,
                  (long long)behind);
    assert_true(before <= 256); /* maximum number of jobs reserved together (store_postgres_claim.c) */
    assert_true(behind > 0);
    unlink(file_name);
}

/* ---- workers ---------------------------------------------------------------------------------------------------- */

static pid_t start_worker(const char *idle) {
    const char *set = getenv("HAMEL");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    const char *program = set && *set ? set : "build/hamel";
    execl(program, program, "worker", "--store", queue_url, "--idle", idle, "--lease", lease, "--workers", "1",
          "--log-level", "silent", (char *)NULL);
    _exit(127);
}

static void a_worker_serves_the_queue_until_it_is_idle_or_stopped(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    int status;
    const char *const arguments[] = {"--store", queue_url, "--lease", lease, "--workers", "1", NULL};
    daemon_start(&nodes[node_count++], arguments);
    free(submit(&nodes[0], endless(system, sizeof system))); /* occupies the only run slot of the daemon */
    wait_for_number("SELECT count(*) FROM jobs WHERE status=1", 1);
    for (size_t k = 0; k < 10; k++) free(submit(&nodes[0], system_of(k, system)));
    pid_t worker = start_worker("1");
    assert_int_equal(waitpid(worker, &status, 0), worker);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(in_database("SELECT count(*) FROM jobs WHERE status=2 AND attempt=1"), 10);
    free(submit(&nodes[0], oscillator(system, sizeof system, "other", 4e6, 2)));
    worker = start_worker("0");
    wait_for_number("SELECT count(*) FROM jobs WHERE status=1 AND name='other'", 1);
    kill(worker, SIGTERM);
    assert_int_equal(waitpid(worker, &status, 0), worker);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(
        in_database("SELECT count(*) FROM jobs WHERE name='other' AND status=0 AND fruitless=0 AND node=0"), 1);
    assert_int_equal(in_database("SELECT count(*) FROM nodes"), 1);
}

/* ---- passwords -------------------------------------------------------------------------------------------------- */

static void assert_untold(const char *text) {
    if (strstr(text, "hunter2")) print_error("%s\n", text);
    assert_null(strstr(text, "hunter2"));
}

static void passwords_are_never_printed(void **state) {
    (void)state;
    char secret[256], text[8192];
    static const char *const bad[] = {
        "postgresql://hamel:hunter2@/x?host=/nowhere",
        "postgresql://hamel:hunter2@127.0.0.1:1/x",
        "postgresql://hamel:hunter2/@h/x",
        "postgresql://hamel:hunter2@h:port/x",
        "postgresql://hamel@h/x?hunter2",
        "postgresql://hamel@h/x?password=hunter2&no=1",
        "postgresql://hamel:1/hunter2@h/x",
        "mysql://hamel:hunter2@h/x",
        "postgresql://[hunter2",
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_true(daemon_run((const char *const[]){"--store", bad[k], "--listen", "127.0.0.1:0", NULL}, text,
                               sizeof text) != 0);
        assert_true(strlen(text) > 0);
        assert_untold(text);
    }
    snprintf(secret, sizeof secret, "postgresql://hamel:hunter2@/%s?host=%s", queue_database, queue_server.dir);
    assert_int_equal(daemon_run((const char *const[]){"--store", secret, "--check-config", NULL}, text, sizeof text),
                     0);
    assert_non_null(strstr(text, "postgresql://hamel@"));
    assert_untold(text);
    daemon_start(&nodes[node_count++], (const char *const[]){"--store", secret, "--lease", lease, NULL});
    answer metrics = ask(&nodes[0], "GET", "/metrics", NULL, NULL);
    assert_untold(metrics.body);
    answer_clear(&metrics);
    daemon_end(&nodes[0], SIGTERM);
    FILE *log = fopen(nodes[0].log, "r");
    assert_non_null(log);
    text[fread(text, 1, sizeof text - 1, log)] = '\0';
    fclose(log);
    assert_non_null(strstr(text, "listening"));
    assert_untold(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(several_nodes_run_each_job_once),
        WITH_QUEUE(jobs_of_killed_nodes_are_run_by_others),
        WITH_QUEUE(writes_after_the_end_of_a_lease_are_rejected),
        WITH_QUEUE(a_lease_is_renewed_while_a_change_waits),
        WITH_QUEUE(a_job_that_crashes_its_nodes_fails_and_others_continue),
        WITH_QUEUE(a_job_is_canceled_through_any_node),
        WITH_QUEUE(simultaneous_requests_with_the_same_key_at_all_nodes_create_one_job),
        WITH_QUEUE(many_jobs_of_one_owner_do_not_delay_the_only_job_of_another),
        WITH_QUEUE(a_worker_serves_the_queue_until_it_is_idle_or_stopped),
        WITH_QUEUE(passwords_are_never_printed),
    };
    return cmocka_run_group_tests_name("nodes", tests, start_queue_server, stop_queue_server);
}
