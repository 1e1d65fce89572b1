/* routes_metrics.c — GET /metrics: the counters, and the state of queue, connections and process at this moment. */
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
    if (services->store->kind->counts(services->store, &counts) != STORE_OK) return;
    double age = counts.queue_age > 0 ? 1e-3 * (double)counts.queue_age : 0; /* the clock may have been set back */
    metrics_write_value(out, "hamel_jobs_queued", "gauge", "Jobs that wait.", (double)counts.queued);
    metrics_write_value(out, "hamel_jobs_running", "gauge", "Jobs that run.", (double)counts.running);
    metrics_write_value(out, "hamel_queue_age_seconds", "gauge", "How long the oldest queued job has been waiting.",
                        age > 0 ? age : 0);
    metrics_write_value(out, "hamel_store_bytes", "gauge", "Size of what is stored.", (double)counts.bytes);
}

handled service_metrics(request *r) {
    text_buffer out;
    size_t length = 0;
    http_load load = http_load_of(r->server);
    text_buffer_init(&out, TEXT_MAX);
    metrics_write(r->services->metrics, route_label, &out);
    write_queue(r->services, &out);
    metrics_write_value(&out, "hamel_http_connections", "gauge", "Open connections.", (double)load.connections);
    metrics_write_value(&out, "hamel_http_streams", "gauge", "Requests that hold or wait for a place of a stream.",
                        (double)load.streams);
    metrics_write_value(&out, "hamel_http_followers", "gauge", "Answers that wait for a job or for their reader.",
                        (double)load.followers);
    metrics_write_value(&out, "hamel_answer_bytes", "gauge", "Bytes of answers that have not been read.",
                        access_used(r->services->access, PLACE_ANSWER));
    cache_size kept = model_cache_size(r->services->models);
    metrics_write_value(&out, "hamel_cache_models", "gauge", "Models that are kept.", (double)kept.models);
    metrics_write_value(&out, "hamel_cache_bytes", "gauge", "Memory of these models.", (double)kept.bytes);
    metrics_write_value(&out, "hamel_models_used_bytes", "gauge", "Memory of models in use.", (double)kept.used_bytes);
    metrics_write_value(&out, "hamel_derivations", "gauge", "Derivations that have begun.", (double)kept.derivations);
    text_buffer_puts(&out, "# HELP hamel_build_info Version of the daemon.\n# TYPE hamel_build_info gauge\n"
                           "hamel_build_info{version=\"" HAMEL_VERSION "\"} 1\n");
    metrics_write_process(&out);
    char *text = text_buffer_take(&out, &length);
    text_buffer_free(&out);
    return reply_bytes(r, 200, "text/plain; version=0.0.4; charset=utf-8", text, length);
}
