/* quasi_energy.c — the energy h* in the free velocities of the constraints, its rate, and the terms of the rate.
 *
 * The free velocities u satisfy q' = Γ(q, t) u + σ(q, t). L* is the Lagrangian in terms of u.
 *
 *   h* = u·∂L* / ∂u − L* = p·(q' − σ) − L                                            Greenwood 4.369, Talamucci (18)
 *   dh* / dt = Q·(q' − σ) − ∂L/∂t − σ·∂L/∂q − p·dσ/dt                                Greenwood 4.380
 *
 * p = ∂L/∂q' are the momenta. Q are the forces without a potential, prescribed reactions and friction. Reactions of
 * ideal constraints do not contribute; reactions of servo-constraints do. For the kinetic energy T of a particle with
 * velocity v and mass m, −∂T/∂t − σ·∂T/∂q − ∂T/∂q'·dσ/dt is Greenwood's −m v·dγ_t/dt, where γ_t is v at u = 0.
 *
 * Of the kinematics, only the drift σ occurs in the two formulas. Two coordinates are connected if a constraint or a
 * quasi-velocity contains both. σ_i is 0 unless q_i is connected, directly or through other coordinates, to an
 * acatastatic constraint or an inhomogeneous quasi-velocity. For these connected coordinates, the constraints and
 * quasi-velocities u = 0 must determine q'. Otherwise an error is reported, because the description does not state
 * which velocities are free. */
#include "engine/mechanics/energy_rate.h"

#include "engine/algebra/eliminate.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <string.h>

/* Work budget for solving for the drift, about 80 times the 12,152 units that talamucci_3_4_driven_unicycle takes. */
enum { DRIFT_WORK = 1000000 };

typedef struct drift_rows {
    const hamel_equations *e;
    graph_node *rows; /* rows[count * (n + 1)]: coefficients of q', then the right-hand side; constraints first */
    size_t count, constraints;
    bool *joined; /* joined[count]: the row is, or is connected to, a row with a right-hand side that is not 0 */
    bool *moves;  /* moves[n]: the coordinate occurs in a joined row */
} drift_rows;

static graph_node refuse(const hamel_equations *e, const char *pointer, const char *why) {
    (void)hamel_fail(e->system->error, HAMEL_INVALID, pointer, 0, "the energy of quasi-velocities is undefined: %s",
                     why);
    hamel_suggest(e->system->error, "use jacobi_integral() and energy_rate()");
    return GRAPH_NONE;
}

/* Adds a row with the coefficients of the velocity form f. Returns false if f is not linear in the velocities, or if a
 * node cannot be created (graph_status). */
