/* Tests of engine/text/lexer.c: token kinds, columns in code points, numbers, and invalid bytes of every kind. */
#include "engine/text/lexer.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KINDS_MAX = 64 };

/* Reads the kinds of all tokens of `text`, without the end token. */
static size_t read_kinds(const char *text, token_kind kinds[KINDS_MAX]) {
    lexer l;
    lexer_init(&l, text, strlen(text));
    size_t count = 0;
    for (token t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l)) {
        assert_true(count < KINDS_MAX);
        kinds[count++] = t.kind;
    }
    return count;
}

#define ASSERT_KINDS(text, ...)                                                           \
    do {                                                                                  \
        const token_kind expected_[] = {__VA_ARGS__};                                     \
        token_kind found_[KINDS_MAX];                                                     \
        assert_int_equal(read_kinds(text, found_), sizeof expected_ / sizeof *expected_); \
        assert_memory_equal(found_, expected_, sizeof expected_);                         \
    } while (0)

static token first_token(const char *text, size_t length) {
    lexer l;
    lexer_init(&l, text, length);
    return lexer_next(&l);
}

static void every_operator_has_its_token(void **state) {
    (void)state;
    ASSERT_KINDS("+-*/^", TOKEN_PLUS, TOKEN_MINUS, TOKEN_TIMES, TOKEN_DIVIDE, TOKEN_POWER);
    ASSERT_KINDS("()[],'", TOKEN_OPEN, TOKEN_CLOSE, TOKEN_INDEX_OPEN, TOKEN_INDEX_CLOSE, TOKEN_COMMA, TOKEN_PRIME);
    ASSERT_KINDS("< <= > >= == != =", TOKEN_LESS, TOKEN_LESS_EQUAL, TOKEN_GREATER, TOKEN_GREATER_EQUAL, TOKEN_EQUAL,
                 TOKEN_NOT_EQUAL, TOKEN_ASSIGN);
    ASSERT_KINDS("<==", TOKEN_LESS_EQUAL, TOKEN_ASSIGN);
    ASSERT_KINDS(" \t\r\nx\n", TOKEN_NAME);
}

static void a_range_is_not_a_decimal_point(void **state) {
    (void)state;
    ASSERT_KINDS("1..N", TOKEN_NUMBER, TOKEN_RANGE, TOKEN_NAME);
    ASSERT_KINDS("1..10", TOKEN_NUMBER, TOKEN_RANGE, TOKEN_NUMBER);
    ASSERT_KINDS("1.5..N", TOKEN_NUMBER, TOKEN_RANGE, TOKEN_NAME);
    ASSERT_KINDS("N..2*N", TOKEN_NAME, TOKEN_RANGE, TOKEN_NUMBER, TOKEN_TIMES, TOKEN_NAME);
}

static void numbers_have_the_forms_of_decimal_notation(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double number;
        uint32_t length;
    } CASES[] = {
        {"0", 0, 1},
        {"007", 7, 3},
        {".5", 0.5, 2},
        {"2.", 2, 2},
        {"1e-3", 1e-3, 4},
        {"1E+3", 1000, 4},
        {"2.e2", 200, 4},
        {"3.25x", 3.25, 4},
        {"1e", 1, 1},
        {"1e+", 1, 1},
        {"1ex", 1, 1},
        {"1.7976931348623157e308", DBL_MAX, 22},
        {"5e-324", 0x1p-1074, 6},
        {"1e-400", 0, 6},
        {"0.1", 0.1, 3},
        {"123456789012345678901", 123456789012345678901., 21},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        token t = first_token(CASES[i].text, strlen(CASES[i].text));
        assert_int_equal(t.kind, TOKEN_NUMBER);
        assert_true(t.number == CASES[i].number);
        assert_int_equal(t.length, CASES[i].length);
    }
}

static void a_number_is_not_read_beyond_the_end(void **state) {
    (void)state;
    token t = first_token("12345", 2);
    assert_true(t.number == 12);
    assert_int_equal(t.length, 2);
    t = first_token("1e5", 2);
    assert_true(t.number == 1);
}

static void numbers_without_a_double_are_errors(void **state) {
    (void)state;
    assert_int_equal(first_token("1e309", 5).kind, TOKEN_ERROR);
    assert_int_equal(first_token("0x10", 4).kind, TOKEN_ERROR);
    assert_int_equal(first_token("0XFF", 4).kind, TOKEN_ERROR);
    char digits[302];
    memset(digits, '1', sizeof digits);
    assert_int_equal(first_token(digits, 300).kind, TOKEN_NUMBER);
    token t = first_token(digits, 301);
    assert_int_equal(t.kind, TOKEN_ERROR);
    assert_non_null(strstr(t.message, "300"));
}

static void names_may_be_in_any_script(void **state) {
    (void)state;
    token t = first_token("θ_1'", 5);
    assert_int_equal(t.kind, TOKEN_NAME);
    assert_int_equal(t.length, 4);
    assert_int_equal(first_token("角度", 6).length, 6);
    assert_int_equal(first_token("_x9", 3).length, 3);
    assert_int_equal(first_token("𝜔2", 5).length, 5); /* a character outside the Basic Multilingual Plane */
}

