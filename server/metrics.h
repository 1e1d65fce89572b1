/* metrics.h — counters of the daemon, exported in the Prometheus text format 0.0.4.
 *
 * Counters and histograms are arrays of atomics of fixed size, so counting neither waits nor allocates. Gauges (queue,
 * memory, connections) are read when the text is written. */
#pragma once

#include "engine/base/text_buffer.h"
#include "engine/hamel.h"

#include <stdatomic.h>
#include <stdint.h>

enum { METRIC_ROUTES = 64, METRIC_STATUSES = 25, METRIC_BUCKETS = 14 };

typedef struct metric_histogram {
    atomic_uint_fast64_t buckets[METRIC_BUCKETS + 1]; /* the last bucket counts values above all bounds */
    atomic_uint_fast64_t microseconds;                /* sum of all values */
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
    /* The last row counts requests without a route. */
    atomic_uint_fast64_t requests[METRIC_ROUTES + 1][METRIC_STATUSES];
    metric_histogram latency[METRIC_ROUTES + 1];
    atomic_uint_fast64_t runs[RUN_KINDS][RUN_OUTCOMES];
    atomic_uint_fast64_t steps, rows, run_microseconds;
    metric_histogram commit;
    atomic_uint_fast64_t changes; /* changes in committed transactions */
    atomic_uint_fast64_t rejected[REJECTIONS];
    atomic_uint_fast64_t leases[LEASE_ENDS]; /* leases that ended */
    atomic_uint_fast64_t fenced;             /* runs whose writes the store refused */
    atomic_uint_fast64_t cache_hits, cache_misses;
} metrics;

void metrics_request(metrics *m, size_t route, int status, double seconds);
void metrics_run(metrics *m, run_kind kind, run_outcome outcome, long steps, size_t rows, double seconds);
bool metrics_summary(metrics *m, run_kind kind, const hamel_summary *summary); /* returns true if the run completed */
void metrics_commit(metrics *m, size_t changes, double seconds);
void metrics_reject(metrics *m, rejection reason);
void metrics_count(atomic_uint_fast64_t *counter, double amount);

/* Writes all counters and histograms. `route_name` returns the name of a row, such as "POST /v1/jobs", or NULL past the
 * end. */
void metrics_write(const metrics *m, const char *(*route_name)(size_t route, char *out, size_t room), text_buffer *out);

/* Writes one family with a single sample; `type` is "gauge" or "counter". */
void metrics_write_value(text_buffer *out, const char *name, const char *type, const char *help, double value);

/* Writes memory, processor time and open descriptors of this process. */
void metrics_write_process(text_buffer *out);

/* Returns a field of /proc/self/statm in bytes: 1 total size, 2 resident memory, 6 data. If the file cannot be read,
 * returns 0. */
double metrics_memory_bytes(int field);
