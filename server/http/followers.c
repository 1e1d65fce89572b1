/* followers.c — responses that wait without a thread; see followers.h.
 *
 * A follower is active while its step runs or is queued; otherwise it waits. If an event occurs during a step, the step
 * is called again. So a follower misses no change between reading the store and waiting. The watching thread reads only
 * the revisions of jobs, without the lock. Then this thread pauses for ten times the duration of the reads, so it uses
 * at most a tenth of a core.
 *
 * Lock order: a stream's lock first, then the lock of the followers, then the lock of their pool. */
#include "server/http/followers.h"

#include "server/clock.h"
#include "server/pool.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4 };
/* Interval between polls of the store, which other daemons may change without a notification. An idle daemon polls the
 * queue at the same interval. */
#define POLL_SECONDS 1.0
/* Longest interval between checks of the deadlines. A step may be late by this time, which is short compared with the
 * seconds for which clients wait. */
#define ROUND_SECONDS 0.2
#define REST_SECONDS 0.5
#define REST_FACTOR 10

typedef struct follower follower;
struct follower {
    followers *set;
    stream *stream;
    token_owner *owner;
    follow_step *step;
    void *context;
    follow_wait wait;
    bool under_way;
    bool called, room; /* set since the last call: the stream was canceled (`called`), the reader made space (`room`) */
    uint64_t changes;  /* value of set->changes when the step began */
    bool looked_at;    /* the watching thread uses the follower without the lock, so the follower must not be freed */
    bool ended;        /* the follower ended while looked_at; the watching thread frees it */
    follower *previous, *next;
};

typedef struct look {
    follower *follower;
    int64_t number, revision;
    bool changed;
} look;

struct followers {
    store *store;
    pool *pool;
    pthread_t thread;
    look *looks; /* one entry for each follower; used by the watching thread only */
    size_t most;

    pthread_mutex_t lock; /* guards the members below and the followers */
    pthread_cond_t altered;
    follower *first;
    size_t count;
    uint64_t changes; /* number of changes of the store that the watching thread has noticed */
    bool closing;
};

static void run_step(void *argument);

/* Queues the next step. The caller holds the lock. */
static void call(follower *f) {
    f->under_way = true;
    f->called = f->room = false;
    f->changes = f->set->changes;
    if (pool_give(f->set->pool, run_step, f)) return;
    f->under_way = false; /* no thread could be started: the next round retries */
    f->wait.until = 0;
}

static void on_wake(void *context, bool reader) {
    follower *f = context;
    pthread_mutex_lock(&f->set->lock);
    *(reader ? &f->room : &f->called) = true;
    if (!f->under_way && (!reader || f->wait.reader)) call(f);
    pthread_mutex_unlock(&f->set->lock);
}

static void remove_follower(follower *f) {
    followers *set = f->set;
    stream_may_wait(f->stream);
    stream_release(f->stream);
    pthread_mutex_lock(&set->lock);
    *(f->previous ? &f->previous->next : &set->first) = f->next;
    if (f->next) f->next->previous = f->previous;
    set->count--;
    f->ended = true;
    bool looked_at = f->looked_at;
    pthread_cond_broadcast(&set->altered);
    pthread_mutex_unlock(&set->lock);
    if (!looked_at) free(f);
}

static void run_step(void *argument) {
    follower *f = argument;
    double begin = clock_cpu_seconds();
    follow_wait wait = f->step(f->context);
    if (f->owner) access_charge(f->owner, clock_cpu_seconds() - begin);
    if (wait.ended) {
        remove_follower(f);
        return;
    }
    pthread_mutex_lock(&f->set->lock);
    f->wait = wait;
    f->under_way = false;
    bool changed = f->changes != f->set->changes && !wait.reader;
    if (changed) f->wait.until = fmin(wait.until, wait.from);
    if (f->called || (f->room && wait.reader) || (changed && wait.from <= clock_seconds())) call(f);
    pthread_mutex_unlock(&f->set->lock);
}

bool followers_add(followers *set, stream *s, token_owner *owner, follow_step *step, void *context) {
    follower *f = calloc(1, sizeof *f);
    if (!f) return false;
    *f = (follower){.set = set, .stream = s, .owner = owner, .step = step, .context = context, .under_way = true};
    pthread_mutex_lock(&set->lock);
    bool room = set->count < set->most && !set->closing;
    if (room) {
        f->next = set->first;
        if (f->next) f->next->previous = f;
        set->first = f;
        set->count++;
    }
    pthread_mutex_unlock(&set->lock);
    if (!room) {
        free(f);
        return false;
    }
    stream_never_wait(stream_hold(s), on_wake, f);
    pthread_mutex_lock(&set->lock);
    call(f);
    pthread_cond_signal(&set->altered);
    pthread_mutex_unlock(&set->lock);
    return true;
}

