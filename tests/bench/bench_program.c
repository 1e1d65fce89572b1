/* bench_program.c — nanoseconds per operation: values and tangents of compiled programs.
 *
 * Two kinds of operation sequences (tapes) are compiled:
 * - "random": 35 % sums, 47 % products, 6 % sines and cosines, otherwise differences and quotients. Operands are drawn
 * from the last 64 values, all of moderate size.
 * - "chain": mass matrix and generalized forces of a planar chain of n links in angles, derived from its energies.
 *   Such programs are typical of the engine.
 *
 * An operation is a node of the graph, so fusing operations shortens the time per operation. Each figure is the minimum
 * of several rounds, to exclude other load. "to code" is the time to compile a program to machine code. "repaid" is the
 * number of evaluations that save as much time as the compilation takes.
 *
 * bench_program [rounds] */
#include "engine/compile/native.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SYMBOLS = 8, LARGEST = 20000, ROUND_OPERATIONS = 2000000 };

typedef struct tape {
    arena memory;
    graph *g;
    graph_node *nodes;
    size_t count, operations;
} tape;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next_random(uint64_t *s) {
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * 2685821657736338717u;
}

static void *check(void *memory) {
    if (memory) return memory;
    fputs("bench_program: out of memory\n", stderr);
    exit(1);
}

static void open_tape(tape *t, size_t nodes) {
    arena_init(&t->memory, 0);
    t->g = check(graph_create(&t->memory, &t->memory, 50000000));
    t->nodes = check(calloc(nodes, sizeof *t->nodes));
    t->count = 0;
}

static void close_tape(tape *t) {
    arena_free(&t->memory);
    free(t->nodes);
}

/* Returns the value of a symbol at which programs are evaluated. */
static double point(graph_symbol_kind kind, int index) {
    return kind == SYMBOL_COORDINATE ? 0.1 + 0.001 * index : 0.3 - 0.002 * index;
}

static graph_op random_operator(uint64_t *seed) {
    unsigned percent = (unsigned)(next_random(seed) % 100);
    if (percent < 35) return GRAPH_ADD;
    if (percent < 82) return GRAPH_MUL;
    if (percent < 85) return GRAPH_SIN;
    if (percent < 88) return GRAPH_COS;
    return percent < 97 ? GRAPH_SUB : GRAPH_DIV;
}

/* The last 64 values are the outputs, so nearly every operation is needed. Draws operands until the value has moderate
 * size. */
static void random_tape(tape *t, size_t operations) {
    enum { REACH = 64, TRIES = 50 };
    open_tape(t, REACH);
    size_t count = operations + SYMBOLS;
    graph_node *pool = check(malloc(count * sizeof *pool));
    double *value = check(malloc(count * sizeof *value));
    uint64_t seed = 12345;
    for (int i = 0; i < SYMBOLS; i++) {
        pool[i] = graph_symbol(t->g, SYMBOL_COORDINATE, i);
        value[i] = point(SYMBOL_COORDINATE, i);
    }
    for (size_t i = SYMBOLS; i < count; i++) {
        size_t reach = i < REACH ? i : REACH, x = 0, y = 0;
        graph_op op = random_operator(&seed);
        for (int k = 0; k < TRIES; k++) {
            x = i - 1 - next_random(&seed) % reach;
            y = i - 1 - next_random(&seed) % reach;
            value[i] = graph_op_value(op, value[x], value[y], 0);
            if (fabs(value[i]) > 0.1 && fabs(value[i]) < 10) break;
        }
        pool[i] = graph_apply(t->g, op, pool[x], graph_op_get(op)->arity > 1 ? pool[y] : GRAPH_NONE, GRAPH_NONE);
    }
    for (size_t i = 0; i < REACH; i++) t->nodes[t->count++] = pool[count - 1 - i];
    t->operations = operations;
    free(pool);
    free(value);
}

/* Builds T and V of a chain of links of length 1 with a mass of 1 at each end. The angles q_i are measured from the
 * vertical. */
static void chain_energies(graph *g, int n, graph_node *kinetic, graph_node *potential) {
    graph_node x = graph_number(g, 0), y = x, half = graph_number(g, 0.5);
    *kinetic = *potential = x;
    for (int i = 0; i < n; i++) {
        graph_node angle = graph_symbol(g, SYMBOL_COORDINATE, i);
        x = graph_add(g, x, graph_unary(g, GRAPH_SIN, angle));
        y = graph_sub(g, y, graph_unary(g, GRAPH_COS, angle));
        graph_node vx = graph_rate(g, x), vy = graph_rate(g, y);
        graph_node square = graph_add(g, graph_mul(g, vx, vx), graph_mul(g, vy, vy));
        *kinetic = graph_add(g, *kinetic, graph_mul(g, half, square));
        *potential = graph_add(g, *potential, graph_mul(g, graph_number(g, 9.81), y));
    }
}

/* Builds the lower triangle of ∂²T/∂v∂v and ∂(T - V)/∂q - bias of d/dt ∂T/∂v. */
static void chain_tape(tape *t, int n) {
    open_tape(t, (size_t)n * (size_t)(n + 1));
    graph_node kinetic, potential;
    chain_energies(t->g, n, &kinetic, &potential);
    for (int i = 0; i < n; i++) {
        graph_node qi = graph_symbol(t->g, SYMBOL_COORDINATE, i), vi = graph_symbol(t->g, SYMBOL_VELOCITY, i);
        graph_node momentum = graph_partial(t->g, kinetic, vi);
        for (int j = 0; j <= i; j++)
            t->nodes[t->count++] = graph_partial(t->g, momentum, graph_symbol(t->g, SYMBOL_VELOCITY, j));
        graph_node force = graph_partial(t->g, graph_sub(t->g, kinetic, potential), qi);
        t->nodes[t->count++] = graph_sub(t->g, force, graph_rate_bias(t->g, momentum));
    }
    if (graph_status(t->g)) exit(1);
    t->operations = 0;
    unsigned char *below = check(calloc(graph_count(t->g), 1));
    for (size_t i = 0; i < t->count; i++) below[t->nodes[i]] = 1;
    for (size_t i = graph_count(t->g); i-- > 0;) {
        const graph_cell *cell = graph_at(t->g, (graph_node)i);
        if (!below[i] || cell->op >= GRAPH_OP_COUNT) continue;
        t->operations++;
        for (int k = 0; k < 3; k++)
            if (cell->as.operand[k] >= 0) below[cell->as.operand[k]] = 1;
    }
    free(below);
}

