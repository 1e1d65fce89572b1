/* shared.c — gives names to common subexpressions. Without names, the text of a graph can be exponentially longer than
 * the graph. */
#include "engine/equations/written.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Lengths are counted in symbols and operations. If the whole text has at most SHORT of them, about half a screen, no
 * subexpression is named. In texts of up to LONG, about two screens, only sums that occur at least OFTEN times are
 * named, for example determinants. Subexpressions shorter than WORTH are never named, because names would hardly
 * shorten the text. */
enum { SHORT = 250, LONG = 1000, WORTH = 9, OFTEN = 3 };

typedef struct sharing {
    graph_node *nodes; /* in increasing order */
    size_t count;
    double *size; /* length of the text of each node, in which a named subexpression counts as one symbol */
    size_t *uses;
    graph_node *to; /* replacement of each node */
    bool sums;      /* true if only sums are named */
} sharing;

static size_t position(const sharing *s, graph_node node) {
    return graph_position(s->nodes, s->count, node);
}

static int operands(const graph *g, graph_node node, graph_node out[3]) {
    const graph_cell *cell = graph_at(g, node);
    int count = 0;
    if (cell->op < GRAPH_OP_COUNT)
        for (; count < 3 && cell->as.operand[count] >= 0; count++) out[count] = cell->as.operand[count];
    return count;
}

static void count_uses(const graph *g, sharing *s, graph_node *const *roots, size_t root_count) {
    graph_node below[3];
    for (size_t r = 0; r < root_count; r++) s->uses[position(s, *roots[r])]++;
    for (size_t k = 0; k < s->count; k++)
        for (int i = operands(g, s->nodes[k], below); i-- > 0;) s->uses[position(s, below[i])]++;
}

/* Returns true if nodes[k] is to be named. size[k] must be set. */
static bool is_named(const graph *g, const sharing *s, size_t k, double worth) {
    assert(k < s->count);
    graph_op op = (graph_op)graph_at(g, s->nodes[k])->op;
    if (s->sums && op != GRAPH_ADD && op != GRAPH_SUB) return false;
    return s->uses[k] >= (s->sums ? OFTEN : 2) && s->size[k] >= worth;
}

static void measure_texts(const graph *g, sharing *s, double worth) {
    graph_node below[3];
    for (size_t k = 0; k < s->count; k++) {
        int count = operands(g, s->nodes[k], below);
        s->size[k] = 1;
        for (int i = 0; i < count; i++) {
            size_t at = position(s, below[i]);
            s->size[k] = fmin(1e15, s->size[k] + (is_named(g, s, at, worth) ? 1 : s->size[at]));
        }
    }
}

static graph_node rebuilt(graph *g, const sharing *s, size_t k) {
    graph_node below[3], node = s->nodes[k];
    int count = operands(g, node, below);
    bool changed = false;
    for (int i = 0; i < count; i++) {
        graph_node to = s->to[position(s, below[i])];
        changed |= to != below[i];
        below[i] = to;
    }
    if (!changed) return node;
    graph_op op = (graph_op)graph_at(g, node)->op;
    return count == 3 ? graph_apply(g, op, below[0], below[1], below[2])
                      : graph_literal(g, op, below[0], count == 2 ? below[1] : GRAPH_NONE);
}

static bool allocate_sharing(sharing *s, arena *memory) {
    s->size = arena_alloc(memory, s->count, sizeof *s->size);
    s->uses = arena_alloc(memory, s->count, sizeof *s->uses);
    s->to = arena_alloc(memory, s->count, sizeof *s->to);
    return s->size && s->uses && s->to;
}

double written_length(written *w, graph_node node) {
    graph *g = w->system->graph;
    sharing s = {0};
    s.count = graph_below(g, &node, 1, w->memory, &s.nodes);
    if (s.count == 0 || !allocate_sharing(&s, w->memory)) return HUGE_VAL;
    measure_texts(g, &s, HUGE_VAL);
    return s.size[position(&s, node)];
}

bool written_share(written *w, graph_node **nodes, size_t count, bool read, graph_node **definitions, size_t *found) {
    graph *g = w->system->graph;
    sharing s = {0};
    graph_node *roots = arena_alloc(w->memory, count, sizeof *roots);
    size_t capacity = 0;
    double total = 0;
    *definitions = NULL;
    *found = 0;
    if (count == 0) return true;
    if (!roots) return false;
    for (size_t i = 0; i < count; i++) roots[i] = *nodes[i];
    s.count = graph_below(g, roots, count, w->memory, &s.nodes);
    if (s.count == 0 || !allocate_sharing(&s, w->memory)) return false;
    count_uses(g, &s, nodes, count);
    measure_texts(g, &s, HUGE_VAL);
    for (size_t i = 0; i < count; i++) total += s.size[position(&s, roots[i])];
    if (read && total <= SHORT) return true;
    double worth = read ? WORTH : 2;
    s.sums = read && total <= LONG;
    measure_texts(g, &s, worth);
    for (size_t k = 0; k < s.count; k++) {
        s.to[k] = rebuilt(g, &s, k);
        if (!is_named(g, &s, k, worth)) continue;
        *definitions = arena_grow(w->memory, *definitions, &capacity, *found + 1, sizeof **definitions);
        if (!*definitions) return false;
        (*definitions)[*found] = s.to[k];
        s.to[k] = graph_symbol(g, SYMBOL_PARAMETER, (int32_t)(w->system->parameter_count + *found));
        ++*found;
    }
    for (size_t i = 0; i < count; i++) *nodes[i] = s.to[position(&s, roots[i])];
    return graph_status(g) == HAMEL_OK;
}
