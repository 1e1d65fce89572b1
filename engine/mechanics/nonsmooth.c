/* nonsmooth.c — replacement of nonsmooth operators in one pass over the graph, and the numeric values of branches. */
#include "engine/mechanics/nonsmooth.h"

#include "engine/system/binder.h"

#include <assert.h>
#include <math.h>

enum { NEEDED = 1, WATCHED = 2, CHANGED = 4 };

static const unsigned STATE = GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME) |
                              GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY);

typedef struct holder {
    hamel_system *s;
    size_t count;        /* number of nodes before the pass */
    graph_node *map;     /* node → its replacement */
    unsigned char *mark; /* NEEDED: in the lists; WATCHED: in watched lists; CHANGED: contains a nonsmooth operator */
    bool watched;        /* whether the node being rewritten is WATCHED */
    int32_t *first;      /* node z → the first nonsmooth operator with the argument z, or −1 */
    size_t first_count, first_capacity;
} holder;

/* Finds or adds the nonsmooth operator with this argument. Returns its index, or −1 if out of memory. */
static int32_t nonsmooth_of(holder *h, nonsmooth_kind kind, const graph_table *table, graph_node written,
                            graph_node argument, bool held) {
    hamel_system *s = h->s;
    size_t z = (size_t)written;
    if (z >= h->first_count) {
        h->first = arena_grow(s->memory, h->first, &h->first_capacity, z + 1, sizeof *h->first);
        if (!h->first) return -1;
        while (h->first_count <= z) h->first[h->first_count++] = -1;
    }
    for (int32_t i = h->first[z]; i >= 0; i = s->nonsmooth[i].next)
        if (s->nonsmooth[i].kind == kind && s->nonsmooth[i].table == table) return i;
    system_nonsmooth *all = binder_grow(s, s->nonsmooth, &s->nonsmooth_capacity, s->nonsmooth_count, sizeof *all, "");
    if (!all) return -1;
    s->nonsmooth = all;
    all[s->nonsmooth_count] = (system_nonsmooth){
        .kind = kind, .table = table, .written = written, .argument = argument, .held = held, .next = h->first[z]};
    return h->first[z] = (int32_t)s->nonsmooth_count++;
}

/* Returns the symbol of a branch, or GRAPH_NONE if the operator is not replaced. `jumps` is true if the operator jumps
 * where its branch changes. */
static graph_node branch_symbol(holder *h, nonsmooth_kind kind, const graph_table *table, graph_node written,
                                graph_node argument, bool jumps) {
    graph *g = h->s->graph;
    if (written < 0 || argument < 0 || !(graph_depends(g, written) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER)))
        return GRAPH_NONE;
    bool held = !(graph_depends(g, written) & ~STATE);
    if (!held && !h->watched) return GRAPH_NONE;
    int32_t i = nonsmooth_of(h, kind, table, written, argument, held);
    if (i >= 0 && jumps) h->s->nonsmooth[i].jumps = true;
    return i >= 0 && held ? graph_symbol(g, SYMBOL_BRANCH, i) : GRAPH_NONE;
}

static graph_node compare(graph *g, graph_op op, graph_node branch) {
    return graph_binary(g, op, branch, graph_number(g, 0));
}

/* Returns op(x, y) in terms of B, the sign of x or of y − x. */
static graph_node by_sign(graph *g, graph_op op, graph_node x, graph_node y, graph_node B) {
    switch (op) {
    case GRAPH_SIGN: return B;
    case GRAPH_ABS: return graph_mul(g, B, x);
    case GRAPH_MIN: return graph_apply(g, GRAPH_IF, compare(g, GRAPH_GE, B), x, y);
    case GRAPH_MAX: return graph_apply(g, GRAPH_IF, compare(g, GRAPH_LE, B), x, y);
    case GRAPH_LT: return compare(g, GRAPH_GT, B);
    case GRAPH_LE: return compare(g, GRAPH_GE, B);
    case GRAPH_GT: return compare(g, GRAPH_LT, B);
    case GRAPH_GE: return compare(g, GRAPH_LE, B);
    default: return compare(g, op, B); /* == and != */
    }
}

static graph_node rewrite_sign(holder *h, graph_op op, const graph_node from[3], const graph_node to[3]) {
    graph *g = h->s->graph;
    bool one = op == GRAPH_SIGN || op == GRAPH_ABS;
    graph_node written = one ? from[0] : graph_sub(g, from[1], from[0]),
               argument = one ? to[0] : graph_sub(g, to[1], to[0]);
    bool kink = op == GRAPH_ABS || op == GRAPH_MIN || op == GRAPH_MAX;
    graph_node B = branch_symbol(h, NONSMOOTH_SIGN, NULL, written, argument, !kink);
    return B >= 0 ? by_sign(g, op, to[0], to[1], B) : graph_apply(g, op, to[0], to[1], GRAPH_NONE);
}

