/* motion_solver.h — the equations of motion at a state as the formulation solves them, behind one interface:
 *
 *     M x − (Aᵀ + W) λ = g,     A x = r
 *
 * with multipliers (kkt.h) or reduced (reduced.h). */
#ifndef HAMEL_SOLVE_MOTION_SOLVER_H
#define HAMEL_SOLVE_MOTION_SOLVER_H

#include "engine/solve/kkt.h"
#include "engine/solve/reduced.h"

typedef struct motion_solver {
    frame *frame;     /* of quasi-velocities; NULL where the formulation has none */
    reduced *reduced; /* NULL: `kkt` solves */
    kkt *kkt;         /* of all rows, borrowed: corrections use it, too */
    double *zero;     /* m */
} motion_solver;

/* `mode` is borrowed. False without memory; motion_solver_free in both cases. */
bool motion_solver_create(motion_solver *s, const hamel_model *model, const motion_mode *mode, kkt *all);
void motion_solver_free(motion_solver *s);

/* As kkt_expect, of all rows and of those at the level of velocities; frames and reduced equations only: `kkt` is the
 * lender's. */
void motion_expect(motion_solver *s, size_t rank, size_t velocity_rank, const double *usual);

/* Factors for the values of the dynamics program at (t, q, v). Returns as kkt_factor, or HAMEL_NOT_FINITE. */
hamel_status motion_factor(motion_solver *s, double t, const double *q, const double *v,
                           const double *values) HAMEL_CHECKED;

/* g[n], r[m] → x[n] = q'', lambda[m] (NULL: not wanted). Returns as kkt_solve. */
hamel_status motion_solve(motion_solver *s, const double *g, const double *r, double tolerance, double *x,
                          double *lambda) HAMEL_CHECKED;

/* What the forces g alone add to x and lambda: the linear part of motion_solve. */
hamel_status motion_respond(motion_solver *s, const double *g, double *x, double *lambda) HAMEL_CHECKED;

/* The forces g of the formulation as Lagrange's equations have them, at the state factored for; valid until the next call. */
const double *motion_forces(motion_solver *s, const double *g);

/* The rank of A, after motion_factor; in quasi-velocities where multipliers were solved for last. */
size_t motion_rank(const motion_solver *s);

/* As kkt_margin, after motion_factor; by angles as they are where the equations are reduced, and 1 in quasi-velocities. */
double motion_margin(const motion_solver *s);

#endif
