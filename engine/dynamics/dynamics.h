/* kinetics.h — accelerations, multipliers and corrections of a state: what a run asks of a model again and again.
 *
 * Owns the workspaces of the model's programs and the saddle-point systems of one run; one thread at a time. After
 * kinetics_create nothing is allocated on the way of a right-hand side. */
#ifndef HAMEL_SOLVE_KINETICS_H
#define HAMEL_SOLVE_KINETICS_H

#include "engine/model/model.h"
#include "engine/solve/dynamics_residual.h"
#include "engine/solve/friction.h"
#include "engine/solve/mode.h"
#include "engine/solve/motion_solver.h"
#include "engine/solve/row_survey.h"

typedef struct kinetics kinetics;

struct kinetics {
    const hamel_model *model;
    double *values; /* outputs of the dynamics program at the state evaluated last */
    double *lambda; /* m: multipliers that the forces were evaluated with */
    double *b;      /* m: right side with stabilization */
    double *ideal,
        *nonideal; /* n: the two parts of the constraints' reaction after kinetics_accelerations, where they differ */
    double *project_step;                    /* n: scratch of projections */
    double *position_scale, *velocity_scale; /* m: size of |A||q|-like terms, for residuals without dimension */
    /* workspaces of the programs */
    double *dynamics_work, *accelerations_work, *observed_work, *rate_work, *nonideal_work;
    double *solved; /* outputs of the program `accelerations` */
    program_inputs solved_from;
    double stabilization[2];
    size_t rest;   /* for how many right-hand sides that program is left alone */
    double margin; /* motion_margin of the right-hand side evaluated last; not where there is a frame */
    motion_solver motion;
    row_survey survey;
    kkt *all, *positions, *velocities, *mass; /* mass: only when free accelerations are observed */
    friction *friction;                       /* NULL when there is none */
    dynamics_residual *residual;
    double *other_a; /* n + m, and the other solver: made when first needed (kinetics_verified.c) */
    reduced *other_reduced;
    double t;
    const double *q, *v; /* of the state evaluated last, borrowed */
    motion_mode mode;    /* change what is active by kinetics_select */
    bool held;           /* its branches are; else they are chosen at each evaluation */
    bool singular_mass;  /* M is singular at every state (mass_rank.h) */
    hamel_poll *poll;    /* kinetics_limit; NULL, and 0, for none */
    double deadline;
    size_t *masked; /* the entries of `values` that belong to constraints that are not active: read as 0 */
    size_t masked_count;
};

/* NULL without memory. */
kinetics *kinetics_create(const hamel_model *model);
void kinetics_free(kinetics *k);

/* From now on evaluations and solutions return HAMEL_CANCELED, without a fault, once `poll` refuses or
 * CLOCK_MONOTONIC is past the deadline (seconds; 0: no deadline), so that every loop over them ends. */
void kinetics_limit(kinetics *k, hamel_poll *poll, double deadline);

/* Makes exactly these constraints (m) active; `active` may be the mode's own. The next evaluation knows of it. HAMEL_OK or
 * HAMEL_NO_MEMORY. */
hamel_status kinetics_select(kinetics *k, const bool *active) HAMEL_CHECKED;

/* The state that evaluations inherit from earlier ones. Recalled before each row, it keeps the evaluation of rows from
 * affecting the integration: results do not depend on the number of rows. */
typedef struct kinetics_memory {
    size_t rest;
    kkt_memory all, positions, velocities;
} kinetics_memory;
kinetics_memory kinetics_remember(kinetics *k);
void kinetics_recall(kinetics *k, const kinetics_memory *memory);

/* Evaluates M, A, Q, b and the residuals at (t, q, v); q and v stay the caller's and must live until the next call.
 * HAMEL_OK or HAMEL_NOT_FINITE; `error` (may be NULL) names the expression at fault. */
hamel_status kinetics_evaluate(kinetics *k, double t, const double *q, const double *v, hamel_error *error);

/* Residuals of the state evaluated last: Φ and dΦ/dt or f; m each, 0 where there is no such level or the constraint is
 * not active. */
static inline const double *kinetics_position(const kinetics *k) {
    return k->values + k->model->at_position;
}
static inline const double *kinetics_velocity(const kinetics *k) {
    return k->values + k->model->at_velocity;
}

/* a[n], lambda[m] (NULL: not wanted, but see kinetics_needs_multipliers) of the state evaluated last, where A q'' = b − 2α dΦ/dt − β² Φ (Baumgarte, Comput. Methods Appl. Mech.
 * Eng. 1 (1972) 1); α = β = 0 for the equations as they are. Forces that contain multipliers are solved for by Newton's
 * method on the pair. Constraints that are not ideal: the ideal reaction first, then C, then the motion under Q + C
 * (Udwadia, J. Math. Anal. Appl. 251 (2000) 341, eq. 28), and with it Coulomb friction (friction.h). HAMEL_OK, HAMEL_SINGULAR, HAMEL_INCOMPATIBLE, HAMEL_NOT_FINITE. */
