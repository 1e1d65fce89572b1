/* test_rigid_motion.c — velocity and acceleration poles, screws and wrenches of bodies, compared with closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const RUN = "`stop`: 1.5, `samples`: 7, `rtol`: 1e-10, `atol`: 1e-12";

static double at(const motion *m, size_t row, const char *name) {
    return motion_value(m, row, motion_column(m, name));
}

/* A wheel rolls on the line y = 0. Its velocity pole is the contact point, and its body centrode is its rim. The
 * acceleration a + α e3 × ρ − ω² ρ vanishes at the acceleration pole. */
static void the_velocity_pole_of_a_rolling_wheel_is_its_contact_point(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `p`, `velocity`: -2}], `generalized_forces`: {`x`: 3},"
        "`bodies`: [{`name`: `W`, `mass`: 2, `inertia`: 0.3, `position`: [`x`, 0.5], `orientation`: {`angle`: `p`}}],"
        "`constraints`: [{`name`: `rolls`, `equation`: `x' + 0.5*p' = 0`}],"
        "`outputs`: {`X`: `velocity_pole(W, 1)`, `Y`: `velocity_pole(W, 2)`, `U`: `velocity_pole_body(W, 1)`,"
        "`V`: `velocity_pole_body(W, 2)`, `A`: `acceleration_pole(W, 1)`, `B`: `acceleration_pole(W, 2)`,"
        "`a`: `x''`, `w`: `p'`, `e`: `p''`, `S`: `screw_point(W, 1)`, `Z`: `screw_pitch(W)`}",
        RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double x = at(&m, row, "x"), w = at(&m, row, "w"), e = at(&m, row, "e");
        double r[2] = {at(&m, row, "A") - x, at(&m, row, "B") - 0.5};
        assert_near("X", at(&m, row, "X"), x, 1e-12);
        assert_near("Y", at(&m, row, "Y"), 0, 1e-12);
        assert_near("rim", hypot(at(&m, row, "U"), at(&m, row, "V")), 0.5, 1e-12);
        assert_near("a1", at(&m, row, "a") - e * r[1] - w * w * r[0], 0, 1e-12);
        assert_near("a2", e * r[0] - w * w * r[1], 0, 1e-12);
        assert_near("S", at(&m, row, "S"), x, 1e-12);
        assert_near("Z", at(&m, row, "Z"), 0, 1e-15);
    }
    motion_free(&m);
}

/* The top of a ladder of length 2 slides down a wall, and its foot slides on the ground. The velocity pole is
 * vertically above the foot, at the height of the top. The space centrode is the circle of radius 2 about the corner
 * of wall and ground. The body centrode is the circle of radius 1 about the middle of the ladder. */
static void the_velocity_pole_of_a_sliding_ladder_is_above_its_foot(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `p`, `initial`: 1.2, `velocity`: -0.1}], `gravity`: [0, -9.81],"
                          "`bodies`: [{`name`: `L`, `mass`: 1, `inertia`: 0.3, `position`: [`cos(p)`, `sin(p)`],"
                          "`orientation`: {`angle`: `-p`}}], `outputs`: {`X`: `velocity_pole(L, 1)`,"
                          "`Y`: `velocity_pole(L, 2)`, `U`: `velocity_pole_body(L, 1)`,"
                          "`V`: `velocity_pole_body(L, 2)`}",
                          "`stop`: 0.5, `samples`: 6");
    for (size_t row = 0; row < m.row_count; row++) {
        double p = at(&m, row, "p");
        assert_near("X", at(&m, row, "X"), 2 * cos(p), 1e-12);
        assert_near("Y", at(&m, row, "Y"), 2 * sin(p), 1e-12);
        assert_near("body", hypot(at(&m, row, "U"), at(&m, row, "V")), 1, 1e-12);
    }
    motion_free(&m);
}

/* A nut rotates by p about the line x = 1, y = 2 and advances by 0.3 p. Its centre is at the distance 0.7 from the
 * line. */
