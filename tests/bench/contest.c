/* contest.c — runs hamel and the hand-written program, and compares their rows. */
#include "tests/bench/contest.h"

#include "api/simulate.h"
#include "engine/simulate/methods/vector_ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void require(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

double exponent(const double *x, const double *y, size_t count) {
    double sx = 0, sy = 0, xx = 0, xy = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double u = log(x[i]), v = log(y[i]);
        sx += u, sy += v, xx += u * u, xy += u * v;
    }
    return (n * xy - sx * sy) / (n * xx - sx * sx);
}

/* Returns the time of `other` at `error`, interpolated between the first two adjacent runs whose errors enclose
 * `error`. If there are no such runs, returns 0. */
static double time_at_error(const run_cost *other, size_t count, double error) {
    for (size_t i = 0; i + 1 < count; i++) {
        double high = log(other[i].error), low = log(other[i + 1].error), here = log(error);
        if (!(here <= high && here > low)) continue;
        double part = (high - here) / (high - low);
        return exp((1 - part) * log(other[i].seconds) + part * log(other[i + 1].seconds));
    }
    return 0;
}

double ratio_at_equal_error(const run_cost *mine, const run_cost *other, size_t count) {
    double ratios[RUN_COSTS];
    size_t enclosed = 0;
    for (size_t i = 0; i < count; i++) {
        double seconds = time_at_error(other, count, mine[i].error);
        if (seconds > 0) ratios[enclosed++] = mine[i].seconds / seconds;
    }
    return enclosed ? median(ratios, enclosed) : 0;
}

/* ---- rows ---- */

size_t row_count(const baseline *b) {
    return b->rows ? b->rows : ROWS;
}

table table_create(const baseline *b) {
    size_t most = row_count(b);
    table t = {.most = most, .columns = b->compared, .values = calloc(most * b->compared, sizeof *t.values)};
    require(t.values != NULL, "out of memory");
    return t;
}

void table_free(table *t) {
    free(t->values);
}

double table_error(const table *one, const table *other) {
    double largest = 0;
    for (size_t i = 0; i < one->rows * one->columns; i++)
        largest = fmax(largest, fabs(one->values[i] - other->values[i]));
    return largest;
}

/* ---- the hand-written program ---- */

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
    b->start(N_VGetArrayPointer_Serial(p.y), b->data);
    p.cvode = CVodeCreate(bdf ? CV_BDF : CV_ADAMS, p.context);
    require(p.cvode != NULL && CVodeInit(p.cvode, b->rhs, 0, p.y) == 0, "CVodeInit");
    require(CVodeSetUserData(p.cvode, b->data) == 0, "CVodeSetUserData");
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

void run_by_hand(const baseline *b, double rtol, bool own_operations, table *out) {
    program p = open_program(b, rtol, own_operations);
    const double *y = N_VGetArrayPointer_Serial(p.y);
    long steps = 0;
    b->columns(y, out->values, b->data);
    for (size_t k = 1; k < out->most; k++) {
        double t = 0;
        require(CVode(p.cvode, b->stop * (double)k / (double)(out->most - 1), p.y, &t, CV_NORMAL) >= 0, "CVode");
        b->columns(y, out->values + k * out->columns, b->data);
    }
    CVodeGetNumSteps(p.cvode, &steps);
    out->steps = (double)steps;
    out->rows = out->most;
    close_program(&p);
}

/* ---- hamel ---- */

hamel_model *prepare(const baseline *b, double rtol, const char *assignment) {
    char method[40], relative[40], absolute[40], stop[40], samples[40];
    snprintf(method, sizeof method, "simulation.method=%s", b->method);
    snprintf(relative, sizeof relative, "simulation.rtol=%g", rtol);
    snprintf(absolute, sizeof absolute, "simulation.atol=%g", rtol * 1e-2);
    snprintf(stop, sizeof stop, "simulation.stop=%.17g", b->stop);
    snprintf(samples, sizeof samples, "simulation.samples=%zu", row_count(b));
    const char *assignments[] = {method, relative, absolute, stop, samples, assignment};
    api_limits limits = api_limits_default();
    limits.jit = HAMEL_JIT_ON; /* the compiler translates hand-written code to machine code, too */
    api_failure failure = {0};
    hamel_model *model = api_prepare(b->description, strlen(b->description), assignments, assignment ? 6 : 5, &limits,
                                     NULL, b->name, &failure);
    if (model == NULL && failure.text != NULL) fputs(failure.text, stderr);
    require(model != NULL, b->name);
    return model;
}

static bool take_row(void *context, const double *values, size_t count) {
    table *out = context;
    if (out->rows == out->most || count < out->columns + 1) return false;
    memcpy(out->values + out->columns * out->rows++, values + 1, out->columns * sizeof *values);
    return true;
}

void run_hamel(const baseline *b, const hamel_model *model, table *out) {
    hamel_error error = {0};
    hamel_summary summary;
    hamel_sink sink = {.context = out, .row = take_row};
    out->rows = 0;
    hamel_status status = hamel_run(model, NULL, &sink, &summary, &error);
    if (status != HAMEL_OK && error.count) fprintf(stderr, "%s\n", error.faults[0].message);
    require(status == HAMEL_OK && out->rows == out->most, b->name);
    out->steps = (double)summary.steps;
    hamel_summary_free(&summary);
    hamel_error_clear(&error);
}
