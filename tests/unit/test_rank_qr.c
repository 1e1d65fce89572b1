/* test_rank_qr.c — engine/linear/rank_qr.c: least-norm solutions, free directions and least-norm multipliers for
 * matrices of any rank. */
#include "engine/linear/rank_qr.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 5, ROWS = 4 };

/* Computes three random rows of very different norms. The fourth row is the sum of the first two. Rows are stored as
 * columns. */
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

static void a_dependent_row_is_found_for_any_row_norms(void **state) {
    (void)state;
    double rows[N * ROWS];
    uint64_t seed = 3;
    rank_qr s;
    assert_true(rank_qr_create(&s, N, ROWS));
    fill(rows, &seed);
    rank_qr_load(&s, ROWS, rows, NULL);
    assert_true(rank_qr_factor(&s));
    assert_int_equal(s.rank, 3);
    rank_qr_free(&s);
}

static void the_solution_satisfies_the_rows_and_is_orthogonal_to_free_directions(void **state) {
    (void)state;
    double rows[N * ROWS], r[ROWS] = {0.5, -200, 3e-3, -199.5}, x[N], basis[N * 2];
    uint64_t seed = 4;
    rank_qr s;
    assert_true(rank_qr_create(&s, N, ROWS));
    fill(rows, &seed);
    rank_qr_load(&s, ROWS, rows, NULL);
    assert_true(rank_qr_factor(&s));
    assert_true(rank_qr_solution(&s, r, x) < 1e-12);
    for (size_t c = 0; c < ROWS; c++) assert_near("row", product(rows + N * c, x), r[c], 1e-12);
    rank_qr_free_directions(&s, basis);
    for (size_t j = 0; j < 2; j++) {
        for (size_t c = 0; c < ROWS; c++)
            assert_near("free direction", product(rows + N * c, basis + N * j) * 1e-3, 0, 1e-14);
        assert_near("least-norm solution", product(x, basis + N * j), 0, 1e-12);
        for (size_t k = 0; k < 2; k++) assert_near("unit", product(basis + N * k, basis + N * j), j == k, 1e-14);
    }
    r[3] = -100;
    assert_true(rank_qr_solution(&s, r, x) > 1e-2);
    rank_qr_free(&s);
}

/* Many λ satisfy f = Eᵀλ. The least-norm λ is orthogonal to (1, 1, 0, −1), for which Eᵀλ = 0. */
static void multipliers_give_the_reaction_with_the_least_norm(void **state) {
    (void)state;
    double rows[N * ROWS], f[N], lambda[ROWS];
    const double given[ROWS] = {2, -0.3, 50, 1};
    uint64_t seed = 5;
    rank_qr s;
    assert_true(rank_qr_create(&s, N, ROWS));
    fill(rows, &seed);
    rank_qr_load(&s, ROWS, rows, NULL);
    assert_true(rank_qr_factor(&s));
    for (size_t i = 0; i < N; i++) {
        f[i] = 0;
        for (size_t c = 0; c < ROWS; c++) f[i] += rows[i + N * c] * given[c];
    }
    rank_qr_multipliers(&s, f, lambda);
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t c = 0; c < ROWS; c++) sum += rows[i + N * c] * lambda[c];
        assert_near("reaction", sum, f[i], 1e-12);
    }
    assert_near("the independent row", lambda[2], 50, 1e-9);
    /* The bound is ten times the rounding error ε · 1e6 · 50, where 1e6 is the ratio of the row norms and 50 is the
     * largest λ. */
    assert_near("least-norm multipliers", lambda[0] + lambda[1] - lambda[3], 0, 1e-7);
    rank_qr_free(&s);
}

/* The usual length of the first row is 1, but here the row contains rounding errors only. Its direction must be
 * ignored. */
static void the_rounding_of_a_vanishing_row_is_not_a_direction(void **state) {
    (void)state;
    const double rows[2 * N] = {1e-16, -2e-16, 0, 0, 1e-16, 0, 1, 0, 0, 0}, usual[2] = {1, 1}, r[2] = {0, 0.3};
    double x[N], lambda[2];
    rank_qr s;
    assert_true(rank_qr_create(&s, N, 2));
    rank_qr_load(&s, 2, rows, NULL);
    assert_true(rank_qr_factor(&s));
    assert_int_equal(s.rank, 2);
    rank_qr_load(&s, 2, rows, usual);
    assert_true(rank_qr_factor(&s));
    assert_int_equal(s.rank, 1);
    assert_near("margin", rank_qr_margin(&s), 1, 1e-12);
    assert_true(rank_qr_solution(&s, r, x) < 1e-12);
    assert_near("solution", x[1], 0.3, 1e-12);
    rank_qr_multipliers(&s, x, lambda);
    assert_near("multiplier", lambda[1], 0.3, 1e-12);
    assert_near("multiplier of the short row", lambda[0], 0, 1e-12);
    rank_qr_free(&s);
}

/* The state violates the constraints by 1e-6, so two rows that are usually dependent become independent. The rank must
 * remain 1. The solution must not jump at 45 degrees, where the two rows have equal lengths. */
static void the_expected_rank_is_kept_without_jumps_at_inconsistent_states(void **state) {
    (void)state;
    const double off = 1e-6, usual[2] = {1, 1};
    double before[N] = {0}, free_before[N * (N - 1)];
    rank_qr s;
    assert_true(rank_qr_create(&s, N, 2));
    s.limit = 1;
    for (int i = 0; i < 2; i++) {
        double angle = M_PI / 4 + (i ? 1e-13 : -1e-13), x[N], basis[N * (N - 1)];
        double rows[2 * N] = {off, -sin(angle), 0, 0, 0, 0, cos(angle), off, 0, 0}, r[2] = {-sin(angle), cos(angle)};
        rank_qr_load(&s, 2, rows, usual);
        assert_true(rank_qr_factor(&s));
        assert_int_equal(s.rank, 1);
        (void)rank_qr_solution(&s, r, x);
        rank_qr_free_directions(&s, basis);
        assert_near("solution", x[1], 1, 1e-6);
        for (int j = 0; i && j < N; j++) assert_near("jump", x[j], before[j], 10 * off * off);
        for (int j = 0; i && j < N; j++) { /* both bases must span the same space, which is orthogonal to x */
            double along = 0;
            for (int k = 0; k < N - 1; k++) along += basis[j + N * k] * product(free_before + N * k, x);
            assert_near("free directions", along, 0, 10 * off * off);
        }
        memcpy(before, x, sizeof x);
        memcpy(free_before, basis, sizeof basis);
    }
    rank_qr_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dependent_row_is_found_for_any_row_norms),
        cmocka_unit_test(the_rounding_of_a_vanishing_row_is_not_a_direction),
        cmocka_unit_test(the_expected_rank_is_kept_without_jumps_at_inconsistent_states),
        cmocka_unit_test(the_solution_satisfies_the_rows_and_is_orthogonal_to_free_directions),
        cmocka_unit_test(multipliers_give_the_reaction_with_the_least_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
