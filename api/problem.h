/* problem.h — writes errors as problem documents (RFC 9457). No other module maps a hamel_status to an HTTP status or
 * an exit code. */
#pragma once

#include "api/json/strict_json.h"
#include "engine/base/error.h"

#include <cjson/cJSON.h>

/* Return the HTTP status of a failed request, and the exit code of a failed command (hamel --help lists the codes). */
int api_status_http(hamel_status status);
int api_status_exit(hamel_status status);

/* Build {type, title, status, detail, instance?, errors: [{pointer, message, column?, suggestion?}]}, which the caller
 * deletes. `instance` may be NULL. Return NULL if memory could not be allocated. */
cJSON *api_problem(const hamel_error *error, const char *instance);

/* Replaces the prefix `from` by `to` in the pointers of the errors, also in `detail`, which contains the first pointer.
 * Callers use this function if the description is part of a larger document. If memory could not be allocated, a
 * pointer is left unchanged. */
void api_problem_rebase(cJSON *problem, const char *from, const char *to);
cJSON *api_problem_json(const json_fault *fault, const char *instance); /* for malformed JSON: status 400 or 413 */
cJSON *api_problem_plain(int http, const char *slug, const char *title, const char *detail, const char *instance);

/* The problem document to send if no other problem document could be allocated. */
extern const char api_problem_no_memory[];

/* Returns the errors as text for a terminal, which the caller frees:
 *     hamel: FILE: /constraints/0/equation:12: message
 *         x'*sin(phi = 0
 *                    ^
 *       try: suggestion */
char *api_error_text(const hamel_error *error, const char *file);
