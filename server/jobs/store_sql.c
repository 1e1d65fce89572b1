/* store_sql.c — writer thread, readers, and helpers for statements.
 *
 * One thread makes all changes. The writer thread passes all waiting operations to the driver, which executes them in
 * one transaction, so that concurrent submissions share one fsync. A query borrows one of a few reader connections for
 * a short statement. */
#include "server/jobs/store_sql.h"

#include "server/clock.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEND_SECONDS 1.0
#define WAIT_MOST_SECONDS 3600.0

static const char *const texts[] = {
#define X(name, text) text,
    SHARED_STATEMENTS(X)
#undef X
};

/* The number of values of the statements with rows: values that all rows share, and values of each row. */
typedef struct row_values {
    unsigned name;
    int shared, each;
} row_values;
static const row_values with_rows[] = {
    {SQL_INSERT_MEMBERS, 3, 5}, {SQL_FINISH_MEMBERS, 0, 9}, {SQL_INSERT_CHUNKS, 0, 5}};

static const row_values *rows_of(unsigned name) {
    for (size_t k = 0; k < sizeof with_rows / sizeof *with_rows; k++)
        if (with_rows[k].name == name) return &with_rows[k];
    return NULL;
}

static const char *add_rows(const row_values *of, char room[SQL_TEXT_BYTES]) {
    char rows[SQL_TEXT_BYTES];
    int at = 0, v = of->shared + 1;
    for (int k = 0; k < SQL_GROUP * of->each; k++, v++) {
        bool first = k % of->each == 0, last = (k + 1) % of->each == 0;
        at +=
            snprintf(rows + at, sizeof rows - (size_t)at, "%s?%d%s", first ? k ? ",(" : "(" : ",", v, last ? ")" : "");
    }
    snprintf(room, SQL_TEXT_BYTES, texts[of->name], rows);
    return room;
}

sql_step sql_first_rows(sql_connection *c, unsigned name, sql_value values[SQL_VALUES_MOST], size_t rows) {
    const row_values *of = rows_of(name);
    size_t each = (size_t)of->each, count = (size_t)of->shared + SQL_GROUP * each;
    assert(rows > 0 && rows <= SQL_GROUP && count <= SQL_VALUES_MOST);
    for (size_t k = (size_t)of->shared + rows * each; k < count; k++)
        values[k] = (sql_value){.type = values[k - each].type}; /* a NULL of the same type */
    return sql_first(c, name, values, count);
}

const char *sql_statement(unsigned name, char room[SQL_TEXT_BYTES]) {
    assert(name < SQL_TOTAL);
    const row_values *rows = rows_of(name);
    if (rows) return add_rows(rows, room);
    if (name < SQL_JOB_LISTS) return texts[name];
    unsigned filters = name - SQL_JOB_LISTS;
    snprintf(room, SQL_TEXT_BYTES, texts[SQL_LIST_JOBS], filters & SQL_BY_STATUS ? SHARED_FRAGMENT_by_status : "",
             filters & SQL_BY_NAME ? SHARED_FRAGMENT_by_name : "",
             filters & SQL_BY_OWNER ? SHARED_FRAGMENT_by_owner : "",
             filters & SQL_BY_BATCH ? SHARED_FRAGMENT_by_batch : "");
    return room;
}

sql_value sql_int(int64_t value) {
    return (sql_value){.type = SQL_INTEGER, .integer = value, .bytes = ""};
}

sql_value sql_double(double value) {
    return (sql_value){.type = SQL_REAL, .real = value, .bytes = ""};
}

sql_value sql_text(const char *text) {
    return (sql_value){.type = SQL_TEXT, .bytes = text, .length = text ? strlen(text) : 0};
}

sql_value sql_blob(const void *bytes, size_t length) {
    return (sql_value){.type = SQL_BLOB, .bytes = bytes, .length = length};
}

sql_step sql_first(sql_connection *c, unsigned name, const sql_value *values, size_t count) {
    return c->driver->first(c, name, values, count);
}

bool sql_run_with(sql_connection *c, unsigned name, const sql_value *values, size_t count) {
    sql_step step = sql_first(c, name, values, count);
    while (step == SQL_STEP_ROW) step = c->driver->next(c);
    c->driver->end(c);
    return step == SQL_STEP_END;
}

bool sql_run(sql_connection *c, unsigned name) {
    return sql_run_with(c, name, NULL, 0);
}

static void append_operation(sql_store *s, sql_operation *operation) {
    operation->next = NULL;
    *(s->last ? &s->last->next : &s->first) = operation;
    s->last = operation;
}

/* Puts deferred operations back into the queue and marks all other operations as done. Returns the number of deferred
 * operations. */
static size_t give_back(sql_store *s, sql_operation *batch) {
    sql_operation *since = s->first;
    size_t deferred = 0;
    s->first = s->last = NULL;
    for (sql_operation *o = batch, *next; o; o = next) {
        next = o->next; /* read `next` first: the caller may free `o` as soon as it is done */
        if (o->deferred) {
            append_operation(s, o);
            deferred++;
        } else {
            o->given = false;
            o->done = true;
        }
    }
    for (sql_operation *o = since, *next; o; o = next) {
        next = o->next;
        append_operation(s, o);
    }
    return deferred;
}

