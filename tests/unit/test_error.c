/* Tests of engine/base/error.c. */
#include "engine/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void an_error_keeps_its_place_message_and_remedy(void **state) {
    (void)state;
    hamel_error error = {0};
    hamel_status status = hamel_fail(&error, HAMEL_INVALID, "/outputs/E", 7, "unknown name \"%s\"", "thera");
    hamel_suggest(&error, "did you mean %s?", "theta");
    hamel_quote(&error, "2*sin(thera), rest", 12);
    assert_int_equal(status, HAMEL_INVALID);
    assert_int_equal(error.status, HAMEL_INVALID);
    assert_int_equal(error.count, 1);
    assert_string_equal(error.faults[0].pointer, "/outputs/E");
    assert_int_equal(error.faults[0].column, 7);
    assert_string_equal(error.faults[0].message, "unknown name \"thera\"");
    assert_string_equal(error.faults[0].suggestion, "did you mean theta?");
    assert_string_equal(error.faults[0].expression, "2*sin(thera)");
    hamel_error_clear(&error);
    assert_int_equal(error.count, 0);
    assert_int_equal(error.status, HAMEL_OK);
}

static void the_status_is_that_of_the_first_error(void **state) {
    (void)state;
    hamel_error error = {0};
    hamel_fail(&error, HAMEL_SINGULAR, NULL, 0, "first");
    assert_int_equal(hamel_fail(&error, HAMEL_LIMIT, "/a", 0, "second"), HAMEL_LIMIT);
    assert_int_equal(error.status, HAMEL_SINGULAR);
    assert_string_equal(error.faults[0].pointer, "");
    assert_int_equal(error.faults[1].status, HAMEL_LIMIT);
    hamel_error_clear(&error);
}

static void without_a_list_only_the_status_is_given(void **state) {
    (void)state;
    assert_int_equal(hamel_fail(NULL, HAMEL_INTERNAL, "/a", 0, "nobody reads this"), HAMEL_INTERNAL);
    hamel_suggest(NULL, "nor this");
    hamel_quote(NULL, "x", 1);
    hamel_error_clear(NULL);
}

static void errors_beyond_the_maximum_are_counted_and_take_no_suggestion(void **state) {
    (void)state;
    hamel_error error = {0};
    for (int i = 0; i < HAMEL_FAULTS_MAX + 3; i++) hamel_fail(&error, HAMEL_INVALID, "/a", 0, "fault %d", i);
    hamel_suggest(&error, "suggestion for an error that is not stored");
    assert_int_equal(error.count, HAMEL_FAULTS_MAX);
    assert_int_equal(error.omitted, 3);
    assert_string_equal(error.faults[HAMEL_FAULTS_MAX - 1].message, "fault 99");
    assert_null(error.faults[HAMEL_FAULTS_MAX - 1].suggestion);
    hamel_error_clear(&error);
}

static void a_suggestion_without_an_error_does_nothing(void **state) {
    (void)state;
    hamel_error error = {0};
    hamel_suggest(&error, "for nothing");
    hamel_quote(&error, "x", 1);
    assert_int_equal(error.count, 0);
    hamel_error_clear(&error);
}

static void a_second_suggestion_replaces_the_first(void **state) {
    (void)state;
    hamel_error error = {0};
    hamel_fail(&error, HAMEL_INVALID, "", 0, "x");
    hamel_suggest(&error, "one");
    hamel_suggest(&error, "two");
    hamel_quote(&error, "a", 1);
    hamel_quote(&error, "b", 1);
    assert_string_equal(error.faults[0].suggestion, "two");
    assert_string_equal(error.faults[0].expression, "b");
    hamel_error_clear(&error);
}

static void a_long_text_is_cut_between_code_points(void **state) {
    (void)state;
    char text[8192];
    text[0] = 'x';
    for (size_t i = 1; i + 2 < sizeof text; i += 2) memcpy(text + i, "θ", 2);
    text[sizeof text - 1] = '\0';
    hamel_error error = {0};
    hamel_fail(&error, HAMEL_INVALID, "", 0, "%s", text);
    size_t length = strlen(error.faults[0].message);
    assert_true(length == 4095 || length == 4096);
    assert_int_equal(length % 2, 1); /* an x and complete two-byte characters θ */
    hamel_error_clear(&error);
}

static void a_very_long_expression_is_not_quoted(void **state) {
    (void)state;
    char *text = calloc(1, HAMEL_QUOTE_MAX + 2);
    assert_non_null(text);
    memset(text, 'a', HAMEL_QUOTE_MAX + 1);
    hamel_error error = {0};
    hamel_fail(&error, HAMEL_INVALID, "", 3, "x");
    hamel_quote(&error, text, HAMEL_QUOTE_MAX + 1);
    assert_null(error.faults[0].expression);
    hamel_quote(&error, text, HAMEL_QUOTE_MAX);
    assert_int_equal(strlen(error.faults[0].expression), HAMEL_QUOTE_MAX);
    hamel_error_clear(&error);
    free(text);
}

static void every_status_has_a_slug_and_a_meaning(void **state) {
    (void)state;
    assert_string_equal(hamel_status_slug(HAMEL_OK), "ok");
    assert_string_equal(hamel_status_slug(HAMEL_INVALID), "invalid-system");
    for (int i = HAMEL_OK; i <= HAMEL_INTERNAL; i++) {
        assert_true(strlen(hamel_status_slug((hamel_status)i)) > 0);
        assert_true(strlen(hamel_status_meaning((hamel_status)i)) > 0);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(hamel_status_slug((hamel_status)i), hamel_status_slug((hamel_status)j));
    }
}

/* "é" is C3 A9 and "→" is E2 86 92. The precision in printf truncates the text between two bytes of a character. */
static void an_incomplete_code_point_is_dropped(void **state) {
    (void)state;
    static const struct {
        int bytes;
        const char *kept;
    } cuts[] = {{1, "[a]"},         {2, "[a]"},         {3, "[a\xC3\xA9]"},
                {4, "[a\xC3\xA9]"}, {5, "[a\xC3\xA9]"}, {6, "[a\xC3\xA9\xE2\x86\x92]"}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        hamel_error error = {0};
        (void)hamel_fail(&error, HAMEL_INVALID, "", 0, "[%.*s]", cuts[i].bytes, "a\xC3\xA9\xE2\x86\x92z");
        assert_string_equal(error.faults[0].message, cuts[i].kept);
        hamel_error_clear(&error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_keeps_its_place_message_and_remedy),
        cmocka_unit_test(the_status_is_that_of_the_first_error),
        cmocka_unit_test(without_a_list_only_the_status_is_given),
        cmocka_unit_test(errors_beyond_the_maximum_are_counted_and_take_no_suggestion),
        cmocka_unit_test(a_suggestion_without_an_error_does_nothing),
        cmocka_unit_test(a_second_suggestion_replaces_the_first),
        cmocka_unit_test(a_long_text_is_cut_between_code_points),
        cmocka_unit_test(a_very_long_expression_is_not_quoted),
        cmocka_unit_test(an_incomplete_code_point_is_dropped),
        cmocka_unit_test(every_status_has_a_slug_and_a_meaning),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
