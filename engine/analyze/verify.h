/* verify.h — two motions of one system side by side at a state. */
#ifndef HAMEL_ANALYZE_VERIFY_H
#define HAMEL_ANALYZE_VERIFY_H

#include "engine/solve/kinetics.h"

/* What a formulation says of a state: n accelerations and n generalized reactions Aᵀλ. */
typedef struct verify_motion {
    double *a, *reaction;
} verify_motion;

/* The scales of a state's differences, n each: `force` S_i of hamel_verify, `mass` M_ii, `a` the largest acceleration
 * of all. */
typedef struct verify_scale {
    double *force, *mass, a;
} verify_scale;

/* Fills the scale from the equations at the state that `k` has evaluated last, solved by a[n] and lambda[m]. */
void verify_scale_of(const kinetics *k, const double *a, const double *lambda, verify_scale *scale);

/* The largest relative differences between two motions, as declared at hamel_verify. */
void verify_compare(size_t n, const verify_motion *x, const verify_motion *reference, const verify_scale *scale,
                    double *accelerations, double *reactions);

#endif
