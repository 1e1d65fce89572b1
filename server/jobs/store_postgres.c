/* store_postgres.c — jobs in PostgreSQL, for many nodes with one queue: opening, closing, and what is told to the
 * workers.
 *
 * Connections: one for changes (store_sql.c's writer), one that keeps the lease of this node and sweeps up after others
 * (store_postgres_keeper.c), and up to four for questions, made when they are needed. What of it all is done by SQL that
 * SQLite speaks too is in store_sql*.c; how nodes share the queue is in store_postgres_claim.c.
 *
 * Who holds a job is known by its attempt, which grows with every start: every write of a run names it and locks the
 * job's row until it is committed. So a node that was given up for dead cannot write over what another has made. */
#include "server/jobs/store_postgres_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READERS = 4 };

static void destroy(postgres_store *s) {
    while (s->base.readers) {
        pg_connection *c = (pg_connection *)s->base.readers;
        s->base.readers = c->base.next;
        pg_disconnect(c);
        free(c);
    }
    pg_disconnect(&s->writer);
    pg_disconnect(&s->keeper);
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

static postgres_store *create(const store_options *options) {
    postgres_store *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    sql_store_init(&s->base, &store_kind_postgresql, &pg_driver, options->log, options->metrics);
    s->base.writer = &s->writer.base;
    prepare_connection(s, &s->writer);
    prepare_connection(s, &s->keeper);
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
    pg_keeper_stop(s);
    sql_writer_stop(&s->base);
    destroy(s);
}

static store *open_url(const char *url, const store_options *options, char *message, size_t room) {
    postgres_store *s = create(options);
    snprintf(message, room, "out of memory");
    if (!s) return NULL;
    bool good = make_readers(s) && pg_read_url(s, url, message, room);
    if (good && !pg_connected(&s->keeper)) {
        snprintf(message, room, "the store cannot be reached: %s", s->keeper.message);
        good = false;
    }
    good = good && pg_migrate(&s->keeper, message, room);
    if (good && !pg_enter(s)) {
        snprintf(message, room, "the store cannot be used: %s", s->keeper.message);
        good = false;
    }
    if (!good) {
        destroy(s);
        return NULL;
    }
    snprintf(message, room, "no thread for the store");
    bool writes = sql_writer_start(&s->base);
    if (writes && pg_keeper_start(s)) return &s->base.base;
    if (writes) sql_writer_stop(&s->base);
    destroy(s);
    return NULL;
}

static bool check(const char *url, char *message, size_t room) {
    postgres_store s = {0};
    bool good = pg_read_url(&s, url, message, room);
    pg_forget_url(&s);
    return good;
}

static void attend(store *base, const store_listener *listener) {
    postgres_store *s = (postgres_store *)base;
    pthread_mutex_lock(&s->listener_lock);
    s->attended = listener != NULL;
    if (listener) s->listener = *listener;
    pthread_mutex_unlock(&s->listener_lock);
    pthread_mutex_lock(&s->state_lock);
    s->hasty = listener == NULL;
    pthread_mutex_unlock(&s->state_lock);
}

static store_status submit(store *s, const job_submission *submission, job *out) {
    store_status status = sql_submit(s, submission, out);
    pg_work_may_wait((postgres_store *)s);
    return status;
}

static store_status submit_batch(store *s, const batch_submission *submission, job_batch *out) {
    store_status status = sql_submit_batch(s, submission, out);
    pg_work_may_wait((postgres_store *)s);
    return status;
}

static store_status hand_back(store *s, int64_t number, int64_t attempt, const job_output *output) {
    store_status status = sql_hand_back(s, number, attempt, output);
    pg_work_may_wait((postgres_store *)s);
    return status;
}

static store_status postpone(store *s, int64_t number, int64_t attempt) {
    store_status status = sql_postpone(s, number, attempt);
    pg_work_may_wait((postgres_store *)s);
    return status;
}

/* What sessions may do is asked, as nothing may have been written since that has changed. */
static const char *trouble(store *base) {
    postgres_store *s = (postgres_store *)base;
    const char *refusal = atomic_load(&s->refusal);
    if (refusal) return refusal;
    sql_connection *c = sql_reader(&s->base);
    int64_t read_only = 0;
    store_status status = sql_one_int(c, sql_first(c, PG_READ_ONLY, NULL, 0), &read_only);
    sql_reader_back(&s->base, c);
    if (status == STORE_OK && read_only) return "the database is read-only";
    return sql_trouble(base);
}

const store_kind store_kind_postgresql = {.scheme = "postgresql:",
                                          .open = open_url,
                                          .close = close_store,
                                          .check = check,
                                          .show = pg_show_url,
                                          .attend = attend,
                                          .submit = submit,
                                          .submit_batch = submit_batch,
                                          .claim = pg_claim,
                                          .hand_back = hand_back,
                                          .postpone = postpone,
                                          .trouble = trouble,
                                          SQL_FUNCTIONS};
