/* describe.h — from a JSON tree to a description, and from faults to a failure that is ready to be sent: what runs and
 * analyses share. */
#ifndef HAMEL_API_DESCRIBE_H
#define HAMEL_API_DESCRIBE_H

#include "api/simulate.h"
#include "engine/base/arena.h"

typedef struct api_description {
    arena memory; /* of the description */
    hamel_description description;
} api_description;

/* Applies "NAME=VALUE" to the tree of a description, one after the other; all faults are told. */
hamel_status api_override_all(cJSON *tree, const char *const *assignments, size_t count,
                              hamel_error *error) HAMEL_CHECKED;

/* Applies the assignments to the tree (which may be deleted afterwards) and reads it. HAMEL_OK, or why not with all
 * faults that can be found added to `error`. api_description_free in both cases. */
hamel_status api_describe(api_description *out, cJSON *tree, const char *const *assignments, size_t assignment_count,
                          const api_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;

/* The same where nothing will be integrated: `simulation` and its `stop` may be absent. */
hamel_status api_describe_timeless(api_description *out, cJSON *tree, const char *const *assignments,
                                   size_t assignment_count, const api_limits *limits, hamel_poll *poll,
                                   hamel_error *error) HAMEL_CHECKED;
void api_description_free(api_description *d);

/* Fills *failure: HTTP status, exit code, problem document, text for a terminal. `file` may be NULL. */
void api_failure_of_error(api_failure *failure, hamel_status status, const hamel_error *error, const char *file);
void api_failure_of_json(api_failure *failure, const json_fault *fault, const char *file);

/* A failing status always comes with a fault; where the engine left none, the status itself is named. */
void api_ensure_fault(hamel_error *error, hamel_status status);

#endif
