/* quasi_velocities.c — writes equations without reactions, in as many velocities as there are degrees of freedom.
 *
 * The constraints on velocities and the definitions of the quasi-velocities are solved for q' = Φ u + Φ_t by
 * elimination. With E_i = d/dt ∂L/∂q'_i − ∂L/∂q_i − Q_i the equations are Σ_i Φ_ir E_i = 0 (Maggi; Greenwood 4.8,
 * Papastavridis 3.5.24). Maggi's equations contain q''. The other formulations substitute q'' = d/dt (Φ u + Φ_t) and
 * derive the same equations differently: Kane (Greenwood 4.297), Gibbs–Appell with S (4.283), Boltzmann–Hamel with γ
 * (4.383).
 *
 * These formulations eliminate the multipliers, which a second set of equations contains: the kinetostatic equations
 * (Papastavridis 3.5.22a for Maggi, c for Appell, d for Hamel). Kane's method has none. Each constraint f_c = 0 is
 * relaxed to f_c = ω_c with a dependent quasi-velocity ω_c. The velocities are then solved for only once, q' = Φ u + Ψ
 * ω + Φ_t. Since E_i = Σ_c λ_c ∂f_c/∂q'_i and Σ_i (∂f_c/∂q'_i) Ψ_id = δ_cd, the multipliers are λ_c = Σ_i Ψ_ic E_i at ω
 * = 0. The quasi-velocities ω may be set to 0 before the derivation, because E contains the unconstrained kinetic
 * energy. */
#include "engine/equations/freedoms.h"

#include "engine/algebra/eliminate.h"
#include "engine/mechanics/formulation.h"
#include "engine/system/binder.h"

#include <assert.h>
#include <string.h>

/* Returns the number of velocities that may occur in the constraints. Quasi-velocities of the description are not
 * counted, because a later step solves for them. */
static size_t all_velocities(const written *w, const freedoms *f) {
    return w->n + (w->system->quasi_count > 0 ? 0 : f->quasi_count);
}

/* Fills the row of each active constraint in `table`. The row of a constraint that used[] marks remains zero, because
 * the quasi-velocities along its free directions already satisfy the constraint. */
static bool fill_constraints(written *w, const freedoms *f, const bool *used, graph_node *table) {
    graph *g = w->system->graph;
    size_t count = all_velocities(w, f);
    graph_node zero = graph_number(g, 0), *rest = node_array(w->system, count);
    if (!rest) return false;
    for (size_t k = 0; k < w->m * (count + 1); k++) table[k] = zero;
    for (size_t c = 0; c < w->m; c++) {
        graph_node constraint = w->equations.velocity[c];
        if (!w->acts[c] || used[c]) continue; /* the row remains zero */
        if (constraint < 0)
            return written_cannot(w, "a constraint on accelerations does not determine velocities",
                                  WRITTEN_BY_LAGRANGE);
        constraint = graph_substitute(g, constraint, SYMBOL_VELOCITY, f->velocity, count);
        if (!written_row(w, table + c * (count + 1), constraint, w->excess[c], rest, count))
            return written_cannot(w, "a constraint is not linear in the velocities and cannot be solved for them",
                                  WRITTEN_BY_LAGRANGE);
    }
    return true;
}

/* Lists the quasi-velocities of the description. If the description has no quasi-velocities, lists quasi-velocities
 * along the directions of its constraints. */
static bool list_quasi(written *w, freedoms *f, bool *used) {
    const hamel_system *s = w->system;
    written_directions d = {.quasi = f->quasi, .velocity = f->velocity, .used = used};
    for (size_t k = 0; k < s->quasi_count; k++)
        f->quasi[f->quasi_count++] = (quasi_velocity){s->quasi[k].name, s->quasi[k].definition};
    if (s->quasi_count > 0) return true;
    bool done = written_find_directions(w, &d);
    f->quasi_count = d.count;
    return done;
}

