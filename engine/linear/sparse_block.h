/* sparse_block.h — a sparse matrix whose entries are consecutive values of a longer vector.
 *
 * Several blocks share the outputs of one program: entry e of a block is values[at + e], at (row[e], column[e]). A
 * pattern contains each position at most once. A symmetric block holds the lower triangle (row ≥ column). Sums are
 * computed in the order of the entries, so that results do not depend on the caller. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct sparse_block {
    size_t rows, columns, count, at;
    int *row, *column; /* count each; owned by the creator of the block */
} sparse_block;

/* Add factor · B x to y[rows], or factor · Bᵀ x to y[columns]. */
void sparse_block_multiply(const sparse_block *b, const double *values, double factor, const double *x, double *y);
void sparse_block_multiply_transposed(const sparse_block *b, const double *values, double factor, const double *x,
                                      double *y);
/* Add the same products for a symmetric block. `magnitudes` uses absolute values of the entries and of x. */
void sparse_block_multiply_symmetric(const sparse_block *b, const double *values, double factor, const double *x,
                                     double *y);
void sparse_block_multiply_magnitudes(const sparse_block *b, const double *values, const double *x, double *y);

/* Writes the entries into a column-major matrix with leading dimension `leading`; its other entries do not change.
 * `transposed` writes entry (i, j) to (j, i); `symmetric` writes it to both positions. */
void sparse_block_to_dense(const sparse_block *b, const double *values, size_t leading, double *out);
void sparse_block_to_dense_transposed(const sparse_block *b, const double *values, size_t leading, double *out);
void sparse_block_to_dense_symmetric(const sparse_block *b, const double *values, size_t leading, double *out);

bool sparse_block_is_diagonal(const sparse_block *b); /* true if the pattern has no entry off the diagonal */
/* Copies the diagonal entries to out[row]; other elements do not change. */
void sparse_block_diagonal(const sparse_block *b, const double *values, double *out);
/* Sets size[rows] to the largest magnitude in each row, 0 for an empty row. NaN counts as 0. */
void sparse_block_row_sizes(const sparse_block *b, const double *values, double *size);

/* Disjoint sets of the indices of a symmetric block: parent[i] = i before the first join. Two indices are in one set if
 * they have the same root, that is, if a path of entries connects them. */
size_t sparse_block_root(size_t *parent, size_t i);
void sparse_block_join(const sparse_block *b, size_t *parent);
