/* test_store.c — the store by itself. What every store promises is asked of each kind of them: in memory, in a SQLite
 * file, in PostgreSQL; what concerns SQLite's files of that alone. */
#include "server/jobs/store_sql.h"

#include "server/log.h"
#include "server/metrics.h"
#include "tests/http/postgres.h"

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
static test_postgres server;
static store *s;
static char sqlite_path[64], store_url[POSTGRES_URL_BYTES], database[16];

static store *open_url(const char *url) {
    char message[512] = "";
    store *opened = store_open(url, &(store_options){.log = &quiet, .metrics = &counters, .lease_seconds = 30}, message,
                               sizeof message);
    if (!opened) print_error("%s\n", message);
    assert_non_null(opened);
    return opened;
}

static void remove_file(const char *path) {
    static const char *const ends[] = {"", ".lock", ".crash", "-wal", "-shm"};
    char name[96];
    for (size_t k = 0; k < 5; k++) {
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
}

static void new_file(char *path, char *url, size_t room) {
    snprintf(path, sizeof sqlite_path, "%s", P_tmpdir "/hamel-store-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(url, room, "sqlite:%s", path);
}

/* An empty store of the kind that *state names. */
static int open_fresh(void **state) {
    static int databases;
    const char *kind = *state;
    snprintf(store_url, sizeof store_url, "memory:");
    sqlite_path[0] = '\0';
    if (strcmp(kind, "sqlite") == 0) new_file(sqlite_path, store_url, sizeof store_url);
    snprintf(database, sizeof database, "s%d", databases++);
    if (strcmp(kind, "postgresql") == 0) postgres_database(&server, database, store_url);
    s = open_url(store_url);
    return 0;
}

static int close_it(void **state) {
    (void)state;
    s->kind->close(s);
    if (sqlite_path[0]) remove_file(sqlite_path);
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

/* Hundreds of jobs of one owner delay the only one of another by one turn, not by all of them. */
static void owners_take_turns(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt;
    for (int k = 0; k < 300; k++) assert_int_equal(submit_for("many", "m", (store_quota){0}), STORE_OK);
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
    const int alone = JOB_BASE_BYTES + 3, run = 160 + 4; /* description and name; rows, header and summary */
    assert_int_equal(counts.bytes, 3 * alone + run);
    assert_int_equal(counts.queued, 2);
    assert_int_equal(submit_for("q", "x", (store_quota){.bytes = 3 * alone + run - 1}), STORE_FULL);
    assert_int_equal(submit_for("q", "x", (store_quota){.bytes = 3 * alone + run}), STORE_OK);
}

/* Names, assignments and the batch itself are counted, and go with them. */
static void a_quota_bounds_what_a_batch_stores(void **state) {
    (void)state;
    batch_member members[3];
    job_batch made = {0};
    store_counts counts;
    const int size = (JOB_BASE_BYTES + 2 + 4 + 2) + 3 * (JOB_BASE_BYTES + 2 + 5); /* name, body, plan */
    for (int k = 0; k < 3; k++) members[k] = (batch_member){.name = "nm", .assignments = "[1,2]"};
    batch_submission sent = {
        .whole = {.owner = "q", .name = "nm", .body = "{  }", .length = 4, .quota = {.bytes = size - 1}},
        .plan = "{}",
        .members = members,
        .count = 3};
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_FULL);
    sent.whole.quota.bytes = size;
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
    assert_int_equal(s->kind->counts(s, &counts), STORE_OK);
    assert_int_equal(counts.bytes, size);
    assert_int_equal(submit_for("q", "x", sent.whole.quota), STORE_FULL);
    assert_int_equal(s->kind->forget_batch(s, made.id, NULL, 100), STORE_OK);
    assert_int_equal(s->kind->counts(s, &counts), STORE_OK);
    assert_int_equal(counts.bytes, 0);
    batch_clear(&made);
}

static void look_at_rows(int64_t number, int64_t rows) {
    row_chunk chunk;
    assert_int_equal(s->kind->chunk_at(s, number, rows, &chunk), STORE_ABSENT);
    if (rows == 0) return;
    assert_int_equal(s->kind->chunk_at(s, number, rows - 1, &chunk), STORE_OK);
    row_chunk_clear(&chunk);
}

/* Rows are stored as far as the quota goes, which is that of the owner with all its runs; the end is always stored. */
static void a_quota_bounds_what_runs_store(void **state) {
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
    assert_int_equal(s->kind->begin(s, first, first_attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(s->kind->begin(s, second, attempt, "[1,2,3]", &rows, &events), STORE_OK);
    assert_int_equal(s->kind->append(s, first, first_attempt, &output, 0.5), STORE_FULL); /* the second's header */
    assert_int_equal(s->kind->finish(s, second, attempt, NULL, &small), STORE_OK);
    job found[2];
    size_t count;
    bool more;
    assert_int_equal(
        s->kind->list(s, &(job_query){.by_status = true, .status = JOB_INCOMPLETE, .limit = 2}, found, &count, &more),
        STORE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(s->kind->forget(s, found[0].id, NULL, &rows), STORE_OK);
    job_clear(&found[0]);
    for (; output.rows.first < 70; output.rows.first += 10) {
        assert_int_equal(s->kind->append(s, first, first_attempt, &output, 0.5), STORE_OK);
    }
    assert_int_equal(s->kind->append(s, first, first_attempt, &output, 0.7), STORE_FULL);
    assert_int_equal(s->kind->finish(s, first, first_attempt, &output, &whole), STORE_FULL);
    assert_int_equal(s->kind->hand_back(s, first, first_attempt, &output), STORE_OK); /* without these rows */
    look_at_rows(first, 70);
    /* The end of the process between what is refused and the end of the job: it is run again, up to there. */
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), first);
    assert_int_equal(s->kind->begin(s, first, attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(rows, 70);
    assert_int_equal(s->kind->append(s, first, attempt, &output, 0.7), STORE_FULL);
    if (sqlite_path[0]) {
        s->kind->close(s);
        s = open_url(store_url);
        assert_int_equal(claim_of(owner, sizeof owner, &attempt), first);
        assert_int_equal(s->kind->append(s, first, attempt, &output, 0.7), STORE_FULL);
    }
    assert_int_equal(s->kind->finish(s, first, attempt, NULL, &small), STORE_OK);
    look_at_rows(first, 70);
}

/* What the store fails to take is not the run's fault, unless it is so each time. */
static void a_job_is_given_up_after_many_failures_of_the_store_without_a_row(void **state) {
    (void)state;
    char owner[64];
    int64_t attempt = 0, number = 0, rows, events;
    double values[2] = {0, 1};
    job_output output = {.rows = {.first = 0, .rows = 1, .columns = 2, .values = values}};
    assert_int_equal(submit_for("a", "x", (store_quota){0}), STORE_OK);
    for (int k = 0; k < JOB_FAULTS_MAX - 1; k++) {
        number = claim_of(owner, sizeof owner, &attempt);
        assert_true(number > 0);
        assert_int_equal(s->kind->postpone(s, number, attempt - 1), STORE_ABSENT);
        assert_int_equal(s->kind->postpone(s, number, attempt), STORE_OK);
    }
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), number);
    assert_int_equal(s->kind->begin(s, number, attempt, "{}", &rows, &events), STORE_OK);
    assert_int_equal(s->kind->append(s, number, attempt, &output, 0.5), STORE_OK); /* a row: it counts anew */
    assert_int_equal(s->kind->postpone(s, number, attempt), STORE_OK);
    for (int k = 1; k < JOB_FAULTS_MAX; k++) {
        assert_int_equal(claim_of(owner, sizeof owner, &attempt), number);
        assert_int_equal(s->kind->postpone(s, number, attempt), STORE_OK);
    }
    assert_int_equal(claim_of(owner, sizeof owner, &attempt), 0);
    job found[2];
    size_t count;
    bool more;
    job_query failed = {.by_status = true, .status = JOB_FAILED, .limit = 2};
    assert_int_equal(s->kind->list(s, &failed, found, &count, &more), STORE_OK);
    assert_int_equal(count, 1);
    assert_non_null(strstr(found[0].problem, "/problems/storage"));
    assert_true(found[0].finished > 0);
    job_clear(&found[0]);
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
    const int alone = JOB_BASE_BYTES + 3; /* and of those that have ended two bytes of a summary */
    assert_int_equal(s->kind->expire(s, -1, 7 * alone + 2 * 5, 100, &count), STORE_OK);
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
    int64_t from = 0;
    assert_int_equal(s->kind->cancel_batch(s, made.id, "b", 100, &from, &again), STORE_ABSENT);
    for (from = 0; s->kind->cancel_batch(s, made.id, "a", 100, &from, &again) == STORE_EXISTS;) batch_clear(&again);
    assert_int_equal(again.counts[JOB_CANCELED], 249);
    assert_int_equal(again.counts[JOB_RUNNING], 1);
    batch_clear(&again);
    job found[100];
    size_t seen = 0;
    for (int64_t next = 0; seen < 250;) { /* in the order of the batch */
        assert_int_equal(s->kind->members(s, made.number, next, 100, found, &count), STORE_OK);
        assert_int_equal(count, seen < 200 ? 100 : 50);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(found[k].member, seen++);
            next = found[k].number + 1;
            job_clear(&found[k]);
        }
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

/* Jobs and batches of names of 100,000 bytes: three fill a page. What a list does not show is not read for it. */
static void a_page_ends_when_its_texts_are_long(void **state) {
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
        assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
        batch_clear(&made);
    }
    job listed[LISTED];
    size_t count, seen = 0;
    bool more = true;
    for (job_query query = {.owner = "a", .limit = LISTED}; more; seen += count) {
        assert_int_equal(s->kind->list(s, &query, listed, &count, &more), STORE_OK);
        assert_int_equal(count, seen < 6 ? 3 : 2);
        for (size_t k = 0; k < count; k++) {
            assert_null(listed[k].assignments);
            query.before = listed[k].number;
            job_clear(&listed[k]);
        }
    }
    assert_int_equal(seen, LISTED);
    assert_int_equal(s->kind->list_batches(s, &(job_query){.owner = "a", .limit = LISTED}, batches, &count, &more),
                     STORE_OK);
    assert_int_equal(count, 3);
    assert_true(more);
    while (count > 0) batch_clear(&batches[--count]);
    assert_int_equal(s->kind->list_batches(s, &(job_query){.limit = 2}, batches, &count, &more), STORE_OK);
    assert_int_equal(count, 2);
    assert_true(more);
    while (count > 0) batch_clear(&batches[--count]);
}

/* Members with bodies of their own, more than go into one statement, each get theirs. */
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
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
    size_t count, length;
    assert_int_equal(s->kind->members(s, made.number, 0, LISTED, found, &count), STORE_OK);
    assert_int_equal(count, LISTED);
    for (size_t k = 0; k < LISTED; k++) {
        char *body;
        assert_int_equal(found[k].member, k);
        assert_string_equal(found[k].name, members[k].name);
        assert_int_equal(s->kind->description(s, &found[k], &body, &length), STORE_OK);
        assert_string_equal(body, bodies[k]);
        free(body);
        job_clear(&found[k]);
    }
    batch_clear(&made);
}

static void check_batch(const char *id, int64_t queued, int64_t completed) {
    job_batch found;
    assert_int_equal(s->kind->find_batch(s, id, NULL, &found), STORE_OK);
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

/* A batch goes with the last of its members that is old enough to go. */
static void a_batch_is_forgotten_with_its_members(void **state) {
    (void)state;
    batch_member members[5];
    job_batch made, again;
    size_t count;
    for (int k = 0; k < 5; k++) members[k] = (batch_member){.name = "m", .assignments = "[]"};
    batch_submission sent = {.whole = {.owner = "a", .name = "b", .key = "k", .body = "{}", .length = 2},
                             .plan = "{}",
                             .members = members,
                             .count = 5};
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
    for (int k = 0; k < 3; k++) finish_one();
    assert_int_equal(s->kind->expire(s, 0, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 3);
    check_batch(made.id, 2, 0);
    for (int k = 0; k < 2; k++) finish_one();
    assert_int_equal(s->kind->expire(s, 0, 0, 100, &count), STORE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(s->kind->find_batch(s, made.id, NULL, &again), STORE_ABSENT);
    assert_int_equal(s->kind->submit_batch(s, &sent, &again), STORE_OK); /* the key has gone with it */
    batch_clear(&again);
    batch_clear(&made);
}

/* ---- processor time ---- */

static double charged(const char *owner, int64_t day, double seconds) {
    double total = -1;
    assert_int_equal(s->kind->charge(s, owner, day, seconds, &total), STORE_OK);
    return total;
}

static void processor_time_is_summed_for_each_owner_and_day(void **state) {
    (void)state;
    assert_true(charged("a", 20000, 0) == 0);
    assert_true(charged("a", 20000, 1.5) == 1.5);
    assert_true(charged("b", 20000, 8) == 8);
    assert_true(charged("a", 20000, 0.25) == 1.75);
    assert_true(charged("a", 20001, 0.5) == 0.5);
    assert_true(charged("b", 20000, 0) == 8);
}

/* ---- a schema without counts of members ---- */

static void run_in_file(const char *sql) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(sqlite_path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* As the release before had it. */
static void forget_the_counts(void) {
    if (sqlite_path[0]) {
        run_in_file("DROP TRIGGER member_made; DROP TRIGGER member_changed; DROP TRIGGER member_gone;"
                    "DROP TRIGGER batch_gone; DROP TABLE member_counts; DROP TRIGGER batch_made;"
                    "DROP TRIGGER batch_uncounted; ALTER TABLE batches DROP COLUMN bytes;"
                    "ALTER TABLE jobs DROP COLUMN admitted; ALTER TABLE jobs DROP COLUMN faults;"
                    "ALTER TABLE jobs DROP COLUMN quota; DROP TABLE cpu_usage; PRAGMA user_version=4;");
        return;
    }
    postgres_ask(&server, database,
                 "SET client_min_messages=warning; DROP FUNCTION jobs_made, member_changed, member_gone, batch_gone, "
                 "hamel_slot CASCADE;"
                 "DROP TABLE member_counts; DROP INDEX jobs_by_batch_and_status;"
                 "CREATE FUNCTION job_made() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
                 "CREATE TRIGGER job_made AFTER INSERT ON jobs FOR EACH ROW EXECUTE FUNCTION job_made();"
                 "DROP FUNCTION batch_made, batch_uncounted CASCADE; ALTER TABLE batches DROP COLUMN bytes;"
                 "ALTER TABLE jobs DROP COLUMN admitted, DROP COLUMN faults, DROP COLUMN quota; DROP TABLE cpu_usage;"
                 "DELETE FROM hamel_schema WHERE version>=3;");
}

static void members_stored_by_an_earlier_release_are_counted(void **state) {
    (void)state;
    batch_member members[5];
    job_batch made;
    for (int k = 0; k < 5; k++) members[k] = (batch_member){.name = "m", .assignments = "[]"};
    batch_submission sent = {
        .whole = {.owner = "a", .name = "b", .body = "{}", .length = 2}, .plan = "{}", .members = members, .count = 5};
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
    finish_one();
    s->kind->close(s);
    forget_the_counts();
    s = open_url(store_url);
    check_batch(made.id, 4, 1);
    finish_one();
    check_batch(made.id, 3, 2);
    assert_int_equal(submit_for("a", "m", (store_quota){0}), STORE_OK); /* no member */
    check_batch(made.id, 3, 2);
    batch_clear(&made);
}

/* ---- SQLite's ways ---- */

/* A page of a list is read from an index from where it begins: what is stored besides costs nothing. What has been
 * picked for the page, some hundred rows, is summed and sorted. */
static void check_plan(sqlite3 *db, unsigned statement) {
    static const char *const tables[] = {"SCAN jobs", "SCAN batches", "SCAN member_counts"};
    char room[SQL_TEXT_BYTES], explain[SQL_TEXT_BYTES + 32];
    const char *text = sql_statement(statement, room);
    sqlite3_stmt *plan;
    int picks = 0; /* the step that picks the rows: 0, the whole statement, unless it has a part for that */
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

static void no_list_is_sorted_or_searched_through(void **state) {
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
    char path[sizeof sqlite_path], url[POSTGRES_URL_BYTES];
    sqlite3 *db = NULL;
    new_file(path, url, sizeof url);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, first_release, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
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
    remove_file(path);
}

/* Descriptions that a damaged file has lost. */
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
    assert_int_equal(s->kind->list(s, &failed, found, &count, &more), STORE_OK);
    assert_int_equal(count, 2);
    for (size_t k = 0; k < count; k++) {
        assert_non_null(strstr(found[k].problem, "missing in the store"));
        job_clear(&found[k]);
    }
}

/* ---- any sequence of what a store does -------------------------------------------------------------------------- */

/* What a job must be like after all that was done to it. */
typedef struct model_job {
    char id[JOB_ID_BYTES];
    int64_t number, attempt, rows;
    job_status status;
    bool forgotten, header, cancel;
    int owner;
    int64_t body;  /* bytes counted at admission */
    int64_t texts; /* of its summary */
    int64_t batch; /* number; 0: none */
} model_job;

typedef struct model_batch {
    char id[JOB_ID_BYTES];
    int64_t number;
    bool forgotten;
} model_batch;

enum { MODEL_JOBS = 1000, MODEL_BATCHES = 20, MODEL_COLUMNS = 3 };
static model_job model[MODEL_JOBS];
static model_batch model_batches[MODEL_BATCHES];
static size_t modeled, batches_modeled;
static uint64_t dice_state;

static const char *const model_owners[] = {"ann", "bob", "eve"};

static size_t dice(size_t faces) { /* xorshift64 (Marsaglia 2003) */
    dice_state ^= dice_state << 13;
    dice_state ^= dice_state >> 7;
    dice_state ^= dice_state << 17;
    return (size_t)(dice_state % faces);
}

/* One of those in this status, or NULL. */
static model_job *any_of(job_status status) {
    size_t from = modeled ? dice(modeled) : 0;
    for (size_t k = 0; k < modeled; k++) {
        model_job *m = &model[(from + k) % modeled];
        if (!m->forgotten && m->status == status) return m;
    }
    return NULL;
}

static void submit_one(void) {
    job made;
    char key[24];
    if (modeled == MODEL_JOBS) return;
    model_job *m = &model[modeled];
    size_t owner = dice(3);
    snprintf(key, sizeof key, "key-%zu", modeled);
    job_submission sent = {
        .owner = model_owners[owner], .name = dice(2) ? "even" : "odd", .key = key, .body = "{}", .length = 2};
    assert_int_equal(s->kind->submit(s, &sent, &made), STORE_OK);
    *m = (model_job){
        .number = made.number, .owner = (int)owner, .body = JOB_BASE_BYTES + (int64_t)strlen(sent.name) + 2};
    snprintf(m->id, sizeof m->id, "%s", made.id);
    job_clear(&made);
    modeled++;
    assert_int_equal(s->kind->submit(s, &sent, &made), STORE_EXISTS);
    assert_string_equal(made.id, m->id);
    job_clear(&made);
    sent.body = "[]";
    assert_int_equal(s->kind->submit(s, &sent, &made), STORE_CONFLICT);
    job_clear(&made);
}

/* With a description in common or one for each; few members, or more than one statement inserts. */
static void submit_batch(void) {
    static batch_member members[SQL_GROUP + 9];
    static job found[SQL_GROUP + 9];
    job_batch made;
    size_t size = dice(3) ? 1 + dice(9) : SQL_GROUP + dice(9), owner = dice(3), count;
    bool shared = dice(2);
    if (batches_modeled == MODEL_BATCHES || modeled + size > MODEL_JOBS) return;
    for (size_t k = 0; k < size; k++) {
        members[k] = shared ? (batch_member){.name = "m", .assignments = "[]"}
                            : (batch_member){.name = "m", .body = "{}", .length = 2};
    }
    batch_submission sent = {.whole = {.owner = model_owners[owner], .name = "b", .body = "{}", .length = 2},
                             .plan = "{}",
                             .members = members,
                             .count = size};
    assert_int_equal(s->kind->submit_batch(s, &sent, &made), STORE_OK);
    assert_int_equal(s->kind->members(s, made.number, 0, size + 1, found, &count), STORE_OK);
    assert_int_equal(count, size);
    for (size_t k = 0; k < size; k++) {
        model_job *m = &model[modeled++];
        *m = (model_job){
            .number = found[k].number, .owner = (int)owner, .body = JOB_BASE_BYTES + 3, .batch = made.number};
        snprintf(m->id, sizeof m->id, "%s", found[k].id);
        job_clear(&found[k]);
    }
    model_batch *b = &model_batches[batches_modeled++];
    *b = (model_batch){.number = made.number};
    snprintf(b->id, sizeof b->id, "%s", made.id);
    batch_clear(&made);
}

static void change_batch(model_batch *b, bool forget) {
    job_batch found = {0};
    int64_t from = 0;
    store_status status;
    if (b->forgotten) return;
    do {
        batch_clear(&found);
        status =
            forget ? s->kind->forget_batch(s, b->id, NULL, 7) : s->kind->cancel_batch(s, b->id, NULL, 7, &from, &found);
    } while (status == STORE_EXISTS);
    assert_int_equal(status, STORE_OK);
    batch_clear(&found);
    b->forgotten = forget;
    for (model_job *m = model; m < model + modeled; m++) {
        if (m->batch != b->number) continue;
        m->forgotten = m->forgotten || forget;
        m->cancel = m->cancel || (m->status == JOB_RUNNING && !forget);
        if (m->status == JOB_QUEUED && !forget) m->status = JOB_CANCELED;
    }
}

static void claim_one(void) {
    job taken;
    char *body = NULL;
    size_t length;
    store_status status = s->kind->claim(s, &taken, &body, &length);
    if (!any_of(JOB_QUEUED)) {
        assert_int_equal(status, STORE_ABSENT);
        return;
    }
    assert_int_equal(status, STORE_OK);
    model_job *m = model;
    while (strcmp(m->id, taken.id) != 0) assert_true(++m < model + modeled);
    assert_int_equal(m->status, JOB_QUEUED);
    assert_int_equal(taken.attempt, ++m->attempt);
    m->status = JOB_RUNNING;
    job_clear(&taken);
    free(body);
}

static void begin_one(model_job *m) {
    int64_t rows, events;
    assert_int_equal(s->kind->begin(s, m->number, m->attempt + 1, "[1]", &rows, &events), STORE_ABSENT);
    bool other = m->header && dice(8) == 0;
    assert_int_equal(s->kind->begin(s, m->number, m->attempt, other ? "[2]" : "[1]", &rows, &events), STORE_OK);
    if (other) {
        assert_int_equal(rows, 0);
        assert_int_equal(s->kind->begin(s, m->number, m->attempt, "[1]", &rows, &events), STORE_OK);
        m->rows = 0;
    }
    m->header = true;
    assert_int_equal(rows, m->rows);
    assert_int_equal(events, m->rows / 2);
}

/* Two rows (t = 0, 1, 2, ...) and an event between them. */
static void fill_output(const model_job *m, double *values, job_event *event, job_output *output) {
    for (size_t k = 0; k < 2 * MODEL_COLUMNS; k++) {
        values[k] = (double)(m->rows + (int64_t)(k / MODEL_COLUMNS)) + (k % MODEL_COLUMNS ? 0.1 * (double)k : 0);
    }
    static char json[] = "{}";
    *event = (job_event){.row = m->rows + 1, .json = json};
    *output = (job_output){.rows = {.first = m->rows, .rows = 2, .columns = MODEL_COLUMNS, .values = values},
                           .events = event,
                           .event_count = 1,
                           .first_event = m->rows / 2};
}

static void write_one(model_job *m) {
    double values[2 * MODEL_COLUMNS];
    job_event event;
    job_output output;
    if (!m->header) begin_one(m);
    fill_output(m, values, &event, &output);
    assert_int_equal(s->kind->append(s, m->number, m->attempt - 1, &output, 0.5), STORE_ABSENT);
    switch (dice(3)) {
    case 0: assert_int_equal(s->kind->append(s, m->number, m->attempt, &output, 0.5), STORE_OK); break;
    case 1:
        assert_int_equal(s->kind->hand_back(s, m->number, m->attempt, &output), STORE_OK);
        m->status = JOB_QUEUED;
        break;
    default:
        m->status = m->cancel ? JOB_CANCELED : JOB_COMPLETED;
        m->texts = 2;
        const job_end end = {.status = m->status, .progress = 1, .summary = "{}"};
        assert_int_equal(s->kind->finish(s, m->number, m->attempt - 1, &output, &end), STORE_ABSENT);
        assert_int_equal(s->kind->finish(s, m->number, m->attempt, &output, &end), STORE_OK);
        assert_int_equal(s->kind->finish(s, m->number, m->attempt, &output, &end), STORE_ABSENT);
    }
    m->rows += 2;
}

static void cancel_one(model_job *m) {
    job found;
    const char *stranger = model_owners[(m->owner + 1) % 3];
    assert_int_equal(s->kind->cancel(s, m->id, stranger, &found), STORE_ABSENT);
    assert_int_equal(s->kind->cancel(s, m->id, model_owners[m->owner], &found), STORE_OK);
    if (m->status == JOB_QUEUED) m->status = JOB_CANCELED;
    if (m->status == JOB_RUNNING) m->cancel = true;
    assert_int_equal(found.status, m->status);
    assert_int_equal(found.cancel_requested, m->cancel || found.cancel_requested);
    job_clear(&found);
}

static void forget_one(model_job *m) {
    int64_t number, rows;
    assert_int_equal(s->kind->forget(s, m->id, NULL, &number), STORE_OK);
    assert_int_equal(number, m->number);
    assert_int_equal(s->kind->begin(s, m->number, m->attempt, "[1]", &rows, &rows), STORE_ABSENT);
    m->forgotten = true;
}

static void look_at_one(const model_job *m) {
    job found;
    row_chunk chunk;
    job_event event;
    int64_t row;
    store_status status = s->kind->find(s, m->id, model_owners[m->owner], &found);
    assert_int_equal(status, m->forgotten ? STORE_ABSENT : STORE_OK);
    if (status == STORE_OK) {
        assert_int_equal(found.status, m->status);
        assert_int_equal(found.attempt, m->attempt);
        assert_int_equal(found.created > 0, 1);
        assert_int_equal(found.finished > 0, job_ended(m->status));
    }
    job_clear(&found);
    int64_t rows = m->forgotten ? 0 : m->rows;
    assert_int_equal(s->kind->chunk_at(s, m->number, rows, &chunk), STORE_ABSENT);
    assert_int_equal(s->kind->event_at(s, m->number, rows / 2, &event), STORE_ABSENT);
    assert_int_equal(s->kind->row_at_time(s, m->number, (double)rows, &row), STORE_ABSENT);
    if (rows == 0) return;
    int64_t at = (int64_t)dice((size_t)rows);
    assert_int_equal(s->kind->chunk_at(s, m->number, at, &chunk), STORE_OK);
    assert_int_equal(chunk.first, at - at % 2);
    assert_int_equal(chunk.columns, MODEL_COLUMNS);
    assert_true(chunk.values[MODEL_COLUMNS] == (double)(chunk.first + 1));
    assert_true(chunk.values[MODEL_COLUMNS + 1] == (double)(chunk.first + 1) + 0.1 * (MODEL_COLUMNS + 1));
    row_chunk_clear(&chunk);
    assert_int_equal(s->kind->event_at(s, m->number, at / 2, &event), STORE_OK);
    assert_int_equal(event.row, at - at % 2 + 1);
    free(event.json);
    assert_int_equal(s->kind->row_at_time(s, m->number, (double)at, &row), STORE_OK);
    assert_int_equal(row, at - at % 2);
}

/* Its counts are those of a count over its members. */
static void look_at_batch(const model_batch *b) {
    static job listed[MODEL_JOBS];
    job_batch found;
    size_t count;
    bool more;
    store_status looked = s->kind->find_batch(s, b->id, NULL, &found);
    assert_int_equal(looked, b->forgotten ? STORE_ABSENT : STORE_OK);
    for (size_t status = 0; status < JOB_STATUSES; status++) {
        int64_t expected = 0;
        for (size_t k = 0; k < modeled; k++) {
            expected += model[k].batch == b->number && !model[k].forgotten && model[k].status == (job_status)status;
        }
        job_query query = {.by_status = true, .status = (job_status)status, .batch = b->id, .limit = MODEL_JOBS};
        assert_int_equal(s->kind->list(s, &query, listed, &count, &more), STORE_OK);
        assert_false(more);
        for (size_t k = 0; k < count; k++) job_clear(&listed[k]);
        assert_int_equal(count, expected);
        assert_int_equal(found.counts[status], expected);
    }
    batch_clear(&found);
}

/* All lists and counts, against the model. */
static void look_at_all(void) {
    static job found[MODEL_JOBS];
    int64_t by_status[JOB_STATUSES] = {0}, bytes = 0;
    size_t count;
    bool more;
    for (size_t k = 0; k < modeled; k++) {
        if (model[k].forgotten) continue;
        by_status[model[k].status]++;
        bytes += model[k].body + model[k].texts + (model[k].header ? 3 : 0);
        bytes += model[k].rows * MODEL_COLUMNS * (int64_t)sizeof(double) + model[k].rows / 2 * 2;
    }
    for (size_t status = 0; status < JOB_STATUSES; status++) {
        int64_t total = 0;
        for (size_t owner = 0; owner < 3; owner++) {
            job_query query = {
                .by_status = true, .status = (job_status)status, .owner = model_owners[owner], .limit = MODEL_JOBS};
            assert_int_equal(s->kind->list(s, &query, found, &count, &more), STORE_OK);
            assert_false(more);
            for (size_t k = 0; k < count; k++) {
                if (k > 0) assert_true(found[k].number < found[k - 1].number);
                assert_string_equal(found[k].owner, model_owners[owner]);
            }
            for (size_t k = 0; k < count; k++) job_clear(&found[k]);
            total += (int64_t)count;
        }
        assert_int_equal(total, by_status[status]);
    }
    for (size_t k = 0; k < batches_modeled; k++) bytes += model_batches[k].forgotten ? 0 : JOB_BASE_BYTES + 5;
    store_counts counts;
    assert_int_equal(s->kind->counts(s, &counts), STORE_OK);
    assert_int_equal(counts.queued, by_status[JOB_QUEUED]);
    assert_int_equal(counts.running, by_status[JOB_RUNNING]);
    assert_int_equal(counts.bytes, bytes);
    for (size_t k = 0; k < batches_modeled; k++) look_at_batch(&model_batches[k]);
}

static void any_sequence_of_changes_leaves_what_it_should(void **state) {
    (void)state;
    modeled = batches_modeled = 0;
    dice_state = 20261121;
    for (int step = 0; step < 1500; step++) {
        model_job *queued = any_of(JOB_QUEUED), *running = any_of(JOB_RUNNING);
        size_t what = dice(20);
        if (what < 4) submit_one();
        if (what >= 4 && what < 8) claim_one();
        if (what >= 8 && what < 16 && running) write_one(running);
        if (what == 16 && queued) cancel_one(queued);
        if (what == 17 && running) cancel_one(running);
        if (what == 18 && any_of(JOB_COMPLETED)) forget_one(any_of(JOB_COMPLETED));
        if (what == 19 && running) begin_one(running);
        if (what == 19 && dice(4) == 0) submit_batch();
        if (what == 18 && dice(8) == 0 && batches_modeled) {
            change_batch(&model_batches[dice(batches_modeled)], dice(3) == 0);
        }
        if (modeled) look_at_one(&model[dice(modeled)]);
        if (step % 500 == 499) look_at_all();
    }
    look_at_all();
}

static int start_server(void **state) {
    (void)state;
    log_init(&quiet, LOG_SILENT, STDERR_FILENO);
    postgres_start(&server, "fsync=off"); /* what survives the loss of power is asked elsewhere */
    return 0;
}

static int stop_server(void **state) {
    (void)state;
    postgres_stop(&server);
    return 0;
}

/* cmocka takes the initial state as a pointer without const, and nothing writes through it. */
static char memory[] = "memory", sqlite[] = "sqlite", postgresql[] = "postgresql";
#define ON(kind, test) \
    { #test " (" #kind ")", test, open_fresh, close_it, kind }
#define ON_EACH(test) ON(memory, test), ON(sqlite, test), ON(postgresql, test)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_EACH(owners_take_turns),
        ON_EACH(within_an_owner_the_oldest_is_first),
        ON_EACH(a_quota_counts_what_is_queued_or_running_and_what_is_stored),
        ON_EACH(a_quota_bounds_what_a_batch_stores),
        ON_EACH(a_quota_bounds_what_runs_store),
        ON_EACH(a_job_is_given_up_after_many_failures_of_the_store_without_a_row),
        ON_EACH(what_is_old_is_forgotten_oldest_first),
        ON_EACH(a_batch_is_made_counted_canceled_and_forgotten),
        ON_EACH(each_member_of_a_list_has_its_own_description),
        ON_EACH(a_page_ends_when_its_texts_are_long),
        ON_EACH(a_batch_is_forgotten_with_its_members),
        ON_EACH(any_sequence_of_changes_leaves_what_it_should),
        ON_EACH(processor_time_is_summed_for_each_owner_and_day),
        ON(sqlite, members_stored_by_an_earlier_release_are_counted),
        ON(postgresql, members_stored_by_an_earlier_release_are_counted),
        ON(sqlite, no_list_is_sorted_or_searched_through),
        ON(sqlite, a_job_without_description_fails_and_the_next_one_runs),
        cmocka_unit_test(a_file_of_the_first_release_is_taken_over),
    };
    return cmocka_run_group_tests_name("store", tests, start_server, stop_server);
}
