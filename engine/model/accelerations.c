/* accelerations.c — closed-form solution of the equations of motion: a program that computes q'' and λ from (t, q, q').
 *
 *     [ M  Aᵀ ] [ q'' ]   [ Q                  ]
 *     [ A  0  ] [ −λ  ] = [ b − 2α dΦ/dt − β²Φ ]
 *
 * The system is factored symbolically by LDLᵀ, as engine/linear/kkt_ldl.c does numerically. Eliminating the coordinates
 * first leaves −A M⁻¹Aᵀ for the constraints (Golub & Van Loan 4.1.2). The next pivot is always the one that needs the
 * fewest products and divisions. Constant pivots need no division during a run. If M has many entries for each
 * coordinate, the extended system is factored instead (mechanics/extended_system.h).
 *
 * The program also returns two measures that decide whether the solution is accurate (model.h).
 *
 * The table shows the time of a right-hand side in machine code, in nanoseconds (minimum of 300 rounds). "With
 * matrices" means kkt_ldl.c or a column Cholesky factorization.
 *
 *                         | pendulum | in x, y | double | disk | sleigh | top | chain of 16, 1024 in x, y | of 8, 16 in angles
 *     with matrices       |    44    |    65   |   82   |  159 |   104  |  72 |    803    55257           |   567   2291
 *     in closed form      |    21    |    22   |   43   |   74 |    50  |  35 |    315    30490           |   438   1904 */
#include "engine/base/tolerances.h"
#include "engine/mechanics/extended_system.h"
#include "engine/model/model.h"

/* The closed form is used if its factorization needs at most PRODUCTS_MOST products plus PRODUCTS_OF_UNKNOWN for each
 * unknown. For a full matrix of 24 rows, which exceeds this bound, numerical column factorization is as fast. A
 * division counts as DIVISION products. */
enum { PRODUCTS_MOST = 1000, PRODUCTS_OF_UNKNOWN = 8, DIVISION = 4 };

/* The extended system is tried if M has at least EXTENDED_ENTRIES entries for each coordinate. If rows are shorter, M
 * is sparse, and only its direct elimination is tried. The extended system is used if its factorization needs at most
 * (entries of M) · n / EXTENDED_GAIN products. For a full M with n²/2 entries, this bound is 3/8 of the n³/6 products
 * that factoring M takes. More than half of the products are then saved.
 *
 * If M is given as Bᵀ D B, its evaluation takes n passes through the factors in B. For a chain of 50 bodies in frames
 * in space, these passes through 64,000 factors take 79 µs. The accelerations program of 24,000 instructions takes 11
 * µs. The number of products is therefore bounded by the number of factors in all passes. To keep derivations linear in
 * size, the number is also bounded by EXTENDED_EACH for each coordinate. This bound is twice the 480 instructions for
 * each coordinate in the program of the chain. */
enum { EXTENDED_ENTRIES = 8, EXTENDED_GAIN = 8, EXTENDED_EACH = 1000 };

/* Priority queue of the unknowns that can be eliminated next, cheapest first. */
typedef struct queue {
    uint64_t *keys; /* heap of (cost, unknown); outdated costs are corrected when an entry is taken */
    size_t count, capacity;
} queue;

/* Returns 2α dΦ/dt + β²Φ for a holonomic constraint, α f for a velocity constraint f = 0 (dynamics_accelerations). */
static graph_node damping(graph *g, constraint_order order, graph_node velocity, graph_node position) {
    graph_node alpha = graph_symbol(g, SYMBOL_STABILIZATION, 0),
               beta_squared = graph_symbol(g, SYMBOL_STABILIZATION, 1);
    double times = order == CONSTRAINT_HOLONOMIC ? 2 : 1;
    return graph_add(g, graph_mul(g, graph_mul(g, graph_number(g, times), alpha), velocity),
                     graph_mul(g, beta_squared, position));
}

