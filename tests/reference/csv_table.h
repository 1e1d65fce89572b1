/* csv_table.h — reader of the CSV that hamel writes: a header row, then rows of finite numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct csv_table {
    size_t column_count, row_count;
    char **columns;
    double *values; /* in row-major order */
} csv_table;

/* Reads text[length]. Rows must consist of finite numbers and be as long as the header. Column names must be unique. On
 * failure, stores an error message in reason[size] and returns false. Clear the table in either case. */
bool csv_table_read(csv_table *table, const char *text, size_t length, char *reason, size_t size);
void csv_table_clear(csv_table *table);

/* Returns the index of a column, or -1 if the column does not exist. */
ptrdiff_t csv_table_column(const csv_table *table, const char *name);

static inline double csv_table_value(const csv_table *table, size_t row, size_t column) {
    return table->values[row * table->column_count + column];
}
