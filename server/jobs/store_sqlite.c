/* store_sqlite.c — jobs in SQLite: connections and the writer's thread.
 *
 * Exactly one connection writes and checkpoints: that of the writer's thread. (Before 3.51.3 two connections that do
 * so at once can corrupt a file in WAL mode.) Changes are handed to it as operations; it takes all that wait, makes
 * them in one transaction and wakes those who wait, so that many submissions at once cost one fsync together. An
 * operation that fails is undone by its savepoint and does not touch the others. A transaction with a durable
 * operation is committed with synchronous=FULL, others with NORMAL: they survive the end of the process, and the log
 * being sequential, the next durable commit makes them durable too.
 *
 * Readers are a few read-only connections, handed out for one short statement at a time. A lock file keeps a second
 * daemon away from the same file.
 *
 * `memory:` is the same store on SQLite's in-memory file system. */
#include "server/jobs/crash_mark.h"
#include "server/jobs/store_sqlite_int.h"
#include "server/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { READERS = 4, BUSY_MS = 10000, PATH_ROOM = 1200 };

static const char *const sql_texts[] = {
#define X(name, text) text,
    SQL_LIST(X)
#undef X
};

/* ---- statements ------------------------------------------------------------------------------------------------- */

sqlite3_stmt *sql_use(sql_connection *c, sql_name name) {
    sqlite3_stmt **statement = &c->statements[name];
    if (!*statement) {
        int rc = sqlite3_prepare_v3(c->db, sql_texts[name], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
        if (rc != SQLITE_OK) return NULL;
    }
    sqlite3_reset(*statement);
    sqlite3_clear_bindings(*statement);
    return *statement;
}

bool sql_step_done(sqlite3_stmt *statement) {
    int rc;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
    } /* a pragma may answer with a row */
    sqlite3_reset(statement);
    return rc == SQLITE_DONE;
}

bool sql_run(sql_connection *c, sql_name name) {
    sqlite3_stmt *statement = sql_use(c, name);
    return statement && sql_step_done(statement);
}

bool sql_run_with(sql_connection *c, sql_name name, const int64_t *values, int count) {
    sqlite3_stmt *statement = sql_use(c, name);
    for (int i = 0; statement && i < count; i++) sqlite3_bind_int64(statement, i + 1, values[i]);
    return statement && sql_step_done(statement);
}

bool sql_bind_text(sqlite3_stmt *statement, int at, const char *text) {
    return (text ? sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC) : sqlite3_bind_null(statement, at)) ==
           SQLITE_OK;
}

void sql_complain(sqlite_store *s, const sql_connection *c, const char *what) {
    log_write(s->log, LOG_ERROR, "store",
              LOG_FIELDS(log_text("operation", what), log_text("message", sqlite3_errmsg(c->db)),
                         log_number("code", sqlite3_extended_errcode(c->db))));
}

/* ---- the writer ------------------------------------------------------------------------------------------------- */

static void run_operation(sqlite_store *s, sql_operation *operation) {
    sql_connection *c = &s->writer;
    if (!sql_run(c, SQL_SAVE)) {
        operation->result = STORE_FAILED;
        return;
    }
    operation->result = operation->run(c, operation);
    if (operation->result == STORE_FAILED) {
        sql_complain(s, c, "change");
        sql_run(c, SQL_UNDO);
    }
    sql_run(c, SQL_KEEP);
}

static bool any_durable(const sql_operation *first) {
    for (const sql_operation *o = first; o; o = o->next) {
        if (o->durable) return true;
    }
    return false;
}

