/* test_stick_slip_in_space.c — sticking and sliding on surfaces in space, against closed forms. */
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define FINE "`rtol`: 1e-10, `atol`: 1e-12"

/* The bound is the sum of a hundred step errors at the tolerance 1e-10. It includes the error of the event times,
 * because the dense output is less accurate than the steps. */
static const double NEAR = 1e-8;

static double value(const motion *m, size_t row, const char *name) {
    return motion_value(m, row, motion_column(m, name));
}

/* The weight causes the acceleration G = 10 sin a down the incline, and friction causes the deceleration F = 10 μ cos
 * a. If v is at the angle p to the steepest descent, v' = G cos p − F and v p' = −G sin p.
 *
 * Therefore F v + G v cos p decreases at the rate F² − G², and v sin p is proportional to tan(p/2)^(F/G).
 *
 * For F > G the body comes to rest when F v + G v cos p is 0, and stays at rest. */
static void a_puck_thrown_across_an_incline_curves_down_and_stops(void **state) {
    (void)state;
    const double a = 0.3, mu = 0.5, G = 10 * sin(a), F = 10 * mu * cos(a), speed = 3,
                 stop = F * speed / (F * F - G * G);
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 3}, `y`, `z`], `gravity`: [0, 0, -10],"
                          "`parameters`: {`a`: 0.3},"
                          "`particles`: [{`name`: `puck`, `mass`: 2, `position`: [`x`, `y`, `z`]}],"
                          "`constraints`: [{`name`: `incline`, `equation`: `z*cos(a) = y*sin(a)`, `friction`:"
                          "{`coefficient`: 0.5}}],"
                          "`outputs`: {`v`: `sqrt(x'^2 + y'^2 + z'^2)`, `down`: `-y'*cos(a) - z'*sin(a)`}",
                          "`stop`: 1.5, `samples`: 151, " FINE);
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0), v = value(&m, i, "v"), down = value(&m, i, "down");
        assert_below("rate", fabs(F * v + G * down - fmax(F * speed - (F * F - G * G) * t, 0)), NEAR);
        if (t >= stop) continue;
        double across = value(&m, i, "x'"), half = across / (v + down); /* tan(p/2), 1 at the start */
        assert_below("path", fabs(across - speed * pow(half, F / G)), NEAR);
    }
    assert_below("work balance", m.work_balance_error, NEAR);
    motion_free(&m);
}

/* A force 2t in a direction along the floor starts sliding at μ_s N = 5. Then the acceleration in this direction is 2t
 * − 3. The slip velocity has three components, but only two are used, because the third is normal to the floor. */
static void a_growing_force_starts_sliding_in_its_direction(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [`x`, `y`, `z`], `gravity`: [0, 0, -10],"
                          "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`, `z`]}],"
                          "`generalized_forces`: {`x`: `1.2*t`, `y`: `1.6*t`},"
                          "`constraints`: [{`name`: `floor`, `equation`: `z = 0`, `friction`: {`coefficient`: 0.3,"
                          "`static`: 0.5}}], `outputs`: {`fx`: `nonideal(x)`, `fy`: `nonideal(y)`}",
                          "`stop`: 4, `samples`: 401, " FINE);
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0), u = fmax(t - 2.5, 0), way = u * u * u / 3 + u * u;
        assert_below("x", fabs(value(&m, i, "x") - 0.6 * way), NEAR);
        assert_below("y", fabs(value(&m, i, "y") - 0.8 * way), NEAR);
        if (fabs(t - 2.5) < 1e-9) continue;
        assert_below("fx", fabs(value(&m, i, "fx") + 0.6 * (u > 0 ? 3 : 2 * t)), NEAR);
        assert_below("fy", fabs(value(&m, i, "fy") + 0.8 * (u > 0 ? 3 : 2 * t)), NEAR);
    }
    motion_free(&m);
}

/* A force of constant size rotates. Below the limit the body sticks, and the friction force rotates with the applied
 * force. */
