/* test_friction.c — Coulomb friction compared with closed forms, and with the same law written with lambda(). Also
 * tests states at which the equations of rigid bodies have no solution. */
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FINE "`rtol`: 1e-10, `atol`: 1e-12"

/* Udwadia, J. Math. Anal. Appl. 251 (2000) 341, example of section 5, with θ measured from the bottom and R = 1. The
 * equation θ'' = −g sin θ − μ (θ'² + g cos θ) is linear in θ'² as a function of θ. Its solution is θ'² = a cos θ + b
 * sin θ + K e^(−2μθ), with a = 2g(1 − 2μ²)/(1 + 4μ²) and b = −6μg/(1 + 4μ²). */
static void a_bead_on_a_vertical_ring_follows_its_closed_form(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 8}, {`name`: `y`, `initial`: -1}],"
                          "`particles`: [{`name`: `bead`, `mass`: 1, `position`: [`x`, `y`]}], `gravity`: [0, -9.81],"
                          "`constraints`: [{`name`: `ring`, `equation`: `x^2 + y^2 = 1`,"
                          "`friction`: {`coefficient`: 0.2, `regularization`: 1e-7}}],"
                          "`outputs`: {`angle`: `atan2(x, -y)`, `square`: `x'^2 + y'^2`}",
                          "`stop`: 0.2, `samples`: 21, " FINE);
    double mu = 0.2, g = 9.81, d = 1 + 4 * mu * mu, a = 2 * g * (1 - 2 * mu * mu) / d, b = -6 * mu * g / d;
    size_t angle = motion_column(&m, "angle"), square = motion_column(&m, "square");
    for (size_t i = 0; i < m.row_count; i++) {
        double x = motion_value(&m, i, angle);
        double expected = a * cos(x) + b * sin(x) + (64 - a) * exp(-2 * mu * x);
        assert_below("square of the rate", fabs(motion_value(&m, i, square) - expected), 1e-6);
    }
    assert_below("angle", fabs(motion_last(&m, "angle") - 1.285155903), 1e-8);
    motion_free(&m);
}

#define LADDER(floor, wall)                                                                                         \
    "`parameters`: {`m`: 1, `L`: 1, `g`: 9.81, `a`: 0.5}, `gravity`: [0, `-g`],"                                    \
    "`coordinates`: [{`name`: `x`, `initial`: `L/2*sin(a)`, `velocity`: `L/2*cos(a)`},"                             \
    "{`name`: `y`, `initial`: `L/2*cos(a)`, `velocity`: `-L/2*sin(a)`}, {`name`: `h`, `initial`: `a`, `velocity`: " \
    "1}],"                                                                                                          \
    "`bodies`: [{`name`: `rod`, `mass`: `m`, `position`: [`x`, `y`], `orientation`: {`angle`: `h`}, `inertia`: "    \
    "`m*L^2/12`}],"                                                                                                 \
    "`points`: [{`name`: `top`, `position`: [`x - L/2*sin(h)`, `y + L/2*cos(h)`]},"                                 \
    "{`name`: `foot`, `position`: [`x + L/2*sin(h)`, `y - L/2*cos(h)`]}],"                                          \
    "`springs`: [{`name`: `k`, `between`: [`foot`, [0, 0]], `stiffness`: 1}],"                                      \
    "`constraints`: [{`name`: `wall`, `equation`: `position(top, 1) = 0`" wall "},"                                 \
    "{`name`: `floor`, `equation`: `position(foot, 2) = 0`" floor "}],"                                             \
    "`outputs`: {`N`: `lambda(floor)`, `R`: `lambda(wall)`, `rate`: `h''`, `ideal`: `ideal(y)`, `rest`: "           \
    "`nonideal(y)`,"                                                                                                \
    "`power`: `nonideal(x)*x' + nonideal(y)*y' + nonideal(h)*h'`}"

/* Baruh, Analytical Dynamics, exercise 4.41. The accelerations and the normal force must be solved together. With the
 * ideal normal force 7.982663 in the friction law, h'' would be 3.69091. The expected values are computed from an
 * equation that contains only h. */
