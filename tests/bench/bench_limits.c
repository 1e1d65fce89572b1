/* bench_limits.c — time to solution compared with its practical limit: hand-written equations integrated with DOP853.
 *
 * hamel runs each description with the default method. hamel and the hand-written program compute the same rows at a
 * series of tolerances. The ratio compares their times at the same error, as in bench_systems.c. For a chain in angles the equations are written in
 * two ways: with the dense mass matrix, and by the tensions of the links in O(N) operations. The
 * equations of some constrained systems are also written in two ways: reduced to fewer variables, and in the coordinates
 * of the description with multipliers.
 *
 * Exits with 1 if hamel's error exceeds 1e4 times its tolerance.
 *
 * bench_limits [rounds [part of a system's name]] */
#include "tests/bench/baselines.h"
#include "tests/bench/chains.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_ROWS = 201 };
enum { ROUNDS = 5, ROUNDS_MAX = 101, POINTS = 9, SHOWN = 4 };
static const double LOOSEST = 1e-5, STEP = 0.31622776601683794, STOP = 2, ANGLE = 0.5;

static double tolerance_at(int point) {
    return LOOSEST * pow(STEP, point);
}

/* Returns the number of runs per round, large enough for the resolution of the clock. */
static int runs_per_round(double seconds) {
    return seconds < 2e-3 ? (int)(2e-3 / (seconds + 1e-7)) + 1 : 1;
}

static void measure(const baseline *b, double rtol, int rounds, const table *reference, table *scratch, run_cost *mine,
                    run_cost *limit) {
    double samples[2][ROUNDS_MAX];
    hamel_model *model = prepare(b, rtol, "simulation.method=auto");
    double begin = processor_time();
    run_hamel(b, model, scratch);
    int runs = runs_per_round(processor_time() - begin);
    for (int round = 0; round < rounds; round++) {
        begin = processor_time();
        for (int k = 0; k < runs; k++) run_hamel(b, model, scratch);
        samples[0][round] = (processor_time() - begin) / runs;
        *mine = (run_cost){.error = table_error(scratch, reference), .steps = scratch->steps};
        begin = processor_time();
        for (int k = 0; k < runs; k++) run_limit(b, rtol, scratch);
        samples[1][round] = (processor_time() - begin) / runs;
        *limit = (run_cost){.error = table_error(scratch, reference), .steps = scratch->steps};
    }
    mine->seconds = median(samples[0], (size_t)rounds);
    limit->seconds = median(samples[1], (size_t)rounds);
    hamel_model_free(model);
}

static bool compare_with_limit(const char *name, const baseline *b, int rounds) {
    run_cost mine[POINTS], limit[POINTS];
    table reference = table_create(b), scratch = table_create(b);
    bool good = true;
    run_limit(b, 1e-14, &reference);
    for (int i = 0; i < POINTS; i++) {
        measure(b, tolerance_at(i), rounds, &reference, &scratch, &mine[i], &limit[i]);
        good = good && mine[i].error < 1e4 * tolerance_at(i);
    }
    const run_cost *m = &mine[SHOWN], *l = &limit[SHOWN];
    printf("%-36s |%10.1f %8.1e %6.0f |%10.1f %8.1e %6.0f |%6.2f%s\n", name, 1e6 * m->seconds, m->error, m->steps,
           1e6 * l->seconds, l->error, l->steps, ratio_at_equal_error(mine, limit, POINTS),
           good ? "" : "  the error exceeds 1e4 times the tolerance");
    fflush(stdout);
    table_free(&reference);
    table_free(&scratch);
    return good;
}

typedef baseline (*chain_kind)(chain *c, double stop);

/* Compares a chain of `links` links. Replaces the values of the parameters N and angle in its description. `kind` returns
 * the chain in one set of coordinates. Chains whose names do not contain `part` are skipped. */
static bool compare_chain(const char *kind_name, chain_kind kind, size_t links, int rounds, const char *part) {
    static const char given[] = "\"N\":16,\"angle\":0.8";
    char name[64], changed[64], *text, *place;
    snprintf(name, sizeof name, "chain of %zu in %s", links, kind_name);
    if (!strstr(name, part)) return true;
    chain *c = chain_create(links, ANGLE);
    baseline b = kind(c, STOP);
    b.rows = CHAIN_ROWS;
    snprintf(changed, sizeof changed, "\"N\":%zu,\"angle\":%g", links, ANGLE);
    size_t size = strlen(b.description) + sizeof changed;
    require((text = malloc(size)) != NULL, "out of memory");
    place = strstr(b.description, given);
    require(place != NULL, "the description of the chain does not contain the expected parameters");
    snprintf(text, size, "%.*s%s%s", (int)(place - b.description), b.description, changed, place + strlen(given));
    b.description = text;
    bool good = compare_with_limit(name, &b, rounds);
    free(text);
    chain_free(c);
    return good;
}

int main(int count, char **arguments) {
    static const size_t angles[] = {1, 4, 16, 64}, coordinates[] = {16, 256, 1024};
    long asked = count > 1 ? strtol(arguments[1], NULL, 10) : ROUNDS;
    int rounds = asked < 1 || asked > ROUNDS_MAX ? ROUNDS : (int)asked;
    const char *part = count > 2 ? arguments[2] : "";
    bool good = true;
    printf("time of a run in microseconds at rtol %.0e; medians of %d rounds; %d output rows, for chains %d\n\n",
           tolerance_at(SHOWN), rounds, ROWS, CHAIN_ROWS);
    printf("%-36s |%10s %8s %6s |%10s %8s %6s |%6s\n", "system", "hamel", "error", "steps", "limit", "error", "steps",
           "ratio");
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
        good = compare_chain("angles, dense", chain_in_sums, angles[i], rounds, part) && good;
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
        good = compare_chain("angles, by tensions", chain_in_sums_by_tensions, angles[i], rounds, part) && good;
    for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++)
        good = compare_chain("x and y", chain_in_coordinates, coordinates[i], rounds, part) && good;
    for (size_t i = 0; i < long_baseline_count; i++)
        if (strstr(long_baselines[i].name, part))
            good = compare_with_limit(long_baselines[i].name, &long_baselines[i], rounds) && good;
    for (size_t i = 0; i < multiplier_baseline_count; i++)
        if (strstr(multiplier_baselines[i].name, part))
            good = compare_with_limit(multiplier_baselines[i].name, &multiplier_baselines[i], rounds) && good;
    for (size_t i = 0; i < baseline_count; i++)
        if (!baselines[i].jacobian && strstr(baselines[i].name, part))
            good = compare_with_limit(baselines[i].name, &baselines[i], rounds) && good;
    printf("\nmultipliers: the limit uses the coordinates of the description, with multipliers.\n"
           "limit: hand-written equations with DOP853.\n"
           "ratio: time of hamel divided by the time of the limit at the same error,\n"
           "median over tolerances from %.0e to %.0e.\n",
           LOOSEST, tolerance_at(POINTS - 1));
    return good ? 0 : 1;
}
