/* test_graph.c — engine/graph/graph.c, simplify.c, print.c and the terms of substitute.c.
 *
 * Reference values are computed by a loop over the graph with the operator table. Simplification is checked by
 * comparing values, so the tests do not depend on the form of the result. */
#include "tests/unit/fixture.h"
#include "tests/unit/graph_fixture.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SYMBOLS = 4 };

static double value_at(const graph *g, graph_node node, const double *q) {
    program_inputs in = {{[SYMBOL_COORDINATE] = q}};
    return fixture_value(g, node, &in);
}

static void equal_expressions_are_one_node(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node a = graph_mul(g, graph_unary(g, GRAPH_SIN, q(f, 0)), q(f, 1));
    size_t count = graph_count(g);
    assert_int_equal(a, graph_mul(g, q(f, 1), graph_unary(g, GRAPH_SIN, q(f, 0))));
    assert_int_equal(graph_count(g), count);
    assert_int_equal(graph_add(g, q(f, 2), a), graph_add(g, a, q(f, 2)));
    assert_int_equal(graph_number(g, 0.0), graph_number(g, -0.0));
    assert_int_not_equal(graph_number(g, 1), graph_number(g, nextafter(1, 2)));
    assert_int_not_equal(q(f, 0), graph_symbol(g, SYMBOL_VELOCITY, 0));
}

static void neutral_elements_are_dropped_and_like_terms_are_combined(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node x = q(f, 0), y = q(f, 1), zero = graph_number(g, 0), one = graph_number(g, 1), two = graph_number(g, 2);
    assert_int_equal(graph_add(g, x, zero), x);
    assert_int_equal(graph_mul(g, x, one), x);
    assert_int_equal(graph_mul(g, x, zero), zero);
    assert_int_equal(graph_sub(g, x, x), zero);
    assert_int_equal(graph_add(g, x, x), graph_mul(g, two, x));
    assert_int_equal(graph_mul(g, x, x), graph_binary(g, GRAPH_POW, x, two));
    assert_int_equal(graph_binary(g, GRAPH_POW, x, zero), one);
    assert_int_equal(graph_neg(g, graph_neg(g, x)), x);
    assert_int_equal(graph_neg(g, graph_sub(g, x, y)), graph_sub(g, y, x));
    graph_node sine = graph_unary(g, GRAPH_SIN, x), cosine = graph_unary(g, GRAPH_COS, x);
    assert_int_equal(graph_add(g, graph_mul(g, sine, sine), graph_mul(g, cosine, cosine)), one);
    assert_int_equal(graph_apply(g, GRAPH_IF, one, x, y), x);
}

/* These operators have no jumps, so rounding cannot select a different branch. */
static const graph_op smooth[] = {GRAPH_ADD, GRAPH_SUB, GRAPH_MUL, GRAPH_DIV,  GRAPH_NEG,  GRAPH_POW,
                                  GRAPH_SIN, GRAPH_COS, GRAPH_TAN, GRAPH_ATAN, GRAPH_TANH, GRAPH_ABS,
                                  GRAPH_EXP, GRAPH_MIN, GRAPH_MAX, GRAPH_HYPOT};

static graph_node random_leaf(graph_fixture *f, uint64_t *seed) {
    static const double numbers[] = {0, 1, -1, 2, -2, 3, 0.5, -0.25, 0.7, 1e-3};
    double pick = random_between(seed, 0, 1);
    if (pick < 0.6) return q(f, (int)random_between(seed, 0, SYMBOLS));
    return graph_number(f->g, numbers[(int)random_between(seed, 0, 10)]);
}

static graph_node random_node(graph_fixture *f, uint64_t *seed, graph_op *op, graph_node *x, graph_node *y,
                              const graph_node *pool, size_t count) {
    *op = smooth[(size_t)random_between(seed, 0, sizeof smooth / sizeof *smooth)];
    *x = count > 0 && random_between(seed, 0, 1) < 0.7 ? pool[(size_t)random_between(seed, 0, (double)count)]
                                                       : random_leaf(f, seed);
    *y = count > 0 && random_between(seed, 0, 1) < 0.6 ? pool[(size_t)random_between(seed, 0, (double)count)]
                                                       : random_leaf(f, seed);
    if (*op == GRAPH_POW) *y = graph_number(f->g, floor(random_between(seed, -3, 5)));
    return graph_apply(f->g, *op, *x, *y, GRAPH_NONE);
}

