/* virtual_work.c — reactions of constraints, forces on quasi-velocities, and the virtual work on each body.
 *
 *     Θ_k = Σ A_ik Q_i,   Θ_0 = Q_0 + Σ A_i Q_i                                        (Papastavridis 3.4)
 *     R_k = d/dt ∂T/∂q'_k − ∂T/∂q_k − Q_k              of one body; Q_k: impressed forces on the body
 *
 * The sum of R_k over all bodies is Σ λ_c A_ck. In this sum, the virtual work of reactions between bodies cancels for
 * displacements that the constraints allow (d'Alembert's principle; Baruh 4.6; Papastavridis 3.2). */
#include "engine/algebra/arrange.h"
#include "engine/analyze/forces_int.h"

#include <string.h>

/* Largest numbers of coordinates and of bodies for which the virtual work on each body is listed. The product, 576,
 * bounds the number of inertia expressions, each of which contains all accelerations. */
enum { WORK_COORDINATES = 24, WORK_BODIES = 24 };

/* --- quasi-velocities ---------------------------------------------------------------------------------------------- */

/* Describes Θ_k of velocity k of the frame, or Θ_0 if k = n. `start` is the initial value of the sum: 0 for Θ_k, and
 * Q_0 for Θ_0. */
static hamel_status describe_quasi(force_work *w, hamel_generalized_force *to, size_t k, const graph_node *Q,
                                   const double *values, double start) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    const moving_frame *f = &w->frame;
    graph_node *factors = arena_alloc(a->memory, a->n, sizeof *factors), sum = graph_number(g, 0);
    if (!factors) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++) {
        factors[i] = k < a->n ? f->Phi[i * a->n + k] : f->Phi_t[i];
        sum = graph_add(g, sum, graph_mul(g, factors[i], Q[i]));
    }
    const double *factor = forces_values(a, &w->start, w->start.lambda, factors, a->n);
    if (!factor) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++)
        if (values[i] != 0) start += factor[i] * values[i];
    if (k == a->n) sum = graph_add(g, sum, Q[a->n]);
    return forces_describe(w, to, k < a->n ? f->names.items[k] : "t", sum, start, "a generalized force");
}

hamel_status quasi_forces_derive(force_work *w, hamel_action *to, const graph_node *Q, const double *values,
                                 graph_node temporal) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    graph_node *all = arena_alloc(a->memory, a->n + 1, sizeof *all);
    if (!all) return analysis_no_memory(a);
    memcpy(all, Q, a->n * sizeof *all);
    all[a->n] = temporal;
    double power = 0;
    hamel_status status = HAMEL_OK;
    if (to->temporal_known) {
        const double *value = forces_values(a, &w->start, w->start.lambda, &temporal, 1);
        if (!value) return analysis_no_memory(a);
        power = value[0];
        status = forces_describe(w, &to->temporal, "t", temporal, power, to->origin);
    }
    if (!w->framed || status != HAMEL_OK) return status;
    to->quasi = arena_alloc(a->memory, a->n, sizeof *to->quasi);
    if (!to->quasi) return analysis_no_memory(a);
    for (size_t k = 0; k < a->n && status == HAMEL_OK; k++) {
        graph_node sum = graph_number(g, 0);
        for (size_t i = 0; i < a->n; i++) sum = graph_add(g, sum, graph_mul(g, w->frame.Phi[i * a->n + k], Q[i]));
        if (graph_is_zero(g, arrange_within(g, sum, &a->work, a->memory))) continue;
        status = describe_quasi(w, &to->quasi[to->quasi_count++], k, all, values, 0);
    }
    if (status != HAMEL_OK || !to->temporal_known) return status;
    return describe_quasi(w, &to->quasi_temporal, a->n, all, values, power);
}

/* --- reactions ------------------------------------------------------------------------------------------------------ */

