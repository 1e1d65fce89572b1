/* store_postgres.c — jobs in PostgreSQL, for many nodes (daemons) with one queue: opening, closing, and the listener.
 *
 * Connections:
 *   - one for changes (the writer of store_sql.c)
 *   - one for the lease of this node and the removal of nodes without a lease (store_postgres_lease.c)
 *   - up to four readers, opened when needed
 * The code shared with SQLite is in store_sql*.c. Claims are in store_postgres_claim.c.
 *
 * A run is identified by its attempt, which grows with every start. Every write of a run names the attempt and
 * locks the row of the job until it is committed. So a node whose lease has ended cannot overwrite the work of
 * another node. */
#include "server/jobs/store_postgres_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READERS = 4 };
#define SCHEMA_LOCK "1751215461" /* key of an advisory lock; arbitrary, but different from SWEEP_LOCK */

static void pg_destroy(postgres_store *s) {
    while (s->base.readers) {
        pg_connection *c = (pg_connection *)s->base.readers;
        s->base.readers = c->base.next;
        pg_disconnect(c);
        free(c);
    }
    pg_disconnect(&s->writer);
    pg_disconnect(&s->lease_connection);
    pg_forget_url(s);
    if (s->wake_file >= 0) close(s->wake_file);
    pthread_mutex_destroy(&s->reach_lock);
    pthread_mutex_destroy(&s->state_lock);
    pthread_mutex_destroy(&s->listener_lock);
    sql_store_destroy(&s->base);
    free(s);
}

static void prepare_connection(postgres_store *s, pg_connection *c) {
    c->base.driver = &pg_driver;
    c->store = s;
}

static bool make_readers(postgres_store *s) {
    for (size_t k = 0; k < READERS; k++) {
        pg_connection *c = calloc(1, sizeof *c);
        if (!c) return false;
        prepare_connection(s, c);
        c->base.next = s->base.readers;
        s->base.readers = &c->base;
    }
    return true;
}

static postgres_store *pg_create(const store_options *options) {
    postgres_store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    sql_store_init(&s->base, &store_kind_postgresql, &pg_driver, options->log, options->metrics);
    s->base.writer = &s->writer.base;
    prepare_connection(s, &s->writer);
    prepare_connection(s, &s->lease_connection);
    s->lease_seconds = options->lease_seconds;
    s->reserve = (pg_reserve){.most = 1};
    s->wake_file = -1;
    pthread_mutex_init(&s->reach_lock, NULL);
    pthread_mutex_init(&s->state_lock, NULL);
    pthread_mutex_init(&s->listener_lock, NULL);
    return s;
}

static void close_store(store *base) {
    postgres_store *s = (postgres_store *)base;
    if (!s) return;
    pg_lease_stop(s);
    sql_writer_stop(&s->base);
    pg_destroy(s);
}

/* Creates the tables of a new store under a lock for which other nodes wait. On failure, or if the tables have another
 * version, returns false with a message. */
static bool prepare_database(pg_connection *c, char *message, size_t room) {
    char where[128], mark[64];
    c->in_transaction = true;
    bool good = pg_execute(c, "BEGIN; SELECT pg_advisory_xact_lock(" SCHEMA_LOCK ");"
                              "CREATE TABLE IF NOT EXISTS hamel_schema(version BIGINT PRIMARY KEY)");
    PGresult *result = good ? PQexec(c->link, "SELECT coalesce(max(version), 0) FROM hamel_schema") : NULL;
    int64_t version = PQntuples(result) == 1 ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : -1;
    PQclear(result);
    good = good && version >= 0;
    snprintf(where, sizeof where, "database %.100s", PQdb(c->link));
    if (good && version > 0 && !sql_schema_accepted(version, where, message, room)) {
        pg_undo(c);
        return false;
    }
    snprintf(mark, sizeof mark, "INSERT INTO hamel_schema VALUES(%d)", SQL_SCHEMA_VERSION);
    if (version == 0) good = good && pg_execute(c, POSTGRES_SCHEMA_TEXT) && pg_execute(c, mark);
    if (good && pg_commit(c)) return true;
    snprintf(message, room, "%s: cannot create the tables of the store: %s", where, c->message);
    pg_undo(c);
    return false;
}

static store *open_url(const char *url, const store_options *options, char *message, size_t room) {
    postgres_store *s = pg_create(options);
    snprintf(message, room, "out of memory");
    if (!s) return NULL;
    bool good = make_readers(s) && pg_read_url(s, url, message, room);
    if (good && !pg_connected(&s->lease_connection))
        good = failed_with(message, room, "--store: cannot connect to the database: %s", s->lease_connection.message);
    good = good && prepare_database(&s->lease_connection, message, room);
    if (good && !pg_take_lease(s))
        good = failed_with(message, room, "cannot use the store: %s", s->lease_connection.message);
    if (good) snprintf(message, room, "cannot start the threads of the store");
    bool writes = good && sql_writer_start(&s->base);
    if (writes && pg_lease_start(s)) return &s->base.base;
    if (writes) sql_writer_stop(&s->base);
    pg_destroy(s);
    return NULL;
}

static bool pg_check(const char *url, char *message, size_t room) {
    postgres_store s = {0};
    bool good = pg_read_url(&s, url, message, room);
    pg_forget_url(&s);
    return good;
}

static void pg_set_listener(store *base, const store_listener *listener) {
    postgres_store *s = (postgres_store *)base;
    pthread_mutex_lock(&s->listener_lock);
    s->has_listener = listener != NULL;
    if (listener) s->listener = *listener;
    pthread_mutex_unlock(&s->listener_lock);
    pthread_mutex_lock(&s->state_lock);
    s->shutting_down = listener == NULL;
    pthread_mutex_unlock(&s->state_lock);
}

/* If the database refused the last change, returns the reason. Otherwise queries whether the database has become
 * read-only since that change. */
static const char *trouble(store *base) {
    postgres_store *s = (postgres_store *)base;
    const char *refusal = atomic_load(&s->refusal);
    if (refusal) return refusal;
    sql_connection *c = sql_reader(base);
    int64_t read_only = 0;
    store_status status = sql_one_int(c, sql_first(c, PG_READ_ONLY, NULL, 0), &read_only);
    sql_reader_back(c);
    if (status == STORE_OK && read_only) return "the database is read-only";
    return sql_trouble(base);
}

const store_kind store_kind_postgresql = {.scheme = "postgresql:",
                                          .open = open_url,
                                          .close = close_store,
                                          .check = pg_check,
                                          .show = pg_show_url,
                                          .set_listener = pg_set_listener,
                                          .claim = pg_claim,
                                          .trouble = trouble,
                                          SQL_FUNCTIONS};
