/* table.h — functions given by points: piecewise linear, or the cubic spline of not-a-knot ends.
 *
 * A table is made once and then only read: any number of threads may look things up in it. */
#ifndef HAMEL_GRAPH_TABLE_H
#define HAMEL_GRAPH_TABLE_H

#include "engine/base/arena.h"

typedef struct graph_table {
    const char *name;
    size_t count;               /* points, 2 or more */
    int degree;                 /* of the polynomials: 1 or 3 */
    bool hold;                  /* outside: the value at the end; else there is none */
    const double *x;            /* count, increasing */
    const double *coefficients; /* degree + 1 for each of the count − 1 segments, of powers of x − x_i, lowest first */
} graph_table;

/* Fills x and coefficients from points (copied into `memory`); name, degree and hold stay as they are. The cubic has a
 * continuous third derivative at the second and the last but one point; of three points it is the parabola, of two the
 * line (de Boor, A Practical Guide to Splines, chapter IV). HAMEL_NO_MEMORY, or HAMEL_NOT_FINITE when points lie so close that
 * a coefficient is too large for a double. Cost: linear. */
hamel_status table_make(graph_table *table, arena *memory, const double *x, const double *y,
                        size_t count) HAMEL_CHECKED;

/* The order-th derivative at x (0: the value), by bisection. At a knot that of the segment behind it, at the last point
 * that of the last segment. Outside: NaN, or what `hold` says. */
double table_value(const graph_table *table, double x, int order);

/* Where x lies: i for x_i <= x < x_(i+1), −1 below the first point, count − 1 from above the last one on. While it does not
 * change, neither does the polynomial. */
ptrdiff_t table_segment(const graph_table *table, double x);

#endif
