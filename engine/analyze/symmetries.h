/* symmetries.h — conserved quantities as results of symmetries (Noether's theorem).
 *
 * A displacement δq_k = ε ξ_k(q), combined with a shift of the time by ε τ, conserves J = Σ ξ_k p_k − τ h if
 *     d/dt J = Σ ξ_k (∂L/∂q_k + Q_k + Σ_c λ_c A_ck) + Σ ξ'_k p_k − τ h' = 0
 * in every state and for all multipliers λ (Greenwood 4.379). Here p_k = ∂L/∂q'_k is a momentum, h = Σ q'_k p_k − L is
 * the Jacobi integral, and Q_k is a force without a potential. The displacement must then satisfy Σ_k A_ck ξ_k + τ
 * a_ct = 0 for each constraint, so that reactions do no work on ξ − τ q'. The search covers affine displacements
 * ξ = c + S q. Shifts, rotations and screws are affine, also in combination with a shift of the time. Papastavridis,
 * Introduction 3.12, describes the momenta of shifts. An example of a combination is a bead on a hoop that rotates at
 * the rate Ω. Its integral is h − Ω (x p_y − y p_x) (Greenwood 4.7; Baruh, example 4.9). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One component ξ_k of the displacement, an expression in coordinates and parameters. */
typedef struct hamel_shift_component {
    const char *coordinate, *value;
} hamel_shift_component;

typedef struct hamel_symmetry {
    const char *conserved; /* Σ ξ_k p_k if τ = 0, h − Σ ξ_k p_k if τ = 1; as in hamel_report.conserved */
    int time_shift;        /* τ: 1 or 0 */
    hamel_shift_component *displacements; /* components that are not 0 */
    size_t displacement_count;
} hamel_symmetry;

/* The motion t = ∫ ds/√f(s) of a system without constraints. The Jacobi integral and the momenta of shifts are
 * constant, and one freedom remains. In the texts, jacobi_integral() and momentum(...) denote these constants. */
typedef struct hamel_quadrature {
    const char *variable;     /* s: a coordinate, or a combination such as "phi - psi" */
    const char *rate_squared; /* f(s), equal to s'² */
    const char *time;         /* "t = integral d(s)/sqrt(f)" */
} hamel_quadrature;

/* One symmetry for each entry of hamel_report.conserved, in the same order. */
typedef struct hamel_symmetries {
    hamel_symmetry *items;
    size_t count;
    hamel_quadrature *quadrature; /* NULL if the system has no such integral */
} hamel_symmetries;
