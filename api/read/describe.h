/* describe.h — reads a description from a JSON tree, and converts errors to an api_failure. Runs and analyses use
 * these functions. */
#pragma once

#include "api/simulate.h"
#include "engine/base/arena.h"

typedef struct api_description {
    arena memory; /* owns the texts and lists of the description */
    hamel_description description;
} api_description;

/* Applies "NAME=VALUE" assignments to the tree of a description, in order. Adds all errors to *error. */
hamel_status api_override_all(cJSON *tree, const char *const *assignments, size_t count,
                              hamel_error *error) HAMEL_CHECKED;

/* Applies the assignments to the tree and reads the description; the tree may be deleted afterwards. api_read_system
 * explains `timeless`. Returns HAMEL_OK, or adds as many errors as can be found to *error. Call api_description_free in
 * both cases. */
hamel_status api_describe(api_description *out, cJSON *tree, bool timeless, const char *const *assignments,
                          size_t assignment_count, const api_limits *limits, hamel_poll *poll,
                          hamel_error *error) HAMEL_CHECKED;
void api_description_free(api_description *d);

/* Fill *failure: HTTP status, exit code, problem document, and text for a terminal. `file` may be NULL. */
void api_failure_of_error(api_failure *failure, hamel_status status, const hamel_error *error, const char *file);
void api_failure_of_json(api_failure *failure, const json_fault *fault, const char *file);

/* Returns true if the status is HAMEL_OK. Otherwise fills *failure. If `error` is empty, the failure contains the
 * meaning of the status. Always clears `error`. */
bool api_settle(api_failure *failure, hamel_status status, hamel_error *error, const char *file);

/* If `error` is empty although the engine has failed, adds the meaning of the status. */
void api_ensure_fault(hamel_error *error, hamel_status status);

/* Reads the description from the tree and derives its model, as machine code if limits->jit selects it. */
hamel_status api_derive(hamel_model **model, cJSON *tree, const char *const *assignments, size_t assignment_count,
                        const api_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
