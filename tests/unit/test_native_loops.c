/* test_native_loops.c — engine/compile/families.c and native_loops.c: long programs of equal bodies.
 *
 * A random expression is repeated for each body of a chain. It reads coordinates and values of the body and of its
 * neighbors, so programs contain families, recurrences in both directions and shared operands. The interpreter must
 * give the values of the graph, and machine code must give the bits of the interpreter. */
#include "engine/compile/native.h"
#include "engine/compile/program_int.h"
#include "tests/unit/graph_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BODIES = 330, KINDS = 14, ORDER_LEAST = 2048 };
enum { COORDINATE, EXPRESSION, NUMBER, PARAMETER };

/* The k-th expression of body i is op(x, y, z). A source is a coordinate of a body, an earlier expression, a number or
 * a parameter. */
typedef struct source {
    int of; /* COORDINATE, EXPRESSION, NUMBER or PARAMETER */
    int which, shift;
} source;

typedef struct pattern {
    graph_op op;
    source from[3];
} pattern;

static int below(graph_fixture *f, int bound) {
    return (int)(random_bits(&f->seed) % (uint64_t)bound);
}

/* Expressions may read later bodies only if no expression has read earlier bodies, so that values do not depend on
 * themselves. `direction` is −1, 0 or 1. */
static void draw(graph_fixture *f, pattern *list, int direction) {
    static const graph_op ops[] = {GRAPH_ADD, GRAPH_SUB, GRAPH_MUL, GRAPH_MUL, GRAPH_DIV,
                                   GRAPH_NEG, GRAPH_ABS, GRAPH_MIN, GRAPH_ADD, GRAPH_SIN};
    for (int k = 0; k < KINDS; k++) {
        list[k].op = ops[below(f, sizeof ops / sizeof *ops)];
        for (int a = 0; a < 3; a++) {
            source *s = &list[k].from[a];
            s->of = below(f, 6) == 0 ? NUMBER + below(f, 2) : k > 0 && below(f, 2) ? EXPRESSION : COORDINATE;
            s->shift = s->of == COORDINATE ? below(f, 3) - 1 : direction * (below(f, 4) == 0);
            s->which = s->of == EXPRESSION ? below(f, s->shift ? KINDS : k) : below(f, 3);
        }
    }
}

static graph_node operand(graph_fixture *f, const source *s, graph_node made[BODIES][KINDS], int bodies, int i) {
    int body = i + s->shift;
    if (s->of == NUMBER) return number(f, 1.5 + s->which);
    if (s->of == PARAMETER) return graph_symbol(f->g, SYMBOL_PARAMETER, s->which);
    if (body < 0 || body >= bodies) return number(f, 0.25);
    return s->of == COORDINATE ? q(f, s->which * bodies + body) : made[body][s->which];
}

static void make(graph_fixture *f, const pattern *list, int bodies, int direction, graph_node made[BODIES][KINDS]) {
    for (int n = 0; n < bodies; n++) {
        int i = direction > 0 ? bodies - 1 - n : n;
        for (int k = 0; k < KINDS; k++) {
            graph_node x[3];
            for (int a = 0; a < 3; a++) x[a] = operand(f, &list[k].from[a], made, bodies, i);
            int arity = graph_op_get(list[k].op)->arity;
            made[i][k] = graph_apply(f->g, list[k].op, x[0], arity > 1 ? x[1] : GRAPH_NONE, GRAPH_NONE);
            assert_true(made[i][k] >= 0);
        }
    }
}

static void evaluate(const program *p, const double *values, double *out) {
    double *w = malloc(program_workspace_doubles(p) * sizeof *w);
    program_inputs in;
    assert_non_null(w);
    for (size_t i = 0; i < program_workspace_doubles(p); i++) w[i] = 1e99; /* if read, the result is wrong */
    for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++) in.values[kind] = values;
    program_prepare(p, &in, w);
    program_evaluate(p, &in, w, out);
    free(w);
}

/* Powers that programs compute by products (select.c). */
static double power(double x, double n) {
    return n == 2                           ? x * x
           : n == 3                         ? x * x * x
           : n == -1                        ? 1 / x
           : n == 0.5                       ? sqrt(x)
           : n == 1.5                       ? x * sqrt(x)
           : n == -0.5                      ? 1 / sqrt(x)
           : n == -1.5                      ? 1 / (x * sqrt(x))
           : n == floor(n) && fabs(n) <= 16 ? program_power(x, n)
                                            : pow(x, n);
}

/* Returns the values of all nodes of the graph. */
static double *walk_graph(const graph *g, const double *values) {
    double *v = calloc(graph_count(g) + 1, sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < graph_count(g); i++) {
        const graph_cell *c = graph_at(g, (graph_node)i);
        double x[3] = {0, 0, 0};
        for (int k = 0; c->op < GRAPH_OP_COUNT && k < 3; k++)
            if (c->as.operand[k] >= 0) x[k] = v[c->as.operand[k]];
        v[i] = c->op == GRAPH_IS_NUMBER   ? c->as.number
               : c->op == GRAPH_IS_SYMBOL ? values[c->as.index]
               : c->op == GRAPH_POW       ? power(x[0], x[1])
                                          : graph_op_value((graph_op)c->op, x[0], x[1], x[2]);
    }
    return v;
}

