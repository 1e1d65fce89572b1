/* routes_analyses.c — POST /v1/analyses: what can be said of a system without running it.
 *
 * An analysis computes for as long as a derivation does, so it waits for a CPU slot like a live run, on a thread of its
 * own, and ends when its client is gone. */
#include "server/http/routes.h"

#include "api/analyze.h"

handled analyses_create(request *r) {
    api_failure failure = {0};
    budget *b = stream_budget(r->stream);
    stream_finish_first(r->stream);
    budget_take_slot(b);
    cJSON *answer = api_analyze_request(r->body.bytes ? r->body.bytes : "", r->body.length, &r->services->limits,
                                        &b->poll, &failure);
    budget_leave_slot(b);
    return answer ? reply_json(r, 200, answer) : reply_refusal(r, &failure);
}
