/* poisson.h — Poisson brackets of given functions, and tests of canonical transformations. */
#pragma once

#include "engine/hamel.h"

/* Result of the test whether an expression is 0 in all states. HAMEL_ZERO_UNKNOWN: the expression is 0 at random states
 * within rounding errors, but algebra does not reduce it to 0. */
typedef enum hamel_zero { HAMEL_NOT_ZERO, HAMEL_IS_ZERO, HAMEL_ZERO_UNKNOWN } hamel_zero;

/* [F, G] = Σ ∂F/∂q_i ∂G/∂p_i − ∂F/∂p_i ∂G/∂q_i, a function of coordinates, momenta and time. Papastavridis (Intro 8)
 * uses the opposite sign. The momentum of coordinate x is printed as p_x. */
typedef struct hamel_bracket {
    const char *first, *second; /* the functions as given; for transformations, Q1, ..., P1, ... */
    const char *value;          /* simplified */
    hamel_zero zero;
} hamel_bracket;

/* Computes the bracket of two expressions. The expressions may contain parameters, t, coordinates, momenta (p_x or
 * momentum(x)), and all functions of outputs that depend on positions and velocities only. Velocities are replaced by
 * momenta. Returns HAMEL_INVALID if an expression contains other quantities, or velocities that momenta do not
 * determine. The other arguments are as for hamel_find_forces. On success the caller owns *out and frees it with
 * hamel_bracket_free. */
hamel_status hamel_find_bracket(hamel_bracket **out, const hamel_description *d, const hamel_argument functions[2],
                                const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_bracket_free(hamel_bracket *bracket);

/* New coordinates Q_i and new momenta P_i as expressions. Q_count and P_count must equal the number of coordinates;
 * `pointer` is the JSON pointer in errors about these counts. */
typedef struct hamel_transformation {
    const char *pointer;
    const hamel_argument *Q, *P;
    size_t Q_count, P_count;
} hamel_transformation;

/* The transformation is canonical if [Q_i, Q_j] = 0, [P_i, P_j] = 0 and [Q_i, P_j] = δ_ij. */
typedef struct hamel_canonical {
    bool canonical;
    bool decided;    /* false if no bracket is known to fail, but algebra does not decide all brackets */
    size_t brackets; /* number of fundamental brackets */
    /* true if `failing` is set: the first bracket that fails or, if all others hold, the first undecided one */
    bool failed;
    hamel_bracket failing; /* failing.zero refers to the difference from the required value */
} hamel_canonical;

/* Checks whether a transformation is canonical. The arguments are as for hamel_find_bracket. Returns HAMEL_LIMIT if the
 * transformation has more than HAMEL_CANONICAL_MOST coordinates, and HAMEL_INVALID if its number of expressions is
 * wrong. */
enum { HAMEL_CANONICAL_MOST = 30 };
hamel_status hamel_check_canonical(hamel_canonical **out, const hamel_description *d,
                                   const hamel_transformation *transformation, const hamel_limits *limits,
                                   hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_canonical_free(hamel_canonical *found);
