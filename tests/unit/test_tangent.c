/* test_tangent.c — engine/compile/tangent.c: directional derivatives.
 *
 * There are three independent references: closed forms, central differences, and the symbolic derivative of the
 * graph, compiled and evaluated. */
#include "engine/compile/program.h"
#include "tests/unit/graph_fixture.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = PROGRAM_LANES, SYMBOLS = 3 };

static double *doubles(size_t n) {
    double *d = malloc((n + 1) * sizeof *d);
    assert_non_null(d);
    return d;
}

/* Computes values and tangents of the outputs at x[SYMBOLS] in the directions seed[SYMBOLS][LANES]. */
static void differentiate(const program *p, const double *x, const double *seed, double *out, double *dot) {
    program_inputs in = {{[SYMBOL_COORDINATE] = x}}, seeds = {{[SYMBOL_COORDINATE] = seed}};
    double *w = doubles(program_workspace_doubles(p)), *tw = doubles(program_tangent_doubles(p));
    program_prepare(p, &in, w);
    program_tangent(p, &in, &seeds, w, tw, out, dot);
    free(w);
    free(tw);
}

/* Computes the partial derivatives of the only output. Lane k contains the derivative with respect to symbol k. */
static double gradient(const program *p, const double *x, double d[SYMBOLS]) {
    double seed[SYMBOLS * LANES] = {0}, dot[LANES], out;
    for (int s = 0; s < SYMBOLS; s++) seed[s * LANES + s] = 1;
    differentiate(p, x, seed, &out, dot);
    memcpy(d, dot, SYMBOLS * sizeof *d);
    for (int k = SYMBOLS; k < LANES; k++) assert_true(dot[k] == 0);
    return out;
}

static double value(const program *p, const double *x) {
    program_inputs in = {{[SYMBOL_COORDINATE] = x}};
    double *w = doubles(program_workspace_doubles(p)), out;
    program_prepare(p, &in, w);
    program_evaluate(p, &in, w, &out);
    free(w);
    return out;
}

static program *compile_operator(graph_fixture *f, graph_op op) {
    int arity = graph_op_get(op)->arity;
    graph_node x = q(f, 0), y = arity > 1 ? q(f, 1) : GRAPH_NONE, z = arity > 2 ? q(f, 2) : GRAPH_NONE;
    graph_node node = graph_apply(f->g, op, x, y, z);
    return compile(f, &node, 1);
}

/* Points (x, y, z) in the domain of the operators and not at their kinks. acosh uses points with x > 1. */
static const double inside[][SYMBOLS] = {{0.3, 0.7, -1.1}, {0.9, 2.6, 3.0}, {0.05, 1.4, 0.2}, {0.62, 0.55, 0.4}};

static double point_of(graph_op op, size_t point, int s) {
    return inside[point][s] + (op == GRAPH_ACOSH && s == 0 ? 1.5 : 0);
}

/* The step of the central differences is h = ε^(1/3). Their truncation error h²|f'''|/6 and rounding error ε|f|/h are
 * usually below 1e-9. The third derivatives are large for asin and acos near 0.9 (about 30), and for log, sqrt and
 * similar functions near 0.05 (about 2/x³ = 16,000). The bound 1e-9 (1 + |f'|) + h² (10 + 1/x³) includes these
 * cases. */
static void every_operator_agrees_with_central_differences(void **state) {
    graph_fixture *f = *state;
    double h = cbrt(DBL_EPSILON);
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        program *p = compile_operator(f, (graph_op)op);
        for (size_t point = 0; point < sizeof inside / sizeof *inside; point++) {
            double x[SYMBOLS], d[SYMBOLS];
            for (int s = 0; s < SYMBOLS; s++) x[s] = point_of((graph_op)op, point, s);
            double out = gradient(p, x, d);
            assert_true(out == value(p, x));
            for (int s = 0; s < graph_op_get((graph_op)op)->arity; s++) {
                double keep = x[s];
                x[s] = keep + h;
                double above = value(p, x);
                x[s] = keep - h;
                double below = value(p, x);
                x[s] = keep;
                double difference = (above - below) / (2 * h);
                double bound = 1e-9 * (1 + fabs(d[s])) + h * h * (10 + 1 / fabs(x[0] * x[0] * x[0]));
                if (!(fabs(difference - d[s]) <= bound))
                    fail_msg("%s, operand %d at %g: %.12g, differences %.12g", graph_op_get((graph_op)op)->text, s,
                             x[s], d[s], difference);
            }
        }
    }
}