/* In one row, replaces the velocities that the constraints determine by their expressions in `table`. */
static void substitute_pivots(written *w, graph_node *row, const graph_node *table, const int *pivots) {
    graph *g = w->system->graph;
    for (size_t c = 0; c < w->m; c++) {
        if (pivots[c] < 0 || graph_is_zero(g, row[pivots[c]])) continue;
        const graph_node *solved = table + c * (w->n + 1);
        graph_node factor = row[pivots[c]];
        for (size_t j = 0; j <= w->n; j++) {
            bool pivot = (int)j == pivots[c];
            row[j] = pivot ? graph_number(g, 0) : graph_sub(g, row[j], graph_mul(g, factor, solved[j]));
        }
    }
}

/* Reads the solution of an eliminated table, that is, the velocities with a pivot in terms of the velocities without
 * one. */
static void read_solution(written *w, freedoms *f, const graph_node *table, const int *pivots, size_t rows) {
    graph *g = w->system->graph;
    size_t count = all_velocities(w, f);
    for (size_t r = 0; r < rows; r++) {
        const graph_node *row = table + r * (count + 1);
        if (pivots[r] < 0) continue;
        graph_node sum = row[count];
        for (size_t j = 0; j < count; j++) {
            graph_node velocity = graph_symbol(g, SYMBOL_VELOCITY, (int32_t)j);
            if ((int)j != pivots[r]) sum = graph_sub(g, sum, graph_mul(g, row[j], velocity));
        }
        f->velocity[pivots[r]] = sum;
    }
}

/* Finds the multipliers that the equations determine. A row without a pivot is a relation Σ_c N_c ω_c = 0 between the
 * constraints, and the multipliers with N_c ≠ 0 are not unique. */
static void find_unique(written *w, freedoms *f, const graph_node *table, const int *pivots) {
    graph *g = w->system->graph;
    size_t count = all_velocities(w, f);
    for (size_t c = 0; c < w->m; c++) {
        f->unique[c] = f->reactions && w->acts[c];
        for (size_t r = 0; r < w->m && f->unique[c]; r++)
            f->unique[c] =
                pivots[r] >= 0 || graph_is_zero(g, graph_partial(g, table[r * (count + 1) + count], w->excess[c]));
    }
}

static void add_free(freedoms *f, graph_node velocity, const char *name) {
    f->symbol[f->count] = velocity;
    f->name[f->count++] = name;
}

/* Solves for velocities in terms of those quasi-velocities of the description that the constraints leave free. */
static bool solve_quasi(written *w, freedoms *f, const graph_node *constraints, const int *constraint_pivots) {
    hamel_system *s = w->system;
    size_t count = f->quasi_count, width = w->n + 1;
    graph_node *table = arena_alloc(w->memory, count * width, sizeof *table);
    int *pivots = arena_alloc(w->memory, count, sizeof *pivots);
    graph_node *rest = node_array(s, w->n);
    if (!table || !pivots || !rest) return false;
    for (size_t k = 0; k < count; k++) {
        int32_t index = written_symbol(w, f->quasi[k].name);
        if (index < 0) return false;
        graph_node u = graph_symbol(s->graph, SYMBOL_VELOCITY, index);
        if (!written_row(w, table + k * width, f->quasi[k].definition, u, rest, w->n)) return false;
        substitute_pivots(w, table + k * width, constraints, constraint_pivots);
    }
    if (!written_eliminate(w, table, count, w->n, NULL, count, pivots, NULL)) return false;
    for (size_t k = 0; k < count; k++) {
        if (pivots[k] < 0) continue; /* determined by the constraints or by other quasi-velocities */
        add_free(f, graph_symbol(s->graph, SYMBOL_VELOCITY, (int32_t)(w->n + k)), f->quasi[k].name);
    }
    read_solution(w, f, table, pivots, count);
    return true;
}

/* The expression of a velocity that has been solved for may contain other such velocities. Substitutes their
 * expressions until only free velocities remain. Divisors of intermediate steps then cancel. */
