/* coupling.c — coupling of the equations: index, entries of the matrices, blocks of coordinates.
 *
 * The index is that of the differential-algebraic equations M q'' = Q + Aᵀλ with the constraints in their given form.
 * It is 3 with holonomic constraints, 2 with velocity constraints, 1 with acceleration constraints and 0 without
 * constraints (Brenan, Campbell & Petzold 1996, section 2.2). Two coordinates are in one block if a chain of equations
 * connects them, so blocks move independently. */
#include "engine/analyze/analysis_int.h"

#include <assert.h>

/* Joins `own` with each variable in equation `row`; multipliers are numbered after the coordinates. */
static void join_support(analysis *a, size_t *parent, size_t own, graph_node row) {
    assert(own < a->n + a->m);
    static const graph_symbol_kind kinds[] = {SYMBOL_COORDINATE, SYMBOL_VELOCITY, SYMBOL_ACCELERATION,
                                              SYMBOL_MULTIPLIER};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int32_t *list;
        size_t count = node_support(a->system, row, kinds[k], &list);
        for (size_t i = 0; i < count; i++) {
            size_t other = (size_t)list[i] + (kinds[k] == SYMBOL_MULTIPLIER ? a->n : 0);
            parent[groups_root(parent, other)] = groups_root(parent, own);
        }
    }
}

hamel_status coupling_derive(analysis *a) {
    const hamel_equations *e = &a->equations;
    hamel_report *r = a->report;
    size_t *parent = arena_alloc(a->memory, a->n + a->m, sizeof *parent);
    if (!parent) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n + a->m; i++) parent[i] = i;
    for (size_t i = 0; i < a->n + a->m; i++)
        if (i < a->n || a->model->active[i - a->n]) join_support(a, parent, i, e->residual[i]);
    for (size_t i = 0; i < a->n; i++) r->blocks += groups_root(parent, i) == i; /* blocks that contain coordinates */
    for (size_t c = 0; c < a->m; c++) {
        if (!a->model->active[c]) continue;
        size_t index = 3 - (size_t)a->model->order[c]; /* 3, 2 and 1 by constraint_order */
        if (index > r->index) r->index = index;
        r->blocks += groups_root(parent, a->n + c) == a->n + c; /* blocks that are a single multiplier */
    }
    for (size_t k = 0; k < e->M.count; k++) r->mass_entries += e->M.entries[k].row == e->M.entries[k].column ? 1 : 2;
    r->constraint_entries = e->A.count;
    return HAMEL_OK;
}
