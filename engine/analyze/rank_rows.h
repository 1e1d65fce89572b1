/* rank_rows.h — orthonormal basis of the span of rows, extended row by row.
 *
 * Rows are orthogonalized by Gram–Schmidt. If the first pass loses digits by cancellation, a second pass follows. Two
 * passes suffice (Giraud et al., Numer. Math. 101 (2005) 87). Accepted row i equals Σ_{j≤i} L_ij Q_j. If the part of a
 * row orthogonal to the accepted rows is below `tolerance` times its length, the row is redundant and is not
 * accepted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct rank_rows {
    size_t width, capacity, rank; /* rank ≤ min(capacity, width) */
    double *Q;                    /* capacity × width, row by row */
    double *L;                    /* capacity × capacity, row by row, lower triangle */
    double *rest;                 /* width: part of the last row orthogonal to the rows before it */
    double *given;                /* width: `rest` before the current pass */
    size_t *entries;              /* width: columns of the nonzero entries of `given` */
    double tolerance;
    double floor; /* rows whose orthogonal part is not longer than this are redundant; initially 0 */
} rank_rows;

/* Returns Σ x_i y_i, added in order of i. */
static inline double rank_rows_dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Creates an empty basis with space for min(rows, width) rows. Returns false if out of memory. Call rank_rows_free even
 * after a failure. */
bool rank_rows_init(rank_rows *b, size_t rows, size_t width, double tolerance);
void rank_rows_free(rank_rows *b);

/* Removes all rows and sets the width, which must not exceed that of rank_rows_init. */
void rank_rows_reset(rank_rows *b, size_t width);

/* Adds a row if it is independent of the accepted rows, and returns whether it was added. A zero row is redundant. */
bool rank_rows_add(rank_rows *b, const double *row);

/* Computes the x[width] of least norm with (row i)·x = r[i] for all accepted rows; r is overwritten. */
void rank_rows_solve(const rank_rows *b, double *r, double *x);