static void close_velocities(written *w, freedoms *f) {
    graph *g = w->system->graph;
    size_t count = all_velocities(w, f);
    for (size_t i = 0; i < count; i++)
        if (f->velocity[i] >= 0)
            f->velocity[i] =
                written_arranged(w, graph_substitute(g, f->velocity[i], SYMBOL_VELOCITY, f->velocity, count));
}

/* Lists the velocities that remain free. Quasi-velocities along the free directions of constraints are listed first,
 * followed by velocities of coordinates. */
static void list_free(written *w, freedoms *f) {
    graph *g = w->system->graph;
    for (size_t k = w->n; k < all_velocities(w, f); k++)
        if (f->velocity[k] < 0) add_free(f, graph_symbol(g, SYMBOL_VELOCITY, (int32_t)k), f->quasi[k - w->n].name);
    for (size_t i = 0; i < w->n; i++)
        if (f->velocity[i] < 0)
            add_free(f, w->system->v[i], arena_format(w->memory, "%s'", w->system->coordinates[i].name));
}

/* Lists the functions of the holonomic constraints that act. These functions are 0 along the motion, and the equations
 * contain no reactions, so terms with such a function as a factor may be omitted. */
static bool use_positions(written *w) {
    w->zero = arena_alloc(w->memory, w->m, sizeof *w->zero);
    for (size_t c = 0; w->zero && c < w->m; c++)
        if (w->acts[c] && w->system->constraints[c].order == CONSTRAINT_HOLONOMIC)
            w->zero[w->zero_count++] = w->system->constraints[c].equation;
    return w->zero != NULL;
}

/* Creates the quasi-velocities ω if the multipliers are to be written. Their indices follow those of all other
 * velocities. */
static bool relax_constraints(written *w, const freedoms *f, size_t velocities) {
    graph *g = w->system->graph;
    w->excess = node_array(w->system, w->m);
    for (size_t c = 0; w->excess && f->reactions && c < w->m; c++)
        if (w->acts[c]) w->excess[c] = graph_symbol(g, SYMBOL_VELOCITY, (int32_t)(velocities + c));
    return w->excess != NULL;
}

/* Moves the velocities with the terms in ω to `relaxed`, and sets ω to 0 in `velocity`. */
static bool restore_constraints(written *w, freedoms *f) {
    graph *g = w->system->graph;
    size_t velocities = w->n + w->m + w->system->quasi_count;
    graph_node *rest = node_array(w->system, velocities + w->m);
    for (size_t k = 0; rest && k < velocities; k++) rest[k] = GRAPH_NONE;
    for (size_t i = 0; rest && i < velocities; i++) {
        if (i < w->n) f->relaxed[i] = f->velocity[i] < 0 ? w->system->v[i] : f->velocity[i];
        if (f->velocity[i] >= 0 && f->reactions)
            f->velocity[i] =
                written_arranged(w, graph_substitute(g, f->velocity[i], SYMBOL_VELOCITY, rest, velocities + w->m));
    }
    return rest != NULL;
}

static bool allocate_freedoms(written *w, freedoms *f) {
    size_t most = w->m + w->system->quasi_count;
    f->relaxed = arena_alloc(w->memory, w->n, sizeof *f->relaxed);
    f->unique = arena_alloc(w->memory, w->m, sizeof *f->unique);
    f->velocity = arena_alloc(w->memory, w->n + most, sizeof *f->velocity);
    f->acceleration = arena_alloc(w->memory, w->n, sizeof *f->acceleration);
    f->solved_from = arena_alloc(w->memory, w->n, sizeof *f->solved_from);
    f->quasi = arena_alloc(w->memory, most, sizeof *f->quasi);
    f->symbol = arena_alloc(w->memory, w->n + most, sizeof *f->symbol);
    f->name = arena_alloc(w->memory, w->n + most, sizeof *f->name);
    if (!f->solved_from || !f->quasi || !f->velocity || !f->acceleration || !f->symbol || !f->name) return false;
    for (size_t i = 0; i < w->n + most; i++) f->velocity[i] = GRAPH_NONE;
    return f->relaxed && f->unique && relax_constraints(w, f, w->n + most);
}

