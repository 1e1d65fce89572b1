/* contact_motion.c — contact point, slip, rolling and pivoting velocity of a rolling joint (Papastavridis 1.9.5).
 *
 * The motion of the wheel relative to the surface consists of the slip s of its material at the contact point and the
 * relative angular velocity Ω. With the unit normal n, Ω·n is the pivoting velocity and Ω − (Ω·n) n the rolling
 * velocity. */
#include "engine/system/kinematics.h"

#include <assert.h>

static const system_contact *contact_of(const hamel_system *s, const kinematic_call *call) {
    assert((size_t)call->elements[0] < s->binder->contact_count);
    return &s->binder->contact_list[call->elements[0]];
}

graph_node contact_pivot(hamel_system *s, const kinematic_call *call) {
    const system_contact *c = contact_of(s, call);
    return node_vector_dot(s->graph, c->spin, c->normal);
}

graph_node contact_vector(hamel_system *s, const kinematic_call *call) {
    const system_contact *c = contact_of(s, call);
    int k = call->component;
    if (call->quantity == QUANTITY_CONTACT_POINT) return c->point[k];
    if (call->quantity == QUANTITY_CONTACT_SLIP) return c->slip[k];
    return graph_sub(s->graph, c->spin[k], graph_mul(s->graph, contact_pivot(s, call), c->normal[k]));
}