static void simplification_keeps_values(void **state) {
    graph_fixture *f = *state;
    uint64_t seed = 11;
    enum { POOL = 60 };
    for (int round = 0; round < 60; round++) {
        graph_node pool[POOL];
        for (size_t k = 0; k < POOL; k++) {
            graph_op op;
            graph_node x, y;
            pool[k] = random_node(f, &seed, &op, &x, &y, pool, k);
            assert_true(pool[k] >= 0);
            for (int point = 0; point < 3; point++) {
                double q[SYMBOLS], a, b, expected, got;
                random_fill(&seed, q, SYMBOLS, -2, 2);
                a = value_at(f->g, x, q);
                b = value_at(f->g, y, q);
                expected = graph_op_value(op, a, b, 0);
                got = value_at(f->g, pool[k], q);
                if (!isfinite(expected) || fabs(expected) > 1e100) continue;
                /* if terms can cancel, the error bound is relative to the sum of their magnitudes */
                bool like_terms = op == GRAPH_ADD || op == GRAPH_SUB;
                double size = fabs(expected) + (like_terms ? fabs(a) + fabs(b) : 0);
                if (!(fabs(got - expected) <= 1e-13 * size + DBL_MIN))
                    fail_msg("%s of %g, %g: %.17g instead of %.17g", graph_op_get(op)->text, a, b, got, expected);
            }
            if (!(fabs(value_at(f->g, pool[k], (double[]){0.3, -0.8, 1.7, 0.9})) < 1e3)) pool[k] = q(f, 0);
        }
    }
}

static void coefficients_are_not_merged_beyond_the_range_of_numbers(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node x = q(f, 0), huge = graph_number(g, 1e308), tiny = graph_number(g, 1e-200);
    double q[SYMBOLS] = {0.1, 1, 1, 1};
    graph_node scaled = graph_mul(g, huge, x);
    assert_near("1e308 x + 1e308 x", value_at(g, graph_add(g, scaled, scaled), q), 2e307, 1e-15);
    assert_near("1e308 x - -1e308 x", value_at(g, graph_sub(g, scaled, graph_mul(g, graph_number(g, -1e308), x)), q),
                2e307, 1e-15);
    q[0] = -1.5e308;
    assert_near("1e308 + (1e308 + x)", value_at(g, graph_add(g, huge, graph_add(g, huge, x)), q),
                1e308 + (1e308 - 1.5e308), 1e-15);
    q[0] = 1e300;
    double product = value_at(g, graph_mul(g, tiny, graph_mul(g, tiny, x)), q);
    assert_true(fabs(product / 1e-100 - 1) < 1e-12);
    double quotient = value_at(g, graph_div(g, graph_mul(g, tiny, x), graph_number(g, 1e200)), q);
    assert_true(fabs(quotient / 1e-100 - 1) < 1e-12);
}

static void evaluation_reports_values_that_are_not_finite(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    double q[SYMBOLS] = {0};
    graph_node node = graph_div(g, graph_number(g, 1), graph_number(g, 0));
    assert_false(graph_is_number(g, node, NULL));
    assert_true(isinf(value_at(g, node, q)));
    node = graph_unary(g, GRAPH_SQRT, graph_number(g, -1));
    assert_false(graph_is_number(g, node, NULL));
    node = graph_unary(g, GRAPH_LOG, graph_number(g, 0));
    assert_false(graph_is_number(g, node, NULL));
}

static void constants_fold_as_in_the_operator_table(void **state) {
    graph_fixture *f = *state;
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        graph_node x = graph_number(f->g, 0.4), y = graph_number(f->g, 1.3), z = graph_number(f->g, -2);
        if (op == GRAPH_ACOSH) x = graph_number(f->g, 1.9);
        double a, got;
        assert_true(graph_is_number(f->g, x, &a));
        assert_true(graph_is_number(f->g, graph_apply(f->g, (graph_op)op, x, y, z), &got));
        assert_true(got == graph_op_value((graph_op)op, a, 1.3, -2));
    }
}

