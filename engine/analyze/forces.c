/* forces.c — generalized forces of each element and the reaction of a relaxed constraint, in the initial state.
 *
 *   Q_i = −∂V/∂q_i, or F·∂r/∂q_i               coefficient of δq_i in the virtual work of an element (Baruh 4.5)
 *   E_i − Σ λ_k A_ki = λ_c A_ci, k ≠ c         E_i: left-hand side of Lagrange's equation minus forces (Baruh 4.10)
 *
 * In the second line constraint c is relaxed: its reaction is treated as an unknown force. */
#include "engine/algebra/arrange.h"
#include "engine/analyze/forces_int.h"
#include "engine/mechanics/generalized_forces.h"

#include <assert.h>
#include <math.h>
#include <string.h>

double *forces_values(const analysis *a, const start_motion *s, const double *lambda, const graph_node *nodes,
                      size_t count) {
    program_inputs in = model_inputs(a->model, &s->t, s->q, s->v, s->a, lambda, s->a);
    graph_point point = {{0}, {0}, {0}};
    double *values = arena_doubles(a->memory, count);
    in.values[SYMBOL_IDEAL] = s->ideal;
    in.values[SYMBOL_NONIDEAL] = s->nonideal;
    memcpy(point.values, in.values, sizeof point.values);
    return values && graph_values(a->system->graph, nodes, count, &point, values, NULL) ? values : NULL;
}

hamel_status forces_describe(force_work *w, hamel_generalized_force *to, const char *on, graph_node shown, double value,
                             const char *what) {
    analysis *a = w->a;
    if (!isfinite(value))
        return hamel_fail(a->error, HAMEL_NOT_FINITE, "", 0, "%s on `%s` is not finite in the initial state", what, on);
    to->coordinate = arena_format(a->memory, "%s", on);
    to->expression = analysis_text(a, arrange_within(a->system->graph, shown, &a->work, a->memory), 1 << 20);
    to->value = value == 0 ? 0 : value; /* replaces −0 by 0 */
    return to->coordinate && to->expression ? HAMEL_OK : analysis_no_memory(a);
}

hamel_status forces_list(force_work *w, const graph_node *nodes, hamel_generalized_force **to, size_t *to_count,
                         const char *what) {
    analysis *a = w->a;
    graph_node *arranged = arena_alloc(a->memory, a->n, sizeof *arranged);
    *to = arena_alloc(a->memory, a->n, sizeof **to);
    *to_count = 0;
    if (!arranged || !*to) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++) arranged[i] = arrange_within(a->system->graph, nodes[i], &a->work, a->memory);
    if (graph_status(a->system->graph) != HAMEL_OK) return analysis_stopped(a);
    const double *values = forces_values(a, &w->start, w->start.lambda, arranged, a->n);
    hamel_status status = values ? HAMEL_OK : analysis_no_memory(a);
    for (size_t i = 0; i < a->n && status == HAMEL_OK; i++)
        if (!graph_is_zero(a->system->graph, arranged[i]))
            status =
                forces_describe(w, &(*to)[(*to_count)++], a->system->coordinates[i].name, arranged[i], values[i], what);
    return status;
}

/* --- forces ------------------------------------------------------------------------------------------------------- */

/* Returns the friction force. No expression is evaluated, because the force depends on whether the contact is
 * sticking. */
static double friction_value(const analysis *a, const start_motion *s, const generalized_force *f) {
    assert(f->friction >= 0 && (size_t)f->friction < a->system->friction_count);
    const sparse_block *F = &a->model->dynamics.F, *A = &a->model->dynamics.A;
    const system_friction *by = &a->system->frictions[f->friction];
    double sum = 0;
    for (size_t e = 0; e < F->count; e++)
        if (F->row[e] == f->coordinate && F->column[e] == f->friction)
            sum += s->values[a->model->dynamics.F.at + e] * fabs(s->lambda[by->constraint]);
    for (size_t e = 0; e < A->count && by->row >= 0; e++)
        if (A->row[e] == by->row && A->column[e] == f->coordinate)
            sum += s->values[a->model->dynamics.A.at + e] * s->lambda[by->row];
    return sum;
}

/* Returns the temporal component Q_0 of the forces with this origin. Stores in *known whether the points of action are
 * known. Sets *attributed to false if these points or the bodies on which the forces act are unknown. */