static void a_rotating_force_below_the_limit_does_not_move_the_body(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [`x`, `y`, `z`], `gravity`: [0, 0, -10],"
                          "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`, `z`]}],"
                          "`generalized_forces`: {`x`: `4.9*cos(3*t)`, `y`: `4.9*sin(3*t)`},"
                          "`constraints`: [{`name`: `floor`, `equation`: `x + z = 0`, `friction`: {`coefficient`: 1}}],"
                          "`outputs`: {`fx`: `nonideal(x)`, `fy`: `nonideal(y)`, `fz`: `nonideal(z)`}",
                          "`stop`: 3, `samples`: 31, " FINE);
    /* The floor plane has the normal (1, 0, 1)/√2. The sum of weight and applied force is (F_x + 10)/2 along (1, 0,
     * −1). */
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0), along = (4.9 * cos(3 * t) + 10) / 2, across = 4.9 * sin(3 * t);
        double normal = fabs(4.9 * cos(3 * t) - 10) / sqrt(2);
        bool held = 2 * along * along + across * across <= normal * normal;
        if (!held) break;
        assert_below("x", fabs(value(&m, i, "x")), NEAR);
        assert_below("fx", fabs(value(&m, i, "fx") + along), NEAR);
        assert_below("fy", fabs(value(&m, i, "fy") + across), NEAR);
        assert_below("fz", fabs(value(&m, i, "fz") - along), NEAR);
    }
    motion_free(&m);
}

/* A turntable has the angle t²/2. A body at the distance 1 from its axis sticks until the acceleration sqrt(1 + t⁴)
 * reaches μ_s g = 5. Then the body slides with the friction μ g. The rotation of the table's axes must not change the
 * result. */
static void a_body_on_a_turntable_sticks_until_it_slides(void **state) {
    (void)state;
    const double slips = pow(24, 0.25);
    motion m = motion_run(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`, `z`], `gravity`: [0, 0, -10],"
        "`particles`: [{`name`: `coin`, `mass`: 2, `position`: [`x`, `y`, `z`]}],"
        "`frames`: [{`name`: `table`, `orientation`: {`euler`: {`sequence`: `ZXZ`, `angles`: [`t^2/2`, 0, 0]}}}],"
        "`constraints`: [{`name`: `top`, `equation`: `z = 0`, `friction`: {`coefficient`: 0.4,"
        "`static`: 0.5, `against`: `table`}}],"
        "`outputs`: {`f`: `sqrt(nonideal(x)^2 + nonideal(y)^2)`,"
        "`slip`: `sqrt((x' + t*y)^2 + (y' - t*x)^2)`}",
        "`stop`: 2.5, `samples`: 251, " FINE);
    for (size_t i = 0; i < m.row_count; i++) {
        double t = motion_value(&m, i, 0);
        if (t < slips) {
            assert_below("x", fabs(value(&m, i, "x") - cos(t * t / 2)), NEAR);
            assert_below("y", fabs(value(&m, i, "y") - sin(t * t / 2)), NEAR);
            assert_below("friction force", fabs(value(&m, i, "f") - 2 * sqrt(1 + t * t * t * t)), 1e-7);
        } else {
            assert_below("sliding friction", fabs(value(&m, i, "f") - 8), 1e-7);
            assert_true(value(&m, i, "slip") > 0);
        }
    }
    motion_free(&m);
}

/* In a bowl of radius 1, a body at the angle p from the lowest point sticks if tan p ≤ μ. If the body is released
 * higher, it slides along a meridian. Its squared speed w satisfies dw/dp = 2μ(w + g cos p) − 2g sin p. The solution is
 * w = A sin p + B cos p + C exp(2μp). The body stays at its first turning point if tan p ≤ μ there. */
static void a_body_in_a_bowl_slides_along_a_meridian(void **state) {
    (void)state;
    const double mu = 0.3, g = 10, d = 1 + 4 * mu * mu, A = 6 * mu * g / d, B = (2 * g - 4 * mu * mu * g) / d;
    static const double angles[] = {0.1, 0.29, 0.2914, 0.2915, 0.8, 1.2}; /* atan 0.3 = 0.29146 */
    for (size_t k = 0; k < sizeof angles / sizeof *angles; k++) {
        double p0 = angles[k], C = -(A * sin(p0) + B * cos(p0)) * exp(-2 * mu * p0);
        char text[1000];
        snprintf(
            text, sizeof text,
            "`parameters`: {`p`: %.17g}, `coordinates`: [{`name`: `x`, `initial`: `sin(p)*cos(0.7)`},"
            "{`name`: `y`, `initial`: `sin(p)*sin(0.7)`}, {`name`: `z`, `initial`: `-cos(p)`}],"
            "`gravity`: [0, 0, -10], `particles`: [{`name`: `pea`, `mass`: 1, `position`: [`x`, `y`, `z`]}],"
            "`constraints`: [{`name`: `bowl`, `equation`: `x^2 + y^2 + z^2 = 1`, `friction`: {`coefficient`: 0.3}}],"
            "`outputs`: {`p`: `atan2(x*cos(0.7) + y*sin(0.7), -z)`, `w`: `x'^2 + y'^2 + z'^2`,"
            "`side`: `y*cos(0.7) - x*sin(0.7)`}",
            p0);
        motion m = motion_run(text, "`stop`: 4, `samples`: 401, " FINE);
        if (tan(p0) <= mu) assert_below("displacement", fabs(motion_last(&m, "p") - p0), 1e-12);
        double before = p0;
        for (size_t i = 1; i < m.row_count && tan(p0) > mu; i++) {
            double p = value(&m, i, "p");
            assert_below("side", fabs(value(&m, i, "side")), NEAR);
            if (!(p < before)) break; /* the body sticks or slides back */
            assert_below("w", fabs(value(&m, i, "w") - (A * sin(p) + B * cos(p) + C * exp(2 * mu * p))), 1e-7);
            before = p;
        }
        if (tan(p0) > mu) assert_true(before < p0);
        assert_below("work balance", m.work_balance_error, 1e-7);
        motion_free(&m);
    }
}

