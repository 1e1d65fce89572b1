/* explicit.c — the explicit form of the equations of motion. A function K that is quadratic in the velocities is split
 * by degree. The coefficients of the equations follow from the parts of K.
 *
 *   K = K2 + K1 + K0 = ½ Σ M_kr q'_k q'_r + Σ b_k q'_k + K0
 *   d/dt ∂K/∂q'_k − ∂K/∂q_k = Σ M_kr q''_r + Σ Γ_k,rs q'_r q'_s + Σ (G_kr + ∂M_kr/∂t) q'_r + c_k
 *   Γ_k,rs = ½ (∂M_kr/∂q_s + ∂M_ks/∂q_r − ∂M_rs/∂q_k)                       Christoffel symbols of the first kind
 *   G_kr = ∂b_k/∂q_r − ∂b_r/∂q_k,   c_k = ∂b_k/∂t − ∂K0/∂q_k                gyroscopic matrix; other terms
 *
 * (Papastavridis, introduction, 3.10; Talamucci 2015, equation 8.) K is the kinetic energy, the Lagrangian, or the
 * Routhian of the coordinates that are not cyclic (Kelvin and Tait; Papastavridis, introduction, 8.4). The kinetic
 * energy T* in the free velocities of constraints is only split, because its equations contain Hamel's coefficients. */
#include "engine/equations/written.h"

#include "engine/system/binder.h"

#include <assert.h>
#include <string.h>

typedef struct explicit_form {
    written *w;
    const written_quadratic *of;
    int32_t *position; /* position[n + extra]: index in of->velocity, or −1 */
    graph_node *rest;  /* rest[n + extra]: 0 for the velocities of K, GRAPH_NONE for other symbols */
    size_t symbols;    /* n + extra */
    graph_node *slope; /* slope[count]: ∂K/∂velocity */
    matrix_pattern M;  /* arranged; lower triangle: row ≥ column */
    graph_node *b;     /* b[count], arranged */
    graph_node K0;
} explicit_form;

static graph_node at_rest(const explicit_form *f, graph_node node) {
    return graph_substitute(f->w->system->graph, node, SYMBOL_VELOCITY, f->rest, f->symbols);
}

/* Computes ∂K/∂velocity in one pass, and its part without velocities. */
static bool find_slopes(explicit_form *f) {
    written *w = f->w;
    graph *g = w->system->graph;
    size_t count = f->of->count;
    f->symbols = w->n + w->extra_count;
    f->position = arena_alloc(w->memory, f->symbols, sizeof *f->position);
    f->rest = arena_alloc(w->memory, f->symbols, sizeof *f->rest);
    f->slope = arena_alloc(w->memory, count, sizeof *f->slope);
    f->b = arena_alloc(w->memory, count, sizeof *f->b);
    if (!f->position || !f->rest || !f->slope || !f->b) return false;
    for (size_t k = 0; k < f->symbols; k++) f->position[k] = f->rest[k] = GRAPH_NONE;
    for (size_t k = 0; k < count; k++) {
        int32_t index = graph_at(g, f->of->velocity[k])->as.index;
        f->position[index] = (int32_t)k;
        f->rest[index] = graph_number(g, 0);
    }
    if (!graph_gradient(g, &f->of->function, 1, f->of->velocity, count, f->slope)) return false;
    f->K0 = at_rest(f, f->of->function);
    for (size_t k = 0; k < count; k++) f->b[k] = written_arranged(w, at_rest(f, f->slope[k]));
    return graph_status(g) == HAMEL_OK;
}

static bool contains_velocities(const explicit_form *f, graph_node node) {
    int32_t *list;
    size_t count = node_support(f->w->system, node, SYMBOL_VELOCITY, &list);
    for (size_t k = 0; k < count; k++)
        if (f->position[list[k]] >= 0) return true;
    return false;
}

/* Computes M. If an entry contains velocities of K, adds an error and returns false. */
static bool find_mass(explicit_form *f) {
    written *w = f->w;
    hamel_system *s = w->system;
    for (size_t k = 0; k < f->of->count; k++) {
        int32_t *list;
        size_t support = node_support(s, f->slope[k], SYMBOL_VELOCITY, &list);
        for (size_t j = 0; j < support; j++) {
            int32_t column = f->position[list[j]];
            if (column < 0 || column > (int32_t)k) continue;
            graph_node velocity = f->of->velocity[column];
            graph_node entry = written_arranged(w, graph_partial(s->graph, f->slope[k], velocity));
            if (contains_velocities(f, entry))
                return written_cannot(
                    w, arena_format(w->memory, "the %s is not quadratic in the velocities", f->of->title),
                    "use --form motion");
            if (!pattern_add(s, &f->M, (int32_t)k, column, entry)) return false;
        }
    }
    return pattern_finish(s, &f->M);
}

