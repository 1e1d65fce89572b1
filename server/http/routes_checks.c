/* routes_checks.c — POST /v1/checks: runs a system and reports its checks and invariants as JSON or JUnit XML.
 *
 * The rows are discarded; the results of the checks are taken from the summary. A failed run gets a problem document,
 * as for a live run. A run that a limit has ended has not passed. */
#include "api/json/builder.h"
#include "api/write/junit.h"
#include "server/http/accept.h"
#include "server/http/routes.h"

enum { FORM_JSON, FORM_JUNIT, FORMS };
static const char *const forms[FORMS] = {"application/json", "application/xml"};

typedef struct check_run {
    request *r;
    size_t form;
} check_run;

static void note_nothing(void *context, const api_check_result *verdict) {
    (void)context;
    (void)verdict;
}

static void note_case(void *context, const api_check_result *verdict) {
    junit_case(context, "request", verdict);
}

static cJSON *list_of(json_builder *b, const cJSON *summary, const char *key) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(summary, key);
    return json_kept(b, list ? cJSON_Duplicate(list, 1) : cJSON_CreateArray());
}

/* Replies {passed, checks, invariants, summary}; takes ownership of the summary. */
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
    (void)json;
    (void)summary_json;
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
    request_run_system(r, &observer);
    return r->reply.status ? REPLY_READY : reply_no_memory(r);
}
