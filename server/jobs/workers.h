/* workers.h — threads that take jobs from the store and run them. */
#ifndef HAMEL_SERVER_JOBS_WORKERS_H
#define HAMEL_SERVER_JOBS_WORKERS_H

#include "api/simulate.h"
#include "server/access.h"
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"

typedef struct workers workers;

/* `time_limit` in seconds, 0: the model's. NULL when no thread could be started. */
workers *workers_start(store *s, server_log *log, metrics *counters, access_list *holders, const api_limits *limits,
                       double time_limit, size_t count);

void workers_wake(workers *w); /* a job was submitted */
void workers_cancel(workers *w,
                    int64_t number); /* the job was canceled or forgotten; no-op when it does not run here */

/* Hands what runs back to the queue and ends the threads. */
void workers_stop(workers *w);

#endif
