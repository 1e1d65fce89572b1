/* test_strict_json.c — text that RFC 8259 forbids is rejected with its position, and adversarial text takes little
 * time.
 *
 * The first tests use texts that cJSON 1.7.15 accepts. */
#include "api/json/strict_json.h"
#include "api/json/text.h"
#include "engine/base/text_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static cJSON *parse(const char *text, json_fault *fault) {
    json_limits limits = json_limits_default();
    return json_parse(text, strlen(text), &limits, fault);
}

static void expect_fault(const char *text, size_t line, size_t column, const char *part) {
    json_fault fault;
    cJSON *tree = parse(text, &fault);
    if (tree != NULL) {
        cJSON_Delete(tree);
        fail_msg("accepted: %s", text);
    }
    if (strstr(fault.message, part) == NULL) fail_msg("for %s: expected `%s` in `%s`", text, part, fault.message);
    assert_int_equal(fault.line, line);
    assert_int_equal(fault.column, column);
    assert_false(fault.no_memory);
}

static void expect_canonical(const char *text, const char *canonical) {
    json_fault fault;
    cJSON *tree = parse(text, &fault);
    if (tree == NULL) fail_msg("%s: %s", text, fault.message);
    char *printed = json_canonical(tree);
    assert_string_equal(printed, canonical);
    free(printed);
    cJSON_Delete(tree);
}

static void valid_documents_are_read(void **state) {
    (void)state;
    expect_canonical("{}", "{}");
    expect_canonical(" [ ] ", "[]");
    expect_canonical("0", "0");
    expect_canonical("\"\\u00e9\\ud83d\\ude00/\\/\"", "\"\xC3\xA9\xF0\x9F\x98\x80//\"");
    expect_canonical("[1, -0.5, 1e3, 1E-2, true, false, null, \"x\"]", "[1,-0.5,1000,0.01,true,false,null,\"x\"]");
    expect_canonical("{\"b\": {\"d\": 1, \"c\": [{}]}, \"a\": \"\\n\\t\\\"\"}",
                     "{\"a\":\"\\n\\u0009\\\"\",\"b\":{\"c\":[{}],\"d\":1}}");
}

static void leading_zeros_and_incomplete_numbers_are_rejected(void **state) {
    (void)state;
    expect_fault("01", 1, 1, "leading zeros");
    expect_fault("[-00.5]", 1, 2, "leading zeros");
    expect_fault("[1.]", 1, 2, "after its decimal point");
    expect_fault("[1e]", 1, 2, "exponent");
    expect_fault("[1e+]", 1, 2, "exponent");
    expect_fault("-", 1, 1, "not followed by a digit");
    expect_fault(".5", 1, 1, "begin with a digit");
    expect_fault("+1", 1, 1, "begin with a digit");
    expect_fault("0x10", 1, 2, "end of the document");
}

static void numbers_beyond_a_double_are_rejected(void **state) {
    (void)state;
    expect_fault("{\"a\": 1e999}", 1, 7, "too large for a double");
    expect_fault("-1e309", 1, 1, "too large for a double");
    expect_canonical("1e308", "1e+308");
    expect_canonical("1e-999", "0");
    char digits[80] = "0.";
    memset(digits + 2, '1', 62);
    expect_fault(digits, 1, 1, "more than 63 characters");
    digits[63] = '\0';
    expect_canonical(digits, "0.1111111111111111");
}

static void control_characters_in_texts_are_rejected(void **state) {
    (void)state;
    expect_fault("\"a\nb\"", 1, 3, "0x0A");
    expect_fault("[\n \"a\tb\"]", 2, 4, "0x09");
}

static void a_byte_order_mark_is_rejected(void **state) {
    (void)state;
    expect_fault("\xEF\xBB\xBF{}", 1, 1, "byte order mark");
}

static void bytes_that_are_not_utf8_are_rejected(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\"\xFF\"",         "\"\x80\"",         "\"\xC0\xAF\"",         "\"\xC1\x81\"",
        "\"\xE0\x80\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xF8\x88\x80\x80\x80\"",
        "\"\xC3\"",         "\"\xE2\x82\"",
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) expect_fault(bad[k], 1, 2, "UTF-8");
    expect_fault("\xC3\xA9", 1, 1, "expected a value");
    expect_fault("\xFF", 1, 1, "0xFF");
}

static void the_character_nul_is_rejected(void **state) {
    (void)state;
    expect_fault("\"a\\u0000b\"", 1, 3, "U+0000");
    json_limits limits = json_limits_default();
    json_fault fault;
    assert_null(json_parse("[1]\0", 4, &limits, &fault));
    assert_null(json_parse("\"a\0b\"", 5, &limits, &fault));
}

