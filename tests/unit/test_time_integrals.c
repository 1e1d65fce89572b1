/* test_time_integrals.c — engine/simulate/time_integrals.c and the functions integral(), time_mean(), action() and
 * virial(): integrals over the time of a run, compared with closed forms. */
#include "engine/simulate/time_integrals.h"

#include "engine/simulate/members_vec8.h"
#include "tests/unit/fixture.h"
#include "tests/unit/motion.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- quadrature rule ---------------------------------------------------------------------------------------------- */

typedef double function_of_time(double t, int sample);

static hamel_status call_function(void *context, double t, int sample, double *values, hamel_error *error) {
    function_of_time *f = *(function_of_time **)context;
    (void)error;
    values[0] = f(t, sample);
    return isfinite(values[0]) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

static double power_22(double t, int sample) {
    (void)sample;
    return pow(t, 22);
}
static double jump(double t, int sample) {
    (void)sample;
    return t < 1.0 / 3 ? 1 : 4;
}
static double kink(double t, int sample) {
    (void)sample;
    return fabs(t - 0.3);
}
static double fast(double t, int sample) {
    (void)sample;
    return sin(1e6 * t);
}
/* Returns only rounding noise, which differs at each time and in each sample. */
static double only_noise(double t, int sample) {
    return 1e-17 * sin(1e17 * t + sample);
}

static hamel_status integrate(function_of_time *f, double rtol, double to, double *total) {
    arena memory;
    time_integrals w;
    arena_init(&memory, 1 << 20);
    assert_true(time_integrals_create(&w, &memory, 1, rtol, 0));
    hamel_error error = {0};
    hamel_status status = time_integrals_to(&w, to, call_function, &f, total, &error);
    if (status == HAMEL_INTEGRATION) assert_non_null(strstr(error.faults[0].message, "varies too fast"));
    hamel_error_clear(&error);
    arena_free(&memory);
    return status;
}

/* The Gauss-Kronrod rule with 15 points is exact for polynomials up to degree 22. At jumps and kinks, the intervals
 * are bisected until the error estimate is below the tolerance. */
static void the_rule_is_exact_for_a_polynomial_and_accurate_at_jumps_and_kinks(void **state) {
    (void)state;
    double total;
    assert_int_equal(integrate(power_22, 1e-10, 1, &total), HAMEL_OK);
    assert_near("polynomial", total, 1.0 / 23, 4 * DBL_EPSILON);
    assert_int_equal(integrate(jump, 1e-10, 1, &total), HAMEL_OK);
    /* the errors of several intervals, at most 1e-10 each, add up */
    assert_near("jump", total, 1.0 / 3 + 4 * 2.0 / 3, 1e-9);
    assert_int_equal(integrate(kink, 1e-12, 1, &total), HAMEL_OK);
    assert_near("kink", total, (0.3 * 0.3 + 0.7 * 0.7) / 2, 1e-12);
    assert_int_equal(integrate(jump, 1e-10, -1, &total), HAMEL_OK); /* an integral to a time before the start is 0 */
    assert_true(total == 0);
}

static void noise_is_accepted_and_a_function_that_varies_too_fast_is_rejected(void **state) {
    (void)state;
    double total;
    assert_int_equal(integrate(only_noise, 1e-13, 1, &total), HAMEL_OK);
    assert_true(fabs(total) <= 1e-17);
    assert_int_equal(integrate(fast, 1e-10, 1, &total), HAMEL_INTEGRATION);
}

/* --- closed forms ------------------------------------------------------------------------------------------------- */

/* Oscillator with m = 2 and k = 8: x = A cos 2s + B sin 2s, with s = t − 1, A = 1 and B = 1/4. L = 4 ((B² − A²) cos
 * 4s − 2 A B sin 4s), so the action is S = (B² − A²) sin 4s − 2 A B (1 − cos 4s). */
static const char oscillator[] =
    "`parameters`: {`m`: 2, `k`: 8}, `coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: 0.5}],"
    "`kinetic_energy`: `m*x'^2/2`, `potential_energy`: `k*x^2/2`,"
    "`outputs`: {`S`: `action()`, `T`: `time_mean(kinetic_energy())`, `V`: `time_mean(virial())`, `s`: `integral(1)`}";

static double oscillator_action(double t, const double *unused) {
    const double A = 1, B = 0.25, s = t - 1;
    (void)unused;
    return (B * B - A * A) * sin(4 * s) - 2 * A * B * (1 - cos(4 * s));
}

static double elapsed(double t, const double *unused) {
    (void)unused;
    return t - 1;
}

/* The bound 1e-8 is 100 rtol, because errors of the state add up over three periods of π. */
static void the_action_of_an_oscillator_has_its_closed_form_with_each_method(void **state) {
    (void)state;
    static const char *const settings[] = {"`method`: `erk`", "`method`: `adams`", "`method`: `bdf`",
                                           "`formulation`: `hamilton`", "`certify`: true"};
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation,
                 "`start`: 1, `stop`: 11, `samples`: 51, `rtol`: 1e-10, `atol`: 1e-12, %s", settings[k]);
        motion m = motion_run(oscillator, simulation);
        assert_below(settings[k], motion_distance(&m, "S", oscillator_action, NULL), 1e-8);
        assert_below("elapsed time", motion_distance(&m, "s", elapsed, NULL), 1e-13);
        motion_free(&m);
    }
}

