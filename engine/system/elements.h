/* elements.h — what has a place: particles, bodies, points and frames; and what acts between them.
 *
 * Lowering turns each into what the mechanics knows: energies, forces, constraints. Private to engine/system. */
#ifndef HAMEL_SYSTEM_ELEMENTS_H
#define HAMEL_SYSTEM_ELEMENTS_H

#include "engine/system/binder.h"

typedef struct system_located {
    const char *name, *pointer, *kind; /* "particle", ... */
    const hamel_position *given;       /* its place, and */
    const hamel_orientation *orientation;
    const char *in, *in_pointer; /* what these are given in, as far as `given` does not name another; NULL: inertial */
    size_t loop_count;
    loop_variable *loops;               /* the scope of these names */
    int32_t parent;                     /* from whose origin and in whose axes the place is given; −1: inertial */
    int32_t axes;                       /* in whose axes the orientation is given; −1: inertial */
    int32_t position_slot;              /* −1: the parent's origin */
    int32_t orientation_slot;           /* −1: parallel */
    int32_t norm;                       /* the constraint NAME.norm of a quaternion, or −1 */
    bool turns;                         /* a body or a frame */
    size_t walk;                        /* the search for what is needed first that met it last (located.c), and */
    bool open;                          /* whether that search is still below it */
    bool failed;                        /* its orientation has a fault that was reported */
    bool ready;                         /* what follows is known */
    graph_node position[3];             /* inertial */
    graph_node rotation[9];             /* own axes to inertial, row by row */
    graph_node omega[3], omega_body[3]; /* angular velocity by inertial and by own axes */
} system_located;

/* --- located.c ------------------------------------------------------------------------------------------------------ */

void located_declare(hamel_system *s);      /* names and slots of all of them */
void located_find_parents(hamel_system *s); /* when all names are known */
void located_resolve(hamel_system *s);      /* binds them */

/* Sees to it that an element's place is known. False with a fault. *complete is false when slots have to be bound first,
 * which are then noted (binder_need_slot). */
bool located_need(hamel_system *s, int32_t element, bool *complete);

/* An end of a spring or joint as an element: its index, or that of a nameless one made for a position. −1 with a fault. */
int32_t located_end(hamel_system *s, const hamel_end *end, const loop_scope *scope);

/* Velocity of the matter of e at the place p: v + ω × (p − r). */
void located_carried(hamel_system *s, const system_located *e, const graph_node p[3], graph_node out[3]);

/* --- rotation.c ------------------------------------------------------------------------------------------------------ */

/* Rotation matrix and angular velocities (by outer and by own axes) of an orientation with these values. False with a
 * fault for a sequence that is none. */
bool rotation_of(hamel_system *s, const hamel_orientation *o, const graph_node *values, graph_node rotation[9],
                 graph_node omega[3], graph_node omega_body[3]);

/* The sine of the angle between the first and the third axis of three angles; GRAPH_NONE for other orientations. */
graph_node rotation_sine(hamel_system *s, const hamel_orientation *o, const graph_node *values);

void node_matrix_times(graph *g, const graph_node a[9], const graph_node b[9], graph_node out[9]);
void node_matrix_apply(graph *g, const graph_node m[9], const graph_node x[3], graph_node out[3]);            /* m x */
void node_matrix_apply_transposed(graph *g, const graph_node m[9], const graph_node x[3], graph_node out[3]); /* mᵀ x */
void node_vector_cross(graph *g, const graph_node a[3], const graph_node b[3], graph_node out[3]);
graph_node node_vector_dot(graph *g, const graph_node a[3], const graph_node b[3]);

/* --- elements.c, joints.c --------------------------------------------------------------------------------------------- */

void elements_lower(hamel_system *s); /* particles, bodies, gravity, springs, dampers, loads */
void joints_declare(hamel_system *s); /* the names of their constraints, and of the quaternions' norms */
void joints_lower(hamel_system *s);
void events_declare(hamel_system *s); /* after all constraints: events.c */

/* --- friction.c ------------------------------------------------------------------------------------------------------- */

void frictions_lower(hamel_system *s);    /* of constraints, which are bound */
void frictions_add_rows(hamel_system *s); /* behind all other constraints */

/* --- warnings.c --------------------------------------------------------------------------------------------------------- */

void warnings_check(hamel_system *s); /* of the whole description; the last step that looks at it */

/* --- scene.c ------------------------------------------------------------------------------------------------------------ */

void scene_lower(hamel_system *s); /* checks the scene; when it is shown, its numbers become outputs */

#endif
