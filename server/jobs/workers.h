/* workers.h — threads that claim jobs from the store and run them. */
#pragma once

#include "server/services.h"

/* Starts workers of which at most `most_running` run jobs at the same time. Returns NULL if no thread could be started.
 * The services must outlive the workers. */
workers *workers_start(const daemon_services *services, size_t most_running);

void workers_wake(workers *w);                   /* call after a job was submitted */
void workers_cancel(workers *w, int64_t number); /* call after a job was canceled or deleted */

double workers_idle_seconds(workers *w); /* time since the end of the last run; 0 during a run */

/* To shut down, call workers_requeue and then workers_stop. */
void workers_requeue(workers *w); /* stops claiming; running jobs are requeued at their next poll */
void workers_stop(workers *w);
