/* accelerations.c — the equations of motion solved as expressions: a program that gives q'' and λ of a state at once.
 *
 *     [ M  Aᵀ ] [ q'' ]   [ Q                  ]
 *     [ A  0  ] [ −λ  ] = [ b − 2α dΦ/dt − β²Φ ]
 *
 * by LDLᵀ, coordinates first, which leaves −A M⁻¹Aᵀ of the constraints (Golub & Van Loan 4.1.2), as engine/solve/kkt_ldl.c
 * does with numbers. Written into the graph, it multiplies by no zero and no one, has constant parts evaluated once, and
 * needs neither matrices nor loops. Expressions do not grow by it: each entry is one node that the next ones refer to.
 * What tells whether the solution is to be trusted is an output, too.
 *
 * Next is eliminated what costs least: pivots that are constant need no division while the system moves.
 *
 * A right-hand side in machine code, nanoseconds, least of 300 rounds; with matrices: kkt_ldl.c, or Cholesky of columns:
 *
 *                         | pendulum | in x, y | double | disk | sleigh | top | chain of 16, 1024 in x, y | of 8, 16 in angles
 *     with matrices       |    44    |    65   |   82   |  159 |   104  |  72 |    803    55257           |   567   2291
 *     at once             |    21    |    22   |   43   |   74 |    50  |  35 |    315    30490           |   438   1904 */
#include "engine/model/model.h"

#include <stdlib.h>
#include <string.h>

/* Products of the factorization: full matrices of 24 rows have more, and columns of numbers are as fast there. A division is
 * worth some. */
enum { PRODUCTS_MOST = 1000, PRODUCTS_OF_UNKNOWN = 8, DIVISION = 4 };
enum { NOTHING = UINT32_MAX };

/* Of the lower triangle without its diagonal; of L, once its column is eliminated. An entry is in the lists of both of its
 * unknowns. */
typedef struct entry {
    uint32_t unknown[2], next[2];
    graph_node node;
} entry;

typedef struct unknown {
    graph_node pivot, inverse, z; /* z: right side, then solution */
    graph_node before;            /* its pivot before any elimination; of a row: as the coordinates leave it */
    uint32_t first;               /* entry */
    uint32_t degree;              /* entries with unknowns that are not eliminated */
    uint32_t place;               /* in the order of elimination; NOTHING: not yet */
} unknown;

typedef struct elimination {
    graph *g;
    size_t n, all, products, products_most; /* coordinates; with constraints */
    unknown *unknowns;
    uint32_t *order;
    entry *entries;
    size_t entry_count;
    uint32_t *slots; /* entry of a pair of unknowns, by open addressing */
    size_t slot_mask;
    uint64_t *heap; /* (cost, unknown): some of them outdated */
    size_t heap_count;
    entry **column;         /* all: scratch */
    graph_node least, most; /* pivots of M */
    graph_node excess;      /* of one over what it has to keep */
    graph_node square;
} elimination;

/* --- entries ---------------------------------------------------------------------------------------------------------- */

