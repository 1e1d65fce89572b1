/* groups.c — union-find over coordinates, and a counting sort by group. The run time is nearly linear, except for
 * graph_support. */
#include "engine/analyze/groups.h"

#include <assert.h>
#include <string.h>

typedef struct builder {
    hamel_system *s;
    size_t n, m;
    size_t *root;   /* n entries: union-find forest; later the group of each coordinate, or n */
    size_t *owner;  /* m entries: a coordinate of the constraint, later its group; n if the constraint is not grouped */
    size_t *number; /* n entries: group of each root, or n; later the sorted coordinates */
    size_t *next;   /* n entries: next free position of each group in the counting sort */
} builder;

size_t groups_root(size_t *parent, size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]]; /* path halving */
    return i;
}

/* Joins the coordinates of constraint c. Returns one of these coordinates, or n if the constraint contains no
 * coordinates. */
static size_t join_coordinates(builder *b, size_t c) {
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION};
    size_t first = b->n;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int32_t *list;
        size_t count = graph_support(b->s->graph, b->s->constraints[c].equation, kinds[k], &list);
        for (size_t i = 0; i < count; i++) {
            if (first == b->n) first = (size_t)list[i];
            b->root[groups_root(b->root, (size_t)list[i])] = groups_root(b->root, first);
        }
    }
    return first;
}

/* Assigns an index to each group that has a constraint, and replaces the coordinates in `owner` and `root` by indices
 * of groups. */
static void number_groups(builder *b, groups *g) {
    for (size_t i = 0; i <= b->n; i++) b->number[i] = b->n;
    for (size_t c = 0; c < b->m; c++) {
        if (b->owner[c] == b->n) continue;
        size_t *number = &b->number[groups_root(b->root, b->owner[c])];
        if (*number == b->n) *number = g->count++;
        b->owner[c] = *number;
    }
    for (size_t i = 0; i < b->n; i++) b->next[i] = b->number[groups_root(b->root, i)];
    memcpy(b->root, b->next, b->n * sizeof *b->root);
}

/* Sorts the items 0 … count − 1 by `group`; items of group n are omitted. Returns the size of the largest group. */
static size_t sort_by_group(builder *b, size_t group_count, const size_t *group, size_t count, size_t *first,
                            size_t *items) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (group[i] < b->n) first[group[i] + 1]++;
    for (size_t k = 0; k < group_count; k++) {
        if (first[k + 1] > most) most = first[k + 1];
        first[k + 1] += first[k];
    }
    memcpy(b->next, first, (group_count + 1) * sizeof *first);
    for (size_t i = 0; i < count; i++)
        if (group[i] < b->n) items[b->next[group[i]]++] = i;
    return most;
}

bool groups_create(groups *g, arena *memory, hamel_system *s, const bool *taken) {
    builder b = {.s = s, .n = s->coordinate_count, .m = s->standing_count};
    *g = (groups){0};
    size_t **const lists[] = {&b.root, &b.next, &b.number, &g->first_constraint, &g->first_coordinate, &g->local};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = arena_alloc(memory, b.n + 1, sizeof(size_t));
    b.owner = arena_alloc(memory, b.m, sizeof *b.owner);
    g->constraints = arena_alloc(memory, b.m, sizeof *g->constraints);
    g->coordinates = arena_alloc(memory, b.n, sizeof *g->coordinates);
    if (memory->failed) return false;
    for (size_t i = 0; i < b.n; i++) b.root[i] = i;
    for (size_t c = 0; c < b.m; c++) b.owner[c] = !taken || taken[c] ? join_coordinates(&b, c) : b.n;
    number_groups(&b, g);
    g->most_constraints = sort_by_group(&b, g->count, b.owner, b.m, g->first_constraint, g->constraints);
    g->most_coordinates = sort_by_group(&b, g->count, b.root, b.n, g->first_coordinate, b.number);
    for (size_t k = 0; k < g->count; k++)
        for (size_t i = g->first_coordinate[k]; i < g->first_coordinate[k + 1]; i++) {
            g->coordinates[i] = (int32_t)b.number[i];
            g->local[b.number[i]] = i - g->first_coordinate[k];
        }
    return true;
}

void groups_row(const groups *g, size_t group, const matrix_pattern *A, const double *values, size_t c, double *row) {
    assert(group < g->count);
    size_t first, count = pattern_row(A, (int32_t)c, &first);
    memset(row, 0, groups_coordinates(g, group) * sizeof *row);
    for (size_t k = first; k < first + count; k++) row[g->local[A->entries[k].column]] = values[k];
}

size_t groups_rank(const groups *g, size_t group, const matrix_pattern *A, const double *values, rank_rows *basis,
                   double *row, bool *independent) {
    rank_rows_reset(basis, groups_coordinates(g, group));
    for (size_t k = g->first_constraint[group]; k < g->first_constraint[group + 1]; k++) {
        groups_row(g, group, A, values, g->constraints[k], row);
        if (rank_rows_add(basis, row) && independent) independent[g->constraints[k]] = true;
    }
    return basis->rank;
}
