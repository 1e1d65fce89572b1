/* test_store.c — the store by itself: whose turn it is, quotas, migration from the first release's file, forgetting what
 * is old. */
#include "server/jobs/store.h"

#include "server/log.h"
#include "server/metrics.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static server_log quiet;
static metrics counters;
static store *s;

static store *open_url(const char *url) {
    char message[512] = "";
    store *opened = store_open(url, &quiet, &counters, message, sizeof message);
    if (!opened) print_error("%s\n", message);
    assert_non_null(opened);
    return opened;
}

static int open_memory(void **state) {
    (void)state;
    log_init(&quiet, LOG_SILENT, STDERR_FILENO);
    s = open_url("memory:");
    return 0;
}

static int close_memory(void **state) {
    (void)state;
    s->kind->close(s);
    return 0;
}

static store_status submit_for(const char *owner, const char *name, store_quota quota) {
    job made;
    job_submission sent = {.owner = owner, .name = name, .body = "{}", .length = 2, .quota = quota};
    store_status status = s->kind->submit(s, &sent, &made);
    job_clear(&made);
    return status;
}

static int64_t claim_of(char *owner, size_t room, int64_t *attempt) {
    job taken;
    char *body;
    size_t length;
    store_status status = s->kind->claim(s, &taken, &body, &length);
    if (status != STORE_OK) return 0;
    snprintf(owner, room, "%s", taken.owner);
    int64_t number = taken.number;
    *attempt = taken.attempt;
    job_clear(&taken);
    free(body);
    return number;
}

static void finish(int64_t number, int64_t attempt) {
    assert_int_equal(
        s->kind->finish(s, number, attempt, NULL, &(job_end){.status = JOB_COMPLETED, .progress = 1, .summary = "{}"}),
        STORE_OK);
}

/* A thousand jobs of one owner delay the only one of another by one turn, not by a thousand. */
static void owners_take_turns(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt;
    for (int k = 0; k < 1000; k++) assert_int_equal(submit_for("many", "m", (store_quota){0}), STORE_OK);
    int64_t first = claim_of(owner, sizeof owner, &attempt);
    assert_string_equal(owner, "many");
    assert_int_equal(submit_for("one", "o", (store_quota){0}), STORE_OK);
    int64_t second = claim_of(owner, sizeof owner, &attempt); /* many has one running, one has none */
    assert_string_equal(owner, "one");
    finish(second, attempt);
    finish(first, 1);
    int turns[2] = {0};
    for (int k = 0; k < 10; k++) assert_int_equal(submit_for("one", "o", (store_quota){0}), STORE_OK);
    for (int k = 0; k < 20; k++) {
        int64_t number = claim_of(owner, sizeof owner, &attempt);
        turns[strcmp(owner, "one") == 0]++;
        finish(number, attempt);
    }
    assert_int_equal(turns[0], 10);
    assert_int_equal(turns[1], 10);
}

static void within_an_owner_the_oldest_is_first(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt, last = 0;
    for (int k = 0; k < 5; k++) assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
    for (int k = 0; k < 5; k++) {
        int64_t number = claim_of(owner, sizeof owner, &attempt);
        assert_true(number > last);
        last = number;
    }
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), 0);
}

