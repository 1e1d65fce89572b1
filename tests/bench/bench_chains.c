/* bench_chains.c — growth of cost with the length of a chain and with its stiffness, compared with hand-written C
 * (chains.c).
 *
 * Prints the time per step at rtol 1e-6 and the bytes that a model allocates during a run. A time is the median of
 * rounds in which both sides alternate. Exponents are slopes of log(cost) over log(length). Exits with 1 if hamel and
 * the hand-written program differ by more than 1e4 times the tolerance times the length.
 *
 * bench_chains [rounds] */
#include "tests/bench/chains.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 5, ROUNDS_MAX = 101, LENGTHS_MAX = 8 };
static const double RTOL = 1e-6;

typedef struct figures {
    double seconds[2], steps[2], bytes, derive, error;
} figures;

static double allocated(void) {
    struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
}

static bool note_memory(void *context, const double *values, size_t count) {
    (void)values, (void)count;
    *(double *)context = fmax(*(double *)context, allocated());
    return true;
}

/* Returns the memory of a model and its run, in bytes. */
static double memory_of(const baseline *b, const char *length) {
    double before = allocated(), most = 0;
    hamel_model *model = prepare(b, RTOL, length);
    hamel_sink sink = {.context = &most, .row = note_memory};
    hamel_summary summary;
    require(hamel_run(model, NULL, &sink, &summary, NULL) == HAMEL_OK, b->name);
    hamel_summary_free(&summary);
    hamel_model_free(model);
    return most - before;
}

static figures measure(const baseline *b, size_t links, int rounds) {
    figures f = {0};
    char length[40];
    double samples[2][ROUNDS_MAX];
    table mine = table_create(b), theirs = table_create(b);
    snprintf(length, sizeof length, "N=%zu", links);
    f.bytes = memory_of(b, length);
    double begin = processor_time();
    hamel_model *model = prepare(b, RTOL, length);
    f.derive = processor_time() - begin;
    for (int round = 0; round < rounds; round++) {
        begin = processor_time();
        run_hamel(b, model, &mine);
        samples[0][round] = processor_time() - begin;
        begin = processor_time();
        run_by_hand(b, RTOL, true, &theirs);
        samples[1][round] = processor_time() - begin;
    }
    for (int kind = 0; kind < 2; kind++) f.seconds[kind] = median(samples[kind], (size_t)rounds);
    f.steps[0] = mine.steps;
    f.steps[1] = theirs.steps;
    f.error = table_error(&mine, &theirs);
    hamel_model_free(model);
    table_free(&mine), table_free(&theirs);
    return f;
}

static bool grow(const char *title, const size_t *lengths, size_t count, baseline make(chain *, double), double stop,
                 int rounds) {
    double x[LENGTHS_MAX], step[2][LENGTHS_MAX], bytes[LENGTHS_MAX];
    bool good = true;
    printf("\n%s\n\n%5s |%9s %6s %9s |%9s %6s %9s |%6s %6s |%9s %9s %9s\n", title, "N", "hamel us", "steps", "a step",
           "by hand", "steps", "a step", "ratio", "a step", "derive ms", "kB", "apart");
    for (size_t i = 0; i < count; i++) {
        chain *c = chain_create(lengths[i], 0.8);
        baseline b = make(c, stop);
        figures f = measure(&b, lengths[i], rounds);
        x[i] = (double)lengths[i];
        bytes[i] = f.bytes;
        for (int kind = 0; kind < 2; kind++) step[kind][i] = f.seconds[kind] / f.steps[kind];
        printf("%5zu |%9.0f %6.0f %9.2f |%9.0f %6.0f %9.2f |%6.2f %6.2f |%9.2f %9.0f %9.1e\n", lengths[i],
               1e6 * f.seconds[0], f.steps[0], 1e6 * step[0][i], 1e6 * f.seconds[1], f.steps[1], 1e6 * step[1][i],
               f.seconds[0] / f.seconds[1], step[0][i] / step[1][i], 1e3 * f.derive, 1e-3 * f.bytes, f.error);
        good = good && f.error < 1e4 * RTOL * x[i];
        chain_free(c);
    }
    printf("exponents of growth: time of a step %.2f, by hand %.2f; memory %.2f\n", exponent(x, step[0], count),
           exponent(x, step[1], count), exponent(x, bytes, count));
    return good;
}

static void stiffen(void) {
    static const char *const stiffness[] = {"k=1e6", "k=1e7", "k=1e8", "k=1e9", "k=1e10"};
    baseline b = {.name = "stiff column", .method = "bdf", .description = stiff_column, .stop = 10, .compared = 1};
    table rows = table_create(&b);
    printf("\nsteps of a stiff column of 16, by bdf:");
    for (size_t i = 0; i < sizeof stiffness / sizeof *stiffness; i++) {
        hamel_model *model = prepare(&b, RTOL, stiffness[i]);
        run_hamel(&b, model, &rows);
        printf("  %s: %.0f", stiffness[i], rows.steps);
        hamel_model_free(model);
    }
    puts("");
    table_free(&rows);
}

int main(int count, char **arguments) {
    static const size_t coordinates[] = {16, 64, 256, 1024, 4096}, angles[] = {4, 16, 64, 128};
    long asked = count > 1 ? strtol(arguments[1], NULL, 10) : ROUNDS;
    int rounds = asked < 1 || asked > ROUNDS_MAX ? ROUNDS : (int)asked;
    printf("medians of %d rounds, rtol 1e-6\n", rounds);
    bool good =
        grow("chain in x and y; the program by hand takes O(N)", coordinates, 5, chain_in_coordinates, 2, rounds);
    good = grow("chain in angles; the program by hand has a dense M", angles, 4, chain_in_angles, 2, rounds) && good;
    stiffen();
    return good ? 0 : 1;
}
