/* model.h — a compiled system: immutable, shared by threads.
 *
 * A model contains the programs, patterns, initial values, settings and names that a run needs. Its graph is closed:
 * nodes cannot be added. A run uses the nodes to print expressions that are not finite and to bound the rounding of
 * residuals. A sweep compiles the values that depend on its parameters from the nodes. The tables that are needed only
 * to create nodes take five times as much memory as the nodes and are freed. */
#pragma once

#include "engine/compile/native.h"
#include "engine/hamel.h"
#include "engine/linear/sparse_block.h"
#include "engine/mechanics/formulation.h"
#include "engine/mechanics/nonsmooth.h"

/* The `simulation` section of a description, checked and with defaults. */
typedef struct model_settings {
    double start, stop;  /* stop is INFINITY if the description has no stop time */
    size_t row_count;    /* number of output times, including both ends */
    double step;         /* interval between rows, or 0 if rows are at `times` or evenly spaced */
    const double *times; /* row_count increasing output times, or NULL */
    double rtol;
    double *atol; /* n: tolerance of each coordinate, and of its velocity */
    hamel_method method;
    hamel_projection projection;
    double baumgarte[2]; /* α, β of Φ'' + 2αΦ' + β²Φ = 0 */
    hamel_initialization initialization;
    double max_steps, max_step, time_limit; /* max_step, time_limit: 0 if there is no limit */
    bool certify;
} model_settings;

/* Returns the i-th output time, i < row_count. If `times` is NULL, the last output time is exactly `stop`. */
double settings_time(const model_settings *settings, size_t i);

/* A program of (t, q, q') that computes the derivatives in transitivity_nodes, with the offsets of its outputs. */
typedef struct model_transitivity {
    program *program;
    sparse_block rate, slope, time, curl; /* the indices of curl are row, i and curl_k */
    int *curl_k;
    size_t row_count, at_momentum, count;
} model_transitivity;

typedef struct model_check {
    const char *name;
    hamel_check_at at;
    double time;
    bool has_equals, has_min, has_max;
    double equals, tolerance, min, max;
} model_check;

typedef struct model_invariant {
    const char *name;
    bool has_tolerance;
    double tolerance;
} model_invariant;

/* The inputs with respect to which the motion is differentiated: parameters p, specified initial values q0 and q'0. The
 * model contains the derivatives of all parameters and initial values that depend on inputs. Matrices are row-major. */
typedef struct model_sensitivities {
    size_t count;
    const char **names;
    double *size;  /* count: |input|, or 1 if the input is 0 */
    size_t *first; /* count + 1: input k affects entries first[k] to first[k + 1] − 1 of the next two arrays */
    int32_t *parameter;
    double *rate;        /* nonzero derivative of the parameter with respect to the input */
    double *q0, *v0;     /* count × n: derivatives of the given initial values with respect to each input */
    double *u0;          /* count × quasi.count: derivatives of the initial values of quasi-velocities */
    size_t output_count; /* number of differentiated outputs: all outputs except those of the scene */
    size_t column_count; /* columns for each input: n for q, n for q', then outputs */
    /* true if derivatives of multipliers are needed, which do not exist if constraints are redundant */
    bool unique_only;
    bool needs_ideal; /* true if ideal reactions must be separated from all other reactions */
} model_sensitivities;

/* A function that must be continuous because it is differentiated along the motion. */
typedef struct model_continuous {
    const char *pointer, *what; /* `what`: name of the function in messages, such as "the position of a mass" */
    int32_t constraint;         /* constraint whose equation contains the function, or −1 */
} model_continuous;

