/* transitivity.c — Hamel's coefficients of the quasi-velocities of a description.
 *
 * The quasi-velocities are u_j = Σ Ψ_ji q'_i + Ψ_jt, and their inverse is q'_i = Σ Φ_ik u_k + Φ_it. Hamel's
 * coefficients are (Greenwood 4.383; Papastavridis 2.10.1 to 2.10.3)
 *
 *     γ^j_rl = Σ_ik (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) Φ_kl Φ_ir
 *     γ^j_r  = Σ_ik (∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i) Φ_kt Φ_ir + Σ_i (∂Ψ_ji/∂t − ∂Ψ_jt/∂q_i) Φ_ir
 *     d/dt δθ_j − δu_j = Σ_rl γ^j_rl u_l δθ_r + Σ_r γ^j_r δθ_r
 *
 * If there are fewer quasi-velocities than coordinates, the set is completed by velocity forms of constraints and then
 * by velocities of coordinates. */
#include "engine/algebra/arrange.h"
#include "engine/algebra/eliminate.h"
#include "engine/analyze/moving_frame.h"
#include "engine/base/tolerances.h"

#include <assert.h>
#include <string.h>

static bool allocate_frame(moving_frame *f) {
    arena *m = f->a->memory;
    size_t n = f->n;
    graph_node **const lists[] = {&f->Psi, &f->Phi, &f->Psi_t, &f->Phi_t};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        *lists[k] = arena_alloc(m, k < 2 ? n * n : n, sizeof **lists[k]);
    f->zeros = node_array(f->a->system, n);
    f->values = arena_doubles(m, n);
    f->names.items = arena_alloc(m, n, sizeof *f->names.items);
    return rank_rows_init(&f->basis, n, n, SAMPLED_RANK_TOLERANCE) && f->zeros && !m->failed;
}

/* Adds the velocity u if it is independent of the velocities chosen so far. */
static hamel_status offer_velocity(moving_frame *f, graph_node u, const char *name, const char *after) {
    assert(f->names.count <= f->n);
    analysis *a = f->a;
    graph *g = a->system->graph;
    size_t k = f->names.count;
    if (k == f->n) return HAMEL_OK;
    graph_node *row = f->Psi + k * f->n;
    for (size_t i = 0; i < f->n; i++) row[i] = graph_partial(g, u, a->system->v[i]);
    f->Psi_t[k] = graph_substitute(g, u, SYMBOL_VELOCITY, f->zeros, f->n);
    if (graph_status(g) != HAMEL_OK) return equations_status(a->system);
    hamel_status status = zero_values(a, &a->samples[0], false, row, f->n, f->values);
    if (status != HAMEL_OK || !rank_rows_add(&f->basis, f->values)) return status;
    f->names.items[f->names.count++] = arena_format(a->memory, "%s%s", name, after);
    return f->names.items[k] ? HAMEL_OK : analysis_no_memory(a);
}

static hamel_status choose_velocities(moving_frame *f) {
    const analysis *a = f->a;
    const hamel_system *s = a->system;
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < s->quasi_count && status == HAMEL_OK; k++)
        status = offer_velocity(f, s->quasi[k].definition, s->quasi[k].name, "");
    for (size_t c = 0; c < a->m && status == HAMEL_OK; c++)
        if (a->linear[c] && a->equations.velocity[c] >= 0)
            status = offer_velocity(f, a->equations.velocity[c], s->constraints[c].name, "");
    for (size_t i = 0; i < f->n && status == HAMEL_OK; i++)
        status = offer_velocity(f, s->v[i], s->coordinates[i].name, "'");
    return status;
}

/* Computes Φ and Φ_t by elimination. The quasi-velocities are symbols on the right-hand side. Sets *good to false if
 * the expressions are too long. */
static hamel_status invert(moving_frame *f, bool *good) {
    analysis *a = f->a;
    graph *g = a->system->graph;
    size_t n = f->n, width = n + 1;
    graph_node *table = arena_alloc(a->memory, n * width, sizeof *table), *below;
    int *pivots = arena_alloc(a->memory, n, sizeof *pivots);
    *good = false;
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t k = 0; k < n; k++) {
        memcpy(table + k * width, f->Psi + k * n, n * sizeof *table);
        table[k * width + n] = graph_sub(g, graph_symbol(g, SYMBOL_FREE, (int32_t)k), f->Psi_t[k]);
    }
    if (graph_below(g, table, n * width, a->memory, &below) > FRAME_NODES) return HAMEL_OK;
    const graph_point near = sample_point(a, &a->samples[0], false);
    if (!eliminate_within(g, table, n, n, &near, pivots, n, &a->work, a->memory)) return analysis_stopped(a);
    for (size_t k = 0; k < n; k++) {
        if (pivots[k] < 0) return HAMEL_OK;
        size_t i = (size_t)pivots[k];
        graph_node right = table[k * width + n];
        for (size_t u = 0; u < n; u++)
            f->Phi[i * n + u] = graph_partial(g, right, graph_symbol(g, SYMBOL_FREE, (int32_t)u));
        f->Phi_t[i] = graph_substitute(g, right, SYMBOL_FREE, f->zeros, n);
    }
    *good = true;
    return HAMEL_OK;
}

