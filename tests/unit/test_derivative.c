/* test_derivative.c — engine/graph/derivative.c: partial and total time derivatives. */
#include "tests/unit/fixture.h"
#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { SYMBOLS = 3 };

static graph_node t(graph_fixture *f) {
    return graph_symbol(f->g, SYMBOL_TIME, 0);
}

static graph_node v(graph_fixture *f, int i) {
    return graph_symbol(f->g, SYMBOL_VELOCITY, i);
}

typedef struct motion_point {
    double t, q[SYMBOLS], v[SYMBOLS], a[SYMBOLS];
} motion_point;

static double at_point(const graph *g, graph_node node, const motion_point *p) {
    program_inputs in = {{0}};
    in.values[SYMBOL_TIME] = &p->t;
    in.values[SYMBOL_COORDINATE] = p->q;
    in.values[SYMBOL_VELOCITY] = p->v;
    in.values[SYMBOL_ACCELERATION] = p->a;
    return fixture_value(g, node, &in);
}

/* Returns the point at the time t + h on the path with constant accelerations. */
static motion_point later(const motion_point *p, double h) {
    motion_point next = *p;
    next.t += h;
    for (int i = 0; i < SYMBOLS; i++) {
        next.q[i] += h * p->v[i] + h * h * p->a[i] / 2;
        next.v[i] += h * p->a[i];
    }
    return next;
}

static double difference_along_the_path(const graph *g, graph_node node, const motion_point *p, double h) {
    motion_point above = later(p, h), below = later(p, -h);
    return (at_point(g, node, &above) - at_point(g, node, &below)) / (2 * h);
}

/* Returns the time derivative by Richardson extrapolation of central differences, with an error of order h⁴. */
static double slope_along_the_path(const graph *g, graph_node node, const motion_point *p) {
    double h = 1e-3;
    return (4 * difference_along_the_path(g, node, p, h / 2) - difference_along_the_path(g, node, p, h)) / 3;
}

/* Returns operand number k of `op`, inside the domain of the operator and away from its kinks. */
static graph_node operand_of(graph_fixture *f, graph_op op, int k) {
    graph *g = f->g;
    static const double middle[] = {0.45, 1.35, -0.7};
    graph_node wave = graph_unary(g, GRAPH_SIN, graph_add(g, q(f, k), graph_mul(g, v(f, k), t(f))));
    graph_node x = graph_add(g, graph_number(g, middle[k]), graph_mul(g, graph_number(g, 0.2), wave));
    return op == GRAPH_ACOSH ? graph_add(g, x, graph_number(g, 1.5)) : x;
}

static void the_rate_of_every_operator_agrees_with_differences(void **state) {
    graph_fixture *f = *state;
    uint64_t seed = 77;
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        graph_node node = graph_apply(f->g, (graph_op)op, operand_of(f, (graph_op)op, 0),
                                      operand_of(f, (graph_op)op, 1), operand_of(f, (graph_op)op, 2));
        graph_node rate = graph_rate(f->g, node);
        for (int k = 0; k < 4; k++) {
            motion_point p;
            p.t = random_between(&seed, -1, 1);
            random_fill(&seed, p.q, SYMBOLS, -2, 2);
            random_fill(&seed, p.v, SYMBOLS, -2, 2);
            random_fill(&seed, p.a, SYMBOLS, -2, 2);
            assert_near(graph_op_get((graph_op)op)->text, at_point(f->g, rate, &p),
                        slope_along_the_path(f->g, node, &p), 1e-8);
        }
    }
}

/* First and second derivatives at points where leading digits of 1 - x^2, x^2 - 1 or 1 - tanh^2 cancel, or where cosh
 * overflows. The expected values are from mpmath with 60 digits, at exactly these doubles. */
