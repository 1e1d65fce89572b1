/* write_formats.h — what the writers share, for the files write_*.c and the registry in row_sink.c only. */
#ifndef HAMEL_API_WRITE_FORMATS_H
#define HAMEL_API_WRITE_FORMATS_H

#include "api/row_sink.h"

extern const row_format row_format_csv;
extern const row_format row_format_ndjson;
extern const row_format row_format_sse;
extern const row_format row_format_json;
extern const row_format row_format_npy;

/* Sends w->line to the sink and empties it. False when the sink refuses, or memory ran out (then w->reason is set). */
bool row_writer_flush(row_writer *w);

/* Rows kept until the end, for the formats that need all of them at once. */
typedef struct row_table {
    double *values;                 /* row by row */
    size_t columns, rows, capacity; /* capacity in rows */
} row_table;

/* Adds a row. False beyond ROW_TABLE_BYTES or without memory; w->reason then says so. */
enum { ROW_TABLE_BYTES = 64 * 1024 * 1024 };
bool row_table_add(row_table *t, row_writer *w, const double *values, size_t count);

/* Asks w->keep; false with w->reason. */
bool row_writer_keep(row_writer *w, size_t bytes);
void row_table_free(row_table *t);

#endif
