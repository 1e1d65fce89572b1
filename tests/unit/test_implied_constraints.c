/* test_implied_constraints.c — acceleration constraints that other constraints imply: derivatives written by hand, at
 * any scale, alone and combined. Implied constraints must have no effect in any formulation. */
#include "tests/unit/motion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const FORMULATIONS[] = {"lagrange",     "udwadia-kalaba",  "gauss",    "maggi",    "kane",
                                           "gibbs-appell", "boltzmann-hamel", "hadamard", "voronets", "hamilton"};
enum { FORMULATION_COUNT = sizeof FORMULATIONS / sizeof *FORMULATIONS };

#define TIMES "`stop`: 1.5, `times`: [0, 0.3, 0.6, 0.9, 1.2, 1.5], `initialization`: `project`, "
#define TIGHT "`rtol`: 1e-10, `atol`: 1e-12"

static void run(const char *system, const char *constraints, const char *wanted, motion *out) {
    char text[3000], simulation[300];
    snprintf(text, sizeof text, "%s, `constraints`: [%s]", system, constraints);
    snprintf(simulation, sizeof simulation, TIMES TIGHT ", `formulation`: `%s`", wanted);
    *out = motion_run(text, simulation);
}

/* Checks that adding `implied` to `constraints` does not change the trajectory in any formulation. */
static void assert_implied(const char *system, const char *constraints, const char *implied) {
    char both[2000];
    motion alone;
    snprintf(both, sizeof both, "%s, %s", constraints, implied);
    run(system, constraints, "lagrange", &alone);
    for (size_t i = 0; i < FORMULATION_COUNT; i++) {
        motion with;
        run(system, both, FORMULATIONS[i], &with);
        double difference = motion_difference(&alone, &with);
        if (!(difference < 1e-8))
            fail_msg("%s, with %s: the trajectories differ by %g", FORMULATIONS[i], implied, difference);
        motion_free(&with);
    }
    motion_free(&alone);
}

#define FOUR                                                                                              \
    "`coordinates`: [{`name`: `x`, `initial`: -0.742, `velocity`: 0.032659726777759523},"                 \
    "{`name`: `y`, `initial`: -0.181, `velocity`: 0.4051723522057511}, {`name`: `z`, `initial`: -0.396, " \
    "`velocity`: -0.56}, {`name`: `w`, `initial`: 0.001, `velocity`: -0.12184630227818416}],"             \
    "`kinetic_energy`: `x'^2 + y'^2 + z'^2 + w'^2`,"                                                      \
    "`potential_energy`: `1.83*x^2 + 1.94*y^2 + 0.796*z^2 + 0.442*w^2`,"                                  \
    "`outputs`: {`ax`: `x''`, `ay`: `y''`, `az`: `z''`, `aw`: `w''`}"
#define FIRST "(-1.12 + 0.2*w)*y' + (-0.81 - 0.2*w)*z'"
#define SECOND "x' + (0.3 - y)*w' + 0.5*z'"
#define HOLONOMIC "x + 0.4*w^2 + 0.2*y*z"

/* The value z'' = 0.534 at t = 0.9 is computed by Lagrange's equations with multipliers, which do not use a velocity
 * basis. */
static void the_derivative_of_a_velocity_constraint_changes_nothing(void **state) {
    (void)state;
    assert_implied(FOUR, "{`name`: `c`, `equation`: `" FIRST " = 0`}",
                   "{`name`: `r`, `equation`: `der(" FIRST ") = 0`}");
    motion m;
    run(FOUR, "{`name`: `c`, `equation`: `" FIRST " = 0`}, {`name`: `r`, `equation`: `der(" FIRST ") = 0`}", "kane",
        &m);
    assert_true(motion_value(&m, 3, motion_column(&m, "t")) == 0.9);
    assert_below("z''", motion_value(&m, 3, motion_column(&m, "az")) - 0.534284629, 1e-8);
    assert_below("-z''", 0.534284629 - motion_value(&m, 3, motion_column(&m, "az")), 1e-8);
    motion_free(&m);
}

static void the_scale_of_the_derivative_does_not_matter(void **state) {
    static const char *const scales[] = {"1e-6", "1e6"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char implied[300];
        snprintf(implied, sizeof implied, "{`name`: `r`, `equation`: `der(%s*(" FIRST ")) = 0`}", scales[i]);
        assert_implied(FOUR, "{`name`: `c`, `equation`: `" FIRST " = 0`}, {`name`: `d`, `equation`: `" SECOND " = 0`}",
                       implied);
    }
}

static void linear_combinations_of_derivatives_change_nothing(void **state) {
    (void)state;
    assert_implied(FOUR, "{`name`: `c`, `equation`: `" FIRST " = 0`}, {`name`: `d`, `equation`: `" SECOND " = 0`}",
                   "{`name`: `r`, `equation`: `der(3*(" FIRST ") - 20*(" SECOND ")) = 0`},"
                   "{`name`: `s`, `equation`: `der(" FIRST " + " SECOND ") = 0`}");
}

static void a_holonomic_constraint_differentiated_by_hand_changes_nothing(void **state) {
    (void)state;
    assert_implied(FOUR, "{`name`: `h`, `equation`: `" HOLONOMIC " = 0`}, {`name`: `c`, `equation`: `" FIRST " = 0`}",
                   "{`name`: `r`, `equation`: `der(der(" HOLONOMIC ")) = 0`},"
                   "{`name`: `s`, `equation`: `1e3*der(der(" HOLONOMIC ")) + der(" FIRST ") = 0`}");
}

/* The constraint z'' = 0.1 is not implied, so it must still act if the derivative of another constraint is added. */
static void constraints_that_are_not_implied_still_act(void **state) {
    (void)state;
    const char *own = "{`name`: `c`, `equation`: `" FIRST " = 0`}, {`name`: `p`, `equation`: `z'' = 0.1`}";
    assert_implied(FOUR, own, "{`name`: `r`, `equation`: `der(" FIRST ") = 0`}");
    assert_implied(FOUR, own, "{`name`: `r`, `equation`: `1e-3*der(" FIRST ") + z'' = 0.1`}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_derivative_of_a_velocity_constraint_changes_nothing),
        cmocka_unit_test(the_scale_of_the_derivative_does_not_matter),
        cmocka_unit_test(linear_combinations_of_derivatives_change_nothing),
        cmocka_unit_test(a_holonomic_constraint_differentiated_by_hand_changes_nothing),
        cmocka_unit_test(constraints_that_are_not_implied_still_act),
    };
    return cmocka_run_group_tests_name("implied constraints", tests, NULL, NULL);
}
