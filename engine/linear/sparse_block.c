/* sparse_block.c — products with sparse blocks (sparse_block.h). */
#include "engine/linear/sparse_block.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void sparse_block_multiply(const sparse_block *b, const double *values, double factor, const double *x, double *y) {
    const double *entry = values + b->at;
    for (size_t e = 0; e < b->count; e++) y[b->row[e]] += factor * entry[e] * x[b->column[e]];
}

void sparse_block_multiply_transposed(const sparse_block *b, const double *values, double factor, const double *x,
                                      double *y) {
    const double *entry = values + b->at;
    for (size_t e = 0; e < b->count; e++) y[b->column[e]] += factor * entry[e] * x[b->row[e]];
}

void sparse_block_multiply_symmetric(const sparse_block *b, const double *values, double factor, const double *x,
                                     double *y) {
    const double *entry = values + b->at;
    assert(b->rows == b->columns);
    for (size_t e = 0; e < b->count; e++) {
        int i = b->row[e], j = b->column[e];
        y[i] += factor * entry[e] * x[j];
        if (i != j) y[j] += factor * entry[e] * x[i];
    }
}

void sparse_block_multiply_magnitudes(const sparse_block *b, const double *values, const double *x, double *y) {
    const double *entry = values + b->at;
    assert(b->rows == b->columns);
    for (size_t e = 0; e < b->count; e++) {
        int i = b->row[e], j = b->column[e];
        y[i] += fabs(entry[e] * x[j]);
        if (i != j) y[j] += fabs(entry[e] * x[i]);
    }
}

void sparse_block_to_dense(const sparse_block *b, const double *values, size_t leading, double *out) {
    const double *entry = values + b->at;
    assert(leading >= b->rows);
    for (size_t e = 0; e < b->count; e++) out[(size_t)b->row[e] + leading * (size_t)b->column[e]] = entry[e];
}

void sparse_block_to_dense_transposed(const sparse_block *b, const double *values, size_t leading, double *out) {
    const double *entry = values + b->at;
    assert(leading >= b->columns);
    for (size_t e = 0; e < b->count; e++) out[(size_t)b->column[e] + leading * (size_t)b->row[e]] = entry[e];
}

void sparse_block_to_dense_symmetric(const sparse_block *b, const double *values, size_t leading, double *out) {
    assert(b->rows == b->columns);
    sparse_block_to_dense(b, values, leading, out);
    sparse_block_to_dense_transposed(b, values, leading, out);
}

bool sparse_block_is_diagonal(const sparse_block *b) {
    for (size_t e = 0; e < b->count; e++)
        if (b->row[e] != b->column[e]) return false;
    return true;
}

void sparse_block_diagonal(const sparse_block *b, const double *values, double *out) {
    assert(b->rows == b->columns);
    for (size_t e = 0; e < b->count; e++)
        if (b->row[e] == b->column[e]) out[b->row[e]] = values[b->at + e];
}

void sparse_block_row_sizes(const sparse_block *b, const double *values, double *size) {
    memset(size, 0, b->rows * sizeof *size);
    for (size_t e = 0; e < b->count; e++) size[b->row[e]] = fmax(size[b->row[e]], fabs(values[b->at + e]));
}

size_t sparse_block_root(size_t *parent, size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

void sparse_block_join(const sparse_block *b, size_t *parent) {
    assert(b->rows == b->columns);
    for (size_t e = 0; e < b->count; e++)
        parent[sparse_block_root(parent, (size_t)b->row[e])] = sparse_block_root(parent, (size_t)b->column[e]);
}