static void run_batch(sqlite_store *s, sql_operation *first) {
    sql_connection *c = &s->writer;
    bool durable = any_durable(first), committed = false;
    if (!s->in_memory) sql_run(c, durable ? SQL_SYNC_FULL : SQL_SYNC_NORMAL);
    if (sql_run(c, SQL_BEGIN)) {
        for (sql_operation *o = first; o; o = o->next) run_operation(s, o);
        /* A full disk may have ended the transaction: then there is nothing to commit and nothing was stored. */
        committed = !sqlite3_get_autocommit(c->db) && sql_run(c, SQL_COMMIT);
    }
    if (committed) return;
    sql_complain(s, c, "commit");
    if (!sqlite3_get_autocommit(c->db)) sql_run(c, SQL_ROLLBACK);
    for (sql_operation *o = first; o; o = o->next) o->result = STORE_FAILED;
}

static void *write_changes(void *context) {
    sqlite_store *s = context;
    pthread_setname_np(pthread_self(), "hamel-store");
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->closing) pthread_cond_wait(&s->given, &s->lock);
        sql_operation *batch = s->first;
        if (!batch) break;
        s->first = s->last = NULL;
        pthread_mutex_unlock(&s->lock);
        double begin = stamp_seconds();
        run_batch(s, batch);
        size_t changes = 0;
        for (const sql_operation *o = batch; o; o = o->next) changes++;
        metrics_commit(s->metrics, changes, stamp_seconds() - begin);
        pthread_mutex_lock(&s->lock);
        for (sql_operation *o = batch, *next; o; o = next) {
            next = o->next; /* read before its owner may go on */
            o->done = true;
        }
        s->changes++;
        pthread_cond_broadcast(&s->done);
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

store_status sql_change(sqlite_store *s, sql_operation *operation) {
    pthread_mutex_lock(&s->lock);
    operation->next = NULL;
    if (s->last) {
        s->last->next = operation;
    } else {
        s->first = operation;
    }
    s->last = operation;
    pthread_cond_signal(&s->given);
    while (!operation->done) pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return operation->result;
}

/* ---- readers ---------------------------------------------------------------------------------------------------- */

sql_connection *sql_reader(sqlite_store *s) {
    pthread_mutex_lock(&s->lock);
    while (!s->readers) pthread_cond_wait(&s->reader_free, &s->lock);
    sql_connection *c = s->readers;
    s->readers = c->next;
    pthread_mutex_unlock(&s->lock);
    return c;
}

void sql_reader_back(sqlite_store *s, sql_connection *c) {
    /* An open statement would hold its snapshot, and the write-ahead log could not be reset. */
    for (size_t i = 0; i < SQL_TOTAL; i++) sqlite3_reset(c->statements[i]);
    for (size_t i = 0; i < SQL_FILTERS; i++) sqlite3_reset(c->lists[i]);
    pthread_mutex_lock(&s->lock);
    c->next = s->readers;
    s->readers = c;
    pthread_cond_signal(&s->reader_free);
    pthread_mutex_unlock(&s->lock);
}

/* ---- open and close --------------------------------------------------------------------------------------------- */

static void disconnect(sql_connection *c) {
    for (size_t i = 0; i < SQL_TOTAL; i++) sqlite3_finalize(c->statements[i]);
    for (size_t i = 0; i < SQL_FILTERS; i++) sqlite3_finalize(c->lists[i]);
    sqlite3_close(c->db);
    *c = (sql_connection){0};
}

static bool connect(sql_connection *c, const char *name, bool writer) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | (writer ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(name, &c->db, flags, NULL) != SQLITE_OK) return false;
    sqlite3_extended_result_codes(c->db, 1);
    sqlite3_busy_timeout(c->db, BUSY_MS);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return sql_execute(c, "PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON;") &&
           (writer || sql_execute(c, "PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0;"));
}

static bool count_crashes(sqlite_store *s) {
    crash_mark mark;
    off_t at = 0;
    while (s->crash_file >= 0 && pread(s->crash_file, &mark, sizeof mark, at) == (ssize_t)sizeof mark) {
        sqlite3_stmt *count = sql_use(&s->writer, SQL_COUNT_CRASH);
        if (!count) return false;
        sqlite3_bind_int64(count, 1, mark.number);
        sqlite3_bind_int64(count, 2, mark.attempt);
        if (!sql_step_done(count)) return false;
        at += (off_t)sizeof mark;
    }
    return true;
}

