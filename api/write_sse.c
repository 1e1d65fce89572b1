/* write_sse.c — server-sent events (HTML Living Standard 9.2): the objects of NDJSON, each as an event of its own name
 * with an increasing id. A heartbeat is a comment line, which clients ignore. */
#include "api/json_text.h"
#include "api/write_formats.h"

typedef struct sse_writer {
    row_writer base;
    unsigned long long id;
} sse_writer;

static void open_event(row_writer *w, const char *name) {
    sse_writer *sse = (sse_writer *)w;
    text_buffer_printf(&w->line, "event: %s\nid: %llu\ndata: {\"%s\":", name, ++sse->id, name);
}

static bool close_event(row_writer *w) {
    text_buffer_puts(&w->line, "}\n\n");
    return row_writer_flush(w);
}

static bool event(row_writer *w, const char *name, const char *json) {
    open_event(w, name);
    text_buffer_puts(&w->line, json);
    return close_event(w);
}

static bool sse_begin(row_writer *w, const row_header *header) {
    return event(w, "header", header->json);
}

static bool sse_row(row_writer *w, const double *values, size_t count) {
    open_event(w, "row");
    text_buffer_puts(&w->line, "[");
    for (size_t k = 0; k < count; k++) {
        if (k > 0) text_buffer_add(&w->line, ",", 1);
        json_text_number(&w->line, values[k]);
    }
    text_buffer_puts(&w->line, "]");
    return close_event(w);
}

static bool sse_event(row_writer *w, const char *json) {
    return event(w, "event", json);
}

static bool sse_progress(row_writer *w, const char *json) {
    return event(w, "progress", json);
}

static bool sse_summary(row_writer *w, const char *json) {
    return event(w, "summary", json);
}

static bool sse_problem(row_writer *w, const char *json) {
    return event(w, "problem", json);
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
