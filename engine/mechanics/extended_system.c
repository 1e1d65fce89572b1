/* extended_system.c — builds and eliminates the extended system of the energies.
 *
 * Sums in T and in the rates of constraints become unknowns if they are affine in the velocities. A sum that is an
 * operand of only one other sum is merged with it, up to OPERANDS_MOST operands. Without this bound, a chain with one
 * mass at its tip would give one full row. Bounds from 3 to 8 change the products of other systems by less than 10 %.
 *
 * The next coordinate to be eliminated is the one with the smallest cone. The cone of an unknown is the set of
 * remaining sums that contain it, directly or indirectly. Coordinates enter a window in the order of their level. The
 * level is the length of the longest chain of sums that starts from the coordinate. If the cone of
 * a coordinate is much larger than the smallest one, the coordinate leaves the window for some steps. In the order of
 * minimum degree or of the initial cones, fill-in for N bodies in space would grow with N. A constraint is a pivot once
 * its own row contains no remaining coordinate. N loops in series then need N times the products of one loop. */
#include "engine/mechanics/extended_system.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS_MOST = 4, WINDOW = 12, CONE_FACTOR = 4, CONE_SPARE = 16, CONE_MOST = 100000 };
enum { BEYOND_QUADRATIC = 3 };

/* A node that occurs in the terms or rates. */
typedef struct part {
    uint8_t degree; /* degree in the velocities, or BEYOND_QUADRATIC if above 2 or not polynomial */
    bool needed;    /* whether the node is affine and part of a product or a rate */
    uint32_t uses; /* number of sums with the node or a multiple of it; at least 2 for operands of products and rates */
    graph_node coefficient;  /* coefficient of a quadratic node in T, or GRAPH_NONE */
    elimination_factor link; /* value of a needed node: link.node · unknown + terms without velocities */
} part;

typedef struct product {
    uint32_t x, y; /* parts */
    graph_node coefficient;
} product;

/* The sum of other unknowns that defines an unknown; a coordinate has no factors. */
typedef struct definition {
    uint32_t part;
    uint32_t count;
    elimination_factor factors[OPERANDS_MOST];
    bool dissolved;
    uint32_t level;           /* length of the longest chain of definitions that contain this one, or 0 */
    size_t users, user_count; /* range in the builder's `users`: remaining definitions that contain this one */
    uint32_t stamp;           /* `stamp` of the last search that visited this definition */
    uint32_t waits;           /* number of times that the coordinate has left the window */
} definition;

/* The remaining unknowns in a constraint's own row, and their coefficients. */
typedef struct own_row {
    elimination_factor *list;
    size_t count, capacity;
} own_row;

typedef struct builder {
    elimination *x;
    graph *g;
    arena *memory;
    const extended_parts *in;
    graph_node *nodes; /* increasing */
    part *parts;
    size_t part_count;
    product *products;
    size_t product_count;
    definition *definitions; /* coordinates, then sums */
    size_t count, capacity;
    uint32_t *users;
    uint32_t first_constraint, stamp;
    own_row *rows;
    uint32_t *stack;
    uint64_t *keys; /* scratch for sorting */
    uint32_t window[WINDOW];
    size_t window_count;
    uint32_t *order; /* coordinates sorted by level; the first `fresh` have entered the window */
    size_t fresh;
    uint32_t *awake; /* ring buffer of coordinates that are due to enter the window again */
    size_t awake_first, awake_count;
    uint32_t *asleep, *next; /* linked lists of the coordinates that enter the window again at each step */
    size_t steps;
} builder;

static bool abandon(builder *b) {
    b->x->failed = true;
    return false;
}

static uint32_t part_of(const builder *b, graph_node node) {
    return (uint32_t)graph_position(b->nodes, b->part_count, node);
}

static part *operand_part(const builder *b, const graph_cell *cell, int k) {
    return &b->parts[part_of(b, cell->as.operand[k])];
}

static bool defines_unknown(const builder *b, const graph_cell *cell) {
    if (cell->op == GRAPH_IF) return true;
    return (cell->op == GRAPH_ADD || cell->op == GRAPH_SUB) && operand_part(b, cell, 0)->degree == 1 &&
           operand_part(b, cell, 1)->degree == 1;
}

