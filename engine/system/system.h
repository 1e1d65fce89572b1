/* system.h — the checked description: names bound, families expanded, every expression a node of one graph.
 *
 * system_create finds every fault it can before it gives up. The result refers to the description's texts only while
 * the model is being made; names that outlive that are copied. All memory is the arena's. */
#ifndef HAMEL_SYSTEM_SYSTEM_H
#define HAMEL_SYSTEM_SYSTEM_H

#include "engine/base/symbol_table.h"
#include "engine/graph/graph.h"
#include "engine/hamel.h"
#include "engine/text/parser.h"

/* The value of a loop variable where a family's member is expanded. */
typedef struct loop_variable {
    const char *name;
    size_t length;
    double value;
} loop_variable;

typedef struct system_coordinate {
    const char *name, *unit;
    size_t described; /* which of the description's coordinates it is a member of */
    double initial, velocity;
    graph_node initial_node, velocity_node; /* what these are made of, or GRAPH_NONE where they are not given */
    bool velocity_given;
    graph_node force; /* Σ of the generalized forces given for it (without −∂D/∂q'), or the number 0 */
    graph_node
        nonideal; /* Σ of the constraints' prescribed C for it, or the number 0; λ and ideal() are the ideal ones */
} system_coordinate;

/* A number made of parameters that must not be negative. */
typedef struct system_sign {
    graph_node node;
    const char *pointer, *what; /* where it is written; "the mass of `a`" */
} system_sign;

/* A mass that moves as a point: a particle, or a body's centre. */
typedef struct system_particle {
    const char *pointer;
    graph_node mass, position[3]; /* the third is 0 in the plane */
} system_particle;

/* A body's rotation about its centre. */
typedef struct system_rotor {
    graph_node inertia[9], omega[3]; /* both in body axes */
} system_rotor;

/* An orientation by three angles: where the sine vanishes the first and the third turn about the same axis. */
typedef struct system_angles {
    const char *name, *pointer; /* of the body or frame; of the orientation */
    graph_node sine;            /* of the angle between these axes */
} system_angles;

typedef enum constraint_order { CONSTRAINT_HOLONOMIC, CONSTRAINT_VELOCITY, CONSTRAINT_ACCELERATION } constraint_order;

/* u = Σ U_i(q,t) q'_i + U_0(q,t) */
typedef struct system_quasi_velocity {
    const char *name, *pointer;
    graph_node definition;
    double initial;
    graph_node initial_node; /* what it is made of, or GRAPH_NONE where none is given */
} system_quasi_velocity;

typedef struct system_constraint {
    const char *name, *pointer;
    bool inactive;                            /* at the start */
    constraint_order order;                   /* by what the equation contains */
    graph_node equation;                      /* f = lhs − rhs; the constraint is f = 0 */
    const hamel_expression *written;          /* what f is bound from, in the scope of these loops */
    const struct hamel_constraint *described; /* NULL for an element's own */
    size_t loop_count;
    loop_variable *loops;
} system_constraint;

/* Coulomb friction: the point that slips has the force −μ |λ| |g| along its slip. */
typedef struct system_friction {
    int32_t constraint; /* whose reaction presses */
    const char *pointer;
    graph_node coefficient;
    graph_node limit;      /* μ of rest, at least as large */
    double regularization; /* a speed; 0: what comes to rest sticks */
    graph_node normal[3];  /* g: λ g is the reaction as a force on the point, by inertial components */
    graph_node slip[3];    /* velocity of the point relative to what it slides on */
    /* What sticks: the part of the slip along the surface, that is 0 while the point is held. In the plane one speed with its
     * sign, in space components by the axes of what the point slides on, without those that are always 0. */
    graph_node along[3];
    size_t along_count;   /* 0 where nothing sticks */
    graph_node facing[3]; /* g/|g|, the components that belong to these; space only */
    int32_t row;          /* the first of the constraints `along` = 0, or −1; frictions of one slip share them */
    int32_t held;         /* the first of the switches that hold its direction, or −1: a single speed has its sign */
    int32_t *coordinates; /* whose velocities are in `slip` */
    size_t count;
} system_friction;

