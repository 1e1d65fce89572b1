/* forces.c — generalized forces of each element and the reaction of a relaxed constraint, in the initial state.
 *
 *   Q_i = −∂V/∂q_i, or F·∂r/∂q_i               coefficient of δq_i in the virtual work of an element (Baruh 4.5)
 *   E_i − Σ λ_k A_ki = λ_c A_ci, k ≠ c         E_i: left-hand side of Lagrange's equation minus forces (Baruh 4.10)
 *
 * In the second line constraint c is relaxed: its reaction is treated as an unknown force. */
#include "engine/algebra/arrange.h"
#include "engine/analyze/analysis_int.h"
#include "engine/dynamics/initial_values.h"
#include "engine/dynamics/stick_slip.h"
#include "engine/mechanics/generalized_forces.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct state {
    double t, *q, *v, *a, *lambda;
    /* ideal, nonideal: the two parts of the reaction; ideal_lambda: multipliers of the ideal part */
    double *ideal, *nonideal, *ideal_lambda;
    double *values; /* outputs of the dynamics program at the state */
} state;

/* Decides which contacts are sticking, as at the start of a run, and evaluates the dynamics again. */
static hamel_status decide_sticking(analysis *a, dynamics *k, state *s) {
    if (a->model->friction.slip_count == 0) return HAMEL_OK;
    stick_slip *slips = stick_slip_create(k);
    discrete_state_choose_branches(&k->discrete_state, s->t, s->q, s->v);
    k->held = true;
    hamel_status status = slips ? stick_slip_decide(slips, s->t, s->q, s->v, a->error) : HAMEL_NO_MEMORY;
    if (status == HAMEL_OK) status = dynamics_evaluate(k, s->t, s->q, s->v, a->error);
    return status == HAMEL_OK ? dynamics_accelerations(k, 0, 0, s->a, s->lambda, a->error) : status;
}

/* Stores the ideal and nonideal reactions, and the multipliers of the ideal reactions. If all constraints are ideal,
 * these multipliers are those of the motion. */
static hamel_status note_reactions(analysis *a, dynamics *k, state *s) {
    const hamel_model *model = a->model;
    memcpy(s->values, k->values, model->dynamics.count * sizeof *s->values);
    memcpy(s->ideal, k->ideal, a->n * sizeof *s->ideal);
    memcpy(s->nonideal, k->nonideal, a->n * sizeof *s->nonideal);
    memcpy(s->ideal_lambda, s->lambda, model->m * sizeof *s->lambda);
    if (!model->dynamics.nonideal) return HAMEL_OK;
    double *unused = arena_doubles(a->memory, a->n);
    if (!unused) return HAMEL_NO_MEMORY;
    return motion_solve(&k->motion, k->values + model->dynamics.at_Q, k->b, INFINITY, unused, s->ideal_lambda);
}

static hamel_status make_state(analysis *a, state *s) {
    const hamel_model *model = a->model;
    hamel_status status = HAMEL_NO_MEMORY;
    double **const lists[] = {&s->q, &s->v, &s->a, &s->ideal, &s->nonideal};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = arena_doubles(a->memory, a->n);
    s->t = model->settings.start;
    s->lambda = arena_doubles(a->memory, model->m);
    s->ideal_lambda = arena_doubles(a->memory, model->m);
    s->values = arena_doubles(a->memory, model->dynamics.count);
    dynamics *k = dynamics_create(model);
    if (k && !a->memory->failed) {
        status = initial_state(k, s->q, s->v, s->a, s->lambda, a->error);
        if (status == HAMEL_OK) status = decide_sticking(a, k, s);
        if (status == HAMEL_OK) status = note_reactions(a, k, s);
        if (status != HAMEL_OK && a->error->status == HAMEL_OK) status = dynamics_explain(k, status, a->error);
    }
    dynamics_free(k);
    return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
}

/* Evaluates nodes[count] at the state; the array is in a->memory. Returns NULL if out of memory. */
static double *values_at(const analysis *a, const state *s, const double *lambda, const graph_node *nodes,
                         size_t count) {
    program_inputs in = model_inputs(a->model, &s->t, s->q, s->v, s->a, lambda, s->a);
    graph_point point = {{0}, {0}};
    double *values = arena_doubles(a->memory, count);
    in.values[SYMBOL_IDEAL] = s->ideal;
    in.values[SYMBOL_NONIDEAL] = s->nonideal;
    memcpy(point.values, in.values, sizeof point.values);
    return values && graph_values(a->system->graph, nodes, count, &point, values, NULL) ? values : NULL;
}

