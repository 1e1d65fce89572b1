/* bench_systems.c — small systems: right-hand side, derivation, and time to solution, compared with hand-written C
 * (baselines.c).
 *
 * For the right-hand side, the benchmark evaluates accelerations at states along the motion. Constrained systems are
 * hand-written in fewer variables than hamel uses. The systems in `same` are hand-written in hamel's coordinates with
 * multipliers, to separate the effect of the formulation.
 *
 * For the time to solution, both sides use the same method and compute 101 rows. A run includes creating and freeing
 * the integrator. The hand-written programs are measured with SUNDIALS' serial vectors as packaged, and with hamel's
 * vector operations. Equal tolerances do not mean equal errors, and the error is not a smooth function of the
 * tolerance. So the benchmark measures a curve of time over error for each side, with a series of tolerances. `equal`
 * is hamel's time divided by the time of the hand-written program at the same error, as the median over hamel's points.
 * Errors are maxima over all rows and compared columns, relative to the hand-written program at tight tolerances, so
 * that fast but wrong results are detected.
 *
 * Runs of all kinds alternate in rounds. A figure is the median of the rounds. Exits with 1 if an error exceeds 1e4
 * times its tolerance.
 *
 * bench_systems [rounds [part of a system's name]] */
#include "engine/dynamics/dynamics.h"
#include "tests/bench/baselines.h"

#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, ROUNDS_MAX = 101, SWEEP = 13, PER_DECADE = 2 };
static const double LOOSEST = 1e-4; /* largest tolerance of the series */
static const int SHOWN[] = {4, 10}; /* indices of the tolerances 1e-6 and 1e-9 */

enum { HAMEL, DEFAULT, PACKAGED, BY_HAND, KINDS }; /* DEFAULT is hamel with the method that `auto` selects */

static double tolerance_at(int point) {
    return LOOSEST * pow(10, -(double)point / PER_DECADE);
}

/* ---- the right-hand side ---- */

enum { STATES = 64, CALLS = 200 };

/* Returns the nanoseconds per evaluation; `states` contains (q, q') of STATES rows. */
static double time_hamel(const hamel_model *model, dynamics *k, const double *states, double *a) {
    size_t n = model->n;
    double begin = processor_time();
    for (int c = 0; c < CALLS; c++)
        for (size_t i = 0; i < STATES; i++) {
            const double *q = states + 2 * n * i;
            require(dynamics_rates(k, 0, q, q + n, 0, 0, a, NULL, NULL) == HAMEL_OK, "the right-hand side fails");
        }
    return 1e9 * (processor_time() - begin) / (CALLS * STATES);
}

static double time_by_hand(const baseline *b, N_Vector *y, N_Vector rate) {
    double begin = processor_time();
    for (int c = 0; c < CALLS; c++)
        for (size_t i = 0; i < STATES; i++) require(b->rhs(0, y[i], rate, b->data) == 0, "the right-hand side fails");
    return 1e9 * (processor_time() - begin) / (CALLS * STATES);
}

typedef struct gathered {
    size_t n, count;
    double *states;
} gathered;

static bool gather(void *context, const double *values, size_t count) {
    gathered *g = context;
    require(count > 2 * g->n, "the rows contain no velocities");
    if (g->count < STATES) memcpy(g->states + 2 * g->n * g->count++, values + 1, 2 * g->n * sizeof *values);
    return true;
}

/* Stores states along the motion of the hand-written program, whose cost does not depend on the state. */
static void gather_by_hand(const baseline *b, SUNContext context, N_Vector *y) {
    for (size_t i = 0; i < STATES; i++) {
        y[i] = N_VNew_Serial(b->states, context);
        require(y[i] != NULL, "out of memory");
        b->start(N_VGetArrayPointer_Serial(y[i]), b->data);
        for (sunindextype k = 0; k < b->states; k++) NV_Ith_S(y[i], k) += 1e-3 * (double)i * (double)(k + 1);
    }
}

static void measure_rates(const baseline *b, int rounds) {
    double mine[ROUNDS_MAX], theirs[ROUNDS_MAX], derive[ROUNDS_MAX];
    hamel_model *model = prepare(b, 1e-6, NULL);
    hamel_error error = {0};
    hamel_summary summary;
    gathered g = {.n = model->n, .states = calloc(2 * model->n * STATES, sizeof *g.states)};
    double *a = calloc(model->n, sizeof *a);
    hamel_sink sink = {.context = &g, .row = gather};
    dynamics *k = dynamics_create(model);
    SUNContext context = NULL;
    N_Vector y[STATES];
    require(g.states && a && k && SUNContext_Create(NULL, &context) == 0, "out of memory");
    require(hamel_run(model, NULL, &sink, &summary, &error) == HAMEL_OK, b->name);
    hamel_summary_free(&summary);
    gather_by_hand(b, context, y);
    N_Vector rate = N_VClone(y[0]);
    for (int round = 0; round < rounds; round++) {
        mine[round] = time_hamel(model, k, g.states, a);
        theirs[round] = time_by_hand(b, y, rate);
        double begin = processor_time();
        hamel_model_free(prepare(b, 1e-6, NULL));
        derive[round] = 1e6 * (processor_time() - begin);
    }
    double one = median(mine, (size_t)rounds), other = median(theirs, (size_t)rounds);
    printf("%-21s |%9.0f %9.0f %6.2f |%9.0f\n", b->name, one, other, one / other, median(derive, (size_t)rounds));
    for (size_t i = 0; i < STATES; i++) N_VDestroy(y[i]);
    N_VDestroy(rate);
    SUNContext_Free(&context);
    dynamics_free(k);
    free(g.states), free(a);
    hamel_model_free(model);
}

