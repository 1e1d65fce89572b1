/* upkeep.c — deletion of old jobs and storage of processor time; see upkeep.h. */
#include "server/upkeep.h"

#include "server/periodic.h"

#include <math.h>
#include <stdlib.h>

#define USAGE_SECONDS 1.0 /* interval between writes of usage; a crash loses the usage since the last write */

/* Number of jobs deleted in one transaction, for which other changes wait. More jobs would make this wait longer. With
 * fewer jobs, the cost of the commits would dominate. */
enum { SLICE = 100 };
#define DAY_SECONDS 86400.0
#define ROUND_MOST_SECONDS 60.0
#define ROUND_LEAST_SECONDS 0.5
#define PAUSE_SECONDS 0.01 /* pause between slices, in which other changes can be committed */

struct upkeep {
    upkeep_setup setup;
    double round_seconds; /* interval between two searches for old jobs */
    size_t deleted;       /* number of jobs deleted in this round */
    periodic *usage, *retention;
};

static double delete_slice(void *context) {
    upkeep *u = context;
    size_t count = 0;
    int64_t age = u->setup.keep_days > 0 ? (int64_t)(u->setup.keep_days * DAY_SECONDS * 1e3) : -1;
    store_status status = STORE_CALL(u->setup.store, expire, age, u->setup.keep_bytes, SLICE, &count);
    if (status == STORE_OK && count > 0) { /* after a failure, which the store logs, the next round retries */
        u->deleted += count;
        return PAUSE_SECONDS;
    }
    if (u->deleted > 0)
        log_write(u->setup.log, LOG_INFO, "retention", LOG_FIELDS(log_number("forgotten", (double)u->deleted)));
    u->deleted = 0;
    return u->round_seconds;
}

static double store_usage(void *context) {
    upkeep *u = context;
    access_usage part;
    for (size_t k = 0; access_take_usage(u->setup.access, &k, &part);) {
        double total = 0;
        bool saved = STORE_CALL(u->setup.store, charge, part.owner->name, part.day, part.seconds, &total) == STORE_OK;
        access_settle_usage(&part, saved, total);
        if (!saved) break; /* the next round retries */
    }
    return USAGE_SECONDS;
}

upkeep *upkeep_start(const upkeep_setup *setup) {
    upkeep *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->setup = *setup;
    double round = setup->keep_days > 0 ? setup->keep_days * DAY_SECONDS / 10 : ROUND_MOST_SECONDS;
    if (setup->keep_bytes > 0) round = fmin(round, 5);
    u->round_seconds = fmax(ROUND_LEAST_SECONDS, fmin(round, ROUND_MOST_SECONDS));
    if (setup->access && !access_open_to_anyone(setup->access)) {
        store_usage(u);
        u->usage = periodic_start("hamel-usage", USAGE_SECONDS, store_usage, u);
    }
    u->retention = periodic_start("hamel-retention", 0, delete_slice, u);
    return u;
}

void upkeep_stop(upkeep *u) {
    if (!u) return;
    periodic_stop(u->retention);
    periodic_stop(u->usage);
    if (u->usage) store_usage(u);
    free(u);
}
