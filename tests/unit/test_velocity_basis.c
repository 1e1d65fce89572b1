/* test_velocity_basis.c — engine/dynamics/velocity_basis.c: tests the basis at single states. Compares runs with
 * Lagrange's equations where a choice of velocities becomes singular. Checks that output rows do not change the choices
 * made in steps. */
#include "engine/dynamics/dynamics.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const FORMULATIONS[] = {"maggi", "kane", "gibbs-appell", "boltzmann-hamel", "hadamard", "voronets"};
enum { FORMULATION_COUNT = sizeof FORMULATIONS / sizeof *FORMULATIONS };
static const char *const METHODS[] = {"erk", "adams", "bdf"};

static motion run(const char *system, const char *name, const char *method, const char *more) {
    char simulation[300];
    snprintf(simulation, sizeof simulation, "%s, `method`: `%s`, `formulation`: `%s`", more, method, name);
    return motion_run(system, simulation);
}

/* A bead revolves on a ring. The velocity of each coordinate vanishes twice per revolution. */
#define RING                                                                      \
    "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 3}]," \
    "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `y`,"               \
    "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]"

/* Compares with Lagrange's equations. The two runs have different steps, so `difference` must allow for their
 * integration errors at rtol 1e-9. */
static void assert_follows_lagrange(const char *system, const char *simulation, double difference) {
    for (size_t m = 0; m < 3; m++) {
        motion expected = run(system, "lagrange", METHODS[m], simulation);
        for (size_t f = 0; f < FORMULATION_COUNT; f++) {
            motion found = run(system, FORMULATIONS[f], METHODS[m], simulation);
            assert_below(METHODS[m], motion_difference(&found, &expected), m == 0 ? difference / 100 : difference);
            assert_below("position", found.position_residual, 1e-12);
            motion_free(&found);
        }
        motion_free(&expected);
    }
}

static void completing_velocities_are_chosen_again_along_the_motion(void **state) {
    (void)state;
    assert_follows_lagrange(RING, "`stop`: 10, `rtol`: 1e-9", 1e-5);
}

/* At some points of the ring, y' or x' + y' does not determine the velocities, so another velocity must replace y' or
 * x' + y'. */
static void user_defined_quasi_velocities_may_become_singular(void **state) {
    (void)state;
    assert_follows_lagrange(RING ", `quasi_velocities`: [{`name`: `up`, `definition`: `y'`}]",
                            "`stop`: 10, `rtol`: 1e-9", 1e-5);
    assert_follows_lagrange(RING ", `quasi_velocities`: [{`name`: `both`, `definition`: `x' + y'`}]",
                            "`stop`: 7, `rtol`: 1e-9", 1e-5);
}

/* A ball on a freely rotating ball, with quaternions, at 80 rad/s (Papastavridis 2.2.3 (ii)). If velocities of
 * coordinates are the integrated variables, the trajectory often passes close to states at which these velocities do
 * not determine the motion. The energy error at rtol 1e-9 is then 1e-4 (measured). */
static const char balls[] =
    "`parameters`: {`m`: 0.5, `r`: 0.1, `p`: 0.3, `I`: 0.002, `J`: 0.08, `g`: 9.81},"
    "`coordinates`: [{`name`: `th`, `initial`: 0.2}, `ph`,"
    "  {`name`: `e0`, `initial`: 1}, {`name`: `e1`, `velocity`: `(0.6*cos(0.2) + 160)*sin(0.2)/0.7`},"
    "  `e2`, {`name`: `e3`, `velocity`: 80},"
    "  {`name`: `f0`, `initial`: 1}, `f1`, `f2`, {`name`: `f3`, `velocity`: 1.5}],"
    "`gravity`: [0, 0, `-g`],"
    "`bodies`: [{`name`: `upper`, `mass`: `m`, `orientation`: {`quaternion`: [`e0`, `e1`, `e2`, `e3`]},"
    "  `position`: [`(p + r)*sin(th)*cos(ph)`, `(p + r)*sin(th)*sin(ph)`, `(p + r)*cos(th)`], `inertia`: [`I`, `I`, "
    "`I`]},"
    " {`name`: `lower`, `mass`: `m`, `orientation`: {`quaternion`: [`f0`, `f1`, `f2`, `f3`]},"
    "  `position`: [0, 0, 0], `inertia`: [`J`, `J`, `J`]}],"
    "`definitions`: {`w`: [`angular_velocity(upper, 1)`, `angular_velocity(upper, 2)`, `angular_velocity(upper, 3)`],"
    "  `o`: [`angular_velocity(lower, 1)`, `angular_velocity(lower, 2)`, `angular_velocity(lower, 3)`]},"
    "`constraints`: [{`name`: `meridian`,"
    "    `equation`: `(p + r)*th' - r*(-w[1]*sin(ph) + w[2]*cos(ph)) = p*(-o[1]*sin(ph) + o[2]*cos(ph))`},"
    "  {`name`: `parallel`, `equation`: `(p + r)*sin(th)*ph' + r*((w[1]*cos(ph) + w[2]*sin(ph))*cos(th) - w[3]*sin(th))"
    "    = -p*((o[1]*cos(ph) + o[2]*sin(ph))*cos(th) - o[3]*sin(th))`}]";