static void columns_count_code_points(void **state) {
    (void)state;
    const char *text = "θ + φ_角*𝜔";
    static const token_kind KINDS[] = {TOKEN_NAME, TOKEN_PLUS, TOKEN_NAME, TOKEN_TIMES, TOKEN_NAME, TOKEN_END};
    static const int32_t EXPECTED[] = {1, 3, 5, 8, 9, 10};
    lexer l;
    lexer_init(&l, text, strlen(text));
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        token t = lexer_next(&l);
        assert_int_equal(t.kind, KINDS[i]);
        assert_int_equal(t.column, EXPECTED[i]);
    }
}

static void only_dotted_names_contain_dots(void **state) {
    (void)state;
    lexer l;
    lexer_init(&l, "B.norm", 6);
    assert_int_equal(lexer_next_dotted(&l).length, 6);
    lexer_init(&l, "J.1.x", 5);
    assert_int_equal(lexer_next_dotted(&l).length, 5);
    lexer_init(&l, "B.", 2);
    assert_int_equal(lexer_next_dotted(&l).length, 1);
    lexer_init(&l, "B..N", 4);
    assert_int_equal(lexer_next_dotted(&l).length, 1);
    lexer_init(&l, "B.norm", 6);
    assert_int_equal(lexer_next(&l).length, 1);
    assert_int_equal(lexer_next(&l).kind, TOKEN_ERROR);
}

static void the_end_token_is_repeated(void **state) {
    (void)state;
    lexer l;
    lexer_init(&l, "x", 1);
    lexer_next(&l);
    for (int i = 0; i < 3; i++) {
        token t = lexer_next(&l);
        assert_int_equal(t.kind, TOKEN_END);
        assert_int_equal(t.column, 2);
    }
    lexer_init(&l, NULL, 0);
    assert_int_equal(lexer_next(&l).kind, TOKEN_END);
}

static void invalid_utf8_is_an_error_with_its_column(void **state) {
    (void)state;
    static const char *const CASES[] = {
        "xy\x80",             /* a continuation byte without its first byte */
        "xy\xC0\xAF",         /* overlong '/' */
        "xy\xE0\x80\xAF",     /* overlong '/' in three bytes */
        "xy\xED\xA0\x80",     /* a surrogate */
        "xy\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "xy\xFF",
        "xy\xCE", /* truncated */
        "xy\xE8\xA7",
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        lexer l;
        lexer_init(&l, CASES[i], strlen(CASES[i]));
        assert_int_equal(lexer_next(&l).length, 2);
        token t = lexer_next(&l);
        assert_int_equal(t.kind, TOKEN_ERROR);
        assert_string_equal(t.message, "invalid UTF-8");
        assert_int_equal(t.column, 3);
    }
}

static void control_characters_are_errors(void **state) {
    (void)state;
    static const char TEXT[] = {0, 1, 8, 0x0B, 0x0C, 0x1B, 0x7F};
    for (size_t i = 0; i < sizeof TEXT; i++) assert_int_equal(first_token(TEXT + i, 1).kind, TOKEN_ERROR);
    assert_int_equal(first_token("\xC2\x85", 2).kind, TOKEN_ERROR);
}

static void lookalike_characters_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } CASES[] = {
        {"−1", "minus"},
        {"×2", "*"},
        {"·2", "*"},
        {"² ", "x^2"},
        {"≤1", "<="},
        {"’", "'"},
        {"\xC2\xA0x", "space"},
        {"\xE2\x80\x8Bx", "invisible"},
        {"\xEF\xBB\xBFx", "byte order"},
        {"**", "^"},
        {"&&", "and"},
        {"||", "or"},
        {"!x", "not"},
        {"%2", "mod"},
        {"\"", "apostrophes"},
        {".x", "point"},
        {"$", "no meaning"},
        {";", "no meaning"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        token t = first_token(CASES[i].text, strlen(CASES[i].text));
        assert_int_equal(t.kind, TOKEN_ERROR);
        assert_non_null(strstr(t.message, CASES[i].part));
    }
}

/* For any input bytes, the lexer must continue after errors and reach the end. */
static void reading_any_bytes_reaches_the_end(void **state) {
    (void)state;
    uint32_t seed = 12345;
    for (int round = 0; round < 2000; round++) {
        char text[40];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = (char)(seed >> 24);
        }
        lexer l;
        lexer_init(&l, text, sizeof text);
        size_t tokens = 0;
        while (lexer_next(&l).kind != TOKEN_END) assert_true(++tokens <= sizeof text);
        assert_ptr_equal(l.at, text + sizeof text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_its_token),
        cmocka_unit_test(a_range_is_not_a_decimal_point),
        cmocka_unit_test(numbers_have_the_forms_of_decimal_notation),
        cmocka_unit_test(a_number_is_not_read_beyond_the_end),
        cmocka_unit_test(numbers_without_a_double_are_errors),
        cmocka_unit_test(names_may_be_in_any_script),
        cmocka_unit_test(columns_count_code_points),
        cmocka_unit_test(only_dotted_names_contain_dots),
        cmocka_unit_test(the_end_token_is_repeated),
        cmocka_unit_test(invalid_utf8_is_an_error_with_its_column),
        cmocka_unit_test(control_characters_are_errors),
        cmocka_unit_test(lookalike_characters_are_reported),
        cmocka_unit_test(reading_any_bytes_reaches_the_end),
    };
    return cmocka_run_group_tests_name("lexer", tests, NULL, NULL);
}
