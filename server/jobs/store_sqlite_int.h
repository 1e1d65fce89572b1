/* store_sqlite_int.h — what the files of the SQLite store share; see store_sqlite.c for the design. */
#ifndef HAMEL_SERVER_JOBS_STORE_SQLITE_INT_H
#define HAMEL_SERVER_JOBS_STORE_SQLITE_INT_H

#include "server/jobs/store_sqlite.h"
#include "server/log.h"
#include "server/metrics.h"

#include <pthread.h>
#include <sqlite3.h>

/* Every statement of the store: a name and its text. Prepared once for each connection, when first used. The columns of
 * a job stand in one order everywhere: sql_read_job. */
#define SQL_JOB_COLUMNS                                                                                            \
    "number, id, name, status, progress, created, started, finished, revision, attempt, cancel, header, summary, " \
    "problem"

/* clang-format off */
#define SQL_LIST(X)                                                                                                    \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                                        \
    X(COMMIT, "COMMIT")                                                                                                \
    X(ROLLBACK, "ROLLBACK")                                                                                            \
    X(SAVE, "SAVEPOINT operation")                                                                                     \
    X(UNDO, "ROLLBACK TO operation")                                                                                   \
    X(KEEP, "RELEASE operation")                                                                                       \
    X(SYNC_FULL, "PRAGMA synchronous=FULL")                                                                            \
    X(SYNC_NORMAL, "PRAGMA synchronous=NORMAL")                                                                        \
    X(COUNT_CRASH, "UPDATE jobs SET crashes=crashes+1 WHERE number=?1 AND attempt=?2 AND status=1")                    \
    X(RECOVER_CANCELED, "UPDATE jobs SET status=5, finished=?1, revision=revision+1 WHERE status=1 AND cancel=1")      \
    X(RECOVER_POISON, "UPDATE jobs SET status=4, finished=?1, problem=?2, revision=revision+1 "                        \
                      "WHERE status=1 AND (crashes>?3 OR fruitless>?4)")                                               \
    X(RECOVER_RUNNING, "UPDATE jobs SET status=0, revision=revision+1 WHERE status=1")                                 \
    X(INSERT_JOB, "INSERT INTO jobs(id, name, status, created, key) VALUES(?1, ?2, 0, ?3, ?4)")                        \
    X(INSERT_DESCRIPTION, "INSERT INTO descriptions(job, body) VALUES(?1, ?2)")                                        \
    X(FIND_KEY, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE key=?1")                                                   \
    X(FIND_ID, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE id=?1")                                                     \
    X(FIND_NUMBER, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number=?1")                                             \
    X(OLDEST_QUEUED, "SELECT number FROM jobs WHERE status=0 ORDER BY number LIMIT 1")                                 \
    X(START, "UPDATE jobs SET status=1, started=?2, attempt=attempt+1, fruitless=fruitless+1, revision=revision+1 "    \
             "WHERE number=?1")                                                                                        \
    X(DESCRIPTION, "SELECT body FROM descriptions WHERE job=?1")                                                       \
    X(DESCRIPTION_BY_ID, "SELECT body FROM descriptions WHERE job=(SELECT number FROM jobs WHERE id=?1)")              \
    X(HEADER_OF_RUN, "SELECT header FROM jobs WHERE number=?1 AND attempt=?2 AND status=1")                            \
    X(SET_HEADER, "UPDATE jobs SET header=?2, revision=revision+1 WHERE number=?1")                                    \
    X(STORED_ROWS, "SELECT first+rows FROM chunks WHERE job=?1 ORDER BY first DESC LIMIT 1")                           \
    X(DROP_ROWS, "DELETE FROM chunks WHERE job=?1")                                                                    \
    X(DROP_DESCRIPTION, "DELETE FROM descriptions WHERE job=?1")                                                       \
    X(DROP_JOB, "DELETE FROM jobs WHERE number=?1")                                                                    \
    X(ADVANCE, "UPDATE jobs SET progress=?3, revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")         \
    X(FRUIT, "UPDATE jobs SET fruitless=0 WHERE number=?1")                                                            \
    X(INSERT_CHUNK, "INSERT INTO chunks(job, first, rows, columns, t_last, data) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")      \
    X(FINISH, "UPDATE jobs SET status=?3, progress=?4, finished=?5, summary=?6, problem=?7, revision=revision+1 "      \
              "WHERE number=?1 AND attempt=?2 AND status=1")                                                           \
    X(HAND_BACK, "UPDATE jobs SET status=0, fruitless=max(fruitless-1, 0), revision=revision+1 "                       \
                 "WHERE number=?1 AND attempt=?2 AND status=1")                                                        \
    X(CANCEL_QUEUED, "UPDATE jobs SET status=5, cancel=1, finished=?2, revision=revision+1 "                           \
                     "WHERE number=?1 AND status=0")                                                                   \
    X(CANCEL_RUNNING, "UPDATE jobs SET cancel=1, revision=revision+1 WHERE number=?1 AND status=1 AND cancel=0")       \
    X(LIST, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number<?1 ORDER BY number DESC LIMIT ?2")                      \
    X(LIST_STATUS, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number<?1 AND status=?3 ORDER BY number DESC LIMIT ?2") \
    X(LIST_NAME, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number<?1 AND name=?4 ORDER BY number DESC LIMIT ?2")     \
    X(LIST_BOTH, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number<?1 AND status=?3 AND name=?4 "                     \
                 "ORDER BY number DESC LIMIT ?2")                                                                      \
    X(CHUNK, "SELECT first, rows, columns, data FROM chunks WHERE job=?1 AND first<=?2 ORDER BY first DESC LIMIT 1")   \
    X(CHUNK_AT_TIME, "SELECT first FROM chunks WHERE job=?1 AND t_last>=?2 ORDER BY first LIMIT 1")                    \
    X(COUNT_STATUS, "SELECT count(*), coalesce(min(created), 0) FROM jobs WHERE status=?1")                            \
    X(COUNT_BYTES, "SELECT (page_count - freelist_count) * page_size "                                                 \
                   "FROM pragma_page_count, pragma_freelist_count, pragma_page_size")                                  \
    X(HEALTH, "SELECT 1 FROM sqlite_schema LIMIT 1")
/* clang-format on */

typedef enum sql_name {
#define X(name, text) SQL_##name,
    SQL_LIST(X)
#undef X
        SQL_TOTAL
} sql_name;

/* A connection belongs to one thread at a time. */
typedef struct sql_connection {
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_TOTAL];
    struct sql_connection *next; /* among the free readers */
} sql_connection;