size_t followers_count(followers *set) {
    pthread_mutex_lock(&set->lock);
    size_t count = set->count;
    pthread_mutex_unlock(&set->lock);
    return count;
}

/* Collects the followers that wait for a change of a job. The caller holds the lock. */
static size_t gather_waiting(followers *set) {
    size_t count = 0;
    for (follower *f = set->first; f; f = f->next) {
        if (f->under_way || f->wait.reader || f->wait.number == 0) continue;
        f->looked_at = true;
        set->looks[count++] = (look){.follower = f, .number = f->wait.number, .revision = f->wait.revision};
    }
    return count;
}

/* Finds the jobs whose revision has changed; a deleted job counts as changed. Called without the lock. */
static void compare_revisions(followers *set, size_t count) {
    int64_t number = 0, revision = 0;
    for (size_t k = 0; k < count; k++) {
        look *l = &set->looks[k];
        if (l->number != number && STORE_CALL(set->store, revision, l->number, &revision) != STORE_OK) revision = -1;
        number = l->number;
        l->changed = revision != l->revision;
    }
}

/* Clears looked_at of all collected followers. A follower whose job has changed gets its next step at time `from`.
 * Frees followers that have ended. The caller holds the lock. */
static void heed(followers *set, size_t count) {
    for (size_t k = 0; k < count; k++) {
        follower *f = set->looks[k].follower;
        f->looked_at = false;
        if (f->ended) {
            free(f);
        } else if (set->looks[k].changed) {
            f->wait.until = fmin(f->wait.until, f->wait.from);
        }
    }
}

/* Queues the steps of all followers whose deadline has passed. Returns the next deadline. The caller holds the lock. */
static double call_due(followers *set, bool changed) {
    double now = clock_seconds(), next = now + ROUND_SECONDS;
    for (follower *f = set->first; f; f = f->next) {
        if (f->under_way) continue;
        if (changed && !f->wait.reader && f->wait.number == 0) f->wait.until = fmin(f->wait.until, f->wait.from);
        if (f->wait.until <= now) {
            call(f);
        } else {
            next = fmin(next, f->wait.until);
        }
    }
    return next;
}

static void rest(double seconds) {
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * fmin(seconds, REST_SECONDS))}, NULL);
}

static void *watch(void *context) {
    followers *set = context;
    uint64_t seen = 0;
    double polled = 0, next = 0;
    pthread_setname_np(pthread_self(), "hamel-followers");
    pthread_mutex_lock(&set->lock);
    while (!set->closing) {
        if (!set->first) {
            pthread_cond_wait(&set->altered, &set->lock);
            next = 0;
            continue;
        }
        pthread_mutex_unlock(&set->lock);
        uint64_t before = seen;
        STORE_CALL(set->store, wait, &seen, fmax(next - clock_seconds(), 0));
        double begin = clock_seconds();
        bool changed = seen != before || begin - polled > POLL_SECONDS;
        if (changed) polled = begin;
        pthread_mutex_lock(&set->lock);
        set->changes += changed;
        size_t count = changed ? gather_waiting(set) : 0;
        pthread_mutex_unlock(&set->lock);
        compare_revisions(set, count);
        pthread_mutex_lock(&set->lock);
        heed(set, count);
        next = call_due(set, changed);
        pthread_mutex_unlock(&set->lock);
        rest(REST_FACTOR * (clock_seconds() - begin));
        pthread_mutex_lock(&set->lock);
    }
    pthread_mutex_unlock(&set->lock);
    return NULL;
}

static void destroy_followers(followers *set) {
    pool_close(set->pool);
    pthread_mutex_destroy(&set->lock);
    pthread_cond_destroy(&set->altered);
    free(set->looks);
    free(set);
}

followers *followers_open(store *s, size_t most) {
    followers *set = calloc(1, sizeof *set);
    if (!set) return NULL;
    set->store = s;
    set->most = most;
    set->looks = calloc(most + 1, sizeof *set->looks);
    set->pool = pool_open(THREADS, most);
    pthread_mutex_init(&set->lock, NULL);
    pthread_cond_init(&set->altered, NULL);
    if (set->looks && set->pool && pthread_create(&set->thread, NULL, watch, set) == 0) return set;
    destroy_followers(set);
    return NULL;
}

void followers_close(followers *set) {
    if (!set) return;
    pthread_mutex_lock(&set->lock);
    while (set->first) pthread_cond_wait(&set->altered, &set->lock);
    set->closing = true;
    pthread_cond_broadcast(&set->altered);
    pthread_mutex_unlock(&set->lock);
    pthread_join(set->thread, NULL);
    destroy_followers(set);
}
