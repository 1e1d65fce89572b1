/* job_client.h — what the commands about jobs on a server share. */
#ifndef HAMEL_CLI_JOB_CLIENT_H
#define HAMEL_CLI_JOB_CLIENT_H

#include "clients/cli/exchange.h"

/* One for each job that a command is given. */
typedef struct job_client {
    const cli_arguments *arguments;
    cli_place place;
} job_client;

/* CLI_OK, or CLI_USAGE after saying that there is no server, or that what names a job cannot. */
int job_client_open(job_client *c, const cli_arguments *arguments, bool operands_are_jobs);

/* Asks METHOD /v1/jobs`rest` and takes an answer of 2xx: *answer gets it as an object (cJSON_Delete), or NULL with 204.
 * CLI_OK, or CLI_SERVER after saying why not. */
int job_ask(const job_client *c, const char *method, const char *rest, cJSON **answer);

/* The same for one job: METHOD /v1/jobs/ID`rest`. */
int job_ask_one(const job_client *c, const char *method, const char *id, const char *rest, cJSON **answer);

/* A member's text; "" when it has none. */
const char *job_text(const cJSON *job, const char *key);
double job_progress(const cJSON *job);
bool job_has_ended(const cJSON *job);

/* `name=value` for a query, escaped; with & where something stands before it. */
void job_query_add(text_buffer *query, const char *name, const char *value);

/* clang-format off */
#define JOB_OPTIONS {"server", "URL", NULL, "where the jobs are; default: HAMEL_SERVER (token: HAMEL_TOKEN)"}
/* clang-format on */

#endif
