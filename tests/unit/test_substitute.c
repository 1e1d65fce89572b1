/* test_substitute.c — engine/graph/substitute.c: symbols replaced by expressions. */
#include "tests/unit/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static graph *open_graph(arena *memory) {
    arena_init(memory, 0);
    graph *g = graph_create(memory, memory, 0);
    assert_non_null(g);
    return g;
}

static void a_substituted_expression_is_the_composition(void **state) {
    (void)state;
    arena memory;
    graph *g = open_graph(&memory);
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0), y = graph_symbol(g, SYMBOL_COORDINATE, 1),
               v = graph_symbol(g, SYMBOL_VELOCITY, 0);
    graph_node e = graph_add(g, graph_mul(g, graph_unary(g, GRAPH_SIN, x), v),
                             graph_div(g, y, graph_add(g, x, graph_number(g, 3))));
    graph_node replacement[2] = {graph_mul(g, y, v), graph_unary(g, GRAPH_EXP, x)};
    graph_node result = graph_substitute(g, e, SYMBOL_COORDINATE, replacement, 2);
    double q[2] = {0.4, -0.6}, u[1] = {1.3};
    program_inputs in = {{[SYMBOL_COORDINATE] = q, [SYMBOL_VELOCITY] = u}};
    double inner = q[1] * u[0];
    assert_near("value", fixture_value(g, result, &in), sin(inner) * u[0] + exp(q[0]) / (inner + 3), 1e-15);
    arena_free(&memory);
}

static void replacements_are_not_substituted_again(void **state) {
    (void)state;
    arena memory;
    graph *g = open_graph(&memory);
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0), y = graph_symbol(g, SYMBOL_COORDINATE, 1);
    graph_node swap[2] = {y, x};
    assert_int_equal(graph_substitute(g, graph_sub(g, x, y), SYMBOL_COORDINATE, swap, 2), graph_sub(g, y, x));
    arena_free(&memory);
}

static void symbols_without_replacement_are_kept(void **state) {
    (void)state;
    arena memory;
    graph *g = open_graph(&memory);
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0), z = graph_symbol(g, SYMBOL_COORDINATE, 7),
               v = graph_symbol(g, SYMBOL_VELOCITY, 0);
    graph_node e = graph_mul(g, x, graph_add(g, z, v)), keep[1] = {GRAPH_NONE};
    size_t count = graph_count(g);
    assert_int_equal(graph_substitute(g, e, SYMBOL_COORDINATE, keep, 1), e);
    assert_int_equal(graph_substitute(g, e, SYMBOL_COORDINATE, NULL, 0), e);
    assert_int_equal(graph_substitute(g, e, SYMBOL_TIME, keep, 1), e);
    assert_int_equal(graph_count(g), count);
    assert_int_equal(graph_substitute(g, GRAPH_NONE, SYMBOL_TIME, keep, 1), GRAPH_NONE);
    arena_free(&memory);
}

static void replacements_by_numbers_are_folded(void **state) {
    (void)state;
    arena memory;
    graph *g = open_graph(&memory);
    graph_node p = graph_symbol(g, SYMBOL_PARAMETER, 0), e = graph_unary(g, GRAPH_SQRT, graph_mul(g, p, p)),
               number[1] = {graph_number(g, 3)};
    double value = 0;
    assert_true(graph_is_number(g, graph_substitute(g, e, SYMBOL_PARAMETER, number, 1), &value));
    assert_true(value == 3);
    arena_free(&memory);
}

/* Written out as a tree, the expression has 2^depth leaves. The graph grows during the substitution. */
static void deep_shared_nests_are_walked_once(void **state) {
    (void)state;
    arena memory;
    graph *g = open_graph(&memory);
    enum { DEPTH = 100000 };
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0), e = x, y = graph_symbol(g, SYMBOL_TIME, 0), other = y;
    for (int i = 0; i < DEPTH; i++) e = graph_mul(g, graph_unary(g, GRAPH_SIN, e), graph_unary(g, GRAPH_EXP, e));
    for (int i = 0; i < DEPTH; i++)
        other = graph_mul(g, graph_unary(g, GRAPH_SIN, other), graph_unary(g, GRAPH_EXP, other));
    size_t count = graph_count(g);
    assert_int_equal(graph_substitute(g, e, SYMBOL_COORDINATE, &y, 1), other);
    assert_int_equal(graph_count(g), count);
    graph_node z = graph_symbol(g, SYMBOL_VELOCITY, 0); /* all nodes are new, so the arrays grow */
    assert_true(graph_substitute(g, e, SYMBOL_COORDINATE, &z, 1) > e);
    assert_int_equal(graph_count(g), count + 1 + 3 * DEPTH);
    arena_free(&memory);
}

static void an_exhausted_budget_gives_no_node(void **state) {
    (void)state;
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, &memory, 100);
    assert_non_null(g);
    graph_node e = graph_symbol(g, SYMBOL_COORDINATE, 0), z = graph_symbol(g, SYMBOL_TIME, 0);
    for (int i = 0; i < 70; i++) e = graph_unary(g, GRAPH_SIN, e);
    assert_true(e >= 0);
    assert_int_equal(graph_substitute(g, e, SYMBOL_COORDINATE, &z, 1), GRAPH_NONE);
    assert_int_equal(graph_status(g), HAMEL_LIMIT);
    arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_substituted_expression_is_the_composition),
        cmocka_unit_test(replacements_are_not_substituted_again),
        cmocka_unit_test(symbols_without_replacement_are_kept),
        cmocka_unit_test(replacements_by_numbers_are_folded),
        cmocka_unit_test(deep_shared_nests_are_walked_once),
        cmocka_unit_test(an_exhausted_budget_gives_no_node),
    };
    return cmocka_run_group_tests_name("substitute", tests, NULL, NULL);
}
