/* test_series.c — engine/analyze/series.c against series that are known in closed form. */
#include "engine/analyze/series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { VARIABLES = 3, ORDER = 5, COUNT = 56 }; /* 8 over 3 */

static void open_space(series_space *s, arena *memory) {
    arena_init(memory, 0);
    assert_true(series_space_init(s, VARIABLES, ORDER, memory));
    assert_int_equal(s->count, COUNT);
}

static double factorial(size_t n) {
    return n < 2 ? 1 : (double)n * factorial(n - 1);
}

/* exp(a·x): Π a_v^k_v / k_v! */
static void exponential(const series_space *s, const double *a, double *to) {
    for (size_t i = 0; i < s->count; i++) {
        to[i] = 1;
        for (size_t v = 0; v < VARIABLES; v++) {
            size_t k = s->exponent[i * VARIABLES + v];
            to[i] *= pow(a[v], (double)k) / factorial(k);
        }
    }
}

static void expect_series(const double *x, const double *y, size_t count) {
    for (size_t i = 0; i < count; i++) assert_true(fabs(x[i] - y[i]) <= 1e-13); /* coefficients of the size of 1 */
}

/* exp(a·x) exp(b·x) = exp((a + b)·x) */
static void products_of_exponentials_add_their_exponents(void **state) {
    (void)state;
    series_space s;
    arena memory;
    double a[] = {0.7, -0.4, 1.1}, b[] = {-0.2, 0.9, 0.3}, both[] = {0.5, 0.5, 1.4};
    double x[COUNT], y[COUNT], wanted[COUNT], found[COUNT] = {0};
    open_space(&s, &memory);
    exponential(&s, a, x);
    exponential(&s, b, y);
    exponential(&s, both, wanted);
    series_add_product(&s, found, 2, x, y);
    for (size_t i = 0; i < COUNT; i++) found[i] /= 2;
    expect_series(found, wanted, COUNT);
    arena_free(&memory);
}

/* 1/exp(a·x) = exp(−a·x) */
static void the_inverse_of_an_exponential_has_the_negative_exponent(void **state) {
    (void)state;
    series_space s;
    arena memory;
    double a[] = {0.7, -0.4, 1.1}, negative[] = {-0.7, 0.4, -1.1}, x[COUNT], wanted[COUNT], found[COUNT];
    open_space(&s, &memory);
    exponential(&s, a, x);
    exponential(&s, negative, wanted);
    series_invert(&s, x, found);
    expect_series(found, wanted, COUNT);
    arena_free(&memory);
}

/* ∂exp(a·x)/∂x_v = a_v exp(a·x), but for the terms of the highest degree. */
static void an_exponential_is_its_own_derivative(void **state) {
    (void)state;
    series_space s;
    arena memory;
    double a[] = {0.7, -0.4, 1.1}, x[COUNT], found[COUNT];
    open_space(&s, &memory);
    exponential(&s, a, x);
    for (size_t v = 0; v < VARIABLES; v++) {
        series_partial(&s, x, v, found);
        for (size_t i = 0; i < COUNT; i++) found[i] /= a[v];
        expect_series(found, x, s.within[ORDER - 1]);
    }
    arena_free(&memory);
}

static void what_is_too_long_is_refused(void **state) {
    (void)state;
    series_space s;
    arena memory;
    arena_init(&memory, 0);
    assert_false(series_space_init(&s, 30, 5, &memory));    /* 324632 coefficients */
    assert_false(series_space_init(&s, 1, 10000, &memory)); /* 10001 */
    assert_true(series_space_init(&s, 0, 5, &memory));      /* constants */
    assert_int_equal(s.count, 1);
    arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_exponentials_add_their_exponents),
        cmocka_unit_test(the_inverse_of_an_exponential_has_the_negative_exponent),
        cmocka_unit_test(an_exponential_is_its_own_derivative),
        cmocka_unit_test(what_is_too_long_is_refused),
    };
    return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
