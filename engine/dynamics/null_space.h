/* reduced.h — equations of motion without multipliers: in as many unknowns as the constraints leave free.
 *
 *   least constraint   ½ (q'' − a)ᵀM (q'' − a) → min over A q'' = b (gauss)
 *   projection         Φᵀ(M q'' − g) = 0 with q'' = Φ u' + φ_2, Ψ φ_2 = [−(dC/dt q' + dd/dt); b] (maggi, kane,
 *                      gibbs-appell: they differ in how M and g were derived)
 *   transitivity       the same unknowns, by Hamel's coefficients (engine/solve/transitivity.h)
 *
 * Acceleration constraints restrict u' in the projected equations by Gauss's principle. Multipliers follow from the
 * reaction M q'' − g = Aᵀλ, of least norm where that leaves them open. The interface is that of kkt.h, and so is the
 * meaning of W: forces g + W λ. One run's; dense; allocates nothing after creation. */
#ifndef HAMEL_SOLVE_REDUCED_H
#define HAMEL_SOLVE_REDUCED_H

#include "engine/solve/frame.h"
#include "engine/solve/least_constraint.h"
#include "engine/solve/mode.h"

typedef struct reduced reduced;

/* `f` and `mode` are borrowed; f NULL for least constraint. NULL without memory. */
reduced *reduced_create(const hamel_model *model, const motion_mode *mode, frame *f);
void reduced_free(reduced *r);

/* As kkt_expect, of all rows. */
void reduced_expect(reduced *r, size_t rank, const double *usual);

/* Factors at the values of the dynamics program at (t, q, v). HAMEL_OK, HAMEL_SINGULAR, HAMEL_NOT_FINITE. */
hamel_status reduced_factor(reduced *r, double t, const double *q, const double *v, const double *values) HAMEL_CHECKED;

/* g[n], b[m] → x[n] = q'', lambda[m] (NULL: not wanted). HAMEL_INCOMPATIBLE as kkt_solve; HAMEL_SINGULAR. */
hamel_status reduced_solve(reduced *r, const double *g, const double *b, double tolerance, double *x,
                           double *lambda) HAMEL_CHECKED;

/* What the forces g alone add to x and lambda. */
hamel_status reduced_respond(reduced *r, const double *g, double *x, double *lambda) HAMEL_CHECKED;

/* g as Lagrange's equations have it, at the state factored for; valid until the next call. */
const double *reduced_forces(reduced *r, const double *g);

/* Rank of A, where multipliers were asked for last. */
size_t reduced_rank(const reduced *r);

/* How far the rows are from losing rank, for least constraint: the least diagonal entry of the QR of rows of unit length. */
double reduced_margin(const reduced *r);

#endif
