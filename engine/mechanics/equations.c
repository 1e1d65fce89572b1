/* equations.c — sparse matrices of nodes and other helpers of all derivations. */
#include "engine/mechanics/equations.h"

#include "engine/system/binder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool pattern_add(hamel_system *s, matrix_pattern *p, int32_t row, int32_t column, graph_node node) {
    assert(row >= 0 && column >= 0);
    if (node < 0) return false;
    if (graph_is_zero(s->graph, node)) return true;
    matrix_entry *entries = arena_grow(s->memory, p->entries, &p->capacity, p->count + 1, sizeof *entries);
    if (!entries) return binder_graph_fault(s, "");
    p->entries = entries;
    entries[p->count++] = (matrix_entry){row, column, node};
    return true;
}

static int by_place(const void *x, const void *y) {
    const matrix_entry *a = x, *b = y;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->column != b->column) return a->column < b->column ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node); /* makes the order, and so the rounding of sums, reproducible */
}

bool pattern_finish(hamel_system *s, matrix_pattern *p) {
    size_t kept = 0;
    if (p->count) qsort(p->entries, p->count, sizeof *p->entries, by_place);
    for (size_t i = 0; i < p->count;) {
        matrix_entry sum = p->entries[i++];
        while (i < p->count && p->entries[i].row == sum.row && p->entries[i].column == sum.column)
            sum.node = graph_add(s->graph, sum.node, p->entries[i++].node);
        if (sum.node < 0) return binder_graph_fault(s, "");
        if (!graph_is_zero(s->graph, sum.node)) p->entries[kept++] = sum;
    }
    p->count = kept;
    assert(p->count <= p->capacity);
    return true;
}

size_t pattern_row(const matrix_pattern *p, int32_t row, size_t *first) {
    size_t low = 0, high = p->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->entries[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (high < p->count && p->entries[high].row == row) high++;
    return high - low;
}

graph_node *node_array(hamel_system *s, size_t n) {
    graph_node *nodes = arena_alloc(s->memory, n, sizeof *nodes), zero = graph_number(s->graph, 0);
    if (!nodes || zero < 0) return binder_graph_fault(s, ""), NULL;
    for (size_t i = 0; i < n; i++) nodes[i] = zero;
    return nodes;
}

const graph_node *equations_zeros(hamel_equations *e) {
    assert(e->n == e->system->coordinate_count);
    if (!e->zeros) e->zeros = node_array(e->system, e->n);
    return e->zeros;
}

size_t node_support(hamel_system *s, graph_node node, graph_symbol_kind kind, int32_t **list) {
    const int32_t *found;
    size_t count = graph_support(s->graph, node, kind, &found);
    *list = count ? arena_alloc(s->memory, count, sizeof **list) : NULL;
    if (!*list) return 0;
    memcpy(*list, found, count * sizeof **list);
    return count;
}

hamel_status equations_exhausted(hamel_system *s) {
    binder_graph_fault(s, "");
    return equations_status(s);
}

hamel_status equations_status(hamel_system *s) {
    if (s->error->status == HAMEL_OK && !system_interrupted(s) && graph_status(s->graph) != HAMEL_OK)
        binder_graph_fault(s, "");
    return s->error->status;
}
