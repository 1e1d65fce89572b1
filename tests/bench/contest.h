/* contest.h — a trajectory computed twice: by hamel from a description, and by hand-written C, which solves manually
 * derived equations with CVODE. Both programs give ROWS rows of the same columns.
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
    void *data; /* argument of the three functions above and of the right-hand side */
} baseline;

typedef struct table {
    size_t rows, columns;
    double *values;
    double steps;
} table;

double processor_time(void);
void require(bool good, const char *what); /* if `good` is false, prints `what` and exits */
double median(double *values, size_t count);
/* Returns the slope of the least-squares line through the points (log x, log y). */
double exponent(const double *x, const double *y, size_t count);

table table_create(const baseline *b);
void table_free(table *t);
double table_error(const table *one, const table *other); /* largest difference between the tables */

/* Returns the model of the description, changed by one `assignment` like that of the option --set. */
hamel_model *prepare(const baseline *b, double rtol, const char *assignment);
void run_hamel(const baseline *b, const hamel_model *model, table *out);

/* Integrates the hand-written equations. If `own_operations` is set, CVODE uses hamel's vector operations, otherwise
 * the serial vectors of the packaged SUNDIALS. */
void run_by_hand(const baseline *b, double rtol, bool own_operations, table *out);
