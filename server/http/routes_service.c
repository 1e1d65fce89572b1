/* routes_service.c — the API description and other documents, pages for browsers, health checks, metrics and examples.
 * Documents and pages are compiled into the program (api/documents.h). Pages load nothing from other hosts. */
#include "api/documents.h"
#include "api/json/builder.h"
#include "api/json/strict_json.h"
#include "server/http/accept.h"
#include "server/http/routes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { METRICS_MAX_BYTES = 4 * 1024 * 1024 };

static const char json_type[] = "application/json", html[] = "text/html; charset=utf-8";
static const char css[] = "text/css; charset=utf-8", script[] = "text/javascript; charset=utf-8";

/* clang-format off */
static const struct document {
    const char *path, *media_type;
    const unsigned char *bytes;
    const size_t *length;
} documents[] = {
    {"/openapi.json",               json_type,                 api_openapi,       &api_openapi_length},
    {"/schemas/system.schema.json", "application/schema+json", api_system_schema, &api_system_schema_length},
    {"/docs",                       html,                      api_docs_html,     &api_docs_html_length},
    {"/docs/docs.css",              css,                       api_docs_css,      &api_docs_css_length},
    {"/docs/docs.js",               script,                    api_docs_js,       &api_docs_js_length},
    {"/page/page.css",              css,                       api_page_css,      &api_page_css_length},
    {"/page/page.mjs",              script,                    api_page_main,     &api_page_main_length},
    {"/page/canvas.mjs",            script,                    api_page_canvas,   &api_page_canvas_length},
    {"/page/chart.mjs",             script,                    api_page_chart,    &api_page_chart_length},
    {"/page/editor.mjs",            script,                    api_page_editor,   &api_page_editor_length},
    {"/page/jobs.mjs",              script,                    api_page_jobs,     &api_page_jobs_length},
    {"/page/motion.mjs",            script,                    api_page_motion,   &api_page_motion_length},
    {"/page/rows.mjs",              script,                    api_page_rows,     &api_page_rows_length},
    {"/page/scene.mjs",             script,                    api_page_scene,    &api_page_scene_length},
    {"/page/server.mjs",            script,                    api_page_server,   &api_page_server_length},
    {"/page/show.mjs",              script,                    api_page_show,     &api_page_show_length},
    {"/page/text.mjs",              script,                    api_page_text,     &api_page_text_length},
};
/* clang-format on */

handled service_document(request *r) {
    for (size_t k = 0; k < sizeof documents / sizeof documents[0]; k++) {
        const struct document *d = &documents[k];
        if (strcmp(d->path, r->path) != 0) continue;
        r->reply.page = d->media_type == html;
        return reply_static(r, 200, d->media_type, (const char *)d->bytes, *d->length);
    }
    return reply_problem(r, 404, "not-found", "Not found", "the page has no file '%s'", r->parameter);
}

/* Replies with the page. Clients that prefer JSON or send no Accept header get the index in JSON. */
handled service_index(request *r) {
    static const char index[] =
        "{\"service\":\"hamel\",\"version\":\"" HAMEL_VERSION "\",\"links\":{"
        "\"description\":\"/openapi.json\",\"documentation\":\"/docs\",\"simulations\":\"/v1/simulations\","
        "\"analyses\":\"/v1/analyses\",\"checks\":\"/v1/checks\",\"jobs\":\"/v1/jobs\",\"batches\":\"/v1/batches\","
        "\"examples\":\"/v1/examples\",\"health\":\"/healthz\",\"readiness\":\"/readyz\","
        "\"metrics\":\"/metrics\"}}\n";
    static const char *const offers[] = {json_type, "text/html"};
    r->reply.page = accept_choose(request_header(r, "Accept"), offers, 2, 0) == 1;
    if (r->reply.page) return reply_static(r, 200, html, (const char *)api_page_html, api_page_html_length);
    return reply_static(r, 200, json_type, index, sizeof index - 1);
}

handled service_healthz(request *r) {
    static const char good[] = "{\"status\":\"ok\"}\n";
    return reply_static(r, 200, json_type, good, sizeof good - 1);
}

/* Replies 200 if the daemon accepts runs and submissions, otherwise 503. During shutdown, the function `dispatch`
 * (http.c) replies 503, so this handler is not called. */
