/* workers.h — threads that take jobs from the store and run them. */
#ifndef HAMEL_SERVER_JOBS_WORKERS_H
#define HAMEL_SERVER_JOBS_WORKERS_H

#include "api/simulate.h"
#include "server/budget.h"
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/model_cache.h"

typedef struct workers workers;

/* All outlive the workers. */
typedef struct worker_services {
    store *store;
    server_log *log;
    metrics *metrics;
    access_list *access;
    model_cache *models;
    api_limits limits;
    cpu_slots *slots;
    budget_limits budget; /* of each job */
} worker_services;

/* NULL when no thread could be started. */
workers *workers_start(const worker_services *services, size_t count);

void workers_wake(workers *w); /* a job was submitted */
void workers_cancel(workers *w,
                    int64_t number); /* the job was canceled or forgotten; no-op when it does not run here */

double workers_idle_seconds(workers *w); /* since the last run ended; 0 while one is under way */

/* Hands what runs back to the queue and ends the threads. */
void workers_hand_back(workers *w); /* takes no more; what runs goes back to the queue as soon as it notices */
void workers_stop(workers *w);

#endif
