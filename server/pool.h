/* pool.h — threads that run tasks in the order they were given.
 *
 * Threads are started when a task finds no idle one, up to a limit, and stay. The queue is bounded: a full one refuses,
 * and the caller answers 503. Stacks are small and fixed (nothing in the house recurses on a client's data). */
#ifndef HAMEL_SERVER_POOL_H
#define HAMEL_SERVER_POOL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pool pool;

pool *pool_open(size_t threads, size_t queued); /* NULL without memory */

/* Runs task(argument) on a thread of the pool some time later. False when the queue is full or the pool is closing. */
bool pool_give(pool *p, void (*task)(void *argument), void *argument);

/* Tasks that wait or run now. */
size_t pool_load(pool *p);

/* Runs what was given, then ends the threads. Whoever wants that soon cancels the tasks first. */
void pool_close(pool *p);

#endif
