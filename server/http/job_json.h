/* job_json.h — the JSON of jobs and batches in the API. */
#pragma once

#include "engine/base/text_buffer.h"
#include "server/jobs/store.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Returns {id, name, status, progress, created, started, finished, summary, problem, links}; NULL if out of memory. */
cJSON *job_json(const job *j);

/* Returns {id, name, status, created, members, counts, links}. The status is `running` until all members have ended. */
cJSON *batch_json(const job_batch *b);

/* Status of a job in a table (`terminated` if an event ended the run), and the reason if it is incomplete or failed. */
typedef struct job_outcome {
    const char *status;
    text_buffer problem;
} job_outcome;
void job_outcome_read(job_outcome *out, const job *j);
void job_outcome_clear(job_outcome *outcome);

/* Returns true if a list contains only strings. Stored data is checked because it may be damaged. */
bool json_is_texts(const cJSON *list);

/* Writes a strong validator, which changes with every change of the job. */
void job_etag(const job *j, char *out, size_t room);
