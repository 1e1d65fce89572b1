/* dynamics_verified.c — check of accelerations against the equations of motion before output. If the check fails, a
 * second solver is tried. */
#include "engine/dynamics/dynamics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Upper bound on the residual relative to the terms of Bᵀ D B x (congruence.h) instead of M x. If terms cancel within
 * entries of M, the terms of Bᵀ D B x are larger. The bound is RESIDUAL_MOST divided by 1000 for this cancellation;
 * rounding leaves residuals of 1e-14. If the residual exceeds the bound, M is computed, and RESIDUAL_MOST decides. */
static const double FACTORED_MOST = 1e-12;
/* Upper bound on the unknowns for which the second solver is tried. The matrices of this solver are dense. 600² doubles
 * take 3 MB. */
enum { OTHER_WAY_MOST = 600 };

/* Returns the largest residual of M a = Q relative to the terms of its row, without the entries of M. */
static double factored_residual(dynamics *k, const double *a) {
    const double *Q = k->values + k->model->dynamics.at_Q;
    double most = 0;
    dynamics_multiply_mass(k, a);
    for (size_t i = 0; i < k->model->n; i++) {
        double left = fabs(k->product[i] - Q[i]), size = k->magnitude[i] + fabs(Q[i]);
        if (!isfinite(left) || !isfinite(size)) return INFINITY;
        if (left > 0) most = fmax(most, left / size);
    }
    return most;
}

equation_residual dynamics_missed(dynamics *k, const double *a, const double *lambda) {
    const hamel_model *model = k->model;
    if (k->without_mass) {
        double left = factored_residual(k, a);
        if (left <= FACTORED_MOST) return (equation_residual){.motion = left};
        dynamics_expand_mass(k);
    }
    double *R = k->project_step;
    bool split = model->dynamics.nonideal || k->friction; /* the reaction has an ideal and a nonideal part */
    if (model->dynamics.W.count) {
        memcpy(k->lambda, lambda, model->m * sizeof *lambda);
        if (dynamics_evaluate_again(k, NULL) != HAMEL_OK) return (equation_residual){INFINITY, INFINITY};
    }
    for (size_t i = 0; split && i < model->n; i++) R[i] = k->ideal[i] + k->nonideal[i];
    const double *Q = motion_forces(&k->motion, k->values + model->dynamics.at_Q);
    return dynamics_residual_of(k->residual, k->values, k->v, Q, split ? R : NULL, k->survey.usual, a, lambda);
}

/* Returns true if the residuals of the constraints may be large. At a state that has not been projected, redundant
 * constraints may contradict each other by the amount of their violation. */
static bool may_contradict(const dynamics *k) {
    size_t active = 0;
    for (size_t c = 0; c < k->model->m; c++) active += k->discrete_state.active[c];
    return k->model->settings.projection != HAMEL_PROJECTION_ON && motion_rank(&k->motion) < active;
}

/* Returns the larger of the two residuals, or the residual of the equations of motion if may_contradict returns
 * true. */
static double fault_of(const dynamics *k, equation_residual missed) {
    return may_contradict(k) ? missed.motion : fmax(missed.motion, missed.constraints);
}

/* Returns true if a second solver is available: the system must be small, and the formulation must provide the forces
 * of Lagrange's equations. */
static bool has_other_way(const dynamics *k) {
    return k->model->n + k->model->m <= OTHER_WAY_MOST && !k->model->dynamics.reaction_shift;
}

/* Creates the solver that the formulation does not use: multipliers instead of the null space, or the reverse. Returns
 * false if out of memory. */
static bool open_other_way(dynamics *k) {
    if (!k->other_a) k->other_a = arena_doubles(&k->memory, k->model->n);
    if (!k->other_lambda) k->other_lambda = arena_doubles(&k->memory, k->model->m);
    if (!k->motion.null_space && !k->other_null_space)
        k->other_null_space = null_space_create(k->model, &k->discrete_state, NULL, &k->memory);
    return k->other_a && k->other_lambda && (k->motion.null_space || k->other_null_space);
}

/* If the second solver finds a solution with a smaller residual, replaces a and lambda by that solution. A failure of
 * the second solver is not an error. Returns HAMEL_OK, HAMEL_CANCELED or HAMEL_NO_MEMORY. */
static hamel_status try_other_way(dynamics *k, double *a, double *lambda, equation_residual *missed) {
    assert(a != k->other_a && k->motion.kkt == k->all);
    motion_solver kept = k->motion;
    k->motion.null_space = kept.null_space ? NULL : k->other_null_space;
    k->motion.basis = NULL;
    hamel_status status = dynamics_evaluate_again(k, NULL);
    if (status == HAMEL_OK) status = dynamics_accelerations(k, 0, 0, k->other_a, k->other_lambda, NULL);
    equation_residual other = *missed;
    if (status == HAMEL_OK) other = dynamics_missed(k, k->other_a, k->other_lambda);
    k->motion = kept;
    if (status == HAMEL_CANCELED || status == HAMEL_NO_MEMORY) return status;
    if (!(fault_of(k, other) < fault_of(k, *missed))) return HAMEL_OK;
    *missed = other;
    memcpy(a, k->other_a, k->model->n * sizeof *a);
    memcpy(lambda, k->other_lambda, k->model->m * sizeof *lambda);
    return HAMEL_OK;
}

hamel_status dynamics_verify(dynamics *k, double *a, double *lambda, equation_residual *missed, hamel_error *error) {
    *missed = dynamics_missed(k, a, lambda);
    if (fault_of(k, *missed) > RESIDUAL_MOST && has_other_way(k)) {
        hamel_status status = open_other_way(k) ? try_other_way(k, a, lambda, missed) : HAMEL_NO_MEMORY;
        if (status != HAMEL_OK) return dynamics_explain(k, status, error);
    }
    if (fault_of(k, *missed) <= RESIDUAL_MOST) return HAMEL_OK;
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.9g the computed accelerations violate the equations of motion: relative residual %.3g",
                     k->t, fault_of(k, *missed));
    hamel_suggest(error,
                  "use other units or another formulation: masses, lengths or constraints differ too much in size "
                  "for double precision");
    return HAMEL_INTEGRATION;
}