/* An event, and the actions of the run when its root function is zero. The system owns the lists. */
typedef struct model_event {
    const char *name, *pointer;
    hamel_direction direction;
    bool terminate;
    bool has_rate; /* true if the rate of the root function is known: the function depends on (t, q, q') only */
    bool has_bend; /* true if the second rate is known: the rate depends on (t, q, q') only */
    bool contact;  /* whether impulses or assignments of the event change the rate of its root function */
    size_t set_count;
    const int32_t *targets; /* set_count targets: i for q_i, n + i for q'_i */
    /* offsets in the outputs of `jumps`: set_count assigned values at at_set, impulse_count restitutions at
     * at_restitution */
    size_t at_set, at_restitution;
    size_t impulse_count;
    const int32_t *impulses; /* constraints that act impulsively */
    size_t percussion_count;
    /* momentum_count generalized impulses of percussions, from at_momentum on in the outputs of `jumps`. Impulse k is
     * the part of percussion momentum_rows[k] that acts on the coordinate momentum_columns[k] */
    size_t momentum_count, at_momentum;
    const int32_t *momentum_rows, *momentum_columns;
    bool named_gain; /* whether the system's warnings already name a restitution above 1 */
    size_t activate_count, deactivate_count;
    const int32_t *activate, *deactivate; /* constraints */
} model_event;

/* Returns true if the event has impulses or percussions. */
static inline bool model_event_strikes(const model_event *e) {
    return e->impulse_count > 0 || e->percussion_count > 0;
}

/* Returns true if the event changes the motion. */
static inline bool model_event_acts(const model_event *e) {
    return e->set_count > 0 || model_event_strikes(e) || e->activate_count > 0 || e->deactivate_count > 0;
}

/* Returns Appell's type, 1 to 4, of a constraint that acts during the impulses of an event. `before` and `after` are
 * true if the constraint acts before and after the event (Papastavridis, Analytical Mechanics, ch. 4, Table 1;
 * engine/simulate/impact.h). */
static inline int model_impact_type(bool before, bool after) {
    return (before ? 1 : 2) + (after ? 0 : 2);
}

/* The slip velocity of a contact along a surface: one speed in the plane, several components in space. The contact
 * sticks while the slip is 0. */
typedef struct model_slip {
    /* row: first of the constraints that keep the slip at 0; parts: number of these constraints, redundant ones
     * included */
    size_t row, parts;
    size_t nonsmooth[3]; /* nonsmooth operators whose branches represent the slip direction */
    size_t first, last;  /* range of the frictions of the contact in slip_frictions */
    size_t at_facing; /* if parts > 1: offset of the unit normal, in the axes of the slip, in the outputs of `bounds` */
} model_slip;

/* The programs of the equations of motion, with the offsets of their outputs. */
typedef struct model_dynamics {
    /* One program of (t, q, q') computes M, A, W, F, Q, b, ψ (velocity level) and Φ (position level). The fields from M
     * to at_position contain the offsets of these outputs. ψ is 0 for acceleration constraints. Φ is 0 for all
     * constraints that are not holonomic. */
    struct program *program;
    sparse_block M, A, W, F; /* M: n × n, lower triangle; A: m × n; W: n × m; F: n × frictions */
    size_t at_Q, at_b, at_velocity, at_position, count;
    /* If not NULL, the program computes the values of this congruence in place of M, from at_mass on. dynamics.c then
     * computes the entries of M and stores them after the outputs. */
    const congruence *mass;
    uint32_t *mass_places;
    size_t at_mass, value_count; /* value_count: `count` outputs, then M if `mass` is not NULL */
    const graph_node *nodes;     /* nodes[count] of the program's outputs */
    /* In formulations in quasi-velocities, the program also computes C and the part of du/dt without accelerations. */
    sparse_block C; /* quasi-velocities × n */
    size_t at_quasi_bias;
    bool linear_velocities; /* true if no row of A that belongs to a velocity constraint depends on velocities */
    /* Program of (t, q, q', stabilization) that solves the equations in closed form (accelerations.c). Its outputs are
     * q''[n], λ[m] and ACCELERATIONS_BESIDE measures of accuracy. The first measure is the smallest excess of a pivot
     * of M over its required size (engine/base/tolerances.h). The second measure is the smallest squared sine of the
     * angle between a row of A and the span of the preceding rows, in the metric of M⁻¹. The program is NULL if the
     * closed form does not apply or is not faster than numerical factorization. */
    struct program *accelerations;
    /* Programs of (t, q, q', λ) that solve M x + Aᵀ μ = 0 and A x = r in closed form for a Newton step x of a
     * projection. The input λ contains r. `correct_positions` has the rows of the holonomic constraints,
     * `correct_velocities` all rows except those of acceleration constraints. The outputs are x[n] and the measures of
     * `accelerations`. A program is NULL if numerical factorization is as fast, or if it is the first and would have
     * the rows of the second (model_correction). */
    struct program *correct_positions, *correct_velocities;
    struct program *reaction_shift; /* n values of (t, q, q') to add to Q for multipliers; NULL if all are 0 */
    struct program
        *nonideal; /* n forces C of (t, q, q', ideal λ, ideal reactions); NULL if all constraints are ideal */
    struct program *residual;      /* n + m residuals of (t, q, q', q'', λ); for the Newton matrix */
    sparse_block residual_pattern; /* structural nonzeros of ∂residual/∂q and ∂residual/∂q', row by row */
    struct program *energy_rate;   /* dh/dt of (t, q, q', λ, nonideal reactions); NULL if it is identically 0 */
} model_dynamics;

