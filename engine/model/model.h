/* model.h — a compiled system: immutable, shared by threads.
 *
 * What a run needs is here and nothing else: programs, patterns, initial values, settings, names. The graph is kept
 * only to print the expression at fault when a value is not finite. */
#ifndef HAMEL_MODEL_MODEL_H
#define HAMEL_MODEL_MODEL_H

#include "engine/compile/native.h"
#include "engine/hamel.h"
#include "engine/mechanics/formulation.h"
#include "engine/mechanics/outputs.h"
#include "engine/mechanics/switches.h"

#include <float.h>

/* `simulation` of a description, checked and with defaults. */
typedef struct model_settings {
    double start, stop;  /* stop: INFINITY for a model that does not run */
    size_t row_count;    /* output times, both ends included */
    double step;         /* > 0: every step; 0: evenly spaced, or `times` */
    const double *times; /* as given, or NULL */
    double rtol;
    double *atol; /* n, per coordinate; velocities take their coordinate's */
    hamel_method method;
    hamel_projection projection;
    double baumgarte[2]; /* α, β of Φ'' + 2αΦ' + β²Φ = 0 */
    hamel_initialization initialization;
    double max_steps, max_step, time_limit; /* max_step, time_limit: 0 for none */
    bool certify;
} model_settings;

/* The i-th output time, i < row_count; the last is exactly `stop`. */
double settings_time(const model_settings *settings, size_t i);

typedef struct model_pattern {
    size_t count;
    int *row, *column;
} model_pattern;