/* Returns the seconds per evaluation. */
static double evaluation(const program *p, const program_inputs *in, double *w, double *out, size_t calls, int rounds) {
    double least = INFINITY;
    for (int r = 0; r < rounds; r++) {
        double start = now();
        for (size_t k = 0; k < calls; k++) program_evaluate(p, in, w, out);
        least = fmin(least, (now() - start) / (double)calls);
    }
    return least;
}

/* Returns the seconds per evaluation of eight tangents. */
static double differentiation(const program *p, const program_inputs *in, const program_inputs *seeds, double *w,
                              double *tw, double *dot, size_t calls, int rounds) {
    double least = INFINITY;
    for (int r = 0; r < rounds; r++) {
        double start = now();
        for (size_t k = 0; k < calls; k++) program_tangent(p, in, seeds, w, tw, NULL, dot);
        least = fmin(least, (now() - start) / (double)calls);
    }
    return least;
}

/* Returns the seconds to compile to machine code, which is stored in *code. */
static double translation(native_code *code, program *p, int kind, int rounds) {
    double least = INFINITY;
    for (int r = 0; r < rounds; r++) {
        native_free(code);
        double start = now();
        if (native_translate(code, &(native_task){p, kind}, 1) != NATIVE_DONE) return NAN;
        least = fmin(least, now() - start);
    }
    return least;
}

static void measure(const char *name, const tape *t, int rounds) {
    hamel_error error = {0};
    program *p;
    double start = now();
    if (program_compile(&p, (arena *)&t->memory, t->g, t->nodes, t->count, &error)) exit(1);
    double compiled = now() - start;
    enum { MOST_SYMBOLS = 512 };
    static double x[MOST_SYMBOLS], v[MOST_SYMBOLS], seed[MOST_SYMBOLS * PROGRAM_LANES];
    for (int i = 0; i < MOST_SYMBOLS; i++) x[i] = point(SYMBOL_COORDINATE, i), v[i] = point(SYMBOL_VELOCITY, i);
    for (int i = 0; i < MOST_SYMBOLS * PROGRAM_LANES; i++) seed[i] = 1 + i % 7;
    program_inputs in = {{[SYMBOL_COORDINATE] = x, [SYMBOL_VELOCITY] = v}};
    program_inputs seeds = {{[SYMBOL_COORDINATE] = seed}};
    double *w = check(malloc(program_workspace_doubles(p) * sizeof *w));
    double *tw = check(malloc(program_tangent_doubles(p) * sizeof *tw));
    double *out = check(malloc((t->count + 1) * sizeof *out));
    double *dot = check(malloc((t->count + 1) * PROGRAM_LANES * sizeof *dot));
    size_t calls = ROUND_OPERATIONS / t->operations + 1, tangent_calls = calls / PROGRAM_LANES + 1;
    program_prepare(p, &in, w);
    double operations = (double)t->operations, value = evaluation(p, &in, w, out, calls, rounds);
    double tangents = differentiation(p, &in, &seeds, w, tw, dot, tangent_calls, rounds);
    native_code code = {0}, tangent_code = {0};
    double translated = translation(&code, p, NATIVE_VALUES, rounds);
    double native = evaluation(p, &in, w, out, calls, rounds);
    double tangents_translated = translation(&tangent_code, p, SYMBOL_COORDINATE, rounds);
    double native_tangents = differentiation(p, &in, &seeds, w, tw, dot, tangent_calls, rounds);
    printf("%-12s %10zu %12zu %8zu %9.0f %11.2f %10.2f %10.0f %8.0f %11.2f %10.2f %10.0f %8.0f\n", name, t->operations,
           program_instruction_count(p), program_workspace_doubles(p), 1e9 * compiled / operations,
           1e9 * value / operations, 1e9 * native / operations, 1e9 * translated / operations,
           translated / (value - native), 1e9 * tangents / operations, 1e9 * native_tangents / operations,
           1e9 * tangents_translated / operations, tangents_translated / (tangents - native_tangents));
    free(w);
    free(tw);
    free(out);
    free(dot);
    native_free(&code);
    native_free(&tangent_code);
    hamel_error_clear(&error);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 15;
    static const size_t sizes[] = {200, 2000, LARGEST};
    static const int links[] = {2, 4, 8, 16, 32, 64};
    puts("nanoseconds per operation; values, and eight tangents");
    printf("%-12s %10s %12s %8s %9s %11s %10s %10s %8s %11s %10s %10s %8s\n", "tape", "operations", "instructions",
           "slots", "compile", "interpreter", "native", "to code", "repaid", "interpreter", "native", "to code",
           "repaid");
    tape t;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        random_tape(&t, sizes[i]);
        measure("random", &t, rounds);
        close_tape(&t);
    }
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char name[32];
        snprintf(name, sizeof name, "chain %d", links[i]);
        chain_tape(&t, links[i]);
        measure(name, &t, rounds);
        close_tape(&t);
    }
    return 0;
}
