/* read_parts.h — readers of the sections of a description. */
#pragma once

#include "api/json/reader.h"

/* Defines read_LIST, which reads a section. The section is a list, and read_ITEM reads one item. `field` is the
 * hamel_description. */
#define READ_SECTION(item, list, what)                                                                     \
    void read_##list(json_reader *r, const cJSON *value, const char *pointer, void *field) {               \
        hamel_description *d = field;                                                                      \
        d->list = json_read_list(r, value, pointer, what, sizeof *d->list, read_##item, &d->item##_count); \
    }

/* Defines read_ITEM, which reads one object of the kind ITEM_kind into a struct. The first field of the struct is the
 * JSON Pointer of the object. */
#define READ_OBJECT(item)                                                                           \
    static void read_##item(json_reader *r, const cJSON *value, const char *pointer, void *field) { \
        *(const char **)field = pointer;                                                            \
        json_read_object(r, value, pointer, &item##_kind, field);                                   \
    }

/* Defines read_ITEM and read_LIST for a section whose items are objects of the kind ITEM_kind. */
#define READ_OBJECTS(item, list, what) \
    READ_OBJECT(item)                  \
    READ_SECTION(item, list, what)

/* Defines a function that reads a name into one field of a struct, and its JSON Pointer into another field. */
#define READ_LOCATED_NAME(function, type, name, location)                                        \
    static void function(json_reader *r, const cJSON *value, const char *pointer, void *field) { \
        ((type *)field)->location = pointer;                                                     \
        json_read_name(r, value, pointer, &((type *)field)->name);                               \
    }

/* Functions that read sections; `field` is the hamel_description. */
json_read_function read_parameters, read_tables, read_coordinates, read_quasi_velocities, read_constraints,
    read_invariants, read_checks, read_particles, read_bodies, read_points, read_frames, read_springs, read_dampers,
    read_loads, read_joints, read_scene, read_events;

json_read_function read_simulation;  /* `field` is a hamel_simulation */
json_read_function read_end;         /* a name or a position; `field` is a hamel_end */
json_read_function read_definitions; /* `field` is a hamel_named_list; values may be vectors */
json_read_function read_named;       /* outputs and generalized forces; `field` is a hamel_named_list */

/* Kinds of objects, for the test that compares them with system.schema.json. */
extern const json_kind system_kind, parameter_kind, table_kind, coordinate_kind, quasi_velocity_kind, definition_kind,
    named_kind, particle_kind, framed_position_kind, euler_kind, orientation_kind, body_kind, point_kind, frame_kind,
    spring_kind, damper_kind, load_kind, joint_kind, constraint_kind, friction_kind, friction_couples_kind,
    direction_kind, event_kind, impulse_kind, percussion_kind, invariant_kind, check_kind, simulation_kind,
    projection_kind, shape_kind, circle_kind, disk_kind, box_kind;
