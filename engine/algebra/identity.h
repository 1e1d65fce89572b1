/* identity.h — tests whether expressions are identically 0.
 *
 * Polynomials over the integers modulo a large prime are evaluated at random points (Schwartz, J. ACM 27 (1980) 701;
 * Zippel, EUROSAM 1979). If the value is 0 at each point, the expression counts as 0; the error probability is
 * degree / 2^61 for each point. A sine and cosine are a point of the circle c² + s² = 1 modulo that prime. Points are
 * multiplied where angles are added, so all relations between angles with rational factors hold. √u is a root of u.
 * Other functions count as unknown functions of their operands, so a zero that follows only from their rules, such as
 * log(exp(x)) − x, is not found.
 *
 * Unlike arrange(), this test costs only a few evaluations of the expressions, and does not use FLINT. */
#pragma once

#include "engine/graph/graph.h"

/* Sets is_zero[k] for each of expressions[count]. Returns false if out of memory or if the graph failed. */
bool identity_find_zeros(graph *g, const graph_node *expressions, size_t count, bool *is_zero,
                         arena *memory) HAMEL_CHECKED;
