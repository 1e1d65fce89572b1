/* energy_rate.c — the rates of the Jacobi integral and of the energy of quasi-velocities, as sums of named terms.
 *
 *   h = Σ p_i q'_i − L,             dh/dt = Σ Q_i q'_i − ∂L/∂t − Σ λ_c a_ct                               Greenwood 4.355
 *   h* = Σ u_r ∂L* / ∂u_r − L*,      q' = Γ u + σ,   Q_r = Σ Q_i Γ_ir
 *   dh* / dt = Σ Q_r u_r + ∂V/∂t + Σ σ_i ∂V/∂q_i − Σ p·dγ_t/dt − Σ H·dβ_t/dt                             Greenwood 4.380
 *   dh* / dt = Σ Q_r u_r − ∂L* / ∂t − Σ σ_i ∂L* / ∂q_i − Σ (∂T/∂u_j) γ^j_r u_r              Greenwood 4.393, Talamucci (18)
 *
 * Q are the forces without a potential. L* is L in terms of the free velocities u. The last term of 4.393 equals
 *
 *   Σ p_i (∂(Γu)_i/∂t + Σ_k (σ_k ∂(Γu)_i/∂q_k − (Γu)_k ∂σ_i/∂q_k))                                        Talamucci (18)
 *
 * so the value of this term is computed without the coefficients γ. identity_find_zeros decides whether a term is 0. */
#include "engine/equations/freedoms.h"

#include "engine/algebra/identity.h"
#include "engine/mechanics/energy_rate.h"

#include <assert.h>
#include <string.h>

typedef struct rate_term {
    const char *name;
    const char *formula; /* remark if the term is not 0 */
    graph_node node;
    bool absent;          /* true if the term is 0 because the description lacks what the term describes */
    const char *without;  /* remark if `absent` is true */
    const char *vanishes; /* remark if the term is 0 although `absent` is false */
    bool is_zero;
} rate_term;

enum { MOST_RATE_TERMS = 8 };

typedef struct rate_terms {
    written *w;
    rate_term terms[MOST_RATE_TERMS];
    size_t count;
} rate_terms;

static void add_term(rate_terms *all, rate_term term) {
    written *w = all->w;
    assert(all->count < MOST_RATE_TERMS);
    if (w->acting < w->m && term.node >= 0)
        term.node = graph_substitute(w->system->graph, term.node, SYMBOL_MULTIPLIER, w->resting, w->m);
    all->terms[all->count++] = term;
}

/* Sets is_zero of each term. partner[count] receives, for each term that is not 0, the name of the first other term
 * with which the sum is 0, or NULL. Returns false if out of memory. */
static bool compare_terms(rate_terms *all, const char **partner) {
    graph *g = all->w->system->graph;
    graph_node nodes[MOST_RATE_TERMS + MOST_RATE_TERMS * MOST_RATE_TERMS];
    bool zero[MOST_RATE_TERMS + MOST_RATE_TERMS * MOST_RATE_TERMS];
    size_t n = all->count, count = 0;
    for (size_t i = 0; i < n; i++) {
        if (all->terms[i].node < 0) return false;
        nodes[count++] = all->terms[i].node;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) nodes[count++] = graph_add(g, all->terms[i].node, all->terms[k].node);
    if (graph_status(g) != HAMEL_OK || !identity_find_zeros(g, nodes, count, zero, all->w->memory)) return false;
    for (size_t i = 0; i < n; i++) all->terms[i].is_zero = zero[i];
    for (size_t i = 0; i < n; i++) {
        partner[i] = NULL;
        for (size_t k = n; k-- > 0;)
            if (k != i && !zero[i] && !zero[k] && zero[n + i * n + k]) partner[i] = all->terms[k].name;
    }
    return true;
}

static const char *remark_on(written *w, const rate_term *t, const char *partner) {
    if (t->is_zero) return t->absent ? t->without : t->vanishes;
    return partner ? arena_format(w->memory, "%s; cancels with %s", t->formula, partner) : t->formula;
}