/* clang-format off */
static const struct slope {
    graph_op op;
    double x, first, second;
} slopes[] = {
        {GRAPH_TANH, 14, 2.765760042772256489e-12, -5.53152008553686355e-12},
        {GRAPH_TANH, -20, 1.699341702116635584e-17, 3.398683404233271139e-17},
        {GRAPH_TANH, 0.1, 0.9900662908474397773, -0.1973558435090651517},
        {GRAPH_TANH, 300, 1.060158621201724327e-260, -2.120317242403448653e-260},
        {GRAPH_TANH, 1e-9, 0.999999999999999999, -2.000000000000000122e-9},
        {GRAPH_TANH, 1e4, 0, 0},
        {GRAPH_TANH, -500, 0, 0},
        {GRAPH_SECH, 14, -1.663057438203686055e-6, 1.663057438196786628e-6},
        {GRAPH_SECH, -300, 1.029640044482402756e-130, 1.029640044482402756e-130},
        {GRAPH_SECH, 0.5, -0.4098142216647449916, -0.5080545177292029897},
        {GRAPH_SECH, 1e4, 0, 0},
        {GRAPH_ASIN, 0x1.ffffffff24190p-1, 70710.67519510883043, 353553346704731.4076},
        {GRAPH_ASIN, -0x1.fffffffffdcd2p-1, 707153.8594085361322, -353624012627614844.0},
        {GRAPH_ASIN, 0.5, 1.154700538379251529, 0.7698003589195010193},
        {GRAPH_ASIN, 1e-9, 1.0, 1.000000000000000064e-9},
        {GRAPH_ACOS, 0x1.ffffffff24190p-1, -70710.67519510883043, -353553346704731.4076},
        {GRAPH_ACOS, 1e-9, -1.0, -1.000000000000000064e-9},
        {GRAPH_ATANH, -0x1.fffffffffdcd2p-1, 500066580876.387686, -5.001331706183015065e+23},
        {GRAPH_ATANH, 0x1.ffffffff24190p-1, 4999999586.548179234, 4.999999172596392699e+19},
        {GRAPH_ATANH, 1e-9, 1.000000000000000001, 2.000000000000000129e-9},
        {GRAPH_ACOSH, 0x1.000000006df38p+0, 70710.67519157329638, -353553346722409.0764},
        {GRAPH_ACOSH, 3.5, 0.2981423969999719595, -0.0927554123999912763},
        {GRAPH_ACOSH, 1e9, 1.0e-9, -1.000000000000000001e-18},
        {GRAPH_ASINH, 1e-9, 0.9999999999999999995, -1.000000000000000061e-9},
        {GRAPH_ASINH, -1e9, 9.999999999999999995e-10, 9.999999999999999985e-19},
        {GRAPH_ATAN, 1e-9, 0.999999999999999999, -2.000000000000000121e-9},
        {GRAPH_ATAN, 1e9, 9.99999999999999999e-19, -1.999999999999999996e-27},
        {GRAPH_TAN, 1.5707, 107771959.9507861741, 2237632005364.658995},
        {GRAPH_TAN, 1e-9, 1.000000000000000001, 2.000000000000000127e-9},
        {GRAPH_CBRT, 1e-12, 33333333.33333333378, -2.222222222222222297e+19},
};
/* clang-format on */

/* x is a coordinate. Derivatives are computed in the graph and by the tangent program. The largest rounding errors
 * occur for tan and sech. */
static void derivatives_are_accurate_next_to_edges_of_the_domain(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++) {
        const struct slope *s = &slopes[k];
        motion_point p = {.q = {s->x}};
        program_inputs in = {{0}}, seeds = {{0}};
        double one[PROGRAM_LANES] = {1}, value, dots[PROGRAM_LANES];
        graph_node node = graph_unary(g, s->op, q(f, 0)), first = graph_partial(g, node, q(f, 0));
        double second = at_point(g, graph_partial(g, first, q(f, 0)), &p);
        const char *name = graph_op_get(s->op)->text;
        assert_near(name, at_point(g, first, &p) / (s->first != 0 ? s->first : 1), s->first != 0, 2e-15);
        assert_near(name, second / (s->second != 0 ? s->second : 1), s->second != 0, 4e-15);
        program *tape = compile(f, &first, 1);
        double *work = calloc(program_workspace_doubles(tape) + program_tangent_doubles(tape) + 1, sizeof *work);
        assert_non_null(work);
        in.values[SYMBOL_COORDINATE] = p.q;
        seeds.values[SYMBOL_COORDINATE] = one;
        program_prepare(tape, &in, work);
        program_tangent(tape, &in, &seeds, work, work + program_workspace_doubles(tape), &value, dots);
        assert_near(name, dots[0] / (s->second != 0 ? s->second : 1), s->second != 0, 1e-6);
        free(work);
    }
}

