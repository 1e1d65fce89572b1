/* quasi_derivatives.c — the operators ∂/∂θ_k = Σ A_ik ∂/∂q_i and their commutators (Papastavridis 2.9.30, 2.10.20).
 *
 * The coefficients of the commutators are Hamel's coefficients γ^b_rl. With the operators X_k = Σ A_ik ∂/∂q_i and
 * X_t = ∂/∂t + Σ A_i ∂/∂q_i, the dual forms θ^b = Σ Ψ_bi dq_i + Ψ_bt dt satisfy θ^b([X_r, X_l]) = −dθ^b(X_r,
 * X_l) = γ^b_rl. */
#include "engine/analyze/displacements_int.h"

static bool add_derivative(displacement_work *w, size_t k) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    const moving_frame *f = &w->frame;
    graph_node sum = k < f->n ? graph_number(g, 0) : displacement_of_time(w);
    for (size_t i = 0; i < f->n; i++) {
        graph_node factor = k < f->n ? f->Phi[i * f->n + k] : f->Phi_t[i];
        sum = graph_add(g, sum, graph_mul(g, displacement_arranged(w, factor), displacement_of(w, i)));
    }
    hamel_quasi_derivative *to = &w->out->derivatives[w->out->derivative_count++];
    to->of = k < f->n ? f->names.items[k] : "t";
    to->expression = displacement_text(w, displacement_arranged(w, sum), STYLE_OPERATOR);
    return to->expression != NULL;
}

/* Adds the commutator of the operators r and l > r, unless all its coefficients are 0. */
static bool add_commutator(displacement_work *w, size_t r, size_t l) {
    const moving_frame *f = &w->frame;
    graph *g = w->a->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < f->item_count; k++)
        if (f->items[k].first == r && f->items[k].second == l)
            sum = graph_add(g, sum, graph_mul(g, f->items[k].value, displacement_of_velocity(w, f->items[k].of)));
    if (graph_is_zero(g, sum)) return true;
    hamel_commutator *to = &w->out->commutators[w->out->commutator_count++];
    to->first = f->names.items[r];
    to->second = l < f->n ? f->names.items[l] : "t";
    to->expression = displacement_text(w, displacement_arranged(w, sum), STYLE_OPERATOR);
    return to->expression != NULL;
}

hamel_status quasi_derivatives_derive(displacement_work *w) {
    analysis *a = w->a;
    size_t n = w->frame.n;
    w->out->derivatives = arena_alloc(a->memory, n + 1, sizeof *w->out->derivatives);
    w->out->commutators = arena_alloc(a->memory, n * (n + 1) / 2, sizeof *w->out->commutators);
    if (a->memory->failed) return analysis_no_memory(a);
    for (size_t k = 0; k <= n; k++)
        if (!add_derivative(w, k)) return a->error->status;
    for (size_t r = 0; r < n; r++)
        for (size_t l = r + 1; l <= n; l++)
            if (!add_commutator(w, r, l)) return a->error->status;
    return HAMEL_OK;
}
