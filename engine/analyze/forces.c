/* forces.c — what acts at the initial state, element by element, and what a constraint exerts when it is relaxed.
 *
 *   Q_i = −∂V/∂q_i, or F·∂r/∂q_i               the coefficient of δq_i in the virtual work of an element (Baruh 4.5)
 *   E_i − Σ λ_k A_ki = λ_c A_ci, k ≠ c         E_i: Lagrange's left side minus forces (Baruh 4.10)
 *
 * The second are the equations of the system in which constraint c is not kept, with its reaction as an unknown force. */
#include "engine/algebra/arrange.h"
#include "engine/analyze/analysis_int.h"
#include "engine/mechanics/generalized_forces.h"
#include "engine/solve/initial_values.h"
#include "engine/solve/sticking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the caller holds are the forces or the relaxation inside. */
typedef struct owned_forces {
    union {
        hamel_forces forces;
        hamel_relaxation relaxation;
    } as; /* first */
    arena memory;
} owned_forces;

typedef struct state {
    double t, *q, *v, *a, *lambda;
    double *ideal, *nonideal,
        *ideal_lambda; /* reactions, where not all constraints are ideal; and multipliers of the ideal part */
    double *values;    /* of the dynamics program */
} state;

/* What sticks and what slips is decided as at the start of a run; then everything else once more. */
static hamel_status decide(analysis *a, kinetics *k, state *s) {
    if (a->model->slip_count == 0) return HAMEL_OK;
    sticking *slips = sticking_create(k);
    mode_choose_branches(&k->mode, s->t, s->q, s->v);
    k->held = true;
    hamel_status status = slips ? sticking_decide(slips, s->t, s->q, s->v, a->error) : HAMEL_NO_MEMORY;
    sticking_free(slips);
    if (status == HAMEL_OK) status = kinetics_evaluate(k, s->t, s->q, s->v, a->error);
    return status == HAMEL_OK ? kinetics_accelerations(k, 0, 0, s->a, s->lambda, a->error) : status;
}

/* Multipliers of ideal constraints alone; they are those that act where nothing else does. */
static hamel_status note_reactions(analysis *a, kinetics *k, state *s) {
    const hamel_model *model = a->model;
    memcpy(s->values, k->values, model->dynamics_count * sizeof *s->values);
    memcpy(s->ideal, k->ideal, a->n * sizeof *s->ideal);
    memcpy(s->nonideal, k->nonideal, a->n * sizeof *s->nonideal);
    memcpy(s->ideal_lambda, s->lambda, model->m * sizeof *s->lambda);
    if (!model->nonideal) return HAMEL_OK;
    double *unused = arena_alloc(a->memory, a->n, sizeof *unused);
    if (!unused) return HAMEL_NO_MEMORY;
    return motion_solve(&k->motion, k->values + model->at_Q, k->b, INFINITY, unused, s->ideal_lambda);
}

static hamel_status make_state(analysis *a, state *s) {
    const hamel_model *model = a->model;
    hamel_status status = HAMEL_NO_MEMORY;
    s->t = model->settings.start;
    s->q = arena_alloc(a->memory, a->n, sizeof *s->q);
    s->v = arena_alloc(a->memory, a->n, sizeof *s->v);
    s->a = arena_alloc(a->memory, a->n, sizeof *s->a);
    s->ideal = arena_alloc(a->memory, a->n, sizeof *s->ideal);
    s->nonideal = arena_alloc(a->memory, a->n, sizeof *s->nonideal);
    s->lambda = arena_alloc(a->memory, model->m, sizeof *s->lambda);
    s->ideal_lambda = arena_alloc(a->memory, model->m, sizeof *s->ideal_lambda);
    s->values = arena_alloc(a->memory, model->dynamics_count, sizeof *s->values);
    kinetics *k = kinetics_create(model);
    if (k && s->q && s->v && s->a && s->lambda && s->ideal && s->nonideal && s->ideal_lambda && s->values) {
        status = initial_state(k, s->q, s->v, s->a, s->lambda, a->error);
        if (status == HAMEL_OK) status = decide(a, k, s);
        if (status == HAMEL_OK) status = note_reactions(a, k, s);
        if (status != HAMEL_OK && a->error->status == HAMEL_OK) status = kinetics_explain(k, status, a->error);
    }
    kinetics_free(k);
    return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
}

