/* test_program_vec8.c — programs for eight members in SIMD lanes give the same results as for one member. */
#include "engine/compile/native.h"
#include "tests/unit/fixture.h"
#include "tests/unit/random.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { Q = 3, P = 2 };

/* Expects that machine code computes `expected` as well, in the same workspace, with registers of each width. */
static void compare_with_native(program *code, const program_inputs *in, vec8 *work, const vec8 *expected,
                                size_t count) {
    const program *const programs[] = {code};
    vec8 *outputs = vec8_alloc(count);
    for (size_t width = 4; width <= native_widest(); width *= 2) {
        native_code bytes;
        program_native made;
        native_status status = native_translate_vec8(&bytes, width, programs, 1, &made);
        if (status == NATIVE_NO_MACHINE) break;
        assert_int_equal(status, NATIVE_DONE);
        native_evaluate_vec8(made, width, in, work, outputs);
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < VEC8_SIZE; k++) {
                double one = outputs[i][k], other = expected[i][k];
                if (memcmp(&one, &other, sizeof one) != 0 && !(isnan(one) && isnan(other)))
                    fail_msg("output %zu of member %d: %.17g by code for %zu numbers, %.17g by the interpreter", i, k,
                             one, width, other);
            }
        native_free(&bytes);
    }
    free(outputs);
}

/* Evaluates the program of the nodes for all members in SIMD lanes, and for each member alone. */
static void evaluate_both(const graph *g, const graph_node *nodes, size_t count, const vec8 *p, const vec8 *q,
                          vec8 *together, double *alone) {
    arena memory;
    program *code;
    arena_init(&memory, 0);
    assert_int_equal(program_compile(&code, &memory, g, nodes, count, NULL), HAMEL_OK);
    vec8 *work = vec8_alloc(program_workspace_doubles(code));
    double *single = calloc(program_workspace_doubles(code), sizeof *single);
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = (const double *)p;
    in.values[SYMBOL_COORDINATE] = (const double *)q;
    program_prepare_vec8(code, &in, work);
    program_evaluate_vec8(code, &in, work, together);
    compare_with_native(code, &in, work, together, count);
    for (int k = 0; k < VEC8_SIZE; k++) {
        double parameters[P], coordinates[Q];
        for (int i = 0; i < P; i++) parameters[i] = p[i][k];
        for (int i = 0; i < Q; i++) coordinates[i] = q[i][k];
        in.values[SYMBOL_PARAMETER] = parameters;
        in.values[SYMBOL_COORDINATE] = coordinates;
        program_prepare(code, &in, single);
        program_evaluate(code, &in, single, alone + (size_t)k * count);
    }
    free(work);
    free(single);
    arena_free(&memory);
}

static void fill(uint64_t *seed, vec8 *x, size_t count, double low, double high) {
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < VEC8_SIZE; k++) x[i][k] = random_between(seed, low, high);
}

static void every_operator_has_its_value_in_every_lane(void **state) {
    (void)state;
    graph *g;
    arena memory;
    uint64_t seed = 5;
    vec8 p[P], q[Q], together[3 * GRAPH_LISTED_COUNT];
    double alone[VEC8_SIZE * 3 * GRAPH_LISTED_COUNT];
    graph_node nodes[3 * GRAPH_LISTED_COUNT], x[Q];
    arena_init(&memory, 0);
    assert_non_null(g = graph_create(&memory, &memory, 100000));
    for (int i = 0; i < Q; i++) x[i] = graph_symbol(g, SYMBOL_COORDINATE, i);
    graph_node m = graph_symbol(g, SYMBOL_PARAMETER, 0), u = graph_binary(g, GRAPH_MUL, m, x[1]);
    size_t count = 0;
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        nodes[count++] = graph_apply(g, (graph_op)op, x[0], x[1], x[2]);
        nodes[count++] =
            graph_apply(g, (graph_op)op, u, graph_number(g, 3), graph_apply(g, GRAPH_SIN, m, GRAPH_NONE, GRAPH_NONE));
    }
    for (int round = 0; round < 200; round++) {
        fill(&seed, p, P, -2, 2);
        fill(&seed, q, Q, -3, 3);
        evaluate_both(g, nodes, count, p, q, together, alone);
        for (size_t i = 0; i < count; i++) {
            for (int k = 0; k < VEC8_SIZE; k++) {
                double one = together[i][k], other = alone[(size_t)k * count + i];
                if (isnan(one) && isnan(other)) continue;
                if (memcmp(&one, &other, sizeof one) != 0)
                    fail_msg("operator %s of member %d: %.17g and %.17g", graph_op_get((graph_op)(i / 2))->text, k, one,
                             other);
            }
        }
    }
    arena_free(&memory);
}