/* --- parts of T ------------------------------------------------------------------------------------------------------ */

static uint8_t degree_of(const builder *b, const graph_cell *cell) {
    if (!(cell->depends & GRAPH_DEPENDS(SYMBOL_VELOCITY))) return 0;
    if (cell->op == GRAPH_IS_SYMBOL) return 1;
    unsigned one = operand_part(b, cell, 0)->degree, other = 0;
    double exponent;
    switch (cell->op) {
    case GRAPH_NEG: return (uint8_t)one;
    case GRAPH_ADD:
    case GRAPH_SUB: other = operand_part(b, cell, 1)->degree; return (uint8_t)(one > other ? one : other);
    case GRAPH_MUL: one += operand_part(b, cell, 1)->degree; break;
    case GRAPH_DIV: return operand_part(b, cell, 1)->degree == 0 ? (uint8_t)one : BEYOND_QUADRATIC;
    case GRAPH_POW:
        if (!graph_is_number(b->g, cell->as.operand[1], &exponent) || exponent != 2) return BEYOND_QUADRATIC;
        one *= 2;
        break;
    case GRAPH_IF:
        if (one > 0) return BEYOND_QUADRATIC;
        one = operand_part(b, cell, 1)->degree;
        other = operand_part(b, cell, 2)->degree;
        return (uint8_t)(one > other ? one : other);
    default: return BEYOND_QUADRATIC;
    }
    return (uint8_t)(one < BEYOND_QUADRATIC ? one : BEYOND_QUADRATIC);
}

static bool list_parts(builder *b) {
    const extended_parts *in = b->in;
    size_t count = in->term_count + in->constraint_count;
    graph_node *roots = arena_alloc(b->memory, count + 1, sizeof *roots);
    if (!roots) return abandon(b);
    memcpy(roots, in->terms, in->term_count * sizeof *roots);
    if (in->constraint_count > 0) memcpy(roots + in->term_count, in->rates, in->constraint_count * sizeof *roots);
    b->part_count = graph_below(b->g, roots, count, b->memory, &b->nodes);
    b->parts = arena_alloc(b->memory, b->part_count, sizeof *b->parts);
    b->products = arena_alloc(b->memory, b->part_count, sizeof *b->products);
    if (b->part_count == 0 || !b->parts || !b->products) return abandon(b);
    for (size_t i = 0; i < b->part_count; i++) {
        b->parts[i].coefficient = GRAPH_NONE;
        b->parts[i].degree = degree_of(b, graph_at(b->g, b->nodes[i]));
    }
    return true;
}

/* Adds `coefficient` to the coefficient of p in T if p is quadratic. */
static void add_coefficient(builder *b, part *p, graph_node coefficient) {
    if (p->degree != 2) return;
    p->coefficient = p->coefficient == GRAPH_NONE ? coefficient : graph_add(b->g, p->coefficient, coefficient);
}

static void add_product(builder *b, graph_node x, graph_node y, graph_node coefficient) {
    product *p = &b->products[b->product_count++];
    *p = (product){part_of(b, x), part_of(b, y), coefficient};
    b->parts[p->x].needed = b->parts[p->y].needed = true;
    b->parts[p->x].uses += 2;
    b->parts[p->y].uses += 2;
}

/* Passes the coefficient of a quadratic node on to its operands. */
static void spread_coefficient(builder *b, const part *p, graph_cell cell) {
    graph *g = b->g;
    const graph_node *o = cell.as.operand, c = p->coefficient, zero = graph_number(g, 0);
    switch (cell.op) {
    case GRAPH_NEG: add_coefficient(b, operand_part(b, &cell, 0), graph_neg(g, c)); break;
    case GRAPH_ADD:
    case GRAPH_SUB:
        add_coefficient(b, operand_part(b, &cell, 0), c);
        add_coefficient(b, operand_part(b, &cell, 1), cell.op == GRAPH_SUB ? graph_neg(g, c) : c);
        break;
    case GRAPH_DIV: add_coefficient(b, operand_part(b, &cell, 0), graph_div(g, c, o[1])); break;
    case GRAPH_IF:
        add_coefficient(b, operand_part(b, &cell, 1), graph_apply(g, GRAPH_IF, o[0], c, zero));
        add_coefficient(b, operand_part(b, &cell, 2), graph_apply(g, GRAPH_IF, o[0], zero, c));
        break;
    case GRAPH_POW: add_product(b, o[0], o[0], c); break;
    case GRAPH_MUL:
        if (operand_part(b, &cell, 0)->degree == 1) {
            add_product(b, o[0], o[1], c);
        } else {
            int k = operand_part(b, &cell, 0)->degree == 2 ? 0 : 1;
            add_coefficient(b, operand_part(b, &cell, k), graph_mul(g, c, o[1 - k]));
        }
        break;
    default: assert(0 && "a quadratic operation");
    }
}

