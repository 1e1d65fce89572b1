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

/* What all models together may take. A token owner has no more of the last two than is left to others, so that one who
 * comes later finds some. */
typedef struct model_bounds {
    size_t kept; /* bytes of models; 0: none is kept, but those that arrive together still share */
    size_t used; /* bytes of models in use, above which requests are refused; jobs, which are few, are not. 0: any */
    size_t derivations; /* at the same time, each with the memory that `limits` allows; others wait. 0: any number */
} model_bounds;

/* NULL without memory. The limits are those of all derivations. */
model_cache *model_cache_open(const api_limits *limits, metrics *counters, const model_bounds *bounds);
void model_cache_close(model_cache *c); /* when there are no leases left */

/* The model of body[length], derived if need be within the budget, whose slot is given up while another derives it. False
 * with *failure filled; also when the budget ends. */
bool model_cache_take(model_cache *c, const char *body, size_t length, budget *b, const char *file, model_lease *out,
                      api_failure *failure);
void model_cache_release(model_cache *c, model_lease *lease); /* no-op without a model */

typedef struct cache_size {
    size_t models, bytes, used_bytes, derivations;
} cache_size;
cache_size model_cache_size(model_cache *c);

#endif
