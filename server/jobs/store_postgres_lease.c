/* store_postgres_lease.c — lease of this node, and removal of nodes whose lease has ended.
 *
 * Every node that shares the database has a row with the time at which its lease ends, by the clock of the database. A
 * node renews its lease three times in the period of the lease. If a lease has ended, any other node removes the row
 * and requeues the jobs. Later writes of the removed node are refused, because their attempt is no longer the current
 * one. The removed node then registers as a new node with a new lease.
 *
 * If a node cannot reach the database, it computes the end of its lease by its own clock. The lease starts at the time
 * just before the node sent its last renewal. When the lease ends, the node stops its runs.
 *
 * A job that was running when its node vanished may have caused the loss of the node. If the nodes of a job have
 * vanished JOB_LOST_MAX times without a stored row in between, the job fails. If a job that had been lost before is
 * lost again, it is the probable cause. The loss then does not count against the jobs that are lost together with it
 * for the first time. */
#include "server/clock.h"
#include "server/jobs/store_postgres_int.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SWEEP_LOCK = 1751215462, MINE_MOST = 4096 };
#define ROUND_SECONDS 1.0

/* Reports to the listener that the lease was lost or, if `lost` is false, that there may be jobs to claim. */
static void notify(postgres_store *s, bool lost) {
    pthread_mutex_lock(&s->listener_lock);
    if (s->has_listener) (lost ? s->listener.lost : s->listener.queued)(s->listener.context);
    pthread_mutex_unlock(&s->listener_lock);
}

/* Returns true if the job may be running here. If `canceled` is true, also cancels the run. */
static bool runs_here(postgres_store *s, int64_t number, bool canceled) {
    pthread_mutex_lock(&s->listener_lock);
    bool runs = !s->has_listener || s->listener.runs(s->listener.context, number);
    if (s->has_listener && runs && canceled) s->listener.canceled(s->listener.context, number);
    pthread_mutex_unlock(&s->listener_lock);
    return runs;
}

static void set_lease(postgres_store *s, int64_t node, double asked_at) {
    pthread_mutex_lock(&s->state_lock);
    s->lease_ends = asked_at + s->lease_seconds;
    pthread_mutex_unlock(&s->state_lock);
    atomic_store(&s->node, node);
}

static int64_t lease_ms(const postgres_store *s) {
    return (int64_t)(s->lease_seconds * 1e3);
}

bool pg_take_lease(postgres_store *s) {
    sql_connection *c = &s->lease_connection.base;
    int64_t node = 0;
    double asked_at = clock_seconds();
    if (!pg_connected(&s->lease_connection)) return false;
    if (sql_one_int(c, SQL_FIRST(c, PG_ENTER, sql_int(lease_ms(s))), &node) != STORE_OK) return false;
    set_lease(s, node, asked_at);
    return true;
}

static void lose_lease(postgres_store *s) {
    int64_t node = atomic_exchange(&s->node, 0);
    if (node == 0) return;
    metrics_count(&s->base.metrics->leases[LEASE_LOST], 1);
    log_write(s->base.log, LOG_WARNING, "lease", LOG_FIELDS(log_number("node", (double)node), log_text("end", "lost")));
    notify(s, true);
}

static void renew(postgres_store *s) {
    sql_connection *c = &s->lease_connection.base;
    int64_t node = atomic_load(&s->node), renewed;
    double asked_at = clock_seconds();
    if (node == 0) {
        pg_take_lease(s);
        return;
    }
    sql_step step = SQL_FIRST(c, PG_RENEW, sql_int(node), sql_int(lease_ms(s)));
    store_status status = sql_one_int(c, step, &renewed);
    if (status == STORE_OK) set_lease(s, node, asked_at);
    pg_note_change(&s->lease_connection, status != STORE_FAILED);
    if (status != STORE_ABSENT) return;
    lose_lease(s);
    pg_take_lease(s);
}

typedef struct held_job {
    int64_t number, attempt;
    bool canceled;
} held_job;

/* Cancels runs that clients of other nodes have canceled. Requeues jobs that are assigned to this node but do not run
 * here. For such a job, the connection broke after the claim or before the end of the run was committed. */
static void look_at_mine(postgres_store *s) {
    sql_connection *c = &s->lease_connection.base;
    held_job held[MINE_MOST];
    size_t count = 0;
    sql_step step = SQL_FIRST(c, PG_MINE, sql_int(atomic_load(&s->node)));
    for (; step == SQL_STEP_ROW && count < MINE_MOST; step = c->driver->next(c))
        held[count++] = (held_job){c->driver->integer(c, 0), c->driver->integer(c, 1), c->driver->integer(c, 2) != 0};
    c->driver->end(c);
    for (size_t k = 0; k < count; k++) {
        if (runs_here(s, held[k].number, held[k].canceled)) continue;
        SQL_RUN(c, PG_RELEASE, sql_int(held[k].number), sql_int(held[k].attempt));
    }
}

