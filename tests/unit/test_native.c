/* test_native.c — engine/compile/native.c: machine code gives the same bits as the interpreter, and its memory is never
 * writable.
 *
 * The reference is the interpreter. NaNs are compared without their payload. Tests of results are skipped on machines
 * that cannot run the code. */
#include "engine/compile/native.h"

#include "engine/compile/program_int.h"
#include "tests/unit/graph_fixture.h"

#include <errno.h>
#include <float.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYMBOLS = 6 };

static bool same_bits(double x, double y) {
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

/* Evaluates the program in a new workspace, which is filled with 1e99. If the program reads a slot before writing to
 * the slot, the result is wrong. */
static void evaluate(const program *p, const program_inputs *in, double *out) {
    size_t count = program_workspace_doubles(p);
    double *w = malloc(count * sizeof *w);
    assert_non_null(w);
    for (size_t i = 0; i < count; i++) w[i] = 1e99;
    program_prepare(p, in, w);
    program_evaluate(p, in, w, out);
    free(w);
}

/* Translates the program for values and the program for tangents with respect to coordinates. */
static void translate(native_code *code, program *p) {
    const native_task tasks[] = {{p, NATIVE_VALUES}, {p, SYMBOL_COORDINATE}};
    native_status status = native_translate(code, tasks, 2);
    if (status == NATIVE_NO_MACHINE) skip();
    assert_int_equal(status, NATIVE_DONE);
    assert_non_null(p->native);
}

static void differentiate(const program *p, const program_inputs *in, const double *directions, double *out) {
    double *w = calloc(program_workspace_doubles(p), sizeof *w), *tw = calloc(program_tangent_doubles(p), sizeof *tw);
    assert_true(w && tw);
    program_inputs seeds = {{[SYMBOL_COORDINATE] = directions}};
    program_prepare(p, in, w);
    program_tangent(p, in, &seeds, w, tw, NULL, out);
    free(w);
    free(tw);
}

/* For each of `points` points, writes the values and then the tangents of all outputs to `out`. A point has `count`
 * values, which the symbols of every kind use. */
static void fill(const program *p, const double *values, size_t count, size_t points, const double *directions,
                 double *out) {
    size_t outputs = program_output_count(p);
    for (size_t k = 0; k < points; k++, out += outputs * (1 + PROGRAM_LANES)) {
        program_inputs in;
        for (int kind = 0; kind < SYMBOL_KIND_COUNT; kind++) in.values[kind] = values + k * count;
        evaluate(p, &in, out);
        differentiate(p, &in, directions, out + outputs);
    }
}

/* Returns tangents of `count` symbols: ones, fractions, -0 and zeros. All tangents of the symbols 1, 6, 11, ... are
 * 0. */
static double *directions_of(size_t count) {
    double *d = calloc(count * PROGRAM_LANES + 1, sizeof *d);
    assert_non_null(d);
    for (size_t i = 0; i < count * PROGRAM_LANES; i++) {
        size_t symbol = i / PROGRAM_LANES;
        d[i] = symbol % 5 == 1 ? 0 : i % 7 == 0 ? 1 : i % 7 == 3 ? -0.0 : (double)(i % 11) / 4 - 1.25;
    }
    return d;
}

static void agrees(program *p, const double *values, size_t count, size_t points) {
    size_t block = program_output_count(p) * (1 + PROGRAM_LANES);
    double *expected = calloc(2 * points * block + 1, sizeof *expected), *out = expected + points * block;
    double *directions = directions_of(count);
    assert_non_null(expected);
    native_code code = {0};
    fill(p, values, count, points, directions, expected);
    translate(&code, p);
    fill(p, values, count, points, directions, out);
    for (size_t i = 0; i < points * block; i++)
        if (!same_bits(out[i], expected[i]))
            fail_msg("number %zu at point %zu: %a, interpreted %a", i % block, i / block, out[i], expected[i]);
    native_free(&code);
    p->native = p->native_tangents[SYMBOL_COORDINATE] = NULL;
    free(expected);
    free(directions);
}

/* Values at which operators have kinks, are undefined, or are easily evaluated wrongly. */
static const double special[] = {0,     -0.0,   1,      -1,       0.5,  -0.5,     2,         -2.5, 3,
                                 1e300, -1e300, 1e-310, -DBL_MIN, M_PI, INFINITY, -INFINITY, NAN};
enum { SPECIAL = sizeof special / sizeof *special };

static void every_operator_gives_the_same_bits(void **state) {
    graph_fixture *f = *state;
    static double points[SPECIAL * SPECIAL * SPECIAL][3];
    for (size_t k = 0; k < SPECIAL * SPECIAL * SPECIAL; k++)
        for (size_t i = 0, rest = k; i < 3; i++, rest /= SPECIAL) points[k][i] = special[rest % SPECIAL];
    for (int op = 0; op < GRAPH_LISTED_COUNT; op++) {
        int arity = graph_op_get((graph_op)op)->arity;
        graph_node node = graph_apply(f->g, (graph_op)op, q(f, 0), arity > 1 ? q(f, 1) : GRAPH_NONE,
                                      arity > 2 ? q(f, 2) : GRAPH_NONE);
        size_t count = arity == 1 ? SPECIAL : arity == 2 ? SPECIAL * SPECIAL : SPECIAL * SPECIAL * SPECIAL;
        agrees(compile(f, &node, 1), points[0], 3, count);
    }
}

static void powers_give_the_same_bits(void **state) {
    graph_fixture *f = *state;
    for (int twice = -34; twice <= 34; twice++) {
        graph_node node = graph_binary(f->g, GRAPH_POW, q(f, 0), graph_number(f->g, 0.5 * twice));
        agrees(compile(f, &node, 1), special, 1, SPECIAL);
    }
}

static void fused_operations_give_the_same_bits(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node xy = graph_mul(g, q(f, 0), q(f, 1)), z = q(f, 2), x = graph_mul(g, q(f, 3), q(f, 3));
    graph_node nodes[] = {graph_add(g, xy, z), graph_sub(g, graph_mul(g, q(f, 1), q(f, 2)), q(f, 0)),
                          graph_sub(g, q(f, 1), graph_mul(g, q(f, 0), q(f, 2))), graph_unary(g, GRAPH_SIN, x),
                          graph_unary(g, GRAPH_COS, x)};
    double points[100][SYMBOLS];
    for (size_t k = 0; k < 100; k++)
        for (size_t i = 0; i < SYMBOLS; i++)
            points[k][i] = ldexp((double)random_bits(&f->seed), -60) * (k % 3 == i % 3 ? -1 : 1);
    agrees(compile(f, nodes, 5), points[0], SYMBOLS, 100);
}

static void tables_are_looked_up(void **state) {
    graph_fixture *f = *state;
    graph_table table[2] = {{.name = "held", .degree = 3, .hold = true}, {.name = "bounded", .degree = 1}};
    const double x[] = {-1, 0, 0.5, 2, 3}, y[] = {2, -1, 4, 4, 1};
    graph_node nodes[4];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(table_make(&table[k], &f->memory, x, y, 5), HAMEL_OK);
        graph_node which = graph_number(f->g, graph_add_table(f->g, &table[k]));
        for (int order = 0; order < 2; order++)
            nodes[2 * k + order] = graph_apply(f->g, GRAPH_TABLE, q(f, 0), which, graph_number(f->g, order));
    }
    agrees(compile(f, nodes, 4), special, 1, SPECIAL);
}

