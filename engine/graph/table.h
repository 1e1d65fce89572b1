/* table.h — functions defined by points: piecewise linear, or not-a-knot cubic splines.
 *
 * A table does not change after table_make, so any number of threads may read it. */
#pragma once

#include "engine/base/arena.h"

typedef struct graph_table {
    const char *name;
    size_t count;               /* number of points, at least 2 */
    int degree;                 /* degree of the polynomials: 1 or 3 */
    bool hold;                  /* value outside the points: that of the nearest point if true, NaN if false */
    const double *x;            /* x[count], increasing */
    const double *coefficients; /* degree + 1 per segment: coefficients of powers of x − x_i, lowest first */
} graph_table;

/* Copies the points into `memory` and computes the coefficients. The caller must have set name, degree and hold. A
 * cubic spline has a continuous third derivative at the second and the second-to-last point. With degree 3, three
 * points give a parabola, and two points a line (de Boor, A Practical Guide to Splines, chapter IV). Returns
 * HAMEL_NO_MEMORY if out of memory, or HAMEL_NOT_FINITE if points are so close that a coefficient overflows. The cost
 * is linear in the number of points. */
hamel_status table_make(graph_table *table, arena *memory, const double *x, const double *y,
                        size_t count) HAMEL_CHECKED;

/* Returns the derivative of the given order at x; the derivative of order 0 is the value. Finds the segment by
 * bisection. At a point, the segment to the right of the point applies; at the last point, the last segment applies.
 * Outside the points, the result depends on `hold`. */
double table_value(const graph_table *table, double x, int order);

/* Returns the index of the segment that contains x: i if x_i <= x < x_(i+1), −1 below the first point, count − 1 above
 * the last point. */
ptrdiff_t table_segment(const graph_table *table, double x);
