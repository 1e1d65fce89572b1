/* problem.h — errors as RFC 9457 problem documents. The only place that maps a status to HTTP and to exit codes. */
#pragma once

#include "api/json/strict_json.h"
#include "engine/base/error.h"

#include <cjson/cJSON.h>

/* The HTTP status of a failed request, and the exit code of a failed command (hamel --help lists them). */
int api_status_http(hamel_status status);
int api_status_exit(hamel_status status);

/* {type, title, status, detail, instance?, errors: [{pointer, message, column?, suggestion?}]}. The caller deletes it.
 * `instance` may be NULL. Returns NULL if memory could not be allocated. */
cJSON *api_problem(const hamel_error *error, const char *instance);

/* Replaces the prefix `from` by `to` in the pointers of the errors, and updates `detail`, which repeats the first
 * pointer. Used if the description is part of a larger document. If memory could not be allocated, a pointer is left
 * unchanged. */
void api_problem_rebase(cJSON *problem, const char *from, const char *to);
cJSON *api_problem_json(const json_fault *fault, const char *instance); /* malformed JSON: 400 or 413 */
cJSON *api_problem_plain(int http, const char *slug, const char *title, const char *detail, const char *instance);

/* The document to send if memory for one could not be allocated. */
extern const char api_problem_no_memory[];

/* The errors as text for a terminal:
 *     hamel: FILE: /constraints/0/equation:12: message
 *         x'*sin(phi = 0
 *                    ^
 *       try: suggestion
 * free() it. */
char *api_error_text(const hamel_error *error, const char *file);
