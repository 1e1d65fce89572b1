/* job_client.h — requests of the commands for jobs on a server. */
#pragma once

#include "clients/cli/remote/exchange.h"

/* A command and its server. */
typedef struct job_client {
    const cli_arguments *arguments;
    cli_server server;
} job_client;

/* Returns CLI_OK, or CLI_USAGE after reporting that no server is given or that an operand is not a job id. */
int job_client_open(job_client *c, const cli_arguments *arguments, bool operands_are_jobs);

/* Sends METHOD /v1/jobs`rest`. If the status is 204, sets *answer to NULL. For any other status 2xx, sets *answer to
 * the received object, which the caller deletes (cJSON_Delete). Returns CLI_OK, or CLI_SERVER after reporting an
 * error. */
int job_ask(const job_client *c, const char *method, const char *rest, cJSON **answer);

/* Sends METHOD /v1/jobs/ID`rest`, and returns as job_ask does. */
int job_ask_one(const job_client *c, const char *method, const char *id, const char *rest, cJSON **answer);

double job_progress(const cJSON *job);
bool job_has_ended(const cJSON *job);

/* Appends `?` or `&` and the percent-encoded `name=value` to a query. Appends nothing if the value is NULL. */
void job_query_add(text_buffer *query, const char *name, const char *value);

/* clang-format off */
#define JOB_OPTIONS {"server", "URL", NULL, "use the jobs of this server (HAMEL_SERVER); token: HAMEL_TOKEN"}
/* clang-format on */