static void friction_changes_the_normal_force(void **state) {
    (void)state;
    motion m = motion_run(LADDER(", `friction`: {`coefficient`: 0.1, `regularization`: 1e-7}", ""),
                          "`stop`: 0.4, `samples`: 41, " FINE);
    assert_below("h''", fabs(motion_value(&m, 0, motion_column(&m, "rate")) - 3.54934), 1e-5);
    assert_below("N", fabs(motion_value(&m, 0, motion_column(&m, "N")) - 8.520387), 1e-6);
    assert_below("ideal", fabs(motion_value(&m, 0, motion_column(&m, "ideal")) - 7.982663), 1e-6);
    assert_below("split", fabs(motion_value(&m, 0, motion_column(&m, "rest")) - (8.520387 - 7.982663)), 2e-6);
    assert_below("h", fabs(motion_last(&m, "h") - 1.411839696), 1e-8);
    assert_below("h'", fabs(motion_last(&m, "h'") - 4.291562516), 1e-7);
    assert_below("work balance", m.work_balance_error, 1e-7);
    size_t power = motion_column(&m, "power");
    for (size_t i = 0; i < m.row_count; i++) assert_true(motion_value(&m, i, power) < 0);
    motion_free(&m);
}

/* Friction acts at both ends of a ladder. N is the normal force of the floor, and R is the normal force of the wall.
 * For each pair of signs n of N and r of R, the equations are linear. For exactly one pair, the solution must have
 * these signs. */
static void two_frictions_are_solved_for_together(void **state) {
    (void)state;
    motion m = motion_run(LADDER(", `friction`: {`coefficient`: 0.3, `regularization`: 1e-9}",
                                 ", `friction`: {`coefficient`: 0.5, `regularization`: 1e-9}"),
                          "`stop`: 0.01, `samples`: 2");
    double h = 0.5, w = 1, g = 9.81, s = sin(h) / 2, c = cos(h) / 2, I = 1.0 / 12, found = 0;
    for (int pattern = 0; pattern < 4; pattern++) {
        /* With a = h'', x'' = c a − s w² and y'' = −s a − c w². The foot moves along +x, the top along −y. So x'' = R −
         * 0.3|N| − 2s and y'' = N + 0.5|R| − g. I a is the sum of the moments about the centre. At the top (−s, c), R
         * has the moment −cR, and 0.5|R| along y has −s·0.5|R|. At the foot (s, −c), N has the moment sN, and −(0.3|N|
         * + 2s) along x has −c(0.3|N| + 2s). */
        double n = pattern & 1 ? -1 : 1, r = pattern & 2 ? -1 : 1;
        /* R = x'' + 0.3 n N + 2s and N = y'' − 0.5 r R + g are solved by Cramer's rule for a = 0 and 1. */
        double D = 1 + 0.15 * n * r, moment[2], N[2], R[2];
        for (int a = 0; a < 2; a++) {
            double p = c * a - s * w * w + 2 * s, q = -s * a - c * w * w + g;
            R[a] = (p + 0.3 * n * q) / D;
            N[a] = (q - 0.5 * r * p) / D;
            moment[a] = -c * R[a] - s * 0.5 * r * R[a] + s * N[a] - c * (0.3 * n * N[a] + 2 * s) - I * a;
        }
        double a = moment[0] / (moment[0] - moment[1]);
        double pressing = N[0] + a * (N[1] - N[0]), leaning = R[0] + a * (R[1] - R[0]);
        if (n * pressing < 0 || r * leaning < 0) continue;
        found++;
        assert_below("h''", fabs(motion_value(&m, 0, motion_column(&m, "rate")) - a), 1e-7);
        assert_below("N", fabs(motion_value(&m, 0, motion_column(&m, "N")) - pressing), 1e-7);
        assert_below("R", fabs(motion_value(&m, 0, motion_column(&m, "R")) - leaning), 1e-7);
    }
    assert_true(found == 1);
    motion_free(&m);
}

#define COLLAR(law, force)                                                                         \
    "`coordinates`: [{`name`: `r`, `initial`: 0.3, `velocity`: 0.5}, {`name`: `a`, `initial`: 1}," \
    "{`name`: `b`, `initial`: 1}], `kinetic_energy`: `b'^2/3`, `gravity`: [0, -9.81],"             \
    "`potential_energy`: `-9.81*cos(b)`,"                                                          \
    "`particles`: [{`name`: `collar`, `mass`: 0.5, `position`: [`r*sin(a)`, `-r*cos(a)`]}],"       \
    "`constraints`: [{`name`: `slide`, `equation`: `a - b = 0`" law "}]" force