/* An operator that changes abruptly, and the symbol that stands for its branch (mechanics/switches.h). */
typedef enum switch_kind {
    SWITCH_SIGN,
    SWITCH_FLOOR,
    SWITCH_TABLE,
    SWITCH_SLIP, /* the sign of a slip with friction that sticks, 0 while it does (solve/sticking.h) */
    SWITCH_GLIDE /* a component of such a slip in space: of the direction held, in the size of speeds that are none */
} switch_kind;
typedef struct system_switch {
    switch_kind kind;
    const graph_table *table;
    graph_node written, argument; /* z as it is written, and with the switches inside it held */
    bool held;                    /* false: operators stay, z contains what is solved for */
    bool jumps;                   /* some operator with it has no one value where it changes, not only a kink */
    int32_t slip, part; /* which of the model's slips, and which component, a SWITCH_SLIP or _GLIDE belongs to */
    int32_t next;       /* another one with the same `written`, or −1 */
} system_switch;

/* What happens at an instant. Its expressions are bound with the outputs (mechanics/outputs.c): they may ask for derived
 * quantities. */
typedef struct system_event {
    const char *name, *pointer;
    const hamel_event *described;
    size_t loop_count;
    loop_variable *loops;
    size_t set_count;
    int32_t *targets;                /* of set: i stands for q_i, n + i for q'_i */
    const hamel_expression **values; /* what they get */
    size_t impulse_count;
    int32_t *impulses; /* constraints */
    bool named_gain;   /* a warning names a restitution above 1 */
    size_t activate_count, deactivate_count;
    int32_t *activate, *deactivate;            /* constraints */
    graph_node when, *restitutions, *assigned; /* set by outputs_bind */
} system_event;

/* An expression that is differentiated along the motion, and so has to be continuous along it. */
typedef struct system_continuous {
    graph_node node;
    const char *pointer, *what; /* "the position of a mass" */
} system_continuous;

/* A part of what acts, by what it comes from. */
typedef struct system_action {
    const char *origin;   /* "spring s1", "gravity"; actions of one element share the pointer */
    graph_node potential; /* acts by −∂/∂q; GRAPH_NONE for a force */
    int32_t coordinate;   /* of a force */
    graph_node force;
} system_action;

/* A given force F and the quantity along which it does work: its generalized forces are F ∂along/∂s, s the coordinates
 * or, for velocities, their rates. Kept for the check by finite differences (engine/analyze/differences.c). */
typedef struct system_work {
    graph_node force, along;
    graph_symbol_kind kind; /* of s */
} system_work;

enum { SCOPE_MAX = 24 };
typedef struct loop_scope {
    size_t count;
    loop_variable variables[SCOPE_MAX];
} loop_scope;

/* An output, before its expression is bound (it may ask for derived quantities); or a number of the scene. */
typedef struct system_output {
    const char *name, *pointer;
    const hamel_expression *expression; /* NULL: `node` */
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
    graph_node *parameter_nodes; /* what each is made of: numbers and other parameters */
    bool *parameter_structural;  /* its number is in what equations are made of (ranges, indices, tables): they are no
                                    functions of it */
    bool *parameter_judged;      /* its number is in what was settled once (times, tolerances, checks): another one has
                                    to be read anew */
    system_sign *signs;          /* what parameters must not make negative */
    size_t sign_count, sign_capacity;

    size_t coordinate_count, coordinate_capacity;
    system_coordinate *coordinates;
    graph_node *q, *v, *a; /* their symbols */
    size_t quasi_count;
    system_quasi_velocity *quasi;

    /* Energies as lists of terms, so that each is differentiated only by what it contains. */
    size_t kinetic_count, kinetic_capacity, potential_count, potential_capacity;
    graph_node *kinetic, *potential;
    size_t kinetic_given, potential_given; /* the first of each come from expressions, the rest from elements */
    graph_node lagrangian;                 /* GRAPH_NONE: T − V */
    graph_node acceleration_energy;        /* the Gibbs–Appell function S as given, or GRAPH_NONE */
    graph_node dissipation;                /* the number 0 when absent */
    int dimension;                         /* 2 or 3; 0: nothing has a position */
    system_action *actions;                /* all forces, and terms of the potential energy, once more */
    size_t action_count, action_capacity;
    const char *origin; /* of what is bound at the moment */
    size_t work_count, work_capacity;
    system_work *works;

    system_continuous *continuous;
    size_t continuous_count, continuous_capacity;
    bool complete; /* expressions bound from now on are only observed */

    size_t particle_count, particle_capacity;
    system_particle *particles;
    size_t rotor_count, rotor_capacity;
    system_rotor *rotors;
    size_t angles_count, angles_capacity;
    system_angles *angles; /* those that move */
    size_t constraint_count, constraint_capacity;
    system_constraint *constraints;
    size_t friction_count, friction_capacity;
    system_friction *frictions;
    size_t standing_count; /* constraints that are active at the start: they come first */
    size_t named_count;    /* and those that the description names: the equations of impulses come after */
    size_t ideal_count;    /* and these: the rows of frictions that stick come last */
    size_t switch_count, switch_capacity;
    system_switch *switches;
    size_t event_count, event_capacity;
    system_event *events;
    size_t output_count, output_capacity;
    system_output *outputs;
    hamel_scene *scene; /* NULL: not asked for */
    size_t first_scene_output;

    const char **warnings, **warned; /* about the description: "/dampers/0/coefficient: ..."; and where each is */
    size_t warning_count, warning_capacity, warned_capacity;

    system_units *units; /* NULL when the description has none */
    system_binder *binder;
} hamel_system;