/* At the start, a mean is equal to the value: T = m v²/2 = 0.25, and the virial is −k x² = −8. Over a period π, 2
 * ⟨T⟩ = ⟨k x²⟩ = k (A² + B²)/2 = 4.25. */
static void means_satisfy_the_virial_theorem_over_a_period(void **state) {
    (void)state;
    motion m = motion_run(oscillator, "`start`: 1, `stop`: `1 + pi`, `samples`: 2, `rtol`: 1e-10, `atol`: 1e-12");
    assert_near("T at the start", motion_value(&m, 0, motion_column(&m, "T")), 0.25, 1e-15);
    assert_near("virial at the start", motion_value(&m, 0, motion_column(&m, "V")), -8, 1e-15);
    assert_near("mean of T", motion_last(&m, "T"), 4.25 / 2, 1e-8);
    assert_near("mean of the virial", motion_last(&m, "V"), -4.25, 1e-8);
    motion_free(&m);
}

/* Kepler's ellipse with μ = 1, a = 1, e = 0.6, starting at the pericentre. Over the period 2π, ⟨T⟩ = 1/(2a) and ⟨V⟩
 * = −1/a. In Cartesian coordinates, the virial is Clausius' r·F = V. In polar coordinates with the angular momentum
 * h, the virial is r dp_r/dt = h²/r² − 1/r, whose mean is −⟨p_r r'⟩. */
static void the_virial_theorem_holds_on_keplers_ellipse(void **state) {
    (void)state;
    motion m = motion_run("`coordinates`: [{`name`: `x`, `initial`: 0.4}, {`name`: `y`, `velocity`: 2}],"
                          "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `-1/hypot(x, y)`,"
                          "`outputs`: {`T`: `time_mean(kinetic_energy())`, `W`: `time_mean(virial())`}",
                          "`stop`: `2*pi`, `samples`: 2, `rtol`: 1e-11, `atol`: 1e-13");
    assert_near("2T + W", 2 * motion_last(&m, "T") + motion_last(&m, "W"), 0, 1e-8);
    assert_near("T", motion_last(&m, "T"), 0.5, 1e-8);
    motion_free(&m);
    m = motion_run("`coordinates`: [{`name`: `r`, `initial`: 0.4}, {`name`: `f`, `velocity`: 5}],"
                   "`kinetic_energy`: `(r'^2 + r^2*f'^2)/2`, `potential_energy`: `-1/r`,"
                   "`outputs`: {`K`: `time_mean(r'^2)`, `W`: `time_mean(virial())`}",
                   "`stop`: `2*pi`, `samples`: 2, `rtol`: 1e-11, `atol`: 1e-13");
    assert_near("virial in polar coordinates", motion_last(&m, "K") + motion_last(&m, "W"), 0, 1e-8);
    motion_free(&m);
}

/* Papastavridis, Intro 7, with z = q: ∫ (Σ p_k q'_k + Σ q_k dp_k/dt) dt = [Σ p_k q_k]. The system has damping, an
 * impressed force, a constraint that contains the time, and nonideal forces. */
static void the_integral_of_the_virial_includes_forces_of_all_kinds(void **state) {
    (void)state;
    motion m = motion_run(
        "`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`, `initial`: 0.5, `velocity`: 0.2},"
        "{`name`: `z`, `velocity`: 0.3}],"
        "`kinetic_energy`: `(x'^2 + (1 + x^2)*y'^2 + z'^2 + x*z')/2`, `potential_energy`: `x^2 + cos(y) + 3*z`,"
        "`dissipation`: `0.1*(x' - y')^2`, `generalized_forces`: {`x`: `sin(t)`},"
        "`constraints`: [{`name`: `guide`, `equation`: `z = x*sin(2*t)/5 + y*t/10 - 0.05*t`, `nonideal`: {`y`: "
        "`-0.2*ideal(z)`}}],"
        "`outputs`: {`d`: `integral(momentum(x)*x' + momentum(y)*y' + momentum(z)*z' + virial()) - momentum(x)*x - "
        "momentum(y)*y - momentum(z)*z`}",
        "`stop`: 5, `samples`: 41, `rtol`: 1e-10, `atol`: 1e-12, `initialization`: `project`");
    assert_below("identity", motion_drift(&m, "d"), 1e-8);
    motion_free(&m);
}

/* A ball falls from the height 1 and bounces without loss at t1 = √(2/g). Integrals continue after the bounce. ∫ y
 * dt grows by t1 − g t1³/6 = 2 t1/3 in each fall and in each rise. ∫ y'' dt = −g t, because the impulse of the
 * bounce is not part of y''. */
