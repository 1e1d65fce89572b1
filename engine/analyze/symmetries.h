/* symmetries.h — conserved quantities as results of symmetries (Noether's theorem).
 *
 * A displacement δq_k = ε ξ_k(q), combined with a shift of the time by ε τ, conserves J = Σ ξ_k p_k − τ h if
 *     d/dt J = Σ ξ_k (∂L/∂q_k + Q_k + Σ_c λ_c A_ck) + Σ ξ'_k p_k − τ h' = 0
 * in every state and for all multipliers λ. p_k = ∂L/∂q'_k are the momenta, h = Σ q'_k p_k − L is the Jacobi integral,
 * Q_k are forces without a potential, and h' is the rate of h (Greenwood 4.379). The displacement must then be
 * admissible, Σ_k A_ck ξ_k + τ a_ct = 0, so reactions do no work on it. The displacements are affine: ξ = c + S q. Shifts,
 * rotations, screws and their combinations with the time are of this form. Momenta of shifts are those of Papastavridis,
 * Introduction 3.12. A combination with the time is, for example, the integral of a bead on a hoop that rotates at the
 * rate Ω, h − Ω (x p_y − y p_x) (Greenwood 4.7; Baruh, example 4.9). */
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
    hamel_shift_component *displacements; /* the components that are not 0 */
    size_t displacement_count;
} hamel_symmetry;

/* The motion of a system without constraints in which one freedom remains, because the Jacobi integral and the momenta of
 * shifts are constant: t = ∫ ds/√f(s). The texts contain the constants as jacobi_integral() and momentum(...). */
typedef struct hamel_quadrature {
    const char *variable;     /* s: a coordinate, or a combination such as "phi - psi" */
    const char *rate_squared; /* f(s), which is equal to s'² */
    const char *time;         /* "t = integral d(s)/sqrt(f)" */
} hamel_quadrature;

/* One symmetry for each entry of hamel_report.conserved, in the same order. */
typedef struct hamel_symmetries {
    hamel_symmetry *items;
    size_t count;
    hamel_quadrature *quadrature; /* NULL if not found */
} hamel_symmetries;
