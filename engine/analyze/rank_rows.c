/* rank_rows.c — Gram–Schmidt orthogonalization row by row; see rank_rows.h. */
#include "engine/analyze/rank_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rank_rows_init(rank_rows *b, size_t rows, size_t width, double tolerance) {
    size_t capacity = rows < width ? rows : width;
    *b = (rank_rows){.width = width, .capacity = capacity, .tolerance = tolerance};
    b->Q = calloc(capacity * width + 1, sizeof *b->Q);
    b->L = calloc(capacity * capacity + 1, sizeof *b->L);
    b->rest = calloc(2 * width + 1, sizeof *b->rest);
    b->entries = calloc(width + 1, sizeof *b->entries);
    b->given = b->rest ? b->rest + width : NULL;
    return b->Q && b->L && b->rest && b->entries;
}

void rank_rows_free(rank_rows *b) {
    free(b->Q);
    free(b->L);
    free(b->rest);
    free(b->entries);
    *b = (rank_rows){0};
}

void rank_rows_reset(rank_rows *b, size_t width) {
    b->rank = 0;
    b->width = width;
}

/* Subtracts from `rest` its projection onto the span of the basis, and adds the coefficients of the projection to l.
 * For a sparse row, inner products use only the nonzero entries. */
static void take_out(rank_rows *b, double *l) {
    size_t entries = 0;
    for (size_t j = 0; j < b->width; j++)
        if (b->rest[j] != 0) b->entries[entries++] = j;
    bool few = 4 * entries < b->width;
    for (size_t i = 0; i < b->rank; i++) {
        const double *q = b->Q + i * b->width;
        double along = 0;
        if (few) /* classical Gram–Schmidt, accurate after two passes */
            for (size_t k = 0; k < entries; k++) along += q[b->entries[k]] * b->given[b->entries[k]];
        else
            along = rank_rows_dot(b->width, q, b->rest);
        l[i] += along;
        for (size_t j = 0; along != 0 && j < b->width; j++) b->rest[j] -= along * q[j];
    }
}

bool rank_rows_add(rank_rows *b, const double *row) {
    assert(b->rank <= b->capacity);
    if (b->rank >= b->capacity || b->rank >= b->width) return false;
    double *l = b->L + b->rank * b->capacity, length = sqrt(rank_rows_dot(b->width, row, row));
    if (!(length > 0) || !isfinite(length)) return false;
    memcpy(b->rest, row, b->width * sizeof *row);
    memset(l, 0, b->capacity * sizeof *l);
    double before = length, left = 0;
    /* A second pass follows if the first pass cancels digits (Daniel et al., Math. Comp. 30 (1976) 772). */
    for (int pass = 0; pass < 2; pass++) {
        memcpy(b->given, b->rest, b->width * sizeof *row);
        take_out(b, l);
        left = sqrt(rank_rows_dot(b->width, b->rest, b->rest));
        if (left > 0.7 * before) break;
        before = left;
    }
    if (!(left > b->tolerance * length) || left <= b->floor) return false;
    l[b->rank] = left;
    double *q = b->Q + b->rank * b->width;
    for (size_t j = 0; j < b->width; j++) q[j] = b->rest[j] / left;
    b->rank++;
    return true;
}

void rank_rows_solve(const rank_rows *b, double *r, double *x) {
    assert(b->rank <= b->width && b->rank <= b->capacity);
    memset(x, 0, b->width * sizeof *x);
    for (size_t i = 0; i < b->rank; i++) {
        const double *l = b->L + i * b->capacity, *q = b->Q + i * b->width;
        r[i] = (r[i] - rank_rows_dot(i, l, r)) / l[i];
        for (size_t j = 0; j < b->width; j++) x[j] += r[i] * q[j];
    }
}
