/* hamel.h — the public face of the engine: a description in, rows out.
 *
 *     hamel_model_create(&description, ...)   parse, check, derive, compile: once per system
 *     hamel_run(model, ...)                   integrate: any number of times, on any number of threads
 *
 * A model is immutable and may be shared by threads. A run owns all its state. Nothing here knows JSON, HTTP, files or
 * threads; results leave through the callbacks of a sink. */
#ifndef HAMEL_HAMEL_H
#define HAMEL_HAMEL_H

#include "engine/base/error.h"
#include "engine/base/poll.h"
#include "engine/system/description.h"

#include <stdint.h>

#define HAMEL_VERSION "0.1.0"

typedef struct hamel_model hamel_model;

/* What one description may cost. hamel_limits_default gives generous values for a person's own machine; a server
 * lowers them. 0 means no limit, except of memory and nodes. */
typedef struct hamel_limits {
    size_t memory; /* bytes of one model */
    size_t nodes;  /* of the expression graph */
    size_t coordinates, constraints, outputs;
    double max_steps; /* upper bound on what a description may ask for */
    double max_rows;  /* rows of one run */
    double arranging; /* variables of terms that are visited to simplify written equations */
} hamel_limits;

hamel_limits hamel_limits_default(void);

/* Checks `d`, derives and compiles its equations of motion. On success *out is owned by the caller (hamel_model_free)
 * and does not refer to `d` any more. On failure *out is NULL and `error` holds every fault that was found. `poll`
 * (may be NULL) is asked at intervals; the result is its answer when that is not HAMEL_OK. */
