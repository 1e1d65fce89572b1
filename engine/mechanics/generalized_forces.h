/* generalized_forces.h — the forces on the coordinates, element by element. They are the terms of the virtual work
 *
 *     δW = Σ Q_i δq_i,     Q_i = −∂V/∂q_i, F·∂r/∂q_i, −∂D/∂q'_i, C_i, F_ik |λ_k|          (Baruh 4.5; Udwadia 2000)
 *
 * Reactions of ideal constraints do no virtual work and are not included. */
#pragma once

#include "engine/mechanics/equations.h"

typedef struct generalized_force {
    const char *origin; /* such as "spring s1" or "friction on floor"; forces of one origin share the pointer */
    int32_t coordinate;
    graph_node node;
    int32_t friction; /* index of the friction in the system, or −1 */
    bool prescribed;  /* prescribed for a nonideal constraint; multipliers in `node` belong to ideal constraints */
} generalized_force;

/* Lists the forces of derived equations in `memory`, in the order of the description, without zero forces. Returns
 * HAMEL_OK, the error status of the graph, or HAMEL_NO_MEMORY, for which no error is added. */
hamel_status generalized_forces_list(hamel_equations *e, arena *memory, generalized_force **list,
                                     size_t *count) HAMEL_CHECKED;
