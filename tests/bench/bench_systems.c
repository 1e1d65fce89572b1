/* bench_systems.c — time to solution of hamel against CVODE programs written by hand (baselines.c).
 *
 * Both integrate the same motion with the same method and tolerances and give 101 rows; hamel's model is derived once
 * (the column `derive`), as the daemon and sweeps do, and a run includes setting up and freeing the integrator on
 * either side. Hand-written programs are measured twice: with SUNDIALS' serial vectors as packaged, and with the vector
 * operations that hamel uses itself, which is the practical limit. Errors are the largest over all rows and compared
 * columns against the baseline at tight tolerances, so that a fast wrong answer shows; and because tolerances do not
 * mean the same error on both sides, the program with hamel's vector operations is also measured at the tolerance where
 * its error is no larger than hamel's.
 *
 * Runs of all kinds alternate in rounds; a figure is the median of the rounds. Exits 1 when an error is out of
 * proportion to its tolerance.
 *
 *     bench_systems [rounds] */
#include "api/simulate.h"
#include "engine/simulate/vector_ops.h"
#include "tests/bench/baselines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

enum { ROWS = 101, ROUNDS = 9, ROUNDS_MAX = 101, KINDS = 4 };

typedef struct table {
    size_t rows, columns;
    double values[ROWS][BASELINE_COMPARED_MAX];
} table;

/* Processor time: all kinds run on this thread, and what else the machine does is not their doing. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void require(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench_systems: %s\n", what);
    exit(1);
}

/* ---- by hand ---- */

typedef struct program {
    SUNContext context;
    void *cvode;
    N_Vector y;
    SUNNonlinearSolver iteration;
    SUNMatrix matrix;
    SUNLinearSolver solver;
} program;

static N_Vector new_vector(const baseline *b, bool own_operations, SUNContext context) {
    N_Vector y = own_operations ? vector_create(b->states, context) : N_VNew_Serial(b->states, context);
    require(y != NULL, "out of memory");
    return y;
}

static program open_program(const baseline *b, double rtol, bool own_operations) {
    program p = {0};
    bool bdf = b->jacobian != NULL;
    require(SUNContext_Create(NULL, &p.context) == 0, "SUNContext_Create");
    p.y = new_vector(b, own_operations, p.context);
    b->start(N_VGetArrayPointer_Serial(p.y));
    p.cvode = CVodeCreate(bdf ? CV_BDF : CV_ADAMS, p.context);
    require(p.cvode != NULL && CVodeInit(p.cvode, b->rhs, 0, p.y) == 0, "CVodeInit");
    require(CVodeSStolerances(p.cvode, rtol, rtol * 1e-2) == 0, "CVodeSStolerances");
    require(CVodeSetMaxNumSteps(p.cvode, 10000000) == 0, "CVodeSetMaxNumSteps");
    if (bdf) {
        p.matrix = SUNBandMatrix(b->states, BASELINE_BAND, BASELINE_BAND, p.context);
        p.solver = SUNLinSol_Band(p.y, p.matrix, p.context);
        require(CVodeSetLinearSolver(p.cvode, p.solver, p.matrix) == 0, "CVodeSetLinearSolver");
        require(CVodeSetJacFn(p.cvode, b->jacobian) == 0, "CVodeSetJacFn");
    } else {
        p.iteration = SUNNonlinSol_FixedPoint(p.y, 0, p.context);
        require(CVodeSetNonlinearSolver(p.cvode, p.iteration) == 0, "CVodeSetNonlinearSolver");
    }
    return p;
}

static void close_program(program *p) {
    CVodeFree(&p->cvode);
    if (p->iteration != NULL) SUNNonlinSolFree(p->iteration);
    if (p->solver != NULL) SUNLinSolFree(p->solver);
    if (p->matrix != NULL) SUNMatDestroy(p->matrix);
    N_VDestroy(p->y);
    SUNContext_Free(&p->context);
}

static void run_by_hand(const baseline *b, double rtol, bool own_operations, table *out) {
    program p = open_program(b, rtol, own_operations);
    const double *y = N_VGetArrayPointer_Serial(p.y);
    out->columns = b->compared;
    b->columns(y, out->values[0]);
    for (int k = 1; k < ROWS; k++) {
        double t = 0;
        require(CVode(p.cvode, b->stop * k / (ROWS - 1), p.y, &t, CV_NORMAL) >= 0, "CVode");
        b->columns(y, out->values[k]);
    }
    out->rows = ROWS;
    close_program(&p);
}

/* ---- by hamel ---- */

static bool take_row(void *context, const double *values, size_t count) {
    table *out = context;
    if (out->rows == ROWS || count < out->columns + 1) return false;
    memcpy(out->values[out->rows++], values + 1, out->columns * sizeof *values);
    return true;
}

static bool take_problem(void *context, const char *json, const api_failure *failure, const char *summary_json) {
    (void)context, (void)failure, (void)summary_json;
    fprintf(stderr, "%s\n", json);
    return true;
}

static hamel_model *prepare(const baseline *b, double rtol) {
    char method[40], relative[40], absolute[40];
    snprintf(method, sizeof method, "simulation.method=%s", b->method);
    snprintf(relative, sizeof relative, "simulation.rtol=%g", rtol);
    snprintf(absolute, sizeof absolute, "simulation.atol=%g", rtol * 1e-2);
    const char *assignments[] = {method, relative, absolute};
    api_limits limits = api_limits_default();
    api_failure failure = {0};
    hamel_model *model =
        api_prepare(b->description, strlen(b->description), assignments, 3, &limits, NULL, b->name, &failure);
    if (model == NULL && failure.text != NULL) fputs(failure.text, stderr);
    require(model != NULL, b->name);
    return model;
}

