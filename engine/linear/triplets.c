/* triplets.c — see triplets.h. */
#include "engine/linear/triplets.h"

#include <assert.h>
#include <string.h>

bool triplets_create(triplets *t, arena *memory, size_t capacity) {
    *t = (triplets){.capacity = capacity};
    t->row = arena_ints(memory, 3 * capacity);
    t->factor = arena_doubles(memory, capacity);
    if (!t->row || !t->factor) return false;
    t->column = t->row + capacity;
    t->from = t->column + capacity;
    return true;
}

void triplets_add(triplets *t, int row, int column, int from, double factor) {
    assert(t->count < t->capacity && row >= 0 && column >= 0);
    t->row[t->count] = row;
    t->column[t->count] = column;
    t->from[t->count] = from;
    t->factor[t->count++] = factor;
}

size_t triplets_of_saddle(const sparse_block *M, const sparse_block *A, const sparse_block *W) {
    return 2 * M->count + 2 * A->count + (W ? W->count : 0);
}

void triplets_add_saddle(triplets *t, const sparse_block *M, const sparse_block *A, const sparse_block *W,
                         const int *row_of) {
    int n = (int)M->rows;
    for (size_t e = 0; e < M->count; e++) {
        triplets_add(t, M->row[e], M->column[e], (int)(M->at + e), 1);
        if (M->row[e] != M->column[e]) triplets_add(t, M->column[e], M->row[e], (int)(M->at + e), 1);
    }
    for (size_t e = 0; e < A->count; e++) {
        int row = row_of ? row_of[A->row[e]] : A->row[e];
        if (row < 0) continue;
        triplets_add(t, n + row, A->column[e], (int)(A->at + e), 1);
        triplets_add(t, A->column[e], n + row, (int)(A->at + e), -1);
    }
    for (size_t e = 0; W && e < W->count; e++) {
        int row = row_of ? row_of[W->column[e]] : W->column[e];
        if (row >= 0) triplets_add(t, W->row[e], n + row, (int)(W->at + e), -1);
    }
}

void triplets_fill(const triplets *t, const double *values, double *out) {
    for (size_t e = 0; e < t->count; e++)
        if (t->from[e] >= 0) out[e] = t->factor[e] * values[t->from[e]];
}

void triplets_to_dense(const triplets *t, const double *entries, size_t n, double *out) {
    memset(out, 0, n * n * sizeof *out);
    for (size_t e = 0; e < t->count; e++) {
        assert((size_t)t->row[e] < n && (size_t)t->column[e] < n);
        out[(size_t)t->row[e] + n * (size_t)t->column[e]] += entries[e];
    }
}
