/* store_postgres_driver.c — connections to PostgreSQL, statements, and changes as transactions.
 *
 * Parameters and results use the binary format of PostgreSQL: numbers in network order, texts and bytes unchanged.
 * Statements are prepared on their first use on a connection.
 *
 * All waiting changes are made in one transaction. If a change fails, the transaction is rolled back and each change
 * gets its own transaction. After a conflict (a deadlock, or the same key at the same time), this transaction is
 * retried. If the database cannot be reached, changes with wait_for_db wait until the lease ends. Other changes fail
 * immediately. */
#include "server/clock.h"
#include "server/jobs/store_postgres_int.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { TRIES = 4, OID_BYTEA = 17, OID_INT8 = 20, OID_TEXT = 25, OID_FLOAT8 = 701 };
#define BACKOFF_LEAST 0.1
#define BACKOFF_MOST 5.0

static const char *const own_texts[] = {
#define X(name, text) text,
    POSTGRES_STATEMENTS(X)
#undef X
};

/* ---- connections ------------------------------------------------------------------------------------------------ */

double pg_fraction(void) {
    uint32_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) return 0.5;
    return (double)bits / 4294967296.0;
}

/* Keeps the first line of a message of the server, which contains the error. */
static void keep_message(pg_connection *c, const char *text) {
    size_t length = strcspn(text, "\n");
    if (length >= sizeof c->message) length = sizeof c->message - 1;
    memcpy(c->message, text, length);
    c->message[length] = '\0';
}

static void pg_end(sql_connection *base) {
    pg_connection *c = (pg_connection *)base;
    PQclear(c->result);
    c->result = NULL;
    c->row = 0;
}

void pg_disconnect(pg_connection *c) {
    pg_end(&c->base);
    PQfinish(c->link);
    c->link = NULL;
    c->in_transaction = false;
    c->node = 0;
    memset(c->prepared, 0, sizeof c->prepared);
}

/* Returns true if the connection has failed, and false if only a statement has failed. */
static bool is_broken(const pg_connection *c) {
    return !c->link || PQstatus(c->link) != CONNECTION_OK;
}

static void note_failure(pg_connection *c, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    size_t length = state && !is_broken(c) ? strnlen(state, PG_STATE_BYTES - 1) : 0;
    if (length) memcpy(c->state, state, length);
    c->state[length] = '\0';
    keep_message(c, c->link ? PQerrorMessage(c->link) : "not connected");
}

bool pg_execute(pg_connection *c, const char *sql) {
    if (!c->link) return false;
    PGresult *result = PQexec(c->link, sql);
    ExecStatusType status = PQresultStatus(result);
    bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!good) note_failure(c, result);
    PQclear(result);
    return good;
}

/* Returns true if a connection may be attempted now. */
static bool may_try(postgres_store *s) {
    pthread_mutex_lock(&s->reach_lock);
    bool may = clock_seconds() >= s->retry_at;
    pthread_mutex_unlock(&s->reach_lock);
    return may;
}

static void note_reach(postgres_store *s, const pg_connection *c, bool reached) {
    pthread_mutex_lock(&s->reach_lock);
    bool news = s->unreachable == reached;
    s->unreachable = !reached;
    if (reached) {
        s->backoff = s->retry_at = 0; /* other connections may retry immediately */
    } else {
        s->backoff = s->backoff < BACKOFF_LEAST ? BACKOFF_LEAST : 2 * s->backoff;
        if (s->backoff > BACKOFF_MOST) s->backoff = BACKOFF_MOST;
        s->retry_at = clock_seconds() + s->backoff * (0.5 + 0.5 * pg_fraction());
    }
    pthread_mutex_unlock(&s->reach_lock);
    if (news)
        log_write(s->base.log, reached ? LOG_INFO : LOG_ERROR, "store",
                  LOG_FIELDS(log_text("operation", "connect"),
                             log_text("message", reached ? "the database responds again" : c->message)));
}

