/* write_formats.h — declarations shared by row_writer.c and the files write_*.c. */
#pragma once

#include "api/write/row_writer.h"

extern const row_format row_format_csv, row_format_ndjson, row_format_sse, row_format_json, row_format_npy;

/* Sets w->reason and returns false. */
bool row_writer_fail(row_writer *w, const char *reason);
bool row_writer_starve(row_writer *w); /* reports that memory could not be allocated, and returns false */

/* Sends w->line to the sink and clears it. Returns false if the sink refuses the bytes. If memory could not be
 * allocated, also sets w->reason. */
bool row_writer_flush(row_writer *w);

/* Calls w->keep, if set. If w->keep returns false, sets w->reason and returns false. */
bool row_writer_keep(row_writer *w, size_t bytes);

/* Rows kept until the end of a run. Clients choose the number of rows, so the size of the table is limited. */
typedef struct row_table {
    double *values;                 /* row by row; the owner frees it */
    size_t columns, rows, capacity; /* capacity in rows */
} row_table;

/* Adds a row. If the row does not fit into ROW_TABLE_BYTES or memory runs out, sets w->reason and returns false. */
enum { ROW_TABLE_BYTES = 64 * 1024 * 1024 };
bool row_table_add(row_table *t, row_writer *w, const double *values, size_t count);
