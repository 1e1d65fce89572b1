/* dynamics_vec8.h — accelerations of eight unconstrained sweep members in SIMD lanes.
 *
 * Owns the workspaces of the model's programs. Not thread-safe. Allocates nothing after dynamics_vec8_create. */
#pragma once

#include "engine/model/model.h"

typedef struct dynamics_vec8 {
    const hamel_model *model;
    vec8 *parameters;                    /* one lane per member; call dynamics_vec8_prepare after a change */
    vec8 *values;                        /* outputs of the dynamics program at the states evaluated last */
    vec8 *L, *pivot;                     /* factors of M = L D Lᵀ: n × n, and n entries of D⁻¹ */
    size_t *place, *empty, empty_count;  /* index in L of each entry of M; indices in L without an entry of M */
    vec8 *observed;                      /* outputs of the observation program */
    vec8 *dynamics_work, *observed_work; /* workspaces of these programs */
    vec8 margin; /* smallest (pivot of M − tolerance) since the last reset; > 0 if M is positive definite */
} dynamics_vec8;

/* Returns true if these functions support the model: it must have a small mass matrix, no constraints, and no forces
 * that depend on multipliers. */
bool dynamics_vec8_serves(const hamel_model *model);

/* Returns NULL if out of memory. */
dynamics_vec8 *dynamics_vec8_create(const hamel_model *model);
void dynamics_vec8_free(dynamics_vec8 *k);

/* Evaluates the expressions that depend on parameters only. */
void dynamics_vec8_prepare(dynamics_vec8 *k);

/* Computes a[n] at (*t, q[n], v[n]). If a value in a lane is not finite, some accelerations in this lane are not finite
 * either. If M is not positive definite in a lane, k->margin ≤ 0 there. */
void dynamics_vec8_accelerations(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a);

/* Writes outputs, invariants, checks and energy at these states to k->observed. */
void dynamics_vec8_observe(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, const vec8 *a);
