/* test_arrange.c — engine/algebra: expressions are arranged as in a textbook, with unchanged values. */
#include "engine/algebra/arrange.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names = "`parameters`: {`m`: 2, `M`: 3, `l`: 0.7, `g`: 9.81, `r`: 0.4, `J`: 0.3},"
                                 "`coordinates`: [`x`, `y`, `a`, `b`], `kinetic_energy`: `x'^2 + y'^2 + a'^2 + b'^2`";

static void text_of(fixture *f, graph_node node, text_buffer *out) {
    text_buffer_init(out, 100000);
    graph_print(f->system->graph, node, system_name_symbol, f->system, out);
    assert_false(out->failed);
}

static void assert_same_value(fixture *f, graph_node x, graph_node y) {
    uint64_t seed = 11;
    for (int k = 0; k < 5; k++) {
        double t, q[4], v[4], a[4];
        random_fill(&seed, &t, 1, -2, 2);
        random_fill(&seed, q, 4, -2, 2);
        random_fill(&seed, v, 4, -2, 2);
        random_fill(&seed, a, 4, -2, 2);
        program_inputs in = {{f->system->parameter_values, &t, q, v, a, NULL, NULL, NULL, NULL}};
        assert_near("arranged", fixture_value(f->system->graph, y, &in), fixture_value(f->system->graph, x, &in),
                    1e-11);
    }
}

static void assert_arranged(const char *from, const char *expected) {
    fixture f;
    text_buffer text;
    fixture_open(&f, names);
    graph_node node = fixture_node(&f, from), result = arrange(f.system->graph, node, &f.memory);
    assert_true(result >= 0);
    text_of(&f, result, &text);
    assert_string_equal(text.bytes, expected);
    assert_same_value(&f, node, result);
    text_buffer_free(&text);
    fixture_close(&f);
}

static void terms_are_collected_by_coordinates(void **state) {
    (void)state;
    assert_arranged("m*l*x'' + M*l*x'' - m*g*sin(x)", "(m + M)*l*x'' - m*g*sin(x)");
    assert_arranged("x*(x' + y')*x' - y'*x*x'", "x*x'^2");
}

/* The sums and products of these coefficients overflow a double, so the expression must stay unchanged. */
static void coefficients_beyond_a_double_are_left_alone(void **state) {
    (void)state;
    static const char *const texts[] = {"1e308*x'' + 1e308*x''", "1e308*(m*1e308*x'')", "1e-300*m*(1e-300*x'' + y)",
                                        "sin(1e308*a + 1e308*a)", "x''/(1e-308*m*1e-308)"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        fixture f;
        fixture_open(&f, names);
        graph_node node = fixture_node(&f, texts[k]);
        text_buffer text;
        assert_true(node >= 0);
        assert_int_equal(arrange(f.system->graph, node, &f.memory), node);
        text_of(&f, node, &text);
        text_buffer_free(&text);
        fixture_close(&f);
    }
}

static void squares_of_sine_and_cosine_are_combined(void **state) {
    (void)state;
    assert_arranged("m*(x'*sin(a) - y'*cos(a))^2 + m*(x'*cos(a) + y'*sin(a))^2", "m*x'^2 + m*y'^2");
    assert_arranged("(J*sin(a)^2 + J*cos(a)^2 + m*r^2)*a'' + 0.5*m*r^2*a''", "(3*m*r^2 + 2*J)*a''/2");
    assert_arranged("x'/(1 - sin(a)^2) + y'/cos(a)", "x'/cos(a)^2 + y'/cos(a)");
    assert_arranged("1 - sin(a)^2 - cos(a)^2", "0");
}

/* The result must be the equivalent form with the fewest terms. If several forms have the fewest terms, it must be the
 * form with the fewest factors. */