hamel_status kinetics_accelerations(kinetics *k, double alpha, double beta, double *a, double *lambda,
                                    hamel_error *error);

/* Evaluates at the state evaluated last, with the multipliers found last in the forces that contain them. */
hamel_status kinetics_evaluate_again(kinetics *k, hamel_error *error) HAMEL_CHECKED;

/* The residual of a and lambda in the equations of motion at the state evaluated last (dynamics_residual.h). */
dynamics_missed kinetics_missed(kinetics *k, const double *a, const double *lambda);

/* Checks a and lambda, which kinetics_accelerations has found without stabilization, against the equations of motion:
 * *missed is their residual. If it exceeds rounding, the solution of another method replaces them, or the status is
 * HAMEL_INTEGRATION. */
hamel_status kinetics_verify(kinetics *k, double *a, double *lambda, dynamics_missed *missed,
                             hamel_error *error) HAMEL_CHECKED;

/* Both in one, as a right-hand side wants them: a, lambda (NULL: not wanted) and k->margin; what else is known of the state
 * evaluated last may be of another one afterwards. */
hamel_status kinetics_rates(kinetics *k, double t, const double *q, const double *v, double alpha, double beta,
                            double *a, double *lambda, hamel_error *error) HAMEL_CHECKED;

/* Whether the accelerations themselves ask for the multipliers. */
bool kinetics_needs_multipliers(const kinetics *k);

/* Moves q onto the holonomic constraints and v onto all velocity-level ones, each by the smallest step in the metric of
 * M. On return the state is evaluated. *worst is the largest scaled residual left. HAMEL_OK or why not. */
hamel_status kinetics_project(kinetics *k, double t, double *q, double *v, double *worst, hamel_error *error);

/* The same for increments: removes from dq and dv what leads off the manifold at the state evaluated last. */
hamel_status kinetics_project_direction(kinetics *k, double *dq, double *dv);

/* dq −= rate · s with A s = Φ for the holonomic constraints, s the smallest in the metric of M, at the state evaluated
 * last: positions off their constraints come back as exp(−rate·t). */
hamel_status kinetics_approach_positions(kinetics *k, double rate, double *dq) HAMEL_CHECKED;

/* Largest scaled residual of the state evaluated last, at the level of positions and of velocities: |Φ_c| against
 * Σ |A_ci| max(1, |q_i|), and likewise with |q'_i|. */
void kinetics_residuals(kinetics *k, double *position, double *velocity);

/* Scaled residual of one constraint of the state evaluated last. */
double kinetics_scaled(const kinetics *k, size_t c, bool position);

/* n free accelerations M⁻¹Q of the state evaluated last. */
hamel_status kinetics_free_accelerations(kinetics *k, double *out);

/* dh/dt at (t, q, v) with multipliers lambda; 0 when it is identically 0. */
double kinetics_energy_rate(kinetics *k, double t, const double *q, const double *v, const double *lambda);

/* Says which expression in it is at fault when it is not finite. */
hamel_status kinetics_check_energy_rate(kinetics *k, double t, const double *q, const double *v, const double *lambda,
                                        hamel_error *error) HAMEL_CHECKED;

/* A dependent set of constraints whose right sides disagree; one alone where its row vanishes. */
typedef struct kinetics_contradiction {
    char names[400];
    size_t count, last; /* how many; the last of them */
    double off;         /* by how much */
} kinetics_contradiction;

/* The set (of the rows taken; m, NULL: all) that is off most, at the state evaluated last; count 0 when none is. HAMEL_OK,
 * HAMEL_NO_MEMORY or HAMEL_SINGULAR (rows that are not finite). */
hamel_status kinetics_find_contradiction(kinetics *k, const bool *taken, const double *right,
                                         kinetics_contradiction *out) HAMEL_CHECKED;

/* kkt_margin of all active rows at the state evaluated last, whatever the formulation solves with; 1 where not known. */
double kinetics_margin(kinetics *k);

/* Names the smallest set of constraints that depend on each other, as nearly as `margin` says, at the state evaluated last,
 * but do not always. False when there is none, or no memory. */
bool kinetics_dependent_names(const kinetics *k, double margin, char *names, size_t size);

/* A fault for a SINGULAR or INCOMPATIBLE status at the state evaluated last. Returns `status`. */
hamel_status kinetics_explain(kinetics *k, hamel_status status, hamel_error *error);

#endif
