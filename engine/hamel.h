/* hamel.h — the public interface of the engine, which computes rows of results from a description:
 *
 *     hamel_model_create(&description, ...)   parse, check, derive, compile: once per system
 *     hamel_run(model, ...)                   integrate: any number of times, on any number of threads
 *
 * A model is immutable and may be shared by threads. A run owns all its state. JSON, HTTP, files and threads belong to
 * other layers. Results are passed to the callbacks of a sink. engine/equations/equations.h declares the functions that
 * write the equations of motion.
 *
 * Quantities have the units of the description. n is the number of coordinates, m the number of constraints. A function
 * that fails adds errors to `error`. Every function that returns a status may return HAMEL_NO_MEMORY. */
#pragma once

#include "engine/base/error.h"
#include "engine/base/poll.h"
#include "engine/system/description.h"

#include <stdint.h>

#define HAMEL_VERSION "0.1.0"

typedef struct hamel_model hamel_model;

/* Limits on the cost of one description. hamel_limits_default returns limits for a personal computer. A server sets
 * lower limits. `memory` and `nodes` must be positive. For all other fields, 0 means no limit. */
typedef struct hamel_limits {
    size_t memory; /* maximum size of one model, in bytes */
    size_t nodes;  /* maximum number of nodes in the expression graph */
    size_t coordinates, constraints, outputs;
    double max_steps; /* upper bound on simulation.max_steps */
    double max_rows;  /* upper bound on the rows of one run */
    double arranging; /* work budget of written equations: maximum number of accesses to variables of terms */
} hamel_limits;

hamel_limits hamel_limits_default(void);

/* Checks `d`, derives and compiles its equations of motion. On success the caller owns *out and frees it with
 * hamel_model_free. The model does not refer to `d`. On failure *out is NULL and `error` holds all errors found. `poll`
 * (may be NULL) is polled at intervals. If `poll` does not return HAMEL_OK, its status is returned. */
