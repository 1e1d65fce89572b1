/* store_postgres_keeper.c — the lease of this node, and the jobs of nodes that have lost theirs.
 *
 * Every node that shares the database has a row there, with the time until which it may be taken to be alive: by the
 * database's clock, which is the only one that counts. It is renewed three times in a lease. A node whose time has
 * passed is removed by whichever other comes first, and its jobs go back to the queue; what it still writes is refused,
 * because the attempt is no longer the current one. It then takes a new lease, as a new node.
 *
 * A node that cannot reach the database knows by its own clock, counted from before its last renewal was asked for, when
 * it must assume the worst: then it stops what it runs.
 *
 * A job that was running when its node vanished may have been the cause. When that has happened to it JOB_LOST_MAX times
 * and it has not stored a row in between, it has failed; of several that were lost together only those that had been lost
 * before are blamed. */
#include "server/jobs/store_postgres_int.h"
#include "server/stamp.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SWEEP_LOCK = 1751215462, MINE_MOST = 1024 };
#define ROUND_SECONDS 1.0

/* ---- the listener ----------------------------------------------------------------------------------------------- */

typedef enum news { NEWS_QUEUED, NEWS_LOST } news;

static void tell(postgres_store *s, news what) {
    pthread_mutex_lock(&s->listener_lock);
    if (s->attended && what == NEWS_QUEUED) s->listener.queued(s->listener.context);
    if (s->attended && what == NEWS_LOST) s->listener.lost(s->listener.context);
    pthread_mutex_unlock(&s->listener_lock);
}

/* Whether the job is running here; it is told that it has been canceled. */
static bool runs_here(postgres_store *s, int64_t number, bool canceled) {
    pthread_mutex_lock(&s->listener_lock);
    bool runs = !s->attended || s->listener.runs(s->listener.context, number);
    if (s->attended && runs && canceled) s->listener.canceled(s->listener.context, number);
    pthread_mutex_unlock(&s->listener_lock);
    return runs;
}

/* ---- the lease -------------------------------------------------------------------------------------------------- */

static void set_lease(postgres_store *s, int64_t node, double asked_at) {
    pthread_mutex_lock(&s->state_lock);
    s->lease_ends = asked_at + s->lease_seconds;
    pthread_mutex_unlock(&s->state_lock);
    atomic_store(&s->node, node);
}

static int64_t lease_ms(const postgres_store *s) {
    return (int64_t)(s->lease_seconds * 1e3);
}

bool pg_enter(postgres_store *s) {
    sql_connection *c = &s->keeper.base;
    int64_t node = 0;
    double asked_at = stamp_seconds();
    if (!pg_connected(&s->keeper)) return false;
    if (sql_one_int(c, SQL_FIRST(c, PG_ENTER, sql_int(lease_ms(s))), &node) != STORE_OK) return false;
    set_lease(s, node, asked_at);
    return true;
}

static void lose_lease(postgres_store *s) {
    int64_t node = atomic_exchange(&s->node, 0);
    if (node == 0) return;
    metrics_lease(s->base.metrics, LEASE_LOST, 1);
    log_write(s->base.log, LOG_WARNING, "lease", LOG_FIELDS(log_number("node", (double)node), log_text("end", "lost")));
    tell(s, NEWS_LOST);
}

static void renew(postgres_store *s) {
    sql_connection *c = &s->keeper.base;
    int64_t node = atomic_load(&s->node), renewed;
    double asked_at = stamp_seconds();
    if (node == 0) {
        pg_enter(s);
        return;
    }
    sql_step step = SQL_FIRST(c, PG_RENEW, sql_int(node), sql_int(lease_ms(s)));
    store_status status = sql_one_int(c, step, &renewed);
    if (status == STORE_OK) set_lease(s, node, asked_at);
    pg_note_change(&s->keeper, status != STORE_FAILED);
    if (status != STORE_ABSENT) return;
    lose_lease(s);
    pg_enter(s);
}

/* ---- what runs here --------------------------------------------------------------------------------------------- */

typedef struct held_job {
    int64_t number, attempt;
    bool canceled;
} held_job;

/* Cancels what clients of other nodes have canceled, and hands back what nobody here knows of: its claim was committed,
 * or its end was not, when the connection broke. */