static void a_nut_moves_on_the_screw_of_its_thread(void **state) {
    (void)state;
    motion m =
        motion_run("`coordinates`: [{`name`: `p`, `velocity`: 1}], `gravity`: [0, 0, -1], `bodies`: [{`name`: `N`,"
                   "`mass`: 1, `inertia`: [1, 1, 1], `position`: [`1 + 0.7*cos(p)`, `2 + 0.7*sin(p)`, `0.3*p`],"
                   "`orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`p`, 0.4, 0]}}}],"
                   "`outputs`: {`X`: `screw_point(N, 1)`, `Y`: `screw_point(N, 2)`, `Z`: `screw_point(N, 3)`,"
                   "`h`: `screw_pitch(N)`}",
                   RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        assert_near("X", at(&m, row, "X"), 1, 1e-12);
        assert_near("Y", at(&m, row, "Y"), 2, 1e-12);
        assert_near("Z", at(&m, row, "Z"), 0.3 * at(&m, row, "p"), 1e-12);
        assert_near("h", at(&m, row, "h"), 0.3, 1e-12);
    }
    motion_free(&m);
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* The force F at the body point (1, 0, 0) and the moment 0.3 F act on a free body. They are equivalent to a wrench
 * of pitch 0.3 whose central axis contains the point. The acceleration a + α × ρ + ω × (ω × ρ) vanishes at the
 * acceleration pole. */
static void a_force_and_a_parallel_moment_form_a_wrench(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [`x`, `y`, `z`, {`name`: `a`, `velocity`: 1}, {`name`: `b`, `initial`: 0.8, `velocity`: 0.4},"
        "{`name`: `c`, `velocity`: -0.7}], `bodies`: [{`name`: `B`, `mass`: 2, `inertia`: [1, 1.6, 2.2],"
        "`position`: [`x`, `y`, `z`], `orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`a`, `b`, `c`]}}}],"
        "`points`: [{`name`: `P`, `body`: `B`, `at`: [1, 0, 0]}], `loads`: [{`on`: `P`, `force`: [0, 2, 1]},"
        "{`on`: `B`, `torque`: [0, 0.6, 0.3]}], `outputs`: {`W1`: `wrench_point(B, 1) - position(P, 1)`,"
        "`W2`: `wrench_point(B, 2) - position(P, 2)`, `W3`: `wrench_point(B, 3) - position(P, 3)`,"
        "`h`: `wrench_pitch(B)`, `r1`: `acceleration_pole(B, 1) - x`, `r2`: `acceleration_pole(B, 2) - y`,"
        "`r3`: `acceleration_pole(B, 3) - z`, `w1`: `angular_velocity(B, 1)`, `w2`: `angular_velocity(B, 2)`,"
        "`w3`: `angular_velocity(B, 3)`, `e1`: `der(angular_velocity(B, 1))`, `e2`: `der(angular_velocity(B, 2))`,"
        "`e3`: `der(angular_velocity(B, 3))`, `a1`: `x''`, `a2`: `y''`, `a3`: `z''`}",
        RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double v[5][3], turned[3], inner[3], outer[3], off[3];
        static const char *const first[] = {"W1", "r1", "w1", "e1", "a1"};
        for (size_t k = 0; k < 5; k++)
            for (size_t i = 0; i < 3; i++) v[k][i] = motion_value(&m, row, motion_column(&m, first[k]) + i);
        cross(v[0], (double[]){0, 2, 1}, off);
        cross(v[3], v[1], turned);
        cross(v[2], v[1], inner);
        cross(v[2], inner, outer);
        assert_near("pitch", at(&m, row, "h"), 0.3, 1e-12);
        for (int i = 0; i < 3; i++) {
            assert_near("central axis", off[i], 0, 1e-12);
            assert_near("pole", v[4][i] + turned[i] + outer[i], 0, 1e-11);
        }
    }
    motion_free(&m);
}

/* If a pole, an axis or a wrench does not exist, the description or the run must fail with an error. An infinite
 * value must not be written. */
static void undefined_poles_and_axes_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *body, *output, *message;
    } cases[] = {
        {"[`x`, 0], `orientation`: {`angle`: `p`}, `inertia`: 1", "velocity_pole(B, 2)", "is not finite"},
        {"[`x`, 0], `orientation`: {`angle`: `p`}, `inertia`: 1", "acceleration_pole(B, 1)", "is not finite"},
        {"[`x`, 0], `orientation`: {`angle`: `p`}, `inertia`: 1", "wrench_point(B, 2)", "is not finite"},
        {"[`x`, 0], `orientation`: {`angle`: `p`}, `inertia`: 1", "rotation_axis(B, 3)", "is not finite"},
        {"[`x`, `p`]", "velocity_pole(B, 2)", "does not rotate"},
        {"[`x`, 0, 0], `orientation`: {`angle`: `p`}, `inertia`: [1, 1, 1]", "velocity_pole(B, 2)",
         "the velocity pole exists only in the plane"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `velocity`: 1}, `p`], `bodies`: [{`name`: `B`, `mass`: 1, `position`: "
                 "%s}], `outputs`: {`o`: `%s`}",
                 cases[i].body, cases[i].output);
        assert_run_fault(text, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_velocity_pole_of_a_rolling_wheel_is_its_contact_point),
        cmocka_unit_test(the_velocity_pole_of_a_sliding_ladder_is_above_its_foot),
        cmocka_unit_test(a_nut_moves_on_the_screw_of_its_thread),
        cmocka_unit_test(a_force_and_a_parallel_moment_form_a_wrench),
        cmocka_unit_test(undefined_poles_and_axes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
