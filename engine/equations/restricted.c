/* restricted.c — the explicit form of the equations in the free velocities of constraints (Talamucci 2015, eq. 13-20).
 *
 *   q'_k = Σ_u Φ_ku u + σ_k                                                              (13)
 *   T* = ½ Σ M*_us u s + Σ b*_u u + T*_0,   M* = Φᵀ M Φ,  b* = Φᵀ (M σ + b)              (14), (15)
 *   Σ_s M*_us s' + Σ_sr Γ*_usr s r + Σ_s N*_us s + c*_u = forces                         (20)
 *
 * The left-hand side of (20) is Σ_k Φ_ku E_k(T), written in the free velocities u, s, r and their rates. E_k is the
 * operator of Lagrange's equations. Because this sum is quadratic in the free velocities, derivatives of the sum yield
 * Γ*, N* and c*. Derivatives of T* alone do not yield these coefficients: free velocities need not be rates of
 * coordinates, and T* does not contain the dependent velocities. T* may replace T in Hamel's equations if
 * Σ_c P_c (Σ_v γ^c_uv v + γ^c_u) = 0 for all u (Papastavridis 3.5.24). P_c = ∂T/∂f_c is the momentum of the constraint
 * f_c = 0. */
#include "engine/equations/freedoms.h"

#include "engine/system/binder.h"

#include <assert.h>

typedef struct restricted {
    written *w;
    const freedoms *f;
    graph_node *rest; /* rest[n + extra_count]: constant nodes 0 */
    graph_node *bias; /* bias[count]: left-hand sides of (20) at u' = 0 */
} restricted;

/* Returns the value of `node` at free velocities 0. */
static graph_node at_rest(const restricted *r, graph_node node) {
    written *w = r->w;
    return graph_substitute(w->system->graph, node, SYMBOL_VELOCITY, r->rest, w->n + w->extra_count);
}

static bool write_kinematic_coefficients(const restricted *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    written_begin(w, "coefficients of the kinematics: k' = sum of Phi[k, u]*u + sigma[k]");
    for (size_t i = 0; i < w->n; i++) {
        const char *name = w->system->coordinates[i].name;
        graph_node velocity = r->f->velocity[i] >= 0 ? r->f->velocity[i] : w->system->v[i];
        for (size_t u = 0; u < r->f->count; u++) {
            const char *const index[3] = {name, r->f->name[u]};
            if (!written_entry(w, "Phi", index, graph_partial(g, velocity, r->f->symbol[u]))) return false;
        }
        if (!written_entry(w, "sigma", (const char *const[3]){name}, at_rest(r, velocity))) return false;
    }
    return true;
}

static bool find_bias(restricted *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    for (size_t u = 0; u < r->f->count; u++) {
        graph_node E = freedoms_project(w, r->f, r->f->symbol[u], written_inertia);
        E = freedoms_substitute(w, r->f, E);
        E = graph_substitute(g, E, SYMBOL_ACCELERATION, r->rest, w->n + w->extra_count);
        r->bias[u] = written_arranged(w, E);
    }
    return graph_status(g) == HAMEL_OK;
}

static bool write_quadratic_terms(const restricted *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    const freedoms *f = r->f;
    written_begin(w, "quadratic terms: Gamma*[u; s, r] (symmetric in s and r)");
    for (size_t u = 0; u < f->count; u++)
        for (size_t s = 0; s < f->count; s++)
            for (size_t t = s; t < f->count && !w->work_budget.spent; t++) {
                const char *const index[3] = {f->name[u], f->name[s], f->name[t]};
                graph_node second = graph_partial(g, graph_partial(g, r->bias[u], f->symbol[s]), f->symbol[t]);
                if (!written_entry(w, "Gamma*", index, graph_mul(g, graph_number(g, 0.5), second))) return false;
            }
    return !w->work_budget.spent || written_omit(w, "Gamma*");
}

static bool write_lower_terms(const restricted *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    const freedoms *f = r->f;
    written_begin(w, "linear terms: N*[u, s]");
    for (size_t u = 0; u < f->count; u++)
        for (size_t s = 0; s < f->count && !w->work_budget.spent; s++) {
            const char *const index[3] = {f->name[u], f->name[s]};
            if (!written_entry(w, "N*", index, at_rest(r, graph_partial(g, r->bias[u], f->symbol[s])))) return false;
        }
    if (w->work_budget.spent && !written_omit(w, "N*")) return false;
    written_begin(w, "terms without velocities: c*[u]");
    for (size_t u = 0; u < f->count; u++)
        if (!written_entry(w, "c*", (const char *const[3]){f->name[u]}, at_rest(r, r->bias[u]))) return false;
    return true;
}

/* Returns Σ_c P_c (Σ_v γ^c_uv v + γ^c_u) for the acting constraints c, momenta P[m] and the free velocity u. */
static graph_node lacking_term(const restricted *r, const graph_node *P, size_t u) {
    written *w = r->w;
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t c = 0; c < w->m; c++) {
        if (!w->acts[c] || graph_is_zero(g, P[c])) continue;
        graph_node h = freedoms_substitute(w, r->f, freedoms_commutator(w, r->f, w->equations.velocity[c], u));
        sum = graph_add(g, sum, graph_mul(g, P[c], h));
    }
    return sum;
}

/* Writes the terms X[u] of Hamel's equations that do not follow from T*. If all X[u] are 0, writes only a title, which
 * states that T* may replace T. Returns false if out of memory. */
static bool write_lacking_terms(const restricted *r) {
    written *w = r->w;
    graph_node *P = node_array(w->system, w->m);
    bool none = true;
    if (!P || w->acting == 0) return P != NULL;
    for (size_t c = 0; c < w->m; c++)
        if (w->acts[c])
            P[c] = written_arranged(
                w, freedoms_substitute(w, r->f, freedoms_project(w, r->f, w->excess[c], written_momentum)));
    written_begin(w, "terms of Hamel's equations that do not follow from T*: X[u] = sum of dT/dc*(gamma[c; u, v]*v + "
                     "gamma[c; u, t]) over the constraints c");
    written_part *part = &w->parts[w->part_count - 1];
    for (size_t u = 0; u < r->f->count; u++)
        if (!written_entry(w, "X", (const char *const[3]){r->f->name[u]}, lacking_term(r, P, u))) return false;
    none = part->count == 0;
    if (none)
        part->title = "T* may replace T in Hamel's equations: the sum of dT/dc*(gamma[c; u, v]*v + gamma[c; u, t]) "
                      "over the constraints c is 0";
    part->keeps_title = none;
    return true;
}

bool write_restricted(written *w, const freedoms *f) {
    restricted r = {.w = w, .f = f};
    graph_node K;
    bool natural;
    if (energies_kinetic(&w->equations) < 0 || !written_use_energy(w, &K, &natural)) return false;
    r.rest = node_array(w->system, w->n + w->extra_count);
    r.bias = arena_alloc(w->memory, f->count, sizeof *r.bias);
    const written_quadratic T = {"kinetic energy on the constraints",
                                 "T*",
                                 freedoms_substitute(w, f, energies_kinetic(&w->equations)),
                                 f->symbol,
                                 f->name,
                                 f->count,
                                 NULL};
    if (!r.rest || !r.bias || !write_kinematic_coefficients(&r) || !write_explicit(w, &T) || !find_bias(&r))
        return false;
    w->law = "motion: sum of M*[u, s]*s' + Gamma*[u; s, r]*s*r + N*[u, s]*s + c*[u] = sum of Phi[k, u]*(forces on k)";
    return write_quadratic_terms(&r) && write_lower_terms(&r) && write_lacking_terms(&r);
}