static graph_node rewrite_floor(holder *h, graph_op op, const graph_node from[3], const graph_node to[3]) {
    graph *g = h->s->graph;
    graph_node written = from[0], argument = to[0];
    if (op == GRAPH_CEIL) {
        written = graph_neg(g, from[0]);
        argument = graph_neg(g, to[0]);
    } else if (op == GRAPH_MOD) {
        written = graph_div(g, from[0], from[1]);
        argument = graph_div(g, to[0], to[1]);
    }
    graph_node B = branch_symbol(h, NONSMOOTH_FLOOR, NULL, written, argument, true);
    if (B < 0) return graph_apply(g, op, to[0], to[1], GRAPH_NONE);
    return op == GRAPH_FLOOR ? B : op == GRAPH_CEIL ? graph_neg(g, B) : graph_sub(g, to[0], graph_mul(g, to[1], B));
}

/* Cubic tables are smooth; only linear tables have kinks at their points. */
static graph_node rewrite_table(holder *h, const graph_node from[3], const graph_node to[3]) {
    graph *g = h->s->graph;
    double index = 0, order = 0;
    (void)graph_is_number(g, from[1], &index);
    (void)graph_is_number(g, from[2], &order);
    const graph_table *table = graph_tables(g)[(size_t)index];
    graph_node B =
        table->degree == 1 ? branch_symbol(h, NONSMOOTH_TABLE, table, from[0], to[0], order > 0) : GRAPH_NONE;
    if (B < 0) return graph_lookup(g, to[0], (int32_t)index, (int)order);
    graph_node slope = graph_lookup(g, B, (int32_t)index, 1);
    if (order > 0) return order > 1 ? graph_number(g, 0) : slope;
    return graph_add(g, graph_lookup(g, B, (int32_t)index, 0), graph_mul(g, slope, graph_sub(g, to[0], B)));
}

static bool is_nonsmooth(uint8_t op) {
    static const bool nonsmooth[UINT8_MAX + 1] = {
        [GRAPH_SIGN] = true, [GRAPH_ABS] = true, [GRAPH_MIN] = true, [GRAPH_MAX] = true,  [GRAPH_FLOOR] = true,
        [GRAPH_CEIL] = true, [GRAPH_MOD] = true, [GRAPH_LT] = true,  [GRAPH_LE] = true,   [GRAPH_GT] = true,
        [GRAPH_GE] = true,   [GRAPH_EQ] = true,  [GRAPH_NE] = true,  [GRAPH_TABLE] = true};
    return nonsmooth[op];
}

static graph_node rewrite(holder *h, graph_node node) {
    graph_cell cell = *graph_at(h->s->graph, node); /* a copy, because the graph may be reallocated */
    graph_node to[3] = {GRAPH_NONE, GRAPH_NONE, GRAPH_NONE};
    for (int k = 0; k < 3; k++)
        if (cell.as.operand[k] >= 0) to[k] = h->map[cell.as.operand[k]];
    graph_op op = (graph_op)cell.op;
    switch (op) {
    case GRAPH_TABLE: return rewrite_table(h, cell.as.operand, to);
    case GRAPH_FLOOR:
    case GRAPH_CEIL:
    case GRAPH_MOD: return rewrite_floor(h, op, cell.as.operand, to);
    default:
        return is_nonsmooth(cell.op) ? rewrite_sign(h, op, cell.as.operand, to)
                                     : graph_apply(h->s->graph, op, to[0], to[1], to[2]);
    }
}

static bool is_operation(const graph_cell *cell) {
    return cell->op != GRAPH_IS_NUMBER && cell->op != GRAPH_IS_SYMBOL;
}

/* Marks the nodes that occur in the lists and, among these, the nodes that contain a nonsmooth operator. Returns false
 * if there is no such operator. */
