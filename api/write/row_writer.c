/* row_writer.c — the list of result formats, and the functions common to several formats. */
#include "api/write/row_writer.h"

#include "api/write/write_formats.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Maximum bytes of a line, which is the header or a row. A row of 10 million numbers fits, because a number with its
 * comma has at most 25 bytes. */
enum { LINE_MAX_BYTES = 256 * 1024 * 1024 };

/* If a client accepts several formats with equal quality, the server uses the first of them in this list. */
static const row_format *const formats[] = {
    &row_format_ndjson, &row_format_sse, &row_format_csv, &row_format_json, &row_format_npy,
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const row_format *row_format_at(size_t index) {
    return index < FORMAT_COUNT ? formats[index] : NULL;
}

const row_format *row_format_named(const char *name) {
    for (size_t k = 0; k < FORMAT_COUNT; k++)
        if (strcasecmp(formats[k]->name, name) == 0 || strcasecmp(formats[k]->media_type, name) == 0) return formats[k];
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

bool row_writer_fail(row_writer *w, const char *reason) {
    w->reason = reason;
    return false;
}

bool row_writer_starve(row_writer *w) {
    w->starved = true;
    return row_writer_fail(w, "memory could not be allocated");
}

bool row_writer_flush(row_writer *w) {
    if (w->line.failed) return row_writer_starve(w);
    bool taken = w->line.length == 0 || w->sink.write(w->sink.context, w->line.bytes, w->line.length);
    text_buffer_reset(&w->line);
    return taken;
}

bool row_writer_keep(row_writer *w, size_t bytes) {
    if (w->keep == NULL || w->keep(w->sink.context, bytes)) return true;
    w->refused = true;
    return row_writer_fail(
        w, "the server already stores too many results for clients; retry later, or use ndjson, csv or sse");
}

bool row_writer_begin(row_writer *w, const row_header *header) {
    w->column_count = header->column_count;
    return w->format->begin(w, header);
}

bool row_writer_row(row_writer *w, const double *values, size_t count) {
    assert(count == w->column_count);
    return w->format->row(w, values, count);
}

bool row_writer_object(row_writer *w, row_object kind, const char *json) {
    return w->format->object == NULL || w->format->object(w, kind, json);
}

bool row_writer_problem(row_writer *w, const char *json, const char *summary) {
    return w->format->problem == NULL || w->format->problem(w, json, summary);
}

bool row_table_add(row_table *t, row_writer *w, const double *values, size_t count) {
    assert(t->rows <= t->capacity && (t->rows == 0 || t->columns == count));
    if (t->rows == t->capacity) {
        size_t most = ROW_TABLE_BYTES / sizeof(double) / (count > 0 ? count : 1);
        size_t wanted = t->capacity < 64 ? 64 : t->capacity * 2;
        if (wanted > most) wanted = most;
        if (wanted == t->rows)
            return row_writer_fail(w, "the result is too large for this format; use ndjson, csv or sse");
        if (!row_writer_keep(w, (wanted - t->capacity) * count * sizeof *t->values)) return false;
        double *grown = realloc(t->values, wanted * count * sizeof *grown);
        if (grown == NULL) return row_writer_starve(w);
        *t = (row_table){.values = grown, .columns = count, .rows = t->rows, .capacity = wanted};
    }
    memcpy(t->values + t->rows++ * count, values, count * sizeof *values);
    return true;
}
