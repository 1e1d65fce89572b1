/* test_friction_couples.c — rolling and pivoting friction of rolling joints, compared with closed forms. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const char *const RUN = "`stop`: 2, `samples`: 21, `rtol`: 1e-10, `atol`: 1e-12";

static double at(const motion *m, size_t row, const char *name) {
    return motion_value(m, row, motion_column(m, name));
}

/* A wheel of mass m = 2, radius r = 0.5 and moment of inertia I = 0.3 rolls on the line y = 0. An inclined gravity
 * (g sin b, −g cos b) represents a slope of angle b. The coefficient of rolling friction e is a length. */
#define WHEEL(gravity, speed, friction)                                                                         \
    "`coordinates`: [{`name`: `x`, `velocity`: " speed "}, {`name`: `y`, `initial`: 0.5},"                      \
    "{`name`: `p`, `velocity`: `-2*(" speed ")`}], `gravity`: " gravity ", `bodies`: [{`name`: `W`, `mass`: 2," \
    "`inertia`: 0.3, `position`: [`x`, `y`], `orientation`: {`angle`: `p`}}], `points`: [{`name`: `O`,"         \
    "`position`: [0, 0]}], `joints`: [{`name`: `J`, `type`: `rolling`, `between`: [`W`, `O`], `radius`: 0.5,"   \
    "`normal`: [0, 1], `friction`: {" friction "}}], `outputs`: {`N`: `lambda(J.2)`, `a`: `x''`,"               \
    "`M`: `nonideal(p)`, `w`: `contact_roll(J, 3)`}"

/* Papastavridis 1.18, on a horizontal line: the friction couple e N with N = m g = 20 opposes the rotation. Until
 * the wheel stops, x'' = −e m g r/(I + m r²). Then it remains at rest. */
static void a_rolling_wheel_is_stopped_by_its_friction_couple(void **state) {
    (void)state;
    static const double a = -0.03 * 20 * 0.5 / 0.8, stop = 0.4 / (0.03 * 20 * 0.5 / 0.8);
    motion m = motion_run(WHEEL("[0, -10]", "0.4", "`rolling`: 0.03"), RUN);
    assert_true(stop > 1 && stop < 2);
    for (size_t row = 0; row < m.row_count; row++) {
        double t = fmin(motion_value(&m, row, 0), stop);
        assert_near("x", at(&m, row, "x"), 0.4 * t + a * t * t / 2, 1e-8);
        assert_near("v", at(&m, row, "x'"), 0.4 + a * t, 1e-8);
        assert_near("N", at(&m, row, "N"), 20, 1e-9);
    }
    assert_near("rest", motion_last(&m, "a"), 0, 1e-9);
    assert_near("work", m.work_balance_error, 0, 1e-8);
    motion_free(&m);
}

/* A wheel at rest on a slope starts to roll if m g r sin b > e m g cos b, that is, if tan b > e/r = 0.06. The two
 * cases have tan b = 0.05 and 0.07. */
static void a_wheel_starts_to_roll_only_on_a_slope_above_the_limit(void **state) {
    (void)state;
    static const double steep = (2 * 0.7 * 0.5 - 0.03 * 20) * 0.5 / 0.8;
    motion rests = motion_run(WHEEL("[0.5, -10]", "0", "`rolling`: 0.03"), RUN);
    assert_near("rests", motion_last(&rests, "x"), 0, 1e-9);
    assert_near("couple", motion_last(&rests, "M"), 2 * 0.5 * 0.5, 1e-9); /* the couple m g_x r balances gravity */
    motion_free(&rests);
    motion rolls = motion_run(WHEEL("[0.7, -10]", "0", "`rolling`: 0.03"), RUN);
    assert_near("rolls", motion_last(&rolls, "x"), steep * 2, 1e-8);
    motion_free(&rolls);
}

/* With the regularization speed w0, the couple is e N w/sqrt(w² + w0²) at the rolling rate w. */
static void a_regularized_couple_depends_on_the_rolling_rate(void **state) {
    (void)state;
    motion m = motion_run(WHEEL("[0, -10]", "0.4", "`rolling`: 0.03, `regularization`: 0.5"), RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double w = at(&m, row, "w");
        assert_near("a", at(&m, row, "a"), 0.03 * 20 * w / hypot(w, 0.5) * 0.5 / 0.8, 1e-9);
    }
    motion_free(&m);
}

/* A ball of mass m = 2, radius r = 0.5 and moment of inertia I = 0.2 rolls on the plane z = 0. `rates` contains the
 * initial components of the angular velocity. */
