/* routes_metrics.c — GET /metrics: returns counters and gauges of queue, connections and process. */
#include "server/http/routes.h"

#include <stdio.h>

enum { TEXT_MAX = 4 * 1024 * 1024 };

static const char *route_label(size_t index, char *out, size_t room) {
    const route *row = route_at(index);
    if (!row) return NULL;
    const char *method = row->method == METHOD_GET ? "GET" : row->method == METHOD_POST ? "POST" : "DELETE";
    snprintf(out, room, "%s %s", method, row->path);
    return out;
}

static void write_queue(const http_services *services, text_buffer *out) {
    store_counts counts;
    if (STORE_CALL(services->store, counts, &counts) != STORE_OK) return;
    double age = counts.queue_age > 0 ? 1e-3 * (double)counts.queue_age : 0; /* the clock may have been set back */
    metrics_write_value(out, "hamel_jobs_queued", "gauge", "Queued jobs.", (double)counts.queued);
    metrics_write_value(out, "hamel_jobs_running", "gauge", "Running jobs.", (double)counts.running);
    metrics_write_value(out, "hamel_queue_age_seconds", "gauge", "Age of the oldest queued job.", age > 0 ? age : 0);
    metrics_write_value(out, "hamel_store_bytes", "gauge", "Size of the job store.", (double)counts.bytes);
}

handled service_metrics(request *r) {
    text_buffer out;
    size_t length = 0;
    http_load load = http_load_of(r->server);
    text_buffer_init(&out, TEXT_MAX);
    metrics_write(r->services->metrics, route_label, &out);
    write_queue(r->services, &out);
    metrics_write_value(&out, "hamel_http_connections", "gauge", "Open connections.", (double)load.connections);
    metrics_write_value(&out, "hamel_http_streams", "gauge", "Requests that hold or wait for a run slot.",
                        (double)load.streams);
    metrics_write_value(&out, "hamel_http_followers", "gauge", "Answers that wait for a job or for their reader.",
                        (double)load.followers);
    metrics_write_value(&out, "hamel_answer_bytes", "gauge", "Bytes of answers that have not been read.",
                        access_used(r->services->access, ACCESS_ANSWER_BYTES));
    cache_size kept = model_cache_size(r->services->models);
    metrics_write_value(&out, "hamel_cache_models", "gauge", "Cached models.", (double)kept.models);
    metrics_write_value(&out, "hamel_cache_bytes", "gauge", "Memory of cached models.", (double)kept.bytes);
    metrics_write_value(&out, "hamel_models_used_bytes", "gauge", "Memory of models in use.", (double)kept.used_bytes);
    metrics_write_value(&out, "hamel_derivations", "gauge", "Derivations in progress.", (double)kept.derivations);
    text_buffer_puts(&out, "# HELP hamel_build_info Version of the daemon.\n# TYPE hamel_build_info gauge\n"
                           "hamel_build_info{version=\"" HAMEL_VERSION "\"} 1\n");
    metrics_write_process(&out);
    char *text = text_buffer_take(&out, &length);
    text_buffer_free(&out);
    return reply_bytes(r, 200, "text/plain; version=0.0.4; charset=utf-8", text, length);
}
