/* chains.h — chains of unit masses and links of any length, hand-written and as descriptions, for comparisons by
 * contest.h.
 *
 * In x and y: p_i'' = g − T_i d_i + T_{i+1} d_{i+1} with the link vectors d_i and multipliers T_i. The second
 * derivatives of the lengths give a tridiagonal system for T, so the cost is O(N). Baumgarte stabilization lets errors
 * of the lengths decay at the rate 20/s. In angles: M_ij = (N − max(i, j)) cos(a_i − a_j), solved by Cholesky
 * factorization. Or from the tensions: with unit vectors e_i along the links and n_i across them, the equations are
 * a_i'' = n_i (p_i'' − p_{i−1}'') and e_i (p_i'' − p_{i−1}'') = −a_i'², which is tridiagonal again. */
#pragma once

#include "tests/bench/contest.h"

typedef struct chain chain;

/* Returns a chain at rest, each link at `angle` (radians) from the downward vertical. The caller owns the chain and frees
 * it with chain_free. The descriptions always contain the parameters N = 16 and angle = 0.8. */
chain *chain_create(size_t links, double angle);
void chain_free(chain *c);

/* `data` of the returned baseline is c, which must outlive the baseline. */
baseline chain_in_coordinates(chain *c, double stop);
baseline chain_in_angles(chain *c, double stop);
/* The same chain with velocities that are typed as sums over the links. The second is solved from the tensions. */
baseline chain_in_sums(chain *c, double stop);
baseline chain_in_sums_by_tensions(chain *c, double stop);

/* Describes a column of masses on springs k and dampers k/100, loaded by its weight. It settles faster for larger k. */
extern const char stiff_column[];
