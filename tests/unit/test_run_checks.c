/* test_run_checks.c — engine/simulate: warnings, energy balance, checks, invariants, error estimates. */
#include "api/json/strict_json.h"
#include "tests/unit/record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PENDULUM                                                                                             \
    "`coordinates`: [{`name`: `x`, `initial`: 0.6}, {`name`: `y`, `initial`: -0.8}], `gravity`: [0, -9.81]," \
    "`particles`: [{`name`: `p`, `mass`: 1, `position`: [`x`, `y`]}],"                                       \
    "`constraints`: [{`name`: `rod`, `equation`: `x^2 + y^2 = 1`}]"

/* --- warnings ------------------------------------------------------------------------------------------------------ */

static void a_tolerance_beyond_double_precision_is_reported(void **state) {
    (void)state;
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (int i = 0; i < 3; i++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 1, `samples`: 2, `rtol`: 1e-13, `method`: `%s`", methods[i]);
        record *r = record_run_well(PENDULUM, simulation);
        assert_int_equal(r->summary.warning_count, 1);
        assert_non_null(strstr(r->summary.warnings[0], "too tight for double precision"));
        record_free(r);
        snprintf(simulation, sizeof simulation, "`stop`: 1, `samples`: 2, `rtol`: 1e-10, `method`: `%s`", methods[i]);
        r = record_run_well(PENDULUM, simulation);
        assert_int_equal(r->summary.warning_count, 0);
        record_free(r);
    }
}

/* The velocity of a particle is constrained to a cone. If the particle is thrown upward, it comes to rest, and its
 * velocity is then at the apex of the cone, where the gradient vanishes. If the particle falls from the start, its
 * velocity never reaches the apex. If the particle moves in a circle at constant speed, the gradient also reverses, but
 * over many steps. If the gradient of a redundant position constraint vanishes, the motion is still determined. */
static void a_vanishing_constraint_gradient_is_reported(void **state) {
    (void)state;
    static const struct {
        const char *members;
        int warnings;
    } cases[] = {
        {"`coordinates`: [{`name`: `x`, `velocity`: 0.6}, {`name`: `y`, `velocity`: 0.8}, {`name`: `z`, `velocity`: "
         "1}],"
         "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `5*z + x^2`,"
         "`constraints`: [{`name`: `cone`, `equation`: `x'^2 + y'^2 = z'^2`}]",
         1},
        {"`coordinates`: [{`name`: `x`, `velocity`: 0.6}, {`name`: `y`, `velocity`: 0.8}, {`name`: `z`, `velocity`: "
         "1}],"
         "`kinetic_energy`: `(x'^2 + y'^2 + z'^2)/2`, `potential_energy`: `x^2 - 5*z`,"
         "`constraints`: [{`name`: `cone`, `equation`: `x'^2 + y'^2 = z'^2`}]",
         0},
        {"`coordinates`: [`x`, {`name`: `y`, `velocity`: 2}], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
         "`generalized_forces`: {`x`: `9*y'`, `y`: `-9*x'`},"
         "`constraints`: [{`name`: `speed`, `equation`: `x'^2 + y'^2 = 4`}]",
         0},
        {"`coordinates`: [{`name`: `x`, `initial`: 1, `velocity`: -2}, `y`], `kinetic_energy`: `(x'^2 + y'^2)/2`,"
         "`constraints`: [{`name`: `line`, `equation`: `y = 0`}, {`name`: `again`, `equation`: `x*y = 0`}]",
         0},
    };
    static const char *const methods[] = {"adams", "bdf", "erk"};
    for (size_t i = 0; i < 12; i++) {
        char simulation[100];
        snprintf(simulation, sizeof simulation, "`stop`: 1, `samples`: 2, `method`: `%s`", methods[i / 4]);
        record *r = record_run_well(cases[i % 4].members, simulation);
        assert_int_equal(r->status, HAMEL_OK);
        int told = 0;
        for (size_t k = 0; k < r->summary.warning_count; k++)
            told += strstr(r->summary.warnings[k], "passes through 0") != NULL;
        assert_int_equal(told, cases[i % 4].warnings);
        record_free(r);
    }
}

/* If a warning truncates a long list of constraint names, it must not split a code point. */
static void warnings_are_valid_utf_8(void **state) {
    (void)state;
    static const char *const pads[] = {"", "a", "aa"};
    for (size_t i = 0; i < 3; i++) {
        char members[2000], name[140];
        snprintf(name, sizeof name, "%s\xD0\xB6%s", pads[i],
                 "жжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжж");
        snprintf(members, sizeof members,
                 "`coordinates`: [{`name`: `x`, `initial`: `cos(1)`, `velocity`: `sin(1)`}, "
                 "{`name`: `y`, `initial`: `sin(1)`, `velocity`: `-cos(1)`}, "
                 "{`name`: `u`, `initial`: `2 + cos(1)`, `velocity`: `sin(1)`}, "
                 "{`name`: `v`, `initial`: `sin(1)`, `velocity`: `-cos(1)`}], "
                 "`kinetic_energy`: `(x'^2 + y'^2 + u'^2 + v'^2)/2`, "
                 "`constraints`: [{`name`: `%s1`, `equation`: `x^2 + y^2 = 1`}, "
                 "{`name`: `%s2`, `equation`: `(u - 2)^2 + v^2 = 1`}, "
                 "{`name`: `%s3`, `equation`: `(u - x)^2 + (v - y)^2 = 4`}]",
                 name, name, name);
        record *r = record_run_well(members, "`stop`: 2, `samples`: 3");
        assert_int_equal(r->summary.warning_count, 1);
        json_fault fault;
        json_limits limits = json_limits_default();
        char quoted[5000];
        int length = snprintf(quoted, sizeof quoted, "\"%s\"", r->summary.warnings[0]);
        cJSON *text = json_parse(quoted, (size_t)length, &limits, &fault);
        if (!text) fail_msg("%s: %s", fault.message, quoted);
        assert_non_null(strstr(quoted, "become redundant"));
        cJSON_Delete(text);
        record_free(r);
    }
}

