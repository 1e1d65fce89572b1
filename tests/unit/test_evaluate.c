/* test_evaluate.c — engine/graph/evaluate.c: values at a point and strict bounds on their errors. */
#include "tests/unit/fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct outcome {
    double value, error;
} outcome;

/* Evaluates an expression in x, y and x' at x = 3, y = 0.1, x' = 2, with the error `error` in the coordinates. */
static outcome evaluate(const char *text, double error) {
    fixture f;
    fixture_open(&f, "`coordinates`: [`x`, `y`], `kinetic_energy`: `x'^2 + y'^2`,"
                     "`tables`: {`T`: {`x`: [0, 2, 4], `y`: [1, 5, 7]}}");
    const double q[] = {3, 0.1}, v[] = {2, 0};
    graph_point at = {{0}, {0}, {0}};
    graph_node node = fixture_node(&f, text);
    at.values[SYMBOL_COORDINATE] = q;
    at.values[SYMBOL_VELOCITY] = v;
    at.error[SYMBOL_COORDINATE] = error;
    double *value = calloc(2 * ((size_t)node + 1), sizeof *value);
    assert_true(node >= 0 && value != NULL);
    graph_evaluate(f.system->graph, node, &at, value, value + node + 1);
    outcome o = {value[node], value[2 * node + 1]};
    free(value);
    fixture_close(&f);
    return o;
}

static void every_operator_has_its_value(void **state) {
    (void)state;
    assert_near("product", evaluate("x*x' + y", 0).value, 6.1, 1e-15);
    assert_near("function", evaluate("sin(x)^2 - if(x > 2, 1, 0)", 0).value, sin(3) * sin(3) - 1, 1e-15);
    assert_near("table", evaluate("table(T, x)", 0).value, 6, 1e-15);
    assert_near("derivative of a table", evaluate("der(table(T, x))", 0).value, 2, 1e-15);
}

static void cancellation_is_within_the_bound(void **state) {
    (void)state;
    outcome o = evaluate("sin(x)^2 + cos(x)^2 - 1", 0);
    assert_true(fabs(o.value) <= o.error);
    assert_true(o.error < 1e-14);
    o = evaluate("(1e8 + y)*(1e8 - y) + y*y - 1e16", 0);
    assert_true(fabs(o.value) <= o.error);
    assert_true(o.error > 1 && o.error < 100);
}

/* |∂/∂x x²| · 3e-6 = 18e-6 */
static void errors_of_symbols_are_propagated(void **state) {
    (void)state;
    outcome o = evaluate("x^2", 1e-6);
    assert_near("error", 1e6 * o.error, 18, 1e-5);
    assert_true(evaluate("x'^2", 1e-6).error < 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_its_value),
        cmocka_unit_test(cancellation_is_within_the_bound),
        cmocka_unit_test(errors_of_symbols_are_propagated),
    };
    return cmocka_run_group_tests_name("evaluate", tests, NULL, NULL);
}
