/* outputs.h — what outputs, invariants, checks and events ask for, as nodes. */
#ifndef HAMEL_MECHANICS_OUTPUTS_H
#define HAMEL_MECHANICS_OUTPUTS_H

#include "engine/mechanics/equations.h"

/* The nodes of all observed expressions; arrays in the system's arena, one node for each item of the description. */
typedef struct hamel_observed {
    graph_node *outputs, *invariants, *checks;
} hamel_observed;

/* Binds them, and what the system's events ask for, into these events. `e` NULL: only their syntax and names are checked. Faults go to the system's error. */
hamel_status outputs_bind(hamel_observed *out, hamel_system *s, const hamel_equations *e);

#endif
