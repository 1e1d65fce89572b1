/* dynamics_residual.h — residual of accelerations and multipliers in the equations of motion.
 *
 *     M q'' = Q + R,     A q'' = b,     R = Aᵀλ for ideal constraints
 *
 * The equations have Lagrange's form in every formulation and are scaled to a unit diagonal of M. The residual of an
 * equation of motion is relative to the largest sum Σ |term| among the equations that M or A couples with it. The
 * residual of a constraint is relative to Σ |term| of its equation, plus Σ |A_ci a_i|. Here a_i is the acceleration of
 * coordinate i under a force as large as that largest sum. Each residual is a normwise backward error (Higham, Accuracy
 * and Stability of Numerical Algorithms, 2nd ed., theorem 7.1) and does not depend on units. If all terms are rounding
 * errors, as in uniform straight motion, the momentum divided by the duration of the run counts as a term. */
#pragma once

#include "engine/base/vec8.h"
#include "engine/model/model.h"

/* Upper bound on the residual of accepted accelerations, relative to the terms of the equations. Elimination in a fixed
 * order multiplies rounding by at most 1e6 (MASS_PIVOT_KEPT), which gives 2e-10. Rows within RANK_TOLERANCE (1e-10) of
 * each other are solved as redundant, which leaves residuals of up to 1e-10. Measured: all examples in all formulations
 * stay below 4e-10, and below 2e-11 except at one singular instant. */
static const double RESIDUAL_MOST = 1e-9;

typedef struct dynamics_residual dynamics_residual;

/* Allocates from `memory`. Returns NULL if out of memory. */
dynamics_residual *dynamics_residual_create(const hamel_model *model, arena *memory);

/* Largest relative residuals of the equations of motion and of the constraints. */
typedef struct equation_residual {
    double motion, constraints;
} equation_residual;

/* Computes the residual of a[n] and lambda[m] for forces Q[n] and reactions R[n] (NULL: Aᵀλ). Reads M, A and b from
 * `values`, the outputs of the dynamics program at velocities v[n]. usual[m] contains the usual lengths of rows
 * (rank_survey.h), or 0 for unknown lengths. Returns INFINITY if a value is not finite. */
equation_residual dynamics_residual_of(dynamics_residual *r, const double *values, const double *v, const double *Q,
                                       const double *R, const double *usual, const double *a, const double *lambda);

/* Computes the residuals of eight members in SIMD lanes, with the bits of dynamics_residual_of for ideal constraints.
 * Clears the bits of *good in each lane in which a residual exceeds RESIDUAL_MOST. `work` has 5 n elements. */
void dynamics_residual_verify_vec8(const dynamics_residual *r, vec8 *work, const vec8 *values, const vec8 *v,
                                   const double *usual, const vec8 *a, const vec8 *lambda, vec8_bits *good);
