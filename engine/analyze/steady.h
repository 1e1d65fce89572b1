/* steady.h — steady motions of systems with nonholonomic constraints, and their stability.
 *
 * Let u be independent velocities (rates of coordinates or quasi-velocities). The constraints then give all velocities:
 * q' = Γ(q) u + σ(q). A coordinate is ignorable if it does not influence u' = f(q, u), the Jacobi integral, the
 * holonomic constraints, or the rates of coordinates that are not ignorable. In a steady motion, u and the coordinates
 * s that are not ignorable are constant (Papastavridis, Introduction 8.5): f(s, u) = 0 and s' = 0. Ignorable
 * coordinates may change, and their rates need not be constant. For example, the centre of a disk that rolls on a plane
 * moves along a circle. The reduced system (s', u') is autonomous, so the eigenvalues of its linearization decide on
 * stability (Papastavridis, Introduction 8.6). */
#pragma once

#include "engine/hamel.h"

typedef struct hamel_steady_motion {
    const double *q, *v; /* n entries each: a state of the motion; ignorable coordinates have their initial values */
    const double *u;     /* values of the velocities u */
    /* true if all velocities u other than rates s' have their initial values; if false, as few of them as possible
     * differ */
    bool kept;
    size_t family_dimension;   /* dimension of the set of steady motions (s, u) near this one */
    const double *eigenvalues; /* real and imaginary part of each eigenvalue of the reduced system */
    size_t eigenvalue_count;
    bool linearly_stable; /* true if no eigenvalue has a real part above 1e-6 of the largest eigenvalue */
    /* stable: valid if `decided` is true. A steady motion is stable if motions that begin near it stay near the set of
     * steady motions, apart from ignorable coordinates. */
    bool decided, stable;
    const char *decided_by, *reason; /* reason: why stability is undecided, otherwise NULL */
} hamel_steady_motion;

typedef struct hamel_steady_motions {
    const char *const *coordinates; /* n */
    size_t coordinate_count;
    hamel_names ignorable, constant; /* ignorable coordinates; names of u: "psi'", a quasi-velocity, or an expression */
    const hamel_steady_motion *items;
    size_t count;
    bool searched;    /* false if the search does not apply; see hamel_find_steady_motions */
    const char *note; /* why other steady motions may exist; NULL if `searched` is false */
} hamel_steady_motions;

/* Searches for steady motions from the initial values and from `starts` random configurations. The velocities u other
 * than rates s' keep their initial values. If no such motion is found, and if u has at most 8 entries, searches for
 * motions in which as few of these velocities as possible differ. Equilibria are not returned. The search requires
 * velocity constraints, initial velocities that are not all 0, and an ignorable coordinate. It does not apply to
 * acceleration constraints, velocity constraints that are not linear, a given acceleration energy, nonsmooth operators,
 * or equations that depend on t. Coordinates and constraints together are limited to 40. The other arguments and errors
 * are as for hamel_find_equilibria. On success the caller owns *out and frees it with hamel_steady_motions_free. */
hamel_status hamel_find_steady_motions(hamel_steady_motions **out, const hamel_description *d, size_t starts,
                                       const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_steady_motions_free(hamel_steady_motions *motions);
