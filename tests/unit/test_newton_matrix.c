/* test_newton_matrix.c — engine/dynamics/newton_matrix.c: compares solutions of (I − γJ)x = b and products J x with
 * central differences of the accelerations. The systems have constraints, and dense or sparse matrices. */
#include "tests/unit/fixture.h"

#include "engine/dynamics/dynamics.h"
#include "engine/dynamics/newton_matrix.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct bench {
    hamel_model *model;
    dynamics *k;
    newton_matrix *newton;
    size_t n, m;
    double t, *y, *a, *lambda, *J; /* J is 2n × 2n in column-major order, from central differences */
} bench;

static void accelerations(bench *w, const double *y, double *a, double *lambda) {
    assert_int_equal(dynamics_evaluate(w->k, w->t, y, y + w->n, NULL), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(w->k, 0, 0, a, lambda, NULL), HAMEL_OK);
}

static void difference_column(bench *w, size_t j, double *column) {
    size_t n = w->n;
    double *shifted = calloc(6 * n + w->m + 1, sizeof *shifted), *a[4], *lambda = shifted + 6 * n;
    static const double steps[4] = {-2e-3, -1e-3, 1e-3, 2e-3}, weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    assert_non_null(shifted);
    for (size_t i = 0; i < 2 * n; i++) column[i] = i < n && j == i + n ? 1 : 0;
    for (int s = 0; s < 4; s++) {
        a[s] = shifted + (size_t)(s + 2) * n;
        memcpy(shifted, w->y, 2 * n * sizeof *shifted);
        shifted[j] += steps[s];
        accelerations(w, shifted, a[s], lambda);
        for (size_t i = 0; i < n; i++) column[n + i] += weights[s] * a[s][i] / 1e-3;
    }
    free(shifted);
}

/* Prepares the test at a random state near (q0, v0). The state need not satisfy the constraints, because the
 * accelerations are also defined at inconsistent states. */
static void open_bench(bench *w, const char *members, const char *simulation, double spread) {
    *w = (bench){.model = fixture_model(members, simulation), .t = 0.3};
    size_t n = w->n = w->model->n, m = w->m = w->model->m;
    uint64_t seed = 21;
    w->k = dynamics_create(w->model);
    w->newton = newton_create(w->model);
    w->y = calloc(3 * n + m + 4 * n * n + 1, sizeof *w->y);
    assert_true(w->k && w->newton && w->y);
    w->a = w->y + 2 * n;
    w->lambda = w->a + n;
    w->J = w->lambda + m;
    for (size_t i = 0; i < 2 * n; i++)
        w->y[i] = (i < n ? w->model->q0[i] : w->model->v0[i - n]) + random_between(&seed, -spread, spread);
    for (size_t j = 0; j < 2 * n; j++) difference_column(w, j, w->J + 2 * n * j);
    accelerations(w, w->y, w->a, w->lambda);
    assert_int_equal(newton_linearize(w->newton, w->t, w->y, w->y + n, w->a, w->lambda, w->k->ideal, w->k->values),
                     HAMEL_OK);
}

static void close_bench(bench *w) {
    newton_free(w->newton);
    dynamics_free(w->k);
    free(w->y);
    hamel_model_free(w->model);
}

static void expect_differences(const char *members, const char *simulation, double spread, double bound) {
    bench w;
    open_bench(&w, members, simulation, spread);
    size_t all = 2 * w.n;
    uint64_t seed = 5;
    double *b = calloc(2 * all, sizeof *b), *x = b + all;
    assert_non_null(b);
    static const double gammas[] = {0, 1e-3, 0.1};
    for (size_t g = 0; g < 3; g++) {
        random_fill(&seed, b, all, -1, 1);
        memcpy(x, b, all * sizeof *x);
        assert_int_equal(newton_factor(w.newton, gammas[g]), HAMEL_OK);
        assert_int_equal(newton_solve(w.newton, x), HAMEL_OK);
        double size = 1;
        for (size_t i = 0; i < all; i++) size = fmax(size, fabs(x[i]));
        for (size_t i = 0; i < all; i++) {
            double left = x[i];
            for (size_t j = 0; j < all; j++) left -= gammas[g] * w.J[i + all * j] * x[j];
            assert_near("(I - gamma J) x", left / size, b[i] / size, bound);
        }
    }
    free(b);
    close_bench(&w);
}

