/* model_cache.h — a cache of derived models, shared by requests with equal descriptions.
 *
 * Two descriptions are equal if their canonical JSON is equal: white space, the order of keys and the notation of
 * numbers do not matter. If equal descriptions arrive at the same time, one request derives the model and the other
 * requests wait. Models are immutable and shared. Each user has a lease. Unused models are kept within a bound of
 * bytes, and the least recently used are dropped first. Failures are not cached. */
#pragma once

#include "api/simulate.h"
#include "server/budget.h"
#include "server/metrics.h"

typedef struct model_cache model_cache;
typedef struct cache_entry cache_entry;

typedef struct model_lease {
    const hamel_model *model; /* NULL if there is no lease */
    bool known;               /* the model was in the cache, so it was not derived */
    cache_entry *entry;
} model_lease;

/* Bounds on all models together. A token owner may use at most as much of `used` and `derivations` as remains free. */
typedef struct model_bounds {
    size_t kept;        /* bytes of unused models; 0: no cache, but simultaneous requests still share a model */
    size_t used;        /* bytes of models in use; above this bound only jobs get models; 0: no bound */
    size_t derivations; /* simultaneous derivations, each with the memory that `limits` allows; 0: no bound */
} model_bounds;

/* Returns NULL if out of memory. `limits` apply to each derivation. */
model_cache *model_cache_open(const api_limits *limits, metrics *counters, const model_bounds *bounds);
void model_cache_close(model_cache *c); /* call after the last lease has been released */

/* Acquires the model of body[length]. If the model is not cached, derives it within the budget. While another request
 * derives the model, the CPU slot is released. On failure, or if the budget ends, returns false and fills *failure. */
bool model_cache_take(model_cache *c, const char *body, size_t length, budget *b, const char *file, model_lease *out,
                      api_failure *failure);
void model_cache_release(model_cache *c, model_lease *lease); /* no-op if there is no lease */

typedef struct cache_size {
    size_t models, bytes, used_bytes, derivations;
} cache_size;
cache_size model_cache_size(model_cache *c);
