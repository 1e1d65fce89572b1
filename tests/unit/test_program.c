/* test_program.c — engine/compile: a compiled program computes its expressions.
 *
 * The reference calls graph_op_value for each node of the graph in succession. A program must give the same bits,
 * except for powers that are lowered to products. Fused operations are rounded like the two operations that they
 * replace. */
#include "engine/compile/program.h"
#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static double *workspace_of(const program *p) {
    double *w = malloc(program_workspace_doubles(p) * sizeof *w);
    assert_non_null(w);
    return w;
}

/* Returns the values of all nodes up to the largest root, in the order of ids. */
static double *walk_graph(const graph *g, const program_inputs *in) {
    size_t n = graph_count(g);
    double *v = malloc((n + 1) * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) {
        const graph_cell *c = graph_at(g, (graph_node)i);
        double x[3] = {0, 0, 0};
        if (c->op == GRAPH_IS_NUMBER) {
            v[i] = c->as.number;
        } else if (c->op == GRAPH_IS_SYMBOL) {
            v[i] = in->values[c->kind] ? in->values[c->kind][c->as.index] : 0;
        } else {
            for (int k = 0; k < 3; k++)
                if (c->as.operand[k] >= 0) x[k] = v[c->as.operand[k]];
            v[i] = graph_op_value((graph_op)c->op, x[0], x[1], x[2]);
        }
    }
    return v;
}

static void evaluate(const program *p, const program_inputs *in, double *out) {
    double *w = workspace_of(p);
    program_prepare(p, in, w);
    program_evaluate(p, in, w, out);
    free(w);
}

static bool same(double x, double y) {
    return x == y || (isnan(x) && isnan(y));
}

static graph_node parameter(graph_fixture *f, int i) {
    return graph_symbol(f->g, SYMBOL_PARAMETER, i);
}
static void outputs_may_be_numbers_symbols_and_repeat(void **state) {
    graph_fixture *f = *state;
    graph_node x = q(f, 1), nodes[] = {number(f, 2.5), x, x, number(f, 2.5), parameter(f, 0), graph_mul(f->g, x, x)};
    program *p = compile(f, nodes, 6);
    double out[6];
    evaluate(p, &(program_inputs){{[SYMBOL_COORDINATE] = (double[]){7, 3}, [SYMBOL_PARAMETER] = (double[]){4}}}, out);
    double expected[] = {2.5, 3, 3, 2.5, 4, 9};
    for (int i = 0; i < 6; i++) assert_true(out[i] == expected[i]);
}

static void a_program_without_outputs_is_empty(void **state) {
    graph_fixture *f = *state;
    program *p = compile(f, NULL, 0);
    assert_int_equal(program_instruction_count(p), 0);
    assert_int_equal(program_depends(p), 0);
    evaluate(p, &(program_inputs){{NULL}}, NULL);
}

static void every_operator_gives_the_value_of_the_table(void **state) {
    graph_fixture *f = *state;
    static const double points[][3] = {{0.3, 0.7, -1.1}, {2.5, -0.4, 3}, {-0.6, 2, 0.5}, {1, 1, 1}, {0, 3, -2}};
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        int arity = graph_op_get((graph_op)op)->arity;
        graph_node node = graph_apply(f->g, (graph_op)op, q(f, 0), arity > 1 ? q(f, 1) : GRAPH_NONE,
                                      arity > 2 ? q(f, 2) : GRAPH_NONE);
        program *p = compile(f, &node, 1);
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
            double out, expected = graph_op_value((graph_op)op, points[k][0], points[k][1], points[k][2]);
            evaluate(p, &(program_inputs){{[SYMBOL_COORDINATE] = points[k]}}, &out);
            if (!same(out, expected)) fail_msg("%s: %.17g, not %.17g", graph_op_get((graph_op)op)->text, out, expected);
        }
    }
}

/* Error bounds: an n-fold product has at most n - 1 roundings, and its inverse has one more. pow has an error of 1
 * ulp. */
static void powers_with_small_exponents_are_products(void **state) {
    graph_fixture *f = *state;
    static const double points[] = {1.7, -0.3, 12.5, 1e-3, 1};
    for (int twice = -33; twice <= 33; twice++) {
        double exponent = 0.5 * twice;
        graph_node node = graph_binary(f->g, GRAPH_POW, q(f, 0), number(f, exponent));
        program *p = compile(f, &node, 1);
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
            double out, expected = pow(points[k], exponent);
            evaluate(p, &(program_inputs){{[SYMBOL_COORDINATE] = &points[k]}}, &out);
            if (isnan(expected))
                assert_true(isnan(out));
            else
                assert_true(fabs(out - expected) <= 2.3e-16 * (fabs(exponent) + 3) * fabs(expected));
        }
    }
}