static graph_node temporal_of(const force_work *w, const char *origin, bool *known, bool *attributed) {
    hamel_system *s = w->a->system;
    graph_node sum = graph_number(s->graph, 0);
    *known = false;
    for (size_t k = 0; k < s->interaction_count; k++) {
        wrench list[2];
        if (s->interactions[k].origin != origin || s->interactions[k].constraint >= 0) continue;
        size_t count = interaction_wrenches(s, &s->interactions[k], list);
        for (size_t j = 0; j < count; j++) {
            sum = graph_add(s->graph, sum, interaction_work(s, &list[j], w->a->n));
            if (interaction_owner(s, list[j].element) == OWNER_UNKNOWN) *attributed = false;
        }
        *known = true;
    }
    *attributed = *attributed && *known;
    return sum;
}

/* Sets the nature, the scope and the ends of the forces with one origin. Sliding friction is impressed, because the law
 * of friction gives its magnitude. Sticking friction is a reaction (Papastavridis, example 3.2.1). */
static hamel_status classify(force_work *w, hamel_action *to, const generalized_force *f) {
    const hamel_system *s = w->a->system;
    to->nature = "impressed";
    if (f->prescribed) to->nature = "reaction";
    if (f->friction >= 0) {
        const system_friction *own = &s->frictions[f->friction];
        if (own->row >= 0 && w->start.active[own->row]) to->nature = "reaction";
        return interaction_classify(w, to, own->ends);
    }
    for (size_t k = 0; k < s->interaction_count; k++) {
        const system_interaction *i = &s->interactions[k];
        if (i->origin != f->origin || i->constraint >= 0) continue;
        if (i->kind == INTERACTION_SPRING || i->kind == INTERACTION_DAMPER) return interaction_classify(w, to, i->ends);
        to->scope = "external"; /* gravity and loads */
        return HAMEL_OK;
    }
    return HAMEL_OK;
}

/* The forces of one origin: all[first] to all[end − 1]. */
typedef struct origin_range {
    const generalized_force *all;
    size_t first, end;
    /* values of the forces with the multipliers of the motion, and with the multipliers of the ideal reactions */
    const double *value, *ideal;
} origin_range;

/* Fills an action. Prescribed forces are evaluated with the multipliers of the ideal reactions. Sets *attributed to
 * false if the bodies on which the forces act are unknown. */
static hamel_status fill_action(force_work *w, hamel_action *to, const origin_range *of, bool *attributed) {
    analysis *a = w->a;
    const generalized_force *first = &of->all[of->first];
    graph_node *Q = node_array(a->system, a->n);
    double *values = arena_doubles(a->memory, a->n);
    to->origin = arena_format(a->memory, "%s", first->origin);
    to->on = arena_alloc(a->memory, of->end - of->first, sizeof *to->on);
    if (!Q || a->memory->failed) return analysis_no_memory(a);
    for (size_t k = of->first; k < of->end; k++) {
        const generalized_force *f = &of->all[k];
        if (system_interrupted(a->system)) return a->error->status;
        double own = f->friction >= 0 ? friction_value(a, &w->start, f) : (f->prescribed ? of->ideal : of->value)[k];
        Q[f->coordinate] = f->node;
        values[f->coordinate] = own;
        hamel_status status = forces_describe(w, &to->on[to->count++], a->system->coordinates[f->coordinate].name,
                                              f->node, own, to->origin);
        if (status != HAMEL_OK) return status;
    }
    graph_node temporal = temporal_of(w, first->origin, &to->temporal_known, attributed);
    hamel_status status = classify(w, to, first);
    return status == HAMEL_OK ? quasi_forces_derive(w, to, Q, values, temporal) : status;
}

/* Fills w->out->actions, one action for each origin. Stores in *attributed whether the bodies are known on which the
 * impressed forces act. */
static hamel_status fill_in(force_work *w, const generalized_force *all, size_t count, bool *attributed) {
    analysis *a = w->a;
    hamel_status status = HAMEL_OK;
    graph_node *nodes = arena_alloc(a->memory, count, sizeof *nodes);
    if (!nodes) return analysis_no_memory(a);
    for (size_t k = 0; k < count; k++) nodes[k] = all[k].node;
    origin_range of = {.all = all,
                       .value = forces_values(a, &w->start, w->start.lambda, nodes, count),
                       .ideal = forces_values(a, &w->start, w->start.ideal_lambda, nodes, count)};
    if (!of.value || !of.ideal) return analysis_no_memory(a);
    *attributed = true;
    for (of.first = 0; of.first < count && status == HAMEL_OK; of.first = of.end) {
        for (of.end = of.first + 1; of.end < count && all[of.end].origin == all[of.first].origin;) of.end++;
        status = fill_action(w, &w->out->actions[w->out->count++], &of, attributed);
    }
    return status;
}

