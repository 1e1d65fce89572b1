/* store_sql.h — jobs in a database that speaks SQL: what the stores on SQLite and PostgreSQL share.
 *
 * The statements, what they are bound to and what is made of their rows are the same for both. A driver (sql_driver)
 * runs them; it has besides what its database does in its own way: transactions, claims, the schema. Statements are
 * written in what both speak, with parameters as ?1, ?2, ... and with the function hamel_now() of the store: the time
 * in milliseconds since 1970 by the one clock that counts, which is the database's where many machines share it.
 *
 * Each statement that changes a job's state names the state it expects, in one statement, so that it holds whatever
 * others do at the same time. */
#ifndef HAMEL_SERVER_JOBS_STORE_SQL_H
#define HAMEL_SERVER_JOBS_STORE_SQL_H

#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"

#include <pthread.h>

/* The columns of a job stand in one order everywhere: sql_read_job; those of a batch: sql_read_batch. */
#define SQL_JOB_COLUMNS                                                                                            \
    "number, id, name, status, progress, created, started, finished, revision, attempt, cancel, header, summary, " \
    "problem, owner, member, assignments, collected, (SELECT b.id FROM batches AS b WHERE b.number=jobs.batch)"
#define SQL_BATCH_COLUMNS "number, id, name, created, plan"

/* The same columns in lists, which need neither header, summary nor plan; these may be large. */
#define SQL_LISTED_JOB_COLUMNS                                                                                \
    "number, id, name, status, progress, created, started, finished, revision, attempt, cancel, NULL, NULL, " \
    "problem, owner, member, NULL, NULL, (SELECT b.id FROM batches AS b WHERE b.number=jobs.batch)"
#define SQL_LISTED_BATCH_COLUMNS "number, id, name, created, ''"
#define SQL_MEMBER_COLUMNS                                                                                       \
    "number, id, name, status, progress, created, started, finished, revision, attempt, cancel, NULL, summary, " \
    "problem, owner, member, assignments, collected, NULL"

/* One page of rows: those that `where` selects, ?2 at most, and no more than are read before SQL_PAGE_BYTES of `size`
 * have come. The column behind `columns` is the number of rows without the second bound. The sizes are summed apart
 * from the columns, so that a text that is left out is not read. */
#define SQL_PAGE_BYTES "262144"
#define SQL_PAGE(columns, table, size, where, order)                                                                   \
    "SELECT " columns ", matched FROM (SELECT n, count(*) OVER () AS matched, sum(size) OVER (ORDER BY n " order       \
    " ROWS UNBOUNDED PRECEDING)-size AS before FROM (SELECT number AS n, " size " AS size FROM " table " WHERE " where \
    " ORDER BY number " order " LIMIT ?2) AS picked) AS page JOIN " table " ON number=n WHERE before<" SQL_PAGE_BYTES  \
    " ORDER BY number " order
#define SQL_CANCEL_THOSE                                                                                        \
    "UPDATE jobs SET status=CASE WHEN status=0 THEN 5 ELSE status END, finished=CASE WHEN status=0 THEN "       \
    "hamel_now() ELSE finished END, cancel=1, revision=revision+1 WHERE (status=0 OR (status=1 AND cancel=0)) " \
    "AND "