static void set_right_sides(elimination *x, const hamel_model *model, const graph_node *dynamics,
                            uint32_t first_constraint) {
    const model_dynamics *d = &model->dynamics;
    const graph_node *b = dynamics + d->at_b, *velocity = dynamics + d->at_velocity,
                     *position = dynamics + d->at_position;
    if (x->failed) return;
    for (size_t i = 0; i < model->n; i++) x->unknowns[i].z = dynamics[d->at_Q + i];
    for (size_t c = 0; c < model->m; c++)
        x->unknowns[first_constraint + c].z =
            graph_sub(x->g, b[c], damping(x->g, model->order[c], velocity[c], position[c]));
}

/* Enters M and the rows of A up to the order `highest`. Sets unknowns[c] to the unknown of constraint c. */
static void enter_matrices(elimination *x, const hamel_model *model, const graph_node *dynamics,
                           constraint_order highest, uint32_t *unknowns) {
    const model_dynamics *d = &model->dynamics;
    for (size_t i = 0; i < model->n; i++) (void)elimination_add_unknown(x, UNKNOWN_COORDINATE);
    for (size_t c = 0; c < model->m; c++)
        unknowns[c] = model->order[c] > highest ? ELIMINATION_NONE : elimination_add_unknown(x, UNKNOWN_CONSTRAINT);
    for (size_t e = 0; e < d->M.count && !x->failed; e++)
        elimination_add(x, (uint32_t)d->M.row[e], (uint32_t)d->M.column[e], dynamics[d->M.at + e]);
    for (size_t e = 0; e < d->A.count && !x->failed; e++) {
        uint32_t row = unknowns[d->A.row[e]];
        if (row != ELIMINATION_NONE) elimination_add(x, row, (uint32_t)d->A.column[e], dynamics[d->A.at + e]);
    }
}

/* --- pivot order: least cost first ------------------------------------------------------------------------------------- */

static uint64_t cost_of(const elimination *x, uint32_t of) {
    const elimination_unknown *u = &x->unknowns[of];
    bool constant = !(graph_depends(x->g, u->diagonal) & ~GRAPH_DEPENDS(SYMBOL_PARAMETER));
    return (uint64_t)u->degree * (u->degree + 1) / 2 + (constant ? 0 : DIVISION);
}

static void queue_pivot(queue *line, elimination *x, uint32_t of) {
    uint64_t *grown = line->keys;
    if (line->count == line->capacity)
        grown = arena_grow(&x->memory, grown, &line->capacity, line->count + 1, sizeof *grown);
    if (!grown) {
        x->failed = true;
        return;
    }
    line->keys = grown;
    uint64_t key = cost_of(x, of) << 32 | of;
    size_t at = line->count++;
    for (; at > 0 && line->keys[(at - 1) / 2] > key; at = (at - 1) / 2) line->keys[at] = line->keys[(at - 1) / 2];
    line->keys[at] = key;
}

static uint64_t take_least(queue *line) {
    uint64_t least = line->keys[0], last = line->keys[--line->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < line->count; at = child) {
        if (child + 1 < line->count && line->keys[child + 1] < line->keys[child]) child++;
        if (line->keys[child] >= last) break;
        line->keys[at] = line->keys[child];
    }
    line->keys[at] = last;
    return least;
}

/* Returns the cheapest unknown in the queue, or ELIMINATION_NONE if all of them are eliminated. */
static uint32_t choose_pivot(queue *line, elimination *x) {
    while (line->count > 0) {
        uint64_t key = take_least(line);
        uint32_t chosen = (uint32_t)key;
        if (x->unknowns[chosen].gone) continue;
        if (key >> 32 == cost_of(x, chosen)) return chosen;
        queue_pivot(line, x, chosen);
    }
    return ELIMINATION_NONE;
}

/* Eliminates the unknowns `first` to `end` − 1. */
static void eliminate_range(elimination *x, uint32_t first, uint32_t end) {
    queue line = {0};
    for (uint32_t i = first; i < end && !x->failed; i++) queue_pivot(&line, x, i);
    for (uint32_t j; !x->failed && (j = choose_pivot(&line, x)) != ELIMINATION_NONE;) {
        size_t count = elimination_pivot(x, j);
        for (size_t k = 0; k < count; k++) {
            uint32_t i = x->factors[x->factor_count - count + k].with;
            if (i >= first && i < end) queue_pivot(&line, x, i);
        }
    }
}

