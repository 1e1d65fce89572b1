/* motion_solver.h — solution of the equations of motion at a state by the solver of the formulation:
 *
 *     M x − (Aᵀ + W) λ = g,     A x = r
 *
 * with multipliers (kkt.h) or without (null_space.h). */
#pragma once

#include "engine/dynamics/null_space.h"
#include "engine/linear/kkt.h"

typedef struct motion_solver {
    velocity_basis *basis;  /* NULL if the formulation has no quasi-velocities */
    null_space *null_space; /* NULL: `kkt` solves */
    kkt *kkt;               /* saddle-point system of all rows, borrowed; also used by projections */
    double *zero;           /* m zeros */
} motion_solver;

/* `state` and `all` are borrowed. Returns false if out of memory. Call motion_solver_free in both cases. */
bool motion_solver_create(motion_solver *s, const hamel_model *model, const discrete_state *state, kkt *all,
                          arena *memory);
void motion_solver_free(motion_solver *s);

/* Sets the expected ranks of all rows and of the velocity-level rows, and the usual lengths of rows, as kkt_expect
 * does. Does not change `kkt`, which belongs to the caller. */
void motion_expect(motion_solver *s, size_t rank, size_t velocity_rank, const double *usual);

/* Factors the system for the values of the dynamics program at (t, q, v). Returns a status of kkt_factor or
 * HAMEL_NOT_FINITE. */
hamel_status motion_factor(motion_solver *s, double t, const double *q, const double *v,
                           const double *values) HAMEL_CHECKED;

/* Solves for x[n] = q'' and lambda[m] (may be NULL) with right sides g[n] and r[m]. Returns a status of kkt_solve. */
hamel_status motion_solve(motion_solver *s, const double *g, const double *r, double tolerance, double *x,
                          double *lambda) HAMEL_CHECKED;

/* Computes the response x and lambda to the forces g, with r = 0: the linear part of motion_solve. */
hamel_status motion_respond(motion_solver *s, const double *g, double *x, double *lambda) HAMEL_CHECKED;

/* Converts the forces g of the formulation to the forces of Lagrange's equations at the factored state. Valid until the
 * next call. */
const double *motion_forces(motion_solver *s, const double *g);

/* Returns the rank of A after motion_factor; with a velocity basis, its rank at the last solution for multipliers. */
size_t motion_rank(const motion_solver *s);

/* Returns the rank margin after motion_factor, as kkt_margin does. The least-constraint solver measures angles between
 * rows in the Euclidean metric, not that of M⁻¹. With a velocity basis the margin is 1. */
double motion_margin(const motion_solver *s);
