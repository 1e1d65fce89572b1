/* test_identity.c — engine/algebra/identity.c: expressions that vanish identically are distinguished from those that
 * only nearly vanish. */
#include "engine/algebra/arrange.h"
#include "engine/algebra/identity.h"
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const names =
    "`parameters`: {`m`: 2, `M`: 3, `l`: 0.7, `r`: 0.4}, `coordinates`: [`x`, `y`, `a`, `b`, `c`],"
    "`kinetic_energy`: `x'^2 + y'^2 + a'^2 + b'^2 + c'^2`";

enum { MOST = 40 };

static void check(const char *const *texts, size_t count, bool expected) {
    fixture f;
    graph_node nodes[MOST];
    bool zero[MOST];
    fixture_open(&f, names);
    assert_true(count <= MOST);
    for (size_t k = 0; k < count; k++) nodes[k] = fixture_node(&f, texts[k]);
    assert_true(identity_find_zeros(f.system->graph, nodes, count, zero, &f.memory));
    for (size_t k = 0; k < count; k++) {
        if (zero[k] != expected) print_error("%s is%s 0\n", texts[k], expected ? " not" : "");
        assert_int_equal(zero[k], expected);
    }
    fixture_close(&f);
}

/* Identities, among them Abramowitz & Stegun 4.3.10, 4.3.16, 4.3.17, 4.3.24 and 4.3.27. */
static const char *const zeros[] = {
    "(x + y)^2 - x^2 - 2*x*y - y^2",
    "x/(y*(x + y)) - 1/y + 1/(x + y)",
    "(x - y)^-3*(x - y)^4 - x + y",
    "(0.1*x + 0.2*y)*(x + y) - (x^2 + 3*x*y + 2*y^2)/10",
    "x/3 + x/3 + x/3 - x",
    "1e300*x*1e-300 - x",
    "sin(a)^2 + cos(a)^2 - 1",
    "sin(a + b) - sin(a)*cos(b) - cos(a)*sin(b)",
    "cos(a - b + c) - cos(b - c - a)",
    "sin(2*a) - 2*sin(a)*cos(a)",
    "sin(3*a) - 3*sin(a) + 4*sin(a)^3",
    "cos(a) - 1 + 2*sin(a/2)^2",
    "cos(a/3)^3*4 - 3*cos(a/3) - cos(a)",
    "sin(1.7*a + 0.3) + sin(-0.3 - 1.7*a)",
    "sin(m*(a + b)) - sin(m*a)*cos(m*b) - cos(m*a)*sin(b*m)",
    "tan(a)*cos(a) - sin(a)",
    "sin(x*y*a) - sin(a*y*x)",
    "sqrt(x^2 + y^2)^2 - x^2 - y^2",
    "1/sqrt(x) - sqrt(x)/x",
    "sqrt(x)*sqrt(y)*sqrt(r)*sqrt(l)/(r*l) - sqrt(y)*sqrt(x)/(sqrt(r)*sqrt(l))",
    "exp(x + y) - exp(y + x)",
    "abs(x^2 - y^2) - abs((x - y)*(x + y))",
    "if(x > 0, sin(a)^2, 2) - if(x > 0, 1 - cos(a)^2, 2)",
    "x''*(m + M) - m*x'' - M*x''",
};

static const char *const others[] = {
    "x",
    "x - y",
    "1e-300*x",
    "1e-14*x + x - x*1",
    "x*(1/3) - 0.3333333333*x",
    "(x + y)^2 - x^2 - y^2",
    "sin(a)^2 + cos(a)^2 - 1.0000000000001",
    "sin(a)^2 + cos(b)^2 - 1",
    "sin(a + b) - sin(a)*cos(b) + cos(a)*sin(b)",
    "sin(2*a) - sin(2.0000001*a)",
    "sin(1.41421356*a) - 1.41421356*sin(a)",
    "sqrt(x^2) - x",
    "sqrt(x)*sqrt(y) - sqrt(x + y)",
    "max(0, x - 100)",
    "if(x > 100, x, 0)",
    "abs(x) - x",
    "exp(x) - 1 - x",
    "(x - y)^2000 - (x + y)^2000",
    "1/(x - x + 0*y)",
};

static void identities_are_found(void **state) {
    (void)state;
    check(zeros, sizeof zeros / sizeof *zeros, true);
}

static void an_expression_that_differs_from_zero_at_any_point_is_not_zero(void **state) {
    (void)state;
    check(others, sizeof others / sizeof *others, false);
}

static void each_of_many_is_decided_alone(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof zeros / sizeof *zeros; k++) {
        check(&zeros[k], 1, true);
        char text[300];
        snprintf(text, sizeof text, "%s + 1e-20*x", zeros[k]);
        check((const char *const[]){text}, 1, false);
    }
    check(NULL, 0, true);
}

/* arrange() must return an expression equal to its argument. */
static void forms_of_one_value_are_equal(void **state) {
    (void)state;
    static const char *const texts[] = {
        "m*(x'*sin(a) - y'*cos(a))^2 + m*(x'*cos(a) + y'*sin(a))^2",
        "(4*sin(a)^2 - 5)^2*x''/(4*cos(a)^2 + 1)^2",
        "(m*sin(a)^2 + M*sin(b) + l)*y''*x/(l + m - m*cos(a)^2 + M*sin(b))^2",
        "(cos(a)*cos(b) - sin(a)*sin(b))*x'' + sin(a + b - c)*cos(c)*y''",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        fixture f;
        bool zero = false;
        fixture_open(&f, names);
        graph_node node = fixture_node(&f, texts[k]), other = arrange(f.system->graph, node, &f.memory);
        graph_node difference = graph_literal(f.system->graph, GRAPH_SUB, node, other);
        assert_true(identity_find_zeros(f.system->graph, &difference, 1, &zero, &f.memory));
        assert_true(zero);
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_are_found),
        cmocka_unit_test(an_expression_that_differs_from_zero_at_any_point_is_not_zero),
        cmocka_unit_test(each_of_many_is_decided_alone),
        cmocka_unit_test(forms_of_one_value_are_equal),
    };
    return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
