/* dense.h — dense factorizations of small matrices. Below about 32 rows, these functions are faster than LAPACK.
 *
 * Matrices are column-major: a[i + rows * j]. The functions allocate no memory. A factorization fails if an entry is
 * not finite. GVL: Golub & Van Loan, Matrix Computations, 4th ed. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns Σ x_i y_i, computed in four partial sums whose order is fixed. */
static inline double dense_dot(size_t n, const double *x, const double *y) {
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Returns max |x_i|, ignoring NaN. */
static inline double dense_magnitude(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Exchanges n items of two rows (stride: length of a column) or of two columns (stride 1). */
static inline void dense_exchange(size_t n, size_t stride, double *x, double *y) {
    for (size_t i = 0; i < n * stride; i += stride) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Replaces the lower triangle of `a` by L with a = L Lᵀ (GVL alg. 4.2.1). The upper triangle is not read. Returns false
 * if `a` is not positive definite to working accuracy, that is, if a pivot is not above n·ε·max|a_ii|. */
bool dense_cholesky(size_t n, double *a);
void dense_forward(size_t n, const double *l, double *x);  /* x := L⁻¹ x */
void dense_backward(size_t n, const double *l, double *x); /* x := L⁻ᵀ x */

/* Replaces `a` by L and U with P a = L U, with partial pivoting and row equilibration (GVL alg. 3.4.1). Returns false
 * if `a` is singular to working accuracy, that is, if a pivot is not above n·ε times the largest equilibrated entry.
 * `pivot` receives the n row indices, `scale` the n scale factors of the rows. dense_lu_solve computes x := a⁻¹ x, and
 * dense_lu_solve_transposed x := a⁻ᵀ x. */
bool dense_lu(size_t n, double *a, size_t *pivot, double *scale);
void dense_lu_solve(size_t n, const double *lu, const size_t *pivot, const double *scale, double *x);
void dense_lu_solve_transposed(size_t n, const double *lu, const size_t *pivot, const double *scale, double *x);

/* Factors a P = Q R with column pivoting by Householder reflections (GVL alg. 5.4.1). `a` is rows × columns. On return,
 * R is the upper triangle of `a`, and the Householder vectors are below the diagonal. `tau` needs min(rows, columns)
 * entries, `pivot` needs `columns` and `scratch` needs 2 · columns. Returns the numerical rank: the number of diagonal
 * entries of R above tolerance · |R_00|, at most `most`. */
size_t dense_qr(size_t rows, size_t columns, size_t most, double *a, double *tau, size_t *pivot, double tolerance,
                double *scratch);
void dense_qr_apply_transpose(size_t rows, size_t rank, const double *qr, const double *tau, double *x); /* x := Qᵀ x */
void dense_qr_apply(size_t rows, size_t rank, const double *qr, const double *tau, double *x);           /* x := Q x */
