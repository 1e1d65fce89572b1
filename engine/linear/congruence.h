/* congruence.h — a symmetric matrix M = Bᵀ D B, where the rows of B are sums that share terms.
 *
 * The rows of M belong to the unknowns 0 … n − 1. Each further unknown w is a sum Σ factor · u of earlier unknowns u. D
 * has entries for a few pairs of unknowns. In the kinetic energy of a chain, for example, w is the velocity of a link
 * and contains the velocity of the previous link. B of a chain would have n²/2 entries if it were stored explicitly.
 * Instead, a column of M is computed by one forward and one backward pass through the sums. The cost of all columns is
 * n times the number of factors, and no expressions of the entries of M need to be derived. */
#pragma once

#include "engine/base/arena.h"
#include "engine/linear/sparse_block.h"

#include <stdint.h>

enum { CONGRUENCE_WIDTH = 8 }; /* columns of M computed together */

/* All arrays are borrowed. The argument values[factor_count + pair_count] of the functions contains the factors,
 * followed by the entries of D. */
typedef struct congruence {
    size_t n, sum_count, factor_count, pair_count;
    const size_t *first;  /* sum_count + 1: first factor of each sum */
    const uint32_t *with; /* factor_count: index of the unknown u of each factor, less than the index of the sum */
    const uint32_t (*pairs)[2]; /* pair_count: x and y of D_xy = D_yx */
} congruence;

/* Returns the number of doubles that congruence_evaluate needs in `work`. */
static inline size_t congruence_work(const congruence *c) {
    return 2 * CONGRUENCE_WIDTH * (c->n + c->sum_count);
}

/* Sets *M, except M->at, to the pattern of the entries of the lower triangle that can be nonzero, sorted by rows. Sets
 * *places to the indices of these entries in the order of columns, as congruence_evaluate requires. Allocates the
 * arrays of *M and *places from `memory`. Returns false if out of memory. */
bool congruence_pattern(const congruence *c, arena *memory, sparse_block *M, uint32_t **places) HAMEL_CHECKED;

/* Sets product[n] to M x and magnitude[n] to |B|ᵀ|D||B||x|, which is at least Σ_j |M_ij x_j|. Rounding changes the
 * product by at most a few ε times the magnitude. The cost is linear in the number of factors and pairs. */
void congruence_multiply(const congruence *c, const double *values, const double *x, double *work, double *product,
                         double *magnitude);

/* Writes the entries of M to out[M->count]. */
void congruence_evaluate(const congruence *c, const double *values, const sparse_block *M, const uint32_t *places,
                         double *work, double *out);
