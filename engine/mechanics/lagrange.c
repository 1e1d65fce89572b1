/* lagrange.c — Lagrange's equations with multipliers.
 *
 *     d/dt ∂L/∂q'_i − ∂L/∂q_i = Q_i + Σ λ_c A_ci                          Greenwood 2.36; Papastavridis 3.5.15 (Routh–Voss)
 *
 * Solved for the accelerations, the equations are
 *     M_ij = ∂²L/∂q'_i∂q'_j
 *     M q'' = Q + ∂L/∂q − (∂²L/∂q'∂q) q' − ∂²L/∂q'∂t + Aᵀλ
 *
 * The equations hold for every regular Lagrangian L. L remains a list of terms. Each term is differentiated only with
 * respect to the symbols that it contains, so N elements with local coupling cost O(N). The two mixed derivatives
 * together are the part of the rate of ∂L/∂q' without accelerations.
 *
 * If terms share most of their symbols, each M_ij would be a sum over many terms. The energies of a chain of N links in
 * absolute angles, for example, would need N³/3 products. In that case one reverse pass over L gives all ∂L/∂q'_i and
 * ∂L/∂q_i (graph_gradient). The pass adds up the contributions of all terms before the sums are differentiated
 * again. */
#include "engine/mechanics/extended_system.h"
#include "engine/mechanics/formulation.h"

#include "engine/system/binder.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* The reverse pass is used if the terms with at least LONG velocities have more than SHARED products of velocities for
 * each entry of M. In chains in absolute angles, derivation and evaluation are then measured to be twice as fast from
 * 16 links on. With 128 links, they are eleven and six times as fast. If the terms of bodies in space share only four
 * velocities (a flyball governor), derivation and evaluation are 1.5 times slower. The derivatives from the pass then
 * mix all terms. From COORDINATES coordinates on, terms are long from LONG_OF_MANY velocities on. Trees of 24 and 25
 * bodies in frames in space are then derived and evaluated three times as fast. */
static const double SHARED = 6;
enum { LONG = 12, LONG_OF_MANY = 6 };

/* If the terms contain more velocities than WIDE times the number of terms plus coordinates, passes over all nodes
 * replace a search below each term. A search visits shared nodes once for each term, a pass once for GRAPH_SET_BITS
 * coordinates. The value affects only the time of the derivation. */
enum { WIDE = 8 };

/* If M has at least COORDINATES rows with at least FACTORED entries on average, M is kept in the form Bᵀ D B. A full M
 * of up to 19 rows is small enough for the closed form, which needs its entries (model/accelerations.c). If there are
 * constraints, projections need the entries of M, so rows must have FACTORED_BOUND entries. The form was measured with
 * trees of 32 and 50 bodies in frames in space. Their M has 9 and 14 entries in each row of its lower triangle. The
 * derivation takes 0.85 and 0.6 times as long, and the right-hand side 0.5 and 0.3 times. */
enum { COORDINATES = 24 };
static const double FACTORED = 6, FACTORED_BOUND = 24;

/* Adds the entries of row j of M for p, a part of ∂L/∂q'_j. */
static bool add_mass(hamel_equations *e, graph_node p, int32_t j) {
    hamel_system *s = e->system;
    int32_t *list;
    size_t count = node_support(s, p, SYMBOL_VELOCITY, &list);
    for (size_t i = 0; i < count && list[i] <= j; i++)
        if (!pattern_add(s, &e->M, j, list[i], graph_partial(s->graph, p, s->v[list[i]]))) return false;
    return true;
}

/* Adds p, a part of ∂L/∂q'_j, to the momentum, and the derivatives of p to M, Q and the residual. */
static bool add_momentum(hamel_equations *e, graph_node p, int32_t j) {
    graph *g = e->system->graph;
    if (!e->mass && !add_mass(e, p, j)) return false;
    e->momentum[j] = graph_add(g, e->momentum[j], p);
    e->Q[j] = graph_sub(g, e->Q[j], graph_rate_bias(g, p));
    e->residual[j] = graph_add(g, e->residual[j], graph_rate(g, p));
    return e->residual[j] >= 0;
}

static bool add_slope(hamel_equations *e, graph_node slope, int32_t j) {
    graph *g = e->system->graph;
    e->Q[j] = graph_add(g, e->Q[j], slope);
    e->residual[j] = graph_sub(g, e->residual[j], slope);
    return e->residual[j] >= 0;
}

