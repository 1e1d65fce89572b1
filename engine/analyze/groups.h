/* groups.h — constraints that share coordinates, directly or through others: what can be judged apart from the rest. */
#ifndef HAMEL_ANALYZE_GROUPS_H
#define HAMEL_ANALYZE_GROUPS_H

#include "engine/base/arena.h"
#include "engine/mechanics/equations.h"

/* Coordinates and constraints sorted by group; those of group k are at first_*[k] to first_*[k + 1]. Coordinates that no
 * constraint contains belong to no group. */
typedef struct groups {
    size_t count;
    size_t *first_constraint, *first_coordinate; /* count + 1 */
    size_t *constraints;
    int32_t *coordinates;                      /* increasing within a group */
    size_t *local;                             /* n: position of a coordinate within its group */
    size_t most_constraints, most_coordinates; /* of one group */
} groups;

/* Groups of the constraints that act at the start and for which taken[c] (NULL: of all). Memory is the arena's. False without memory. */
bool groups_create(groups *g, arena *memory, hamel_system *s, const bool *taken);

/* The entries of row c of A among `values`, which follow A's pattern, in the columns of its group. */
void groups_row(const groups *g, size_t group, const matrix_pattern *A, const double *values, size_t c, double *row);

static inline size_t groups_constraints(const groups *g, size_t k) {
    return g->first_constraint[k + 1] - g->first_constraint[k];
}
static inline size_t groups_coordinates(const groups *g, size_t k) {
    return g->first_coordinate[k + 1] - g->first_coordinate[k];
}

#endif
