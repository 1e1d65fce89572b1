/* test_damage.c — a store with values that no release has written, or with bytes changed at random. The daemon must
 * read the store, run its jobs, report errors, and continue.
 *
 * Usage: test_damage [ROUNDS [SEED]]. The default is 3 rounds, or 100 with HAMEL_TEST_LONG.
 *
 * A round changes 100 values. */
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"
#include "tests/fault/store_files.h"
#include "tests/http/daemon.h"

#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 160, SYSTEM_BYTES = 800, JOBS = 12, IDS_MAX = 64, CHANGES = 100, VALUE_BYTES = 4096 };

static test_daemon d;
static char file[PATH_BYTES], pristine[PATH_BYTES];
static size_t rounds = 3;
static unsigned seed = 1;
static char jobs[IDS_MAX][JOB_ID_BYTES], batches[IDS_MAX][JOB_ID_BYTES];
static size_t job_count, batch_count;

static size_t below(size_t bound) {
    return bound ? (size_t)rand_r(&seed) % bound : 0;
}

/* ---- a store with all kinds of contents -------------------------------------------------------------------------- */

static void note_ids(const char *path, char ids[IDS_MAX][JOB_ID_BYTES], size_t *count) {
    cJSON *page = ask_json(&d, "GET", path, NULL, NULL, 200);
    const cJSON *items = cJSON_GetObjectItemCaseSensitive(page, "items"), *item;
    *count = 0;
    cJSON_ArrayForEach(item, items) {
        if (*count < IDS_MAX) snprintf(ids[(*count)++], JOB_ID_BYTES, "%s", json_text_of(item, "id"));
    }
    cJSON_Delete(page);
    assert_true(*count > 0);
}

static void submit_batch(const char *system, const char *sweep) {
    char body[2 * SYSTEM_BYTES];
    snprintf(body, sizeof body, "%.*s,\"sweep\":%s}", (int)strlen(system) - 1, system, sweep);
    cJSON_Delete(ask_json(&d, "POST", "/v1/batches", json_type, body, 201));
}

static int make_store(void **state) {
    (void)state;
    char system[SYSTEM_BYTES];
    daemon_start(&d, (const char *const[]){"--workers", "2", NULL});
    snprintf(file, sizeof file, "%s/hamel.db", d.data);
    snprintf(pristine, sizeof pristine, "%s.pristine", d.data);
    for (int k = 0; k < JOBS; k++) free(submit(&d, oscillator(system, sizeof system, "kept", 5, 21)));
    char *bouncing =
        submit(&d, "{\"hamel\":1,\"coordinates\":[{\"name\":\"y\",\"initial\":1}],\"kinetic_energy\":\"y'^2/2\","
                   "\"potential_energy\":\"10*y\",\"events\":[{\"name\":\"floor\",\"when\":\"y\","
                   "\"direction\":\"falling\",\"set\":{\"y'\":\"-y'\"}}],\"simulation\":{\"stop\":3}}");
    submit_batch(oscillator(system, sizeof system, "swept", 2, 5), "{\"over\":{\"x.initial\":[1,2,3]}}");
    note_ids("/v1/jobs?limit=60", jobs, &job_count);
    note_ids("/v1/batches?limit=10", batches, &batch_count);
    wait_for_status(&d, bouncing, "completed");
    for (size_t k = 0; k < job_count; k++) wait_for_status(&d, jobs[k], "completed");
    free(bouncing);
    assert_int_equal(daemon_end(&d, SIGTERM), 0);
    assert_true(copy_file(file, pristine));
    return 0;
}

static int remove_store(void **state) {
    (void)state;
    unlink(pristine);
    daemon_remove(&d);
    return 0;
}

static void begin_again(void) {
    char name[PATH_BYTES + 8];
    static const char *const ends[] = {"-wal", "-shm", ".crash"};
    for (size_t k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%s", file, ends[k]);
        unlink(name);
    }
    assert_true(copy_file(pristine, file));
}

/* ---- invalid values ---------------------------------------------------------------------------------------------- */

typedef enum nature { TEXT, BLOB, WHOLE, COUNT, REAL } nature;

static const struct {
    const char *table, *column;
    nature nature;
} places[] = {
    {"descriptions", "body", BLOB},
    {"descriptions", "body", BLOB},
    {"jobs", "header", TEXT},
    {"jobs", "summary", TEXT},
    {"jobs", "problem", TEXT},
    {"jobs", "assignments", TEXT},
    {"jobs", "collected", TEXT},
    {"jobs", "name", TEXT},
    {"jobs", "status", WHOLE},
    {"jobs", "progress", REAL},
    {"jobs", "created", WHOLE},
    {"jobs", "finished", WHOLE},
    {"jobs", "attempt", WHOLE},
    {"jobs", "member", WHOLE},
    {"jobs", "batch", WHOLE},
    {"jobs", "owner", TEXT},
    {"jobs", "bytes", COUNT},
    {"chunks", "first", WHOLE},
    {"chunks", "rows", WHOLE},
    {"chunks", "columns", WHOLE},
    {"chunks", "t_last", REAL},
    {"chunks", "data", BLOB},
    {"events", "number", WHOLE},
    {"events", "row", WHOLE},
    {"events", "json", TEXT},
    {"batches", "plan", TEXT},
    {"batches", "name", TEXT},
    {"owners", "queued", COUNT},
    {"owners", "running", COUNT},
    {"owners", "served", COUNT},
    {"member_counts", "members", COUNT},
};
enum { PLACES = sizeof places / sizeof places[0] };

