/* symmetries_int.h — declarations shared by the files that search for symmetries (symmetries.h). */
#pragma once

#include "engine/analyze/analysis_int.h"
#include "engine/analyze/null_vectors.h"
#include "engine/analyze/symmetries.h"

/* SYMMETRY_SETS: number of sets of parameters. PRODUCTS_MOST: largest number of conserved momenta of shifts whose
 * products are recognized. */
enum { SYMMETRY_SETS = 3, PRODUCTS_MOST = 8 };

/* An unknown. If row < 0, the unknown is τ. Otherwise ξ_row contains the unknown times q_column, or the unknown alone
 * if column < 0. If `paired` is true, ξ_column also contains −q_row times the unknown. */
typedef struct symmetry_unknown {
    int32_t row, column;
    bool paired;
} symmetry_unknown;

typedef struct symmetry_candidate {
    graph_node *value;   /* count nodes: the values of the unknowns */
    graph_node quantity; /* J */
    const double *vector;
    /* changes: on the initial branches, d/dt J or the work of friction or prescribed reactions is not 0. differs: J is
     * not always 0. After symmetry_choose, `differs` also requires that J is independent of the other quantities. */
    bool changes, differs;
    uint64_t beyond; /* bit set of the regions in which d/dt J is not 0 */
} symmetry_candidate;

typedef struct symmetry_search {
    analysis *a;
    symmetry_unknown *unknowns;
    size_t count;
    graph_node *momentum, *force; /* n nodes each: p_k, and ∂L/∂q_k + Q_k + Σ λ_c A_ck */
    /* extras × n nodes: friction and prescribed reactions, which must do no work on the displacement */
    graph_node *extra;
    size_t extras;
    graph_node *nodes; /* copies of momentum, force and extra, followed by the rate of h */
    size_t node_count;
    double *values; /* values of `nodes` at a state */
    double *matrix; /* coefficients of the linear equations, row by row */
    sample *states;
    size_t state_count; /* number of states drawn; larger than the numbers of unknowns and of conserved quantities */
    double *parameters[SYMMETRY_SETS];
    null_vectors found[SYMMETRY_SETS];
    size_t sets; /* number of sets of parameters whose null vectors have the same pivots */
    symmetry_candidate *candidates;
} symmetry_search;

/* Draws `count` states that satisfy the constraints with the parameters of a set. Skips the first SAMPLE_COUNT states
 * of the sampler, because the zero tests use them. Stores in *good whether all states were found. */
hamel_status symmetry_draw(symmetry_search *s, size_t set, size_t count, bool *good) HAMEL_CHECKED;

/* Returns ξ_k, or the rate of ξ_k if `rate` is true. `value` contains the values of the unknowns; τ has no
 * influence. */
graph_node symmetry_displacement(const symmetry_search *s, const graph_node *value, int32_t k, bool rate);

/* symmetry_choice.c: sets `differs` to false for products of integrals, and for candidates that depend linearly on
 * other conserved quantities in the states that satisfy the constraints. Of candidates that depend on each other, keeps
 * those with few terms. */
hamel_status symmetry_choose(symmetry_search *s) HAMEL_CHECKED;

/* Returns the text of an expression in a->memory. SYMBOL_FREE k is the momentum of coordinate k, and SYMBOL_FREE n is
 * the Jacobi integral. Returns NULL if the text is too long or if out of memory. */
const char *symmetry_text(analysis *a, graph_node node);

/* symmetry_choice.c: returns true if ξ is constant and τ = 0 for the candidate. */
bool symmetry_is_shift(const symmetry_search *s, const symmetry_candidate *c);

/* quadrature.c: stores in *out the quadrature of a system with one remaining freedom, or NULL for other systems. */
hamel_status quadrature_derive(symmetry_search *s, hamel_quadrature **out) HAMEL_CHECKED;

/* symmetry_values.c: returns an expression for a coefficient. x[k] is the value of the coefficient for the parameter
 * values parameters[k][count]; k = 0 belongs to the description. If a multiple of a monomial in the parameters equals
 * x[k] for all k, returns this multiple. Otherwise, or if `sets` is 1, returns x[0] as a number. */
graph_node symmetry_value(graph *g, const double *x, size_t sets, double *const *parameters, size_t count);