static void half_a_surrogate_pair_is_rejected(void **state) {
    (void)state;
    expect_fault("\"\\ud800\"", 1, 2, "surrogate");
    expect_fault("\"\\udc00\"", 1, 2, "surrogate");
    expect_fault("\"\\ud800\\u0041\"", 1, 2, "surrogate");
    expect_fault("\"\\u12g4\"", 1, 2, "four hexadecimal digits");
    expect_fault("\"\\x41\"", 1, 2, "not an escape sequence");
}

static void duplicate_keys_are_rejected_in_any_spelling(void **state) {
    (void)state;
    expect_fault("{\"a\":1,\n\"a\":2}", 2, 1, "`a` occurs twice");
    expect_fault("{\"a\":1, \"\\u0061\":2}", 1, 9, "`a` occurs twice");
    expect_fault("{\"x\":{\"\":1,\"\":2}}", 1, 12, "occurs twice");
    expect_canonical("[{\"a\":1},{\"a\":{\"a\":2}}]", "[{\"a\":1},{\"a\":{\"a\":2}}]");
}

static void text_after_the_document_is_rejected(void **state) {
    (void)state;
    expect_fault("{\"a\":1} xyz", 1, 9, "end of the document, found `x`");
    expect_fault("[] []", 1, 4, "end of the document");
}

static void broken_structure_is_rejected_with_its_position(void **state) {
    (void)state;
    expect_fault("", 1, 1, "empty");
    expect_fault(" \n ", 2, 2, "empty");
    expect_fault("[1,]", 1, 4, "expected a value, found `]`");
    expect_fault("{\"a\":1,}", 1, 8, "expected a key");
    expect_fault("{\"a\" 1}", 1, 6, "expected `:`");
    expect_fault("{a:1}", 1, 2, "double quotes");
    expect_fault("{'a':1}", 1, 2, "double quotes");
    expect_fault("['a']", 1, 2, "double quotes");
    expect_fault("[1 2]", 1, 4, "expected `,` or `]`");
    expect_fault("[1}", 1, 3, "expected `,` or `]`");
    expect_fault("{\"a\":[1", 1, 8, "the end of the text");
    expect_fault("\"abc", 1, 1, "closing quote");
    expect_fault("[NaN]", 1, 2, "NaN and Infinity");
    expect_fault("[Infinity]", 1, 2, "NaN and Infinity");
    expect_fault("// x\n1", 1, 1, "comments are not allowed");
    expect_fault("[tru]", 1, 2, "expected a value");
    expect_fault("[\"\xCE\xB8\xCE\xB8\", x]", 1, 8, "expected a value, found `x`");
}

static void limits_are_exact(void **state) {
    (void)state;
    json_fault fault;
    json_limits limits = {.bytes = 9, .depth = 2, .nodes = 3};
    cJSON *tree = json_parse("[[1]]    ", 9, &limits, &fault);
    assert_non_null(tree);
    cJSON_Delete(tree);
    assert_null(json_parse("[[1]]     ", 10, &limits, &fault));
    assert_true(fault.too_large);
    assert_null(json_parse("[[[]]]", 6, &limits, &fault));
    assert_true(fault.too_large);
    assert_int_equal(fault.column, 3);
    assert_null(json_parse("[1,2,3]", 7, &limits, &fault));
    assert_true(fault.too_large);
    assert_null(json_parse("[1,2", 4, &limits, &fault));
    assert_false(fault.too_large);
}

/* A text of 1 MiB that consists of a head, a repeated pattern, and a tail. `%d` in the pattern is a counter. */
typedef struct adversary {
    const char *name, *head, *pattern, *tail;
} adversary;

static const adversary adversaries[] = {
    {"deep lists", "", "[", ""},
    {"deep objects", "", "{\"a\":", ""},
    {"wide list", "[1", ",1", "]"},
    {"wide list of empty objects", "[1", ",{}", "]"},
    {"many keys", "{\"z\":1", ",\"%d\":1", "}"},
    {"many long keys with a common beginning", "{\"z\":1", ",\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d\":1", "}"},
    {"many escaped keys", "{\"z\":1", ",\"\\u0061\\u0062%d\":1", "}"},
    {"one long number", "[1", "0", "]"},
    {"many long numbers", "[1", ",0.00000000000000000000000000000000000000000000000000000000001", "]"},
    {"one huge text", "[\"", "a", "\"]"},
    {"a huge text of escapes", "[\"", "\\u00e9", "\"]"},
    {"one huge key", "{\"", "k", "\":1}"},
    {"white space", "[", "\n ", "]"},
    {"many small objects", "[1", ",{\"a\":1,\"b\":2}", "]"},
};

