/* principles.c — equations of motion as coefficients of variations, from Jourdain's principle or the central equation.
 *
 * Jourdain's principle (Papastavridis, introduction, 6): Σ_k J_k δq'_k = 0 with J_k = d/dt ∂L/∂q'_k − ∂L/∂q_k − Q_k,
 * for all δq'_k that satisfy Σ_k ∂f_c/∂q'_k δq'_k = 0. Time and configuration are not varied. The constraints f_c = 0
 * may be nonlinear in the velocities. The variations of dependent velocities are δq'_D = Σ_I b_DI δq'_I, and the
 * equations of motion are J_I + Σ_D b_DI J_D = 0.
 *
 * Central equation (Papastavridis, introduction, 3.6): d/dt Σ_k p_k δq_k = δT + Σ_k Q_k δq_k with p_k = ∂T/∂q'_k, for
 * all virtual displacements δq, if d(δq_k)/dt = δ(q'_k). In quasi-velocities u_j = dθ_j/dt, with P_j = ∂T/∂u_j,
 *
 *     d/dt Σ_j P_j δθ_j = Σ_j P_j δu_j + Σ_r B_r δθ_r + Σ_r Q_r δθ_r,     B_r = ∂T/∂θ_r = Σ_i ∂q'_i/∂u_r ∂T(t, q, u)/∂q_i
 *     d(δθ_j)/dt − δu_j = Σ_r (Σ_s γ^j_rs u_s + γ^j_r) δθ_r
 *
 * The index j runs over the free velocities and the constraints, and r over the free velocities. A constraint has
 * u_c = f_c and δθ_c = 0, but δu_c need not be 0. The coefficients of δθ_r yield the equations
 * P'_r + Σ_j P_j (Σ_s γ^j_rs u_s + γ^j_r) = B_r + Q_r. */
#include "engine/equations/freedoms.h"

#include "engine/algebra/eliminate.h"
#include "engine/system/binder.h"

#include <assert.h>

static const char *coordinate_name(const written *w, size_t i) {
    return w->system->coordinates[i].name;
}

/* --- Jourdain's principle ----------------------------------------------------------------------------------------- */

static graph_node jourdain_term(written *w, size_t i) {
    return graph_sub(w->system->graph, written_inertia(w, i), written_force(w, i));
}

static bool write_terms(written *w) {
    w->law = "Jourdain's principle: sum of J[k]*delta(k') = 0 for all delta(k') that the constraints admit";
    written_begin(w, "terms: J[k] = d/dt dL/dk' - dL/dk - forces");
    for (size_t i = 0; i < w->n; i++)
        if (!written_entry(w, "J", (const char *const[3]){coordinate_name(w, i)}, jourdain_term(w, i))) return false;
    return true;
}

/* Fills table[m * (n + 1)] with the equations Σ_k ∂f_c/∂q'_k δq'_k = 0 of the acting constraints, and solves them.
 * pivots[c] is the coordinate of the dependent variation in row c, or −1. Returns false after adding an error, or if
 * out of memory. */
static bool solve_variations(written *w, graph_node *table, int *pivots) {
    graph *g = w->system->graph;
    size_t width = w->n + 1, rank;
    for (size_t c = 0; c < w->m; c++) {
        if (w->acts[c] && w->equations.velocity[c] < 0)
            return written_cannot(w, "constraints on accelerations do not restrict variations of velocities",
                                  "write Gauss's equations: --formulation gauss");
        for (size_t i = 0; i <= w->n; i++) {
            bool filled = w->acts[c] && i < w->n;
            table[c * width + i] =
                filled ? graph_partial(g, w->equations.velocity[c], w->system->v[i]) : graph_number(g, 0);
        }
    }
    return table_rank(g, table, w->m, w->n, &w->start, &rank, w->memory) &&
           written_eliminate(w, table, w->m, w->n, NULL, rank, pivots,
                             "at the initial state, the constraints restrict fewer variations of velocities than "
                             "elsewhere");
}

/* Returns x_I + Σ_D b_DI x_D for the independent coordinate I = i, with b_DI = −table[row of D][I]. */
static graph_node admitted(written *w, const graph_node *table, const int *pivots, size_t i,
                           graph_node (*x)(written *, size_t)) {
    graph *g = w->system->graph;
    graph_node sum = x(w, i);
    for (size_t c = 0; c < w->m; c++) {
        graph_node b = table[c * (w->n + 1) + i];
        if (pivots[c] >= 0 && !graph_is_zero(g, b)) sum = graph_sub(g, sum, graph_mul(g, b, x(w, (size_t)pivots[c])));
    }
    return sum;
}

static bool is_pivot(const written *w, const int *pivots, size_t i) {
    for (size_t c = 0; c < w->m; c++)
        if (pivots[c] == (int)i) return true;
    return false;
}