/* Eliminates coordinates before constraints, because pivots of coordinates are positive. */
static void eliminate_by_matrices(elimination *x, const hamel_model *model) {
    eliminate_range(x, 0, (uint32_t)model->n);
    eliminate_range(x, (uint32_t)model->n, (uint32_t)x->count);
    elimination_solve(x);
}

/* --- the program ------------------------------------------------------------------------------------------------------ */

/* Returns true if all constraints are active. The closed-form solution is valid for this set of active constraints
 * only. */
static bool all_active(const hamel_model *model) {
    for (size_t c = 0; c < model->m; c++)
        if (!model->active[c]) return false;
    return true;
}

static bool serves(const hamel_model *model) {
    const formulation *f = model->formulation;
    return model->n > 0 && f->solver == SOLVER_MULTIPLIERS && f->variables == VARIABLES_VELOCITIES &&
           model->dynamics.W.count == 0 && model->friction.count == 0 && !model->dynamics.nonideal && all_active(model);
}

/* Sets the first two nodes to the measures of accuracy (model.h). */
static void list_measures(elimination *x, const hamel_model *model, graph_node *nodes) {
    graph *g = x->g;
    double part = mass_pivot_least(model->n, sparse_block_is_diagonal(&model->dynamics.M), x->constrained);
    graph_node spare = graph_sub(g, x->least, graph_mul(g, graph_number(g, part), x->most));
    nodes[0] = x->excess == GRAPH_NONE ? spare : graph_binary(g, GRAPH_MIN, x->excess, spare);
    nodes[1] = x->square;
}

/* Compiles the solution; `first_constraint` is the index of the unknown that belongs to the first constraint. */
static hamel_status compile_solution(elimination *x, hamel_model *model, uint32_t first_constraint) {
    const size_t n = model->n, m = model->m, count = n + m + ACCELERATIONS_BESIDE;
    graph_node *nodes = arena_alloc(&model->memory, count, sizeof *nodes);
    if (!nodes) return equations_exhausted(model->system);
    for (size_t i = 0; i < n; i++) nodes[i] = x->unknowns[i].z;
    for (size_t c = 0; c < m; c++) nodes[n + c] = graph_neg(x->g, x->unknowns[first_constraint + c].z);
    list_measures(x, model, nodes + n + m);
    return model_compile(model, &model->dynamics.accelerations, nodes, count);
}

/* Solves the extended system (extended_system.h), which takes less work if M has many entries per coordinate. */
static bool solve_extended(elimination *x, const hamel_model *model, const hamel_equations *e,
                           const graph_node *dynamics, uint32_t *first_constraint) {
    const extended_parts parts = {e->terms, e->term_count, dynamics + model->dynamics.at_velocity, model->n, model->m};
    extended_system_eliminate(x, &parts, first_constraint);
    set_right_sides(x, model, dynamics, *first_constraint);
    elimination_solve(x);
    return !x->failed;
}

/* Returns the number of products up to which the extended system is used, or 0 if the extended system is not tried. */
static size_t extended_products(const hamel_model *model) {
    size_t entries = model->dynamics.M.count, n = model->n;
    const congruence *mass = model->dynamics.mass;
    if (model->formulation->derive != lagrange_derive) return 0;
    size_t by_entries = entries < EXTENDED_ENTRIES * n ? 0 : entries * n / EXTENDED_GAIN;
    size_t each = !mass ? 0 : mass->factor_count < EXTENDED_EACH ? mass->factor_count : EXTENDED_EACH;
    return by_entries > each * n ? by_entries : each * n;
}

/* Compiles the accelerations from the entries of M and A, if this takes at most `products` products. */
static hamel_status compile_by_matrices(hamel_model *model, const graph_node *dynamics, size_t products,
                                        uint32_t *unknowns) {
    elimination x;
    hamel_status status = HAMEL_OK;
    elimination_begin(&x, model->system->graph, products);
    enter_matrices(&x, model, dynamics, CONSTRAINT_ACCELERATION, unknowns);
    set_right_sides(&x, model, dynamics, (uint32_t)model->n);
    eliminate_by_matrices(&x, model);
    if (!x.failed) status = compile_solution(&x, model, (uint32_t)model->n);
    elimination_end(&x);
    return status;
}

