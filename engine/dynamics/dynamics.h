/* dynamics.h — accelerations, multipliers and constraint projections at a state.
 *
 * A `dynamics` owns the workspaces of the model's programs and the saddle-point systems of one run. It is not
 * thread-safe. After dynamics_create, evaluations allocate memory only if a large sparse system loses rank (kkt.h). */
#pragma once

#include "engine/dynamics/discrete_state.h"
#include "engine/dynamics/dynamics_residual.h"
#include "engine/dynamics/friction.h"
#include "engine/dynamics/motion_solver.h"
#include "engine/dynamics/rank_survey.h"
#include "engine/model/model.h"

typedef struct dynamics dynamics;

struct dynamics {
    const hamel_model *model;
    /* owns the fields below except the saddle-point systems; also owns stick_slip, branch_change and sensitivities */
    arena memory;
    double *values;           /* outputs of the dynamics program at the state evaluated last */
    double *lambda;           /* m: multipliers used in the evaluation of the forces */
    double *b;                /* m: right-hand side of the acceleration constraints, with stabilization */
    double *ideal, *nonideal; /* n: parts of the reaction, set by dynamics_accelerations if forces are not ideal */
    double *jerk, *jerk_lambda, *jerk_right, *jerk_work; /* jerk_compute: n, m, n + m, workspace of its program */
    double *project_step;                                /* n: scratch of projections */
    double *position_scale, *velocity_scale;             /* m: scales of the residuals (dynamics_residuals) */
    /* workspaces of the programs */
    double *mass_work;           /* workspace of congruence_evaluate and congruence_multiply */
    double *product, *magnitude; /* n: results of congruence_multiply */
    double *dynamics_work, *accelerations_work, *positions_work, *velocities_work, *observed_work, *rate_work,
        *nonideal_work;
    double *solved; /* outputs of the program `accelerations`, or of a program for corrections */
    program_inputs solved_from;
    double stabilization[2];
    size_t rest;   /* number of further evaluations that skip the program `accelerations` */
    double margin; /* rank margin at the last dynamics_rates; not set with a velocity basis */
    motion_solver motion;
    rank_survey survey;
    kkt *all, *positions, *velocities, *mass; /* mass: NULL unless free accelerations are observed */
    friction *friction;                       /* NULL if the model has no friction */
    dynamics_residual *residual;
    double *other_a,
        *other_lambda; /* n, m: solution of the second solver, created on first use (dynamics_verified.c) */
    null_space *other_null_space;
    double t;
    const double *q, *v;           /* state evaluated last, borrowed */
    discrete_state discrete_state; /* active constraints are changed by dynamics_select only */
    bool held;                     /* true if branches are fixed; otherwise each evaluation chooses the branches */
    bool singular_mass;            /* true if M is singular at every state (mass_rank.h) */
    bool may_omit_mass;            /* true if M = Bᵀ D B and there are no constraints or events */
    bool without_mass;             /* true if the last evaluation has omitted M */
    hamel_poll *poll;              /* cancellation callback of dynamics_limit, or NULL */
    double deadline;
    size_t *masked; /* indices in `values` of the entries of inactive constraints, which are set to 0 */
    size_t masked_count;
};

/* Returns NULL if out of memory. */
dynamics *dynamics_create(const hamel_model *model);

/* Creates the saddle-point system of M and the rows of A whose constraint_order is at most `highest` (−1: no rows). W
 * is included only if `highest` includes all rows. Returns NULL if out of memory. */
kkt *dynamics_create_system(const hamel_model *model, int highest);
void dynamics_free(dynamics *k);

/* Limits the time of evaluations and solutions. Evaluations and solutions return HAMEL_CANCELED without an error once
 * `poll` requests cancellation or CLOCK_MONOTONIC has passed `deadline` (in seconds; 0: no deadline). A loop that
 * checks the status therefore ends. */
void dynamics_limit(dynamics *k, hamel_poll *poll, double deadline);

/* From the next evaluation on, constraint c is active if and only if active[c] is true. `active` may be the array of
 * the discrete state. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status dynamics_select(dynamics *k, const bool *active) HAMEL_CHECKED;

/* The choices of the solvers that affect later evaluations. After an output row has been evaluated, these choices are
 * restored, so that the integration does not depend on the number of rows. */
typedef struct dynamics_memory {
    size_t rest;
    kkt_memory all, positions, velocities;
} dynamics_memory;
dynamics_memory dynamics_remember(dynamics *k);
void dynamics_recall(dynamics *k, const dynamics_memory *memory);

