/* test_dense.c — engine/linear/dense.c with random matrices and with matrices whose results are known.
 *
 * The bounds are backward errors: a residual of about c n ε (|A| |x| + |b|). The factor c includes the constants of the
 * theorems and the growth factor of random matrices (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * theorems 9.4, 10.3, 19.4). These bounds are valid for any condition number. */
#include "engine/linear/dense.h"
#include "tests/unit/random.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

/* Computes a random positive definite matrix G Gᵀ + shift I. */
static void positive_definite(size_t n, double *a, double shift, uint64_t *seed) {
    static double g[MOST * MOST];
    random_fill(seed, g, n * n, -1, 1);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i + n * j] = i == j ? shift : 0;
            for (size_t k = 0; k < n; k++) a[i + n * j] += g[i + n * k] * g[j + n * k];
        }
    }
}

/* Returns the largest |b - A x|_i / (|A| |x| + |b|)_i. */
static double backward_error(size_t n, const double *a, const double *x, const double *b) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double residual = b[i], size = fabs(b[i]);
        for (size_t j = 0; j < n; j++) {
            residual -= a[i + n * j] * x[j];
            size += fabs(a[i + n * j] * x[j]);
        }
        if (size > 0) worst = fmax(worst, fabs(residual) / size);
    }
    return worst;
}

static void cholesky_solves_positive_definite_systems(void **state) {
    (void)state;
    uint64_t seed = 11;
    static double a[MOST * MOST], l[MOST * MOST];
    for (size_t n = 1; n <= 60; n++) {
        double b[MOST], x[MOST];
        positive_definite(n, a, 0.1, &seed);
        memcpy(l, a, n * n * sizeof *l);
        for (size_t j = 1; j < n; j++)
            for (size_t i = 0; i < j; i++) l[i + n * j] = NAN; /* the upper triangle is not read */
        random_fill(&seed, b, n, -1, 1);
        memcpy(x, b, sizeof x);
        assert_true(dense_cholesky(n, l));
        dense_forward(n, l, x);
        dense_backward(n, l, x);
        /* The bound uses the largest entry of A, because row i of |A| |x| does not bound the error of Cholesky's method
         * in row i. */
        double size = 0;
        for (size_t i = 0; i < n; i++) size = fmax(size, a[i + n * i]);
        double most = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
        for (size_t i = 0; i < n; i++) {
            double residual = b[i];
            for (size_t j = 0; j < n; j++) residual -= a[i + n * j] * x[j];
            assert_true(fabs(residual) <= 8 * (double)(n * n) * DBL_EPSILON * size * most);
        }
    }
}

static void cholesky_fails_if_the_matrix_is_not_positive_definite(void **state) {
    (void)state;
    uint64_t seed = 5;
    static double a[MOST * MOST];
    for (size_t n = 2; n <= 40; n++) {
        positive_definite(n, a, 1, &seed);
        a[n / 2 + n * (n / 2)] = -1e-3;
        assert_false(dense_cholesky(n, a));
    }
    for (size_t n = 2; n <= 40; n++) { /* matrices v vᵀ of rank one */
        double v[MOST];
        random_fill(&seed, v, n, -1, 1);
        for (size_t i = 0; i < n * n; i++) a[i] = v[i % n] * v[i / n];
        assert_false(dense_cholesky(n, a));
    }
    double zero[4] = {0};
    assert_false(dense_cholesky(2, zero));
}

static void non_finite_entries_make_every_factorization_fail(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    uint64_t seed = 8;
    for (size_t n = 1; n <= 9; n++) {
        for (size_t at = 0; at < n * n; at++) {
            for (size_t k = 0; k < 3; k++) {
                double a[81], b[81], c[81], scale[9], tau[9], scratch[18];
                size_t pivot[9];
                positive_definite(n, a, 1, &seed);
                memcpy(b, a, sizeof b);
                memcpy(c, a, sizeof c);
                a[at] = b[at] = c[at] = bad[k];
                if (at % n >= at / n) assert_false(dense_cholesky(n, a)); /* only the lower triangle is read */
                assert_false(dense_lu(n, b, pivot, scale));
                assert_int_equal(dense_qr(n, n, n, c, tau, pivot, 1e-12, scratch), 0);
            }
        }
    }
}

