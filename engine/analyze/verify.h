/* verify.h — comparison of accelerations and reactions from two formulations at one state. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Results of a formulation at a state: n accelerations and n generalized reactions Aᵀλ. */
typedef struct verify_motion {
    double *a, *reaction;
} verify_motion;

/* Scales of the relative differences at a state. force[n]: S_i of hamel_verify; mass[n]: M_ii; a: the largest
 * acceleration. */
typedef struct verify_scale {
    double *force, *mass, a;
} verify_scale;

/* Fills the scale at the state that `k` evaluated last, whose solution is a[n] and lambda[m]. */
void verify_scale_of(const dynamics *k, const double *a, const double *lambda, verify_scale *scale);

/* Computes the largest relative differences between two motions; hamel_verify defines these differences. */
void verify_compare(size_t n, const verify_motion *x, const verify_motion *reference, const verify_scale *scale,
                    double *accelerations, double *reactions);