/* Coulomb friction, and the slip velocities of the contacts that can stick. */
typedef struct model_friction {
    size_t count;
    int *constraint; /* column of F → constraint whose multiplier is the normal force */
    size_t slip_count;
    model_slip *slips;
    size_t *slip_frictions; /* columns of F, grouped by slip */
    /* Program of (t, q, q'): μ_s |g| of each friction, the largest holding force per unit of |λ|, then unit normals.
     * NULL if there are no slips. */
    struct program *bounds;
    size_t bounds_count;
} model_friction;

/* Quasi-velocities with initial values. The initial velocities follow from u = U q' + U_0. For each quasi-velocity, the
 * program computes its row of U and its U_0 from (t, q). */
typedef struct model_quasi {
    struct program *program; /* NULL if no quasi-velocity has an initial value */
    size_t count;
    double *initial;
    const char **names;
} model_quasi;

/* Programs of formulations in momenta; NULL for all other formulations. `program` computes M, A (at the same offsets as
 * in the dynamics), p and ψ from (t, q, q'). `rates` computes the n values ∂L/∂q + Q from (t, q, q', λ). `linear` is
 * true if p and ψ are linear in q'. */
typedef struct model_momenta {
    struct program *program, *rates;
    size_t at_momentum, at_velocity, count;
    bool linear;
    bool *cyclic; /* n: which coordinates are cyclic; NULL except in Routh's equations */
} model_momenta;

/* Functions of (t, q, q') that are compared before and after a change of branch. The functions are p = ∂L/∂q' (n
 * values), h, and functions that must be continuous along the motion. The program is NULL if neither these functions
 * nor ψ and A depend on a branch. */
typedef struct model_continuity {
    struct program *program;
    size_t count;
    model_continuous *functions;
} model_continuity;

/* A program of (t, q, q', q'', λ, free accelerations) for quasi-velocities, outputs, invariants, checks and h, in this
 * order. The program also reads q''', reactions and integrals over time. */
typedef struct model_observation {
    struct program *program;
    /* output_count includes the quasi-velocities, which come first */
    size_t output_count, invariant_count, check_count, count;
    bool needs_free; /* whether observed expressions, integrands or events contain free accelerations */
    /* Program of the integrands of integrals over time, integral_count outputs; NULL without integrals. It has the
     * inputs of the observation program except q''' and integrals. integral_pointers[k] is the JSON Pointer of an
     * expression that contains integral k. */
    struct program *integrands;
    size_t integral_count;
    const char **integral_pointers;
    /* Right-hand sides of the equations for q''' (engine/dynamics/jerk.h), n + m outputs; NULL if no observed
     * expression contains q'''. */
    struct program *jerk;
    const char **pointers; /* JSON Pointer of each observed expression */
    model_invariant *invariants;
    model_check *checks;
} model_observation;

/* `roots` and `jumps` have the inputs of the observation program except q''' and integrals. The inputs of `nonsmooth`
 * and `kinetic` are (t, q, q'). A program without outputs is NULL.
 *   roots       root functions of the events, then arguments of the nonsmooth operators
 *   jumps       rates of the root functions (0 if unknown), then assigned values, restitutions and generalized impulses of events
 *   kinetic     hamel_observed.kinetic
 *   nonsmooth   arguments of the nonsmooth operators whose branches are held, before branch symbols are substituted;
 *               0 for all other operators */
