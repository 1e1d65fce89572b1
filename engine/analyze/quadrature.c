/* quadrature.c — the motion of a system with one remaining freedom as an integral.
 *
 * Let c be coordinates whose shifts conserve the momenta β, and let s be the only other coordinate or combination of
 * coordinates. Let h be conserved. With p_c = M_cc c' + M_cs s' + b_c = β, the Jacobi integral is
 *     h = ½ m s'² + W(s),   m = M_ss − M_sc M_cc⁻¹ M_cs,   W = ½ (β − b_c)ᵀ M_cc⁻¹ (β − b_c) + V − T0
 * (Routh's reduction; Papastavridis, problem 3.5.8). Therefore t = ∫ ds / √(2 (h − W)/m). */
#include "engine/algebra/arrange.h"
#include "engine/analyze/symmetries_int.h"

#include <assert.h>
#include <string.h>

/* Expressions of larger systems are usually too long to read. */
enum { QUADRATURE_MOST = 4 };

typedef struct reduction {
    analysis *a;
    size_t n;
    /* columns: the displacements of the coordinates c, then the displacement of s */
    graph_node B[QUADRATURE_MOST][QUADRATURE_MOST];
    graph_node M[QUADRATURE_MOST][QUADRATURE_MOST]; /* BᵀM B */
    graph_node r[QUADRATURE_MOST];                  /* β − b_c */
    graph_node variable;                            /* s */
} reduction;

/* Returns the only conserved shift of several coordinates. Returns NULL if there is no such shift or more than one. */
static const symmetry_candidate *combined_shift(const symmetry_search *s) {
    const symmetry_candidate *found = NULL;
    size_t count = 0;
    for (size_t k = 0; s->candidates && k < s->found[0].count; k++) {
        const symmetry_candidate *c = &s->candidates[k];
        if (c->changes || !c->differs || c->beyond != 0 || !symmetry_is_shift(s, c)) continue;
        found = c;
        count++;
    }
    return count == 1 ? found : NULL;
}

/* Fills r->B and r->variable. Returns false unless exactly one freedom remains. */
static bool choose_directions(const symmetry_search *s, reduction *r) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    const symmetry_candidate *shift = combined_shift(s);
    size_t columns = 0, own[2], others = 0;
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->n; j++) r->B[i][j] = graph_number(g, 0);
    for (size_t i = 0; i < r->n; i++) {
        if (a->kept[i])
            r->B[i][columns++] = graph_number(g, 1);
        else if (others++ < 2)
            own[others - 1] = i;
    }
    if (others == 0 || others != 1 + (size_t)(shift != NULL)) return false;
    r->variable = a->system->q[own[0]];
    r->B[own[0]][r->n - 1] = graph_number(g, 1);
    if (!shift) return true;
    for (size_t i = 0; i < r->n; i++) r->B[i][columns] = symmetry_displacement(s, shift->value, (int32_t)i, false);
    graph_node first = r->B[own[0]][columns], second = r->B[own[1]][columns];
    if (graph_is_zero(g, second)) return false;
    r->variable = graph_sub(g, r->variable, graph_mul(g, graph_div(g, first, second), a->system->q[own[1]]));
    return true;
}

/* Replaces the coordinates whose momenta are conserved by 0. L does not depend on these coordinates, although single
 * terms of L may contain them. */
static graph_node without_cyclic(const reduction *r, graph_node node) {
    graph_node replacement[QUADRATURE_MOST];
    graph *g = r->a->system->graph;
    for (size_t i = 0; i < r->n; i++) replacement[i] = r->a->kept[i] ? graph_number(g, 0) : GRAPH_NONE;
    return graph_substitute(g, node, SYMBOL_COORDINATE, replacement, r->n);
}

/* Returns `node` (a term of L, or ∂L/∂q'_i) at q' = 0, without the coordinates whose momenta are conserved. */
static graph_node at_zero(const reduction *r, graph_node node, const graph_node *zeros) {
    return without_cyclic(r, graph_substitute(r->a->system->graph, node, SYMBOL_VELOCITY, zeros, r->n));
}

/* Fills r->M with BᵀM B, and r->r with β − b_c. Returns false if M depends on velocities or on t, or if out of
 * memory. */
