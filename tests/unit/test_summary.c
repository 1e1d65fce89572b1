/* test_summary.c — header and summary objects contain every field of the format and valid JSON numbers only. */
#include "api/json/strict_json.h"
#include "api/json/text.h"
#include "api/simulate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double tolerances[] = {1e-9, 1e-9};
static const char *const columns[] = {"t", "x"};
static double estimate[] = {0, 1e-7};
static const char *redundant[] = {"c2"};
static const char *dependent[] = {"c1", "c2"};
static hamel_names sets[] = {{dependent, 2}};
static hamel_redundancy redundancy = {1, sets, 1, {dependent, 2}};
static char warning[] = "a warning";
static char *warnings[] = {warning};
static hamel_residual residuals[] = {{"rod", 1e-12, 1e-11, true}, {"edge", 0, 1e-10, false}};
static hamel_invariant_result invariants[] = {{"E", 2, 1e-8, 5e-9, true, true}, {"p", 0, 1, 0, false, false}};
static hamel_check_result checks[] = {{"reach", 1.5, true, true}, {"late", 0, false, false}};
static hamel_initial_value changes[] = {{"x", true, 1, 0.5}};

static hamel_summary full_summary(void) {
    return (hamel_summary){
        .outcome = HAMEL_COMPLETED,
        .t = 10,
        .steps = 100,
        .rhs_evaluations = 150,
        .jacobian_evaluations = 3,
        .projections = 99,
        .evaluation = "machine code",
        .rows = 101,
        .derive_seconds = 0.5,
        .wall_seconds = 0.25,
        .method = "bdf",
        .formulation = "lagrange",
        .stop = 10,
        .rtol = 1e-6,
        .atol = tolerances,
        .coordinate_count = 2,
        .degrees_of_freedom = 1,
        .residuals = residuals,
        .residual_count = 2,
        .max_work_balance_error = 1e-9,
        .max_dynamics_residual = 2e-16,
        .rank_changes = 1,
        .invariants = invariants,
        .invariant_count = 2,
        .checks = checks,
        .check_count = 2,
        .passed = true,
        .initial_changes = changes,
        .initial_change_count = 1,
        .initial_residual = 1e-7,
        .redundant = redundant,
        .redundant_count = 1,
        .redundancy = &redundancy,
        .warnings = warnings,
        .warning_count = 1,
        .error_estimate = estimate,
        .column_count = 2,
        .columns = columns,
        .description_hash = "abc",
    };
}

static void the_summary_contains_every_field(void **state) {
    (void)state;
    hamel_summary s = full_summary();
    cJSON *tree = api_summary_json(&s);
    char *text = json_text(tree);
    assert_string_equal(
        text,
        "{\"status\":\"completed\",\"t\":10,\"rows\":101,\"events\":0,\"switches\":0,\"steps\":100,\"rhs_evaluations\":"
        "150,"
        "\"jacobian_evaluations\":3,\"projections\":99,\"evaluation\":\"machine "
        "code\",\"derive_seconds\":0.5,\"wall_seconds\":0.25,"
        "\"passed\":true,\"max_residual\":{\"rod\":{\"position\":1e-12,\"velocity\":1e-11},"
        "\"edge\":{\"velocity\":1e-10}},\"max_work_balance_error\":1e-09,"
        "\"max_dynamics_residual\":2e-16,\"rank_changes\":1,"
        "\"error_estimate\":{\"t\":0,\"x\":1e-07},"
        "\"invariants\":[{\"name\":\"E\",\"initial\":2,\"max_drift\":1e-08,\"max_relative_drift\":5e-09,"
        "\"passed\":true},{\"name\":\"p\",\"initial\":0,\"max_drift\":1,\"max_relative_drift\":0,\"passed\":true}],"
        "\"checks\":[{\"name\":\"reach\",\"value\":1.5,\"reached\":true,\"passed\":true},"
        "{\"name\":\"late\",\"value\":null,\"reached\":false,\"passed\":false}],"
        "\"initialization\":{\"max_residual\":1e-07,\"changed\":[{\"name\":\"x'\",\"given\":1,\"used\":0.5}]},"
        "\"redundant\":[\"c2\"],\"redundancy\":{\"sets\":[[\"c1\",\"c2\"]],\"not_unique\":[\"c1\",\"c2\"]},"
        "\"warnings\":[\"a warning\"],"
        "\"manifest\":{\"system\":\"abc\",\"version\":\"0.1.0\",\"method\":\"bdf\",\"formulation\":\"lagrange\","
        "\"start\":0,\"stop\":10,\"rtol\":1e-06,\"atol\":1e-09,\"coordinates\":2,\"degrees_of_freedom\":1}}");
    free(text);
    cJSON_Delete(tree);
}

static void tolerances_that_differ_are_a_list(void **state) {
    (void)state;
    static const double different[] = {1e-9, 1e-6};
    hamel_summary s = full_summary();
    s.atol = different;
    cJSON *tree = api_summary_json(&s);
    const cJSON *atol = cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "manifest"), "atol");
    assert_int_equal(cJSON_GetArraySize(atol), 2);
    cJSON_Delete(tree);
}

static void an_empty_summary_is_still_json(void **state) {
    (void)state;
    hamel_summary s = {.outcome = HAMEL_FAILED, .max_work_balance_error = NAN};
    cJSON *tree = api_summary_json(&s);
    char *text = json_text(tree);
    cJSON_Delete(tree);
    json_limits limits = json_limits_default();
    json_fault fault;
    tree = json_parse(text, strlen(text), &limits, &fault);
    if (tree == NULL) fail_msg("%s", fault.message);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(tree, "max_work_balance_error")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "manifest"), "method")));
    assert_null(cJSON_GetObjectItem(tree, "error_estimate"));
    cJSON_Delete(tree);
    free(text);
}

static void the_header_contains_every_field(void **state) {
    (void)state;
    static const char *const names[] = {"t", "\xCE\xB8"};
    static const char *const units[] = {"s", ""};
    hamel_header h = {.name = "n\"1",
                      .column_count = 2,
                      .columns = names,
                      .units = units,
                      .formulation = "kane",
                      .degrees_of_freedom = 2};
    cJSON *tree = api_header_json(&h);
    char *text = json_text(tree);
    assert_string_equal(text, "{\"columns\":[\"t\",\"\xCE\xB8\"],\"units\":[\"s\",\"\"],\"name\":\"n\\\"1\","
                              "\"degrees_of_freedom\":2,\"formulation\":\"kane\",\"version\":\"0.1.0\"}");
    free(text);
    cJSON_Delete(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_summary_contains_every_field),
        cmocka_unit_test(tolerances_that_differ_are_a_list),
        cmocka_unit_test(an_empty_summary_is_still_json),
        cmocka_unit_test(the_header_contains_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