/* Adds the line `letter[k; r, s] = node`, unless the node is 0. Negative indices are omitted. */
static bool add_entry(const explicit_form *f, const char *letter, int32_t k, int32_t r, int32_t s, graph_node node) {
    const char *const *name = f->of->name;
    const char *const index[3] = {k >= 0 ? name[k] : NULL, r >= 0 ? name[r] : NULL, s >= 0 ? name[s] : NULL};
    return written_entry(f->w, letter, index, node);
}

/* Writes the parts K2, K1 and K0. K2 = ½ Σ q'_k (∂K/∂q'_k − b_k) holds because K is quadratic. */
static bool write_parts(const explicit_form *f) {
    written *w = f->w;
    graph *g = w->system->graph;
    graph_node part[3] = {f->K0, graph_number(g, 0), graph_number(g, 0)};
    for (size_t k = 0; k < f->of->count; k++) {
        graph_node v = f->of->velocity[k];
        part[1] = graph_add(g, part[1], graph_mul(g, v, f->b[k]));
        part[2] = graph_add(g, part[2], graph_mul(g, v, graph_sub(g, f->slope[k], f->b[k])));
    }
    part[2] = graph_mul(g, graph_number(g, 0.5), part[2]);
    const char *K = f->of->symbol, *joint = strchr(K, '*') ? "_" : "";
    written_begin(w, arena_format(w->memory, "%s: %s = %s%s2 + %s%s1 + %s%s0, by degree in the velocities",
                                  f->of->title, K, K, joint, K, joint, K, joint));
    for (int degree = 2; degree >= 0; degree--)
        if (!add_entry(f, arena_format(w->memory, "%s%s%d", K, joint, degree), -1, -1, -1, part[degree])) return false;
    return true;
}

static bool write_coefficients(const explicit_form *f) {
    written *w = f->w;
    const char *K = f->of->symbol, *star = strchr(K, '*') ? "*" : "", *joint = *star ? "_" : "";
    const char *M = arena_format(w->memory, "M%s", star), *b = arena_format(w->memory, "b%s", star);
    const char *sums[2] = {"k'*r'", "k'"}, *star_sums[2] = {"k*r", "k"}, **sum = *star ? star_sums : sums;
    written_begin(w, arena_format(w->memory, "%s%s2 = sum of %s[k, r]*%s/2 (symmetric; entries not listed are 0)", K,
                                  joint, M, sum[0]));
    for (size_t i = 0; i < f->M.count; i++)
        if (!add_entry(f, M, f->M.entries[i].row, f->M.entries[i].column, -1, f->M.entries[i].node)) return false;
    written_begin(w, arena_format(w->memory, "%s%s1 = sum of %s[k]*%s", K, joint, b, sum[1]));
    for (size_t k = 0; k < f->of->count; k++)
        if (!add_entry(f, b, (int32_t)k, -1, -1, f->b[k])) return false;
    return true;
}

/* Adds ½ factor · slope to Γ_k,rs, and so to the equal Γ_k,sr. */
static bool add_christoffel(const explicit_form *f, matrix_pattern *to, int32_t k, int32_t r, int32_t s, double factor,
                            graph_node slope) {
    graph *g = f->w->system->graph;
    int32_t low = r < s ? r : s, high = r < s ? s : r, count = (int32_t)f->of->count;
    return pattern_add(f->w->system, to, k, low * count + high, graph_mul(g, graph_number(g, factor / 2), slope));
}

/* Computes the Christoffel symbols from the derivatives of the entries of M: row k, column r · count + s with r ≤ s.
 * The terms ∂M_kr/∂q_s and ∂M_ks/∂q_r of Γ_k,rs are equal if r = s, so the term is then added twice. */
static bool find_christoffel(const explicit_form *f, matrix_pattern *to) {
    hamel_system *s = f->w->system;
    for (size_t e = 0; e < f->M.count; e++) {
        int32_t i = f->M.entries[e].row, j = f->M.entries[e].column, *list;
        size_t support = node_support(s, f->M.entries[e].node, SYMBOL_COORDINATE, &list);
        for (size_t c = 0; c < support; c++) {
            int32_t l = f->position[list[c]];
            if (l < 0) continue; /* a cyclic coordinate, which cancels when M is simplified */
            graph_node slope = graph_partial(s->graph, f->M.entries[e].node, s->q[list[c]]);
            if (!add_christoffel(f, to, l, i, j, -1, slope) ||
                !add_christoffel(f, to, i, j, l, j == l ? 2 : 1, slope) ||
                (i != j && !add_christoffel(f, to, j, i, l, i == l ? 2 : 1, slope)))
                return false;
        }
    }
    return pattern_finish(s, to);
}

