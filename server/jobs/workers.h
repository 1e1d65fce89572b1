/* workers.h — threads that claim jobs from the store and run them. */
#pragma once

#include "api/simulate.h"
#include "server/budget.h"
#include "server/jobs/store.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/model_cache.h"

typedef struct workers workers;

/* Services used by the workers. All must outlive the workers. */
typedef struct worker_services {
    store *store;
    server_log *log;
    metrics *metrics;
    access_list *access;
    model_cache *models;
    api_limits limits;
    cpu_slots *slots;
    budget_limits budget; /* limits of each job */
} worker_services;

/* Starts `count` workers. Returns NULL if no thread could be started. */
workers *workers_start(const worker_services *services, size_t count);

void workers_wake(workers *w); /* call after a job was submitted */
void workers_cancel(workers *w,
                    int64_t number); /* call after a job was canceled or deleted; no-op if it does not run here */

double workers_idle_seconds(workers *w); /* time since the end of the last run; 0 during a run */

/* Requeue running jobs, and end the threads. */
void workers_requeue(workers *w); /* stops claiming; running jobs are requeued at their next poll */
void workers_stop(workers *w);
