/* store_postgres_int.h — what the files of the PostgreSQL store share; see store_postgres.c for the design. */
#ifndef HAMEL_SERVER_JOBS_STORE_POSTGRES_INT_H
#define HAMEL_SERVER_JOBS_STORE_POSTGRES_INT_H

#include "server/jobs/store_postgres.h"
#include "server/jobs/store_sql.h"

#include <postgresql/libpq-fe.h>

/* Jobs that a node holds without its lease: it has been swept, or was never entered. */
#define PG_GONE "node<>0 AND status<2 AND node NOT IN (SELECT number FROM nodes)"

/* clang-format off */
#define PG_LIST(X)                                                                                                     \
    X(START, "UPDATE jobs SET status=1, started=hamel_now(), attempt=attempt+1, fruitless=fruitless+1, "               \
             "revision=revision+1 WHERE number=?1 AND status=0 AND node=hamel_node() RETURNING " SQL_JOB_COLUMNS)      \
    X(SET_NODE, "SELECT set_config('hamel.node', CAST(?1 AS TEXT), false)")                                            \
    X(NEXT_OWNERS, "SELECT owner FROM owners WHERE queued>0 ORDER BY running, turn LIMIT ?1")                          \
    X(TAKE_TURN, "INSERT INTO owner_counts(owner, node, turn) VALUES(?1, hamel_node(), nextval('owner_turns')) "       \
                 "ON CONFLICT(owner, node) DO UPDATE SET turn=excluded.turn")                                          \
    X(RESERVE, "WITH chosen AS MATERIALIZED (SELECT number FROM jobs WHERE status=0 AND node=0 AND owner=?1 AND "      \
               "fruitless=0 ORDER BY number LIMIT ?2 FOR UPDATE SKIP LOCKED) "                                         \
               "UPDATE jobs SET node=hamel_node() FROM chosen WHERE jobs.number=chosen.number "                        \
               "RETURNING jobs.number")                                                                                \
    X(RESERVE_SUSPECT, "WITH chosen AS MATERIALIZED (SELECT number FROM jobs WHERE status=0 AND node=0 AND "           \
                       "fruitless>0 AND NOT EXISTS (SELECT 1 FROM jobs AS held WHERE held.node=hamel_node() AND "      \
                       "held.node<>0 AND held.fruitless>held.status) ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED) " \
                       "UPDATE jobs SET node=hamel_node() FROM chosen WHERE jobs.number=chosen.number "                \
                       "RETURNING jobs.number")                                                                        \
    X(RESERVED, "SELECT number FROM jobs WHERE node=hamel_node() AND node<>0 AND status=0 ORDER BY number LIMIT ?1")   \
    X(RELEASE_RESERVED, "UPDATE jobs SET node=0 WHERE node=hamel_node() AND node<>0 AND status=0")                     \
    X(READ_ONLY, "SELECT CAST(current_setting('transaction_read_only')='on' AS INTEGER)")                              \
    X(ENTER, "INSERT INTO nodes(lease_until) VALUES(hamel_now()+?1) RETURNING number")                                 \
    X(RENEW, "UPDATE nodes SET lease_until=hamel_now()+?2 WHERE number=?1 RETURNING number")                           \
    X(LEAVE, "DELETE FROM nodes WHERE number=?1")                                                                      \
    X(MINE, "SELECT number, attempt, cancel FROM jobs WHERE node=?1 AND node<>0 AND status=1")                         \
    X(RELEASE, "UPDATE jobs SET status=0, fruitless=CASE WHEN fruitless>0 THEN fruitless-1 ELSE 0 END, "               \
               "revision=revision+1 WHERE number=?1 AND attempt=?2 AND status=1")                                      \
    X(SWEEP_TURN, "SELECT CAST(pg_try_advisory_xact_lock(?1) AS INTEGER)")                                             \
    X(SWEEP_NODES, "DELETE FROM nodes WHERE lease_until<hamel_now()")                                                  \
    X(SWEEP_BLAME, "UPDATE jobs SET fruitless=0 WHERE " PG_GONE " AND status=1 AND fruitless=1 AND EXISTS "            \
                   "(SELECT 1 FROM jobs AS held WHERE held.node=jobs.node AND held.status=1 AND held.fruitless>1)")    \
    X(SWEEP_CANCELED, "UPDATE jobs SET status=5, finished=hamel_now(), revision=revision+1 WHERE " PG_GONE             \
                      " AND status=1 AND cancel=1")                                                                    \
    X(SWEEP_POISON, "UPDATE jobs SET status=4, finished=hamel_now(), problem=?1, revision=revision+1 WHERE " PG_GONE   \
                    " AND status=1 AND fruitless>=?2")                                                                 \
    X(SWEEP_JOBS, "UPDATE jobs SET status=0, node=0, revision=revision+1 WHERE " PG_GONE)                              \
    X(SWEEP_COUNTS, "WITH gone AS (DELETE FROM owner_counts WHERE node<>0 AND node NOT IN (SELECT number FROM nodes) " \
                    "RETURNING *) INSERT INTO owner_counts(owner, node, queued, running, bytes, turn) SELECT owner, "  \
                    "0, sum(queued), sum(running), sum(bytes), max(turn) FROM gone GROUP BY owner ON CONFLICT(owner, " \
                    "node) DO UPDATE SET queued=owner_counts.queued+excluded.queued, running=owner_counts.running+"    \
                    "excluded.running, bytes=owner_counts.bytes+excluded.bytes, "                                      \
                    "turn=greatest(owner_counts.turn, excluded.turn)")