#define BALL(rates, friction)                                                                                      \
    "`coordinates`: [{`name`: `x`}, {`name`: `y`}, {`name`: `z`, `initial`: 0.5}, {`name`: `a`, `initial`: 1},"    \
    "{`name`: `b`}, {`name`: `c`}, {`name`: `d`}], `quasi_velocities`: [" rates "],"                               \
    "`gravity`: [0, 0, -10], `bodies`: [{`name`: `B`, `mass`: 2, `inertia`: [0.2, 0.2, 0.2],"                      \
    "`position`: [`x`, `y`, `z`], `orientation`: {`quaternion`: [`a`, `b`, `c`, `d`]}}], `points`: [{`name`: `O`," \
    "`position`: [0, 0, 0]}], `joints`: [{`name`: `J`, `type`: `rolling`, `between`: [`B`, `O`], `radius`: 0.5,"   \
    "`normal`: [0, 0, 1], `friction`: {" friction "}}], `outputs`: {`P`: `contact_pivot(J)`,"                      \
    "`R1`: `contact_roll(J, 1)`, `R2`: `contact_roll(J, 2)`}"
#define SPIN(i, rate) "{`name`: `w" #i "`, `definition`: `angular_velocity(B, " #i ")`, `initial`: " rate "}"

/* The centre is at rest, and the ball rotates about the normal at w = 3. With the pivoting coefficient e = 0.02, I
 * w' = −e m g, so the ball stops at t = I w/(e m g) = 1.5. */
static void a_spinning_ball_is_stopped_by_pivoting_friction(void **state) {
    (void)state;
    motion m = motion_run(BALL(SPIN(1, "0") "," SPIN(2, "0") "," SPIN(3, "3"), "`pivoting`: 0.02"), RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double t = motion_value(&m, row, 0);
        assert_near("pivot", at(&m, row, "P"), fmax(0, 3 - 2 * t), 1e-7);
        assert_near("roll", hypot(at(&m, row, "R1"), at(&m, row, "R2")), 0, 1e-9);
    }
    motion_free(&m);
}

/* The ball rolls in a direction between the axes and also rotates about the normal. The rolling couple reduces the
 * rolling rate by e m g/(I + m r²) = 0.01·20/0.7 per unit of time. The direction of rolling and the pivoting rate do
 * not change. */
static void rolling_friction_reduces_the_rate_of_a_ball_but_not_its_direction(void **state) {
    (void)state;
    static const double rate = 0.01 * 20 / 0.7;
    motion m = motion_run(BALL(SPIN(1, "0.3") "," SPIN(2, "0.4") "," SPIN(3, "1"), "`rolling`: 0.01"), RUN);
    for (size_t row = 0; row < m.row_count; row++) {
        double w = fmax(0, 0.5 - rate * motion_value(&m, row, 0));
        assert_near("R1", at(&m, row, "R1"), 0.6 * w, 1e-7);
        assert_near("R2", at(&m, row, "R2"), 0.8 * w, 1e-7);
        assert_near("P", at(&m, row, "P"), 1, 1e-7);
    }
    motion_free(&m);
}

static void invalid_friction_couples_are_rejected(void **state) {
    (void)state;
    static const struct {
        const char *position, *normal, *friction, *message;
    } cases[] = {
        {"[`x`, 0.5]", "[0, 1]", "`rolling`: 0.1", "no coordinate moves the wheel along the normal"},
        {"[`x`, `y`]", "[1, 1]", "`rolling`: 0.1", "a constant normal along an inertial axis"},
        {"[`x`, `y`]", "[0, 1]", "`rolling`: -0.1", "must not be negative"},
        {"[`x`, `y`]", "[0, 1]", "`pivoting`: 0.1", "`J` cannot pivot"},
        {"[`x`, `y`]", "[0, 1]", "`rolling`: 0.1, `regularization`: -1", "must not be negative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900];
        snprintf(text, sizeof text,
                 "`coordinates`: [`x`, {`name`: `y`, `initial`: 0.5}, `p`], `bodies`: [{`name`: `W`, `mass`: 2,"
                 "`inertia`: 0.3, `position`: %s, `orientation`: {`angle`: `p`}}], `points`: [{`name`: `O`,"
                 "`position`: [0, 0]}], `kinetic_energy`: `y'^2/2`, `joints`: [{`name`: `J`, `type`: `rolling`,"
                 "`between`: [`W`, `O`], `radius`: 0.5, `normal`: %s, `friction`: {%s}}]",
                 cases[i].position, cases[i].normal, cases[i].friction);
        assert_run_fault(text, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rolling_wheel_is_stopped_by_its_friction_couple),
        cmocka_unit_test(a_wheel_starts_to_roll_only_on_a_slope_above_the_limit),
        cmocka_unit_test(a_regularized_couple_depends_on_the_rolling_rate),
        cmocka_unit_test(a_spinning_ball_is_stopped_by_pivoting_friction),
        cmocka_unit_test(rolling_friction_reduces_the_rate_of_a_ball_but_not_its_direction),
        cmocka_unit_test(invalid_friction_couples_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
