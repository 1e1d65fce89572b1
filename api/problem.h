/* problem.h — faults as RFC 9457 problem documents. The one place that maps a status to HTTP and to exit codes. */
#ifndef HAMEL_API_PROBLEM_H
#define HAMEL_API_PROBLEM_H

#include "api/strict_json.h"
#include "engine/base/error.h"

#include <cjson/cJSON.h>

/* HTTP status of a failed request, exit code of a failed command (hamel --help lists them). */
int api_status_http(hamel_status status);
int api_status_exit(hamel_status status);

/* {type, title, status, detail, instance?, errors: [{pointer, message, column?, suggestion?}]}. The caller deletes it.
 * `instance` may be NULL. NULL without memory. */
cJSON *api_problem(const hamel_error *error, const char *instance);
cJSON *api_problem_json(const json_fault *fault, const char *instance); /* malformed JSON: 400 or 413 */
cJSON *api_problem_plain(int http, const char *slug, const char *title, const char *detail, const char *instance);

/* The document for when there is no memory for one. */
extern const char api_problem_no_memory[];

/* The faults as a person reads them at a terminal:
 *     hamel: FILE: /constraints/0/equation:12: message
 *         x'*sin(phi = 0
 *                    ^
 *       try: suggestion
 * free() it. */
char *api_error_text(const hamel_error *error, const char *file);

#endif
