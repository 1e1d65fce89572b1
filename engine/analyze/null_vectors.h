/* null_vectors.h — solutions of homogeneous linear equations in reduced echelon form. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct null_vectors {
    size_t columns, count;
    double *vectors; /* count × columns: the pivot of each vector is 1; entries within rounding errors are exactly 0 */
    size_t *pivots;  /* count, increasing: the first column in which a vector differs from 0 */
    bool starved;    /* true if an allocation failed */
} null_vectors;

/* Computes a basis of the null space {x : A x = 0}. A (rows × columns, row-major, rows ≥ columns) is overwritten. Rows
 * and columns are scaled, so the result does not depend on their units. A pivot below `tolerance`, relative to the
 * largest pivot, counts as 0. Returns false if out of memory or if LAPACK fails. Call null_vectors_free after success
 * and after failure. */
bool null_vectors_find(null_vectors *out, double *A, size_t rows, size_t columns, double tolerance);
void null_vectors_free(null_vectors *v);