typedef struct model_events {
    model_event *list;
    size_t count, root_count, jump_count;
    struct program *roots, *jumps, *kinetic, *nonsmooth;
    bool quadratic; /* true if M does not depend on velocities */
} model_events;

typedef struct model_columns {
    size_t state_count; /* number of columns for t, q, q' and outputs */
    size_t all_count;   /* number of all columns, including derivatives with respect to inputs */
    size_t *recorded;   /* column of a row → index in all columns; selected by `record` */
} model_columns;

struct hamel_model {
    arena memory, derivation; /* `derivation`: tables for creating nodes; empty once the graph is closed */
    hamel_limits limits;
    hamel_system *system; /* names and graph */
    const formulation *formulation;
    size_t n, m, named_count; /* constraints c ≥ named_count exist only for the impulses of events */
    size_t ideal_count;       /* constraints c ≥ ideal_count are rows of sticking friction */
    constraint_order *order;  /* m */
    bool *active;             /* m: whether the constraint is active at the initial state */
    const double *parameters;
    double *q0, *v0;
    bool *velocity_given; /* n: whether the description gives the initial velocity */
    model_settings settings;
    model_quasi quasi;
    model_dynamics dynamics;
    model_friction friction;
    model_transitivity *transitivity; /* NULL if the formulation does not need it */
    const bool *independent;          /* n: true if q'_i must not be dependent; NULL except in Chaplygin's equations */
    model_momenta momenta;
    model_continuity continuity;
    model_observation observation;
    model_events events;
    model_sensitivities *sensitivities; /* NULL if not requested */
    model_columns columns;
    native_code native;         /* machine code of the programs; all zero if they are interpreted */
    hamel_jit jit;              /* whether machine code may be used */
    const char *not_translated; /* why a requested translation failed, or NULL */
    hamel_header header;
    const char *hash;
    double derive_seconds;
};

/* Creates a model for analyses, as hamel_model_create does, but derives all entries of M as expressions. The graph
 * stays open, so that further expressions can be derived. */
hamel_status model_derive(hamel_model **out, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                          hamel_error *error) HAMEL_CHECKED;

/* Compiles the nodes to a program in the model's memory. If `nodes` is NULL, *out does not change. Errors are added to
 * the system's error. */
hamel_status model_compile(hamel_model *model, program **out, const graph_node *nodes, size_t count) HAMEL_CHECKED;

/* Append the nodes of a pattern or a list, with `zero` in place of GRAPH_NONE, and return the new end. */
graph_node *model_append_pattern(graph_node *at, const matrix_pattern *p);
graph_node *model_append_nodes(graph_node *at, const graph_node *nodes, size_t count, graph_node zero);

/* residual.c: compiles the residuals and finds the pattern of their derivatives with respect to q and q'. */
hamel_status model_compile_residual(hamel_model *model, const hamel_equations *e) HAMEL_CHECKED;

/* observation.c: the first function validates invariants and checks before equations are derived. The second function
 * names all columns and selects the columns in `record`. The third function compiles the observation program. */
hamel_status model_resolve_observed(hamel_model *model, const hamel_description *d);
hamel_status model_make_header(hamel_model *model, const hamel_description *d, const hamel_observed *o) HAMEL_CHECKED;
hamel_status model_compile_observed(hamel_model *model, const hamel_equations *e,
                                    const hamel_observed *o) HAMEL_CHECKED;

/* settings.c: fills model->settings from the description; errors are added to the system's error. */
hamel_status settings_resolve(hamel_model *model, const hamel_description *d);

/* jerk.c: if observed expressions contain q''', compiles observation.jerk. In the residuals of `e`, branch symbols must
 * replace nonsmooth operators. Adds an error if q''' is not available. */
hamel_status model_compile_jerk(hamel_model *model, const hamel_equations *e) HAMEL_CHECKED;

/* sensitivities.c. Finds the inputs and, unless there are other errors, differentiates the parameters and initial
 * values that depend on them. */