static void even_powers_take_their_shortest_form(void **state) {
    (void)state;
    assert_arranged("(2*cos(a)^2 + sin(a)^2)*x''", "(cos(a)^2 + 1)*x''");
    assert_arranged("(6*cos(a)^2 + sin(a)^2)*x''", "(5*cos(a)^2 + 1)*x''");
    assert_arranged("(cos(a)^4 - 2*cos(a)^2 + 1)*x''", "sin(a)^4*x''");
    assert_arranged("m*cos(b)^2 - m*sin(a)^2*cos(b)^2", "m*cos(a)^2*cos(b)^2");
    assert_arranged("(1 + cos(a))*(1 - cos(a))*x''", "sin(a)^2*x''");
    assert_arranged("(1 + cos(a))^2*x''", "(cos(a) + 1)^2*x''");
}

/* Papastavridis 2.13.7, the squared momentum of the disk's rotation. Without sin² + cos² = 1, its numerator and
 * denominator do not cancel. */
static void quotients_cancel_by_sine_and_cosine(void **state) {
    (void)state;
    assert_arranged("(4*sin(a)^2 - 5)^2*x''/(4*cos(a)^2 + 1)^2", "x''");
    assert_arranged("(4*sin(a)^2 - 5)*x''/(4*cos(a)^2 + 1)^2", "-x''/(4*cos(a)^2 + 1)");
    /* numerators that are multiples of the denominator only because sin² + cos² = 1, and one that is not a multiple */
    assert_arranged("(cos(a)^2*cos(b)^2*m - sin(a)*sin(b)*cos(a)*cos(b)*m^2 - sin(a)*sin(b)*cos(a)*cos(b)"
                    " + (1 - cos(a)^2)*(1 - cos(b)^2)*m)*x''/(cos(a)*cos(b) - sin(a)*sin(b)*m)",
                    "(m*cos(a)*cos(b) - sin(a)*sin(b))*x''");
    assert_arranged("(1 + 2*sin(a)*cos(a))*x''/(sin(a) + cos(a))", "(cos(a) + sin(a))*x''");
    assert_arranged("(sin(a)*cos(b) + 1)*x''/(sin(a) + cos(b))", "(sin(a)*cos(b) + 1)*x''/(cos(b) + sin(a))");
    assert_arranged("x''*sin(a)^2/(1 + cos(a))", "(1 - cos(a))*x''");
    assert_arranged("(m*sin(a)^2 + M*sin(b) + J)*y''*x/(J + m - m*cos(a)^2 + M*sin(b))^2",
                    "x*y''/(m*sin(a)^2 + M*sin(b) + J)");
}

/* Textbook forms are (m1 + m2) l² instead of m1 l² + m2 l², and differences that start with a positive term. */
static void parameters_are_collected(void **state) {
    (void)state;
    assert_arranged("m*l*x'' + M*l*x'' - J*sin(a)*cos(a)*a' + m*sin(a)*cos(a)*a'",
                    "(m + M)*l*x'' + (m - J)*sin(a)*cos(a)*a'");
    assert_arranged("-g*(m*l*cos(a) + M*l*cos(a) + M*r*cos(b))", "-(m + M)*l*g*cos(a) - M*g*r*cos(b)");
    assert_arranged("x*((r*t)^2*cos(a) + 2*r*t*J*cos(a) + J^2*cos(a) + g)", "x*((r*t + J)^2*cos(a) + g)");
    assert_arranged("x''/(9*m*cos(a)^2 - 4*M - J)", "-x''/(4*M + J - 9*m*cos(a)^2)");
    assert_arranged("m*l*(l^2 + r^2)*x''", "m*l*(l^2 + r^2)*x''");
}

/* If the expanded sum has as many terms as all factors together, the product is kept. */
static void products_stay_products(void **state) {
    (void)state;
    assert_arranged("(sin(a)*cos(b) + cos(a)*sin(b)/2)*(cos(a)*cos(b) - sin(a)*sin(b)/2)*x'",
                    "(sin(b)*cos(a) + 2*sin(a)*cos(b))*(2*cos(a)*cos(b) - sin(a)*sin(b))*x'/4");
    assert_arranged("(y + sqrt(x^2+y^2))^2*x'/sqrt(x^2 + y^2)^2 + cos(t)",
                    "(sqrt(x^2 + y^2) + y)^2*x'/(x^2 + y^2) + cos(t)");
}