/* Writes the terms under `title`, then their sum as the definition of the symbol `sum`, such as h'. */
static bool write_terms(rate_terms *all, const char *title, const char *sum) {
    written *w = all->w;
    graph *g = w->system->graph;
    const char *partner[MOST_RATE_TERMS];
    graph_node whole = graph_number(g, 0), zero = whole;
    bool vanishes;
    if (!compare_terms(all, partner)) return false;
    written_begin(w, title);
    for (size_t k = 0; k < all->count; k++) {
        const rate_term *t = &all->terms[k];
        if (!t->is_zero) whole = graph_add(g, whole, t->node);
        if (!written_remarked(w, "rate", t->name, t->is_zero ? zero : t->node, remark_on(w, t, partner[k])))
            return false;
    }
    if (!identity_find_zeros(g, &whole, 1, &vanishes, w->memory)) return false;
    written_begin(w, "sum of the terms");
    return written_remarked(w, sum, NULL, vanishes ? zero : whole, vanishes ? "the energy is conserved" : NULL);
}

/* --- rate of h, in the velocities of the coordinates -------------------------------------------------------------- */

static bool has_forces(const written *w) {
    for (size_t i = 0; i < w->n; i++)
        if (!graph_is_zero(w->system->graph, w->system->coordinates[i].force)) return true;
    return false;
}

/* Returns Σ C_i x_i, the power of the prescribed reactions C of nonideal constraints for the velocities x[n]. */
static graph_node prescribed_power(written *w, const graph_node *x) {
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; w->equations.nonideal && i < w->n; i++)
        sum = graph_add(g, sum, graph_mul(g, w->equations.nonideal[i], x[i]));
    return sum;
}

static void add_forces(rate_terms *all, const graph_node *x, bool coordinates) {
    written *w = all->w;
    const hamel_equations *e = &w->equations;
    add_term(all, (rate_term){.name = "impressed",
                              .formula = coordinates ? "sum of Q*q'" : "sum of Q*u",
                              .node = energy_power(e, ENERGY_IMPRESSED, x),
                              .absent = !has_forces(w),
                              .without = "all forces have a potential",
                              .vanishes = "the power of these forces is 0"});
    add_term(all, (rate_term){.name = "dissipation",
                              .formula = coordinates ? "-sum of dD/dq'*q'" : "-sum of dD/du*u",
                              .node = energy_power(e, ENERGY_DISSIPATION, x),
                              .absent = graph_is_zero(w->system->graph, w->system->dissipation),
                              .without = "no dissipation function",
                              .vanishes = "the power of the dissipation is 0"});
}

static void add_other_reactions(rate_terms *all, const graph_node *x) {
    written *w = all->w;
    add_term(all, (rate_term){.name = "nonideal",
                              .formula = "power of the prescribed reactions",
                              .node = prescribed_power(w, x),
                              .absent = !w->equations.nonideal,
                              .without = "no prescribed reactions",
                              .vanishes = "the power of the prescribed reactions is 0"});
    add_term(all, (rate_term){.name = "friction",
                              .formula = "power of friction",
                              .node = energy_power(&w->equations, ENERGY_FRICTION, x),
                              .absent = w->equations.F.count == 0,
                              .without = "no friction",
                              .vanishes = "the power of friction is 0"});
}

static bool terms_depend_on_time(written *w) {
    size_t count;
    const graph_node *terms = energies_lagrangian_terms(w->system, &count);
    for (size_t k = 0; terms && k < count; k++)
        if (graph_depends(w->system->graph, terms[k]) & GRAPH_DEPENDS(SYMBOL_TIME)) return true;
    return false;
}

/* Returns true if f is homogeneous of a degree k from 1 to 4 in the velocities. `power` is Σ q'_i ∂f/∂q'_i, which then
 * equals k f (Greenwood 4.346). On the constraint f = 0, this power is 0. */
static bool is_homogeneous(written *w, graph_node f, graph_node power) {
    enum { DEGREES = 4 };
    graph *g = w->system->graph;
    graph_node difference[DEGREES];
    bool zero[DEGREES] = {false}, found = false;
    for (int k = 0; k < DEGREES; k++) difference[k] = graph_sub(g, power, graph_mul(g, graph_number(g, k + 1), f));
    if (!identity_find_zeros(g, difference, DEGREES, zero, w->memory)) return false;
    for (int k = 0; k < DEGREES; k++) found |= zero[k];
    return found;
}

static graph_node reactions_power(written *w) {
    hamel_system *s = w->system;
    graph *g = s->graph;
    const graph_node *zeros = node_array(s, w->n);
    graph_node sum = graph_number(g, 0);
    for (size_t c = 0; zeros && c < s->ideal_count; c++) {
        if (!w->acts[c] || s->constraints[c].direction) continue;
        graph_node power = energy_constraint_power(&w->equations, c, zeros);
        if (s->constraints[c].order == CONSTRAINT_VELOCITY && is_homogeneous(w, s->constraints[c].equation, power))
            continue;
        sum = graph_add(g, sum, graph_mul(g, power, graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c)));
    }
    return zeros ? graph_add(g, sum, energy_servo_power(&w->equations, s->v)) : GRAPH_NONE;
}