/* Baruh, examples 4.12 and 4.13: the collar slips along the rotating rod with the normal force λ/r. */
static void a_collar_slips_along_a_rotating_rod(void **state) {
    (void)state;
    static const char *const methods[] = {"`method`: `adams`, ", "`method`: `bdf`, ", "`method`: `erk`, "};
    motion written =
        motion_run(COLLAR("", ", `generalized_forces`: {`r`: `-0.3*abs(lambda(slide)/r)*r'/hypot(r', 0.01)`}"),
                   "`stop`: 0.3, `samples`: 31, " FINE);
    for (size_t i = 0; i < 3; i++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "%s`stop`: 0.3, `samples`: 31, %s", methods[i], FINE);
        motion m = motion_run(COLLAR(", `friction`: {`coefficient`: 0.3, `regularization`: 0.01}", ""), simulation);
        assert_below(methods[i], motion_difference(&m, &written), i == 1 ? 1e-6 : 1e-8);
        motion_free(&m);
    }
    motion_free(&written);
}

/* A block on a wedge that slides on ice without friction: N = m g cos α / (1 + (m/M) sin α (sin α − μ cos α)). The
 * wedge receives −N and the opposite friction force, so the momentum along the ice stays 0. */
static void the_opposite_force_acts_on_the_other_body(void **state) {
    (void)state;
    motion m = motion_run(
        "`parameters`: {`al`: 0.6}, `coordinates`: [{`name`: `x`, `velocity`: `cos(al)*2/3`}, {`name`: `y`,"
        "`velocity`: `-sin(al)`}, {`name`: `X`, `velocity`: `-cos(al)/3`}],"
        "`bodies`: [{`name`: `wedge`, `mass`: 2, `position`: [`X`, 0]}], `gravity`: [0, -9.81],"
        "`particles`: [{`name`: `block`, `mass`: 1, `position`: [`x`, `y`]}], `constraints`: [{`name`: `face`,"
        "`equation`: `(x - X)*sin(al) + y*cos(al) = 0`, `friction`: {`coefficient`: 0.25, `regularization`: 1e-8,"
        "`on`: `block`, `against`: `wedge`}}], `outputs`: {`N`: `lambda(face)`, `p`: `x' + 2*X'`}",
        "`stop`: 0.5, `samples`: 6, " FINE);
    double al = 0.6, mu = 0.25;
    double N = 9.81 * cos(al) / (1 + 0.5 * sin(al) * (sin(al) - mu * cos(al)));
    assert_below("N", fabs(motion_last(&m, "N") - N), 1e-7);
    assert_below("momentum", motion_drift(&m, "p"), 1e-9);
    assert_below("work balance", m.work_balance_error, 1e-8);
    motion_free(&m);
}

/* On a surface f = 0 in space, let n = ∇f/|∇f|. Then N = −(F·n + m v·∇∇f v/|∇f|) and m a = F + N n − μ|N| v/|v|
 * (Papastavridis, Analytical Mechanics, example 3.2.6). Here f = z − (x² + y²)/2, at (1, 0, 1/2) with v = (1, 2, 1), m
 * = 1, g = 10. */
static void friction_on_a_surface_opposes_the_velocity(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 1}, {`name`: `y`, `velocity`: 2},"
                          "{`name`: `z`, `initial`: 0.5, `velocity`: 1}], `gravity`: [0, 0, -10],"
                          "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`, `z`]}],"
                          "`constraints`: [{`name`: `bowl`, `equation`: `z = (x^2 + y^2)/2`,"
                          "`friction`: {`coefficient`: 0.4, `regularization`: 1e-9}}],"
                          "`outputs`: {`ax`: `x''`, `ay`: `y''`, `az`: `z''`}",
                          "`stop`: 0.001, `samples`: 2");
    double n[3] = {-1 / sqrt(2), 0, 1 / sqrt(2)}, v[3] = {1, 2, 1}, speed = sqrt(6);
    double N = 10 / sqrt(2) + (1 * 1 + 2 * 2) / sqrt(2);
    static const char *const names[] = {"ax", "ay", "az"};
    for (int k = 0; k < 3; k++) {
        double expected = (k == 2 ? -10 : 0) + N * n[k] - 0.4 * N * v[k] / speed;
        assert_below(names[k], fabs(motion_value(&m, 0, motion_column(&m, names[k])) - expected), 1e-8);
    }
    motion_free(&m);
}