/* Closed forms: Abramowitz & Stegun 4.3.105-110, 4.4.52-57, 4.5.71-76, 4.6.37-42. All functions are well conditioned at
 * x = 0.4 (acosh at 1.9), so the difference is a few rounding errors. */
static void unary_operators_agree_with_closed_forms(void **state) {
    graph_fixture *f = *state;
    const double u = 0.4, v = 1.9;
    const struct {
        graph_op op;
        double x, derivative;
    } known[] = {
        {GRAPH_NEG, u, -1},
        {GRAPH_SIN, u, cos(u)},
        {GRAPH_COS, u, -sin(u)},
        {GRAPH_TAN, u, 1 / (cos(u) * cos(u))},
        {GRAPH_ASIN, u, 1 / sqrt(1 - u * u)},
        {GRAPH_ACOS, u, -1 / sqrt(1 - u * u)},
        {GRAPH_ATAN, u, 1 / (1 + u * u)},
        {GRAPH_SINH, u, cosh(u)},
        {GRAPH_COSH, u, sinh(u)},
        {GRAPH_TANH, u, 1 / (cosh(u) * cosh(u))},
        {GRAPH_ASINH, u, 1 / sqrt(1 + u * u)},
        {GRAPH_ACOSH, v, 1 / sqrt(v * v - 1)},
        {GRAPH_ATANH, u, 1 / (1 - u * u)},
        {GRAPH_EXP, u, exp(u)},
        {GRAPH_LOG, u, 1 / u},
        {GRAPH_LOG10, u, 1 / (u * log(10))},
        {GRAPH_SQRT, u, 0.5 / sqrt(u)},
        {GRAPH_CBRT, u, cbrt(u) / (3 * u)},
        {GRAPH_ABS, -u, -1},
        {GRAPH_SIGN, u, 0},
        {GRAPH_FLOOR, u, 0},
        {GRAPH_CEIL, u, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double x[SYMBOLS] = {known[i].x}, d[SYMBOLS];
        (void)gradient(compile_operator(f, known[i].op), x, d);
        assert_true(fabs(d[0] - known[i].derivative) <= 8 * DBL_EPSILON * fabs(known[i].derivative));
    }
}

static void powers_agree_with_the_power_rule(void **state) {
    graph_fixture *f = *state;
    static const double points[] = {1.7, -0.3, 4.5, 0.01};
    for (int twice = -33; twice <= 33; twice++) {
        double n = 0.5 * twice;
        graph_node node = graph_binary(f->g, GRAPH_POW, q(f, 0), number(f, n));
        program *p = compile(f, &node, 1);
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
            double x[SYMBOLS] = {points[k]}, d[SYMBOLS], expected = n * pow(x[0], n - 1);
            (void)gradient(p, x, d);
            if (isnan(expected))
                assert_true(isnan(d[0]));
            else
                assert_true(fabs(d[0] - expected) <= 2.3e-16 * (fabs(n) + 6) * fabs(expected));
        }
    }
}

static void integer_powers_have_finite_derivatives_at_zero(void **state) {
    graph_fixture *f = *state;
    for (int n = 2; n <= 20; n++) {
        graph_node node = graph_binary(f->g, GRAPH_POW, q(f, 0), number(f, n));
        double x[SYMBOLS] = {0}, d[SYMBOLS];
        assert_true(gradient(compile(f, &node, 1), x, d) == 0);
        assert_true(d[0] == 0);
    }
}

static void zero_tangents_contribute_nothing_if_the_partial_derivative_is_infinite(void **state) {
    graph_fixture *f = *state;
    graph_node root = graph_unary(f->g, GRAPH_SQRT, q(f, 0)), node = graph_add(f->g, root, q(f, 1));
    program *p = compile(f, &node, 1);
    double seed[SYMBOLS * LANES] = {0}, x[SYMBOLS] = {0, 2}, out, dot[LANES];
    for (int k = 0; k < LANES; k++) seed[LANES + k] = k + 1;
    differentiate(p, x, seed, &out, dot);
    for (int k = 0; k < LANES; k++) assert_true(dot[k] == k + 1);
    seed[3] = 1; /* only lane 3 has a nonzero tangent of the argument, so only lane 3 is infinite */
    differentiate(p, x, seed, &out, dot);
    for (int k = 0; k < LANES; k++) assert_true(k == 3 ? isinf(dot[k]) : dot[k] == k + 1);
}

