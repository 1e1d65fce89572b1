/* test_checks.c — POST /v1/checks: results as JSON and as JUnit XML. */
#include "tests/http/daemon.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static test_daemon d;

/* x = cos t is -1 at t = pi. */
static const char *checked(char *out, size_t room, double expected, double max_steps) {
    snprintf(out, room,
             "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":1}],\"kinetic_energy\":\"x'^2/2\","
             "\"potential_energy\":\"x^2/2\",\"invariants\":[{\"name\":\"E<\",\"expression\":\"energy()\","
             "\"tolerance\":1e-5}],\"checks\":[{\"name\":\"turned\",\"expression\":\"x\",\"equals\":%g,"
             "\"tolerance\":1e-4}],\"simulation\":{\"stop\":3.141592653589793,\"max_steps\":%g}}",
             expected, max_steps);
    return out;
}

static void a_system_with_correct_checks_passes(void **state) {
    (void)state;
    char system[1000];
    cJSON *found = ask_json(&d, "POST", "/v1/checks", json_type, checked(system, sizeof system, -1, 1e5), 200);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(found, "passed")));
    const cJSON *checks = cJSON_GetObjectItemCaseSensitive(found, "checks");
    assert_int_equal(cJSON_GetArraySize(checks), 1);
    assert_float_equal(json_number_of(checks->child, "value"), -1, 1e-4);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(found, "invariants")), 1);
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(found, "summary"), "status"), "completed");
    cJSON_Delete(found);
}

static void a_failed_check_is_reported_with_status_200(void **state) {
    (void)state;
    char system[1000];
    cJSON *found = ask_json(&d, "POST", "/v1/checks", json_type, checked(system, sizeof system, 1, 1e5), 200);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(found, "passed")));
    cJSON_Delete(found);
}

static void a_run_that_exceeds_its_budget_does_not_pass(void **state) {
    (void)state;
    char system[1000];
    cJSON *found = ask_json(&d, "POST", "/v1/checks", json_type, checked(system, sizeof system, -1, 3), 200);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(found, "passed")));
    assert_string_equal(json_text_of(cJSON_GetObjectItemCaseSensitive(found, "summary"), "status"), "incomplete");
    cJSON_Delete(found);
}

static void results_are_available_as_junit(void **state) {
    (void)state;
    char system[1000], type[64];
    const char *headers[] = {"Content-Type: application/json", "Accept: text/html, application/xml;q=0.9", NULL};
    answer a = ask(&d, "POST", "/v1/checks", headers, checked(system, sizeof system, 1, 1e5));
    assert_int_equal(a.status, 200);
    assert_true(answer_header(&a, "Content-Type", type, sizeof type));
    assert_string_equal(type, "application/xml");
    assert_non_null(strstr(a.body, "<testsuites tests=\"2\" failures=\"1\" errors=\"0\">"));
    static const char failure[] = "name=\"check turned\"><failure message=\"value ";
    const char *value = strstr(a.body, failure);
    assert_non_null(value);
    assert_true(fabs(strtod(value + strlen(failure), NULL) + 1) < 1e-4);
    assert_non_null(strstr(a.body, "name=\"invariant E&lt;\"/>"));
    answer_clear(&a);
}

static void a_system_that_cannot_run_is_a_problem(void **state) {
    (void)state;
    char system[1000];
    const char *headers[] = {"Content-Type: application/json", "Accept: text/csv", NULL};
    cJSON_Delete(ask_json(&d, "POST", "/v1/checks", headers, checked(system, sizeof system, 1, 1e5), 406));
    cJSON_Delete(ask_json(&d, "POST", "/v1/checks", json_type, "{\"hamel\":1}", 422));
    const char *off = "{\"hamel\":1,\"coordinates\":[{\"name\":\"x\",\"initial\":2}],\"kinetic_energy\":\"x'^2\","
                      "\"constraints\":[{\"name\":\"c\",\"equation\":\"x=1\"}],\"simulation\":{\"stop\":1}}";
    cJSON *problem = ask_json(&d, "POST", "/v1/checks", json_type, off, 422);
    assert_string_equal(json_text_of(problem, "type"), "/problems/inconsistent-initial-values");
    assert_string_equal(json_text_of(problem, "instance"), "/v1/checks");
    cJSON_Delete(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_with_correct_checks_passes),
        cmocka_unit_test(a_failed_check_is_reported_with_status_200),
        cmocka_unit_test(a_run_that_exceeds_its_budget_does_not_pass),
        cmocka_unit_test(results_are_available_as_junit),
        cmocka_unit_test(a_system_that_cannot_run_is_a_problem),
    };
    daemon_share(&d, NULL);
    return cmocka_run_group_tests_name("checks", tests, start_shared_daemon, end_shared_daemon);
}