static void powers_of_zero_keep_their_values(void **state) {
    graph_fixture *f = *state;
    static const double exponents[] = {2, 3, 5, -1, -2, -3, 0.5, 1.5, -0.5, -1.5};
    double zero = 0;
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        graph_node node = graph_binary(f->g, GRAPH_POW, q(f, 0), number(f, exponents[k]));
        double out;
        evaluate(compile(f, &node, 1), &(program_inputs){{[SYMBOL_COORDINATE] = &zero}}, &out);
        assert_true(out == pow(0, exponents[k]));
    }
}

static void a_product_used_once_is_fused_and_one_used_twice_is_not(void **state) {
    graph_fixture *f = *state;
    graph_node product = graph_mul(f->g, q(f, 0), q(f, 1));
    graph_node sum = graph_add(f->g, product, q(f, 2)), difference = graph_sub(f->g, q(f, 3), product);
    assert_int_equal(program_instruction_count(compile(f, &sum, 1)), 1);
    assert_int_equal(program_instruction_count(compile(f, &difference, 1)), 1);
    assert_int_equal(program_instruction_count(compile(f, (graph_node[]){sum, difference}, 2)), 3);
    assert_int_equal(program_instruction_count(compile(f, (graph_node[]){sum, product}, 2)), 2);
}

static void sine_and_cosine_of_one_angle_are_one_operation(void **state) {
    graph_fixture *f = *state;
    graph_node s = graph_unary(f->g, GRAPH_SIN, q(f, 0)), c = graph_unary(f->g, GRAPH_COS, q(f, 0));
    program *p = compile(f, (graph_node[]){c, s}, 2);
    assert_int_equal(program_instruction_count(p), 1);
    double out[2], angle = 0.8;
    evaluate(p, &(program_inputs){{[SYMBOL_COORDINATE] = &angle}}, out);
    assert_true(fabs(out[0] - cos(angle)) < 1.2e-16 && fabs(out[1] - sin(angle)) < 1.2e-16);
}

static void expressions_of_parameters_are_evaluated_once(void **state) {
    graph_fixture *f = *state;
    graph_node a = graph_unary(f->g, GRAPH_SIN, parameter(f, 0));
    graph_node b = graph_mul(f->g, a, parameter(f, 1));
    graph_node node = graph_add(f->g, graph_mul(f->g, b, q(f, 0)), b);
    program *p = compile(f, &node, 1);
    assert_int_equal(program_depends(p), GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_COORDINATE));
    double *w = workspace_of(p), parameters[] = {0.5, 3}, x = 2, out;
    program_inputs in = {{[SYMBOL_PARAMETER] = parameters, [SYMBOL_COORDINATE] = &x}};
    program_prepare(p, &in, w);
    parameters[0] = NAN; /* program_prepare has read the parameters, and they must not be read again */
    in.values[SYMBOL_PARAMETER] = NULL;
    for (x = 2; x < 5; x++) {
        program_evaluate(p, &in, w, &out);
        assert_true(out == (sin(0.5) * 3) * x + sin(0.5) * 3);
    }
    free(w);
}

static void preparing_again_uses_the_new_parameters(void **state) {
    graph_fixture *f = *state;
    graph_node node = graph_unary(f->g, GRAPH_EXP, parameter(f, 0));
    program *p = compile(f, &node, 1);
    double *w = workspace_of(p), out;
    for (double v = 0; v < 3; v++) {
        program_inputs in = {{[SYMBOL_PARAMETER] = &v}};
        program_prepare(p, &in, w);
        program_evaluate(p, &in, w, &out);
        assert_true(out == exp(v));
    }
    free(w);
}

/* Builds a random graph over 3 coordinates, 3 parameters and time, with operations that stay finite and are not
 * lowered. */
