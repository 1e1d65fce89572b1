/* system.h — a checked description. Names are bound, families are expanded, and all expressions are nodes of one graph.
 *
 * system_create reports as many errors as it can find. The system refers to strings of the description until the model
 * is created. Names that are needed after that are copied. All memory is allocated in the arena passed to
 * system_create. */
#pragma once

#include "engine/base/symbol_table.h"
#include "engine/graph/graph.h"
#include "engine/hamel.h"
#include "engine/text/parser.h"

/* The value of a loop variable for one member of a family. */
typedef struct loop_variable {
    const char *name;
    size_t length;
    double value;
} loop_variable;

typedef struct system_coordinate {
    const char *name, *unit;
    size_t described; /* index in the coordinates of the description */
    double initial, velocity;
    graph_node initial_node, velocity_node; /* GRAPH_NONE if not given */
    bool velocity_given;
    graph_node force;    /* sum of the user's generalized forces without −∂D/∂q', or the number 0 */
    graph_node nonideal; /* sum of the nonideal reactions C, which depend on the ideal λ; the number 0 if absent */
} system_coordinate;

/* An expression of numbers and parameters that must not be negative. */
typedef struct system_sign {
    graph_node node;
    const char *pointer, *what; /* JSON Pointer of the quantity, and a text such as "the mass of `a`" */
} system_sign;

/* A point mass: a particle, or a body's mass at its centre. */
typedef struct system_particle {
    const char *pointer;
    graph_node mass, position[3]; /* position[2] is 0 in the plane */
    int32_t element;              /* index of the particle or body */
} system_particle;

/* A body's rotation about its centre. */
typedef struct system_rotor {
    graph_node inertia[9], omega[3]; /* moments of inertia and angular velocity in body axes */
    int32_t element;                 /* index of the body */
} system_rotor;

/* An orientation by three Euler angles. The orientation is singular if the first and the third axis coincide. */
typedef struct system_angles {
    const char *name, *pointer; /* name of the body or frame; pointer of its orientation */
    graph_node sine;            /* sine of the angle between the first and the third axis */
} system_angles;

typedef enum constraint_order { CONSTRAINT_HOLONOMIC, CONSTRAINT_VELOCITY, CONSTRAINT_ACCELERATION } constraint_order;

/* u = Σ U_i(q,t) q'_i + U_0(q,t) */
typedef struct system_quasi_velocity {
    const char *name, *pointer;
    graph_node definition;
    double initial;
    graph_node initial_node; /* initial value; GRAPH_NONE if not given */
} system_quasi_velocity;

typedef struct system_constraint {
    const char *name, *pointer;
    bool inactive;                            /* inactive in the initial state */
    constraint_order order;                   /* derived from the symbols in the equation */
    graph_node *direction;                    /* n: direction D of the reaction λ D; NULL: D = ∂f/∂q */
    graph_node equation;                      /* f = lhs − rhs; the constraint is f = 0 */
    const hamel_expression *written;          /* text of f, valid in the scope of `loops` */
    const struct hamel_constraint *described; /* NULL if an element adds the constraint */
    size_t loop_count;
    loop_variable *loops;
} system_constraint;

/* Coulomb friction: a force of magnitude μ |λ| |g| on a point, opposite to its slip velocity. */
typedef struct system_friction {
    int32_t constraint; /* index of the constraint whose reaction is the normal force */
    int32_t ends[2];    /* elements of the point and of the surface; the second is −1 for a surface at rest */
    const char *pointer;
    graph_node coefficient;
    graph_node limit;      /* static μ; not less than the sliding μ */
    double regularization; /* speed ε; if ε = 0, the point can stick */
    graph_node normal[3];  /* g; λ g is the force of the reaction on the point, in inertial components */
    graph_node slip[3];    /* velocity of the point relative to the surface */
    /* The part of the slip velocity along the surface, which is 0 while the point sticks. In the plane, this part is
     * one signed speed. In space, it has components in the axes of the surface; components that are always 0 are
     * omitted. */
    graph_node along[3];
    size_t along_count;   /* 0 if the point never sticks */
    graph_node facing[3]; /* components of g/|g| that correspond to `along`; space only */
    /* Index of the first of the constraints `along` = 0, or −1. Frictions with the same slip velocity share these
     * constraints. */
    int32_t row;
    /* Index of the first nonsmooth operator that holds the slip direction between events. If `along` has only one
     * component, the index is −1: the branch of the operator sign() of that component gives the direction. */
    int32_t held;
    int32_t *coordinates; /* coordinates whose velocities occur in `slip` */
    size_t count;
} system_friction;

