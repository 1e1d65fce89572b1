/* integrate.h — antiderivatives, potentials of one-forms and their integrating factors, where simple rules find them.
 *
 * What is returned is meant to be checked by differentiation: rules take like factors for equal when the arranged
 * quotient says so. Everything returns GRAPH_NONE or false where nothing is found, which does not disprove existence.
 * The work of simplification is charged to an effort; when it is spent, little is found. NULL sets no bound. */
#ifndef HAMEL_ALGEBRA_INTEGRATE_H
#define HAMEL_ALGEBRA_INTEGRATE_H

#include "engine/algebra/effort.h"
#include "engine/graph/graph.h"

/* Σ coefficient[i] d variable[i]; the variables are different symbols and hold all that a coefficient may contain
 * besides parameters. */
typedef struct one_form {
    const graph_node *coefficient, *variable;
    size_t count;
} one_form;

/* F with ∂F/∂symbol = node. */
graph_node integrate(graph *g, graph_node node, graph_node symbol, effort *e, arena *memory);

/* *integral = F and *factor = μ with dF = μ · form: μ is 1 where the form is exact, and else a function of one variable,
 * or that over the first coefficient. */
bool integrate_form(graph *g, const one_form *form, graph_node *factor, graph_node *integral, effort *e, arena *memory);

/* The sum with each term as a book would print it; together they might be factored. */
graph_node arrange_terms(graph *g, graph_node sum, effort *e, arena *memory);

#endif