/* A change, made on the writer's thread. `run` answers STORE_FAILED to have it undone. */
typedef struct sql_operation {
    store_status (*run)(sql_connection *c, struct sql_operation *self);
    bool durable;
    bool done;
    store_status result;
    struct sql_operation *next;
} sql_operation;

typedef struct sqlite_store {
    store base;
    server_log *log;
    metrics *metrics;
    int lock_file;  /* -1: none */
    int crash_file; /* of crash marks; -1: none */
    bool in_memory;

    sql_connection writer; /* of the writer's thread */
    pthread_t writer_thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t given, done, changed, reader_free;
    sql_operation *first, *last;
    bool closing;
    uint64_t changes;
    sql_connection *readers; /* the free ones */
    size_t reader_count, readers_out;
} sqlite_store;

/* store_sqlite.c */
sqlite3_stmt *sql_use(sql_connection *c,
                      sql_name name);           /* reset and without bindings; NULL when it cannot be prepared */
bool sql_run(sql_connection *c, sql_name name); /* a statement without parameters or rows */
bool sql_step_done(sqlite3_stmt *statement);    /* steps a statement without rows, and resets it */
bool sql_bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: SQL NULL; borrowed until the reset */
store_status sql_change(sqlite_store *s, sql_operation *operation);    /* waits until it is committed */
sql_connection *sql_reader(sqlite_store *s);
void sql_reader_back(sqlite_store *s, sql_connection *c);
void sql_complain(sqlite_store *s, const sql_connection *c, const char *what);

/* Reads the row that `statement` stands on. False without memory. */
bool sql_read_job(sqlite3_stmt *statement, job *out);
bool sql_read_blob(sqlite3_stmt *statement, int column, char **bytes, size_t *length);
store_status sql_same_body(sql_connection *c, const job *known, const job_submission *submission);

/* store_sqlite_write.c */
store_status sql_submit(store *s, const job_submission *submission, job *out);
store_status sql_claim(store *s, job *out, char **body, size_t *length);
store_status sql_begin(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows);
store_status sql_append(store *s, int64_t number, int64_t attempt, const row_chunk *chunk, double progress);
store_status sql_finish(store *s, int64_t number, int64_t attempt, const row_chunk *chunk, const job_end *end);
store_status sql_hand_back(store *s, int64_t number, int64_t attempt, const row_chunk *chunk);
store_status sql_cancel(store *s, const char *id, job *out);
store_status sql_forget(store *s, const char *id, int64_t *number);

/* store_sqlite_read.c */
store_status sql_find(store *s, const char *id, job *out);
store_status sql_list(store *s, const job_query *query, job *out, size_t *count);
store_status sql_description(store *s, const char *id, char **body, size_t *length);
store_status sql_known_key(store *s, const job_submission *submission, job *out);
store_status sql_chunk_at(store *s, int64_t number, int64_t row, row_chunk *out);
store_status sql_row_at_time(store *s, int64_t number, double t, int64_t *row);
store_status sql_counts(store *s, store_counts *out);
bool sql_healthy(store *s);
void sql_wait(store *s, uint64_t *seen, double seconds);

#endif
