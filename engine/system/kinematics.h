/* kinematics.h — momenta, finite rotations, poles, screws and paths of elements, as nodes for outputs
 * and events.
 *
 * README.md contains the definitions, and their sources in Papastavridis, Analytical Mechanics. Vectors have inertial
 * components, except those of finite_rotation.c and of velocity_pole_body(B, k). */
#pragma once

#include "engine/system/elements.h"

/* A call such as angular_momentum(B, k, P). */
typedef struct kinematic_call {
    syntax_quantity quantity; /* at least QUANTITY_OF_ELEMENTS */
    /* indices of the elements in `located`, in the order of the arguments; −1: omitted. From QUANTITY_OF_CONTACTS on,
     * elements[0] is an index in `contact_list` */
    int32_t elements[2];
    int component; /* 0, 1 or 2 */
} kinematic_call;

/* Returns the node of the quantity. All elements must be bound. If the elements cannot have the quantity (for example,
 * a particle has no angular velocity), adds an error and returns GRAPH_NONE. */
graph_node kinematics_node(hamel_system *s, const kinematic_call *call);

/* The following functions compute single quantities. They have the arguments, results and errors of kinematics_node. */

/* --- momenta.c ----------------------------------------------------------------------------------------------------- */

graph_node momenta_linear(hamel_system *s, const kinematic_call *call);
graph_node momenta_angular(hamel_system *s, const kinematic_call *call);
graph_node momenta_center(hamel_system *s, const kinematic_call *call);
graph_node momenta_total_linear(hamel_system *s, const kinematic_call *call);
graph_node momenta_total_angular(hamel_system *s, const kinematic_call *call);

/* Sets out[3] to the angular momentum of a body or particle about its centre of mass. Adds an error and returns false
 * if the moments of inertia are unknown. */
bool momenta_spin(hamel_system *s, const system_located *e, graph_node out[3]);

/* --- finite_rotation.c --------------------------------------------------------------------------------------------- */

graph_node rotation_angle_node(hamel_system *s, const kinematic_call *call);
graph_node rotation_axis_node(hamel_system *s, const kinematic_call *call);
graph_node gibbs_vector_node(hamel_system *s, const kinematic_call *call);

/* --- path.c -------------------------------------------------------------------------------------------------------- */

/* Returns d/dt of a node that may contain accelerations, but not multipliers. If the model does not determine q''',
 * adds an error and returns GRAPH_NONE. */
graph_node path_rate(hamel_system *s, graph_node node);

graph_node path_jerk(hamel_system *s, const kinematic_call *call);
graph_node path_curvature(hamel_system *s, const kinematic_call *call);
graph_node path_torsion(hamel_system *s, const kinematic_call *call);
graph_node path_axis(hamel_system *s, const kinematic_call *call); /* tangent, normal or binormal */

/* --- contact_motion.c ---------------------------------------------------------------------------------------------- */

graph_node contact_vector(hamel_system *s, const kinematic_call *call); /* point, slip or rolling angular velocity */
graph_node contact_pivot(hamel_system *s, const kinematic_call *call);

/* --- rigid_motion.c ------------------------------------------------------------------------------------------------ */

graph_node velocity_pole_node(hamel_system *s, const kinematic_call *call);
graph_node acceleration_pole_node(hamel_system *s, const kinematic_call *call);
graph_node screw_point_node(hamel_system *s, const kinematic_call *call);
graph_node screw_pitch_node(hamel_system *s, const kinematic_call *call);
graph_node wrench_point_node(hamel_system *s, const kinematic_call *call);
graph_node wrench_pitch_node(hamel_system *s, const kinematic_call *call);
