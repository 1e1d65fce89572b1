/* test_kkt.c — engine/linear/kkt.c, kkt_dense.c and kkt_ldl.c. All methods give the same accelerations, even if
 * constraint rows are redundant or contradictory, or the mass matrix is singular. */
#include "tests/unit/fixture.h"

#include "engine/dynamics/dynamics.h"
#include "engine/linear/kkt_int.h"
#include "engine/linear/kkt_ldl.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Six coordinates with a full mass matrix and three full constraint rows, in which tests can store any values. */
#define FULL(more)                                                                         \
    "`parameters`: {`e`: 0}, `coordinates`: [`a`, `b`, `c`, `d`, `f`, `g`],"               \
    "`kinetic_energy`: `(a'+b'+c'+d'+f'+g')^2 + a'^2 + b'^2 + c'^2 + d'^2 + f'^2 + g'^2`," \
    "`constraints`: [{`name`: `r[i]`, `for`: `i = 1..3`, `equation`: `i*a + b + c + d + f/i + g = 0`}]" more

static void fill(const hamel_model *model, double *values, uint64_t *seed) {
    size_t n = model->n;
    double b[64];
    assert_true(n <= 8);
    random_fill(seed, b, n * n, -1, 1);
    for (size_t k = 0; k < model->dynamics.M.count; k++) {
        size_t i = (size_t)model->dynamics.M.row[k], j = (size_t)model->dynamics.M.column[k];
        double sum = i == j ? 0.1 : 0;
        for (size_t l = 0; l < n; l++) sum += b[i * n + l] * b[j * n + l];
        values[model->dynamics.M.at + k] = sum;
    }
    random_fill(seed, values + model->dynamics.A.at, model->dynamics.A.count, -1, 1);
    for (size_t k = 0; k < model->dynamics.W.count; k++) values[model->dynamics.W.at + k] = 0;
}

/* Returns the largest residual of M x − Aᵀλ = g, A x = r. */
static double residual(const hamel_model *model, const double *values, const double *g, const double *r,
                       const double *x, const double *lambda) {
    size_t n = model->n, m = model->m;
    double *left = calloc(n + m + 1, sizeof *left), worst = 0;
    assert_non_null(left);
    for (size_t k = 0; k < model->dynamics.M.count; k++) {
        int i = model->dynamics.M.row[k], j = model->dynamics.M.column[k];
        left[i] += values[model->dynamics.M.at + k] * x[j];
        if (i != j) left[j] += values[model->dynamics.M.at + k] * x[i];
    }
    for (size_t k = 0; k < model->dynamics.A.count; k++) {
        left[model->dynamics.A.column[k]] -= values[model->dynamics.A.at + k] * lambda[model->dynamics.A.row[k]];
        left[n + (size_t)model->dynamics.A.row[k]] += values[model->dynamics.A.at + k] * x[model->dynamics.A.column[k]];
    }
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(left[i] - g[i]));
    for (size_t c = 0; c < m; c++) worst = fmax(worst, fabs(left[n + c] - r[c]));
    free(left);
    return worst;
}

static void drop_lists(kkt *k) {
    kkt_ldl_free(k->ldl);
    k->ldl = NULL;
}

