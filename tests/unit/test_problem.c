/* test_problem.c — errors as problem documents (RFC 9457), as exit codes, and as text with a caret for a terminal. */
#include "api/json/text.h"
#include "api/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_json(cJSON *tree, const char *expected) {
    char *text = json_text(tree);
    assert_string_equal(text, expected);
    free(text);
    cJSON_Delete(tree);
}

static void a_problem_lists_every_error(void **state) {
    (void)state;
    hamel_error error = {0};
    (void)hamel_fail(&error, HAMEL_INVALID, "/constraints/0/equation", 12, "expected `)`");
    hamel_suggest(&error, "x'*sin(phi) = 0");
    (void)hamel_fail(&error, HAMEL_INVALID, "/nam~1e", 0, "no such key");
    expect_json(api_problem(&error, "/requests/7"),
                "{\"type\":\"/problems/invalid-system\",\"title\":\"the description is not a valid system\","
                "\"status\":422,\"detail\":\"2 errors; the first: /constraints/0/equation: expected `)`\","
                "\"instance\":\"/requests/7\",\"errors\":["
                "{\"pointer\":\"/constraints/0/equation\",\"message\":\"expected `)`\",\"column\":12,"
                "\"suggestion\":\"x'*sin(phi) = 0\"},"
                "{\"pointer\":\"/nam~1e\",\"message\":\"no such key\"}]}");
    hamel_error_clear(&error);
}

static void a_single_error_is_the_detail(void **state) {
    (void)state;
    hamel_error error = {0};
    (void)hamel_fail(&error, HAMEL_SINGULAR, "", 0, "the mass matrix is singular");
    expect_json(api_problem(&error, NULL),
                "{\"type\":\"/problems/singular-system\","
                "\"title\":\"the equations of motion do not determine the accelerations\",\"status\":422,"
                "\"detail\":\"the mass matrix is singular\","
                "\"errors\":[{\"pointer\":\"\",\"message\":\"the mass matrix is singular\"}]}");
    hamel_error_clear(&error);
}

static void errors_beyond_the_list_are_counted(void **state) {
    (void)state;
    hamel_error error = {0};
    for (int k = 0; k < HAMEL_FAULTS_MAX + 7; k++) (void)hamel_fail(&error, HAMEL_INVALID, "/x", 0, "fault %d", k);
    cJSON *problem = api_problem(&error, NULL);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(problem, "errors")), HAMEL_FAULTS_MAX);
    assert_int_equal(cJSON_GetObjectItem(problem, "omitted")->valueint, 7);
    cJSON_Delete(problem);
    char *text = api_error_text(&error, "f.json");
    assert_non_null(strstr(text, "hamel: f.json: and 7 more errors\n"));
    free(text);
    hamel_error_clear(&error);
}

static void a_problem_with_a_prefixed_pointer_repeats_it_in_its_detail(void **state) {
    (void)state;
    hamel_error error = {0};
    (void)hamel_fail(&error, HAMEL_INVALID, "/coordinates/0", 0, "expected a name");
    (void)hamel_fail(&error, HAMEL_INVALID, "/options/x", 0, "unknown option");
    cJSON *problem = api_problem(&error, NULL);
    api_problem_rebase(problem, "", "/system");
    api_problem_rebase(problem, "/system/options/", "/options/");
    const cJSON *errors = cJSON_GetObjectItem(problem, "errors");
    assert_string_equal(json_text_at(cJSON_GetArrayItem(errors, 0), "pointer"), "/system/coordinates/0");
    assert_string_equal(json_text_at(cJSON_GetArrayItem(errors, 1), "pointer"), "/options/x");
    assert_string_equal(json_text_at(problem, "detail"), "2 errors; the first: /system/coordinates/0: expected a name");
    cJSON_Delete(problem);
    hamel_error_clear(&error);
}

static void malformed_json_is_400_and_large_json_is_413(void **state) {
    (void)state;
    json_fault fault = {.line = 3, .column = 7, .message = "expected `:`"};
    expect_json(api_problem_json(&fault, NULL),
                "{\"type\":\"/problems/malformed-json\",\"title\":\"the text is not a JSON document\",\"status\":400,"
                "\"detail\":\"line 3, column 7: expected `:`\",\"line\":3,\"column\":7}");
    fault.too_large = true;
    cJSON *problem = api_problem_json(&fault, NULL);
    assert_int_equal(cJSON_GetObjectItem(problem, "status")->valueint, 413);
    cJSON_Delete(problem);
    fault.no_memory = true;
    problem = api_problem_json(&fault, NULL);
    assert_int_equal(cJSON_GetObjectItem(problem, "status")->valueint, 503);
    cJSON_Delete(problem);
}

