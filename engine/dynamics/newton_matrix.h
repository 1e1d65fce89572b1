/* newton_matrix.h — the linear systems of BDF's Newton iteration, (I − γJ) x = b, without forming J.
 *
 * With y = (q, q'), y' = (q', q''(t, q, q')) and the residuals R(t, q, q', q'', λ) = 0 that define q'' and λ implicitly, the
 * unknowns are unrolled to δq'' and δλ:
 *
 *     x_v = b_v + γ δq'',   x_q = b_q + γ b_v + γ² δq''
 *     [ R_a + γ R_v + γ² R_q ,  R_λ ] [ δq'' ; δλ ] = −( R_q (b_q + γ b_v) + R_v b_v )
 *
 * one system of n + m rows with the sparsity of the equations of motion, so its cost stays O(N) where theirs is. R_q and
 * R_v come from the tangent of the residual program, columns that share no row being seeded together (Curtis, Powell &
 * Reid, J. Inst. Math. Appl. 13 (1974) 117); R_a and R_λ are M, A, W and F with the signs of λ. Nothing is a finite difference. */
#ifndef HAMEL_SOLVE_NEWTON_MATRIX_H
#define HAMEL_SOLVE_NEWTON_MATRIX_H

#include "engine/model/model.h"
#include "engine/solve/mode.h"

typedef struct newton_matrix newton_matrix;

newton_matrix *newton_create(const hamel_model *model); /* NULL without memory */
void newton_free(newton_matrix *w);

/* Linearizes in this mode (borrowed) from now on: rows of constraints that are not active read λ_c = 0. Without one all
 * are active, and the model must have no switches. */
void newton_select(newton_matrix *w, const motion_mode *mode);

/* Takes R_q and R_v at a state and the dynamics program's values there; `ideal` is n reactions (kinetics), held. HAMEL_NOT_FINITE when some are not. */
hamel_status newton_linearize(newton_matrix *w, double t, const double *q, const double *v, const double *a,
                              const double *lambda, const double *ideal, const double *dynamics_values) HAMEL_CHECKED;

/* Factors for γ. HAMEL_OK, HAMEL_SINGULAR, HAMEL_NO_MEMORY. */
hamel_status newton_factor(newton_matrix *w, double gamma) HAMEL_CHECKED;

/* x := (I − γJ)⁻¹ x for x = (q part n, q' part n), with the γ factored for. */
hamel_status newton_solve(newton_matrix *w, double *x) HAMEL_CHECKED;

/* After newton_solve: δλ, m, the change of the multipliers along the x that it gave. Valid until the next call. */
const double *newton_multipliers(const newton_matrix *w);

#endif
