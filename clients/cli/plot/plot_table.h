/* plot_table.h — stores the columns to draw until the run ends. */
#pragma once

#include "api/write/row_writer.h"

enum { PLOT_SERIES_MAX = 8 }; /* number of colours in the palettes; more columns are an error */

typedef struct plot_point {
    double x, y;
} plot_point;

typedef struct plot_column {
    char *label; /* "x in m" */
    size_t at;   /* index of the column in a row of the run */
    double least, most;
} plot_column;

typedef struct plot_table {
    char *title;                              /* name of the system; "" if it is unnamed */
    plot_column columns[1 + PLOT_SERIES_MAX]; /* column 0 is for the horizontal axis */
    size_t column_count;
    double *values; /* [row_count][column_count] */
    size_t row_count, row_capacity;
} plot_table;

/* Selects columns from the header of a run. `over` names the column for the horizontal axis (NULL: the first column).
 * `columns` lists the names of the other columns, separated by commas. NULL selects the coordinates or, if the run has
 * no coordinates, all columns. Returns false after reporting an error. Call plot_table_clear in both cases. */
bool plot_table_begin(plot_table *t, const row_header *header, const char *columns, const char *over);

/* Adds a row. If the table is full or memory runs out, reports the error and returns false. */
bool plot_table_add(plot_table *t, const double *row);
void plot_table_clear(plot_table *t);

/* Computes the points of the line that plots column k > 0 against column 0. map(context, x, y) returns the position of
 * the values (x, y) in the picture. Of successive points within one unit of width, only the first, lowest, highest and
 * last point are kept, in their order. The picture does not change (M4: Jugel, Jerzak, Hackenbroich, Markl, PVLDB 7,
 * 2014, section 4). `points` has room for row_count points. Returns the number of points. */
size_t plot_table_line(const plot_table *t, size_t k, plot_point (*map)(const void *context, double x, double y),
                       const void *context, plot_point *points);