/* ---- time to solution ---- */

static void run_kind(const baseline *b, hamel_model *const *models, double rtol, int kind, table *out) {
    if (kind <= DEFAULT)
        run_hamel(b, models[kind], out);
    else
        run_by_hand(b, rtol, kind == BY_HAND, out);
}

/* Returns the number of runs per round, large enough for the resolution of the clock. */
static int runs_of_a_round(const baseline *b, const hamel_model *model, table *scratch) {
    double begin = processor_time();
    run_hamel(b, model, scratch);
    double one = processor_time() - begin;
    return one < 2e-3 ? (int)(2e-3 / (one + 1e-7)) + 1 : 1;
}

/* Measures the runs of all kinds at one tolerance, into costs[kind][point]. */
static void measure(const baseline *b, int point, int rounds, const table *reference, table *scratch,
                    run_cost costs[KINDS][SWEEP]) {
    double rtol = tolerance_at(point);
    double samples[KINDS][ROUNDS_MAX];
    hamel_model *models[] = {[HAMEL] = prepare(b, rtol, NULL), [DEFAULT] = prepare(b, rtol, "simulation.method=auto")};
    int runs = runs_of_a_round(b, models[HAMEL], scratch);
    for (int round = 0; round < rounds; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            double begin = processor_time();
            for (int k = 0; k < runs; k++) run_kind(b, models, rtol, kind, scratch);
            samples[kind][round] = (processor_time() - begin) / runs;
            costs[kind][point].error = table_error(scratch, reference);
            costs[kind][point].steps = scratch->steps;
        }
    }
    for (int kind = 0; kind < KINDS; kind++) costs[kind][point].seconds = median(samples[kind], (size_t)rounds);
    hamel_model_free(models[HAMEL]);
    hamel_model_free(models[DEFAULT]);
}

/* An error may exceed its tolerance by at most four decades, because long motions amplify errors. */
static bool plausible(run_cost costs[KINDS][SWEEP], int point) {
    bool good = true;
    for (int kind = 0; kind < KINDS; kind++) good = good && costs[kind][point].error < 1e4 * tolerance_at(point);
    return good;
}

static void print_point(const baseline *b, run_cost costs[KINDS][SWEEP], int point, bool first) {
    const run_cost *mine = &costs[HAMEL][point], *theirs = &costs[BY_HAND][point];
    printf("%-21s %-6s %-6.0e |%9.1f %8.1e %6.0f |%9.1f %9.1f %8.1e %6.0f |%6.2f", first ? b->name : "", b->method,
           tolerance_at(point), 1e6 * mine->seconds, mine->error, mine->steps, 1e6 * costs[PACKAGED][point].seconds,
           1e6 * theirs->seconds, theirs->error, theirs->steps, mine->seconds / theirs->seconds);
    if (first)
        printf(" %6.2f %6.2f", ratio_at_equal_error(costs[HAMEL], costs[BY_HAND], SWEEP),
               ratio_at_equal_error(costs[DEFAULT], costs[BY_HAND], SWEEP));
    puts(plausible(costs, point) ? "" : "  the error exceeds 1e4 times the tolerance");
}

static bool contest(const baseline *b, int rounds) {
    run_cost costs[KINDS][SWEEP];
    table reference = table_create(b), scratch = table_create(b);
    bool good = true;
    run_by_hand(b, b->jacobian != NULL ? 1e-11 : 1e-13, true, &reference);
    for (int i = 0; i < SWEEP; i++) measure(b, i, rounds, &reference, &scratch, costs);
    for (size_t i = 0; i < sizeof SHOWN / sizeof *SHOWN; i++) {
        good = plausible(costs, SHOWN[i]) && good;
        print_point(b, costs, SHOWN[i], i == 0);
    }
    table_free(&reference);
    table_free(&scratch);
    return good;
}

static const baseline *baseline_at(size_t k) {
    if (k < baseline_count) return &baselines[k];
    return k - baseline_count < multiplier_baseline_count ? &multiplier_baselines[k - baseline_count] : NULL;
}

int main(int count, char **arguments) {
    long asked = count > 1 ? strtol(arguments[1], NULL, 10) : ROUNDS;
    int rounds = asked < 1 || asked > ROUNDS_MAX ? ROUNDS : (int)asked;
    const char *part = count > 2 ? arguments[2] : "";
    bool good = true;
    printf(
        "accelerations at one state, nanoseconds; derivation and compilation, microseconds; medians of %d rounds\n\n",
        rounds);
    printf("%-21s |%9s %9s %6s |%9s\n", "system", "hamel", "by hand", "ratio", "derive");
    for (size_t k = 0; baseline_at(k); k++)
        if (strstr(baseline_at(k)->name, part)) measure_rates(baseline_at(k), rounds);
    printf("\ntime to 101 rows, microseconds; by hand: CVODE with packaged vectors, and with hamel's\n\n");
    printf("%-21s %-6s %-6s |%9s %8s %6s |%9s %9s %8s %6s |%6s %6s %6s\n", "system", "method", "rtol", "hamel", "error",
           "steps", "packaged", "by hand", "error", "steps", "ratio", "equal", "auto");
    for (size_t k = 0; baseline_at(k); k++)
        if (strstr(baseline_at(k)->name, part)) good = contest(baseline_at(k), rounds) && good;
    printf("\nratio: time of hamel divided by the time of the hand-written program with hamel's vector operations,\n"
           "at the same tolerance. equal: this ratio at the same error, as median of tolerances from 1e-4 to 1e-10.\n"
           "auto: like equal, for the method that auto selects. A system named \"same\" is hand-written in hamel's\n"
           "coordinates with multipliers.\n");
    return good ? 0 : 1;
}
