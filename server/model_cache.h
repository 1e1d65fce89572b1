/* model_cache.h — models that have been derived, for whoever sends an equal description.
 *
 * Descriptions are equal when their canonical JSON is: white space, the order of keys and the notation of numbers do not
 * matter. Equal ones that arrive together are derived once, and the others wait. Models are immutable and shared; each
 * holder has a lease. What nobody holds is kept, the most recently used first, within a bound of bytes. Failures are not
 * kept. */
#ifndef HAMEL_SERVER_MODEL_CACHE_H
#define HAMEL_SERVER_MODEL_CACHE_H

#include "api/simulate.h"
#include "server/budget.h"
#include "server/metrics.h"

typedef struct model_cache model_cache;
typedef struct cache_entry cache_entry;

typedef struct model_lease {
    const hamel_model *model; /* NULL: none */
    bool known;               /* it had been derived before */
    cache_entry *entry;
} model_lease;

/* `bytes` 0: nothing is kept, but those that arrive together still share. NULL without memory. The limits are those of
 * all derivations. */
model_cache *model_cache_open(const api_limits *limits, metrics *counters, size_t bytes);
void model_cache_close(model_cache *c); /* when there are no leases left */

/* The model of body[length], derived if need be within the budget, whose slot is given up while another derives it. False
 * with *failure filled; also when the budget ends. */
bool model_cache_take(model_cache *c, const char *body, size_t length, budget *b, const char *file, model_lease *out,
                      api_failure *failure);
void model_cache_release(model_cache *c, model_lease *lease); /* no-op without a model */

typedef struct cache_size {
    size_t models, bytes;
} cache_size;
cache_size model_cache_size(model_cache *c);

#endif
