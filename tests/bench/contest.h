/* contest.h — a trajectory computed twice: by hamel from a description, and by hand-written C, which solves manually
 * derived equations with CVODE. Both programs compute the same columns at the same equally spaced times; their number is
 * `rows`, by default ROWS.
 *
 * Times are CPU times of this thread, so other load does not matter. */
#pragma once

#include "engine/hamel.h"

#include <cvodes/cvodes.h>
#include <stdbool.h>
#include <stddef.h>

enum { ROWS = 101, BASELINE_BAND = 3 };

typedef struct baseline {
    const char *name;
    const char *method; /* method of both programs: "adams" or "bdf" */
    const char *description;
    double stop;
    sunindextype states;
    size_t compared; /* number of columns after t that `columns` computes from the state, in hamel's order */
    CVRhsFn rhs;
    CVLsJacFn jacobian; /* banded, for bdf; otherwise NULL */
    void (*start)(double *y, void *data);
    void (*columns)(const double *y, double *values, void *data);
    void *data;  /* argument of the three functions above and of the right-hand side */
    size_t rows; /* number of output rows; 0 means ROWS */
} baseline;

typedef struct table {
    size_t rows, most, columns; /* rows: number of rows filled; most: number of rows of a complete run */
    double *values;
    double steps;
} table;

double processor_time(void);
void require(bool good, const char *what); /* if `good` is false, prints `what` and exits */
double median(double *values, size_t count);
/* Returns the slope of the least-squares line through the points (log x, log y). */
double exponent(const double *x, const double *y, size_t count);

size_t row_count(const baseline *b);
table table_create(const baseline *b);
void table_free(table *t);
double table_error(const table *one, const table *other); /* largest difference between the tables */

/* Returns the model of the description, changed by one `assignment` like that of the option --set. */
hamel_model *prepare(const baseline *b, double rtol, const char *assignment);
void run_hamel(const baseline *b, const hamel_model *model, table *out);

/* Integrates the hand-written equations. If `own_operations` is set, CVODE uses hamel's vector operations, otherwise
 * the serial vectors of the packaged SUNDIALS. */
void run_by_hand(const baseline *b, double rtol, bool own_operations, table *out);

/* Integrates the hand-written equations with DOP853 (contest_limit.c), which is faster than CVODE for systems that are
 * not stiff: the practical limit of the time. */
void run_limit(const baseline *b, double rtol, table *out);

/* A run at one of several tolerances, of which the first is the loosest. */
typedef struct run_cost {
    double seconds, error, steps;
} run_cost;

/* Returns the time of `mine` divided by the time of `other` at the same error. The result is the median over the runs
 * of `mine` whose errors lie between errors of adjacent runs of `other`. Times of `other` are interpolated between the
 * adjacent runs. Returns 0 if `mine` has no such runs. `count` is at most RUN_COSTS. */
enum { RUN_COSTS = 32 };
double ratio_at_equal_error(const run_cost *mine, const run_cost *other, size_t count);
