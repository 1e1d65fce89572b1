/* simulate.c — parses, overrides and reads a description, derives its model, runs it, and reports the results as JSON
 * texts.
 *
 * The function that detects an error fills the whole api_failure: HTTP status, exit code, problem document, and
 * terminal text. If memory runs out, the failure has at least the status and the exit code. */
#include "api/simulate.h"

#include "api/json/text.h"
#include "api/read/describe.h"

#include <stdio.h>
#include <stdlib.h>

enum { EVENT_MAX_BYTES = 256 * 1024 * 1024 }; /* two rows of 5 million numbers, each of at most 25 bytes */

api_limits api_limits_default(void) {
    return (api_limits){.json = json_limits_default(), .engine = hamel_limits_default()};
}

hamel_model *api_prepare(const char *body, size_t length, const char *const *assignments, size_t assignment_count,
                         const api_limits *limits, hamel_poll *poll, const char *file, api_failure *failure) {
    json_fault fault;
    cJSON *tree = json_parse(body, length, &limits->json, &fault);
    if (tree == NULL) {
        api_failure_of_json(failure, &fault, file);
        return NULL;
    }
    hamel_model *model = NULL;
    hamel_error error = {0};
    hamel_status status = api_derive(&model, tree, assignments, assignment_count, limits, poll, &error);
    cJSON_Delete(tree);
    return api_settle(failure, status, &error, file) ? model : NULL;
}

/* Context of the functions that receive a run from the engine and forward it to an observer. */
typedef struct passage {
    const api_observer *observer;
    text_buffer event; /* text of the current event */
    bool no_memory;
} passage;

static bool pass_header(void *context, const hamel_header *header) {
    passage *p = context;
    if (p->observer->header == NULL) return true;
    cJSON *tree = api_header_json(header);
    char *json = json_text(tree);
    cJSON_Delete(tree);
    if (json == NULL) {
        p->no_memory = true;
        return false;
    }
    row_header rows = {.column_count = header->column_count, .columns = header->columns, .json = json};
    bool taken = p->observer->header(p->observer->context, &rows);
    free(json);
    return taken;
}

static bool pass_row(void *context, const double *values, size_t count) {
    const passage *p = context;
    return p->observer->row == NULL || p->observer->row(p->observer->context, values, count);
}

static bool pass_event(void *context, const hamel_event_record *event) {
    passage *p = context;
    text_buffer_reset(&p->event);
    api_event_text(&p->event, event);
    p->no_memory = p->event.failed;
    return !p->no_memory && p->observer->event(p->observer->context, p->event.bytes);
}

static bool pass_progress(void *context, const hamel_progress *progress) {
    const passage *p = context;
    if (p->observer->progress == NULL) return true;
    double span = progress->stop - progress->start;
    double fraction = span > 0 || span < 0 ? (progress->t - progress->start) / span : 1;
    if (!(fraction >= 0)) fraction = 0;
    if (fraction > 1) fraction = 1;
    char json[200];
    snprintf(json, sizeof json, "{\"t\":%.17g,\"start\":%.17g,\"stop\":%.17g,\"steps\":%ld,\"fraction\":%.4f}",
             progress->t, progress->start, progress->stop, progress->steps, fraction);
    return p->observer->progress(p->observer->context, json, fraction);
}

static char *summary_text(const hamel_summary *summary) {
    cJSON *tree = api_summary_json(summary);
    char *json = json_text(tree);
    cJSON_Delete(tree);
    return json;
}

static void report_problem(const api_observer *observer, hamel_status status, const hamel_error *error,
                           const char *summary_json, const char *file) {
    if (observer->problem == NULL) return;
    api_failure failure = {0};
    api_failure_of_error(&failure, status, error, file);
    char *json = json_text(failure.problem);
    (void)observer->problem(observer->context, json != NULL ? json : api_problem_no_memory, &failure, summary_json);
    free(json);
    api_failure_clear(&failure);
}

hamel_status api_report_end(const api_observer *observer, hamel_status status, const hamel_summary *summary,
                            hamel_error *error, const char *file) {
    char *json = summary_text(summary);
    if (json == NULL && status != HAMEL_NO_MEMORY) {
        hamel_error_clear(error);
        status = hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "memory for the report of the run could not be allocated");
    }
    if (status == HAMEL_OK) {
        bool taken = observer->summary == NULL || observer->summary(observer->context, json, summary);
        if (!taken) status = HAMEL_CANCELED;
    } else {
        api_ensure_fault(error, status);
        report_problem(observer, status, error, json, file);
    }
    free(json);
    return status;
}

hamel_status api_run(const hamel_model *model, hamel_poll *poll, const api_observer *observer, const char *file) {
    passage p = {.observer = observer};
    hamel_run_options options = {.poll = poll};
    hamel_sink sink = {.context = &p,
                       .header = pass_header,
                       .row = pass_row,
                       .event = observer->event != NULL ? pass_event : NULL,
                       .progress = pass_progress};
    hamel_summary summary = {0};
    hamel_error error = {0};
    text_buffer_init(&p.event, EVENT_MAX_BYTES);
    hamel_status status = hamel_run(model, &options, &sink, &summary, &error);
    text_buffer_free(&p.event);
    if (observer->model_known) summary.derive_seconds = 0;
    if (p.no_memory) {
        hamel_error_clear(&error);
        status = hamel_out_of_memory(&error);
    }
    status = api_report_end(observer, status, &summary, &error, file);
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
    return status;
}

static bool write_header(void *context, const row_header *header) {
    return row_writer_begin(context, header);
}

static bool write_row(void *context, const double *values, size_t count) {
    return row_writer_row(context, values, count);
}

static bool write_event(void *context, const char *json) {
    return row_writer_object(context, ROW_EVENT, json);
}

static bool write_progress(void *context, const char *json, double fraction) {
    (void)fraction;
    return row_writer_object(context, ROW_PROGRESS, json);
}

static bool write_summary(void *context, const char *json, const hamel_summary *summary) {
    (void)summary;
    return row_writer_object(context, ROW_SUMMARY, json);
}

static bool write_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    const row_writer *w = context;
    (void)failure;
    return row_writer_problem(context, json, w->column_count ? summary_json : NULL);
}

api_observer api_observer_of(row_writer *writer) {
    return (api_observer){
        .context = writer,
        .header = write_header,
        .row = write_row,
        .event = writer->format->object != NULL ? write_event : NULL,
        .progress = write_progress,
        .summary = write_summary,
        .problem = write_problem,
    };
}