/* Propagates coefficients of quadratic nodes from results to operands, and marks the affine nodes that are needed. */
static bool find_products(builder *b) {
    for (size_t i = 0; i < b->in->term_count; i++) {
        part *p = &b->parts[part_of(b, b->in->terms[i])];
        if (p->degree >= BEYOND_QUADRATIC) return abandon(b);
        add_coefficient(b, p, graph_number(b->g, 1));
    }
    for (size_t c = 0; c < b->in->constraint_count; c++) {
        part *p = &b->parts[part_of(b, b->in->rates[c])];
        if (p->degree != 1) return abandon(b);
        p->needed = true;
        p->uses += 2;
    }
    for (size_t i = b->part_count; i-- > 0;) {
        part *p = &b->parts[i];
        const graph_cell cell = *graph_at(b->g, b->nodes[i]);
        if (p->degree == 2 && p->coefficient != GRAPH_NONE) spread_coefficient(b, p, cell);
        if (p->degree != 1 || !p->needed || cell.op == GRAPH_IS_SYMBOL) continue;
        bool sum = defines_unknown(b, &cell);
        for (int k = 0; k < graph_op_get((graph_op)cell.op)->arity; k++) {
            part *o = operand_part(b, &cell, k);
            o->needed |= o->degree == 1;
            o->uses += sum ? 1 : p->uses;
        }
    }
    return graph_status(b->g) == HAMEL_OK ? true : abandon(b);
}

/* --- definitions ----------------------------------------------------------------------------------------------------- */

static definition *add_definition(builder *b, elimination_kind kind) {
    definition *grown = b->definitions;
    if (b->count == b->capacity) grown = arena_grow(b->memory, grown, &b->capacity, b->count + 1, sizeof *grown);
    if (!grown || elimination_add_unknown(b->x, kind) == ELIMINATION_NONE) return abandon(b), NULL;
    b->definitions = grown;
    b->definitions[b->count] = (definition){0};
    return &b->definitions[b->count++];
}

static void add_operand(graph *g, definition *d, elimination_factor f) {
    for (uint32_t k = 0; k < d->count; k++) {
        if (d->factors[k].with != f.with) continue;
        d->factors[k].node = graph_add(g, d->factors[k].node, f.node);
        return;
    }
    assert(d->count < OPERANDS_MOST);
    d->factors[d->count++] = f;
}

/* Adds an operand to d, or the operand's own operands if it can be merged into d. `more` operands follow. */
static void join_operand(builder *b, definition *d, elimination_factor f, uint32_t more) {
    definition *of = &b->definitions[f.with];
    bool once = of->count > 0 && b->parts[of->part].uses == 1 && !of->dissolved;
    if (!once || d->count + of->count + more > OPERANDS_MOST) {
        add_operand(b->g, d, f);
        return;
    }
    of->dissolved = true;
    for (uint32_t k = 0; k < of->count; k++)
        add_operand(b->g, d, (elimination_factor){of->factors[k].with, graph_mul(b->g, f.node, of->factors[k].node)});
}