static bool write_christoffel(const explicit_form *f) {
    written *w = f->w;
    matrix_pattern all = {0};
    int32_t count = (int32_t)f->of->count;
    enum { MOST = 46340 }; /* floor(√INT32_MAX): column numbers are below count² */
    written_begin(w, "Christoffel symbols: Gamma[k; r, s] = (dM[k, r]/ds + dM[k, s]/dr - dM[r, s]/dk)/2 (symmetric in "
                     "r and s)");
    if (count > MOST) return written_omit(w, "Gamma");
    if (!find_christoffel(f, &all)) return false;
    for (size_t i = 0; i < all.count && !w->work_budget.spent; i++) {
        const matrix_entry *e = &all.entries[i];
        if (!add_entry(f, "Gamma", e->row, e->column / count, e->column % count, e->node)) return false;
    }
    return !w->work_budget.spent || all.count == 0 || written_omit(w, "Gamma");
}

static bool write_gyroscopic(const explicit_form *f) {
    written *w = f->w;
    hamel_system *s = w->system;
    matrix_pattern all = {0};
    for (size_t k = 0; k < f->of->count; k++) {
        int32_t *list, row = (int32_t)k;
        size_t support = node_support(s, f->b[k], SYMBOL_COORDINATE, &list);
        for (size_t c = 0; c < support; c++) {
            int32_t r = f->position[list[c]];
            if (r < 0 || r == row) continue;
            graph_node slope = graph_partial(s->graph, f->b[k], s->q[list[c]]);
            if (row < r) slope = graph_neg(s->graph, slope);
            if (!pattern_add(s, &all, row > r ? row : r, row > r ? r : row, slope)) return false;
        }
    }
    written_begin(w, "gyroscopic matrix: G[k, r] = db[k]/dr - db[r]/dk (antisymmetric)");
    if (!pattern_finish(s, &all)) return false;
    for (size_t i = 0; i < all.count && !w->work_budget.spent; i++)
        if (!add_entry(f, "G", all.entries[i].row, all.entries[i].column, -1, all.entries[i].node)) return false;
    return !w->work_budget.spent || all.count == 0 || written_omit(w, "G");
}

/* Writes ∂M/∂t and c. */
static bool write_other_terms(const explicit_form *f) {
    written *w = f->w;
    hamel_system *s = w->system;
    graph_node time = graph_symbol(s->graph, SYMBOL_TIME, 0);
    written_begin(w, "terms of the time: Mt[k, r] = dM[k, r]/dt at fixed coordinates (symmetric)");
    for (size_t i = 0; i < f->M.count; i++) {
        const matrix_entry *e = &f->M.entries[i];
        if (!add_entry(f, "Mt", e->row, e->column, -1, graph_partial(s->graph, e->node, time))) return false;
    }
    written_begin(w, arena_format(w->memory, "terms without velocities: c[k] = db[k]/dt - d%s0/dk", f->of->symbol));
    for (size_t k = 0; k < f->of->count; k++) {
        graph_node q = s->q[graph_at(s->graph, f->of->velocity[k])->as.index];
        graph_node c = graph_sub(s->graph, graph_partial(s->graph, f->b[k], time), graph_partial(s->graph, f->K0, q));
        if (!add_entry(f, "c", (int32_t)k, -1, -1, c)) return false;
    }
    return true;
}

bool write_explicit(written *w, const written_quadratic *of) {
    explicit_form f = {.w = w, .of = of};
    if (of->function < 0 || !find_slopes(&f) || !find_mass(&f) || !write_parts(&f) || !write_coefficients(&f))
        return false;
    if (!of->forces) return true;
    w->law = arena_format(w->memory,
                          "motion: sum of M[k, r]*r'' + Gamma[k; r, s]*r'*s' + (G[k, r] + Mt[k, r])*r' + c[k] = %s + "
                          "reactions",
                          of->forces);
    return write_christoffel(&f) && write_gyroscopic(&f) && write_other_terms(&f);
}

/* Splits the kinetic energy, if the potential is free of velocities, otherwise the Lagrangian. */
bool write_explicit_lagrange(written *w) {
    hamel_system *s = w->system;
    bool natural;
    graph_node function = written_energy(w, &natural);
    const char **names = arena_alloc(w->memory, w->n, sizeof *names);
    if (!names) return false;
    for (size_t i = 0; i < w->n; i++) names[i] = s->coordinates[i].name;
    const written_quadratic T = {"kinetic energy", "T", function, s->v, names, w->n, "forces"};
    const written_quadratic L = {"Lagrangian", "L", function, s->v, names, w->n, WRITTEN_IMPRESSED};
    return write_explicit(w, natural ? &T : &L);
}