static void look_at_mine(postgres_store *s) {
    sql_connection *c = &s->keeper.base;
    held_job held[MINE_MOST];
    size_t count = 0;
    sql_step step = SQL_FIRST(c, PG_MINE, sql_int(atomic_load(&s->node)));
    for (; step == SQL_STEP_ROW && count < MINE_MOST; step = c->driver->next(c)) {
        held[count++] = (held_job){c->driver->integer(c, 0), c->driver->integer(c, 1), c->driver->integer(c, 2) != 0};
    }
    c->driver->end(c);
    for (size_t k = 0; k < count; k++) {
        if (runs_here(s, held[k].number, held[k].canceled)) continue;
        SQL_RUN(c, PG_RELEASE, sql_int(held[k].number), sql_int(held[k].attempt));
    }
}

/* ---- the sweep -------------------------------------------------------------------------------------------------- */

static bool sweep_all(pg_connection *keeper, int64_t *nodes, int64_t *poison) {
    static const char problem[] =
        "{\"type\":\"/problems/crashed\",\"title\":\"The run crashed the server\",\"status\":500,"
        "\"detail\":\"each of the servers that last tried to run this job vanished\"}";
    sql_connection *c = &keeper->base;
    int64_t turn = 0;
    if (sql_one_int(c, SQL_FIRST(c, PG_SWEEP_TURN, sql_int(SWEEP_LOCK)), &turn) != STORE_OK) return false;
    if (turn == 0) return true; /* another node is at it */
    if (!sql_run(c, PG_SWEEP_NODES)) return false;
    *nodes = c->driver->changed(c);
    if (!sql_run(c, PG_SWEEP_BLAME) || !sql_run(c, PG_SWEEP_CANCELED)) return false;
    if (!SQL_RUN(c, PG_SWEEP_POISON, sql_text(problem), sql_int(JOB_LOST_MAX))) return false;
    *poison = c->driver->changed(c);
    return sql_run(c, PG_SWEEP_JOBS) && sql_run(c, PG_SWEEP_COUNTS);
}

static void sweep(postgres_store *s) {
    int64_t nodes = 0, poison = 0;
    if (!pg_begin(&s->keeper, true) || !sweep_all(&s->keeper, &nodes, &poison) || !pg_commit(&s->keeper)) {
        s->base.driver->complain(&s->base, &s->keeper.base, "sweep");
        pg_undo(&s->keeper);
        return;
    }
    if (nodes == 0) return;
    metrics_lease(s->base.metrics, LEASE_SWEPT, (double)nodes);
    log_write(
        s->base.log, LOG_WARNING, "lease",
        LOG_FIELDS(log_text("end", "swept"), log_number("nodes", (double)nodes), log_number("poison", (double)poison)));
    tell(s, NEWS_QUEUED);
}

/* ---- the thread ------------------------------------------------------------------------------------------------- */

static bool is_closing(postgres_store *s) {
    pthread_mutex_lock(&s->state_lock);
    bool closing = s->closing;
    pthread_mutex_unlock(&s->state_lock);
    return closing;
}

static double lease_ends(postgres_store *s) {
    pthread_mutex_lock(&s->state_lock);
    double ends = s->lease_ends;
    pthread_mutex_unlock(&s->state_lock);
    return ends;
}

/* Waits for a hint, or for so long. */
static void rest(postgres_store *s, double seconds) {
    PGconn *link = s->keeper.link;
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
    pg_work_may_wait(s);
    tell(s, NEWS_QUEUED);
}

static void *keep(void *context) {
    postgres_store *s = context;
    double renew_at = stamp_seconds() + s->lease_seconds / 3, sweep_at = 0;
    const PGconn *listening = NULL;
    pthread_setname_np(pthread_self(), "hamel-keeper-pg");
    while (!is_closing(s)) {
        double round = s->lease_seconds / 10 < ROUND_SECONDS ? s->lease_seconds / 10 : ROUND_SECONDS;
        rest(s, round * (0.75 + 0.5 * pg_fraction()));
        if (pg_connected(&s->keeper)) {
            if (listening != s->keeper.link && pg_execute(&s->keeper, "LISTEN hamel_jobs")) listening = s->keeper.link;
            double now = stamp_seconds();
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
        if (stamp_seconds() > lease_ends(s)) lose_lease(s);
    }
    return NULL;
}

bool pg_keeper_start(postgres_store *s) {
    s->wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return s->wake_file >= 0 && pthread_create(&s->keeper_thread, NULL, keep, s) == 0;
}

void pg_keeper_stop(postgres_store *s) {
    uint64_t one = 1;
    pthread_mutex_lock(&s->state_lock);
    s->closing = true;
    pthread_mutex_unlock(&s->state_lock);
    (void)!write(s->wake_file, &one, sizeof one);
    pthread_join(s->keeper_thread, NULL);
    int64_t node = atomic_load(&s->node);
    if (node != 0 && pg_release_all(s)) SQL_RUN(&s->keeper.base, PG_LEAVE, sql_int(node));
}