static int64_t strange_whole(void) {
    static const int64_t all[] = {0,     1, 2, 3, 5, 6, 17, 255, -1, INT32_MAX, INT64_MAX, INT64_MIN, (int64_t)1 << 32,
                                  100000};
    return all[below(sizeof all / sizeof *all)];
}

/* Changes a value slightly or completely. */
static size_t strange_bytes(unsigned char *bytes, size_t length) {
    static const char *const texts[] = {"",
                                        "{}",
                                        "[]",
                                        "null",
                                        "{\"columns\":[]}",
                                        "{\"columns\":{}}",
                                        "[[[[[[",
                                        "\xff\xfe",
                                        "{\"columns\":[1,2]}",
                                        "{\"hamel\":1}",
                                        "[\"k=1\"]",
                                        "{\"inputs\":[1],\"collected\":[{}]}",
                                        "1e999"};
    if (below(3) == 0 || length == 0) {
        const char *text = texts[below(sizeof texts / sizeof *texts)];
        memcpy(bytes, text, strlen(text));
        return strlen(text);
    }
    if (below(3) == 0) return below(length);
    for (size_t k = 1 + below(8); k > 0; k--) bytes[below(length)] = (unsigned char)below(256);
    return length;
}

static void bind_strange(sqlite3_stmt *change, nature n, const sqlite3_stmt *found) {
    unsigned char bytes[VALUE_BYTES];
    if (n == COUNT) { /* small, because the daemon does not start if the sum of an owner's counts exceeds 64 bits */
        sqlite3_bind_int64(change, 1, (int64_t)below(20) - 5);
    } else if (n == WHOLE) {
        sqlite3_bind_int64(change, 1, strange_whole());
    } else if (n == REAL) {
        sqlite3_bind_double(change, 1, (double)strange_whole() * 1e290);
    } else {
        sqlite3_stmt *row = (sqlite3_stmt *)(uintptr_t)found;
        size_t length = (size_t)sqlite3_column_bytes(row, 1);
        if (length > VALUE_BYTES) length = VALUE_BYTES;
        if (length > 0) memcpy(bytes, sqlite3_column_blob(row, 1), length);
        length = strange_bytes(bytes, length);
        if (n == BLOB)
            sqlite3_bind_blob(change, 1, bytes, (int)length, SQLITE_TRANSIENT);
        else
            sqlite3_bind_text(change, 1, (const char *)bytes, (int)length, SQLITE_TRANSIENT);
    }
}

/* Changes contents of the tables without checking database constraints. */
static void change_value(sqlite3 *db) {
    char sql[250];
    size_t place = below(PLACES);
    sqlite3_stmt *pick = NULL, *change = NULL;
    const char *key = strcmp(places[place].table, "events") == 0          ? "number"
                      : strcmp(places[place].table, "owners") == 0        ? "owner"
                      : strcmp(places[place].table, "member_counts") == 0 ? "batch"
                                                                          : "rowid";
    snprintf(sql, sizeof sql,
             "SELECT %s, %s FROM %s ORDER BY 1 LIMIT 1 OFFSET %zu %% max(1, (SELECT count(*) FROM %s))", key,
             places[place].column, places[place].table, below(1000), places[place].table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &pick, NULL), SQLITE_OK);
    if (sqlite3_step(pick) == SQLITE_ROW) {
        snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s=?1 WHERE %s=?2", places[place].table,
                 places[place].column, key);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &change, NULL), SQLITE_OK);
        bind_strange(change, places[place].nature, pick);
        sqlite3_bind_value(change, 2, sqlite3_column_value(pick, 0));
        (void)sqlite3_step(change);
    }
    sqlite3_finalize(change);
    sqlite3_finalize(pick);
}

static void change_values(size_t count) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA ignore_check_constraints=ON; BEGIN; UPDATE jobs SET status=0 WHERE number%3=0", NULL,
                     NULL, NULL),
        SQLITE_OK);
    for (size_t k = 0; k < count; k++) change_value(db);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void look_at(const char *path, const char *accept) {
    char line[80];
    snprintf(line, sizeof line, "Accept: %s", accept);
    answer a = ask(&d, "GET", path, (const char *const[]){line, NULL}, NULL);
    answer_clear(&a); /* any response is accepted, even one that is cut off at the damaged part */
}