static void grow_random(graph_fixture *f, graph_node *pool, size_t count, uint64_t *seed) {
    static const graph_op ops[] = {GRAPH_ADD, GRAPH_SUB, GRAPH_MUL,  GRAPH_ADD, GRAPH_MUL, GRAPH_SUB, GRAPH_NEG,
                                   GRAPH_SIN, GRAPH_COS, GRAPH_TANH, GRAPH_MIN, GRAPH_MAX, GRAPH_IF,  GRAPH_ATAN};
    for (int i = 0; i < 3; i++) pool[i] = q(f, i), pool[3 + i] = parameter(f, i);
    pool[6] = graph_symbol(f->g, SYMBOL_TIME, 0);
    pool[7] = number(f, 1.25);
    for (size_t i = 8; i < count; i++) {
        graph_op op = ops[random_bits(seed) % (sizeof ops / sizeof *ops)];
        /* mostly recent operands, which gives deep graphs with some long-lived values */
        size_t reach = i < 40 ? i : 40;
        graph_node x = pool[i - 1 - random_bits(seed) % reach], y = pool[random_bits(seed) % i];
        graph_node z = pool[i - 1 - random_bits(seed) % reach];
        int arity = graph_op_get(op)->arity;
        if (op == GRAPH_IF) x = graph_binary(f->g, GRAPH_LT, x, y);
        pool[i] = graph_apply(f->g, op, x, arity > 1 ? y : GRAPH_NONE, arity > 2 ? z : GRAPH_NONE);
        if (op == GRAPH_MUL) pool[i] = graph_unary(f->g, GRAPH_TANH, pool[i]);
    }
}

static void check_random(graph_fixture *f, uint64_t seed, size_t count, size_t outputs) {
    graph_node *pool = malloc(count * sizeof *pool), *nodes = malloc(outputs * sizeof *nodes);
    double *out = malloc(outputs * sizeof *out);
    assert_true(pool && nodes && out);
    grow_random(f, pool, count, &seed);
    assert_int_equal(graph_status(f->g), HAMEL_OK);
    for (size_t i = 0; i < outputs; i++) nodes[i] = pool[count - 1 - random_bits(&seed) % (count / 2)];
    program *p = compile(f, nodes, outputs);
    double *w = workspace_of(p);
    double parameters[] = {0.3, -1.2, 2.2}, t = 0.1, x[] = {0.5, -0.25, 1.5};
    program_inputs in = {{[SYMBOL_PARAMETER] = parameters, [SYMBOL_TIME] = &t, [SYMBOL_COORDINATE] = x}};
    program_prepare(p, &in, w);
    for (int round = 0; round < 3; round++, x[round % 3] += 0.37, t += 1) {
        double *expected = walk_graph(f->g, &in);
        program_evaluate(p, &in, w, out);
        for (size_t i = 0; i < outputs; i++) assert_true(same(out[i], expected[nodes[i]]));
        free(expected);
    }
    free(w);
    free(out);
    free(nodes);
    free(pool);
}

static void random_graphs_evaluate_as_the_graph_does(void **state) {
    graph_fixture *f = *state;
    for (uint64_t seed = 1; seed <= 40; seed++) check_random(f, seed * 7919, 30 + 25 * seed, 1 + seed % 9);
    check_random(f, 99, 30000, 50);
}

static void a_deep_chain_needs_no_stack_and_few_slots(void **state) {
    graph_fixture *f = *state;
    graph_node node = q(f, 0);
    for (int i = 0; i < 100000; i++) node = graph_unary(f->g, i % 2 ? GRAPH_SIN : GRAPH_ATAN, node);
    program *p = compile(f, &node, 1);
    assert_int_equal(program_instruction_count(p), 100000);
    assert_true(program_workspace_doubles(p) <= 4);
}

static void a_small_part_of_a_large_graph_gives_a_small_program(void **state) {
    graph_fixture *f = *state;
    graph_node node = q(f, 0);
    for (int i = 0; i < 50000; i++) node = graph_unary(f->g, i % 2 ? GRAPH_SIN : GRAPH_ATAN, node);
    graph_node small = graph_add(f->g, q(f, 0), q(f, 1));
    assert_int_equal(program_instruction_count(compile(f, &small, 1)), 1);
}

