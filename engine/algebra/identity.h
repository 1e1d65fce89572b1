/* identity.h — whether expressions are 0 identically.
 *
 * Polynomials over the integers modulo a large prime are evaluated at random points (Schwartz, J. ACM 27 (1980) 701;
 * Zippel, EUROSAM 1979): if the value is 0 at each, the expression is 0, but for a chance of (degree / 2^61) for each
 * point. Sines and cosines are points of the circle c² + s² = 1 modulo that prime, which multiply as angles add, so all
 * relations between angles with rational factors hold. √u is a root of u. Whatever else is no arithmetic is taken as an
 * unknown function of its operands: a zero that only its own rules explain, as log(exp(x)) = x, is not found.
 *
 * Unlike arrange() this takes no more time and memory than some evaluations of the expressions, and needs no FLINT. */
#ifndef HAMEL_ALGEBRA_IDENTITY_H
#define HAMEL_ALGEBRA_IDENTITY_H

#include "engine/graph/graph.h"

/* is_zero[k] for each of the expressions. False without memory, or when the graph failed. */
bool identity_find_zeros(graph *g, const graph_node *expressions, size_t count, bool *is_zero,
                         arena *memory) HAMEL_CHECKED;

#endif
