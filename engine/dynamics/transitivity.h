/* transitivity.h — Hamel's coefficients at a state, and what they and the moving quasi-velocities add to the equations of
 * motion (engine/mechanics/boltzmann_hamel.c has the equations whole).
 *
 * With P_j = ∂ℓ/∂u_j = Σ_i p_i Φ_ij, the implicit rules Φ' = −Φ Ψ' Φ and ∂q'/∂q at fixed u = −Φ ∂u/∂q at fixed q' give
 *
 *     d/dt ∂ℓ/∂u_r = Σ_i Φ_ir dp_i/dt − Σ_j P_j Σ_i dΨ_ji/dt Φ_ir
 *     Σ_i Φ_ir ∂ℓ/∂q_i = Σ_i Φ_ir (∂L/∂q_i − Σ_j P_j ∂u_j/∂q_i)
 *
 * so against Σ_i Φ_ir (dp_i/dt − ∂L/∂q_i) there is more by − P dΨ/dt Φ + P ∂u/∂q Φ + P γ u + P γ_t. */
#ifndef HAMEL_SOLVE_TRANSITIVITY_H
#define HAMEL_SOLVE_TRANSITIVITY_H

#include "engine/solve/frame.h"
#include "engine/solve/mode.h"

typedef struct transitivity transitivity;

/* NULL without memory; the model has one. `mode` is borrowed: its branches hold. */
transitivity *transitivity_create(const hamel_model *model, const motion_mode *mode);
void transitivity_free(transitivity *x);

/* Evaluates at (t, q, v). HAMEL_OK or HAMEL_NOT_FINITE. */
hamel_status transitivity_evaluate(transitivity *x, double t, const double *q, const double *v) HAMEL_CHECKED;

/* out[n] := the covector whose product with Φ is what there is more on the left (see above), for the frame factored at
 * the same state and velocities v. */
void transitivity_covector(transitivity *x, frame *f, const double *v, double *out);

/* γ^j_rl and γ^j_r of the state evaluated last; j < n, r and l < freedom count in the frame. */
double transitivity_coefficient(transitivity *x, frame *f, size_t j, size_t r, size_t l);
double transitivity_coefficient_of_time(transitivity *x, frame *f, size_t j, size_t r);

#endif