static void each_status_has_its_codes(void **state) {
    (void)state;
    static const struct {
        hamel_status status;
        int http, exit_code;
    } table[] = {
        {HAMEL_OK, 200, 0},           {HAMEL_INVALID, 422, 3},    {HAMEL_INCONSISTENT, 422, 3},
        {HAMEL_INCOMPATIBLE, 422, 3}, {HAMEL_SINGULAR, 422, 3},   {HAMEL_UNSUPPORTED, 422, 3},
        {HAMEL_LIMIT, 422, 3},        {HAMEL_NOT_FINITE, 422, 4}, {HAMEL_INTEGRATION, 422, 4},
        {HAMEL_CANCELED, 503, 4},     {HAMEL_NO_MEMORY, 503, 4},  {HAMEL_INTERNAL, 500, 4},
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        assert_int_equal(api_status_http(table[k].status), table[k].http);
        assert_int_equal(api_status_exit(table[k].status), table[k].exit_code);
    }
}

static void expect_text(const char *expression, int column, const char *expected) {
    hamel_error error = {0};
    (void)hamel_fail(&error, HAMEL_INVALID, "/a/0", column, "wrong");
    hamel_quote(&error, expression, strlen(expression));
    char *text = api_error_text(&error, "f.json");
    assert_string_equal(text, expected);
    free(text);
    hamel_error_clear(&error);
}

static void a_caret_marks_the_error(void **state) {
    (void)state;
    expect_text("x'*sin(phi = 0", 12, "hamel: f.json: /a/0:12: wrong\n    x'*sin(phi = 0\n               ^\n");
    expect_text("\xCE\xB8+\xCE\xB8 )", 5, "hamel: f.json: /a/0:5: wrong\n    \xCE\xB8+\xCE\xB8 )\n        ^\n");
    expect_text("a\n\tb)", 5, "hamel: f.json: /a/0:5: wrong\n    a  b)\n        ^\n");
    expect_text("a+", 3, "hamel: f.json: /a/0:3: wrong\n    a+\n      ^\n");
    expect_text("a+", 99, "hamel: f.json: /a/0:99: wrong\n    a+\n      ^\n");
}

static void a_long_expression_is_truncated_around_the_error(void **state) {
    (void)state;
    char expression[1001];
    memset(expression, 'a', sizeof expression - 1);
    expression[sizeof expression - 1] = '\0';
    static const int columns[] = {1, 40, 500, 980, 1000, 1001};
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
        memset(expression, 'a', sizeof expression - 1);
        if (columns[k] <= 1000) expression[columns[k] - 1] = '!';
        hamel_error error = {0};
        (void)hamel_fail(&error, HAMEL_INVALID, "/a", columns[k], "wrong");
        hamel_quote(&error, expression, strlen(expression));
        char *text = api_error_text(&error, "f");
        const char *quoted = strchr(text, '\n') + 1;
        const char *under = strchr(quoted, '\n') + 1;
        assert_in_range((size_t)(under - quoted), 50, 4 + 100 + 6 + 1);
        size_t caret = strcspn(under, "^");
        if (columns[k] <= 1000) assert_int_equal(quoted[caret], '!');
        free(text);
        hamel_error_clear(&error);
    }
}

static void an_error_of_the_whole_document_has_no_pointer(void **state) {
    (void)state;
    hamel_error error = {0};
    (void)hamel_fail(&error, HAMEL_INVALID, "", 0, "needs the key `hamel`");
    hamel_suggest(&error, "\"hamel\": 1");
    char *text = api_error_text(&error, "-");
    assert_string_equal(text, "hamel: -: needs the key `hamel`\n  try: \"hamel\": 1\n");
    free(text);
    hamel_error_clear(&error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_lists_every_error),
        cmocka_unit_test(a_single_error_is_the_detail),
        cmocka_unit_test(errors_beyond_the_list_are_counted),
        cmocka_unit_test(a_problem_with_a_prefixed_pointer_repeats_it_in_its_detail),
        cmocka_unit_test(malformed_json_is_400_and_large_json_is_413),
        cmocka_unit_test(each_status_has_its_codes),
        cmocka_unit_test(a_caret_marks_the_error),
        cmocka_unit_test(a_long_expression_is_truncated_around_the_error),
        cmocka_unit_test(an_error_of_the_whole_document_has_no_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
