/* steady.h — steady motions of systems with nonholonomic constraints, and their stability.
 *
 * Let u be independent velocities or quasi-velocities, so that the constraints give all velocities, q' = Γ(q) u + σ(q).
 * A coordinate is ignorable if it does not occur in u' = f(q, u), in the rates of the other coordinates and in the
 * holonomic constraints. In a steady motion u and the other coordinates s are constant (Papastavridis, Introduction
 * 8.5): f(s, u) = 0 and s' = 0. Ignorable coordinates change, also at rates that are not constant. For example, the
 * centre of a disk that rolls on a plane runs along a circle. The reduced system (s', u') is autonomous, so eigenvalues
 * of its linearization decide on stability (Papastavridis, Introduction 8.6). */
#pragma once

#include "engine/hamel.h"

typedef struct hamel_steady_motion {
    const double *q, *v; /* n each: a state of the motion; ignorable coordinates have their initial values */
    const double *u;     /* values of the constant velocities */
    /* true if the velocities u other than rates s' have their initial values; otherwise as few as possible differ */
    bool kept;
    size_t family_dimension;   /* dimension of the set of steady motions (s, u) near this one */
    const double *eigenvalues; /* pairs: eigenvalues of the reduced system */
    size_t eigenvalue_count;
    bool linearly_stable; /* no eigenvalue has a positive real part that exceeds rounding errors */
    /* stable: valid if decided. A steady motion is stable if motions that begin near it stay near the set of steady
     * motions, apart from ignorable coordinates. */
    bool decided, stable;
    const char *decided_by, *reason; /* reason: why stability is undecided */
} hamel_steady_motion;

typedef struct hamel_steady_motions {
    const char *const *coordinates; /* n */
    size_t coordinate_count;
    hamel_names ignorable, constant; /* ignorable coordinates; names of u: "psi'" or the expression of a velocity */
    const hamel_steady_motion *items;
    size_t count;
    bool searched; /* false if there are no velocity constraints, no initial velocities, or no ignorable coordinate */
    const char *note; /* why other steady motions may exist; NULL if the search was not made */
} hamel_steady_motions;

/* Finds steady motions from the initial values and from `starts` random configurations. Velocities of ignorable
 * coordinates keep their initial values. If no such motion is found, motions in which as few velocities as possible differ
 * are returned. Systems at rest are not returned. Other arguments and errors are as for hamel_find_equilibria. On success the caller owns *out and frees it
 * with hamel_steady_motions_free. */
hamel_status hamel_find_steady_motions(hamel_steady_motions **out, const hamel_description *d, size_t starts,
                                       const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_steady_motions_free(hamel_steady_motions *motions);
