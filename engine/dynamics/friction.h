/* friction.h — simultaneous solution for Coulomb friction and normal forces.
 *
 *     M x − Aᵀλ − F|λ| = g,     A x = r
 *
 * If the signs of the normal multipliers are known, these equations are linear. Let p⁰ be the normal multipliers
 * without friction, and T_jk the response of λ_j to a unit of the k-th friction force. The normal multipliers p then
 * solve p = p⁰ + T|p|, a linear complementarity problem. If max_j Σ_k |T_jk| < 1, the map is a contraction: the
 * solution exists and is unique. Otherwise rigid bodies may have no motion or several motions (Painlevé, Leçons sur le
 * frottement, 1895). All patterns of signs of up to ten frictions are then tried. */
#pragma once

#include "engine/dynamics/motion_solver.h"

typedef struct friction friction;

/* The model must have friction. Returns NULL if out of memory. */
friction *friction_create(const hamel_model *model, arena *memory);

/* On entry, `motion` is factored, and x and lambda solve the system without friction. On return, x and lambda include
 * friction. `values` are the outputs of the dynamics program. t is used in messages only. If no solution or more than
 * one is found, adds an error that names the constraints and returns HAMEL_SINGULAR. Otherwise returns the status of
 * motion_solve. `error` may be NULL. */
hamel_status friction_solve(friction *f, motion_solver *motion, const double *values, const double *g, const double *r,
                            double tolerance, double t, double *x, double *lambda, hamel_error *error) HAMEL_CHECKED;

/* Linearizes the equations at the last solution, whose multipliers are `lambda`, and solves for changes g and r of the
 * right-hand sides. The signs of lambda are treated as constant. On entry, x and mu solve the system without friction.
 * On return, x and mu include friction. */
hamel_status friction_solve_along(friction *f, motion_solver *motion, const double *values, const double *g,
                                  const double *r, const double *lambda, double *x, double *mu) HAMEL_CHECKED;

/* Adds F|λ| to out[n]. */
void friction_add_forces(const hamel_model *model, const double *values, const double *lambda, double *out);
