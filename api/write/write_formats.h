/* write_formats.h — shared by the files write_*.c and row_writer.c only. */
#pragma once

#include "api/write/row_writer.h"

extern const row_format row_format_csv;
extern const row_format row_format_ndjson;
extern const row_format row_format_sse;
extern const row_format row_format_json;
extern const row_format row_format_npy;

/* Sends w->line to the sink and clears it. Returns false if the sink refuses, or if memory could not be allocated; then
 * w->reason is set. */
bool row_writer_flush(row_writer *w);

/* Rows kept until the end, for formats that need all rows at once. */
typedef struct row_table {
    double *values;                 /* row by row */
    size_t columns, rows, capacity; /* capacity in rows */
} row_table;

/* Adds a row. Returns false, with w->reason set, beyond ROW_TABLE_BYTES or if memory could not be allocated. */
enum { ROW_TABLE_BYTES = 64 * 1024 * 1024 };
bool row_table_add(row_table *t, row_writer *w, const double *values, size_t count);

/* Calls w->keep. Returns false with w->reason set if it refuses. */
bool row_writer_keep(row_writer *w, size_t bytes);
void row_table_free(row_table *t);
