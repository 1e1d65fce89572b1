/* job_json.h — stored jobs and batches as the API shows them. */
#ifndef HAMEL_SERVER_HTTP_JOB_JSON_H
#define HAMEL_SERVER_HTTP_JOB_JSON_H

#include "engine/base/text_buffer.h"
#include "server/jobs/store.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* {id, name, status, progress, created, started, finished, summary, problem, links}. NULL without memory. */
cJSON *job_json(const job *j);

/* {id, name, status, created, members, counts, links}; status is `running` until all members have ended. */
cJSON *batch_json(const job_batch *b);

/* How a job stands in one line of a table: its status, where a run that ended by an event of its own is `terminated`,
 * and why it is incomplete or failed. */
typedef struct job_outcome {
    const char *status;
    text_buffer problem;
} job_outcome;
void job_outcome_read(job_outcome *out, const job *j);
void job_outcome_clear(job_outcome *outcome);

/* A list of texts and of nothing else: what a store gives back may be damaged. */
bool json_is_texts(const cJSON *list);

/* A strong validator that changes with every change of the job. */
void job_etag(const job *j, char *out, size_t room);

#endif
