/* retention.c — see retention.h. A little at a time, so that other changes of the store come in between. */
#include "server/jobs/retention.h"

#include "server/stamp.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { SLICE = 100 };
#define DAY_SECONDS 86400.0
#define ROUND_MOST_SECONDS 60.0
#define ROUND_LEAST_SECONDS 0.5
#define PAUSE_SECONDS 0.01

struct retention {
    store *store;
    server_log *log;
    double age_seconds, bytes, round_seconds;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t closing_signal;
    bool closing;
};

/* False when it is time to end. */
static bool pause_for(retention *r, double seconds) {
    struct timespec until = stamp_deadline(seconds);
    pthread_mutex_lock(&r->lock);
    if (!r->closing) pthread_cond_timedwait(&r->closing_signal, &r->lock, &until);
    bool going = !r->closing;
    pthread_mutex_unlock(&r->lock);
    return going;
}

static size_t forget_slice(retention *r) {
    size_t count = 0;
    int64_t age = r->age_seconds > 0 ? (int64_t)(r->age_seconds * 1e3) : -1;
    if (r->store->kind->expire(r->store, age, r->bytes, SLICE, &count) != STORE_OK) return 0; /* the log says why */
    return count;
}

static void *keep_tidy(void *context) {
    retention *r = context;
    pthread_setname_np(pthread_self(), "hamel-retention");
    do {
        size_t all = 0, count;
        while ((count = forget_slice(r)) > 0) {
            all += count;
            if (!pause_for(r, PAUSE_SECONDS)) break;
        }
        if (all > 0) log_write(r->log, LOG_INFO, "retention", LOG_FIELDS(log_number("forgotten", (double)all)));
    } while (pause_for(r, r->round_seconds));
    return NULL;
}

retention *retention_start(store *s, server_log *log, double days, double bytes) {
    if (days <= 0 && bytes <= 0) return NULL;
    retention *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (retention){.store = s, .log = log, .age_seconds = days * DAY_SECONDS, .bytes = bytes};
    double tenth = days > 0 ? days * DAY_SECONDS / 10 : ROUND_MOST_SECONDS;
    if (bytes > 0) tenth = fmin(tenth, 5);
    r->round_seconds = fmax(ROUND_LEAST_SECONDS, fmin(tenth, ROUND_MOST_SECONDS));
    pthread_mutex_init(&r->lock, NULL);
    stamp_condition_init(&r->closing_signal);
    if (pthread_create(&r->thread, NULL, keep_tidy, r) == 0) return r;
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->closing_signal);
    free(r);
    return NULL;
}

void retention_stop(retention *r) {
    if (!r) return;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_signal(&r->closing_signal);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->closing_signal);
    free(r);
}