/* Kinds of nonsmooth operators. A symbol represents the branch of each operator (mechanics/nonsmooth.h). */
typedef enum nonsmooth_kind {
    NONSMOOTH_SIGN,
    NONSMOOTH_FLOOR,
    NONSMOOTH_TABLE,
    NONSMOOTH_SLIP,     /* sign of a slip speed; 0 while the point sticks (dynamics/stick_slip.h) */
    NONSMOOTH_DIRECTION /* component of a held slip direction in space, scaled to a negligible speed (friction.c) */
} nonsmooth_kind;
typedef struct system_nonsmooth {
    nonsmooth_kind kind;
    const graph_table *table;
    /* `written` is the operator's argument z as in the description. In `argument`, branch symbols replace the nonsmooth
     * operators in z. */
    graph_node written, argument;
    bool held;  /* false if no branch symbol replaces the operator, because z contains multipliers or reactions */
    bool jumps; /* whether any operator applied to z jumps where the branch changes */
    int32_t slip, part; /* kinds SLIP and DIRECTION: index of the slip velocity in the model, and its component */
    int32_t next;       /* next operator with the same `written`, or −1 */
} system_nonsmooth;

/* An impulse of given magnitude. along[k] is the quantity along which component k acts: an inertial coordinate of the
 * struck point, or the struck coordinate. */
typedef struct system_percussion {
    const hamel_percussion *described;
    graph_node along[3];
    size_t count; /* number of components */
} system_percussion;

/* An event. mechanics/outputs.c binds the expressions of the event with the outputs, since these expressions may
 * contain derived quantities. */
typedef struct system_event {
    const char *name, *pointer;
    const hamel_event *described;
    size_t loop_count;
    loop_variable *loops;
    size_t set_count;
    int32_t *targets;                /* targets of `set`: i means q_i, n + i means q'_i */
    const hamel_expression **values; /* values assigned to the targets */
    size_t impulse_count;
    int32_t *impulses; /* indices of the constraints */
    size_t percussion_count;
    system_percussion *percussions;
    /* The generalized impulses of the percussions, set by percussions_bind. momenta[k] is the part of percussion
     * momentum_rows[k] that acts on the coordinate momentum_columns[k]. */
    size_t momentum_count;
    int32_t *momentum_rows, *momentum_columns;
    graph_node *momenta;
    bool named_gain; /* true once a warning about a restitution above 1 has been added */
    size_t activate_count, deactivate_count;
    int32_t *activate, *deactivate;            /* indices of constraints */
    graph_node when, *restitutions, *assigned; /* set by outputs_bind */
} system_event;

/* An expression that is differentiated with respect to time and must therefore be continuous along the motion. */
typedef struct system_continuous {
    graph_node node;
    const char *pointer, *what; /* text such as "the position of a mass" */
} system_continuous;

/* A force or a term of the potential energy, with its origin. */
typedef struct system_action {
    const char *origin;   /* "spring s1", "gravity"; actions of one element share this pointer */
    graph_node potential; /* a potential with the forces −∂V/∂q; GRAPH_NONE for a force */
    int32_t coordinate;   /* coordinate on which a force acts */
    graph_node force;
} system_action;

/* A force F of the description and the quantity along which F does work. Its generalized forces are F ∂along/∂s; s are
 * coordinates or velocities, depending on `kind`. engine/analyze/differences.c uses the struct to check equations by
 * finite differences. */
