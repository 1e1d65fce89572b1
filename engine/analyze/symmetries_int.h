/* symmetries_int.h — declarations shared by the files that search for symmetries (symmetries.h). */
#pragma once

#include "engine/analyze/analysis_int.h"
#include "engine/analyze/null_vectors.h"
#include "engine/analyze/symmetries.h"

/* PRODUCTS_MOST: conserved momenta of shifts whose products are recognized */
enum { SYMMETRY_SETS = 3, PRODUCTS_MOST = 8 };

/* An unknown: τ if row < 0; otherwise ξ_row contains the unknown times q_column, or times 1 if column < 0. If `paired`,
 * ξ_column also contains −q_row times the unknown. */
typedef struct symmetry_unknown {
    int32_t row, column;
    bool paired;
} symmetry_unknown;

typedef struct symmetry_candidate {
    graph_node *value;   /* values of the unknowns */
    graph_node quantity; /* J */
    const double *vector;
    bool changes, differs; /* changes: d/dt J is not 0 on the initial branches; differs: J is not always 0 */
    uint64_t beyond;       /* regions in which d/dt J is not 0 */
} symmetry_candidate;

typedef struct symmetry_search {
    analysis *a;
    symmetry_unknown *unknowns;
    size_t count;
    graph_node *momentum, *force; /* n each: p_k, and ∂L/∂q_k + Q_k + Σ λ_c A_ck */
    /* extras × n: friction and prescribed reactions, which must do no work on the displacement */
    graph_node *extra;
    size_t extras;
    graph_node *nodes; /* all of the nodes above, then the rate of h */
    size_t node_count;
    double *values; /* of the nodes at a state */
    double *matrix; /* coefficients of the linear equations, row by row */
    sample *states;
    size_t state_count; /* more than the number of unknowns and than the number of conserved quantities */
    double *parameters[SYMMETRY_SETS];
    null_vectors found[SYMMETRY_SETS];
    size_t sets; /* number of sets of parameters with the same pivots */
    symmetry_candidate *candidates;
} symmetry_search;

/* Draws `count` states that satisfy the constraints with the parameters of a set. The first states of a sampler are
 * those of the tests and are skipped. Sets *good to false if a state was not found. */
hamel_status symmetry_draw(symmetry_search *s, size_t set, size_t count, bool *good) HAMEL_CHECKED;

/* Returns ξ_k, or its rate if `rate`, without contributions of τ. */
graph_node symmetry_displacement(const symmetry_search *s, const graph_node *value, int32_t k, bool rate);

/* symmetry_choice.c: sets `differs` to false for candidates that are functions of other conserved quantities on the
 * constraints. Prefers candidates with few terms. */
hamel_status symmetry_choose(symmetry_search *s) HAMEL_CHECKED;

/* Prints an expression in which SYMBOL_FREE k is the momentum of coordinate k, and SYMBOL_FREE n the Jacobi integral.
 * Returns NULL if the text is too long or if out of memory. */
const char *symmetry_text(analysis *a, graph_node node);

/* symmetry_choice.c: returns true if ξ is constant and τ = 0. */
bool symmetry_is_shift(const symmetry_search *s, const symmetry_candidate *c);

/* quadrature.c: sets *out to the quadrature of a system with one remaining freedom, or to NULL. */
hamel_status quadrature_derive(symmetry_search *s, hamel_quadrature **out) HAMEL_CHECKED;

/* symmetry_values.c: a number in the description's language for x[0], the value of a coefficient. x[1] and x[2] are its
 * values after changes of all parameters: parameters[k][count]. If a monomial of parameters gives all three values,
 * returns this monomial. Otherwise, or if x has only one value (`sets` = 1), returns x[0] as a number. */
graph_node symmetry_value(graph *g, const double *x, size_t sets, double *const *parameters, size_t count);