/* clang-format on */

typedef enum pg_name {
    PG_BEFORE = SQL_TOTAL - 1,
#define X(name, text) PG_##name,
    PG_LIST(X)
#undef X
        PG_TOTAL
} pg_name;

enum { PG_RESERVE_MOST = 256, PG_STATE_BYTES = 6, PG_MESSAGE_BYTES = 256 };

typedef struct postgres_store postgres_store;

typedef struct pg_connection {
    sql_connection base;
    postgres_store *store;
    PGconn *link; /* NULL: not connected */
    bool prepared[PG_TOTAL];
    bool in_transaction;
    PGresult *result; /* of the statement under way */
    int row;
    int64_t changed;
    int64_t node;               /* that the session has been told */
    char state[PG_STATE_BYTES]; /* SQLSTATE of the last failure; "" when the connection is to blame */
    char message[PG_MESSAGE_BYTES];
} pg_connection;

/* What a node has reserved and not begun; of the writer's thread. */
typedef struct pg_reserve {
    int64_t numbers[PG_RESERVE_MOST];
    size_t first, count;
    size_t most;     /* how many to take at a time */
    double taken_at; /* by stamp_seconds */
    bool unsure;     /* a transaction that changed it may have failed: the database knows */
} pg_reserve;

/* Gives back what is reserved: what is stale, or all. */
typedef struct pg_release {
    sql_operation operation;
    postgres_store *store;
    bool all;
} pg_release;

struct postgres_store {
    sql_store base;
    char **keywords, **values; /* of the connections; NULL-terminated */
    double lease_seconds;
    pg_connection writer, keeper; /* the keeper's thread keeps the lease */
    pg_reserve reserve;
    pg_release stale;              /* of the keeper */
    _Atomic int64_t node;          /* 0: without a lease */
    _Atomic(const char *) refusal; /* why the database refused the last change; NULL when it did not */

    pthread_mutex_t reach_lock; /* guards what follows */
    double retry_at, backoff;   /* no connection is tried before */
    bool unreachable;           /* and that has been told */

    pthread_mutex_t state_lock; /* guards what follows */
    double lease_ends;          /* of which it can be sure */
    double empty_until;         /* there was nothing to claim a moment ago */
    bool hasty;                 /* nobody is patient any more */
    bool closing;

    pthread_mutex_t listener_lock; /* held while the listener is called */
    store_listener listener;
    bool attended;

    pthread_t keeper_thread;
    int wake_file; /* an eventfd: the keeper is to look */
};

/* store_postgres_driver.c */
extern const sql_driver pg_driver;
bool pg_connected(pg_connection *c); /* connects when need be and when it is time to */
void pg_disconnect(pg_connection *c);
bool pg_execute(pg_connection *c, const char *sql); /* any number of statements without parameters */
bool pg_begin(pg_connection *c, bool durable);
bool pg_commit(pg_connection *c);
void pg_undo(pg_connection *c);
void pg_note_change(pg_connection *c, bool made); /* a change has been tried */
double pg_fraction(void);                         /* a random number in [0, 1) */

/* store_postgres_url.c */

/* Connection parameters from a URL, with those that hamel would have where it says nothing. */
bool pg_read_url(postgres_store *s, const char *url, char *message, size_t room);
void pg_show_url(const char *url, char out[STORE_URL_BYTES]);
void pg_forget_url(postgres_store *s);

/* store_postgres_schema.c: brings the database to this release's schema. False with a message. */
bool pg_migrate(pg_connection *c, char *message, size_t room);

/* store_postgres_claim.c */
store_status pg_claim(store *s, job *out, char **body, size_t *length);
void pg_release_stale(postgres_store *s); /* what was reserved and not begun for too long; soon */
bool pg_release_all(postgres_store *s);
void pg_work_may_wait(postgres_store *s); /* something was submitted */

/* store_postgres_keeper.c */
bool pg_keeper_start(postgres_store *s);
void pg_keeper_stop(postgres_store *s);
bool pg_enter(postgres_store *s); /* takes a lease */

#endif
