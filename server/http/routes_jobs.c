/* routes_jobs.c — jobs: submit, list, read, cancel, delete. Results are in routes_results.c. */
#include "api/sweep/sweep_member.h"
#include "server/http/job_json.h"
#include "server/http/paging.h"
#include "server/http/prefer.h"
#include "server/http/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

handled reply_store(request *r, store_status status, const char *kind) {
    char slug[24], title[24];
    if (status == STORE_FULL) return reply_quota(r);
    if (status == STORE_NO_SPACE) return reply_disk_full(r);
    if (status != STORE_ABSENT) return reply_storage_failed(r);
    snprintf(slug, sizeof slug, "no-such-%s", kind);
    snprintf(title, sizeof title, "No such %s", kind);
    return reply_problem(r, 404, slug, title, "there is no %s '%s'", kind, r->parameter);
}

handled reply_key_conflict(request *r, const char *kind, const char *id) {
    return reply_problem(r, 409, "idempotency-key", "Idempotency-Key reused",
                         "this Idempotency-Key belongs to %s %s, which was sent with another body", kind, id);
}

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

handled reply_quota(request *r) {
    metrics_reject(r->services->metrics, REJECT_QUOTA);
    r->reply.retry_after = 10;
    return reply_problem(r, 429, "quota", "Too many requests",
                         "the token '%s' has reached its quota of jobs or stored bytes; delete jobs or retry later",
                         r->owner->name);
}

store_quota request_quota(const request *r) {
    access_quotas quotas = access_quotas_of(r->owner);
    return (store_quota){.active = quotas.jobs, .bytes = quotas.stored_bytes};
}

static handled reply_job(request *r, int status, const job *j) {
    job_etag(j, r->reply.etag, sizeof r->reply.etag);
    return reply_json(r, status, job_json(j));
}

/* ---- submit ----------------------------------------------------------------------------------------------------- */

static bool key_is_sane(const char *key) {
    size_t length = strlen(key);
    if (length == 0 || length >= JOB_KEY_BYTES) return false;
    for (size_t i = 0; i < length; i++) {
        if (key[i] < 0x20 || key[i] > 0x7e) return false;
    }
    return true;
}

/* Reads the job again; see awaited.ended. */
static bool has_ended(const request *r, void *context, follow_wait *wait) {
    job *j = context, newer;
    if (STORE_CALL(r->services->store, find, j->id, NULL, &newer) != STORE_OK) return true;
    job_clear(j);
    *j = newer;
    wait->number = j->number;
    wait->revision = j->revision;
    return job_ended(j->status);
}

static void reply_created(request *r, void *context) {
    const job *j = context;
    snprintf(r->reply.location, sizeof r->reply.location, "/v1/jobs/%s", j->id);
    reply_job(r, 201, j); /* a repeated request gets the reply that was lost */
}

static void clear_created(void *context) {
    job_clear(context);
    free(context);
}

static handled reply_submitted(request *r, store_status status, job *j) {
    if (status == STORE_CONFLICT) {
        return reply_key_conflict(r, "job", j->id);
    }
    if (status != STORE_OK && status != STORE_EXISTS) return reply_store(r, status, "job");
    if (status == STORE_OK) {
        workers_wake(r->services->workers);
        log_write(r->services->log, LOG_INFO, "job",
                  LOG_FIELDS(log_text("job", j->id), log_text("request_id", r->id), log_text("begin", "accepted")));
    }
    job *created = malloc(sizeof *created);
    if (!created) return reply_no_memory(r);
    *created = *j;
    *j = (job){0};
    return prefer_wait(r, &(awaited){created, has_ended, reply_created, clear_created});
}

/* Derives the equations, so that errors are reported at submission and not when the job runs. */
static bool check_description(request *r, char **name, api_failure *failure) {
    model_lease lease;
    budget_take_slot(stream_budget(r->stream));
    bool good = request_model(r, r->body.bytes ? r->body.bytes : "", r->body.length, &lease, failure);
    budget_release_slot(stream_budget(r->stream));
    if (!good) return false;
    const char *given = hamel_model_header(lease.model)->name;
    *name = strdup(given ? given : "");
    model_cache_release(r->services->models, &lease);
    return *name != NULL;
}

bool request_key(request *r, const char **key) {
    *key = request_header(r, "Idempotency-Key");
    if (!*key || key_is_sane(*key)) return true;
    reply_problem(r, 400, "invalid-idempotency-key", "Invalid Idempotency-Key",
                  "an Idempotency-Key has 1 to %d printable ASCII characters", JOB_KEY_BYTES - 1);
    return false;
}

handled jobs_create(request *r) {
    job_submission sent = {.owner = r->owner->name,
                           .quota = request_quota(r),
                           .body = r->body.bytes ? r->body.bytes : "",
                           .length = r->body.length};
    if (!request_key(r, &sent.key)) return REPLY_READY;
    job j = {0};
    store_status status = STORE_CALL(r->services->store, known_key, &sent, &j);
    if (status == STORE_ABSENT) {
        api_failure failure = {0};
        char *name = NULL;
        if (!check_description(r, &name, &failure)) {
            return failure.http ? reply_refusal(r, &failure) : reply_no_memory(r);
        }
        sent.name = name;
        status = STORE_CALL(r->services->store, submit, &sent, &j);
        free(name);
    }
    handled replied = reply_submitted(r, status, &j);
    job_clear(&j);
    return replied;
}

/* ---- list ------------------------------------------------------------------------------------------------------- */

static cJSON *job_at(const void *context, size_t k) {
    const job *jobs = context;
    return job_json(&jobs[k]);
}

static handled reply_list(request *r, const job_query *query) {
    size_t count = 0;
    bool more;
    job *jobs = calloc(query->limit, sizeof *jobs);
    if (!jobs) return reply_no_memory(r);
    bool listed = STORE_CALL(r->services->store, list, query, jobs, &count, &more) == STORE_OK;
    handled replied = listed ? reply_json(r, 200, page_json(count, job_at, jobs, more ? jobs[count - 1].number : 0))
                             : reply_storage_failed(r);
    for (size_t i = 0; i < count; i++) job_clear(&jobs[i]);
    free(jobs);
    return replied;
}

handled jobs_list(request *r) {
    page asked;
    job_query query = {
        .name = request_query(r, "name"), .batch = request_query(r, "batch"), .owner = request_owner_filter(r)};
    const char *status = request_query(r, "status");
    query.by_status = status != NULL;
    if (status && !job_status_named(status, &query.status)) {
        return reply_problem(r, 400, "invalid-parameter", "Invalid query parameter",
                             "status must be queued, running, completed, incomplete, failed or canceled");
    }
    if (!page_read(r, &asked)) return REPLY_READY;
    query.before = asked.before;
    query.limit = asked.limit;
    return reply_list(r, &query);
}

/* ---- one job ---------------------------------------------------------------------------------------------------- */

handled jobs_get(request *r) {
    job j;
    if (!request_job(r, &j)) return REPLY_READY;
    handled replied = reply_job(r, 200, &j);
    job_clear(&j);
    return replied;
}

/* Replies with the description of a sweep's member, made from the description of the batch. */
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