bool freedoms_solve(written *w, freedoms *f) {
    graph *g = w->system->graph;
    bool *used = arena_alloc(w->memory, w->m, sizeof *used);
    int *pivots = arena_alloc(w->memory, w->m, sizeof *pivots);
    if (!used || !pivots || !allocate_freedoms(w, f) || !use_positions(w)) return false;
    if (!f->in_coordinates && !list_quasi(w, f, used)) return false;
    size_t count = all_velocities(w, f);
    graph_node *table = arena_alloc(w->memory, w->m * (count + 1), sizeof *table);
    if (!table || !fill_constraints(w, f, used, table)) return false;
    size_t rank;
    if (!table_rank(g, table, w->m, count, &w->start, &rank, w->memory)) return false;
    if (!written_eliminate(w, table, w->m, count, f->preferred, rank,
                           pivots, /* further pivots vanish on the constraints */
                           "some constraints are redundant at the initial state, but not everywhere"))
        return false;
    read_solution(w, f, table, pivots, w->m);
    for (size_t c = 0; c < w->m; c++)
        if (pivots[c] >= 0 && (size_t)pivots[c] < w->n) f->solved_from[pivots[c]] = w->system->constraints[c].name;
    if (!f->in_coordinates && w->system->quasi_count > 0 && !solve_quasi(w, f, table, pivots)) return false;
    find_unique(w, f, table, pivots);
    close_velocities(w, f);
    if (!restore_constraints(w, f)) return false;
    list_free(w, f);
    written_accelerations(w, f->velocity, f->acceleration);
    return graph_status(g) == HAMEL_OK;
}

graph_node freedoms_substitute(written *w, const freedoms *f, graph_node node) {
    graph *g = w->system->graph;
    node = graph_substitute(g, node, SYMBOL_ACCELERATION, f->acceleration, w->n);
    return graph_substitute(g, node, SYMBOL_VELOCITY, f->velocity, w->n);
}

static graph_node velocity_of(const written *w, const freedoms *f, size_t i) {
    return f->velocity[i] >= 0 ? f->velocity[i] : w->system->v[i];
}

graph_node freedoms_project(written *w, const freedoms *f, graph_node u, graph_node (*x)(written *, size_t)) {
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < w->n; i++) {
        graph_node phi = graph_partial(g, f->relaxed[i], u);
        if (!graph_is_zero(g, phi)) sum = graph_add(g, sum, graph_mul(g, phi, x(w, i)));
    }
    return sum;
}

static bool is_chosen(const written *w, const freedoms *f, size_t k) {
    return w->system->quasi_count == 0 && f->velocity[w->n + k] < 0;
}

/* Writes the definitions of the quasi-velocities along the free directions of constraints, which the description does
 * not contain. */
static bool chosen_velocities(written *w, const freedoms *f) {
    if (w->system->quasi_count > 0 || f->quasi_count == 0) return true;
    written_begin(w, "velocities along the directions of constraints");
    for (size_t k = 0; k < f->quasi_count; k++)
        if (is_chosen(w, f, k) && !written_definition(w, f->quasi[k].name, f->quasi[k].definition)) return false;
    return true;
}

bool freedoms_kinematics(written *w, const freedoms *f) {
    written_begin(w, "kinematics: q' in terms of the free velocities");
    return written_velocities(w, f->velocity);
}

static bool motion(written *w, const freedoms *f, bool eliminated) {
    written_begin(w, eliminated ? "motion: one equation for each free velocity"
                                : "motion: Lagrange's equations, projected onto the free velocities");
    for (size_t r = 0; r < f->count; r++) {
        graph_node left = freedoms_project(w, f, f->symbol[r], written_inertia);
        graph_node right = freedoms_project(w, f, f->symbol[r], written_force);
        if (eliminated) left = freedoms_substitute(w, f, left);
        if (eliminated) right = freedoms_substitute(w, f, right);
        if (!written_equation(w, f->name[r], left, right)) return false;
    }
    return true;
}

