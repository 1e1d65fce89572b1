/* integrate.h — antiderivatives, potentials of one-forms and their integrating factors, by simple rules.
 *
 * Callers check results by differentiation. If the rules find no result, functions return GRAPH_NONE or false, although
 * a result may exist. Simplification is charged to a work budget (NULL: no bound). Once the budget is spent, few
 * results are found. */
#pragma once

#include "engine/algebra/work_budget.h"
#include "engine/graph/graph.h"

/* The form Σ coefficient[i] d variable[i]. The variables are different symbols. Coefficients contain only these symbols
 * and parameters. */
typedef struct one_form {
    const graph_node *coefficient, *variable;
    size_t count;
} one_form;

/* Returns F with ∂F/∂symbol = node, or GRAPH_NONE. */
graph_node integrate(graph *g, graph_node node, graph_node symbol, work_budget *e, arena *memory);

/* Finds *integral = F and *factor = μ with dF = μ · form. If the form is exact, μ is 1. Otherwise μ is a function of
 * one variable, possibly divided by the first nonzero coefficient. */
bool integrate_form(graph *g, const one_form *form, graph_node *factor, graph_node *integral, work_budget *e,
                    arena *memory);

/* Arranges each term of a sum separately, so that the sum is not factored. */
graph_node arrange_terms(graph *g, graph_node sum, work_budget *e, arena *memory);
