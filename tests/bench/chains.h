/* chains.h — chains of unit masses and links of any length, by hand and as descriptions, for contests (contest.h).
 *
 * In x and y: p_i'' = g − T_i d_i + T_{i+1} d_{i+1} with the link vectors d_i and multipliers T_i; the links' lengths,
 * differentiated twice, give a tridiagonal system for T, so that all is O(N). Drift is damped at 20/s (Baumgarte).
 * In angles: M_ij = (N − max(i, j)) cos(a_i − a_j), solved by Cholesky. */
#pragma once

#include "tests/bench/contest.h"

typedef struct chain chain;

chain *chain_create(size_t links);
void chain_free(chain *c);

/* Borrow c, as their `data`. */
baseline chain_in_coordinates(chain *c, double stop);
baseline chain_in_angles(chain *c, double stop);

/* A column on springs k and dampers k/100 under its weight: the stiffer, the sooner at rest. */
extern const char stiff_column[];