static void a_power_of_a_negative_base_is_differentiated_by_its_base_only(void **state) {
    graph_fixture *f = *state;
    graph_node node = graph_binary(f->g, GRAPH_POW, q(f, 0), q(f, 1));
    double seed[SYMBOLS * LANES] = {1}, x[SYMBOLS] = {-2, 3}, out, dot[LANES];
    differentiate(compile(f, &node, 1), x, seed, &out, dot);
    assert_true(out == -8 && dot[0] == 12);
}

static void only_the_selected_branch_is_differentiated(void **state) {
    graph_fixture *f = *state;
    graph_node positive = graph_binary(f->g, GRAPH_GT, q(f, 0), number(f, 0));
    graph_node root = graph_unary(f->g, GRAPH_SQRT, q(f, 0)), square = graph_mul(f->g, q(f, 0), q(f, 0));
    graph_node nodes[] = {graph_apply(f->g, GRAPH_IF, positive, root, square),
                          graph_binary(f->g, GRAPH_MIN, graph_unary(f->g, GRAPH_CBRT, q(f, 1)), q(f, 2)),
                          graph_binary(f->g, GRAPH_MAX, graph_unary(f->g, GRAPH_CBRT, q(f, 1)), q(f, 2))};
    program *p = compile(f, nodes, 3);
    double seed[SYMBOLS * LANES] = {0}, out[3], dot[3 * LANES];
    for (int s = 0; s < SYMBOLS; s++) seed[s * LANES + s] = 1;
    differentiate(p, (double[]){4, 0, -1}, seed, out, dot);
    assert_true(dot[0] == 0.25 && dot[1] == 0);
    /* the infinite slope of the cube root must not appear in the other branch */
    assert_true(dot[LANES + 1] == 0 && dot[LANES + 2] == 1);
    assert_true(isinf(dot[2 * LANES + 1]) && dot[2 * LANES + 2] == 0); /* infinite on the branch of cbrt */
    differentiate(p, (double[]){-3, 1, 5}, seed, out, dot);
    assert_true(out[0] == 9 && dot[0] == -6);
    differentiate(p, (double[]){0, 1, 5}, seed, out, dot);
    assert_true(out[0] == 0 && dot[0] == 0);
}

static void parameters_may_be_seeded(void **state) {
    graph_fixture *f = *state;
    graph_node a = graph_symbol(f->g, SYMBOL_PARAMETER, 0), b = graph_symbol(f->g, SYMBOL_PARAMETER, 1);
    graph_node prepared = graph_mul(f->g, graph_unary(f->g, GRAPH_SIN, a), b);
    graph_node node = graph_add(f->g, graph_mul(f->g, prepared, q(f, 0)), graph_mul(f->g, prepared, prepared));
    program *p = compile(f, &node, 1);
    double parameters[] = {0.7, 1.3}, x = 2, out, dot[LANES], seed[2 * LANES] = {0};
    seed[0] = seed[LANES + 1] = 1;
    program_inputs in = {{[SYMBOL_PARAMETER] = parameters, [SYMBOL_COORDINATE] = &x}};
    program_inputs seeds = {{[SYMBOL_PARAMETER] = seed}};
    double *w = doubles(program_workspace_doubles(p)), *tw = doubles(program_tangent_doubles(p));
    program_prepare(p, &in, w);
    for (int round = 0; round < 2; round++, x = -1) { /* a second call must find its workspace unchanged */
        program_tangent(p, &in, &seeds, w, tw, &out, dot);
        double c = sin(0.7) * 1.3, dc = x + 2 * c;
        assert_true(fabs(out - (c * x + c * c)) < 1e-15);
        assert_true(fabs(dot[0] - dc * cos(0.7) * 1.3) < 1e-15 && fabs(dot[1] - dc * sin(0.7)) < 1e-15);
        assert_true(dot[2] == 0);
    }
    free(w);
    free(tw);
}