bool write_energy_rate(written *w) {
    rate_terms all = {.w = w};
    if (energies_need_momentum(&w->equations, 0, "energy rate") < 0) return false;
    w->law = "dh/dt = sum of rate[...]; if V contains no velocities, h = T2 - T0 + V, where T = T2 + T1 + T0 by degree "
             "in the velocities";
    written_begin(w, "Jacobi integral: h = sum of dL/dq'*q' - L");
    if (!written_definition(w, "h", w->equations.jacobi)) return false;
    add_forces(&all, w->system->v, true);
    add_term(&all, (rate_term){.name = "time",
                               .formula = "-dL/dt",
                               .node = energy_rate_term(&w->equations, ENERGY_TIME),
                               .absent = !terms_depend_on_time(w),
                               .without = "L does not depend explicitly on time",
                               .vanishes = "the derivatives cancel"});
    add_term(&all, (rate_term){.name = "reactions",
                               .formula = "power of the reactions",
                               .node = reactions_power(w),
                               .absent = w->acting == 0,
                               .without = "no constraints",
                               .vanishes = "all constraints are catastatic or homogeneous"});
    add_other_reactions(&all, w->system->v);
    return write_terms(&all, "terms of dh/dt", "h'");
}

/* --- rate of h*, in the free velocities --------------------------------------------------------------------------- */

typedef struct quasi_rate {
    written *w;
    const freedoms *f;
    graph_node *drift;  /* drift[n]: σ */
    graph_node *linear; /* linear[n]: Γ u */
    graph_node L;       /* L* */
    bool stationary;    /* true if Γ does not contain t */
    bool homogeneous;   /* true if σ is 0 */
} quasi_rate;

static bool split_kinematics(quasi_rate *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    size_t most = w->n + w->extra_count, count;
    const graph_node *zeros = node_array(w->system, most), *terms = energies_lagrangian_terms(w->system, &count);
    r->drift = node_array(w->system, w->n);
    r->linear = node_array(w->system, w->n);
    if (!zeros || !terms || !r->drift || !r->linear) return false;
    r->stationary = r->homogeneous = true;
    for (size_t i = 0; i < w->n; i++) {
        graph_node v = r->f->velocity[i] >= 0 ? r->f->velocity[i] : w->system->v[i];
        r->drift[i] = written_arranged(w, graph_substitute(g, v, SYMBOL_VELOCITY, zeros, most));
        r->linear[i] = graph_is_zero(g, r->drift[i]) ? v : graph_sub(g, v, r->drift[i]);
        if (!graph_is_zero(g, r->drift[i])) r->homogeneous = false;
        if (graph_depends(g, r->linear[i]) & GRAPH_DEPENDS(SYMBOL_TIME)) r->stationary = false;
    }
    r->L = graph_number(g, 0);
    for (size_t k = 0; k < count; k++) r->L = graph_add(g, r->L, terms[k]);
    r->L = freedoms_substitute(w, r->f, r->L);
    return graph_status(g) == HAMEL_OK;
}

static bool write_quasi_energy(const quasi_rate *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    graph_node sum = graph_neg(g, r->L);
    for (size_t i = 0; i < w->n; i++) {
        graph_node p = freedoms_substitute(w, r->f, w->equations.momentum[i]);
        sum = graph_add(g, sum, graph_mul(g, p, r->linear[i]));
    }
    written_begin(w, "energy of the free velocities u: h* = sum of dL*/du*u - L*");
    return written_definition(w, "h*", sum);
}

/* Returns Σ_k along[k] ∂x/∂q_k, or ∂x/∂t at fixed q and u if `along` is NULL. */
static graph_node slope_along(const quasi_rate *r, graph_node x, const graph_node *along) {
    hamel_system *s = r->w->system;
    graph *g = s->graph;
    if (!along) return graph_partial(g, x, graph_symbol(g, SYMBOL_TIME, 0));
    graph_node sum = graph_number(g, 0);
    for (size_t k = 0; k < r->w->n; k++)
        if (!graph_is_zero(g, along[k])) sum = graph_add(g, sum, graph_mul(g, along[k], graph_partial(g, x, s->q[k])));
    return sum;
}

