/* quasi_velocities.c — equations free of reactions, in as many velocities as there are freedoms.
 *
 * The constraints on velocities and the definitions of the quasi-velocities are solved for q' = Φ u + Φ_t by
 * elimination. With E_i = d/dt ∂L/∂q'_i − ∂L/∂q_i − Q_i the equations are Σ_i Φ_ir E_i = 0 (Maggi; Greenwood 4.8,
 * Papastavridis 3.5.24): in q'' for Maggi, and with q'' = d/dt (Φ u + Φ_t) put in for the others, which lead to the
 * same equations on other ways (Kane 4.297; Gibbs–Appell 4.283 with S; Boltzmann–Hamel 4.383 with γ). */
#include "engine/equations/written.h"

#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/mechanics/formulation.h"
#include "engine/system/binder.h"

#include <string.h>

/* A quasi-velocity: one of the description, or one chosen here. */
typedef struct quasi_velocity {
    const char *name;
    graph_node definition;
} quasi_velocity;

typedef struct freedoms {
    quasi_velocity *quasi; /* velocity n + k is the k-th */
    size_t quasi_count;
    graph_node *velocity, *acceleration; /* n: q' and q'' by the free ones; GRAPH_NONE: the coordinate's own is free */
    graph_node *symbol;                  /* of the free velocities, n at most */
    const char **name;
    size_t count;
} freedoms;

static graph_node *at_rest(written *w) {
    return node_array(w->system, w->n);
}

/* One row of a table: Σ ∂f/∂q'_j q'_j = right − f(q' = 0). */
static bool fill_row(written *w, graph_node *row, graph_node f, graph_node right, const graph_node *rest) {
    graph *g = w->system->graph;
    for (size_t j = 0; j < w->n; j++) {
        row[j] = graph_partial(g, f, w->system->v[j]);
        if (graph_depends(g, row[j]) & GRAPH_DEPENDS(SYMBOL_VELOCITY)) return false;
    }
    row[w->n] = graph_sub(g, right, graph_substitute(g, f, SYMBOL_VELOCITY, rest, w->n));
    return true;
}

static bool fill_constraints(written *w, graph_node *table, const graph_node *rest) {
    for (size_t k = 0; k < w->m * (w->n + 1); k++) table[k] = graph_number(w->system->graph, 0);
    for (size_t c = 0; c < w->m; c++) {
        graph_node f = w->equations.velocity[c];
        if (!w->acts[c]) continue; /* a row of zeros */
        if (f < 0)
            return written_cannot(w, "a constraint on accelerations leaves the velocities free",
                                  "write the equations with multipliers: --formulation lagrange");
        if (!fill_row(w, table + c * (w->n + 1), f, graph_number(w->system->graph, 0), rest))
            return written_cannot(w, "a constraint is not linear in the velocities and cannot be solved for them",
                                  "write the equations with multipliers: --formulation lagrange");
    }
    return true;
}

/* --- velocities along ----------------------------------------------------------------------------------------------------
 *
 * a q'_i + b q'_j + … = 0 with a² + b² = 1 says how fast something moves across a direction, as the blade of a sleigh
 * does. Solved for q'_i or q'_j it would be divided by what vanishes in some positions. In the velocity along the
 * direction, u = b q'_i − a q'_j, nothing is divided by, and the equations are those of the books (Neimark & Fufaev,
 * ch. 3; Baruh 4.7). */

/* Two coefficients of the row whose squares add up to 1, where none is constant; columns not taken already. */
static bool find_direction(written *w, const graph_node *row, const bool *taken, size_t *i, size_t *j) {
    graph *g = w->system->graph;
    const unsigned constant = GRAPH_DEPENDS(SYMBOL_PARAMETER);
    for (size_t k = 0; k < w->n; k++)
        if (!graph_is_zero(g, row[k]) && !(graph_depends(g, row[k]) & ~constant)) return false;
    for (*i = 0; *i < w->n; ++*i)
        for (*j = *i + 1; *j < w->n; ++*j) {
            if (taken[*i] || taken[*j] || graph_is_zero(g, row[*i]) || graph_is_zero(g, row[*j])) continue;
            graph_node squares = graph_add(g, graph_mul(g, row[*i], row[*i]), graph_mul(g, row[*j], row[*j]));
            double value;
            if (graph_is_number(g, arrange(g, squares, w->memory), &value) && value == 1) return true;
        }
    return false;
}