/* Defines an unknown for a sum of two operands, or for an `if` that selects one of two operands. */
static bool define(builder *b, uint32_t at, const graph_cell *cell) {
    graph *g = b->g;
    graph_node zero = graph_number(g, 0);
    bool choice = cell->op == GRAPH_IF;
    definition made = {.part = at};
    for (int k = 0; k < 2; k++) {
        const part *o = operand_part(b, cell, choice ? k + 1 : k);
        elimination_factor f = o->link;
        if (o->degree == 0) continue;
        if (choice) f.node = graph_apply(g, GRAPH_IF, cell->as.operand[0], k ? zero : f.node, k ? f.node : zero);
        if (cell->op == GRAPH_SUB && k == 1) f.node = graph_neg(g, f.node);
        join_operand(b, &made, f, k == 0 ? 1 : 0);
    }
    definition *d = add_definition(b, UNKNOWN_SUM);
    if (!d) return false;
    *d = made;
    b->parts[at].link = (elimination_factor){(uint32_t)(d - b->definitions), graph_number(g, 1)};
    return true;
}

/* Sets the unknown and the scale of an affine node from the unknowns and scales of its operands. */
static bool link_part(builder *b, uint32_t at) {
    graph *g = b->g;
    const graph_cell cell = *graph_at(g, b->nodes[at]);
    const graph_node *o = cell.as.operand;
    elimination_factor *link = &b->parts[at].link;
    if (cell.op == GRAPH_IS_SYMBOL) {
        *link = (elimination_factor){(uint32_t)cell.as.index, graph_number(g, 1)};
        return true;
    }
    if (defines_unknown(b, &cell)) return define(b, at, &cell);
    int k = operand_part(b, &cell, 0)->degree == 1 ? 0 : 1;
    *link = operand_part(b, &cell, k)->link;
    if (cell.op == GRAPH_NEG || (cell.op == GRAPH_SUB && k == 1)) link->node = graph_neg(g, link->node);
    if (cell.op == GRAPH_MUL) link->node = graph_mul(g, link->node, o[1 - k]);
    if (cell.op == GRAPH_DIV) link->node = graph_div(g, link->node, o[1]);
    return true;
}

static bool define_unknowns(builder *b) {
    for (size_t i = 0; i < b->in->coordinate_count; i++)
        if (!add_definition(b, UNKNOWN_COORDINATE)) return false;
    for (size_t i = 0; i < b->part_count; i++)
        if (b->parts[i].degree == 1 && b->parts[i].needed && !link_part(b, (uint32_t)i)) return false;
    b->first_constraint = (uint32_t)b->count;
    for (size_t c = 0; c < b->in->constraint_count; c++)
        if (elimination_add_unknown(b->x, UNKNOWN_CONSTRAINT) == ELIMINATION_NONE) return false;
    return true;
}

/* Returns the entry of D for a product. */
static graph_node entry_of(const builder *b, const product *p) {
    const elimination_factor *one = &b->parts[p->x].link, *other = &b->parts[p->y].link;
    graph_node entry = graph_mul(b->g, p->coefficient, graph_mul(b->g, one->node, other->node));
    return one->with == other->with ? graph_mul(b->g, graph_number(b->g, 2), entry) : entry;
}

/* Adds the entries of D and of the constraints to the extended system. */
static bool enter_coefficients(builder *b) {
    elimination *x = b->x;
    for (size_t i = 0; i < b->product_count && !x->failed; i++) {
        const product *p = &b->products[i];
        elimination_add(x, b->parts[p->x].link.with, b->parts[p->y].link.with, entry_of(b, p));
    }
    b->rows = arena_alloc(b->memory, b->in->constraint_count + 1, sizeof *b->rows);
    if (!b->rows) return abandon(b);
    for (size_t c = 0; c < b->in->constraint_count && !x->failed; c++) {
        own_row *row = &b->rows[c];
        const elimination_factor *link = &b->parts[part_of(b, b->in->rates[c])].link;
        row->list = arena_grow(b->memory, NULL, &row->capacity, OPERANDS_MOST, sizeof *row->list);
        if (!row->list) return abandon(b);
        row->list[row->count++] = *link;
        elimination_add(x, b->first_constraint + (uint32_t)c, link->with, link->node);
    }
    return !x->failed;
}