typedef struct system_work {
    graph_node force, along;
    graph_symbol_kind kind; /* kind of the symbols s */
} system_work;

/* Kinds of mechanical interactions: a force or couple on one element, or opposite forces or couples on two elements. */
typedef enum interaction_kind {
    INTERACTION_GRAVITY, /* force `strength` · first on ends[0] */
    INTERACTION_LOAD,    /* force first and couple second on ends[0] */
    INTERACTION_SPRING,  /* stiffness `strength`, natural length `length` */
    INTERACTION_DAMPER,  /* coefficient `strength` */
    INTERACTION_ROD,     /* joint: force along the line from ends[1] to ends[0] */
    INTERACTION_FORCE,   /* joint: force along the inertial axis `axis`, or along first if `axis` is −1 */
    INTERACTION_COUPLE   /* joint: couple first × second on ends[0] */
} interaction_kind;

/* The point at which the opposite forces of a joint act. It is the origin of each end, the origin of the first or of
 * the second end, or the position `second`. */
typedef enum interaction_point { AT_EACH_ORIGIN, AT_FIRST_ORIGIN, AT_SECOND_ORIGIN, AT_GIVEN_POINT } interaction_point;

/* The interaction that an element or a joint adds. Vectors have inertial components. The force or couple of a joint on
 * ends[0] is the vector given here times the multiplier of the constraint. An opposite force or couple acts on ends[1].
 * Analyses evaluate the nodes; runs do not. */
typedef struct system_interaction {
    uint8_t kind, point; /* interaction_kind, interaction_point */
    int8_t axis;
    const char *origin;                               /* as in system_action; NULL for joints */
    int32_t ends[2];                                  /* indices of the elements; −1: none, or at rest */
    int32_t constraint;                               /* constraint of a joint, or −1 */
    graph_node strength, length, first[3], second[3]; /* GRAPH_NONE if unused */
} system_interaction;

enum { FAMILY_DEPTH = 8, SCOPE_MAX = FAMILY_DEPTH + SYNTAX_SUMS_MAX };
typedef struct loop_scope {
    size_t count;
    loop_variable variables[SCOPE_MAX];
} loop_scope;

/* An output. Its expression is bound after the equations, since it may contain derived quantities. Outputs of the scene
 * have a node instead of an expression. */
typedef struct system_output {
    const char *name, *pointer;
    const hamel_expression *expression; /* NULL: the output is `node` */
    graph_node node;
    size_t loop_count;
    loop_variable *loops;
} system_output;

typedef struct system_binder system_binder;
typedef struct system_units system_units;

