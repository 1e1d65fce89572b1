/* null_vectors.c — null space by QR with column pivoting (Golub & Van Loan, Matrix Computations, 4th ed., 5.4.2), then
 * Gauss–Jordan elimination of the null vectors. */
#include "engine/analyze/null_vectors.h"

#include <assert.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An entry of a null vector counts as 0 below this bound, relative to the largest entry after scaling. A QR with a
 * condition number of 1e7 leaves errors of about 1e-9. */
static const double NOTHING = 1e-8;

/* Scales the rows, then the columns, to unit length. Stores the factor of each column in factor[columns]; the factor of
 * a column of zeros is 1. */
static void scale_matrix(double *A, size_t rows, size_t columns, double *factor) {
    for (size_t i = 0; i < rows; i++) {
        double length = 0;
        for (size_t j = 0; j < columns; j++) length = hypot(length, A[i * columns + j]);
        for (size_t j = 0; j < columns && length > 0; j++) A[i * columns + j] /= length;
    }
    for (size_t j = 0; j < columns; j++) {
        double length = 0;
        for (size_t i = 0; i < rows; i++) length = hypot(length, A[i * columns + j]);
        factor[j] = length > 0 ? 1 / length : 1;
        for (size_t i = 0; i < rows; i++) A[i * columns + j] *= factor[j];
    }
}

/* Fills the null vectors from A P = Q R. Each column of R beyond the rank is a combination of the first `rank`
 * columns. */
static void solve_columns(null_vectors *out, const double *R, size_t rank, const lapack_int *order) {
    size_t columns = out->columns;
    for (size_t k = 0; k < out->count; k++) {
        double *x = out->vectors + k * columns;
        memset(x, 0, columns * sizeof *x);
        x[order[rank + k] - 1] = 1;
        for (size_t i = rank; i-- > 0;) {
            double sum = -R[i * columns + rank + k];
            for (size_t j = i + 1; j < rank; j++) sum -= R[i * columns + j] * x[order[j] - 1];
            x[order[i] - 1] = sum / R[i * columns + i];
        }
    }
}

static double largest_entry(const double *x, size_t count) {
    double largest = 0;
    for (size_t j = 0; j < count; j++) largest = fmax(largest, fabs(x[j]));
    return largest;
}

/* Of the vectors k, k + 1, ..., swaps the one with the largest entry in column j to position k. Divides it by this
 * entry, and eliminates column j from all other vectors. Returns false if the largest entry counts as 0. */
static bool take_pivot(null_vectors *v, size_t k, size_t j) {
    size_t columns = v->columns, best = k;
    double *to = v->vectors + k * columns;
    for (size_t i = k + 1; i < v->count; i++)
        if (fabs(v->vectors[i * columns + j]) > fabs(v->vectors[best * columns + j])) best = i;
    double *from = v->vectors + best * columns, pivot = from[j];
    if (!(fabs(pivot) > NOTHING * largest_entry(from, columns))) return false;
    for (size_t c = 0; c < columns; c++) {
        double other = to[c];
        to[c] = from[c] / pivot;
        if (best != k) from[c] = other;
    }
    for (size_t i = 0; i < v->count; i++) {
        double *row = v->vectors + i * columns, factor = i == k ? 0 : row[j];
        for (size_t c = 0; c < columns && factor != 0; c++) row[c] -= factor * to[c];
    }
    v->pivots[k] = j;
    return true;
}

/* Undoes the scaling of the columns, keeps the pivots equal to 1, and sets entries within rounding errors to 0. */
static void finish_vectors(null_vectors *v, const double *factor) {
    for (size_t k = 0; k < v->count; k++) {
        double *x = v->vectors + k * v->columns, largest = largest_entry(x, v->columns);
        for (size_t j = 0; j < v->columns; j++)
            x[j] = fabs(x[j]) <= NOTHING * largest ? 0 : x[j] * factor[j] / factor[v->pivots[k]];
    }
}

static bool reduce(null_vectors *out, double *A, size_t rows, double tolerance, double *factor, lapack_int *order,
                   double *tau) {
    size_t columns = out->columns, rank = 0, found = 0;
    scale_matrix(A, rows, columns, factor);
    int info =
        LAPACKE_dgeqp3(LAPACK_ROW_MAJOR, (lapack_int)rows, (lapack_int)columns, A, (lapack_int)columns, order, tau);
    out->starved = info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR;
    if (info != 0) return false;
    while (rank < columns && fabs(A[rank * columns + rank]) > tolerance * fabs(A[0])) rank++;
    out->count = columns - rank;
    out->vectors = calloc(out->count * columns + 1, sizeof *out->vectors);
    out->pivots = calloc(out->count + 1, sizeof *out->pivots);
    out->starved = !out->vectors || !out->pivots;
    if (out->starved) return false;
    solve_columns(out, A, rank, order);
    for (size_t j = 0; j < columns && found < out->count; j++) found += take_pivot(out, found, j);
    if (found < out->count) return false;
    finish_vectors(out, factor);
    return true;
}

bool null_vectors_find(null_vectors *out, double *A, size_t rows, size_t columns, double tolerance) {
    assert(rows >= columns && columns > 0);
    *out = (null_vectors){.columns = columns};
    double *factor = calloc(2 * columns, sizeof *factor);
    lapack_int *order = calloc(columns, sizeof *order);
    out->starved = !factor || !order;
    bool good = !out->starved && reduce(out, A, rows, tolerance, factor, order, factor + columns);
    free(factor);
    free(order);
    return good;
}

void null_vectors_free(null_vectors *v) {
    free(v->vectors);
    free(v->pivots);
    *v = (null_vectors){0};
}
