/* test_integrate.c — engine/algebra/integrate.c: antiderivatives are checked by differentiation, and integrands without
 * a rule are not integrated. */
#include "engine/algebra/integrate.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 3 };

static const char *const names = "`parameters`: {`m`: 2, `l`: 0.7, `k`: 1.3}, `coordinates`: [`x`, `y`, `z`],"
                                 "`kinetic_energy`: `x'^2 + y'^2 + z'^2`";

static void assert_same_value(fixture *f, const char *what, graph_node node, graph_node expected) {
    uint64_t seed = 3;
    for (int k = 0; k < 5; k++) {
        double t, q[VARIABLES], v[VARIABLES] = {0};
        random_fill(&seed, &t, 1, 0.5, 1.5);
        random_fill(&seed, q, VARIABLES, 0.5, 1.5);
        program_inputs in = {{f->system->parameter_values, &t, q, v, v, NULL, NULL, NULL, NULL}};
        double value = fixture_value(f->system->graph, expected, &in);
        assert_near(what, fixture_value(f->system->graph, node, &in), value, 1e-11);
    }
}

static void the_derivative_of_the_antiderivative_is_the_integrand(void **state) {
    (void)state;
    static const char *const expressions[] = {
        "0",
        "m*y",
        "x^3 - 2*x/l + 1/x",
        "sin(k*x + y)*m - cos(2*x)/l",
        "x*sqrt(x^2 + y^2) + x/sqrt(l + x^2)",
        "x*hypot(x, y)^3 + x/hypot(x, y)^2",
        "sin(x)^3*cos(x) + cos(x)/sin(x)",
        "exp(-k*x)*y + x*exp(x^2)",
        "(x + y)*(x - y)*(l + x)",
        "tan(x) + sinh(k*x) + cosh(x)/(2 + sinh(x))",
        "m/(l + k*x^2) + 3/(x + y)^2",
        "log(x)^2/x",
        "2.5*(x + m)^1.5",
        "sqrt(1 + 4*x^2) + 3/sqrt(l + k*x^2)",
        "m/sqrt(40 - x^2) + 2*sqrt(90 - 2*x^2)",
        "m/(40 - 3*x^2)",
    };
    fixture f;
    fixture_open(&f, names);
    graph *g = f.system->graph;
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0);
    for (size_t k = 0; k < sizeof expressions / sizeof *expressions; k++) {
        graph_node node = fixture_node(&f, expressions[k]), whole = integrate(g, node, x, NULL, &f.memory);
        if (whole < 0) fail_msg("no antiderivative of %s", expressions[k]);
        assert_same_value(&f, expressions[k], graph_partial(g, whole, x), node);
    }
    fixture_close(&f);
}

static void an_integrand_without_a_rule_is_left_alone(void **state) {
    (void)state;
    static const char *const expressions[] = {"exp(x^2)", "sqrt(1 + x^3)", "sin(x)/x",
                                              "x*sin(x)", "abs(x)",        "floor(x)"};
    fixture f;
    fixture_open(&f, names);
    graph_node x = graph_symbol(f.system->graph, SYMBOL_COORDINATE, 0);
    for (size_t k = 0; k < sizeof expressions / sizeof *expressions; k++)
        assert_int_equal(integrate(f.system->graph, fixture_node(&f, expressions[k]), x, NULL, &f.memory), GRAPH_NONE);
    fixture_close(&f);
}

typedef struct case_of_form {
    const char *coefficients[VARIABLES];
    bool found;
} case_of_form;

static void forms_are_integrated_after_a_factor_in_one_variable(void **state) {
    (void)state;
    static const case_of_form cases[] = {
        {{"y*z", "x*z", "x*y"}, true},
        {{"3*x*sin(y) + y^2/x + 2", "x^2*cos(y) + 2*y", "0"}, true}, /* Baruh, example 4.3: the factor is x */
        {{"sin(x)*cos(y)", "cos(x)*sin(y)", "0"}, true},             /* separable */
        {{"x*(1 + y^2)", "(2 + x^2)*m", "0"}, true},
        {{"y", "-x", "0"}, true},  /* y/x */
        {{"1", "k*x", "0"}, true}, /* the factor is exp(k y) */
        {{"1/(1 + x^2)", "m", "exp(z)"}, true},
        {{"sin(z)", "-cos(z)", "0"}, false}, /* a knife edge */
        {{"z", "z^2 + 0.25", "-1"}, false},  /* Papastavridis, example 2.3.1 */
        {{"y", "0", "1"}, false},
    };
    fixture f;
    fixture_open(&f, names);
    graph *g = f.system->graph;
    graph_node x[VARIABLES], a[VARIABLES], factor, integral;
    for (int i = 0; i < VARIABLES; i++) x[i] = graph_symbol(g, SYMBOL_COORDINATE, i);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *const *texts = cases[k].coefficients;
        for (int i = 0; i < VARIABLES; i++) a[i] = fixture_node(&f, texts[i]);
        one_form form = {a, x, VARIABLES};
        bool found = integrate_form(g, &form, &factor, &integral, NULL, &f.memory);
        if (found != cases[k].found) fail_msg("%s, %s, %s", texts[0], texts[1], texts[2]);
        for (int i = 0; i < VARIABLES && found; i++)
            assert_same_value(&f, texts[i], graph_partial(g, integral, x[i]), graph_mul(g, factor, a[i]));
    }
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_derivative_of_the_antiderivative_is_the_integrand),
        cmocka_unit_test(an_integrand_without_a_rule_is_left_alone),
        cmocka_unit_test(forms_are_integrated_after_a_factor_in_one_variable),
    };
    return cmocka_run_group_tests_name("integrate", tests, NULL, NULL);
}
