/* pool.c — thread pool; see pool.h. One lock guards all data; tasks wait in a ring of fixed size. */
#include "server/pool.h"

#include "engine/hamel.h"

#include <stdlib.h>

/* Size of a thread's stack, a quarter of the usual 8 MiB. Derivations and integrations keep their data on the heap, and
 * the larger frames of sanitizers still fit. */
enum { STACK_BYTES = 2 * 1024 * 1024 };

typedef struct pool_task {
    void (*run)(void *argument);
    void *argument;
} pool_task;

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t given;
    pthread_t *threads;
    size_t thread_count, thread_limit, idle;
    pool_task *queue;
    size_t first, count, capacity;
    size_t running;
    bool closing;
};

pool *pool_open(size_t threads, size_t queued) {
    pool *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->thread_limit = threads;
    p->capacity = queued + threads; /* a task stays in the ring until a new thread takes it */
    p->threads = calloc(threads, sizeof *p->threads);
    p->queue = calloc(p->capacity, sizeof *p->queue);
    if (!p->threads || !p->queue) {
        free(p->threads);
        free(p->queue);
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->given, NULL);
    return p;
}

static void *run_tasks(void *context) {
    pool *p = context;
    pthread_setname_np(pthread_self(), "hamel-pool");
    pthread_mutex_lock(&p->lock);
    for (;;) {
        p->idle++;
        while (p->count == 0 && !p->closing) pthread_cond_wait(&p->given, &p->lock);
        p->idle--;
        if (p->count == 0) break;
        pool_task task = p->queue[p->first];
        p->first = (p->first + 1) % p->capacity;
        p->count--;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        task.run(task.argument);
        hamel_release_thread();
        pthread_mutex_lock(&p->lock);
        p->running--;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool pool_start_thread(pthread_t *out, void *(*run)(void *context), void *context) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool started =
        pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 && pthread_create(out, &attributes, run, context) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static bool start_thread(pool *p) {
    bool started = pool_start_thread(&p->threads[p->thread_count], run_tasks, p);
    p->thread_count += started;
    return started;
}

bool pool_give(pool *p, void (*task)(void *argument), void *argument) {
    pthread_mutex_lock(&p->lock);
    bool needs_thread = p->idle <= p->count && p->thread_count < p->thread_limit;
    bool room = !p->closing && p->running + p->count < p->capacity;
    if (room && needs_thread && !start_thread(p) && p->thread_count == 0) room = false;
    if (room) {
        p->queue[(p->first + p->count) % p->capacity] = (pool_task){task, argument};
        p->count++;
        pthread_cond_signal(&p->given);
    }
    pthread_mutex_unlock(&p->lock);
    return room;
}

size_t pool_load(pool *p) {
    pthread_mutex_lock(&p->lock);
    size_t load = p->running + p->count;
    pthread_mutex_unlock(&p->lock);
    return load;
}

void pool_close(pool *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->given);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->thread_count; i++) pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->given);
    free(p->threads);
    free(p->queue);
    free(p);
}
