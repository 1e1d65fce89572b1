/* write_ndjson.c — writes one JSON object a line: {"header"} first, then {"row"}, {"event"} and {"progress"}, and
 * {"summary"} or {"problem"} last. A stream that ends with neither was cut off. */
#include "api/json/text.h"
#include "api/write/write_formats.h"

static bool object(row_writer *w, const char *name, const char *json) {
    text_buffer_printf(&w->line, "{\"%s\":", name);
    text_buffer_puts(&w->line, json);
    text_buffer_puts(&w->line, "}\n");
    return row_writer_flush(w);
}

static bool ndjson_begin(row_writer *w, const row_header *header) {
    return object(w, "header", header->json);
}

static bool ndjson_row(row_writer *w, const double *values, size_t count) {
    text_buffer_puts(&w->line, "{\"row\":[");
    json_text_numbers(&w->line, values, count);
    text_buffer_puts(&w->line, "]}\n");
    return row_writer_flush(w);
}

static bool ndjson_event(row_writer *w, const char *json) {
    return object(w, "event", json);
}

static bool ndjson_progress(row_writer *w, const char *json) {
    return object(w, "progress", json);
}

static bool ndjson_summary(row_writer *w, const char *json) {
    return object(w, "summary", json);
}

static bool ndjson_problem(row_writer *w, const char *json, const char *summary) {
    return (summary == NULL || object(w, "summary", summary)) && object(w, "problem", json);
}

/* Sends an empty progress object, which every client can read. */
static bool ndjson_heartbeat(row_writer *w) {
    return object(w, "progress", "{}");
}

const row_format row_format_ndjson = {
    .name = "ndjson",
    .media_type = "application/x-ndjson",
    .writer_bytes = sizeof(row_writer),
    .begin = ndjson_begin,
    .row = ndjson_row,
    .event = ndjson_event,
    .progress = ndjson_progress,
    .summary = ndjson_summary,
    .problem = ndjson_problem,
    .heartbeat = ndjson_heartbeat,
};
