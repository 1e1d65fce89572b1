/* test_derivative.c — engine/graph/derivative.c: partial derivatives and rates along the motion. */
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

/* The point a time h later on the path with constant accelerations. */
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

/* Richardson's extrapolation of central differences: error of the order of h⁴. */
static double slope_along_the_path(const graph *g, graph_node node, const motion_point *p) {
    double h = 1e-3;
    return (4 * difference_along_the_path(g, node, p, h / 2) - difference_along_the_path(g, node, p, h)) / 3;
}

/* Operands inside every operator's domain and away from its kinks. */
static graph_node operand_of(graph_fixture *f, graph_op op, int k) {
    graph *g = f->g;
    static const double middle[] = {0.45, 1.35, -0.7};
    graph_node wave = graph_unary(g, GRAPH_SIN, graph_add(g, q(f, k), graph_mul(g, v(f, k), t(f))));
    graph_node x = graph_add(g, graph_number(g, middle[k]), graph_mul(g, graph_number(g, 0.2), wave));
    return op == GRAPH_ACOSH ? graph_add(g, x, graph_number(g, 1.5)) : x;
}

static void every_operator_has_the_rate_that_differences_show(void **state) {
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

static void second_rates_contain_the_accelerations_once(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node product = graph_mul(g, q(f, 0), graph_unary(g, GRAPH_SIN, q(f, 1)));
    graph_node second = graph_rate(g, graph_rate(g, product));
    motion_point p = {0.3, {0.7, -0.4, 0}, {1.1, 0.9, 0}, {-0.3, 2.1, 0}};
    double x = p.q[0], y = p.q[1], xd = p.v[0], yd = p.v[1], xdd = p.a[0], ydd = p.a[1];
    double expected = xdd * sin(y) + 2 * xd * yd * cos(y) + x * ydd * cos(y) - x * yd * yd * sin(y);
    assert_near("d²/dt² of x sin y", at_point(g, second, &p), expected, 1e-14);
    assert_near("its slope by y''", at_point(g, graph_partial(g, second, graph_symbol(g, SYMBOL_ACCELERATION, 1)), &p),
                x * cos(y), 1e-14);
}

static void what_does_not_contain_the_symbol_has_derivative_zero(void **state) {
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

/* x_(k+1) = x_k sin(x_k) + x_k: as a tree it would have 3^depth leaves. */
static size_t nodes_of_nest(size_t depth, bool rate) {
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, 0);
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
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* of this thread: other work on the machine does not count */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What differentiating `count` sines takes, as a multiple of what making them takes. */
static double cost_of_rates(size_t count) {
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, 0);
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

/* A rate here is three nodes more and an entry of the memo: some three times the cost of a sine, but twelve and more when
 * keys of the memo collide. */
static void remembering_derivatives_costs_no_more_than_making_them(void **state) {
    (void)state;
    double least = INFINITY;
    for (int i = 0; i < 5; i++) least = fmin(least, cost_of_rates(100000));
    if (!(least < 9)) fail_msg("%g times the cost of making the nodes", least);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_operator_has_the_rate_that_differences_show),
        TEST(partial_derivatives_sum_up_to_the_rate),
        TEST(second_rates_contain_the_accelerations_once),
        TEST(what_does_not_contain_the_symbol_has_derivative_zero),
        cmocka_unit_test(shared_parts_are_differentiated_once),
        cmocka_unit_test(remembering_derivatives_costs_no_more_than_making_them),
    };
    return cmocka_run_group_tests_name("derivative", tests, NULL, NULL);
}