static bool write_variations(written *w, const graph_node *table, const int *pivots) {
    graph *g = w->system->graph;
    if (w->acting > 0) written_begin(w, "dependent variations: delta(D') = sum of b[D, I]*delta(I')");
    for (size_t c = 0; c < w->m; c++)
        for (size_t i = 0; i < w->n && pivots[c] >= 0; i++) {
            const char *const index[3] = {coordinate_name(w, (size_t)pivots[c]), coordinate_name(w, i)};
            if ((int)i != pivots[c] && !written_entry(w, "b", index, graph_neg(g, table[c * (w->n + 1) + i])))
                return false;
        }
    return true;
}

bool write_jourdain(written *w) {
    graph_node *table = arena_alloc(w->memory, w->m * (w->n + 1), sizeof *table);
    int *pivots = arena_alloc(w->memory, w->m, sizeof *pivots);
    if (!table || !pivots || !write_terms(w) || !solve_variations(w, table, pivots)) return false;
    if (!write_variations(w, table, pivots)) return false;
    written_begin(w, "motion: coefficients of delta(I'); left-hand side = forces");
    for (size_t i = 0; i < w->n; i++) {
        if (is_pivot(w, pivots, i)) continue;
        const char *name = arena_format(w->memory, "%s'", coordinate_name(w, i));
        if (!written_equation(w, name, admitted(w, table, pivots, i, written_inertia),
                              admitted(w, table, pivots, i, written_force)))
            return false;
    }
    return written_constraints(w);
}

bool write_jourdain_of(written *w, const freedoms *f) {
    graph *g = w->system->graph;
    if (!write_terms(w)) return false;
    written_begin(w, "variations: delta(k') = sum of Phi[k, u]*delta(u)");
    for (size_t i = 0; i < w->n; i++)
        for (size_t r = 0; r < f->count; r++) {
            const char *const index[3] = {coordinate_name(w, i), f->name[r]};
            if (!written_entry(w, "Phi", index, graph_partial(g, f->relaxed[i], f->symbol[r]))) return false;
        }
    written_begin(w, "motion: coefficients of delta(u); left-hand side = forces");
    for (size_t r = 0; r < f->count; r++) {
        graph_node left = freedoms_project(w, f, f->symbol[r], written_inertia);
        graph_node right = freedoms_project(w, f, f->symbol[r], written_force);
        if (!written_equation(w, f->name[r], freedoms_substitute(w, f, left), freedoms_substitute(w, f, right)))
            return false;
    }
    return true;
}

/* --- the central equation ----------------------------------------------------------------------------------------- */

static bool write_vector(written *w, const char *letter, const char *const *names, const graph_node *values,
                         size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!written_entry(w, letter, (const char *const[3]){names[k]}, values[k])) return false;
    return true;
}

/* Writes A[c, k], the coefficients of δq_k in the acting constraints. */
static bool write_displacements(written *w) {
    if (w->acting > 0) written_begin(w, "virtual displacements: sum of A[c, k]*delta(k) = 0");
    for (size_t e = 0; e < w->equations.A.count; e++) {
        const matrix_entry *a = &w->equations.A.entries[e];
        const char *const index[3] = {w->system->constraints[a->row].name, coordinate_name(w, (size_t)a->column)};
        if (w->acts[a->row] && !written_upright_entry(w, "A", index, a->node)) return false;
    }
    return true;
}

bool write_central(written *w) {
    hamel_system *s = w->system;
    graph *g = s->graph;
    bool natural;
    graph_node K, *slope = arena_alloc(w->memory, w->n, sizeof *slope);
    const char **names = arena_alloc(w->memory, w->n, sizeof *names);
    if (!slope || !names || !written_use_energy(w, &K, &natural)) return false;
    if (!graph_gradient(g, &K, 1, s->q, w->n, slope)) return false;
    const char *letter = natural ? "T" : "L";
    for (size_t i = 0; i < w->n; i++) names[i] = coordinate_name(w, i);
    w->law = arena_format(
        w->memory, "d/dt (sum of p[k]*delta(k)) = sum of (p[k]*delta(k') + B[k]*delta(k) + forces*delta(k)), where "
                   "d(delta(k))/dt = delta(k')");
    written_begin(w, arena_format(w->memory, "momenta: p[k] = d%s/dk'", letter));
    if (!write_vector(w, "p", names, w->momentum, w->n)) return false;
    written_begin(w, arena_format(w->memory, "derivatives: B[k] = d%s/dk", letter));
    if (!write_vector(w, "B", names, slope, w->n) || !write_displacements(w)) return false;
    written_begin(w, "motion: d/dt p[k] = B[k] + forces + reactions");
    for (size_t i = 0; i < w->n; i++) {
        graph_node forces = graph_add(g, written_force(w, i), written_reaction(w, i));
        if (!written_equation(w, names[i], graph_rate(g, w->momentum[i]), graph_add(g, slope[i], forces))) return false;
    }
    return written_constraints(w);
}