static void run_hamel(const baseline *b, const hamel_model *model, table *out) {
    out->rows = 0;
    out->columns = b->compared;
    api_observer observer = {.context = out, .row = take_row, .problem = take_problem};
    require(api_run(model, 0, NULL, &observer, b->name) == HAMEL_OK && out->rows == ROWS, b->name);
}

/* ---- measuring ---- */

static double error_of(const table *one, const table *other) {
    double largest = 0;
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < one->columns; c++) {
            largest = fmax(largest, fabs(one->values[r][c] - other->values[r][c]));
        }
    }
    return largest;
}

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

enum { HAMEL, PACKAGED, OWN_OPERATIONS, EQUAL_ERROR };

/* What the kinds of runs share. */
typedef struct contest {
    const baseline *b;
    const hamel_model *model;
    double rtol, rtol_of_equal_error;
} contest;

static void run_kind(const contest *c, int kind, table *out) {
    switch (kind) {
    case HAMEL: run_hamel(c->b, c->model, out); break;
    case PACKAGED: run_by_hand(c->b, c->rtol, false, out); break;
    case OWN_OPERATIONS: run_by_hand(c->b, c->rtol, true, out); break;
    default: run_by_hand(c->b, c->rtol_of_equal_error, true, out);
    }
}

/* The loosest tolerance, in steps of a quarter of a decade, at which the program by hand is as exact as `error`. */
static double tolerance_for(const baseline *b, double rtol, double error, const table *reference, table *scratch) {
    for (double tolerance = rtol; tolerance > 1e-13; tolerance *= 0.5623413251903491) {
        run_by_hand(b, tolerance, true, scratch);
        if (error_of(scratch, reference) <= error) return tolerance;
    }
    return 1e-13;
}

typedef struct figures {
    double seconds[KINDS], error[KINDS], derive;
} figures;

/* Enough runs a round for the clock to mean something. */
static int runs_of_a_round(const baseline *b, const hamel_model *model, table *scratch) {
    double begin = now();
    run_hamel(b, model, scratch);
    double one = now() - begin;
    return one < 5e-3 ? (int)(5e-3 / (one + 1e-7)) + 1 : 1;
}

static figures measure(const baseline *b, double rtol, int rounds, const table *reference, table *scratch) {
    figures f;
    double samples[KINDS][ROUNDS_MAX];
    double begin = now();
    hamel_model *model = prepare(b, rtol);
    f.derive = now() - begin;
    int runs = runs_of_a_round(b, model, scratch);
    contest c = {.b = b, .model = model, .rtol = rtol};
    c.rtol_of_equal_error = tolerance_for(b, rtol, error_of(scratch, reference), reference, scratch);
    for (int round = 0; round < rounds; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            begin = now();
            for (int k = 0; k < runs; k++) run_kind(&c, kind, scratch);
            samples[kind][round] = (now() - begin) / runs;
            f.error[kind] = error_of(scratch, reference);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) f.seconds[kind] = median(samples[kind], (size_t)rounds);
    hamel_model_free(model);
    return f;
}

/* A long run at a loose tolerance may lose four digits to the motion's own sensitivity, not more. */
static bool plausible(const figures *f, double rtol) {
    bool good = true;
    for (int kind = 0; kind < KINDS; kind++) good = good && f->error[kind] < 1e4 * rtol;
    return good;
}

static void print_figures(const baseline *b, double rtol, const figures *f, bool fine) {
    printf("%-21s %-6s %-6.0e |%9.1f %8.1e |%9.1f %9.1f %8.1e |%9.1f |%6.2f %6.2f | %4.0f us%s\n", b->name, b->method,
           rtol, 1e6 * f->seconds[HAMEL], f->error[HAMEL], 1e6 * f->seconds[PACKAGED], 1e6 * f->seconds[OWN_OPERATIONS],
           f->error[OWN_OPERATIONS], 1e6 * f->seconds[EQUAL_ERROR], f->seconds[HAMEL] / f->seconds[OWN_OPERATIONS],
           f->seconds[HAMEL] / f->seconds[EQUAL_ERROR], 1e6 * f->derive, fine ? "" : "  the error is too large");
}

int main(int count, char **arguments) {
    long rounds = count > 1 ? strtol(arguments[1], NULL, 10) : ROUNDS;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = ROUNDS;
    static const double tolerances[] = {1e-6, 1e-9};
    table *reference = calloc(2, sizeof *reference);
    require(reference != NULL, "out of memory");
    bool good = true;
    printf(
        "processor time to 101 rows, median of %ld rounds; by hand: CVODE with packaged vectors, and with hamel's\n\n",
        rounds);
    printf("%-21s %-6s %-6s |%9s %8s |%9s %9s %8s |%9s |%6s %6s | %s\n", "system", "method", "rtol", "hamel us",
           "error", "by hand", "own ops", "error", "equal err", "ratio", "equal", "derive");
    for (size_t k = 0; k < baseline_count; k++) {
        const baseline *b = &baselines[k];
        run_by_hand(b, b->jacobian != NULL ? 1e-11 : 1e-13, true, reference);
        for (size_t i = 0; i < 2; i++) {
            figures f = measure(b, tolerances[i], (int)rounds, reference, reference + 1);
            bool fine = plausible(&f, tolerances[i]);
            print_figures(b, tolerances[i], &f, fine);
            good = good && fine;
        }
    }
    printf(
        "\nTimes in microseconds. ratio: hamel against the program with its vector operations at the same tolerance;\n"
        "equal: against that program at the tolerance where its error is no larger.\n");
    free(reference);
    return good ? 0 : 1;
}
