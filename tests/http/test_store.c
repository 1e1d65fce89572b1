/* test_store.c — the store without a daemon. Stores in memory, in a SQLite file and in PostgreSQL must satisfy the
 * common contract. Tests of files use SQLite only. */
#include "tests/http/store_fixture.h"

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

static store_status submit_for(const char *owner, const char *name, store_quota quota) {
    job made;
    job_submission sent = {.owner = owner, .name = name, .body = "{}", .length = 2, .quota = quota};
    store_status status = tested->kind->submit(tested, &sent, &made);
    job_clear(&made);
    return status;
}

static int64_t claim_of(char *owner, size_t room, int64_t *attempt) {
    job taken = {0};
    job_claim claim = {.jobs = &taken};
    if (tested->kind->claim(tested, &claim) != STORE_OK) return 0;
    snprintf(owner, room, "%s", taken.owner);
    int64_t number = taken.number;
    *attempt = taken.attempt;
    claim_clear(&claim);
    return number;
}

static void finish(int64_t number, int64_t attempt) {
    assert_int_equal(tested->kind->finish(tested, number, attempt, NULL,
                                          &(job_end){.status = JOB_COMPLETED, .progress = 1, .summary = "{}"}),
                     STORE_OK);
}

/* Hundreds of jobs of one owner delay the only job of another owner by at most one claim. */
static void owners_take_turns(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt;
    for (int k = 0; k < 300; k++) assert_int_equal(submit_for("many", "m", (store_quota){0}), STORE_OK);
    int64_t first = claim_of(owner, sizeof owner, &attempt);
    assert_string_equal(owner, "many");
    assert_int_equal(submit_for("one", "o", (store_quota){0}), STORE_OK);
    int64_t second = claim_of(owner, sizeof owner, &attempt); /* `many` has a running job; `one` has no running job */
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

static void a_quota_counts_active_jobs_and_stored_bytes(void **state) {
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
    assert_int_equal(tested->kind->begin(tested, number, attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(tested->kind->append(tested, number, attempt, &output, 0.5), STORE_OK);
    finish(number, attempt);
    store_counts counts;
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    const int alone = JOB_BASE_BYTES + 3; /* size of a job with its description and name */
    const int run = 160 + 4;              /* size of rows, header and summary */
    assert_int_equal(counts.bytes, 3 * alone + run);
    assert_int_equal(counts.queued, 2);
    assert_int_equal(submit_for("q", "x", (store_quota){.bytes = 3 * alone + run - 1}), STORE_FULL);
    assert_int_equal(submit_for("q", "x", (store_quota){.bytes = 3 * alone + run}), STORE_OK);
}

/* The batch and its members, with names and assignments, count toward `stored_bytes` until deletion. */
static void a_quota_limits_the_size_of_a_batch(void **state) {
    (void)state;
    batch_member members[3];
    job_batch made = {0};
    store_counts counts;
    const int size = (JOB_BASE_BYTES + 2 + 4 + 2) + 3 * (JOB_BASE_BYTES + 2 + 5); /* bytes of the batch and 3 members */
    for (int k = 0; k < 3; k++) members[k] = (batch_member){.name = "nm", .assignments = "[1,2]"};
    batch_submission sent = {
        .whole = {.owner = "q", .name = "nm", .body = "{  }", .length = 4, .quota = {.bytes = size - 1}},
        .plan = "{}",
        .members = members,
        .count = 3};
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_FULL);
    sent.whole.quota.bytes = size;
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.bytes, size);
    assert_int_equal(submit_for("q", "x", sent.whole.quota), STORE_FULL);
    assert_int_equal(tested->kind->delete_batch(tested, made.id, NULL, 100), STORE_OK);
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.bytes, 0);
    batch_clear(&made);
}

static void look_at_rows(int64_t number, int64_t rows) {
    row_chunk chunk;
    assert_int_equal(tested->kind->chunk_at(tested, number, rows, &chunk), STORE_ABSENT);
    if (rows == 0) return;
    assert_int_equal(tested->kind->chunk_at(tested, number, rows - 1, &chunk), STORE_OK);
    row_chunk_clear(&chunk);
}