/* Lists the definitions that contain each unknown; sets levels. Each definition is stored after its operands. */
static bool list_users(builder *b) {
    size_t total = 0;
    for (size_t u = 0; u < b->count; u++)
        for (uint32_t k = 0; !b->definitions[u].dissolved && k < b->definitions[u].count; k++, total++)
            b->definitions[b->definitions[u].factors[k].with].user_count++;
    b->users = arena_alloc(b->memory, total + 1, sizeof *b->users);
    if (!b->users) return abandon(b);
    size_t at = 0;
    for (size_t u = 0; u < b->count; u++) {
        b->definitions[u].users = at;
        at += b->definitions[u].user_count;
        b->definitions[u].user_count = 0;
    }
    for (size_t u = b->count; u-- > b->in->coordinate_count;) {
        const definition *d = &b->definitions[u];
        for (uint32_t k = 0; !d->dissolved && k < d->count; k++) {
            definition *of = &b->definitions[d->factors[k].with];
            if (of->level < d->level + 1) of->level = d->level + 1;
            b->users[of->users + of->user_count++] = (uint32_t)u;
        }
    }
    return true;
}

/* --- the order ------------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Returns a sort key: by level, and within a level the later coordinate first. */
static uint64_t key_of(const builder *b, uint32_t u) {
    return (uint64_t)b->definitions[u].level << 32 | (UINT32_MAX - u);
}

/* Writes the remaining sums that contain u, at most `most` of them, to b->stack[1 …]. Returns their number. */
static size_t find_cone(builder *b, uint32_t u, size_t most) {
    size_t count = 1;
    b->stack[0] = u;
    b->stamp++;
    for (size_t at = 0; at < count && count <= most; at++) {
        definition *d = &b->definitions[b->stack[at]];
        for (size_t k = 0; k < d->user_count; k++) {
            uint32_t user = b->users[d->users + k];
            if (b->x->unknowns[user].gone) {
                b->users[d->users + k--] = b->users[d->users + --d->user_count];
            } else if (b->definitions[user].stamp != b->stamp) {
                b->definitions[user].stamp = b->stamp;
                b->stack[count++] = user;
            }
        }
    }
    return count - 1;
}

/* Fills the window. If the window would stay empty, continues with the next step at which coordinates are due. */
static void fill_window(builder *b, size_t step) {
    for (size_t at = step; at <= b->steps; at++) {
        for (uint32_t u = b->asleep[at]; u != ELIMINATION_NONE; u = b->next[u])
            b->awake[(b->awake_first + b->awake_count++) % b->steps] = u;
        b->asleep[at] = ELIMINATION_NONE;
        if (b->window_count > 0 || b->awake_count > 0 || b->fresh < b->steps) break;
    }
    for (; b->window_count < WINDOW && b->awake_count > 0; b->awake_count--) {
        b->window[b->window_count++] = b->awake[b->awake_first];
        b->awake_first = (b->awake_first + 1) % b->steps;
    }
    while (b->window_count < WINDOW && b->fresh < b->steps) b->window[b->window_count++] = b->order[b->fresh++];
}

static void put_to_sleep(builder *b, uint32_t u, size_t step) {
    size_t wake = step + 1 + b->definitions[u].waits++ / WINDOW;
    if (wake > b->steps) wake = b->steps;
    b->next[u] = b->asleep[wake];
    b->asleep[wake] = u;
}

static uint32_t choose_coordinate(builder *b, size_t step) {
    size_t best = CONE_MOST, at = 0, cones[WINDOW];
    fill_window(b, step);
    assert(b->window_count > 0);
    for (size_t k = 0; k < b->window_count; k++) {
        size_t most = CONE_FACTOR * best + CONE_SPARE;
        size_t cone = cones[k] = find_cone(b, b->window[k], most < CONE_MOST ? most : CONE_MOST);
        if (k > 0 && (cone > best || (cone == best && key_of(b, b->window[k]) > key_of(b, b->window[at])))) continue;
        best = cone;
        at = k;
    }
    uint32_t chosen = b->window[at];
    size_t kept = 0;
    for (size_t k = 0; k < b->window_count; k++) {
        if (k == at) continue;
        if (cones[k] >= CONE_FACTOR * best + CONE_SPARE)
            put_to_sleep(b, b->window[k], step);
        else
            b->window[kept++] = b->window[k];
    }
    b->window_count = kept;
    return chosen;
}

/* --- constraints ----------------------------------------------------------------------------------------------------- */

static size_t find_in_row(const own_row *row, uint32_t unknown) {
    size_t at = 0;
    while (at < row->count && row->list[at].with != unknown) at++;
    return at;
}

