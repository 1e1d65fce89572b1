/* store_postgres_claim.c — claims of jobs from a queue that many nodes share.
 *
 * A claim has two parts. First some jobs are reserved: they remain queued, but no other node can claim them. Then each
 * claim of a worker starts one reserved job. Each node reserves jobs for about one second of work. So short jobs need
 * few queries, and other nodes can claim long jobs. Jobs that are not started within STALE_SECONDS are released. The
 * further members of a sweep that a worker claims together are started without a reservation.
 *
 * A job that ran when its node vanished is a suspect: the job may have caused the crash. Each node reserves at most one
 * suspect. So if two jobs were lost together, only the job that caused the loss is lost again (store_postgres_lease.c
 * counts losses).
 *
 * Only pg_claim, pg_release_stale and pg_release_all may be called from other threads than the writer's. */
#include "server/clock.h"
#include "server/jobs/store_postgres_int.h"

#include <stdlib.h>
#include <string.h>

enum { OWNERS_MOST = 16, LOST_MOST = 100 };
#define LOT_SECONDS 1.0
#define STALE_SECONDS 2.0
#define EMPTY_SECONDS 0.25

static bool push_rows(pg_reserve *r, sql_connection *c, sql_step step) {
    for (; step == SQL_STEP_ROW; step = c->driver->next(c))
        if (r->count < PG_RESERVE_MOST) r->numbers[r->count++] = c->driver->integer(c, 0);
    c->driver->end(c);
    return step == SQL_STEP_END;
}

/* Reads the next owners to serve, in the order of service. */
static bool next_owners(sql_connection *c, size_t most, char owners[OWNERS_MOST][JOB_KEY_BYTES], size_t *count) {
    sql_step step = SQL_FIRST(c, PG_NEXT_OWNERS, sql_int((int64_t)most));
    for (*count = 0; step == SQL_STEP_ROW && *count < most; step = c->driver->next(c)) {
        size_t length;
        const char *name = c->driver->bytes(c, 0, &length);
        if (name && length < JOB_KEY_BYTES) memcpy(owners[(*count)++], name, length + 1);
    }
    c->driver->end(c);
    return step != SQL_STEP_FAILED;
}

/* Reserves the same number of jobs of each of the next owners, and orders the jobs round-robin by owner. */
static bool reserve_shares(pg_reserve *r, sql_connection *c, size_t most) {
    char owners[OWNERS_MOST][JOB_KEY_BYTES];
    pg_reserve shares[OWNERS_MOST];
    size_t count = 0, longest = 0;
    if (!next_owners(c, most < OWNERS_MOST ? most : OWNERS_MOST, owners, &count)) return false;
    for (size_t k = 0; k < count; k++) {
        shares[k].count = 0;
        int64_t share = (int64_t)((most + count - 1) / count);
        sql_step step = SQL_FIRST(c, PG_RESERVE, sql_text(owners[k]), sql_int(share));
        if (!push_rows(&shares[k], c, step)) return false;
        if (shares[k].count > longest) longest = shares[k].count;
        if (shares[k].count > 0 && !SQL_RUN(c, PG_NOTE_SERVED, sql_text(owners[k]))) return false;
    }
    for (size_t at = 0; at < longest; at++) {
        for (size_t k = 0; k < count; k++)
            if (at < shares[k].count && r->count < PG_RESERVE_MOST) r->numbers[r->count++] = shares[k].numbers[at];
    }
    return true;
}

/* Reserves more jobs. If the jobs reserved last were used up in less than LOT_SECONDS, reserves twice as many. If they
 * lasted for more than twice LOT_SECONDS, reserves half as many. */
static bool refill(postgres_store *s, sql_connection *c) {
    pg_reserve *r = &s->reserve;
    double now = clock_seconds(), took = now - r->taken_at;
    r->first = r->count = 0;
    if (r->unsure) {
        if (!push_rows(r, c, SQL_FIRST(c, PG_RESERVED, sql_int(PG_RESERVE_MOST)))) return false;
        r->unsure = false;
        r->taken_at = now;
        if (r->count > 0) return true;
    }
    if (took < LOT_SECONDS && r->most < PG_RESERVE_MOST) r->most *= 2;
    if (took > 2 * LOT_SECONDS && r->most > 1) r->most /= 2;
    r->taken_at = now;
    if (!push_rows(r, c, sql_first(c, PG_RESERVE_SUSPECT, NULL, 0))) return false;
    return reserve_shares(r, c, r->most);
}

static void note_empty(postgres_store *s, double until) {
    pthread_mutex_lock(&s->state_lock);
    s->empty_until = until;
    pthread_mutex_unlock(&s->state_lock);
}

static store_status run_claim(sql_connection *c, sql_operation *self) {
    const sql_claim_change *change = (sql_claim_change *)self;
    postgres_store *s = ((pg_connection *)c)->store;
    pg_reserve *r = &s->reserve;
    store_status status = STORE_ABSENT;
    if (atomic_load(&s->node) == 0) return STORE_ABSENT;
    for (int lost = 0; status == STORE_ABSENT && lost < LOST_MOST; lost++) {
        if (r->first == r->count && !refill(s, c)) return STORE_FAILED;
        if (r->first == r->count) {
            note_empty(s, clock_seconds() + EMPTY_SECONDS * (0.5 + pg_fraction()));
            return STORE_ABSENT;
        }
        status = sql_start(c, r->numbers[r->first++], change->claim);
    }
    if (change->claim->count > 1) r->most = 1; /* the other members need not be reserved first */
    return status;
}

store_status pg_claim(store *base, job_claim *claim) {
    postgres_store *s = (postgres_store *)base;
    pthread_mutex_lock(&s->state_lock);
    bool empty = clock_seconds() < s->empty_until;
    pthread_mutex_unlock(&s->state_lock);
    if (empty) return STORE_ABSENT;
    return sql_claim(base, &(sql_claim_change){{.run = run_claim}, claim});
}

void pg_work_may_wait(sql_store *s) {
    note_empty((postgres_store *)s, 0);
}

static store_status run_release(sql_connection *c, sql_operation *self) {
    const pg_release *change = (pg_release *)self;
    pg_reserve *r = &change->store->reserve;
    bool stale = r->first < r->count && clock_seconds() - r->taken_at > STALE_SECONDS;
    if (!stale && !change->all) return STORE_OK;
    r->first = r->count = 0;
    r->most = r->most > 1 ? r->most / 2 : 1;
    return sql_run(c, PG_RELEASE_RESERVED) ? STORE_OK : STORE_FAILED;
}

/* Queues the release without waiting, since the lease thread must not wait for a slow change. */
void pg_release_stale(postgres_store *s) {
    if (!s->stale.store) s->stale = (pg_release){{.run = run_release}, s, false};
    sql_change_async(&s->base, &s->stale.operation);
}

bool pg_release_all(postgres_store *s) {
    pg_release change = {{.run = run_release}, s, true};
    return sql_change(&s->base, &change.operation) == STORE_OK;
}
