/* test_branch_check.c — a run must fail if it switches to another solution branch at a singular configuration, or if it
 * misses its tolerances.
 *
 * Without forces, a parallelogram linkage rotates at a constant rate through its stretched position at t = a. There the
 * linkage can continue as a parallelogram or as an antiparallelogram. */
#include "engine/simulate/trajectory.h"
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char parallelogram[] =
    "`parameters`: {`a`: 1}, `coordinates`: [{`name`: `x`, `initial`: `cos(a)`, `velocity`: `sin(a)`},"
    "{`name`: `y`, `initial`: `sin(a)`, `velocity`: `-cos(a)`},"
    "{`name`: `u`, `initial`: `2 + cos(a)`, `velocity`: `sin(a)`},"
    "{`name`: `v`, `initial`: `sin(a)`, `velocity`: `-cos(a)`}],"
    "`particles`: [{`name`: `P`, `mass`: 1, `position`: [`x`, `y`]}, {`name`: `Q`, `mass`: 1, `position`: [`u`, `v`]}],"
    "`constraints`: [{`name`: `left`, `equation`: `x^2 + y^2 = 1`}, {`name`: `right`, `equation`: `(u - 2)^2 + v^2 = "
    "1`},"
    "{`name`: `bar`, `equation`: `(u - x)^2 + (v - y)^2 = 4`}],"
    "`checks`: [{`name`: `left`, `expression`: `hypot(x - cos(a - t), y - sin(a - t))`, `equals`: 0, `tolerance`: %g},"
    "{`name`: `right`, `expression`: `hypot(u - x - 2, v - y)`, `equals`: 0, `tolerance`: %g},"
    "{`name`: `rates`, `expression`: `hypot(x' - sin(a - t), y' + cos(a - t)) + hypot(u' - x', v' - y')`, `at`: %s,"
    "`equals`: 0, `tolerance`: %g}]";

static bool mentions(const hamel_error *error, const char *text) {
    for (size_t i = 0; i < error->count; i++)
        if (strstr(error->faults[i].message, text)) return true;
    return false;
}

static const char at_the_end[] = "`final`";

/* Returns true if the run is completed. The result of a completed run must be correct, including the row at the
 * requested instant. The message of a failed run must name the constraints. */
static bool passes(const char *name, const char *method, double rtol, const char *looked_at) {
    char members[2000], simulation[200];
    snprintf(members, sizeof members, parallelogram, 1e4 * rtol, 1e4 * rtol, looked_at, 1e4 * rtol);
    snprintf(simulation, sizeof simulation,
             "`stop`: 5, `times`: [0, 5], `formulation`: `%s`, `method`: `%s`, `rtol`: %g, `atol`: %g", name, method,
             rtol, rtol / 100);
    hamel_model *model = fixture_model(members, simulation);
    hamel_summary s;
    hamel_error error = {0};
    hamel_status status = hamel_run(model, NULL, NULL, &s, &error);
    if (status == HAMEL_OK) {
        assert_int_equal(s.outcome, HAMEL_COMPLETED);
        if (!s.passed) fail_msg("%s by %s at rtol %g completes with a wrong result", name, method, rtol);
    } else if (!mentions(&error, "`left`, `right` and `bar` become redundant")) {
        fail_msg("%s by %s at rtol %g: %s", name, method, rtol, error.count ? error.faults[0].message : "no message");
    }
    hamel_summary_free(&s);
    hamel_error_clear(&error);
    hamel_model_free(model);
    return status == HAMEL_OK;
}

/* Returns false for the two formulations that do not support the linkage. Routh's equations need a cyclic
 * coordinate. Chaplygin's equations need a coordinate that does not occur in the constraints. */
static bool serves_linkage(const char *name) {
    return strcmp(name, "routh") != 0 && strcmp(name, "chaplygin") != 0;
}