/* clang-format off */
#define SQL_LIST(X)                                                                                                    \
    X(INSERT_JOB, "INSERT INTO jobs(id, name, status, created, key, owner, bytes, admitted, quota, batch, member, "    \
                  "assignments) VALUES(?1, ?2, 0, hamel_now(), ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9) RETURNING number")      \
    X(INSERT_DESCRIPTION, "INSERT INTO descriptions(job, body) VALUES(?1, ?2)")                                        \
    X(FIND_KEY, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE key=?1")                                                   \
    X(FIND_ID, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE id=?1 AND (?2 IS NULL OR owner=?2)")                        \
    X(FIND_NUMBER, "SELECT " SQL_JOB_COLUMNS " FROM jobs WHERE number=?1")                                             \
    X(REVISION, "SELECT revision FROM jobs WHERE number=?1")                                                           \
    X(OWNER, "SELECT queued+running, bytes FROM owners WHERE owner=?1")                                                \
    X(START, "UPDATE jobs SET status=1, started=hamel_now(), attempt=attempt+1, fruitless=fruitless+1, "               \
             "revision=revision+1 WHERE number=?1 AND status=0 RETURNING " SQL_JOB_COLUMNS)                            \
    X(LOSE, "UPDATE jobs SET status=4, finished=hamel_now(), problem=?2, revision=revision+1 WHERE number=?1 AND "     \
            "status<2")                                                                                                \
    X(DESCRIPTION, "SELECT body FROM descriptions WHERE job=(SELECT CASE WHEN assignments IS NULL THEN number ELSE "   \
                   "-batch END FROM jobs WHERE number=?1)")                                                            \
    X(BODY, "SELECT body FROM descriptions WHERE job=?1")                                                              \
    X(BEGIN_RUN, "UPDATE jobs SET revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1 RETURNING header")   \
    X(SET_HEADER, "UPDATE jobs SET header=?2, bytes=admitted+?3 WHERE number=?1")                                      \
    X(ROOM, "SELECT quota, CASE WHEN quota>0 THEN (SELECT bytes FROM owners WHERE owner=jobs.owner) ELSE 0 END "       \
            "FROM jobs WHERE number=?1")                                                                               \
    X(STORED_ROWS, "SELECT first+rows FROM chunks WHERE job=?1 ORDER BY first DESC LIMIT 1")                           \
    X(DROP_ROWS, "DELETE FROM chunks WHERE job=?1")                                                                    \
    X(DROP_DESCRIPTION, "DELETE FROM descriptions WHERE job=?1")                                                       \
    X(DROP_JOB, "DELETE FROM jobs WHERE number=?1")                                                                    \
    X(ADVANCE, "UPDATE jobs SET progress=?3, revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")         \
    X(COUNT_CHUNK, "UPDATE jobs SET fruitless=0, faults=0, bytes=bytes+?2 WHERE number=?1")                                      \
    X(INSERT_CHUNK, "INSERT INTO chunks(job, first, rows, columns, t_last, data) VALUES(?1, ?2, ?3, ?4, ?5, ?6) "      \
                    "ON CONFLICT(job, first) DO NOTHING")                                                              \
    X(FINISH, "UPDATE jobs SET status=?3, progress=?4, finished=hamel_now(), summary=?5, problem=?6, collected=?7, "   \
              "bytes=bytes+?8, "                                                                                       \
              "revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")                                       \
    X(ENDED, "SELECT 1 FROM jobs WHERE number=?1 AND attempt=?2 AND status=?3")                                        \
    X(HAND_BACK, "UPDATE jobs SET status=0, fruitless=CASE WHEN fruitless>0 THEN fruitless-1 ELSE 0 END, "             \
                 "revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")                                    \
    X(POSTPONE, "UPDATE jobs SET status=CASE WHEN faults+1<?3 THEN 0 ELSE 4 END, problem=CASE WHEN faults+1<?3 THEN "  \
                "problem ELSE ?4 END, finished=CASE WHEN faults+1<?3 THEN finished ELSE hamel_now() END, "             \
                "fruitless=CASE WHEN fruitless>0 THEN fruitless-1 ELSE 0 END, faults=faults+1, revision=revision+1 "   \
                "WHERE number=?1 AND attempt=?2 AND status=1")                                                         \
    X(CANCEL, SQL_CANCEL_THOSE "number=?1")                                                                            \
    X(CHUNK, "SELECT first, rows, columns, data FROM chunks WHERE job=?1 AND first<=?2 ORDER BY first DESC LIMIT 1")   \
    X(CHUNK_AT_TIME, "SELECT first FROM chunks WHERE job=?1 AND t_last>=?2 ORDER BY first LIMIT 1")                    \
    X(STORED_EVENTS, "SELECT count(*) FROM events WHERE job=?1")                                                       \
    X(INSERT_EVENT, "INSERT INTO events(job, number, row, json) VALUES(?1, ?2, ?3, ?4) "                               \
                    "ON CONFLICT(job, number) DO NOTHING")                                                             \
    X(EVENT, "SELECT row, json FROM events WHERE job=?1 AND number=?2")                                                \
    X(DROP_EVENTS, "DELETE FROM events WHERE job=?1")                                                                  \
    X(INSERT_BATCH, "INSERT INTO batches(id, name, created, key, owner, plan, bytes) "                                 \
                    "VALUES(?1, ?2, hamel_now(), ?3, ?4, ?5, ?6) RETURNING number")                                    \
    X(FIND_BATCH, "SELECT " SQL_BATCH_COLUMNS " FROM batches WHERE id=?1 AND (?2 IS NULL OR owner=?2)")                \
    X(FIND_BATCH_KEY, "SELECT " SQL_BATCH_COLUMNS " FROM batches WHERE key=?1")                                        \
    X(LIST_BATCHES, SQL_PAGE(SQL_LISTED_BATCH_COLUMNS, "batches", "length(name)", "number<?1", "DESC"))                \
    X(LIST_OWN_BATCHES, SQL_PAGE(SQL_LISTED_BATCH_COLUMNS, "batches", "length(name)", "number<?1 AND owner=?3",        \
                                 "DESC"))                                                                              \
    X(COUNT_MEMBERS, "SELECT status, CAST(sum(members) AS BIGINT) FROM member_counts WHERE batch=?1 GROUP BY status")  \
    X(MEMBERS, SQL_PAGE(SQL_MEMBER_COLUMNS, "jobs",                                                                    \
                        "length(name)+coalesce(length(assignments), 0)+coalesce(length(summary), 0)+"                  \
                        "coalesce(length(problem), 0)+coalesce(length(collected), 0)",                                 \
                        "batch=?1 AND batch<>0 AND number>=?3", ""))                                                   \
    X(MEMBER_BEYOND, "SELECT number FROM jobs WHERE batch=?1 AND batch<>0 AND number>=?2 ORDER BY number LIMIT 1 "     \
                     "OFFSET ?3")                                                                                      \
    X(CANCEL_MEMBERS, SQL_CANCEL_THOSE "batch=?1 AND batch<>0 AND number>=?2 AND number<?3")                           \
    X(SOME_MEMBERS, "SELECT number FROM jobs WHERE batch=?1 AND batch<>0 LIMIT ?2")                                    \
    X(DROP_BATCH, "DELETE FROM batches WHERE number=?1")                                                               \
    X(DROP_EMPTY_BATCHES, "DELETE FROM batches WHERE number NOT IN (SELECT batch FROM member_counts GROUP BY batch "   \
                          "HAVING sum(members)>0)")                                                                    \
    X(OLDEST_ENDED, "SELECT number, hamel_now()-finished, bytes FROM jobs WHERE status>=2 ORDER BY finished LIMIT ?1") \
    X(COUNT_JOBS, "SELECT CAST(coalesce(sum(queued), 0) AS BIGINT), CAST(coalesce(sum(running), 0) AS BIGINT), "       \
                  "CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM owners")                                               \
    X(CHARGE, "INSERT INTO cpu_usage VALUES(?1, ?2, ?3) ON CONFLICT(owner) DO UPDATE SET day=excluded.day, "            \
              "seconds=excluded.seconds+CASE WHEN cpu_usage.day=excluded.day THEN cpu_usage.seconds ELSE 0 END "       \
              "RETURNING seconds")                                                                                     \
    X(FIRST_QUEUED, "SELECT hamel_now()-created FROM jobs WHERE status=0 ORDER BY number LIMIT 1")                     \
    X(HEALTH, "SELECT 1 FROM jobs LIMIT 1")