/* Evaluates M, A, Q, b and the residuals at (t, q, v). q and v are borrowed until the next call. Returns HAMEL_OK or
 * HAMEL_NOT_FINITE; `error` (may be NULL) then names the expression that is not finite. */
hamel_status dynamics_evaluate(dynamics *k, double t, const double *q, const double *v, hamel_error *error);

/* Does the same, but omits the entries of M if k->may_omit_mass is true. M has n² entries, whereas the size of all
 * other outputs is linear in n for trees. If dynamics_accelerations or dynamics_missed needs M later, it computes M. No
 * other function that reads M may follow. */
hamel_status dynamics_evaluate_without_mass(dynamics *k, double t, const double *q, const double *v,
                                            hamel_error *error) HAMEL_CHECKED;

/* Prepares k for another run of its model, whose parameters and initial values may have changed, as dynamics_create
 * does. The model must have neither events nor friction. Returns false if out of memory. */
bool dynamics_renew(dynamics *k);

/* Returns true if no evaluation since dynamics_create has indicated a singular M or redundant constraints, so that the
 * next evaluation uses the solvers of dynamics_vec8.h. */
bool dynamics_is_regular(const dynamics *k);

/* Computes the entries of M from B and D. */
void dynamics_expand_mass(dynamics *k);

/* Sets k->product to M x at the state evaluated last, and k->magnitude to the sizes of the terms (congruence.h). The
 * model must contain M as Bᵀ D B. */
void dynamics_multiply_mass(dynamics *k, const double *x);

/* Residuals at the state evaluated last: Φ for positions; dΦ/dt, or f of a velocity constraint, for velocities. Each
 * array has m entries. If a constraint has no such level or is inactive, its entry is 0. */
static inline const double *dynamics_position(const dynamics *k) {
    return k->values + k->model->dynamics.at_position;
}
static inline const double *dynamics_velocity(const dynamics *k) {
    return k->values + k->model->dynamics.at_velocity;
}

/* Residuals and saddle-point system of a level: positions or velocities. */
static inline const double *dynamics_level(const dynamics *k, bool position) {
    return position ? dynamics_position(k) : dynamics_velocity(k);
}
static inline kkt *dynamics_system(const dynamics *k, bool position) {
    return position ? k->positions : k->velocities;
}
static inline bool is_of_level(constraint_order order, bool position) {
    return position ? order == CONSTRAINT_HOLONOMIC : order != CONSTRAINT_ACCELERATION;
}

/* Returns true if any active constraint has the level. Otherwise the system of the level need not be factored, and M
 * may be singular. */
bool dynamics_has_level(const dynamics *k, bool position);

/* Computes a[n] and lambda[m] at the state evaluated last, with A q'' = b − 2α dΦ/dt − β² Φ (Baumgarte, Comput. Methods
 * Appl. Mech. Eng. 1 (1972) 1). With α = β = 0, the constraints are not stabilized. lambda may be NULL unless
 * dynamics_needs_multipliers returns true. If forces contain multipliers, Newton's method solves for accelerations and
 * multipliers together. If constraints are not ideal, the function computes the ideal reaction, the nonideal force C,
 * then the motion for Q + C (Udwadia, J. Math. Anal. Appl. 251 (2000) 341, eq. 28), including Coulomb friction
 * (friction.h). Returns HAMEL_OK, HAMEL_SINGULAR, HAMEL_INCOMPATIBLE or HAMEL_NOT_FINITE. */
hamel_status dynamics_accelerations(dynamics *k, double alpha, double beta, double *a, double *lambda,
                                    hamel_error *error);

/* Repeats the last evaluation with the multipliers in k->lambda, on which forces may depend. */
hamel_status dynamics_evaluate_again(dynamics *k, hamel_error *error) HAMEL_CHECKED;

/* Returns the residual of a and lambda in the equations of motion at the state evaluated last (dynamics_residual.h). */
equation_residual dynamics_missed(dynamics *k, const double *a, const double *lambda);

/* Checks a and lambda, results of dynamics_accelerations without stabilization, against the equations of motion. Sets
 * *missed to their residual. If the residual is too large, tries a second solver. If that solver fails as well, returns
 * HAMEL_INTEGRATION. */
hamel_status dynamics_verify(dynamics *k, double *a, double *lambda, equation_residual *missed,
                             hamel_error *error) HAMEL_CHECKED;

