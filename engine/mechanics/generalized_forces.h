/* generalized_forces.h — the forces on the coordinates, element by element: the terms of the virtual work
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
    /* whether a nonideal constraint prescribes the force; `node` then contains multipliers of ideal constraints only */
    bool prescribed;
} generalized_force;

/* Lists the forces of derived equations in `memory`, in the order of the description, without zero forces. Returns
 * HAMEL_OK or the error status of the graph. If out of memory, returns HAMEL_NO_MEMORY without adding an error. */
hamel_status generalized_forces_list(hamel_equations *e, arena *memory, generalized_force **list,
                                     size_t *count) HAMEL_CHECKED;
