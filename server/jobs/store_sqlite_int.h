/* store_sqlite_int.h — what the files of the SQLite store share; see store_sqlite.c for the design. */
#ifndef HAMEL_SERVER_JOBS_STORE_SQLITE_INT_H
#define HAMEL_SERVER_JOBS_STORE_SQLITE_INT_H

#include "server/jobs/store_sqlite.h"
#include "server/log.h"
#include "server/metrics.h"

#include <pthread.h>
#include <sqlite3.h>

/* Every statement of the store: a name and its text. Prepared once for each connection, when first used. The columns of
 * a job stand in one order everywhere: sql_read_job; those of a batch: sql_read_batch. */
#define SQL_JOB_COLUMNS                                                                                            \
    "number, id, name, status, progress, created, started, finished, revision, attempt, cancel, header, summary, " \
    "problem, owner, member, assignments, collected, (SELECT b.id FROM batches AS b WHERE b.number=jobs.batch)"
#define SQL_BATCH_COLUMNS "number, id, name, created, plan"

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
    X(RECOVER_POISON, "UPDATE jobs SET status=4, finished=?1, problem=?2, revision=revision+1 WHERE status=1 AND "     \
                      "(crashes>?3 OR fruitless>?4)")                                                                  \
    X(RECOVER_RUNNING, "UPDATE jobs SET status=0, revision=revision+1 WHERE status=1")                                 \
    X(INSERT_JOB, "INSERT INTO jobs(id, name, status, created, key, owner, bytes, batch, member, assignments) "        \
                  "VALUES(?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")                                                     \
    X(INSERT_DESCRIPTION, "INSERT INTO descriptions(job, body) VALUES(?1, ?2)")                                        \
    X(FIND_KEY, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE key=?1")                                                   \
    X(FIND_ID, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE id=?1 AND (?2 IS NULL OR owner=?2)")                        \
    X(FIND_NUMBER, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number=?1")                                             \
    X(OWNER, "SELECT queued+running, bytes FROM owners WHERE owner=?1")                                                \
    X(NEXT_OWNER, "SELECT owner FROM owners WHERE queued>0 ORDER BY running, turn LIMIT 1")                            \
    X(TAKE_TURN, "UPDATE owners SET turn=(SELECT max(turn)+1 FROM owners) WHERE owner=?1")                             \
    X(OLDEST_QUEUED, "SELECT number FROM jobs WHERE status=0 AND owner=?1 ORDER BY number LIMIT 1")                    \
    X(START, "UPDATE jobs SET status=1, started=?2, attempt=attempt+1, fruitless=fruitless+1, revision=revision+1 "    \
             "WHERE number=?1")                                                                                        \
    X(LOSE, "UPDATE jobs SET status=4, finished=?2, problem=?3, revision=revision+1 WHERE number=?1")                  \
    X(DESCRIPTION, "SELECT body FROM descriptions WHERE job=(SELECT iif(assignments IS NULL, number, -batch) FROM "    \
                   "jobs WHERE number=?1)")                                                                            \
    X(BODY, "SELECT body FROM descriptions WHERE job=?1")                                                              \
    X(HEADER_OF_RUN, "SELECT header FROM jobs WHERE number=?1 AND attempt=?2 AND status=1")                            \
    X(SET_HEADER, "UPDATE jobs SET header=?2, revision=revision+1 WHERE number=?1")                                    \
    X(STORED_ROWS, "SELECT first+rows FROM chunks WHERE job=?1 ORDER BY first DESC LIMIT 1")                           \
    X(UNCOUNT_ROWS, "UPDATE jobs SET bytes=coalesce((SELECT length(body) FROM descriptions WHERE job=?1), 0) "         \
                    "WHERE number=?1")                                                                                 \
    X(DROP_ROWS, "DELETE FROM chunks WHERE job=?1")                                                                    \
    X(DROP_DESCRIPTION, "DELETE FROM descriptions WHERE job=?1")                                                       \
    X(DROP_JOB, "DELETE FROM jobs WHERE number=?1")                                                                    \
    X(ADVANCE, "UPDATE jobs SET progress=?3, revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")         \
    X(COUNT_CHUNK, "UPDATE jobs SET fruitless=0, bytes=bytes+?2 WHERE number=?1")                                      \
    X(INSERT_CHUNK, "INSERT INTO chunks(job, first, rows, columns, t_last, data) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")      \
    X(FINISH, "UPDATE jobs SET status=?3, progress=?4, finished=?5, summary=?6, problem=?7, collected=?8, "            \
              "revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")                                       \
    X(HAND_BACK, "UPDATE jobs SET status=0, fruitless=max(fruitless-1, 0), revision=revision+1 WHERE number=?1 "       \
                 "AND attempt=?2 AND status=1")                                                                        \
    X(CANCEL_QUEUED, "UPDATE jobs SET status=5, cancel=1, finished=?2, revision=revision+1 WHERE number=?1 AND "       \
                     "status=0")                                                                                       \
    X(CANCEL_RUNNING, "UPDATE jobs SET cancel=1, revision=revision+1 WHERE number=?1 AND status=1 AND cancel=0")       \
    X(CHUNK, "SELECT first, rows, columns, data FROM chunks WHERE job=?1 AND first<=?2 ORDER BY first DESC LIMIT 1")   \
    X(CHUNK_AT_TIME, "SELECT first FROM chunks WHERE job=?1 AND t_last>=?2 ORDER BY first LIMIT 1")                    \
    X(STORED_EVENTS, "SELECT count(*) FROM events WHERE job=?1")                                                       \
    X(INSERT_EVENT, "INSERT INTO events(job, number, row, json) VALUES(?1, ?2, ?3, ?4)")                               \
    X(EVENT, "SELECT row, json FROM events WHERE job=?1 AND number=?2")                                                \
    X(DROP_EVENTS, "DELETE FROM events WHERE job=?1")                                                                  \
    X(INSERT_BATCH, "INSERT INTO batches(id, name, created, key, owner, plan) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")         \
    X(FIND_BATCH, "SELECT " SQL_BATCH_COLUMNS " FROM batches WHERE id=?1 AND (?2 IS NULL OR owner=?2)")                \
    X(FIND_BATCH_KEY, "SELECT " SQL_BATCH_COLUMNS " FROM batches WHERE key=?1")                                        \
    X(LIST_BATCHES, "SELECT " SQL_BATCH_COLUMNS " FROM batches WHERE number<?1 ORDER BY number DESC LIMIT ?2")         \
    X(LIST_OWN_BATCHES, "SELECT " SQL_BATCH_COLUMNS " FROM batches WHERE number<?1 AND owner=?3 ORDER BY number "      \
                        "DESC LIMIT ?2")                                                                               \
    X(COUNT_MEMBERS, "SELECT status, count(*) FROM jobs WHERE batch=?1 AND batch<>0 GROUP BY status")                  \
    X(MEMBERS, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE batch=?1 AND batch<>0 AND member>=?2 ORDER BY member "      \
               "LIMIT ?3")                                                                                             \
    X(CANCEL_QUEUED_MEMBERS, "UPDATE jobs SET status=5, cancel=1, finished=?2, revision=revision+1 WHERE batch=?1 "    \
                             "AND batch<>0 AND status=0")                                                              \
    X(CANCEL_RUNNING_MEMBERS, "UPDATE jobs SET cancel=1, revision=revision+1 WHERE batch=?1 AND batch<>0 AND "         \
                              "status=1 AND cancel=0")                                                                 \
    X(SOME_MEMBERS, "SELECT number FROM jobs WHERE batch=?1 AND batch<>0 LIMIT ?2")                                    \
    X(DROP_BATCH, "DELETE FROM batches WHERE number=?1")                                                               \
    X(DROP_EMPTY_BATCHES, "DELETE FROM batches WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE "                            \
                          "jobs.batch=batches.number AND jobs.batch<>0)")                                              \
    X(DROP_BATCH_BODIES, "DELETE FROM descriptions WHERE job<0 AND -job NOT IN (SELECT number FROM batches)")          \
    X(OLDEST_ENDED, "SELECT number, finished, bytes FROM jobs WHERE status>=2 ORDER BY finished LIMIT ?1")             \
    X(COUNT_JOBS, "SELECT coalesce(sum(queued), 0), coalesce(sum(running), 0), coalesce(sum(bytes), 0) FROM owners")   \
    X(FIRST_QUEUED, "SELECT created FROM jobs WHERE status=0 ORDER BY number LIMIT 1")                                 \
    X(HEALTH, "SELECT 1 FROM sqlite_schema LIMIT 1")