/* Sets the scope, the ends and the temporal component of the reaction of a joint. */
static hamel_status describe_joint(force_work *w, size_t c, hamel_action *to, graph_node *temporal) {
    hamel_system *s = w->a->system;
    for (size_t k = 0; k < s->interaction_count; k++) {
        const system_interaction *i = &s->interactions[k];
        wrench list[2];
        if (i->constraint != (int32_t)c) continue;
        size_t count = interaction_wrenches(s, i, list);
        for (size_t j = 0; j < count; j++)
            *temporal = graph_add(s->graph, *temporal, interaction_work(s, &list[j], w->a->n));
        to->temporal_known = true;
        return interaction_classify(w, to, i->ends);
    }
    return HAMEL_OK;
}

static hamel_status describe_reaction(force_work *w, size_t c, hamel_action *to) {
    analysis *a = w->a;
    graph *g = a->system->graph;
    graph_node *Q = node_array(a->system, a->n), lambda = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c);
    graph_node temporal = graph_number(g, 0);
    size_t first, count = pattern_row(&a->equations.A, (int32_t)c, &first);
    if (!Q) return analysis_stopped(a);
    for (size_t k = first; k < first + count; k++)
        Q[a->equations.A.entries[k].column] = graph_mul(g, lambda, a->equations.A.entries[k].node);
    to->origin = arena_format(a->memory, "%s", a->system->constraints[c].name);
    to->nature = "reaction";
    if (!to->origin) return analysis_no_memory(a);
    hamel_status status = describe_joint(w, c, to, &temporal);
    if (status == HAMEL_OK) status = forces_list(w, Q, &to->on, &to->count, to->origin);
    const double *values = forces_values(a, &w->start, w->start.lambda, Q, a->n);
    if (status != HAMEL_OK) return status;
    return values ? quasi_forces_derive(w, to, Q, values, temporal) : analysis_no_memory(a);
}

hamel_status reactions_derive(force_work *w) {
    analysis *a = w->a;
    hamel_status status = HAMEL_OK;
    w->out->reactions = arena_alloc(a->memory, a->m, sizeof *w->out->reactions);
    if (!w->out->reactions) return analysis_no_memory(a);
    for (size_t c = 0; c < a->m && status == HAMEL_OK; c++)
        if (a->model->active[c]) status = describe_reaction(w, c, &w->out->reactions[w->out->reaction_count++]);
    return status;
}

/* --- bodies --------------------------------------------------------------------------------------------------------- */

/* Adds d/dt ∂T/∂q'_k − ∂T/∂q_k of the kinetic energy T to nodes[k] for each k. For a constant mass, this is
 * m a·∂r/∂q_k. For a constant moment of inertia, this is (I ω' + ω × I ω)·∂ω/∂q'_k. These forms do not hold for a
 * variable mass. They also fail along the gradient of the norm of a quaternion, whose multiplier refers to Lagrange's
 * equations. */
static void add_inertia(hamel_system *s, graph_node T, graph_node *nodes) {
    graph *g = s->graph;
    for (size_t k = 0; k < s->coordinate_count; k++) {
        graph_node change = graph_rate(g, graph_partial(g, T, s->v[k]));
        nodes[k] = graph_add(g, nodes[k], graph_sub(g, change, graph_partial(g, T, s->q[k])));
    }
}

/* Adds the virtual work of an interaction on the body `element`, per δq_k, to nodes[n]. Returns false if no end of the
 * interaction belongs to the body. */
static bool add_interaction(const force_work *w, const system_interaction *i, int32_t element, graph_node *nodes) {
    hamel_system *s = w->a->system;
    wrench list[2];
    bool found = false;
    size_t count = interaction_wrenches(s, i, list);
    for (size_t j = 0; j < count; j++) {
        if (interaction_owner(s, list[j].element) != element) continue;
        for (size_t k = 0; k < w->a->n; k++) nodes[k] = graph_add(s->graph, nodes[k], interaction_work(s, &list[j], k));
        found = true;
    }
    return found;
}

static bool acts(const force_work *w, const system_interaction *i) {
    return i->constraint < 0 || ((size_t)i->constraint < w->a->m && w->a->model->active[i->constraint]);
}