typedef struct hamel_system {
    arena *memory;
    graph *graph;
    const hamel_description *description;
    const hamel_limits *limits;
    hamel_poll *poll;
    hamel_error *error;

    size_t parameter_count;
    const char **parameter_names, **parameter_units;
    double *parameter_values;
    graph_node *parameter_nodes; /* expressions of the parameters: numbers and other parameters */
    bool *parameter_structural;  /* true if the equations contain the value instead of the symbol */
    bool *parameter_judged;      /* true if a check used the value; another value requires a new model */
    system_sign *signs;          /* values that must not become negative */
    size_t sign_count, sign_capacity;

    size_t coordinate_count, coordinate_capacity;
    system_coordinate *coordinates;
    graph_node *q, *v, *a; /* symbols of coordinates, velocities and accelerations */
    size_t quasi_count;
    system_quasi_velocity *quasi;

    /* Energies as lists of terms. Each term is differentiated only with respect to the symbols it contains. */
    size_t kinetic_count, kinetic_capacity, potential_count, potential_capacity;
    graph_node *kinetic, *potential;
    graph_sums energy_sums; /* sums from which these terms come */
    size_t kinetic_given,
        potential_given;   /* number of leading terms from the user's expressions; elements add further terms */
    graph_node lagrangian; /* GRAPH_NONE: L = T − V */
    graph_node acceleration_energy; /* the user's Gibbs–Appell function S, or GRAPH_NONE */
    graph_node dissipation;         /* Rayleigh's function; the number 0 if absent */
    int dimension;                  /* 2 or 3; 0 if no element has a position */
    system_action *actions;         /* copies of all forces and potential terms, with their origins */
    size_t action_count, action_capacity;
    const char *origin; /* origin of the element that is being bound */
    size_t work_count, work_capacity;
    system_work *works;

    size_t interaction_count, interaction_capacity;
    system_interaction *interactions;

    system_continuous *continuous;
    size_t continuous_count, continuous_capacity;
    /* integrands[k] is the integrand of the symbol SYMBOL_INTEGRAL with index k; integral_pointers[k] is the JSON
     * Pointer of an expression that contains this symbol */
    graph_node *integrands;
    const char **integral_pointers;
    size_t integral_count, integral_capacity, integral_pointer_capacity;
    bool complete; /* true once the equations are complete: expressions bound later are only observed */

    size_t particle_count, particle_capacity;
    system_particle *particles;
    size_t rotor_count, rotor_capacity;
    system_rotor *rotors;
    size_t angles_count, angles_capacity;
    system_angles *angles; /* Euler orientations whose angles depend on coordinates */
    size_t constraint_count, constraint_capacity;
    system_constraint *constraints;
    size_t friction_count, friction_capacity;
    system_friction *frictions;
    size_t standing_count; /* constraints [0, standing_count) are active in the initial state */
    size_t named_count; /* constraints [0, named_count) have names in the description; equations of impulses follow */
    size_t
        ideal_count; /* constraints [0, ideal_count) include the equations of impulses; equations of friction follow */
    size_t nonsmooth_count, nonsmooth_capacity;
    system_nonsmooth *nonsmooth;
    size_t event_count, event_capacity;
    system_event *events;
    size_t output_count, output_capacity;
    system_output *outputs;
    hamel_scene *scene; /* NULL if not requested */
    size_t first_scene_output;

    const char **warnings, **warned; /* `warned` are the JSON Pointers of the warnings */
    size_t warning_count, warning_capacity, warned_capacity;

    system_units *units; /* NULL if the description has no units */
    system_binder *binder;
} hamel_system;

/* Checks a description, except the expressions of outputs, invariants and checks, and adds errors to `error`. Sets *out
 * even after errors, unless memory has run out, so that later passes can report further errors. Returns HAMEL_OK if
 * there is no error. */