/* Returns the error in units in the last place of `expected`. `expected` is the value of the C library, which has an
 * error of at most 1 unit itself. */
static double ulps(double found, double expected) {
    int exponent;
    (void)frexp(expected, &exponent);
    return fabs(found - expected) / ldexp(DBL_EPSILON / 2, exponent);
}

static void sine_and_cosine_are_within_one_ulp(void **state) {
    (void)state;
    static const double ranges[] = {1e-9, 0.7, 3, 30, 1e3, 5e5, 1e9};
    graph *g;
    arena memory;
    uint64_t seed = 9;
    vec8 p[P] = {{0}}, q[Q], together[3];
    double alone[VEC8_SIZE * 3], worst = 0;
    arena_init(&memory, 0);
    assert_non_null(g = graph_create(&memory, &memory, 100000));
    graph_node nodes[3];
    for (int i = 0; i < 3; i++)
        nodes[i] = graph_apply(g, i == 1 ? GRAPH_COS : GRAPH_SIN, graph_symbol(g, SYMBOL_COORDINATE, i == 2),
                               GRAPH_NONE, GRAPH_NONE);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
        for (int round = 0; round < 3000; round++) {
            fill(&seed, q, Q, -ranges[r], ranges[r]);
            q[1][0] = (double)round * M_PI_2; /* the argument reduction cancels most at multiples of π/2 */
            evaluate_both(g, nodes, 3, p, q, together, alone);
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < VEC8_SIZE; k++) {
                    double other = i == 1 ? cos(q[0][k]) : sin(q[i == 2][k]);
                    double lane = together[i][k]; /* clang has no addresses of elements of vectors */
                    assert_memory_equal(&lane, &alone[3 * k + i], sizeof lane);
                    if (other != 0)
                        worst = fmax(worst, ulps(lane, other));
                    else
                        assert_true(lane == 0);
                }
        }
    }
    assert_true(worst <= 1);
    arena_free(&memory);
}

static void values_that_are_not_finite_affect_only_their_lane(void **state) {
    (void)state;
    graph *g;
    arena memory;
    vec8 p[P] = {{0}}, q[Q] = {{0}}, together[2];
    double alone[VEC8_SIZE * 2];
    arena_init(&memory, 0);
    assert_non_null(g = graph_create(&memory, &memory, 100000));
    graph_node x = graph_symbol(g, SYMBOL_COORDINATE, 0);
    graph_node nodes[2] = {graph_apply(g, GRAPH_SIN, x, GRAPH_NONE, GRAPH_NONE),
                           graph_apply(g, GRAPH_LOG, x, GRAPH_NONE, GRAPH_NONE)};
    for (int k = 0; k < VEC8_SIZE; k++) q[0][k] = k == 3 ? (double)INFINITY : k == 5 ? (double)NAN : k;
    evaluate_both(g, nodes, 2, p, q, together, alone);
    for (int k = 0; k < VEC8_SIZE; k++) {
        assert_int_equal(isfinite(together[0][k]) != 0, k != 3 && k != 5);
        assert_int_equal(isfinite(together[1][k]) != 0, k != 3 && k != 5 && k != 0);
    }
    arena_free(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_has_its_value_in_every_lane),
        cmocka_unit_test(sine_and_cosine_are_within_one_ulp),
        cmocka_unit_test(values_that_are_not_finite_affect_only_their_lane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