static void partial_derivatives_sum_up_to_the_rate(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    uint64_t seed = 78;
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        graph_node node = graph_apply(g, (graph_op)op, operand_of(f, (graph_op)op, 0), operand_of(f, (graph_op)op, 1),
                                      operand_of(f, (graph_op)op, 2));
        motion_point p;
        p.t = random_between(&seed, -1, 1);
        random_fill(&seed, p.q, SYMBOLS, -2, 2);
        random_fill(&seed, p.v, SYMBOLS, -2, 2);
        random_fill(&seed, p.a, SYMBOLS, -2, 2);
        double bias = at_point(g, graph_partial(g, node, t(f)), &p), rate = 0;
        for (int i = 0; i < SYMBOLS; i++) {
            bias += p.v[i] * at_point(g, graph_partial(g, node, q(f, i)), &p);
            rate += p.a[i] * at_point(g, graph_partial(g, node, v(f, i)), &p);
        }
        assert_near("bias", at_point(g, graph_rate_bias(g, node), &p), bias, 1e-13);
        assert_near("rate", at_point(g, graph_rate(g, node), &p), bias + rate, 1e-13);
    }
}

/* For each operator, computes the gradient of a sum of three roots with common subexpressions. The operands depend on
 * all symbols. */
static void a_gradient_has_all_partial_derivatives(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    uint64_t seed = 79;
    graph_node symbols[2 * SYMBOLS], found[2 * SYMBOLS];
    for (int i = 0; i < SYMBOLS; i++) {
        symbols[i] = q(f, i);
        symbols[SYMBOLS + i] = v(f, i);
    }
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        graph_node part = graph_apply(g, (graph_op)op, operand_of(f, (graph_op)op, 0), operand_of(f, (graph_op)op, 1),
                                      operand_of(f, (graph_op)op, 2));
        graph_node other = graph_mul(g, graph_unary(g, GRAPH_SIN, part), operand_of(f, (graph_op)op, 1));
        graph_node roots[] = {part, graph_add(g, other, graph_mul(g, part, q(f, 2))), part};
        motion_point p;
        p.t = random_between(&seed, -1, 1);
        random_fill(&seed, p.q, SYMBOLS, -2, 2);
        random_fill(&seed, p.v, SYMBOLS, -2, 2);
        random_fill(&seed, p.a, SYMBOLS, -2, 2);
        assert_true(graph_gradient(g, roots, 3, symbols, 2 * SYMBOLS, found));
        for (int i = 0; i < 2 * SYMBOLS; i++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) sum += at_point(g, graph_partial(g, roots[k], symbols[i]), &p);
            assert_near("slope", at_point(g, found[i], &p), sum, 1e-13);
        }
    }
}

/* The expression is Σ_i (Σ_{j ≤ i} x_j²)², in which each inner sum contains the previous one. Separate partial
 * derivatives would add O(N²) nodes. */
static void a_gradient_costs_a_fixed_multiple_of_its_expression(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    enum { N = 400 };
    graph_node prefix = graph_number(g, 0), sum = graph_number(g, 0), symbols[N], found[N];
    for (int i = 0; i < N; i++) {
        symbols[i] = graph_symbol(g, SYMBOL_COORDINATE, i);
        prefix = graph_add(g, prefix, graph_mul(g, symbols[i], symbols[i]));
        sum = graph_add(g, sum, graph_mul(g, prefix, prefix));
    }
    size_t before = graph_count(g);
    assert_true(graph_gradient(g, &sum, 1, symbols, N, found));
    assert_in_range(graph_count(g) - before, N, 12 * N);
}

static void second_rates_contain_the_accelerations_once(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node product = graph_mul(g, q(f, 0), graph_unary(g, GRAPH_SIN, q(f, 1)));
    graph_node second = graph_rate(g, graph_rate(g, product));
    motion_point p = {0.3, {0.7, -0.4, 0}, {1.1, 0.9, 0}, {-0.3, 2.1, 0}};
    double x = p.q[0], y = p.q[1], xd = p.v[0], yd = p.v[1], xdd = p.a[0], ydd = p.a[1];
    double expected = xdd * sin(y) + 2 * xd * yd * cos(y) + x * ydd * cos(y) - x * yd * yd * sin(y);
    assert_near("d²/dt² of x sin y", at_point(g, second, &p), expected, 1e-14);
    assert_near("partial derivative of d²/dt² of x sin y with respect to y''",
                at_point(g, graph_partial(g, second, graph_symbol(g, SYMBOL_ACCELERATION, 1)), &p), x * cos(y), 1e-14);
}

