/* retention.c — deletion of old jobs; see retention.h. Jobs are deleted in slices, with other changes in between. */
#include "server/jobs/retention.h"

#include "server/periodic.h"

#include <math.h>
#include <stdlib.h>

enum { SLICE = 100 }; /* jobs deleted in one transaction */
#define DAY_SECONDS 86400.0
#define ROUND_MOST_SECONDS 60.0
#define ROUND_LEAST_SECONDS 0.5
#define PAUSE_SECONDS 0.01 /* pause between slices */

struct retention {
    store *store;
    server_log *log;
    double age_seconds, bytes, round_seconds;
    size_t deleted; /* number of jobs deleted in this round */
    periodic *thread;
};

static double delete_slice(void *context) {
    retention *r = context;
    size_t count = 0;
    int64_t age = r->age_seconds > 0 ? (int64_t)(r->age_seconds * 1e3) : -1;
    bool done = STORE_CALL(r->store, expire, age, r->bytes, SLICE, &count) ==
                STORE_OK; /* on failure the store has logged the reason */
    if (done && count > 0) {
        r->deleted += count;
        return PAUSE_SECONDS;
    }
    if (r->deleted > 0)
        log_write(r->log, LOG_INFO, "retention", LOG_FIELDS(log_number("forgotten", (double)r->deleted)));
    r->deleted = 0;
    return r->round_seconds;
}

retention *retention_start(store *s, server_log *log, double days, double bytes) {
    if (days <= 0 && bytes <= 0) return NULL;
    retention *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    *r = (retention){.store = s, .log = log, .age_seconds = days * DAY_SECONDS, .bytes = bytes};
    double tenth = days > 0 ? days * DAY_SECONDS / 10 : ROUND_MOST_SECONDS;
    if (bytes > 0) tenth = fmin(tenth, 5);
    r->round_seconds = fmax(ROUND_LEAST_SECONDS, fmin(tenth, ROUND_MOST_SECONDS));
    r->thread = periodic_start("hamel-retention", 0, delete_slice, r);
    if (r->thread) return r;
    free(r);
    return NULL;
}

void retention_stop(retention *r) {
    if (!r) return;
    periodic_stop(r->thread);
    free(r);
}