/* The quota limits the stored rows of all runs of an owner. The end of a job is always stored. */
static void a_quota_limits_the_rows_of_runs(void **state) {
    (void)state;
    char owner[64];
    double values[20] = {0};
    int64_t rows, events, first_attempt, attempt;
    const store_quota quota = {.bytes = 2 * (JOB_BASE_BYTES + 3 + 2) + 160};
    job_output output = {.rows = {.first = 0, .rows = 10, .columns = 2, .values = values}};
    const job_end whole = {.status = JOB_COMPLETED, .progress = 1, .summary = "{}"};
    const job_end small = {.status = JOB_INCOMPLETE, .problem = "{}"};
    assert_int_equal(submit_for("q", "x", quota), STORE_OK);
    assert_int_equal(submit_for("q", "x", quota), STORE_OK);
    int64_t first = claim_of(owner, sizeof owner, &first_attempt), second = claim_of(owner, sizeof owner, &attempt);
    assert_int_equal(tested->kind->begin(tested, first, first_attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(tested->kind->begin(tested, second, attempt, "[1,2,3]", &rows, &events), STORE_OK);
    assert_int_equal(tested->kind->append(tested, first, first_attempt, &output, 0.5),
                     STORE_FULL); /* the header of the second job also counts toward the quota */
    assert_int_equal(tested->kind->finish(tested, second, attempt, NULL, &small), STORE_OK);
    job found[2];
    size_t count;
    bool more;
    assert_int_equal(tested->kind->list(tested, &(job_query){.by_status = true, .status = JOB_INCOMPLETE, .limit = 2},
                                        found, &count, &more),
                     STORE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tested->kind->delete (tested, found[0].id, NULL, &rows), STORE_OK);
    job_clear(&found[0]);
    for (; output.rows.first < 70; output.rows.first += 10) {
        assert_int_equal(tested->kind->append(tested, first, first_attempt, &output, 0.5), STORE_OK);
    }
    assert_int_equal(tested->kind->append(tested, first, first_attempt, &output, 0.7), STORE_FULL);
    assert_int_equal(tested->kind->finish(tested, first, first_attempt, &output, &whole), STORE_FULL);
    /* requeue the job without the rejected rows */
    assert_int_equal(tested->kind->requeue(tested, first, first_attempt, &output), STORE_OK);
    look_at_rows(first, 70);
    /* Simulate a process that ends between the rejection of rows and the end of the job. The next attempt runs the job
     * again up to this point. */
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), first);
    assert_int_equal(tested->kind->begin(tested, first, attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(rows, 70);
    assert_int_equal(tested->kind->append(tested, first, attempt, &output, 0.7), STORE_FULL);
    if (sqlite_path[0]) {
        tested->kind->close(tested);
        tested = open_url(store_url);
        assert_int_equal(claim_of(owner, sizeof owner, &attempt), first);
        assert_int_equal(tested->kind->append(tested, first, attempt, &output, 0.7), STORE_FULL);
    }
    assert_int_equal(tested->kind->finish(tested, first, attempt, NULL, &small), STORE_OK);
    look_at_rows(first, 70);
}

/* A job fails only after JOB_FAULTS_MAX failures of the store in succession. */
static void a_job_fails_after_many_failures_of_the_store_without_a_row(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt = 0, number = 0, rows, events;
    double values[2] = {0, 1};
    job_output output = {.rows = {.first = 0, .rows = 1, .columns = 2, .values = values}};
    assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
    for (int k = 0; k < JOB_FAULTS_MAX - 1; k++) {
        number = claim_of(owner, sizeof owner, &attempt);
        assert_true(number > 0);
        assert_int_equal(tested->kind->postpone(tested, number, attempt - 1), STORE_ABSENT);
        assert_int_equal(tested->kind->postpone(tested, number, attempt), STORE_OK);
    }
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), number);
    assert_int_equal(tested->kind->begin(tested, number, attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(tested->kind->append(tested, number, attempt, &output, 0.5),
                     STORE_OK); /* a stored row resets the count of failures */
    assert_int_equal(tested->kind->postpone(tested, number, attempt), STORE_OK);
    for (int k = 1; k < JOB_FAULTS_MAX; k++) {
        assert_int_equal(claim_of(owner, sizeof owner, &attempt), number);
        assert_int_equal(tested->kind->postpone(tested, number, attempt), STORE_OK);
    }
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), 0);
    job found[2];
    size_t count;
    bool more;
    job_query failed = {.by_status = true, .status = JOB_FAILED, .limit = 2};
    assert_int_equal(tested->kind->list(tested, &failed, found, &count, &more), STORE_OK);
    assert_int_equal(count, 1);
    assert_non_null(strstr(found[0].problem, "/problems/storage"));
    assert_true(found[0].finished > 0);
    job_clear(&found[0]);
}