bool lagrange_add_term(hamel_equations *e, graph_node term) {
    hamel_system *s = e->system;
    int32_t *list;
    size_t count = node_support(s, term, SYMBOL_VELOCITY, &list);
    for (size_t i = 0; i < count; i++)
        if (!add_momentum(e, graph_partial(s->graph, term, s->v[list[i]]), list[i])) return false;
    count = node_support(s, term, SYMBOL_COORDINATE, &list);
    for (size_t i = 0; i < count; i++)
        if (!add_slope(e, graph_partial(s->graph, term, s->q[list[i]]), list[i])) return false;
    return true;
}

/* The number of velocities in each term, and for each coordinate the number in the widest term that contains its
 * velocity. */
typedef struct term_widths {
    size_t *support;
    double *widest;
} term_widths;

/* Searches below each term. Stops and returns false if the terms contain too many velocities (WIDE). */
static bool search_terms(const hamel_equations *e, const graph_node *terms, size_t count, const term_widths *w) {
    size_t total = 0;
    for (size_t k = 0; k < count && total <= WIDE * (count + e->n); k++) {
        const int32_t *list;
        w->support[k] = graph_support(e->system->graph, terms[k], SYMBOL_VELOCITY, &list);
        total += w->support[k];
        for (size_t i = 0; i < w->support[k]; i++) w->widest[list[i]] = fmax(w->widest[list[i]], (double)w->support[k]);
    }
    return total <= WIDE * (count + e->n);
}

/* Computes the same widths in two rounds of passes over the nodes below all terms. Returns false if out of memory. */
static bool pass_terms(const hamel_equations *e, const graph_node *terms, size_t count, const term_widths *w) {
    graph_sets sets;
    arena scratch;
    arena_init(&scratch, SIZE_MAX);
    bool good = graph_sets_create(&sets, e->system->graph, terms, count, &scratch);
    memset(w->support, 0, count * sizeof *w->support);
    for (int round = 0; good && round < 2; round++)
        for (size_t first = 0; first < e->n; first += GRAPH_SET_BITS) {
            graph_sets_find(&sets, GRAPH_DEPENDS(SYMBOL_VELOCITY), first);
            for (size_t k = 0; k < count; k++) {
                const graph_set *set = graph_sets_at(&sets, terms[k]);
                for (size_t bit = 0; bit < GRAPH_SET_BITS && first + bit < e->n; bit++) {
                    if (!graph_set_contains(set, bit)) continue;
                    double *widest = &w->widest[first + bit];
                    if (round == 0)
                        w->support[k]++;
                    else
                        *widest = fmax(*widest, (double)w->support[k]);
                }
            }
        }
    arena_free(&scratch);
    return good;
}

/* Returns the number of products of velocities in the long terms, divided by the number of entries of M. A row of M is
 * assumed to be as long as the widest term that contains its coordinate. Returns −1 if out of memory. */
static double find_sharing(const hamel_equations *e, const graph_node *terms, size_t count, double *all_entries) {
    hamel_system *s = e->system;
    double products = 0, entries = 0;
    term_widths w = {arena_alloc(s->memory, count, sizeof *w.support), arena_alloc(s->memory, e->n, sizeof *w.widest)};
    if (!w.support || !w.widest || (!search_terms(e, terms, count, &w) && !pass_terms(e, terms, count, &w))) return -1;
    const size_t long_from = e->n >= COORDINATES ? LONG_OF_MANY : LONG;
    for (size_t k = 0; k < count; k++)
        if (w.support[k] >= long_from) products += (double)w.support[k] * (double)w.support[k];
    for (size_t i = 0; i < e->n; i++) entries += w.widest[i];
    *all_entries = entries;
    return entries > 0 ? products / entries : 0;
}

static bool factor_by_sums(hamel_equations *e) {
    hamel_system *s = e->system;
    const extended_parts parts = {.terms = e->terms, .term_count = e->term_count, .coordinate_count = e->n};
    congruence *mass = arena_alloc(s->memory, 1, sizeof *mass);
    if (mass && extended_system_mass(s->graph, &parts, s->memory, mass, &e->mass_values)) e->mass = mass;
    return !s->memory->failed;
}

static bool add_all_terms(hamel_equations *e, const graph_node *terms, size_t count) {
    hamel_system *s = e->system;
    size_t n = e->n;
    graph_node *symbols = node_array(s, 2 * n), *slopes = node_array(s, 2 * n);
    if (!symbols || !slopes) return false;
    for (size_t i = 0; i < n; i++) {
        symbols[i] = s->v[i];
        symbols[n + i] = s->q[i];
    }
    if (!graph_gradient(s->graph, terms, count, symbols, 2 * n, slopes)) return false;
    for (size_t i = 0; i < n; i++)
        if (!add_momentum(e, slopes[i], (int32_t)i) || !add_slope(e, slopes[n + i], (int32_t)i)) return false;
    return true;
}