static char *adversarial_body(const adversary *a, size_t size) {
    text_buffer body;
    text_buffer_init(&body, size);
    text_buffer_puts(&body, a->head);
    const char *number = strstr(a->pattern, "%d");
    size_t before = number != NULL ? (size_t)(number - a->pattern) : strlen(a->pattern);
    for (int k = 0; body.length + strlen(a->tail) + strlen(a->pattern) + 16 < size; k++) {
        text_buffer_add(&body, a->pattern, before);
        if (number == NULL) continue;
        text_buffer_printf(&body, "%d", k);
        text_buffer_puts(&body, number + 2);
    }
    text_buffer_puts(&body, a->tail);
    assert_false(body.failed);
    return text_buffer_take(&body, NULL);
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6 + (double)usage.ru_stime.tv_sec +
           (double)usage.ru_stime.tv_usec * 1e-6;
}

/* Factor by which the time limits exceed the limits for the release build. Builds with sanitizers are slower by a
 * factor of less than 10. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double slowdown = 10;
#else
static const double slowdown = 1;
#endif

static void trusted_text_is_read_without_limits(void **state) {
    (void)state;
    char text[202];
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    text[200] = '\0';
    assert_null(json_parse(text, 200, NULL, NULL)); /* deeper than the default limit */
    cJSON *tree = json_parse_trusted(text);
    assert_true(cJSON_IsArray(tree));
    cJSON_Delete(tree);
    assert_null(json_parse_trusted(NULL));
    assert_null(json_parse_trusted("{\"a\":"));
}

/* The depth exceeds the usual depth for which api/json/text.c reserves memory on the stack (USUAL_DEPTH). */
static void documents_beyond_the_usual_depth_are_written_completely(void **state) {
    (void)state;
    enum { DEPTH = 20 };
    text_buffer given, sorted;
    text_buffer_init(&given, 1000);
    text_buffer_init(&sorted, 1000);
    for (int k = 0; k < DEPTH; k++) text_buffer_puts(&given, "{\"b\":[1,");
    for (int k = 0; k < DEPTH; k++) text_buffer_puts(&sorted, "{\"a\":2,\"b\":[1,");
    text_buffer_puts(&given, "[]");
    text_buffer_puts(&sorted, "[]");
    for (int k = 0; k < DEPTH; k++) text_buffer_puts(&given, "],\"a\":2}");
    for (int k = 0; k < DEPTH; k++) text_buffer_puts(&sorted, "]}");
    cJSON *tree = json_parse_trusted(given.bytes);
    assert_non_null(tree);
    char *text = json_text(tree);
    assert_string_equal(text, given.bytes);
    free(text);
    cJSON_Delete(tree);
    expect_canonical(given.bytes, sorted.bytes);
    text_buffer_free(&given);
    text_buffer_free(&sorted);
}

static void adversarial_bodies_are_parsed_in_time(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof adversaries / sizeof adversaries[0]; k++) {
        char *body = adversarial_body(&adversaries[k], (size_t)1024 * 1024);
        json_limits limits = json_limits_default();
        json_fault fault;
        double before = processor_seconds();
        cJSON *tree = json_parse(body, strlen(body), &limits, &fault);
        char *canonical = tree != NULL ? json_canonical(tree) : NULL;
        double taken = processor_seconds() - before;
        free(canonical);
        cJSON_Delete(tree);
        free(body);
        if (taken > 0.5 * slowdown) fail_msg("%s: %.3f s", adversaries[k].name, taken);
        if (getenv("HAMEL_TEST_VERBOSE") != NULL) print_message("%-45s %.3f s\n", adversaries[k].name, taken);
    }
}

static void equal_documents_have_one_canonical_form(void **state) {
    (void)state;
    expect_canonical("{\"b\":1.0,\"a\":[1e2,\"\\u0041\"]}", "{\"a\":[100,\"A\"],\"b\":1}");
    expect_canonical("{ \"a\" : [100, \"A\"], \"b\" : 10e-1 }", "{\"a\":[100,\"A\"],\"b\":1}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_documents_are_read),
        cmocka_unit_test(leading_zeros_and_incomplete_numbers_are_rejected),
        cmocka_unit_test(numbers_beyond_a_double_are_rejected),
        cmocka_unit_test(control_characters_in_texts_are_rejected),
        cmocka_unit_test(a_byte_order_mark_is_rejected),
        cmocka_unit_test(bytes_that_are_not_utf8_are_rejected),
        cmocka_unit_test(the_character_nul_is_rejected),
        cmocka_unit_test(half_a_surrogate_pair_is_rejected),
        cmocka_unit_test(duplicate_keys_are_rejected_in_any_spelling),
        cmocka_unit_test(text_after_the_document_is_rejected),
        cmocka_unit_test(broken_structure_is_rejected_with_its_position),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(trusted_text_is_read_without_limits),
        cmocka_unit_test(documents_beyond_the_usual_depth_are_written_completely),
        cmocka_unit_test(adversarial_bodies_are_parsed_in_time),
        cmocka_unit_test(equal_documents_have_one_canonical_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