/* Fills *to with a force or a reaction. If the value is not finite, adds an error that names `what`. */
static hamel_status describe_force(analysis *a, hamel_generalized_force *to, int32_t coordinate, graph_node shown,
                                   double value, const char *what) {
    const char *name = a->system->coordinates[coordinate].name;
    if (!isfinite(value))
        return hamel_fail(a->error, HAMEL_NOT_FINITE, "", 0, "%s on `%s` is not finite in the initial state", what,
                          name);
    to->coordinate = arena_format(a->memory, "%s", name);
    to->expression = analysis_text(a, arrange(a->system->graph, shown, a->memory), 1 << 20);
    to->value = value == 0 ? 0 : value; /* replaces −0 by 0 */
    return to->coordinate && to->expression ? HAMEL_OK : analysis_no_memory(a);
}

/* --- forces ------------------------------------------------------------------------------------------------------- */

/* Returns the friction force. No expression is evaluated, because the force depends on whether the contact is
 * sticking. */
static double friction_value(const analysis *a, const state *s, const generalized_force *f) {
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

/* Lists all forces with their values. Prescribed forces depend on the ideal reactions and are evaluated with
 * s->ideal_lambda. */
static hamel_status fill_in(analysis *a, hamel_forces *to, const generalized_force *all, size_t count, const state *s) {
    hamel_status status = HAMEL_OK;
    graph_node *nodes = arena_alloc(a->memory, count, sizeof *nodes);
    if (!nodes) return analysis_no_memory(a);
    for (size_t k = 0; k < count; k++) nodes[k] = all[k].node;
    const double *value = values_at(a, s, s->lambda, nodes, count),
                 *ideal = values_at(a, s, s->ideal_lambda, nodes, count);
    hamel_action *action = NULL; /* the action to which the current force belongs */
    if (!value || !ideal) return analysis_no_memory(a);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        const generalized_force *f = &all[k];
        if (k == 0 || f->origin != all[k - 1].origin) {
            action = &to->actions[to->count++];
            action->origin = arena_format(a->memory, "%s", f->origin);
            action->on = arena_alloc(a->memory, a->n, sizeof *action->on);
            if (a->memory->failed) return analysis_no_memory(a);
        }
        if (system_interrupted(a->system)) return a->error->status;
        double own = f->friction >= 0 ? friction_value(a, s, f) : (f->prescribed ? ideal : value)[k];
        status = describe_force(a, &action->on[action->count++], f->coordinate, f->node, own, action->origin);
    }
    return status;
}

static hamel_status find_forces(analysis *a, void *result, void *context) {
    hamel_forces *to = result;
    generalized_force *all;
    size_t count;
    state start;
    (void)context;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = make_state(a, &start);
    if (status != HAMEL_OK) return status;
    status = generalized_forces_list(&a->equations, a->memory, &all, &count);
    if (status != HAMEL_OK) return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
    to->actions = arena_alloc(a->memory, count, sizeof *to->actions);
    return to->actions ? fill_in(a, to, all, count, &start) : analysis_no_memory(a);
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
                          "the reaction of `%s` has a given direction; its value is reaction(%s, x) in a run", name,
                          name);
    *index = (size_t)found;
    return HAMEL_OK;
}

static hamel_status relax(analysis *a, void *result, void *context) {
    hamel_relaxation *to = result;
    const hamel_argument *constraint = context;
    size_t c = 0, first;
    state start;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = find_constraint(a, *constraint, &c);
    if (status == HAMEL_OK) status = make_state(a, &start);
    if (status != HAMEL_OK) return status;
    graph *g = a->system->graph;
    size_t count = pattern_row(&a->equations.A, (int32_t)c, &first);
    const matrix_entry *row = a->equations.A.entries + first;
    graph_node lambda = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c);
    graph_node *nodes = arena_alloc(a->memory, count, sizeof *nodes);
    if (!nodes) return analysis_no_memory(a);
    for (size_t k = 0; k < count; k++) nodes[k] = row[k].node;
    to->constraint = arena_format(a->memory, "%s", constraint->name);
    to->multiplier = start.lambda[c];
    to->reactions = arena_alloc(a->memory, count, sizeof *to->reactions);
    const double *value = values_at(a, &start, start.lambda, nodes, count);
    if (!to->constraint || !to->reactions || !value) status = analysis_no_memory(a);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        graph_node relaxed = graph_add(g, a->equations.residual[row[k].column], graph_mul(g, lambda, row[k].node));
        status = describe_force(a, &to->reactions[to->count++], row[k].column, relaxed, start.lambda[c] * value[k],
                                "the reaction");
    }
    return status;
}

hamel_status hamel_find_forces(hamel_forces **out, const hamel_description *d, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error}, sizeof **out, find_forces, NULL, out);
}

hamel_status hamel_relax(hamel_relaxation **out, const hamel_description *d, hamel_argument constraint,
                         const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    return analysis_perform(&(analysis_request){d, limits, poll, error}, sizeof **out, relax, &constraint, out);
}

void hamel_forces_free(hamel_forces *forces) {
    analysis_result_free(forces);
}

void hamel_relaxation_free(hamel_relaxation *relaxation) {
    analysis_result_free(relaxation);
}