static void an_expression_without_the_symbol_has_derivative_zero(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node parameter = graph_symbol(g, SYMBOL_PARAMETER, 0), other = graph_unary(g, GRAPH_SQRT, q(f, 1));
    assert_true(graph_is_zero(g, graph_partial(g, other, q(f, 0))));
    assert_true(graph_is_zero(g, graph_rate(g, graph_unary(g, GRAPH_EXP, parameter))));
    assert_true(graph_is_zero(g, graph_rate(g, graph_symbol(g, SYMBOL_MULTIPLIER, 0))));
    assert_true(graph_is_zero(g, graph_partial(g, graph_number(g, 3), t(f))));
    assert_int_equal(graph_partial(g, q(f, 0), q(f, 0)), graph_number(g, 1));
    assert_int_equal(graph_partial(g, GRAPH_NONE, t(f)), GRAPH_NONE);
    assert_int_equal(graph_partial(g, other, GRAPH_NONE), GRAPH_NONE);
}

/* Builds x_(k+1) = x_k sin(x_k) + x_k, differentiates the last x_k, and returns the number of nodes. As a tree, the
 * last x_k has 3^depth leaves. */
static size_t nodes_of_nest(size_t depth, bool rate) {
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, &memory, 0);
    assert_non_null(g);
    graph_node q = graph_symbol(g, SYMBOL_COORDINATE, 0), x = q;
    for (size_t i = 0; i < depth; i++) x = graph_add(g, graph_mul(g, x, graph_unary(g, GRAPH_SIN, x)), x);
    assert_true((rate ? graph_rate(g, x) : graph_partial(g, x, q)) >= 0);
    size_t count = graph_count(g);
    arena_free(&memory);
    return count;
}

static void shared_parts_are_differentiated_once(void **state) {
    (void)state;
    for (int rate = 0; rate < 2; rate++) {
        size_t small = nodes_of_nest(1000, rate), large = nodes_of_nest(50000, rate);
        assert_true(small < 1000 * 12);
        assert_true(large < 51 * small);
    }
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* CPU time of this thread, which excludes other processes */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the time to differentiate `count` sines divided by the time to create them. */
static double cost_of_rates(size_t count) {
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, &memory, 0);
    assert_non_null(g);
    graph_node *nodes = malloc(count * sizeof *nodes);
    assert_non_null(nodes);
    double start = seconds_now();
    for (size_t i = 0; i < count; i++) {
        graph_node q = graph_symbol(g, SYMBOL_COORDINATE, (int32_t)i);
        nodes[i] = graph_unary(g, GRAPH_SIN, q);
    }
    double made = seconds_now();
    for (size_t i = 0; i < count; i++) assert_true(graph_rate(g, nodes[i]) >= 0);
    double cost = (seconds_now() - made) / (made - start);
    free(nodes);
    arena_free(&memory);
    return cost;
}

/* Differentiation of a sine adds three nodes and a memo entry, which takes about three times as long as the creation of
 * the sine (measured). If the memo keys collided, the factor would be at least twelve. The limit 9 is between these two
 * factors. */
static void storing_derivatives_costs_no_more_than_creating_them(void **state) {
    (void)state;
    double least = INFINITY;
    for (int i = 0; i < 5; i++) least = fmin(least, cost_of_rates(100000));
    if (!(least < 9)) fail_msg("the rates take %g times as long as the sines", least);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_rate_of_every_operator_agrees_with_differences),
        TEST(derivatives_are_accurate_next_to_edges_of_the_domain),
        TEST(partial_derivatives_sum_up_to_the_rate),
        TEST(a_gradient_has_all_partial_derivatives),
        TEST(a_gradient_costs_a_fixed_multiple_of_its_expression),
        TEST(second_rates_contain_the_accelerations_once),
        TEST(an_expression_without_the_symbol_has_derivative_zero),
        cmocka_unit_test(shared_parts_are_differentiated_once),
        cmocka_unit_test(storing_derivatives_costs_no_more_than_creating_them),
    };
    return cmocka_run_group_tests_name("derivative", tests, NULL, NULL);
}