/* clang-format on */

enum { SQL_JOB_MATCHED = 19, SQL_BATCH_MATCHED = 5 }; /* the column behind those of a page */

/* Lists filter by any of four things: a statement for each combination. */
enum { SQL_BY_STATUS = 1, SQL_BY_NAME = 2, SQL_BY_OWNER = 4, SQL_BY_BATCH = 8, SQL_FILTERS = 16 };

/* Members of a batch are inserted so many at a time, by one statement: its values are owner, batch and quota, then of each
 * member the id, name, bytes, position and assignments; it gives the number and position of each. */
enum {
    SQL_GROUP = 64,
    SQL_MEMBER_VALUES = 5,
    SQL_SHARED_VALUES = 3,
    SQL_VALUES_MOST = SQL_SHARED_VALUES + SQL_GROUP * SQL_MEMBER_VALUES
};

typedef enum sql_name {
#define X(name, text) SQL_##name,
    SQL_LIST(X)
#undef X
        SQL_INSERT_MEMBERS,
    SQL_JOB_LISTS,
    SQL_TOTAL = SQL_JOB_LISTS + SQL_FILTERS /* a driver numbers its own ones from here */
} sql_name;
enum { SQL_TEXT_BYTES = 4096 };

/* The text of a shared statement. */
const char *sql_statement(unsigned name, char room[SQL_TEXT_BYTES]);