/* A name that the description leaves free; NULL without memory. */
static const char *name_along(written *w, const char *constraint) {
    const char *name = written_text(w, "v_%s", constraint);
    while (name && symbol_find(&w->system->binder->quantities, name, strlen(name)) >= 0)
        name = written_text(w, "v%s", name);
    return name;
}

/* Of a description without quasi-velocities, those along the directions of its constraints. */
static bool choose_quasi(written *w, freedoms *f, const graph_node *table) {
    graph *g = w->system->graph;
    bool *taken = arena_alloc(w->memory, w->n, sizeof *taken);
    if (!taken) return false;
    memset(taken, 0, w->n * sizeof *taken);
    for (size_t c = 0; c < w->m; c++) {
        const graph_node *row = table + c * (w->n + 1);
        size_t i, j;
        if (!w->acts[c] || !find_direction(w, row, taken, &i, &j)) continue;
        graph_node along = graph_sub(g, graph_mul(g, row[j], w->system->v[i]), graph_mul(g, row[i], w->system->v[j]));
        const char *name = name_along(w, w->system->constraints[c].name);
        if (!name) return false;
        f->quasi[f->quasi_count++] = (quasi_velocity){name, along};
        taken[i] = taken[j] = true;
    }
    return graph_status(g) == HAMEL_OK;
}

static bool list_quasi(written *w, freedoms *f, const graph_node *table) {
    const hamel_system *s = w->system;
    for (size_t k = 0; k < s->quasi_count; k++)
        f->quasi[f->quasi_count++] = (quasi_velocity){s->quasi[k].name, s->quasi[k].definition};
    return s->quasi_count > 0 || choose_quasi(w, f, table);
}

/* Puts the velocities that the constraints determine into a row. */
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

/* The velocities that a table has solved for, by those it has not. */
static bool read_solution(written *w, freedoms *f, const graph_node *table, const int *pivots, size_t rows) {
    graph *g = w->system->graph;
    for (size_t r = 0; r < rows; r++) {
        const graph_node *row = table + r * (w->n + 1);
        if (pivots[r] < 0) continue;
        graph_node sum = row[w->n];
        for (size_t j = 0; j < w->n; j++)
            if ((int)j != pivots[r]) sum = graph_sub(g, sum, graph_mul(g, row[j], w->system->v[j]));
        f->velocity[pivots[r]] = sum;
    }
    return true;
}

static void add_free(freedoms *f, graph_node velocity, const char *name) {
    f->symbol[f->count] = velocity;
    f->name[f->count++] = name;
}

/* Quasi-velocities that the constraints leave free become symbols; their rows are appended. */
static bool solve_quasi(written *w, freedoms *f, const graph_node *constraints, const int *constraint_pivots,
                        const graph_node *rest) {
    hamel_system *s = w->system;
    size_t count = f->quasi_count, width = w->n + 1;
    graph_node *table = arena_alloc(w->memory, count * width, sizeof *table);
    int *pivots = arena_alloc(w->memory, count, sizeof *pivots);
    if (!table || !pivots) return false;
    for (size_t k = 0; k < count; k++) {
        int32_t index = written_symbol(w, f->quasi[k].name);
        if (index < 0) return false;
        graph_node u = graph_symbol(s->graph, SYMBOL_VELOCITY, index);
        if (!fill_row(w, table + k * width, f->quasi[k].definition, u, rest)) return false;
        substitute_pivots(w, table + k * width, constraints, constraint_pivots);
    }
    if (!eliminate(s->graph, table, count, w->n, &w->start, pivots, w->memory)) return false;
    for (size_t k = 0; k < count; k++) {
        if (pivots[k] < 0) continue; /* determined by the constraints, or by the others */
        add_free(f, graph_symbol(s->graph, SYMBOL_VELOCITY, (int32_t)(w->n + k)), f->quasi[k].name);
    }
    return read_solution(w, f, table, pivots, count);
}

/* Velocities solved from the constraints may still contain some that the quasi-velocities determine. What was divided by
 * on the way cancels. */
static void close_velocities(written *w, freedoms *f) {
    graph *g = w->system->graph;
    for (size_t i = 0; i < w->n; i++)
        if (f->velocity[i] >= 0)
            f->velocity[i] =
                arrange(g, graph_substitute(g, f->velocity[i], SYMBOL_VELOCITY, f->velocity, w->n), w->memory);
}