static void a_sum_is_split_into_signed_terms(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node product = graph_mul(g, q(f, 0), q(f, 1)), sine = graph_unary(g, GRAPH_SIN, q(f, 2));
    graph_node sum = graph_sub(g, graph_add(g, product, q(f, 3)), graph_sub(g, sine, graph_mul(g, q(f, 2), q(f, 3))));
    graph_node *terms;
    signed char *signs;
    size_t count = graph_terms(g, sum, &f->memory, NULL, &terms, &signs);
    assert_int_equal(count, 4);
    double q[SYMBOLS] = {0.3, -0.8, 1.7, 0.9}, total = 0;
    for (size_t i = 0; i < count; i++) total += signs[i] * value_at(g, terms[i], q);
    assert_near("sum", total, value_at(g, sum, q), 1e-15);
    assert_int_equal(graph_terms(g, product, &f->memory, NULL, &terms, &signs), 1);
    assert_int_equal(terms[0], product);
}

/* Splits the sums s_1 = sin(v_1), s_k = s_{k-1} + sin(v_k) into terms. Up to a total of GRAPH_TERMS_FREE terms, each
 * sum is split completely. After that, a sum that has already been split counts as one term. */
static void sums_of_sums_give_a_linear_number_of_terms(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    enum { SUMS = 200 };
    graph_node sum = GRAPH_NONE, *terms;
    signed char *signs;
    graph_sums sums = {0};
    for (int k = 1; k <= SUMS; k++) {
        graph_node next = graph_unary(g, GRAPH_SIN, graph_symbol(g, SYMBOL_VELOCITY, k)), before = sum;
        size_t earlier = sums.terms;
        sum = k > 1 ? graph_add(g, sum, next) : next;
        size_t count = graph_terms(g, graph_mul(g, graph_number(g, 3), sum), &f->memory, &sums, &terms, &signs);
        if (earlier + (size_t)k < GRAPH_TERMS_FREE) assert_int_equal(count, k);
        if (k > SUMS / 2) {
            graph_node rest = graph_mul(g, graph_number(g, 3), before);
            assert_int_equal(count, 2);
            assert_true(terms[0] == rest || terms[1] == rest);
        }
    }
    assert_int_equal(graph_terms(g, sum, &f->memory, NULL, &terms, &signs), SUMS);
}

enum { SET_NODES = GRAPH_SET_BITS + 150 };

/* Marks the indices of the symbols of one kind in `node`. */
static void mark_symbols(graph *g, graph_node node, graph_symbol_kind kind, bool marked[2 * GRAPH_SET_BITS]) {
    const int32_t *list;
    size_t count = graph_support(g, node, kind, &list);
    for (size_t i = 0; i < count; i++) marked[list[i]] = true;
}

/* The nodes are x_k = sin(q_k) v_{k+1} + x_{k−1}/2, and every hundredth node omits the last term. One pass finds
 * GRAPH_SET_BITS indices, so the test needs several passes. */
static void sets_of_symbols_are_those_of_single_searches(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    const unsigned positions = GRAPH_DEPENDS(SYMBOL_COORDINATE), velocities = GRAPH_DEPENDS(SYMBOL_VELOCITY);
    const unsigned kinds[] = {positions, velocities, positions | velocities};
    graph_node *x = arena_alloc(&f->memory, SET_NODES, sizeof *x), last = graph_number(g, 1);
    graph_sets sets;
    assert_non_null(x);
    for (int k = 0; k < SET_NODES; k++) {
        graph_node sine = graph_unary(g, GRAPH_SIN, graph_symbol(g, SYMBOL_COORDINATE, k));
        graph_node product = graph_mul(g, sine, graph_symbol(g, SYMBOL_VELOCITY, k + 1));
        last = x[k] = k % 100 == 99 ? product : graph_add(g, product, graph_div(g, last, graph_number(g, 2)));
    }
    assert_true(graph_sets_create(&sets, g, x, SET_NODES, &f->memory));
    for (int kind = 0; kind < 3; kind++)
        for (size_t first = 0; first <= SET_NODES; first += GRAPH_SET_BITS) {
            graph_sets_find(&sets, kinds[kind], first);
            for (int k = 0; k < SET_NODES; k += 7) {
                bool marked[2 * GRAPH_SET_BITS] = {false};
                if (kinds[kind] & positions) mark_symbols(g, x[k], SYMBOL_COORDINATE, marked);
                if (kinds[kind] & velocities) mark_symbols(g, x[k], SYMBOL_VELOCITY, marked);
                for (size_t bit = 0; bit < GRAPH_SET_BITS; bit++)
                    assert_int_equal(graph_set_contains(graph_sets_at(&sets, x[k]), bit), marked[first + bit]);
            }
        }
}

