/* inputs.h — what follows a parameter when it moves: parameters made of it, and whatever is made of these. */
#ifndef HAMEL_MODEL_INPUTS_H
#define HAMEL_MODEL_INPUTS_H

#include "engine/system/system.h"

/* Index of a parameter, or −1. */
int32_t inputs_find_parameter(const hamel_system *s, const char *name);

/* rates[j] := dp_j/dp_input for all parameters, as nodes. False when the graph has stopped (graph_status). */
bool inputs_parameter_rates(hamel_system *s, int32_t input, graph_node *rates);

/* d node/dp_input for the rates of all parameters; 0 for GRAPH_NONE. */
graph_node inputs_along(hamel_system *s, graph_node node, const graph_node *rates);

#endif