static bool fill_reduction(reduction *r, const graph_node *zeros) {
    analysis *a = r->a;
    graph *g = a->system->graph;
    const hamel_equations *e = &a->equations;
    for (size_t x = 0; x < r->n; x++)
        for (size_t y = 0; y < r->n; y++) r->M[x][y] = graph_number(g, 0);
    for (size_t k = 0; k < e->M.count; k++) {
        const matrix_entry *m = &e->M.entries[k];
        graph_node node = without_cyclic(r, m->node);
        if (graph_depends(g, m->node) & (GRAPH_DEPENDS(SYMBOL_VELOCITY) | GRAPH_DEPENDS(SYMBOL_TIME))) return false;
        for (size_t x = 0; x < r->n; x++)
            for (size_t y = 0; y < r->n; y++) {
                graph_node part = graph_mul(g, r->B[m->row][x], r->B[m->column][y]);
                if (m->row != m->column) part = graph_add(g, part, graph_mul(g, r->B[m->column][x], r->B[m->row][y]));
                r->M[x][y] = graph_add(g, r->M[x][y], graph_mul(g, node, part));
            }
    }
    for (size_t x = 0; x + 1 < r->n; x++) {
        r->r[x] = graph_number(g, 0);
        for (size_t i = 0; i < r->n; i++) {
            graph_node momentum = graph_symbol(g, SYMBOL_FREE, (int32_t)i);
            graph_node rest = graph_sub(g, momentum, at_zero(r, e->momentum[i], zeros));
            r->r[x] = graph_add(g, r->r[x], graph_mul(g, r->B[i][x], rest));
        }
    }
    return graph_status(g) == HAMEL_OK;
}

/* Eliminates the coordinates c one after the other by an LDLᵀ factorization. Adds ½ (β − b_c)ᵀ M_cc⁻¹ (β − b_c) to *W.
 * Returns m. */
static graph_node eliminate_cyclic(reduction *r, graph_node *W) {
    analysis *a = r->a;
    graph *g = a->system->graph;
    for (size_t x = 0; x < r->n; x++)
        for (size_t y = 0; y < r->n; y++) r->M[x][y] = arrange_within(g, r->M[x][y], &a->work, a->memory);
    for (size_t c = 0; c + 1 < r->n; c++) {
        graph_node d = r->M[c][c], square = graph_mul(g, r->r[c], r->r[c]);
        *W = graph_add(g, *W, graph_div(g, square, graph_mul(g, graph_number(g, 2), d)));
        for (size_t x = c + 1; x < r->n; x++) {
            graph_node factor = graph_div(g, r->M[x][c], d);
            if (x + 1 < r->n) r->r[x] = graph_sub(g, r->r[x], graph_mul(g, factor, r->r[c]));
            for (size_t y = c + 1; y < r->n; y++)
                r->M[x][y] =
                    arrange_within(g, graph_sub(g, r->M[x][y], graph_mul(g, factor, r->M[c][y])), &a->work, a->memory);
        }
    }
    return r->M[r->n - 1][r->n - 1];
}

/* Writes the texts of the quadrature to *out. Returns false if out of memory. */
static bool write_quadrature(reduction *r, graph_node m, graph_node W, hamel_quadrature *out) {
    analysis *a = r->a;
    graph *g = a->system->graph;
    graph_node h = graph_symbol(g, SYMBOL_FREE, (int32_t)a->n);
    graph_node square = graph_div(g, graph_mul(g, graph_number(g, 2), graph_sub(g, h, W)), m);
    out->variable = symmetry_text(a, r->variable);
    out->rate_squared = symmetry_text(a, arrange_within(g, square, &a->work, a->memory));
    if (!out->variable || !out->rate_squared) return false;
    out->time = arena_format(a->memory, "t = integral d(%s)/sqrt(%s)", out->variable, out->rate_squared);
    return out->time != NULL;
}

hamel_status quadrature_derive(symmetry_search *s, hamel_quadrature **out) {
    analysis *a = s->a;
    graph *g = a->system->graph;
    reduction r = {.a = a, .n = a->n};
    size_t count;
    *out = NULL;
    if (a->m > 0 || a->n > QUADRATURE_MOST || !a->energy_kept || s->extras > 0 || a->system->nonsmooth_count > 0 ||
        !choose_directions(s, &r))
        return equations_status(a->system);
    const graph_node *zeros = node_array(a->system, a->n);
    graph_node *terms = energies_lagrangian_terms(a->system, &count), W = graph_number(g, 0);
    if (!zeros || !terms) return equations_status(a->system);
    if (!fill_reduction(&r, zeros)) return equations_status(a->system);
    for (size_t k = 0; k < count; k++) W = graph_sub(g, W, at_zero(&r, terms[k], zeros));
    analysis_begin_work(a);
    graph_node m = eliminate_cyclic(&r, &W);
    if (equations_status(a->system) != HAMEL_OK) return a->error->status;
    if (graph_is_zero(g, m)) return HAMEL_OK;
    *out = arena_alloc(a->memory, 1, sizeof **out);
    return *out && write_quadrature(&r, m, W, *out) ? HAMEL_OK : analysis_stopped(a);
}
