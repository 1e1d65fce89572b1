/* description.h — a description as the user wrote it, in plain C structs, before names and values are checked.
 *
 * Every value has a JSON Pointer (or another text by which the caller identifies positions). Later errors are reported
 * with this pointer. The caller owns all memory, which must outlive the description. All strings are UTF-8 and
 * NUL-terminated. An absent expression has text NULL; an absent list has length 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A number or an expression. */
typedef struct hamel_expression {
    const char *pointer;
    const char *text; /* the expression; NULL if `is_number` or if absent */
    double number;
    bool is_number;
} hamel_expression;

static inline bool hamel_expression_given(const hamel_expression *e) {
    return e->is_number || e->text != NULL;
}

/* A list of expressions: a vector, or the terms of an energy. */
typedef struct hamel_expressions {
    const char *pointer;
    hamel_expression *items;
    size_t count;
} hamel_expressions;

/* "for": ranges of indices, outermost first. Each range is a text such as "i = 1..N". The JSON form {"i": [1, "N"]} has
 * one range for each key. */
typedef struct hamel_family {
    const char *pointer;
    const char **ranges;
    size_t count;
} hamel_family;

typedef struct hamel_parameter {
    const char *pointer, *name, *unit, *description;
    hamel_expression value;
} hamel_parameter;

typedef struct hamel_coordinate {
    const char *pointer, *name, *unit, *description;
    hamel_expression initial, velocity;
    hamel_family family;
} hamel_coordinate;

typedef struct hamel_quasi_velocity {
    const char *pointer, *name, *description;
    hamel_expressions definition; /* one expression, linear in the velocities */
    hamel_expression initial;
} hamel_quasi_velocity;

/* A named expression: a definition, an output, or a generalized force. A definition may be a vector of 2 or 3
 * components. A generalized force has the name of its coordinate. */
typedef struct hamel_named {
    const char *pointer, *name;
    hamel_expressions value;
    hamel_family family;
} hamel_named;

typedef struct hamel_named_list {
    hamel_named *items;
    size_t count;
} hamel_named_list;

/* A position: 2 or 3 expressions, in an inertial frame or in a named frame or body. */
typedef struct hamel_position {
    const char *pointer;
    hamel_expressions at;
    const char *frame, *frame_pointer; /* NULL: inertial */
} hamel_position;

typedef struct hamel_particle {
    const char *pointer, *name;
    hamel_expression mass;
    hamel_position position;
    hamel_family family;
} hamel_particle;

typedef enum hamel_orientation_kind {
    HAMEL_PARALLEL,   /* no orientation: axes parallel to those of the frame */
    HAMEL_ANGLE,      /* 1 value: angle of rotation about the third axis */
    HAMEL_EULER,      /* 3 values and a sequence: upper case intrinsic, lower case extrinsic */
    HAMEL_QUATERNION, /* 4 values, scalar first */
    HAMEL_MATRIX      /* 9 values, row by row: maps body axes to outer axes */
} hamel_orientation_kind;

typedef struct hamel_orientation {
    const char *pointer;
    hamel_orientation_kind kind;
    const char *sequence, *sequence_pointer;
    hamel_expressions values;
} hamel_orientation;

typedef struct hamel_body {
    const char *pointer, *name;
    hamel_expression mass;
    hamel_position position; /* centre of mass */
    hamel_orientation orientation;
    const char *in, *in_pointer; /* frame or body to which position and orientation refer; NULL: inertial */
    hamel_expressions inertia;   /* in body axes: 1 (planar), 3 (principal) or 9 values (row by row); count 0: absent */
    hamel_family family;
} hamel_body;

/* A point or a moving frame. A point moves with the frame or body in `position.frame`; without one, the position is
 * inertial. */
typedef struct hamel_point {
    const char *pointer, *name;
    hamel_position position;
    hamel_orientation orientation; /* frames only */
    const char *in, *in_pointer;   /* frames only: frame or body to which origin and orientation refer */
    hamel_family family;
} hamel_point;

/* One end of a spring, damper or joint: a named element, or a position. */
typedef struct hamel_end {
    const char *pointer, *name; /* name NULL: the end is a position */
    hamel_position position;
} hamel_end;

typedef struct hamel_link {
    const char *pointer, *name;
    hamel_end between[2];
    size_t end_count;          /* number of ends, at most 2 */
    hamel_expression strength; /* stiffness of a spring, coefficient of a damper */
    hamel_expression length;   /* springs; absent: 0 */
    hamel_family family;
} hamel_link;