/* --- error estimates and checks ----------------------------------------------------------------------------------- */

static void the_work_of_forces_balances_the_energy(void **state) {
    (void)state;
    static const char *const systems[] = {
        PENDULUM ", `generalized_forces`: {`x`: `-0.5*x' + cos(3*t)`}",
        "`coordinates`: [{`name`: `x`, `initial`: 1}, `y`], `kinetic_energy`: `x'^2 + y'^2`, `constraints`: [{`name`: "
        "`c`, `equation`: `x^2 + y^2 = (1 + sin(t)/2)^2`}], `potential_energy`: `9*y`",
    };
    for (size_t i = 0; i < 2; i++)
        for (int m = 0; m < 2; m++) {
            record *r = record_run_well(
                systems[i],
                m ? "`stop`: 4, `method`: `bdf`, `rtol`: 1e-9, `atol`: 1e-11, `initialization`: `project`"
                  : "`stop`: 4, `method`: `adams`, `rtol`: 1e-9, `atol`: 1e-11, `initialization`: `project`");
            if (!(r->summary.max_work_balance_error < 1e-6))
                fail_msg("%s: %g", systems[i], r->summary.max_work_balance_error);
            assert_true(r->summary.max_work_balance_error > 0);
            record_free(r);
        }
}

static void checks_and_invariants_are_checked(void **state) {
    (void)state;
    record *r = record_run_well(
        PENDULUM
        ", `invariants`: [{`name`: `E`, `expression`: `energy()`, `tolerance`: 1e-4}, {`name`: `bad`, `expression`: "
        "`x`, `tolerance`: 0.1}],"
        "`checks`: [{`name`: `length`, `expression`: `hypot(x, y)`, `at`: `always`, `equals`: 1, `tolerance`: 1e-9},"
        "{`name`: `start`, `expression`: `lambda(rod)*2`, `at`: 0, `equals`: `-9.81*0.8`, `tolerance`: 1e-9},"
        "{`name`: `low`, `expression`: `y`, `at`: `final`, `min`: 0}]",
        "`stop`: 1.05");
    assert_true(r->summary.invariants[0].passed);
    assert_false(r->summary.invariants[1].passed);
    assert_true(r->summary.checks[0].passed);
    assert_true(r->summary.checks[1].passed);
    assert_false(r->summary.checks[2].passed);
    assert_false(r->summary.passed);
    assert_true(r->summary.residuals[0].position < 1e-14);
    assert_int_equal(r->summary.degrees_of_freedom, 1);
    record_free(r);
}

/* sqrt(1 - t) is undefined for t > 1, and 1/(t - 2) is undefined at t = 2. */
static void a_check_must_be_defined_at_its_time(void **state) {
    (void)state;
    static const char fall[] = "`coordinates`: [`x`], `kinetic_energy`: `x'^2/2`, `checks`: [{`name`: `c`, %s, "
                               "`equals`: %s, `tolerance`: 1e-12}]";
    static const struct {
        const char *check, *equals;
        hamel_status status;
    } cases[] = {{"`expression`: `sqrt(1 - t)`, `at`: 0.75", "0.5", HAMEL_OK},
                 {"`expression`: `sqrt(1 - t)`, `at`: 1.5", "0", HAMEL_NOT_FINITE},
                 {"`expression`: `sqrt(1 - t)`, `at`: `always`", "0", HAMEL_NOT_FINITE},
                 {"`expression`: `sqrt(1 - t)`", "0", HAMEL_NOT_FINITE},
                 {"`expression`: `sqrt(t - 1)`", "1", HAMEL_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char members[400];
        snprintf(members, sizeof members, fall, cases[i].check, cases[i].equals);
        record *r = record_run(members, "`stop`: 2, `samples`: 9");
        assert_int_equal(r->status, cases[i].status);
        assert_int_equal(r->summary.passed, cases[i].status == HAMEL_OK);
        if (r->status != HAMEL_OK) assert_string_equal(r->error.faults[0].pointer, "/checks/0/expression");
        record_free(r);
    }
}

static void the_error_estimate_is_not_below_the_error(void **state) {
    (void)state;
    record *r = record_run_well(
        "`coordinates`: [{`name`: `x`, `initial`: 1}], `kinetic_energy`: `x'^2/2`, `potential_energy`: `x^2/2`",
        "`stop`: 20, `samples`: 41, `certify`: true");
    double worst = 0;
    for (size_t i = 0; i < r->rows; i++) worst = fmax(worst, fabs(r->values[i][1] - cos(r->values[i][0])));
    assert_non_null(r->summary.error_estimate);
    assert_true(r->summary.error_estimate[0] == 0);
    assert_true(worst < 3 * r->summary.error_estimate[1]);
    assert_true(r->summary.error_estimate[1] < 1e-5);
    record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tolerance_beyond_double_precision_is_reported),
        cmocka_unit_test(a_vanishing_constraint_gradient_is_reported),
        cmocka_unit_test(warnings_are_valid_utf_8),
        cmocka_unit_test(the_work_of_forces_balances_the_energy),
        cmocka_unit_test(checks_and_invariants_are_checked),
        cmocka_unit_test(a_check_must_be_defined_at_its_time),
        cmocka_unit_test(the_error_estimate_is_not_below_the_error),
    };
    return cmocka_run_group_tests_name("run_checks", tests, NULL, NULL);
}
