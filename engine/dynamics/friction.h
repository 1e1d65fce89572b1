/* friction.h — Coulomb friction solved together with the normal forces that it changes.
 *
 *     M x − Aᵀλ − F|λ| = g,     A x = r
 *
 * is linear for given signs of the multipliers that press. With λ⁰ the solution without friction and T_jk the change of
 * λ_j by a unit of the k-th friction, p = λ of the pressing constraints satisfies p = p⁰ + T|p|: a linear complementarity
 * problem. Where max_j Σ_k |T_jk| < 1 its solution exists and is unique (a contraction); otherwise rigid bodies may have
 * no motion or several (Painlevé, Leçons sur le frottement, 1895), and the patterns of signs are all looked at. */
#ifndef HAMEL_SOLVE_FRICTION_H
#define HAMEL_SOLVE_FRICTION_H

#include "engine/solve/motion_solver.h"

typedef struct friction friction;

friction *friction_create(const hamel_model *model); /* NULL without memory; the model has frictions */
void friction_free(friction *f);

/* On entry x and lambda solve the system without friction, for which `motion` is factored; on return with it. `values` are
 * the outputs of the dynamics program, t is for the message. HAMEL_SINGULAR, with a fault in `error` (may be NULL)
 * that names the constraints, when no solution or more than one was found; or the status of motion_solve. */
hamel_status friction_solve(friction *f, motion_solver *motion, const double *values, const double *g, const double *r,
                            double tolerance, double t, double *x, double *lambda, hamel_error *error) HAMEL_CHECKED;

/* How the solution found last, with multipliers `lambda`, moves when g and r do: the equations between two changes of sign,
 * linearized. On entry x and mu solve the system without friction for the right sides' rates, on return with it. */
hamel_status friction_solve_along(friction *f, motion_solver *motion, const double *values, const double *g,
                                  const double *r, const double *lambda, double *x, double *mu) HAMEL_CHECKED;

/* out[n] += F|λ|. */
void friction_add_forces(const hamel_model *model, const double *values, const double *lambda, double *out);

#endif