static void integrals_continue_after_events(void **state) {
    (void)state;
    motion m = motion_run("`parameters`: {`g`: 10}, `coordinates`: [{`name`: `y`, `initial`: 1}],"
                          "`kinetic_energy`: `y'^2/2`, `potential_energy`: `g*y`,"
                          "`events`: [{`name`: `bounce`, `when`: `y`, `direction`: `falling`, `set`: {`y'`: `-y'`}}],"
                          "`outputs`: {`Y`: `integral(y)`, `A`: `integral(y'')`, `s`: `integral(1)`}",
                          "`stop`: `4*sqrt(0.2)`, `samples`: 5, `rtol`: 1e-10, `atol`: 1e-12");
    const double t1 = sqrt(0.2);
    for (size_t k = 0; k < 5; k++) {
        assert_near("integral of y", motion_value(&m, k, motion_column(&m, "Y")), (double)k * 2 * t1 / 3, 1e-9);
        assert_near("integral of y''", motion_value(&m, k, motion_column(&m, "A")), -10 * (double)k * t1, 1e-9);
        assert_near("elapsed time", motion_value(&m, k, motion_column(&m, "s")), (double)k * t1, 1e-13);
    }
    motion_free(&m);
}

/* --- other columns ------------------------------------------------------------------------------------------------ */

static void expect_equal_rows(const char *members, const char *outputs, const char *simulation) {
    char text[3000], with[3000];
    snprintf(text, sizeof text, "%s, `outputs`: {%s}", members, outputs);
    snprintf(with, sizeof with, "%s, `outputs`: {%s, `i`: `integral(x''^2 + x)`, `j`: `time_mean(x)`}", members,
             outputs);
    motion a = motion_run(text, simulation), b = motion_run(with, simulation);
    assert_int_equal(a.row_count, b.row_count);
    assert_true(a.steps == b.steps);
    assert_true(motion_difference(&a, &b) == 0);
    motion_free(&a);
    motion_free(&b);
}

static void integrals_do_not_change_other_columns(void **state) {
    (void)state;
    static const char *const simulations[] = {"`stop`: 3, `samples`: 40", "`stop`: 3, `samples`: 40, `method`: `adams`",
                                              "`stop`: 3, `samples`: 40, `method`: `bdf`",
                                              "`stop`: 3, `samples`: 40, `formulation`: `hamilton`",
                                              "`stop`: 3, `samples`: 40, `formulation`: `maggi`"};
    for (size_t k = 0; k < sizeof simulations / sizeof *simulations; k++)
        expect_equal_rows("`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`}],"
                          "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `9.81*y`,"
                          "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]",
                          "`l`: `lambda(rod)`", simulations[k]);
    /* a block that slides, sticks, and slides again; then an abs() whose branch may change, and a force that
     * contains a multiplier */
    expect_equal_rows("`coordinates`: [{`name`: `x`, `velocity`: 1}, `y`], `gravity`: [0, -9.81],"
                      "`particles`: [{`name`: `P`, `mass`: 2, `position`: [`x`, `y`]}],"
                      "`loads`: [{`on`: `P`, `force`: [`8*sin(2*t)`, 0]}],"
                      "`constraints`: [{`name`: `floor`, `equation`: `y = 0`, `friction`: {`coefficient`: 0.2}}]",
                      "`f`: `nonideal(x)`", "`stop`: 4, `samples`: 50");
    expect_equal_rows("`coordinates`: [{`name`: `x`, `initial`: 1}, {`name`: `y`}],"
                      "`kinetic_energy`: `(x'^2 + y'^2)/2`, `potential_energy`: `abs(x) + 9.81*y`,"
                      "`generalized_forces`: {`x`: `-0.1*lambda(floor)*x'`},"
                      "`constraints`: [{`name`: `floor`, `equation`: `y = 0`}]",
                      "`e`: `energy()`", "`stop`: 4, `samples`: 50");
}

static void members_with_integrals_do_not_run_in_simd_lanes(void **state) {
    (void)state;
    static const char *const outputs[] = {"`o`: `x^2`", "`o`: `integral(x^2)`"};
    for (int k = 0; k < 2; k++) {
        char text[500];
        snprintf(text, sizeof text,
                 "`coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2/2`, `outputs`: {%s}",
                 outputs[k]);
        hamel_model *model = fixture_model(text, "`stop`: 1");
        assert_int_equal(members_vec8_serves(model), k == 0);
        hamel_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_is_exact_for_a_polynomial_and_accurate_at_jumps_and_kinks),
        cmocka_unit_test(noise_is_accepted_and_a_function_that_varies_too_fast_is_rejected),
        cmocka_unit_test(the_action_of_an_oscillator_has_its_closed_form_with_each_method),
        cmocka_unit_test(means_satisfy_the_virial_theorem_over_a_period),
        cmocka_unit_test(the_virial_theorem_holds_on_keplers_ellipse),
        cmocka_unit_test(the_integral_of_the_virial_includes_forces_of_all_kinds),
        cmocka_unit_test(integrals_continue_after_events),
        cmocka_unit_test(integrals_do_not_change_other_columns),
        cmocka_unit_test(members_with_integrals_do_not_run_in_simd_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
