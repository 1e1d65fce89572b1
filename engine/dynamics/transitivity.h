/* transitivity.h — Hamel's coefficients at a state and their terms in the equations of motion
 * (engine/mechanics/boltzmann_hamel.c).
 *
 * Let P_j = ∂ℓ/∂u_j = Σ_i p_i Φ_ij. Implicit differentiation gives Φ' = −Φ Ψ' Φ and (∂q'/∂q at fixed u) = −Φ (∂u/∂q at
 * fixed q'), hence
 *
 *     d/dt ∂ℓ/∂u_r = Σ_i Φ_ir dp_i/dt − Σ_j P_j Σ_i dΨ_ji/dt Φ_ir
 *     Σ_i Φ_ir ∂ℓ/∂q_i = Σ_i Φ_ir (∂L/∂q_i − Σ_j P_j ∂u_j/∂q_i)
 *
 * The terms − P dΨ/dt Φ + P ∂u/∂q Φ + P γ u + P γ_t are therefore added to Σ_i Φ_ir (dp_i/dt − ∂L/∂q_i). */
#pragma once

#include "engine/dynamics/discrete_state.h"
#include "engine/dynamics/velocity_basis.h"

typedef struct transitivity transitivity;

/* Creates the coefficients of a model that has model->transitivity. `state` is borrowed and provides the branches.
 * Returns NULL if out of memory. */
transitivity *transitivity_create(const hamel_model *model, const discrete_state *state, arena *memory);

/* Evaluates the derivatives of Ψ at (t, q, v). Returns HAMEL_OK or HAMEL_NOT_FINITE. */
hamel_status transitivity_evaluate(transitivity *x, double t, const double *q, const double *v) HAMEL_CHECKED;

/* Sets out[n] to the covector whose product with Φ is the sum of the added terms at the state evaluated last, where `b`
 * must be factored. */
void transitivity_covector(transitivity *x, velocity_basis *b, const double *v, double *out);