static void a_quota_counts_what_is_queued_or_running_and_what_is_stored(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt;
    store_quota two = {.active = 2};
    assert_int_equal(submit_for("q", "x", two), STORE_OK);
    assert_int_equal(submit_for("q", "x", two), STORE_OK);
    assert_int_equal(submit_for("q", "x", two), STORE_FULL);
    assert_int_equal(submit_for("rest", "x", two), STORE_OK);
    int64_t number = claim_of(owner, sizeof owner, &attempt);
    assert_int_equal(submit_for("q", "x", two), STORE_FULL);
    double values[20] = {0};
    int64_t rows;
    int64_t events;
    job_output output = {.rows = {.first = 0, .rows = 10, .columns = 2, .values = values}};
    assert_int_equal(s->kind->begin(s, number, attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(s->kind->append(s, number, attempt, &output, 0.5), STORE_OK);
    finish(number, attempt);
    store_counts counts;
    assert_int_equal(s->kind->counts(s, &counts), STORE_OK);
    assert_int_equal(counts.bytes, 3 * 2 + 160);
    assert_int_equal(counts.queued, 2);
    assert_int_equal(submit_for("q", "x", (store_quota){.bytes = 165}), STORE_FULL);
    assert_int_equal(submit_for("q", "x", (store_quota){.bytes = 166}), STORE_OK);
}

static void what_is_old_is_forgotten_oldest_first(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt;
    size_t count;
    for (int k = 0; k < 10; k++) {
        assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
        if (k >= 8) continue;
        int64_t number = claim_of(owner, sizeof owner, &attempt);
        finish(number, attempt);
    }
    assert_int_equal(s->kind->expire(s, -1, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(s->kind->expire(s, -1, 14, 100, &count), STORE_OK); /* each has two bytes: 20 of them */
    assert_int_equal(count, 3);
    assert_int_equal(s->kind->expire(s, 0, 0, 2, &count), STORE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(s->kind->expire(s, 0, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 3); /* those that have not ended stay */
    store_counts counts;
    assert_int_equal(s->kind->counts(s, &counts), STORE_OK);
    assert_int_equal(counts.queued, 2);
}

/* ---- batches ---- */

static void a_batch_is_made_counted_canceled_and_forgotten(void **state) {
    (void)state;
    batch_member members[250];
    job_batch made, again;
    for (int k = 0; k < 250; k++) members[k] = (batch_member){.name = "m", .assignments = "[\"a=1\"]"};
    batch_submission sent = {
        .whole = {.owner = "a", .name = "sweep", .key = "k", .body = "{\"b\":1}", .length = 7},
        .plan = "{}",
        .members = members,
        .count = 250,
    };
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
    assert_int_equal(made.counts[JOB_QUEUED], 250);
    assert_int_equal(s->kind->submit_batch(s, &sent, &again), STORE_EXISTS);
    assert_string_equal(again.id, made.id);
    batch_clear(&again);
    sent.whole.body = "{\"b\":2}";
    assert_int_equal(s->kind->submit_batch(s, &sent, &again), STORE_CONFLICT);
    batch_clear(&again);
    job taken;
    char *body;
    size_t length, count;
    assert_int_equal(s->kind->claim(s, &taken, &body, &length), STORE_OK);
    assert_string_equal(body, "{\"b\":1}");
    assert_string_equal(taken.assignments, "[\"a=1\"]");
    assert_string_equal(taken.batch, made.id);
    free(body);
    job_clear(&taken);
    assert_int_equal(s->kind->cancel_batch(s, made.id, "b", &again), STORE_ABSENT);
    assert_int_equal(s->kind->cancel_batch(s, made.id, "a", &again), STORE_OK);
    assert_int_equal(again.counts[JOB_CANCELED], 249);
    assert_int_equal(again.counts[JOB_RUNNING], 1);
    batch_clear(&again);
    job found[100];
    assert_int_equal(s->kind->members(s, made.number, 200, 100, found, &count), STORE_OK);
    assert_int_equal(count, 50);
    for (size_t k = 0; k < count; k++) {
        assert_int_equal(found[k].member, 200 + k);
        job_clear(&found[k]);
    }
    int rounds = 1;
    while (s->kind->forget_batch(s, made.id, "a", 100) == STORE_EXISTS) rounds++;
    assert_int_equal(rounds, 3);
    assert_int_equal(s->kind->find_batch(s, made.id, NULL, &again), STORE_ABSENT);
    store_counts counts;
    assert_int_equal(s->kind->counts(s, &counts), STORE_OK);
    assert_int_equal(counts.bytes, 0);
    batch_clear(&made);
}

/* ---- an older file ---- */

/* As the first release made it, with a job of each kind that matters. */
static const char first_release[] =
    "CREATE TABLE jobs(number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " status INTEGER NOT NULL, progress REAL NOT NULL DEFAULT 0,"
    " created INTEGER NOT NULL, started INTEGER NOT NULL DEFAULT 0, finished INTEGER NOT NULL DEFAULT 0,"
    " revision INTEGER NOT NULL DEFAULT 1, attempt INTEGER NOT NULL DEFAULT 0,"
    " crashes INTEGER NOT NULL DEFAULT 0, fruitless INTEGER NOT NULL DEFAULT 0,"
    " cancel INTEGER NOT NULL DEFAULT 0, key TEXT UNIQUE, header TEXT, summary TEXT, problem TEXT) STRICT;"
    "CREATE INDEX jobs_by_status ON jobs(status, number);"
    "CREATE INDEX jobs_by_name ON jobs(name, number);"
    "CREATE INDEX jobs_by_name_and_status ON jobs(name, status, number);"
    "CREATE TABLE descriptions(job INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;"
    "CREATE TABLE chunks(job INTEGER NOT NULL, first INTEGER NOT NULL, rows INTEGER NOT NULL,"
    " columns INTEGER NOT NULL, t_last REAL NOT NULL, data BLOB NOT NULL, PRIMARY KEY(job, first)) STRICT;"
    "INSERT INTO jobs(id, name, status, created, finished, key, summary)"
    " VALUES('00000000000000000000000000000001', 'old', 2, 1000, 2000, 'key', '{}');"
    "INSERT INTO descriptions VALUES(1, CAST('{\"old\":1}' AS BLOB));"
    "INSERT INTO chunks VALUES(1, 0, 1, 2, 0.0, zeroblob(16));"
    "INSERT INTO jobs(id, name, status, created) VALUES('00000000000000000000000000000002', 'ran', 1, 1000);"
    "INSERT INTO descriptions VALUES(2, CAST('{}' AS BLOB));"
    "PRAGMA user_version=1;";

static void a_file_of_the_first_release_is_taken_over(void **state) {
    (void)state;
    char path[] = P_tmpdir "/hamel-store-XXXXXX", url[64], name[64];
    int file = mkstemp(path);
    sqlite3 *db = NULL;
    assert_true(file >= 0);
    close(file);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, first_release, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    snprintf(url, sizeof url, "sqlite:%s", path);
    for (int round = 0; round < 2; round++) { /* the second time there is nothing left to do */
        store *old = open_url(url);
        job found;
        row_chunk chunk;
        char *body;
        size_t length;
        assert_int_equal(old->kind->find(old, "00000000000000000000000000000001", "", &found), STORE_OK);
        assert_string_equal(found.name, "old");
        assert_int_equal(found.status, JOB_COMPLETED);
        assert_int_equal(old->kind->description(old, &found, &body, &length), STORE_OK);
        assert_string_equal(body, "{\"old\":1}");
        free(body);
        assert_int_equal(old->kind->chunk_at(old, found.number, 0, &chunk), STORE_OK);
        assert_int_equal(chunk.columns, 2);
        row_chunk_clear(&chunk);
        job_clear(&found);
        job_submission sent = {.owner = "", .key = "key", .name = "old", .body = "{\"old\":1}", .length = 9};
        assert_int_equal(old->kind->known_key(old, &sent, &found), STORE_EXISTS);
        job_clear(&found);
        store_counts counts;
        assert_int_equal(old->kind->counts(old, &counts), STORE_OK);
        assert_int_equal(counts.queued, 1); /* what ran goes on */
        assert_int_equal(counts.bytes, 9 + 16 + 2);
        old->kind->close(old);
    }
    static const char *const ends[] = {"", ".lock", ".crash", "-wal", "-shm"};
    for (size_t k = 0; k < 5; k++) {
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
}

/* Descriptions that a damaged file has lost. */
static void a_job_without_description_fails_and_the_next_one_runs(void **state) {
    (void)state;
    char path[] = P_tmpdir "/hamel-store-XXXXXX", url[64], name[64], owner[64];
    int file = mkstemp(path);
    sqlite3 *db = NULL;
    assert_true(file >= 0);
    close(file);
    snprintf(url, sizeof url, "sqlite:%s", path);
    store *memory = s;
    s = open_url(url);
    for (int k = 0; k < 4; k++) assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM descriptions WHERE job<3", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    int64_t attempt;
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), 3);
    job found[4];
    size_t count;
    job_query failed = {.by_status = true, .status = JOB_FAILED, .limit = 4};
    assert_int_equal(s->kind->list(s, &failed, found, &count), STORE_OK);
    assert_int_equal(count, 2);
    for (size_t k = 0; k < count; k++) {
        assert_non_null(strstr(found[k].problem, "missing in the store"));
        job_clear(&found[k]);
    }
    s->kind->close(s);
    s = memory;
    static const char *const ends[] = {"", ".lock", ".crash", "-wal", "-shm"};
    for (size_t k = 0; k < 5; k++) {
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(owners_take_turns, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(within_an_owner_the_oldest_is_first, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_quota_counts_what_is_queued_or_running_and_what_is_stored, open_memory,
                                        close_memory),
        cmocka_unit_test_setup_teardown(what_is_old_is_forgotten_oldest_first, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_batch_is_made_counted_canceled_and_forgotten, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_job_without_description_fails_and_the_next_one_runs, open_memory,
                                        close_memory),
        cmocka_unit_test_setup_teardown(a_file_of_the_first_release_is_taken_over, open_memory, close_memory),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
