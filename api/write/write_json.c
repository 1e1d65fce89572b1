/* write_json.c — writes one JSON document: {"header", "columns": {name: [...]}, "events": [...], "summary"}.
 *
 * The document lists all values of one column before the values of the next column. Therefore the writer keeps all rows
 * and sends nothing before the end of the run. The document of a failed run has a "summary" and a "problem". */
#include "api/json/text.h"
#include "api/write/write_formats.h"

#include <stdlib.h>
#include <string.h>

enum { SEND_AT = 64 * 1024, EVENTS_MAX = 16 * 1024 * 1024 };

typedef struct json_writer {
    row_writer base;
    char *header; /* header object, as text */
    row_table table;
    text_buffer names;  /* NUL-terminated names of all columns */
    text_buffer events; /* event objects, separated by commas */
} json_writer;

static bool json_begin(row_writer *w, const row_header *header) {
    json_writer *j = (json_writer *)w;
    text_buffer_init(&j->events, EVENTS_MAX);
    text_buffer_init(&j->names, w->line.maximum);
    for (size_t k = 0; k < header->column_count; k++)
        text_buffer_add(&j->names, header->columns[k], strlen(header->columns[k]) + 1);
    j->header = strdup(header->json);
    return (j->header != NULL && !j->names.failed) || row_writer_starve(w);
}

static bool json_row(row_writer *w, const double *values, size_t count) {
    json_writer *j = (json_writer *)w;
    return row_table_add(&j->table, w, values, count);
}

static bool keep_event(row_writer *w, const char *json) {
    json_writer *j = (json_writer *)w;
    if (!row_writer_keep(w, strlen(json) + 1)) return false;
    if (j->events.length > 0) text_buffer_puts(&j->events, ",");
    text_buffer_puts(&j->events, json);
    return !j->events.failed || row_writer_fail(w, "too many events for this format; use ndjson or sse");
}

static bool send_column(row_writer *w, const row_table *t, size_t column) {
    for (size_t k = 0; k < t->rows; k++) {
        if (k > 0) text_buffer_add(&w->line, ",", 1);
        json_text_number(&w->line, t->values[k * t->columns + column]);
        if (w->line.length > SEND_AT && !row_writer_flush(w)) return false;
    }
    return true;
}

static bool send_document(row_writer *w, const char *summary, const char *problem) {
    json_writer *j = (json_writer *)w;
    text_buffer_puts(&w->line, "{");
    if (j->header != NULL && !j->names.failed) {
        const char *name = j->names.bytes;
        text_buffer_puts(&w->line, "\"header\":");
        text_buffer_puts(&w->line, j->header);
        text_buffer_puts(&w->line, ",\"columns\":{");
        for (size_t k = 0; k < w->column_count; k++, name += strlen(name) + 1) {
            if (k > 0) text_buffer_puts(&w->line, ",");
            json_text_string(&w->line, name);
            text_buffer_puts(&w->line, ":[");
            if (!send_column(w, &j->table, k)) return false;
            text_buffer_puts(&w->line, "]");
        }
        text_buffer_puts(&w->line, "},\"events\":[");
        if (j->events.length > 0) text_buffer_add(&w->line, j->events.bytes, j->events.length);
        text_buffer_puts(&w->line, "],");
    }
    if (summary != NULL) text_buffer_puts(&w->line, "\"summary\":");
    if (summary != NULL) text_buffer_puts(&w->line, summary);
    if (problem != NULL) text_buffer_puts(&w->line, summary != NULL ? ",\"problem\":" : "\"problem\":");
    if (problem != NULL) text_buffer_puts(&w->line, problem);
    text_buffer_puts(&w->line, "}\n");
    return row_writer_flush(w);
}

static bool json_object(row_writer *w, row_object kind, const char *json) {
    if (kind == ROW_EVENT) return keep_event(w, json);
    return kind != ROW_SUMMARY || send_document(w, json, NULL);
}

static bool json_problem(row_writer *w, const char *json, const char *summary) {
    return send_document(w, summary, json);
}

static void json_close(row_writer *w) {
    json_writer *j = (json_writer *)w;
    free(j->header);
    free(j->table.values);
    text_buffer_free(&j->names);
    text_buffer_free(&j->events);
}

const row_format row_format_json = {
    .name = "json",
    .media_type = "application/json",
    .whole = true,
    .writer_bytes = sizeof(json_writer),
    .begin = json_begin,
    .row = json_row,
    .object = json_object,
    .problem = json_problem,
    .close = json_close,
};
