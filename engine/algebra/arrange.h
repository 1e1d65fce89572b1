/* arrange.h — writes expressions in the form used in textbooks. */
#pragma once

#include "engine/algebra/work_budget.h"
#include "engine/graph/graph.h"

/* Returns an equal expression, collected by accelerations, multipliers and velocities: (m1 + m2)*l^2*x'' +
 * m2*g*l*sin(x). The coefficients are reduced by the relations of sines and cosines, and factored. Returns the number 0
 * if these relations reduce the expression to 0. If the expression exceeds the bounds on a ring (ring.h), returns the
 * expression unchanged. Returns GRAPH_NONE only if a node cannot be created (graph_status). Allocates scratch in
 * `memory`. */
graph_node arrange(graph *g, graph_node expression, arena *memory);

/* Does the same as arrange() within a work budget (NULL: no bound). If the budget does not suffice, returns the
 * expression unchanged. */
graph_node arrange_within(graph *g, graph_node expression, work_budget *e, arena *memory);

/* Does the same as arrange_within(), but assumes that zero[0] to zero[count − 1] are 0. The result is valid only where
 * these expressions are 0. */
graph_node arrange_where(graph *g, graph_node expression, const graph_node *zero, size_t count, work_budget *e,
                         arena *memory);