static bool add_row(drift_rows *d, graph_node f, const graph_node *zeros) {
    hamel_system *s = d->e->system;
    graph *g = s->graph;
    size_t n = d->e->n;
    graph_node *row = d->rows + d->count++ * (n + 1);
    int32_t *list;
    size_t support = node_support(s, f, SYMBOL_VELOCITY, &list);
    for (size_t i = 0; i < n; i++) row[i] = graph_number(g, 0);
    row[n] = graph_neg(g, graph_substitute(g, f, SYMBOL_VELOCITY, zeros, n));
    for (size_t k = 0; k < support; k++) {
        row[list[k]] = graph_partial(g, f, s->v[list[k]]);
        if (graph_depends(g, row[list[k]]) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false;
    }
    return graph_status(g) == HAMEL_OK;
}

/* Returns the reason why h* is undefined for the constraints. Returns NULL if events do not change the constraints and
 * no constraint contains accelerations. If a reason is returned, *pointer is the JSON pointer of the event or
 * constraint. */
static const char *find_obstacle(const hamel_equations *e, const char **pointer) {
    const hamel_system *s = e->system;
    for (size_t k = 0; k < s->event_count; k++) {
        *pointer = s->events[k].pointer;
        if (s->events[k].activate_count + s->events[k].deactivate_count > 0) return "an event changes the constraints";
    }
    for (size_t c = 0; c < s->standing_count; c++) {
        *pointer = s->constraints[c].pointer;
        if (s->constraints[c].order == CONSTRAINT_ACCELERATION)
            return arena_format(s->memory, "the constraint `%s` contains accelerations", s->constraints[c].name);
    }
    return NULL;
}

/* Fills d->rows from the constraints and quasi-velocities, and allocates the other arrays of `d`. Returns false after
 * adding an error, or if out of memory. */
static bool collect_rows(drift_rows *d) {
    hamel_system *s = d->e->system;
    size_t n = d->e->n, most = d->e->m + s->quasi_count;
    const char *pointer = "", *why = find_obstacle(d->e, &pointer);
    if (why) return refuse(d->e, pointer, why) >= 0;
    const graph_node *zeros = node_array(s, n);
    d->rows = node_array(s, most * (n + 1));
    d->joined = arena_alloc(s->memory, most, sizeof *d->joined);
    d->moves = arena_alloc(s->memory, n, sizeof *d->moves);
    if (!zeros || !d->rows || !d->joined || !d->moves) return false;
    for (size_t c = 0; c < s->standing_count; c++)
        if (!add_row(d, d->e->velocity[c], zeros))
            return refuse(d->e, s->constraints[c].pointer,
                          arena_format(s->memory, "the constraint `%s` is not linear in the velocities",
                                       s->constraints[c].name)) >= 0;
    d->constraints = d->count;
    for (size_t k = 0; k < s->quasi_count; k++)
        if (!add_row(d, s->quasi[k].definition, zeros)) return false;
    return true;
}

/* Sets d->joined and d->moves. */
static void join_rows(drift_rows *d) {
    graph *g = d->e->system->graph;
    size_t n = d->e->n;
    for (bool more = true; more;) {
        more = false;
        for (size_t r = 0; r < d->count; r++) {
            const graph_node *row = d->rows + r * (n + 1);
            bool joined = !graph_is_zero(g, row[n]);
            for (size_t i = 0; i < n && !joined; i++) joined = d->moves[i] && !graph_is_zero(g, row[i]);
            if (!joined || d->joined[r]) continue;
            more = d->joined[r] = true;
            for (size_t i = 0; i < n; i++) d->moves[i] |= !graph_is_zero(g, row[i]);
        }
    }
}

/* Solves the joined rows among first, ..., last − 1 for velocities. Appends the solved rows to `solved` and their
 * pivots to `pivots`, and increases *count. Omits redundant rows. Returns false after adding an error, or if out of
 * memory. */
static bool solve_rows(const drift_rows *d, size_t first, size_t last, const graph_point *near, graph_node *solved,
                       int *pivots, size_t *count) {
    hamel_system *s = d->e->system;
    graph *g = s->graph;
    size_t n = d->e->n, width = n + 1, rows = 0;
    graph_node *table = solved + *count * width;
    work_budget work = {.left = DRIFT_WORK};
    for (size_t r = first; r < last; r++) {
        graph_node *row = table + rows * width;
        if (!d->joined[r]) continue;
        memcpy(row, d->rows + r * width, width * sizeof *row);
        for (size_t k = 0; k < *count; k++) {
            graph_node factor = row[pivots[k]];
            for (size_t j = 0; j <= n; j++) row[j] = graph_sub(g, row[j], graph_mul(g, factor, solved[k * width + j]));
        }
        rows++;
    }
    size_t rank; /* bounds the number of pivots; further pivots are 0 on the constraints */
    int *own = arena_alloc(s->memory, rows, sizeof *own);
    if (!own || !table_rank(g, table, rows, n, near, &rank, s->memory)) return false;
    if (!eliminate_within(g, table, rows, n, near, own, rank, &work, s->memory)) return false;
    if (!is_eliminated(g, table, rows, n, own))
        return refuse(d->e, "/constraints", "constraints are redundant at the initial state, but not everywhere") >= 0;
    size_t kept = 0;
    for (size_t r = 0; r < rows; r++) {
        if (own[r] < 0) continue;
        memmove(table + kept * width, table + r * width, width * sizeof *table);
        pivots[*count + kept++] = own[r];
    }
    *count += kept;
    return true;
}

/* Eliminates the pivots of later rows from earlier rows. If each joined coordinate is a pivot, the right-hand side of
 * each row is then the drift of its pivot. */
static void substitute_back(const drift_rows *d, graph_node *solved, const int *pivots, size_t count) {
    graph *g = d->e->system->graph;
    size_t n = d->e->n, width = n + 1;
    for (size_t k = 0; k < count; k++)
        for (size_t l = k + 1; l < count; l++) {
            graph_node factor = solved[k * width + (size_t)pivots[l]];
            if (graph_is_zero(g, factor)) continue;
            for (size_t j = 0; j <= n; j++)
                solved[k * width + j] =
                    graph_sub(g, solved[k * width + j], graph_mul(g, factor, solved[l * width + j]));
        }
}

/* Fills *near with the specified initial coordinates and the parameters. Pivots are compared at this point. Returns
 * false if out of memory. */
static bool find_start(hamel_system *s, graph_point *near) {
    double *q = arena_doubles(s->memory, s->coordinate_count);
    double *parameters = arena_doubles(s->memory, s->parameter_count);
    if (!q || !parameters) return false;
    for (size_t i = 0; i < s->coordinate_count; i++) q[i] = s->coordinates[i].initial;
    for (size_t i = 0; i < s->parameter_count; i++)
        if (!binder_number(s, s->parameter_nodes[i], &parameters[i])) parameters[i] = 0;
    *near = (graph_point){0};
    near->values[SYMBOL_PARAMETER] = parameters;
    near->values[SYMBOL_COORDINATE] = q;
    return true;
}

/* Returns the drift σ[n] in the system's memory, or NULL after adding an error or if out of memory. */
static graph_node *find_drift(const hamel_equations *e) {
    hamel_system *s = e->system;
    size_t n = e->n, most = e->m + s->quasi_count, count = 0, moving = 0;
    drift_rows d = {.e = e};
    graph_point near;
    graph_node *solved = node_array(s, most * (n + 1)), *drift = node_array(s, n);
    int *pivots = arena_alloc(s->memory, most, sizeof *pivots);
    if (!solved || !drift || !pivots || !find_start(s, &near) || !collect_rows(&d)) return NULL;
    join_rows(&d);
    if (!solve_rows(&d, 0, d.constraints, &near, solved, pivots, &count) ||
        !solve_rows(&d, d.constraints, d.count, &near, solved, pivots, &count))
        return NULL;
    substitute_back(&d, solved, pivots, count);
    for (size_t i = 0; i < n; i++) moving += d.moves[i];
    if (count < moving) {
        (void)refuse(e, "/constraints", "several choices of free velocities are possible");
        hamel_suggest(s->error, "declare the free velocities in quasi_velocities");
        return NULL;
    }
    for (size_t k = 0; k < count; k++) drift[pivots[k]] = solved[k * (n + 1) + n];
    return graph_status(s->graph) == HAMEL_OK ? drift : NULL;
}

graph_node quasi_energy(const hamel_equations *e) {
    graph *g = e->system->graph;
    if (energies_need_momentum(e, 0, "energy of quasi-velocities") < 0) return GRAPH_NONE;
    const graph_node *drift = find_drift(e);
    graph_node sum = e->jacobi;
    for (size_t i = 0; drift && i < e->n; i++) sum = graph_sub(g, sum, graph_mul(g, e->momentum[i], drift[i]));
    return drift ? sum : GRAPH_NONE;
}

/* Returns ∂X/∂t + σ·∂X/∂q + ∂X/∂q'·dσ/dt for one term X of L and the drift σ = drift[n]. */
static graph_node drift_rate(const hamel_equations *e, graph_node term, const graph_node *drift) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node sum = graph_partial(g, term, graph_symbol(g, SYMBOL_TIME, 0));
    int32_t *list;
    size_t count = node_support(s, term, SYMBOL_COORDINATE, &list);
    for (size_t k = 0; k < count; k++)
        if (!graph_is_zero(g, drift[list[k]]))
            sum = graph_add(g, sum, graph_mul(g, graph_partial(g, term, s->q[list[k]]), drift[list[k]]));
    count = node_support(s, term, SYMBOL_VELOCITY, &list);
    for (size_t k = 0; k < count; k++)
        if (!graph_is_zero(g, drift[list[k]]))
            sum = graph_add(g, sum, graph_mul(g, graph_partial(g, term, s->v[list[k]]), graph_rate(g, drift[list[k]])));
    return sum;
}