/* Sets timeouts, because a stopped node must not hold locks, and no node may wait forever for the locks of another
 * node. Makes PostgreSQL look up single rows by an index where possible. A plan that reads a whole table is fast only
 * as long as the table is small, and PostgreSQL keeps the plans of prepared statements. */
static const char session[] = "SET standard_conforming_strings=on; SET statement_timeout='60s'; SET lock_timeout='10s';"
                              "SET idle_in_transaction_session_timeout='15s'; SET client_min_messages=warning;"
                              "SET synchronous_commit=on; SET enable_seqscan=off; SET enable_hashjoin=off;"
                              "SET enable_mergejoin=off; SET jit=off;";

/* Logs notices of the database; libpq would write them to stderr. */
static void pass_notice(void *context, const char *message) {
    char text[PG_MESSAGE_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(message, "\n"), message);
    log_write(context, LOG_WARNING, "store", LOG_FIELDS(log_text("operation", "notice"), log_text("message", text)));
}

bool pg_connected(pg_connection *c) {
    if (c->link && !is_broken(c)) return true;
    pg_disconnect(c);
    if (!may_try(c->store)) return false;
    c->link = PQconnectdbParams((const char *const *)c->store->keywords, (const char *const *)c->store->values, 0);
    c->base.driver = &pg_driver;
    c->state[0] = '\0';
    if (c->link) PQsetNoticeProcessor(c->link, pass_notice, c->store->base.log);
    bool good = !is_broken(c) && pg_execute(c, session);
    if (!good) keep_message(c, c->link ? PQerrorMessage(c->link) : "out of memory");
    if (!good) pg_disconnect(c);
    note_reach(c->store, c, good);
    return good;
}

/* ---- statements ------------------------------------------------------------------------------------------------- */

static Oid type_of(const sql_value *value) {
    switch (value->type) {
    case SQL_INTEGER: return OID_INT8;
    case SQL_REAL: return OID_FLOAT8;
    case SQL_TEXT: return OID_TEXT;
    default: return OID_BYTEA;
    }
}

/* Prepares a statement with $1 in place of ?1. Statements contain no other question marks. */
static bool pg_prepare(pg_connection *c, unsigned name, const sql_value *values, size_t count) {
    char room[SQL_TEXT_BYTES], text[2 * SQL_TEXT_BYTES], label[16];
    Oid types[SQL_VALUES_MOST] = {0};
    const char *from = name >= SQL_TOTAL ? own_texts[name - SQL_TOTAL] : sql_statement(name, room);
    size_t length = strlen(from);
    if (length >= sizeof text || count > SQL_VALUES_MOST) return false;
    for (size_t k = 0; k <= length; k++) text[k] = from[k] == '?' ? '$' : from[k];
    for (size_t k = 0; k < count; k++) types[k] = type_of(&values[k]);
    snprintf(label, sizeof label, "s%u", name);
    PGresult *result = PQprepare(c->link, label, text, (int)count, types);
    c->prepared[name] = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!c->prepared[name]) note_failure(c, result);
    PQclear(result);
    return c->prepared[name];
}

static uint64_t network_order(const sql_value *value) {
    uint64_t bits;
    if (value->type == SQL_INTEGER) return htobe64((uint64_t)value->integer);
    memcpy(&bits, &value->real, sizeof bits);
    return htobe64(bits);
}

static PGresult *execute(pg_connection *c, unsigned name, const sql_value *values, size_t count) {
    const char *pointers[SQL_VALUES_MOST];
    int lengths[SQL_VALUES_MOST], formats[SQL_VALUES_MOST];
    uint64_t numbers[SQL_VALUES_MOST];
    char label[16];
    for (size_t k = 0; k < count; k++) {
        bool number = values[k].type == SQL_INTEGER || values[k].type == SQL_REAL;
        numbers[k] = number ? network_order(&values[k]) : 0;
        pointers[k] = number && values[k].bytes ? (const char *)&numbers[k] : values[k].bytes;
        lengths[k] = number ? (int)sizeof numbers[k] : (int)values[k].length;
        formats[k] = 1;
    }
    snprintf(label, sizeof label, "s%u", name);
    return PQexecPrepared(c->link, label, (int)count, pointers, lengths, formats, 1);
}