static void lu_solves_general_and_indefinite_systems(void **state) {
    (void)state;
    uint64_t seed = 17;
    static double a[MOST * MOST], lu[MOST * MOST];
    for (size_t n = 1; n <= 60; n++) {
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            double b[MOST], x[MOST], scale[MOST];
            size_t pivot[MOST];
            random_fill(&seed, a, n * n, -1, 1);
            for (size_t i = 0; symmetric && i < n * n; i++) a[i] = a[i / n + n * (i % n)];
            /* scale the first column by 1e9 and the last row by 1e-7 */
            for (size_t i = 0; i < n; i++) a[i] *= 1e9;
            for (size_t j = 0; j < n; j++) a[n - 1 + n * j] *= 1e-7;
            random_fill(&seed, b, n, -1, 1);
            memcpy(lu, a, n * n * sizeof *lu);
            memcpy(x, b, sizeof x);
            assert_true(dense_lu(n, lu, pivot, scale));
            dense_lu_solve(n, lu, pivot, scale, x);
            assert_true(backward_error(n, a, x, b) <= 64 * (double)n * DBL_EPSILON);
        }
    }
}

/* [M -Aᵀ; A 0] has zeros on the diagonal, so row exchanges are necessary. */
static void lu_solves_a_saddle_point_system(void **state) {
    (void)state;
    double a[] = {2, 0, 1, 0, 3, 1, -1, -1, 0}, lu[9], b[] = {1, 2, 3}, x[3], scale[3];
    size_t pivot[3];
    memcpy(lu, a, sizeof a);
    memcpy(x, b, sizeof b);
    assert_true(dense_lu(3, lu, pivot, scale));
    dense_lu_solve(3, lu, pivot, scale, x);
    assert_true(backward_error(3, a, x, b) <= 4 * DBL_EPSILON);
    double multiplier = (3 - 0.5 - 2.0 / 3) / (0.5 + 1.0 / 3); /* (b_3 - A M⁻¹ b_1,2) / (A M⁻¹ Aᵀ) */
    assert_true(fabs(x[2] - multiplier) <= 8 * DBL_EPSILON * multiplier);
}

static void lu_fails_if_the_matrix_is_singular(void **state) {
    (void)state;
    uint64_t seed = 23;
    static double a[MOST * MOST];
    double scale[MOST];
    size_t pivot[MOST];
    for (size_t n = 2; n <= 40; n++) {
        random_fill(&seed, a, n * n, -1, 1);
        /* the last column is the mean of the first two, or for n = 2 a multiple of the first */
        for (size_t i = 0; i < n; i++) a[i + n * (n - 1)] = n == 2 ? 3 * a[i] : (a[i] + a[i + n]) / 2;
        assert_false(dense_lu(n, a, pivot, scale));
    }
    double zero_row[] = {1, 0, 2, 0};
    assert_false(dense_lu(2, zero_row, pivot, scale));
}

static void scaling_by_extreme_powers_of_two_changes_nothing(void **state) {
    (void)state;
    static const double factors[] = {0x1p-1000, 0x1p+1000, 0x1p-1022, 1};
    for (size_t k = 0; k < 4; k++) {
        double a[] = {2 * factors[k], factors[k], factors[k], 3 * factors[k]}, x[] = {3 * factors[k], 4 * factors[k]};
        double scale[2];
        size_t pivot[2];
        assert_true(dense_lu(2, a, pivot, scale));
        dense_lu_solve(2, a, pivot, scale, x);
        assert_true(fabs(x[0] - 1) <= 4 * DBL_EPSILON && fabs(x[1] - 1) <= 4 * DBL_EPSILON);
    }
}

/* A = B C with inner dimension r has rank r almost surely, even if the columns differ in scale by six decades. */
static void qr_finds_the_rank_of_products(void **state) {
    (void)state;
    uint64_t seed = 31;
    static double a[MOST * MOST];
    for (size_t trial = 0; trial < 200; trial++) {
        size_t rows = 1 + random_bits(&seed) % 20, columns = 1 + random_bits(&seed) % 20;
        size_t least = rows < columns ? rows : columns, rank = random_bits(&seed) % (least + 1);
        double b[400], c[400], tau[20], scratch[40];
        size_t pivot[20];
        random_fill(&seed, b, rows * rank, -1, 1);
        random_fill(&seed, c, rank * columns, -1, 1);
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < columns; j++) {
                double sum = 0;
                for (size_t k = 0; k < rank; k++) sum += b[i + rows * k] * c[k + rank * j];
                a[i + rows * j] = sum * pow(10, -6.0 * (double)j / 20);
            }
        }
        assert_int_equal(dense_qr(rows, columns, columns, a, tau, pivot, 1e-13, scratch), rank);
    }
}