/* Adds f.node to the coefficient of unknown f.with in a row, and removes a coefficient that becomes the constant 0. */
static bool add_to_row(builder *b, own_row *row, elimination_factor f) {
    size_t at = find_in_row(row, f.with);
    if (at < row->count) {
        row->list[at].node = graph_add(b->g, row->list[at].node, f.node);
        if (graph_is_zero(b->g, row->list[at].node)) row->list[at] = row->list[--row->count];
        return true;
    }
    elimination_factor *grown = row->list;
    if (row->count == row->capacity)
        grown = arena_grow(b->memory, grown, &row->capacity, row->count + 1, sizeof *grown);
    if (!grown) return abandon(b);
    row->list = grown;
    row->list[row->count++] = f;
    return true;
}

/* Replaces the sum u by its operands in the rows of the constraints that contain u. */
static void substitute_in_rows(builder *b, uint32_t u) {
    const elimination *x = b->x;
    for (uint32_t e = x->unknowns[u].first; e != ELIMINATION_NONE && !x->failed;) {
        const elimination_entry *entry = &x->entries[e];
        int side = entry->unknown[0] == u ? 0 : 1;
        uint32_t other = entry->unknown[1 - side];
        e = entry->next[side];
        if (x->unknowns[other].kind != UNKNOWN_CONSTRAINT || x->unknowns[other].gone) continue;
        own_row *row = &b->rows[other - b->first_constraint];
        size_t at = find_in_row(row, u);
        if (at == row->count) continue;
        graph_node scale = row->list[at].node;
        row->list[at] = row->list[--row->count];
        const definition *d = &b->definitions[u];
        for (uint32_t k = 0; k < d->count; k++)
            if (!add_to_row(b, row,
                            (elimination_factor){d->factors[k].with, graph_mul(b->g, scale, d->factors[k].node)}))
                return;
    }
}

/* Eliminates coordinate u, then the constraints whose own rows contain no remaining coordinate. */
static void pivot(builder *b, uint32_t u) {
    elimination *x = b->x;
    size_t count = elimination_pivot(x, u), first = x->factor_count - count;
    for (size_t k = 0; k < count && !x->failed; k++) {
        uint32_t c = x->factors[first + k].with;
        if (x->unknowns[c].kind != UNKNOWN_CONSTRAINT || x->unknowns[c].gone) continue;
        own_row *row = &b->rows[c - b->first_constraint];
        size_t at = find_in_row(row, u);
        if (at < row->count) row->list[at] = row->list[--row->count];
        if (row->count == 0) (void)elimination_pivot(x, c);
    }
}

static void eliminate_rest(builder *b) {
    elimination *x = b->x;
    for (;;) {
        uint32_t least = ELIMINATION_NONE;
        for (uint32_t c = b->first_constraint; c < x->count; c++)
            if (!x->unknowns[c].gone &&
                (least == ELIMINATION_NONE || x->unknowns[c].degree < x->unknowns[least].degree))
                least = c;
        if (least == ELIMINATION_NONE || x->failed) return;
        (void)elimination_pivot(x, least);
    }
}

/* --- elimination ----------------------------------------------------------------------------------------------------- */

static bool prepare_order(builder *b) {
    size_t n = b->in->coordinate_count;
    b->steps = n;
    b->stack = arena_alloc(b->memory, b->count + 1, sizeof *b->stack);
    b->keys = arena_alloc(b->memory, b->count + 1, sizeof *b->keys);
    b->order = arena_alloc(b->memory, n, sizeof *b->order);
    b->awake = arena_alloc(b->memory, n, sizeof *b->awake);
    b->asleep = arena_alloc(b->memory, n + 1, sizeof *b->asleep);
    b->next = arena_alloc(b->memory, n + 1, sizeof *b->next);
    if (!b->stack || !b->keys || !b->order || !b->awake || !b->asleep || !b->next) return abandon(b);
    for (size_t i = 0; i <= n; i++) b->asleep[i] = ELIMINATION_NONE;
    for (size_t i = 0; i < n; i++) b->keys[i] = key_of(b, (uint32_t)i);
    qsort(b->keys, n, sizeof *b->keys, compare_keys);
    for (size_t i = 0; i < n; i++) b->order[i] = UINT32_MAX - (uint32_t)b->keys[i];
    return true;
}

