/* store_postgres_int.h — declarations shared by the files of the PostgreSQL store; see store_postgres.c for the
 * design. */
#pragma once

#include "server/jobs/store_sql.h"

#include <postgresql/libpq-fe.h>

typedef enum pg_name {
    PG_BEFORE = SQL_TOTAL - 1,
#define X(name, text) PG_##name,
    POSTGRES_STATEMENTS(X)
#undef X
        PG_TOTAL
} pg_name;

enum { PG_RESERVE_MOST = 256, PG_STATE_BYTES = 6, PG_MESSAGE_BYTES = 256 };

typedef struct postgres_store postgres_store;

typedef struct pg_connection {
    sql_connection base;
    postgres_store *store;
    PGconn *link; /* NULL if not connected */
    bool prepared[PG_TOTAL];
    bool in_transaction;
    PGresult *result; /* result of the current statement */
    int row;
    int64_t changed;
    int64_t node;               /* node number set in the session (PG_SET_NODE) */
    char state[PG_STATE_BYTES]; /* SQLSTATE of the last failure; "" if the connection failed */
    char message[PG_MESSAGE_BYTES];
} pg_connection;

/* Jobs that this node has reserved and not started; used by the writer's thread only. */
typedef struct pg_reserve {
    int64_t numbers[PG_RESERVE_MOST];
    size_t first, count;
    size_t most;     /* number of jobs to reserve at a time */
    double taken_at; /* time of the last reservation, by clock_seconds */
    bool unsure;     /* a transaction that changed the list failed, so the list must be read again */
} pg_reserve;

/* Operation that releases the reserved jobs that are stale or, if `all`, all reserved jobs. */
typedef struct pg_release {
    sql_operation operation;
    postgres_store *store;
    bool all;
} pg_release;

struct postgres_store {
    sql_store base;
    char **keywords, **values; /* connection parameters, NULL-terminated */
    double lease_seconds;
    pg_connection writer, lease_connection; /* used by the writer's thread and the lease thread, respectively */
    pg_reserve reserve;
    pg_release stale;              /* operation that the lease thread submits */
    _Atomic int64_t node;          /* 0 if there is no lease */
    _Atomic(const char *) refusal; /* reason why the database refused the last change; NULL if the change was made */

    pthread_mutex_t reach_lock; /* guards the members below */
    double retry_at, backoff;   /* time of the next attempt to connect, and the current delay, s */
    bool unreachable;           /* the database is unreachable, which has been logged */

    pthread_mutex_t state_lock; /* guards the members below */
    double lease_ends;          /* end of the lease, by the clock of this daemon */
    double empty_until;         /* the queue was empty, so claims before this time return no job */
    bool shutting_down;         /* changes no longer wait for the database */

    pthread_mutex_t listener_lock; /* held while the listener is called */
    store_listener listener;
    bool has_listener;

    pthread_t lease_thread;
    atomic_bool closing; /* ends the lease thread */
    int wake_file;       /* an eventfd that wakes the lease thread */
};

/* store_postgres_driver.c */
extern const sql_driver pg_driver;
bool pg_connected(pg_connection *c); /* connects if necessary, but not before retry_at */
void pg_disconnect(pg_connection *c);
bool pg_execute(pg_connection *c, const char *sql); /* executes statements without parameters */
bool pg_begin(pg_connection *c, bool durable);
bool pg_commit(pg_connection *c);
void pg_undo(pg_connection *c);
void pg_note_change(pg_connection *c, bool made); /* records the result of a change */
double pg_fraction(void);                         /* returns a random number in [0, 1) */

/* store_postgres_url.c */

/* Reads the connection parameters of a URL and adds defaults for missing parameters. */
bool pg_read_url(postgres_store *s, const char *url, char *message, size_t room);
void pg_show_url(const char *url, char out[STORE_URL_BYTES]);
void pg_forget_url(postgres_store *s);

/* store_postgres_claim.c */
store_status pg_claim(store *s, job_claim *claim);
void pg_release_stale(postgres_store *s); /* requests the release of jobs that were reserved too long ago */
bool pg_release_all(postgres_store *s);
void pg_work_may_wait(sql_store *s); /* makes the next claim read the queue again, even if it was empty */

/* store_postgres_lease.c */
bool pg_lease_start(postgres_store *s);
void pg_lease_stop(postgres_store *s);
bool pg_take_lease(postgres_store *s); /* registers a node with a new lease */