static void every_formulation_continues_correctly_or_reports_the_constraints_that_stop_it(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "adams", "bdf", "erk"};
    static const double tolerances[] = {1e-5, 1e-7, 1e-9};
    for (size_t i = 0; hamel_formulation_name(i); i++) {
        const char *name = hamel_formulation_name(i);
        bool velocities = !strcmp(name, "lagrange") || !strcmp(name, "udwadia-kalaba") || !strcmp(name, "gauss");
        if (!serves_linkage(name)) continue;
        for (size_t k = 0; k < 12; k++)
            if (!passes(name, methods[k % 4], tolerances[k / 4], at_the_end) && velocities &&
                k % 4 < 3) /* erk may stop, because its internal stages may be inaccurate */
                fail_msg("%s by %s stops at rtol %g", name, methods[k % 4], tolerances[k / 4]);
    }
}

static void a_state_requested_at_the_singularity_is_correct_or_rejected(void **state) {
    (void)state;
    static const char *const instants[] = {"1", "0.99999999", "4.141592653589793", "4.14159", "4.141", "4.135"};
    static const double tolerances[] = {1e-6, 1e-9};
    for (size_t k = 0; k < 12; k++) {
        for (size_t i = 0; hamel_formulation_name(i); i++)
            if (serves_linkage(hamel_formulation_name(i)))
                (void)passes(hamel_formulation_name(i), "auto", tolerances[k % 2], instants[k / 2]);
        if (!passes("lagrange", "auto", tolerances[k % 2], instants[k / 2]) ||
            !passes("lagrange", "adams", tolerances[k % 2], instants[k / 2]) ||
            !passes("lagrange", "bdf", tolerances[k % 2], instants[k / 2]))
            fail_msg("the run fails at t = %s, rtol %g", instants[k / 2], tolerances[k % 2]);
    }
}

typedef enum tampering { NOTHING, TURNED, ENERGY } tampering;

/* Integrates through the stretched position. As soon as the branch check has recorded a state, falsifies this state as
 * `what` requests. The integrator does not use the recorded state, so only the branch check can detect the change. */
static hamel_status follow(tampering what, hamel_error *error) {
    char members[2000];
    double q[4], v[4];
    snprintf(members, sizeof members, parallelogram, 1.0, 1.0, at_the_end, 1.0);
    hamel_model *model = fixture_model(members, "`stop`: 3, `method`: `adams`, `rtol`: 1e-8, `atol`: 1e-10");
    branch_check p = {.v = q, .a = v, .least = 1};
    trajectory l;
    integrator_options options = {.tolerance_factor = 1};
    hamel_status status = HAMEL_OK;
    bool was_inside = false;
    assert_int_equal(trajectory_create(&l, model, error), HAMEL_OK);
    assert_int_equal(trajectory_evaluate(&l, 0, error), HAMEL_OK);
    assert_int_equal(trajectory_start(&l, &options, error), HAMEL_OK);
    while (status == HAMEL_OK && l.integrator->t < 2) {
        assert_int_equal(trajectory_step(&l, error), HAMEL_OK);
        status = branch_check_follow(&p, &l, error);
        if (!p.inside || was_inside) continue;
        was_inside = true;
        branch_check_note(&p, 1, "`left`, `right` and `bar`");
        p.rough = true;
        if (what == TURNED) p.v[2] *= -1, p.v[3] *= -1; /* reverse the velocity of the right crank */
        if (what == ENERGY) p.balance += 1e-4;
    }
    assert_true(was_inside);
    trajectory_free(&l);
    hamel_model_free(model);
    return status;
}

static void reversed_velocities_and_energy_jumps_end_the_run(void **state) {
    (void)state;
    static const hamel_status expected[] = {HAMEL_OK, HAMEL_INTEGRATION, HAMEL_INTEGRATION};
    for (size_t i = 0; i < 3; i++) {
        hamel_error error = {0};
        assert_int_equal(follow((tampering)i, &error), expected[i]);
        assert_true(expected[i] == HAMEL_OK || mentions(&error, "at t = 1 the constraints `left`, `right` and `bar`"));
        hamel_error_clear(&error);
    }
}

/* Returns true if the run ends with an error that contains the text. All rows and check results must be present even if
 * the run fails. */
