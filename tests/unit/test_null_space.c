/* test_null_space.c — engine/dynamics/null_space.c: accelerations that are computed without multipliers agree with the
 * solution of the saddle-point system. The tests use projection (maggi) and Gauss's principle. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 3, M = 2 };
static const double Q0[N] = {0.6, -0.8, 0.3}, V0[N] = {0.8, 0.6, 0.8};
static const char *const FORMULATIONS[] = {"maggi", "gauss"};

/* A particle (x, y) on the circle x² + y² = 1, and a coordinate z. The mass matrix couples x and y. The second
 * constraint is a format argument. */
#define SYSTEM                                                                                   \
    "`coordinates`: [{`name`: `x`, `initial`: 0.6, `velocity`: 0.8},"                            \
    "  {`name`: `y`, `initial`: -0.8, `velocity`: 0.6}, {`name`: `z`, `velocity`: 0.8}],"        \
    "`kinetic_energy`: `(x'^2 + 2*y'^2 + 3*z'^2)/2 + x'*y'/2`, `potential_energy`: `9*y + z^2`," \
    "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}, {`name`: `belt`, `equation`: `%s`}]"

typedef struct solved {
    hamel_model *model;
    dynamics *k;
    const double *g, *b; /* at (Q0, V0): n forces in `g`, m right-hand sides in `b` */
} solved;

/* Opens the system with `belt` as second constraint and evaluates it at (Q0, V0). */
static solved solve_system(const char *belt, const char *name) {
    char system[1000], simulation[100];
    snprintf(system, sizeof system, SYSTEM, belt);
    snprintf(simulation, sizeof simulation, "`stop`: 1, `formulation`: `%s`", name);
    solved s = {.model = fixture_model(system, simulation)};
    s.k = dynamics_create(s.model);
    assert_non_null(s.k);
    assert_non_null(s.k->motion.null_space);
    assert_int_equal(dynamics_evaluate(s.k, 0, Q0, V0, NULL), HAMEL_OK);
    s.g = s.k->values + s.model->dynamics.at_Q;
    s.b = s.k->values + s.model->dynamics.at_b;
    return s;
}

static void close_system(solved *s) {
    dynamics_free(s->k);
    hamel_model_free(s->model);
}

static hamel_status factor_at_start(const solved *s) {
    return null_space_factor(s->k->motion.null_space, 0, Q0, V0, s->k->values);
}

static void assert_vectors_near(const char *what, size_t n, const double *found, const double *expected) {
    for (size_t i = 0; i < n; i++) assert_near(what, found[i], expected[i], 1e-13);
}

static void assert_as_the_saddle_point_system(const char *belt) {
    for (size_t f = 0; f < 2; f++) {
        solved s = solve_system(belt, FORMULATIONS[f]);
        double x[N], lambda[M], expected[N], multipliers[M];
        assert_int_equal(kkt_factor(s.k->all, s.k->values), HAMEL_OK);
        assert_int_equal(kkt_solve(s.k->all, s.g, s.b, 1e-9, expected, multipliers), HAMEL_OK);
        assert_int_equal(factor_at_start(&s), HAMEL_OK);
        assert_int_equal(null_space_solve(s.k->motion.null_space, s.g, s.b, 1e-9, x, lambda), HAMEL_OK);
        assert_vectors_near("acceleration", N, x, expected);
        assert_vectors_near("multiplier", M, lambda, multipliers);
        assert_int_equal(null_space_rank(s.k->motion.null_space), kkt_rank(s.k->all));
        close_system(&s);
    }
}

static void accelerations_and_multipliers_are_those_of_the_saddle_point_system(void **state) {
    (void)state;
    assert_as_the_saddle_point_system("z' = x'");
}

/* The second constraint restricts accelerations only. If Gauss's principle is used, this constraint also affects the
 * projected equations. */
static void acceleration_constraints_restrict_the_accelerations_alone(void **state) {
    (void)state;
    assert_as_the_saddle_point_system("z'' = x'' + 0.5");
}

/* The second row is three times the first, so least-norm multipliers divide the reaction in the ratio 1 to 3. */
static void multipliers_of_redundant_constraints_have_the_least_norm(void **state) {
    (void)state;
    assert_as_the_saddle_point_system("3*x^2 + 3*y^2 = 3");
    solved s = solve_system("3*x^2 + 3*y^2 = 3", "maggi");
    double x[N], lambda[M];
    assert_int_equal(factor_at_start(&s), HAMEL_OK);
    assert_int_equal(null_space_solve(s.k->motion.null_space, s.g, s.b, 1e-9, x, lambda), HAMEL_OK);
    assert_near("ratio of the multipliers", lambda[1], 3 * lambda[0], 1e-13);
    close_system(&s);
}

static void redundant_constraints_that_disagree_are_incompatible(void **state) {
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        solved s = solve_system("3*x^2 + 3*y^2 = 3", FORMULATIONS[f]);
        double x[N], lambda[M], b[M] = {s.b[0], 3 * s.b[0] + 0.1};
        assert_int_equal(factor_at_start(&s), HAMEL_OK);
        assert_int_equal(null_space_solve(s.k->motion.null_space, s.g, b, 1e-3, x, lambda), HAMEL_INCOMPATIBLE);
        assert_int_equal(null_space_solve(s.k->motion.null_space, s.g, b, 1, x, lambda), HAMEL_OK);
        close_system(&s);
    }
}

