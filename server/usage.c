/* usage.c — stores processor time once a second; see usage.h. */
#include "server/usage.h"

#include "server/periodic.h"

#include <stdlib.h>

#define ROUND_SECONDS 1.0 /* interval of saving; a crash loses at most this much usage */

struct usage {
    access_list *access;
    store *store;
    periodic *thread;
};

static double save_usage(void *context) {
    usage *u = context;
    access_usage part;
    for (size_t k = 0; access_take_usage(u->access, &k, &part);) {
        double total = 0;
        bool saved = STORE_CALL(u->store, charge, part.owner->name, part.day, part.seconds, &total) == STORE_OK;
        access_settle_usage(&part, saved, total);
        if (!saved) break; /* retried in the next round */
    }
    return ROUND_SECONDS;
}

usage *usage_start(access_list *access, store *s) {
    usage *u = access_open_to_anyone(access) ? NULL : calloc(1, sizeof *u);
    if (!u) return NULL;
    *u = (usage){.access = access, .store = s};
    save_usage(u);
    u->thread = periodic_start("hamel-usage", ROUND_SECONDS, save_usage, u);
    if (u->thread) return u;
    free(u);
    return NULL;
}

void usage_stop(usage *u) {
    if (!u) return;
    periodic_stop(u->thread);
    save_usage(u);
    free(u);
}