/* What ran when the last process ended goes back to the queue. A job that crashes the daemon again and again is given
 * up; so is one that never stores a row in a great many attempts (it may use up the memory of the machine, which ends
 * the daemon without a mark). */
static bool recover(sqlite_store *s) {
    static const char crash[] =
        "{\"type\":\"/problems/crashed\",\"title\":\"The run crashed the server\",\"status\":500,"
        "\"detail\":\"the server ended during each of the last attempts to run this job\"}";
    sql_connection *c = &s->writer;
    if (!sql_run(c, SQL_BEGIN) || !count_crashes(s)) return false;
    sqlite3_stmt *canceled = sql_use(c, SQL_RECOVER_CANCELED);
    sqlite3_stmt *crashed = sql_use(c, SQL_RECOVER_POISON);
    if (!canceled || !crashed) return false;
    sqlite3_bind_int64(canceled, 1, stamp_wall_ms());
    sqlite3_bind_int64(crashed, 1, stamp_wall_ms());
    sqlite3_bind_int(crashed, 3, JOB_CRASHES_MAX);
    sqlite3_bind_int(crashed, 4, JOB_FRUITLESS_MAX);
    bool done = sql_bind_text(crashed, 2, crash) && sql_step_done(canceled) && sql_step_done(crashed) &&
                sql_run(c, SQL_RECOVER_RUNNING) && sql_run(c, SQL_COMMIT);
    /* Marks are of attempts, so counting one twice is the worst that a crash right here can do. */
    return done && (s->crash_file < 0 || ftruncate(s->crash_file, 0) == 0);
}

static void destroy(sqlite_store *s) {
    while (s->readers) {
        sql_connection *c = s->readers;
        s->readers = c->next;
        disconnect(c);
        free(c);
    }
    disconnect(&s->writer); /* last: closing it checkpoints and removes the write-ahead log */
    if (s->crash_file >= 0) {
        crash_marks_end();
        close(s->crash_file);
    }
    if (s->lock_file >= 0) close(s->lock_file);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->given);
    pthread_cond_destroy(&s->done);
    pthread_cond_destroy(&s->changed);
    pthread_cond_destroy(&s->reader_free);
    free(s);
}

static sqlite_store *create(const store_kind *kind, server_log *log, metrics *counters) {
    sqlite_store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->base.kind = kind;
    s->log = log;
    s->metrics = counters;
    s->lock_file = s->crash_file = -1;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->given, NULL);
    pthread_cond_init(&s->done, NULL);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_cond_init(&s->reader_free, NULL);
    pthread_condattr_destroy(&monotonic);
    return s;
}

static bool open_readers(sqlite_store *s, const char *name) {
    for (size_t i = 0; i < READERS; i++) {
        sql_connection *c = calloc(1, sizeof *c);
        if (!c) return false;
        c->next = s->readers;
        s->readers = c;
        if (!connect(c, name, false)) return false;
    }
    return true;
}

static store *open_named(sqlite_store *s, const char *name, char *message, size_t room) {
    bool good = false;
    if (!connect(&s->writer, name, true)) {
        snprintf(message, room, "the store cannot be opened: %s", sqlite3_errmsg(s->writer.db));
    } else if (sql_migrate(&s->writer, s->in_memory, message, room)) {
        good = recover(s) && open_readers(s, name);
        if (!good) snprintf(message, room, "the store cannot be used: %s", sqlite3_errmsg(s->writer.db));
    }
    if (good && pthread_create(&s->writer_thread, NULL, write_changes, s) != 0) {
        snprintf(message, room, "no thread for the store");
        good = false;
    }
    if (good) {
        if (s->crash_file >= 0) crash_marks_begin(s->crash_file);
        return &s->base;
    }
    destroy(s);
    return NULL;
}

