/* routes.h — the table of what is served, and the way from a method and path to its row. */
#ifndef HAMEL_SERVER_HTTP_ROUTES_H
#define HAMEL_SERVER_HTTP_ROUTES_H

#include "server/http/request.h"

/* The row for a method (HEAD finds GET) and path, with the path's parameter copied; NULL when there is none. Then `allow`
 * lists the methods that the path does know, "" when it knows none. */
const route *route_find(http_method method, const char *path, char parameter[PARAMETER_BYTES], char allow[ALLOW_BYTES]);

/* By position, for the test that compares the table with the API description; NULL past the end. */
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

/* The model of the request's body, or of a text, derived on the thread of its stream. False with *failure filled
 * (routes_simulations.c). */
bool request_model(request *r, const char *text, size_t length, model_lease *lease, api_failure *failure);

/* The answer to a description that could not be taken: its problem document, or 503 while the daemon ends. Clears
 * *failure (routes_simulations.c). */
handled reply_refusal(request *r, api_failure *failure);

/* 429: the store would hold more for this holder than its quota allows; and that quota (routes_jobs.c). */
handled reply_quota(request *r);
store_quota request_quota(const request *r);

/* The Idempotency-Key, NULL when there is none; false after a reply to one that cannot be (routes_jobs.c). */
bool request_key(request *r, const char **key);

/* The answer to a run that failed before a byte was sent: `json` is its problem document (routes_simulations.c). */
handled reply_run_problem(request *r, const api_failure *failure);

#endif