/* Returns Σ_ik (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) x_k Φ_ir for the row Ψ_j of a velocity form. */
static graph_node contract_curl(written *w, const freedoms *f, graph_node form, size_t r, const graph_node *x) {
    graph *g = w->system->graph;
    const graph_node *q = w->system->q, *v = w->system->v;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < w->n; i++) {
        graph_node phi = graph_partial(g, velocity_of(w, f, i), f->symbol[r]), row = graph_partial(g, form, v[i]);
        for (size_t k = 0; k < w->n && !graph_is_zero(g, phi); k++) {
            graph_node curl =
                graph_sub(g, graph_partial(g, row, q[k]), graph_partial(g, graph_partial(g, form, v[k]), q[i]));
            sum = graph_add(g, sum, graph_mul(g, curl, graph_mul(g, x[k], phi)));
        }
    }
    return sum;
}

/* Returns Σ_i (∂Ψ_ji/∂t − ∂Ψ_jt/∂q_i) Φ_ir. */
static graph_node contract_time(written *w, const freedoms *f, graph_node form, size_t r, const graph_node *rest) {
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0), time = graph_symbol(g, SYMBOL_TIME, 0);
    graph_node still = graph_substitute(g, form, SYMBOL_VELOCITY, rest, w->n);
    for (size_t i = 0; i < w->n; i++) {
        graph_node rate = graph_partial(g, graph_partial(g, form, w->system->v[i]), time);
        graph_node slope = graph_sub(g, rate, graph_partial(g, still, w->system->q[i]));
        sum = graph_add(g, sum, graph_mul(g, slope, graph_partial(g, velocity_of(w, f, i), f->symbol[r])));
    }
    return sum;
}

graph_node freedoms_commutator(written *w, const freedoms *f, graph_node form, size_t r) {
    size_t most = w->n + w->extra_count;
    graph_node *x = arena_alloc(w->memory, w->n, sizeof *x), *rest = node_array(w->system, most);
    if (!x || !rest) return GRAPH_NONE;
    for (size_t k = 0; k < w->n; k++) x[k] = velocity_of(w, f, k);
    return graph_add(w->system->graph, contract_curl(w, f, form, r, x), contract_time(w, f, form, r, rest));
}

/* Writes γ^j_rs with x_k = Φ_ks, and γ^j_r with x_k = Φ_kt and the derivatives with respect to time (Greenwood
 * 4.383). */
static bool coefficients_of(written *w, const freedoms *f, const char *name, graph_node form) {
    graph *g = w->system->graph;
    size_t most = w->n + w->extra_count;
    graph_node *x = arena_alloc(w->memory, w->n, sizeof *x), *rest = node_array(w->system, most);
    if (!x || !rest) return false;
    for (size_t r = 0; r < f->count; r++) {
        for (size_t s = r + 1; s < f->count; s++) {
            const char *const index[3] = {name, f->name[r], f->name[s]};
            for (size_t k = 0; k < w->n; k++) x[k] = graph_partial(g, velocity_of(w, f, k), f->symbol[s]);
            if (!written_upright_entry(w, "gamma", index, contract_curl(w, f, form, r, x))) return false;
        }
        const char *const index[3] = {name, f->name[r], "t"};
        for (size_t k = 0; k < w->n; k++) x[k] = graph_substitute(g, velocity_of(w, f, k), SYMBOL_VELOCITY, rest, most);
        graph_node sum = graph_add(g, contract_curl(w, f, form, r, x), contract_time(w, f, form, r, rest));
        if (!written_upright_entry(w, "gamma", index, sum)) return false;
    }
    return true;
}

bool freedoms_coefficients(written *w, const freedoms *f) {
    written_begin(w, "Hamel coefficients (antisymmetric in the lower indices; all others are 0)");
    for (size_t k = 0; k < f->quasi_count; k++)
        if ((w->system->quasi_count > 0 || is_chosen(w, f, k)) &&
            !coefficients_of(w, f, f->quasi[k].name, f->quasi[k].definition))
            return false;
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c] && !coefficients_of(w, f, w->system->constraints[c].name, w->equations.velocity[c]))
            return false;
    return true;
}

