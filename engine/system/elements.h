/* elements.h — elements with a position (particles, bodies, points, frames), and the energies, forces and constraints
 * to which they are translated. */
#pragma once

#include "engine/system/binder.h"

typedef struct system_located {
    const char *name, *pointer, *kind; /* "particle", ... */
    const hamel_position *given;       /* position as in the description */
    const hamel_orientation *orientation;
    const char *in,
        *in_pointer; /* frame or body of the axes, and of the position unless `given` has a frame; NULL: inertial */
    size_t loop_count;
    loop_variable *loops;               /* scope of the names in `given` and `in` */
    int32_t parent;                     /* frame or body in which the position is given; −1: inertial */
    int32_t axes;                       /* frame or body in whose axes the orientation is given; −1: inertial */
    int32_t position_slot;              /* slot of the position; −1: at the parent's origin */
    int32_t orientation_slot;           /* slot of the orientation; −1: parallel to `axes` */
    int32_t norm;                       /* index of the constraint NAME.norm of a quaternion, or −1 */
    bool turns;                         /* true for bodies and frames, which have axes */
    size_t walk;                        /* walk_count of the last search (located.c) that visited the element */
    bool open;                          /* true while a search is visiting the frames of the element */
    bool failed;                        /* true if an error in the orientation has been reported */
    bool ready;                         /* true once the fields below are set */
    graph_node position[3];             /* inertial components */
    graph_node rotation[9];             /* maps body axes to inertial axes, row by row */
    graph_node omega[3], omega_body[3]; /* angular velocity in inertial and in body axes */
    graph_node mass;                    /* GRAPH_NONE for elements without mass */
    graph_node inertia[9];              /* inertia matrix about the centre of mass, in body axes, row by row */
    bool has_inertia;                   /* true if the description contains the inertia of the body */
    size_t depth;                       /* number of frames and bodies that contain the element */
    graph_node velocity[3]; /* set in deep frames (located.c), otherwise GRAPH_NONE; components in inertial axes in the
                             * plane, in the axes of the element in space */
} system_located;

/* The contact of a rolling joint. All vectors have inertial components. */
typedef struct system_contact {
    const char *name;
    const hamel_joint *joint;
    int32_t ends[2]; /* indices of the elements: wheel, surface */
    size_t loop_count;
    loop_variable *loops; /* scope of the expressions of the joint */
    graph_node point[3];  /* the contact point */
    graph_node normal[3]; /* unit vector from the surface to the wheel */
    graph_node slip[3];   /* velocity of the wheel's material at the point, relative to the material of the surface */
    graph_node spin[3];   /* angular velocity of the wheel relative to the surface */
} system_contact;

void located_declare(hamel_system *s);      /* declares the names and slots of all elements */
void located_find_parents(hamel_system *s); /* finds the frame of each element; call after all names are declared */
void located_resolve(hamel_system *s);      /* computes positions and axes; call after all slots are resolved */

/* Binds the position and axes of an element. If unbound slots are needed, notes these slots (binder_need_slot) and sets
 * *complete to false. Adds an error and returns false on failure. */
bool located_need(hamel_system *s, int32_t element, bool *complete);

/* Returns the index of the element at an end of a spring or joint. A position becomes an unnamed element. Returns −1
 * after adding an error. */
int32_t located_end(hamel_system *s, const hamel_end *end, const loop_scope *scope);

/* Computes the velocity of the material of e at the position p: v + ω × (p − r). */
void located_carried(hamel_system *s, const system_located *e, const graph_node p[3], graph_node out[3]);

/* Computes the rotation matrix and the angular velocities (in outer and in body axes) of an orientation with these
 * values. Adds an error and returns false if the Euler sequence is invalid. */
bool rotation_of(hamel_system *s, const hamel_orientation *o, const graph_node *values, graph_node rotation[9],
                 graph_node omega[3], graph_node omega_body[3]);

/* Returns the sine of the angle between the first and the third Euler axis, or GRAPH_NONE for other orientations. */
graph_node rotation_sine(hamel_system *s, const hamel_orientation *o, const graph_node *values);

void node_matrix_times(graph *g, const graph_node a[9], const graph_node b[9], graph_node out[9]);
void node_matrix_apply(graph *g, const graph_node m[9], const graph_node x[3], graph_node out[3]);            /* m x */
void node_matrix_apply_transposed(graph *g, const graph_node m[9], const graph_node x[3], graph_node out[3]); /* mᵀ x */
void node_vector_cross(graph *g, const graph_node a[3], const graph_node b[3], graph_node out[3]);
graph_node node_vector_dot(graph *g, const graph_node a[3], const graph_node b[3]);
bool node_vector_is_zero(const graph *g, const graph_node x[3]);

/* Checks the four components of the quaternion or the nine entries of the matrix of `e`. If constant values have an
 * error of at most 1e-6, they are replaced by the values of the nearest rotation. Adds an error and returns false on
 * failure. */
bool validity_orientation(hamel_system *s, const system_located *e, graph_node *values);

/* Checks that the mass of a particle or body is not negative. */
void validity_mass(hamel_system *s, const hamel_expression *mass, graph_node node, const char *name);

/* Checks that the inertia of a body is symmetric and physically possible. */
void validity_inertia(hamel_system *s, const hamel_expressions *inertia, const graph_node nodes[9], const char *name);

/* Checks the radius of a wheel. If the radius is negative, adds an error and returns false. */
bool validity_radius(hamel_system *s, const hamel_expression *radius, graph_node node);

/* Warns if the wheel of the rolling joint `name` starts on the wrong side of the surface. `normal` has inertial
 * components and must point from the surface to the wheel. */
void validity_side(hamel_system *s, const char *pointer, const char *name, const graph_node normal[3],
                   graph_node radius, const system_located *wheel, const system_located *surface);

/* Checks all conditions that depend on the state. Initial values and constraints must be bound. */
void validity_check(hamel_system *s);

/* --- elements.c, joints.c --------------------------------------------------------------------------------------------- */

void elements_lower(hamel_system *s); /* translates particles, bodies, gravity, springs, dampers and loads */
void joints_declare(hamel_system *s); /* declares the constraints of joints and quaternion norms */
void joints_lower(hamel_system *s);   /* binds the equations of joints and of quaternion norms */
void events_declare(hamel_system *s); /* call after all constraints are declared (events.c) */

void frictions_lower(hamel_system *s);        /* call after constraints are bound */
void friction_couples_lower(hamel_system *s); /* friction_couples.c: call after constraints are bound */
void frictions_add_rows(hamel_system *s);     /* call after all other constraints are added */

/* Sets f->coordinates and f->count to the coordinates whose velocities occur in f->slip. Returns false if out of
 * memory. */
bool friction_find_coordinates(hamel_system *s, system_friction *f);

/* Adds the signed speed of a slip that has one component to f->along, unless the sign of the speed is constant. The
 * sign of the speed is normalized, so that equal or opposite speeds share a node. Returns false after adding an
 * error. */
bool friction_add_speed(hamel_system *s, const char *pointer, graph_node speed, system_friction *f);

void warnings_check(hamel_system *s); /* call after the whole description is bound */

void scene_lower(hamel_system *s); /* checks the scene; if the scene is requested, adds its outputs */