typedef struct central {
    written *w;
    const freedoms *f;
    graph_node K; /* T or L in t, q and the free velocities */
    size_t count; /* length of the arrays: free velocities, then acting constraints */
    const char **name;
    graph_node *form; /* expressions in q'; GRAPH_NONE for the velocity of a coordinate */
    graph_node *P;    /* momenta P_j */
} central;

static void add_form(central *c, const char *name, graph_node form, graph_node u) {
    c->name[c->count] = name;
    c->form[c->count] = form;
    c->P[c->count++] = freedoms_substitute(c->w, c->f, freedoms_project(c->w, c->f, u, written_momentum));
}

static bool find_forms(central *c) {
    written *w = c->w;
    size_t most = c->f->count + w->m;
    c->name = arena_alloc(w->memory, most, sizeof *c->name);
    c->form = arena_alloc(w->memory, most, sizeof *c->form);
    c->P = arena_alloc(w->memory, most, sizeof *c->P);
    if (!c->name || !c->form || !c->P) return false;
    for (size_t r = 0; r < c->f->count; r++) {
        size_t index = (size_t)graph_at(w->system->graph, c->f->symbol[r])->as.index;
        bool quasi = index >= w->n;
        add_form(c, c->f->name[r], quasi ? c->f->quasi[index - w->n].definition : GRAPH_NONE, c->f->symbol[r]);
    }
    for (size_t k = 0; k < w->m; k++)
        if (w->acts[k]) add_form(c, w->system->constraints[k].name, w->equations.velocity[k], w->excess[k]);
    return true;
}

/* Returns B_r = ∂K/∂θ_r for the free velocity r. */
static graph_node slope_of(const central *c, size_t r) {
    written *w = c->w;
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < w->n; i++) {
        graph_node phi = graph_partial(g, c->f->relaxed[i], c->f->symbol[r]);
        if (!graph_is_zero(g, phi)) sum = graph_add(g, sum, graph_mul(g, phi, graph_partial(g, c->K, w->system->q[i])));
    }
    return freedoms_substitute(w, c->f, sum);
}

/* Returns P'_r + Σ_j P_j (Σ_s γ^j_rs u_s + γ^j_r), the left-hand side of the equation of the free velocity r. */
static graph_node rate_of(const central *c, size_t r) {
    written *w = c->w;
    graph *g = w->system->graph;
    graph_node sum = freedoms_substitute(w, c->f, graph_rate(g, c->P[r]));
    for (size_t j = 0; j < c->count; j++) {
        if (c->form[j] < 0) continue;
        graph_node h = freedoms_substitute(w, c->f, freedoms_commutator(w, c->f, c->form[j], r));
        sum = graph_add(g, sum, graph_mul(g, c->P[j], h));
    }
    return sum;
}

bool write_central_of(written *w, const freedoms *f) {
    bool natural;
    central c = {.w = w, .f = f};
    graph_node *slope = arena_alloc(w->memory, f->count, sizeof *slope);
    if (!slope || !written_use_energy(w, &c.K, &natural) || !find_forms(&c)) return false;
    c.K = freedoms_substitute(w, f, c.K);
    for (size_t r = 0; r < f->count; r++) slope[r] = slope_of(&c, r);
    const char *letter = natural ? "T" : "L";
    w->law = "d/dt (sum of P[j]*delta(theta_j)) = sum of P[j]*delta(j) + sum of (B[u] + forces)*delta(theta_u), "
             "where d(delta(theta_j))/dt - delta(j) = sum of (gamma[j; u, v]*v + gamma[j; u, t])*delta(theta_u)";
    written_begin(w, arena_format(w->memory,
                                  "momenta: P[j] = d%s/dj for each free velocity j and each constraint j = 0", letter));
    if (!write_vector(w, "P", c.name, c.P, c.count)) return false;
    written_begin(
        w, arena_format(w->memory, "derivatives: B[u] = d%s/d(theta_u) = sum of dk'/du * d%s/dk", letter, letter));
    if (!write_vector(w, "B", f->name, slope, f->count) || !freedoms_coefficients(w, f)) return false;
    written_begin(w, "motion: d/dt P[u] + sum of P[j]*(gamma[j; u, v]*v + gamma[j; u, t]) = B[u] + forces");
    for (size_t r = 0; r < f->count; r++) {
        graph_node force = freedoms_substitute(w, f, freedoms_project(w, f, f->symbol[r], written_force));
        if (!written_equation(w, f->name[r], rate_of(&c, r), graph_add(w->system->graph, slope[r], force)))
            return false;
    }
    return true;
}