static void a_product_in_an_angle_has_no_order(void **state) {
    (void)state;
    assert_arranged("sin(x*m - m*x + y)*a'", "sin(y)*a'");
    assert_arranged("sin(a*cos(b)*r)^2*a' + cos(r*a*cos(b))^2*a'", "a'");
}

static void sums_of_angles_are_combined(void **state) {
    (void)state;
    assert_arranged("m*l^2*(cos(a)*cos(b) + sin(a)*sin(b))*x''", "m*l^2*cos(a - b)*x''");
    assert_arranged("m*l*(sin(2*a)*cos(a) - cos(2*a)*sin(a))*x'", "m*l*sin(a)*x'");
    assert_arranged("m*(l*cos(a)*a' + r*cos(a+b)*(a'+b'))^2 + m*(l*sin(a)*a' + r*sin(a+b)*(a'+b'))^2",
                    "m*(2*l*r*cos(b) + l^2 + r^2)*a'^2 + 2*m*r*(l*cos(b) + r)*a'*b' + m*r^2*b'^2");
}

static void roots_quotients_and_numbers_stay_exact(void **state) {
    (void)state;
    assert_arranged("sqrt(x^2+y^2)*x' + x'/sqrt(x^2+y^2)", "(x^2 + y^2 + 1)*x'/sqrt(x^2 + y^2)");
    assert_arranged("0.4*m*r^2*x'' + 9.81*m*sin(pi*t) + tan(a)*cos(a)*y'",
                    "2*m*r^2*x''/5 + sin(a)*y' + 9.81*m*sin(pi*t)");
    assert_arranged("(m + M)*(x+y)^2/(x+y)", "(m + M)*(x + y)");
    assert_arranged("(1/3)*m*l^2*x'' + m*r^2*x''",
                    "m*(l^2 + 3*r^2)*x''/3"); /* 1/3 becomes a double when the text is parsed */
    assert_arranged("x/3 + x/6 - x/2", "0");  /* computed with fractions, not with the nearest doubles */
}

/* Expressions beyond the size limits stay unchanged: the expansion of this product has more than 2^40 terms. */
static void long_expressions_are_left_unchanged(void **state) {
    (void)state;
    fixture f;
    char text[2000] = "1";
    for (int k = 0; k < 40; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "*(x + y + sin(a*%d))", k + 2);
    fixture_open(&f, names);
    graph_node node = fixture_node(&f, text);
    assert_true(node >= 0);
    assert_int_equal(arrange(f.system->graph, node, &f.memory), node);
    fixture_close(&f);
}

/* The point (x, y, a) moves on a sphere of radius l and in a plane that is rotated by b about the a axis. The first
 * simplification needs both conditions. */
static void conditions_are_used(void **state) {
    (void)state;
    fixture f;
    text_buffer text;
    fixture_open(&f, names);
    graph_node zero[] = {fixture_node(&f, "x^2 + y^2 + a^2 - l^2"), fixture_node(&f, "y*cos(b) - x*sin(b)")};
    graph_node node = fixture_node(&f, "((x*cos(b) + y*sin(b))^2 + a^2)*x'' + (x*sin(b) - y*cos(b))*y'' + x*b''");
    text_of(&f, arrange_where(f.system->graph, node, zero, 2, NULL, &f.memory), &text);
    assert_string_equal(text.bytes, "l^2*x'' + x*b''");
    text_buffer_free(&text);
    graph_node rod = fixture_node(&f, "sqrt(x^2 + y^2) - l");
    node = fixture_node(&f, "(x^2 + y^2)*x'' + y*y''/sqrt(x^2 + y^2)");
    text_of(&f, arrange_where(f.system->graph, node, &rod, 1, NULL, &f.memory), &text);
    assert_string_equal(text.bytes, "l^2*x'' + y*y''/l");
    text_buffer_free(&text);
    fixture_close(&f);
}

