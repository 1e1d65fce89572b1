/* null_space.h — accelerations without multipliers as unknowns: one unknown per degree of freedom.
 *
 *   least constraint   gauss: ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b
 *   projection         maggi, kane, gibbs-appell, hadamard: Φᵀ(M q'' − g) = 0, q'' = Φ u' + φ_2,
 *                      Ψ φ_2 = [−(dC/dt q' + dd/dt); b]
 *   transitivity       boltzmann-hamel, voronets, chaplygin: the unknowns u' of the projection, with Hamel's
 *                      coefficients
 *
 * In hadamard, voronets and chaplygin, the independent velocities u are velocities of coordinates, so Φ contains the
 * coefficients of the constraints solved for the dependent velocities. The formulations under `projection` use the same
 * method with M and g derived differently. Acceleration constraints restrict u' in the projected equations by Gauss's
 * principle. Multipliers are computed from the reaction M q'' − g = Aᵀλ. If the constraints are redundant, the
 * multipliers have least norm. If forces depend on multipliers, the forces are g + W λ, as in kkt.h. Matrices are
 * dense. No memory is allocated after creation. */
#pragma once

#include "engine/dynamics/discrete_state.h"
#include "engine/dynamics/velocity_basis.h"
#include "engine/linear/least_constraint.h"

typedef struct null_space null_space;

/* Borrows `state` and `basis`. If `basis` is NULL, the method is least constraint. Returns NULL if out of memory. */
null_space *null_space_create(const hamel_model *model, const discrete_state *state, velocity_basis *basis,
                              arena *memory);
void null_space_free(null_space *s);

/* Sets the expected rank of the rows of all constraints and the usual length of each row, as kkt_expect does. */
void null_space_expect(null_space *s, size_t rank, const double *usual);

/* Factors the system for the values of the dynamics program at (t, q, v). Returns HAMEL_OK, HAMEL_SINGULAR or
 * HAMEL_NOT_FINITE. */
hamel_status null_space_factor(null_space *s, double t, const double *q, const double *v,
                               const double *values) HAMEL_CHECKED;

/* Solves for x[n] = q'' and lambda[m] (may be NULL) with forces g[n] and right-hand sides b[m]. If b is NULL, computes
 * the response x and lambda to the forces g. Returns HAMEL_OK, HAMEL_SINGULAR, or HAMEL_INCOMPATIBLE under the same
 * condition as kkt_solve. */
hamel_status null_space_solve(null_space *s, const double *g, const double *b, double tolerance, double *x,
                              double *lambda) HAMEL_CHECKED;

/* Converts the forces g of the formulation to the forces of Lagrange's equations at the factored state. The result is
 * valid until the next call. */
const double *null_space_forces(null_space *s, const double *g);

/* Returns the rank of A. With a velocity basis, this is the rank found by the last computation of multipliers. */
size_t null_space_rank(const null_space *s);

/* Returns the rank margin of the least-constraint solver, or 1 with a velocity basis. The rank margin is the sine of
 * the smallest angle between a row and the span of the rows before it (rank_qr_margin). */
double null_space_margin(const null_space *s);