/* Values of all nodes up to the last one. NULL without memory; free() it. */
static double *evaluate(const analysis *a, const state *s, const double *lambda, graph_node last) {
    program_inputs in = model_inputs(a->model, &s->t, s->q, s->v, s->a, lambda, s->a);
    graph_point point = {{0}, {0}};
    double *value = malloc(2 * ((size_t)last + 1) * sizeof *value);
    in.values[SYMBOL_IDEAL] = s->ideal;
    in.values[SYMBOL_NONIDEAL] = s->nonideal;
    memcpy(point.values, in.values, sizeof point.values);
    if (value) graph_evaluate(a->system->graph, last, &point, value, value + last + 1);
    return value;
}

static bool describe(analysis *a, hamel_generalized_force *to, int32_t coordinate, graph_node shown, double value) {
    const char *name = a->system->coordinates[coordinate].name;
    text_buffer out;
    text_buffer_init(&out, 1 << 20);
    graph_print(a->system->graph, arrange(a->system->graph, shown, a->memory), system_name_symbol, a->system, &out);
    to->coordinate = arena_text(a->memory, name, strlen(name));
    to->expression = out.failed || !out.bytes ? NULL : arena_text(a->memory, out.bytes, out.length);
    to->value = value == 0 ? 0 : value; /* not −0 */
    text_buffer_free(&out);
    return to->coordinate && to->expression;
}

static hamel_status not_finite(analysis *a, const char *what, int32_t coordinate) {
    return hamel_fail(a->error, HAMEL_NOT_FINITE, "", 0, "%s on `%s` is not finite at the initial state", what,
                      a->system->coordinates[coordinate].name);
}

/* --- forces ------------------------------------------------------------------------------------------------------------ */

/* What friction exerts is known by number only: it depends on whether the point sticks. */
static double friction_value(const analysis *a, const state *s, const generalized_force *f) {
    const model_pattern *F = &a->model->F, *A = &a->model->A;
    const system_friction *by = &a->system->frictions[f->friction];
    double sum = 0;
    for (size_t e = 0; e < F->count; e++)
        if (F->row[e] == f->coordinate && F->column[e] == f->friction)
            sum += s->values[a->model->at_F + e] * fabs(s->lambda[by->constraint]);
    for (size_t e = 0; e < A->count && by->row >= 0; e++)
        if (A->row[e] == by->row && A->column[e] == f->coordinate)
            sum += s->values[a->model->at_A + e] * s->lambda[by->row];
    return sum;
}

static hamel_status add_force(analysis *a, hamel_action *action, const state *s, const generalized_force *f,
                              double value) {
    if (f->friction >= 0) value = friction_value(a, s, f);
    if (!isfinite(value)) return not_finite(a, action->origin, f->coordinate);
    return describe(a, &action->on[action->count++], f->coordinate, f->node, value) ? HAMEL_OK : analysis_no_memory(a);
}

/* Values of all, in two passes over the graph: prescribed forces are made of the ideal reactions. */
static hamel_status fill_in(analysis *a, hamel_forces *to, const generalized_force *all, size_t count, const state *s) {
    graph_node last = 0;
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < count; k++) last = all[k].node > last ? all[k].node : last;
    double *value = evaluate(a, s, s->lambda, last), *ideal = evaluate(a, s, s->ideal_lambda, last);
    if (!value || !ideal) status = analysis_no_memory(a);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        const generalized_force *f = &all[k];
        if (k == 0 || f->origin != all[k - 1].origin) {
            hamel_action *action = &to->actions[to->count++];
            action->origin = arena_text(a->memory, f->origin, strlen(f->origin));
            action->on = arena_alloc(a->memory, a->n, sizeof *action->on);
            if (!action->origin || !action->on) status = analysis_no_memory(a);
        }
        if (system_interrupted(a->system)) status = a->error->status;
        if (status == HAMEL_OK)
            status = add_force(a, &to->actions[to->count - 1], s, f, (f->prescribed ? ideal : value)[f->node]);
    }
    free(value);
    free(ideal);
    return status;
}