/* The result may contain an angle that does not occur in the input. For example, the wheels of a snakeboard have the
 * angles x + a and x + b. */
static void angles_between_sums_are_found(void **state) {
    (void)state;
    assert_arranged("cos(x + a)*cos(a - b) + sin(x + a)*sin(a - b)", "cos(x + b)");
    assert_arranged("cos(x + b)*cos(a - b) - sin(x + b)*sin(a - b)", "cos(x + a)");
    assert_arranged("sin(x + a)*cos(x + b) - cos(x + a)*sin(x + b)", "sin(a - b)");
}

/* Each call arranges the same expression and costs the same work. After the work budget is spent, the expression stays
 * unchanged. */
static void one_work_budget_serves_many_expressions(void **state) {
    (void)state;
    const uint64_t plenty = 1000000;
    fixture f;
    fixture_open(&f, names);
    graph_node node = fixture_node(&f, "m*(x'*sin(a) - y'*cos(a))^2 + m*(x'*cos(a) + y'*sin(a))^2");
    graph_node expected = arrange(f.system->graph, node, &f.memory);
    assert_int_not_equal(node, expected);
    work_budget e = {.left = plenty};
    assert_int_equal(arrange_within(f.system->graph, node, &e, &f.memory), expected);
    assert_false(e.spent);
    uint64_t once = plenty - e.left;
    assert_true(once > 0);
    e.left = 2 * once;
    assert_int_equal(arrange_within(f.system->graph, node, &e, &f.memory), expected);
    assert_int_equal(e.left, once);
    assert_int_equal(arrange_within(f.system->graph, node, &e, &f.memory), expected);
    assert_int_equal(e.left, 0);
    assert_false(e.spent);
    assert_int_equal(arrange_within(f.system->graph, node, &e, &f.memory), node);
    assert_true(e.spent);
    e = (work_budget){.left = once - 1};
    assert_int_equal(arrange_within(f.system->graph, node, &e, &f.memory), node);
    assert_true(e.spent);
    fixture_close(&f);
}

static bool leaves_at_the_third_call(void *context) {
    return ++*(int *)context >= 3;
}

static void canceled_work_stops(void **state) {
    (void)state;
    int calls = 0;
    fixture f;
    fixture_open(&f, names);
    graph_node node = fixture_node(&f, "m*(x'*sin(a) - y'*cos(a))^2 + m*(x'*cos(a) + y'*sin(a))^2");
    work_budget e = {.left = UINT64_MAX, .interrupted = leaves_at_the_third_call, .context = &calls};
    assert_int_equal(arrange_within(f.system->graph, node, &e, &f.memory), node);
    assert_int_equal(calls, 3);
    assert_int_equal(e.left, 0);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_collected_by_coordinates),
        cmocka_unit_test(coefficients_beyond_a_double_are_left_alone),
        cmocka_unit_test(squares_of_sine_and_cosine_are_combined),
        cmocka_unit_test(even_powers_take_their_shortest_form),
        cmocka_unit_test(quotients_cancel_by_sine_and_cosine),
        cmocka_unit_test(parameters_are_collected),
        cmocka_unit_test(products_stay_products),
        cmocka_unit_test(a_product_in_an_angle_has_no_order),
        cmocka_unit_test(sums_of_angles_are_combined),
        cmocka_unit_test(roots_quotients_and_numbers_stay_exact),
        cmocka_unit_test(conditions_are_used),
        cmocka_unit_test(long_expressions_are_left_unchanged),
        cmocka_unit_test(angles_between_sums_are_found),
        cmocka_unit_test(one_work_budget_serves_many_expressions),
        cmocka_unit_test(canceled_work_stops),
    };
    return cmocka_run_group_tests_name("arrange", tests, NULL, NULL);
}
