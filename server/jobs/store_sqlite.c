/* store_sqlite.c — jobs in SQLite: opening and closing, recovery of interrupted jobs, and claims.
 *
 * Exactly one connection writes and checkpoints: the connection of the writer's thread (store_sql.c). With SQLite
 * before 3.51.3 two connections that write and checkpoint at the same time can corrupt a file in WAL mode. Readers are
 * read-only. Locks prevent a second daemon from using the same file (store_sqlite_files.c).
 *
 * `memory:` is the same store on the in-memory file system of SQLite. */
#include "server/clock.h"
#include "server/jobs/crash_mark.h"
#include "server/jobs/store_sqlite_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READERS = 4,
    LOST_MOST = 100 /* jobs without a description that one claim may skip; bounds the time of the claim */
};

/* Finds the job to claim next; returns STORE_ABSENT if the queue is empty. */
static store_status next_number(sql_connection *c, int64_t *number) {
    char owner[JOB_KEY_BYTES];
    size_t length;
    sql_step step = sql_first(c, LITE_NEXT_OWNER, NULL, 0);
    if (step != SQL_STEP_ROW) return step == SQL_STEP_END ? STORE_ABSENT : STORE_FAILED;
    const char *name = c->driver->bytes(c, 0, &length);
    if (!name || length >= sizeof owner) return STORE_FAILED;
    memcpy(owner, name, length + 1);
    bool found = sql_one_int(c, SQL_FIRST(c, LITE_OLDEST_QUEUED, sql_text(owner)), number) == STORE_OK;
    return found && SQL_RUN(c, LITE_NOTE_SERVED, sql_text(owner)) ? STORE_OK : STORE_FAILED;
}

static store_status run_claim(sql_connection *c, sql_operation *self) {
    const sql_claim_change *change = (sql_claim_change *)self;
    int64_t number = 0;
    store_status status = STORE_ABSENT;
    for (int lost = 0; status == STORE_ABSENT && lost < LOST_MOST; lost++) {
        store_status found = next_number(c, &number);
        if (found != STORE_OK) return found;
        status = sql_start(c, number, change->claim);
    }
    return status;
}

static store_status claim_jobs(store *s, job_claim *claim) {
    return sql_claim(s, &(sql_claim_change){{.run = run_claim, .grows = true}, claim});
}

static bool count_crashes(sqlite_store *s) {
    crash_mark mark;
    off_t at = 0;
    while (s->crash_file >= 0 && pread(s->crash_file, &mark, sizeof mark, at) == (ssize_t)sizeof mark) {
        if (!SQL_RUN(&s->writer.base, LITE_COUNT_CRASH, sql_int(mark.number), sql_int(mark.attempt))) return false;
        at += (off_t)sizeof mark;
    }
    return true;
}

/* Requeues the jobs that were running when the last process ended. A job fails if it has crashed the daemon repeatedly,
 * or if it has not stored a row in many attempts. Such a job may exhaust the memory of the machine. The kernel then
 * ends the daemon without a crash mark. */
static bool recover_once(sqlite_store *s) {
    static const char crash[] = PROBLEM_JSON("crashed", "The run crashed the server", "500",
                                             "the server ended during each of the last attempts to run this job");
    sql_connection *c = &s->writer.base;
    bool done =
        sql_run(c, LITE_BEGIN) && count_crashes(s) && sql_run(c, LITE_RECOVER_CANCELED) &&
        SQL_RUN(c, LITE_RECOVER_POISON, sql_text(crash), sql_int(JOB_CRASHES_MAX), sql_int(JOB_FRUITLESS_MAX)) &&
        sql_run(c, LITE_RECOVER_RUNNING) && sql_run(c, LITE_COMMIT);
    /* If the daemon crashes here, the next start reads the marks again, but their attempts no longer run. */
    return done && (s->crash_file < 0 || ftruncate(s->crash_file, 0) == 0);
}

/* Recovers the interrupted jobs. If the disk is full, retries after a checkpoint, which may free space in the log. */
static bool recover(sqlite_store *s) {
    if (recover_once(s)) return true;
    if (!sqlite_is_space_fault(&s->writer)) return false;
    if (!sqlite3_get_autocommit(s->writer.db)) sql_run(&s->writer.base, LITE_ROLLBACK);
    return sqlite_log_cut(s) && recover_once(s);
}

static void destroy(sqlite_store *s) {
    while (s->base.readers) {
        sqlite_connection *c = (sqlite_connection *)s->base.readers;
        s->base.readers = c->base.next;
        sqlite_disconnect(c);
        free(c);
    }
    sqlite_disconnect(&s->writer); /* closed last, since closing it checkpoints and removes the write-ahead log */
    if (s->crash_file >= 0) crash_marks_end();
    sqlite_files_close(s);
    sql_store_destroy(&s->base);
    free(s);
}

static sqlite_store *create(const store_kind *kind, const store_options *options) {
    sqlite_store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    sql_store_init(&s->base, kind, &sqlite_driver, options->log, options->metrics);
    s->base.writer = &s->writer.base;
    s->lock_file = s->data_file = s->crash_file = s->reserve_file = -1;
    s->min_free = options->min_free;
    return s;
}

