/* eliminate.h — linear systems with expressions as coefficients. */
#ifndef HAMEL_ALGEBRA_ELIMINATE_H
#define HAMEL_ALGEBRA_ELIMINATE_H

#include "engine/algebra/effort.h"
#include "engine/graph/graph.h"

/* Gauss–Jordan elimination on `rows` rows of `columns` coefficients and one right side, row by row in `table` (rows ·
 * (columns + 1) nodes, overwritten), with `most` pivots at most. pivot_column[row] is written: the column that is the
 * unit column of that row afterwards, −1 for a row without a pivot, which is 0 = right side when `most` allows for all.
 * Of the available entries the simplest is taken as pivot: ±1, then numbers, parameters, and what else is not 0
 * identically; of equally simple ones the largest at `near`, and one that vanishes there only when there is no other.
 * When the effort is spent nothing is divided by what vanishes at `near`, and rows without a pivot need not be 0. False
 * when the graph or memory failed. */
bool eliminate_within(graph *g, graph_node *table, size_t rows, size_t columns, const graph_point *near,
                      int *pivot_column, size_t most, effort *e, arena *memory);

/* Whether the coefficients of all rows without a pivot are 0. */
bool is_eliminated(const graph *g, const graph_node *table, size_t rows, size_t columns, const int *pivot_column);

/* The rank that the coefficients of such a table have at `near`, where pivots below 1e-6 of the largest entry count as 0.
 * False without memory. */
bool table_rank(const graph *g, const graph_node *table, size_t rows, size_t columns, const graph_point *near,
                size_t *rank);

#endif
