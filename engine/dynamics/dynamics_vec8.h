/* dynamics_vec8.h — accelerations of eight unconstrained sweep members in SIMD lanes.
 *
 * The results in each lane are bit-identical to those that dynamics.h computes for the member alone. The functions use
 * the program `accelerations` and the first solver of kkt.h only. If the program or the solver fails in a lane,
 * dynamics.h would use another method. The bits of the lane in k->good are then cleared.
 *
 * A `dynamics_vec8` owns the workspaces of the model's programs. It is not thread-safe. After creation, only
 * dynamics_vec8_mass_is_regular allocates memory. */
#pragma once

#include "engine/dynamics/dynamics_residual.h"
#include "engine/linear/mass_vec8.h"
#include "engine/model/model.h"

typedef struct dynamics_vec8 {
    const hamel_model *model;
    arena memory;
    vec8 *parameters; /* one lane per member; call dynamics_vec8_prepare after a change */
    vec8 *values;     /* outputs of the dynamics program at the states evaluated last */
    vec8 *solved;     /* outputs of the program `accelerations` */
    vec8 *observed;   /* outputs of the observation program */
    vec8 *dynamics_work, *accelerations_work, *observed_work, *rate_work; /* workspaces of the programs */
    double *lane_values;                                                  /* `values` of one lane */
    struct kkt *kkt;
    mass_vec8 *mass;
    dynamics_residual *residual;
    vec8_bits good; /* a lane is 0 if an evaluation has failed since dynamics_vec8_reset */
} dynamics_vec8;

/* Returns true if these functions support the model. The model must have a small mass matrix and no constraints, and
 * must use Lagrange's equations with forces that do not depend on multipliers. */
bool dynamics_vec8_serves(const hamel_model *model);

/* Returns NULL if out of memory. */
dynamics_vec8 *dynamics_vec8_create(const hamel_model *model);
void dynamics_vec8_free(dynamics_vec8 *k);

/* Evaluates the expressions that depend on parameters only. */
void dynamics_vec8_prepare(dynamics_vec8 *k);

static inline void dynamics_vec8_reset(dynamics_vec8 *k) {
    k->good = ~(vec8_bits){0};
}

/* Computes a[n] at (*t, q[n], v[n]) for integration, as dynamics_rates does. */
void dynamics_vec8_rates(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a);

/* Computes dh/dt, as dynamics_energy_rate does. The model must have an energy rate. */
void dynamics_vec8_energy_rate(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *rate);

/* Evaluates states for output, as dynamics_evaluate and dynamics_accelerations do. Sets k->values, a[n], and
 * k->observed: outputs, invariants, checks and energy. */
void dynamics_vec8_observe(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a);

/* Copies the values of one lane at the states observed last to k->lane_values. */
void dynamics_vec8_select(dynamics_vec8 *k, int lane);

/* Returns true if the accelerations a[n] of the lane selected last satisfy the equations of motion at velocities v[n]
 * (dynamics_verify). */
bool dynamics_vec8_is_verified(dynamics_vec8 *k, const double *v, const double *a);

/* Returns true if M of the lane selected last is regular. A run with that initial state then treats M as regular
 * (mass_rank.h). */
bool dynamics_vec8_mass_is_regular(const dynamics_vec8 *k);