static void the_matrix_of_a_free_system_is_its_jacobian(void **state) {
    (void)state;
    expect_differences("`coordinates`: [`a`, `b`], `kinetic_energy`: `a'^2 + b'^2 + a'*b'*cos(a - b)`, "
                       "`potential_energy`: `cos(a) + b^4`,"
                       "`dissipation`: `(a' - b')^2*(1 + a^2)`, `generalized_forces`: {`a`: `sin(t*b)`}",
                       "`stop`: 1", 0.8, 1e-8);
}

static void the_matrix_of_a_constrained_system_is_its_jacobian(void **state) {
    (void)state;
#define SPACE                                                                                                  \
    "`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 1}, {`name`: `y`, `velocity`: 2}, {`name`: `f`, " \
    "`velocity`: -1}], `kinetic_energy`: `x'^2 + y'^2*(1 + x^2) + f'^2`, `potential_energy`: `9*y + x*f`,"
    expect_differences(SPACE "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1 + t^2`}]", "`stop`: 1", 0.2,
                       1e-7);
    expect_differences(SPACE "`constraints`: [{`name`: `c`, `equation`: `-x'*sin(f) + y'*cos(f) = x*t`}]", "`stop`: 1",
                       0.2, 1e-7);
    expect_differences(SPACE "`constraints`: [{`name`: `c`, `equation`: `f'^2 = 2*(x'^2 + y'^2)`}]", "`stop`: 1", 0.2,
                       1e-7);
    expect_differences(SPACE "`constraints`: [{`name`: `c`, `equation`: `x''*(2 + y) - y''*x' = t*f`}]", "`stop`: 1",
                       0.2, 1e-7);
    expect_differences(
        SPACE
        "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1`}], `generalized_forces`: {`x`: `-0.3*lambda(c)*x'`}",
        "`stop`: 1", 0.2, 1e-7);
    expect_differences(SPACE "`constraints`: [{`name`: `c`, `equation`: `y = x^2`}]",
                       "`stop`: 1, `formulation`: `udwadia-kalaba`", 0.2, 1e-7);
}

#define CHAIN(length) CHAIN_OF(length, "1")
#define CHAIN_OF(length, mass)                                                                                        \
    "`parameters`: {`N`: " length ", `m`: " mass                                                                      \
    "}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`, `initial`: `i*0.6`},"                                     \
    "{`name`: `y[i]`, `for`: `i = 1..N`, `initial`: `-i*0.8`}], `gravity`: [0, -10],"                                 \
    "`particles`: [{`name`: `p[i]`, `for`: `i = 1..N`, `mass`: `m`, `position`: [`x[i]`, `y[i]`]}],"                  \
    "`dissipation`: `m*sum(i, 2, N, (x[i]' - x[i-1]')^2)`, `constraints`: [{`name`: `rod[1]`, `equation`: `x[1]^2 + " \
    "y[1]^2 = 1`},"                                                                                                   \
    "{`name`: `rod[i]`, `for`: `i = 2..N`, `equation`: `(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1`}]"

static void columns_that_share_a_seed_give_the_same_matrix(void **state) {
    (void)state;
    expect_differences(CHAIN("8"), "`stop`: 1", 0.05, 1e-7);
    expect_differences(CHAIN("40"), "`stop`: 1", 0.05, 1e-6);
}

/* Neither the motion nor the criterion for singularity depends on the unit of mass. The test uses the masses of atoms
 * and of moons. */