hamel_status hamel_model_create(hamel_model **out, const hamel_description *d, const hamel_limits *limits,
                                hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_model_free(hamel_model *model);

/* Whether programs are translated to machine code; if not, they are interpreted. The values are the same to the last
 * bit. AUTO: where a run repays it. */
typedef enum hamel_jit { HAMEL_JIT_AUTO, HAMEL_JIT_ON, HAMEL_JIT_OFF } hamel_jit;

/* "auto", "on" or "off"; false when it is none of them. */
bool hamel_jit_named(const char *name, hamel_jit *out);

/* Translates what runs of a new model evaluate, before anyone else has it. Without such a processor or memory the model
 * stays as it is, and runs that were to have it ON warn. */
void hamel_model_translate(hamel_model *model, hamel_jit jit);

/* The faults that can be found without deriving anything, in a description of which parts may be missing. */
void hamel_description_check(const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                             hamel_error *error);

/* How to draw a shape: names of the columns that hold its numbers. */
typedef struct hamel_shape {
    const char *kind;    /* "point", "line", "spring", "circle", "disk", "box" or "path" */
    const char *name;    /* of the element it shows, or "" */
    const char **points; /* point_count places by inertial components, `dimension` columns each */
    size_t point_count;
    const char **axes; /* axis_count own axes by inertial components, `dimension` columns each; the first in the plane,
                          all three in space; 0: parallel to the inertial ones */
    size_t axis_count;
    const char **sizes; /* radius, or the edges of a box by its axes */
    size_t size_count;
} hamel_shape;

typedef struct hamel_scene {
    int dimension; /* 2 or 3; 0 when there is nothing to draw */
    hamel_shape *shapes;
    size_t count;
} hamel_scene;

/* What is known before the run. Lives as long as the model. */
typedef struct hamel_header {
    const char *name; /* of the system, or "" */
    size_t column_count;
    const char *const *columns; /* "t" first */
    const char *const *units;   /* "" where none is known */
    size_t coordinate_count, constraint_count;
    const char *formulation;  /* taken, never "auto" */
    int degrees_of_freedom;   /* coordinates minus the rank of A at the start; known once the run starts */
    const hamel_scene *scene; /* NULL when it was not asked for; its columns are always among those recorded */
} hamel_header;

typedef struct hamel_progress {
    double t, start, stop;
    double steps;
} hamel_progress;

/* What happened at an event. Values of the columns, as in a row. */
typedef struct hamel_happening {
    const char *name; /* of the event */
    double t;
    const double *before, *after;
    size_t count;
    const double *impulses; /* multipliers of the impulsive constraints, integrated over the instant */
    size_t impulse_count;
} hamel_happening;

/* Receives a run. A callback that returns false ends the run as canceled (the client is gone, the disk is full). They
 * are called from hamel_run, on its thread; any may be NULL. `header` is called exactly once, and only when the run
 * has really started: faults found before (initial values, incompatible constraints) come as the status alone. */
typedef struct hamel_sink {
    void *context;
    bool (*header)(void *context, const hamel_header *header);
    bool (*row)(void *context, const double *values, size_t count);  /* finite values, column_count of them */
    bool (*event)(void *context, const hamel_happening *event);      /* in the order of time, among the rows */
    bool (*progress)(void *context, const hamel_progress *progress); /* at most every 0.25 s */
} hamel_sink;

typedef enum hamel_outcome {
    HAMEL_COMPLETED,
    HAMEL_TERMINATED, /* by an event */
    HAMEL_INCOMPLETE, /* a budget of the run ended it */
    HAMEL_FAILED      /* see the error */
} hamel_outcome;
const char *hamel_outcome_name(hamel_outcome outcome); /* "completed", ... */

typedef struct hamel_residual {
    const char *name;          /* of the constraint */
    double position, velocity; /* largest over all rows, in the equation's units; 0 without such a level */
    bool holonomic;
    double steepest; /* largest length of its row of A; only where A depends on velocities */
} hamel_residual;

typedef struct hamel_invariant_result {
    const char *name;
    double initial, max_drift, max_relative_drift;
    bool has_tolerance, passed;
} hamel_invariant_result;

typedef struct hamel_check_result {
    const char *name;
    double value;         /* for `always`: the value furthest from what is allowed */
    bool reached, passed; /* not reached: the run ended before its time */
} hamel_check_result;

typedef struct hamel_initial_value {
    const char *name; /* of the coordinate */
    bool velocity;    /* its velocity is meant */
    double given, used;
} hamel_initial_value;

typedef struct hamel_names {
    const char **items;
    size_t count;
} hamel_names;

/* Which constraints depend on which others at one state. */
typedef struct hamel_redundancy {
    size_t rank;       /* of all constraints */
    hamel_names *sets; /* smallest dependent sets, one for each redundant constraint, which is its last */
    size_t set_count;
    hamel_names not_unique; /* constraints whose multipliers, and so reactions, are not unique */
} hamel_redundancy;

/* The run's certificate. Arrays and texts belong to the summary: hamel_summary_free. */
typedef struct hamel_summary {
    hamel_outcome outcome;
    double t; /* reached */
    double steps, rhs_evaluations, jacobian_evaluations, projections, rows, events, switches;
    double derive_seconds, wall_seconds;
    const char *method, *formulation; /* taken */
    const char *evaluation;           /* "machine code" or "interpreter" */
    double start, stop, rtol;
    const double *atol; /* per coordinate */
    size_t coordinate_count;
    int degrees_of_freedom;
    hamel_residual *residuals;
    size_t residual_count;
    double max_work_balance_error; /* |E - E0 - ∫ energy_rate dt|, E the Jacobi integral; largest over all rows */
    double
        max_dynamics_residual; /* residual of accelerations and multipliers in the equations of motion, relative to their
                                      terms; largest of all states seen */
    int rank_changes;          /* how often the rank of the constraints changed, for an instant or permanently */
    hamel_invariant_result *invariants;
    size_t invariant_count;
    hamel_check_result *checks;
    size_t check_count;
    bool passed;                          /* completed or terminated, and every check and toleranced invariant passed */
    hamel_initial_value *initial_changes; /* values moved onto the constraints */
    size_t initial_change_count;
    double initial_residual; /* largest scaled residual of the given values */
    const char **redundant;  /* names of the dependent constraints */
    size_t redundant_count;
    hamel_redundancy *redundancy; /* at the start; NULL when no constraint depends on others */
    char **warnings;
    size_t warning_count;
    double *error_estimate; /* per column, with certify; else NULL */
    size_t column_count;
    const char *const *columns;   /* of error_estimate; the model's */
    const char *description_hash; /* the model's, or NULL */
    double initial_energy;        /* Jacobi integral at the start; NaN before it is known */
    double energy_tolerance;      /* what rtol and atol amount to in E, to first order; largest of all states seen */
    double scaled_residual; /* largest of all rows that are not projected, relative to the terms of the constraint */
    double *gradients;      /* A at the state seen last; NULL where it does not depend on velocities */
    const char *turned;     /* the constraint whose row turned round near its zero, or NULL, and */
    double turned_at;       /* when */
    size_t last_rank, met_rank; /* of A, as it has settled and at the state seen last */
} hamel_summary;

void hamel_summary_free(hamel_summary *summary);

typedef struct hamel_run_options {
    hamel_poll *poll; /* asked at each right-hand side; may be NULL. HAMEL_LIMIT: the run is incomplete */
} hamel_run_options;

/* Integrates. Returns HAMEL_OK when the run ended regularly (completed, terminated, or incomplete by a budget);
 * otherwise the status with the reason in `error`. `summary` is filled in every case, as far as the run came, and must
 * be freed. The same model gives the same bytes, whoever asks and whatever else runs. */
hamel_status hamel_run(const hamel_model *model, const hamel_run_options *options, const hamel_sink *sink,
                       hamel_summary *summary, hamel_error *error) HAMEL_CHECKED;

/* --- ensembles: one model, other numbers --------------------------------------------------------------------------------
 *
 * What varies are parameters ("m") and given initial values ("x.initial", "x.velocity"). What is made of them follows. */
typedef struct hamel_variation hamel_variation;

/* On success *out is the caller's (hamel_variation_free) and borrows the model. HAMEL_UNSUPPORTED, with a fault that says
 * why, where a member needs a model of its own: the number of a target is part of what the equations are made of, or
 * was settled with them (times, tolerances, friction). HAMEL_INVALID for what is no target; HAMEL_NO_MEMORY. */
hamel_status hamel_variation_create(hamel_variation **out, const hamel_model *model, const char *const *targets,
                                    size_t count, hamel_error *error) HAMEL_CHECKED;
void hamel_variation_free(hamel_variation *v);

/* How a member ended. Texts are valid during the call. */
typedef struct hamel_member_end {
    hamel_status status; /* HAMEL_OK: completed, terminated or incomplete */
    hamel_outcome outcome;
    double t, steps;
    const char *reason;       /* of an incomplete run; else NULL */
    const hamel_error *error; /* of a failed one; else NULL */
} hamel_member_end;

/* Receives members, in any order and rows of several in turn, on the thread of hamel_ensemble_run. `begin` comes before a
 * member's rows, and once more when they come anew: those before are void. Any may be NULL; one that returns false ends
 * the ensemble as canceled. */
typedef struct hamel_ensemble_sink {
    void *context;
    bool (*begin)(void *context, size_t member);
    bool (*row)(void *context, size_t member, const double *values, size_t count);
    bool (*end)(void *context, size_t member, const hamel_member_end *end);
} hamel_ensemble_sink;

typedef struct hamel_ensemble_options {
    hamel_poll *poll;
    bool last_rows; /* only the last row of each member is wanted */
} hamel_ensemble_options;

/* Runs `count` members; values[i * targets + k] is the number of target k of member i. What a member gives does not depend
 * on the others, nor on how many there are. HAMEL_OK when all have ended, however; HAMEL_CANCELED, HAMEL_NO_MEMORY. */
hamel_status hamel_ensemble_run(const hamel_variation *v, const hamel_ensemble_options *options, size_t count,
                                const double *values, const hamel_ensemble_sink *sink,
                                hamel_error *error) HAMEL_CHECKED;

/* What can be said of a system without running it. All texts and lists belong to the report. */
typedef struct hamel_constraint_facts {
    const char *name, *kind; /* "holonomic", "velocity" or "acceleration", by the highest derivative in the equation */
    bool linear;             /* in that derivative; a holonomic constraint is linear in its velocity form */
    bool time_dependent;     /* t occurs in the equation */
    bool rheonomic;          /* t occurs, or a linear velocity constraint is acatastatic (Papastavridis 2.2) */
    bool catastatic;         /* satisfied at rest: the velocity form has no term free of velocities */
    bool homogeneous;        /* the velocity form is homogeneous in the velocities */
    bool ideal;              /* no prescribed work */
    bool conservative;       /* ideal and without work in every possible motion (Greenwood 4.7) */
    bool redundant;          /* depends on the constraints before it */
    bool unique;             /* its multiplier is, at the initial state */
} hamel_constraint_facts;

#define HAMEL_VERDICT_LIST(X)                                                                 \
    X(NONE, "none")                               /* no velocity constraint that is linear */ \
    X(HOLONOMIC, "holonomic")                     /* all combinations can be integrated */    \
    X(NONHOLONOMIC, "nonholonomic")               /* none can */                              \
    X(PARTIALLY_HOLONOMIC, "partially holonomic") /* some can */                              \
    X(UNDETERMINED, "undetermined")               /* too large, or the ranks were not clear */

typedef enum hamel_verdict {
#define X(name, text) HAMEL_VERDICT_##name,
    HAMEL_VERDICT_LIST(X)
#undef X
} hamel_verdict;
const char *hamel_verdict_name(hamel_verdict verdict);

/* Σ factor_c f_c = d integral/dt, where f_c = 0 are the constraints: the integral is a constant of every motion. Both are
 * expressions of the description's language. */
typedef struct hamel_integral_term {
    const char *constraint, *factor;
} hamel_integral_term;

typedef struct hamel_integral {
    const char *integral;
    hamel_integral_term *terms;
    size_t term_count;
} hamel_integral;

/* γ^of_{first second}, antisymmetric in the lower indices: what d/dt δθ_of − δu_of has of u_second δθ_first, and with the
 * opposite sign of u_first δθ_second (Greenwood 4.383, Papastavridis 2.10.1). `second` is "t" for what has δθ_first alone. */
typedef struct hamel_coefficient {
    const char *of, *first, *second, *value;
} hamel_coefficient;

/* A quantity that is conserved while all of these conditions hold, as they do at the start. */
typedef struct hamel_regional {
    const char *name;
    hamel_names conditions;
} hamel_regional;

/* The verdict on the linear velocity constraints for motions from the start, if it differs from the verdict elsewhere:
 * fewer or other combinations can be integrated there. */
typedef struct hamel_start_verdict {
    bool differs;
    size_t velocity_rank, integrable, accessible_dimension; /* the last two 0 where undetermined */
    hamel_verdict verdict;  /* undetermined: fewer of the constraints are independent there */
    hamel_names conditions; /* branches of operators that make the difference; empty: the start is singular */
} hamel_start_verdict;

typedef struct hamel_report {
    const char *name;                            /* of the system, or "" */
    size_t coordinate_count, degrees_of_freedom; /* coordinates minus the rank of all constraints */
    hamel_constraint_facts *constraints;
    size_t constraint_count;
    size_t holonomic_rank;                   /* independent holonomic constraints */
    size_t index;                            /* of the differential-algebraic equations: 0 to 3 */
    size_t blocks;                           /* groups of coordinates that move without regard to each other */
    size_t mass_entries, constraint_entries; /* structural nonzeros of M and of A */
    /* Of the linear velocity constraints, the holonomic ones taken as given. Undetermined: integrable and
     * accessible_dimension are 0. */
    size_t velocity_rank, integrable, accessible_dimension;
    hamel_verdict verdict;
    hamel_start_verdict at_start;
    /* Dimensions of the derived systems of all linear constraints' forms, the last one terminal; of the directions that
     * they allow and of what brackets of increasing depth add. NULL when they are not known. */
    const size_t *derived, *growth;
    size_t derived_count, growth_count; /* the latter is the degree of nonholonomy */
    bool with_time;                     /* time counts as a coordinate in `growth` */
    bool exact;                         /* the dimensions are certain */
    const char *flags_decided_by;       /* "expressions" when exact, otherwise "random states"; NULL without them */
    hamel_integral *integrals; /* independent ones, as far as they were found in closed form: `integrable` at most */
    size_t integral_count;
    /* The quasi-velocities of the description, as far as they are independent, and what completes them: linear constraints,
     * then the velocities of coordinates. Empty without quasi-velocities, or when they are too many or too long. */
    hamel_names frame;
    hamel_coefficient *coefficients; /* of the frame, those that are not 0, each pair of lower indices once */
    size_t coefficient_count;
    hamel_redundancy *redundancy;    /* at the initial state */
    hamel_names left_out;            /* constraints not linear in the velocities, or on accelerations */
    hamel_names cyclic;              /* coordinates absent from the Lagrangian, the forces and the constraints */
    hamel_names conserved;           /* "momentum(x)", as outputs are written; until an event happens */
    hamel_regional *conserved_while; /* what is conserved on the branches of the start alone */
    size_t conserved_while_count;
    hamel_names
        assumed; /* branches of the start for which no state on another branch was found: the report holds only for them */
    bool conservative;    /* Greenwood's sufficient test (4.7) */
    hamel_names warnings; /* about the description, as in the summary of a run */
    hamel_names
        unfinished; /* "exactness", "integrals", "transitivity": skipped because algebra would take too much work */
} hamel_report;

/* Classifies the constraints of `d` and finds which of them can be integrated. `limits` (NULL: the default ones),
 * `poll` and `error` as for hamel_model_create. On success *out is owned by the caller: hamel_report_free.
 * HAMEL_INCOMPATIBLE when no state near the initial values satisfies the constraints. */
hamel_status hamel_analyze(hamel_report **out, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                           hamel_error *error) HAMEL_CHECKED;
void hamel_report_free(hamel_report *report);

/* One formulation against the first one that is compared, Lagrange's. */
typedef struct hamel_formulation_difference {
    const char *formulation;
    double accelerations, reactions; /* largest relative differences; see hamel_verify */
    size_t states;                   /* at which it could be compared */
} hamel_formulation_difference;

typedef struct hamel_formulation_refusal {
    const char *formulation, *reason;
} hamel_formulation_refusal;

/* The equations of motion against finite differences of what they were derived from: energies, constraints as written, and
 * the places and velocities along which forces do work. Largest differences, relative to the terms of each equation. */
typedef struct hamel_difference_check {
    size_t states;    /* of those of the verification */
    double motion;    /* d/dt ∂L/∂q' − ∂L/∂q − Q − friction, against M q'' − Q − F|λ| */
    double gradients; /* ∂f/∂q, ∂f/∂q' or ∂f/∂q'' of constraints, against A */
    double rates;     /* their rates along a path, against A q'' − b */
    double largest, tolerance;
    const char *worst;         /* the coordinate or constraint of the largest difference; NULL if all are 0 */
    size_t decided, undecided; /* comparisons; undecided: beside kinks or the edge of the domain */
    bool agree;                /* largest ≤ tolerance */
} hamel_difference_check;

typedef struct hamel_verification {
    const hamel_formulation_difference *compared; /* those that serve the system */
    size_t compared_count;
    const hamel_formulation_refusal *refused; /* those that cannot */
    size_t refused_count;
    size_t states;   /* at which all of the former were compared: HAMEL_VERIFY_STATES, fewer of a large system */
    size_t singular; /* states skipped: no unique accelerations in some formulation, or only by a hair */
    double max_relative_difference, tolerance;
    hamel_difference_check differences;
    bool agree; /* max_relative_difference ≤ tolerance, and the differences agree */
} hamel_verification;

enum { HAMEL_VERIFY_STATES = 100 };

/* Do all formulations give the same motion? Compares accelerations q''_i and generalized reactions R_i = Σ λ_c A_ci at
 * random states, the same ones each time, that satisfy the constraints near the initial values, at times within the
 * span of the simulation. A difference is relative to the terms of the coordinate's own equation of motion,
 *     S_i = Σ_j |M_ij q''_j| + |Q_i| + Σ_c |A_ci λ_c|,   but no less than 1e-4 of the largest S_j
 * nor, where a constraint makes q''_i of larger accelerations, than M_ii Σ_j |A_cj q''_j| |A_ci| / max_j |A_cj|²,
 * so it is |ΔR_i| / S_i, and |M_ii Δq''_i| / S_i or, without a mass of its own, |Δq''_i| / max |q''_j|; at most 1.
 * All formulations start from the same derivation: Lagrange's equations are also compared with finite differences of the
 * description itself, at some of the states.
 * `limits` are those of each model. On success *out is owned by the caller: hamel_verification_free. HAMEL_INCOMPATIBLE
 * and HAMEL_SINGULAR when there is no state at all to compare at. */
hamel_status hamel_verify(hamel_verification **out, const hamel_description *d, const hamel_limits *limits,
                          hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_verification_free(hamel_verification *verification);

/* A mode of a linear system: δq(t) = Re(shape · exp(eigenvalue · t)). Of a conjugate pair the one with imaginary part > 0. */
typedef struct hamel_mode {
    double eigenvalue[2];      /* real, imaginary; per second */
    double frequency, damping; /* |eigenvalue|, and −real/|eigenvalue| (0 for the eigenvalue 0) */
    const double *shape;       /* 2n: real and imaginary part of each coordinate; the largest is 1 */
} hamel_mode;

/* x' = A x + B p for small changes x of independent coordinates and velocities, p of the inputs. */
typedef struct hamel_linearization {
    double t;
    const char *const *coordinates; /* n */
    const double *q, *v, *lambda;   /* the state; n, n, m */
    size_t coordinate_count;
    const char *const *state; /* names of x: coordinates, then velocities as x' */
    const char *const *inputs;
    size_t state_count, input_count;
    const double *A, *B;       /* row-major, state_count rows */
    const double *eigenvalues; /* state_count pairs; by imaginary part, then real part */
    const hamel_mode *modes;
    size_t mode_count;
    bool at_rest; /* every velocity and acceleration is 0: an equilibrium */
    bool
        steady; /* the same linear system holds along the motion: at rest, or only cyclic coordinates turn, uniformly */
    bool stable; /* steady, and no eigenvalue with a positive real part beyond rounding */
} hamel_linearization;

/* A configuration in which the system can rest, or move with constant cyclic velocities and nothing else. */
typedef struct hamel_equilibrium {
    const double *q, *v, *lambda; /* n, n, m; v: the cyclic velocities kept, 0 for all others */
    bool isolated;             /* no other one next to it; other phases of cyclic coordinates that turn do not count */
    size_t family_dimension;   /* 0 when isolated */
    double accuracy;           /* uncertainty of q, relative for values above 1, if forces are flat; else 0 */
    bool determined;           /* whether accelerations are determined; if not, there is no linear motion */
    bool decided, stable;      /* stable: only when decided; of a family: motion nearby stays near the family */
    const char *decided_by;    /* "eigenvalues", "minimum of the potential", "order 4 of the potential"; NULL */
    const char *reason;        /* why it is not decided; NULL when it is */
    const double *eigenvalues; /* eigenvalue_count pairs; none where they change with time */
    size_t eigenvalue_count;
} hamel_equilibrium;

/* A name that is given beside the description, and where: the place of faults about it ("": nowhere that has a name). */
typedef struct hamel_argument {
    const char *name, *pointer;
} hamel_argument;

/* Linearizes the motion of `d` on its constraint manifold about the initial state, made consistent, or about `at` (an
 * equilibrium of the same description; NULL for the former); the independent coordinates are those that the constraints
 * determine worst. `inputs`: names of parameters (may be none). HAMEL_LIMIT for more than 600 coordinates and
 * constraints. On success *out is owned by the caller: hamel_linearization_free. */
hamel_status hamel_linearize(hamel_linearization **out, const hamel_description *d, const hamel_equilibrium *at,
                             const hamel_argument *inputs, size_t input_count, const hamel_limits *limits,
                             hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_linearization_free(hamel_linearization *linearization);

/* What acts on one coordinate. */
typedef struct hamel_generalized_force {
    const char *coordinate;
    double value;           /* at the initial state, made consistent */
    const char *expression; /* in the language of descriptions */
} hamel_generalized_force;

typedef struct hamel_action {
    /* "spring s1", "load on A", "gravity", "generalized_forces", "potential_energy", "dissipation", "nonideal",
     * "friction on floor" */
    const char *origin;
    hamel_generalized_force *on;
    size_t count;
} hamel_action;

typedef struct hamel_forces {
    hamel_action *actions; /* in the order of the description; those that act on nothing are left out */
    size_t count;
} hamel_forces;

/* The reaction of one constraint as the force that keeps it when it is relaxed (Baruh 4.10): on each coordinate that it
 * contains the value λ A_ci, and the expression that is equal to it, made of the inertia, the forces and the reactions
 * of all other constraints. */
typedef struct hamel_relaxation {
    const char *constraint;
    double multiplier;
    hamel_generalized_force *reactions;
    size_t count;
} hamel_relaxation;

/* Generalized forces at the initial state, element by element. Arguments as for hamel_analyze; `error` is not NULL. Of
 * Coulomb friction the value is what really acts, also while it sticks; the expression is that of slipping.
 * HAMEL_NOT_FINITE names a force without a value. On success *out is owned by the caller: hamel_forces_free. */
hamel_status hamel_find_forces(hamel_forces **out, const hamel_description *d, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_forces_free(hamel_forces *forces);

/* The reaction of `constraint` at the initial state; the rest as for hamel_find_forces. HAMEL_INVALID when there is no such
 * constraint, or it does not act at the start. On success *out is owned by the caller: hamel_relaxation_free. */
hamel_status hamel_relax(hamel_relaxation **out, const hamel_description *d, hamel_argument constraint,
                         const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_relaxation_free(hamel_relaxation *relaxation);

typedef struct hamel_equilibria {
    const char *const *coordinates, *const *constraints; /* names; n, m */
    size_t coordinate_count, constraint_count;
    const hamel_equilibrium *items; /* nearest to the initial values first */
    size_t count, starts;           /* start values tried */
    size_t unsolved;                /* of these, starts from which no equilibrium was found */
    bool complete;                  /* no other equilibria exist: the equations of rest are linear */
    const char *note;               /* why there may be others; NULL when complete */
    bool steady;                    /* some cyclic coordinate has an initial velocity: relative equilibria */
} hamel_equilibria;

/* Finds equilibria of `d` from the initial values and from at most `starts` random configurations around them (the work of
 * a large system is bounded). Cyclic coordinates with an initial velocity keep it (steady motions). Of a family the member
 * nearest to the initial values is given. Where the equations contain t, configurations are given that are equilibria at
 * every time; when there are none and a constraint or a force moves, HAMEL_INVALID names it. On success *out is owned by
 * the caller: hamel_equilibria_free; that none is found is otherwise no failure. */
hamel_status hamel_find_equilibria(hamel_equilibria **out, const hamel_description *d, size_t starts,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_equilibria_free(hamel_equilibria *equilibria);

typedef enum hamel_notation { HAMEL_NOTATION_TEXT, HAMEL_NOTATION_LATEX, HAMEL_NOTATION_C } hamel_notation;

/* The equations of motion of `d` in the formulation that its simulation asks for, to be read: text in the notation of
 * descriptions, LaTeX (an align environment for each part), or C (a function that computes the rates of the state; it
 * needs nothing but <math.h>). Coefficients are collected, factored and reduced by the identities of sines and cosines,
 * as far as limits->arranging goes: what is left is written as it was derived, *simplified (may be NULL) is false then,
 * and the text says so. `limits`, `poll` and `error` as for hamel_model_create; HAMEL_INVALID when the formulation's
 * equations cannot be written out, with the reason. *text is the caller's: free(). */
hamel_status hamel_write_equations(char **text, bool *simplified, const hamel_description *d, hamel_notation notation,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;

/* Facts of a model that need no run. */
const hamel_header *hamel_model_header(const hamel_model *model); /* degrees_of_freedom -1: not known yet */
size_t hamel_model_bytes(const hamel_model *model);
size_t hamel_model_warning_count(const hamel_model *model);
const char *hamel_model_warning(const hamel_model *model, size_t index); /* about the description; lives as long */

/* Frees what libraries keep for the calling thread between calls. To be called when the thread has nothing more to do for
 * a while; what it has made stays. */
void hamel_release_thread(void);

/* The formulations and their one-line descriptions, in a fixed order; NULL past the end. */
const char *hamel_formulation_name(size_t index);
const char *hamel_formulation_summary(size_t index);

#endif
