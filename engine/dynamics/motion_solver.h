/* motion_solver.h — solution of the equations of motion at a state by the solver of the formulation.
 *
 *     M x − (Aᵀ + W) λ = g,     A x = r
 *
 * The solver computes the multipliers together with the accelerations (kkt.h) or eliminates them first
 * (null_space.h). Each function calls the corresponding function of kkt.h or null_space.h. */
#pragma once

#include "engine/dynamics/null_space.h"
#include "engine/linear/kkt.h"

#include <assert.h>
#include <math.h>

typedef struct motion_solver {
    velocity_basis *basis;  /* NULL if the formulation has no quasi-velocities */
    null_space *null_space; /* NULL if `kkt` solves the equations */
    kkt *kkt;               /* saddle-point system of all rows, borrowed; also used by projections */
    double *zero;           /* m zeros */
} motion_solver;

/* Returns a status of kkt_factor or HAMEL_NOT_FINITE. */
static inline hamel_status motion_factor(motion_solver *s, double t, const double *q, const double *v,
                                         const double *values) {
    return s->null_space ? null_space_factor(s->null_space, t, q, v, values) : kkt_factor(s->kkt, values);
}

/* Solves for x[n] = q'' and lambda[m] (may be NULL) with right-hand sides g[n] and r[m]. Returns a status of
 * kkt_solve. */
static inline hamel_status motion_solve(motion_solver *s, const double *g, const double *r, double tolerance, double *x,
                                        double *lambda) {
    assert(!s->basis || s->null_space);
    return s->null_space ? null_space_solve(s->null_space, g, r, tolerance, x, lambda)
                         : kkt_solve(s->kkt, g, r, tolerance, x, lambda);
}

/* Computes the response x and lambda to the forces g with r = 0, which is the linear part of motion_solve. */
static inline hamel_status motion_respond(motion_solver *s, const double *g, double *x, double *lambda) {
    return s->null_space ? null_space_solve(s->null_space, g, NULL, INFINITY, x, lambda)
                         : kkt_solve(s->kkt, g, s->zero, INFINITY, x, lambda);
}

static inline const double *motion_forces(motion_solver *s, const double *g) {
    return s->null_space ? null_space_forces(s->null_space, g) : g;
}

static inline size_t motion_rank(const motion_solver *s) {
    return s->null_space ? null_space_rank(s->null_space) : kkt_rank(s->kkt);
}

/* Returns the rank margin. The least-constraint solver measures angles between rows in the Euclidean metric. kkt_margin
 * uses the metric of M⁻¹. */
static inline double motion_margin(const motion_solver *s) {
    return s->null_space ? null_space_margin(s->null_space) : kkt_margin(s->kkt);
}
