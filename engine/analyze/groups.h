/* groups.h — groups of constraints connected by shared coordinates. Each group is analyzed separately. */
#pragma once

#include "engine/analyze/rank_rows.h"
#include "engine/base/arena.h"
#include "engine/mechanics/equations.h"

#include <assert.h>

/* Coordinates and constraints sorted by group. Group k has the entries first_*[k] to first_*[k + 1] − 1. A coordinate
 * that occurs in no constraint belongs to no group. */
typedef struct groups {
    size_t count;
    size_t *first_constraint, *first_coordinate; /* count + 1 entries each */
    size_t *constraints;
    int32_t *coordinates;                      /* increasing within a group */
    size_t *local;                             /* n entries: position of each coordinate in its group */
    size_t most_constraints, most_coordinates; /* largest numbers of constraints and of coordinates in a group */
} groups;

/* Groups the constraints that act initially. If `taken` is not NULL, groups only the constraints for which taken[c] is
 * true. Arrays are allocated in `memory`. Returns false if out of memory. */
bool groups_create(groups *g, arena *memory, hamel_system *s, const bool *taken);

/* Returns the root of i in a union-find forest, and shortens the path from i to the root. */
size_t groups_root(size_t *parent, size_t i);

/* Writes row c of A as a dense row over the coordinates of its group. `values` contains the entries of A in the order
 * of the pattern of A. */
void groups_row(const groups *g, size_t group, const matrix_pattern *A, const double *values, size_t c, double *row);

/* Returns the rank of the rows of A of a group. `basis` and row[most_coordinates] are scratch. Unless `independent` is
 * NULL, marks each constraint whose row is independent of the rows before it. */
size_t groups_rank(const groups *g, size_t group, const matrix_pattern *A, const double *values, rank_rows *basis,
                   double *row, bool *independent);

static inline size_t groups_constraints(const groups *g, size_t k) {
    assert(k < g->count);
    return g->first_constraint[k + 1] - g->first_constraint[k];
}
static inline size_t groups_coordinates(const groups *g, size_t k) {
    assert(k < g->count);
    return g->first_coordinate[k + 1] - g->first_coordinate[k];
}
