/* write_sse.c — writes the objects of NDJSON as server-sent events (HTML Living Standard 9.2). The type of an event is
 * the name of its object. The id of an event is the number of its object, so that a client can resume after this
 * object. Progress and interim objects have no id. A heartbeat is a comment line, which clients ignore. */
#include "api/json/text.h"
#include "api/write/write_formats.h"

typedef struct sse_writer {
    row_writer base;
    uint64_t id;
} sse_writer;

/* Begins the event of one object. If the client has already received the object, returns false. */
static bool open_event(row_writer *w, const char *name, bool numbered) {
    sse_writer *sse = (sse_writer *)w;
    if (numbered && ++sse->id <= w->seen) return false;
    text_buffer_printf(&w->line, "event: %s\n", name);
    if (numbered) text_buffer_printf(&w->line, "id: %llu\n", (unsigned long long)sse->id);
    text_buffer_printf(&w->line, "data: {\"%s\":", name);
    return true;
}

static bool close_event(row_writer *w, const char *end) {
    text_buffer_puts(&w->line, end);
    return row_writer_flush(w);
}

static bool write_event(row_writer *w, const char *name, const char *json, bool numbered) {
    if (!open_event(w, name, numbered)) return true;
    text_buffer_puts(&w->line, json);
    return close_event(w, "}\n\n");
}

static bool sse_begin(row_writer *w, const row_header *header) {
    return write_event(w, "header", header->json, true);
}

static bool sse_row(row_writer *w, const double *values, size_t count) {
    if (!open_event(w, "row", true)) return true;
    text_buffer_puts(&w->line, "[");
    json_text_numbers(&w->line, values, count);
    return close_event(w, "]}\n\n");
}

static bool sse_object(row_writer *w, row_object kind, const char *json) {
    static const char *const names[] = {"event", "progress", "summary"};
    if (kind == ROW_HEARTBEAT) return close_event(w, ": still here\n\n");
    return write_event(w, names[kind], json, kind == ROW_EVENT || (kind == ROW_SUMMARY && !w->interim));
}

static bool sse_problem(row_writer *w, const char *json, const char *summary) {
    return (summary == NULL || sse_object(w, ROW_SUMMARY, summary)) && write_event(w, "problem", json, !w->interim);
}

const row_format row_format_sse = {
    .name = "sse",
    .media_type = "text/event-stream",
    .writer_bytes = sizeof(sse_writer),
    .begin = sse_begin,
    .row = sse_row,
    .object = sse_object,
    .problem = sse_problem,
};
