/* forces.c — generalized forces of each element and the reaction of a relaxed constraint, in the initial state.
 *
 *   Q_i = −∂V/∂q_i, or F·∂r/∂q_i               coefficient of δq_i in the virtual work of an element (Baruh 4.5)
 *   E_i − Σ λ_k A_ki = λ_c A_ci, k ≠ c         E_i: left-hand side of Lagrange's equation minus forces (Baruh 4.10)
 *
 * In the second line constraint c is relaxed: its reaction is treated as an unknown force. */
#include "engine/algebra/arrange.h"
#include "engine/analyze/analysis_int.h"
#include "engine/analyze/start_motion.h"
#include "engine/mechanics/generalized_forces.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Evaluates nodes[count] at the state; the array is in a->memory. Returns NULL if out of memory. */
static double *values_at(const analysis *a, const start_motion *s, const double *lambda, const graph_node *nodes,
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

/* Lists all forces with their values. Prescribed forces depend on the ideal reactions and are evaluated with
 * s->ideal_lambda. */
static hamel_status fill_in(analysis *a, hamel_forces *to, const generalized_force *all, size_t count,
                            const start_motion *s) {
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
    start_motion start;
    (void)context;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = start_motion_find(a, &start);
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
    *index = (size_t)found;
    return HAMEL_OK;
}

static hamel_status relax(analysis *a, void *result, void *context) {
    hamel_relaxation *to = result;
    const hamel_argument *constraint = context;
    size_t c = 0, first;
    start_motion start;
    hamel_status status = analysis_open(a);
    if (status == HAMEL_OK) status = find_constraint(a, *constraint, &c);
    if (status == HAMEL_OK) status = start_motion_find(a, &start);
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
