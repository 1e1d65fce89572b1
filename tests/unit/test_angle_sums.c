/* test_angle_sums.c — engine/graph/angle_sums.c: expansion of the sine or cosine of a sum if the sines and cosines of
 * its terms are available. */
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

enum { ANGLES = 5 };

typedef struct bench {
    arena memory;
    graph *g;
    graph_node q[ANGLES], p;
} bench;

static void open_bench(bench *b) {
    arena_init(&b->memory, 0);
    b->g = graph_create(&b->memory, &b->memory, 0);
    assert_non_null(b->g);
    for (int32_t i = 0; i < ANGLES; i++) b->q[i] = graph_symbol(b->g, SYMBOL_COORDINATE, i);
    b->p = graph_symbol(b->g, SYMBOL_PARAMETER, 0);
}

static graph_node sine(bench *b, graph_node of) {
    return graph_unary(b->g, GRAPH_SIN, of);
}
static graph_node cosine(bench *b, graph_node of) {
    return graph_unary(b->g, GRAPH_COS, of);
}

/* Counts the angles whose sine or cosine occurs in the expressions `roots`. */
static size_t angles_below(bench *b, const graph_node *roots, size_t count) {
    graph_node *nodes;
    size_t all = graph_below(b->g, roots, count, &b->memory, &nodes), angles = 0;
    bool *seen = arena_alloc(&b->memory, graph_count(b->g), sizeof *seen);
    for (size_t i = 0; i < all; i++) {
        const graph_cell *cell = graph_at(b->g, nodes[i]);
        if (cell->op != GRAPH_SIN && cell->op != GRAPH_COS) continue;
        angles += !seen[cell->as.operand[0]];
        seen[cell->as.operand[0]] = true;
    }
    return angles;
}

/* Expands the roots and checks that their values at random angles change only by rounding errors. */
static void turn(bench *b, graph_node *roots, size_t count) {
    enum { POINTS = 50 };
    graph_node before[32];
    uint64_t seed = 4;
    assert_true(count <= 32);
    memcpy(before, roots, count * sizeof *roots);
    assert_int_equal(graph_expand_angle_sums(b->g, roots, count), HAMEL_OK);
    for (int point = 0; point < POINTS; point++) {
        double q[ANGLES], p[1];
        random_fill(&seed, q, ANGLES, -4, 4);
        random_fill(&seed, p, 1, -4, 4);
        program_inputs in = {{[SYMBOL_COORDINATE] = q, [SYMBOL_PARAMETER] = p}};
        for (size_t i = 0; i < count; i++)
            assert_near("value", fixture_value(b->g, roots[i], &in), fixture_value(b->g, before[i], &in),
                        20 * DBL_EPSILON);
    }
}

static void differences_of_many_angles_need_only_the_angles(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    graph_node roots[32];
    size_t count = 0;
    for (int i = 0; i < ANGLES; i++)
        for (int j = 0; j < i; j++) {
            roots[count++] = cosine(&b, graph_sub(b.g, b.q[i], b.q[j]));
            roots[count++] = sine(&b, graph_sub(b.g, b.q[i], b.q[j]));
        }
    assert_int_equal(angles_below(&b, roots, count), ANGLES * (ANGLES - 1) / 2);
    turn(&b, roots, count);
    assert_int_equal(angles_below(&b, roots, count), ANGLES);
    arena_free(&b.memory);
}

static void nested_sums_are_expanded(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    graph_node two = graph_add(b.g, b.q[0], b.q[1]), three = graph_add(b.g, two, b.q[2]);
    graph_node roots[] = {sine(&b, b.q[0]), cosine(&b, b.q[1]), sine(&b, two), cosine(&b, b.q[2]), sine(&b, three)};
    turn(&b, roots, 5);
    assert_int_equal(angles_below(&b, roots, 5), 3);
    arena_free(&b.memory);
}

static void a_constant_angle_costs_nothing(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    graph_node roots[] = {cosine(&b, b.q[0]), cosine(&b, graph_add(b.g, b.q[0], b.p)),
                          cosine(&b, graph_sub(b.g, b.q[0], graph_number(b.g, 2)))};
    turn(&b, roots, 3);
    assert_int_equal(angles_below(&b, roots, 3), 2); /* the angles are the coordinate and the parameter */
    arena_free(&b.memory);
}

static void sums_are_kept_if_a_term_is_not_available(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    graph_node roots[] = {cosine(&b, graph_add(b.g, b.q[0], b.q[1])), sine(&b, graph_add(b.g, b.q[0], b.q[2])),
                          graph_mul(b.g, b.q[3], b.q[4])};
    graph_node before[3];
    memcpy(before, roots, sizeof before);
    turn(&b, roots, 3);
    assert_memory_equal(roots, before, sizeof before);
    arena_free(&b.memory);
}

static void surrounding_terms_are_rewritten(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    graph_node inner = sine(&b, graph_sub(b.g, b.q[0], b.q[1]));
    graph_node outer = cosine(&b, graph_add(b.g, inner, b.q[0])); /* an angle that contains a sine of a difference */
    graph_node roots[] = {graph_div(b.g, graph_mul(b.g, outer, b.p), graph_add(b.g, graph_number(b.g, 9), inner)),
                          sine(&b, inner), cosine(&b, b.q[0]), cosine(&b, b.q[1])};
    turn(&b, roots, 4);
    assert_int_equal(angles_below(&b, roots, 4), 3);
    arena_free(&b.memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_of_many_angles_need_only_the_angles),
        cmocka_unit_test(nested_sums_are_expanded),
        cmocka_unit_test(a_constant_angle_costs_nothing),
        cmocka_unit_test(sums_are_kept_if_a_term_is_not_available),
        cmocka_unit_test(surrounding_terms_are_rewritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