typedef struct hamel_load {
    const char *pointer, *on, *on_pointer;
    hamel_expressions force, torque; /* components in inertial axes; count 0: absent */
    hamel_family family;
} hamel_load;

/* Friction couples of a rolling joint. A couple M satisfies |M| ≤ e N, with the length e and the normal force N. */
typedef struct hamel_friction_couples {
    const char *pointer;                /* NULL: no friction couples */
    hamel_expression rolling, pivoting; /* lengths; absent: 0 */
    hamel_expression regularization;    /* angular speed w0; absent: 0 */
} hamel_friction_couples;

typedef struct hamel_joint {
    const char *pointer, *name, *type, *type_pointer;
    hamel_end between[2];
    size_t end_count;
    hamel_expression length, radius;
    hamel_expressions
        direction; /* `axis` or `direction` in the axes of the first end, or `normal` in those of the surface */
    hamel_friction_couples friction; /* rolling joints only */
    hamel_family family;
} hamel_joint;

/* Coulomb friction at the sliding point of a constraint, which is the point on which the reaction acts. */
typedef struct hamel_friction {
    const char *pointer;                 /* NULL: the constraint has no friction */
    hamel_expression coefficient, limit; /* `coefficient` is μ; `limit` is the static μ, by default also μ */
    hamel_expression regularization;     /* speed ε, contains only parameters; absent: 0 */
    hamel_end on, against;               /* sliding point, and the body or frame of the surface; names NULL: absent */
} hamel_friction;

/* The direction D of the reaction λ D of a servo-constraint, as coefficients of coordinates or as a vector at a point.
 * If both are present, D is their sum. */
typedef struct hamel_reaction_direction {
    const char *pointer; /* NULL: the reaction acts along the gradient of the equation */
    hamel_named_list coordinates;
    hamel_end on;             /* name NULL: absent */
    hamel_expressions vector; /* inertial components */
} hamel_reaction_direction;

typedef struct hamel_constraint {
    const char *pointer, *name;
    hamel_expression equation;
    hamel_named_list nonideal; /* coordinate → component of C, the prescribed nonideal reaction */
    hamel_friction friction;
    hamel_reaction_direction direction;
    bool inactive; /* initially inactive; an event may activate it */
    hamel_family family;
} hamel_constraint;

/* References by name, each with its JSON Pointer. */
typedef struct hamel_references {
    const char **names, **pointers;
    size_t count;
} hamel_references;

typedef enum hamel_direction { HAMEL_BOTH, HAMEL_RISING, HAMEL_FALLING } hamel_direction;

/* An impulse that enforces an ideal constraint, specified by an equation or by the name of a constraint. */
typedef struct hamel_impulse {
    const char *pointer;
    hamel_expression constraint, restitution;
} hamel_impulse;

typedef struct hamel_impulses {
    hamel_impulse *items;
    size_t count;
} hamel_impulses;

/* An impulse of given magnitude: a vector at a point, or a generalized impulse on a coordinate. */
typedef struct hamel_percussion {
    const char *pointer;
    hamel_end at;                /* the struck point; its pointer is NULL if absent */
    hamel_expressions vector;    /* components in inertial axes; count 0: absent */
    const char *on, *on_pointer; /* the coordinate; NULL: absent */
    hamel_expression value;
} hamel_percussion;

typedef struct hamel_percussions {
    hamel_percussion *items;
    size_t count;
} hamel_percussions;

/* An event: actions to take when `when` crosses zero in the specified direction. */
typedef struct hamel_event {
    const char *pointer, *name;
    hamel_expression when;
    hamel_direction direction;
    hamel_named_list set;                  /* "x" or "x'" → the new value */
    hamel_impulses impulses;               /* applied at the instant of the event */
    hamel_percussions percussions;         /* applied at the same instant as `impulses`, by one system of equations */
    hamel_references activate, deactivate; /* constraints */
    bool terminate;
    hamel_family family;
} hamel_event;

typedef struct hamel_invariant {
    const char *pointer, *name; /* name NULL: the name is the text of the expression */
    hamel_expression expression, tolerance;
} hamel_invariant;

typedef enum hamel_shape_kind {
    HAMEL_SHAPE_POINT,
    HAMEL_SHAPE_LINE,
    HAMEL_SHAPE_SPRING,
    HAMEL_SHAPE_CIRCLE,
    HAMEL_SHAPE_DISK,
    HAMEL_SHAPE_BOX,
    HAMEL_SHAPE_PATH
} hamel_shape_kind;