static void old_jobs_are_deleted_oldest_first(void **state) {
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
    assert_int_equal(tested->kind->expire(tested, -1, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 0);
    const int alone = JOB_BASE_BYTES + 3; /* the summary of an ended job adds two bytes */
    assert_int_equal(tested->kind->expire(tested, -1, 7 * alone + 2 * 5, 100, &count), STORE_OK);
    assert_int_equal(count, 3);
    assert_int_equal(tested->kind->expire(tested, 0, 0, 2, &count), STORE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(tested->kind->expire(tested, 0, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 3); /* unfinished jobs are kept */
    store_counts counts;
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.queued, 2);
}

/* ---- batches ---- */

static void a_batch_is_created_counted_canceled_and_deleted(void **state) {
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
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    assert_int_equal(made.counts[JOB_QUEUED], 250);
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &again), STORE_EXISTS);
    assert_string_equal(again.id, made.id);
    batch_clear(&again);
    sent.whole.body = "{\"b\":2}";
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &again), STORE_CONFLICT);
    batch_clear(&again);
    job taken = {0};
    job_claim claim = {.jobs = &taken};
    size_t count;
    assert_int_equal(tested->kind->claim(tested, &claim), STORE_OK);
    assert_string_equal(claim.body, "{\"b\":1}");
    assert_string_equal(taken.assignments, "[\"a=1\"]");
    assert_string_equal(taken.batch, made.id);
    claim_clear(&claim);
    int64_t from = 0;
    assert_int_equal(tested->kind->cancel_batch(tested, made.id, "b", 100, &from, &again), STORE_ABSENT);
    for (from = 0; tested->kind->cancel_batch(tested, made.id, "a", 100, &from, &again) == STORE_EXISTS;)
        batch_clear(&again);
    assert_int_equal(again.counts[JOB_CANCELED], 249);
    assert_int_equal(again.counts[JOB_RUNNING], 1);
    batch_clear(&again);
    job found[100];
    size_t seen = 0;
    for (int64_t next = 0; seen < 250;) { /* pages follow the order of the members */
        assert_int_equal(tested->kind->members(tested, made.number, next, 100, found, &count), STORE_OK);
        assert_int_equal(count, seen < 200 ? 100 : 50);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(found[k].member, seen++);
            next = found[k].number + 1;
            job_clear(&found[k]);
        }
    }
    int rounds = 1;
    while (tested->kind->delete_batch(tested, made.id, "a", 100) == STORE_EXISTS) rounds++;
    assert_int_equal(rounds, 3);
    assert_int_equal(tested->kind->find_batch(tested, made.id, NULL, &again), STORE_ABSENT);
    store_counts counts;
    assert_int_equal(tested->kind->counts(tested, &counts), STORE_OK);
    assert_int_equal(counts.bytes, 0);
    batch_clear(&made);
}

