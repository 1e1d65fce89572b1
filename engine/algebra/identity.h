/* identity.h — tests whether expressions are identically 0.
 *
 * The expressions are evaluated at random points modulo a large prime (Schwartz, J. ACM 27 (1980) 701; Zippel, EUROSAM
 * 1979). An expression counts as 0 if its value is 0 at each point. At one point, an expression that is not 0 has the
 * value 0 with probability at most degree / 2^61. The sine and cosine of an angle are a point of the circle c² + s² = 1
 * modulo the prime. The point of a sum of angles is the product of the points of the angles. All relations between
 * angles with rational factors therefore hold. The value of √u is a square root of the value of u. Other functions
 * count as unknown functions of their operands. A zero that follows only from a rule of such a function, such as
 * log(exp(x)) − x, is not found.
 *
 * Unlike arrange(), this test does not use FLINT and usually costs only 16 evaluations of the expressions. */
#pragma once

#include "engine/graph/graph.h"

/* Sets is_zero[k] for each of expressions[count]. Returns false if out of memory or if a node cannot be created
 * (graph_status). */
bool identity_find_zeros(graph *g, const graph_node *expressions, size_t count, bool *is_zero,
                         arena *memory) HAMEL_CHECKED;
