/* dynamics_vec8.h — accelerations, multipliers and projections of eight sweep members in SIMD lanes.
 *
 * The results in each lane are bit-identical to those that dynamics.h computes for the member alone. The functions use
 * the programs of the model and the first solver of kkt.h only. If a program or the solver fails in a lane, dynamics.h
 * would use another method. The bits of the lane in k->good are then cleared. The constraints are those that act at the
 * start of a run. They must be independent (rank_survey.h).
 *
 * A `dynamics_vec8` owns the workspaces of the model's programs. It is not thread-safe. After creation, only
 * dynamics_vec8_mass_is_regular allocates memory. */
#pragma once

#include "engine/dynamics/dynamics_residual.h"
#include "engine/linear/kkt_vec8.h"
#include "engine/model/model.h"

/* The saddle-point systems of all rows, and of the rows of the levels. Systems with the same rows are shared. A system
 * of a level is NULL if the level has no rows. */
typedef struct dynamics_vec8_systems {
    struct kkt *scalar[3];
    kkt_vec8 *all, *velocities, *positions;
} dynamics_vec8_systems;

/* The programs that lanes evaluate, those of the model or NULL. */
enum {
    VEC8_DYNAMICS,
    VEC8_ACCELERATIONS,
    VEC8_POSITIONS,
    VEC8_VELOCITIES,
    VEC8_OBSERVATION,
    VEC8_ENERGY_RATE,
    VEC8_ROOTS,
    VEC8_PROGRAMS
};

typedef struct dynamics_vec8 {
    const hamel_model *model;
    arena memory;
    vec8 *parameters;    /* one lane per member; call dynamics_vec8_prepare after a change */
    vec8 *values;        /* outputs of the dynamics program at the states evaluated last */
    vec8 *solved;        /* outputs of the program `accelerations` */
    vec8 *observed;      /* outputs of the observation program */
    vec8 *lambda;        /* m: multipliers at the states evaluated last */
    vec8 *b, *step;      /* m and n: scratch of solutions and projections */
    vec8 *scale;         /* m: scales of the residuals of a level */
    vec8 *stabilization; /* 2: zeros, because lanes do not stabilize constraints */
    const program *programs[VEC8_PROGRAMS];
    vec8 *works[VEC8_PROGRAMS];         /* workspaces of the programs */
    program_native made[VEC8_PROGRAMS]; /* machine code of the programs; NULL: use the interpreter */
    native_code code;
    size_t width;                /* numbers in a register of the machine code */
    vec8 *residual_work;         /* 5 n: scratch */
    double *lane_values, *usual; /* lane_values: `values` of one lane; usual: m zeros (rank_survey.h) */
    dynamics_vec8_systems systems;
    dynamics_residual *residual;
    size_t *masked, masked_count; /* indices in `values` of the entries of inactive constraints */
    vec8_bits good;               /* a lane is 0 if an evaluation has failed since dynamics_vec8_reset */
    vec8 margin;                  /* rank margins at the last dynamics_vec8_rates */
} dynamics_vec8;

/* Returns true if these functions support the model. The model must have a small mass matrix, and must use Lagrange's
 * equations with forces that do not depend on multipliers. The states of a run with constraints must be projected. */
bool dynamics_vec8_serves(const hamel_model *model);

/* Returns NULL if out of memory. */
dynamics_vec8 *dynamics_vec8_create(const hamel_model *model);
void dynamics_vec8_free(dynamics_vec8 *k);

/* Evaluates the expressions that depend on parameters only. */
void dynamics_vec8_prepare(dynamics_vec8 *k);

static inline void dynamics_vec8_reset(dynamics_vec8 *k) {
    k->good = ~(vec8_bits){0};
}

/* Computes a[n] at (*t, q[n], v[n]) for integration, as dynamics_rates does, with multipliers and rank margins. */
void dynamics_vec8_rates(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *a);

/* Computes dh/dt, as dynamics_energy_rate does, with the multipliers of the last dynamics_vec8_rates. The model must
 * have an energy rate. */
void dynamics_vec8_energy_rate(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *rate);

/* Evaluates the states (*t, q, v) and moves those of the lanes in `which` onto the constraints, as dynamics_project
 * does. Clears the bits of k->good in the lanes in which no state on the constraints is found. */
void dynamics_vec8_project(dynamics_vec8 *k, const vec8_bits *which, const vec8 *t, vec8 *q, vec8 *v);

/* Computes a[n] and multipliers at the states that dynamics_vec8_project has evaluated last, as dynamics_rates does in
 * the lanes `regular` and dynamics_accelerations in the other lanes. Clears the bits of k->good in the lanes in which
 * they do not satisfy the equations of motion (dynamics_verify). Sets k->observed: outputs, invariants, checks and
 * energy. */
void dynamics_vec8_observe(dynamics_vec8 *k, const vec8_bits *regular, const vec8 *t, const vec8 *q, const vec8 *v,
                           vec8 *a);

/* Evaluates the root functions of events at (*t, q, v). The functions must not depend on accelerations. */
void dynamics_vec8_roots(dynamics_vec8 *k, const vec8 *t, const vec8 *q, const vec8 *v, vec8 *values);

/* Sets *margin to the rank margins of all active rows at the states observed last (dynamics_margin). */
void dynamics_vec8_margin(const dynamics_vec8 *k, vec8 *margin);

/* Copies the values of one lane at the states observed last to k->lane_values. */
void dynamics_vec8_select(dynamics_vec8 *k, int lane);

/* Returns true if M of the lane selected last is regular. A run with that initial state then treats M as regular
 * (mass_rank.h). */
bool dynamics_vec8_mass_is_regular(const dynamics_vec8 *k);