static void substitute_cone(builder *b, uint32_t u) {
    size_t count = find_cone(b, u, SIZE_MAX - 1);
    for (size_t k = 0; k < count; k++) b->keys[k] = key_of(b, b->stack[k + 1]);
    qsort(b->keys, count, sizeof *b->keys, compare_keys);
    for (size_t k = 0; k < count && !b->x->failed; k++) {
        uint32_t sum = UINT32_MAX - (uint32_t)b->keys[k];
        substitute_in_rows(b, sum);
        elimination_substitute(b->x, sum, b->definitions[sum].factors, b->definitions[sum].count);
    }
}

void extended_system_eliminate(elimination *x, const extended_parts *in, uint32_t *first_constraint) {
    builder b = {.x = x, .g = x->g, .memory = &x->memory, .in = in};
    assert(x->count == 0 && in->coordinate_count > 0);
    if (!list_parts(&b) || !find_products(&b) || !define_unknowns(&b) || !enter_coefficients(&b) || !list_users(&b) ||
        !prepare_order(&b))
        return;
    *first_constraint = b.first_constraint;
    for (size_t step = 0; step < in->coordinate_count && !x->failed; step++) {
        uint32_t u = choose_coordinate(&b, step);
        substitute_cone(&b, u);
        if (!x->failed) pivot(&b, u);
    }
    eliminate_rest(&b);
}

/* --- the mass matrix ------------------------------------------------------------------------------------------------- */

static bool number_sums(builder *b, congruence *form, uint32_t *number) {
    for (size_t u = 0; u < b->count; u++) {
        const definition *d = &b->definitions[u];
        number[u] = d->dissolved ? ELIMINATION_NONE : (uint32_t)(u < form->n ? u : form->n + form->sum_count);
        if (u < form->n || d->dissolved) continue;
        form->sum_count++;
        form->factor_count += d->count;
    }
    form->pair_count = b->product_count;
    return form->factor_count + form->pair_count > 0;
}

static void list_factors(const builder *b, const uint32_t *number, size_t *first, uint32_t *with, graph_node *values) {
    size_t sum = 0, at = 0;
    for (size_t u = b->in->coordinate_count; u < b->count; u++) {
        const definition *d = &b->definitions[u];
        if (d->dissolved) continue;
        for (uint32_t k = 0; k < d->count; k++, at++) {
            assert(number[d->factors[k].with] < b->in->coordinate_count + sum);
            with[at] = number[d->factors[k].with];
            values[at] = d->factors[k].node;
        }
        first[++sum] = at;
    }
}

bool extended_system_mass(graph *g, const extended_parts *in, arena *memory, congruence *form, graph_node **values) {
    elimination x;
    elimination_begin(&x, g, SIZE_MAX);
    builder b = {.x = &x, .g = g, .memory = &x.memory, .in = in};
    *form = (congruence){.n = in->coordinate_count};
    bool good = list_parts(&b) && find_products(&b) && define_unknowns(&b);
    uint32_t *number = good ? arena_alloc(&x.memory, b.count, sizeof *number) : NULL;
    good = number && number_sums(&b, form, number);
    size_t *first = good ? arena_alloc(memory, form->sum_count + 1, sizeof *first) : NULL;
    uint32_t *with = good ? arena_alloc(memory, form->factor_count, sizeof *with) : NULL;
    uint32_t(*pairs)[2] = good ? arena_alloc(memory, form->pair_count, sizeof *pairs) : NULL;
    *values = good ? arena_alloc(memory, form->factor_count + form->pair_count, sizeof **values) : NULL;
    good = first && with && pairs && *values;
    if (good) list_factors(&b, number, first, with, *values);
    for (size_t i = 0; good && i < form->pair_count; i++) {
        pairs[i][0] = number[b.parts[b.products[i].x].link.with];
        pairs[i][1] = number[b.parts[b.products[i].y].link.with];
        (*values)[form->factor_count + i] = entry_of(&b, &b.products[i]);
    }
    form->first = first, form->with = with, form->pairs = (const uint32_t(*)[2])pairs;
    elimination_end(&x);
    return good && graph_status(g) == HAMEL_OK;
}
