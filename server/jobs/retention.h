/* retention.h — deletes jobs that ended long ago, or the oldest if too much is stored, in the background. */
#pragma once

#include "server/jobs/store.h"
#include "server/log.h"

typedef struct retention retention;

/* `days` bounds the time since the end of a job, `bytes` all stored data; 0 means no bound. Returns NULL if there is no
 * bound, or if out of memory or threads. */
retention *retention_start(store *s, server_log *log, double days, double bytes);
void retention_stop(retention *r); /* no-op for NULL */