static bool add_terms(hamel_equations *e) {
    size_t count;
    graph_node *terms = energies_lagrangian_terms(e->system, &count);
    if (!terms) return false;
    if (e->system->acceleration_energy < 0) e->terms = terms;
    e->term_count = count;
    double entries, sharing = find_sharing(e, terms, count, &entries);
    if (sharing < 0) return binder_graph_fault(e->system, ""), false;
    double least = e->m > 0 ? FACTORED_BOUND : FACTORED;
    bool factors =
        sharing > SHARED && e->may_factor_mass && e->terms && e->n >= COORDINATES && entries >= least * (double)e->n;
    if (factors && !factor_by_sums(e)) return binder_graph_fault(e->system, ""), false;
    if (sharing > SHARED) return add_all_terms(e, terms, count);
    for (size_t i = 0; i < count; i++) {
        if (!lagrange_add_term(e, terms[i])) return false;
        if (i % 64 == 63 && equations_status(e->system) != HAMEL_OK) return false;
    }
    return true;
}

/* Adds the forces without a potential: impressed forces, and −∂D/∂q' of Rayleigh's function (Greenwood 2.68). */
static bool add_given_forces(hamel_equations *e) {
    hamel_system *s = e->system;
    graph *g = s->graph;
    graph_node *terms;
    signed char *signs;
    for (size_t i = 0; i < e->n; i++) e->given[i] = s->coordinates[i].force;
    size_t count = graph_terms(g, s->dissipation, s->memory, NULL, &terms, &signs);
    for (size_t k = 0; k < count; k++) {
        int32_t *list;
        size_t support = node_support(s, terms[k], SYMBOL_VELOCITY, &list);
        for (size_t i = 0; i < support; i++) {
            graph_node slope = graph_partial(g, terms[k], s->v[list[i]]);
            e->given[list[i]] = graph_binary(g, signs[k] < 0 ? GRAPH_ADD : GRAPH_SUB, e->given[list[i]], slope);
        }
    }
    for (size_t i = 0; i < e->n; i++) {
        int32_t *list;
        e->Q[i] = graph_add(g, e->Q[i], e->given[i]);
        e->residual[i] = graph_sub(g, e->residual[i], e->given[i]);
        if (!graph_is_zero(g, s->coordinates[i].nonideal)) {
            if (!e->nonideal && !(e->nonideal = node_array(s, e->n))) return false;
            e->nonideal[i] = s->coordinates[i].nonideal;
            e->residual[i] =
                graph_sub(g, e->residual[i], e->nonideal[i]); /* the Newton matrix treats ideal reactions as constant */
        }
        count = node_support(s, e->given[i], SYMBOL_MULTIPLIER, &list);
        for (size_t k = 0; k < count; k++) {
            graph_node slope = graph_partial(g, e->given[i], graph_symbol(g, SYMBOL_MULTIPLIER, list[k]));
            if (!pattern_add(s, &e->W, (int32_t)i, list[k], slope)) return false;
        }
    }
    return pattern_finish(s, &e->W);
}

static bool allocate_equations(hamel_equations *e) {
    hamel_system *s = e->system;
    e->momentum = node_array(s, e->n);
    e->Q = node_array(s, e->n);
    e->given = node_array(s, e->n);
    e->residual = node_array(s, e->n + e->m);
    e->b = node_array(s, e->m);
    e->position = node_array(s, e->m);
    e->velocity = node_array(s, e->m);
    return e->momentum && e->Q && e->given && e->residual && e->b && e->position && e->velocity;
}

static bool add_acceleration_energy(hamel_equations *e) {
    return e->system->acceleration_energy < 0 || appell_add_term(e, e->system->acceleration_energy);
}

hamel_status lagrange_derive(hamel_equations *e) {
    assert(e->n == e->system->coordinate_count && e->m <= e->system->constraint_count);
    hamel_system *s = e->system;
    if (!allocate_equations(e)) return equations_status(s);
    if (!add_terms(e) || equations_status(s) != HAMEL_OK || !add_acceleration_energy(e) || !add_given_forces(e) ||
        !pattern_finish(s, &e->M))
        return equations_status(s);
    hamel_status status = constraints_derive(e);
    if (status == HAMEL_OK) status = friction_derive(e);
    return status == HAMEL_OK ? energies_derive(e) : status;
}
