/* newton_matrix.h — linear systems (I − γJ) x = b of the Newton iteration in BDF, solved without forming J.
 *
 * Let y = (q, q') and y' = (q', q''(t, q, q')). The residuals R(t, q, q', q'', λ) = 0 define q'' and λ implicitly. The
 * system is rewritten for δq'' and δλ:
 *
 *     x_v = b_v + γ δq'',   x_q = b_q + γ b_v + γ² δq''
 *     [ R_a + γ R_v + γ² R_q ,  R_λ ] [ δq'' ; δλ ] = −( R_q (b_q + γ b_v) + R_v b_v )
 *
 * This system of n + m rows has the sparsity of the equations of motion. If the equations of motion can be solved in
 * O(N), so can this system. R_q and R_v are tangents of the residual program. Columns without a common row share a seed
 * (Curtis, Powell & Reid, J. Inst. Math. Appl. 13 (1974) 117). R_a and R_λ consist of M, A, W, and F multiplied by the
 * signs of λ. No finite differences are used. */
#pragma once

#include "engine/dynamics/discrete_state.h"
#include "engine/model/model.h"

typedef struct newton_matrix newton_matrix;

newton_matrix *newton_create(const hamel_model *model); /* returns NULL if out of memory */
void newton_free(newton_matrix *w);

/* Sets the discrete state (borrowed) of later linearizations: rows of inactive constraints become λ_c = 0. If this
 * function is not called, all constraints are active, and the model must not have nonsmooth operators. */
void newton_select(newton_matrix *w, const discrete_state *state);

/* Computes R_q and R_v at a state. `dynamics_values`: outputs of the dynamics program at that state; `ideal`: n ideal
 * reactions, treated as constant. Returns HAMEL_NOT_FINITE if a derivative is not finite. */
hamel_status newton_linearize(newton_matrix *w, double t, const double *q, const double *v, const double *a,
                              const double *lambda, const double *ideal, const double *dynamics_values) HAMEL_CHECKED;

/* Factors the system for γ. Returns HAMEL_OK, HAMEL_SINGULAR or HAMEL_NO_MEMORY. */
hamel_status newton_factor(newton_matrix *w, double gamma) HAMEL_CHECKED;

/* Replaces x = (n entries for q, n for q') by (I − γJ)⁻¹ x, with the γ of newton_factor. */
hamel_status newton_solve(newton_matrix *w, double *x) HAMEL_CHECKED;

/* Returns the change δλ[m] of the multipliers for the result of the last newton_solve, valid until the next call. */
const double *newton_multipliers(const newton_matrix *w);
