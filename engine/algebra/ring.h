/* ring.h — expressions of a graph as quotients of polynomials with rational coefficients.
 *
 * The variables of the ring are atoms: symbols, sines and cosines of angles, and whatever else is no sum, product,
 * quotient or integer power. Arithmetic is FLINT's (fmpq_mpoly); numbers are taken as the decimals they were written
 * as, so that 0.1 is one tenth. A ring serves the expressions it was made for.
 *
 * Everything is bounded: beyond RING_TERMS terms, RING_ATOMS atoms or exponents of RING_POWER a ring gives up (`failed`,
 * sticky), and the caller keeps the expression as it was. */
#ifndef HAMEL_ALGEBRA_RING_H
#define HAMEL_ALGEBRA_RING_H

#include "engine/algebra/effort.h"
#include "engine/graph/graph.h"

#include <flint/fmpq_mpoly.h>
#include <flint/fmpq_mpoly_factor.h>

enum { RING_ATOMS = 256, RING_TERMS = 20000, RING_POWER = 16, RING_ANGLES = 24, ANGLE_TERMS = 4, RING_BASIS = 12 };

/* Σ factor·term, the terms increasing, the first factor positive: sin(b − a) is −sin(a − b). */
typedef struct ring_angle {
    size_t count;
    graph_node term[ANGLE_TERMS];
    double factor[ANGLE_TERMS];
    slong sine, cosine; /* variables */
} ring_angle;

/* sum = a + b, difference = a − b as far as they are angles of this ring; −1 otherwise. */
typedef struct ring_angle_pair {
    int a, b, sum, difference;
    int difference_sign; /* of sin(a − b) against the angle's own */
} ring_angle_pair;

typedef struct quotient {
    fmpq_mpoly_struct numerator, denominator;
} quotient;

typedef struct ring {
    graph *graph;
    arena *memory;
    effort *effort;    /* what all of this may take; NULL: as much as it likes */
    graph_node *nodes; /* below the expressions, increasing */
    size_t node_count;
    bool *needed;     /* one a node: not hidden in an atom */
    quotient *values; /* one a node, once asked for */
    bool *known;
    graph_node atoms[RING_ATOMS]; /* the variables: the first are the most significant */
    slong atom_count, moving;     /* the first `moving` are accelerations, multipliers, velocities */
    slong varying;                /* the rest after these are time and parameters */
    ring_angle angles[RING_ANGLES];
    int angle_count, angle_given; /* the first are written, the others are made from them */
    ring_angle_pair *pairs;
    size_t pair_count;
    fmpq_mpoly_ctx_t context;
    fmpq_mpoly_struct basis[RING_BASIS]; /* polynomials that are 0 on the conditions */
    size_t basis_count;
    bool open, failed;
} ring;

/* The ring of `count` expressions. False without memory or when they do not fit; close it in any case. */
bool ring_open(ring *r, graph *g, const graph_node *expressions, size_t count, effort *e, arena *memory);
void ring_close(ring *r);

/* The value of one of the expressions, borrowed from the ring. NULL when it failed. */
const quotient *ring_value(ring *r, graph_node expression);

/* Takes what visiting `terms` terms costs from the ring's effort. False, with the ring failed, when that is spent. */
bool ring_take(ring *r, slong terms);

/* x = common · x_rest and y = common · y_rest with the greatest common divisor; the factors of p. False, with the
 * ring failed, when that was given up. */
bool ring_gcd(ring *r, fmpq_mpoly_t common, fmpq_mpoly_t x_rest, fmpq_mpoly_t y_rest, const fmpq_mpoly_t x,
              const fmpq_mpoly_t y);
bool ring_factor(ring *r, fmpq_mpoly_factor_t factors, const fmpq_mpoly_t p);

/* True, with the ring failed, when polynomials of these lengths are too long to be multiplied. */
bool ring_too_long(ring *r, slong x, slong y);

/* --- angles.c ------------------------------------------------------------------------------------------------------ */

/* The angle of an argument of sine or cosine, found or added; −1 when there are too many. *sign is −1 when the argument
 * is the negative of it. */
int ring_angle_of(ring *r, graph_node argument, int *sign);

/* Adds the angles that the written ones are made of, and the pairs whose sums or differences are angles. */
void ring_angles_finish(ring *r);

graph_node ring_angle_node(ring *r, const ring_angle *angle);

/* --- relations.c --------------------------------------------------------------------------------------------------- */

/* Rewrites `p` by sin² + cos² = 1 and the sums of angles (Abramowitz & Stegun 4.3.10, 4.3.16, 4.3.17) into what has the
 * fewest terms among what it tries; 0 where it is 0. */
void ring_reduce(ring *r, fmpq_mpoly_t p);

/* √x² → x where x is a polynomial; the first step of ring_reduce. */
void ring_square_roots(ring *r, fmpq_mpoly_t p);

/* from² → 1 − to², for the sine and cosine of an angle in either order. */
void ring_replace_square(ring *r, fmpq_mpoly_t p, slong from, slong to);

/* --- conditions.c -------------------------------------------------------------------------------------------------- */

/* Says that expressions, of those the ring was opened for, are 0. What is reduced then is equal where they are. */
void ring_conditions(ring *r, const graph_node *zero, size_t count);

/* p without what the conditions make 0; false when there are none, or p is too long. */
bool ring_remainder(ring *r, fmpq_mpoly_t p);

/* --- squares.c ----------------------------------------------------------------------------------------------------- */

/* True when p has fewer terms than q, or as many and fewer factors in them. */
bool ring_is_shorter(const ring *r, const fmpq_mpoly_t p, const fmpq_mpoly_t q);

/* Even powers of the sine and cosine of one angle in their shortest form; true when p became shorter. */
bool ring_collect_squares(ring *r, fmpq_mpoly_t p, slong sine, slong cosine);

/* --- quotients.c --------------------------------------------------------------------------------------------------- */

/* Takes out what numerator and denominator have in common when sin² + cos² = 1 is known, and reduces both; where the
 * numerator is 0 it becomes 0. */
void ring_cancel(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below);

#endif