hamel_status hamel_model_create(hamel_model **out, const hamel_description *d, const hamel_limits *limits,
                                hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_model_free(hamel_model *model);

/* Selects between machine code and an interpreter. The values are bit-identical in both cases. AUTO uses machine code
 * if a typical run is long enough to save more time than the translation costs. */
typedef enum hamel_jit { HAMEL_JIT_AUTO, HAMEL_JIT_ON, HAMEL_JIT_OFF } hamel_jit;

/* Parses "auto", "on" or "off". Returns false for other strings. */
bool hamel_jit_named(const char *name, hamel_jit *out);

/* Translates the programs of a new model to machine code. Call it before the model is shared. If the processor is not
 * supported or no executable memory is available, the programs are interpreted. With HAMEL_JIT_ON, every run then
 * issues a warning. */
void hamel_model_translate(hamel_model *model, hamel_jit jit);

/* Reports the errors that can be found without deriving equations. The description may be incomplete. */
void hamel_description_check(const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                             hamel_error *error);

/* A shape of a drawing. `points`, `axes` and `sizes` are names of columns, whose values are in each row. */
typedef struct hamel_shape {
    const char *kind;    /* "point", "line", "spring", "circle", "disk", "box" or "path" */
    const char *name;    /* name of the element that the shape shows, or "" */
    const char **points; /* point_count positions in inertial components, `dimension` columns each */
    size_t point_count;
    /* Body axes in inertial components, `dimension` columns each: one axis in the plane, three in space. If axis_count
     * is 0, the shape is parallel to the inertial axes. */
    const char **axes;
    size_t axis_count;
    const char **sizes; /* radius, or lengths of the edges of a box */
    size_t size_count;
} hamel_shape;

typedef struct hamel_scene {
    int dimension; /* 2 or 3; 0 if there are no shapes */
    hamel_shape *shapes;
    size_t count;
} hamel_scene;

/* Properties of a run, passed to the sink before the first row. The model owns the strings and arrays. */
typedef struct hamel_header {
    const char *name; /* system name; "" if the system is unnamed */
    size_t column_count;
    const char *const *columns; /* column names; the first is "t" */
    const char *const *units;   /* "" if unknown */
    size_t coordinate_count, constraint_count;
    const char *formulation;  /* formulation in use; never "auto" */
    int degrees_of_freedom;   /* number of coordinates minus rank of the constraints at the initial state */
    const hamel_scene *scene; /* NULL if not requested; every row contains the columns of its shapes */
} hamel_header;

typedef struct hamel_progress {
    double t, start, stop;
    long steps;
} hamel_progress;

/* An event, with the values of all columns before and after it. The record is valid during the callback only. */
typedef struct hamel_event_record {
    const char *name; /* name of the event */
    double t;
    const double *before, *after;
    size_t count;
    const struct hamel_impact *impact; /* report about the impulses (engine/simulate/impact.h), or NULL */
} hamel_event_record;

/* Receives the results of a run. A callback that returns false cancels the run, for example because the client has
 * disconnected or the disk is full. Callbacks run on the thread of hamel_run; any may be NULL. `header` is called once,
 * after initialization has succeeded. If initialization fails, hamel_run returns the error and no callback is
 * called. */
typedef struct hamel_sink {
    void *context;
    bool (*header)(void *context, const hamel_header *header);
    bool (*row)(void *context, const double *values, size_t count);  /* count = column_count; all values are finite */
    bool (*event)(void *context, const hamel_event_record *event);   /* called in order of time, between rows */
    bool (*progress)(void *context, const hamel_progress *progress); /* called at most every 0.25 s */
} hamel_sink;

typedef enum hamel_outcome {
    HAMEL_COMPLETED,
    HAMEL_TERMINATED, /* ended by an event */
    HAMEL_INCOMPLETE, /* ended by a limit on steps or time */
    HAMEL_FAILED      /* ended by an error */
} hamel_outcome;
const char *hamel_outcome_name(hamel_outcome outcome); /* "completed", "terminated", "incomplete" or "failed" */

typedef struct hamel_residual {
    const char *name; /* name of the constraint */
    /* largest residual in all rows, in the units of the equation; 0 if the constraint has no equation at this level */
    double position, velocity;
    bool holonomic;
} hamel_residual;

typedef struct hamel_invariant_result {
    const char *name;
    double initial, max_drift, max_relative_drift;
    bool has_tolerance, passed;
} hamel_invariant_result;

typedef struct hamel_check_result {
    const char *name;
    /* The value at the time of the check. For a check at all times (`always`), this is the value furthest outside the
     * allowed range. If no value is outside the range, it is the value nearest to an edge of the range. */
    double value;
    bool reached, passed; /* reached: false if the run ended before the time of the check */
} hamel_check_result;

typedef struct hamel_initial_value {
    const char *name; /* name of the coordinate */
    bool velocity;    /* whether the values are velocities */
    double given, used;
} hamel_initial_value;

typedef struct hamel_names {
    const char **items;
    size_t count;
} hamel_names;

/* Linear dependences between the constraints at one state. */
typedef struct hamel_redundancy {
    size_t rank; /* rank of all constraints */
    hamel_names
        *sets; /* for each redundant constraint, the minimal dependent set whose last element is this constraint */
    size_t set_count;
    hamel_names not_unique; /* constraints whose multipliers, and therefore reactions, are not unique */
} hamel_redundancy;

/* The result of a run in addition to its rows. The summary owns its arrays and strings, except the fields marked as
 * borrowed. hamel_summary_free frees the owned arrays and strings. */
typedef struct hamel_summary {
    hamel_outcome outcome;
    double t;                            /* time reached */
    size_t rows, events, branch_changes; /* numbers of output rows, of events, and of changes of branch */
    long steps, rhs_evaluations, jacobian_evaluations, projections;
    double derive_seconds, wall_seconds;
    const char *method, *formulation; /* `method` lists all methods of the run, such as "adams, bdf" */
    const char *evaluation;           /* "machine code" or "interpreter" */
    double start, stop, rtol;
    const double *atol; /* coordinate_count tolerances, one for each coordinate */
    size_t coordinate_count;
    int degrees_of_freedom;
    hamel_residual *residuals;
    size_t residual_count;
    double max_work_balance_error; /* largest |E − E0 − ∫ energy_rate dt| of all states evaluated; E: Jacobi integral */
    double energy_tolerance; /* largest first-order effect of rtol and atol on E; some rows are skipped (monitor.c) */
    double max_dynamics_residual; /* residual of accelerations and multipliers in the equations of motion, relative to
                                      their terms; largest of all verified states; NaN for a member in a SIMD lane */
    double scaled_residual; /* largest constraint residual of rows that are not projected, relative to its terms */
    int rank_changes; /* number of times at which the rank of the constraints changed, even if only at that instant */
    hamel_invariant_result *invariants;
    size_t invariant_count;
    hamel_check_result *checks;
    size_t check_count;
    bool passed; /* the run completed or was terminated, and all checks and all invariants with a tolerance passed */
    hamel_initial_value *initial_changes; /* values that initialization changed to satisfy the constraints */
    size_t initial_change_count;
    double initial_residual; /* largest scaled residual of the constraints at the specified initial values */
    const char **redundant;  /* names of the redundant constraints */
    size_t redundant_count;
    hamel_redundancy *redundancy; /* at the initial state; NULL if no constraint is redundant */
    char **warnings;
    size_t warning_count;
    double *error_estimate; /* estimated error of each column if `certify` is set, otherwise NULL */
    size_t column_count;
    const char *const *columns;   /* names of the columns of error_estimate; borrowed from the model */
    const char *description_hash; /* borrowed from the model, or NULL */
} hamel_summary;

void hamel_summary_free(hamel_summary *summary);

typedef struct hamel_run_options {
    hamel_poll
        *poll; /* polled at each evaluation of the right-hand side, or NULL; HAMEL_LIMIT ends the run as incomplete */
} hamel_run_options;

/* Integrates the motion. Returns HAMEL_OK if the run is completed, terminated by an event, or ended by a limit.
 * Otherwise returns another status, and `error` holds the cause. `summary` is always filled with the results up to the
 * end of the run and must be freed. `options` and `sink` may be NULL. Every run of a model gives bit-identical results,
 * even if other runs are in progress. */
hamel_status hamel_run(const hamel_model *model, const hamel_run_options *options, const hamel_sink *sink,
                       hamel_summary *summary, hamel_error *error) HAMEL_CHECKED;

/* --- sweeps: one model with different values -------------------------------------------------------------------------
 *
 * The targets, whose values vary, are parameters ("m") and specified initial values ("x.initial", "x.velocity").
 * Parameters and initial values that depend on targets are recomputed for each member. */
typedef struct hamel_variation hamel_variation;

/* Prepares a sweep over `targets`. On success the caller owns *out, which borrows the model, and frees it with
 * hamel_variation_free. If the equations or settings (times, tolerances, friction) contain the value of a target
 * instead of its symbol, returns HAMEL_UNSUPPORTED, with the reason. Each member then needs its own model. If an entry
 * of `targets` names nothing that a sweep can vary, returns HAMEL_INVALID. */
hamel_status hamel_variation_create(hamel_variation **out, const hamel_model *model, const char *const *targets,
                                    size_t count, hamel_error *error) HAMEL_CHECKED;
void hamel_variation_free(hamel_variation *v);

/* How the run of a member ended. Strings are valid during the callback only. */
typedef struct hamel_member_end {
    hamel_status status;          /* HAMEL_OK: completed, terminated or incomplete */
    const hamel_summary *summary; /* as of hamel_run; the last warning of an incomplete run names the limit */
    hamel_error *error;           /* the error of a failed run; else NULL */
} hamel_member_end;

/* Receives members in any order, with interleaved rows, on the thread of hamel_run_members. `begin` is called after a
 * member's initialization has succeeded. If the member is rerun, `begin` is called again, and the member's earlier rows
 * are invalid. Any callback may be NULL. A callback that returns false cancels the sweep. */
typedef struct hamel_members_sink {
    void *context;
    bool (*begin)(void *context, size_t member, const hamel_header *header);
    bool (*row)(void *context, size_t member, const double *values, size_t count);
    bool (*event)(void *context, size_t member, const hamel_event_record *event);
    bool (*end)(void *context, size_t member, const hamel_member_end *end);
} hamel_members_sink;

typedef struct hamel_members_options {
    hamel_poll *poll;
    bool last_rows; /* output the last row of each member only */
    bool assess;    /* evaluate the invariants and checks of the description for the summaries */
} hamel_members_options;

/* Runs `count` members. values[i * targets + k] is the value of target k in member i. The results of a member do not
 * depend on other members or their number. Returns HAMEL_OK once every member has finished, even if members have
 * failed. If the sweep is canceled, returns HAMEL_CANCELED. */
hamel_status hamel_run_members(const hamel_variation *v, const hamel_members_options *options, size_t count,
                               const double *values, const hamel_members_sink *sink, hamel_error *error) HAMEL_CHECKED;

/* Properties of a constraint. A report owns its strings and lists. */
typedef struct hamel_constraint_facts {
    const char *name, *kind; /* kind: level of the highest derivative: "holonomic", "velocity" or "acceleration" */
    bool linear;         /* true if the equation is linear in this derivative; always true for holonomic constraints */
    bool time_dependent; /* true if t occurs in the equation */
    bool rheonomic;      /* true if t occurs or a linear velocity constraint is acatastatic (Papastavridis 2.2) */
    bool catastatic;     /* satisfied at rest: every term of the velocity form contains a velocity */
    bool homogeneous;    /* the velocity form is homogeneous in the velocities */
    bool ideal;          /* the description prescribes no work for the constraint */
    bool conservative;   /* ideal, and the reaction does no work in any possible motion (Greenwood 4.7) */
    bool redundant;      /* linearly dependent on the constraints before it */
    bool unique;         /* true if the multiplier is unique at the initial state */
} hamel_constraint_facts;

#define HAMEL_VERDICT_LIST(X)                                                                    \
    X(NONE, "none")                               /* there are no linear velocity constraints */ \
    X(HOLONOMIC, "holonomic")                     /* all combinations can be integrated */       \
    X(NONHOLONOMIC, "nonholonomic")               /* no combination can be integrated */         \
    X(PARTIALLY_HOLONOMIC, "partially holonomic") /* some combinations can be integrated */      \
    X(UNDETERMINED, "undetermined")               /* the system is too large, or a rank is uncertain */

typedef enum hamel_verdict {
#define X(name, text) HAMEL_VERDICT_##name,
    HAMEL_VERDICT_LIST(X)
#undef X
} hamel_verdict;
const char *hamel_verdict_name(hamel_verdict verdict);

/* An integral of the constraints f_c = 0: a combination Σ factor_c f_c equals d integral/dt, so the integral is
 * constant along every motion. Factors and integral are expressions in the language of descriptions. */
typedef struct hamel_integral_term {
    const char *constraint, *factor;
} hamel_integral_term;

typedef struct hamel_integral {
    const char *integral;
    hamel_integral_term *terms;
    size_t term_count;
} hamel_integral;

/* γ^of_{first second}: the coefficient of u_second δθ_first in d/dt δθ_of − δu_of (Greenwood 4.383, Papastavridis
 * 2.10.1). γ is antisymmetric in the lower indices. If `second` is "t", `value` is the coefficient of δθ_first in the
 * terms without velocities. */
typedef struct hamel_coefficient {
    const char *of, *first, *second, *value;
} hamel_coefficient;

/* A quantity that is conserved as long as all its conditions hold. All conditions hold at the initial state. */
typedef struct hamel_regional {
    const char *name;
    hamel_names conditions;
} hamel_regional;

/* The verdict on the linear velocity constraints for motions that begin at the initial state. The verdict differs from
 * the general verdict if other combinations of the constraints can be integrated at that state. */
typedef struct hamel_start_verdict {
    bool differs;
    /* If the verdict is undetermined, integrable and accessible_dimension are 0. */
    size_t velocity_rank, integrable, accessible_dimension;
    hamel_verdict verdict;  /* undetermined if fewer constraints are independent at the initial state than nearby */
    hamel_names conditions; /* branches that cause the difference; empty if the initial state is singular */
} hamel_start_verdict;

typedef struct hamel_report {
    const char *name; /* system name; "" if the system is unnamed */
    /* degrees_of_freedom: coordinates minus the rank of all constraints */
    size_t coordinate_count, degrees_of_freedom;
    hamel_constraint_facts *constraints;
    size_t constraint_count;
    size_t holonomic_rank;                   /* number of independent holonomic constraints */
    size_t index;                            /* index of the differential-algebraic equations, 0 to 3 */
    size_t blocks;                           /* number of independent groups of coordinates */
    size_t mass_entries, constraint_entries; /* structural nonzeros of M and of A */
    /* Properties of the linear velocity constraints combined with the holonomic constraints. If the verdict is
     * undetermined, integrable and accessible_dimension are 0. */
    size_t velocity_rank, integrable, accessible_dimension;
    hamel_verdict verdict;
    hamel_start_verdict at_start;
    /* derived_flag: dimensions of the derived flag of the forms of all linear constraints, from the forms themselves to
     * the terminal system. growth_vector: dimensions spanned by brackets of the admissible directions up to depth 1, 2,
     * etc. NULL if unknown. */
    const size_t *derived_flag, *growth_vector;
    size_t derived_flag_count, growth_vector_count; /* growth_vector_count is the degree of nonholonomy */
    bool with_time;                                 /* time counts as a coordinate in `growth_vector` */
    bool exact;                                     /* whether the dimensions were derived from the expressions alone */
    const char *flags_decided_by; /* "expressions" if exact, otherwise "random states"; NULL if unknown */
    const struct hamel_integrability *integrability; /* residuals and ranks (engine/analyze/integrability.h) */
    hamel_integral *integrals; /* at most `integrable` independent integrals, found in closed form */
    size_t integral_count, conserved_while_count;
    /* Names of the velocity basis: the independent quasi-velocities of the description, then linear constraints and
     * velocities of coordinates that complete the basis. Empty if there are no quasi-velocities or more than 12
     * coordinates, or if the expressions exceed the work budget. */
    hamel_names frame;
    hamel_coefficient *coefficients; /* nonzero, for the basis `frame`; each pair of lower indices appears once */
    size_t coefficient_count;
    hamel_redundancy *redundancy; /* at the initial state */
    /* The verdict ignores constraints on accelerations and constraints that are nonlinear in the velocities. */
    hamel_names left_out;
    hamel_names cyclic;    /* coordinates absent from the Lagrangian, the forces and the constraints */
    hamel_names conserved; /* quantities conserved until an event happens, written like outputs: "momentum(x)" */
    struct hamel_symmetries *symmetries; /* the symmetries that cause `conserved` (engine/analyze/symmetries.h) */
    hamel_regional *conserved_while;     /* quantities conserved on the branches of the initial state only */
    hamel_names assumed;    /* branches that the report assumes, because no state on another branch was found */
    bool conservative;      /* whether the sufficient conditions of Greenwood 4.7 for a conservative system hold */
    hamel_names warnings;   /* warnings about the description, as in the summary of a run */
    hamel_names unfinished; /* "exactness", "integrals", "transitivity": skipped because of the work budget */
} hamel_report;

/* Classifies the constraints of `d` and finds which of them can be integrated. `limits` (NULL: the default limits),
 * `poll` and `error` are as for hamel_model_create. On success the caller owns *out and frees it with
 * hamel_report_free. Returns HAMEL_INCOMPATIBLE if no state near the initial values satisfies the constraints. */
hamel_status hamel_analyze(hamel_report **out, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                           hamel_error *error) HAMEL_CHECKED;
void hamel_report_free(hamel_report *report);

/* Difference between a formulation and Lagrange's equations. */
typedef struct hamel_formulation_difference {
    const char *formulation;
    double accelerations, reactions; /* largest relative differences; see hamel_verify */
    size_t states;                   /* number of states compared */
} hamel_formulation_difference;

typedef struct hamel_formulation_refusal {
    const char *formulation, *reason;
} hamel_formulation_refusal;

/* Comparison of the equations of motion with finite differences of the quantities from which they are derived. These
 * quantities are energies, constraints as written, and the positions and velocities along which forces do work. The
 * fields hold the largest differences, relative to the terms of each equation. */
typedef struct hamel_difference_check {
    size_t states;    /* number of states at which the equations were compared */
    double motion;    /* d/dt ∂L/∂q' − ∂L/∂q − Q − friction compared with M q'' − Q − F|λ| */
    double gradients; /* ∂f/∂q, ∂f/∂q' or ∂f/∂q'' of constraints compared with A */
    double rates;     /* f'', f' or f of constraints f along a path compared with A q'' − b */
    double largest, tolerance;
    const char *worst; /* coordinate or constraint with the largest difference; NULL if no difference is above 0 */
    /* Numbers of comparisons. A comparison is undecided if the state is too close to a kink or to the edge of a
     * domain. */
    size_t decided, undecided;
    bool agree; /* whether largest ≤ tolerance */
} hamel_difference_check;

typedef struct hamel_verification {
    const hamel_formulation_difference *compared; /* formulations that support the system */
    size_t compared_count;
    const hamel_formulation_refusal *refused; /* formulations that do not support the system */
    size_t refused_count;
    size_t states;   /* number of states compared: HAMEL_VERIFY_STATES, fewer for a large system */
    size_t singular; /* number of states skipped because accelerations are nearly singular in some formulation */
    double max_relative_difference, tolerance;
    hamel_difference_check differences;
    bool agree; /* whether max_relative_difference ≤ tolerance and differences.agree */
} hamel_verification;

enum { HAMEL_VERIFY_STATES = 100 };

/* Checks that all formulations give the same motion. Compares accelerations q''_i and generalized reactions
 * R_i = Σ λ_c A_ci at random consistent states near the initial values, at times between start and stop. The states are
 * the same in every call. Differences are relative to the terms of the coordinate's equation of motion,
 *     S_i = Σ_j |M_ij q''_j| + |Q_i| + Σ_c |A_ci λ_c|.
 * S_i is at least 1e-4 of the largest S_j, because rounding leaves errors of 1e-13 S_j and the tolerance is 1e-9. If
 * constraint c determines q''_i from larger accelerations, another lower bound of S_i is
 *     M_ii Σ_j |A_cj q''_j| |A_ci| / max_j |A_cj|².
 * The relative differences are |ΔR_i| / S_i and |M_ii Δq''_i| / S_i. If M_ii = 0, the second difference is
 * |Δq''_i| / max |q''_j|. Relative differences are at most 1. All formulations use the same derived expressions.
 * Lagrange's equations are therefore also compared with finite differences of the description at some of the states.
 * `limits` apply to each model. On success the caller owns *out and frees it with hamel_verification_free. Returns
 * HAMEL_INCOMPATIBLE or HAMEL_SINGULAR if there is no state at which the formulations can be compared. */
hamel_status hamel_verify(hamel_verification **out, const hamel_description *d, const hamel_limits *limits,
                          hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_verification_free(hamel_verification *verification);

/* A mode of a linear system: δq(t) = Re(shape · exp(eigenvalue · t)). A conjugate pair of eigenvalues is one mode with
 * a positive imaginary part. */
typedef struct hamel_mode {
    double eigenvalue[2];      /* real and imaginary part, per second */
    double frequency, damping; /* frequency: |eigenvalue|; damping: −real/|eigenvalue|, or 0 for the eigenvalue 0 */
    const double *shape;       /* 2n: real and imaginary part for each coordinate; the largest modulus is 1 */
} hamel_mode;

/* x' = A x + B p, where x and p are small changes of the independent coordinates and velocities, and of the inputs. */
typedef struct hamel_linearization {
    double t;
    const char *const *coordinates; /* n */
    const double *q, *v, *lambda;   /* the state: q[n], v[n], lambda[m] */
    size_t coordinate_count;
    const char *const *state; /* names of x: coordinates, then velocities as x' */
    const char *const *inputs;
    size_t state_count, input_count;
    const double *A, *B;       /* row-major, state_count rows */
    const double *eigenvalues; /* state_count pairs, sorted by imaginary part, then by real part */
    const hamel_mode *modes;
    size_t mode_count;
    bool at_rest; /* whether the state is an equilibrium: every velocity and acceleration is 0 */
    bool steady;  /* whether A and B are constant along the motion: only cyclic coordinates change, at constant rates */
    bool stable;  /* steady, and no eigenvalue has a positive real part that exceeds rounding errors */
} hamel_linearization;

/* A configuration in which the system can be at rest, or in which only cyclic coordinates change, at constant rates. */
typedef struct hamel_equilibrium {
    const double *q, *v, *lambda; /* q[n]; v[n]: initial velocities of cyclic coordinates, otherwise 0; lambda[m] */
    bool isolated;           /* no other equilibrium is close, apart from other phases of rotating cyclic coordinates */
    size_t family_dimension; /* 0 if isolated */
    /* uncertainty of q, relative to max(1, |q_i|), if forces grow more slowly than the displacement; otherwise 0 */
    double accuracy;
    bool determined;           /* whether accelerations are unique; if not, the motion cannot be linearized */
    bool decided, stable;      /* stable: valid if decided; for a family: nearby motion stays near the family */
    const char *decided_by;    /* "eigenvalues", "minimum of the potential", "order 4 of the potential" or NULL */
    const char *reason;        /* why stability is undecided, otherwise NULL */
    const double *eigenvalues; /* eigenvalue_count pairs; empty if the eigenvalues change with time */
    size_t eigenvalue_count;
} hamel_equilibrium;

/* A name that the caller passes with a description, and the JSON Pointer for errors about it ("" if there is none). */
typedef struct hamel_argument {
    const char *name, *pointer;
} hamel_argument;

/* Linearizes the motion of `d` on its constraint manifold about `at`, an equilibrium of the same description. If `at`
 * is NULL, linearizes about the consistent initial state. An elimination of the constraints with complete pivoting
 * selects the dependent coordinates. All other coordinates are independent. `inputs` are names of parameters. The list
 * may be empty. Returns HAMEL_LIMIT if there are more than 600 coordinates and constraints together, because matrices
 * are dense. On success the caller owns *out and frees it with hamel_linearization_free. */
hamel_status hamel_linearize(hamel_linearization **out, const hamel_description *d, const hamel_equilibrium *at,
                             const hamel_argument *inputs, size_t input_count, const hamel_limits *limits,
                             hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_linearization_free(hamel_linearization *linearization);

typedef struct hamel_equilibria {
    const char *const *coordinates, *const *constraints; /* names; n, m */
    size_t coordinate_count, constraint_count;
    const hamel_equilibrium *items; /* sorted by distance from the initial values */
    size_t count, starts;           /* count: number of equilibria found; starts: number of start values tried */
    size_t unsolved;                /* number of start values from which no equilibrium was found */
    bool complete;                  /* no other equilibria exist, because the equilibrium equations are linear */
    const char *note;               /* why other equilibria may exist; NULL if complete */
    bool steady; /* the items are steady motions, because some cyclic coordinate has an initial velocity */
} hamel_equilibria;

/* Finds equilibria of `d`, starting from the initial values and from at most `starts` random configurations around
 * them. For a large system fewer configurations are tried, to bound the work. Cyclic coordinates with an initial
 * velocity keep that velocity (steady motions). For a family of equilibria, the member nearest to the initial values is
 * returned. If the equations contain t, only configurations that are equilibria at all times are returned. If a
 * constraint or force changes with time or requires motion, the system cannot be at rest. The function then returns
 * HAMEL_INVALID with the name of the constraint or force. An empty list is not an error. On success the caller owns
 * *out and frees it with hamel_equilibria_free. */
hamel_status hamel_find_equilibria(hamel_equilibria **out, const hamel_description *d, size_t starts,
                                   const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;
void hamel_equilibria_free(hamel_equilibria *equilibria);

/* Properties of a model. The model owns the results. */
size_t hamel_model_row_count(const hamel_model *model); /* number of rows of a run that reaches simulation.stop */
const hamel_header *hamel_model_header(const hamel_model *model); /* degrees_of_freedom is −1 before a run */
size_t hamel_model_bytes(const hamel_model *model);
size_t hamel_model_warning_count(const hamel_model *model);
/* Returns one of the warnings about the description. `index` must be less than hamel_model_warning_count. */
const char *hamel_model_warning(const hamel_model *model, size_t index);

/* Frees the memory that libraries cache for the calling thread between calls. Call it when the thread becomes idle.
 * Results remain valid. */
void hamel_release_thread(void);

/* Return the name and the one-line description of a formulation, or NULL if the index is too large. */
const char *hamel_formulation_name(size_t index);
const char *hamel_formulation_summary(size_t index);