static void the_first_error_is_the_operation_that_lost_finiteness(void **state) {
    graph_fixture *f = *state;
    graph_node root = graph_unary(f->g, GRAPH_SQRT, q(f, 0));
    graph_node node = graph_add(f->g, graph_mul(f->g, root, q(f, 1)), graph_unary(f->g, GRAPH_EXP, q(f, 1)));
    program *p = compile(f, &node, 1);
    double *w = workspace_of(p), x[] = {-1, 2};
    program_inputs in = {{[SYMBOL_COORDINATE] = x}};
    assert_int_equal(program_first_fault(p, &in, w), root);
    x[0] = 1;
    assert_int_equal(program_first_fault(p, &in, w), GRAPH_NONE);
    x[1] = 1000;
    assert_int_equal(program_first_fault(p, &in, w), graph_unary(f->g, GRAPH_EXP, q(f, 1)));
    x[1] = NAN; /* NaN is an input value, so no operation is reported as its cause */
    assert_int_equal(program_first_fault(p, &in, w), GRAPH_NONE);
    free(w);
}

static void an_error_among_the_parameters_is_found_in_a_prepared_workspace(void **state) {
    graph_fixture *f = *state;
    graph_node fault = graph_unary(f->g, GRAPH_LOG, parameter(f, 0)), node = graph_mul(f->g, fault, q(f, 0));
    program *p = compile(f, &node, 1);
    double *w = workspace_of(p);
    program_inputs in = {{[SYMBOL_PARAMETER] = (double[]){-1}, [SYMBOL_COORDINATE] = (double[]){2}}};
    program_prepare(p, &in, w);
    in.values[SYMBOL_PARAMETER] = NULL;
    assert_int_equal(program_first_fault(p, &in, w), fault);
    free(w);
}

static void the_branch_not_selected_is_not_an_error(void **state) {
    graph_fixture *f = *state;
    graph_node positive = graph_binary(f->g, GRAPH_GT, q(f, 0), number(f, 0));
    graph_node guarded = graph_apply(f->g, GRAPH_IF, positive, graph_unary(f->g, GRAPH_LOG, q(f, 0)), q(f, 0));
    graph_node fault = graph_unary(f->g, GRAPH_ACOSH, q(f, 1));
    graph_node node = graph_add(f->g, guarded, fault);
    program *p = compile(f, &node, 1);
    double *w = workspace_of(p);
    program_inputs in = {{[SYMBOL_COORDINATE] = (double[]){-1, 0}}};
    assert_int_equal(program_first_fault(p, &in, w), fault);
    free(w);
}

static void a_node_that_could_not_be_built_is_rejected_with_its_reason(void **state) {
    (void)state;
    arena memory;
    arena_init(&memory, 0);
    graph *g = graph_create(&memory, &memory, 4);
    graph_node node = graph_symbol(g, SYMBOL_COORDINATE, 0);
    for (int i = 0; i < 10; i++) node = graph_unary(g, GRAPH_SIN, node);
    hamel_error error = {0};
    program *p;
    assert_int_equal(program_compile(&p, &memory, g, &node, 1, &error), HAMEL_LIMIT);
    assert_null(p);
    assert_int_equal(error.count, 1);
    hamel_error_clear(&error);
    arena_free(&memory);
}

static void a_full_arena_is_reported(void **state) {
    graph_fixture *f = *state;
    graph_node node = graph_add(f->g, q(f, 0), q(f, 1));
    arena small;
    arena_init(&small, 1);
    program *p;
    assert_int_equal(program_compile(&p, &small, f->g, &node, 1, &f->error), HAMEL_NO_MEMORY);
    assert_null(p);
    arena_free(&small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(outputs_may_be_numbers_symbols_and_repeat),
        TEST(a_program_without_outputs_is_empty),
        TEST(every_operator_gives_the_value_of_the_table),
        TEST(powers_with_small_exponents_are_products),
        TEST(powers_of_zero_keep_their_values),
        TEST(a_product_used_once_is_fused_and_one_used_twice_is_not),
        TEST(sine_and_cosine_of_one_angle_are_one_operation),
        TEST(expressions_of_parameters_are_evaluated_once),
        TEST(preparing_again_uses_the_new_parameters),
        TEST(random_graphs_evaluate_as_the_graph_does),
        TEST(a_deep_chain_needs_no_stack_and_few_slots),
        TEST(a_small_part_of_a_large_graph_gives_a_small_program),
        TEST(the_first_error_is_the_operation_that_lost_finiteness),
        TEST(an_error_among_the_parameters_is_found_in_a_prepared_workspace),
        TEST(the_branch_not_selected_is_not_an_error),
        TEST(a_node_that_could_not_be_built_is_rejected_with_its_reason),
        TEST(a_full_arena_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
