/* read_parts.h — the readers of the sections of a description, one per top-level key that holds objects. */
#ifndef HAMEL_API_READ_PARTS_H
#define HAMEL_API_READ_PARTS_H

#include "api/json_reader.h"

/* read_elements.c; the field is the whole hamel_description, as each fills an array and its length. */
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

/* The kinds of objects, for the test that keeps system.schema.json in step. */
extern const json_kind system_kind, parameter_kind, table_kind, coordinate_kind, quasi_velocity_kind, definition_kind,
    named_kind, particle_kind, framed_position_kind, euler_kind, orientation_kind, body_kind, point_kind, frame_kind,
    spring_kind, damper_kind, load_kind, joint_kind, constraint_kind, friction_kind, event_kind, impulse_kind,
    invariant_kind, check_kind, simulation_kind, projection_kind, shape_kind, circle_kind, disk_kind, box_kind;

#endif
