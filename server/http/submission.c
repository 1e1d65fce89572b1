/* submission.c — replies to submissions; see submission.h. */
#include "server/http/submission.h"
#include "server/jobs/workers.h"

#include "server/clock.h"
#include "server/http/job_json.h"
#include "server/http/routes.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double wait_most = 120; /* upper bound in s on N of `Prefer: wait=N`; documented in api/openapi.json */
#define PAUSE_SECONDS 0.002          /* shortest interval between reads of the store; delays a reply by at most 2 ms */

void submission_clear(submission *s) {
    job_clear(&s->job);
    batch_clear(&s->batch);
}

static bool key_is_sane(const char *key) {
    size_t length = strlen(key);
    for (const char *c = key; *c; c++)
        if (*c < 0x20 || *c > 0x7e) return false;
    return length > 0 && length < JOB_KEY_BYTES;
}

bool submission_read(request *r, job_submission *out) {
    access_quotas quotas = access_quotas_of(r->owner);
    *out = (job_submission){.owner = r->owner->name,
                            .key = request_header(r, "Idempotency-Key"),
                            .body = request_body(r),
                            .length = r->body.length,
                            .quota = {.active = quotas.jobs, .bytes = quotas.stored_bytes}};
    if (!out->key || key_is_sane(out->key)) return true;
    reply_problem(r, 400, "invalid-idempotency-key", "Invalid Idempotency-Key",
                  "an Idempotency-Key must have 1 to %d printable ASCII characters", JOB_KEY_BYTES - 1);
    return false;
}

handled reply_store(request *r, store_status status, const char *kind) {
    char slug[24], title[24];
    if (status == STORE_FULL) {
        metrics_reject(r->services->metrics, REJECT_QUOTA);
        r->reply.retry_after = 10;
        return reply_problem(r, 429, "quota", "Too many requests",
                             "the token '%s' has reached its quota of jobs or stored bytes; delete jobs or retry later",
                             r->owner->name);
    }
    if (status == STORE_NO_SPACE) {
        r->reply.retry_after = 30;
        return reply_problem(r, 503, "disk-full", "Disk full",
                             "the disk of the job store is nearly full; delete jobs or retry later");
    }
    if (status != STORE_ABSENT) {
        r->reply.retry_after = 5;
        return reply_problem(r, 503, "storage", "Storage failed", "the job store does not respond; retry later");
    }
    snprintf(slug, sizeof slug, "no-such-%s", kind);
    snprintf(title, sizeof title, "No such %s", kind);
    return reply_problem(r, 404, slug, title, "there is no %s '%s'", kind, r->parameter);
}

/* Returns N of `Prefer: wait=N`, or 0 if the header has no such part. The syntax is: token BWS "=" BWS word; the word
 * may be quoted. */
static double seconds_asked(const char *header) {
    while (header && *header) {
        header += strspn(header, " \t,;");
        const char *name = header;
        header += strcspn(header, ",;");
        if (strncasecmp(name, "wait", 4) != 0) continue;
        const char *value = name + 4 + strspn(name + 4, " \t");
        if (*value != '=') continue;
        value += 1 + strspn(value + 1, " \t\"");
        if (isdigit((unsigned char)*value)) return fmin(floor(strtod(value, NULL)), wait_most);
    }
    return 0;
}

/* Reads the job or batch again. Returns true if the job or batch has ended or cannot be read. Otherwise sets *wait to
 * the next change of the job or batch. */
static bool has_ended(const request *r, submission *s, follow_wait *wait) {
    submission newer = {.is_batch = s->is_batch};
    store_status status = s->is_batch ? STORE_CALL(r->services->store, find_batch, s->batch.id, NULL, &newer.batch)
                                      : STORE_CALL(r->services->store, find, s->job.id, NULL, &newer.job);
    if (status != STORE_OK) return true;
    submission_clear(s);
    *s = newer;
    wait->number = s->job.number; /* 0 for a batch, which waits for any change of the store */
    wait->revision = s->job.revision;
    return s->is_batch ? batch_ended(&s->batch) : job_ended(s->job.status);
}

static void reply_created(request *r, const submission *s) {
    snprintf(r->reply.location, sizeof r->reply.location, "/v1/%s/%s", s->is_batch ? "batches" : "jobs",
             s->is_batch ? s->batch.id : s->job.id);
    if (s->is_batch)
        reply_json(r, 201, batch_json(&s->batch));
    else
        reply_job(r, 201, &s->job); /* also for a repeated request, since the first reply may be lost */
}

typedef struct waiting {
    request *r;
    submission made;
    double until;
} waiting;

static follow_wait wait_step(void *context) {
    waiting *w = context;
    follow_wait wait = {.from = clock_seconds() + PAUSE_SECONDS, .until = w->until};
    bool over = clock_seconds() >= w->until || atomic_load(stream_cancel_flag(w->r->stream));
    if (!has_ended(w->r, &w->made, &wait) && !over) return wait;
    reply_created(w->r, &w->made);
    request_reply(w->r);
    submission_clear(&w->made);
    free(w);
    return (follow_wait){.ended = true};
}

handled reply_submission(request *r, store_status status, submission *made) {
    const char *kind = made->is_batch ? "batch" : "job", *id = made->is_batch ? made->batch.id : made->job.id;
    size_t runs = status != STORE_OK ? 0 : made->is_batch ? (size_t)r->services->config->workers : 1;
    if (status == STORE_CONFLICT)
        return reply_problem(r, 409, "idempotency-key", "Idempotency-Key reused",
                             "this Idempotency-Key belongs to %s %s, which was sent with another body", kind, id);
    if (status != STORE_OK && status != STORE_EXISTS) return reply_store(r, status, kind);
    for (size_t k = 0; k < runs; k++) workers_wake(r->services->workers);
    if (status == STORE_OK && !made->is_batch)
        log_write(r->services->log, LOG_INFO, "job",
                  LOG_FIELDS(log_text("job", id), log_text("request_id", r->id), log_text("begin", "accepted")));
    double asked = seconds_asked(request_header(r, "Prefer"));
    bool waits = asked > 0 && !atomic_load(stream_cancel_flag(r->stream)) && admission_change(r, ACCESS_FOLLOWER);
    waiting *w = waits ? malloc(sizeof *w) : NULL;
    if (w) {
        *w = (waiting){.r = r, .made = *made, .until = clock_seconds() + asked};
        r->reply.waited = (int)asked;
        text_buffer_free(&r->body);
        if (request_follow(r, wait_step, w)) {
            *made = (submission){0};
            return REPLY_STREAMED;
        }
        r->reply.waited = 0;
        free(w);
    }
    reply_created(r, made);
    return REPLY_READY;
}
