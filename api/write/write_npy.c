/* write_npy.c — writes a NumPy file: a structured array of little-endian doubles with one field for each column (NEP
 * 1).
 *
 * The file begins with the number of rows. For a stored result, the header contains this number, and the writer sends
 * rows immediately. Otherwise the writer keeps the rows until the end of the run. The format cannot contain a problem:
 * a failed run leaves an empty or truncated file, which readers reject. */
#include "api/write/write_formats.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SEND_AT = 64 * 1024, ALIGNMENT = 64, VERSION_1_MAX = 65535 };

typedef struct npy_writer {
    row_writer base;
    text_buffer fields; /* list of the array's fields, as a Python literal */
    bool ascii;
    size_t expected; /* number of rows in the header of the run; 0 if unknown */
    size_t sent;     /* number of rows sent */
    row_table table;
} npy_writer;

/* Adds the name as a Python string literal. */
static void add_python_text(text_buffer *b, const char *name) {
    text_buffer_puts(b, "'");
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '\'' || *p == '\\') text_buffer_puts(b, "\\");
        text_buffer_add(b, p, 1);
    }
    text_buffer_puts(b, "'");
}

static void add_little_endian(text_buffer *b, uint64_t value, size_t bytes) {
    char out[8];
    for (size_t k = 0; k < bytes; k++) out[k] = (char)(value >> (8 * k) & 0xFF);
    text_buffer_add(b, out, bytes);
}

/* Sends magic bytes, version and header, padded so that the data is aligned. Version 1.0 is for headers of at most 64
 * KiB of ASCII, 2.0 for longer ASCII headers, and 3.0 for UTF-8. */
static bool send_head(npy_writer *n, size_t rows) {
    row_writer *w = &n->base;
    text_buffer head;
    text_buffer_init(&head, w->line.maximum);
    text_buffer_puts(&head, "{'descr': [");
    if (n->fields.length > 0) text_buffer_add(&head, n->fields.bytes, n->fields.length);
    text_buffer_printf(&head, "], 'fortran_order': False, 'shape': (%zu,), }", rows);
    bool small = n->ascii && head.length + ALIGNMENT < VERSION_1_MAX;
    size_t prefix = small ? 10 : 12;
    while ((prefix + head.length + 1) % ALIGNMENT != 0 && !head.failed) text_buffer_puts(&head, " ");
    text_buffer_puts(&head, "\n");
    bool made = !head.failed && !n->fields.failed;
    if (made) {
        text_buffer_add(&w->line, "\x93NUMPY", 6);
        text_buffer_add(&w->line, small ? "\x01\x00" : n->ascii ? "\x02\x00" : "\x03\x00", 2);
        add_little_endian(&w->line, head.length, small ? 2 : 4);
        text_buffer_add(&w->line, head.bytes, head.length);
    }
    text_buffer_free(&head);
    return made ? row_writer_flush(w) : row_writer_starve(w);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "a row is sent as it is in memory, so doubles must be little-endian");
static void add_npy_row(row_writer *w, const double *values, size_t count) {
    text_buffer_add(&w->line, (const char *)values, count * sizeof *values);
}

static bool npy_begin(row_writer *w, const row_header *header) {
    npy_writer *n = (npy_writer *)w;
    text_buffer_init(&n->fields, w->line.maximum);
    n->ascii = true;
    for (size_t k = 0; k < header->column_count; k++) {
        for (const char *p = header->columns[k]; *p != '\0'; p++) n->ascii = n->ascii && (unsigned char)*p < 0x80;
        text_buffer_puts(&n->fields, k > 0 ? ", (" : "(");
        add_python_text(&n->fields, header->columns[k]);
        text_buffer_puts(&n->fields, ", '<f8')");
    }
    n->expected = header->expected_rows;
    return n->expected == 0 || send_head(n, n->expected);
}

static bool npy_row(row_writer *w, const double *values, size_t count) {
    npy_writer *n = (npy_writer *)w;
    if (n->expected == 0) return row_table_add(&n->table, w, values, count);
    if (n->sent == n->expected) return row_writer_fail(w, "the run has more rows than its header announced");
    n->sent++;
    add_npy_row(w, values, count);
    return w->line.length < SEND_AT || row_writer_flush(w);
}

static bool npy_object(row_writer *w, row_object kind, const char *json) {
    (void)json;
    if (kind != ROW_SUMMARY) return true;
    npy_writer *n = (npy_writer *)w;
    if (n->expected > 0) {
        if (n->sent < n->expected) w->reason = "the run has fewer rows than its header announced";
        return row_writer_flush(w) && n->sent == n->expected;
    }
    if (!send_head(n, n->table.rows)) return false;
    for (size_t k = 0; k < n->table.rows; k++) {
        add_npy_row(w, n->table.values + k * n->table.columns, n->table.columns);
        if (w->line.length >= SEND_AT && !row_writer_flush(w)) return false;
    }
    return row_writer_flush(w);
}

static void npy_close(row_writer *w) {
    npy_writer *n = (npy_writer *)w;
    text_buffer_free(&n->fields);
    free(n->table.values);
}

const row_format row_format_npy = {
    .name = "npy",
    .media_type = "application/x-npy",
    .whole = true,
    .writer_bytes = sizeof(npy_writer),
    .begin = npy_begin,
    .row = npy_row,
    .object = npy_object,
    .close = npy_close,
};
