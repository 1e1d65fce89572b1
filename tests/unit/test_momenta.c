/* test_momenta.c — linear and angular momenta of bodies, particles and systems, compared with closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A free body. At t = 0, its axes are parallel to the inertial axes, its centre is at (1, 2, 3), and it moves and
 * rotates. */
static const char *const BODY =
    "`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 0.5}, {`name`: `y`, `initial`: 2, `velocity`: -1},"
    "{`name`: `z`, `initial`: 3, `velocity`: 0.25}, {`name`: `a`, `initial`: 1, `velocity`: 0},"
    "{`name`: `b`, `velocity`: 0.2}, {`name`: `c`, `velocity`: 0.4}, {`name`: `d`, `velocity`: -0.3}],"
    "`bodies`: [{`name`: `B`, `mass`: 2, `inertia`: [[1, 0.1, 0], [0.1, 1.6, -0.2], [0, -0.2, 2.2]],"
    "`position`: [`x`, `y`, `z`], `orientation`: {`quaternion`: [`a`, `b`, `c`, `d`]}}],"
    "`points`: [{`name`: `O`, `position`: [0, 0, 0]}, {`name`: `P`, `position`: [0.5, -1, 2]}],"
    "`outputs`: {`p1`: `linear_momentum(B, 1)`, `p2`: `linear_momentum(B, 2)`, `p3`: `linear_momentum(B, 3)`,"
    "`s1`: `angular_momentum(B, 1)`, `s2`: `angular_momentum(B, 2)`, `s3`: `angular_momentum(B, 3)`,"
    "`h1`: `total_angular_momentum(1)`, `h2`: `total_angular_momentum(2)`, `h3`: `total_angular_momentum(3)`,"
    "`k1`: `angular_momentum(B, 1, P)`, `k2`: `angular_momentum(B, 2, P)`, `k3`: `angular_momentum(B, 3, P)`}";
static const char *const RUN = "`stop`: 3, `samples`: 13, `rtol`: 1e-10, `atol`: 1e-12";

/* The quaternion is 1 at t = 0, so the angular velocity is ω = 2 (b', c', d') and H_G = I ω = (0.48, 1.44, −1.48).
 * About the origin, H_O = r × m v + H_G with r = (1, 2, 3) and m v = (1, −2, 0.5). */
static void a_free_body_has_constant_linear_and_angular_momenta(void **state) {
    (void)state;
    static const double expected[] = {1, -2, 0.5, 0.48, 1.44, -1.48, 0.48 + 7, 1.44 + 2.5, -1.48 - 4};
    static const char *const names[] = {"p1", "p2", "p3", "s1", "s2", "s3", "h1", "h2", "h3"};
    motion m = motion_run(BODY, RUN);
    for (size_t i = 0; i < 9; i++) {
        assert_near(names[i], motion_value(&m, 0, motion_column(&m, names[i])), expected[i], 1e-14);
        assert_below(names[i], motion_drift(&m, names[i]), 1e-8); /* no force acts; the bound is 100 times rtol */
    }
    motion_free(&m);
}

/* H_P = H_O − r_P × p at each row (Papastavridis 1.6). */
static void angular_momentum_is_transferred_from_one_point_to_another(void **state) {
    (void)state;
    static const double P[] = {0.5, -1, 2};
    motion m = motion_run(BODY, RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double p[3], h[3], k[3];
        for (size_t i = 0; i < 3; i++) {
            p[i] = motion_value(&m, row, motion_column(&m, "p1") + i);
            h[i] = motion_value(&m, row, motion_column(&m, "h1") + i);
            k[i] = motion_value(&m, row, motion_column(&m, "k1") + i);
        }
        for (size_t i = 0; i < 3; i++) {
            size_t j = (i + 1) % 3, l = (i + 2) % 3;
            assert_near("transfer", k[i], h[i] - (P[j] * p[l] - P[l] * p[j]), 1e-13);
        }
    }
    motion_free(&m);
}

/* Two particles that are joined by a spring fall. With the total mass M, p' = M g and H_O' = r_G × M g. The spring
 * force does not contribute. */
static void internal_forces_do_not_change_the_total_momenta(void **state) {
    (void)state;
    static const char *const SYSTEM =
        "`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`, {`name`: `u`, `initial`: 2}, {`name`: `w`, `velocity`: 2}],"
        "`particles`: [{`name`: `A`, `mass`: 1, `position`: [`x`, `y`]}, {`name`: `B`, `mass`: 3, `position`: [`u`, "
        "`w`]}],"
        "`springs`: [{`between`: [`A`, `B`], `stiffness`: 5, `length`: 1}], `gravity`: [0, -2],"
        "`outputs`: {`px`: `total_momentum(1)`, `py`: `total_momentum(2) + 8*t`, `G`: `center_of_mass(1)`,"
        "`rate`: `der(total_angular_momentum(3)) + 8*center_of_mass(1)`, `v`: `4*der(center_of_mass(2)) + 8*t`}";
    motion m = motion_run(SYSTEM, RUN);
    assert_below("px", motion_drift(&m, "px"), 1e-8);
    assert_below("py", motion_drift(&m, "py"), 1e-8);
    assert_near("px", motion_last(&m, "px"), 1, 1e-8);
    assert_near("py", motion_last(&m, "py"), 6, 1e-8);
    assert_near("v", motion_last(&m, "v"), 6, 1e-8);
    assert_near("G", motion_last(&m, "G"), (0 + 3 * 2 + 3) / 4.0, 1e-8);
    for (size_t row = 0; row < m.row_count; row++)
        assert_near("rate", motion_value(&m, row, motion_column(&m, "rate")), 0, 1e-12);
    motion_free(&m);
}

static void invalid_and_unknown_momenta_are_rejected(void **state) {
    (void)state;
    static const struct {
        const char *body, *output, *message;
    } cases[] = {
        {"`particles`: [{`name`: `A`, `mass`: 1, `position`: [`x`, 0]}], `kinetic_energy`: `x'^2`", "total_momentum(1)",
         "an energy is given as an expression"},
        {"`kinetic_energy`: `x'^2`", "center_of_mass(1)", "an energy is given as an expression"},
        {"`bodies`: [{`name`: `A`, `mass`: 1, `position`: [`x`, 0], `orientation`: {`angle`: `x`}}],"
         "`kinetic_energy`: `x'^2`",
         "angular_momentum(A, 3)", "the inertia of `A` is unknown"},
        {"`particles`: [{`name`: `A`, `mass`: 1, `position`: [`x`, 0]}],"
         "`points`: [{`name`: `P`, `position`: [0, 0]}]",
         "linear_momentum(P, 1)", "`P` has no mass"},
        {"`particles`: [{`name`: `A`, `mass`: 1, `position`: [`x`, 0]}]", "angular_momentum(A, 4)",
         "the component must be 1, 2 or 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, "`coordinates`: [`x`], %s, `outputs`: {`o`: `%s`}", cases[i].body, cases[i].output);
        assert_run_fault(text, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_body_has_constant_linear_and_angular_momenta),
        cmocka_unit_test(angular_momentum_is_transferred_from_one_point_to_another),
        cmocka_unit_test(internal_forces_do_not_change_the_total_momenta),
        cmocka_unit_test(invalid_and_unknown_momenta_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