graph_node quasi_energy_term(const hamel_equations *e, bool of_potential, const graph_node *drift) {
    hamel_system *s = e->system;
    size_t count;
    const graph_node *terms = energies_lagrangian_terms(s, &count);
    graph_node sum = graph_number(s->graph, 0);
    if (!terms) return GRAPH_NONE;
    size_t first = count - s->potential_count;
    for (size_t k = of_potential ? first : 0; k < (of_potential ? count : first); k++)
        sum = graph_sub(s->graph, sum, drift_rate(e, terms[k], drift));
    return sum;
}

static graph_node rate_term(const hamel_equations *e, energy_term term, const graph_node *drift, const graph_node *x) {
    if (term == ENERGY_POTENTIAL || term == ENERGY_INERTIA)
        return quasi_energy_term(e, term == ENERGY_POTENTIAL, drift);
    return term == ENERGY_REACTIONS ? energy_servo_power(e, x) : energy_power(e, term, x);
}

graph_node quasi_energy_rate(const hamel_equations *e, int32_t term) {
    static const energy_term all[] = {ENERGY_IMPRESSED, ENERGY_DISSIPATION, ENERGY_POTENTIAL, ENERGY_INERTIA,
                                      ENERGY_REACTIONS, ENERGY_NONIDEAL,    ENERGY_FRICTION};
    hamel_system *s = e->system;
    if (energies_need_momentum(e, 0, "energy of quasi-velocities") < 0) return GRAPH_NONE;
    const graph_node *drift = find_drift(e);
    graph_node *x = node_array(s, e->n), sum = graph_number(s->graph, 0);
    if (!drift || !x) return GRAPH_NONE;
    for (size_t i = 0; i < e->n; i++) x[i] = graph_sub(s->graph, s->v[i], drift[i]);
    if (term < ENERGY_TERMS) return rate_term(e, (energy_term)term, drift, x);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        sum = graph_add(s->graph, sum, rate_term(e, all[k], drift, x));
    return sum;
}
