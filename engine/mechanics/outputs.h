/* outputs.h — outputs, invariants, checks and events bound to nodes. */
#pragma once

#include "engine/mechanics/equations.h"

/* The nodes of all observed expressions; arrays in the system's arena, one node for each item of the description. */
typedef struct hamel_observed {
    graph_node *outputs, *invariants, *checks;
} hamel_observed;

/* Binds all observed expressions and the expressions of the system's events. If `e` is NULL, only syntax and names are
 * checked. Errors are added to the system's error. */
hamel_status outputs_bind(hamel_observed *out, hamel_system *s, const hamel_equations *e);