static graph_node transitivity_term(const quasi_rate *r) {
    written *w = r->w;
    graph *g = w->system->graph;
    graph_node sum = graph_number(g, 0);
    for (size_t i = 0; i < w->n; i++) {
        graph_node bracket = graph_add(g, slope_along(r, r->linear[i], NULL), slope_along(r, r->linear[i], r->drift));
        bracket = graph_sub(g, bracket, slope_along(r, r->drift[i], r->linear));
        graph_node p = freedoms_substitute(w, r->f, w->equations.momentum[i]);
        if (!graph_is_zero(g, bracket)) sum = graph_add(g, sum, graph_mul(g, p, bracket));
    }
    return sum;
}

/* Adds the terms time, drift and transitivity of Greenwood 4.393. */
static void add_transitivity(rate_terms *all, const quasi_rate *r) {
    graph *g = r->w->system->graph;
    add_term(all, (rate_term){.name = "time",
                              .formula = "-dL*/dt",
                              .node = graph_neg(g, slope_along(r, r->L, NULL)),
                              .absent = !(graph_depends(g, r->L) & GRAPH_DEPENDS(SYMBOL_TIME)),
                              .without = "L* does not depend explicitly on time",
                              .vanishes = "the derivatives cancel"});
    add_term(all, (rate_term){.name = "drift",
                              .formula = "-sum of dL*/dq*drift, where the drift is q' at u = 0",
                              .node = graph_neg(g, slope_along(r, r->L, r->drift)),
                              .absent = r->homogeneous,
                              .without = "no drift: q' = 0 at u = 0",
                              .vanishes = "L* does not change along the drift"});
    add_term(all, (rate_term){.name = "transitivity",
                              .formula = "-sum of dT/du[j]*gamma[j; r, t]*u[r] over j and r",
                              .node = transitivity_term(r),
                              .absent = r->homogeneous && r->stationary,
                              .without = "stationary kinematics: all gamma[j; r, t] are 0",
                              .vanishes = "the products cancel"});
}

/* Adds the terms potential and inertia of Greenwood 4.380. */
static void add_inertia_terms(rate_terms *all, const quasi_rate *r) {
    written *w = r->w;
    graph_node V = quasi_energy_term(&w->equations, true, r->drift);
    graph_node T = quasi_energy_term(&w->equations, false, r->drift);
    bool steady = r->homogeneous && !terms_depend_on_time(w);
    add_term(all, (rate_term){.name = "potential",
                              .formula = "dV/dt + sum of dV/dq*drift, where the drift is q' at u = 0",
                              .node = V < 0 ? V : freedoms_substitute(w, r->f, V),
                              .absent = steady || w->system->potential_count == 0,
                              .without =
                                  steady ? "no drift, and V does not depend explicitly on time" : "no potential energy",
                              .vanishes = "V does not change along the drift"});
    add_term(all, (rate_term){.name = "inertia",
                              .formula = "-sum of the momenta times the rates of the velocities at u = 0",
                              .node = T < 0 ? T : freedoms_substitute(w, r->f, T),
                              .absent = steady,
                              .without = "no drift, and T does not depend explicitly on time",
                              .vanishes = "the sum of the momenta times these rates is 0"});
}

static bool has_servo(const hamel_system *s) {
    for (size_t c = 0; c < s->ideal_count; c++)
        if (s->constraints[c].direction) return true;
    return false;
}

bool write_quasi_energy_rate(written *w, const freedoms *f, bool by_inertia) {
    hamel_system *s = w->system;
    rate_terms all = {.w = w};
    quasi_rate r = {.w = w, .f = f};
    if (energies_need_momentum(&w->equations, 0, "energy rate") < 0) return false;
    w->law = "dh*/dt = sum of rate[...]";
    if (!split_kinematics(&r) || !write_quasi_energy(&r)) return false;
    add_forces(&all, r.linear, false);
    if (by_inertia)
        add_inertia_terms(&all, &r);
    else
        add_transitivity(&all, &r);
    add_term(&all, (rate_term){.name = "reactions",
                               .formula = "power of servo-constraints",
                               .node = energy_servo_power(&w->equations, r.linear),
                               .absent = !has_servo(s),
                               .without = "the power of ideal reactions is 0",
                               .vanishes = "the power of servo-constraints is 0"});
    add_other_reactions(&all, r.linear);
    for (size_t k = 0; k < all.count; k++)
        if (all.terms[k].node >= 0) all.terms[k].node = freedoms_substitute(w, f, all.terms[k].node);
    return graph_status(s->graph) == HAMEL_OK && write_terms(&all, "terms of dh*/dt", "h*'");
}
