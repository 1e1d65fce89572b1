/* store_sql.h — jobs in an SQL database: code shared by the SQLite and PostgreSQL stores.
 *
 * Statements, parameters and the conversion of rows are the same for both databases. A driver (sql_driver) executes
 * statements and implements the parts that differ: transactions, claims, the schema. */
#pragma once

#include "server/jobs/statements.h"
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"

#include <pthread.h>

/* Index of the column after the columns of a job or batch: the number of rows that match without the bound on bytes. */
enum { SQL_JOB_MATCHED = 19, SQL_BATCH_MATCHED = 6 };

/* Filters of lists of jobs; there is one statement for each combination. */
enum { SQL_BY_STATUS = 1, SQL_BY_NAME = 2, SQL_BY_OWNER = 4, SQL_BY_BATCH = 8, SQL_FILTERS = 16 };

/* Some statements have SQL_GROUP rows of values, so that one statement changes many members. */
enum { SQL_GROUP = 64, SQL_VALUES_MOST = SQL_GROUP * 9 };

typedef enum sql_name {
#define X(name, text) SQL_##name,
    SHARED_STATEMENTS(X)
#undef X
        SQL_JOB_LISTS,                      /* first of the SQL_FILTERS statements LIST_JOBS */
    SQL_TOTAL = SQL_JOB_LISTS + SQL_FILTERS /* first number for statements of a driver */
} sql_name;
enum {
    SQL_TEXT_BYTES = 4096,
    SQL_SCHEMA_VERSION = 101 /* schema of release 0.1.0; development versions had 1 to 7 and 100 */
};

/* Returns the text of a shared statement (sql/shared.sql). */
const char *sql_statement(unsigned name, char room[SQL_TEXT_BYTES]);

typedef enum sql_type { SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BLOB } sql_type;
typedef struct sql_value {
    sql_type type;
    int64_t integer;
    double real;
    const void *bytes; /* NULL for SQL NULL; the caller keeps the bytes valid until the statement has ended */
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
    /* Executes a statement up to its first row, after ending the previous statement of this connection. */
    sql_step (*first)(sql_connection *c, unsigned name, const sql_value *values, size_t count);
    sql_step (*next)(sql_connection *c);
    void (*end)(sql_connection *c);

    /* Return values of the current row; NULL is returned as 0. Bytes end with a zero byte and are valid until the next
     * step. */
    int64_t (*integer)(sql_connection *c, int column);
    double (*real)(sql_connection *c, int column);
    const char *(*bytes)(sql_connection *c, int column, size_t *length);

    int64_t (*changed)(sql_connection *c); /* number of rows that the last statement changed */
    void (*complain)(sql_store *s, sql_connection *c, const char *what);

    /* Executes operations on the writer's thread, each completely or not at all, and sets their results. Operations
     * that must wait are marked as deferred until s->retry_at. */
    void (*change)(sql_store *s, sql_operation *first);

    void (*queued)(sql_store *s); /* called after a change with `queues`; may be NULL */

    /* Maintains the store on the writer's thread in small steps. Returns the seconds until the next call. The pointer
     * is NULL if the store needs no maintenance. */
    double (*tend)(sql_store *s);
} sql_driver;

/* The first member of the connection type of every driver. Only one thread at a time uses a connection. */
struct sql_connection {
    const sql_driver *driver;
    sql_connection *next; /* next free reader */
    sql_store *store;     /* set by sql_reader */
};

/* A change, executed on the writer's thread. If `run` returns STORE_FAILED, the change is rolled back and may be run
 * again. */
struct sql_operation {
    store_status (*run)(sql_connection *c, sql_operation *self);
    bool durable;
    bool grows;       /* needs disk space, so it gets STORE_NO_SPACE while the disk is nearly full */
    bool queues;      /* may add jobs to the queue */
    bool wait_for_db; /* waits for an unreachable database; other operations fail */
    bool is_retry;    /* a previous attempt may have been committed */
    bool given, deferred, done;
    store_status result;
    sql_operation *next;
};

/* First member of sqlite_store and postgres_store. */
struct sql_store {
    store base;
    const sql_driver *driver;
    server_log *log;
    metrics *metrics;
    sql_connection *writer; /* used by the writer's thread */

    pthread_t writer_thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t given, done, changed, reader_free;
    sql_operation *first, *last;
    double retry_at; /* time at which deferred operations are retried */
    bool closing;
    uint64_t changes;
    sql_connection *readers; /* list of free readers */
};

/* store_sql.c */
void sql_store_init(sql_store *s, const store_kind *kind, const sql_driver *driver, server_log *log, metrics *metrics);
void sql_store_destroy(sql_store *s); /* does not close its connections */
bool sql_writer_start(sql_store *s);
void sql_writer_stop(sql_store *s); /* returns after all submitted changes have been made */
store_status sql_change(sql_store *s, sql_operation *operation); /* returns when the change is committed */
void sql_change_async(sql_store *s,
                      sql_operation *operation); /* returns at once; no-op while the operation is queued */

/* Returns true if this release can use a store with this schema. If it cannot, returns false with a message that begins
 * with `where`. */
bool sql_schema_accepted(int64_t version, const char *where, char *message, size_t room);
sql_connection *sql_reader(store *s); /* waits for a free reader and sets its store */
void sql_reader_back(sql_connection *c);

sql_step sql_first(sql_connection *c, unsigned name, const sql_value *values, size_t count);

/* Executes a statement with `shared` values and up to SQL_GROUP rows of `each` values, of which the caller has set
 * `rows`. Sets the first value of the other rows to NULL, so that the statement ignores them. */
