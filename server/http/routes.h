/* routes.h — table of routes, search by method and path, and helpers of the handlers. */
#pragma once

#include "server/http/request.h"

/* Returns the route for a method and path, and copies the path's parameter. HEAD uses the route of GET. If there is no
 * route, returns NULL and sets `allow` to the methods that the path supports, or to "" if the path is unknown. */
const route *route_find(http_method method, const char *path, char parameter[PARAMETER_BYTES], char allow[ALLOW_BYTES]);

/* Returns the route at a position, or NULL past the end. A test compares all routes with api/openapi.json. */
const route *route_at(size_t index);
size_t route_index(const route *row);

route_handler simulations_create, analyses_create, checks_create;
route_handler jobs_create, jobs_list, jobs_get, jobs_get_system, jobs_get_results, jobs_get_events;
route_handler jobs_cancel, jobs_delete;
route_handler batches_create, batches_list, batches_get, batches_get_results, batches_cancel, batches_delete;
route_handler examples_list, examples_get;
route_handler service_index, service_document, service_metrics, service_healthz, service_readyz;

/* Acquires the model of a description. A model that is not cached is derived on the calling thread. On failure returns
 * false and fills *failure (routes_runs.c). */
bool request_model(request *r, const char *text, size_t length, model_lease *lease, api_failure *failure);

/* Replies to an invalid description with its problem document, or with 503 during shutdown. Clears *failure
 * (routes_runs.c). */
handled reply_refusal(request *r, api_failure *failure);

/* Read the job or batch with the id in the path. If the job or batch does not exist or belongs to another owner, reply
 * 404 and return false (routes_jobs.c, routes_batches.c). */
bool request_job(request *r, job *out);
bool request_batch(request *r, job_batch *out);

/* Reads a job again if it has changed. Returns false if the job has been deleted or the store fails. */
bool job_reread(store *s, job *j);

handled reply_job(request *r, int status, const job *j); /* with an ETag (routes_jobs.c) */

/* Reads the query parameters `limit` and `cursor` of a list into query->limit and query->before. If a parameter is
 * invalid, replies with the error and returns false (routes_jobs.c). */
bool page_read(request *r, job_query *query);

/* Returns {items, next} with `count` items, each made by item(context, k), or NULL if out of memory. `last` is the
 * number of the last item, or 0 if the list ends with this page (routes_jobs.c). */
cJSON *page_json(size_t count, cJSON *(*item)(const void *context, size_t k), const void *context, int64_t last);

/* Returns the row format that the client prefers. If the client accepts no available format, replies 406 and returns
 * NULL (routes_results.c). */
const row_format *request_row_format(request *r);
