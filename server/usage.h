/* usage.h — the processor time that token owners have used today, kept in the store: a restart or a crash does not give a
 * used-up quota back, and daemons that share a store share the quota.
 *
 * A thread saves what has come since, once a second; a crash loses that much at most. */
#ifndef HAMEL_SERVER_USAGE_H
#define HAMEL_SERVER_USAGE_H

#include "server/access.h"
#include "server/jobs/store.h"

typedef struct usage usage;

/* Reads what is stored before it returns. NULL where there are no tokens, and without a thread. */
usage *usage_start(access_list *access, store *s);
void usage_stop(usage *u); /* saves the rest; NULL: no-op */

#endif