/* Returns λ_c = Σ_i Ψ_ic E_i. If forces depend on reactions, the expression contains multipliers. */
static graph_node multiplier_of(written *w, const freedoms *f, size_t c, bool eliminated) {
    graph_node node = graph_sub(w->system->graph, freedoms_project(w, f, w->excess[c], written_inertia),
                                freedoms_project(w, f, w->excess[c], written_force));
    return eliminated ? freedoms_substitute(w, f, node) : node;
}

/* Returns the title of the reactions, with the constraints whose multipliers are not unique. */
static const char *title_of_reactions(written *w, const freedoms *f) {
    const char *names = "";
    for (size_t c = 0; c < w->m && names; c++)
        if (w->acts[c] && !f->unique[c])
            names = arena_format(w->memory, "%s%s%s", names, *names ? ", " : "", w->system->constraints[c].name);
    if (!names || !*names) return names ? "reactions: one equation for each multiplier" : NULL;
    return arena_format(w->memory, "reactions: one equation for each multiplier, except for redundant constraints: %s",
                        names);
}

bool freedoms_reactions(written *w, const freedoms *f, bool eliminated) {
    const char *title = title_of_reactions(w, f);
    if (!f->reactions || w->acting == 0 || !title) return title != NULL;
    written_begin(w, title);
    w->parts[w->part_count - 1].keeps_title = true; /* the title names redundant constraints */
    for (size_t c = 0; c < w->m; c++)
        if (f->unique[c] && !written_multiplier(w, c, multiplier_of(w, f, c, eliminated))) return false;
    return true;
}

static bool acceleration_energy(written *w, const freedoms *f) {
    graph_node S = energies_acceleration(&w->equations);
    if (S < 0) return false;
    written_begin(w, "acceleration energy (terms without accelerations are omitted)");
    graph *g = w->system->graph;
    graph_node whole = freedoms_substitute(w, f, S);
    size_t most = w->n + w->extra_count;
    const graph_node *zeros = node_array(w->system, most);
    if (!zeros) return false;
    graph_node bias = graph_substitute(g, whole, SYMBOL_ACCELERATION, zeros, most);
    return written_definition(w, "S", graph_sub(g, whole, bias));
}

/* Adds the multipliers to the unknowns, because forces depend on reactions. u' and λ together solve Lagrange's n
 * equations with q'' = d/dt (Φ u + Φ_t). If the constraints are independent, there are n − count multipliers, so the
 * system is square. */
static bool solve_for_multipliers_too(written *w, const freedoms *f) {
    if (f->count + w->acting > w->n)
        return written_cannot(w, "forces depend on reactions, which redundant constraints do not determine",
                              WRITTEN_AS_TEXT);
    for (size_t i = 0; i < w->n; i++) w->residuals[i] = freedoms_substitute(w, f, w->equations.residual[i]);
    written_add_multipliers(w, f->count);
    return true;
}

/* Lists the divisors of the rates. Divisors that occur in the constraints or in the definitions of the quasi-velocities
 * belong to the description and are not listed. */
static bool find_divisors(written *w, const freedoms *f) {
    graph_node *given = arena_alloc(w->memory, w->m + f->quasi_count, sizeof *given);
    size_t count = 0;
    if (!given) return false;
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c]) given[count++] = w->equations.velocity[c];
    for (size_t k = 0; k < f->quasi_count; k++) given[count++] = f->quasi[k].definition;
    return written_find_divisors(w, given, count, f->solved_from);
}

/* Adds the expressions of the multipliers if all of them are unique. */
static bool add_multipliers(written *w, const freedoms *f) {
    w->multipliers = arena_alloc(w->memory, w->m, sizeof *w->multipliers);
    if (!w->multipliers) return false;
    for (size_t c = 0; c < w->m; c++)
        if (f->unique[c]) w->multipliers[w->multiplier_count++] = multiplier_of(w, f, c, true);
    if (w->multiplier_count < w->acting) w->multiplier_count = 0;
    return true;
}

