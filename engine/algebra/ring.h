/* ring.h — expressions of a graph as quotients of polynomials with rational coefficients.
 *
 * The variables of the ring are atoms: symbols, sines and cosines of angles, and all other nodes except sums, products,
 * quotients and integer powers. FLINT does the arithmetic (fmpq_mpoly). Numbers are converted to the exact values of
 * the decimals in the description, so 0.1 is one tenth. A ring contains only the expressions passed to ring_open.
 *
 * Sizes are bounded, because an expression that exceeds the bounds is too long for a reader. If a polynomial exceeds
 * RING_TERMS terms, RING_ATOMS atoms or the exponent RING_POWER, the ring sets `failed`, which is never cleared. The
 * caller then keeps the expression unchanged. */
#pragma once

#include "engine/algebra/work_budget.h"
#include "engine/graph/graph.h"

#include <flint/fmpq_mpoly.h>
#include <flint/fmpq_mpoly_factor.h>

enum { RING_ATOMS = 256, RING_TERMS = 20000, RING_POWER = 16, RING_ANGLES = 24, ANGLE_TERMS = 4, RING_BASIS = 12 };

/* The angle Σ factor·term. Terms are sorted by node, and the first factor is positive: sin(b − a) is −sin(a − b). */
typedef struct ring_angle {
    size_t count;
    graph_node term[ANGLE_TERMS];
    double factor[ANGLE_TERMS];
    slong sine, cosine; /* variables of the ring that are the sine and cosine of the angle */
} ring_angle;

/* Indices of the angles a, b, a + b and a − b. If a sum or difference is not an angle of the ring, its index is −1. */
typedef struct ring_angle_pair {
    int a, b, sum, difference;
    int difference_sign; /* sin(a − b) = difference_sign · sin(difference) */
} ring_angle_pair;

typedef struct quotient {
    fmpq_mpoly_struct numerator, denominator;
} quotient;

typedef struct ring {
    graph *graph;
    arena *memory;
    work_budget *work_budget; /* bound on all work of the ring; NULL: no bound */
    graph_node *nodes;        /* nodes of the expressions, in increasing order */
    size_t node_count;
    bool *needed;     /* needed[k]: nodes[k] is an atom, an expression, or on a path from an expression to an atom */
    quotient *values; /* values[k]: quotient of nodes[k], valid if known[k] */
    bool *known;
    graph_node atoms[RING_ATOMS]; /* the variables, most significant first */
    slong atom_count, moving;     /* the first `moving` atoms are accelerations, multipliers, velocities */
    slong varying;                /* the atoms from this index on are time and parameters */
    ring_angle angles[RING_ANGLES];
    int angle_count, angle_given; /* the first angle_given angles occur in the expressions, also as terms of a sum */
    ring_angle_pair *pairs;
    size_t pair_count;
    fmpq_mpoly_ctx_t context;
    fmpq_mpoly_struct basis[RING_BASIS]; /* polynomials that are 0 where the conditions hold */
    size_t basis_count;
    bool open, failed;
} ring;

static inline slong ring_length(const ring *r, const fmpq_mpoly_t p) { /* number of terms */
    return fmpq_mpoly_length(p, r->context);
}

/* Opens the ring of `count` expressions. Returns false if out of memory or if the expressions exceed the bounds on a
 * ring. Call ring_close in either case. */
bool ring_open(ring *r, graph *g, const graph_node *expressions, size_t count, work_budget *e, arena *memory);
void ring_close(ring *r);

/* Returns `expression`, one of the expressions passed to ring_open, as a quotient that belongs to the ring. Returns
 * NULL if the ring has set `failed`. */
const quotient *ring_value(ring *r, graph_node expression);

/* Charges the cost of visiting `terms` terms to the work budget. If the budget is spent, sets `failed` and returns
 * false. */
bool ring_take(ring *r, slong terms);

/* Appends a term to `out`: the coefficient of term i of p with the powers `exponents`. */
void ring_push_term(const ring *r, fmpq_mpoly_t out, const fmpq_mpoly_t p, slong i, const ulong *exponents);

/* ring_gcd finds the greatest common divisor, so that x = common · x_rest and y = common · y_rest. ring_factor factors
 * p. If the work exceeds the budget, these functions set `failed` and return false. */
bool ring_gcd(ring *r, fmpq_mpoly_t common, fmpq_mpoly_t x_rest, fmpq_mpoly_t y_rest, const fmpq_mpoly_t x,
              const fmpq_mpoly_t y);
bool ring_factor(ring *r, fmpq_mpoly_factor_t factors, const fmpq_mpoly_t p);

/* If polynomials with x and y terms are too long to be multiplied, sets `failed` and returns true. */
bool ring_too_long(ring *r, slong x, slong y);

/* --- angles.c ----------------------------------------------------------------------------------------------------- */

/* Finds or adds the angle for an argument of sine or cosine. Returns the index of the angle, or −1 if the angle cannot
 * be added. *sign is −1 if the argument is the negative of the angle. */
int ring_angle_of(ring *r, graph_node argument, int *sign);

/* Adds an angle for each term of the angles in the expressions. Then lists the pairs of angles whose sum or difference
 * is an angle. */
void ring_angles_finish(ring *r);

graph_node ring_angle_node(ring *r, const ring_angle *angle); /* the node Σ factor·term */

/* --- relations.c -------------------------------------------------------------------------------------------------- */

/* Rewrites `p` with sin² + cos² = 1 and angle sums (Abramowitz & Stegun 4.3.10, 4.3.16, 4.3.17). Of the equal forms
 * that are tried, `p` becomes the form with the fewest terms. If these relations reduce `p` to 0, the result is 0. */
void ring_reduce(ring *r, fmpq_mpoly_t p);

/* Replaces (√x)² by x if x is a polynomial. This is the first step of ring_reduce. */
void ring_square_roots(ring *r, fmpq_mpoly_t p);

/* Replaces from² by 1 − to², where `from` and `to` are the sine and cosine of an angle, or vice versa. */
void ring_replace_square(ring *r, fmpq_mpoly_t p, slong from, slong to);

/* --- conditions.c ------------------------------------------------------------------------------------------------- */

/* Declares that expressions of the ring are 0. Reduced forms then equal the original only where these expressions are
 * 0. */
void ring_conditions(ring *r, const graph_node *zero, size_t count);

/* Replaces p by its remainder modulo the conditions. Returns false if there are no conditions or p is too long. */
bool ring_remainder(ring *r, fmpq_mpoly_t p);

/* --- squares.c ---------------------------------------------------------------------------------------------------- */

/* Returns true if p has fewer terms than q, or as many terms and fewer factors. */
bool ring_is_shorter(const ring *r, const fmpq_mpoly_t p, const fmpq_mpoly_t q);

/* Writes even powers of the sine and cosine of one angle in their shortest form. Returns true if p became shorter. */
bool ring_collect_squares(ring *r, fmpq_mpoly_t p, slong sine, slong cosine);

/* --- quotients.c -------------------------------------------------------------------------------------------------- */

/* Cancels common factors of numerator and denominator modulo sin² + cos² = 1, and shortens numerator and denominator. A
 * numerator that is 0 by these relations becomes 0. */
void ring_cancel(ring *r, fmpq_mpoly_t above, fmpq_mpoly_t below);