static void sums_of_a_hundred_thousand_terms_need_no_stack(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    enum { TERMS = 100000 };
    graph_node sum = q(f, 0);
    for (int i = 1; i < TERMS; i++)
        sum = graph_add(g, graph_unary(g, GRAPH_SIN, graph_symbol(g, SYMBOL_VELOCITY, i)), sum);
    graph_node *terms;
    signed char *signs;
    assert_int_equal(graph_terms(g, sum, &f->memory, NULL, &terms, &signs), TERMS);
    const int32_t *indices;
    assert_int_equal(graph_support(g, sum, SYMBOL_VELOCITY, &indices), TERMS - 1);
    for (int i = 0; i < TERMS - 1; i++) assert_int_equal(indices[i], i + 1);
    assert_int_equal(graph_support(g, sum, SYMBOL_COORDINATE, &indices), 1);
    assert_int_equal(graph_support(g, sum, SYMBOL_TIME, &indices), 0);
}

static void the_node_budget_is_sticky(void **state) {
    (void)state;
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, &memory, 10);
    assert_non_null(g);
    graph_node node = graph_symbol(g, SYMBOL_TIME, 0);
    for (int i = 0; i < 40; i++) node = graph_unary(g, GRAPH_SIN, node);
    assert_int_equal(node, GRAPH_NONE);
    assert_int_equal(graph_status(g), HAMEL_LIMIT);
    assert_int_equal(graph_number(g, 1), GRAPH_NONE);
    assert_int_equal(graph_rate(g, 0), GRAPH_NONE);
    assert_true(graph_count(g) <= 10);
    arena_free(&memory);
}

static void a_closed_graph_keeps_its_nodes_and_frees_its_scratch_memory(void **state) {
    (void)state;
    static const double q[] = {0.3, 0.7};
    arena memory, scratch;
    arena_init(&memory, 0);
    arena_init(&scratch, 0);
    graph *g = graph_create(&memory, &scratch, 0);
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0), y = graph_symbol(g, SYMBOL_COORDINATE, 1);
    graph_node node = graph_partial(g, graph_mul(g, graph_unary(g, GRAPH_SIN, x), y), x);
    size_t count = graph_count(g);
    program *p;
    assert_int_equal(program_compile(&p, &memory, g, &node, 1, NULL), HAMEL_OK);
    assert_true(graph_close(g));
    arena_free(&scratch);
    program_inputs in = {{[SYMBOL_COORDINATE] = q}};
    assert_int_equal(graph_count(g), count);
    assert_true(fixture_value(g, node, &in) == cos(0.3) * 0.7);
    assert_true(graph_depends(g, node) == GRAPH_DEPENDS(SYMBOL_COORDINATE));
    assert_int_equal(program_compile(&p, &memory, g, &node, 1, NULL), HAMEL_OK);
    arena_free(&memory);
}

static void running_out_of_memory_is_reported(void **state) {
    (void)state;
    for (size_t limit = 5000; limit < 60000; limit += 1777) {
        arena memory;
        arena_init(&memory, limit);
        graph *g = graph_create(&memory, &memory, 0);
        if (g) {
            graph_node node = graph_symbol(g, SYMBOL_COORDINATE, 0);
            for (int i = 0; i < 4000; i++)
                node = graph_unary(g, GRAPH_SIN, graph_add(g, node, graph_symbol(g, SYMBOL_TIME, 0)));
            if (node >= 0) node = graph_rate(g, node);
            assert_int_equal(node, GRAPH_NONE);
            assert_int_equal(graph_status(g), HAMEL_NO_MEMORY);
        }
        arena_free(&memory);
    }
}

/* --- printing ------------------------------------------------------------------------------------------------------ */

#define FREE_POINTS "`coordinates`: [`x`, `y`, `z`, `w`], `kinetic_energy`: `(x'^2 + y'^2 + z'^2 + w'^2)/2`"

static char *printed(fixture *f, graph_node node) {
    text_buffer text;
    text_buffer_init(&text, 1 << 20);
    graph_print(f->system->graph, node, system_name_symbol, f->system, &text);
    char *result = text_buffer_take(&text, NULL);
    text_buffer_free(&text);
    return result;
}

