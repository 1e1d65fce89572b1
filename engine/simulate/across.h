/* across.h — the state where constraints are dependent for an instant, from states beside it.
 *
 * At the distance s from such a place (kkt_margin) rounding alone turns velocities by ε/s² of their size, and the
 * accelerations and multipliers that are solved for there by more; at the place itself they are not determined. Along one
 * branch of the motion all of them are smooth. So they are taken at ten states of that branch, ±d to ±5d along the
 * velocity, each brought onto the constraints, and interpolated: the error is d¹⁰/252 times the tenth derivative. */
#ifndef HAMEL_SIMULATE_ACROSS_H
#define HAMEL_SIMULATE_ACROSS_H

#include "engine/solve/kinetics.h"

typedef struct across {
    double *q, *v, *a, *lambda; /* n, n, n, m: what was found */
    double *reaction;           /* 2n: kinetics.ideal and .nonideal */
    double *memory;
} across;

/* False without memory. */
bool across_create(across *x, const hamel_model *model);
void across_free(across *x);

/* Fills x for the state near (q, v) at t, which may be off the constraints, from states at multiples of d. The kinetics
 * have evaluated one of those then. HAMEL_INCOMPATIBLE when there is none on the constraints; or what the solution gave. */
hamel_status across_find(across *x, kinetics *k, double t, const double *q, const double *v, double d) HAMEL_CHECKED;

/* The distance d at which kinetics_margin is `least` to twice that on both sides, with as many independent constraints
 * as `rank`; `d` is where to begin. 0 when there is none. */
double across_distance(across *x, kinetics *k, double t, const double *q, const double *v, double d, double least,
                       size_t rank);

#endif
