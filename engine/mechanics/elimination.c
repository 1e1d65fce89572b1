/* elimination.c — sparse symbolic elimination of a symmetric system. */
#include "engine/mechanics/elimination.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <string.h>

enum { FIRST_SLOTS = 64 };

void elimination_begin(elimination *x, graph *g, size_t products_most) {
    *x = (elimination){.g = g, .products_most = products_most, .square = graph_number(g, 1)};
    x->least = x->most = x->excess = GRAPH_NONE;
    arena_init(&x->memory, 0);
}

void elimination_end(elimination *x) {
    arena_free(&x->memory);
}

/* Returns the array with room for `needed` items, or NULL on failure. */
static void *grow(elimination *x, void *items, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return items;
    void *grown = arena_grow(&x->memory, items, capacity, needed, size);
    if (!grown) x->failed = true;
    return grown;
}

uint32_t elimination_add_unknown(elimination *x, elimination_kind kind) {
    elimination_unknown *grown = grow(x, x->unknowns, &x->capacity, x->count + 1, sizeof *grown);
    graph_node zero = graph_number(x->g, 0);
    if (!grown) return ELIMINATION_NONE;
    x->unknowns = grown;
    x->constrained |= kind == UNKNOWN_CONSTRAINT;
    x->unknowns[x->count] =
        (elimination_unknown){.kind = kind, .diagonal = zero, .before = zero, .z = zero, .first = ELIMINATION_NONE};
    return (uint32_t)x->count++;
}

/* --- entries --------------------------------------------------------------------------------------------------------- */

