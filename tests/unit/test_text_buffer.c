/* Tests of engine/base/text_buffer.c. */
#include "engine/base/random.h"
#include "engine/base/text_buffer.h"
#include "tests/unit/random.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void appended_text_is_in_order_and_terminated(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 1000);
    assert_null(b.bytes);
    text_buffer_puts(&b, "t,");
    text_buffer_add(&b, "theta,x", 6);
    text_buffer_printf(&b, "%s[%d]", "q", 3);
    assert_string_equal(b.bytes, "t,theta,q[3]");
    assert_int_equal(b.length, 12);
    text_buffer_free(&b);
    assert_null(b.bytes);
}

static void exactly_the_maximum_fits(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 10);
    text_buffer_puts(&b, "0123456789");
    assert_false(b.failed);
    assert_string_equal(b.bytes, "0123456789");
    text_buffer_puts(&b, "");
    assert_false(b.failed);
    text_buffer_puts(&b, "x");
    assert_true(b.failed);
    assert_null(b.bytes);
    assert_int_equal(b.length, 0);
    text_buffer_free(&b);
}

static void a_failed_buffer_ignores_further_text(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 4);
    text_buffer_printf(&b, "%d", 12345);
    text_buffer_puts(&b, "a");
    text_buffer_printf(&b, "%d", 1);
    text_buffer_number(&b, 2.5);
    assert_true(b.failed);
    assert_null(text_buffer_take(&b, NULL));
    text_buffer_reset(&b);
    text_buffer_puts(&b, "abcd");
    assert_false(b.failed);
    assert_string_equal(b.bytes, "abcd");
    text_buffer_free(&b);
}

static void a_long_formatted_text_is_complete(void **state) {
    (void)state;
    char text[3000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text_buffer b;
    text_buffer_init(&b, 100000);
    text_buffer_printf(&b, "<%s>", text);
    assert_int_equal(b.length, sizeof text + 1);
    assert_int_equal(b.bytes[0], '<');
    assert_int_equal(b.bytes[b.length - 1], '>');
    text_buffer_free(&b);
}

static void a_reset_buffer_keeps_its_memory(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 1000);
    text_buffer_puts(&b, "first");
    const char *bytes = b.bytes;
    text_buffer_reset(&b);
    assert_string_equal(b.bytes, "");
    text_buffer_puts(&b, "2nd");
    assert_ptr_equal(b.bytes, bytes);
    assert_string_equal(b.bytes, "2nd");
    text_buffer_free(&b);
}

static void taken_bytes_belong_to_the_caller(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 1000);
    text_buffer_puts(&b, "abc");
    size_t length = 0;
    char *bytes = text_buffer_take(&b, &length);
    assert_string_equal(bytes, "abc");
    assert_int_equal(length, 3);
    assert_null(b.bytes);
    assert_int_equal(b.length, 0);
    text_buffer_puts(&b, "def");
    assert_string_equal(b.bytes, "def");
    free(bytes);
    text_buffer_free(&b);
}

static const char *number_text(text_buffer *b, double value) {
    text_buffer_reset(b);
    text_buffer_number(b, value);
    return b->bytes;
}

static void numbers_have_the_fewest_digits_that_read_back(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 100);
    assert_string_equal(number_text(&b, 0.0), "0");
    assert_string_equal(number_text(&b, -0.0), "-0");
    assert_string_equal(number_text(&b, 0.1), "0.1");
    assert_string_equal(number_text(&b, -2.5), "-2.5");
    assert_string_equal(number_text(&b, 100.0), "100");
    assert_string_equal(number_text(&b, 0.1 + 0.2), "0.30000000000000004");
    assert_string_equal(number_text(&b, 1.0 / 3.0), "0.3333333333333333");
    assert_string_equal(number_text(&b, DBL_MAX), "1.7976931348623157e+308");
    assert_string_equal(number_text(&b, 0x1p-1074), "5e-324"); /* the smallest subnormal number */
    text_buffer_free(&b);
}

static void every_finite_number_reads_back(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 100);
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_bits(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        double back = strtod(number_text(&b, value), NULL);
        assert_memory_equal(&back, &value, sizeof value);
        assert_in_range(b.length, 1, 24);
    }
    text_buffer_free(&b);
}

/* Prints `value` with the fewest of 15 to 17 digits from which strtod returns the same value. Subnormal numbers may
 * have fewer than 15 digits. */
static void print_and_read(char text[40], double value) {
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, 40, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

/* If strtod does not return the value from the nearest decimal with 16 digits, it may return the value from another
 * decimal with 16 digits. Then the text is shorter than the text of printf. */
static void numbers_have_the_layout_of_printf(void **state) {
    (void)state;
    text_buffer b;
    text_buffer_init(&b, 100);
    uint64_t seed = 7;
    int shorter = 0;
    for (int i = 0; i < 60000; i++) {
        char expected[40];
        double value = random_uniform(&seed, -1, 1) * pow(10, (int)random_uniform(&seed, -20, 25));
        if (i % 3 == 0) value = round(value * 1000) / 1000;
        if (i % 100 == 1) value *= 1e-300;
        print_and_read(expected, value);
        if (strcmp(number_text(&b, value), expected) == 0) continue;
        assert_in_range(b.length, 1, strlen(expected) - 1);
        shorter++;
    }
    assert_in_range(shorter, 0, 600);
    for (int power = -330; power <= 308; power++) {
        char expected[40];
        print_and_read(expected, pow(10, power));
        assert_string_equal(number_text(&b, pow(10, power)), expected);
    }
    text_buffer_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_text_is_in_order_and_terminated),
        cmocka_unit_test(exactly_the_maximum_fits),
        cmocka_unit_test(a_failed_buffer_ignores_further_text),
        cmocka_unit_test(a_long_formatted_text_is_complete),
        cmocka_unit_test(a_reset_buffer_keeps_its_memory),
        cmocka_unit_test(taken_bytes_belong_to_the_caller),
        cmocka_unit_test(numbers_have_the_fewest_digits_that_read_back),
        cmocka_unit_test(every_finite_number_reads_back),
        cmocka_unit_test(numbers_have_the_layout_of_printf),
    };
    return cmocka_run_group_tests_name("text_buffer", tests, NULL, NULL);
}