static void methods_agree(void **state) {
    (void)state;
    static const struct {
        const char *members, *simulation;
        bool by_lists;
        const kkt_kind *kind;
    } ways[] = {
        {FULL(), "`stop`: 1", true, &kkt_by_ldl},
        {FULL(), "`stop`: 1", false, &kkt_by_cholesky},
        {FULL(), "`stop`: 1, `formulation`: `udwadia-kalaba`", false, &kkt_by_qr},
        {FULL(", `generalized_forces`: {`a`: `e*lambda(r[1])`}"), "`stop`: 1", false, &kkt_by_lu},
    };
    double x[4][6], lambda[4][3];
    for (int round = 0; round < 20; round++) {
        for (int way = 0; way < 4; way++) {
            uint64_t seed = 100 + (uint64_t)round;
            hamel_model *model = fixture_model(ways[way].members, ways[way].simulation);
            double *values = calloc(model->dynamics.count, sizeof *values), g[6], r[3];
            kkt *k = dynamics_create_system(model, CONSTRAINT_ACCELERATION);
            assert_true(values && k);
            assert_int_equal(model->dynamics.M.count, 21);
            assert_int_equal(model->dynamics.A.count, 18);
            fill(model, values, &seed);
            random_fill(&seed, g, 6, -1, 1);
            random_fill(&seed, r, 3, -1, 1);
            if (!ways[way].by_lists) drop_lists(k);
            assert_int_equal(kkt_factor(k, values), HAMEL_OK);
            assert_ptr_equal(k->kind, ways[way].kind);
            assert_int_equal(kkt_solve(k, g, r, 1e-6, x[way], lambda[way]), HAMEL_OK);
            assert_true(residual(model, values, g, r, x[way], lambda[way]) < 1e-9);
            assert_int_equal(kkt_rank(k), 3);
            for (int i = 0; i < 6; i++) assert_near("x", x[way][i], x[0][i], 1e-10);
            for (int c = 0; c < 3; c++) assert_near("lambda", lambda[way][c], lambda[0][c], 1e-9);
            kkt_free(k);
            free(values);
            hamel_model_free(model);
        }
    }
}

#define CHAIN(length)                                                                                           \
    "`parameters`: {`N`: " length "}, `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`, `initial`: `i*0.6`}," \
    "{`name`: `y[i]`, `for`: `i = 1..N`, `initial`: `-i*0.8`}], `gravity`: [0, -10],"                           \
    "`particles`: [{`name`: `p[i]`, `for`: `i = 1..N`, `mass`: `1/i`, `position`: [`x[i]`, `y[i]`]}],"          \
    "`constraints`: [{`name`: `rod[1]`, `equation`: `x[1]^2 + y[1]^2 = 1`},"                                    \
    "{`name`: `rod[i]`, `for`: `i = 2..N`, `equation`: `(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1`}"

/* Factors and solves the system with the current method of k. Stores x, then lambda, in `out`. */
static void solve_by(kkt *k, const hamel_model *model, const double *values, double *out) {
    assert_int_equal(kkt_factor(k, values), HAMEL_OK);
    assert_int_equal(
        kkt_solve(k, values + model->dynamics.at_Q, values + model->dynamics.at_b, 1e-6, out, out + model->n),
        HAMEL_OK);
    assert_true(residual(model, values, values + model->dynamics.at_Q, values + model->dynamics.at_b, out,
                         out + model->n) < 1e-10);
}

/* A net of particles in space, with six particles in each row. The net has loops, so the factors have fill-in. */
#define NET                                                                                                       \
    "`parameters`: {`N`: 30}, `gravity`: [0, 0, -10], `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`},"       \
    "{`name`: `y[i]`, `for`: `i = 1..N`}, {`name`: `z[i]`, `for`: `i = 1..N`}], `particles`: [{`name`: `p[i]`, "  \
    "`for`: `i = 1..N`, `mass`: `1 + 1/i`, `position`: [`x[i]`, `y[i]`, `z[i]`]}], `constraints`: ["              \
    "{`name`: `a[i]`, `for`: `i = 2..N`, `equation`: `(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 + (z[i]-z[i-1])^2 = 1`}," \
    "{`name`: `b[i]`, `for`: `i = 7..N`, `equation`: `(x[i]-x[i-6])^2 + (y[i]-y[i-6])^2 + (z[i]-z[i-6])^2 = 1`}]"

static void all_methods_agree_for_a_net_of_particles(void **state) {
    (void)state;
    static const char *const systems[] = {CHAIN("60") "]", NET};
    for (int i = 0; i < 2; i++) {
        hamel_model *model = fixture_model(systems[i], "`stop`: 1");
        dynamics *w = dynamics_create(model);
        assert_non_null(w);
        kkt *k = w->all;
        size_t all = model->n + model->m;
        double *by = calloc(3 * all + 2 * model->n, sizeof *by), *q = by + 3 * all;
        uint64_t seed = 7;
        assert_non_null(by);
        random_fill(&seed, q, 2 * model->n, -1, 1);
        assert_int_equal(dynamics_evaluate(w, 0, q, q + model->n, NULL), HAMEL_OK);
        solve_by(k, model, w->values, by);
        assert_true((k->kind == &kkt_by_ldl));
        drop_lists(k);
        solve_by(k, model, w->values, by + all);
        assert_ptr_equal(k->kind, &kkt_by_klu);
        assert_true(kkt_dense_create(k));
        k->fallback = &kkt_by_cholesky;
        solve_by(k, model, w->values, by + 2 * all);
        for (size_t j = 0; j < 2 * all; j++) assert_near("x, lambda", by[j], by[2 * all + j % all], 1e-10);
        free(by);
        dynamics_free(w);
        hamel_model_free(model);
    }
}

