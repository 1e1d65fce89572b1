/* inputs.h — inputs by name, and derivatives of parameters and nodes with respect to an input parameter. */
#pragma once

#include "engine/system/system.h"

/* Returns the index of the parameter, or −1 if there is no such parameter. */
int32_t inputs_find_parameter(const hamel_system *s, const char *name);

typedef enum input_kind { INPUT_PARAMETER, INPUT_INITIAL, INPUT_VELOCITY, INPUT_QUASI, INPUT_NONE } input_kind;
typedef struct model_input {
    input_kind kind;
    int32_t index; /* index of the parameter, coordinate or quasi-velocity; −1 for INPUT_NONE */
} model_input;

/* Finds the input with this name: a parameter, COORDINATE.initial, COORDINATE.velocity or QUASI.initial. */
model_input inputs_find(const hamel_system *s, const char *name);

/* Copies NAME of "NAME.initial" or "NAME.velocity" to the system's memory and sets *kind. Returns NULL if out of
 * memory. For other names, returns NULL and sets *kind to INPUT_NONE. */
const char *inputs_base_name(hamel_system *s, const char *name, input_kind *kind);

/* Sets rates[j] to the node dp_j/dp_input for all parameters j. Returns false if a node cannot be created
 * (graph_status). */
bool inputs_parameter_rates(hamel_system *s, int32_t input, graph_node *rates);

/* Returns the derivative of `node` with respect to p_input, given the rates dp_j/dp_input of all parameters. If `node`
 * is GRAPH_NONE, returns the constant node 0. */
graph_node inputs_along(hamel_system *s, graph_node node, const graph_node *rates);
