/* routes_simulations.c — POST /v1/simulations: runs a system and streams its rows.
 *
 * Nothing is sent until the run has begun or failed, so an error before the first row decides the status of the reply.
 * From then on the reply is a stream, and a failure is its last line. */
#include "api/json/text.h"
#include "server/http/routes.h"

#include <stdlib.h>

/* Longest interval without data on a stream whose format has heartbeats. */
#define HEARTBEAT_SECONDS 5.0

typedef struct live_run {
    request *r; /* NULL after the answer has become a stream */
    stream *stream;
    const daemon_services *services;
    row_writer *writer;
    const row_format *format;
    bool whole; /* the summary or problem has been written */
} live_run;

/* Begins the streamed reply at the first byte. Formats that collect all rows (json, npy) can therefore report a failure
 * by the HTTP status. */
static bool write_live(void *context, const char *bytes, size_t length) {
    live_run *run = context;
    if (run->r) {
        if (!request_stream(run->r, run->format->media_type)) return false;
        run->r = NULL;
    }
    return stream_write(run->stream, bytes, length);
}

static bool keep_rows(void *context, size_t bytes) {
    const live_run *run = context;
    return stream_charge(run->stream, bytes);
}

static bool live_header(void *context, const row_header *header) {
    live_run *run = context;
    return row_writer_begin(run->writer, header);
}

static bool live_row(void *context, const double *values, size_t count) {
    live_run *run = context;
    return row_writer_row(run->writer, values, count);
}

static bool live_event(void *context, const char *json) {
    live_run *run = context;
    return row_writer_object(run->writer, ROW_EVENT, json);
}

static bool live_progress(void *context, const char *json, double fraction) {
    live_run *run = context;
    (void)fraction;
    bool going = row_writer_object(run->writer, ROW_PROGRESS, json);
    if (going && stream_quiet_seconds(run->stream) > HEARTBEAT_SECONDS)
        going = row_writer_object(run->writer, ROW_HEARTBEAT, NULL);
    if (going && !run->r) going = stream_flush(run->stream);
    return going;
}

static bool live_summary(void *context, const char *json, const hamel_summary *summary) {
    live_run *run = context;
    metrics_summary(run->services->metrics, RUN_KIND_LIVE, summary);
    run->whole = row_writer_object(run->writer, ROW_SUMMARY, json);
    return run->whole;
}

static cJSON *shutdown_problem(const char *instance) {
    return api_problem_plain(503, "shutting-down", "Shutting down", "the server shut down during the run", instance);
}

/* Returns a problem with the reason why the daemon ended the run, which the engine reports as canceled only; NULL if
 * the daemon did not end it. */
static cJSON *own_problem(const live_run *run) {
    if (stream_stopped(run->stream)) return shutdown_problem(NULL);
    if (!run->writer->reason) return NULL;
    return api_problem_plain(413, "result-too-large", "The result does not fit this format", run->writer->reason, NULL);
}

static cJSON *with_instance(cJSON *problem, const request *r) {
    if (problem && !cJSON_HasObjectItem(problem, "instance")) cJSON_AddStringToObject(problem, "instance", r->path);
    return problem;
}

static handled reply_budget(request *r) {
    int http;
    cJSON *problem = budget_problem(stream_budget(r->stream), r->path, &http, &r->reply.retry_after);
    metrics_reject(r->services->metrics, http == 429 ? REJECT_QUOTA : REJECT_BUSY);
    return problem ? reply_problem_tree(r, http, problem) : reply_no_memory(r);
}

handled reply_run_problem(request *r, const api_failure *failure) {
    bool stopped = stream_stopped(r->stream);
    if (!stopped && budget_spent(stream_budget(r->stream))) return reply_budget(r);
    int status = stopped ? 503 : failure->http ? failure->http : 500;
    if (status == 503) r->reply.retry_after = 5;
    return reply_problem_tree(
        r, status, stopped ? shutdown_problem(r->path) : with_instance(cJSON_Duplicate(failure->problem, true), r));
}

static bool live_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    live_run *run = context;
    bool canceled = atomic_load(stream_cancel_flag(run->stream));
    metrics_run(run->services->metrics, RUN_KIND_LIVE, canceled ? RUN_CANCELED : RUN_FAILED, 0, 0, 0);
    cJSON *own = own_problem(run);
    if (run->r && own && !stream_stopped(run->stream)) {
        reply_problem_tree(run->r, 413, own);
        if (run->writer->refused) reply_answers_full(run->r);
        return true;
    }
    if (run->r) {
        cJSON_Delete(own);
        reply_run_problem(run->r, failure);
        return true;
    }
    char *text = json_text(own);
    /* If the format cannot contain a problem, the answer is truncated. */
    run->whole =
        run->format->problem && row_writer_problem(run->writer, text ? text : json, text ? NULL : summary_json);
    free(text);
    cJSON_Delete(own);
    return run->whole;
}

handled reply_refusal(request *r, api_failure *failure) {
    if (r->stream && stream_stopped(r->stream)) {
        r->reply.retry_after = 5;
        reply_problem_tree(r, 503, shutdown_problem(r->path));
    } else if (r->stream && budget_spent(stream_budget(r->stream))) {
        reply_budget(r);
    } else {
        int status = failure->http ? failure->http : 500;
        if (status == 503) r->reply.retry_after = 5;
        if (failure->problem) {
            reply_problem_tree(r, status, with_instance(failure->problem, r));
            failure->problem = NULL;
        } else {
            reply_no_memory(r);
        }
    }
    api_failure_clear(failure);
    return REPLY_READY;
}

bool request_model(request *r, const char *text, size_t length, model_lease *lease, api_failure *failure) {
    return model_cache_take(r->services->models, text, length, stream_budget(r->stream), "request", lease, failure);
}

void request_run_system(request *r, api_observer *observer) {
    api_failure failure = {0};
    model_lease lease;
    model_cache *models = r->services->models; /* the observer may give the request back to the HTTP thread */
    budget *b = stream_budget(r->stream);
    stream_finish_first(r->stream);
    budget_take_slot(b);
    if (request_model(r, request_body(r), r->body.length, &lease, &failure)) {
        text_buffer_free(&r->body);
        observer->model_known = lease.known;
        hamel_status status = api_run(lease.model, &b->poll, observer, "request");
        (void)status; /* already reported to the observer */
    } else {
        reply_refusal(r, &failure);
    }
    budget_release_slot(b);
    model_cache_release(models, &lease);
}

handled simulations_create(request *r) {
    const row_format *format = request_row_format(r);
    if (!format) return REPLY_READY;
    live_run run = {.r = r, .stream = r->stream, .services = r->services, .format = format};
    api_observer observer = {.context = &run,
                             .header = live_header,
                             .row = live_row,
                             .event = live_event,
                             .progress = live_progress,
                             .summary = live_summary,
                             .problem = live_problem};
    run.writer = row_writer_open(format, (byte_sink){&run, write_live});
    if (!run.writer) return reply_no_memory(r);
    run.writer->keep = keep_rows;
    request_run_system(r, &observer);
    if (!run.r) stream_end(run.stream, run.whole);
    row_writer_close(run.writer);
    if (!run.r) return REPLY_STREAMED;
    return r->reply.status ? REPLY_READY : reply_no_memory(r);
}