static bool sweep_all(pg_connection *connection, int64_t *nodes, int64_t *poison) {
    static const char problem[] =
        PROBLEM_JSON("crashed", "The run crashed the server", "500",
                     "the last attempts to run this job failed, because the server stopped unexpectedly; the log of "
                     "the servers may show the cause");
    sql_connection *c = &connection->base;
    int64_t locked = 0;
    if (sql_one_int(c, SQL_FIRST(c, PG_SWEEP_TRY_LOCK, sql_int(SWEEP_LOCK)), &locked) != STORE_OK) return false;
    if (locked == 0) return true; /* another node is removing nodes */
    if (!sql_run(c, PG_SWEEP_NODES)) return false;
    *nodes = c->driver->changed(c);
    if (!sql_run(c, PG_SWEEP_BLAME) || !sql_run(c, PG_SWEEP_CANCELED)) return false;
    if (!SQL_RUN(c, PG_SWEEP_POISON, sql_text(problem), sql_int(JOB_LOST_MAX))) return false;
    *poison = c->driver->changed(c);
    return sql_run(c, PG_SWEEP_JOBS) && sql_run(c, PG_SWEEP_COUNTS);
}

static void sweep(postgres_store *s) {
    int64_t nodes = 0, poison = 0;
    if (!pg_begin(&s->lease_connection, true) || !sweep_all(&s->lease_connection, &nodes, &poison) ||
        !pg_commit(&s->lease_connection)) {
        s->base.driver->complain(&s->base, &s->lease_connection.base, "sweep");
        pg_undo(&s->lease_connection);
        return;
    }
    if (nodes == 0) return;
    metrics_count(&s->base.metrics->leases[LEASE_SWEPT], (double)nodes);
    log_write(
        s->base.log, LOG_WARNING, "lease",
        LOG_FIELDS(log_text("end", "swept"), log_number("nodes", (double)nodes), log_number("poison", (double)poison)));
    notify(s, false);
}

/* Waits for a notification, at most `seconds`. */
static void rest(postgres_store *s, double seconds) {
    PGconn *link = s->lease_connection.link;
    struct pollfd files[2] = {{.fd = s->wake_file, .events = POLLIN},
                              {.fd = link ? PQsocket(link) : -1, .events = POLLIN}};
    poll(files, 2, (int)(seconds * 1e3));
    if (!link || !files[1].revents) return;
    PQconsumeInput(link);
    PGnotify *hint;
    bool any = false;
    while ((hint = PQnotifies(link)) != NULL) {
        any = true;
        PQfreemem(hint);
    }
    if (!any) return;
    pg_work_may_wait(&s->base);
    notify(s, false);
}

static void *keep_lease(void *context) {
    postgres_store *s = context;
    double renew_at = clock_seconds() + s->lease_seconds / 3, sweep_at = 0;
    const PGconn *listening = NULL;
    pthread_setname_np(pthread_self(), "hamel-lease");
    while (!atomic_load(&s->closing)) {
        double round = s->lease_seconds / 10 < ROUND_SECONDS ? s->lease_seconds / 10 : ROUND_SECONDS;
        rest(s, round * (0.75 + 0.5 * pg_fraction()));
        if (pg_connected(&s->lease_connection)) {
            if (listening != s->lease_connection.link && pg_execute(&s->lease_connection, "LISTEN hamel_jobs"))
                listening = s->lease_connection.link;
            double now = clock_seconds();
            if (now >= renew_at || atomic_load(&s->node) == 0) {
                renew(s);
                renew_at = now + s->lease_seconds / 3;
            }
            if (now >= sweep_at) {
                sweep(s);
                sweep_at = now + s->lease_seconds / 6 * (0.75 + 0.5 * pg_fraction());
            }
            look_at_mine(s);
            pg_release_stale(s);
        } else {
            listening = NULL;
        }
        pthread_mutex_lock(&s->state_lock);
        bool over = clock_seconds() > s->lease_ends;
        pthread_mutex_unlock(&s->state_lock);
        if (over) lose_lease(s);
    }
    return NULL;
}

bool pg_lease_start(postgres_store *s) {
    s->wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return s->wake_file >= 0 && pthread_create(&s->lease_thread, NULL, keep_lease, s) == 0;
}

void pg_lease_stop(postgres_store *s) {
    uint64_t one = 1;
    atomic_store(&s->closing, true);
    (void)!write(s->wake_file, &one, sizeof one);
    pthread_join(s->lease_thread, NULL);
    int64_t node = atomic_load(&s->node);
    if (node != 0 && pg_release_all(s)) SQL_RUN(&s->lease_connection.base, PG_LEAVE, sql_int(node));
}