/* Computes the inverse kinematics of the quasi-velocities. If this is not possible, sets quasi_omitted. */
static hamel_status open_frame(force_work *w) {
    analysis *a = w->a;
    if (a->system->quasi_count == 0) return HAMEL_OK;
    a->report = arena_alloc(a->memory, 1, sizeof *a->report);
    if (!a->report || !analysis_begin_report(a)) return analysis_no_memory(a);
    hamel_status status = samples_draw(a);
    if (status == HAMEL_OK) status = regions_draw(a);
    if (status == HAMEL_OK) status = structure_derive(a);
    if (status == HAMEL_OK) status = moving_frame_create(&w->frame, a, &w->framed);
    w->out->quasi_omitted = !w->framed;
    return status;
}

static hamel_status find_forces(analysis *a, void *result, void *context) {
    force_work w = {.a = a, .out = result};
    generalized_force *all;
    size_t count;
    bool attributed = false;
    (void)context;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = open_frame(&w);
    if (status == HAMEL_OK) status = start_motion_find(a, &w.start);
    if (status != HAMEL_OK) return status;
    analysis_begin_work(a);
    status = generalized_forces_list(&a->equations, a->memory, &all, &count);
    if (status != HAMEL_OK) return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
    if (!(w.out->actions = arena_alloc(a->memory, count, sizeof *w.out->actions))) return analysis_no_memory(a);
    if ((status = fill_in(&w, all, count, &attributed)) == HAMEL_OK) status = reactions_derive(&w);
    if (status == HAMEL_OK) status = body_work_derive(&w, attributed);
    return status == HAMEL_OK ? relative_motion_derive(&w) : status;
}

static hamel_status find_constraint(analysis *a, hamel_argument asked, size_t *index) {
    const char *name = asked.name;
    int32_t found = system_constraint_index(a->system, name);
    if (found < 0) {
        (void)hamel_fail(a->error, HAMEL_INVALID, asked.pointer, 0, "there is no constraint `%s` to relax", name);
        const char *nearest = system_nearest_constraint(a->system, name);
        if (nearest) hamel_suggest(a->error, "did you mean `%s`?", nearest);
        return HAMEL_INVALID;
    }
    if ((size_t)found >= a->m || !a->model->active[found])
        return hamel_fail(a->error, HAMEL_INVALID, asked.pointer, 0, "the constraint `%s` does not act at the start",
                          name);
    if (a->system->constraints[found].direction)
        return hamel_fail(a->error, HAMEL_INVALID, asked.pointer, 0,
                          "the constraint `%s` cannot be relaxed, because its reaction has a given direction; use the "
                          "output reaction(%s, x) for a coordinate x",
                          name, name);
    *index = (size_t)found;
    return HAMEL_OK;
}

static hamel_status relax(analysis *a, void *result, void *context) {
    hamel_relaxation *to = result;
    const hamel_argument *constraint = context;
    size_t c = 0, first;
    force_work w = {.a = a};
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = find_constraint(a, *constraint, &c);
    if (status == HAMEL_OK) status = start_motion_find(a, &w.start);
    if (status != HAMEL_OK) return status;
    analysis_begin_work(a);
    graph *g = a->system->graph;
    size_t count = pattern_row(&a->equations.A, (int32_t)c, &first);
    const matrix_entry *row = a->equations.A.entries + first;
    graph_node lambda = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c);
    graph_node *nodes = arena_alloc(a->memory, count, sizeof *nodes);
    if (!nodes) return analysis_no_memory(a);
    for (size_t k = 0; k < count; k++) nodes[k] = row[k].node;
    to->constraint = arena_format(a->memory, "%s", constraint->name);
    to->multiplier = w.start.lambda[c];
    to->reactions = arena_alloc(a->memory, count, sizeof *to->reactions);
    const double *value = forces_values(a, &w.start, w.start.lambda, nodes, count);
    if (!to->constraint || !to->reactions || !value) status = analysis_no_memory(a);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        graph_node relaxed = graph_add(g, a->equations.residual[row[k].column], graph_mul(g, lambda, row[k].node));
        status = forces_describe(&w, &to->reactions[to->count++], a->system->coordinates[row[k].column].name, relaxed,
                                 w.start.lambda[c] * value[k], "the reaction");
    }
    return status;
}

hamel_status hamel_find_forces(hamel_forces **out, const hamel_description *d, bool latex, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, latex}, sizeof **out, find_forces, NULL, out);
}

hamel_status hamel_relax(hamel_relaxation **out, const hamel_description *d, hamel_argument constraint,
                         const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error, false}, sizeof **out, relax, &constraint, out);
}

void hamel_forces_free(hamel_forces *forces) {
    analysis_result_free(forces);
}

void hamel_relaxation_free(hamel_relaxation *relaxation) {
    analysis_result_free(relaxation);
}