/* Executes all waiting operations. The caller holds the lock, which is released during the execution. */
static void make_changes(sql_store *s) {
    sql_operation *batch = s->first;
    s->first = s->last = NULL;
    pthread_mutex_unlock(&s->lock);
    double begin = clock_seconds();
    size_t changes = 0;
    for (sql_operation *o = batch; o; o = o->next) {
        o->deferred = false;
        changes++;
    }
    s->driver->change(s, batch);
    pthread_mutex_lock(&s->lock);
    size_t deferred = give_back(s, batch);
    if (changes > deferred) metrics_commit(s->metrics, changes - deferred, clock_seconds() - begin);
    s->changes++;
    pthread_cond_broadcast(&s->done);
    pthread_cond_broadcast(&s->changed);
    if (deferred == 0) return;
    clock_wait(&s->given, &s->lock, s->retry_at - clock_seconds());
}

static void *write_changes(void *context) {
    sql_store *s = context;
    double tend_at = s->driver->tend ? clock_seconds() + TEND_SECONDS : INFINITY;
    pthread_setname_np(pthread_self(), "hamel-store");
    pthread_mutex_lock(&s->lock);
    while (s->first || !s->closing) {
        double left = tend_at - clock_seconds();
        if (s->first) {
            make_changes(s);
        } else if (left > 0) {
            clock_wait(&s->given, &s->lock, fmin(left, WAIT_MOST_SECONDS));
        }
        if (clock_seconds() < tend_at) continue;
        pthread_mutex_unlock(&s->lock);
        tend_at = s->driver->tend(s) + clock_seconds();
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

store_status sql_change(sql_store *s, sql_operation *operation) {
    pthread_mutex_lock(&s->lock);
    append_operation(s, operation);
    pthread_cond_signal(&s->given);
    while (!operation->done) pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (operation->queues && s->driver->queued) s->driver->queued(s);
    return operation->result;
}

void sql_change_async(sql_store *s, sql_operation *operation) {
    pthread_mutex_lock(&s->lock);
    if (!operation->given) {
        operation->given = true;
        append_operation(s, operation);
        pthread_cond_signal(&s->given);
    }
    pthread_mutex_unlock(&s->lock);
}

void sql_wait(store *base, uint64_t *seen, double seconds) {
    sql_store *s = (sql_store *)base;
    struct timespec until = clock_deadline(seconds);
    pthread_mutex_lock(&s->lock);
    while (*seen == s->changes)
        if (pthread_cond_timedwait(&s->changed, &s->lock, &until) != 0) break;
    *seen = s->changes;
    pthread_mutex_unlock(&s->lock);
}

sql_connection *sql_reader(store *base) {
    sql_store *s = (sql_store *)base;
    pthread_mutex_lock(&s->lock);
    while (!s->readers) pthread_cond_wait(&s->reader_free, &s->lock);
    sql_connection *c = s->readers;
    s->readers = c->next;
    pthread_mutex_unlock(&s->lock);
    c->store = s;
    return c;
}

void sql_reader_back(sql_connection *c) {
    sql_store *s = c->store;
    c->driver->end(c); /* an open statement would keep its snapshot of the database */
    pthread_mutex_lock(&s->lock);
    c->next = s->readers;
    s->readers = c;
    pthread_cond_signal(&s->reader_free);
    pthread_mutex_unlock(&s->lock);
}

bool sql_schema_accepted(int64_t version, const char *where, char *message, size_t room) {
    if (version == SQL_SCHEMA_VERSION) return true;
    bool newer = version > SQL_SCHEMA_VERSION;
    return failed_with(message, room, "%.300s: written by %s (schema %lld, expected %d); %s", where,
                       newer ? "a newer release" : "a version before 0.1.0", (long long)version, SQL_SCHEMA_VERSION,
                       newer ? "use that release"
                             : "save its results with that version, then start with an empty store");
}

void sql_store_init(sql_store *s, const store_kind *kind, const sql_driver *driver, server_log *log,
                    metrics *counters) {
    s->base.kind = kind;
    s->driver = driver;
    s->log = log;
    s->metrics = counters;
    pthread_mutex_init(&s->lock, NULL);
    clock_condition_init(&s->given);
    pthread_cond_init(&s->done, NULL);
    clock_condition_init(&s->changed);
    pthread_cond_init(&s->reader_free, NULL);
}

void sql_store_destroy(sql_store *s) {
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->given);
    pthread_cond_destroy(&s->done);
    pthread_cond_destroy(&s->changed);
    pthread_cond_destroy(&s->reader_free);
}

bool sql_writer_start(sql_store *s) {
    return pthread_create(&s->writer_thread, NULL, write_changes, s) == 0;
}

void sql_writer_stop(sql_store *s) {
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->given);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->writer_thread, NULL);
}
