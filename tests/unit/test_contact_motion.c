/* test_contact_motion.c — contact_point(), contact_slip(), contact_roll() and contact_pivot() of rolling joints,
 * compared with closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const RUN = "`stop`: 1, `samples`: 6, `rtol`: 1e-10, `atol`: 1e-12";

static double at(const motion *m, size_t row, const char *name) {
    return motion_value(m, row, motion_column(m, name));
}

/* A homogeneous ball of radius r = 0.5 rolls on the plane z = 0 with the normal n and rotates about n. No couple
 * acts about n, so the velocity v of the centre and the rate about n are constant. The rolling velocity is n × v/r.
 * The contact point is at the distance r below the centre. */
static void a_ball_without_a_couple_rolls_and_pivots_at_constant_rates(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`, `velocity`: -0.4}, {`name`: `z`, `initial`: 0.5},"
        "{`name`: `a`, `initial`: 1}, {`name`: `b`, `velocity`: 0.4}, {`name`: `c`, `velocity`: 1},"
        "{`name`: `d`, `velocity`: 0.35}], `bodies`: [{`name`: `B`, `mass`: 2, `inertia`: [0.2, 0.2, 0.2],"
        "`position`: [`x`, `y`, `z`], `orientation`: {`quaternion`: [`a`, `b`, `c`, `d`]}}],"
        "`points`: [{`name`: `O`, `position`: [0, 0, 0]}], `joints`: [{`name`: `J`, `type`: `rolling`,"
        "`between`: [`B`, `O`], `radius`: 0.5, `normal`: [0, 0, 2]}], `gravity`: [0, 0, -9.81],"
        "`outputs`: {`p`: `contact_pivot(J)`, `r1`: `contact_roll(J, 1)`, `r2`: `contact_roll(J, 2)`,"
        "`r3`: `contact_roll(J, 3)`, `P1`: `contact_point(J, 1)`, `P3`: `contact_point(J, 3)`,"
        "`s1`: `contact_slip(J, 1)`, `s2`: `contact_slip(J, 2)`}",
        RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        assert_near("pivot", at(&m, row, "p"), 0.7, 1e-8);
        assert_near("roll", at(&m, row, "r1"), 0.8, 1e-8);
        assert_near("roll", at(&m, row, "r2"), 2, 1e-8);
        assert_near("roll", at(&m, row, "r3"), 0, 1e-15);
        assert_near("point", at(&m, row, "P1"), at(&m, row, "x"), 1e-15);
        assert_near("point", at(&m, row, "P3"), 0, 1e-8);
        assert_near("slip", hypot(at(&m, row, "s1"), at(&m, row, "s2")), 0, 1e-8);
    }
    motion_free(&m);
}

/* A wheel of radius r = 0.5 rolls on a platform that moves along x at the speed 3. At t = 0.5 an event deactivates
 * the rolling constraint and sets x' = 2. After the event, the slip velocity is x' + r p' − 3 = 1. The pivoting
 * velocity of a planar wheel is 0. */
static void a_wheel_slips_after_its_rolling_constraint_is_deactivated(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `p`, `velocity`: 4}],"
                          "`bodies`: [{`name`: `W`, `mass`: 1, `inertia`: 0.2, `position`: [`x`, 0.5],"
                          "`orientation`: {`angle`: `p`}}], `frames`: [{`name`: `F`, `origin`: [`3*t`, 0]}],"
                          "`joints`: [{`name`: `J`, `type`: `rolling`, `between`: [`W`, `F`], `radius`: 0.5,"
                          "`normal`: [0, 1]}], `events`: [{`name`: `release`, `when`: `t - 0.5`, `deactivate`: [`J.1`],"
                          "`set`: {`x'`: `2`}}], `outputs`: {`s`: `contact_slip(J, 1)`, `r`: `contact_roll(J, 3)`,"
                          "`p0`: `contact_pivot(J)`}",
                          RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        bool rolls = motion_value(&m, row, 0) < 0.5;
        assert_near("slip", at(&m, row, "s"), rolls ? 0 : 1, 1e-9);
        assert_near("roll", at(&m, row, "r"), 4, 1e-9);
        assert_near("pivot", at(&m, row, "p0"), 0, 0);
    }
    motion_free(&m);
}

static void contact_pivot_requires_a_rolling_joint(void **state) {
    (void)state;
    static const char *const names[] = {"pin", "W", "nothing"};
    for (size_t i = 0; i < 3; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "`coordinates`: [`p`], `bodies`: [{`name`: `W`, `mass`: 1, `inertia`: 0.2, `position`: [0, 0.5],"
                 "`orientation`: {`angle`: `p`}}], `points`: [{`name`: `O`, `position`: [0, 0.5]}], `joints`:"
                 "[{`name`: `pin`, `type`: `revolute`, `between`: [`W`, `O`]}], `outputs`: {`s`: `contact_pivot(%s)`}",
                 names[i]);
        assert_run_fault(text, "needs a rolling joint");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_without_a_couple_rolls_and_pivots_at_constant_rates),
        cmocka_unit_test(a_wheel_slips_after_its_rolling_constraint_is_deactivated),
        cmocka_unit_test(contact_pivot_requires_a_rolling_joint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
