/* groups.c — implements groups.h by union-find over coordinates and a counting sort. Apart from finding the supports,
 * the time is linear. */
#include "engine/analyze/groups.h"

#include <assert.h>
#include <string.h>

typedef struct builder {
    hamel_system *s;
    size_t n, m;
    size_t *root;  /* n */
    size_t *owner; /* m: a coordinate of the constraint, later its group's root; n if the constraint is not grouped */
    size_t *name;  /* n + 1: group of each root; n if it has no group */
    size_t *next;  /* n + 1: next free position of each group in the counting sort */
} builder;

static size_t group_root(size_t *root, size_t i) {
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* Joins the coordinates of constraint c and returns one of them, or n if it has no coordinates. */
static size_t join_coordinates(builder *b, size_t c) {
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION};
    size_t first = b->n;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int32_t *list;
        size_t count = graph_support(b->s->graph, b->s->constraints[c].equation, kinds[k], &list);
        for (size_t i = 0; i < count; i++) {
            if (first == b->n) first = (size_t)list[i];
            b->root[group_root(b->root, (size_t)list[i])] = group_root(b->root, first);
        }
    }
    return first;
}

/* Numbers the groups that have a constraint. */
static void name_groups(builder *b, groups *g) {
    for (size_t i = 0; i <= b->n; i++) b->name[i] = b->n;
    for (size_t c = 0; c < b->m; c++) {
        if (b->owner[c] == b->n) continue;
        b->owner[c] = group_root(b->root, b->owner[c]);
        if (b->name[b->owner[c]] == b->n) b->name[b->owner[c]] = g->count++;
    }
}

static void sums(size_t *first, size_t count, size_t *most) {
    for (size_t k = 0; k < count; k++) {
        if (first[k + 1] > *most) *most = first[k + 1];
        first[k + 1] += first[k];
    }
}

static void sort_by_group(builder *b, groups *g) {
    for (size_t c = 0; c < b->m; c++)
        if (b->name[b->owner[c]] < b->n) g->first_constraint[b->name[b->owner[c]] + 1]++;
    for (size_t i = 0; i < b->n; i++)
        if (b->name[group_root(b->root, i)] < b->n) g->first_coordinate[b->name[group_root(b->root, i)] + 1]++;
    sums(g->first_constraint, g->count, &g->most_constraints);
    sums(g->first_coordinate, g->count, &g->most_coordinates);
    memcpy(b->next, g->first_constraint, (g->count + 1) * sizeof *b->next);
    for (size_t c = 0; c < b->m; c++)
        if (b->name[b->owner[c]] < b->n) g->constraints[b->next[b->name[b->owner[c]]]++] = c;
    memcpy(b->next, g->first_coordinate, (g->count + 1) * sizeof *b->next);
    for (size_t i = 0; i < b->n; i++) {
        size_t k = b->name[group_root(b->root, i)];
        if (k == b->n) continue;
        g->local[i] = b->next[k] - g->first_coordinate[k];
        g->coordinates[b->next[k]++] = (int32_t)i;
    }
}

bool groups_create(groups *g, arena *memory, hamel_system *s, const bool *taken) {
    builder b = {.s = s, .n = s->coordinate_count, .m = s->standing_count};
    *g = (groups){0};
    b.root = arena_alloc(memory, b.n, sizeof *b.root);
    b.owner = arena_alloc(memory, b.m, sizeof *b.owner);
    b.name = arena_alloc(memory, b.n + 1, sizeof *b.name);
    b.next = arena_alloc(memory, b.n + 1, sizeof *b.next);
    g->first_constraint = arena_alloc(memory, b.n + 1, sizeof *g->first_constraint);
    g->first_coordinate = arena_alloc(memory, b.n + 1, sizeof *g->first_coordinate);
    g->constraints = arena_alloc(memory, b.m, sizeof *g->constraints);
    g->coordinates = arena_alloc(memory, b.n, sizeof *g->coordinates);
    g->local = arena_alloc(memory, b.n, sizeof *g->local);
    if (!b.root || !b.owner || !b.name || !b.next || !g->first_constraint || !g->first_coordinate || !g->constraints ||
        !g->coordinates || !g->local)
        return false;
    for (size_t i = 0; i < b.n; i++) b.root[i] = i;
    for (size_t c = 0; c < b.m; c++) b.owner[c] = !taken || taken[c] ? join_coordinates(&b, c) : b.n;
    name_groups(&b, g);
    sort_by_group(&b, g);
    return true;
}

void groups_row(const groups *g, size_t group, const matrix_pattern *A, const double *values, size_t c, double *row) {
    assert(group < g->count);
    size_t first, count = pattern_row(A, (int32_t)c, &first);
    memset(row, 0, groups_coordinates(g, group) * sizeof *row);
    for (size_t k = first; k < first + count; k++) row[g->local[A->entries[k].column]] = values[k];
}
