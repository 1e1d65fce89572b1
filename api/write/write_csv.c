/* write_csv.c — writes comma-separated values (RFC 4180, but lines end with "\n"): the names of the columns, then the
 * rows.
 *
 * The format has no events, summary or problem. A command reports a failure by its exit code and a message, the daemon
 * by closing the connection early. */
#include "api/write/write_formats.h"

#include <string.h>

void csv_add_field(text_buffer *line, const char *text) {
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        text_buffer_puts(line, text);
        return;
    }
    text_buffer_puts(line, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"') text_buffer_puts(line, "\"");
        text_buffer_add(line, p, 1);
    }
    text_buffer_puts(line, "\"");
}

static bool csv_begin(row_writer *w, const row_header *header) {
    for (size_t k = 0; k < header->column_count; k++) {
        if (k > 0) text_buffer_puts(&w->line, ",");
        csv_add_field(&w->line, header->columns[k]);
    }
    text_buffer_puts(&w->line, "\n");
    return row_writer_flush(w);
}

static bool csv_row(row_writer *w, const double *values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (k > 0) text_buffer_put(&w->line, ',');
        text_buffer_number(&w->line, values[k]);
    }
    text_buffer_put(&w->line, '\n');
    return row_writer_flush(w);
}

const row_format row_format_csv = {
    .name = "csv",
    .media_type = "text/csv",
    .writer_bytes = sizeof(row_writer),
    .begin = csv_begin,
    .row = csv_row,
};
