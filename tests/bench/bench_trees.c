/* bench_trees.c — growth of cost with the number of bodies of a tree, and comparison with Simbody.
 *
 *   pendulums in angles   a chain whose positions or velocities are sums over the links
 *   revolute joints       random trees of rigid bodies (tests/reference/revolute_tree.h), described by nested frames and
 *                         by joint constraints
 *
 * "derive" is the time from the text to a model with machine code, and "evaluate" is the time of one right-hand side.
 * "run" is the time of an integration over 2 s with 101 rows at the default tolerances. Times are minima over all
 * rounds. Exponents are slopes of log(cost) over log(N). Simbody integrates the same chain of pendulums at accuracy
 * 1e-6. "error" is the distance between the final tip and that of a hamel run at rtol 1e-10.
 *
 * bench_trees [rounds] */
#include "engine/base/random.h"
#include "engine/dynamics/dynamics.h"
#include "tests/bench/contest.h"
#include "tests/reference/revolute_tree.h"
#include "tests/simbody/simbody_chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3, ROUNDS_MAX = 101, SIZES_MAX = 8, EVALUATIONS = 50 };
static const double STOP = 2, RTOL = 1e-6, TIGHT = 1e-10;

/* The Makefile links Simbody if it is installed. */
#pragma weak simbody_chain

static const size_t lengths[] = {32, 64, 128, 256, 512}, counts[] = {25, 50, 100, 200};
enum { LENGTHS = sizeof lengths / sizeof *lengths, COUNTS = sizeof counts / sizeof *counts };

#define ANGLES \
    "{\"hamel\":1,\"parameters\":{\"N\":16},\"coordinates\":[{\"name\":\"a[i]\",\"for\":\"i=1..N\",\"initial\":0.8}],"
static const char *const chains[][2] = {
    {"velocities typed as sums", ANGLES "\"kinetic_energy\":\"sum(i,1,N,(sum(j,1,i,cos(a[j])*a[j]'))^2+"
                                        "(sum(j,1,i,sin(a[j])*a[j]'))^2)/2\",\"potential_energy\":"
                                        "\"-9.81*sum(i,1,N,sum(j,1,i,cos(a[j])))\",\"simulation\":{\"stop\":2}}"},
    {"particles at positions defined one by one",
     ANGLES "\"definitions\":[{\"name\":\"x[0]\",\"expression\":0},{\"name\":\"y[0]\",\"expression\":0},"
            "{\"name\":\"x[i]\",\"for\":\"i=1..N\",\"expression\":\"x[i-1]+sin(a[i])\"},"
            "{\"name\":\"y[i]\",\"for\":\"i=1..N\",\"expression\":\"y[i-1]-cos(a[i])\"}],"
            "\"particles\":[{\"name\":\"P[i]\",\"for\":\"i=1..N\",\"mass\":1,\"position\":[\"x[i]\",\"y[i]\"]}],"
            "\"gravity\":[0,-9.81],\"simulation\":{\"stop\":2}}"},
};

typedef struct costs {
    double derive, evaluate, run, bytes, steps, tip[2];
} costs;

static double evaluation_time(const hamel_model *model) {
    double *a = calloc(model->n + model->m + 1, sizeof *a), least = INFINITY;
    dynamics *k = dynamics_create(model);
    require(a && k, "out of memory");
    for (int i = 0; i < EVALUATIONS; i++) {
        double begin = processor_time();
        hamel_status status = dynamics_rates(k, 0, model->q0, model->v0, 0, 0, a, a + model->n, NULL);
        least = fmin(least, processor_time() - begin);
        require(status == HAMEL_OK, "the right-hand side failed");
    }
    dynamics_free(k);
    free(a);
    return least;
}

static void find_tip(const table *rows, double tip[2]) {
    const double *a = rows->values + (rows->most - 1) * rows->columns;
    tip[0] = tip[1] = 0;
    for (size_t i = 0; i < rows->columns; i++) tip[0] += sin(a[i]), tip[1] -= cos(a[i]);
}

/* If `runs` is set, also integrates the description, whose first `compared` columns after t are angles of links. */
static costs measure(const baseline *b, double rtol, const char *assignment, bool runs, int rounds) {
    costs c = {.derive = INFINITY, .run = INFINITY};
    hamel_model *model = NULL;
    table rows = table_create(b);
    int round = 0;
    do {
        hamel_model_free(model);
        double begin = processor_time();
        model = prepare(b, rtol, assignment);
        c.derive = fmin(c.derive, processor_time() - begin);
        if (!runs) continue;
        begin = processor_time();
        run_hamel(b, model, &rows);
        c.run = fmin(c.run, processor_time() - begin);
    } while (++round < rounds);
    c.evaluate = evaluation_time(model);
    c.bytes = (double)hamel_model_bytes(model);
    c.steps = rows.steps;
    if (runs) find_tip(&rows, c.tip);
    hamel_model_free(model);
    table_free(&rows);
    return c;
}

