/* queue_nodes.c — several daemons with one queue in PostgreSQL, their jobs, and checks of the queue. */
#include "tests/fault/queue_nodes.h"
#include "tests/fault/store_files.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

test_postgres queue_server;
char queue_database[16], queue_url[POSTGRES_URL_BYTES], lease[16];
test_daemon nodes[NODES];
size_t node_count;
static unsigned seed = 1;

double lease_seconds(void) {
    return long_tests() ? 30 : 2;
}

int64_t in_database(const char *sql) {
    return postgres_ask(&queue_server, queue_database, sql);
}

void start_node(size_t k, bool again) {
    const char *const arguments[] = {"--store", queue_url, "--lease", lease, "--workers", "2", NULL};
    if (again) {
        daemon_start_again(&nodes[k], arguments);
    } else {
        daemon_start(&nodes[k], arguments);
    }
}

int new_queue(void **state) {
    static int number;
    (void)state;
    snprintf(queue_database, sizeof queue_database, "n%d", number++);
    postgres_database(&queue_server, queue_database, queue_url);
    snprintf(lease, sizeof lease, "%g", lease_seconds());
    node_count = 0;
    return 0;
}

void start_nodes(size_t count) {
    for (node_count = 0; node_count < count; node_count++) start_node(node_count, false);
}

int end_nodes(void **state) {
    (void)state;
    for (size_t k = 0; k < node_count; k++) {
        if (nodes[k].pid > 0) kill(nodes[k].pid, SIGCONT);
        daemon_remove(&nodes[k]);
    }
    node_count = 0;
    return 0;
}

/* Returns the kind of job i. Kind 0 has 11 rows and kind 1 several thousand rows. One job in twenty is of kind 2, which
 * takes about a second. */
static size_t kind_of(size_t i) {
    return i % 20 == 7 ? 2 : i % 2;
}

const char *system_of(size_t i, char *out) {
    static const double samples[] = {11, 2001, 30001};
    static const char *const names[] = {"kind0", "kind1", "kind2"};
    size_t kind = kind_of(i);
    return oscillator(out, SYSTEM_BYTES, names[kind], samples[kind], samples[kind]);
}

void *submit_jobs(void *context) {
    submitted *s = context;
    char system[SYSTEM_BYTES];
    for (size_t k = 0; s->count < s->wanted && !atomic_load(&s->stop); k++) {
        test_daemon now = nodes[k % node_count];
        answer a = ask(&now, "POST", "/v1/jobs", json_type, system_of(s->count, system));
        const char *id = a.status == 201 ? strstr(a.body, "\"id\":\"") : NULL;
        if (id) {
            snprintf(s->ids[s->count++], sizeof s->ids[0], "%.32s", id + 6);
        } else {
            s->unanswered++;
            sleep_seconds(0.02);
        }
        answer_clear(&a);
    }
    return NULL;
}

char *submit_batch(submitted *s) {
    char system[SYSTEM_BYTES], *body = calloc(MEMBERS + 1, SYSTEM_BYTES), *end = body;
    assert_non_null(body);
    system_of(0, system);
    for (size_t k = 0; k < MEMBERS; k++) {
        end = stpcpy(stpcpy(end, k ? "," : "{\"systems\":["), system);
    }
    stpcpy(end, "]}");
    cJSON *made = ask_json(&nodes[0], "POST", "/v1/batches", json_type, body, 201);
    char *id = strdup(json_text_of(made, "id"));
    cJSON_Delete(made);
    free(body);
    s->members = MEMBERS;
    return id;
}

void wait_until_ready(const test_daemon *d) {
    double until = hang_time();
    long status = 0;
    while (status != 200 && now_seconds() < until) {
        answer a = ask(d, "GET", "/readyz", NULL, NULL);
        status = a.status;
        answer_clear(&a);
        if (status != 200) sleep_seconds(0.05);
    }
    assert_int_equal(status, 200);
}

submitted new_jobs(size_t wanted) {
    submitted s = {.ids = calloc(wanted, sizeof *s.ids), .wanted = wanted};
    assert_non_null(s.ids);
    return s;
}

