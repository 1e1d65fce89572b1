/* time_integrals.h — integrals over time of functions of the motion, from the start of the run.
 *
 * The integrals are not part of the integrated state, so they do not influence the steps. In each step, the functions
 * are evaluated on the dense output. Gauss's rule with 7 points and Kronrod's with 15 points are compared, and the
 * interval is halved until they agree to `rtol`, relative to the integral of the absolute value over the step, or to the
 * rounding noise of the function. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"

/* Computes the values of all functions at a time. If `sample` is not 0, time and state are changed by a few rounding
 * units, differently for each sample. */
typedef hamel_status integrand_function(void *context, double t, int sample, double *values, hamel_error *error);

typedef struct time_integrals {
    size_t count; /* number of functions */
    double rtol;
    double t, *sum;           /* sum[count]: integrals from the start of the run to t */
    double mark, *marked_sum; /* t and sum at the last time_integrals_mark */
    double *points;           /* 15 × count: values at the points of the rule */
    double *part, *size;      /* count: integrals over one interval, and of absolute values over the step */
    double *noise, *shifted;  /* count: noise of the functions in the step; values with other rounding errors */
} time_integrals;

/* Allocates the arrays in `memory`. Returns false if out of memory. */
bool time_integrals_create(time_integrals *w, arena *memory, size_t count, double rtol, double start);

/* Sets total[count] to the integrals from the start of the run to `to`. Times before w->t, which may differ from it by
 * rounding, count as w->t. Returns the first status of `f` that is not HAMEL_OK, or HAMEL_INTEGRATION with an error if
 * the rules do not agree after many halvings. */
hamel_status time_integrals_to(const time_integrals *w, double to, integrand_function *f, void *context, double *total,
                               hamel_error *error) HAMEL_CHECKED;

/* Stores the integrals up to `t`. Later calls of time_integrals_to begin there. */
void time_integrals_advance(time_integrals *w, double t, const double *total);

/* The first function stores t and the integrals; the second function returns to them. */
void time_integrals_mark(time_integrals *w);
void time_integrals_rewind(time_integrals *w);