typedef enum sql_type { SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB } sql_type;
typedef struct sql_value {
    sql_type type;
    int64_t integer;
    double real;
    const void *bytes; /* NULL: SQL NULL; borrowed until the statement has ended */
    size_t length;
} sql_value;
sql_value sql_int(int64_t value);
sql_value sql_double(double value);
sql_value sql_text(const char *text); /* may be NULL */
sql_value sql_blob(const void *bytes, size_t length);

typedef enum sql_step { SQL_STEP_FAILED, SQL_STEP_ROW, SQL_STEP_END } sql_step;

typedef struct sql_connection sql_connection;
typedef struct sql_operation sql_operation;
typedef struct sql_store sql_store;

typedef struct sql_driver {
    /* Runs a statement up to its first row, after whatever ran before on this connection has been ended. */
    sql_step (*first)(sql_connection *c, unsigned name, const sql_value *values, size_t count);
    sql_step (*next)(sql_connection *c);
    void (*end)(sql_connection *c);

    /* Of the row it stands on. NULL counts as 0. Bytes are followed by a zero and last until the next step. */
    int64_t (*integer)(sql_connection *c, int column);
    double (*real)(sql_connection *c, int column);
    const char *(*bytes)(sql_connection *c, int column, size_t *length);

    int64_t (*changed)(sql_connection *c); /* rows that the last statement changed */
    void (*complain)(sql_store *s, sql_connection *c, const char *what);

    /* Runs operations, each as a whole or not at all, on the writer's thread, and sets their results; or marks those
     * that can only be done later, at s->retry_at. */
    void (*change)(sql_store *s, sql_operation *first);

    /* Looks after the store, on the writer's thread, a little at a time; returns after how many seconds to be called
     * again. NULL: nothing to look after. */
    double (*tend)(sql_store *s);
} sql_driver;

/* A connection belongs to one thread at a time. A driver's own begins with this. */
struct sql_connection {
    const sql_driver *driver;
    sql_connection *next; /* among the free readers */
};

/* A change, made on the writer's thread. `run` answers STORE_FAILED to have it undone; it may then be run again. */
struct sql_operation {
    store_status (*run)(sql_connection *c, sql_operation *self);
    bool durable;
    bool grows;   /* takes room on the disk: refused with STORE_NO_SPACE while there is little */
    bool patient; /* rather waits for a database that cannot be reached than fails */
    bool again;   /* it has been tried, and may even have been made */
    bool given, later, done;
    store_status result;
    sql_operation *next;
};

/* A store begins with this. */
struct sql_store {
    store base;
    const sql_driver *driver;
    server_log *log;
    metrics *metrics;
    sql_connection *writer; /* of the writer's thread */

    pthread_t writer_thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t given, done, changed, reader_free;
    sql_operation *first, *last;
    double retry_at; /* of operations that are to be run later; by stamp_seconds */
    bool closing;
    uint64_t changes;
    sql_connection *readers; /* the free ones */
};

/* store_sql.c */
void sql_store_init(sql_store *s, const store_kind *kind, const sql_driver *driver, server_log *log, metrics *metrics);
void sql_store_destroy(sql_store *s); /* not its connections */
bool sql_writer_start(sql_store *s);
void sql_writer_stop(sql_store *s);                              /* after all that was given is done */
store_status sql_change(sql_store *s, sql_operation *operation); /* waits until it is committed */
void sql_change_later(sql_store *s, sql_operation *operation);   /* waits for nothing; none while it is under way */
sql_connection *sql_reader(sql_store *s);
void sql_reader_back(sql_store *s, sql_connection *c);

sql_step sql_first(sql_connection *c, unsigned name, const sql_value *values, size_t count);
bool sql_run_with(sql_connection *c, unsigned name, const sql_value *values, size_t count); /* to its end */
bool sql_run(sql_connection *c, unsigned name);                                             /* without parameters */
#define SQL_VALUES(...) (const sql_value[]){__VA_ARGS__}, sizeof((const sql_value[]){__VA_ARGS__}) / sizeof(sql_value)
#define SQL_FIRST(c, name, ...) sql_first(c, name, SQL_VALUES(__VA_ARGS__))
#define SQL_RUN(c, name, ...) sql_run_with(c, name, SQL_VALUES(__VA_ARGS__))

