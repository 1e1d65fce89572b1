/* pool.h — thread pool that runs tasks in the order of their submission.
 *
 * If no thread is idle, a new task starts a thread, up to a limit. Threads are kept until the pool is closed. If the
 * queue is full, the task is refused and the caller replies 503. Stacks are small, since the data of a client cannot
 * make a recursion deep. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct pool pool;

/* Starts a thread with the small stack that threads of pools and workers have. */
bool pool_start_thread(pthread_t *out, void *(*run)(void *context), void *context);

pool *pool_open(size_t threads, size_t queued); /* NULL if out of memory */

/* Queues task(argument) for a thread of the pool. Returns false if the queue is full or the pool is closing. */
bool pool_give(pool *p, void (*task)(void *argument), void *argument);

/* Returns the number of queued and running tasks. */
size_t pool_load(pool *p);

/* Runs the queued tasks, then ends the threads. To avoid a long wait, cancel the tasks first. */
void pool_close(pool *p);
