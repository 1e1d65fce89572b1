/* displacements.h — virtual and real displacements of the elements of a description, and the geometry of its
 * constraints.
 *
 *     dr = Σ e_k dq_k + e_0 dt,   δr = Σ e_k δq_k,   e_k = ∂r/∂q_k,   e_0 = ∂r/∂t       (Papastavridis 2.5.12)
 *     δr = Σ ε_k δθ_k,   ε_k = Σ A_ik e_i,   ε_0 = e_0 + Σ A_i e_i                      (Papastavridis 2.9)
 *     δr = Σ β_I δq_I,   β_I = e_I + Σ b_DI e_D,   β_0 = e_0 + Σ b_D e_D                (Papastavridis 2.6.10, 2.11.13)
 *
 * A_ik and A_i are the coefficients of the inverse kinematics q'_i = Σ A_ik u_k + A_i of quasi-velocities u_k. b_DI and
 * b_D are the coefficients of the constraints, solved for the dependent velocities: q'_D = Σ b_DI q'_I + b_D.
 * Expressions are texts in the language of descriptions. In expressions, D(x) denotes the virtual displacement of x,
 * and d(x) denotes the differential of x. */
#pragma once

#include "engine/hamel.h"

/* A vector in inertial components. In hamel_element_displacements.body_rotation, the components are in body axes. In
 * the plane, a position has two components and a rotation has one component. */
typedef struct hamel_vector {
    const char *of; /* the coordinate or quasi-velocity to which the vector belongs; NULL for e_0, ε_0 and β_0 */
    const char *items[3];
} hamel_vector;

typedef struct hamel_vectors {
    hamel_vector *items; /* vectors that are 0 are omitted */
    size_t count;
    hamel_vector time; /* e_0, ε_0 or β_0; time.items[0] is NULL if this vector is unknown */
} hamel_vectors;

/* The displacement of a point, or the infinitesimal rotation of a body or frame. */
typedef struct hamel_displacement {
    size_t dimension;                           /* number of components; 0 if the element has no such displacement */
    const char *virtual_form[3], *real_form[3]; /* δr and dr */
    hamel_vectors coordinates;                  /* e_k and e_0 */
    hamel_vectors quasi;                        /* ε_k and ε_0; empty if there are no quasi-velocities */
    hamel_vectors independent;                  /* β_I and β_0; empty if there are no constraints */
} hamel_displacement;

typedef struct hamel_element_displacements {
    const char *name, *kind;     /* kind: "particle", "body", "point" or "frame" */
    hamel_displacement position; /* for a body, the displacement of its centre of mass */
    hamel_displacement rotation; /* set for bodies and frames; inertial components */
    /* set for bodies and frames in space; components in the axes of the body or frame */
    hamel_displacement body_rotation;
} hamel_element_displacements;

/* A nonzero entry of a vector that has one entry for each coordinate. */
typedef struct hamel_entry {
    const char *coordinate, *value;
} hamel_entry;

typedef struct hamel_entries {
    /* the constraint of a normal, the independent coordinate of a tangent vector, or NULL for `drift` */
    const char *of;
    hamel_entry *items;
    size_t count;
} hamel_entries;

/* The virtual form Σ a_ck δq_k = 0 of a constraint (Papastavridis 2.6.4). The entries of `normal` are the coefficients
 * a_ck. `rule` names the derivation of the coefficients from the constraint f = 0:
 *     "gradient"  holonomic: ∂f/∂q_k          "linear"  linear in the velocities: coefficients of q'_k
 *     "Chetaev"   nonlinear in the velocities: ∂f/∂q'_k      "Appell"  on accelerations: ∂f/∂q''_k */
typedef struct hamel_virtual_constraint {
    const char *name, *rule;
    const char *virtual_form; /* Σ a_ck δq_k = 0, such as "x*D(x) + y*D(y) = 0" */
    const char *real_form;    /* Σ a_ck dq_k + a_ct dt = 0; NULL for the rules "Chetaev" and "Appell" */
    hamel_entries normal;
} hamel_virtual_constraint;

/* The quasi-derivative ∂/∂θ_k = Σ A_ik ∂/∂q_i. In expressions, d/d(x) denotes the operator ∂/∂x. */
typedef struct hamel_quasi_derivative {
    const char *of;         /* name of the quasi-velocity; "t" for the last item, ∂/∂t + Σ A_i ∂/∂q_i */
    const char *expression; /* "cos(p)*d/d(x) + sin(p)*d/d(y)" */
} hamel_quasi_derivative;

/* The commutator [∂/∂θ_first, ∂/∂θ_second] = Σ γ^b_{first second} ∂/∂θ_b (Papastavridis 2.10.20). */
typedef struct hamel_commutator {
    const char *first, *second; /* names of quasi-velocities; `second` may also be "t" */
    const char *expression;     /* "2*d/d(u)" */
} hamel_commutator;

typedef struct hamel_displacements {
    hamel_element_displacements *elements; /* in the order of the description; elements without a name are omitted */
    size_t element_count;
    hamel_virtual_constraint *constraints; /* constraints that act at the initial state */
    size_t constraint_count;
    size_t rank;           /* rank of the gradients of the holonomic constraints at the initial state */
    size_t holonomic;      /* number of holonomic constraints that act at the initial state */
    bool start_known;      /* false if no consistent initial state was found; `rank` is then 0 */
    bool regular;          /* rank == holonomic: the holonomic constraints are regular (Papastavridis 2.4) */
    size_t branches;       /* 1 if the configurations form a single branch at the initial state; 0 if undecided */
    const char *undecided; /* why `branches` is undecided; NULL if `branches` is 1 */
    /* These coordinates and the functions of the holonomic constraints together are adapted (equilibrium) coordinates
     * near the initial state. Empty without holonomic constraints, if the constraints are not regular, if there are
     * more than 24 coordinates, or if the elimination exceeds the work budget. */
    hamel_names adapted;
    /* Tangent vectors: a basis of the virtual displacements that the constraints allow. tangents[k].of is the
     * independent coordinate whose displacement is 1. The displacements of the other independent coordinates are 0. */
    hamel_names dependent;
    hamel_entries *tangents;
    size_t tangent_count;
    /* b_D, the rates of the dependent coordinates at q'_I = 0; rates that are 0 are omitted */
    hamel_entries drift;
    /* tangents_known: false with more than 24 coordinates, or if the elimination exceeds the work budget. drift_known:
     * also false if an active constraint is not linear. */
    bool tangents_known, drift_known;
    /* Empty if there are no quasi-velocities, or if quasi_omitted is true. */
    hamel_quasi_derivative *derivatives;
    size_t derivative_count;
    hamel_commutator *commutators; /* commutators that are 0 are omitted */
    size_t commutator_count;
    /* true if there are quasi-velocities, but their inverse exceeds the bounds in moving_frame.h or the work budget */
    bool quasi_omitted;
    bool simplified; /* false if some expressions are not simplified, because the work budget is spent */
} hamel_displacements;

/* Computes the virtual and real displacements of the elements of `d`, and the geometry of the constraints. If `latex`
 * is true, expressions are written in LaTeX. The other arguments are as for hamel_analyze. Returns HAMEL_LIMIT if an
 * expression has more than 100000 symbols and operations. On success the caller owns *out and frees it with
 * hamel_displacements_free. */
hamel_status hamel_find_displacements(hamel_displacements **out, const hamel_description *d, bool latex,
                                      const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_displacements_free(hamel_displacements *displacements);