/* Locks and shared memory of SQLite do not work there. */
static bool on_network(int descriptor) {
    struct statfs about;
    if (fstatfs(descriptor, &about) != 0) return false;
    unsigned long type = (unsigned long)about.f_type & 0xffffffffUL;
    return type == NFS_SUPER_MAGIC || type == SMB_SUPER_MAGIC || type == CIFS_SUPER_MAGIC || type == SMB2_SUPER_MAGIC;
}

static bool take_lock(sqlite_store *s, const char *path, char *message, size_t room) {
    char name[PATH_ROOM];
    snprintf(name, sizeof name, "%s.lock", path);
    s->lock_file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock_file < 0) {
        snprintf(message, room, "%.300s: %s", name, strerror(errno));
    } else if (on_network(s->lock_file)) {
        snprintf(message, room, "%.300s: a store must not lie on a network file system", path);
    } else if (flock(s->lock_file, LOCK_EX | LOCK_NB) != 0) {
        snprintf(message, room, "%.300s: another daemon uses this store", path);
    } else {
        snprintf(name, sizeof name, "%s.crash", path);
        s->crash_file = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (s->crash_file >= 0) return true;
        snprintf(message, room, "%.300s: %s", name, strerror(errno));
    }
    return false;
}

static store *open_file(const char *url, server_log *log, metrics *counters, char *message, size_t room) {
    const char *path = url + strlen(store_kind_sqlite.scheme);
    char name[PATH_ROOM];
    if (!*path || strlen(path) > PATH_ROOM - 64 || strpbrk(path, "?#%")) {
        snprintf(message, room, "--store: '%.200s' is not a usable path", path);
        return NULL;
    }
    snprintf(name, sizeof name, "file:%s", path);
    sqlite_store *s = create(&store_kind_sqlite, log, counters);
    if (!s) {
        snprintf(message, room, "out of memory");
        return NULL;
    }
    if (take_lock(s, path, message, room)) return open_named(s, name, message, room);
    destroy(s);
    return NULL;
}

static store *open_memory(const char *url, server_log *log, metrics *counters, char *message, size_t room) {
    char name[80], id[STAMP_ID_BYTES];
    sqlite_store *s = create(&store_kind_memory, log, counters);
    (void)url;
    if (!s || !stamp_id(id)) {
        snprintf(message, room, "out of memory");
        if (s) destroy(s);
        return NULL;
    }
    s->in_memory = true;
    snprintf(name, sizeof name, "file:/%s?vfs=memdb", id); /* a name of its own: no other store of this process */
    return open_named(s, name, message, room);
}

static void close_store(store *base) {
    sqlite_store *s = (sqlite_store *)base;
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->given);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->writer_thread, NULL);
    destroy(s);
}

#define FUNCTIONS                                                                                                   \
    .close = close_store, .submit = sql_submit, .claim = sql_claim, .begin = sql_begin, .append = sql_append,       \
    .finish = sql_finish, .hand_back = sql_hand_back, .cancel = sql_cancel, .forget = sql_forget, .find = sql_find, \
    .list = sql_list, .description = sql_description, .known_key = sql_known_key, .chunk_at = sql_chunk_at,         \
    .submit_batch = sql_submit_batch, .cancel_batch = sql_cancel_batch, .forget_batch = sql_forget_batch,           \
    .expire = sql_expire, .find_batch = sql_find_batch, .list_batches = sql_list_batches, .members = sql_members,   \
    .event_at = sql_event_at, .row_at_time = sql_row_at_time, .counts = sql_counts, .healthy = sql_healthy,         \
    .wait = sql_wait

const store_kind store_kind_sqlite = {.scheme = "sqlite:", .open = open_file, .backup = sql_backup, FUNCTIONS};
const store_kind store_kind_memory = {.scheme = "memory:", .open = open_memory, FUNCTIONS};