static hamel_status find_forces(analysis *a, hamel_forces *to) {
    generalized_force *all;
    size_t count;
    state start;
    hamel_status status = make_state(a, &start);
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

static hamel_status relax(analysis *a, hamel_relaxation *to, hamel_argument asked) {
    graph *g = a->system->graph;
    size_t c = 0, first;
    state start;
    hamel_status status = find_constraint(a, asked, &c);
    if (status == HAMEL_OK) status = make_state(a, &start);
    if (status != HAMEL_OK) return status;
    size_t count = pattern_row(&a->equations.A, (int32_t)c, &first);
    const matrix_entry *row = a->equations.A.entries + first;
    graph_node last = 0, lambda = graph_symbol(g, SYMBOL_MULTIPLIER, (int32_t)c);
    for (size_t k = 0; k < count; k++) last = row[k].node > last ? row[k].node : last;
    to->constraint = arena_text(a->memory, asked.name, strlen(asked.name));
    to->multiplier = start.lambda[c];
    to->reactions = arena_alloc(a->memory, count, sizeof *to->reactions);
    double *value = evaluate(a, &start, start.lambda, last);
    if (!to->constraint || !to->reactions || !value) status = analysis_no_memory(a);
    for (size_t k = 0; k < count && status == HAMEL_OK; k++) {
        int32_t i = row[k].column;
        double reaction = start.lambda[c] * value[row[k].node];
        graph_node relaxed = graph_add(g, a->equations.residual[i], graph_mul(g, lambda, row[k].node));
        if (!isfinite(reaction))
            status = not_finite(a, "the reaction", i);
        else if (!describe(a, &to->reactions[to->count++], i, relaxed, reaction))
            status = analysis_no_memory(a);
    }
    free(value);
    return status;
}

static owned_forces *open_owned(analysis *a, const hamel_description *d, const hamel_limits *limits, hamel_poll *poll,
                                hamel_error *error, hamel_status *status) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    owned_forces *owned = calloc(1, sizeof *owned);
    a->error = error;
    *status = owned ? HAMEL_OK : analysis_no_memory(a);
    if (!owned) return NULL;
    arena_init(&owned->memory, taken.memory);
    a->memory = &owned->memory;
    *status = analysis_open(a, d, &taken, poll, error);
    return owned;
}

static void free_owned(owned_forces *owned) {
    if (!owned) return;
    arena_free(&owned->memory);
    free(owned);
}

hamel_status hamel_find_forces(hamel_forces **out, const hamel_description *d, const hamel_limits *limits,
                               hamel_poll *poll, hamel_error *error) {
    analysis a = {0};
    hamel_status status;
    owned_forces *owned = open_owned(&a, d, limits, poll, error, &status);
    if (status == HAMEL_OK) status = find_forces(&a, &owned->as.forces);
    hamel_model_free(a.model);
    *out = status == HAMEL_OK ? &owned->as.forces : NULL;
    if (status != HAMEL_OK) free_owned(owned);
    return status;
}

hamel_status hamel_relax(hamel_relaxation **out, const hamel_description *d, hamel_argument constraint,
                         const hamel_limits *limits, hamel_poll *poll, hamel_error *error) {
    analysis a = {0};
    hamel_status status;
    owned_forces *owned = open_owned(&a, d, limits, poll, error, &status);
    if (status == HAMEL_OK) status = relax(&a, &owned->as.relaxation, constraint);
    hamel_model_free(a.model);
    *out = status == HAMEL_OK ? &owned->as.relaxation : NULL;
    if (status != HAMEL_OK) free_owned(owned);
    return status;
}

void hamel_forces_free(hamel_forces *forces) {
    free_owned((owned_forces *)forces);
}

void hamel_relaxation_free(hamel_relaxation *relaxation) {
    free_owned((owned_forces *)relaxation);
}