/* Three jobs or batches with names of 100,000 bytes fill a page. A list reads only the columns that it returns. */
static void long_texts_end_a_page_early(void **state) {
    (void)state;
    enum { LISTED = 8, NAME = 100000 };
    static char name[NAME + 1];
    memset(name, 'n', NAME);
    batch_member members[LISTED];
    for (size_t k = 0; k < LISTED; k++) members[k] = (batch_member){.name = name, .assignments = "[]"};
    job_batch made, batches[LISTED];
    for (size_t k = 0; k < 4; k++) {
        batch_submission sent = {.whole = {.owner = "a", .name = name, .body = "{}", .length = 2},
                                 .plan = "{\"inputs\":[]}",
                                 .members = members,
                                 .count = LISTED / 4};
        assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
        batch_clear(&made);
    }
    job listed[LISTED];
    size_t count, seen = 0;
    bool more = true;
    for (job_query query = {.owner = "a", .limit = LISTED}; more; seen += count) {
        assert_int_equal(tested->kind->list(tested, &query, listed, &count, &more), STORE_OK);
        assert_int_equal(count, seen < 6 ? 3 : 2);
        for (size_t k = 0; k < count; k++) {
            assert_null(listed[k].assignments);
            query.before = listed[k].number;
            job_clear(&listed[k]);
        }
    }
    assert_int_equal(seen, LISTED);
    assert_int_equal(
        tested->kind->list_batches(tested, &(job_query){.owner = "a", .limit = LISTED}, batches, &count, &more),
        STORE_OK);
    assert_int_equal(count, 3);
    assert_true(more);
    while (count > 0) batch_clear(&batches[--count]);
    assert_int_equal(tested->kind->list_batches(tested, &(job_query){.limit = 2}, batches, &count, &more), STORE_OK);
    assert_int_equal(count, 2);
    assert_true(more);
    while (count > 0) batch_clear(&batches[--count]);
}

/* Each member has its own body, and the batch needs more than one INSERT statement. */
static void each_member_of_a_list_has_its_own_description(void **state) {
    (void)state;
    enum { LISTED = 3 * SQL_GROUP + 5 };
    static batch_member members[LISTED];
    static char bodies[LISTED][16];
    static job found[LISTED];
    job_batch made;
    for (size_t k = 0; k < LISTED; k++) {
        snprintf(bodies[k], sizeof bodies[k], "{\"%zu\":1}", k);
        members[k] = (batch_member){.name = k % 2 ? "odd" : "even", .body = bodies[k], .length = strlen(bodies[k])};
    }
    batch_submission sent = {.whole = {.owner = "a", .name = "list", .body = "[]", .length = 2},
                             .plan = "{}",
                             .members = members,
                             .count = LISTED};
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    size_t count, length;
    assert_int_equal(tested->kind->members(tested, made.number, 0, LISTED, found, &count), STORE_OK);
    assert_int_equal(count, LISTED);
    for (size_t k = 0; k < LISTED; k++) {
        char *body;
        assert_int_equal(found[k].member, k);
        assert_string_equal(found[k].name, members[k].name);
        assert_int_equal(tested->kind->description(tested, &found[k], &body, &length), STORE_OK);
        assert_string_equal(body, bodies[k]);
        free(body);
        job_clear(&found[k]);
    }
    batch_clear(&made);
}

static void check_batch(const char *id, int64_t queued, int64_t completed) {
    job_batch found;
    assert_int_equal(tested->kind->find_batch(tested, id, NULL, &found), STORE_OK);
    assert_int_equal(found.counts[JOB_QUEUED], queued);
    assert_int_equal(found.counts[JOB_COMPLETED], completed);
    batch_clear(&found);
}

static void finish_one(void) {
    char owner[64];
    int64_t attempt, number = claim_of(owner, sizeof owner, &attempt);
    assert_true(number > 0);
    finish(number, attempt);
}

