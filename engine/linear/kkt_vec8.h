/* kkt_vec8.h — solution of the saddle-point systems of kkt.h for eight members in SIMD lanes, with the bits of kkt.h
 * for each member.
 *
 * Only the first solver that kkt.h tries is used: LDLᵀ, or dense Cholesky for a system without rows if LDLᵀ would be
 * slower. If it fails in a lane, the lane is reported, because kkt.h would then use another solver. */
#pragma once

#include "engine/base/vec8.h"
#include "engine/linear/kkt.h"

typedef struct kkt_vec8 kkt_vec8;

/* Returns true if the system with the rows that `k` has selected can be solved in SIMD lanes. */
bool kkt_vec8_serves(const kkt *k);

/* Borrows k, whose values are not used. Returns NULL if out of memory. */
kkt_vec8 *kkt_vec8_create(const kkt *k);
void kkt_vec8_free(kkt_vec8 *s);

/* Factors the system for M and A in `values`, at the indices of their blocks. Clears the bits of *good in each lane in
 * which M is not positive definite or rows may be redundant. */
void kkt_vec8_factor(kkt_vec8 *s, const vec8 *values, vec8_bits *good);

/* Solves for x[n] and lambda[m] with the right-hand sides g[n] and r[m], as kkt_solve does. g may be NULL (zeros);
 * lambda may be NULL. Clears the bits of *good in each lane in which x is not finite. */
void kkt_vec8_solve(kkt_vec8 *s, const vec8 *g, const vec8 *r, vec8 *x, vec8 *lambda, vec8_bits *good);

/* Sets *margin to the rank margins at the last factorization (kkt_margin). */
void kkt_vec8_margin(const kkt_vec8 *s, vec8 *margin);