/* Returns ∂Ψ_ji/∂q_k − ∂Ψ_jk/∂q_i. */
static graph_node curl_of(const moving_frame *f, size_t j, size_t i, size_t k) {
    graph *g = f->a->system->graph;
    const graph_node *row = f->Psi + j * f->n, *q = f->a->system->q;
    return graph_sub(g, graph_partial(g, row[i], q[k]), graph_partial(g, row[k], q[i]));
}

/* Returns γ^j_rl, or γ^j_r if l = n. */
static graph_node coefficient_of(const moving_frame *f, const graph_node *curl, size_t j, size_t r, size_t l) {
    assert(j < f->n && r < f->n && l <= f->n);
    graph *g = f->a->system->graph;
    graph_node sum = graph_number(g, 0), time = graph_symbol(g, SYMBOL_TIME, 0);
    for (size_t i = 0; i < f->n; i++) {
        graph_node phi = f->Phi[i * f->n + r], part = graph_number(g, 0);
        if (graph_is_zero(g, phi)) continue;
        for (size_t k = 0; k < f->n; k++)
            part = graph_add(g, part, graph_mul(g, curl[i * f->n + k], l < f->n ? f->Phi[k * f->n + l] : f->Phi_t[k]));
        if (l == f->n) {
            part = graph_add(g, part, graph_partial(g, f->Psi[j * f->n + i], time));
            part = graph_sub(g, part, graph_partial(g, f->Psi_t[j], f->a->system->q[i]));
        }
        sum = graph_add(g, sum, graph_mul(g, part, phi));
    }
    return sum;
}

static bool keep_coefficient(moving_frame *f, frame_coefficient c) {
    graph *g = f->a->system->graph;
    c.value = arrange_within(g, c.value, &f->a->work, f->a->memory);
    if (c.value < 0 || graph_is_zero(g, c.value)) return c.value >= 0;
    frame_coefficient *items = arena_grow(f->a->memory, f->items, &f->item_capacity, f->item_count + 1, sizeof *items);
    if (!items) return false;
    f->items = items;
    items[f->item_count++] = c;
    return true;
}

static bool list_coefficients(moving_frame *f) {
    graph_node *curl = arena_alloc(f->a->memory, f->n * f->n, sizeof *curl);
    if (!curl) return false;
    for (size_t j = 0; j < f->n; j++) {
        for (size_t i = 0; i < f->n; i++)
            for (size_t k = 0; k < f->n; k++) curl[i * f->n + k] = curl_of(f, j, i, k);
        for (size_t r = 0; r < f->n; r++)
            for (size_t l = r + 1; l <= f->n; l++) {
                frame_coefficient c = {.of = j, .first = r, .second = l, .value = coefficient_of(f, curl, j, r, l)};
                if (!keep_coefficient(f, c)) return false;
            }
    }
    return true;
}

/* Removes the coefficients that are 0 at all samples within rounding errors, although they do not simplify to 0. */
static hamel_status drop_vanishing(moving_frame *f) {
    analysis *a = f->a;
    size_t kept = 0;
    for (size_t k = 0; k < f->item_count; k++)
        if (!zero_test_add(a, f->items[k].value, &f->items[k].present, NULL)) return analysis_no_memory(a);
    hamel_status status = zero_tests_run(a);
    for (size_t k = 0; k < f->item_count && status == HAMEL_OK; k++)
        if (f->items[k].present) f->items[kept++] = f->items[k];
    f->item_count = kept;
    return status;
}

hamel_status moving_frame_create(moving_frame *f, analysis *a, bool *good) {
    *f = (moving_frame){.a = a, .n = a->n};
    *good = false;
    if (a->system->quasi_count == 0 || a->n > VELOCITIES_MOST) return HAMEL_OK;
    analysis_begin_work(a);
    hamel_status status = allocate_frame(f) ? choose_velocities(f) : analysis_no_memory(a);
    rank_rows_free(&f->basis);
    if (status == HAMEL_OK) status = invert(f, good);
    if (status == HAMEL_OK && *good && !list_coefficients(f)) status = analysis_stopped(a);
    *good = *good && !a->work.spent;
    return status == HAMEL_OK && *good ? drop_vanishing(f) : status;
}

/* Sets *good to false if a text is too long. */
static hamel_status report_coefficients(const moving_frame *f, bool *good) {
    analysis *a = f->a;
    hamel_report *r = a->report;
    r->frame = f->names;
    r->coefficients = arena_alloc(a->memory, f->item_count, sizeof *r->coefficients);
    if (!r->coefficients) return analysis_no_memory(a);
    for (size_t k = 0; k < f->item_count && *good; k++) {
        const frame_coefficient *c = &f->items[k];
        hamel_coefficient *to = &r->coefficients[r->coefficient_count++];
        to->of = f->names.items[c->of];
        to->first = f->names.items[c->first];
        to->second = c->second < f->n ? f->names.items[c->second] : "t";
        to->value = analysis_text(a, c->value, ANALYSIS_TEXT_MOST);
        *good = to->value != NULL;
    }
    return HAMEL_OK;
}

hamel_status transitivity_derive(analysis *a) {
    moving_frame f;
    bool good;
    if (a->system->quasi_count == 0 || a->n > VELOCITIES_MOST) return HAMEL_OK;
    hamel_status status = moving_frame_create(&f, a, &good);
    if (status == HAMEL_OK && good) status = report_coefficients(&f, &good);
    if (status != HAMEL_OK || good) return status;
    a->report->frame.count = a->report->coefficient_count = 0;
    analysis_unfinished(a, "transitivity");
    return HAMEL_OK;
}