/* Returns the hash slot that contains the entry of two different unknowns, or the empty slot in which to store it. */
static uint32_t *find_slot(const elimination *x, uint32_t one, uint32_t other) {
    uint32_t low = one < other ? one : other, high = one < other ? other : one;
    size_t mask = x->slot_count - 1;
    size_t at = (size_t)((((uint64_t)high << 32 | low) * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & mask;
    for (; x->slots[at] != ELIMINATION_NONE; at = (at + 1) & mask) {
        const elimination_entry *e = &x->entries[x->slots[at]];
        if (e->unknown[0] == high && e->unknown[1] == low) break;
    }
    return &x->slots[at];
}

/* Grows the hash table so that at least half of the slots stay empty after one more entry. */
static bool keep_slots(elimination *x) {
    if (2 * (x->entry_count + 1) <= x->slot_count) return true;
    size_t count = x->slot_count ? 2 * x->slot_count : FIRST_SLOTS;
    uint32_t *slots = arena_alloc(&x->memory, count, sizeof *slots);
    if (!slots) return x->failed = true, false;
    memset(slots, 0xff, count * sizeof *slots);
    x->slots = slots;
    x->slot_count = count;
    for (size_t e = 0; e < x->entry_count; e++)
        *find_slot(x, x->entries[e].unknown[0], x->entries[e].unknown[1]) = (uint32_t)e;
    return true;
}

/* Returns the entry of two different unknowns. If there is no such entry, adds one with the constant node 0. Returns
 * NULL on failure. */
static elimination_entry *find_or_add(elimination *x, uint32_t one, uint32_t other) {
    if (!keep_slots(x)) return NULL;
    uint32_t *slot = find_slot(x, one, other);
    if (*slot != ELIMINATION_NONE) return &x->entries[*slot];
    elimination_entry *grown = grow(x, x->entries, &x->entry_capacity, x->entry_count + 1, sizeof *grown);
    if (!grown) return NULL;
    x->entries = grown;
    *slot = (uint32_t)x->entry_count++;
    elimination_entry *e = &x->entries[*slot];
    *e = (elimination_entry){.unknown = {one > other ? one : other, one > other ? other : one},
                             .node = graph_number(x->g, 0)};
    for (int k = 0; k < 2; k++) {
        elimination_unknown *u = &x->unknowns[e->unknown[k]];
        assert(!u->gone);
        e->next[k] = u->first;
        u->first = *slot;
        u->degree++;
    }
    return e;
}

static int side_of(const elimination_entry *e, uint32_t of) {
    return e->unknown[0] == of ? 0 : 1;
}
static uint32_t other_of(const elimination_entry *e, uint32_t of) {
    return e->unknown[1 - side_of(e, of)];
}

void elimination_add(elimination *x, uint32_t i, uint32_t j, graph_node node) {
    assert(i < x->count && j < x->count);
    if (graph_is_zero(x->g, node)) return;
    if (i == j) {
        elimination_unknown *u = &x->unknowns[i];
        u->diagonal = graph_add(x->g, u->diagonal, node);
        u->before = graph_add(x->g, u->before, node);
        return;
    }
    elimination_entry *e = find_or_add(x, i, j);
    if (e) e->node = graph_add(x->g, e->node, node);
}

/* --- steps ----------------------------------------------------------------------------------------------------------- */

/* Marks j as eliminated, collects its entries with the remaining unknowns, and returns their number. */
static size_t take_column(elimination *x, uint32_t j) {
    size_t count = 0;
    elimination_unknown *u = &x->unknowns[j];
    uint32_t *column = grow(x, x->column, &x->column_capacity, u->degree, sizeof *column);
    if (u->degree > 0 && !column) return 0;
    x->column = column;
    u->gone = true;
    for (uint32_t e = u->first; e != ELIMINATION_NONE; e = x->entries[e].next[side_of(&x->entries[e], j)]) {
        elimination_unknown *other = &x->unknowns[other_of(&x->entries[e], j)];
        if (other->gone) continue;
        other->degree--;
        if (!graph_is_zero(x->g, x->entries[e].node)) x->column[count++] = e;
    }
    return count;
}

static void begin_step(elimination *x, uint32_t j, size_t factors) {
    elimination_step *steps = grow(x, x->steps, &x->step_capacity, x->step_count + 1, sizeof *steps);
    elimination_factor *grown = grow(x, x->factors, &x->factor_capacity, x->factor_count + factors + 1, sizeof *grown);
    if (!steps || !grown) return;
    x->steps = steps;
    x->factors = grown;
    x->steps[x->step_count++] = (elimination_step){j, x->factor_count, 0};
}

static void add_factor(elimination *x, uint32_t with, graph_node node) {
    x->factors[x->factor_count++] = (elimination_factor){with, node};
    x->steps[x->step_count - 1].count++;
}

static void note_least(graph *g, graph_node *least, graph_node node) {
    *least = *least == GRAPH_NONE ? node : graph_binary(g, GRAPH_MIN, *least, node);
}

/* Updates the accuracy measures for the pivot of an unknown. The measures of coordinates contain products instead of
 * quotients, because a division takes longer than a product. */
static void note_pivot(elimination *x, const elimination_unknown *u) {
    graph *g = x->g;
    bool reduced = u->diagonal != u->before;
    if (u->kind == UNKNOWN_CONSTRAINT) {
        if (reduced) note_least(g, &x->square, graph_div(g, u->diagonal, u->before));
        return;
    }
    bool first = x->least == GRAPH_NONE;
    note_least(g, &x->least, u->diagonal);
    x->most = first ? u->diagonal : graph_binary(g, GRAPH_MAX, x->most, u->diagonal);
    if (!reduced || !x->constrained) return;
    graph_node kept = graph_mul(g, graph_number(g, MASS_PIVOT_KEPT), u->before);
    note_least(g, &x->excess, graph_sub(g, u->diagonal, kept));
}

/* Subtracts `product` from the diagonal entry of i. `kind` is the kind of the unknown whose pivot causes the
 * product. */
static void subtract_from_diagonal(elimination *x, elimination_kind kind, uint32_t i, graph_node product) {
    elimination_unknown *u = &x->unknowns[i];
    if (u->kind == UNKNOWN_CONSTRAINT && kind == UNKNOWN_COORDINATE) u->before = graph_sub(x->g, u->before, product);
    u->diagonal = graph_sub(x->g, u->diagonal, product);
}

size_t elimination_pivot(elimination *x, uint32_t j) {
    graph *g = x->g;
    elimination_unknown *u = &x->unknowns[j];
    const elimination_kind kind = u->kind;
    assert(!u->gone && kind != UNKNOWN_SUM);
    if (x->failed || graph_is_zero(g, u->diagonal)) return x->failed = true, 0;
    note_pivot(x, u);
    graph_node inverse = u->inverse = graph_div(g, graph_number(g, 1), u->diagonal);
    size_t count = take_column(x, j);
    x->products += count * (count + 1) / 2;
    x->failed |= x->products > x->products_most;
    begin_step(x, j, count);
    for (size_t k = 0; k < count && !x->failed; k++) {
        uint32_t i = other_of(&x->entries[x->column[k]], j);
        graph_node factor = graph_mul(g, x->entries[x->column[k]].node, inverse);
        subtract_from_diagonal(x, kind, i, graph_mul(g, factor, x->entries[x->column[k]].node));
        for (size_t l = k + 1; l < count && !x->failed; l++) {
            graph_node product = graph_mul(g, factor, x->entries[x->column[l]].node);
            elimination_entry *to = find_or_add(x, i, other_of(&x->entries[x->column[l]], j));
            if (to) to->node = graph_sub(g, to->node, product);
        }
        add_factor(x, i, factor);
    }
    x->failed |= graph_status(g) != HAMEL_OK;
    return x->failed ? 0 : count;
}

void elimination_substitute(elimination *x, uint32_t j, const elimination_factor *factors, size_t count) {
    graph *g = x->g;
    const graph_node diagonal = x->unknowns[j].diagonal, before = x->unknowns[j].before;
    assert(!x->unknowns[j].gone && x->unknowns[j].kind == UNKNOWN_SUM);
    if (x->failed) return;
    size_t column = take_column(x, j);
    x->products += count * column + count * (count + 1) / 2;
    x->failed |= x->products > x->products_most;
    begin_step(x, j, count);
    for (size_t a = 0; a < count && !x->failed; a++) {
        const uint32_t to = factors[a].with;
        for (size_t k = 0; k < column; k++) {
            uint32_t i = other_of(&x->entries[x->column[k]], j);
            graph_node product = graph_mul(g, factors[a].node, x->entries[x->column[k]].node);
            elimination_add(x, to, i, i == to ? graph_mul(g, graph_number(g, 2), product) : product);
        }
        graph_node half = graph_mul(g, factors[a].node, diagonal);
        elimination_unknown *u = &x->unknowns[to];
        u->diagonal = graph_add(g, u->diagonal, graph_mul(g, factors[a].node, half));
        u->before = graph_add(g, u->before, graph_mul(g, factors[a].node, graph_mul(g, factors[a].node, before)));
        for (size_t b = 0; b < a; b++) elimination_add(x, to, factors[b].with, graph_mul(g, factors[b].node, half));
        add_factor(x, to, factors[a].node);
    }
    x->failed |= graph_status(g) != HAMEL_OK;
}

/* --- the solution ---------------------------------------------------------------------------------------------------- */

void elimination_solve(elimination *x) {
    graph *g = x->g;
    elimination_unknown *u = x->unknowns;
    assert(x->failed || x->step_count <= x->count);
    for (size_t s = 0; s < x->step_count && !x->failed; s++) {
        const elimination_step *step = &x->steps[s];
        const elimination_factor *f = x->factors + step->first;
        bool sum = u[step->unknown].kind == UNKNOWN_SUM;
        for (size_t k = 0; k < step->count; k++) {
            graph_node product = graph_mul(g, f[k].node, u[step->unknown].z), *to = &u[f[k].with].z;
            *to = sum ? graph_add(g, *to, product) : graph_sub(g, *to, product);
        }
    }
    for (size_t s = x->step_count; s-- > 0 && !x->failed;) {
        const elimination_step *step = &x->steps[s];
        const elimination_factor *f = x->factors + step->first;
        elimination_unknown *of = &u[step->unknown];
        bool sum = of->kind == UNKNOWN_SUM;
        of->z = sum ? graph_number(g, 0) : graph_mul(g, of->z, of->inverse);
        for (size_t k = 0; k < step->count; k++) {
            graph_node product = graph_mul(g, f[k].node, u[f[k].with].z);
            of->z = sum ? graph_add(g, of->z, product) : graph_sub(g, of->z, product);
        }
    }
    x->failed |= graph_status(g) != HAMEL_OK;
}