/* Φᵀ(M x − g) = 0 with A Φ = 0, and A x = b. */
static void the_reaction_is_orthogonal_to_admissible_directions(void **state) {
    (void)state;
    solved s = solve_system("z' = x'", "maggi");
    const model_dynamics *d = &s.model->dynamics;
    double x[N], reaction[N], rate[M] = {0};
    assert_int_equal(factor_at_start(&s), HAMEL_OK);
    assert_int_equal(null_space_solve(s.k->motion.null_space, s.g, s.b, 1e-9, x, NULL), HAMEL_OK);
    const double *Phi = velocity_basis_directions(s.k->motion.basis);
    for (size_t i = 0; i < N; i++) reaction[i] = -s.g[i];
    sparse_block_multiply_symmetric(&d->M, s.k->values, 1, x, reaction);
    assert_near("power", dense_dot(N, Phi, reaction), 0, 1e-13);
    sparse_block_multiply(&d->A, s.k->values, 1, x, rate);
    assert_vectors_near("constraint", M, rate, s.b);
    close_system(&s);
}

/* The solution for two forces minus the solution for the first force is the response to the second force. */
static void responses_are_the_linear_part_of_solutions(void **state) {
    const double more[N] = {0.3, -1.2, 0.7};
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        solved s = solve_system("z' = x'", FORMULATIONS[f]);
        null_space *solver = s.k->motion.null_space;
        double x[N], lambda[M], sum[N], together[M], response[N], change[M], g[N];
        for (size_t i = 0; i < N; i++) g[i] = s.g[i] + more[i];
        assert_int_equal(factor_at_start(&s), HAMEL_OK);
        assert_int_equal(null_space_solve(solver, s.g, s.b, 1e-9, x, lambda), HAMEL_OK);
        assert_int_equal(null_space_solve(solver, g, s.b, 1e-9, sum, together), HAMEL_OK);
        assert_int_equal(null_space_solve(solver, more, NULL, INFINITY, response, change), HAMEL_OK);
        for (size_t i = 0; i < N; i++) sum[i] -= x[i];
        for (size_t c = 0; c < M; c++) together[c] -= lambda[c];
        assert_vectors_near("response", N, response, sum);
        assert_vectors_near("multipliers", M, change, together);
        close_system(&s);
    }
}

/* z has no inertia and no constraint, so M is singular in a free direction. */
static void a_free_direction_without_inertia_is_singular(void **state) {
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        solved s = solve_system("3*x^2 + 3*y^2 = 3", FORMULATIONS[f]);
        const sparse_block *mass = &s.model->dynamics.M;
        for (size_t e = 0; e < mass->count; e++)
            if (mass->row[e] == 2) s.k->values[mass->at + e] = 0;
        assert_int_equal(factor_at_start(&s), HAMEL_SINGULAR);
        close_system(&s);
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define COUNTS_ALLOCATIONS 1
/* Counts the allocations of this process. Sanitizers replace the allocator, so the test is skipped with them. */
void *__libc_calloc(size_t count, size_t size);
void *__libc_malloc(size_t size);
void *calloc(size_t count, size_t size);
void *malloc(size_t size);
static size_t allocations;
void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}
void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

/* Evaluates the dynamics along a full revolution, during which the velocity basis changes. One of the systems has
 * redundant constraints. */
static void right_hand_sides_allocate_nothing(void **state) {
    static const char *const belts[] = {"z' = x'", "3*x^2 + 3*y^2 = 3", "z'' = x'' + 0.5"};
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        solved s = solve_system(belts[i / 2], FORMULATIONS[i % 2]);
        size_t before = allocations, used = s.k->memory.used;
        assert_true(before > 0);
        for (int step = 0; step < 100; step++) {
            double angle = 0.07 * step, q[N] = {sin(angle), cos(angle), 0},
                   v[N] = {cos(angle), -sin(angle), cos(angle)};
            double a[N], lambda[M];
            assert_int_equal(dynamics_rates(s.k, 0, q, v, 0, 0, a, lambda, NULL), HAMEL_OK);
        }
        assert_int_equal(allocations, before);
        assert_int_equal(s.k->memory.used, used);
        close_system(&s);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_and_multipliers_are_those_of_the_saddle_point_system),
        cmocka_unit_test(acceleration_constraints_restrict_the_accelerations_alone),
        cmocka_unit_test(multipliers_of_redundant_constraints_have_the_least_norm),
        cmocka_unit_test(redundant_constraints_that_disagree_are_incompatible),
        cmocka_unit_test(the_reaction_is_orthogonal_to_admissible_directions),
        cmocka_unit_test(responses_are_the_linear_part_of_solutions),
        cmocka_unit_test(a_free_direction_without_inertia_is_singular),
#ifdef COUNTS_ALLOCATIONS
        cmocka_unit_test(right_hand_sides_allocate_nothing),
#endif
    };
    return cmocka_run_group_tests_name("null_space", tests, NULL, NULL);
}
