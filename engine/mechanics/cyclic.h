/* cyclic.h — what must vanish for a coordinate to be cyclic, and for its momentum to be conserved.
 *
 * Cyclic: absent from L, the forces and the constraints; then nothing in the equations of motion depends on it. Conserved
 * is the momentum of a coordinate that is absent from L when no force and no reaction acts on it. */
#ifndef HAMEL_MECHANICS_CYCLIC_H
#define HAMEL_MECHANICS_CYCLIC_H

#include "engine/mechanics/equations.h"

typedef enum cyclic_place {
    CYCLIC_IN_LAGRANGIAN, /* ∂L/∂q_i, summed over all terms, which may cancel */
    CYCLIC_IN_ACCELERATION_ENERGY,
    CYCLIC_IN_FORCE,      /* on coordinate `where`: prescribed ones, nonideal ones, friction */
    CYCLIC_IN_CONSTRAINT, /* `where` */
    /* From here on places do not keep a coordinate from being cyclic, but, as the first, its momentum from being
     * conserved. */
    CYCLIC_FORCED,      /* the force on it */
    CYCLIC_CONSTRAINED, /* the direction of the reaction of constraint `where` */
    CYCLIC_FIRST_OF_MOMENTUM = CYCLIC_FORCED
} cyclic_place;

typedef struct cyclic_condition {
    graph_node
        node; /* is identically zero where the condition holds; conditions that hold by their form are left out */
    int32_t coordinate, where;
    cyclic_place place;
} cyclic_condition;

typedef struct cyclic_conditions {
    cyclic_condition *items; /* in the system's memory */
    size_t count, capacity;
} cyclic_conditions;

/* Lists the conditions for all coordinates in *out, which is all zeros. False with a fault. */
bool cyclic_list(cyclic_conditions *out, const hamel_equations *e) HAMEL_CHECKED;

#endif
