/* metrics.c — counters and their Prometheus text; see metrics.h. */
#include "server/metrics.h"

#include "server/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Upper bounds of the histogram buckets in seconds, from a short reply to a run of ten minutes, the default of
 * --time-limit. */
static const double bounds[METRIC_BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                              0.1,    0.25,  1,      2.5,   10,   60,    600};
/* HTTP statuses that are counted separately; the last entry counts all other statuses. */
static const int statuses[METRIC_STATUSES] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 409, 410,
                                              411, 413, 415, 421, 422, 429, 431, 500, 501, 503, 507, 0};
static const char *const kind_names[RUN_KINDS] = {"simulation", "check", "job"};
static const char *const outcome_names[RUN_OUTCOMES] = {"completed", "incomplete", "failed", "canceled"};
static const char *const lease_names[LEASE_ENDS] = {"own", "swept"};
static const char *const reject_names[REJECTIONS] = {"busy", "rate", "quota", "token", "address", "answers"};

void metrics_count(atomic_uint_fast64_t *counter, double amount) {
    if (amount > 0) atomic_fetch_add_explicit(counter, (uint_fast64_t)amount, memory_order_relaxed);
}

static uint64_t counter_value(const atomic_uint_fast64_t *counter) {
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void histogram_add(metric_histogram *h, double seconds) {
    size_t k = 0;
    while (k < METRIC_BUCKETS && seconds > bounds[k]) k++;
    metrics_count(&h->buckets[k], 1);
    metrics_count(&h->microseconds, seconds * 1e6);
}

void metrics_request(metrics *m, size_t route, int status, double seconds) {
    size_t row = route < METRIC_ROUTES ? route : METRIC_ROUTES, column = 0;
    while (column < METRIC_STATUSES - 1 && statuses[column] != status) column++;
    metrics_count(&m->requests[row][column], 1);
    histogram_add(&m->latency[row], seconds);
}

void metrics_run(metrics *m, run_kind kind, run_outcome outcome, long steps, size_t rows, double seconds) {
    metrics_count(&m->runs[kind][outcome], 1);
    metrics_count(&m->steps, (double)steps);
    metrics_count(&m->rows, (double)rows);
    metrics_count(&m->run_microseconds, seconds * 1e6);
}

bool metrics_summary(metrics *m, run_kind kind, const hamel_summary *summary) {
    bool complete = summary->outcome == HAMEL_COMPLETED || summary->outcome == HAMEL_TERMINATED;
    metrics_run(m, kind, complete ? RUN_COMPLETED : RUN_INCOMPLETE, summary->steps, summary->rows,
                summary->wall_seconds);
    return complete;
}

void metrics_commit(metrics *m, size_t changes, double seconds) {
    histogram_add(&m->commit, seconds);
    metrics_count(&m->changes, (double)changes);
}

void metrics_reject(metrics *m, rejection reason) {
    metrics_count(&m->rejected[reason], 1);
}

static void family(text_buffer *out, const char *name, const char *type, const char *help) {
    text_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_write_value(text_buffer *out, const char *name, const char *type, const char *help, double value) {
    family(out, name, type, help);
    text_buffer_printf(out, "%s %.17g\n", name, value);
}

static void write_histogram(text_buffer *out, const char *name, const char *label, const metric_histogram *h) {
    uint64_t count = 0;
    const char *comma = *label ? "," : "";
    for (size_t k = 0; k <= METRIC_BUCKETS; k++) {
        char bound[16] = "+Inf";
        if (k < METRIC_BUCKETS) snprintf(bound, sizeof bound, "%g", bounds[k]);
        count += counter_value(&h->buckets[k]);
        text_buffer_printf(out, "%s_bucket{%s%sle=\"%s\"} %llu\n", name, label, comma, bound,
                           (unsigned long long)count);
    }
    const char *open = *label ? "{" : "", *close = *label ? "}" : "";
    text_buffer_printf(out, "%s_sum%s%s%s %.6f\n", name, open, label, close,
                       1e-6 * (double)counter_value(&h->microseconds));
    text_buffer_printf(out, "%s_count%s%s%s %llu\n", name, open, label, close, (unsigned long long)count);
}

static uint64_t requests_of(const metrics *m, size_t row) {
    uint64_t count = 0;
    for (size_t k = 0; k < METRIC_STATUSES; k++) count += counter_value(&m->requests[row][k]);
    return count;
}

typedef const char *name_function(size_t route, char *out, size_t room);

static void write_requests(const metrics *m, name_function *route_name, text_buffer *out) {
    char name[160], label[200];
    family(out, "hamel_http_requests_total", "counter", "Requests that were answered, by route and status.");
    for (size_t row = 0; row <= METRIC_ROUTES; row++) {
        const char *route = row < METRIC_ROUTES ? route_name(row, name, sizeof name) : "none";
        for (size_t k = 0; route && k < METRIC_STATUSES; k++) {
            uint64_t count = counter_value(&m->requests[row][k]);
            if (count == 0) continue;
            text_buffer_printf(out, "hamel_http_requests_total{route=\"%s\",status=\"%d\"} %llu\n", route, statuses[k],
                               (unsigned long long)count);
        }
    }
    family(out, "hamel_http_request_seconds", "histogram", "Time from the request line to the end of the response.");
    for (size_t row = 0; row <= METRIC_ROUTES; row++) {
        const char *route = row < METRIC_ROUTES ? route_name(row, name, sizeof name) : "none";
        if (!route || requests_of(m, row) == 0) continue;
        snprintf(label, sizeof label, "route=\"%s\"", route);
        write_histogram(out, "hamel_http_request_seconds", label, &m->latency[row]);
    }
}

static void write_runs(const metrics *m, text_buffer *out) {
    family(out, "hamel_runs_total", "counter", "Runs that ended, by kind and outcome.");
    for (size_t k = 0; k < RUN_KINDS; k++) {
        for (size_t o = 0; o < RUN_OUTCOMES; o++) {
            text_buffer_printf(out, "hamel_runs_total{kind=\"%s\",outcome=\"%s\"} %llu\n", kind_names[k],
                               outcome_names[o], (unsigned long long)counter_value(&m->runs[k][o]));
        }
    }
    metrics_write_value(out, "hamel_run_steps_total", "counter", "Integration steps of all runs that ended.",
                        (double)counter_value(&m->steps));
    metrics_write_value(out, "hamel_run_rows_total", "counter", "Rows of ended runs.", (double)counter_value(&m->rows));
    metrics_write_value(out, "hamel_run_seconds_total", "counter", "Wall time of ended runs.",
                        1e-6 * (double)counter_value(&m->run_microseconds));
}

void metrics_write(const metrics *m, name_function *route_name, text_buffer *out) {
    write_requests(m, route_name, out);
    write_runs(m, out);
    family(out, "hamel_store_commit_seconds", "histogram", "Duration of transactions of the job store.");
    write_histogram(out, "hamel_store_commit_seconds", "", &m->commit);
    metrics_write_value(out, "hamel_store_changes_total", "counter", "Changes made in transactions of the job store.",
                        (double)counter_value(&m->changes));
    family(out, "hamel_leases_lost_total", "counter",
           "Leases on a shared store that ended, by owner: this daemon, or another daemon whose jobs it requeued.");
    for (size_t k = 0; k < LEASE_ENDS; k++) {
        text_buffer_printf(out, "hamel_leases_lost_total{whose=\"%s\"} %llu\n", lease_names[k],
                           (unsigned long long)counter_value(&m->leases[k]));
    }
    metrics_write_value(out, "hamel_runs_fenced_total", "counter",
                        "Runs whose rows or end were refused: the job was deleted, or assigned to another daemon.",
                        (double)counter_value(&m->fenced));
    family(out, "hamel_rejected_total", "counter", "Requests rejected before their handler, by reason.");
    for (size_t k = 0; k < REJECTIONS; k++) {
        text_buffer_printf(out, "hamel_rejected_total{reason=\"%s\"} %llu\n", reject_names[k],
                           (unsigned long long)counter_value(&m->rejected[k]));
    }
    metrics_write_value(out, "hamel_cache_hits_total", "counter", "Descriptions whose model was in the cache.",
                        (double)counter_value(&m->cache_hits));
    metrics_write_value(out, "hamel_cache_misses_total", "counter", "Descriptions that were derived.",
                        (double)counter_value(&m->cache_misses));
}

double metrics_memory_bytes(int field) {
    char line[256] = "", *end = line;
    double pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (!fgets(line, sizeof line, file)) line[0] = '\0';
    fclose(file);
    for (int k = 0; k < field; k++) pages = strtod(end, &end);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_descriptors(void) {
    DIR *list = opendir("/proc/self/fd");
    double count = 0;
    while (list && readdir(list)) count++;
    if (list) closedir(list);
    return count > 3 ? count - 3 : 0; /* without `.`, `..` and the descriptor of this directory */
}

void metrics_write_process(text_buffer *out) {
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    metrics_write_value(out, "process_cpu_seconds_total", "counter", "User and system time.",
                        clock_used_seconds(&used));
    metrics_write_value(out, "process_resident_memory_bytes", "gauge", "Resident memory.", metrics_memory_bytes(2));
    metrics_write_value(out, "process_open_fds", "gauge", "Open descriptors.", open_descriptors());
}