static void without_seeds_the_tangent_is_zero_and_the_value_is_computed(void **state) {
    graph_fixture *f = *state;
    graph_node node = graph_unary(f->g, GRAPH_EXP, q(f, 0));
    double x[SYMBOLS] = {1.5}, out, dot[LANES];
    differentiate(compile(f, &node, 1), x, NULL, &out, dot);
    assert_true(out == exp(1.5));
    for (int k = 0; k < LANES; k++) assert_true(dot[k] == 0);
}

static graph_node random_expression(graph_fixture *f, size_t count, uint64_t *seed) {
    static const graph_op ops[] = {GRAPH_ADD, GRAPH_SUB, GRAPH_MUL, GRAPH_MUL,  GRAPH_DIV, GRAPH_NEG,
                                   GRAPH_SIN, GRAPH_COS, GRAPH_POW, GRAPH_TANH, GRAPH_ATAN};
    graph_node pool[64];
    assert_true(count <= 64);
    for (int i = 0; i < SYMBOLS; i++) pool[i] = q(f, i);
    for (size_t i = SYMBOLS; i < count; i++) {
        graph_op op = ops[random_bits(seed) % (sizeof ops / sizeof *ops)];
        graph_node x = pool[i - 1 - random_bits(seed) % 3], y = pool[random_bits(seed) % i];
        if (op == GRAPH_POW) y = number(f, (double)(random_bits(seed) % 7) - 3);
        if (op == GRAPH_DIV) y = graph_add(f->g, graph_mul(f->g, y, y), number(f, 1));
        if (op == GRAPH_POW) x = graph_add(f->g, graph_unary(f->g, GRAPH_SIN, x), number(f, 1.5));
        pool[i] = graph_apply(f->g, op, x, graph_op_get(op)->arity > 1 ? y : GRAPH_NONE, GRAPH_NONE);
        if (op == GRAPH_MUL) pool[i] = graph_unary(f->g, GRAPH_TANH, pool[i]);
    }
    return pool[count - 1];
}

/* The tangent and the symbolic derivative apply the chain rule in different orders, so rounding differs. The bound
 * 1e-11 allows for a thousand rounding errors ε in each of at most 35 nodes. */
static void the_tangent_agrees_with_the_symbolic_derivative(void **state) {
    graph_fixture *f = *state;
    for (uint64_t trial = 1; trial <= 100; trial++) {
        uint64_t seed = trial * 104729;
        graph_node node = random_expression(f, 12 + trial % 24, &seed), partial[SYMBOLS];
        for (int s = 0; s < SYMBOLS; s++) partial[s] = graph_partial(f->g, node, q(f, s));
        assert_int_equal(graph_status(f->g), HAMEL_OK);
        double x[SYMBOLS] = {0.4, -0.9, 1.3}, d[SYMBOLS], out[SYMBOLS];
        (void)gradient(compile(f, &node, 1), x, d);
        program *p = compile(f, partial, SYMBOLS);
        double *w = doubles(program_workspace_doubles(p));
        program_inputs in = {{[SYMBOL_COORDINATE] = x}};
        program_prepare(p, &in, w);
        program_evaluate(p, &in, w, out);
        free(w);
        double scale = 1;
        for (int s = 0; s < SYMBOLS; s++) scale = fmax(scale, fabs(out[s]));
        for (int s = 0; s < SYMBOLS; s++) assert_true(fabs(out[s] - d[s]) <= 1e-11 * scale);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_operator_agrees_with_central_differences),
        TEST(unary_operators_agree_with_closed_forms),
        TEST(powers_agree_with_the_power_rule),
        TEST(integer_powers_have_finite_derivatives_at_zero),
        TEST(zero_tangents_contribute_nothing_if_the_partial_derivative_is_infinite),
        TEST(a_power_of_a_negative_base_is_differentiated_by_its_base_only),
        TEST(only_the_selected_branch_is_differentiated),
        TEST(parameters_may_be_seeded),
        TEST(without_seeds_the_tangent_is_zero_and_the_value_is_computed),
        TEST(the_tangent_agrees_with_the_symbolic_derivative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