static bool denied(const char *members, const char *simulation, const char *text) {
    hamel_model *model = fixture_model(members, simulation);
    hamel_summary s;
    hamel_error error = {0};
    hamel_status status = hamel_run(model, NULL, NULL, &s, &error);
    for (size_t i = 0; i < s.warning_count; i++) assert_null(strstr(s.warnings[i], text));
    bool found = status == HAMEL_INTEGRATION && mentions(&error, text);
    assert_true(found || status == HAMEL_OK);
    assert_int_equal(s.outcome, found ? HAMEL_FAILED : HAMEL_COMPLETED);
    assert_int_equal(s.passed, !found);
    assert_true(s.t == s.stop && s.rows > 1);
    hamel_summary_free(&s);
    hamel_error_clear(&error);
    hamel_model_free(model);
    return found;
}

/* The integration steps of a free motion miss a narrow bump of the potential, but an output row is on the bump. */
static void a_large_balance_error_fails_the_run(void **state) {
    (void)state;
    static const char thrown[] = "`coordinates`: [{`name`: `x`, `velocity`: 4}], `kinetic_energy`: `x'^2/2`,"
                                 "`potential_energy`: `exp(-(1000*(x - 2))^2)`";
    assert_true(denied(thrown, "`stop`: 1, `samples`: 3", "balance"));
    assert_false(denied(thrown, "`stop`: 1, `samples`: 3, `max_step`: 0.0001", "balance"));
}

/* The kinetic energy of Van der Pol's oscillator (μ = 1000) rises to 9e5 in short intervals that contain no output
 * rows. */
static void energy_peaks_between_rows_are_part_of_the_scale(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "bdf"};
    for (size_t i = 0; i < 2; i++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 2000, `samples`: 101, `method`: `%s`", methods[i]);
        assert_false(denied("`coordinates`: [{`name`: `x`, `initial`: 2}], `kinetic_energy`: `x'^2/2`, "
                            "`potential_energy`: `x^2/2`, `generalized_forces`: {`x`: `1000*(1 - x^2)*x'`}",
                            simulation, "balance"));
    }
}

/* The prescribed motion of a mass along a straight line does not require short steps. The integral of the work requires
 * short steps, because the field varies rapidly along the line. */
static void work_is_as_accurate_as_the_motion(void **state) {
    (void)state;
    static const char *const methods[] = {"auto", "adams", "bdf", "erk"};
    static const char led[] = "`coordinates`: [{`name`: `x`, `velocity`: 1}], `kinetic_energy`: `x'^2/2`,"
                              "`potential_energy`: `cos(40*x)`, `constraints`: [{`name`: `c`, `equation`: `x = t`}]";
    for (size_t i = 0; i < 8; i++) {
        char simulation[200];
        snprintf(simulation, sizeof simulation, "`stop`: 3, `samples`: 50, `method`: `%s`, `rtol`: %s", methods[i % 4],
                 i < 4 ? "1e-6" : "1e-9");
        if (denied(led, simulation, "balance")) fail_msg("%s", simulation);
    }
}

static void large_residuals_fail_the_run(void **state) {
    (void)state;
    static const char pendulum[] =
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
        "`potential_energy`: `9.81*y`,"
        "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]";
    assert_true(denied(pendulum, "`stop`: 2000, `samples`: 11, `rtol`: 1e-4, `atol`: 1e-4, `projection`: false",
                       "constraints are violated"));
    assert_false(denied(pendulum, "`stop`: 20, `samples`: 11", "constraints are violated"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formulation_continues_correctly_or_reports_the_constraints_that_stop_it),
        cmocka_unit_test(a_state_requested_at_the_singularity_is_correct_or_rejected),
        cmocka_unit_test(reversed_velocities_and_energy_jumps_end_the_run),
        cmocka_unit_test(a_large_balance_error_fails_the_run),
        cmocka_unit_test(energy_peaks_between_rows_are_part_of_the_scale),
        cmocka_unit_test(work_is_as_accurate_as_the_motion),
        cmocka_unit_test(large_residuals_fail_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