static bool solve(written *w, freedoms *f) {
    hamel_system *s = w->system;
    graph_node *table = arena_alloc(w->memory, w->m * (w->n + 1), sizeof *table), *rest = at_rest(w);
    int *pivots = arena_alloc(w->memory, w->m, sizeof *pivots);
    f->velocity = arena_alloc(w->memory, w->n, sizeof *f->velocity);
    f->acceleration = arena_alloc(w->memory, w->n, sizeof *f->acceleration);
    f->quasi = arena_alloc(w->memory, w->m + s->quasi_count, sizeof *f->quasi);
    f->symbol = arena_alloc(w->memory, w->n + w->m + s->quasi_count, sizeof *f->symbol);
    f->name = arena_alloc(w->memory, w->n + w->m + s->quasi_count, sizeof *f->name);
    if (!f->quasi || !table || !rest || !pivots || !f->velocity || !f->acceleration || !f->symbol || !f->name)
        return false;
    for (size_t i = 0; i < w->n; i++) f->velocity[i] = f->acceleration[i] = GRAPH_NONE;
    if (!fill_constraints(w, table, rest) || !list_quasi(w, f, table) ||
        !eliminate(s->graph, table, w->m, w->n, &w->start, pivots, w->memory))
        return false;
    if (!read_solution(w, f, table, pivots, w->m)) return false;
    if (f->quasi_count > 0 && !solve_quasi(w, f, table, pivots, rest)) return false;
    for (size_t i = 0; i < w->n; i++) /* what nothing determines stays its own */
        if (f->velocity[i] < 0) add_free(f, s->v[i], written_text(w, "%s'", s->coordinates[i].name));
    close_velocities(w, f);
    for (size_t i = 0; i < w->n; i++)
        if (f->velocity[i] >= 0)
            f->acceleration[i] =
                graph_substitute(s->graph, graph_rate(s->graph, f->velocity[i]), SYMBOL_VELOCITY, f->velocity, w->n);
    return graph_status(s->graph) == HAMEL_OK;
}

/* An expression of (t, q, q', q'') in the free velocities and their rates. */
static graph_node in_free(written *w, const freedoms *f, graph_node node) {
    graph *g = w->system->graph;
    node = graph_substitute(g, node, SYMBOL_ACCELERATION, f->acceleration, w->n);
    return graph_substitute(g, node, SYMBOL_VELOCITY, f->velocity, w->n);
}

static graph_node velocity_of(const written *w, const freedoms *f, size_t i) {
    return f->velocity[i] >= 0 ? f->velocity[i] : w->system->v[i];
}

/* Σ_i Φ_ir x_i with Φ_ir = ∂q'_i/∂u_r */
static graph_node project(written *w, const freedoms *f, size_t r, graph_node (*x)(written *, size_t)) {
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < w->n; i++) {
        graph_node phi = graph_partial(g, velocity_of(w, f, i), f->symbol[r]);
        if (!graph_is_zero(g, phi)) sum = graph_add(g, sum, graph_mul(g, phi, x(w, i)));
    }
    return sum;
}

/* What the description does not say. */
static bool chosen_velocities(written *w, const freedoms *f) {
    if (w->system->quasi_count > 0 || f->quasi_count == 0) return true;
    written_begin(w, "velocities along the directions of constraints");
    for (size_t k = 0; k < f->quasi_count; k++)
        if (!written_definition(w, f->quasi[k].name, f->quasi[k].name, f->quasi[k].definition)) return false;
    return true;
}

static bool kinematics(written *w, const freedoms *f) {
    written_begin(w, "kinematics: q' by the free velocities");
    for (size_t i = 0; i < w->n; i++) {
        const char *name = w->system->coordinates[i].name, *rate = written_text(w, "%s'", name);
        if (f->velocity[i] >= 0 && (!rate || !written_definition(w, name, rate, f->velocity[i]))) return false;
    }
    return true;
}

static bool motion(written *w, const freedoms *f, bool eliminated) {
    written_begin(w, eliminated ? "motion: one equation for each free velocity"
                                : "motion: the equations of Lagrange, projected on the free velocities");
    for (size_t r = 0; r < f->count; r++) {
        graph_node left = project(w, f, r, written_inertia), right = project(w, f, r, written_force);
        if (eliminated) left = in_free(w, f, left);
        if (eliminated) right = in_free(w, f, right);
        if (!written_equation(w, f->name[r], left, right)) return false;
    }
    return true;
}

/* Σ_ik (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) x_k Φ_ir for the row Ψ_j of a velocity form. */
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

