/* usage.h — stores the processor time that token owners have used today. So a restart or a crash does not reset a
 * quota, and daemons that share a store share the quotas.
 *
 * A thread saves new usage once a second; a crash loses that much at most. */
#pragma once

#include "server/access.h"
#include "server/jobs/store.h"

typedef struct usage usage;

/* Reads the stored usage and starts the thread. Returns NULL if there are no tokens or the thread cannot be started. */
usage *usage_start(access_list *access, store *s);
void usage_stop(usage *u); /* saves the usage that is not stored yet; no-op for NULL */
