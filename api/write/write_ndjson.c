/* write_ndjson.c — writes one JSON object per line: {"header"} first, then {"row"}, {"event"} and {"progress"}, and
 * {"summary"} or {"problem"} last. A stream that ends without a summary or problem is incomplete. */
#include "api/json/text.h"
#include "api/write/write_formats.h"

static bool named_object(row_writer *w, const char *name, const char *json) {
    text_buffer_printf(&w->line, "{\"%s\":", name);
    text_buffer_puts(&w->line, json);
    text_buffer_puts(&w->line, "}\n");
    return row_writer_flush(w);
}

static bool ndjson_begin(row_writer *w, const row_header *header) {
    return named_object(w, "header", header->json);
}

static bool ndjson_row(row_writer *w, const double *values, size_t count) {
    text_buffer_puts(&w->line, "{\"row\":[");
    json_text_numbers(&w->line, values, count);
    text_buffer_puts(&w->line, "]}\n");
    return row_writer_flush(w);
}

/* A heartbeat is an empty progress object, which every client can read. */
static bool ndjson_object(row_writer *w, row_object kind, const char *json) {
    static const char *const names[] = {"event", "progress", "summary", "progress"};
    return named_object(w, names[kind], kind == ROW_HEARTBEAT ? "{}" : json);
}

static bool ndjson_problem(row_writer *w, const char *json, const char *summary) {
    return (summary == NULL || named_object(w, "summary", summary)) && named_object(w, "problem", json);
}

const row_format row_format_ndjson = {
    .name = "ndjson",
    .media_type = "application/x-ndjson",
    .writer_bytes = sizeof(row_writer),
    .begin = ndjson_begin,
    .row = ndjson_row,
    .object = ndjson_object,
    .problem = ndjson_problem,
};