/* With unit masses, the angle between the constraint rows (−1, 1) and (1, 0) is 45°, for each order of elimination. */
static void the_margin_is_an_angle(void **state) {
    (void)state;
    hamel_model *model = fixture_model("`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`, `constraints`: "
                                       "[{`name`: `c`, `equation`: `x = 0`}, {`name`: `d`, `equation`: `y - x = 0`}]",
                                       "`stop`: 1");
    dynamics *w = dynamics_create(model);
    assert_non_null(w);
    assert_int_equal(dynamics_evaluate(w, 0, model->q0, model->v0, NULL), HAMEL_OK);
    for (int way = 0; way < 2; way++) {
        assert_int_equal(kkt_factor(w->all, w->values), HAMEL_OK);
        assert_int_equal((w->all->kind == &kkt_by_ldl), way == 0);
        assert_near("margin", kkt_margin(w->all), sqrt(0.5), 1e-15);
        drop_lists(w->all);
    }
    dynamics_free(w);
    hamel_model_free(model);
}

static size_t operations_of_a_chain(const char *members) {
    hamel_model *model = fixture_model(members, "`stop`: 1");
    kkt *k = dynamics_create_system(model, CONSTRAINT_ACCELERATION);
    assert_non_null(k);
    assert_non_null(k->ldl);
    size_t operations = kkt_ldl_operations(k->ldl);
    kkt_free(k);
    hamel_model_free(model);
    return operations;
}

/* Each rod needs 3 pivots, 4 entries of A, and 6 products for its row of A M⁻¹Aᵀ (4 on the diagonal, 2 next to it). It
 * also needs one off-diagonal entry, and one product to eliminate this entry. The first rod has half of the entries,
 * two products fewer on the diagonal, and no off-diagonal entry. */
static void a_chain_costs_the_same_for_each_rod(void **state) {
    (void)state;
    assert_int_equal(operations_of_a_chain(CHAIN("60") "]"), 60 * 15 - 8);
    assert_int_equal(operations_of_a_chain(CHAIN("1000") "]"), 1000 * 15 - 8);
}

/* A matrix that has not changed since its factorization is not factored again. A matrix that has changed must be
 * factored, and a singular matrix must be reported each time. */
static void a_changed_matrix_is_factored_again(void **state) {
    (void)state;
    hamel_model *model = fixture_model(FULL(), "`stop`: 1");
    dynamics *w = dynamics_create(model);
    assert_non_null(w);
    kkt_ldl *ldl = w->all->ldl;
    double *values = w->values, x[3][6], lambda[3][3];
    uint64_t seed = 5;
    assert_non_null(ldl);
    for (int round = 0; round < 3; round++) {
        if (round != 1) fill(model, values, &seed); /* the same matrix in rounds 0 and 1 */
        random_fill(&seed, values + model->dynamics.at_Q, 6, -1, 1);
        assert_true(kkt_ldl_factor(ldl, values));
        kkt_ldl_solve(ldl, values + model->dynamics.at_Q, values + model->dynamics.at_b, x[round], lambda[round]);
        assert_true(residual(model, values, values + model->dynamics.at_Q, values + model->dynamics.at_b, x[round],
                             lambda[round]) < 1e-10);
    }
    double *A = values + model->dynamics.A.at, kept = A[0];
    A[0] += 0.5; /* one entry only */
    assert_true(kkt_ldl_factor(ldl, values));
    kkt_ldl_solve(ldl, values + model->dynamics.at_Q, values + model->dynamics.at_b, x[0], lambda[0]);
    assert_true(residual(model, values, values + model->dynamics.at_Q, values + model->dynamics.at_b, x[0], lambda[0]) <
                1e-10);
    A[0] = kept;
    for (size_t e = 0; e < 6; e++) A[6 + e] = A[e]; /* two equal rows */
    assert_false(kkt_ldl_factor(ldl, values));
    assert_false(kkt_ldl_factor(ldl, values));
    dynamics_free(w);
    hamel_model_free(model);
}

