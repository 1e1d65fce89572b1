/* routes_runs.c — requests that compute while their client waits: POST /v1/simulations, /v1/checks, /v1/analyses.
 *
 * A simulation streams its rows. Nothing is sent until the run has begun or failed, so an error before the first row
 * decides the status of the reply. After the first row the reply is a stream, and a failure is its last line. Checks
 * discard the rows and report the checks and invariants of the summary, as JSON or JUnit XML. If a limit ends a run,
 * `passed` is false.
 *
 * A run, check or analysis may take a long time. Therefore each request has a thread and waits for a CPU slot. A
 * request is canceled when its client disconnects. Unless --analysis-processes is 0, analyses run in separate processes
 * (server/analysis_pool.h). */
#include "api/analyze.h"
#include "api/json/builder.h"
#include "api/json/text.h"
#include "api/write/junit.h"
#include "server/analysis_process.h"
#include "server/http/accept.h"
#include "server/http/routes.h"

#include <flint/flint.h>
#include <stdlib.h>

/* Longest interval without data on a stream whose format has heartbeats. The interval is far below the idle timeouts of
 * proxies, which are usually a minute. */
#define HEARTBEAT_SECONDS 5.0

/* ---- simulations ------------------------------------------------------------------------------------------------- */

typedef struct live_run {
    request *r; /* NULL once the reply is a stream */
    stream *stream;
    const daemon_services *services;
    row_writer *writer;
    const row_format *format;
    bool whole; /* the summary or problem has been written */
} live_run;

/* Begins the streamed reply at the first byte. Formats that collect all rows (json, npy) write nothing before the end,
 * so they report a failure by the HTTP status. */
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

/* If the daemon has ended a run, the engine reports only that the run was canceled. Returns a problem with the reason,
 * or NULL if the daemon did not end the run. */
static cJSON *own_problem(const live_run *run) {
    if (stream_stopped(run->stream)) return shutdown_problem(NULL);
    if (!run->writer->reason) return NULL;
    if (run->writer->starved) return json_parse_trusted(api_problem_no_memory);
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

static handled reply_run_problem(request *r, const api_failure *failure) {
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
        if (run->writer->starved) reply_no_memory(run->r);
        return true;
    }
    if (run->r) {
        cJSON_Delete(own);
        reply_run_problem(run->r, failure);
        return true;
    }
    char *text = json_text(own);
    /* If the format cannot contain a problem, the response is truncated. */
    run->whole =
        run->format->problem && row_writer_problem(run->writer, text ? text : json, text ? NULL : summary_json);
    free(text);
    cJSON_Delete(own);
    return run->whole;
}

handled reply_refusal(request *r, api_failure *failure) {
    handled replied = reply_run_problem(r, failure);
    api_failure_clear(failure);
    return replied;
}

bool request_model(request *r, const char *text, size_t length, model_lease *lease, api_failure *failure) {
    return model_cache_take(r->services->models, text, length, stream_budget(r->stream), "request", lease, failure);
}

static void run_system(request *r, api_observer *observer) {
    api_failure failure = {0};
    model_lease lease;
    model_cache *models = r->services->models; /* the observer may pass the request to the HTTP thread */
    budget *b = stream_budget(r->stream);
    stream_finish_first(r->stream);
    budget_take_slot(b);
    if (request_model(r, request_body(r), r->body.length, &lease, &failure)) {
        text_buffer_free(&r->body);
        observer->model_known = lease.known;
        hamel_status status = api_run(lease.model, &b->poll, observer, "request");
        (void)status; /* the observer has already received the status */
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
    run_system(r, &observer);
    if (!run.r) stream_end(run.stream, run.whole);
    row_writer_close(run.writer);
    if (!run.r) return REPLY_STREAMED;
    return r->reply.status ? REPLY_READY : reply_no_memory(r);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

enum { FORM_JSON, FORM_JUNIT, FORMS };
static const char *const forms[FORMS] = {"application/json", "application/xml"};

typedef struct check_run {
    request *r;
    size_t form;
} check_run;

static void note_nothing(void *context, const api_check_result *verdict) {
    (void)context, (void)verdict;
}

static void note_case(void *context, const api_check_result *verdict) {
    junit_case(context, "request", verdict);
}

static cJSON *list_of(json_builder *b, const cJSON *summary, const char *key) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(summary, key);
    return json_kept(b, list ? cJSON_Duplicate(list, 1) : cJSON_CreateArray());
}

/* Replies with the JSON object {passed, checks, invariants, summary}. Takes ownership of `summary` and frees it, also on
 * failure. */
static handled reply_verdicts(request *r, cJSON *summary) {
    json_builder b = {0};
    cJSON *answer = json_kept(&b, cJSON_CreateObject());
    json_add_truth(&b, answer, "passed", api_check_results(summary, note_nothing, NULL));
    if (!b.failed) cJSON_AddItemToObject(answer, "checks", list_of(&b, summary, "checks"));
    if (!b.failed) cJSON_AddItemToObject(answer, "invariants", list_of(&b, summary, "invariants"));
    if (b.failed || !cJSON_AddItemToObject(answer, "summary", summary)) {
        cJSON_Delete(summary);
        cJSON_Delete(answer);
        return reply_no_memory(r);
    }
    return reply_json(r, 200, answer);
}

static handled reply_junit(request *r, const cJSON *summary) {
    junit report;
    size_t length = 0;
    junit_init(&report);
    api_check_results(summary, note_case, &report);
    char *text = junit_take(&report, &length);
    return reply_bytes(r, 200, forms[FORM_JUNIT], text, length);
}

static bool check_summary(void *context, const char *json, const hamel_summary *s) {
    const check_run *run = context;
    cJSON *summary = json_parse_trusted(json);
    metrics_summary(run->r->services->metrics, RUN_KIND_CHECK, s);
    if (!summary) {
        reply_no_memory(run->r);
    } else if (run->form == FORM_JUNIT) {
        reply_junit(run->r, summary);
        cJSON_Delete(summary);
    } else {
        reply_verdicts(run->r, summary);
    }
    return true;
}

static bool check_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const check_run *run = context;
    (void)json, (void)summary_json;
    bool canceled = atomic_load(stream_cancel_flag(run->r->stream));
    metrics_run(run->r->services->metrics, RUN_KIND_CHECK, canceled ? RUN_CANCELED : RUN_FAILED, 0, 0, 0);
    reply_run_problem(run->r, failure);
    return true;
}

