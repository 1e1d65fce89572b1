/* uncertainty.h — first-order error bounds on the outputs of a program and of the energy, at a state that is accurate
 * to the tolerances. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* A state with its accelerations, multipliers and free accelerations, and the rates of the root functions (0 if
 * unknown). `bends` are the second time derivatives of the root functions. `bend_slack` are bounds on the errors of
 * `bends` that integration errors within the tolerances cause. */
typedef struct motion_state {
    double t;
    const double *q, *v, *a, *lambda, *free, *rates, *bends, *bend_slack;
} motion_state;

/* Returns the inputs of a program at a state, with the reactions and branches of `k`. */
program_inputs motion_inputs(const dynamics *k, const motion_state *at);

typedef struct uncertainty {
    const dynamics *dynamics; /* borrowed */
    const program *program;   /* borrowed */
    double *work;             /* workspace of the program, prepared for the parameters of the model */
    double *tangent_work, *seeds, *dots;
} uncertainty;

/* Allocates the workspaces in `memory`. Returns false if out of memory. */
bool uncertainty_create(uncertainty *u, arena *memory, const dynamics *k, const program *p);

/* Computes these sums over all coordinates and velocities y_k, for each output f_i, at a state with its accelerations:
 *
 *     value[i] = Σ |∂f_i/∂y_k| (rtol |y_k| + atol_k)      (may be NULL)
 *     rate[i] = Σ |∂f_i/∂y_k| (rtol |y_k'| + atol_k)
 *     motion[i] = Σ ∂f_i/∂y_k y_k' + ∂f_i/∂t              (may be NULL)
 *
 * Partial derivatives that are not finite are treated as 0. */
void uncertainty_find(uncertainty *u, const motion_state *at, double *value, double *rate, double *motion);

/* Returns the energy tolerance: a first-order bound on the error of the energy, plus its rounding error,
 *     Σ |∂T/∂q'_i| (rtol |q'_i| + atol_i) + |Q_i| (rtol |q_i| + atol_i) + rounding.
 * M and Q are outputs of the dynamics program at the state q[n], v[n]. */
double energy_tolerance(const hamel_model *model, const double *M, const double *Q, const double *q, const double *v,
                        double energy);

/* Returns the energy tolerance at the state q, v evaluated last by `k`. If that evaluation has omitted M, the bound may
 * be larger, because magnitudes of products with Bᵀ D B replace those of products with M. */
double motion_energy_tolerance(dynamics *k, const double *q, const double *v, double energy);

/* Returns Σ M_ii atol_i²/rtol, the energy tolerance for velocities of atol/rtol. At lower velocities atol dominates. */
double energy_at_rest(const hamel_model *model, const double *M);

/* Returns true if an error of the work balance is far larger than the energy tolerance. */
bool energy_is_unbalanced(double error, double tolerance);