/* Checks everything but the meaning of outputs, invariants and checks. Faults go to `error`; the result is returned
 * whenever memory allowed, so that later passes can find more faults; HAMEL_OK only without faults. */
hamel_status system_create(hamel_system **out, arena *memory, const hamel_description *d, const hamel_limits *limits,
                           hamel_poll *poll, hamel_error *error) HAMEL_CHECKED;

/* --- bind.c: expressions to nodes ---------------------------------------------------------------------------------- */

/* Where an expression stands decides what it may use. */
#define SYSTEM_PLACE_LIST(X)                                                                        \
    X(PARAMETERS, "parameters only", 0x01)                                                          \
    X(POSITION, "parameters, time and coordinates", 0x07)                                           \
    X(ENERGY, "parameters, time, coordinates and velocities", 0x0f)                                 \
    X(FORCE, "parameters, time, coordinates, velocities and multipliers", 0x2f)                     \
    X(NONIDEAL, "parameters, time, coordinates, velocities, ideal reactions and multipliers", 0xaf) \
    X(CONSTRAINT, "parameters, time, coordinates, velocities and accelerations", 0x1f)              \
    X(DEFINITION, "anything but derived quantities", 0x3f)                                          \
    X(OUTPUT, "anything", 0x1ff)

typedef enum system_place {
#define X(name, meaning, mask) PLACE_##name,
    SYSTEM_PLACE_LIST(X)
#undef X
} system_place;

/* Gives the node of a derived quantity (energy(), lambda(c), ...). arguments are indices of coordinates or constraints,
 * as the quantity's signature asks. Without a provider such quantities are 0: syntax and names are checked only. */
typedef struct system_quantities {
    void *context;
    graph_node (*get)(void *context, syntax_quantity quantity, const int32_t *arguments);
} system_quantities;

/* The node of an expression, or GRAPH_NONE with a fault added. `scope` may be NULL. An absent expression is GRAPH_NONE
 * without a fault. */
graph_node system_bind(hamel_system *s, const hamel_expression *expression, system_place place, const loop_scope *scope,
                       syntax_goal goal, const system_quantities *quantities);

/* The value of an expression of parameters. False with a fault added (also when it is not finite). */
bool system_number(hamel_system *s, const hamel_expression *expression, const loop_scope *scope, double *value);

/* The same of a node that the expression was bound to. */
bool system_node_number(hamel_system *s, const hamel_expression *expression, graph_node node, double *value);

/* True, with a fault added once, when the poll refuses to continue. To be called at short intervals. */
bool system_interrupted(hamel_system *s);

/* d/dt of a node along the motion; and the note that it has to be continuous, unless it is only observed. `what` names it in
 * messages and lives as long as the program. */
graph_node system_rate(hamel_system *s, graph_node node, const char *pointer, const char *what);
/* Only the note. */
void system_note_continuous(hamel_system *s, graph_node node, const char *pointer, const char *what);

/* Index of a coordinate or constraint by its expanded name, or −1. */
int32_t system_coordinate_index(const hamel_system *s, const char *name);
int32_t system_constraint_index(const hamel_system *s, const char *name);
const char *system_nearest_constraint(const hamel_system *s, const char *name);
const char *system_nearest_coordinate(const hamel_system *s, const char *name);

/* Prints symbols by their names: a graph_namer whose context is the system. */
void system_name_symbol(void *context, graph_symbol_kind kind, int32_t index, text_buffer *out);

#endif
