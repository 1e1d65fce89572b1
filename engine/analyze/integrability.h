/* integrability.h — the residuals and ranks that decide whether linear velocity constraints can be integrated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct hamel_integrability_residual {
    /* Frobenius: three variables; `of` is NULL. Deahna and Bouquet: the dependent variable `of`, two variables and
     * NULL. */
    const char *of, *variables[3];
    const char *expression; /* NULL if longer than HAMEL_RESIDUAL_TEXT bytes */
    bool has_value;         /* false if the residual is not finite at the initial state */
    double value;           /* at the initial state; 0 without a value */
} hamel_integrability_residual;

enum { HAMEL_RESIDUAL_TEXT = 200 };

/* The one-form ω = Σ a_k dx_k of one velocity constraint, where the variables x are coordinates and possibly time. With
 * a_kl = ∂a_k/∂x_l − ∂a_l/∂x_k, the ranks are those of the bordered matrices [a_kl, Aᵀ; −A, 0] at the initial state. A
 * consists of ω alone (Papastavridis 2.3) or of all m independent constraints of its group (Papastavridis P2.12.8). */
typedef struct hamel_integrability_form {
    const char *constraint;
    /* The components a_i a_jk + a_j a_ki + a_k a_ij of ω ∧ dω that are not identically 0, with the sign of h·curl h for
     * three variables (Papastavridis 2.3.6). If there are none, the constraint is integrable alone. */
    const hamel_integrability_residual *frobenius;
    size_t frobenius_count;
    bool has_components; /* false if there are too many variables to list the components */
    size_t rank;         /* 2 if the constraint is integrable alone */
    size_t joint_rank;   /* 2m if the constraint is integrable with the others: system_rank */
    size_t system_rank;
} hamel_integrability_form;

typedef struct hamel_integrability {
    /* The linear velocity constraints of groups with up to 24 variables. Empty without a consistent initial state. */
    const hamel_integrability_form *forms;
    size_t form_count;
    /* Residuals of Deahna and Bouquet: ∂b_DI/∂(J) − ∂b_DJ/∂(I) of the constraints, solved as dx_D = Σ b_DI dx_I, with
     * ∂/∂(J) = ∂/∂x_J + Σ b_DJ ∂/∂x_D (Papastavridis 2.12.1). All constraints are integrable if all residuals are 0. Only
     * residuals that are not identically 0 are listed. */
    const hamel_integrability_residual *solved;
    size_t solved_count;
} hamel_integrability;