static void expect_round_trip(fixture *f, graph_node node, uint64_t *seed) {
    char *text = printed(f, node);
    if (!text) return; /* the text would exceed one megabyte, because common subexpressions are repeated */
    if (strlen(text) < 5000) {
        graph_node again = fixture_node(f, text);
        double q[SYMBOLS];
        random_fill(seed, q, SYMBOLS, 0.1, 0.9);
        double a = value_at(f->system->graph, node, q), b = value_at(f->system->graph, again, q);
        if (isfinite(a) && !(fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)))) fail_msg("%s: %.17g became %.17g", text, a, b);
    }
    free(text);
}

static void printed_expressions_are_read_back_with_the_same_value(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, FREE_POINTS);
    uint64_t seed = 5;
    graph_fixture random = {.g = f.system->graph};
    for (int round = 0; round < 60; round++) {
        graph_node pool[12];
        for (size_t k = 0; k < 12; k++) {
            graph_op op;
            graph_node x, y;
            pool[k] = random_node(&random, &seed, &op, &x, &y, pool, k);
            expect_round_trip(&f, pool[k], &seed);
        }
    }
    fixture_close(&f);
}

static void every_printed_operator_can_be_parsed(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, FREE_POINTS);
    graph *g = f.system->graph;
    const graph_node *q = f.system->q;
    uint64_t seed = 3;
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        const graph_op_info *info = graph_op_get((graph_op)op);
        graph_node less = graph_binary(g, GRAPH_LT, q[0], q[1]), more = graph_binary(g, GRAPH_GE, q[2], q[3]);
        bool of_conditions = op == GRAPH_AND || op == GRAPH_OR || op == GRAPH_NOT;
        graph_node node = graph_apply(g, (graph_op)op, of_conditions || op == GRAPH_IF ? less : q[0],
                                      of_conditions ? more : q[1], q[2]);
        if (info->condition)
            node =
                graph_apply(g, GRAPH_IF, graph_binary(g, GRAPH_OR, graph_unary(g, GRAPH_NOT, node), more), q[3], q[0]);
        if (op == GRAPH_ACOSH) node = graph_unary(g, GRAPH_ACOSH, graph_add(g, graph_number(g, 2), q[0]));
        for (int k = 0; k < 5; k++) expect_round_trip(&f, node, &seed);
        expect_round_trip(&f, graph_neg(g, graph_binary(g, GRAPH_POW, node, graph_number(g, -2))), &seed);
        expect_round_trip(
            &f, graph_sub(g, q[1], graph_sub(g, node, graph_div(g, q[2], graph_mul(g, q[0], graph_neg(g, node))))),
            &seed);
    }
    fixture_close(&f);
}

static void names_of_all_kinds_of_symbols_are_printed(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, "`parameters`: {`k`: 2}, `coordinates`: [`x[1]`], `kinetic_energy`: `x[1]'^2/2`");
    char *text = printed(&f, fixture_node(&f, "k*t + x[1] + 2*x[1]' - x[1]''"));
    assert_non_null(text);
    assert_non_null(strstr(text, "k"));
    assert_non_null(strstr(text, "t"));
    assert_non_null(strstr(text, "x[1]''"));
    free(text);
    fixture_close(&f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(equal_expressions_are_one_node),
        TEST(neutral_elements_are_dropped_and_like_terms_are_combined),
        TEST(simplification_keeps_values),
        TEST(coefficients_are_not_merged_beyond_the_range_of_numbers),
        TEST(evaluation_reports_values_that_are_not_finite),
        TEST(constants_fold_as_in_the_operator_table),
        TEST(a_sum_is_split_into_signed_terms),
        TEST(sums_of_sums_give_a_linear_number_of_terms),
        TEST(sets_of_symbols_are_those_of_single_searches),
        TEST(sums_of_a_hundred_thousand_terms_need_no_stack),
        cmocka_unit_test(the_node_budget_is_sticky),
        cmocka_unit_test(a_closed_graph_keeps_its_nodes_and_frees_its_scratch_memory),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test(printed_expressions_are_read_back_with_the_same_value),
        cmocka_unit_test(every_printed_operator_can_be_parsed),
        cmocka_unit_test(names_of_all_kinds_of_symbols_are_printed),
    };
    return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
