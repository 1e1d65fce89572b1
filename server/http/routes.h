/* routes.h — table of routes, search by method and path, and helpers of the handlers. */
#pragma once

#include "server/http/request.h"

/* Returns the route for a method and path, and copies the path's parameter. HEAD uses the route of GET. If there is no
 * route, returns NULL and sets `allow` to the methods that the path supports, "" for an unknown path. */
const route *route_find(http_method method, const char *path, char parameter[PARAMETER_BYTES], char allow[ALLOW_BYTES]);

/* Returns the route at a position; NULL past the end. For the test that compares the table with the API description. */
const route *route_at(size_t index);
size_t route_index(const route *row);

handled simulations_create(request *r);
handled analyses_create(request *r);
handled checks_create(request *r);
handled jobs_create(request *r);
handled jobs_list(request *r);
handled jobs_get(request *r);
handled jobs_get_system(request *r);
handled jobs_get_results(request *r);
handled jobs_get_events(request *r);
handled jobs_cancel(request *r);
handled jobs_delete(request *r);
handled batches_create(request *r);
handled batches_list(request *r);
handled batches_get(request *r);
handled batches_get_results(request *r);
handled batches_cancel(request *r);
handled batches_delete(request *r);
handled examples_list(request *r);
handled examples_get(request *r);
handled service_index(request *r);
handled service_openapi(request *r);
handled service_system_schema(request *r);
handled page_part(request *r);
handled docs_page(request *r);
handled docs_style(request *r);
handled docs_script(request *r);
handled service_metrics(request *r);
handled service_healthz(request *r);
handled service_readyz(request *r);

/* Acquires the model of a description, derived on the calling thread if necessary. On failure returns false and fills
 * *failure (routes_simulations.c). */
bool request_model(request *r, const char *text, size_t length, model_lease *lease, api_failure *failure);

/* Replies to an invalid description with its problem document, or with 503 during shutdown. Clears *failure
 * (routes_simulations.c). */
handled reply_refusal(request *r, api_failure *failure);

/* Each reads the job or batch with the id in the path. If it does not exist or the request may not read it, replies and
 * returns false (routes_jobs.c, routes_batches.c). */
bool request_job(request *r, job *out);
bool request_batch(request *r, job_batch *out);

/* Reads a job again if it has changed. Returns false if it has been deleted or the store fails. */
bool job_reread(store *s, job *j);

/* Replies to a status of the store other than STORE_OK; `kind` is "job" or "batch" (routes_jobs.c). */
handled reply_store(request *r, store_status status, const char *kind);

/* Replies 409: the Idempotency-Key belongs to the job or batch with this id. */
handled reply_key_conflict(request *r, const char *kind, const char *id);

/* Returns the format of rows that the client accepts. If there is none, replies 406 and returns NULL
 * (routes_results.c). */
const row_format *request_row_format(request *r);

/* reply_quota replies 429: the owner would exceed its quota in the store. request_quota returns that quota
 * (routes_jobs.c). */
handled reply_quota(request *r);
store_quota request_quota(const request *r);

/* Sets *key to the Idempotency-Key, NULL if absent. If it is invalid, replies and returns false (routes_jobs.c). */
bool request_key(request *r, const char **key);

/* Replies to a run that failed before a byte was sent (routes_simulations.c). */
handled reply_run_problem(request *r, const api_failure *failure);
