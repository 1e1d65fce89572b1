/* test_gauss.c — engine/analyze/gauss.c and the functions gauss() and gauss_nonideal(), which are called G and G_ni
 * here. They extend Gauss's principle of least constraint to nonideal constraints (F. E. Udwadia, J. Math. Anal.
 * Appl. 251 (2000) 341, eqs. 15 to 18 and 26 to 28). */
#include "engine/analyze/gauss.h"

#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static hamel_gauss *gauss_of(const char *members) {
    fixture f;
    hamel_gauss *found = NULL;
    fixture_read(&f, members, "`stop`: 1, `samples`: 2");
    if (hamel_find_gauss(&found, &f.description, NULL, NULL, &f.error) != HAMEL_OK)
        fail_msg("%s", f.error.faults[0].message);
    fixture_close(&f);
    return found;
}

/* A bead of mass m at (R, 0) on a horizontal ring has the velocity v along y. The ideal reaction is −m v²/R along x.
 * The prescribed friction C = −μ m v²/R acts along y, the direction of motion. Therefore
 *   G = ½ (m v⁴/R²) (1 + μ²), G_ni = ½ m v⁴/R².
 * The constraint admits accelerations along y only. The unit direction d, with dᵀ M d = 1, is 1/√m, and the slope of
 * G is C·d = −μ √m v²/R. The result contains the absolute value. */
static const char ring[] =
    "`parameters`: {`m`: 0.5, `R`: 0.8, `mu`: 0.3}, `coordinates`: [{`name`: `x`, `initial`: `R`},"
    "{`name`: `y`, `velocity`: 4}], `kinetic_energy`: `m*(x'^2 + y'^2)/2`,"
    "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 = R^2`,"
    "`nonideal`: {`x`: `-mu*hypot(ideal(x), ideal(y))*x'/hypot(x', y')`,"
    "`y`: `-mu*hypot(ideal(x), ideal(y))*y'/hypot(x', y')`}}]";

static void only_gauss_nonideal_is_stationary_at_the_motion_of_a_bead_with_friction(void **state) {
    (void)state;
    const double m = 0.5, R = 0.8, mu = 0.3, v = 4, N = m * v * v / R;
    hamel_gauss *g = gauss_of(ring);
    /* rounding errors are about 1e-15 relative to each value; the bound allows a hundred of them */
    assert_near("G", g->gauss, N * N / m * (1 + mu * mu) / 2, 1e-13);
    assert_near("G_ni", g->gauss_nonideal, N * N / m / 2, 1e-13);
    assert_int_equal(g->directions, 1);
    assert_near("slope", g->slope, mu * N / sqrt(m), 1e-13);
    assert_below("slope of G_ni", g->slope_nonideal, 1e-13 * g->slope_scale);
    assert_near("ideal x", g->reactions[0].ideal, -N, 1e-13);
    assert_near("ideal y", g->reactions[1].ideal, 0, 1e-13);
    assert_near("nonideal x", g->reactions[0].nonideal, 0, 1e-13);
    assert_near("nonideal y", g->reactions[1].nonideal, -mu * N, 1e-13);
    assert_near("prescribed y", g->reactions[1].prescribed, -mu * N, 1e-13);
    hamel_gauss_free(g);
}

/* A particle of mass 1 rests on the floor y = 0 under gravity. The prescribed force C = (0.5, 2) has a component
 * along the normal. This component changes the multiplier from g to g − 2, but the total reaction is (0.5, g) in any
 * case. In Udwadia's eq. 27, the ideal part is Q_i^c = (0, g); in eq. 28, the nonideal part is Q_ni^c = (0.5, 0).
 * Therefore G = ½ (0.25 + g²) and G_ni = ½ (g − 2)². */
static const char pushed[] = "`coordinates`: [`x`, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
                             "`potential_energy`: `9.81*y`, `constraints`: [{`name`: `floor`, `equation`: `y = 0`,"
                             "`nonideal`: {`x`: 0.5, `y`: 2}}]";

static void a_prescribed_force_along_the_normal_changes_only_the_multiplier(void **state) {
    (void)state;
    const double g = 9.81;
    hamel_gauss *found = gauss_of(pushed);
    assert_near("G", found->gauss, (0.25 + g * g) / 2, 1e-13);
    assert_near("G_ni", found->gauss_nonideal, (g - 2) * (g - 2) / 2, 1e-13);
    assert_near("ideal", found->reactions[1].ideal, g, 1e-13);
    assert_near("nonideal x", found->reactions[0].nonideal, 0.5, 1e-13);
    assert_near("nonideal y", found->reactions[1].nonideal, 0, 1e-13);
    assert_near("prescribed", found->reactions[1].prescribed, 2, 1e-13);
    hamel_gauss_free(found);
}

static void expect_outputs(const char *members, const char *name, double gauss, double nonideal) {
    char text[2000], simulation[200];
    snprintf(text, sizeof text, "%s, `outputs`: {`G`: `gauss()`, `N`: `gauss_nonideal()`}", members);
    snprintf(simulation, sizeof simulation, "`stop`: 0.1, `samples`: 3, `formulation`: `%s`", name);
    motion m = motion_run(text, simulation);
    assert_near("gauss()", motion_value(&m, 0, motion_column(&m, "G")), gauss, 1e-12);
    assert_near("gauss_nonideal()", motion_value(&m, 0, motion_column(&m, "N")), nonideal, 1e-12);
    motion_free(&m);
}