static void outputs_may_be_numbers_symbols_and_repeat(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node x = q(f, 1), sum = graph_add(g, x, q(f, 0)), s = graph_unary(g, GRAPH_SIN, graph_mul(g, sum, x));
    graph_node parameter = graph_symbol(g, SYMBOL_PARAMETER, 2), prepared = graph_unary(g, GRAPH_EXP, parameter);
    graph_node nodes[] = {graph_number(g, 2.5),
                          x,
                          x,
                          sum,
                          s,
                          sum,
                          parameter,
                          prepared,
                          graph_mul(g, prepared, s),
                          s,
                          graph_symbol(g, SYMBOL_TIME, 0),
                          prepared,
                          graph_unary(g, GRAPH_SIN, parameter),
                          graph_mul(g, s, graph_unary(g, GRAPH_COS, parameter))};
    const double points[2][SYMBOLS] = {{0.25, 3, -1, 4, 5, 6}, {7, -2, 0.5, 1, 0, 2}};
    agrees(compile(f, nodes, sizeof nodes / sizeof *nodes), points[0], SYMBOLS, 2);
    agrees(compile(f, NULL, 0), points[0], SYMBOLS, 2);
}

/* Applies random operators to any of the last 100 nodes. Many values must then be stored at the same time, also across
 * calls of functions. */