handled checks_create(request *r) {
    check_run run = {.r = r, .form = accept_choose(request_header(r, "Accept"), forms, FORMS, FORM_JSON)};
    if (run.form == FORMS) {
        return reply_problem(r, 406, "not-acceptable", "Not acceptable",
                             "available formats: application/json, application/xml (JUnit)");
    }
    api_observer observer = {.context = &run, .summary = check_summary, .problem = check_problem};
    run_system(r, &observer);
    return r->reply.status ? REPLY_READY : reply_no_memory(r);
}

/* ---- analyses ---------------------------------------------------------------------------------------------------- */

static handled reply_limit(request *r, const char *detail, double most) {
    return reply_problem(r, 422, hamel_status_slug(HAMEL_LIMIT), hamel_status_meaning(HAMEL_LIMIT), detail, most);
}

static handled reply_refused(request *r, const analysis_result *result) {
    api_failure failure = {.http = result->refused, .problem = json_parse(result->text, result->length, NULL, NULL)};
    return reply_refusal(r, &failure);
}

static handled analyze_apart(request *r) {
    analysis_result result;
    api_failure nobody_waits = {.http = api_status_http(HAMEL_CANCELED)};
    switch (analysis_pool_make(r->services->analyses, stream_budget(r->stream), r->id, r->body.bytes, r->body.length,
                               &result)) {
    case ANALYSIS_ANSWERED:
        if (!result.refused) return reply_bytes(r, 200, "application/json", result.text, result.length);
        reply_refused(r, &result);
        free(result.text);
        return REPLY_READY;
    case ANALYSIS_ENDED: return reply_refusal(r, &nobody_waits); /* replies with the exceeded limit or the shutdown */
    case ANALYSIS_OUT_OF_MEMORY:
        return reply_limit(r,
                           "the analysis needs more than its limit of %.0f bytes (--analysis-memory); request fewer "
                           "analyses at once, or simplify the system",
                           r->services->config->analysis_memory);
    case ANALYSIS_LONG:
        return reply_limit(r, "the report has more than %.0f bytes; request fewer analyses at once", ANALYSIS_TEXT_MAX);
    case ANALYSIS_CRASHED:
        return reply_problem(r, 500, "crashed", "The analysis crashed",
                             "the process of this analysis ended unexpectedly; other requests are not affected; if "
                             "this happens again, report the request");
    case ANALYSIS_UNAVAILABLE: break;
    }
    r->reply.retry_after = 5;
    return reply_problem(r, 503, "busy", "Busy", "no process could be started for the analysis; retry shortly");
}

static handled analyze_here(request *r) {
    api_failure failure = {0};
    budget *b = stream_budget(r->stream);
    budget_take_slot(b);
    cJSON *answer = api_analyze_request(request_body(r), r->body.length, &r->services->limits, &b->poll, &failure);
    budget_release_slot(b);
    flint_cleanup(); /* frees the caches that FLINT keeps for this thread */
    return answer ? reply_json(r, 200, answer) : reply_refusal(r, &failure);
}

handled analyses_create(request *r) {
    stream_finish_first(r->stream);
    return r->services->analyses ? analyze_apart(r) : analyze_here(r);
}
