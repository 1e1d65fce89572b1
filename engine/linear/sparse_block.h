/* sparse_block.h — a sparse matrix whose entries are consecutive values of a longer vector.
 *
 * Several blocks share the outputs of one program: entry e of a block is values[at + e], at (row[e], column[e]). A
 * pattern contains each position at most once. A symmetric block contains only the lower triangle (row ≥ column). Sums
 * are computed in the order of the entries, so that results are reproducible. */
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
/* Add the product for a symmetric block. sparse_block_multiply_magnitudes uses the absolute values of the entries and
 * of x, and factor 1. */
void sparse_block_multiply_symmetric(const sparse_block *b, const double *values, double factor, const double *x,
                                     double *y);
void sparse_block_multiply_magnitudes(const sparse_block *b, const double *values, const double *x, double *y);

/* Write the entries of a block into the column-major matrix `out` with leading dimension `leading`. Other entries of
 * `out` do not change. The suffix `transposed` means that entry (i, j) is written to (j, i). The suffix `symmetric`
 * means that it is written to (i, j) and (j, i). */
void sparse_block_to_dense(const sparse_block *b, const double *values, size_t leading, double *out);
void sparse_block_to_dense_transposed(const sparse_block *b, const double *values, size_t leading, double *out);
void sparse_block_to_dense_symmetric(const sparse_block *b, const double *values, size_t leading, double *out);

bool sparse_block_is_diagonal(const sparse_block *b); /* true if the pattern has no entry off the diagonal */
/* Copies the diagonal entries to out[row]; other elements do not change. */
void sparse_block_diagonal(const sparse_block *b, const double *values, double *out);
/* Sets size[rows] to the largest magnitude of an entry in each row, or to 0 for an empty row. NaN is treated as 0. */
void sparse_block_row_sizes(const sparse_block *b, const double *values, double *size);

/* sparse_block_join merges the disjoint sets in `parent` that entries of a symmetric block connect. The caller sets
 * parent[i] = i before the first call. sparse_block_root returns the root of the set of index i. Two indices with the
 * same root are connected by a path of entries. */
size_t sparse_block_root(size_t *parent, size_t i);
void sparse_block_join(const sparse_block *b, size_t *parent);
