/* kkt_ldl.h — LDLᵀ factorization of sparse or small saddle-point systems with a positive definite M.
 *
 *     [ M  Aᵀ ] [  x ]   [ g ]
 *     [ A  0  ] [ −λ ] = [ r ]
 *
 * Coordinates are eliminated first. This leaves −A M⁻¹Aᵀ for the constraints, and no pivot search is needed. Large
 * systems are ordered by minimum degree, with coordinates first (CAMD; Amestoy, Davis & Duff, SIAM J. Matrix Anal.
 * Appl. 17 (1996) 886). The targets of all products are listed once, at creation. A factorization is then a single pass
 * through the list. Its cost is O(N) for a chain of N rods. For a small system, the cost is little more than that of
 * the multiplications. */
#pragma once

#include "engine/linear/triplets.h"

typedef struct kkt_ldl kkt_ldl;

typedef struct kkt_ldl_form {
    size_t n, k;             /* n: number of coordinates; k: number of rows of A */
    const triplets *entries; /* entries of triplets_add_saddle without W */
    const int *taken;        /* k entries: index of the constraint of each row of A */
    bool diagonal, sparse;   /* diagonal: M is diagonal; sparse: the elimination order is chosen for sparsity */
} kkt_ldl_form;

/* Creates *out. If a dense factorization is faster, sets *out to NULL instead. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status kkt_ldl_create(const kkt_ldl_form *form, kkt_ldl **out) HAMEL_CHECKED;
void kkt_ldl_free(kkt_ldl *s);

/* Factors the system for M and A in `values`. Returns false if M is indefinite or nearly singular, or if a row depends
 * on other rows. */
bool kkt_ldl_factor(kkt_ldl *s, const double *values) HAMEL_CHECKED;

/* Solves for x[n] and lambda[m] with right-hand sides g[n] (NULL: zeros) and r[m]. lambda may be NULL. Only the
 * elements of lambda for selected rows are written. */
void kkt_ldl_solve(kkt_ldl *s, const double *g, const double *r, double *x, double *lambda);

/* Returns the rank margin at the last kkt_ldl_factor. The rank margin is the sine of the smallest angle between a row
 * and the span of the rows eliminated before it, in the metric of M⁻¹. The rank margin is valid even if kkt_ldl_factor
 * failed because a row depends on other rows. */
double kkt_ldl_margin(const kkt_ldl *s);

/* Returns the number of multiplications in a factorization. Tests use this number to check how the cost grows with the
 * size of a system. */
size_t kkt_ldl_operations(const kkt_ldl *s);
