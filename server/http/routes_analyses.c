/* routes_analyses.c — POST /v1/analyses: analyzes a system without running it.
 *
 * An analysis may take as long as a derivation. Therefore an analysis waits for a CPU slot like a live run, has a
 * thread, and is canceled when its client disconnects. Unless --analysis-processes is 0, analyses run in separate
 * processes (server/analysis_pool.h). */
#include "server/http/routes.h"

#include "api/analyze.h"
#include "server/analysis_process.h"

#include <flint/flint.h>
#include <stdlib.h>

enum { RETRY_SECONDS = 5 };

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
                             "the process of this analysis ended unexpectedly; other requests are not affected; if it "
                             "happens again, report the request");
    case ANALYSIS_UNAVAILABLE: break;
    }
    r->reply.retry_after = RETRY_SECONDS;
    return reply_problem(r, 503, "busy", "Busy", "no process is left for the analysis; retry shortly");
}

static handled analyze_here(request *r) {
    api_failure failure = {0};
    budget *b = stream_budget(r->stream);
    budget_take_slot(b);
    cJSON *answer = api_analyze_request(request_body(r), r->body.length, &r->services->limits, &b->poll, &failure);
    budget_release_slot(b);
    flint_cleanup(); /* frees FLINT's data of this thread */
    return answer ? reply_json(r, 200, answer) : reply_refusal(r, &failure);
}

handled analyses_create(request *r) {
    stream_finish_first(r->stream);
    return r->services->analyses ? analyze_apart(r) : analyze_here(r);
}
