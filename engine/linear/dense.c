/* dense.c — Cholesky, LU and rank-revealing QR of small matrices.
 *
 * Matrices are column-major, so every inner loop runs down a column and can be vectorized. Cholesky and LU subtract
 * four columns at a time, which saves three of four passes over the column to be updated. Tests are written such that
 * the comparison that accepts a value is false for NaN. */
#include "engine/linear/dense.h"

#include <float.h>
#include <math.h>

#define DENSE_REAL double
#define DENSE_NAME(name) name
#define DENSE_ROOT(x, r) (r = sqrt(x))
#include "engine/linear/dense_template.h"

static double largest(size_t n, const double *x) {
    double m = 0;
    for (size_t i = 0; i < n; i++) {
        double v = fabs(x[i]);
        if (!(v <= m)) m = v; /* NaN propagates */
        if (isnan(m)) return m;
    }
    return m;
}

/* --- Cholesky ---------------------------------------------------------------------------------------------------- */

bool dense_cholesky(size_t n, double *a) {
    double scale = 0;
    for (size_t i = 0; i < n; i++) scale = fmax(scale, fabs(a[i + n * i]));
    double least = (double)n * DBL_EPSILON * scale;
    for (size_t j = 0; j < n; j++) {
        cholesky_subtract(n, j, a);
        double pivot = a[j + n * j];
        if (!(pivot > least) || !(pivot <= DBL_MAX)) return false;
        cholesky_divide(n, j, a);
    }
    return true;
}

void dense_forward(size_t n, const double *l, double *x) {
    forward(n, l, x);
}

void dense_backward(size_t n, const double *l, double *x) {
    backward(n, l, x);
}

/* --- LU ---------------------------------------------------------------------------------------------------------- */

/* Scales rows so that the largest entry of each row is in [1/2, 1). The scale factors are powers of two, which cause no
 * rounding errors. Returns false if a row is zero or not finite. */
static bool equilibrate(size_t n, double *a, double *scale, double *most) {
    for (size_t i = 0; i < n; i++) scale[i] = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            double v = fabs(a[i + n * j]);
            if (!(v <= DBL_MAX)) return false;
            if (v > scale[i]) scale[i] = v;
        }
    }
    *most = 0;
    for (size_t i = 0; i < n; i++) {
        int exponent;
        double m = frexp(scale[i], &exponent);
        if (!(m > 0)) return false;
        if (m > *most) *most = m;
        /* 2^1074 exceeds the range of double, so a row of the smallest denormals remains below 1/2 */
        scale[i] = ldexp(1, exponent < -1022 ? 1022 : -exponent);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + n * j] *= scale[i];
    return true;
}

static size_t largest_row(size_t n, const double *a, size_t j) {
    size_t best = j;
    for (size_t i = j + 1; i < n; i++)
        if (fabs(a[i + n * j]) > fabs(a[best + n * j])) best = i;
    return best;
}

/* Computes column j of L and U from the columns on its left, in groups of four. */
static void update_column(size_t n, double *a, size_t j) {
    double *column = a + n * j;
    size_t k = 0;
    for (; k + 4 <= j; k += 4) {
        for (size_t m = k; m < k + 3; m++) subtract_one(k + 3 - m, column + m + 1, a + m + 1 + n * m, &column[m]);
        double c[4] = {column[k], column[k + 1], column[k + 2], column[k + 3]};
        subtract_four(n - k - 4, column + k + 4, a + k + 4 + n * k, n, c);
    }
    for (; k < j; k++) subtract_one(n - k - 1, column + k + 1, a + k + 1 + n * k, &column[k]);
}

bool dense_lu(size_t n, double *a, size_t *pivot, double *scale) {
    double most;
    if (!equilibrate(n, a, scale, &most)) return false;
    double least = (double)n * DBL_EPSILON * most;
    for (size_t j = 0; j < n; j++) {
        update_column(n, a, j);
        pivot[j] = largest_row(n, a, j);
        if (pivot[j] != j) dense_exchange(n, n, a + j, a + pivot[j]);
        double p = a[j + n * j];
        if (!(fabs(p) > least) || !(fabs(p) <= DBL_MAX)) return false;
        for (size_t i = j + 1; i < n; i++) a[i + n * j] /= p;
    }
    return true;
}

void dense_lu_solve(size_t n, const double *lu, const size_t *pivot, const double *scale, double *x) {
    for (size_t i = 0; i < n; i++) x[i] *= scale[i];
    for (size_t j = 0; j < n; j++) dense_exchange(1, 1, x + j, x + pivot[j]);
    for (size_t j = 0; j < n; j++) subtract_one(n - j - 1, x + j + 1, lu + j + 1 + n * j, &x[j]);
    for (size_t j = n; j-- > 0;) {
        x[j] /= lu[j + n * j];
        subtract_one(j, x, lu + n * j, &x[j]);
    }
}