static bool mark_nodes(holder *h, graph_node *const *lists, const size_t *counts, size_t list_count, size_t watched) {
    const graph *g = h->s->graph;
    bool any = false;
    for (size_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < counts[l]; i++)
            if (lists[l][i] >= 0) h->mark[lists[l][i]] |= l < watched ? NEEDED | WATCHED : NEEDED;
    for (size_t i = h->count; i-- > 0;) {
        const graph_cell *cell = graph_at(g, (graph_node)i);
        if (!h->mark[i] || !is_operation(cell)) continue;
        for (int k = 0; k < 3; k++)
            if (cell->as.operand[k] >= 0) h->mark[cell->as.operand[k]] |= h->mark[i];
    }
    for (size_t i = 0; i < h->count; i++) {
        const graph_cell *cell = graph_at(g, (graph_node)i);
        if (!h->mark[i] || !is_operation(cell)) continue;
        bool changed = is_nonsmooth(cell->op);
        for (int k = 0; k < 3; k++)
            changed = changed || (cell->as.operand[k] >= 0 && h->mark[cell->as.operand[k]] & CHANGED);
        if (changed) h->mark[i] |= CHANGED;
        any = any || changed;
    }
    return any;
}

bool nonsmooth_hold(hamel_system *s, graph_node *const *lists, const size_t *counts, size_t list_count,
                    size_t watched) {
    assert(watched <= list_count);
    holder h = {.s = s, .count = graph_count(s->graph)};
    h.mark = arena_alloc(s->memory, h.count, sizeof *h.mark);
    if (!h.mark) return false;
    if (!mark_nodes(&h, lists, counts, list_count, watched)) return true;
    h.map = arena_alloc(s->memory, h.count, sizeof *h.map);
    if (!h.map) return false;
    for (size_t i = 0; i < h.count; i++) {
        h.watched = h.mark[i] & WATCHED;
        h.map[i] = h.mark[i] & CHANGED ? rewrite(&h, (graph_node)i) : (graph_node)i;
        if (h.map[i] < 0) return false;
    }
    for (size_t l = 0; l < list_count; l++)
        for (size_t i = 0; i < counts[l]; i++)
            if (lists[l][i] >= 0) lists[l][i] = h.map[lists[l][i]];
    return true;
}

/* Returns a point in segment i. For the segments before the first and after the last point of the table, the returned
 * point lies just outside the table. */
static double point_of(const graph_table *t, ptrdiff_t i) {
    if (i < 0) return nextafter(t->x[0], -INFINITY);
    if ((size_t)i + 1 >= t->count) return nextafter(t->x[t->count - 1], INFINITY);
    return t->x[i] + 0.5 * (t->x[i + 1] - t->x[i]);
}

/* Unless a run sets the direction of a slip, the direction is the slip times this factor. For D = 1e-8 w, the second
 * term of r in friction.c is 1e-16 times the first one, and therefore a rounding error. */
static const double DIRECTION_SCALE = 1e-8;

double nonsmooth_branch(const system_nonsmooth *w, double z) {
    switch (w->kind) {
    case NONSMOOTH_SIGN:
    case NONSMOOTH_SLIP: return (z > 0) - (z < 0);
    case NONSMOOTH_DIRECTION: return DIRECTION_SCALE * z;
    case NONSMOOTH_FLOOR: return floor(z);
    default: return point_of(w->table, table_segment(w->table, z));
    }
}

static void edges(const system_nonsmooth *w, double branch, double *low, double *high) {
    *low = -INFINITY;
    *high = INFINITY;
    if (w->kind == NONSMOOTH_SIGN) {
        if (branch >= 0) *low = 0;
        if (branch <= 0) *high = 0;
    } else if (w->kind == NONSMOOTH_FLOOR) {
        *low = branch;
        *high = branch + 1;
    } else {
        ptrdiff_t i = table_segment(w->table, branch);
        if (i >= 0) *low = w->table->x[i];
        if ((size_t)(i + 1) < w->table->count) *high = w->table->x[i + 1];
        if ((size_t)(i + 2) == w->table->count) *high = nextafter(*high, INFINITY); /* includes the last point */
    }
}

double nonsmooth_distance(const system_nonsmooth *w, double branch, double z) {
    assert(!nonsmooth_is_slip(w));
    double low, high;
    edges(w, branch, &low, &high);
    return fmin(z - low, high - z);
}

double nonsmooth_neighbour(const system_nonsmooth *w, double branch, double z) {
    assert(!nonsmooth_is_slip(w));
    double low, high;
    edges(w, branch, &low, &high);
    bool up = high - z < z - low;
    if (w->kind == NONSMOOTH_SIGN) return branch != 0 ? -branch : z < 0 ? -1 : 1;
    if (w->kind == NONSMOOTH_FLOOR) return up ? high : low - 1;
    return point_of(w->table, table_segment(w->table, branch) + (up ? 1 : -1));
}
