/* dormand_prince.h — eight members of an ensemble by an explicit Runge-Kutta method of order 8 (dop853.h).
 *
 * Each member has a time and a step of its own, so none knows of the others. What is done with a step is the caller's;
 * runge_kutta.c is the same method for one state. */
#ifndef HAMEL_SIMULATE_DORMAND_PRINCE_H
#define HAMEL_SIMULATE_DORMAND_PRINCE_H

#include "engine/compile/octet.h"
#include "engine/simulate/dop853.h"

#include <stdbool.h>

/* dy[length] at (*t, y). */
typedef void dp_rates(void *context, const octet *t, const octet *y, octet *dy);

typedef struct dormand_prince {
    octet t, h; /* of the step from y; h = 0: at rest */
    size_t length;
    dp_rates *rates;
    void *context;
    octet *y, *next; /* at t, and what a step tried leads to */
    octet *slopes;   /* DOP853_ALL × length: the first is that of y, the one after the stages that of `next` */
    octet *stage;    /* state of a stage; after dp_try that of the last one */
    octet *dense;    /* 7 × length */
} dormand_prince;

/* False without memory; dp_free in both cases. */
bool dp_create(dormand_prince *d, size_t length, dp_rates *rates, void *context);
void dp_free(dormand_prince *d);

/* Slope of y. */
static inline octet *dp_slope(const dormand_prince *d, size_t k) {
    return d->slopes + k * d->length;
}

/* From y and its slope, `next` and its slope: the step tried. */
void dp_try(dormand_prince *d);

/* Estimated error of the step tried, as a weighted root mean square: ≤ 1 is good. atol[length]. */
void dp_error(const dormand_prince *d, double rtol, const double *atol, octet *error);

/* h |λ| as the last two slopes show it; beyond 6.1 stability and not accuracy bounds the step (Hairer & Wanner II, IV.2). */
void dp_stiffness(const dormand_prince *d, octet *product);

/* Three more slopes, for states within the step tried: out[length] at t + part h. */
void dp_open_dense(dormand_prince *d);
void dp_interpolate(const dormand_prince *d, const octet *part, octet *out);

#endif
