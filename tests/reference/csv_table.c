/* csv_table.c — reads RFC 4180 quoting in the header (a column may be named `u[1,2]`) and plain numbers in the rows. */
#include "tests/reference/csv_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads one header field from *at up to `end` and moves *at past its comma. Returns a new text, or NULL if out of
 * memory. */
static char *header_field(const char **at, const char *end) {
    const char *p = *at;
    char *field = malloc((size_t)(end - p) + 1);
    if (field == NULL) return NULL;
    size_t n = 0;
    bool quoted = p < end && *p == '"';
    if (quoted) p++;
    while (p < end) {
        if (quoted && *p == '"') {
            if (p + 1 < end && p[1] == '"') {
                p++;
            } else {
                quoted = false;
                p++;
                continue;
            }
        } else if (!quoted && *p == ',') {
            break;
        }
        field[n++] = *p++;
    }
    field[n] = '\0';
    *at = p < end ? p + 1 : p;
    return field;
}

static bool read_header(csv_table *table, const char *line, const char *end) {
    size_t most = 1;
    for (const char *p = line; p < end; p++) most += *p == ',';
    table->columns = calloc(most, sizeof *table->columns);
    if (table->columns == NULL) return false;
    const char *at = line;
    while (at < end && table->column_count < most) {
        char *field = header_field(&at, end);
        if (field == NULL) return false;
        table->columns[table->column_count++] = field;
    }
    return table->column_count > 0;
}

static bool names_differ(const csv_table *table) {
    for (size_t i = 0; i < table->column_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(table->columns[i], table->columns[j]) == 0) return false;
        }
    }
    return true;
}

static bool read_row(const csv_table *table, const char *line, const char *end, double *row) {
    const char *at = line;
    for (size_t i = 0; i < table->column_count; i++) {
        char *behind;
        row[i] = strtod(at, &behind);
        if (behind == at || behind > end || !isfinite(row[i])) return false;
        bool last = i + 1 == table->column_count;
        if (last ? behind != end : *behind != ',') return false;
        at = behind + 1;
    }
    return true;
}

bool csv_table_read(csv_table *table, const char *text, size_t length, char *reason, size_t size) {
    *table = (csv_table){0};
    const char *end = text + length;
    const char *line_end = memchr(text, '\n', length);
    if (line_end == NULL || !read_header(table, text, line_end)) {
        snprintf(reason, size, "the header row is missing or malformed");
        return false;
    }
    const char *first = table->columns[0];
    if (first == NULL || strcmp(first, "t") != 0 || !names_differ(table)) {
        snprintf(reason, size, "the first column is not t, or a column name occurs twice");
        return false;
    }
    size_t lines = 0;
    for (const char *p = line_end + 1; p < end; p++) lines += *p == '\n';
    table->values = calloc(lines * table->column_count + 1, sizeof *table->values);
    if (table->values == NULL) {
        snprintf(reason, size, "out of memory");
        return false;
    }
    for (const char *line = line_end + 1; line < end; line = line_end + 1) {
        line_end = memchr(line, '\n', (size_t)(end - line));
        if (line_end == NULL ||
            !read_row(table, line, line_end, table->values + table->row_count * table->column_count)) {
            snprintf(reason, size, "row %zu does not have one finite number for each column: %.100s",
                     table->row_count + 1, line);
            return false;
        }
        table->row_count++;
    }
    return true;
}

void csv_table_clear(csv_table *table) {
    for (size_t i = 0; i < table->column_count; i++) free(table->columns[i]);
    free(table->columns);
    free(table->values);
    *table = (csv_table){0};
}

ptrdiff_t csv_table_column(const csv_table *table, const char *name) {
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i], name) == 0) return (ptrdiff_t)i;
    }
    return -1;
}
