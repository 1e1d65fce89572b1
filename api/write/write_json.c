/* write_json.c — one JSON document: {"header", "columns": {name: [...]}, "events": [...], "summary"}.
 *
 * The document lists the values of each column, so that all rows are kept until the end (row_table.c limits the memory)
 * and nothing is sent before. The document of a failed run has a "summary" and a "problem". */
#include "api/json/text.h"
#include "api/write/write_formats.h"

#include <stdlib.h>
#include <string.h>

enum { SEND_AT = 64 * 1024, EVENTS_MAX = 16 * 1024 * 1024 };

typedef struct json_writer {
    row_writer base;
    char *header; /* object, as text */
    char **names; /* names of the columns; pointers and texts are one block of memory */
    row_table table;
    text_buffer events; /* objects with commas between */
} json_writer;

/* Copies the names into one block: pointers first, texts after them. */
static char **copy_names(const row_header *header) {
    size_t bytes = (header->column_count + 1) * sizeof(char *);
    for (size_t k = 0; k < header->column_count; k++) bytes += strlen(header->columns[k]) + 1;
    char **names = malloc(bytes);
    if (names == NULL) return NULL;
    char *text = (char *)(names + header->column_count + 1);
    for (size_t k = 0; k < header->column_count; k++) {
        size_t length = strlen(header->columns[k]) + 1;
        memcpy(text, header->columns[k], length);
        names[k] = text;
        text += length;
    }
    return names;
}

static bool json_begin(row_writer *w, const row_header *header) {
    json_writer *j = (json_writer *)w;
    text_buffer_init(&j->events, EVENTS_MAX);
    j->header = strdup(header->json);
    j->names = copy_names(header);
    if (j->header != NULL && j->names != NULL) return true;
    w->reason = "memory could not be allocated";
    return false;
}

static bool json_row(row_writer *w, const double *values, size_t count) {
    json_writer *j = (json_writer *)w;
    return row_table_add(&j->table, w, values, count);
}

static bool json_event(row_writer *w, const char *json) {
    json_writer *j = (json_writer *)w;
    if (!row_writer_keep(w, strlen(json) + 1)) return false;
    if (j->events.length > 0) text_buffer_puts(&j->events, ",");
    text_buffer_puts(&j->events, json);
    if (j->events.failed) w->reason = "too many events for this format; use ndjson or sse";
    return !j->events.failed;
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
    if (j->names != NULL && j->header != NULL) {
        text_buffer_printf(&w->line, "\"header\":");
        text_buffer_puts(&w->line, j->header);
        text_buffer_puts(&w->line, ",\"columns\":{");
        for (size_t k = 0; k < w->column_count; k++) {
            if (k > 0) text_buffer_puts(&w->line, ",");
            json_text_string(&w->line, j->names[k]);
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

static bool json_summary(row_writer *w, const char *json) {
    return send_document(w, json, NULL);
}

static bool json_problem(row_writer *w, const char *json, const char *summary) {
    return send_document(w, summary, json);
}

static void json_close(row_writer *w) {
    json_writer *j = (json_writer *)w;
    free(j->header);
    free(j->names);
    row_table_free(&j->table);
    text_buffer_free(&j->events);
}

const row_format row_format_json = {
    .name = "json",
    .media_type = "application/json",
    .whole = true,
    .writer_bytes = sizeof(json_writer),
    .begin = json_begin,
    .row = json_row,
    .event = json_event,
    .summary = json_summary,
    .problem = json_problem,
    .close = json_close,
};
