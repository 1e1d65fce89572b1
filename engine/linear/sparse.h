/* sparse.h — sparse LU by KLU for a fixed pattern: one symbolic analysis, many numerical factorizations.
 *
 * The pattern is a list of (row, column) pairs. Values are passed in the same order. Entries at the same position are
 * summed. A `sparse` must not be used by several threads at once. KLU: Davis & Palamadai Natarajan, ACM TOMS 37 (2010)
 * 36. */
#pragma once

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct sparse sparse;

/* Returns true if a sparse factorization of an n × n matrix with `count` entries is faster than a dense one. */
bool sparse_is_faster(size_t n, size_t count);

/* Creates an n × n matrix with `count` entries. Indices in `rows` and `columns` are less than n. The diagonal is always
 * part of the pattern. Returns NULL if out of memory. */
sparse *sparse_create(size_t n, const int *rows, const int *columns, size_t count);
void sparse_free(sparse *s);

/* Factors the matrix with the given values. The first call chooses the ordering and the pivots. Later calls reuse these
 * pivots, and choose new ones only if the factorization would be inaccurate. Returns HAMEL_OK, HAMEL_NOT_FINITE,
 * HAMEL_NO_MEMORY, or HAMEL_SINGULAR if a pivot is not above 64 ε times the largest equilibrated entry of its
 * column. */
hamel_status sparse_factor(sparse *s, const double *values) HAMEL_CHECKED;

/* Replaces x by A⁻¹ x, with one step of iterative refinement. Returns HAMEL_SINGULAR if the last factorization failed,
 * or HAMEL_NOT_FINITE if the result is not finite. In both cases, x is unchanged. */
hamel_status sparse_solve(sparse *s, double *x) HAMEL_CHECKED;