static void outputs_have_their_closed_forms_in_five_formulations(void **state) {
    (void)state;
    static const char *const formulations[] = {"lagrange", "udwadia-kalaba", "gauss", "maggi", "kane"};
    const double g = 9.81, N = 0.5 * 16 / 0.8;
    for (size_t k = 0; k < sizeof formulations / sizeof *formulations; k++) {
        expect_outputs(ring, formulations[k], N * N * 1.09, N * N);
        expect_outputs(pushed, formulations[k], (0.25 + g * g) / 2, (g - 2) * (g - 2) / 2);
    }
}

/* G and G_ni are equal if all constraints are ideal. The force −0.2 λ along x contains the multiplier λ of the floor
 * and counts as a given force. The accelerations without constraints are a = (−0.2 λ, −g). The reaction is (0, g),
 * so G = ½ g². */
static void a_force_that_contains_a_multiplier_counts_as_a_given_force(void **state) {
    (void)state;
    expect_outputs("`coordinates`: [{`name`: `x`, `velocity`: 5}, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
                   "`potential_energy`: `9.81*y`, `generalized_forces`: {`x`: `-0.2*lambda(floor)`},"
                   "`constraints`: [{`name`: `floor`, `equation`: `y = 0`}]",
                   "lagrange", 9.81 * 9.81 / 2, 9.81 * 9.81 / 2);
}

/* A block of 2 kg on a floor with the friction coefficient 0.2 is pulled by 3 N along x. The friction force counts
 * as the prescribed force C: if the block slides, C = (−0.2 m g, 0), and if it sticks, C = (−3, 0). The normal
 * reaction is m g in both cases. */
static void friction_counts_as_a_prescribed_force_in_sliding_and_sticking(void **state) {
    (void)state;
    static const char *const velocities[] = {"0.5", "0"};
    const double m = 2, g = 9.81, C[] = {-0.2 * 2 * 9.81, -3};
    for (int k = 0; k < 2; k++) {
        char members[600];
        snprintf(members, sizeof members,
                 "`coordinates`: [{`name`: `x`, `velocity`: %s}, `y`], `gravity`: [0, -9.81],"
                 "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
                 "`loads`: [{`on`: `P`, `force`: [3, 0]}],"
                 "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.2}}]",
                 velocities[k]);
        hamel_gauss *found = gauss_of(members);
        assert_near("G", found->gauss, (C[k] * C[k] + m * m * g * g) / m / 2, 1e-12);
        assert_near("G_ni", found->gauss_nonideal, m * g * g / 2, 1e-12);
        assert_near("slope", found->slope, fabs(C[k]) / sqrt(m), 1e-12);
        assert_below("slope of G_ni", found->slope_nonideal, 1e-13 * found->slope_scale);
        assert_near("prescribed", found->reactions[0].prescribed, C[k], 1e-12);
        hamel_gauss_free(found);
        expect_outputs(members, "lagrange", (C[k] * C[k] + m * m * g * g) / m / 2, m * g * g / 2);
    }
}

static void a_singular_mass_matrix_is_reported(void **state) {
    (void)state;
    fixture f;
    hamel_gauss *found = NULL;
    fixture_read(&f,
                 "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2/2`, `constraints`: [{`name`: `c`,"
                 "`equation`: `y - x = 0`}]",
                 "`stop`: 1");
    assert_int_equal(hamel_find_gauss(&found, &f.description, NULL, NULL, &f.error), HAMEL_SINGULAR);
    assert_true(fixture_says(&f, "mass matrix"));
    assert_null(found);
    fixture_close(&f);
}

/* Udwadia 2000, section 5: friction on the ring is −μ m v²/R along the velocity. The output `e` is the error of the
 * reaction. No other output depends on the accelerations, so a run could omit them for rows inside a step. It must
 * compute the reaction for each row. */
static void nonideal_reactions_are_computed_for_each_row(void **state) {
    (void)state;
    char text[2000];
    snprintf(text, sizeof text, "%s, `outputs`: {`e`: `nonideal(x) + mu*m*(x'^2 + y'^2)/R*x'/hypot(x', y')`}", ring);
    motion m = motion_run(text, "`stop`: 1, `samples`: 101");
    /* the reaction is below 4, so its rounding errors are about 1e-15 */
    assert_near("drift", motion_drift(&m, "e"), 0, 1e-12);
    motion_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_gauss_nonideal_is_stationary_at_the_motion_of_a_bead_with_friction),
        cmocka_unit_test(a_prescribed_force_along_the_normal_changes_only_the_multiplier),
        cmocka_unit_test(outputs_have_their_closed_forms_in_five_formulations),
        cmocka_unit_test(a_force_that_contains_a_multiplier_counts_as_a_given_force),
        cmocka_unit_test(friction_counts_as_a_prescribed_force_in_sliding_and_sticking),
        cmocka_unit_test(a_singular_mass_matrix_is_reported),
        cmocka_unit_test(nonideal_reactions_are_computed_for_each_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