static sql_step run_once(pg_connection *c, unsigned name, const sql_value *values, size_t count) {
    if (!pg_connected(c)) return SQL_STEP_FAILED;
    if (!c->prepared[name] && !pg_prepare(c, name, values, count)) return SQL_STEP_FAILED;
    c->result = execute(c, name, values, count);
    ExecStatusType status = PQresultStatus(c->result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        note_failure(c, c->result);
        return SQL_STEP_FAILED;
    }
    c->changed = strtoll(PQcmdTuples(c->result), NULL, 10);
    return PQntuples(c->result) > 0 ? SQL_STEP_ROW : SQL_STEP_END;
}

/* Executes a statement up to its first row. PG_START and PG_START_MEMBERS also check that this node has
 * reserved the jobs. */
static sql_step pg_first(sql_connection *base, unsigned name, const sql_value *values, size_t count) {
    pg_connection *c = (pg_connection *)base;
    if (name == SQL_START) name = PG_START;
    if (name == SQL_START_MEMBERS) name = PG_START_MEMBERS;
    pg_end(base);
    sql_step step = run_once(c, name, values, count);
    /* If the server was restarted since the last use of this connection, the first statement fails. Therefore a query
     * is tried twice. */
    if (step == SQL_STEP_FAILED && is_broken(c) && !c->in_transaction && c != &c->store->writer) {
        pg_end(base);
        step = run_once(c, name, values, count);
    }
    if (step != SQL_STEP_ROW) pg_end(base);
    return step;
}

static sql_step pg_next(sql_connection *base) {
    pg_connection *c = (pg_connection *)base;
    if (c->result && ++c->row < PQntuples(c->result)) return SQL_STEP_ROW;
    pg_end(base);
    return SQL_STEP_END;
}

static uint64_t read_bits(const pg_connection *c, int column) {
    uint64_t eight = 0;
    uint32_t four = 0;
    const char *value = PQgetvalue(c->result, c->row, column);
    int length = PQgetlength(c->result, c->row, column);
    if (length == (int)sizeof eight) {
        memcpy(&eight, value, sizeof eight);
        return be64toh(eight);
    }
    if (length != (int)sizeof four) return 0;
    memcpy(&four, value, sizeof four);
    return (uint64_t)(int64_t)(int32_t)be32toh(four);
}

static int64_t pg_integer(sql_connection *base, int column) {
    return (int64_t)read_bits((pg_connection *)base, column);
}

static double pg_real(sql_connection *base, int column) {
    double value;
    uint64_t bits = read_bits((pg_connection *)base, column);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const char *pg_bytes(sql_connection *base, int column, size_t *length) {
    const pg_connection *c = (pg_connection *)base;
    *length = 0;
    if (PQgetisnull(c->result, c->row, column)) return NULL;
    *length = (size_t)PQgetlength(c->result, c->row, column);
    return PQgetvalue(c->result, c->row, column); /* libpq appends a zero byte */
}

static int64_t pg_changed(sql_connection *base) {
    return ((pg_connection *)base)->changed;
}

static void pg_complain(sql_store *s, sql_connection *base, const char *what) {
    const pg_connection *c = (pg_connection *)base;
    if (is_broken(c)) return; /* already logged */
    log_write(s->log, LOG_ERROR, "store",
              LOG_FIELDS(log_text("operation", what), log_text("message", c->message), log_text("code", c->state)));
}

/* ---- changes ---------------------------------------------------------------------------------------------------- */

bool pg_begin(pg_connection *c, bool durable) {
    int64_t node = atomic_load(&c->store->node);
    if (c->node != node && !SQL_RUN(&c->base, PG_SET_NODE, sql_int(node))) return false;
    c->node = node;
    c->in_transaction = true;
    return pg_execute(c, durable ? "BEGIN" : "BEGIN; SET LOCAL synchronous_commit=off");
}

/* Commits. After a failed statement PostgreSQL answers COMMIT with ROLLBACK, which counts as a failure. */
bool pg_commit(pg_connection *c) {
    PGresult *result = c->link ? PQexec(c->link, "COMMIT") : NULL;
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "COMMIT") == 0;
    if (!good) note_failure(c, result);
    PQclear(result);
    c->in_transaction = false;
    return good;
}

