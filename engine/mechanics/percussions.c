/* percussions.c — derives the generalized impulses of the percussions in events.
 *
 * A percussion F at a point r acts on the coordinate q_i with the generalized impulse F·∂r/∂q_i, the impulsive limit of
 * the generalized force (Papastavridis, Analytical Mechanics, ch. 4). */
#include "engine/mechanics/equations.h"
#include "engine/system/binder.h"
#include "engine/system/units.h"

/* Adds the entries F ∂r/∂q_i, i < n, of one component F to row `row` of `p`. r is the quantity along which F acts.
 * Returns false if out of memory. */
static bool add_component(hamel_system *s, matrix_pattern *p, int32_t row, graph_node force, graph_node r) {
    graph *g = s->graph;
    const int32_t *support;
    size_t count = graph_support(g, r, SYMBOL_COORDINATE, &support);
    int32_t *list = arena_alloc(s->memory, count, sizeof *list); /* a copy, because graph_partial may move `support` */
    if (!list) return false;
    if (count > 0) memcpy(list, support, count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        graph_node slope = graph_partial(g, r, s->q[list[i]]);
        if (!pattern_add(s, p, row, list[i], graph_mul(g, force, slope))) return false;
    }
    return true;
}

static bool bind_percussion(hamel_system *s, matrix_pattern *p, const system_percussion *from, int32_t row,
                            const loop_scope *scope, const system_quantities *quantities) {
    const hamel_percussion *d = from->described;
    for (size_t k = 0; k < from->count; k++) {
        const hamel_expression *e = d->vector.count > 0 ? &d->vector.items[k] : &d->value;
        graph_node force = system_bind(s, e, PLACE_OUTPUT, scope, SYNTAX_EXPRESSION, quantities);
        if (force < 0) continue;
        if (s->units && !graph_is_zero(s->graph, force))
            units_note(s, graph_mul(s->graph, force, graph_rate(s->graph, from->along[k])), e->pointer, UNIT_STRIKE, 0);
        if (!add_component(s, p, row, force, from->along[k])) return false;
    }
    return true;
}

bool percussions_bind(hamel_system *s, system_event *at, const loop_scope *scope, const system_quantities *quantities) {
    matrix_pattern p = {0};
    bool good = true;
    for (size_t k = 0; k < at->percussion_count && good; k++)
        good = bind_percussion(s, &p, &at->percussions[k], (int32_t)k, scope, quantities);
    good = good && pattern_finish(s, &p);
    at->momentum_rows = arena_alloc(s->memory, p.count, sizeof *at->momentum_rows);
    at->momentum_columns = arena_alloc(s->memory, p.count, sizeof *at->momentum_columns);
    at->momenta = node_array(s, p.count);
    if (!good || !at->momentum_rows || !at->momentum_columns || !at->momenta) return binder_graph_fault(s, at->pointer);
    at->momentum_count = p.count;
    for (size_t k = 0; k < p.count; k++) {
        at->momentum_rows[k] = p.entries[k].row;
        at->momentum_columns[k] = p.entries[k].column;
        at->momenta[k] = p.entries[k].node;
    }
    return true;
}
