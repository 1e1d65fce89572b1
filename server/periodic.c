/* periodic.c — a thread that waits with a timeout between two calls; see periodic.h. */
#include "server/periodic.h"

#include "server/clock.h"

#include <stdlib.h>

struct periodic {
    const char *name;
    double seconds; /* delay of the next call */
    periodic_step *step;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t stopped;
    bool stopping;
};

static void *call_periodically(void *context) {
    periodic *p = context;
    pthread_setname_np(pthread_self(), p->name);
    pthread_mutex_lock(&p->lock);
    for (;;) {
        double until = clock_seconds() + p->seconds, left;
        while (!p->stopping && (left = until - clock_seconds()) > 0) clock_wait(&p->stopped, &p->lock, left);
        if (p->stopping) break;
        pthread_mutex_unlock(&p->lock);
        p->seconds = p->step(p->context);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void destroy_periodic(periodic *p) {
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->stopped);
    free(p);
}

periodic *periodic_start(const char *name, double seconds, periodic_step *step, void *context) {
    periodic *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    *p = (periodic){.name = name, .seconds = seconds, .step = step, .context = context};
    pthread_mutex_init(&p->lock, NULL);
    clock_condition_init(&p->stopped);
    if (pthread_create(&p->thread, NULL, call_periodically, p) == 0) return p;
    destroy_periodic(p);
    return NULL;
}

void periodic_stop(periodic *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->stopping = true;
    pthread_cond_signal(&p->stopped);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    destroy_periodic(p);
}
