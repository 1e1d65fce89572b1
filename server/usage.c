/* usage.c — see usage.h. */
#include "server/usage.h"

#include "server/stamp.h"

#include <stdlib.h>

#define ROUND_SECONDS 1.0

struct usage {
    access_list *access;
    store *store;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t closing_signal;
    bool closing;
};

static void save_all(usage *u) {
    access_usage part;
    for (size_t k = 0; access_take_usage(u->access, &k, &part);) {
        double total = 0;
        bool saved = u->store->kind->charge(u->store, part.holder->name, part.day, part.seconds, &total) == STORE_OK;
        access_settle_usage(&part, saved, total);
        if (!saved) return; /* the next round tries again */
    }
}

static void *keep(void *context) {
    usage *u = context;
    pthread_setname_np(pthread_self(), "hamel-usage");
    pthread_mutex_lock(&u->lock);
    while (!u->closing) {
        struct timespec until = stamp_deadline(ROUND_SECONDS);
        pthread_cond_timedwait(&u->closing_signal, &u->lock, &until);
        pthread_mutex_unlock(&u->lock);
        save_all(u);
        pthread_mutex_lock(&u->lock);
    }
    pthread_mutex_unlock(&u->lock);
    return NULL;
}

usage *usage_start(access_list *access, store *s) {
    usage *u = access_open_to_anyone(access) ? NULL : calloc(1, sizeof *u);
    if (!u) return NULL;
    *u = (usage){.access = access, .store = s};
    save_all(u);
    pthread_mutex_init(&u->lock, NULL);
    stamp_condition_init(&u->closing_signal);
    if (pthread_create(&u->thread, NULL, keep, u) == 0) return u;
    pthread_mutex_destroy(&u->lock);
    pthread_cond_destroy(&u->closing_signal);
    free(u);
    return NULL;
}

void usage_stop(usage *u) {
    if (!u) return;
    pthread_mutex_lock(&u->lock);
    u->closing = true;
    pthread_cond_signal(&u->closing_signal);
    pthread_mutex_unlock(&u->lock);
    pthread_join(u->thread, NULL);
    pthread_mutex_destroy(&u->lock);
    pthread_cond_destroy(&u->closing_signal);
    free(u);
}
