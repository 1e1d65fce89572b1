/* cyclic.h — conditions under which a coordinate is cyclic and its momentum is conserved.
 *
 * A coordinate is cyclic if it is absent from L, the forces and the constraints. The momentum of a coordinate is
 * conserved if the coordinate is absent from L and no force or reaction acts on it. */
#pragma once

#include "engine/mechanics/equations.h"

typedef enum cyclic_place {
    CYCLIC_IN_LAGRANGIAN, /* ∂L/∂q_i as a sum over all terms of L, because terms may cancel */
    CYCLIC_IN_ACCELERATION_ENERGY,
    CYCLIC_IN_FORCE,      /* the impressed, nonideal or friction force on coordinate `where` */
    CYCLIC_IN_CONSTRAINT, /* the coordinate occurs in the equation of constraint `where` */
    /* The conditions below affect only whether the momentum of a coordinate is conserved, not whether the coordinate is
     * cyclic. */
    CYCLIC_FORCED,      /* a force on the coordinate */
    CYCLIC_CONSTRAINED, /* the component A_ci of the reaction of constraint `where` */
    CYCLIC_FIRST_OF_MOMENTUM = CYCLIC_FORCED
} cyclic_place;

typedef struct cyclic_condition {
    graph_node node; /* the condition is node = 0 at every state; it is omitted if `node` is the constant 0 */
    int32_t coordinate, where;
    cyclic_place place;
} cyclic_condition;

typedef struct cyclic_conditions {
    const hamel_equations *equations;
    cyclic_condition *items; /* in the system's memory */
    size_t count, capacity;
} cyclic_conditions;

/* Lists the conditions of all coordinates in *out, which must be zeroed. Adds an error and returns false on failure. */
bool cyclic_list(cyclic_conditions *out, const hamel_equations *e) HAMEL_CHECKED;
