/* sensitivities.h — derivatives of a motion by parameters and initial values.
 *
 * Along an input p, with δ for d/dp at a time t, the motion M q'' − Aᵀλ = Q, A q'' = b, written as R(t, q, q', q'', λ, p) = 0,
 * gives (Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363, eq. 3; Haug, Int. J. Numer. Methods Eng. 24 (1987) for
 * constraints)
 *
 *     [ M  −(Aᵀ+W) ] [ δq'' ]     ∂R      ∂R       ∂R
 *     [ A     0    ] [ δλ   ] = − ── δq − ─── δq' − ── ,     Φ_q δq = −Φ_p,     ψ_q' δq' = −ψ_q δq − ψ_p
 *                                 ∂q      ∂q'      ∂p
 *
 * with the matrix that gives q'' and λ themselves: it is factored once for all inputs, and one tangent of the residual
 * program serves eight of them. Nothing is a finite difference. For models whose velocity variables are q'.
 *
 * A sensitivity is 2n numbers (δq, δq'). Arrays of them are arrays of pointers, one an input. Belongs to one run. */
#ifndef HAMEL_SOLVE_SENSITIVITIES_H
#define HAMEL_SOLVE_SENSITIVITIES_H

#include "engine/solve/kinetics.h"

typedef struct sensitivities sensitivities;

/* For the inputs of k->model (which has some); `k` is borrowed and evaluated at other states. NULL without memory. */
sensitivities *sensitivities_create(kinetics *k);
void sensitivities_free(sensitivities *w);

size_t sensitivities_count(const sensitivities *w);        /* inputs */
size_t sensitivities_length(const sensitivities *w);       /* 2n */
const double *sensitivities_sizes(const sensitivities *w); /* of the inputs, none 0 */

/* s := those of the consistent initial values (q, v) that initial_values_make_consistent made of the model's, at time t.
 * HAMEL_SINGULAR with a fault when they have none; other statuses as of kinetics_evaluate. */
hamel_status sensitivities_start(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                                 hamel_error *error) HAMEL_CHECKED;

/* ds := d/dt s at the state (t, q, v), with the stabilization α, β of kinetics_accelerations. */
hamel_status sensitivities_rates(sensitivities *w, double t, const double *q, const double *v, double alpha,
                                 double beta, const double *const *s, double *const *ds) HAMEL_CHECKED;

/* Brings s onto the linearized constraints at a state on the constraints, by the smallest steps in the metric of M, and
 * gives what columns show: out[input × column_count] are δq, δq' and the derivatives of the outputs. A fault when
 * something is not finite, or not unique. */
hamel_status sensitivities_see(sensitivities *w, double t, const double *q, const double *v, double *const *s,
                               double *out, hamel_error *error) HAMEL_CHECKED;

#endif