handled service_readyz(request *r) {
    static const char good[] = "{\"status\":\"ready\"}\n";
    const daemon_services *s = r->services;
    bool busy = (double)http_load_of(r->server).streams >= s->config->streams + s->config->waiting;
    const char *trouble = busy ? "all run slots are busy" : s->store->kind->trouble(s->store);
    if (!trouble) return reply_static(r, 200, json_type, good, sizeof good - 1);
    r->reply.retry_after = 5;
    return reply_problem(r, 503, "not-ready", "Not ready", "%s", trouble);
}

static const char *route_label(size_t index, char *out, size_t room) {
    const route *row = route_at(index);
    if (!row) return NULL;
    snprintf(out, room, "%s %s", http_method_names[row->method], row->path);
    return out;
}

handled service_metrics(request *r) {
    text_buffer out;
    size_t length = 0;
    store_counts jobs;
    http_load load = http_load_of(r->server);
    cache_size models = model_cache_size(r->services->models);
    bool counted = STORE_CALL(r->services->store, counts, &jobs) == STORE_OK;
    const struct gauge {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"hamel_http_connections", "Open connections.", (double)load.connections},
        {"hamel_http_streams", "Requests that hold a run slot or wait for one.", (double)load.streams},
        {"hamel_http_followers", "Responses that wait for a job or for their client.", (double)load.followers},
        {"hamel_answer_bytes", "Bytes of responses that clients have not read.",
         access_used(r->services->access, ACCESS_ANSWER_BYTES)},
        {"hamel_cache_models", "Cached models.", (double)models.models},
        {"hamel_cache_bytes", "Memory of cached models.", (double)models.bytes},
        {"hamel_models_used_bytes", "Memory of models in use.", (double)models.used_bytes},
        {"hamel_derivations", "Derivations in progress.", (double)models.derivations},
        {"hamel_jobs_queued", "Queued jobs.", counted ? (double)jobs.queued : NAN},
        {"hamel_jobs_running", "Running jobs.", counted ? (double)jobs.running : NAN},
        /* The age must not be negative if the clock has been set back. */
        {"hamel_queue_age_seconds", "Age of the oldest queued job.",
         counted ? fmax(1e-3 * (double)jobs.queue_age, 0) : NAN},
        {"hamel_store_bytes", "Size of the job store.", counted ? (double)jobs.bytes : NAN},
    };
    text_buffer_init(&out, METRICS_MAX_BYTES);
    metrics_write(r->services->metrics, route_label, &out);
    for (size_t k = 0; k < sizeof gauges / sizeof gauges[0]; k++)
        if (!isnan(gauges[k].value))
            metrics_write_value(&out, gauges[k].name, "gauge", gauges[k].help, gauges[k].value);
    text_buffer_puts(&out, "# HELP hamel_build_info Version of the daemon.\n# TYPE hamel_build_info gauge\n"
                           "hamel_build_info{version=\"" HAMEL_VERSION "\"} 1\n");
    metrics_write_process(&out);
    char *text = text_buffer_take(&out, &length);
    text_buffer_free(&out);
    return reply_bytes(r, 200, "text/plain; version=0.0.4; charset=utf-8", text, length);
}

/* Returns {name, title, description, source, href}. Title, description and source are read from the example; `name` is
 * the last segment of the path of the example. */
static cJSON *example_json(const api_example *example) {
    static const char *const keys[][2] = {{"name", "title"}, {"description", "description"}, {"source", "source"}};
    json_builder b = {0};
    char path[256];
    cJSON *system = json_kept(&b, json_parse_trusted(example->json));
    cJSON *object = json_kept(&b, cJSON_CreateObject());
    json_add_text(&b, object, "name", example->name);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(system, keys[k][0]));
        if (text) json_add_text(&b, object, keys[k][1], text);
    }
    snprintf(path, sizeof path, "/v1/examples/%s", example->name);
    json_add_text(&b, object, "href", path);
    cJSON_Delete(system);
    return json_finished(&b, object);
}

handled examples_list(request *r) {
    json_builder b = {0};
    cJSON *list = json_kept(&b, cJSON_CreateObject()), *items = json_add_list(&b, list, "items");
    const api_example *example;
    for (size_t i = 0; (example = api_example_at(i)); i++) json_append(&b, items, example_json(example));
    return reply_json(r, 200, json_finished(&b, list));
}

handled examples_get(request *r) {
    const api_example *example;
    for (size_t i = 0; (example = api_example_at(i)); i++) {
        if (strcmp(example->name, r->parameter) != 0) continue;
        return reply_static(r, 200, json_type, example->json, example->length);
    }
    return reply_problem(r, 404, "no-such-example", "No such example", "there is no example '%s'", r->parameter);
}
