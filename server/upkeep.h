/* upkeep.h — periodic work in the background: deletes old jobs, and stores the processor time that token owners have
 * used today. Because the time is stored, a restart or crash does not reset a quota, and daemons that share a store
 * share the quotas. */
#pragma once

#include "server/access.h"
#include "server/jobs/store.h"
#include "server/log.h"

typedef struct upkeep upkeep;

/* Jobs are deleted `keep_days` days after their end. While the store is larger than `keep_bytes`, the oldest ended jobs
 * are deleted. For both limits 0 means no bound. If `access` is NULL or there are no tokens, no processor time is
 * stored. */
typedef struct upkeep_setup {
    store *store;
    server_log *log;
    access_list *access;
    double keep_days, keep_bytes;
} upkeep_setup;

/* Reads the stored usage and starts the threads. Returns NULL if out of memory. */
upkeep *upkeep_start(const upkeep_setup *setup);
void upkeep_stop(upkeep *u); /* stores the remaining usage; no-op for NULL */
