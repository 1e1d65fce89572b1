/* eliminate.h — linear systems with expressions as coefficients. */
#pragma once

#include "engine/algebra/work_budget.h"
#include "engine/graph/graph.h"

/* Gauss–Jordan elimination with at most `most` pivots. `table` is overwritten. The table is stored row by row: each of
 * the `rows` rows has `columns` coefficients and one right-hand side. On return, the pivot of each row is 1, and
 * pivot_column[row] is the column of the pivot, or −1 if the row has no pivot. If `most` does not limit the number of
 * pivots, all coefficients of a row without a pivot are 0. The pivot is the simplest available entry: ±1, then numbers,
 * parameters, and other expressions that are not identically 0. Of equally simple entries, the largest at `near` is
 * chosen. An entry that vanishes at `near` is used only if all available entries vanish there. Once the work budget is
 * spent, entries that vanish at `near` are not used as pivots. The coefficients of rows without a pivot may then differ
 * from 0. Returns false if out of memory or if a node cannot be created (graph_status). */
bool eliminate_within(graph *g, graph_node *table, size_t rows, size_t columns, const graph_point *near,
                      int *pivot_column, size_t most, work_budget *e, arena *memory);

/* Differs from eliminate_within in the choice of pivots: a pivot in a column with preferred[column] = true is chosen
 * before pivots in other columns, unless it vanishes at `near`. `preferred` has `columns` elements. If `preferred` is
 * NULL, pivots are chosen as in eliminate_within. */
bool eliminate_preferring(graph *g, graph_node *table, size_t rows, size_t columns, const graph_point *near,
                          const bool *preferred, int *pivot_column, size_t most, work_budget *e, arena *memory);

/* Returns true if the coefficients of all rows without a pivot are 0. */
bool is_eliminated(const graph *g, const graph_node *table, size_t rows, size_t columns, const int *pivot_column);

/* Sets *rank to the rank of the coefficients of a table at `near`. Pivots below 1e-6 of the largest pivot count as 0.
 * Returns false if out of memory. */
bool table_rank(const graph *g, const graph_node *table, size_t rows, size_t columns, const graph_point *near,
                size_t *rank, arena *memory);
