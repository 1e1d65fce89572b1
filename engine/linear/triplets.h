/* triplets.h — a sparse matrix assembled from blocks: entry e is factor[e] · values[from[e]] at (row[e], column[e]).
 *
 * The list is built once for a pattern and filled with the values of a state in one pass. Entries at the same position
 * are summed. */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/sparse_block.h"

typedef struct triplets {
    size_t count, capacity;
    int *row, *column, *from; /* capacity each; from: index of the value, or −1 if the caller sets the entry */
    double *factor;
} triplets;

/* Creates an empty list with space for `capacity` entries. Returns false if out of memory. */
bool triplets_create(triplets *t, arena *memory, size_t capacity);
void triplets_add(triplets *t, int row, int column, int from, double factor);

/* Returns an upper bound on the number of entries that triplets_add_saddle appends. Here and in triplets_add_saddle, W
 * may be NULL. */
size_t triplets_of_saddle(const sparse_block *M, const sparse_block *A, const sparse_block *W);

/* Appends [M, −(Aᵀ + W); A, 0]. row_of (A->rows; NULL: the identity) maps a row of A to its index among the selected
 * rows. Rows mapped to −1 are omitted. */
void triplets_add_saddle(triplets *t, const sparse_block *M, const sparse_block *A, const sparse_block *W,
                         const int *row_of);

/* Sets out[count] to the values of the entries. Elements of `out` for entries with from = −1 do not change. */
void triplets_fill(const triplets *t, const double *values, double *out);

/* Sets out[n × n], column-major, to the sum of the `entries` at each position. */
void triplets_to_dense(const triplets *t, const double *entries, size_t n, double *out);
