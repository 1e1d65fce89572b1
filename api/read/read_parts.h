/* read_parts.h — the readers of the sections of a description, one for each top-level key that holds objects. */
#pragma once

#include "api/json/reader.h"

/* Defines the reader of a section, a list of structs; the field is the whole hamel_description. */
#define READ_SECTION(function, list, length, item, what)                                      \
    void function(json_reader *r, const cJSON *value, const char *pointer, void *field) {     \
        hamel_description *d = field;                                                         \
        d->list = json_read_list(r, value, pointer, what, sizeof *d->list, item, &d->length); \
    }

/* Defines the reader of an object of this kind, into a struct that begins with its pointer. */
#define READ_OBJECT(function, kind)                                                              \
    static void function(json_reader *r, const cJSON *value, const char *pointer, void *field) { \
        *(const char **)field = pointer;                                                         \
        json_read_object(r, value, pointer, &(kind), field);                                     \
    }

/* Defines the reader of a name in a struct, which also keeps the pointer of the name. */
#define READ_LOCATED_NAME(function, type, name, location)                                        \
    static void function(json_reader *r, const cJSON *value, const char *pointer, void *field) { \
        ((type *)field)->location = pointer;                                                     \
        json_read_name(r, value, pointer, &((type *)field)->name);                               \
    }

/* read_elements.c; the field is the whole hamel_description, as each reader fills an array and its length. */
json_read_function read_parameters;
json_read_function read_tables;
json_read_function read_coordinates;
json_read_function read_quasi_velocities;
json_read_function read_constraints;
json_read_function read_invariants;
json_read_function read_checks;

/* read_bodies.c; the same. */
json_read_function read_particles;
json_read_function read_bodies;
json_read_function read_points;
json_read_function read_frames;
json_read_function read_springs;
json_read_function read_dampers;
json_read_function read_loads;
json_read_function read_joints;

/* A name, or a position; the field is a hamel_end. */
json_read_function read_end;

/* read_scene.c; the field is the whole hamel_description. */
json_read_function read_scene;

/* The field is a hamel_named_list. */
json_read_function read_definitions; /* values may be vectors */
json_read_function read_named;       /* outputs, generalized forces */

/* read_events.c; the field is the hamel_description. */
json_read_function read_events;

/* read_simulation.c; the field is a hamel_simulation. */
json_read_function read_simulation;

/* The kinds of objects, for the test that compares them with system.schema.json. */
extern const json_kind system_kind, parameter_kind, table_kind, coordinate_kind, quasi_velocity_kind, definition_kind,
    named_kind, particle_kind, framed_position_kind, euler_kind, orientation_kind, body_kind, point_kind, frame_kind,
    spring_kind, damper_kind, load_kind, joint_kind, constraint_kind, friction_kind, event_kind, impulse_kind,
    invariant_kind, check_kind, simulation_kind, projection_kind, shape_kind, circle_kind, disk_kind, box_kind;