static void rows_left_out_have_no_multipliers(void **state) {
    (void)state;
    hamel_model *model = fixture_model(CHAIN("60") "]", "`stop`: 1");
    dynamics *w = dynamics_create(model);
    bool active[60];
    assert_non_null(w);
    for (int c = 0; c < 60; c++) active[c] = c % 7 != 3;
    assert_int_equal(dynamics_select(w, active), HAMEL_OK);
    double *x = calloc(3 * model->n + model->m, sizeof *x), *q = x + model->n + model->m;
    uint64_t seed = 7;
    assert_non_null(x);
    random_fill(&seed, q, 2 * model->n, -1, 1);
    assert_int_equal(dynamics_evaluate(w, 0, q, q + model->n, NULL), HAMEL_OK);
    solve_by(w->all, model, w->values, x); /* the values of omitted rows are zero */
    assert_true((w->all->kind == &kkt_by_ldl));
    for (int c = 0; c < 60; c++) assert_int_equal(x[model->n + (size_t)c] != 0, active[c]);
    free(x);
    dynamics_free(w);
    hamel_model_free(model);
}

static void a_large_system_with_a_repeated_constraint_falls_back_to_dense(void **state) {
    (void)state;
    hamel_model *model =
        fixture_model(CHAIN("40") ", {`name`: `again`, `equation`: `x[1]^2 + y[1]^2 = 1`}]", "`stop`: 1");
    dynamics *w = dynamics_create(model);
    assert_non_null(w);
    size_t n = model->n, m = model->m;
    double *x = calloc(n + m + 1, sizeof *x), *lambda = x + n;
    assert_non_null(x);
    assert_ptr_equal(w->all->fallback, &kkt_by_klu);
    assert_int_equal(dynamics_evaluate(w, 0, model->q0, model->v0, NULL), HAMEL_OK);
    assert_int_equal(dynamics_accelerations(w, 0, 0, x, lambda, NULL), HAMEL_OK);
    assert_false((w->all->kind == &kkt_by_ldl));
    assert_int_equal(kkt_rank(w->all), 40);
    assert_near("the equal constraints share the load", lambda[0], lambda[40], 1e-10);
    assert_true(residual(model, w->values, w->values + model->dynamics.at_Q, w->values + model->dynamics.at_b, x,
                         lambda) < 1e-10);
    free(x);
    dynamics_free(w);
    hamel_model_free(model);
}

/* --- redundant, singular and contradictory systems ----------------------------------------------------------------- */

typedef struct small {
    hamel_model *model;
    dynamics *k;
    double *a, *lambda;
} small;

static hamel_status solve_small(small *w, const char *members, const char *simulation) {
    w->model = fixture_model(members, simulation);
    w->k = dynamics_create(w->model);
    w->a = calloc(w->model->n + w->model->m, sizeof *w->a);
    assert_non_null(w->a);
    w->lambda = w->a + w->model->n;
    assert_non_null(w->k);
    assert_int_equal(dynamics_evaluate(w->k, 0, w->model->q0, w->model->v0, NULL), HAMEL_OK);
    return dynamics_accelerations(w->k, 0, 0, w->a, w->lambda, NULL);
}

static void free_small(small *w) {
    free(w->a);
    dynamics_free(w->k);
    hamel_model_free(w->model);
}

/* x = 0 occurs twice, once multiplied by 2, so the reaction is λ₁ + 2 λ₂. The least-norm multipliers are the reaction
 * times (1, 2)/5. */
