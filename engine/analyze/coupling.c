/* coupling.c — how the equations hang together: index, entries of the matrices, blocks of coordinates.
 *
 * The index is that of the differential-algebraic equations as they are given, M q'' = Q + Aᵀλ with the constraints: 3
 * with holonomic constraints, 2 with velocity constraints, 1 with constraints on accelerations, 0 without any (Brenan,
 * Campbell & Petzold 1996, section 2.2). Two coordinates are in one block when some chain of equations leads from one
 * to the other: blocks move without regard to each other. */
#include "engine/analyze/analysis_int.h"

static size_t root_of(size_t *parent, size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]]; /* paths are halved on the way */
    return i;
}

static void join(size_t *parent, size_t i, size_t j) {
    parent[root_of(parent, j)] = root_of(parent, i);
}

/* Everything that equation `row` contains moves with node `own`; multipliers are the nodes behind the coordinates. */
static void join_support(analysis *a, size_t *parent, size_t own, graph_node row) {
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION,
                                              SYMBOL_MULTIPLIER};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int32_t *list;
        size_t count = node_support(a->system, row, kinds[k], &list);
        for (size_t i = 0; i < count; i++)
            join(parent, own, (size_t)list[i] + (kinds[k] == SYMBOL_MULTIPLIER ? a->n : 0));
    }
}

static size_t index_of(const analysis *a) {
    size_t most = 0;
    for (size_t c = 0; c < a->m; c++) {
        constraint_order order = a->model->order[c];
        size_t index = order == CONSTRAINT_HOLONOMIC ? 3 : order == CONSTRAINT_VELOCITY ? 2 : 1;
        if (a->model->active[c] && index > most) most = index;
    }
    return most;
}

hamel_status coupling_derive(analysis *a) {
    const hamel_equations *e = &a->equations;
    hamel_report *r = a->report;
    size_t *parent = arena_alloc(a->memory, a->n + a->m, sizeof *parent);
    if (!parent) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n + a->m; i++) parent[i] = i;
    for (size_t i = 0; i < a->n + a->m; i++)
        if (i < a->n || a->model->active[i - a->n]) join_support(a, parent, i, e->residual[i]);
    for (size_t i = 0; i < a->n; i++) r->blocks += root_of(parent, i) == i; /* of coordinates, by their roots … */
    for (size_t c = a->n; c < a->n + a->m; c++)                             /* … a multiplier may be one */
        if (root_of(parent, c) == c && a->model->active[c - a->n]) r->blocks++;
    r->index = index_of(a);
    for (size_t k = 0; k < e->M.count; k++) r->mass_entries += e->M.entries[k].row == e->M.entries[k].column ? 1 : 2;
    r->constraint_entries = e->A.count;
    return HAMEL_OK;
}