hamel_status model_find_sensitivities(hamel_model *model, const hamel_simulation *in);
/* If the compiled equations are differentiable, returns HAMEL_OK. Otherwise adds an error with the reason. */
hamel_status model_admit_sensitivities(const hamel_model *model, const hamel_observed *o) HAMEL_CHECKED;
/* Writes the names and units of the columns of derivatives, from columns.state_count on. Returns false if out of
 * memory. */
bool model_name_sensitivities(hamel_model *model, const hamel_observed *o, const char **columns, const char **units);

/* events.c: compiles the system's events into the model. The events must be bound. */
hamel_status events_compile(hamel_model *model, const hamel_observed *o);
/* slips.c: for frictions that can stick, the first function lists the sign of the slip or, in space, the components of
 * the slip. It returns NULL if out of memory. The second function compiles the slips from this list, in which branch
 * symbols must have replaced the signs. */
graph_node *model_slip_directions(hamel_model *model);
hamel_status model_compile_slips(hamel_model *model, const graph_node *directions) HAMEL_CHECKED;
/* accelerations.c: solves the equations of the dynamics program as expressions, if the result is small enough. */
enum { ACCELERATIONS_BESIDE = 2 };
hamel_status model_compile_accelerations(hamel_model *model, const hamel_equations *e,
                                         const graph_node *dynamics) HAMEL_CHECKED;
/* continuity.c: the first function lists p, h and the functions that must be continuous along the motion. This function
 * must be called before nonsmooth operators are replaced. The second function compiles these functions if they or the
 * velocity constraints in `dynamics` depend on a branch. */
bool model_list_continuity(hamel_model *model, const hamel_equations *e, graph_node **list);
hamel_status model_compile_continuity(hamel_model *model, graph_node *list, const graph_node *dynamics) HAMEL_CHECKED;

/* Returns the program for the steps of a projection onto the constraints at the level of positions or velocities, or
 * NULL. */
static inline const struct program *model_correction(const hamel_model *model, bool position) {
    const model_dynamics *d = &model->dynamics;
    return position && d->correct_positions ? d->correct_positions : d->correct_velocities;
}

/* Returns the name of the i-th output column: quasi-velocities first, then outputs. */
static inline const char *model_output_name(const hamel_model *model, size_t i) {
    const hamel_system *s = model->system;
    return i < s->quasi_count ? s->quasi[i].name : s->outputs[i - s->quasi_count].name;
}

/* Lists the programs that a run evaluates repeatedly; an entry is NULL if the model does not have the program. */
enum { MODEL_RUN_PROGRAMS = 15 };
void model_run_programs(const hamel_model *model, program *list[MODEL_RUN_PROGRAMS]);

/* Returns the inputs of a program at a state. Arrays that the program does not read may be NULL. */
static inline program_inputs model_inputs(const hamel_model *model, const double *t, const double *q, const double *v,
                                          const double *a, const double *lambda, const double *free) {
    program_inputs in = {{0}};
    in.values[SYMBOL_PARAMETER] = model->parameters;
    in.values[SYMBOL_TIME] = t;
    in.values[SYMBOL_COORDINATE] = q;
    in.values[SYMBOL_VELOCITY] = v;
    in.values[SYMBOL_ACCELERATION] = a;
    in.values[SYMBOL_MULTIPLIER] = lambda;
    in.values[SYMBOL_FREE] = free;
    return in;
}

/* Returns a workspace of `p`, prepared for the parameters of the model. Returns NULL if p is NULL or if out of memory
 * (memory->failed). */
static inline double *model_workspace(const hamel_model *model, const struct program *p, arena *memory) {
    double *work = p ? arena_doubles(memory, program_workspace_doubles(p)) : NULL;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    if (work) program_prepare(p, &in, work);
    return work;
}

/* Adds a HAMEL_NOT_FINITE error at time t with the first expression in `p` that is not finite. If every operation is
 * finite, the error only names `place`, the quantity being evaluated. */
hamel_status model_not_finite(const hamel_model *model, const program *p, const program_inputs *inputs,
                              double *workspace, double t, const char *pointer, const char *place, hamel_error *error);