/* Where the entry of two different unknowns is noted, or is to be. */
static uint32_t *slot_of(const elimination *x, uint32_t one, uint32_t other) {
    uint32_t low = one < other ? one : other, high = one < other ? other : one;
    size_t at = (size_t)((((uint64_t)high << 32 | low) * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & x->slot_mask;
    for (; x->slots[at] != NOTHING; at = (at + 1) & x->slot_mask) {
        const entry *e = &x->entries[x->slots[at]];
        if (e->unknown[0] == high && e->unknown[1] == low) break;
    }
    return &x->slots[at];
}

static graph_node *find_or_add(elimination *x, uint32_t one, uint32_t other) {
    if (one == other) return &x->unknowns[one].pivot;
    uint32_t *slot = slot_of(x, one, other);
    if (*slot != NOTHING) return &x->entries[*slot].node;
    entry *e = &x->entries[ *slot = (uint32_t)x->entry_count++];
    *e = (entry){.unknown = {one > other ? one : other, one > other ? other : one}, .node = graph_number(x->g, 0)};
    for (int k = 0; k < 2; k++) {
        unknown *u = &x->unknowns[e->unknown[k]];
        e->next[k] = u->first;
        u->first = *slot;
        u->degree++;
    }
    return &e->node;
}

static int side_of(const entry *e, uint32_t of) {
    return e->unknown[0] == of ? 0 : 1;
}
static uint32_t other_of(const entry *e, uint32_t of) {
    return e->unknown[1 - side_of(e, of)];
}
static entry *first_of(const elimination *x, uint32_t of) {
    uint32_t first = x->unknowns[of].first;
    return first == NOTHING ? NULL : &x->entries[first];
}
static entry *next_of(const elimination *x, const entry *e, uint32_t of) {
    uint32_t next = e->next[side_of(e, of)];
    return next == NOTHING ? NULL : &x->entries[next];
}

/* 2α dΦ/dt + β²Φ for positions, α f for velocities (kinetics_accelerations). */
static graph_node damping(graph *g, constraint_order order, graph_node velocity, graph_node position) {
    graph_node alpha = graph_symbol(g, SYMBOL_STABILIZATION, 0),
               beta_squared = graph_symbol(g, SYMBOL_STABILIZATION, 1);
    double times = order == CONSTRAINT_HOLONOMIC ? 2 : 1;
    return graph_add(g, graph_mul(g, graph_mul(g, graph_number(g, times), alpha), velocity),
                     graph_mul(g, beta_squared, position));
}

static void fill(elimination *x, const hamel_model *model, const graph_node *dynamics) {
    graph *g = x->g;
    const graph_node *b = dynamics + model->at_b, *velocity = dynamics + model->at_velocity,
                     *position = dynamics + model->at_position;
    for (size_t i = 0; i < x->all; i++)
        x->unknowns[i] = (unknown){.pivot = graph_number(g, 0), .first = NOTHING, .place = NOTHING};
    for (size_t e = 0; e < model->M.count; e++)
        *find_or_add(x, (uint32_t)model->M.row[e], (uint32_t)model->M.column[e]) = dynamics[model->at_M + e];
    for (size_t e = 0; e < model->A.count; e++)
        *find_or_add(x, (uint32_t)x->n + (uint32_t)model->A.row[e], (uint32_t)model->A.column[e]) =
            dynamics[model->at_A + e];
    for (size_t i = 0; i < x->n; i++) x->unknowns[i].z = dynamics[model->at_Q + i];
    for (size_t c = 0; c < model->m; c++)
        x->unknowns[x->n + c].z = graph_sub(g, b[c], damping(g, model->order[c], velocity[c], position[c]));
}

/* --- the order -------------------------------------------------------------------------------------------------------- */

static uint64_t cost_of(const elimination *x, uint32_t of) {
    const unknown *u = &x->unknowns[of];
    bool constant = !(graph_depends(x->g, u->pivot) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER));
    return (uint64_t)u->degree * (u->degree + 1) / 2 + (constant ? 0 : DIVISION);
}

static void consider(elimination *x, uint32_t of) {
    uint64_t key = cost_of(x, of) << 32 | of;
    size_t at = x->heap_count++;
    for (; at > 0 && x->heap[(at - 1) / 2] > key; at = (at - 1) / 2) x->heap[at] = x->heap[(at - 1) / 2];
    x->heap[at] = key;
}

static uint64_t take_least(elimination *x) {
    uint64_t least = x->heap[0], last = x->heap[--x->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < x->heap_count; at = child) {
        if (child + 1 < x->heap_count && x->heap[child + 1] < x->heap[child]) child++;
        if (x->heap[child] >= last) break;
        x->heap[at] = x->heap[child];
    }
    x->heap[at] = last;
    return least;
}

/* Constraints are considered when the last coordinate is eliminated. */
static uint32_t choose(elimination *x, size_t place) {
    for (size_t c = x->n; place == x->n && c < x->all; c++) {
        x->unknowns[c].before = x->unknowns[c].pivot;
        consider(x, (uint32_t)c);
    }
    for (;;) {
        uint64_t key = take_least(x);
        uint32_t chosen = (uint32_t)key;
        if (x->unknowns[chosen].place == NOTHING && key >> 32 == cost_of(x, chosen)) return chosen;
    }
}

/* --- the factors ------------------------------------------------------------------------------------------------------ */

/* Its entries with what is left. */
static size_t column_of(elimination *x, uint32_t j) {
    size_t count = 0;
    for (entry *e = first_of(x, j); e; e = next_of(x, e, j))
        if (x->unknowns[other_of(e, j)].place == NOTHING) x->column[count++] = e;
    return count;
}

/* Subtracts what column j contributes to those that are left; its entries become those of L. */
static void eliminate(elimination *x, uint32_t j) {
    graph *g = x->g;
    graph_node inverse = x->unknowns[j].inverse = graph_div(g, graph_number(g, 1), x->unknowns[j].pivot);
    size_t count = column_of(x, j);
    for (size_t k = 0; k < count; k++) {
        uint32_t i = other_of(x->column[k], j);
        graph_node factor = graph_mul(g, x->column[k]->node, inverse);
        for (size_t l = k; l < count; l++) {
            graph_node *to = find_or_add(x, i, other_of(x->column[l], j));
            *to = graph_sub(g, *to, graph_mul(g, factor, x->column[l]->node));
        }
        x->column[k]->node = factor;
        x->unknowns[i].degree--;
    }
    x->products += count * (count + 1) / 2;
    for (size_t k = 0; k < count; k++) {
        uint32_t i = other_of(x->column[k], j);
        if (i < x->n || j >= x->n) consider(x, i);
    }
}

static void note_least(elimination *x, graph_node *least, graph_node node) {
    *least = *least == GRAPH_NONE ? node : graph_binary(x->g, GRAPH_MIN, *least, node);
}

/* By products alone: a division takes as long as ten of them. */
static void note_mass_pivot(elimination *x, const unknown *u) {
    bool first = x->least == GRAPH_NONE;
    note_least(x, &x->least, u->pivot);
    x->most = first ? u->pivot : graph_binary(x->g, GRAPH_MAX, x->most, u->pivot);
    if (x->all == x->n || u->pivot == u->before) return;
    graph_node kept = graph_mul(x->g, graph_number(x->g, MASS_PIVOT_KEPT), u->before);
    note_least(x, &x->excess, graph_sub(x->g, u->pivot, kept));
}

/* A pivot beside what it was is the squared sine of the row's angle; where nothing was subtracted, 1. */
static void note_row_pivot(elimination *x, const unknown *u) {
    if (u->pivot == u->before) return;
    x->square = graph_binary(x->g, GRAPH_MIN, x->square, graph_div(x->g, u->pivot, u->before));
}

/* False where a pivot is 0 or the products are too many. */
static bool factor(elimination *x) {
    for (uint32_t i = 0; i < x->n; i++) {
        x->unknowns[i].before = x->unknowns[i].pivot;
        consider(x, i);
    }
    for (uint32_t place = 0; place < x->all; place++) {
        uint32_t j = choose(x, place);
        unknown *u = &x->unknowns[j];
        if (graph_is_zero(x->g, u->pivot)) return false;
        if (x->products + (size_t)u->degree * (u->degree + 1) / 2 > x->products_most) return false;
        u->place = place;
        x->order[place] = j;
        if (j < x->n)
            note_mass_pivot(x, u);
        else
            note_row_pivot(x, u);
        eliminate(x, j);
        if (graph_status(x->g) != HAMEL_OK) return false;
    }
    return true;
}

/* --- the solution ----------------------------------------------------------------------------------------------------- */

static void subtract(elimination *x, uint32_t to, const entry *e, uint32_t from) {
    graph_node product = graph_mul(x->g, e->node, x->unknowns[from].z);
    x->unknowns[to].z = graph_sub(x->g, x->unknowns[to].z, product);
}

static void solve(elimination *x) {
    for (size_t place = 0; place < x->all; place++) {
        uint32_t j = x->order[place];
        for (const entry *e = first_of(x, j); e; e = next_of(x, e, j))
            if (x->unknowns[other_of(e, j)].place > place) subtract(x, other_of(e, j), e, j);
    }
    for (size_t place = x->all; place-- > 0;) {
        uint32_t j = x->order[place];
        x->unknowns[j].z = graph_mul(x->g, x->unknowns[j].z, x->unknowns[j].inverse);
        for (const entry *e = first_of(x, j); e; e = next_of(x, e, j))
            if (x->unknowns[other_of(e, j)].place > place) subtract(x, j, e, other_of(e, j));
    }
}

/* --- the program ------------------------------------------------------------------------------------------------------ */

/* Constraints that come and go would each time leave other equations. */
static bool all_active(const hamel_model *model) {
    for (size_t c = 0; c < model->m; c++)
        if (!model->active[c]) return false;
    return true;
}

static bool serves(const hamel_model *model) {
    const formulation *f = model->formulation;
    return model->n > 0 && f->solver == SOLVER_MULTIPLIERS && f->variables == VARIABLES_VELOCITIES &&
           model->W.count == 0 && model->friction_count == 0 && !model->nonideal && all_active(model);
}

static bool is_diagonal(const model_pattern *M) {
    for (size_t e = 0; e < M->count; e++)
        if (M->row[e] != M->column[e]) return false;
    return true;
}

static hamel_status compile(elimination *x, hamel_model *model, hamel_error *error) {
    graph_node *nodes = arena_alloc(&model->memory, x->all + ACCELERATIONS_BESIDE, sizeof *nodes);
    if (!nodes) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory to solve the equations of motion");
    for (size_t i = 0; i < x->all; i++) nodes[i] = i < x->n ? x->unknowns[i].z : graph_neg(x->g, x->unknowns[i].z);
    double part = mass_pivot_least(x->n, is_diagonal(&model->M), x->all > x->n);
    graph_node least = graph_mul(x->g, graph_number(x->g, part), x->most);
    note_least(x, &x->excess, graph_sub(x->g, x->least, least));
    nodes[x->all] = x->excess;
    nodes[x->all + 1] = x->square;
    return program_compile(&model->accelerations, &model->memory, x->g, nodes, x->all + ACCELERATIONS_BESIDE, error);
}

/* Room for `count` entries. */
static bool reserve(elimination *x, size_t count) {
    for (x->slot_mask = 1; x->slot_mask < 2 * count; x->slot_mask *= 2) {
    }
    x->unknowns = malloc(x->all * sizeof *x->unknowns);
    x->order = malloc(x->all * sizeof *x->order);
    x->entries = malloc((count + 1) * sizeof *x->entries);
    x->slots = malloc(x->slot_mask * sizeof *x->slots);
    x->heap = malloc((x->all + 2 * count + 1) * sizeof *x->heap);
    x->column = malloc(x->all * sizeof(entry *));
    if (!x->unknowns || !x->order || !x->entries || !x->slots || !x->heap || !x->column) return false;
    memset(x->slots, 0xff, x->slot_mask-- * sizeof *x->slots);
    return true;
}

hamel_status model_compile_accelerations(hamel_model *model, const graph_node *dynamics, hamel_error *error) {
    size_t all = model->n + model->m, given = model->M.count + model->A.count;
    graph *g = model->system->graph;
    elimination x = {
        .g = g, .n = model->n, .all = all, .least = GRAPH_NONE, .excess = GRAPH_NONE, .square = graph_number(g, 1)};
    x.products_most = PRODUCTS_MOST + PRODUCTS_OF_UNKNOWN * all;
    size_t nodes_most = 8 * (x.products_most + given + all); /* that may be made */
    if (!serves(model) || given > all + x.products_most || graph_count(g) + nodes_most > model->limits.nodes)
        return HAMEL_OK;
    hamel_status status = HAMEL_OK;
    if (!reserve(&x, given + x.products_most)) {
        status = hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory to solve the equations of motion");
    } else {
        fill(&x, model, dynamics);
        if (factor(&x)) {
            solve(&x);
            status = compile(&x, model, error);
        }
    }
    free(x.unknowns), free(x.order), free(x.entries), free(x.slots), free(x.heap), free(x.column);
    return status;
}