/* Evaluates and solves in one call: sets a, lambda (may be NULL) and k->margin. Integrators use this function for their
 * right-hand sides. Other values in k may then belong to an earlier state. */
hamel_status dynamics_rates(dynamics *k, double t, const double *q, const double *v, double alpha, double beta,
                            double *a, double *lambda, hamel_error *error) HAMEL_CHECKED;

bool dynamics_needs_multipliers(const dynamics *k);

enum { PROJECT_ITERATIONS = 12 }; /* bound on the Newton steps of a level in a projection */
/* After a Newton step for residuals below this bound, the scales of the residuals are not computed again. The step
 * changes the scales by about this fraction. */
static const double SHORT_STEP = 1e-3;

/* Moves q onto the holonomic constraints and v onto all velocity-level constraints. The changes of q and v are the
 * smallest ones in the metric of M. Evaluates the result and sets *worst to its largest scaled residual. Returns a
 * status of dynamics_evaluate or kkt_solve. */
hamel_status dynamics_project(dynamics *k, double t, double *q, double *v, double *worst, hamel_error *error);

/* Removes from the increments dq and dv the parts that violate the linearized constraints at the state evaluated
 * last. */
hamel_status dynamics_project_direction(dynamics *k, double *dq, double *dv);

/* Subtracts rate · s from dq. For the holonomic constraints at the state evaluated last, s is the smallest solution of
 * A s = Φ in the metric of M. Violations of the constraints then decay as exp(−rate·t). */
hamel_status dynamics_approach_positions(dynamics *k, double rate, double *dq) HAMEL_CHECKED;

/* Sets *position and *velocity to the largest scaled residual of each level at the state evaluated last. A position
 * residual |Φ_c| is relative to Σ |A_ci| max(1, |q_i|). For velocities, |q'_i| replaces |q_i|. */
void dynamics_residuals(dynamics *k, double *position, double *velocity);

/* Returns the scaled residual of one constraint at the state evaluated last. Call dynamics_residuals first. */
double dynamics_scaled(const dynamics *k, size_t c, bool position);

/* Sets out[2n] to the n free accelerations M⁻¹Q and the n accelerations M⁻¹Aᵀλ that the ideal reactions cause, at the
 * state evaluated last. a[n] and lambda[m] are results of dynamics_accelerations. If forces contain multipliers, M⁻¹Q
 * is computed as a − M⁻¹Q^c, where Q^c is the sum of all reactions. */
hamel_status dynamics_free_accelerations(dynamics *k, const double *a, const double *lambda, double *out) HAMEL_CHECKED;

/* Returns dh/dt at (t, q, v) with multipliers lambda, or 0 if dh/dt vanishes identically. */
double dynamics_energy_rate(dynamics *k, double t, const double *q, const double *v, const double *lambda);

/* If dh/dt is not finite, adds an error that names the expression. */
hamel_status dynamics_check_energy_rate(dynamics *k, double t, const double *q, const double *v, const double *lambda,
                                        hamel_error *error) HAMEL_CHECKED;

/* A set of constraints with linearly dependent rows whose right-hand sides disagree. A single constraint with a
 * vanishing row is also such a set. */
typedef struct dynamics_contradiction {
    char names[400];
    size_t count, last; /* count: number of constraints in the set; last: index of the last constraint of the set */
    double off;         /* difference of the right-hand sides */
} dynamics_contradiction;

/* Finds the set with the largest contradiction among the rows `taken` (m; NULL: all) at the state evaluated last. If no
 * set has a contradiction, sets out->count to 0. Returns HAMEL_OK, HAMEL_NO_MEMORY, or HAMEL_SINGULAR if rows are not
 * finite. */
hamel_status dynamics_find_contradiction(dynamics *k, const bool *taken, const double *right,
                                         dynamics_contradiction *out) HAMEL_CHECKED;

/* Returns the rank margin (kkt_margin) of all active rows at the state evaluated last, or 1 if the margin is unknown.
 * The function supports every formulation. */
double dynamics_margin(dynamics *k);

/* Writes the names of the constraints that become redundant at the state evaluated last. `margin` is the rank margin at
 * that state. Returns false if no constraint becomes redundant or if out of memory. */
bool dynamics_dependent_names(const dynamics *k, double margin, char *names, size_t size);

/* Adds an error that explains a failure at the state evaluated last. For HAMEL_CANCELED, adds no error. Returns the
 * status of the error. */
hamel_status dynamics_explain(dynamics *k, hamel_status status, hamel_error *error);