hamel_status system_create(hamel_system **out, arena *memory, arena *scratch, const hamel_description *d,
                           const hamel_limits *limits, hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;

/* --- bind.c: expressions to nodes --------------------------------------------------------------------------------- */

/* The place of an expression in the description determines which symbols it may contain. */
#define SYSTEM_PLACE_LIST(X)                                                                        \
    X(PARAMETERS, "parameters", 0x01)                                                               \
    X(POSITION, "parameters, time and coordinates", 0x07)                                           \
    X(ENERGY, "parameters, time, coordinates and velocities", 0x0f)                                 \
    X(FORCE, "parameters, time, coordinates, velocities and multipliers", 0x2f)                     \
    X(NONIDEAL, "parameters, time, coordinates, velocities, ideal reactions and multipliers", 0xaf) \
    X(CONSTRAINT, "parameters, time, coordinates, velocities and accelerations", 0x1f)              \
    X(DEFINITION, "anything but derived quantities", 0x3f)                                          \
    X(OUTPUT, "anything", 0x13ff)

typedef enum system_place {
#define X(name, meaning, mask) PLACE_##name,
    SYSTEM_PLACE_LIST(X)
#undef X
} system_place;

/* Values of FORM in form_residual(FORM, coordinate): forms of the equations of motion (mechanics/form_residual.h). */
typedef enum residual_form {
    RESIDUAL_NIELSEN,
    RESIDUAL_TSENOV,
    RESIDUAL_MANGERON_DELEANU,
    RESIDUAL_JOURDAIN,
    RESIDUAL_CENTRAL,
    RESIDUAL_FORMS
} residual_form;

/* Values of NAME in energy_rate(NAME) and quasi_energy_rate(NAME) (mechanics/energy_rate.h). Columns: enumerator, name,
 * true if energy_rate accepts the name, true if quasi_energy_rate accepts the name. */
/* clang-format off */
#define ENERGY_TERM_LIST(X)                        \
    X(IMPRESSED, "impressed", true, true)          \
    X(DISSIPATION, "dissipation", true, true)      \
    X(TIME, "time", true, false)                   \
    X(POTENTIAL, "potential", false, true)         \
    X(INERTIA, "inertia", false, true)             \
    X(REACTIONS, "reactions", true, true)          \
    X(NONIDEAL, "nonideal", true, true)            \
    X(FRICTION, "friction", true, true)
/* clang-format on */
typedef enum energy_term {
#define X(name, text, of_energy, of_quasi_energy) ENERGY_##name,
    ENERGY_TERM_LIST(X)
#undef X
        ENERGY_TERMS
} energy_term;

/* quantity_names.c: return the residual_form or energy_term with this name, or −1 if the name is unknown. If `quasi` is
 * true, only the terms of quasi_energy_rate are found, otherwise only those of energy_rate. *expected becomes a text
 * that lists the names. */
int32_t residual_form_find(const char *name, const char **expected);
int32_t energy_term_find(const char *name, bool quasi, const char **expected);

/* `get` returns the node of a derived quantity (energy(), lambda(c), ...). `arguments` are indices of coordinates or
 * constraints, according to the quantity's signature. If no system_quantities are passed, derived quantities are 0, and
 * only syntax and names are checked. */
typedef struct system_quantities {
    void *context;
    graph_node (*get)(void *context, syntax_quantity quantity, const int32_t *arguments);
} system_quantities;

/* Binds an expression and returns its node. Returns GRAPH_NONE after adding an error. Returns GRAPH_NONE without an
 * error if the expression is absent. `scope` may be NULL. */
graph_node system_bind(hamel_system *s, const hamel_expression *expression, system_place place, const loop_scope *scope,
                       syntax_goal goal, const system_quantities *quantities);

/* Computes the value of an expression in parameters. If the value cannot be computed or is not finite, adds an error
 * and returns false. */
bool system_number(hamel_system *s, const hamel_expression *expression, const loop_scope *scope, double *value);

/* Does the same as system_number for the node to which the expression was bound. */
bool system_node_number(hamel_system *s, const hamel_expression *expression, graph_node node, double *value);

/* Polls for cancellation; call it at short intervals. If canceled, adds an error once and returns true. */
bool system_interrupted(hamel_system *s);

/* Returns d/dt of a node along the motion. Records that the node must be continuous, unless the equations are already
 * complete. `what` names the node in messages and must be a static string. */
graph_node system_rate(hamel_system *s, graph_node node, const char *pointer, const char *what);
/* Returns the symbol that represents the integral of a node over time from the start of the run. Equal integrands have
 * the same symbol. On failure, adds an error at `pointer` and returns GRAPH_NONE. */
graph_node system_integral(hamel_system *s, graph_node integrand, const char *pointer);
/* Records that a node must be continuous, without differentiating it. */
void system_note_continuous(hamel_system *s, graph_node node, const char *pointer, const char *what);

/* Return the index of the coordinate or constraint with this expanded name, or −1. */
int32_t system_coordinate_index(const hamel_system *s, const char *name);
int32_t system_constraint_index(const hamel_system *s, const char *name);
const char *system_nearest_constraint(const hamel_system *s, const char *name);
const char *system_nearest_coordinate(const hamel_system *s, const char *name);

/* Prints symbols by their names: a graph_namer whose context is the system. */
void system_name_symbol(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);
