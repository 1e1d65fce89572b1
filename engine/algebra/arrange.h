/* arrange.h — expressions put in the form a book would print. */
#ifndef HAMEL_ALGEBRA_ARRANGE_H
#define HAMEL_ALGEBRA_ARRANGE_H

#include "engine/algebra/effort.h"
#include "engine/graph/graph.h"

/* An equal expression, collected by what moves (accelerations, multipliers, velocities), with coefficients reduced by
 * the relations of sines and cosines and factored: (m1 + m2)*l^2*x'' + m2*g*l*sin(x). The number 0 where it is 0
 * identically as far as the relations tell. Returns the expression itself when it is too long to be arranged (ring.h),
 * GRAPH_NONE only when the graph failed. Scratch memory is taken from `memory`. */
graph_node arrange(graph *g, graph_node expression, arena *memory);

/* The same within an effort. Returns the expression itself when that does not suffice. */
graph_node arrange_within(graph *g, graph_node expression, effort *e, arena *memory);

/* The same where `count` expressions are known to be 0: equal there. */
graph_node arrange_where(graph *g, graph_node expression, const graph_node *zero, size_t count, effort *e,
                         arena *memory);

#endif