sql_step sql_first_rows(sql_connection *c, unsigned name, sql_value values[SQL_VALUES_MOST], size_t rows);
bool sql_run_with(sql_connection *c, unsigned name, const sql_value *values, size_t count); /* ignores all rows */
bool sql_run(sql_connection *c, unsigned name); /* runs a statement without parameters */
#define SQL_VALUES(...) (const sql_value[]){__VA_ARGS__}, sizeof((const sql_value[]){__VA_ARGS__}) / sizeof(sql_value)
#define SQL_FIRST(c, name, ...) sql_first(c, name, SQL_VALUES(__VA_ARGS__))
#define SQL_RUN(c, name, ...) sql_run_with(c, name, SQL_VALUES(__VA_ARGS__))

/* store_sql_read.c: conversion of the current row to a struct. */
bool sql_read_job(sql_connection *c, job *out);         /* false if out of memory */
bool sql_read_batch(sql_connection *c, job_batch *out); /* does not set out->counts */
bool sql_read_blob(sql_connection *c, int column, char **bytes, size_t *length);
store_status sql_row_status(sql_step step, bool read);                /* status of a query for one row */
store_status sql_one_job(sql_connection *c, sql_step step, job *out); /* for a statement with at most one row */
store_status sql_one_int(sql_connection *c, sql_step step, int64_t *out);
store_status sql_same_body(sql_connection *c, int64_t description, const job_submission *submission);

/* Returns the stored form of a key. This form contains the owner, so keys of different owners never collide. */
enum { SQL_KEY_BYTES = 512 };
const char *sql_key(const job_submission *submission, char out[SQL_KEY_BYTES]); /* NULL if there is no key */

/* store_sql_write.c */
store_status sql_submit(store *s, const job_submission *submission, job *out);
store_status sql_begin(store *s, int64_t number, int64_t attempt, const char *header, int64_t *rows, int64_t *events);
store_status sql_append(store *s, int64_t number, int64_t attempt, const job_output *output, double progress);
store_status sql_finish(store *s, int64_t number, int64_t attempt, const job_output *output, const job_end *end);
store_status sql_requeue(store *s, int64_t number, int64_t attempt, const job_output *output);
store_status sql_postpone(store *s, int64_t number, int64_t attempt);
store_status sql_cancel(store *s, const char *id, const char *owner, job *out);
store_status sql_delete(store *s, const char *id, const char *owner, int64_t *number);
store_status sql_charge(store *s, const char *owner, int64_t day, double seconds, double *total);
store_status sql_start(sql_connection *c, int64_t number, job_claim *claim);

/* Claim of a job; the driver provides the operation. If the claim fails, no job is returned. */
typedef struct sql_claim_change {
    sql_operation operation;
    job_claim *claim;
} sql_claim_change;
store_status sql_claim(store *s, sql_claim_change *change);

/* store_sql_members.c */
store_status sql_start_members(sql_connection *c, job_claim *claim); /* further members of the sweep of a claimed job */
store_status sql_finish_members(store *s, member_end *ends, size_t count);

/* store_sql_write.c: parts of operations that change jobs. The insertions do not count bytes against the quota. */
store_status sql_check_room(sql_connection *c, int64_t number, size_t bytes);
size_t sql_end_bytes(const job_end *end);
size_t sql_output_bytes(const job_output *output); /* `output` may be NULL */
size_t sql_chunk_bytes(const row_chunk *chunk);
double sql_last_time(const row_chunk *chunk); /* time of the last row */
bool sql_insert_event(sql_connection *c, int64_t job_number, int64_t number, const job_event *event);
store_status sql_of_current(sql_connection *c, bool ran);
store_status sql_ended_before(sql_connection *c, int64_t number, int64_t attempt, job_status status);

store_status sql_check_quota(sql_connection *c, const job_submission *submission, size_t jobs, double bytes);
int64_t sql_quota_bytes(const job_submission *submission); /* quota as stored; 0: no quota */
size_t sql_member_bytes(const batch_member *member);       /* bytes counted when the member is admitted */
bool sql_insert_body(sql_connection *c, int64_t description, const char *body, size_t length);
bool sql_drop_job(sql_connection *c, int64_t number);

/* store_sql_batch.c */
store_status sql_submit_batch(store *s, const batch_submission *submission, job_batch *out);
store_status sql_cancel_batch(store *s, const char *id, const char *owner, size_t most, int64_t *from, job_batch *out);
store_status sql_delete_batch(store *s, const char *id, const char *owner, size_t most);
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

/* Functions of store_kind that are the same for both databases. */
/* clang-format off */
#define SQL_FUNCTIONS                                                                                                  \
    .submit = sql_submit, .submit_batch = sql_submit_batch, .requeue = sql_requeue, .postpone = sql_postpone,          \
    .begin = sql_begin, .append = sql_append, .finish = sql_finish, .finish_members = sql_finish_members,                \
    .cancel = sql_cancel, .delete = sql_delete,        \
    .cancel_batch = sql_cancel_batch, .delete_batch = sql_delete_batch, .expire = sql_expire, .find = sql_find,        \
    .revision = sql_revision, .list = sql_list, .description = sql_description, .known_key = sql_known_key, .find_batch = sql_find_batch,        \
    .list_batches = sql_list_batches, .members = sql_members, .chunk_at = sql_chunk_at, .event_at = sql_event_at,      \
    .row_at_time = sql_row_at_time, .counts = sql_counts, .charge = sql_charge, .wait = sql_wait
/* clang-format on */