static void look_at_everything(void) {
    static const char *const formats[] = {"text/csv", "application/json", "application/x-ndjson", "application/x-npy",
                                          "text/event-stream"};
    static const char *const parts[] = {"", "/system"};
    char path[PATH_BYTES];
    look_at("/v1/jobs?limit=500", "*/*");
    look_at("/v1/jobs?status=queued", "*/*");
    look_at("/metrics", "*/*");
    for (size_t k = 0; k < job_count; k++) {
        for (size_t p = 0; p < 2; p++) {
            snprintf(path, sizeof path, "/v1/jobs/%s%s", jobs[k], parts[p]);
            look_at(path, "*/*");
        }
        snprintf(path, sizeof path, "/v1/jobs/%s/results%s", jobs[k], below(2) ? "" : "?from=1&to=2&every=2");
        look_at(path, formats[below(5)]);
    }
    for (size_t k = 0; k < batch_count; k++) {
        snprintf(path, sizeof path, "/v1/batches/%s", batches[k]);
        look_at(path, "*/*");
        snprintf(path, sizeof path, "/v1/batches/%s/results", batches[k]);
        look_at(path, below(2) ? "text/csv" : "application/json");
    }
}

static void the_daemon_survives_and_reports_damaged_values(void **state) {
    (void)state;
    setenv("HAMEL_TEST_EXCHANGES", "", 1); /* do not record responses about damage as examples of the API */
    for (size_t round = 0; round < rounds; round++) {
        unsigned began = seed;
        begin_again();
        change_values(CHANGES);
        daemon_start_again(&d, (const char *const[]){"--workers", "2", "--time-limit", "2", NULL});
        look_at_everything();
        answer a = ask(&d, "GET", "/healthz", NULL, NULL);
        if (a.status != 200) print_error("seed %u: %ld\n", began, a.status);
        assert_int_equal(a.status, 200);
        answer_clear(&a);
        int code = daemon_end(&d, SIGTERM);
        if (code != 0) print_error("seed %u: exit status %d\n", began, code);
        assert_int_equal(code, 0);
    }
    print_message("%zu values changed\n", rounds * CHANGES);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static server_log quiet;
static metrics counters;
static const store_options services = {.log = &quiet, .metrics = &counters};

static void change_bytes(void) {
    FILE *bytes = fopen(file, "r+b");
    assert_non_null(bytes);
    fseek(bytes, 0, SEEK_END);
    size_t length = (size_t)ftell(bytes), page = 4096;
    size_t at = below(length / page) * page; /* damage one page, mostly its header and cell pointers */
    for (size_t k = 1 + below(20); k > 0; k--) {
        fseek(bytes, (long)(at + below(below(2) ? page : 200)), SEEK_SET);
        fputc((int)below(256), bytes);
    }
    fclose(bytes);
}

static void read_job(store *s, const char *id) {
    job found;
    char *body = NULL;
    size_t length;
    if (s->kind->find(s, id, NULL, &found) == STORE_OK) {
        row_chunk chunk;
        job_event event;
        (void)s->kind->description(s, &found, &body, &length);
        free(body);
        for (int64_t row = 0; row < 1000 && s->kind->chunk_at(s, found.number, row, &chunk) == STORE_OK;
             row += chunk.rows, row_chunk_clear(&chunk)) {
        }
        for (int64_t n = 0; n < 5 && s->kind->event_at(s, found.number, n, &event) == STORE_OK; n++) free(event.json);
    }
    job_clear(&found);
}

/* Returns true if the store could be opened. */
static bool read_store(void) {
    char message[500], url[PATH_BYTES + 8];
    snprintf(url, sizeof url, "sqlite:%s", file);
    store *s = store_open(url, &services, message, sizeof message);
    if (!s) return false;
    job listed[IDS_MAX];
    size_t count = 0;
    bool more;
    store_counts counts;
    if (s->kind->list(s, &(job_query){.limit = IDS_MAX}, listed, &count, &more) == STORE_OK)
        for (size_t k = 0; k < count; k++) job_clear(&listed[k]);
    for (size_t k = 0; k < job_count; k++) read_job(s, jobs[k]);
    (void)s->kind->counts(s, &counts);
    job claimed = {0};
    job_claim claim = {.jobs = &claimed};
    if (s->kind->claim(s, &claim) == STORE_OK) {
        const job_end end = {.status = JOB_FAILED, .problem = "{}"};
        (void)s->kind->finish(s, claimed.number, claimed.attempt, NULL, &end);
        claim_clear(&claim);
    }
    s->kind->close(s);
    return true;
}

static void the_daemon_survives_changed_bytes(void **state) {
    (void)state;
    size_t opened = 0, wanted = rounds * 40;
    log_init(&quiet, LOG_SILENT, STDERR_FILENO);
    for (size_t k = 0; k < wanted; k++) {
        begin_again();
        change_bytes();
        opened += read_store();
    }
    print_message("%zu damaged files, %zu of them could be opened\n", wanted, opened);
    assert_true(opened > 0);
}

int main(int argc, char **argv) {
    if (long_tests()) rounds = 100;
    if (argc > 1) rounds = strtoul(argv[1], NULL, 10);
    if (argc > 2) seed = (unsigned)strtoul(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_daemon_survives_and_reports_damaged_values),
        cmocka_unit_test(the_daemon_survives_changed_bytes),
    };
    return cmocka_run_group_tests_name("damage", tests, make_store, remove_store);
}
