/* csv_table.h — the CSV that hamel writes, read back: one header row, then rows of finite numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct csv_table {
    size_t column_count, row_count;
    char **columns;
    double *values; /* row by row */
} csv_table;

/* Reads text[length]. Every field of a row must be one finite number and every row as long as the header; column names
 * must differ. On failure returns false with a sentence in reason[size]. Clear the table in either case. */
bool csv_table_read(csv_table *table, const char *text, size_t length, char *reason, size_t size);
void csv_table_clear(csv_table *table);

/* Index of a column, or -1. */
ptrdiff_t csv_table_column(const csv_table *table, const char *name);

static inline double csv_table_value(const csv_table *table, size_t row, size_t column) {
    return table->values[row * table->column_count + column];
}
