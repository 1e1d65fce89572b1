/* sparse.h — sparse LU by KLU behind a fixed pattern: symbolic analysis once, numbers many times.
 *
 * The pattern is given once as (row, column) pairs in the caller's order; duplicates are summed. The caller then fills
 * values in that same order. One owner, one thread at a time.
 * Davis & Palamadai Natarajan, ACM TOMS 37 (2010) 36. */
#ifndef HAMEL_SOLVE_SPARSE_H
#define HAMEL_SOLVE_SPARSE_H

#include "engine/base/error.h"

typedef struct sparse sparse;

/* n × n; `rows`, `columns` have `count` entries in 0..n-1. The diagonal is always present. NULL without memory. */
sparse *sparse_create(size_t n, const int *rows, const int *columns, size_t count);
void sparse_free(sparse *s);

/* Factors the matrix with the given values (row-equilibrated). The first call orders and pivots, later ones reuse the
 * pivots and pivot afresh when they have become bad. HAMEL_SINGULAR: some pivot is zero or not above 64 ε times the
 * largest equilibrated entry of its column. HAMEL_OK, HAMEL_SINGULAR, HAMEL_NOT_FINITE or HAMEL_NO_MEMORY. */
hamel_status sparse_factor(sparse *s, const double *values) HAMEL_CHECKED;

/* x := A⁻¹ x, with one step of iterative refinement. x is unchanged on failure: HAMEL_SINGULAR when the last
 * factorization failed, HAMEL_NOT_FINITE when the result is not finite. */
hamel_status sparse_solve(sparse *s, double *x) HAMEL_CHECKED;

#endif