void pg_undo(pg_connection *c) {
    pg_end(&c->base);
    if (c->in_transaction && !is_broken(c)) pg_execute(c, "ROLLBACK");
    c->in_transaction = false;
}

static bool any_durable(const sql_operation *o, const sql_operation *past) {
    while (o != past && !o->durable) o = o->next;
    return o != past;
}

static bool make_all(pg_connection *c, sql_operation *operations, sql_operation *past) {
    bool good = pg_begin(c, any_durable(operations, past));
    for (sql_operation *o = operations; good && o != past; o = o->next) {
        o->result = o->run(&c->base, o);
        good = o->result != STORE_FAILED;
    }
    if (!good) {
        pg_undo(c);
        return false;
    }
    if (pg_commit(c)) return true;
    for (sql_operation *o = operations; o != past; o = o->next)
        o->is_retry = true; /* the previous attempt may have been committed */
    return false;
}

static const char disk_full[] = "53100";

static const char *refusal_of(const pg_connection *c) {
    if (strcmp(c->state, "25006") == 0) return "the database is read-only";
    if (strcmp(c->state, disk_full) == 0) return "the disk of the database is full";
    return NULL;
}

void pg_note_change(pg_connection *c, bool made) {
    atomic_store(&c->store->refusal, made ? NULL : refusal_of(c));
}

/* Executes the operations before `past` in one transaction, either all of them or none. If a claim is rolled back, the
 * database still reserves the jobs that the claim removed from s->reserve. So this list is marked as unsure. */
static bool pg_make(postgres_store *s, sql_operation *operations, sql_operation *past) {
    bool made = pg_connected(&s->writer) && make_all(&s->writer, operations, past);
    if (!made) s->reserve.unsure = true;
    pg_note_change(&s->writer, made);
    return made;
}

static void postpone(postgres_store *s, sql_operation *o) {
    double now = clock_seconds();
    pthread_mutex_lock(&s->state_lock);
    bool wait = o->wait_for_db && !s->shutting_down, lost = now > s->lease_ends;
    pthread_mutex_unlock(&s->state_lock);
    o->deferred = wait && !lost;
    if (o->deferred) o->is_retry = true;
    o->result = wait && lost ? STORE_ABSENT : STORE_FAILED; /* without a lease the job may belong to another node */
}

static bool in_the_way(const pg_connection *c) {
    return strcmp(c->state, "40001") == 0 || strcmp(c->state, "40P01") == 0 || strcmp(c->state, "23505") == 0;
}

static void make_alone(postgres_store *s, sql_operation *o) {
    pg_connection *c = &s->writer;
    for (int tries = 0; tries < TRIES; tries++) {
        if (pg_make(s, o, o->next)) return;
        if (is_broken(c) || !in_the_way(c)) break;
    }
    if (is_broken(c)) {
        postpone(s, o);
        return;
    }
    o->result = strcmp(c->state, disk_full) == 0 ? STORE_NO_SPACE : STORE_FAILED;
    pg_complain(&s->base, &c->base, "change");
}

static void pg_change(sql_store *base, sql_operation *operations) {
    postgres_store *s = (postgres_store *)base;
    if (pg_make(s, operations, NULL)) return;
    for (sql_operation *o = operations; o; o = o->next) make_alone(s, o);
    pthread_mutex_lock(&s->reach_lock);
    base->retry_at = s->retry_at > clock_seconds() ? s->retry_at : clock_seconds() + BACKOFF_LEAST;
    pthread_mutex_unlock(&s->reach_lock);
}

const sql_driver pg_driver = {
    .first = pg_first,
    .next = pg_next,
    .end = pg_end,
    .integer = pg_integer,
    .real = pg_real,
    .bytes = pg_bytes,
    .changed = pg_changed,
    .complain = pg_complain,
    .change = pg_change,
    .queued = pg_work_may_wait,
};
