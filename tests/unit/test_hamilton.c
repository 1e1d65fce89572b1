/* test_hamilton.c — engine/simulate/hamilton.c: checks of Hamilton's principle and of the law of varying action
 * along a run (Baruh 4.8, Papastavridis Intro 7). */
#include "engine/simulate/hamilton.h"

#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static hamel_hamilton check_of(const char *members, const char *simulation, double slowed) {
    fixture f;
    hamel_hamilton found;
    fixture_read(&f, members, simulation);
    if (hamel_check_hamilton(&found, &f.description, slowed, NULL, NULL, &f.error) != HAMEL_OK)
        fail_msg("%s", f.error.faults[0].message);
    fixture_close(&f);
    return found;
}

static const char accurate[] = "`stop`: 2, `rtol`: 1e-10, `atol`: 1e-12";

/* Free fall from rest: y = h − g t²/2, so L = m g²t² − m g h. From t = 0 to 2, the action is m g² 8/3 − 2 m g h, and
 * Lagrange's action ∫ m y'² dt is m g² 8/3. */
static void the_actions_of_free_fall_have_closed_forms(void **state) {
    (void)state;
    const double m = 3, g = 9.81, h = 5;
    hamel_hamilton found = check_of("`coordinates`: [{`name`: `y`, `initial`: 5}], `kinetic_energy`: `3*y'^2/2`,"
                                    "`potential_energy`: `3*9.81*y`",
                                    accurate, 0);
    assert_near("action", found.action, m * g * g * 8 / 3 - 2 * m * g * h, 1e-9);
    assert_near("Lagrange's action", found.lagrange_action, m * g * g * 8 / 3, 1e-9);
    assert_true(found.holds && !found.constrained && !found.shortened);
}

/* One system for each kind of term, in this order: a Lagrangian that contains the time with impressed and damping
 * forces; a holonomic constraint that contains the time; a linear nonholonomic constraint; a nonlinear nonholonomic
 * constraint (Chetaev's rule); nonideal forces; sliding friction. */
static const char *const systems[] = {
    "`coordinates`: [{`name`: `th`, `initial`: 1, `velocity`: 0.4}, {`name`: `s`, `initial`: 0.2}],"
    "`lagrangian`: `(th'^2 + s'^2*(1 + th^2))/2 + sin(th)^2*(2 + t)^2/2 + th'*s*t - cos(th) - s^2`,"
    "`generalized_forces`: {`th`: `sin(3*t) - 0.3*th'`}",
    "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `velocity`: 0.5}], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
    "`potential_energy`: `9.81*y`, `constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1 + 0.1*sin(t)^2`}]",
    "`parameters`: {`J`: 0.4}, `coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `f`, `velocity`: 0.7}],"
    "`kinetic_energy`: `(x'^2 + y'^2 + J*f'^2)/2 - 0.2*f'*(x'*sin(f) - y'*cos(f))`, `potential_energy`: `0.3*x`,"
    "`constraints`: [{`name`: `blade`, `equation`: `x'*sin(f) = y'*cos(f)`}]",
    "`coordinates`: [{`name`: `x`, `velocity`: 3}, {`name`: `y`, `velocity`: 4}, {`name`: `z`, `velocity`: 5}],"
    "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `x + 2*y - z`,"
    "`constraints`: [{`name`: `cone`, `equation`: `x'^2 + y'^2 = z'^2`}]",
    "`coordinates`: [{`name`: `x`, `initial`: 0.8}, {`name`: `y`, `velocity`: 4}], `kinetic_energy`: `(x'^2 + y'^2)/4`,"
    "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 = 0.64`,"
    "`nonideal`: {`x`: `-0.3*hypot(ideal(x), ideal(y))*x'/hypot(x', y')`,"
    "`y`: `-0.3*hypot(ideal(x), ideal(y))*y'/hypot(x', y')`}}]",
    "`coordinates`: [{`name`: `x`, `velocity`: 9}, `y`], `gravity`: [0, -9.81],"
    "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
    "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.2}}]",
};

/* The first variation must vanish up to 1e-8, a hundred times rtol. If the check multiplies all velocities by 1 −
 * 1e-3, the relative variation is of the order of 1e-3, so it must exceed 1e-5. */
static void the_principle_holds_in_motions_and_fails_for_reduced_velocities(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        hamel_hamilton found = check_of(systems[k], accurate, 0), wrong = check_of(systems[k], accurate, 1e-3);
        assert_below("Hamilton's principle", found.principle, 1e-8);
        assert_below("law of varying action", found.varying_action, 1e-8);
        assert_true(found.holds);
        assert_false(wrong.holds);
        assert_true(wrong.principle > 1e-5);
    }
}

/* Displacements that violate the constraints are inadmissible. The reactions do work on them, which is of the order
 * of the other terms. The first system has no constraints. */
static void inadmissible_displacements_have_a_nonzero_first_variation(void **state) {
    (void)state;
    for (size_t k = 1; k < sizeof systems / sizeof *systems; k++) {
        hamel_hamilton found = check_of(systems[k], accurate, 0);
        assert_true(found.constrained);
        assert_true(found.without_constraints > 1e-3);
    }
}

/* The first event has no effect on the state, so the interval continues. The second event reverses the velocity of
 * the ball at t = √(2/g), so the interval ends. */
static void the_interval_ends_at_the_first_event_that_changes_the_state(void **state) {
    (void)state;
    hamel_hamilton found = check_of(
        "`coordinates`: [{`name`: `y`, `initial`: 1}], `kinetic_energy`: `y'^2/2`, `potential_energy`: `9.81*y`,"
        "`events`: [{`name`: `half`, `when`: `y - 0.5`}, {`name`: `bounce`, `when`: `y`, `direction`: `falling`,"
        "`set`: {`y'`: `-0.8*y'`}}]",
        accurate, 0);
    assert_near("stop", found.stop, sqrt(2 / 9.81), 1e-9);
    assert_true(found.shortened && found.holds);
}

/* In equilibrium, all terms of the principle are rounding errors. The check must not report a violation. */
static void a_system_in_equilibrium_satisfies_the_principle(void **state) {
    (void)state;
    hamel_hamilton found =
        check_of("`coordinates`: [{`name`: `x`, `initial`: `0.1 + 0.2`}, {`name`: `y`, `initial`: 0.7}],"
                 "`kinetic_energy`: `(x'^2 + y'^2)/2`,"
                 "`potential_energy`: `(x - 0.3)^2 + cos(y*3) + 3*sin(2.1)*y`",
                 accurate, 0);
    assert_true(found.holds);
}

static void a_system_without_a_lagrangian_is_rejected(void **state) {
    (void)state;
    fixture f;
    hamel_hamilton found;
    fixture_read(&f, "`coordinates`: [`x`], `acceleration_energy`: `x''^2/2`", "`stop`: 1");
    assert_int_equal(hamel_check_hamilton(&found, &f.description, 0, NULL, NULL, &f.error), HAMEL_INVALID);
    assert_true(fixture_says(&f, "no Lagrangian"));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_actions_of_free_fall_have_closed_forms),
        cmocka_unit_test(the_principle_holds_in_motions_and_fails_for_reduced_velocities),
        cmocka_unit_test(inadmissible_displacements_have_a_nonzero_first_variation),
        cmocka_unit_test(the_interval_ends_at_the_first_event_that_changes_the_state),
        cmocka_unit_test(a_system_in_equilibrium_satisfies_the_principle),
        cmocka_unit_test(a_system_without_a_lagrangian_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