/* A shape of the scene, drawn through its ends or centred at the first one. */
typedef struct hamel_scene_shape {
    const char *pointer;
    hamel_shape_kind kind;
    hamel_end *ends;
    size_t end_count;
    hamel_expressions sizes; /* radius of a circle or disk; edge lengths of a box */
    hamel_family family;
} hamel_scene_shape;

typedef enum hamel_check_at { HAMEL_CHECK_FINAL, HAMEL_CHECK_ALWAYS, HAMEL_CHECK_TIME } hamel_check_at;

typedef struct hamel_check {
    const char *pointer, *name;
    hamel_expression expression;
    hamel_check_at at;
    hamel_expression time;                        /* contains only parameters; HAMEL_CHECK_TIME only */
    hamel_expression equals, tolerance, min, max; /* contain only parameters */
} hamel_check;

typedef enum hamel_method { HAMEL_METHOD_AUTO, HAMEL_METHOD_BDF, HAMEL_METHOD_ADAMS, HAMEL_METHOD_ERK } hamel_method;
typedef enum hamel_projection {
    HAMEL_PROJECTION_ON,
    HAMEL_PROJECTION_OFF,
    HAMEL_PROJECTION_BAUMGARTE
} hamel_projection;
typedef enum hamel_initialization { HAMEL_INITIALIZATION_STRICT, HAMEL_INITIALIZATION_PROJECT } hamel_initialization;

/* Settings of a run. Expressions in settings may contain only parameters. */
typedef struct hamel_simulation {
    const char *pointer;
    hamel_expression start, stop, step, samples;
    hamel_expressions times;
    hamel_expression rtol, atol;
    hamel_named_list atol_by_name; /* coordinate → value; if not empty, `atol` is absent */
    hamel_method method;
    const char *formulation, *formulation_pointer; /* NULL: auto */
    hamel_projection projection;
    hamel_expression baumgarte[2]; /* alpha, beta of Φ'' + 2αΦ' + β²Φ = 0 */
    hamel_initialization initialization;
    hamel_expression max_steps, max_step, time_limit;
    const char **record, **record_pointers;
    size_t record_count; /* 0: record all columns */
    bool has_record;
    const char **sensitivities, **sensitivity_pointers; /* inputs: parameters, NAME.initial, COORDINATE.velocity */
    size_t sensitivity_count;
    bool certify, scene;
    bool timeless; /* set for analyses: `stop` may be absent, and hamel_run rejects the model */
} hamel_simulation;

typedef enum hamel_table_kind { HAMEL_TABLE_LINEAR, HAMEL_TABLE_CUBIC } hamel_table_kind;
typedef enum hamel_table_outside { HAMEL_TABLE_ERROR, HAMEL_TABLE_HOLD } hamel_table_outside;

/* A function y(x), interpolated linearly or by a cubic spline. */
typedef struct hamel_table {
    const char *pointer, *name;
    hamel_expressions x, y; /* contain only parameters */
    hamel_table_kind kind;
    hamel_table_outside outside;
} hamel_table;

typedef struct hamel_description {
    const char *name, *text, *source; /* `text` is the key "description" */
    const char *hash;                 /* hash of the canonical description, for the manifest; may be NULL */
    hamel_parameter *parameters;
    size_t parameter_count;
    hamel_coordinate *coordinates;
    size_t coordinate_count;
    hamel_quasi_velocity *quasi_velocities;
    size_t quasi_velocity_count;
    hamel_table *tables;
    size_t table_count;
    hamel_named_list definitions;
    hamel_expressions kinetic_energy, potential_energy;
    hamel_expression lagrangian, dissipation, acceleration_energy;
    hamel_named_list generalized_forces;
    hamel_expressions gravity;
    hamel_particle *particles;
    size_t particle_count;
    hamel_body *bodies;
    size_t body_count;
    hamel_point *points, *frames;
    size_t point_count, frame_count;
    hamel_link *springs, *dampers;
    size_t spring_count, damper_count;
    hamel_load *loads;
    size_t load_count;
    hamel_joint *joints;
    size_t joint_count;
    hamel_constraint *constraints;
    size_t constraint_count;
    hamel_event *events;
    size_t event_count;
    hamel_named_list outputs;
    hamel_invariant *invariants;
    size_t invariant_count;
    hamel_check *checks;
    size_t check_count;
    hamel_scene_shape *scene;
    size_t scene_count;
    bool has_scene; /* true if the user lists shapes; otherwise elements have default shapes */
    hamel_simulation simulation;
    hamel_expressions alternatives; /* expressions of inputs in other runs, which are checked but not evaluated */
} hamel_description;