/* What Hamel's coefficients are made of (transitivity_nodes), in one program of (t, q, q'); offsets of its outputs. */
typedef struct model_transitivity {
    program *program;
    model_pattern rate, slope, time, curl; /* curl: row and i */
    int *curl_k;
    size_t row_count, at_momentum, at_rest, at_rate, at_slope, at_time, at_curl, count;
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

/* The inputs by which the motion is differentiated: parameters p, given initial values q0 and q'0. Their numbers being
 * fixed in a model, so are the derivatives of all that follows from them before the motion. Row-major. */
typedef struct model_sensitivities {
    size_t count;
    const char **names;
    double *size;  /* count: |input|, 1 where it is 0 */
    size_t *first; /* count + 1: where the parameters that move with an input begin in the next two */
    int32_t *parameter;
    double *rate;        /* of the parameter along the input, not 0 */
    double *q0, *v0;     /* count × n: the given initial values along each input */
    double *u0;          /* count × quasi_initial_count: those of quasi-velocities */
    size_t output_count; /* outputs that are differentiated: all but the scene's */
    size_t column_count; /* of each input: n of q, n of q', outputs */
    bool
        unique_only; /* something contains multipliers, whose derivative needs constraints that do not depend on others */
    bool needs_ideal; /* or the reactions of ideal constraints apart from those that act */
} model_sensitivities;

/* A function that is differentiated along the motion: if it jumps, velocities are infinite. */
typedef struct model_continuous {
    const char *pointer, *what; /* "the position of a mass" */
    int32_t constraint;         /* of which it is the equation, or −1 */
} model_continuous;

/* What happens where its root passes through zero. Lists are the system's. */
typedef struct model_event {
    const char *name, *pointer;
    hamel_direction direction;
    bool terminate;
    bool has_rate; /* the rate of its root is known: no multipliers in it */
    bool has_bend; /* and that rate contains no accelerations: its own rate is known, too */
    bool contact;  /* the event itself changes that rate by an impulse or by new velocities */
    size_t set_count;
    const int32_t *targets;        /* i: q_i; n + i: q'_i */
    size_t at_set, at_restitution; /* in the outputs of `jumps`; one of each impulse */
    size_t impulse_count;
    const int32_t *impulses; /* constraints */
    bool named_gain;         /* the system's warnings name a restitution above 1 */
    size_t activate_count, deactivate_count;
    const int32_t *activate, *deactivate; /* constraints */
} model_event;

/* Whether the event changes the motion. */
static inline bool model_event_acts(const model_event *e) {
    return e->set_count > 0 || e->impulse_count > 0 || e->activate_count > 0 || e->deactivate_count > 0;
}

/* A slip along a surface with frictions that stick when it is 0: one speed, or components of it in space. */
typedef struct model_slip {
    size_t row, parts;  /* the constraints that hold it: as many of these rows act as are independent */
    size_t switched[3]; /* the switches whose branches are its direction */
    size_t first, last; /* frictions, in slip_frictions */
    size_t at_facing;   /* the unit normal in the outputs of `bounds`, by the axes of its components; where parts > 1 */
} model_slip;

struct hamel_model {
    arena memory;
    hamel_limits limits;
    hamel_system *system; /* names and graph */
    const formulation *formulation;
    size_t n, m, named_count; /* constraints beyond named_count are equations of impulses, */
    size_t ideal_count;       /* and beyond ideal_count rows of friction that sticks */
    constraint_order *order;  /* m */
    bool *active;             /* m: at the start */
    const double *parameters;
    double *q0, *v0;
    bool *velocity_given; /* n */
    /* Quasi-velocities with initial values: U (row by row) and U_0 of (t, q), for the initial velocities; NULL when none. */
    program *quasi;
    size_t quasi_initial_count;
    double *quasi_initial;
    const char **quasi_initial_names;
    model_settings settings;

    /* M, A, W, F, Q, b, ψ (velocity level), Φ (position level) of a state (t, q, q'), in one program: offsets of its
     * outputs. Rows without a level hold 0. */
    program *dynamics;
    size_t at_M, at_A, at_W, at_F, at_Q, at_b, at_velocity, at_position, dynamics_count;
    model_pattern M, A, W, F;         /* M: lower triangle */
    const graph_node *dynamics_nodes; /* dynamics_count: its outputs in the graph */
    /* The same equations solved (accelerations.c): q''[n] and λ[m] of (t, q, q', stabilization), then ACCELERATIONS_BESIDE
     * numbers: by how much, at least, the pivots of M are larger than they have to be (mass_pivot_least), and the least
     * squared sine of the angle between a row of A and the span of those before it, in the metric of M⁻¹. NULL where that
     * is no gain. */
    program *accelerations;
    size_t friction_count;
    int *friction_constraint; /* whose multiplier presses; column of F → constraint */
    size_t slip_count;
    model_slip *slips;
    size_t *slip_frictions; /* columns of F */
    /* μ_s |g| of each friction: what holds for each unit of |λ|; then unit normals. Of (t, q, q'); NULL without slips. */
    program *bounds;
    size_t bounds_count;
    /* Formulations in quasi-velocities: C and du/dt without accelerations too. */
    size_t at_C, at_quasi_bias;
    model_pattern C;
    bool linear_velocities;           /* of all formulations: no velocity constraint's row of A depends on velocities */
    model_transitivity *transitivity; /* NULL where the formulation does not ask for it */
    program *reaction_shift;          /* n, of (t, q, q'), to add to Q for multipliers; NULL for nothing */

    program *nonideal; /* C, n values of (t, q, q', ideal λ, ideal reactions); NULL when all constraints are ideal */
    /* For formulations in momenta, else NULL: M, A (at the same places as above), p and ψ of (t, q, q'); whether p and ψ
     * are linear in q'; and ∂L/∂q + Q, n values of (t, q, q', λ). */
    program *momenta, *momentum_rates;
    size_t at_momentum, at_momentum_velocity, momenta_count;
    bool momenta_linear;
    bool *cyclic; /* n: Routh's equations only, else NULL */

    /* p = ∂L/∂q' (n), h, and what has to be continuous along the motion, of (t, q, q'), to compare both branches where one
     * changes. NULL where branches do not matter to any of these or to ψ. */
    program *continuity;
    size_t continuous_count;
    model_continuous *continuous;

    program *residual;              /* n + m residuals of (t, q, q', q'', λ); for the Newton matrix */
    model_pattern residual_pattern; /* where ∂residual/∂q or ∂residual/∂q' is not structurally zero; by row */
    program *energy_rate;           /* dh/dt of (t, q, q', λ, non-ideal reactions); NULL when it is identically 0 */

    /* Quasi-velocities and outputs, then invariants, then checks, then h, of (t, q, q', q'', λ, free accelerations). */
    program *observed;
    size_t output_count, invariant_count, /* outputs: quasi-velocities first */
        check_count, observed_count;
    bool needs_free;                /* free accelerations are observed, or events ask for them */
    const char **observed_pointers; /* where each is written */
    model_invariant *invariants;
    model_check *checks;

    /* `roots`: of what is observed, the functions that pass through zero at events, in their order, then the arguments of
     * the system's switches. `jumps`: the rates of the former (0 where not known), then what events assign. `switches`: the
     * arguments of switches that are held as they are written, others 0, of (t, q, q'). NULL where empty. */
    model_event *events;
    size_t event_count, root_count, jump_count;
    program *roots, *jumps, *switches;
    native_code native;         /* what runs them; zero: the interpreter */
    const char *not_translated; /* why not, when that was asked for; else NULL */

    model_sensitivities *sensitivities; /* NULL: none asked for */
    size_t state_column_count;          /* t, q, q', outputs */
    size_t all_column_count;            /* these and derivatives, input by input: before `record` */
    size_t *recorded;                   /* column → index in all columns */
    hamel_header header;
    const char *hash;
    double derive_seconds;
};

/* settings.c: fills model->settings from the description; faults go to the system's error. */
hamel_status settings_resolve(hamel_model *model, const hamel_description *d);

/* sensitivities.c. Finds the inputs and, unless there are other faults, differentiates what follows from them. */
hamel_status model_find_sensitivities(hamel_model *model, const hamel_simulation *in);
/* Whether the equations have derivatives, once everything is compiled; a fault that says why not. */
hamel_status model_admit_sensitivities(const hamel_model *model, const hamel_observed *o,
                                       hamel_error *error) HAMEL_CHECKED;
/* Names and units of their columns into these, from state_column_count on; false without memory. */
bool model_name_sensitivities(hamel_model *model, const hamel_observed *o, const char **columns, const char **units);

/* events.c: compiles the system's events, which are bound, into the model. */
hamel_status events_compile(hamel_model *model, hamel_error *error);
/* slips.c: the signs of the speeds of frictions that stick, and in space the components of their slips, NULL without memory;
 * and these frictions, where the symbols of switches stand in the place of the signs. */
graph_node *model_slip_directions(hamel_model *model);
hamel_status model_compile_slips(hamel_model *model, const graph_node *directions, hamel_error *error) HAMEL_CHECKED;
/* accelerations.c: solves the equations that are in the dynamics program, where these nodes are few enough. */
enum { ACCELERATIONS_BESIDE = 2 };
hamel_status model_compile_accelerations(hamel_model *model, const graph_node *dynamics,
                                         hamel_error *error) HAMEL_CHECKED;
/* momenta.c: M, A, p, ψ of formulations in momenta; *list stays NULL for the others. False without memory. */
bool model_list_momenta(hamel_model *model, const hamel_equations *e, graph_node **list);
/* continuity.c: p, h and what has to be continuous along the motion, before abrupt operators are held; and afterwards the
 * program of these, where a branch makes any difference to them or to the constraints on velocities in `dynamics`. */
bool model_list_continuity(hamel_model *model, const hamel_equations *e, graph_node **list);
hamel_status model_compile_continuity(hamel_model *model, graph_node *list, const graph_node *dynamics,
                                      hamel_error *error) HAMEL_CHECKED;

/* What pivots of M have to keep in an elimination in a fixed order: of the largest one, what rounding leaves of it at n
 * coordinates; and under constraints, which may make up for a singular M, a part of their own diagonal entry. By that part's
 * inverse rounding is passed on to later pivots: 1e-6 makes 1e-10 of it, which does not pass for a pivot in turn, and
 * leaves ten digits. */
static const double MASS_PIVOT_KEPT = 1e-6;
/* Near e = (1, 0, 0, 0) the mass of e0 vanishes with all of its row, but not the force on it, which the norm holds: the pivot
 * keeps all of its diagonal entry, and the acceleration is the difference of two numbers that are larger by the pivot's
 * inverse. 1e-6 of the largest pivot leaves ten digits. Where M is diagonal forces vanish with the masses. */
static const double MASS_PIVOT_LEAST = 1e-6;
static inline double mass_pivot_least(size_t n, bool diagonal, bool constrained) {
    return constrained && !diagonal ? MASS_PIVOT_LEAST : (double)n * DBL_EPSILON;
}

/* Name of the i-th output column: quasi-velocities, then outputs. */
static inline const char *model_output_name(const hamel_model *model, size_t i) {
    const hamel_system *s = model->system;
    return i < s->quasi_count ? s->quasi[i].name : s->outputs[i - s->quasi_count].name;
}

/* The programs that a run evaluates again and again; NULL where the model has no such. */
enum { MODEL_RUN_PROGRAMS = 12 };
void model_run_programs(const hamel_model *model, program *list[MODEL_RUN_PROGRAMS]);

/* The inputs of a program at a state. Arrays not needed may be NULL. */
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

/* Adds a NOT_FINITE fault that names the expression in `p` at fault at time t (or says only where, when every operation
 * is finite). `place` says what was being evaluated. */
hamel_status model_not_finite(const hamel_model *model, const program *p, const program_inputs *inputs,
                              double *workspace, double t, const char *pointer, const char *place, hamel_error *error);

#endif