/* Checks Q R P⁻¹ = A with an orthogonal Q. */
static void qr_reproduces_the_matrix(void **state) {
    (void)state;
    uint64_t seed = 37;
    for (size_t trial = 0; trial < 100; trial++) {
        size_t rows = 1 + random_bits(&seed) % 20, columns = 1 + random_bits(&seed) % 20;
        double a[400], qr[400], tau[20], scratch[40], x[20];
        size_t pivot[20];
        random_fill(&seed, a, rows * columns, -1, 1);
        memcpy(qr, a, sizeof qr);
        size_t rank = dense_qr(rows, columns, columns, qr, tau, pivot, 1e-14, scratch);
        assert_int_equal(rank, rows < columns ? rows : columns);
        for (size_t j = 0; j < columns; j++) {
            for (size_t i = 0; i < rows; i++) x[i] = i <= j && i < rank ? qr[i + rows * j] : 0;
            dense_qr_apply(rows, rank, qr, tau, x);
            for (size_t i = 0; i < rows; i++)
                assert_true(fabs(x[i] - a[i + rows * pivot[j]]) <= 8 * (double)rows * DBL_EPSILON * sqrt((double)rows));
        }
        for (size_t k = 1; k < rank; k++) /* column pivoting makes the diagonal decrease */
            assert_true(fabs(qr[k + rows * k]) <= fabs(qr[k - 1 + rows * (k - 1)]) * (1 + 1e-8));
        random_fill(&seed, x, rows, -1, 1);
        double y[20];
        memcpy(y, x, sizeof y);
        dense_qr_apply_transpose(rows, rank, qr, tau, y);
        dense_qr_apply(rows, rank, qr, tau, y);
        for (size_t i = 0; i < rows; i++) assert_true(fabs(x[i] - y[i]) <= 64 * (double)rows * DBL_EPSILON);
    }
}

/* Kahan's matrix: careless downdating of the column norms gives a wrong column order (Drmač & Bujanović 2008). */
static void the_diagonal_of_qr_decreases_for_kahans_matrix(void **state) {
    (void)state;
    enum { N = 60 };
    static double a[N * N];
    double tau[N], scratch[2 * N], c = 0.285, s = sqrt(1 - c * c);
    size_t pivot[N];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) a[i + N * j] = i > j ? 0 : pow(s, (double)i) * (i == j ? 1 : -c);
    size_t rank = dense_qr(N, N, N, a, tau, pivot, 0, scratch);
    assert_int_equal(rank, N);
    for (size_t k = 1; k < N; k++) assert_true(fabs(a[k + N * k]) <= fabs(a[k - 1 + N * (k - 1)]) * (1 + 1e-6));
}

static void qr_of_huge_and_tiny_numbers_neither_overflows_nor_underflows(void **state) {
    (void)state;
    static const double factors[] = {1e300, 1e-300};
    for (size_t k = 0; k < 2; k++) {
        double f = factors[k], a[] = {3 * f, 4 * f, 0, 4 * f, -3 * f, 0}, tau[2], scratch[4];
        size_t pivot[2];
        assert_int_equal(dense_qr(3, 2, 2, a, tau, pivot, 1e-12, scratch), 2);
        assert_true(fabs(fabs(a[0] / f) - 5) < 1e-14 && fabs(fabs(a[4] / f) - 5) < 1e-14);
    }
}

static void a_zero_matrix_has_rank_zero(void **state) {
    (void)state;
    double a[6] = {0}, tau[2], scratch[4];
    size_t pivot[2];
    assert_int_equal(dense_qr(3, 2, 2, a, tau, pivot, 1e-12, scratch), 0);
    assert_true(pivot[0] == 0 && pivot[1] == 1);
    assert_int_equal(dense_qr(0, 2, 2, a, tau, pivot, 1e-12, scratch), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_solves_positive_definite_systems),
        cmocka_unit_test(cholesky_fails_if_the_matrix_is_not_positive_definite),
        cmocka_unit_test(non_finite_entries_make_every_factorization_fail),
        cmocka_unit_test(lu_solves_general_and_indefinite_systems),
        cmocka_unit_test(lu_solves_a_saddle_point_system),
        cmocka_unit_test(lu_fails_if_the_matrix_is_singular),
        cmocka_unit_test(scaling_by_extreme_powers_of_two_changes_nothing),
        cmocka_unit_test(qr_finds_the_rank_of_products),
        cmocka_unit_test(qr_reproduces_the_matrix),
        cmocka_unit_test(the_diagonal_of_qr_decreases_for_kahans_matrix),
        cmocka_unit_test(qr_of_huge_and_tiny_numbers_neither_overflows_nor_underflows),
        cmocka_unit_test(a_zero_matrix_has_rank_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
