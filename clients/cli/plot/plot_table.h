/* plot_table.h — the columns of a run that are drawn, kept until it ends. */
#ifndef HAMEL_CLI_PLOT_TABLE_H
#define HAMEL_CLI_PLOT_TABLE_H

#include "api/row_sink.h"

enum { PLOT_SERIES_MAX = 8 }; /* more cannot be told apart */

typedef struct plot_point {
    double x, y;
} plot_point;

typedef struct plot_column {
    char *label; /* "x in m" */
    size_t at;   /* in a row of the run */
    double least, most;
} plot_column;

typedef struct plot_table {
    char *title;                              /* the system's name, or "" */
    plot_column columns[1 + PLOT_SERIES_MAX]; /* the first is the one below */
    size_t column_count;
    double *values; /* [row_count][column_count] */
    size_t row_count, row_capacity;
} plot_table;

/* Chooses columns from the header of a run: `over` (NULL: the first one) below, `columns` (names by commas; NULL: the
 * coordinates, else what there is) above. False after saying what is wrong. plot_table_clear in both cases. */
bool plot_table_begin(plot_table *t, const row_header *header, const char *columns, const char *over);

/* False after saying that there are too many rows. */
bool plot_table_add(plot_table *t, const double *row);
void plot_table_clear(plot_table *t);

/* Column k > 0 over column 0 as a line: map(context, x, y) tells where in the picture a pair is. Of successive points
 * in one unit of the picture's width only the first, the lowest, the highest and the last are kept, in their order:
 * what is drawn is the same (M4: Jugel, Jerzak, Hackenbroich, Markl, PVLDB 7, 2014, section 4).
 * `points` has room for row_count; returns how many. */
size_t plot_table_line(const plot_table *t, size_t k, plot_point (*map)(const void *context, double x, double y),
                       const void *context, plot_point *points);

#endif