/* Σ_i (∂Ψ_ji/∂t − ∂Ψ_jt/∂q_i) Φ_ir */
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

/* γ^j_rs with x_k = Φ_ks, and γ^j_r with x_k = Φ_kt and the terms of time (Greenwood 4.383). */
static bool coefficients_of(written *w, const freedoms *f, const char *name, graph_node form) {
    graph *g = w->system->graph;
    size_t most = w->n + w->extra_count;
    graph_node *x = arena_alloc(w->memory, w->n, sizeof *x), *rest = node_array(w->system, most);
    if (!x || !rest) return false;
    for (size_t r = 0; r < f->count; r++) {
        for (size_t s = r + 1; s < f->count; s++) {
            const char *line = written_text(w, "gamma[%s; %s, %s]", name, f->name[r], f->name[s]);
            for (size_t k = 0; k < w->n; k++) x[k] = graph_partial(g, velocity_of(w, f, k), f->symbol[s]);
            if (!line || !written_definition(w, name, line, contract_curl(w, f, form, r, x))) return false;
        }
        const char *line = written_text(w, "gamma[%s; %s, t]", name, f->name[r]);
        for (size_t k = 0; k < w->n; k++) x[k] = graph_substitute(g, velocity_of(w, f, k), SYMBOL_VELOCITY, rest, most);
        graph_node sum = graph_add(g, contract_curl(w, f, form, r, x), contract_time(w, f, form, r, rest));
        if (!line || !written_definition(w, name, line, sum)) return false;
    }
    return true;
}

static bool hamel_coefficients(written *w, const freedoms *f) {
    written_begin(w, "Hamel coefficients (antisymmetric in the lower indices; those not listed are 0)");
    for (size_t k = 0; k < f->quasi_count; k++)
        if (!coefficients_of(w, f, f->quasi[k].name, f->quasi[k].definition)) return false;
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c] && !coefficients_of(w, f, w->system->constraints[c].name, w->equations.velocity[c]))
            return false;
    return true;
}

static bool acceleration_energy(written *w, const freedoms *f) {
    graph_node S = energies_acceleration(&w->equations);
    if (S < 0) return false;
    written_begin(w, "acceleration energy, up to terms without accelerations");
    graph *g = w->system->graph;
    graph_node whole = in_free(w, f, S);
    size_t most = w->n + w->extra_count;
    graph_node *zeros = arena_alloc(w->memory, most, sizeof *zeros);
    if (!zeros) return false;
    for (size_t i = 0; i < most; i++) zeros[i] = graph_number(g, 0);
    graph_node bias = graph_substitute(g, whole, SYMBOL_ACCELERATION, zeros, most);
    return written_definition(w, "S", "S", graph_sub(g, whole, bias));
}

static bool machine(written *w, const freedoms *f) {
    graph *g = w->system->graph;
    if (!written_machine(w, f->count, f->count)) return false;
    for (size_t i = 0; i < w->n; i++) w->rates[i] = velocity_of(w, f, i);
    for (size_t r = 0; r < f->count; r++) {
        int32_t index = graph_at(g, f->symbol[r])->as.index;
        w->w[r] = f->symbol[r];
        w->w_given[r] = (size_t)index < w->n ? f->symbol[r] : f->quasi[(size_t)index - w->n].definition;
        w->unknowns[r] = graph_symbol(g, SYMBOL_ACCELERATION, index);
        w->residuals[r] =
            in_free(w, f, graph_sub(g, project(w, f, r, written_inertia), project(w, f, r, written_force)));
    }
    return true;
}

bool write_quasi_velocities(written *w, const char *as) {
    freedoms f = {0};
    if (w->n > WRITTEN_SOLVED)
        return written_cannot(w,
                              written_text(w, "velocities are solved for by hand up to %d coordinates, here are %zu",
                                           (int)WRITTEN_SOLVED, w->n),
                              "write the equations with multipliers: --formulation lagrange");
    if (!solve(w, &f)) return false;
    bool maggi = strcmp(as, "maggi") == 0;
    if (!chosen_velocities(w, &f)) return false;
    if (!maggi && !kinematics(w, &f)) return false;
    if (strcmp(as, "gibbs-appell") == 0 && !acceleration_energy(w, &f)) return false;
    if (strcmp(as, "boltzmann-hamel") == 0 && !hamel_coefficients(w, &f)) return false;
    return motion(w, &f, !maggi) && (!maggi || written_constraints(w)) && machine(w, &f);
}