static void redundant_rows_share_the_reaction_by_least_norm(void **state) {
    (void)state;
    static const char *const simulations[] = {"`stop`: 1", "`stop`: 1, `formulation`: `udwadia-kalaba`"};
    for (int way = 0; way < 2; way++) {
        small w;
        assert_int_equal(
            solve_small(&w,
                        "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + x'*y' + y'^2`, `generalized_forces`: "
                        "{`x`: 5, `y`: 2},"
                        "`constraints`: [{`name`: `c`, `equation`: `x = 0`}, {`name`: `d`, `equation`: `2*x = 0`}]",
                        simulations[way]),
            HAMEL_OK);
        /* x'' = 0. The momentum p_y = x' + 2 y' gives 2 y'' = Q_y = 2. The momentum p_x = 2 x' + y' gives y'' = Q_x +
         * reaction. */
        assert_near("x''", w.a[0], 0, 1e-14);
        assert_near("y''", w.a[1], 1, 1e-14);
        assert_near("lambda(c)", w.lambda[0], -4.0 / 5, 1e-13);
        assert_near("lambda(d)", w.lambda[1], -8.0 / 5, 1e-13);
        assert_int_equal(kkt_rank(w.k->all), 1);
        free_small(&w);
    }
}

/* A chain of 1600 rods, which is too large for dense algebra. `more` can add a constraint. */
#define LONG_CHAIN(more)                                                                                         \
    "`parameters`: {`N`: 1600}, `gravity`: [0, -9.81], `coordinates`: [{`name`: `x[i]`, `for`: `i = 1..N`,"      \
    "`initial`: `i/N`}, {`name`: `y[i]`, `for`: `i = 1..N`}], `particles`: [{`name`: `p[i]`, `for`: `i = 1..N`," \
    "`mass`: `1/N`, `position`: [`x[i]`, `y[i]`]}], `generalized_forces`: {`x[7]`: 3}, `constraints`: ["         \
    "{`name`: `rod[1]`, `equation`: `x[1]^2 + y[1]^2 = 1/N^2`}, {`name`: `rod[i]`, `for`: `i = 2..N`,"           \
    "`equation`: `(x[i]-x[i-1])^2 + (y[i]-y[i-1])^2 = 1/N^2`}" more "]"

static void large_redundant_systems_share_the_reaction_too(void **state) {
    (void)state;
    small one, two;
    enum { N = 1600 };
    assert_int_equal(solve_small(&one, LONG_CHAIN(""), "`stop`: 1"), HAMEL_OK);
    assert_int_equal(
        solve_small(&two, LONG_CHAIN(", {`name`: `again`, `equation`: `2*x[1]^2 + 2*y[1]^2 = 2/N^2`}"), "`stop`: 1"),
        HAMEL_OK);
    for (size_t i = 0; i < 2 * N; i++) assert_near("acceleration", two.a[i], one.a[i], 1e-9);
    double pull = fabs(one.lambda[0]); /* the largest multiplier: rods 1 to 7 transmit the force on particle 7 */
    assert_near("reaction", two.lambda[0] + 2 * two.lambda[N], one.lambda[0], 1e-9);
    assert_near("least norm", two.lambda[N], 2 * two.lambda[0], 1e-9);
    for (size_t i = 1; i < N; i++) assert_near("other multipliers", two.lambda[i] / pull, one.lambda[i] / pull, 1e-9);
    assert_int_equal(kkt_rank(two.k->all), N);
    free_small(&one);
    free_small(&two);
    assert_int_equal(
        solve_small(&two, LONG_CHAIN(", {`name`: `other`, `equation`: `x[1]*x[1]'' + y[1]*y[1]'' = 7`}"), "`stop`: 1"),
        HAMEL_INCOMPATIBLE);
    free_small(&two);
}

static void rows_that_contradict_are_incompatible(void **state) {
    (void)state;
    small w;
    hamel_error error = {0};
    assert_int_equal(
        solve_small(&w,
                    "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                    "`constraints`: [{`name`: `c`, `equation`: `x'' = 1`}, {`name`: `d`, `equation`: `x'' = 2`}]",
                    "`stop`: 1"),
        HAMEL_INCOMPATIBLE);
    assert_int_equal(dynamics_accelerations(w.k, 0, 0, w.a, w.lambda, &error), HAMEL_INCOMPATIBLE);
    assert_non_null(strstr(error.faults[0].message, "contradict"));
    hamel_error_clear(&error);
    free_small(&w);
}