bool freedoms_machine(written *w, const freedoms *f) {
    graph *g = w->system->graph;
    bool reactions = written_forces_depend_on_reactions(w);
    if (!written_machine(w, f->count, reactions ? w->n : f->count)) return false;
    for (size_t i = 0; i < w->n; i++) w->rates[i] = velocity_of(w, f, i);
    if (!find_divisors(w, f)) return false;
    for (size_t r = 0; r < f->count; r++) {
        int32_t index = graph_at(g, f->symbol[r])->as.index;
        w->w[r] = f->symbol[r];
        w->w_given[r] = (size_t)index < w->n ? f->symbol[r] : f->quasi[(size_t)index - w->n].definition;
        w->unknowns[r] = graph_symbol(g, SYMBOL_ACCELERATION, index);
        if (!reactions && f->equation)
            w->residuals[r] = f->equation[r];
        else if (!reactions)
            w->residuals[r] = freedoms_substitute(w, f,
                                                  graph_sub(g, freedoms_project(w, f, f->symbol[r], written_inertia),
                                                            freedoms_project(w, f, f->symbol[r], written_force)));
    }
    return reactions ? solve_for_multipliers_too(w, f) : add_multipliers(w, f);
}

/* Writes the equations of the forms motion, nielsen, tsenov and mangeron-deleanu. `as` is the name of the
 * formulation. */
static bool write_motion(written *w, freedoms *f, const char *as) {
    bool maggi = strcmp(as, "maggi") == 0, is_motion = w->form == HAMEL_FORM_MOTION;
    if (is_motion && strcmp(as, "gibbs-appell") == 0 && !acceleration_energy(w, f)) return false;
    if (is_motion && strcmp(as, "boltzmann-hamel") == 0 && !freedoms_coefficients(w, f)) return false;
    if (!motion(w, f, !maggi) || !freedoms_reactions(w, f, !maggi)) return false;
    w->zero_count = 0; /* otherwise the constraints themselves would be reduced to 0 = 0 */
    return (!maggi || written_constraints(w)) && (w->lines_read || freedoms_machine(w, f));
}

static bool write_rate(written *w, const freedoms *f, const char *as) {
    bool hamel = strcmp(as, "boltzmann-hamel") == 0;
    bool by_inertia = strcmp(as, "kane") == 0 || strcmp(as, "gibbs-appell") == 0;
    return (!hamel || freedoms_coefficients(w, f)) && write_quasi_energy_rate(w, f, by_inertia);
}

bool freedoms_write(written *w, freedoms *f, const char *as) {
    switch (w->form) {
    case HAMEL_FORM_ENERGY_RATE: return write_rate(w, f, as);
    case HAMEL_FORM_EXPLICIT: return write_restricted(w, f);
    case HAMEL_FORM_JOURDAIN: return write_jourdain_of(w, f);
    case HAMEL_FORM_CENTRAL: return write_central_of(w, f);
    default: return write_motion(w, f, as);
    }
}

bool write_quasi_velocities(written *w, const char *as) {
    bool maggi = strcmp(as, "maggi") == 0, kane = strcmp(as, "kane") == 0;
    bool parts = w->form == HAMEL_FORM_EXPLICIT || w->form == HAMEL_FORM_JOURDAIN || w->form == HAMEL_FORM_CENTRAL ||
                 w->form == HAMEL_FORM_ENERGY_RATE;
    bool relaxed = w->form == HAMEL_FORM_EXPLICIT || w->form == HAMEL_FORM_CENTRAL;
    freedoms f = {.reactions = relaxed || (!kane && !parts)};
    if (!freedoms_solve(w, &f) || !chosen_velocities(w, &f)) return false;
    if ((!maggi || parts) && !freedoms_kinematics(w, &f)) return false;
    return freedoms_write(w, &f, as);
}