/* A uniform rod of length 2l slides with one end on a line, and the other end trails. The angle of the rod to the line
 * is h. If h' = 0, (1 + 3 cos²h − 3μ sin h cos h) N = m g. For tan h = 2, the left factor is negative if μ > 4/3
 * (Painlevé 1895). */
#define ROD(mu)                                                                                                        \
    "`parameters`: {`h0`: `atan(2)`}, `gravity`: [0, -9.81],"                                                          \
    "`coordinates`: [{`name`: `x`, `velocity`: -1}, {`name`: `y`, `initial`: `sin(h0)`}, {`name`: `h`, `initial`: "    \
    "`h0`}],"                                                                                                          \
    "`bodies`: [{`name`: `rod`, `mass`: 1, `position`: [`x`, `y`], `orientation`: {`angle`: `h`}, `inertia`: `1/3`}]," \
    "`points`: [{`name`: `tip`, `body`: `rod`, `at`: [-1, 0]}], `constraints`: [{`name`: `line`,"                      \
    "`equation`: `position(tip, 2) = 0`, `friction`: {`coefficient`: " mu ", `regularization`: 1e-6}}],"               \
    "`outputs`: {`N`: `lambda(line)`}"

static void the_equations_of_a_rod_may_have_no_solution(void **state) {
    (void)state;
    motion m = motion_run(ROD("1.3"), "`stop`: 0.0001, `samples`: 2");
    double h = atan(2), factor = 1 + 3 * cos(h) * cos(h) - 3 * 1.3 * sin(h) * cos(h);
    /* y'' = N − g, I h'' = −N (cos h − 1.3 sin h), and the tip stays on the line: y'' = h'' cos h. */
    assert_below("N", fabs(motion_value(&m, 0, motion_column(&m, "N")) * factor - 9.81), 1e-4);
    motion_free(&m);
    hamel_model *model = fixture_model(ROD("1.4"), "`stop`: 1");
    hamel_summary summary;
    hamel_error error = {0};
    assert_int_equal(hamel_run(model, NULL, NULL, &summary, &error), HAMEL_SINGULAR);
    assert_true(error.count == 1 && strstr(error.faults[0].message, "`line`") != NULL &&
                strstr(error.faults[0].message, "Painlev") != NULL);
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
    hamel_model_free(model);
}

/* A point slides on a moving line under a prescribed force. The work balance contains the power of the reaction and the
 * power of the prescribed force. */
static void a_moving_constraint_with_prescribed_work_keeps_its_balance(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `velocity`: 2}, {`name`: `y`, `velocity`: 1}],"
                          "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
                          "`constraints`: [{`name`: `lift`, `equation`: `y = t + t^3/3 + 0.1*sin(x) - 0.2*t*x`,"
                          "`nonideal`: {`x`: `-0.3*abs(ideal(y))*x'`, `y`: `0.1*ideal(y)`}}]",
                          "`stop`: 1, `samples`: 11, `initialization`: `project`, " FINE);
    assert_below("work balance", m.work_balance_error, 1e-7);
    motion_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bead_on_a_vertical_ring_follows_its_closed_form),
        cmocka_unit_test(friction_changes_the_normal_force),
        cmocka_unit_test(two_frictions_are_solved_for_together),
        cmocka_unit_test(a_collar_slips_along_a_rotating_rod),
        cmocka_unit_test(the_opposite_force_acts_on_the_other_body),
        cmocka_unit_test(friction_on_a_surface_opposes_the_velocity),
        cmocka_unit_test(the_equations_of_a_rod_may_have_no_solution),
        cmocka_unit_test(a_moving_constraint_with_prescribed_work_keeps_its_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
