/* forces.h — generalized forces, their classes, the virtual work on each body, and reactions at the initial state. */
#pragma once

#include "engine/hamel.h"

/* A generalized force on one coordinate. */
typedef struct hamel_generalized_force {
    const char *coordinate;
    double value;           /* value at the consistent initial state */
    const char *expression; /* in the language of descriptions */
} hamel_generalized_force;

/* The virtual work δW = Σ Q_k δq_k = Σ Θ_k δθ_k of a force or reaction. `nature` and `scope` follow Papastavridis 3.2.
 * A force is impressed or a reaction. It is internal if it acts between two bodies or particles of the system, and
 * external if its source is outside the system. The temporal components are Q_0 = Σ F·∂r/∂t and Θ_0 = Q_0 + Σ A_k Q_k
 * (Papastavridis 3.4). */
typedef struct hamel_action {
    /* "spring s1", "load on A", "gravity", "generalized_forces", "potential_energy", "dissipation", "nonideal",
     * "friction on floor"; for a reaction, the name of the constraint */
    const char *origin;
    hamel_generalized_force *on; /* Q_k; for reactions, λ A_ck */
    size_t count;
    const char *nature; /* "impressed" or "reaction" */
    const char *scope;  /* "internal", "external" or NULL (undecided) */
    /* The bodies or particles between which the force acts; "ground" stands for an element at rest or with a prescribed
     * motion. Both entries are NULL if an end is unknown, if the force has no second end, or if both ends are
     * ground. */
    const char *between[2];
    hamel_generalized_force *quasi; /* Θ_k; empty without quasi-velocities, or if hamel_forces.quasi_omitted is true */
    size_t quasi_count;
    bool temporal_known; /* false if the points at which the force acts are unknown */
    /* Q_0 and, if there are quasi-velocities, Θ_0; their `coordinate` is "t" */
    hamel_generalized_force temporal, quasi_temporal;
} hamel_action;

/* The virtual work on one body or particle (Baruh 4.5, 4.6; Papastavridis 3.2). */
typedef struct hamel_body_work {
    const char *name, *kind; /* kind: "body" or "particle" */
    hamel_action *forces;    /* impressed forces and joint reactions on the body; of the components, only Q_k is set */
    size_t force_count;
    /* inertia: d/dt ∂T/∂q'_k − ∂T/∂q_k of the body. For constant masses and moments of inertia, these are the
     * coefficients of m a·δr + (Iα + ω × Iω)·δφ. reactions: inertia minus the virtual work of the impressed forces.
     * This difference is the virtual work of all reactions on the body. The sum of `reactions` over all bodies is Σ λ_c
     * A_ck. */
    hamel_generalized_force *inertia, *reactions;
    size_t inertia_count, reaction_count;
} hamel_body_work;

/* The inertial forces −m a of a particle that is described in a moving frame. Each part of the acceleration a is
 * multiplied by −m; the components are in the axes of the frame (Papastavridis 1.7.11 to 1.7.20). */
typedef struct hamel_inertial_force {
    const char *part; /* "origin", "euler", "centrifugal" (these three are transport parts), "coriolis" or "relative" */
    const char *components[3];
    double values[3];
} hamel_inertial_force;

typedef struct hamel_relative_motion {
    const char *particle, *frame;
    size_t dimension;
    hamel_inertial_force parts[5]; /* in this order: −m a_O, −m α × ρ, −m ω × (ω × ρ), −2 m ω × v_rel, −m a_rel */
} hamel_relative_motion;

typedef struct hamel_forces {
    hamel_action *actions; /* in the order of the description; actions without an effect are omitted */
    size_t count;
    hamel_action *reactions; /* reactions of the constraints that act at the initial state */
    size_t reaction_count;
    /* bodies and particles, in the order of the description; empty if work_omitted is not NULL */
    hamel_body_work *bodies;
    size_t body_count;
    /* sum of the `reactions` of all bodies, equal to Σ λ_c A_ck (d'Alembert's principle) */
    hamel_generalized_force *reaction_sum;
    size_t reaction_sum_count;
    const char *work_omitted;      /* why the virtual work on each body is not listed, or NULL */
    const char *reactions_omitted; /* why `reactions` of the bodies are not listed, or NULL */
    hamel_relative_motion *relative;
    size_t relative_count;
    /* true if there are quasi-velocities, but their inverse exceeds the bounds in moving_frame.h or the work budget */
    bool quasi_omitted;
} hamel_forces;

/* The reaction of one constraint, as the force that maintains it when it is relaxed (Baruh 4.10). For each coordinate
 * in the constraint, `reactions` contains the value λ A_ci. It also contains an equal expression in inertia, forces and
 * the reactions of all other constraints. */
typedef struct hamel_relaxation {
    const char *constraint;
    double multiplier;
    hamel_generalized_force *reactions;
    size_t count;
} hamel_relaxation;

/* Computes the generalized forces of each element at the initial state. If `latex` is true, expressions are written in
 * LaTeX. The other arguments are as for hamel_analyze, except that `error` must not be NULL. For Coulomb friction, the
 * value is the actual force, even if the contact sticks. The expression is the sliding force. Returns HAMEL_NOT_FINITE,
 * with the name of the force, if a force is not finite. On success the caller owns *out and frees it with
 * hamel_forces_free. */
hamel_status hamel_find_forces(hamel_forces **out, const hamel_description *d, bool latex, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_forces_free(hamel_forces *forces);

/* Computes the reaction of `constraint` at the initial state. The other arguments are as for hamel_find_forces. Returns
 * HAMEL_INVALID if the constraint does not exist or is inactive initially. On success the caller owns *out and frees it
 * with hamel_relaxation_free. */
hamel_status hamel_relax(hamel_relaxation **out, const hamel_description *d, hamel_argument constraint,
                         const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_relaxation_free(hamel_relaxation *relaxation);
