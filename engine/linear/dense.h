/* dense.h — small dense factorizations; below some 32 rows they are faster than LAPACK.
 *
 * Matrices are column-major with leading dimension = rows: a[i + rows * j]. Nothing is allocated; the caller owns all
 * memory. Entries that are not finite make a factorization fail. Golub & Van Loan, Matrix Computations, 4th ed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Σ x_i y_i by four independent partial sums, always in the same order. */
static inline double dense_dot(size_t n, const double *x, const double *y) {
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* a = L Lᵀ, lower triangle read and overwritten (GVL alg. 4.2.1). Returns false if a pivot is not above n·ε·max|a_ii|,
 * that is, a is not positive definite to working accuracy. */
bool dense_cholesky(size_t n, double *a);
void dense_forward(size_t n, const double *l, double *x);  /* x := L⁻¹ x */
void dense_backward(size_t n, const double *l, double *x); /* x := L⁻ᵀ x */

/* P a = L U with partial pivoting and row equilibration (GVL alg. 3.4.1). Returns false if a is singular to working
 * accuracy: a pivot is not above n·ε times the largest equilibrated entry. `pivot`: n entries; `scale`: n row
 * scales. */
bool dense_lu(size_t n, double *a, size_t *pivot, double *scale);
void dense_lu_solve(size_t n, const double *lu, const size_t *pivot, const double *scale, double *x);
void dense_lu_solve_transposed(size_t n, const double *lu, const size_t *pivot, const double *scale,
                               double *x); /* x := a⁻ᵀ x */

/* a P = Q R, column pivoting by Householder (GVL alg. 5.4.1), a is rows × columns. On return, R is in the upper
 * triangle and the Householder vectors below it; tau has min(rows, columns) entries, pivot has `columns`. Returns the
 * numerical rank: the number of diagonal entries of R above tolerance · |R_00|, at most `most`. */
size_t dense_qr(size_t rows, size_t columns, size_t most, double *a, double *tau, size_t *pivot, double tolerance,
                double *scratch /* 2*columns */);
void dense_qr_apply_transpose(size_t rows, size_t rank, const double *qr, const double *tau, double *x); /* x := Qᵀ x */
void dense_qr_apply(size_t rows, size_t rank, const double *qr, const double *tau, double *x);           /* x := Q x */
