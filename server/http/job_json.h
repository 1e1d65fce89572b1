/* job_json.h — the JSON of jobs and batches in the API. */
#pragma once

#include "engine/base/text_buffer.h"
#include "server/jobs/store.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Return the JSON of a job or batch as in the API, or NULL if out of memory. A batch is `running` until all its members
 * have ended. */
cJSON *job_json(const job *j);
cJSON *batch_json(const job_batch *batch);

/* Status of a job in a table (`terminated` if an event ended the run), and the reason why a job is incomplete or has
 * failed. */
typedef struct job_outcome {
    const char *status;
    text_buffer problem; /* freed by the caller */
} job_outcome;
void job_outcome_read(job_outcome *out, const job *j);

/* Returns true if a list contains only strings. Stored data is checked because it may be damaged. */
bool json_is_texts(const cJSON *list);

/* Writes the strong ETag of a job, which differs after every change of the job. */
void job_etag(const job *j, char *out, size_t room);