static size_t random_nodes(graph_fixture *f, graph_node *nodes, size_t count) {
    enum { REACH = 100 };
    size_t made = 0;
    for (int i = 0; i < SYMBOLS; i++) nodes[made++] = q(f, i), nodes[made++] = graph_symbol(f->g, SYMBOL_PARAMETER, i);
    while (made < count) {
        bool plain = random_bits(&f->seed) % 4 != 0;
        graph_op op = (graph_op)(random_bits(&f->seed) % (plain ? GRAPH_POW : GRAPH_LISTED_COUNT));
        size_t reach = made < REACH ? made : REACH;
        graph_node x[3];
        for (int k = 0; k < 3; k++) x[k] = nodes[made - 1 - random_bits(&f->seed) % reach];
        int arity = graph_op_get(op)->arity;
        graph_node node = graph_apply(f->g, op, x[0], arity > 1 ? x[1] : GRAPH_NONE, arity > 2 ? x[2] : GRAPH_NONE);
        assert_true(node >= 0);
        nodes[made++] = node;
    }
    return made;
}

static void random_programs_give_the_same_bits(void **state) {
    graph_fixture *f = *state;
    const char *text = getenv("HAMEL_TEST_LONG");
    int rounds = text && *text == '1' ? 2000 : 60;
    graph_node nodes[400];
    double points[8][SYMBOLS];
    for (int round = 0; round < rounds; round++) {
        size_t size = 20 + random_bits(&f->seed) % 380, count = random_nodes(f, nodes, size);
        for (size_t k = 0; k < 8; k++)
            for (size_t i = 0; i < SYMBOLS; i++)
                points[k][i] = k == 0 ? special[random_bits(&f->seed) % SPECIAL]
                                      : ldexp((double)(int64_t)random_bits(&f->seed), -61);
        size_t outputs = 1 + random_bits(&f->seed) % 40;
        if (outputs > count) outputs = count;
        agrees(compile(f, nodes + count - outputs, outputs), points[0], SYMBOLS, 8);
    }
}

/* The code size per instruction must not grow when a chain of products, square roots and sums is twice as long. */
static void the_size_of_the_code_is_linear_in_the_tape(void **state) {
    graph_fixture *f = *state;
    double per_instruction[2];
    for (int k = 0; k < 2; k++) {
        graph_node sum = q(f, 0);
        for (int i = 0; i < 4000 << k; i++)
            sum = graph_add(f->g, graph_mul(f->g, sum, q(f, i % 50)), graph_unary(f->g, GRAPH_SQRT, q(f, i % 997)));
        program *p = compile(f, &sum, 1);
        native_code code;
        translate(&code, p);
        per_instruction[k] = (double)code.size / (double)program_instruction_count(p);
        native_free(&code);
    }
    assert_true(per_instruction[1] < 1.1 * per_instruction[0]);
    assert_true(per_instruction[1] < 150);
}

/* Machine code must compute all finite tangents. The interpreter evaluates only lanes that are not finite. */
static void ordinary_tangents_need_no_interpreter(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node x = q(f, 0), y = q(f, 2), angle = graph_mul(g, x, y);
    graph_node nodes[] = {graph_add(g, graph_unary(g, GRAPH_SIN, angle), graph_unary(g, GRAPH_COS, angle)),
                          graph_binary(g, GRAPH_DIV, graph_unary(g, GRAPH_EXP, x), y),
                          graph_binary(g, GRAPH_MAX, x, graph_sub(g, y, angle)), q(f, 1), graph_number(g, 3)};
    enum { COUNT = sizeof nodes / sizeof *nodes };
    program *p = compile(f, nodes, COUNT);
    double expected[COUNT * PROGRAM_LANES], out[COUNT * PROGRAM_LANES], *directions = directions_of(3);
    program_inputs in = {{[SYMBOL_COORDINATE] = (double[]){0.7, 4, -1.5}}};
    differentiate(p, &in, directions, expected);
    native_code code;
    translate(&code, p);
    p->run_count = 0;
    differentiate(p, &in, directions, out);
    assert_memory_equal(out, expected, sizeof out);
    assert_true(expected[0] != 0 && expected[PROGRAM_LANES] != 0 && expected[2 * PROGRAM_LANES] != 0);
    native_free(&code);
    free(directions);
}

