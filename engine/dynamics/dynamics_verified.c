/* kinetics_verified.c — checks accelerations against the equations of motion before they are output, and replaces them
 * by those of another solver if they do not satisfy them. */
#include "engine/solve/kinetics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the terms of the equations. Elimination in a fixed order multiplies rounding by 1e6 at most (MASS_PIVOT_KEPT), which is
 * 2e-10; rows nearer to each other than 1e-10 are solved as if they depended on each other (row_space.c). All examples in
 * all formulations stay below 4e-10, but for one singular instant below 2e-11. */
static const double RESIDUAL_MOST = 1e-9;
/* The matrices of the other solver are dense. */
enum { OTHER_WAY_MOST = 600 };

dynamics_missed kinetics_missed(kinetics *k, const double *a, const double *lambda) {
    const hamel_model *model = k->model;
    double *R = k->project_step;
    bool split = model->nonideal || k->friction; /* the reaction is in two parts */
    if (model->W.count) {
        memcpy(k->lambda, lambda, model->m * sizeof *lambda);
        if (kinetics_evaluate_again(k, NULL) != HAMEL_OK) return (dynamics_missed){INFINITY, INFINITY};
    }
    for (size_t i = 0; split && i < model->n; i++) R[i] = k->ideal[i] + k->nonideal[i];
    const double *Q = motion_forces(&k->motion, k->values + model->at_Q);
    return dynamics_residual_of(k->residual, k->values, k->v, Q, split ? R : NULL, k->survey.usual, a, lambda);
}

/* At a state that is not projected, redundant constraints require accelerations that differ by as much as they are
 * violated. */
static bool may_contradict(const kinetics *k) {
    size_t active = 0;
    for (size_t c = 0; c < k->model->m; c++) active += k->mode.active[c];
    return k->model->settings.projection != HAMEL_PROJECTION_ON && motion_rank(&k->motion) < active;
}

/* The part of the residual that counts as an error. */
static double fault_of(const kinetics *k, dynamics_missed missed) {
    return may_contradict(k) ? missed.motion : fmax(missed.motion, missed.constraints);
}

/* Whether there is another solver: not for large systems, and not if the formulation does not provide the forces of
 * Lagrange's equations, which that solver would need. */
static bool has_other_way(const kinetics *k) {
    return k->model->n + k->model->m <= OTHER_WAY_MOST && !k->model->reaction_shift;
}

/* The solver that the formulation does not have: with multipliers where it reduces the equations, reduced where it has
 * multipliers. False without memory. */
static bool open_other_way(kinetics *k) {
    if (!k->other_a && !(k->other_a = calloc(k->model->n + k->model->m + 1, sizeof *k->other_a))) return false;
    if (!k->motion.reduced && !k->other_reduced) k->other_reduced = reduced_create(k->model, &k->mode, NULL);
    return k->motion.reduced || k->other_reduced;
}

/* Takes the other solution where it is better. */
static void try_other_way(kinetics *k, double *a, double *lambda, dynamics_missed *missed) {
    size_t n = k->model->n, m = k->model->m;
    double *other_lambda = k->other_a + n;
    motion_solver kept = k->motion;
    k->motion.reduced = kept.reduced ? NULL : k->other_reduced;
    k->motion.frame = NULL;
    hamel_status status = kinetics_evaluate_again(k, NULL);
    if (status == HAMEL_OK) status = kinetics_accelerations(k, 0, 0, k->other_a, other_lambda, NULL);
    dynamics_missed other = *missed;
    if (status == HAMEL_OK) other = kinetics_missed(k, k->other_a, other_lambda);
    k->motion = kept;
    if (!(fault_of(k, other) < fault_of(k, *missed))) return;
    *missed = other;
    memcpy(a, k->other_a, n * sizeof *a);
    memcpy(lambda, other_lambda, m * sizeof *lambda);
}

hamel_status kinetics_verify(kinetics *k, double *a, double *lambda, dynamics_missed *missed, hamel_error *error) {
    *missed = kinetics_missed(k, a, lambda);
    if (fault_of(k, *missed) > RESIDUAL_MOST && has_other_way(k)) {
        if (!open_other_way(k)) return kinetics_explain(k, HAMEL_NO_MEMORY, error);
        try_other_way(k, a, lambda, missed);
    }
    if (fault_of(k, *missed) <= RESIDUAL_MOST) return HAMEL_OK;
    (void)hamel_fail(error, HAMEL_INTEGRATION, "/simulation", 0,
                     "at t = %.9g the accelerations found miss the equations of motion by %.3g of their terms", k->t,
                     fault_of(k, *missed));
    hamel_suggest(error,
                  "masses, lengths or constraints differ too much in size for double precision: use other units, "
                  "or another formulation");
    return HAMEL_INTEGRATION;
}
