/* write_sse.c — writes the objects of NDJSON as server-sent events (HTML Living Standard 9.2), each with its name as
 * the type. The id of an event is the number of its object, so that a client can resume after it; progress has no
 * id. A heartbeat is a comment line, which clients ignore. */
#include "api/json/text.h"
#include "api/write/write_formats.h"

typedef struct sse_writer {
    row_writer base;
    uint64_t id;
} sse_writer;

/* Returns false if the client has already received this object. */
static bool open_numbered(row_writer *w, const char *name) {
    sse_writer *sse = (sse_writer *)w;
    if (++sse->id <= w->seen) return false;
    text_buffer_printf(&w->line, "event: %s\nid: %llu\ndata: {\"%s\":", name, (unsigned long long)sse->id, name);
    return true;
}

static bool close_event(row_writer *w) {
    text_buffer_puts(&w->line, "}\n\n");
    return row_writer_flush(w);
}

static bool numbered(row_writer *w, const char *name, const char *json) {
    if (!open_numbered(w, name)) return true;
    text_buffer_puts(&w->line, json);
    return close_event(w);
}

static bool unnumbered(row_writer *w, const char *name, const char *json) {
    text_buffer_printf(&w->line, "event: %s\ndata: {\"%s\":", name, name);
    text_buffer_puts(&w->line, json);
    return close_event(w);
}

static bool sse_begin(row_writer *w, const row_header *header) {
    return numbered(w, "header", header->json);
}

static bool sse_row(row_writer *w, const double *values, size_t count) {
    if (!open_numbered(w, "row")) return true;
    text_buffer_puts(&w->line, "[");
    json_text_numbers(&w->line, values, count);
    text_buffer_puts(&w->line, "]");
    return close_event(w);
}

static bool sse_event(row_writer *w, const char *json) {
    return numbered(w, "event", json);
}

static bool sse_progress(row_writer *w, const char *json) {
    return unnumbered(w, "progress", json);
}

static bool last_word(row_writer *w, const char *name, const char *json) {
    return w->interim ? unnumbered(w, name, json) : numbered(w, name, json);
}

static bool sse_summary(row_writer *w, const char *json) {
    return last_word(w, "summary", json);
}

static bool sse_problem(row_writer *w, const char *json, const char *summary) {
    return (summary == NULL || last_word(w, "summary", summary)) && last_word(w, "problem", json);
}

static bool sse_heartbeat(row_writer *w) {
    text_buffer_puts(&w->line, ": still here\n\n");
    return row_writer_flush(w);
}

const row_format row_format_sse = {
    .name = "sse",
    .media_type = "text/event-stream",
    .writer_bytes = sizeof(sse_writer),
    .begin = sse_begin,
    .row = sse_row,
    .event = sse_event,
    .progress = sse_progress,
    .summary = sse_summary,
    .problem = sse_problem,
    .heartbeat = sse_heartbeat,
};
