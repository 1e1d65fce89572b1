/* contest.h — a motion computed twice: by hamel from a description, and by the C that a person would write for CVODE who
 * has derived the equations by hand. Both give ROWS rows of the same columns.
 *
 * Times are processor time of this thread: what else the machine does is not their doing. */
#pragma once

#include "engine/hamel.h"

#include <cvodes/cvodes.h>
#include <stdbool.h>
#include <stddef.h>

enum { ROWS = 101, BASELINE_BAND = 3 };

typedef struct baseline {
    const char *name;
    const char *method; /* the method of both: "adams" or "bdf" */
    const char *description;
    double stop;
    sunindextype states;
    size_t compared; /* hamel's first columns after t, which `columns` gives from the state */
    CVRhsFn rhs;
    CVLsJacFn jacobian; /* banded, for bdf; else NULL */
    void (*start)(double *y, void *data);
    void (*columns)(const double *y, double *values, void *data);
    void *data; /* of the three above and the right-hand side */
} baseline;

typedef struct table {
    size_t rows, columns;
    double *values;
    double steps;
} table;

double processor_time(void);
void require(bool good, const char *what); /* else ends the program */
double median(double *values, size_t count);
/* The slope of a line through (log x, log y), by least squares. */
double exponent(const double *x, const double *y, size_t count);

table table_create(const baseline *b);
void table_free(table *t);
double table_error(const table *one, const table *other); /* largest difference */

/* The model of the description, with `assignments` as of --set. */
hamel_model *prepare(const baseline *b, double rtol, const char *assignment);
void run_hamel(const baseline *b, const hamel_model *model, table *out);

/* With the vector operations that hamel uses itself, or SUNDIALS' serial ones as packaged. */
void run_by_hand(const baseline *b, double rtol, bool own_operations, table *out);
