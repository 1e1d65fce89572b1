/* simulate.h — runs a description, for the daemon, the job workers and the command line.
 *
 * A run has two steps. If the first step fails, its error decides the HTTP status before any byte is sent:
 *     api_prepare   bytes → model (strict JSON, reader, engine)
 *     api_run       model → rows, header and summary as JSON text, through an observer */
#pragma once

#include "api/problem.h"
#include "api/write/row_writer.h"
#include "engine/hamel.h"

typedef struct api_limits {
    json_limits json;
    hamel_limits engine;
    hamel_jit jit; /* whether the models that api_prepare derives use machine code */
} api_limits;
api_limits api_limits_default(void); /* returns the defaults of all limits, and HAMEL_JIT_AUTO */

/* The reason for a failure: for the HTTP client, and for the terminal. Initialize it with zeros, and free it with
 * api_failure_clear. */
typedef struct api_failure {
    int http; /* HTTP status; 0 if there is no failure */
    int exit_code;
    cJSON *problem;
    char *text; /* text for a terminal: see api_error_text */
} api_failure;
void api_failure_clear(api_failure *failure);

/* Reads body[length] and derives the model. `assignments` ("m=2") override values; may be NULL. `file` is the name of
 * the input in failure->text. Returns the model (hamel_model_free) or NULL with *failure filled. */
hamel_model *api_prepare(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                         const api_limits *limits, hamel_poll *poll, const char *file, api_failure *failure);

/* Receives a run. Any callback may be NULL. A callback that returns false cancels the run. The JSON texts are objects
 * that openapi.json describes; they are valid only during the call. The last call is either `summary` or `problem`. If
 * the run fails before it begins, `problem` is the only call. */
typedef struct api_observer {
    void *context;
    bool (*header)(void *context, const row_header *header);
    bool (*row)(void *context, const double *values, size_t count); /* `count` is the column_count of the header */
    bool (*event)(void *context, const char *json);
    bool (*progress)(void *context, const char *json, double fraction); /* completed part of the time span, 0 to 1 */
    bool (*summary)(void *context, const char *json, const hamel_summary *summary);
    bool (*problem)(void *context, const char *json, const api_failure *failure, const char *summary_json);
    bool model_known; /* the model was derived for an earlier run, so derive_seconds is reported as 0 */
} api_observer;

/* Runs the model once. Returns the status of the engine, or HAMEL_CANCELED if a callback or `poll` canceled the run. */
hamel_status api_run(const hamel_model *model, hamel_poll *poll, const api_observer *observer,
                     const char *file) HAMEL_CHECKED;

/* Reports the end of a run of the engine to `summary` or `problem`, as api_run does. Returns the status that api_run
 * would return. */
hamel_status api_report_end(const api_observer *observer, hamel_status status, const hamel_summary *summary,
                            hamel_error *error, const char *file) HAMEL_CHECKED;

/* Returns an observer that writes to `writer`, which is also its context. Its
 * callback `event` is NULL if the format of the writer cannot contain JSON objects. */
api_observer api_observer_of(row_writer *writer);

/* Build the schemas Summary and Header of openapi.json. The caller deletes them. Return NULL if memory could not be
 * allocated. */
cJSON *api_summary_json(const hamel_summary *summary);
cJSON *api_header_json(const hamel_header *header);

/* Adds an event as compact JSON: name, t, the columns before and after the event, and its impulses, if any. */
void api_event_text(text_buffer *out, const hamel_event_record *event);

/* Appends the object of schema Impact (openapi.json) as compact JSON. */
void api_impact_text(text_buffer *out, const struct hamel_impact *impact);

/* The shipped example systems (api/examples/), which are compiled into the library. */
typedef struct api_example {
    const char *name; /* file name without .json */
    const char *json;
    size_t length;
} api_example;
const api_example *api_example_at(size_t index); /* returns NULL past the end */
