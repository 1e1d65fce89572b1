/* kinematics.c — calls the function that computes a quantity of elements. */
#include "engine/system/kinematics.h"

#include <assert.h>

typedef graph_node kinematic_function(hamel_system *s, const kinematic_call *call);

static kinematic_function *const FUNCTIONS[QUANTITY_COUNT] = {
    [QUANTITY_LINEAR_MOMENTUM] = momenta_linear,
    [QUANTITY_ANGULAR_MOMENTUM] = momenta_angular,
    [QUANTITY_CENTER_OF_MASS] = momenta_center,
    [QUANTITY_TOTAL_MOMENTUM] = momenta_total_linear,
    [QUANTITY_TOTAL_ANGULAR_MOMENTUM] = momenta_total_angular,
    [QUANTITY_ROTATION_ANGLE] = rotation_angle_node,
    [QUANTITY_ROTATION_AXIS] = rotation_axis_node,
    [QUANTITY_GIBBS_VECTOR] = gibbs_vector_node,
    [QUANTITY_VELOCITY_POLE] = velocity_pole_node,
    [QUANTITY_VELOCITY_POLE_BODY] = velocity_pole_node,
    [QUANTITY_ACCELERATION_POLE] = acceleration_pole_node,
    [QUANTITY_SCREW_POINT] = screw_point_node,
    [QUANTITY_SCREW_PITCH] = screw_pitch_node,
    [QUANTITY_WRENCH_POINT] = wrench_point_node,
    [QUANTITY_WRENCH_PITCH] = wrench_pitch_node,
    [QUANTITY_JERK] = path_jerk,
    [QUANTITY_PATH_CURVATURE] = path_curvature,
    [QUANTITY_PATH_TORSION] = path_torsion,
    [QUANTITY_PATH_TANGENT] = path_axis,
    [QUANTITY_PATH_NORMAL] = path_axis,
    [QUANTITY_PATH_BINORMAL] = path_axis,
    [QUANTITY_CONTACT_POINT] = contact_vector,
    [QUANTITY_CONTACT_SLIP] = contact_vector,
    [QUANTITY_CONTACT_ROLL] = contact_vector,
    [QUANTITY_CONTACT_PIVOT] = contact_pivot,
};

graph_node kinematics_node(hamel_system *s, const kinematic_call *call) {
    assert(call->quantity >= QUANTITY_OF_ELEMENTS && FUNCTIONS[call->quantity]);
    assert(0 <= call->component && call->component < 3);
    for (int k = 0; k < 2 && call->quantity < QUANTITY_OF_CONTACTS;
         k++) { /* the position has not been set after an error */
        int32_t index = call->elements[k];
        if (index >= 0 && !s->binder->located[index].ready) return graph_number(s->graph, 0);
    }
    return FUNCTIONS[call->quantity](s, call);
}
