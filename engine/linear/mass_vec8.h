/* mass_vec8.h — solution of M x = g for eight members in SIMD lanes, bit-identical to that of kkt.h for each member.
 *
 * Only the first solver that kkt.h tries is used: LDLᵀ, or dense Cholesky if LDLᵀ would be slower. If this solver fails
 * in a lane, the lane is reported, because kkt.h would use another solver. */
#pragma once

#include "engine/base/vec8.h"
#include "engine/linear/kkt.h"

typedef struct mass_vec8 mass_vec8;

/* Returns true if a saddle-point system without constraints can be solved in SIMD lanes. */
bool mass_vec8_serves(const kkt *k);

/* Borrows k, whose values are not used. Returns NULL if out of memory. */
mass_vec8 *mass_vec8_create(const kkt *k);
void mass_vec8_free(mass_vec8 *s);

/* Solves for x[n]. `values` contains M at the indices of its block. Clears the bits of *good in each lane in which M is
 * not positive definite, or x is not finite. */
void mass_vec8_solve(mass_vec8 *s, const vec8 *values, const vec8 *g, vec8 *x, vec8_bits *good);
