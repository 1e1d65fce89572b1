/* retention.h — forgets jobs that ended long ago, or the oldest when too much is stored, in the background. */
#ifndef HAMEL_SERVER_JOBS_RETENTION_H
#define HAMEL_SERVER_JOBS_RETENTION_H

#include "server/jobs/store.h"
#include "server/log.h"

typedef struct retention retention;

/* `days` since a job's end and `bytes` of all that is stored; 0: no bound. NULL when there is neither, or no thread. */
retention *retention_start(store *s, server_log *log, double days, double bytes);
void retention_stop(retention *r); /* NULL: no-op */

#endif