/* clang-format on */

typedef enum sql_name {
#define X(name, text) SQL_##name,
    SQL_LIST(X)
#undef X
        SQL_TOTAL
} sql_name;

/* Lists filter by any of four things: a statement for each combination, made when first used. */
enum { SQL_BY_STATUS = 1, SQL_BY_NAME = 2, SQL_BY_OWNER = 4, SQL_BY_BATCH = 8, SQL_FILTERS = 16 };

/* A connection belongs to one thread at a time. */
typedef struct sql_connection {
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_TOTAL], *lists[SQL_FILTERS];
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
bool sql_run_with(sql_connection *c, sql_name name, const int64_t *values, int count); /* integer parameters, no rows */
bool sql_step_done(sqlite3_stmt *statement); /* steps a statement without rows, and resets it */
bool sql_bind_text(sqlite3_stmt *statement, int at, const char *text); /* NULL: SQL NULL; borrowed until the reset */
store_status sql_change(sqlite_store *s, sql_operation *operation);    /* waits until it is committed */
sql_connection *sql_reader(sqlite_store *s);
void sql_reader_back(sqlite_store *s, sql_connection *c);
void sql_complain(sqlite_store *s, const sql_connection *c, const char *what);
#define SQL_RUN_WITH(c, name, ...)                        \
    sql_run_with(c, name, (const int64_t[]){__VA_ARGS__}, \
                 (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

/* store_sqlite_schema.c: brings the file to this release's schema. False with a message. */
bool sql_migrate(sql_connection *c, bool in_memory, char *message, size_t room);
bool sql_execute(sql_connection *c, const char *sql);

/* store_sqlite_backup.c */
bool sql_backup(const char *url, const char *path, char *message, size_t room);

/* store_sqlite_rows.c: what a statement that stands on a row, or has ended, says. */
bool sql_read_job(sqlite3_stmt *statement, job *out);         /* false without memory */
bool sql_read_batch(sqlite3_stmt *statement, job_batch *out); /* without its counts */
bool sql_read_blob(sqlite3_stmt *statement, int column, char **bytes, size_t *length);
store_status sql_row_status(sqlite_store *s, sql_connection *c, int rc, bool read); /* of one that was to give a row */
store_status sql_same_body(sql_connection *c, int64_t description, const job_submission *submission);

/* An owner's key as it is stored: keys of different owners never meet. */
enum { SQL_KEY_BYTES = 512 };
const char *sql_key(const job_submission *submission, char out[SQL_KEY_BYTES]); /* NULL without a key */

/* store_sqlite_write.c */
store_status sql_submit(store *s, const job_submission *submission, job *out);
store_status sql_claim(store *s, job *out, char **body, size_t *length);
store_status sql_begin(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows, int64_t *events);
store_status sql_append(store *s, int64_t number, int64_t attempt, const job_output *output, double progress);
store_status sql_finish(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end);
store_status sql_hand_back(store *s, int64_t number, int64_t attempt, const job_output *output);
store_status sql_cancel(store *s, const char *id, const char *owner, job *out);
store_status sql_forget(store *s, const char *id, const char *owner, int64_t *number);
store_status sql_check_quota(sql_connection *c, const job_submission *submission, size_t jobs);
bool sql_insert_job(sql_connection *c, const job_submission *sent, const char *id, int64_t batch,
                    const batch_member *member, int64_t position);
bool sql_insert_body(sql_connection *c, int64_t description, const char *body, size_t length);
bool sql_drop_job(sql_connection *c, int64_t number);

/* store_sqlite_batch.c */
store_status sql_submit_batch(store *s, const batch_submission *submission, job_batch *out);
store_status sql_cancel_batch(store *s, const char *id, const char *owner, job_batch *out);
store_status sql_forget_batch(store *s, const char *id, const char *owner, size_t most);
store_status sql_expire(store *s, int64_t ended_before, double bytes, size_t most, size_t *count);
store_status sql_find_batch(store *s, const char *id, const char *owner, job_batch *out);
store_status sql_list_batches(store *s, const job_query *query, job_batch *out, size_t *count);
store_status sql_members(store *s, int64_t batch, int64_t first, size_t limit, job *out, size_t *count);

/* store_sqlite_read.c */
store_status sql_find(store *s, const char *id, const char *owner, job *out);
store_status sql_list(store *s, const job_query *query, job *out, size_t *count);
store_status sql_description(store *s, const job *j, char **body, size_t *length);
store_status sql_known_key(store *s, const job_submission *submission, job *out);
store_status sql_chunk_at(store *s, int64_t number, int64_t row, row_chunk *out);
store_status sql_event_at(store *s, int64_t number, int64_t event, job_event *out);
store_status sql_row_at_time(store *s, int64_t number, double t, int64_t *row);
store_status sql_counts(store *s, store_counts *out);
bool sql_healthy(store *s);
void sql_wait(store *s, uint64_t *seen, double seconds);

#endif
