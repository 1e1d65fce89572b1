/* simulate.h — from the bytes of a description to rows in a sink: what the daemon, the job workers and the command
 * line share.
 *
 * Two steps, because a fault in the first one decides the HTTP status or exit code before a byte has left:
 *     api_prepare   bytes → model (strict JSON, reader, engine)
 *     api_run       model → rows, header and summary as JSON text, through an observer
 */
#ifndef HAMEL_API_SIMULATE_H
#define HAMEL_API_SIMULATE_H

#include "api/problem.h"
#include "api/row_sink.h"
#include "engine/hamel.h"

typedef struct api_limits {
    json_limits json;
    hamel_limits engine;
    hamel_jit jit; /* of the models that api_prepare makes */
} api_limits;
api_limits api_limits_default(void); /* those of json_limits and hamel_limits; machine code AUTO */

/* Why something failed, ready to be sent. Zero-initialize; api_failure_clear. */
typedef struct api_failure {
    int http; /* status code; 0: no failure */
    int exit_code;
    cJSON *problem;
    char *text; /* for a terminal: see api_error_text */
} api_failure;
void api_failure_clear(api_failure *failure);

/* Reads body[length] and derives the model. `assignments` are --set overrides ("m=2"), may be NULL. `file` names the
 * input in failure->text. Returns the model (hamel_model_free) or NULL with *failure filled. */
hamel_model *api_prepare(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                         const api_limits *limits, hamel_poll *poll, const char *file, api_failure *failure);

/* Receives a run. Any callback may be NULL; one that returns false ends the run as canceled. The JSON texts are the
 * objects of openapi.json and valid during the call only. Exactly one of `summary` and `problem` is called last,
 * `problem` also when the run fails before it begins (then `header` was never called and no row was sent). */
typedef struct api_observer {
    void *context;
    bool (*header)(void *context, const row_header *header);
    bool (*row)(void *context, const double *values, size_t count); /* column_count of the header */
    bool (*event)(void *context, const char *json);
    bool (*progress)(void *context, const char *json, double fraction); /* of the time span, 0 to 1 */
    bool (*summary)(void *context, const char *json, const hamel_summary *summary);
    bool (*problem)(void *context, const char *json, const api_failure *failure, const char *summary_json);
    bool model_known; /* an earlier run has paid for the derivation: derive_seconds is 0 */
} api_observer;

/* Runs the model once. Returns the engine's status (HAMEL_CANCELED when a callback or `poll` ended it). */
hamel_status api_run(const hamel_model *model, hamel_poll *poll, const api_observer *observer,
                     const char *file) HAMEL_CHECKED;

/* An observer that writes to a row writer; `writer` is its context. */
api_observer api_observer_of(row_writer *writer);

/* Schemas Summary and Header of openapi.json. The caller deletes them. NULL without memory. */
cJSON *api_summary_json(const hamel_summary *summary);
cJSON *api_header_json(const hamel_header *header);

/* Adds an event as compact text: name, t, the values of the columns before and after, and the impulses
 * where there was one. */
void api_event_text(text_buffer *out, const hamel_happening *event);

/* The shipped systems, compiled into the library from api/examples/, by name. */
typedef struct api_example {
    const char *name; /* file name without .json */
    const char *json;
    size_t length;
} api_example;
const api_example *api_example_at(size_t index); /* NULL past the end */

#endif