/* Lists the impressed forces and joint reactions on one body. Subtracts the impressed forces from rest[n]. */
static hamel_status list_forces(force_work *w, hamel_body_work *to, int32_t element, graph_node *rest) {
    analysis *a = w->a;
    hamel_system *s = a->system;
    hamel_status status = HAMEL_OK;
    to->forces = arena_alloc(a->memory, s->interaction_count, sizeof *to->forces);
    if (!to->forces) return analysis_no_memory(a);
    for (size_t k = 0; k < s->interaction_count && status == HAMEL_OK; k++) {
        const system_interaction *i = &s->interactions[k];
        graph_node *nodes = acts(w, i) ? node_array(s, a->n) : NULL;
        if (!nodes && acts(w, i)) return analysis_stopped(a);
        if (!nodes || !add_interaction(w, i, element, nodes)) continue;
        hamel_action *force = &to->forces[to->force_count++];
        bool joint = i->constraint >= 0;
        force->origin = arena_format(a->memory, "%s", joint ? s->constraints[i->constraint].name : i->origin);
        force->nature = joint ? "reaction" : "impressed";
        if (!force->origin) return analysis_no_memory(a);
        if (i->kind == INTERACTION_GRAVITY || i->kind == INTERACTION_LOAD)
            force->scope = "external";
        else
            status = interaction_classify(w, force, i->ends);
        if (status == HAMEL_OK) status = forces_list(w, nodes, &force->on, &force->count, force->origin);
        for (size_t j = 0; j < a->n && !joint; j++) rest[j] = graph_sub(s->graph, rest[j], nodes[j]);
    }
    return status;
}

/* Fills the virtual work on one body, and adds the reactions on this body to sum[n]. */
static hamel_status fill_body(force_work *w, hamel_body_work *to, int32_t element, graph_node *sum) {
    analysis *a = w->a;
    hamel_system *s = a->system;
    const system_located *e = &s->binder->located[element];
    graph_node *rest = node_array(s, a->n);
    if (!rest) return analysis_stopped(a);
    to->name = arena_format(a->memory, "%s", e->name);
    to->kind = arena_format(a->memory, "%s", e->kind);
    if (!to->name || !to->kind) return analysis_no_memory(a);
    for (size_t k = 0; k < s->particle_count; k++)
        for (int c = 0; c < 3 && s->particles[k].element == element; c++)
            add_inertia(s, energies_kinetic_of_particle(s, &s->particles[k], c), rest);
    for (size_t k = 0; k < s->rotor_count; k++)
        if (s->rotors[k].element == element) add_inertia(s, energies_kinetic_of_rotor(s, &s->rotors[k]), rest);
    hamel_status status = forces_list(w, rest, &to->inertia, &to->inertia_count, to->name);
    if (status == HAMEL_OK) status = list_forces(w, to, element, rest);
    if (status != HAMEL_OK || w->out->reactions_omitted) return status;
    for (size_t i = 0; i < a->n; i++) sum[i] = graph_add(s->graph, sum[i], rest[i]);
    return forces_list(w, rest, &to->reactions, &to->reaction_count, to->name);
}

hamel_status body_work_derive(force_work *w, bool attributed) {
    analysis *a = w->a;
    hamel_system *s = a->system;
    hamel_forces *out = w->out;
    if (a->n > WORK_COORDINATES || s->particle_count > WORK_BODIES) {
        out->work_omitted = "the system has more than 24 coordinates or more than 24 bodies and particles";
        return HAMEL_OK;
    }
    if (!attributed) out->reactions_omitted = "the description does not name the bodies on which some forces act";
    if (s->kinetic_given > 0 || s->lagrangian >= 0 || s->acceleration_energy >= 0)
        out->reactions_omitted = "an energy is given as an expression, which may belong to unknown bodies";
    out->bodies = arena_alloc(a->memory, s->particle_count, sizeof *out->bodies);
    graph_node *sum = node_array(s, a->n);
    if (!out->bodies || !sum) return analysis_stopped(a);
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < s->particle_count && status == HAMEL_OK; k++) {
        if (system_interrupted(s)) return a->error->status;
        status = fill_body(w, &out->bodies[out->body_count++], s->particles[k].element, sum);
    }
    if (status != HAMEL_OK || out->reactions_omitted) return status;
    return forces_list(w, sum, &out->reaction_sum, &out->reaction_sum_count, "the sum of the reactions");
}