/* Compiles the Newton steps of a projection (model.h). The graph shares the factors with those of the accelerations if
 * the rows are the same. */
static hamel_status compile_correction(hamel_model *model, const graph_node *dynamics, constraint_order highest,
                                       size_t products, uint32_t *unknowns, program **out) {
    const size_t n = model->n, count = n + ACCELERATIONS_BESIDE;
    graph *g = model->system->graph;
    graph_node *nodes = arena_alloc(&model->memory, count, sizeof *nodes);
    elimination x;
    hamel_status status = HAMEL_OK;
    if (!nodes) return equations_exhausted(model->system);
    elimination_begin(&x, g, products);
    enter_matrices(&x, model, dynamics, highest, unknowns);
    for (size_t i = 0; i < n && !x.failed; i++) x.unknowns[i].z = graph_number(g, 0);
    for (size_t c = 0; c < model->m && !x.failed; c++)
        if (unknowns[c] != ELIMINATION_NONE) x.unknowns[unknowns[c]].z = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c);
    eliminate_by_matrices(&x, model);
    if (!x.failed) {
        for (size_t i = 0; i < n; i++) nodes[i] = x.unknowns[i].z;
        list_measures(&x, model, nodes + n);
        status = model_compile(model, out, nodes, count);
    }
    elimination_end(&x);
    return status;
}

static size_t count_rows(const hamel_model *model, constraint_order highest) {
    size_t rows = 0;
    for (size_t c = 0; c < model->m; c++) rows += model->order[c] <= highest;
    return rows;
}

static hamel_status compile_corrections(hamel_model *model, const graph_node *dynamics, size_t products,
                                        uint32_t *unknowns) {
    model_dynamics *d = &model->dynamics;
    size_t positions = count_rows(model, CONSTRAINT_HOLONOMIC), velocities = count_rows(model, CONSTRAINT_VELOCITY);
    hamel_status status = HAMEL_OK;
    if (model->settings.projection != HAMEL_PROJECTION_ON || velocities == 0) return HAMEL_OK;
    status = compile_correction(model, dynamics, CONSTRAINT_VELOCITY, products, unknowns, &d->correct_velocities);
    if (status != HAMEL_OK || positions == 0 || positions == velocities) return status;
    return compile_correction(model, dynamics, CONSTRAINT_HOLONOMIC, products, unknowns, &d->correct_positions);
}

hamel_status model_compile_accelerations(hamel_model *model, const hamel_equations *e, const graph_node *dynamics) {
    const size_t all = model->n + model->m, given = model->dynamics.M.count + model->dynamics.A.count;
    const size_t products_most = PRODUCTS_MOST + PRODUCTS_OF_UNKNOWN * all, extended = extended_products(model);
    graph *g = model->system->graph;
    /* Estimated number of new nodes: two for each product (the product and its subtraction), times a safety factor of
     * 4. */
    const size_t nodes_most = 8 * (products_most + given + all);
    elimination x;
    hamel_status status = HAMEL_OK;
    uint32_t first_constraint = (uint32_t)model->n;
    if (!serves(model)) return HAMEL_OK;
    if (extended > 0 && e->terms) {
        elimination_begin(&x, g, extended);
        bool solved = solve_extended(&x, model, e, dynamics, &first_constraint);
        if (solved) status = compile_solution(&x, model, first_constraint);
        elimination_end(&x);
        if (solved || graph_status(g) != HAMEL_OK) return status;
    }
    if (model->dynamics.mass || given > all + products_most || graph_count(g) + nodes_most > model->limits.nodes)
        return HAMEL_OK;
    uint32_t *unknowns = arena_alloc(&model->memory, model->m, sizeof *unknowns);
    if (!unknowns) return equations_exhausted(model->system);
    status = compile_by_matrices(model, dynamics, products_most, unknowns);
    if (status != HAMEL_OK || !model->dynamics.accelerations) return status;
    if (graph_count(g) + 2 * nodes_most > model->limits.nodes) return HAMEL_OK;
    return compile_corrections(model, dynamics, products_most, unknowns);
}
