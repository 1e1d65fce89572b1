/* test_nodes_database.c — daemons that share a queue in PostgreSQL. The database is killed, unreachable or read-only,
 * or it rejects commits. No accepted job may be lost, and every result must equal that of an undisturbed run.
 *
 * HAMEL_TEST_LONG adds kills, and uses the default lease. */
#include "tests/fault/queue_nodes.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_without_database(const test_daemon *d) {
    char system[SYSTEM_BYTES], value[32];
    answer live = ask(d, "POST", "/v1/simulations", json_type, system_of(0, system));
    assert_int_equal(live.status, 200);
    answer_clear(&live);
    answer refused = ask(d, "POST", "/v1/jobs", json_type, system_of(0, system));
    assert_int_equal(refused.status, 503);
    assert_true(answer_header(&refused, "Retry-After", value, sizeof value));
    answer_clear(&refused);
    answer ready = ask(d, "GET", "/readyz", NULL, NULL);
    assert_int_equal(ready.status, 503);
    answer_clear(&ready);
}

/* Messages of libpq must also be logged as one JSON object per line. */
static void check_log(const test_daemon *d) {
    static char line[16384];
    FILE *log = fopen(d->log, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log)) {
        cJSON *entry = cJSON_Parse(line);
        if (!cJSON_IsObject(entry)) print_error("in the log: %s", line);
        assert_true(cJSON_IsObject(entry));
        cJSON_Delete(entry);
    }
    fclose(log);
}

static void killing_the_database_loses_no_acknowledged_job(void **state) {
    (void)state;
    size_t kills = long_tests() ? 20 : 3;
    submitted s = new_jobs(JOBS_MOST);
    pthread_t submitter;
    start_nodes(NODES);
    assert_int_equal(pthread_create(&submitter, NULL, submit_jobs, &s), 0);
    for (size_t k = 0; k < kills; k++) {
        sleep_seconds(random_seconds(0.5, 1.5));
        postgres_kill(&queue_server);
        check_without_database(&nodes[k % NODES]);
        postgres_again(&queue_server);
    }
    for (size_t k = 0; k < NODES; k++) wait_until_ready(&nodes[k]);
    sleep_seconds(0.5);
    atomic_store(&s.stop, true);
    pthread_join(submitter, NULL);
    double begin = now_seconds();
    check_history(&s);
    print_message("%zu jobs accepted, %zu unanswered, %zu kills, all jobs completed %.1f s later\n", s.count,
                  s.unanswered, kills, now_seconds() - begin);
    check_rows(&s);
    for (size_t k = 0; k < NODES; k++) check_log(&nodes[k]);
    free(s.ids);
}

/* The database is unreachable for longer than the lease. Nodes stop their runs, and resume them when the database is
 * reachable again. */
static void nodes_survive_a_database_outage_longer_than_the_lease(void **state) {
    (void)state;
    static const char lost[] = "hamel_leases_lost_total{whose=\"own\"}";
    char system[SYSTEM_BYTES];
    start_nodes(1);
    char *id = submit(&nodes[0], oscillator(system, sizeof system, "long", 40000, 40001));
    wait_for_status(&nodes[0], id, "running");
    postgres_kill(&queue_server);
    /* the node detects from its own clock that its lease has ended */
    for (double until = hang_time(); daemon_metric(&nodes[0], lost) < 1;) {
        assert_true(now_seconds() < until);
        answer health = ask(&nodes[0], "GET", "/healthz", NULL, NULL);
        assert_int_equal(health.status, 200);
        answer_clear(&health);
        sleep_seconds(0.2);
    }
    postgres_again(&queue_server);
    wait_for_number("SELECT count(*) FROM jobs WHERE status=2", 1);
    free(id);
}

static void allow_writing(bool allowed) {
    char command[128];
    snprintf(command, sizeof command, "ALTER SYSTEM SET default_transaction_read_only=%s", allowed ? "off" : "on");
    in_database(command);
    in_database("SELECT CAST(pg_reload_conf() AS INTEGER)");
}

/* The database becomes read-only, like a standby to which connections have moved. */
static void a_node_of_a_read_only_database_is_not_ready(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    start_nodes(1);
    wait_until_ready(&nodes[0]);
    char *running = submit(&nodes[0], oscillator(system, sizeof system, "running", 40000, 40001));
    wait_for_status(&nodes[0], running, "running");
    allow_writing(false);
    answer ready = {0};
    for (double until = hang_time(); ready.status != 503;) {
        assert_true(now_seconds() < until);
        answer_clear(&ready);
        ready = ask(&nodes[0], "GET", "/readyz", NULL, NULL);
    }
    assert_non_null(strstr(ready.body, "read-only"));
    answer_clear(&ready);
    check_without_database(&nodes[0]);
    answer health = ask(&nodes[0], "GET", "/healthz", NULL, NULL);
    assert_int_equal(health.status, 200);
    answer_clear(&health);
    sleep_seconds(1);
    allow_writing(true);
    wait_until_ready(&nodes[0]);
    wait_for_status(&nodes[0], running,
                    "completed"); /* the job must not fail although its rows could not be stored for a while */
    free(running);
    char *id = submit(&nodes[0], system_of(0, system));
    wait_for_status(&nodes[0], id, "completed");
    free(id);
}

/* Of every eight updates that start a job, five in succession fail at the commit, as in a serialization conflict. The
 * node makes only four attempts in succession. */
static void reservations_are_kept_when_commits_fail(void **state) {
    (void)state;
    submitted s = new_jobs(1);
    start_nodes(1);
    in_database("CREATE SEQUENCE luck");
    in_database("CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF nextval(''luck'') % 8 < 5 THEN "
                "RAISE EXCEPTION ''in the way'' USING ERRCODE=''40001''; END IF; RETURN NULL; END'");
    in_database("CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON jobs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN "
                "(old.status=0 AND new.status=1) EXECUTE FUNCTION fail()");
    free(submit_batch(&s));
    check_history(&s);
    assert_int_equal(in_database("SELECT count(*) FROM jobs WHERE status=2"), MEMBERS);
    assert_true(in_database("SELECT last_value FROM luck") > MEMBERS);
    free(s.ids);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_QUEUE(killing_the_database_loses_no_acknowledged_job),
        WITH_QUEUE(reservations_are_kept_when_commits_fail),
        WITH_QUEUE(nodes_survive_a_database_outage_longer_than_the_lease),
        WITH_QUEUE(a_node_of_a_read_only_database_is_not_ready),
    };
    return cmocka_run_group_tests_name("nodes_database", tests, start_queue_server, stop_queue_server);
}