static bool same_bits(double x, double y) {
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

/* Compares the graph, the interpreter and machine code. Returns the bytes of code per instruction. */
static double compare(graph_fixture *f, program *p, const graph_node *nodes, size_t count, const double *values) {
    double *out = calloc(2 * count + 1, sizeof *out), *again = out + count, *expected = walk_graph(f->g, values);
    native_code code = {0};
    assert_non_null(out);
    evaluate(p, values, out);
    for (size_t i = 0; i < count; i++)
        if (!(out[i] == expected[nodes[i]] || (isnan(out[i]) && isnan(expected[nodes[i]]))))
            fail_msg("output %zu: %a, in the graph %a", i, out[i], expected[nodes[i]]);
    native_status status = native_translate(&code, &(native_task){p, NATIVE_VALUES}, 1);
    double size = (double)code.size / (double)program_instruction_count(p);
    if (status == NATIVE_DONE) evaluate(p, values, again);
    for (size_t i = 0; status == NATIVE_DONE && i < count; i++)
        if (!same_bits(again[i], out[i])) fail_msg("output %zu: %a, interpreted %a", i, again[i], out[i]);
    p->native = NULL;
    native_free(&code);
    free(expected);
    free(out);
    if (status == NATIVE_NO_MACHINE) skip();
    assert_int_equal(status, NATIVE_DONE);
    return size;
}

static void fill_values(graph_fixture *f, double *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = below(f, 50) == 0 ? (i % 2 ? 0 : INFINITY) : ldexp((double)(int64_t)random_bits(&f->seed), -62);
}

static int renew_graph(void **state) {
    return close_graph(state) || open_graph(state);
}

static void random_chains_of_bodies_give_the_same_bits(void **state) {
    const char *text = getenv("HAMEL_TEST_LONG");
    static graph_node made[BODIES][KINDS], nodes[BODIES * KINDS];
    double values[3 * BODIES];
    size_t is_long = 0;
    for (int round = 0; round < (text && *text == '1' ? 5000 : 300); round++) {
        assert_int_equal(renew_graph(state), 0);
        graph_fixture *f = *state;
        f->seed = 1000 + (uint64_t)round;
        pattern list[KINDS];
        size_t count = 0;
        int direction = below(f, 3) - 1, bodies = BODIES - below(f, 100);
        draw(f, list, direction);
        make(f, list, bodies, direction, made);
        for (int k = 0; k < KINDS; k++) /* odd rounds select random outputs, and even rounds select every third kind */
            for (int i = 0; i < bodies; i++)
                if (round % 2 ? below(f, 3) == 0 : k % 3 == round % 3) nodes[count++] = made[i][k];
        fill_values(f, values, 3 * BODIES);
        program *p = compile(f, nodes, count);
        is_long += program_instruction_count(p) >= ORDER_LEAST;
        (void)compare(f, p, nodes, count, values);
    }
    assert_true(is_long >= 10);
}

/* Rods between particles: differences, squares, square roots and quotients, and the forces that they give. Code without
 * loops takes at least 13 bytes per instruction (README.md). */
static void equal_bodies_become_loops(void **state) {
    for (int bodies = 300; bodies < 304; bodies++) { /* all remainders of division by four */
        assert_int_equal(renew_graph(state), 0);
        graph_fixture *f = *state;
        graph *g = f->g;
        graph_node force[BODIES], nodes[3 * BODIES];
        double values[3 * BODIES];
        for (int i = 0; i + 1 < bodies; i++) {
            graph_node dx = graph_sub(g, q(f, i + 1), q(f, i)),
                       dy = graph_sub(g, q(f, bodies + i + 1), q(f, bodies + i));
            graph_node length = graph_unary(g, GRAPH_SQRT, graph_add(g, graph_mul(g, dx, dx), graph_mul(g, dy, dy)));
            force[i] = graph_div(g, graph_mul(g, graph_sub(g, length, number(f, 0.75)), dx), length);
        }
        for (int i = 0; i + 2 < bodies; i++) {
            nodes[i] = graph_sub(g, force[i + 1], graph_mul(g, number(f, 1.25), graph_neg(g, force[i])));
            nodes[bodies - 2 + i] = i % 3 ? number(f, 2) : nodes[i];
        }
        fill_values(f, values, 3 * BODIES);
        size_t count = 2 * (size_t)(bodies - 2);
        program *p = compile(f, nodes, count);
        assert_true(program_instruction_count(p) >= ORDER_LEAST);
        assert_true(compare(f, p, nodes, count, values) < 8);
    }
}

/* The additions of a long sum depend on each other, so the sum must not become a loop over four members. */
static void sums_are_computed_in_order(void **state) {
    graph_fixture *f = *state;
    graph_node sum[2] = {number(f, 0), number(f, 0)};
    double values[3 * BODIES];
    for (int i = 0; i < 3 * BODIES; i++)
        for (int k = 0; k < 2; k++) {
            graph_node term = graph_mul(f->g, q(f, i), graph_add(f->g, q(f, (i + 7) % 900), number(f, k)));
            sum[k] = graph_add(f->g, sum[k], graph_mul(f->g, term, term));
        }
    fill_values(f, values, 3 * BODIES);
    for (int i = 0; i < 3 * BODIES; i++)
        if (!isfinite(values[i])) values[i] = 0.1 * i;
    program *p = compile(f, sum, 2);
    assert_true(program_instruction_count(p) >= ORDER_LEAST);
    (void)compare(f, p, sum, 2, values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_chains_of_bodies_give_the_same_bits, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(equal_bodies_become_loops, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(sums_are_computed_in_order, open_graph, close_graph),
    };
    return cmocka_run_group_tests_name("native_loops", tests, NULL, NULL);
}
