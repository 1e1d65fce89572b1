/* row_writer.c — the list of result formats, and the functions common to all formats. */
#include "api/write/row_writer.h"

#include "api/write/write_formats.h"

#include <assert.h>
#include <stdlib.h>
#include <strings.h>

/* limit of one line: the header, or a row of a large system */
enum { LINE_MAX_BYTES = 256 * 1024 * 1024 };

/* If a client accepts several formats equally, the first in this list is used. */
static const row_format *const formats[] = {
    &row_format_ndjson, &row_format_sse, &row_format_csv, &row_format_json, &row_format_npy,
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const row_format *row_format_at(size_t index) {
    return index < FORMAT_COUNT ? formats[index] : NULL;
}

const row_format *row_format_named(const char *name) {
    for (size_t k = 0; k < FORMAT_COUNT; k++) {
        if (strcasecmp(formats[k]->name, name) == 0 || strcasecmp(formats[k]->media_type, name) == 0) return formats[k];
    }
    return NULL;
}

row_writer *row_writer_open(const row_format *format, byte_sink sink) {
    row_writer *w = calloc(1, format->writer_bytes);
    if (w == NULL) return NULL;
    w->format = format;
    w->sink = sink;
    text_buffer_init(&w->line, LINE_MAX_BYTES);
    return w;
}

void row_writer_close(row_writer *w) {
    if (w == NULL) return;
    if (w->format->close != NULL) w->format->close(w);
    text_buffer_free(&w->line);
    free(w);
}

bool row_writer_flush(row_writer *w) {
    if (w->line.failed) {
        w->reason = "memory could not be allocated";
        return false;
    }
    bool taken = w->line.length == 0 || w->sink.write(w->sink.context, w->line.bytes, w->line.length);
    text_buffer_reset(&w->line);
    return taken;
}

bool row_writer_keep(row_writer *w, size_t bytes) {
    if (w->keep == NULL || w->keep(w->sink.context, bytes)) return true;
    w->refused = true;
    w->reason = "too many bytes of answers wait for their clients; retry later, or use ndjson, csv or sse";
    return false;
}

bool row_writer_begin(row_writer *w, const row_header *header) {
    w->column_count = header->column_count;
    return w->format->begin == NULL || w->format->begin(w, header);
}

bool row_writer_row(row_writer *w, const double *values, size_t count) {
    assert(count == w->column_count);
    return w->format->row == NULL || w->format->row(w, values, count);
}

bool row_writer_event(row_writer *w, const char *json) {
    return w->format->event == NULL || w->format->event(w, json);
}

bool row_writer_progress(row_writer *w, const char *json) {
    return w->format->progress == NULL || w->format->progress(w, json);
}

bool row_writer_summary(row_writer *w, const char *json) {
    return w->format->summary == NULL || w->format->summary(w, json);
}

bool row_writer_problem(row_writer *w, const char *json, const char *summary) {
    return w->format->problem == NULL || w->format->problem(w, json, summary);
}

bool row_writer_heartbeat(row_writer *w) {
    return w->format->heartbeat == NULL || w->format->heartbeat(w);
}