/* store_sql_rows.c: what a statement that stands on a row, or has ended, says. */
bool sql_read_job(sql_connection *c, job *out);         /* false without memory */
bool sql_read_batch(sql_connection *c, job_batch *out); /* without its counts */
bool sql_read_blob(sql_connection *c, int column, char **bytes, size_t *length);
store_status sql_one_job(sql_connection *c, sql_step step, job *out); /* of a statement that gives one at most */
store_status sql_one_int(sql_connection *c, sql_step step, int64_t *out);
store_status sql_same_body(sql_connection *c, int64_t description, const job_submission *submission);

/* An owner's key as it is stored: keys of different owners never meet. */
enum { SQL_KEY_BYTES = 512 };
const char *sql_key(const job_submission *submission, char out[SQL_KEY_BYTES]); /* NULL without a key */

/* store_sql_write.c */
store_status sql_submit(store *s, const job_submission *submission, job *out);
store_status sql_begin(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows, int64_t *events);
store_status sql_append(store *s, int64_t number, int64_t attempt, const job_output *output, double progress);
store_status sql_finish(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end);
store_status sql_hand_back(store *s, int64_t number, int64_t attempt, const job_output *output);
store_status sql_postpone(store *s, int64_t number, int64_t attempt);
store_status sql_cancel(store *s, const char *id, const char *owner, job *out);
store_status sql_forget(store *s, const char *id, const char *owner, int64_t *number);
store_status sql_charge(store *s, const char *owner, int64_t day, double seconds, double *total);
store_status sql_start(sql_connection *c, int64_t number, job *out, char **body, size_t *length);
store_status sql_check_quota(sql_connection *c, const job_submission *submission, size_t jobs, double bytes);
int64_t sql_quota_bytes(const job_submission *submission); /* as it is stored; 0: none */
size_t sql_member_bytes(const batch_member *member);       /* counted when it is admitted */
store_status sql_insert_job(sql_connection *c, const job_submission *sent, const char *id, int64_t batch,
                            const batch_member *member, int64_t position, int64_t *number);
bool sql_insert_body(sql_connection *c, int64_t description, const char *body, size_t length);
bool sql_drop_job(sql_connection *c, int64_t number);

/* store_sql_batch.c */
store_status sql_submit_batch(store *s, const batch_submission *submission, job_batch *out);
store_status sql_cancel_batch(store *s, const char *id, const char *owner, size_t most, int64_t *from, job_batch *out);
store_status sql_forget_batch(store *s, const char *id, const char *owner, size_t most);
store_status sql_expire(store *s, int64_t age, double bytes, size_t most, size_t *count);
store_status sql_find_batch(store *s, const char *id, const char *owner, job_batch *out);
store_status sql_list_batches(store *s, const job_query *query, job_batch *out, size_t *count, bool *more);

/* store_sql_read.c */
store_status sql_revision(store *s, int64_t number, int64_t *revision);
store_status sql_find(store *s, const char *id, const char *owner, job *out);
store_status sql_list(store *s, const job_query *query, job *out, size_t *count, bool *more);
store_status sql_members(store *s, int64_t batch, int64_t first, size_t limit, job *out, size_t *count);
store_status sql_description(store *s, const job *j, char **body, size_t *length);
store_status sql_known_key(store *s, const job_submission *submission, job *out);
store_status sql_chunk_at(store *s, int64_t number, int64_t row, row_chunk *out);
store_status sql_event_at(store *s, int64_t number, int64_t event, job_event *out);
store_status sql_row_at_time(store *s, int64_t number, double t, int64_t *row);
store_status sql_counts(store *s, store_counts *out);
const char *sql_trouble(store *s);
void sql_wait(store *s, uint64_t *seen, double seconds);

/* What of store_kind is the same for every database. */
/* clang-format off */
#define SQL_FUNCTIONS                                                                                                  \
    .begin = sql_begin, .append = sql_append, .finish = sql_finish, .cancel = sql_cancel, .forget = sql_forget,        \
    .cancel_batch = sql_cancel_batch, .forget_batch = sql_forget_batch, .expire = sql_expire, .find = sql_find, .revision = sql_revision,        \
    .list = sql_list, .description = sql_description, .known_key = sql_known_key, .find_batch = sql_find_batch,        \
    .list_batches = sql_list_batches, .members = sql_members, .chunk_at = sql_chunk_at, .event_at = sql_event_at,      \
    .row_at_time = sql_row_at_time, .counts = sql_counts, .charge = sql_charge, .wait = sql_wait
/* clang-format on */

#endif