/* The system is in space but moves in a plane only. Each direction of the plane has its own slip component. */
static void planar_motion_in_space_agrees_with_motion_in_the_plane(void **state) {
    (void)state;
    static const char coordinates[] = "`coordinates`: [{`name`: `x`, `velocity`: 2}, {`name`: `z`, `velocity`: 1}],";
    static const char rest[] =
        "`constraints`: [{`name`: `incline`, `equation`: `z = x/2`, `friction`: {`coefficient`: 0.4}}],"
        "`outputs`: {`f`: `nonideal(x)`, `N`: `lambda(incline)`}";
    char text[2][1000];
    for (int space = 0; space < 2; space++)
        snprintf(text[space], sizeof text[space],
                 "%s `gravity`: [0, %s-10], `particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, %s`z`]}], %s",
                 coordinates, space ? "0, " : "", space ? "0, " : "", rest);
    motion plane = motion_run(text[0], "`stop`: 2, `samples`: 101, " FINE),
           space = motion_run(text[1], "`stop`: 2, `samples`: 101, " FINE);
    assert_below("difference", motion_difference(&plane, &space), NEAR);
    motion_free(&plane);
    motion_free(&space);
}

/* A pendulum under the block varies the normal force and exerts a horizontal force. */
static void all_formulations_agree(void **state) {
    (void)state;
    assert_formulations_agree(
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, {`name`: `y`}, {`name`: `z`},"
        "{`name`: `h`, `initial`: 1.2}, {`name`: `k`, `initial`: 0.3, `velocity`: 1},"
        "{`name`: `c`, `velocity`: 1}], `kinetic_energy`: `c'^2/2`,"
        "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`, `z`]},"
        "{`name`: `bob`, `mass`: 1, `position`: [`x + sin(h)`, `y + cos(h)*sin(k)`, `z - cos(h)*cos(k)`]}],"
        "`gravity`: [0, 0, -10],"
        "`constraints`: [{`name`: `floor`, `equation`: `z = 0`, `friction`: {`coefficient`: 0.15,"
        "`static`: 0.25, `on`: `block`}}], `outputs`: {`f`: `nonideal(x)`, `N`: `lambda(floor)`}",
        "`stop`: 3, `samples`: 31, " FINE, 1e-6, 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_puck_thrown_across_an_incline_curves_down_and_stops),
        cmocka_unit_test(a_growing_force_starts_sliding_in_its_direction),
        cmocka_unit_test(a_rotating_force_below_the_limit_does_not_move_the_body),
        cmocka_unit_test(a_body_on_a_turntable_sticks_until_it_slides),
        cmocka_unit_test(a_body_in_a_bowl_slides_along_a_meridian),
        cmocka_unit_test(planar_motion_in_space_agrees_with_motion_in_the_plane),
        cmocka_unit_test(all_formulations_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