/* Creates the tables of a new store. On failure, or if this release cannot use the file, returns false with a
 * message. */
static bool prepare_file(sqlite_store *s, char *message, size_t room) {
    static const char modes[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=4194304;";
    static const char in_memory[] = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF;";
    sqlite_connection *c = &s->writer;
    int64_t version = sqlite_query(c, "PRAGMA user_version"),
            tables = sqlite_query(c, "SELECT count(*) FROM sqlite_schema");
    bool good = version >= 0 && tables >= 0, is_new = tables == 0;
    if (good && !is_new && !sql_schema_accepted(version, s->path, message, room)) return false;
    /* SQLite accepts auto_vacuum only before the first table is created. */
    good = good && (!is_new || sqlite_execute(c, "PRAGMA auto_vacuum=INCREMENTAL")) &&
           sqlite_execute(c, s->in_memory ? in_memory : modes);
    if (good && is_new) {
        char mark[48];
        snprintf(mark, sizeof mark, "PRAGMA user_version=%d", SQL_SCHEMA_VERSION);
        good = sqlite_execute(c, "BEGIN IMMEDIATE") && sqlite_execute(c, SQLITE_SCHEMA_TEXT) &&
               sqlite_execute(c, mark) && sqlite_execute(c, "COMMIT");
    }
    if (!good) snprintf(message, room, "%.300s: cannot open the store: %s", s->path, sqlite3_errmsg(c->db));
    return good;
}

/* Opens the readers. Each reader executes one query, so that SQLite opens the log before sqlite_files_note records the
 * files. */
static bool open_readers(sqlite_store *s, const char *name) {
    for (size_t i = 0; i < READERS; i++) {
        sqlite_connection *c = calloc(1, sizeof *c);
        if (!c) return false;
        c->base.next = s->base.readers;
        s->base.readers = &c->base;
        if (!sqlite_connect(c, name, false) || !sql_run(&c->base, SQL_HEALTH)) return false;
    }
    return true;
}

static store *open_named(sqlite_store *s, const char *name, char *message, size_t room) {
    bool good = false;
    if (!sqlite_connect(&s->writer, name, true)) {
        snprintf(message, room, "--store: cannot open the store: %s", sqlite3_errmsg(s->writer.db));
    } else if (prepare_file(s, message, room)) {
        good = recover(s) && open_readers(s, name) && sqlite_files_note(s);
        if (!good) snprintf(message, room, "cannot use the store: %s", sqlite3_errmsg(s->writer.db));
    }
    if (good && !s->in_memory) sqlite_reserve_fill(s);
    if (good && !sql_writer_start(&s->base)) good = failed_with(message, room, "cannot start the thread of the store");
    if (good) {
        if (s->crash_file >= 0) crash_marks_begin(s->crash_file);
        return &s->base.base;
    }
    destroy(s);
    return NULL;
}

static store *open_file(const char *url, const store_options *options, char *message, size_t room) {
    const char *path = url + strlen(store_kind_sqlite.scheme);
    char name[SQLITE_NAME_BYTES];
    if (!*path || strlen(path) >= SQLITE_PATH_BYTES || strpbrk(path, "?#%")) {
        snprintf(message, room, "--store: '%.200s' is not a usable path", path);
        return NULL;
    }
    snprintf(name, sizeof name, "file:%s", path);
    sqlite_store *s = create(&store_kind_sqlite, options);
    snprintf(message, room, "out of memory");
    if (s && sqlite_files_open(s, path, message, room)) {
        sqlite_reserve_start(s);
        return open_named(s, name, message, room);
    }
    if (s) destroy(s);
    return NULL;
}

static store *open_memory(const char *url, const store_options *options, char *message, size_t room) {
    char name[80], id[RANDOM_ID_BYTES];
    sqlite_store *s = create(&store_kind_memory, options);
    (void)url;
    if (!s || !random_id(id)) {
        snprintf(message, room, "out of memory");
        if (s) destroy(s);
        return NULL;
    }
    s->in_memory = true;
    snprintf(name, sizeof name, "file:/%s?vfs=memdb", id); /* a unique name: memdb shares databases of equal name */
    return open_named(s, name, message, room);
}

static const char *trouble(store *base) {
    const sqlite_store *s = (sqlite_store *)base;
    if (!sqlite_files_in_place(s)) return "the file of the job store has been moved or replaced";
    if (sqlite_space_is_low(s)) return "the disk of the job store is nearly full";
    return sql_trouble(base);
}

static void close_store(store *base) {
    sqlite_store *s = (sqlite_store *)base;
    if (!s) return;
    sql_writer_stop(&s->base);
    destroy(s);
}

/* clang-format off */
#define FUNCTIONS .close = close_store, .claim = claim_jobs, .trouble = trouble, SQL_FUNCTIONS
const store_kind store_kind_sqlite = {.scheme = "sqlite:", .open = open_file, .backup = sqlite_backup, FUNCTIONS};
const store_kind store_kind_memory = {.scheme = "memory:", .open = open_memory, FUNCTIONS};
/* clang-format on */
