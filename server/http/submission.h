/* submission.h — submissions of jobs and batches: their idempotency keys and quotas, and the reply. With Prefer: wait=N
 * (RFC 7240, 4.3) the reply is delayed until the submitted work has ended. */
#pragma once

#include "server/http/request.h"

/* A submitted job or, if `is_batch`, a submitted batch. Zero-initialize. */
typedef struct submission {
    bool is_batch;
    job job;
    job_batch batch;
} submission;
void submission_clear(submission *s);

/* Fills *out with the owner, quota, body and Idempotency-Key of the request. If the key is invalid, replies and returns
 * false. */
bool submission_read(request *r, job_submission *out);

/* Replies to a submission for which the store has returned `status`. If the client prefers to wait, replies when the
 * work has ended or the requested time (at most two minutes) is over. The request holds no run slot while it waits.
 * Replies immediately if the daemon is shutting down or too many requests already wait. If the reply is delayed, moves
 * the contents of *made and clears *made. */
handled reply_submission(request *r, store_status status, submission *made);

/* Replies to a status of the store other than STORE_OK; `kind` is "job" or "batch". */
handled reply_store(request *r, store_status status, const char *kind);
