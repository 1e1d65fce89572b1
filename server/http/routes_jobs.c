/* routes_jobs.c — jobs: submit, list, read, cancel, delete; and pages of lists. Results are in routes_results.c. */
#include "api/json/builder.h"
#include "api/sweep/sweep_member.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"
#include "server/http/submission.h"
#include "server/jobs/workers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool request_job(request *r, job *out) {
    store_status status = STORE_CALL(r->services->store, find, r->parameter, request_owner_filter(r), out);
    if (status != STORE_OK) reply_store(r, status, "job");
    return status == STORE_OK;
}

bool job_reread(store *s, job *j) {
    job newer;
    int64_t revision;
    if (STORE_CALL(s, revision, j->number, &revision) != STORE_OK) return false;
    if (revision == j->revision) return true;
    if (STORE_CALL(s, find, j->id, NULL, &newer) != STORE_OK) return false;
    job_clear(j);
    *j = newer;
    return true;
}

handled reply_job(request *r, int status, const job *j) {
    job_etag(j, r->reply.etag, sizeof r->reply.etag);
    return reply_json(r, status, job_json(j));
}

/* Derives the equations before the job is stored, so that errors are reported at submission. */
static bool check_description(request *r, char **name, api_failure *failure) {
    model_lease lease;
    budget_take_slot(stream_budget(r->stream));
    bool good = request_model(r, request_body(r), r->body.length, &lease, failure);
    budget_release_slot(stream_budget(r->stream));
    if (!good) return false;
    const char *given = hamel_model_header(lease.model)->name;
    *name = strdup(given ? given : "");
    model_cache_release(r->services->models, &lease);
    return *name != NULL;
}

handled jobs_create(request *r) {
    job_submission sent;
    submission made = {0};
    if (!submission_read(r, &sent)) return REPLY_READY;
    store_status status = STORE_CALL(r->services->store, known_key, &sent, &made.job);
    if (status == STORE_ABSENT) {
        api_failure failure = {0};
        char *name = NULL;
        if (!check_description(r, &name, &failure))
            return failure.http ? reply_refusal(r, &failure) : reply_no_memory(r);
        sent.name = name;
        status = STORE_CALL(r->services->store, submit, &sent, &made.job);
        free(name);
    }
    handled replied = reply_submission(r, status, &made);
    submission_clear(&made);
    return replied;
}

enum { LIMIT_STANDARD = 50, LIMIT_MOST = 500 };

/* Parses an integer from `least` to `most`. Leaves *out unchanged if the text is NULL. */
static bool parse_number(const char *text, int64_t least, int64_t most, int64_t *out) {
    char *end;
    if (!text) return true;
    if (!isdigit((unsigned char)text[0]) || strlen(text) > 18) return false;
    long long value = strtoll(text, &end, 10);
    if (*end || value < least || value > most) return false;
    *out = value;
    return true;
}

bool page_read(request *r, job_query *query) {
    int64_t limit = LIMIT_STANDARD;
    if (!parse_number(request_query(r, "limit"), 1, LIMIT_MOST, &limit)) {
        reply_parameter(r, "limit must be an integer from 1 to %d", LIMIT_MOST);
        return false;
    }
    query->limit = (size_t)limit;
    if (parse_number(request_query(r, "cursor"), 1, INT64_MAX, &query->before)) return true;
    reply_parameter(r, "cursor must be the `next` of an earlier list");
    return false;
}

cJSON *page_json(size_t count, cJSON *(*item)(const void *context, size_t k), const void *context, int64_t last) {
    json_builder b = {0};
    char cursor[24];
    cJSON *list = json_kept(&b, cJSON_CreateObject()), *items = json_add_list(&b, list, "items");
    for (size_t k = 0; k < count; k++) json_append(&b, items, item(context, k));
    snprintf(cursor, sizeof cursor, "%lld", (long long)last);
    json_add_text(&b, list, "next", last ? cursor : NULL);
    return json_finished(&b, list);
}

static cJSON *job_at(const void *context, size_t k) {
    const job *jobs = context;
    return job_json(&jobs[k]);
}

handled jobs_list(request *r) {
    job_query query = {
        .name = request_query(r, "name"), .batch = request_query(r, "batch"), .owner = request_owner_filter(r)};
    const char *status = request_query(r, "status");
    size_t count = 0;
    bool more;
    query.by_status = status != NULL;
    if (status && !job_status_named(status, &query.status))
        return reply_parameter(r, "status must be queued, running, completed, incomplete, failed or canceled");
    if (!page_read(r, &query)) return REPLY_READY;
    job *jobs = calloc(query.limit, sizeof *jobs);
    if (!jobs) return reply_no_memory(r);
    bool listed = STORE_CALL(r->services->store, list, &query, jobs, &count, &more) == STORE_OK;
    handled replied = listed ? reply_json(r, 200, page_json(count, job_at, jobs, more ? jobs[count - 1].number : 0))
                             : reply_store(r, STORE_FAILED, "job");
    for (size_t i = 0; i < count; i++) job_clear(&jobs[i]);
    free(jobs);
    return replied;
}

handled jobs_get(request *r) {
    job j;
    if (!request_job(r, &j)) return REPLY_READY;
    handled replied = reply_job(r, 200, &j);
    job_clear(&j);
    return replied;
}

/* Replies with the description of a sweep member: the description of the batch with the overrides of the member. */
static handled reply_member(request *r, const job *j, const char *body, size_t length) {
    api_failure failure = {0};
    api_sweep whole;
    char *text = NULL;
    size_t made = 0;
    if (api_sweep_open(&whole, body, length, NULL, 0, &r->services->limits, (size_t)r->services->config->max_members,
                       "request", &failure)) {
        text = api_sweep_member(&whole, j->assignments, &made, &failure);
        api_sweep_close(&whole);
    }
    if (text) return reply_bytes(r, 200, "application/json", text, made);
    api_failure_clear(&failure);
    return reply_problem(r, 500, "storage", "Storage failed", "the stored description cannot be read");
}

handled jobs_get_system(request *r) {
    job j;
    char *body = NULL;
    size_t length = 0;
    if (!request_job(r, &j)) return REPLY_READY;
    store_status status = STORE_CALL(r->services->store, description, &j, &body, &length);
    handled replied;
    if (status != STORE_OK) {
        replied = reply_store(r, status, "job");
    } else if (j.assignments) {
        replied = reply_member(r, &j, body, length);
        free(body);
    } else {
        replied = reply_bytes(r, 200, "application/json", body, length);
    }
    job_clear(&j);
    return replied;
}

handled jobs_cancel(request *r) {
    job j;
    store_status status = STORE_CALL(r->services->store, cancel, r->parameter, request_owner_filter(r), &j);
    if (status != STORE_OK) {
        job_clear(&j);
        return reply_store(r, status, "job");
    }
    workers_cancel(r->services->workers, j.number);
    handled replied = reply_job(r, 202, &j);
    job_clear(&j);
    return replied;
}

handled jobs_delete(request *r) {
    int64_t number = 0;
    store_status status = STORE_CALL(r->services->store, delete, r->parameter, request_owner_filter(r), &number);
    if (status != STORE_OK) return reply_store(r, status, "job");
    workers_cancel(r->services->workers, number);
    return reply_static(r, 204, NULL, NULL, 0);
}