/* a = S⁻¹ Pᵀ L U, so a⁻ᵀ = S Pᵀ L⁻ᵀ U⁻ᵀ. */
void dense_lu_solve_transposed(size_t n, const double *lu, const size_t *pivot, const double *scale, double *x) {
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) x[j] -= lu[i + n * j] * x[i];
        x[j] /= lu[j + n * j];
    }
    for (size_t j = n; j-- > 0;)
        for (size_t i = j + 1; i < n; i++) x[j] -= lu[i + n * j] * x[i];
    for (size_t j = n; j-- > 0;) dense_exchange(1, 1, x + j, x + pivot[j]);
    for (size_t i = 0; i < n; i++) x[i] *= scale[i];
}

/* --- QR ---------------------------------------------------------------------------------------------------------- */

/* Returns the Euclidean norm; scaling prevents overflow and underflow. */
static double norm(size_t n, const double *x) {
    double m = largest(n, x), sum = 0;
    if (!(m > 0) || !(m <= DBL_MAX)) return m;
    for (size_t i = 0; i < n; i++) sum += (x[i] / m) * (x[i] / m);
    return m * sqrt(sum);
}

/* x := (I - tau v vᵀ) x, where v[0] = 1 is not stored. */
static void reflect(size_t n, const double *v, double tau, double *x) {
    double s = tau * (x[0] + dense_dot(n - 1, v + 1, x + 1));
    x[0] -= s;
    subtract_one(n - 1, x + 1, v + 1, &s);
}

/* Replaces x[n] with |x| = length > 0 by its Householder reflection (beta, v[1..]) and returns tau (GVL alg. 5.1.1). */
static double householder(size_t n, double *x, double length) {
    double beta = x[0] > 0 ? -length : length;
    double tau = (beta - x[0]) / beta, divisor = x[0] - beta;
    for (size_t i = 1; i < n; i++) x[i] /= divisor;
    x[0] = beta;
    return tau;
}

/* Updates left[j], the norm of the part of column j below row k, after step k. If the updates have lost half of the
 * digits, recomputes the norm (Drmač & Bujanović, ACM TOMS 35 (2008) 12). */
static void downdate(size_t rows, const double *a, size_t k, size_t j, double *left, double *reference) {
    if (!(left[j] > 0)) return;
    double ratio = fabs(a[k + rows * j]) / left[j];
    double remaining = fmax(0, (1 + ratio) * (1 - ratio));
    double relative = left[j] / reference[j];
    if (remaining * relative * relative > sqrt(DBL_EPSILON)) {
        left[j] *= sqrt(remaining);
    } else {
        left[j] = norm(rows - k - 1, a + k + 1 + rows * j);
        reference[j] = left[j];
    }
}

size_t dense_qr(size_t rows, size_t columns, size_t most, double *a, double *tau, size_t *pivot, double tolerance,
                double *scratch) {
    double *left = scratch, *reference = scratch + columns;
    size_t shorter = rows < columns ? rows : columns, steps = shorter < most ? shorter : most;
    double first = 0;
    for (size_t k = 0; k < shorter; k++) tau[k] = 0;
    for (size_t j = 0; j < columns; j++) {
        pivot[j] = j;
        left[j] = reference[j] = norm(rows, a + rows * j);
        if (!(left[j] <= DBL_MAX)) return 0;
    }
    for (size_t k = 0; k < steps; k++) {
        size_t best = k;
        for (size_t j = k + 1; j < columns; j++)
            if (left[j] > left[best]) best = j;
        double length = norm(rows - k, a + k + rows * best);
        if (k == 0) first = length;
        if (!(length > tolerance * first)) return k;
        if (best != k) dense_exchange(rows, 1, a + rows * k, a + rows * best);
        size_t column = pivot[best];
        pivot[best] = pivot[k];
        pivot[k] = column;
        left[best] = left[k];
        reference[best] = reference[k];
        tau[k] = householder(rows - k, a + k + rows * k, length);
        for (size_t j = k + 1; j < columns; j++) {
            reflect(rows - k, a + k + rows * k, tau[k], a + k + rows * j);
            downdate(rows, a, k, j, left, reference);
        }
    }
    return steps;
}

void dense_qr_apply_transpose(size_t rows, size_t rank, const double *qr, const double *tau, double *x) {
    for (size_t k = 0; k < rank; k++) reflect(rows - k, qr + k + rows * k, tau[k], x + k);
}

void dense_qr_apply(size_t rows, size_t rank, const double *qr, const double *tau, double *x) {
    for (size_t k = rank; k-- > 0;) reflect(rows - k, qr + k + rows * k, tau[k], x + k);
}
