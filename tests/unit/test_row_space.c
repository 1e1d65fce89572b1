/* test_row_space.c — engine/solve/row_space.c: least solutions, free directions and least multipliers of rows of any rank. */
#include "engine/solve/row_space.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 5, ROWS = 4 };

/* Three random rows of very different length, and the fourth is the sum of the first two: as columns. */
static void fill(double *rows, uint64_t *seed) {
    static const double length[3] = {1, 1e3, 1e-3};
    for (size_t c = 0; c < 3; c++) {
        random_fill(seed, rows + N * c, N, -1, 1);
        for (size_t i = 0; i < N; i++) rows[i + N * c] *= length[c];
    }
    for (size_t i = 0; i < N; i++) rows[i + N * 3] = rows[i] + rows[i + N];
}

static double product(const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < N; i++) sum += x[i] * y[i];
    return sum;
}

static void a_dependent_row_is_found_whatever_the_lengths(void **state) {
    (void)state;
    double rows[N * ROWS];
    uint64_t seed = 3;
    row_space s;
    assert_true(row_space_create(&s, N, ROWS));
    fill(rows, &seed);
    row_space_load(&s, ROWS, rows);
    assert_true(row_space_factor(&s));
    assert_int_equal(s.rank, 3);
    row_space_free(&s);
}

static void the_solution_satisfies_the_rows_and_is_orthogonal_to_what_they_leave_free(void **state) {
    (void)state;
    double rows[N * ROWS], r[ROWS] = {0.5, -200, 3e-3, -199.5}, x[N], basis[N * 2];
    uint64_t seed = 4;
    row_space s;
    assert_true(row_space_create(&s, N, ROWS));
    fill(rows, &seed);
    row_space_load(&s, ROWS, rows);
    assert_true(row_space_factor(&s));
    assert_true(row_space_solution(&s, r, x) < 1e-12);
    for (size_t c = 0; c < ROWS; c++) assert_near("row", product(rows + N * c, x), r[c], 1e-12);
    row_space_free_directions(&s, basis);
    for (size_t j = 0; j < 2; j++) {
        for (size_t c = 0; c < ROWS; c++) assert_near("free", product(rows + N * c, basis + N * j) * 1e-3, 0, 1e-14);
        assert_near("least", product(x, basis + N * j), 0, 1e-12);
        for (size_t k = 0; k < 2; k++) assert_near("unit", product(basis + N * k, basis + N * j), j == k, 1e-14);
    }
    r[3] = -100;
    assert_true(row_space_solution(&s, r, x) > 1e-2);
    row_space_free(&s);
}

/* f = Eᵀλ is given by many λ; the least is orthogonal to (1, 1, 0, −1), which gives nothing. */
static void multipliers_give_the_reaction_and_are_the_least(void **state) {
    (void)state;
    double rows[N * ROWS], f[N], lambda[ROWS];
    const double given[ROWS] = {2, -0.3, 50, 1};
    uint64_t seed = 5;
    row_space s;
    assert_true(row_space_create(&s, N, ROWS));
    fill(rows, &seed);
    row_space_load(&s, ROWS, rows);
    assert_true(row_space_factor(&s));
    for (size_t i = 0; i < N; i++) {
        f[i] = 0;
        for (size_t c = 0; c < ROWS; c++) f[i] += rows[i + N * c] * given[c];
    }
    row_space_multipliers(&s, f, lambda);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t c = 0; c < ROWS; c++) sum += rows[i + N * c] * lambda[c];
        assert_near("reaction", sum, f[i], 1e-12);
    }
    assert_near("the independent row", lambda[2], 50, 1e-9);
    /* ε times the spread of the lengths, 1e6, times the largest λ, with a decimal to spare */
    assert_near("least", lambda[0] + lambda[1] - lambda[3], 0, 1e-7);
    row_space_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dependent_row_is_found_whatever_the_lengths),
        cmocka_unit_test(the_solution_satisfies_the_rows_and_is_orthogonal_to_what_they_leave_free),
        cmocka_unit_test(multipliers_give_the_reaction_and_are_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