/* The deletion of old jobs deletes a batch together with its last member. */
static void a_batch_is_deleted_with_its_members(void **state) {
    (void)state;
    batch_member members[5];
    job_batch made, again;
    size_t count;
    for (int k = 0; k < 5; k++) members[k] = (batch_member){.name = "m", .assignments = "[]"};
    batch_submission sent = {.whole = {.owner = "a", .name = "b", .key = "k", .body = "{}", .length = 2},
                             .plan = "{}",
                             .members = members,
                             .count = 5};
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &made), STORE_OK);
    for (int k = 0; k < 3; k++) finish_one();
    assert_int_equal(tested->kind->expire(tested, 0, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 3);
    check_batch(made.id, 2, 0);
    for (int k = 0; k < 2; k++) finish_one();
    assert_int_equal(tested->kind->expire(tested, 0, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(tested->kind->find_batch(tested, made.id, NULL, &again), STORE_ABSENT);
    /* the key was deleted with the batch */
    assert_int_equal(tested->kind->submit_batch(tested, &sent, &again), STORE_OK);
    batch_clear(&again);
    batch_clear(&made);
}

/* ---- CPU time ---- */

static double charged(const char *owner, int64_t day, double seconds) {
    double total = -1;
    assert_int_equal(tested->kind->charge(tested, owner, day, seconds, &total), STORE_OK);
    return total;
}

static void cpu_time_is_summed_for_each_owner_and_day(void **state) {
    (void)state;
    assert_true(charged("a", 20000, 0) == 0);
    assert_true(charged("a", 20000, 1.5) == 1.5);
    assert_true(charged("b", 20000, 8) == 8);
    assert_true(charged("a", 20000, 0.25) == 1.75);
    assert_true(charged("a", 20001, 0.5) == 0.5);
    assert_true(charged("b", 20000, 0) == 8);
}

/* ---- the schema ---- */

static void run_in_store(const char *sql) {
    if (!sqlite_path[0]) {
        postgres_ask(&server, database, sql);
        return;
    }
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(sqlite_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void set_schema(int version) {
    char sql[96];
    snprintf(sql, sizeof sql, sqlite_path[0] ? "PRAGMA user_version=%d" : "UPDATE hamel_schema SET version=%d",
             version);
    run_in_store(sql);
}

/* A rejected store must not be changed. */
static void check_refused(int version, const char *wanted) {
    char message[512] = "";
    const char *where = sqlite_path[0] ? sqlite_path : database;
    set_schema(version);
    assert_null(store_open(store_url, &(store_options){.log = &quiet, .metrics = &counters, .lease_seconds = 30},
                           message, sizeof message));
    if (!strstr(message, wanted) || !strstr(message, where)) print_error("%s\n", message);
    assert_non_null(strstr(message, where));
    assert_non_null(strstr(message, wanted));
    set_schema(SQL_SCHEMA_VERSION);
}

static void stores_of_other_versions_are_rejected(void **state) {
    (void)state;
    assert_int_equal(submit_for("a", "kept", (store_quota){0}), STORE_OK);
    tested->kind->close(tested);
    check_refused(7, "written by a version before 0.1.0 (schema 7, expected 101); save its results with that version, "
                     "then start with an empty store");
    check_refused(102, "written by a newer release (schema 102, expected 101); use that release");
    tested = open_url(store_url);
    finish_one();
}

static void a_status_that_does_not_exist_is_rejected(void **state) {
    (void)state;
    sqlite3 *db = NULL;
    assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
    if (!sqlite_path[0]) {
        postgres_ask(&server, database,
                     "DO 'BEGIN UPDATE jobs SET status=6; RAISE division_by_zero; "
                     "EXCEPTION WHEN check_violation THEN NULL; END'");
        return;
    }
    assert_int_equal(sqlite3_open(sqlite_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE jobs SET status=6", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    sqlite3_close(db);
}

/* ---- query plans of SQLite ---- */

/* A page of a list must be read from an index, starting at the first row of the page. Other rows must not be read. The
 * inner statement `picked` selects the rows and must not sort. The outer statement may sort and sum the rows of the
 * page, which are at most a few hundred. */
static void check_plan(sqlite3 *db, unsigned statement) {
    static const char *const tables[] = {"SCAN jobs", "SCAN batches", "SCAN member_counts"};
    char room[SQL_TEXT_BYTES], explain[SQL_TEXT_BYTES + 32];
    const char *text = sql_statement(statement, room);
    sqlite3_stmt *plan;
    int picks = 0; /* id of the plan step that selects the rows; 0 for the whole statement */
    snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", text);
    assert_int_equal(sqlite3_prepare_v2(db, explain, -1, &plan, NULL), SQLITE_OK);
    bool found = strstr(text, "AS picked") == NULL;
    while (sqlite3_step(plan) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(plan, 3);
        if (!found && strstr(step, "picked")) {
            picks = sqlite3_column_int(plan, 0);
            found = true;
        }
        bool bad = found && sqlite3_column_int(plan, 1) == picks && strstr(step, "TEMP B-TREE");
        for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
            bad = bad || strncmp(step, tables[k], strlen(tables[k])) == 0;
        if (bad) print_error("%s: %s\n", explain, step);
        assert_false(bad);
    }
    assert_true(found);
    sqlite3_finalize(plan);
}

static void lists_need_no_sort_and_no_full_scan(void **state) {
    (void)state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(sqlite_path, &db), SQLITE_OK);
    for (unsigned filters = 0; filters < SQL_FILTERS; filters++) check_plan(db, SQL_JOB_LISTS + filters);
    check_plan(db, SQL_MEMBERS);
    check_plan(db, SQL_LIST_BATCHES);
    check_plan(db, SQL_LIST_OWN_BATCHES);
    check_plan(db, SQL_COUNT_MEMBERS);
    check_plan(db, SQL_MEMBER_BEYOND);
    sqlite3_close(db);
}

/* The test deletes the description to simulate a damaged file. */
static void a_job_without_description_fails_and_the_next_one_runs(void **state) {
    (void)state;
    char owner[64];
    sqlite3 *db = NULL;
    for (int k = 0; k < 4; k++) assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
    assert_int_equal(sqlite3_open(sqlite_path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM descriptions WHERE job<3", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    int64_t attempt;
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), 3);
    job found[4];
    size_t count;
    bool more;
    job_query failed = {.by_status = true, .status = JOB_FAILED, .limit = 4};
    assert_int_equal(tested->kind->list(tested, &failed, found, &count, &more), STORE_OK);
    assert_int_equal(count, 2);
    for (size_t k = 0; k < count; k++) {
        assert_non_null(strstr(found[k].problem, "missing in the store"));
        job_clear(&found[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_EACH(owners_take_turns),
        ON_EACH(within_an_owner_the_oldest_is_first),
        ON_EACH(a_quota_counts_active_jobs_and_stored_bytes),
        ON_EACH(a_quota_limits_the_size_of_a_batch),
        ON_EACH(a_quota_limits_the_rows_of_runs),
        ON_EACH(a_job_fails_after_many_failures_of_the_store_without_a_row),
        ON_EACH(old_jobs_are_deleted_oldest_first),
        ON_EACH(a_batch_is_created_counted_canceled_and_deleted),
        ON_EACH(each_member_of_a_list_has_its_own_description),
        ON_EACH(long_texts_end_a_page_early),
        ON_EACH(a_batch_is_deleted_with_its_members),
        ON_EACH(cpu_time_is_summed_for_each_owner_and_day),
        ON(sqlite, stores_of_other_versions_are_rejected),
        ON(postgresql, stores_of_other_versions_are_rejected),
        ON(sqlite, a_status_that_does_not_exist_is_rejected),
        ON(postgresql, a_status_that_does_not_exist_is_rejected),
        ON(sqlite, lists_need_no_sort_and_no_full_scan),
        ON(sqlite, a_job_without_description_fails_and_the_next_one_runs),
    };
    return cmocka_run_group_tests_name("store", tests, start_server, stop_server);
}