static double apart(const double x[2], const double y[2]) {
    return hypot(x[0] - y[0], x[1] - y[1]);
}

static void print_simbody(size_t links, int rounds, const double tip[2]) {
    simbody_chain_result best = {.create = INFINITY, .run = INFINITY}, one;
    if (!simbody_chain) {
        puts("");
        return;
    }
    for (int round = 0; round < rounds; round++) {
        require(simbody_chain(links, STOP, ROWS, RTOL, &one), "Simbody failed");
        if (one.create + one.run < best.create + best.run) best = one;
    }
    printf(" |%10.2f %6.0f %8.1e\n", 1e3 * (best.create + best.run), best.steps, apart(best.tip, tip));
}

static void chain_of_pendulums(const char *const chain[2], int rounds) {
    double x[SIZES_MAX], y[3][SIZES_MAX];
    printf("\nchain of pendulums in angles, %s%s\n\n%5s |%10s %10s %10s %6s %8s %8s%s\n", chain[0],
           simbody_chain ? "" : "; Simbody: not installed", "N", "derive ms", "eval us", "run ms", "steps", "error",
           "kB", simbody_chain ? " |Simbody ms  steps    error" : "");
    for (size_t i = 0; i < LENGTHS; i++) {
        char assignment[40];
        baseline b = {
            .name = chain[0], .method = "auto", .description = chain[1], .stop = STOP, .compared = lengths[i]};
        snprintf(assignment, sizeof assignment, "N=%zu", lengths[i]);
        costs exact = measure(&b, TIGHT, assignment, true, 1), c = measure(&b, RTOL, assignment, true, rounds);
        printf("%5zu |%10.2f %10.2f %10.2f %6.0f %8.1e %8.0f", lengths[i], 1e3 * c.derive, 1e6 * c.evaluate,
               1e3 * c.run, c.steps, apart(c.tip, exact.tip), 1e-3 * c.bytes);
        print_simbody(lengths[i], rounds, exact.tip);
        x[i] = (double)lengths[i];
        y[0][i] = c.derive, y[1][i] = c.evaluate, y[2][i] = c.run / c.steps;
        if (lengths[i] == 256) printf("      | derived and run in %.3f s\n", c.derive + c.run);
    }
    printf("exponents: derivation %.2f, evaluation %.2f, a step with its rows %.2f\n", exponent(x, y[0], LENGTHS),
           exponent(x, y[1], LENGTHS), exponent(x, y[2], LENGTHS));
}

static void tree_of_joints(bool planar, tree_form form, int rounds) {
    double x[SIZES_MAX], y[3][SIZES_MAX];
    printf("\ntrees of bodies with revolute joints, in %s, %s\n\n%5s |%10s %10s %8s\n", planar ? "the plane" : "space",
           form == TREE_FRAMES ? "nested frames" : "joint constraints", "N", "derive ms", "eval us", "kB");
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t seed = 7;
        revolute_tree t = tree_draw(counts[i], planar, false, seed);
        double *start = calloc(2 * counts[i], sizeof *start);
        require(start != NULL, "out of memory");
        for (size_t k = 0; k < 2 * counts[i]; k++) start[k] = random_uniform(&seed, -1, 1);
        char *text = tree_describe(&t, form, (tree_motion){start, start + counts[i], NULL}, STOP, 2, RTOL);
        baseline b = {.name = "tree", .method = "auto", .description = text, .stop = STOP, .compared = counts[i]};
        costs c = measure(&b, RTOL, NULL, false, rounds);
        printf("%5zu |%10.2f %10.2f %8.0f\n", counts[i], 1e3 * c.derive, 1e6 * c.evaluate, 1e-3 * c.bytes);
        x[i] = (double)counts[i];
        y[0][i] = c.derive, y[1][i] = c.evaluate, y[2][i] = c.bytes;
        free(text);
        free(start);
        tree_free(&t);
    }
    printf("exponents: derivation %.2f, evaluation %.2f, memory %.2f\n", exponent(x, y[0], COUNTS),
           exponent(x, y[1], COUNTS), exponent(x, y[2], COUNTS));
}

int main(int count, char **arguments) {
    long asked = count > 1 ? strtol(arguments[1], NULL, 10) : ROUNDS;
    int rounds = asked < 1 || asked > ROUNDS_MAX ? ROUNDS : (int)asked;
    printf("minima of %d rounds\n", rounds);
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) chain_of_pendulums(chains[i], rounds);
    for (int kind = 0; kind < 4; kind++) tree_of_joints(kind < 2, kind % 2 ? TREE_JOINTS : TREE_FRAMES, rounds);
    return 0;
}