/* If a tape reads a slot before it is written, or writes to the slot of a constant, it must not be translated. */
static void invalid_programs_are_rejected(void **state) {
    graph_fixture *f = *state;
    graph *g = f->g;
    graph_node nodes[] = {graph_add(g, graph_unary(g, GRAPH_EXP, q(f, 0)), graph_number(g, 3)),
                          graph_binary(g, GRAPH_POW, q(f, 0), graph_number(g, 7))};
    program *good = compile(f, nodes, 2);
    const native_task task = {good, NATIVE_VALUES};
    program_instruction *i = (program_instruction *)good->instructions;
    uint32_t *outputs = (uint32_t *)good->output_slots;
    const uint64_t high = UINT64_C(0xFFFFFFFF) << 32;
    for (size_t k = 0; k < good->instruction_count; k++) {
        program_instruction kept = i[k];
        program_instruction wrong[] = {
            /* the operand's slot does not exist */
            {kept.dst_a | high, kept.b_c},
            {(kept.dst_a & ~high) | (uint64_t)(good->slot_count - 1) << 32, kept.b_c}, /* the slot is not written yet */
            /* the result is in a constant's slot */
            {kept.dst_a & high, kept.b_c},
            /* the result's slot does not exist */
            {kept.dst_a | ~high, kept.b_c}};
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            /* before the last instruction, all slots are written */
            if (w == 1 && k + 1 == good->instruction_count) continue;
            i[k] = wrong[w];
            native_code code;
            native_status status = native_translate(&code, &task, 1);
            if (status == NATIVE_NO_MACHINE) skip();
            assert_int_equal(status, NATIVE_NOT_VALID);
            assert_null(good->native);
        }
        i[k] = kept;
    }
    outputs[0] += 1000;
    native_code code;
    assert_int_equal(native_translate(&code, &task, 1), NATIVE_NOT_VALID);
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

/* Returns the number of mappings of generated code in this process. Sets *both to whether any mapping of the process is
 * writable and executable. */
static int code_mappings(bool *both) {
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[512], rights[5];
    int found = 0;
    *both = false;
    while (fgets(line, sizeof line, maps)) {
        assert_int_equal(sscanf(line, "%*s %4s", rights), 1);
        if (rights[1] == 'w' && rights[2] == 'x') *both = true;
        if (!strstr(line, "hamel-code")) continue;
        found++;
        assert_string_equal(rights, "r-xp");
    }
    (void)fclose(maps);
    return found;
}

static void no_page_is_writable_and_executable(void **state) {
    graph_fixture *f = *state;
    graph_node node = graph_add(f->g, q(f, 0), q(f, 1));
    program *p = compile(f, &node, 1);
    native_code code;
    translate(&code, p);
    bool both;
    assert_int_equal(code_mappings(&both), 1);
    assert_false(both);
    native_free(&code);
    assert_int_equal(code_mappings(&both), 0);
}

/* Installs a seccomp filter that refuses mmap with all of the rights `mapped`, and mprotect with PROT_EXEC. If `mapped`
 * is PROT_WRITE | PROT_EXEC, the filter has the rules of systemd's MemoryDenyWriteExecute. */
static bool deny(unsigned mapped) {
    enum { RIGHTS = offsetof(struct seccomp_data, args[2]) };
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RIGHTS),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mapped),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, mapped, 4, 3),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, RIGHTS),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog rules = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules) == 0;
}

enum { NO_FILTER = 100, WRONG_VALUE = 101 };

/* Returns the status of native_translate in a child process that has called deny(mapped). If the program does not
 * compute 2 + 3 = 5 there, returns WRONG_VALUE. */
static int status_when_denied(program *p, unsigned mapped) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!deny(mapped)) _exit(NO_FILTER);
        native_code code;
        double w[16], out;
        native_status status = native_translate(&code, &(native_task){p, NATIVE_VALUES}, 1);
        program_inputs in = {{[SYMBOL_COORDINATE] = (double[]){2, 3}}};
        program_prepare(p, &in, w);
        program_evaluate(p, &in, w, &out);
        _exit(out == 5 ? (int)status : WRONG_VALUE);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

static void programs_run_without_machine_code_if_mappings_are_denied(void **state) {
    graph_fixture *f = *state;
    graph_node node = graph_add(f->g, q(f, 0), q(f, 1));
    program *p = compile(f, &node, 1);
    assert_true(program_workspace_doubles(p) <= 16);
    int status = status_when_denied(p, PROT_WRITE | PROT_EXEC);
    if (status == NO_FILTER || status == NATIVE_NO_MACHINE) skip();
    assert_int_equal(status, NATIVE_DONE);
    assert_int_equal(status_when_denied(p, PROT_EXEC), NATIVE_NO_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_operator_gives_the_same_bits, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(powers_give_the_same_bits, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(fused_operations_give_the_same_bits, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(tables_are_looked_up, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(outputs_may_be_numbers_symbols_and_repeat, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(random_programs_give_the_same_bits, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(the_size_of_the_code_is_linear_in_the_tape, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(ordinary_tangents_need_no_interpreter, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(invalid_programs_are_rejected, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(no_page_is_writable_and_executable, open_graph, close_graph),
        cmocka_unit_test_setup_teardown(programs_run_without_machine_code_if_mappings_are_denied, open_graph,
                                        close_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