void wait_for_number(const char *sql, int64_t wanted) {
    double until = hang_time();
    int64_t found;
    while ((found = in_database(sql)) != wanted && now_seconds() < until) sleep_seconds(0.1);
    if (found != wanted) print_error("%s: %lld, not %lld\n", sql, (long long)found, (long long)wanted);
    assert_int_equal(found, wanted);
}

void check_history(const submitted *s) {
    double until = hang_time();
    /* extend the deadline whenever the number of open jobs has decreased */
    for (int64_t left = INT64_MAX, before; left > 0; until = left < before ? hang_time() : until) {
        before = left;
        left = in_database("SELECT count(*) FROM jobs WHERE status<2");
        assert_true(now_seconds() < until);
        if (left > 0) sleep_seconds(0.1);
    }
    int64_t all = in_database("SELECT count(*) FROM jobs") - (int64_t)s->members;
    assert_true(all >= (int64_t)s->count && all <= (int64_t)(s->count + s->unanswered));
    assert_int_equal(in_database("SELECT count(*) FROM jobs WHERE status<>2"), 0);
    assert_int_equal(in_database("SELECT count(*) FROM jobs WHERE CAST(CAST(summary AS json)->>'rows' AS BIGINT)<>"
                                 "(SELECT sum(rows) FROM chunks WHERE job=number)"),
                     0);
    assert_int_equal(in_database("SELECT count(*) FROM chunks AS a JOIN chunks AS b ON a.job=b.job AND "
                                 "a.first<b.first AND a.first+a.rows>b.first"),
                     0);
    assert_int_equal(in_database("SELECT count(*) FROM (SELECT queued, running FROM owners) AS o WHERE queued<>0 OR "
                                 "running<>0"),
                     0);
    assert_int_equal(in_database(MISCOUNTED_MEMBERS), 0);
    char path[PATH_BYTES];
    wait_until_ready(&nodes[0]);
    for (size_t i = 0; i < s->count; i += 1 + s->count / 100) {
        snprintf(path, sizeof path, "/v1/jobs/%s", s->ids[i]);
        cJSON_Delete(ask_json(&nodes[0], "GET", path, NULL, NULL, 200));
    }
}

void check_rows(const submitted *s) {
    char system[SYSTEM_BYTES], path[PATH_BYTES];
    const char *headers[] = {"Content-Type: application/json", "Accept: text/csv", NULL};
    int64_t different = in_database("SELECT count(*) FROM (SELECT name FROM (SELECT name, job, md5(string_agg(data, "
                                    "''::bytea ORDER BY first)) AS digest FROM chunks, jobs WHERE job=number GROUP BY "
                                    "name, job) AS results GROUP BY name HAVING min(digest)<>max(digest)) AS kinds");
    assert_int_equal(different, 0);
    for (size_t kind = 0; kind < 3; kind++) {
        size_t i = 0;
        while (i < s->count && kind_of(i) != kind) i++;
        if (i == s->count) continue;
        answer expected = ask(&nodes[0], "POST", "/v1/simulations", headers, system_of(i, system));
        snprintf(path, sizeof path, "/v1/jobs/%s/results", s->ids[i]);
        answer stored = ask(&nodes[0], "GET", path, (const char *const[]){"Accept: text/csv", NULL}, NULL);
        assert_int_equal(expected.status, 200);
        assert_int_equal(stored.status, 200);
        assert_int_equal(stored.length, expected.length);
        assert_memory_equal(stored.body, expected.body, stored.length);
        answer_clear(&stored);
        answer_clear(&expected);
    }
}

double random_seconds(double least, double most) {
    return least + (most - least) * ((double)rand_r(&seed) / RAND_MAX);
}

size_t random_node(void) {
    return (size_t)rand_r(&seed) % NODES;
}

int start_queue_server(void **state) {
    (void)state;
    postgres_start(&queue_server, "");
    return 0;
}

int stop_queue_server(void **state) {
    (void)state;
    postgres_stop(&queue_server);
    return 0;
}