/* y has no mass: 0 = Q_y + λ, x'' = Q_x − 2λ, y'' = 2 x''. */
static void a_massless_coordinate_may_be_led_by_a_constraint(void **state) {
    (void)state;
    small w;
    assert_int_equal(
        solve_small(&w,
                    "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2/2`, `generalized_forces`: {`x`: 3, `y`: 4},"
                    "`constraints`: [{`name`: `c`, `equation`: `y = 2*x`}]",
                    "`stop`: 1"),
        HAMEL_OK);
    assert_near("x''", w.a[0], 11, 1e-13);
    assert_near("y''", w.a[1], 22, 1e-13);
    assert_near("lambda", w.lambda[0], -4, 1e-13);
    free_small(&w);
}

static void an_unconstrained_massless_coordinate_is_singular(void **state) {
    (void)state;
    small w;
    assert_int_equal(solve_small(&w,
                                 "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2/2`, `constraints`: [{`name`: `c`, "
                                 "`equation`: `x = 0`}]",
                                 "`stop`: 1"),
                     HAMEL_SINGULAR);
    free_small(&w);
    assert_int_equal(solve_small(&w, "`coordinates`: [`x`, `y`], `kinetic_energy`: `(x' + y')^2`", "`stop`: 1"),
                     HAMEL_SINGULAR);
    free_small(&w);
}

/* L = x' y' has an indefinite, nonsingular M, so x'' = Q_y and y'' = Q_x. */
static void an_indefinite_mass_matrix_is_solved(void **state) {
    (void)state;
    small w;
    assert_int_equal(
        solve_small(&w, "`coordinates`: [`x`, `y`], `lagrangian`: `x'*y'`, `generalized_forces`: {`x`: 3, `y`: 4}",
                    "`stop`: 1"),
        HAMEL_OK);
    assert_near("x''", w.a[0], 4, 1e-14);
    assert_near("y''", w.a[1], 3, 1e-14);
    free_small(&w);
}

/* A block slides to the right on a floor with the reaction λ = m g. The Coulomb friction is |Q_x| = μ λ. */
static void forces_that_contain_multipliers_are_solved_for(void **state) {
    (void)state;
    small w;
    assert_int_equal(solve_small(&w,
                                 "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `gravity`: [0, -10],"
                                 "`particles`: [{`name`: `p`, `mass`: 3, `position`: [`x`, `y`]}],"
                                 "`constraints`: [{`name`: `floor`, `equation`: `y = 0`}], `generalized_forces`: {`x`: "
                                 "`-0.4*abs(lambda(floor))*sign(x')`}",
                                 "`stop`: 1"),
                     HAMEL_OK);
    assert_near("x''", w.a[0], -4, 1e-13);
    assert_near("lambda", w.lambda[0], 30, 1e-13);
    free_small(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_agree),
        cmocka_unit_test(all_methods_agree_for_a_net_of_particles),
        cmocka_unit_test(the_margin_is_an_angle),
        cmocka_unit_test(a_chain_costs_the_same_for_each_rod),
        cmocka_unit_test(a_changed_matrix_is_factored_again),
        cmocka_unit_test(rows_left_out_have_no_multipliers),
        cmocka_unit_test(a_large_system_with_a_repeated_constraint_falls_back_to_dense),
        cmocka_unit_test(redundant_rows_share_the_reaction_by_least_norm),
        cmocka_unit_test(large_redundant_systems_share_the_reaction_too),
        cmocka_unit_test(rows_that_contradict_are_incompatible),
        cmocka_unit_test(a_massless_coordinate_may_be_led_by_a_constraint),
        cmocka_unit_test(an_unconstrained_massless_coordinate_is_singular),
        cmocka_unit_test(an_indefinite_mass_matrix_is_solved),
        cmocka_unit_test(forces_that_contain_multipliers_are_solved_for),
    };
    return cmocka_run_group_tests_name("kkt", tests, NULL, NULL);
}