/* The bound is ten times the energy error with `lagrange` at these tolerances, 4e-9 (measured). */
static void a_fast_quaternion_conserves_energy(void **state) {
    (void)state;
    for (size_t f = 0; f < FORMULATION_COUNT; f++) {
        motion m = run(balls, FORMULATIONS[f], "erk",
                       "`stop`: 0.8, `samples`: 9, `rtol`: 1e-9, `atol`: 1e-11, `initialization`: `project`");
        assert_below(FORMULATIONS[f], m.work_balance_error, 4e-8);
        motion_free(&m);
    }
}

static void output_rows_do_not_change_the_choices_of_steps(void **state) {
    (void)state;
    for (size_t f = 0; f < FORMULATION_COUNT; f++) {
        motion few = run(RING, FORMULATIONS[f], "erk", "`stop`: 10, `samples`: 6, `rtol`: 1e-9");
        motion many = run(RING, FORMULATIONS[f], "erk", "`stop`: 10, `samples`: 501, `rtol`: 1e-9");
        for (size_t row = 0; row < few.row_count; row++)
            for (size_t column = 0; column < few.column_count; column++)
                assert_true(motion_value(&few, row, column) == motion_value(&many, 100 * row, column));
        motion_free(&few);
        motion_free(&many);
    }
}

/* --- the basis at a state -------------------------------------------------------------------------------------------- */

enum { N = 3, CONSTRAINTS = 2 };

/* Returns the bead on a ring with a third coordinate and another constraint. */
static hamel_model *ring_with(const char *constraint, const char *more) {
    char system[700];
    snprintf(system, sizeof system,
             "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 3}, `z`],"
             "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`,"
             "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}, {`name`: `other`, `equation`: `%s`}]%s",
             constraint, more);
    return fixture_model(system, "`stop`: 1, `formulation`: `maggi`");
}

static hamel_status factor_at(dynamics *k, double angle) {
    const model_dynamics *d = &k->model->dynamics;
    const double q[N] = {cos(angle), sin(angle), 0.3}, v[N] = {-sin(angle), cos(angle), 0};
    assert_int_equal(dynamics_evaluate(k, 0, q, v, NULL), HAMEL_OK);
    return velocity_basis_factor(k->motion.basis, k->values + d->A.at, k->values + d->C.at);
}

/* Computes the independent velocities u[freedom] from the velocities v[N]: quasi-velocities, then velocities of
 * coordinates. */
static void velocities_of(const velocity_basis *basis, const double *values, const double *v, double *u) {
    double all[N] = {0};
    sparse_block_multiply(&basis->model->dynamics.C, values, 1, v, all);
    for (size_t r = 0; r < basis->freedom; r++)
        u[r] = r < basis->user_count ? all[basis->user[r]] : v[basis->coordinate[r - basis->user_count]];
}

/* Checks A Φ = 0 for all constraints, redundant or not, where Φ contains the basis. Also checks C Φ = 1, where C maps
 * velocities to the independent velocities. */
static void assert_admissible(dynamics *k) {
    velocity_basis *basis = k->motion.basis;
    const double *Phi = velocity_basis_directions(basis);
    for (size_t r = 0; r < basis->freedom; r++) {
        double rate[CONSTRAINTS] = {0}, u[N];
        sparse_block_multiply(&k->model->dynamics.A, k->values, 1, Phi + N * r, rate);
        for (size_t c = 0; c < CONSTRAINTS; c++) assert_near("A Phi", rate[c], 0, 1e-14);
        velocities_of(basis, k->values, Phi + N * r, u);
        for (size_t s = 0; s < basis->freedom; s++) assert_near("C Phi", u[s], s == r, 1e-14);
    }
}

