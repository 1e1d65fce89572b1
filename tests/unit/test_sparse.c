/* test_sparse.c — engine/linear/sparse.c against dense_lu and against matrices with known results. */
#include "engine/linear/dense.h"
#include "engine/linear/sparse.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct entries {
    size_t n, count;
    int *rows, *columns;
    double *values;
} entries;

static void *array(size_t count, size_t size) {
    void *a = calloc(count + 1, size);
    assert_non_null(a);
    return a;
}

static entries make(size_t n, size_t count) {
    return (entries){n, count, array(count, sizeof(int)), array(count, sizeof(int)), array(count, sizeof(double))};
}

static void drop(entries *e) {
    free(e->rows);
    free(e->columns);
    free(e->values);
}

/* Returns a random pattern with some duplicates. A random permutation with large entries makes the matrix well
 * conditioned without a dominant diagonal. */
static entries random_entries(size_t n, uint64_t *seed) {
    size_t extra = 4 * n, shift = random_bits(seed) % n;
    entries e = make(n, n + extra);
    for (size_t i = 0; i < n; i++) {
        e.rows[i] = (int)i;
        e.columns[i] = (int)((i + shift) % n);
        e.values[i] = random_between(seed, -1, 1) > 0 ? 8 : -8;
    }
    for (size_t i = n; i < n + extra; i++) {
        e.rows[i] = (int)(random_bits(seed) % n);
        e.columns[i] = (int)(random_bits(seed) % n);
        e.values[i] = random_between(seed, -1, 1);
    }
    return e;
}

static double *to_dense(const entries *e) {
    double *a = array(e->n * e->n, sizeof *a);
    for (size_t i = 0; i < e->count; i++) a[(size_t)e->rows[i] + e->n * (size_t)e->columns[i]] += e->values[i];
    return a;
}

static sparse *create(const entries *e) {
    sparse *s = sparse_create(e->n, e->rows, e->columns, e->count);
    assert_non_null(s);
    return s;
}

/* The sparse and the dense factorization are backward stable, and the condition numbers are below 1e3, so 1e-11 is
 * sufficient for n = 60. */
static void solutions_agree_with_the_dense_factorization(void **state) {
    (void)state;
    uint64_t seed = 42;
    for (size_t n = 1; n <= 60; n += 1 + n / 8) {
        entries e = random_entries(n, &seed);
        sparse *s = create(&e);
        for (int round = 0; round < 3; round++) { /* factorizations 2 and 3 reuse the pivots */
            for (size_t i = n; i < e.count; i++) e.values[i] = random_between(&seed, -1, 1);
            double *a = to_dense(&e), *scale = array(n, sizeof *scale), *x = array(n, sizeof *x);
            double *y = array(n, sizeof *y);
            size_t *pivot = array(n, sizeof *pivot);
            for (size_t i = 0; i < n; i++) x[i] = y[i] = random_between(&seed, -1, 1);
            assert_true(dense_lu(n, a, pivot, scale));
            dense_lu_solve(n, a, pivot, scale, y);
            assert_int_equal(sparse_factor(s, e.values), HAMEL_OK);
            assert_int_equal(sparse_solve(s, x), HAMEL_OK);
            for (size_t i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-11);
            free(a);
            free(scale);
            free(x);
            free(y);
            free(pivot);
        }
        sparse_free(s);
        drop(&e);
    }
}

/* The matrix is [M -Aᵀ; A 0] of a chain with n masses in a line and n - 1 rods between neighbours. The right-hand side
 * is computed from a known solution. After refinement the componentwise backward error is of order ε (Skeel 1980;
 * Higham, Accuracy and Stability, 2nd ed., section 12.2). The condition number grows like n², here to 1e6. */
static void a_constrained_chain_is_solved_although_its_diagonal_is_partly_zero(void **state) {
    (void)state;
    size_t n = 1000, m = n - 1, filled = 0;
    entries e = make(n + m, n + 4 * m);
    for (size_t i = 0; i < n; i++, filled++) {
        e.rows[filled] = e.columns[filled] = (int)i;
        e.values[filled] = 1 + 0.5 * (double)(i % 3);
    }
    for (size_t c = 0; c < m; c++) {
        for (size_t k = 0; k < 2; k++) {
            double a = k ? 1 : -1;
            e.rows[filled] = (int)(n + c), e.columns[filled] = (int)(c + k), e.values[filled++] = a;
            e.rows[filled] = (int)(c + k), e.columns[filled] = (int)(n + c), e.values[filled++] = -a;
        }
    }
    double *x = array(n + m, sizeof *x), *known = array(n + m, sizeof *known);
    for (size_t i = 0; i < n + m; i++) known[i] = sin((double)i);
    for (size_t i = 0; i < e.count; i++) x[e.rows[i]] += e.values[i] * known[e.columns[i]];
    sparse *s = create(&e);
    assert_int_equal(sparse_factor(s, e.values), HAMEL_OK);
    assert_int_equal(sparse_solve(s, x), HAMEL_OK);
    for (size_t i = 0; i < n + m; i++) assert_true(fabs(x[i] - known[i]) <= 1e-9);
    sparse_free(s);
    free(x);
    free(known);
    drop(&e);
}

static void duplicates_are_summed(void **state) {
    (void)state;
    sparse *s = sparse_create(2, (int[]){0, 1, 0, 1}, (int[]){0, 1, 0, 0}, 4);
    assert_non_null(s);
    double x[] = {8, 10};
    assert_int_equal(sparse_factor(s, (double[]){1, 2, 3, 1}), HAMEL_OK); /* [4 0; 1 2] */
    assert_int_equal(sparse_solve(s, x), HAMEL_OK);
    assert_true(x[0] == 2 && x[1] == 4);
    sparse_free(s);
}

