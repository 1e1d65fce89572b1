/* generalized_forces.h — the forces on the coordinates, element by element: the parts of the virtual work
 *
 *     δW = Σ Q_i δq_i,     Q_i = −∂V/∂q_i, F·∂r/∂q_i, −∂D/∂q'_i, C_i, F_ik |λ_k|          (Baruh 4.5; Udwadia 2000)
 *
 * Reactions of ideal constraints do no virtual work and are not included. */
#pragma once

#include "engine/mechanics/equations.h"

typedef struct generalized_force {
    const char
        *origin; /* "spring s1", "dissipation", "nonideal", "friction on floor"; parts of one share the pointer */
    int32_t coordinate;
    graph_node node;
    int32_t friction; /* of the system, or −1 */
    bool prescribed;  /* by a nonideal constraint: multipliers in it are those of ideal constraints */
} generalized_force;

/* Lists them for equations that have been derived, in the order of the description; zero forces are omitted. In
 * `memory`. HAMEL_OK, or the error that stopped the graph, or HAMEL_NO_MEMORY without one. */
hamel_status generalized_forces_list(hamel_equations *e, arena *memory, generalized_force **list,
                                     size_t *count) HAMEL_CHECKED;