static void directions_of_the_basis_satisfy_all_constraints(void **state) {
    static const char *const constraints[] = {"z = 0.3", "2*x^2 + 2*y^2 = 2"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        hamel_model *model =
            ring_with(constraints[i], ", `quasi_velocities`: [{`name`: `u`, `definition`: `y' + z'`}]");
        dynamics *k = dynamics_create(model);
        assert_non_null(k);
        for (int step = 0; step < 60; step++) {
            assert_int_equal(factor_at(k, 0.1 * step), HAMEL_OK);
            assert_int_equal(k->motion.basis->freedom, i + 1);
            assert_int_equal(velocity_basis_is_redundant(k->motion.basis), i == 1);
            assert_admissible(k);
        }
        dynamics_free(k);
        hamel_model_free(model);
    }
}

/* At (1, 0) the rod determines x', and y' completes the basis. At (0, 1) the rod determines y', and x' completes the
 * basis. velocity_basis_recall restores the first choice. */
static void completing_coordinates_are_chosen_again_and_recalled(void **state) {
    (void)state;
    hamel_model *model = ring_with("z = 0.3", "");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    velocity_basis *basis = k->motion.basis;
    assert_int_equal(factor_at(k, 0), HAMEL_OK);
    assert_int_equal(basis->coordinate[0], 1);
    velocity_basis_remember(basis);
    assert_int_equal(factor_at(k, 1.57), HAMEL_OK);
    assert_int_equal(basis->coordinate[0], 0);
    velocity_basis_recall(basis);
    assert_int_equal(basis->coordinate[0], 1);
    assert_int_equal(factor_at(k, 0.2), HAMEL_OK);
    assert_admissible(k);
    velocity_basis_release(basis);
    velocity_basis_recall(basis);
    assert_false(basis->chosen);
    dynamics_free(k);
    hamel_model_free(model);
}

/* The second constraint is twice the rod's equation. Gathering combines the values of both rows, and scattering
 * distributes a multiplier in the ratio 1 to 2. */
static void redundant_constraints_share_values_and_multipliers(void **state) {
    (void)state;
    hamel_model *model = ring_with("2*x^2 + 2*y^2 = 2", "");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    velocity_basis *basis = k->motion.basis;
    assert_int_equal(factor_at(k, 0.7), HAMEL_OK);
    assert_int_equal(basis->row_count, 1);
    assert_int_equal(basis->listed, 2);
    const double values[CONSTRAINTS] = {0.4, 0.8}, z = 1.3;
    double gathered, multipliers[CONSTRAINTS], reaction[N] = {0};
    velocity_basis_gather(basis, values, &gathered);
    assert_near("gathered", fabs(gathered), 0.2, 1e-14); /* the value 0.4 of a row of length 2, scaled to a unit row */
    velocity_basis_scatter(basis, &z, multipliers);
    assert_near("multipliers", multipliers[1], 2 * multipliers[0], 1e-14);
    sparse_block_multiply_transposed(&model->dynamics.A, k->values, 1, multipliers, reaction);
    for (size_t i = 0; i < N; i++) assert_near("reaction", reaction[i], z * basis->constraint_rows[i], 1e-14);
    dynamics_free(k);
    hamel_model_free(model);
}

static void rows_that_are_not_finite_are_singular(void **state) {
    (void)state;
    hamel_model *model = ring_with("2*x^2 + 2*y^2 = 2", "");
    dynamics *k = dynamics_create(model);
    assert_non_null(k);
    assert_int_equal(factor_at(k, 0), HAMEL_OK);
    k->values[model->dynamics.A.at] = NAN;
    const double *values = k->values;
    assert_int_equal(
        velocity_basis_factor(k->motion.basis, values + model->dynamics.A.at, values + model->dynamics.C.at),
        HAMEL_SINGULAR);
    assert_int_equal(factor_at(k, 0.1), HAMEL_OK);
    dynamics_free(k);
    hamel_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directions_of_the_basis_satisfy_all_constraints),
        cmocka_unit_test(completing_coordinates_are_chosen_again_and_recalled),
        cmocka_unit_test(redundant_constraints_share_values_and_multipliers),
        cmocka_unit_test(rows_that_are_not_finite_are_singular),
        cmocka_unit_test(completing_velocities_are_chosen_again_along_the_motion),
        cmocka_unit_test(user_defined_quasi_velocities_may_become_singular),
        cmocka_unit_test(a_fast_quaternion_conserves_energy),
        cmocka_unit_test(output_rows_do_not_change_the_choices_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
