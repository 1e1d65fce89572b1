/* support_sets.c — the symbols in many nodes at once. */
#include "engine/graph/graph_int.h"

#include <assert.h>
#include <string.h>

bool graph_sets_create(graph_sets *s, graph *g, const graph_node *roots, size_t count, arena *memory) {
    *s = (graph_sets){.g = g};
    s->count = graph_below(g, roots, count, memory, &s->nodes);
    s->operands = arena_alloc(memory, s->count + 1, sizeof *s->operands);
    s->sets = arena_alloc(memory, s->count + 1, sizeof *s->sets);
    if ((s->count == 0 && count > 0) || !s->operands || !s->sets) return false;
    for (size_t k = 0; k < s->count; k++) {
        const graph_cell *cell = graph_at(g, s->nodes[k]);
        for (int o = 0; o < graph_arity(cell); o++)
            s->operands[k][o] = (uint32_t)graph_position(s->nodes, k, cell->as.operand[o]);
    }
    return true;
}

void graph_sets_find(graph_sets *s, unsigned kinds, size_t first) {
    memset(s->sets, 0, s->count * sizeof *s->sets);
    for (size_t k = 0; k < s->count; k++) { /* operands precede results */
        const graph_cell *cell = graph_at(s->g, s->nodes[k]);
        uint64_t *words = s->sets[k].words;
        if (!(cell->depends & kinds)) continue;
        if (cell->op == GRAPH_IS_SYMBOL) {
            size_t index = (size_t)cell->as.index;
            if (index >= first && index - first < GRAPH_SET_BITS)
                words[(index - first) / 64] |= UINT64_C(1) << (index - first) % 64;
            continue;
        }
        for (int o = 0; o < graph_arity(cell); o++)
            for (size_t i = 0; i < GRAPH_SET_WORDS; i++) words[i] |= s->sets[s->operands[k][o]].words[i];
    }
}

const graph_set *graph_sets_at(const graph_sets *s, graph_node node) {
    size_t at = graph_position(s->nodes, s->count, node);
    assert(at < s->count && s->nodes[at] == node);
    return &s->sets[at];
}
