/* form_residual.h — residuals of the equations of motion, each computed from the functions of one form. */
#pragma once

#include "engine/mechanics/equations.h"

/* Returns E_k − Q_k − R_k for coordinate k, a function of (t, q, q', q'', λ) that is 0 along every motion. E_k equals
 * d/dt ∂L/∂q'_k − ∂L/∂q_k with L = T − V. Q_k are the forces without a potential, and `reaction` is R_k, the sum of all
 * reactions on q_k that Q_k does not contain. The form selects how E_k is computed:
 *
 *     nielsen, tsenov, mangeron_deleanu   from L', L'' or L''' (kinetic_rates.h; Papastavridis, introduction, 6)
 *     jourdain   ∂S/∂q''_k − d/dt ∂V/∂q'_k + ∂V/∂q_k, where S is the acceleration energy of translations; T replaces S
 *                for rotations. In Jourdain's principle Σ (m a − F)·δv = 0, the coefficient of δq'_k in m a·δv is
 *                m a·∂v/∂q'_k = m a·∂a/∂q''_k = ∂S/∂q''_k.
 *     central    dp_k/dt − ∂L/∂q_k, from the central equation d/dt Σ p_j δq_j = δL + δ'W (Papastavridis, introduction,
 *                3.6) for the virtual displacement δq_k = 1 and δq_j = 0 for j ≠ k. This displacement need not satisfy
 *                the constraints, because δ'W contains the work of the reactions (principle of relaxation).
 *
 * Adds an error and returns GRAPH_NONE if the description defines no T and V (jourdain) or no L (other forms). */
graph_node form_residual(const hamel_equations *e, residual_form form, size_t k, graph_node reaction);