static void bad_pivots_are_chosen_again(void **state) {
    (void)state;
    sparse *s = sparse_create(2, (int[]){0, 0, 1, 1}, (int[]){0, 1, 0, 1}, 4);
    assert_non_null(s);
    assert_int_equal(sparse_factor(s, (double[]){1, 0.5, 0.5, 1}), HAMEL_OK);
    static const double small[] = {1e-3, 1e-6, 1e-10, 1e-16, 1e-30, 0}; /* the old pivot vanishes gradually */
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        double x[] = {small[i] + 1, 2};
        assert_int_equal(sparse_factor(s, (double[]){small[i], 1, 1, 1}), HAMEL_OK);
        assert_int_equal(sparse_solve(s, x), HAMEL_OK);
        assert_true(fabs(x[0] - 1) <= 1e-15 && fabs(x[1] - 1) <= 1e-15);
    }
    sparse_free(s);
}

static void bad_scaling_of_rows_and_columns_is_not_singularity(void **state) {
    (void)state;
    static const double row[] = {1e-12, 1, 1e9}, column[] = {1e-8, 1e6, 1};
    static const double a[] = {2, 1, 0, 1, 3, 1, 0, 1, 2};
    int rows[9], columns[9];
    double values[9], x[3] = {0};
    for (int i = 0; i < 9; i++) {
        rows[i] = i / 3;
        columns[i] = i % 3;
        values[i] = row[i / 3] * a[i] * column[i % 3];
        x[i / 3] += values[i] / column[i % 3];
    }
    sparse *s = sparse_create(3, rows, columns, 9);
    assert_non_null(s);
    assert_int_equal(sparse_factor(s, values), HAMEL_OK);
    assert_int_equal(sparse_solve(s, x), HAMEL_OK);
    for (int i = 0; i < 3; i++) assert_true(fabs(x[i] * column[i] - 1) <= 1e-14);
    sparse_free(s);
}

static void a_column_without_a_pivot_is_singular(void **state) {
    (void)state;
    /* columns 0 and 2 are proportional up to rounding: 0.1 + 0.2 is not 0.3 */
    int rows[9], columns[9];
    for (int i = 0; i < 9; i++) rows[i] = i / 3, columns[i] = i % 3;
    sparse *s = sparse_create(3, rows, columns, 9);
    assert_non_null(s);
    double values[] = {0.1 + 0.2, 1, 0.3, 0.3, 2, 0.3, 0.3, 5, 0.3}, x[] = {1, 1, 1};
    assert_int_equal(sparse_factor(s, values), HAMEL_SINGULAR);
    assert_int_equal(sparse_solve(s, x), HAMEL_SINGULAR);
    assert_true(x[0] == 1);
    values[8] = 7; /* nonsingular again */
    assert_int_equal(sparse_factor(s, values), HAMEL_OK);
    values[8] = 0.3; /* the matrix is singular again, and the factorization has stored pivots */
    assert_int_equal(sparse_factor(s, values), HAMEL_SINGULAR);
    sparse_free(s);
}

static void an_empty_column_and_an_empty_row_are_singular(void **state) {
    (void)state;
    sparse *s = sparse_create(3, (int[]){0, 1, 2}, (int[]){0, 0, 2}, 3);
    assert_non_null(s);
    assert_int_equal(sparse_factor(s, (double[]){1, 1, 1}), HAMEL_SINGULAR);
    sparse_free(s);
    s = sparse_create(2, NULL, NULL, 0);
    assert_non_null(s);
    assert_int_equal(sparse_factor(s, NULL), HAMEL_SINGULAR);
    sparse_free(s);
}

static void an_empty_matrix_is_solved(void **state) {
    (void)state;
    sparse *s = sparse_create(0, NULL, NULL, 0);
    assert_non_null(s);
    assert_int_equal(sparse_factor(s, NULL), HAMEL_OK);
    assert_int_equal(sparse_solve(s, NULL), HAMEL_OK);
    sparse_free(s);
    sparse_free(NULL);
}

static void values_that_are_not_finite_are_rejected(void **state) {
    (void)state;
    sparse *s = sparse_create(2, (int[]){0, 1}, (int[]){0, 1}, 2);
    assert_non_null(s);
    double x[] = {1, 1};
    assert_int_equal(sparse_factor(s, (double[]){1, NAN}), HAMEL_NOT_FINITE);
    assert_int_equal(sparse_factor(s, (double[]){INFINITY, 1}), HAMEL_NOT_FINITE);
    assert_int_equal(sparse_solve(s, x), HAMEL_SINGULAR);
    assert_int_equal(sparse_factor(s, (double[]){2, 1}), HAMEL_OK);
    x[1] = NAN;
    assert_int_equal(sparse_solve(s, x), HAMEL_NOT_FINITE);
    sparse_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_agree_with_the_dense_factorization),
        cmocka_unit_test(a_constrained_chain_is_solved_although_its_diagonal_is_partly_zero),
        cmocka_unit_test(duplicates_are_summed),
        cmocka_unit_test(bad_pivots_are_chosen_again),
        cmocka_unit_test(bad_scaling_of_rows_and_columns_is_not_singularity),
        cmocka_unit_test(a_column_without_a_pivot_is_singular),
        cmocka_unit_test(an_empty_column_and_an_empty_row_are_singular),
        cmocka_unit_test(an_empty_matrix_is_solved),
        cmocka_unit_test(values_that_are_not_finite_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
