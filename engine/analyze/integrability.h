/* integrability.h — residuals and ranks that show whether linear velocity constraints are integrable. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct hamel_integrability_residual {
    /* Frobenius: `of` is NULL, and the residual is the component of ω ∧ dω for three variables. Deahna and Bouquet:
     * `of` is the dependent variable D, variables[0] and [1] are the independent variables I and J, and [2] is NULL. */
    const char *of, *variables[3];
    const char *expression; /* NULL if the text is longer than HAMEL_RESIDUAL_TEXT bytes */
    bool has_value;         /* false if the residual is not finite at the initial state */
    double value;           /* value at the initial state; 0 if has_value is false */
} hamel_integrability_residual;

enum { HAMEL_RESIDUAL_TEXT = 200 };

/* The one-form ω = Σ a_k dx_k of one velocity constraint. The variables x are the coordinates of the constraint's
 * group, and time if a constraint of the group contains it. A group consists of constraints that are connected by
 * common coordinates. `rank` and `joint_rank` are ranks of the bordered matrix [a_kl, Aᵀ; −A, 0] at the initial state,
 * with a_kl = ∂a_k/∂x_l − ∂a_l/∂x_k. For `rank`, A is the row a (Papastavridis 2.3). For `joint_rank`, A contains the m
 * independent constraints of the group (Papastavridis P2.12.8). */
typedef struct hamel_integrability_form {
    const char *constraint;
    /* The components a_i a_jk + a_j a_ki + a_k a_ij of ω ∧ dω that are not identically 0. For three variables, the sign
     * is that of h·curl h (Papastavridis 2.3.6). If has_components is true and frobenius_count is 0, the constraint is
     * integrable alone. */
    const hamel_integrability_residual *frobenius;
    size_t frobenius_count;
    bool has_components; /* false if the group has more than 8 variables; frobenius_count is then 0 */
    size_t rank;         /* 2 if the constraint is integrable alone */
    size_t joint_rank;   /* equal to system_rank for each constraint if the constraints of the group are integrable */
    size_t system_rank;  /* 2m */
} hamel_integrability_form;

typedef struct hamel_integrability {
    /* The linear velocity constraints of groups with up to 24 variables. Empty if no consistent initial state is
     * known. */
    const hamel_integrability_form *forms;
    size_t form_count;
    /* The residuals of Deahna and Bouquet that are not identically 0 (Papastavridis 2.12.1). The constraints are solved
     * as dx_D = Σ b_DI dx_I. The residuals are ∂b_DI/∂(J) − ∂b_DJ/∂(I), with ∂/∂(J) = ∂/∂x_J + Σ b_DJ ∂/∂x_D. The
     * constraints of a group are integrable if all its residuals are 0. An empty list does not prove this, because it
     * omits groups with more than 24 variables and groups that cannot be solved within the work budget. */
    const hamel_integrability_residual *solved;
    size_t solved_count;
} hamel_integrability;
