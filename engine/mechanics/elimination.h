/* elimination.h — symbolic solution of a symmetric system of equations, entry by entry.
 *
 *     S x = z
 *
 * The caller chooses the order of two kinds of steps:
 *
 *   pivot        One step of LDLᵀ with a diagonal entry as pivot (Golub & Van Loan, Matrix Computations, 4th ed.,
 *                4.1.2).
 *   substitute   Replaces x_w by Σ α_c x_c: S ← EᵀSE, z_c += α_c z_w. The definition of any other unknown must not
 *                contain x_w. In a system extended by the definition of x_w and its multiplier, this step is a 2 × 2
 *                pivot with determinant −1. The step needs no division and is therefore always possible.
 *
 * The solution is an expression without matrices, loops or multiplications by 0 or 1. Constant parts of the solution
 * are evaluated only once. Expressions do not grow during the elimination, because each entry is one node of the graph,
 * to which later entries refer. */
#pragma once

#include "engine/graph/graph.h"

enum { ELIMINATION_NONE = UINT32_MAX };

/* Coordinates are pivots of the mass matrix, constraints are pivots of −A M⁻¹Aᵀ, and sums are substituted. */
typedef enum elimination_kind { UNKNOWN_COORDINATE, UNKNOWN_SUM, UNKNOWN_CONSTRAINT } elimination_kind;

typedef struct elimination_unknown {
    elimination_kind kind;
    bool gone;
    graph_node diagonal, inverse;
    graph_node
        before;   /* diagonal entry: a coordinate's before any pivot, a constraint's after the pivots of coordinates */
    graph_node z; /* right-hand side; elimination_solve replaces it by the solution */
    uint32_t first;  /* index of the first entry */
    uint32_t degree; /* number of entries with remaining unknowns */
} elimination_unknown;

/* An entry of the strict lower triangle, linked into the lists of both of its unknowns. */
typedef struct elimination_entry {
    uint32_t unknown[2], next[2];
    graph_node node;
} elimination_entry;

typedef struct elimination_step {
    uint32_t unknown;
    size_t first, count; /* range of the factors of this step */
} elimination_step;

typedef struct elimination_factor {
    uint32_t with;
    graph_node node;
} elimination_factor;

typedef struct elimination {
    graph *g;
    arena memory;
    bool constrained; /* true if any unknown belongs to a constraint */
    /* true if an allocation or the construction of a node failed, a pivot is the constant node 0, or there are too many
     * products */
    bool failed;
    size_t products, products_most;
    elimination_unknown *unknowns;
    size_t count, capacity;
    elimination_entry *entries;
    size_t entry_count, entry_capacity;
    uint32_t *slots; /* hash table from pairs of unknowns to entries, open addressing */
    size_t slot_count;
    elimination_step *steps;
    size_t step_count, step_capacity;
    elimination_factor *factors; /* factors of all steps */
    size_t factor_count, factor_capacity;
    uint32_t *column; /* scratch: entries of the unknown that is being eliminated */
    size_t column_capacity;
    /* Accuracy measures of the solution; GRAPH_NONE if no pivot contributes. */
    graph_node least, most; /* least: smallest pivot of a coordinate; most: largest pivot of a coordinate */
    graph_node excess;      /* smallest value of pivot − MASS_PIVOT_KEPT · (diagonal entry before any pivot) */
    /* smallest squared sine of the angle between a row of A and the span of the rows before it, in the metric of M⁻¹ */
    graph_node square;
} elimination;

/* Begins an empty system whose nodes are in g (borrowed). After a failure, x->failed remains true, so the caller may
 * check for failures once, at the end. */
void elimination_begin(elimination *x, graph *g, size_t products_most);
void elimination_end(elimination *x);

/* Adds an unknown. Returns the index of the unknown, or ELIMINATION_NONE on failure. */
uint32_t elimination_add_unknown(elimination *x, elimination_kind kind);

/* Adds a node to S_ij and S_ji. */
void elimination_add(elimination *x, uint32_t i, uint32_t j, graph_node node);

/* Eliminates j with its diagonal entry as pivot, which must not be the constant node 0. Returns the number of factors
 * of this step. These factors are the last ones in x->factors. */
size_t elimination_pivot(elimination *x, uint32_t j);

/* Eliminates j with x_j = Σ factors[k].node x_(factors[k].with). */
void elimination_substitute(elimination *x, uint32_t j, const elimination_factor *factors, size_t count);

/* Replaces the right-hand side by the solution. All unknowns must be eliminated. */
void elimination_solve(elimination *x);
