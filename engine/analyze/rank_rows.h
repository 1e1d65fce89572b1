/* row_basis.h — an orthonormal basis of the span of rows that come one after another.
 *
 * Gram–Schmidt, again where much has canceled (Giraud et al., Numer. Math. 101 (2005) 87: twice is enough), so that
 * row i = Σ_{j≤i} L_ij Q_j for the rows kept. A row whose rest is below `tolerance` times its length depends on the
 * ones before it and is not kept. */
#ifndef HAMEL_ANALYZE_ROW_BASIS_H
#define HAMEL_ANALYZE_ROW_BASIS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct row_basis {
    size_t width, capacity, rank; /* rank ≤ capacity and width */
    double *Q;                    /* capacity × width, row by row */
    double *L;                    /* capacity × capacity, row by row, lower triangle */
    double *rest;                 /* width: what of the last row is orthogonal to those before */
    double *given;                /* width: the last row before that */
    size_t *entries;              /* width: where it is not zero */
    double tolerance;
    double floor; /* a rest below it is rounding, whatever the row's length; 0 at first */
} row_basis;

/* At most min(rows, width) rows are kept. False without memory; row_basis_free in both cases. */
bool row_basis_init(row_basis *b, size_t rows, size_t width, double tolerance);
void row_basis_free(row_basis *b);
void row_basis_clear(row_basis *b);               /* forgets the rows */
void row_basis_reset(row_basis *b, size_t width); /* and takes rows of another width, at most the first one */

/* True when the row is independent of those before it and was kept. A zero row never is. */
bool row_basis_add(row_basis *b, const double *row);

/* x[width] of least length with (row i)·x = r[i] for the rank rows kept; r is overwritten. */
void row_basis_solve(const row_basis *b, double *r, double *x);

/* mu[rank] for which Σ mu_i (row i) is nearest to w[width]. */
void row_basis_project(const row_basis *b, const double *w, double *mu);

/* w := w minus its part in the span. */
void row_basis_reduce(const row_basis *b, double *w);

#endif
