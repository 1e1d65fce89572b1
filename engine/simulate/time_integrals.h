/* time_integrals.h — integrates functions of the motion over time, from the start of the run.
 *
 * The integrals are not part of the integrated state, so they do not influence the steps. In each step, the functions
 * are evaluated on the dense output. Gauss's rule with 7 points and Kronrod's rule with 15 points are compared, which
 * gives an error estimate. An interval is halved until the estimate is at most the sum of two bounds. The first bound
 * is `rtol` times the integral of the absolute value over the step. The second bound is the rounding noise of the
 * function times the length of the interval. */
#pragma once

#include "engine/base/arena.h"
#include "engine/base/error.h"

/* Sets values[count] to the functions at time t. If `sample` is not 0, the function first changes time and state by a
 * few rounding units, differently for each `sample`. Adds an error if the status is not HAMEL_OK. */
typedef hamel_status integrand_function(void *context, double t, int sample, double *values, hamel_error *error);

typedef struct time_integrals {
    size_t count; /* number of functions */
    double rtol;
    double t, *sum;           /* sum[count]: integrals from the start of the run to t */
    double mark, *marked_sum; /* copies of t and sum by time_integrals_mark */
    double *points;           /* 15 × count: values at the points of the rule */
    double *part, *size;      /* count: integrals over one interval; integrals of absolute values over the step */
    double *noise, *shifted;  /* count: bounds on the noise in the step; function values of one sample */
} time_integrals;

/* Initializes the integrals of `count` functions to 0 at the time `start`. Allocates the arrays in `memory`. Returns
 * false if out of memory. */
bool time_integrals_create(time_integrals *w, arena *memory, size_t count, double rtol, double start);

/* Sets total[count] to the integrals from the start of the run to `to`. w->t and `to` must be within one step. If `to`
 * is before w->t, for example by a rounding error, sets `total` to the integrals up to w->t. Returns the first status
 * of `f` that is not HAMEL_OK. Returns HAMEL_INTEGRATION with an error if 4,000 intervals do not suffice. At a jump,
 * the value on the shortest interval is accepted. */
hamel_status time_integrals_to(const time_integrals *w, double to, integrand_function *f, void *context, double *total,
                               hamel_error *error) HAMEL_CHECKED;

/* Sets w->t to t and w->sum to total[count], the integrals up to t. Later calls of time_integrals_to begin at t. */
void time_integrals_advance(time_integrals *w, double t, const double *total);

/* time_integrals_mark stores w->t and w->sum, and time_integrals_rewind restores them. */
void time_integrals_mark(time_integrals *w);
void time_integrals_rewind(time_integrals *w);