static void inertia_of_any_size_gives_the_same_matrix(void **state) {
    (void)state;
#define SCALED(size)                                                                                             \
    "`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 1}, {`name`: `y`, `velocity`: 2}, `z`],"            \
    "`kinetic_energy`: `" size "*(x'^2 + y'^2*(1 + x^2) + z'^2)`, `potential_energy`: `" size "*(9*y + x*z)`,"   \
    "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1 + t^2`}, {`name`: `d`, `equation`: `z' = x*y'`}, " \
    "{`name`: `again`, `equation`: `3*z' = 3*x*y'`}]"
    expect_differences(SCALED("1e-26"), "`stop`: 1", 0.1, 1e-7);
    expect_differences(SCALED("1e24"), "`stop`: 1", 0.1, 1e-7);
    expect_differences(CHAIN_OF("40", "1e-26"), "`stop`: 1", 0.05, 1e-6);
    expect_differences(CHAIN_OF("40", "1e24"), "`stop`: 1", 0.05, 1e-6);
}

/* One term of V couples all coordinates, so no two columns of J can be computed in the same tangent direction. */
static void a_full_row_is_seeded_column_by_column(void **state) {
    (void)state;
    expect_differences("`parameters`: {`N`: 20}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`}], "
                       "`kinetic_energy`: `sum(i, 1, N, x[i]'^2)`,"
                       "`potential_energy`: `sin(sum(i, 1, N, i*x[i]))`",
                       "`stop`: 1", 0.1, 1e-6);
}

static void redundant_constraints_leave_the_directions_unchanged(void **state) {
    (void)state;
    bench single, twice;
    open_bench(&single, SPACE "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1`}]", "`stop`: 1", 0);
    open_bench(
        &twice,
        SPACE
        "`constraints`: [{`name`: `c`, `equation`: `x^2 + y^2 = 1`}, {`name`: `d`, `equation`: `2*x^2 + 2*y^2 = 2`}]",
        "`stop`: 1", 0);
    double x[6] = {1, -0.5, 0.25, 0.3, 2, -1}, y[6];
    memcpy(y, x, sizeof y);
    assert_int_equal(newton_factor(single.newton, 0.05), HAMEL_OK);
    assert_int_equal(newton_factor(twice.newton, 0.05), HAMEL_OK);
    assert_int_equal(newton_solve(single.newton, x), HAMEL_OK);
    assert_int_equal(newton_solve(twice.newton, y), HAMEL_OK);
    for (int i = 0; i < 6; i++) assert_near("x", x[i], y[i], 1e-6);
    close_bench(&single);
    close_bench(&twice);
}

static void a_derivative_that_is_not_finite_is_rejected(void **state) {
    (void)state;
    hamel_model *model = fixture_model(
        "`coordinates`: [`x`], `kinetic_energy`: `x'^2`, `generalized_forces`: {`x`: `sqrt(x)`}", "`stop`: 1");
    newton_matrix *w = newton_create(model);
    double x = 0, v = 1, a = 0, *values = calloc(model->dynamics.count, sizeof *values);
    assert_true(w && values);
    assert_int_equal(newton_linearize(w, 0, &x, &v, &a, NULL, NULL, values), HAMEL_NOT_FINITE);
    free(values);
    newton_free(w);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matrix_of_a_free_system_is_its_jacobian),
        cmocka_unit_test(the_matrix_of_a_constrained_system_is_its_jacobian),
        cmocka_unit_test(columns_that_share_a_seed_give_the_same_matrix),
        cmocka_unit_test(inertia_of_any_size_gives_the_same_matrix),
        cmocka_unit_test(a_full_row_is_seeded_column_by_column),
        cmocka_unit_test(redundant_constraints_leave_the_directions_unchanged),
        cmocka_unit_test(a_derivative_that_is_not_finite_is_rejected),
    };
    return cmocka_run_group_tests_name("newton_matrix", tests, NULL, NULL);
}
