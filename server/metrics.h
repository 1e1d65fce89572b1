/* metrics.h — what the daemon counts, as text in the Prometheus exposition format 0.0.4.
 *
 * Counters and histograms are atomics of fixed number, so that counting never waits nor allocates; what is a state
 * rather than a count (queue, memory, connections) is asked for when the text is made. */
#ifndef HAMEL_SERVER_METRICS_H
#define HAMEL_SERVER_METRICS_H

#include "engine/base/text_buffer.h"

#include <stdatomic.h>
#include <stdint.h>

enum { METRIC_ROUTES = 64, METRIC_STATUSES = 25, METRIC_BUCKETS = 14 };

typedef struct metric_histogram {
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1]; /* the last one: beyond all bounds */
    atomic_uint_fast64_t microseconds;                /* sum */
} metric_histogram;

typedef enum run_kind { RUN_KIND_LIVE, RUN_KIND_CHECK, RUN_KIND_JOB, RUN_KINDS } run_kind;
typedef enum run_outcome { RUN_COMPLETED, RUN_INCOMPLETE, RUN_FAILED, RUN_CANCELED, RUN_OUTCOMES } run_outcome;
typedef enum lease_end { LEASE_LOST, LEASE_SWEPT, LEASE_ENDS } lease_end;
typedef enum rejection {
    REJECT_BUSY,
    REJECT_RATE,
    REJECT_QUOTA,
    REJECT_TOKEN,
    REJECT_ADDRESS,
    REJECT_ANSWERS,
    REJECTIONS
} rejection;

typedef struct metrics {
    /* One row beyond the routes, for requests that found none. */
    atomic_uint_fast64_t requests[METRIC_ROUTES + 1][METRIC_STATUSES];
    metric_histogram latency[METRIC_ROUTES + 1];
    atomic_uint_fast64_t runs[RUN_KINDS][RUN_OUTCOMES];
    atomic_uint_fast64_t steps, rows, run_microseconds;
    metric_histogram commit;
    atomic_uint_fast64_t changes; /* operations in commits */
    atomic_uint_fast64_t rejected[REJECTIONS];
    atomic_uint_fast64_t leases[LEASE_ENDS], fenced;
    atomic_uint_fast64_t cache_hits, cache_misses;
} metrics;

void metrics_request(metrics *m, size_t route, int status, double seconds);
void metrics_run(metrics *m, run_kind kind, run_outcome outcome, double steps, double rows, double seconds);
void metrics_commit(metrics *m, size_t changes, double seconds);
void metrics_reject(metrics *m, rejection reason);
void metrics_cache(metrics *m, bool hit);
void metrics_lease(metrics *m, lease_end end, double count); /* of this daemon; of others */
void metrics_fenced(metrics *m);                             /* a run whose writes the store refused */

/* All counters. `route_name` gives "POST /v1/jobs" for a row, NULL past the end. */
void metrics_write(const metrics *m, const char *(*route_name)(size_t route, char *out, size_t room), text_buffer *out);

/* One family with a single sample: `type` is "gauge" or "counter". */
void metrics_write_value(text_buffer *out, const char *name, const char *type, const char *help, double value);

/* Of this process: memory, processor time, descriptors. */
void metrics_write_process(text_buffer *out);

#endif
