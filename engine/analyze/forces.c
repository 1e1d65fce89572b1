/* forces.c — what acts at the initial state, element by element, and what a constraint exerts when it is relaxed.
 *
 *   Q_i = −∂V/∂q_i, or F·∂r/∂q_i               the coefficient of δq_i in the virtual work of an element (Baruh 4.5)
 *   E_i − Σ λ_k A_ki = λ_c A_ci, k ≠ c         E_i: Lagrange's left side minus forces (Baruh 4.10)
 *
 * The second are the equations of the system in which constraint c is not kept, with its reaction as an unknown force. */
#include "engine/algebra/arrange.h"
#include "engine/analyze/analysis_int.h"
#include "engine/solve/initial_values.h"

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
    double t, *q, *v, *a, *lambda, *nonideal;
} state;

static hamel_status make_state(analysis *a, state *s) {
    const hamel_model *model = a->model;
    hamel_status status = HAMEL_NO_MEMORY;
    s->t = model->settings.start;
    s->q = arena_alloc(a->memory, a->n, sizeof *s->q);
    s->v = arena_alloc(a->memory, a->n, sizeof *s->v);
    s->a = arena_alloc(a->memory, a->n, sizeof *s->a);
    s->nonideal = arena_alloc(a->memory, a->n, sizeof *s->nonideal);
    s->lambda = arena_alloc(a->memory, model->m, sizeof *s->lambda);
    kinetics *k = kinetics_create(model);
    if (k && s->q && s->v && s->a && s->lambda && s->nonideal) {
        status = initial_state(k, s->q, s->v, s->a, s->lambda, a->error);
        if (status != HAMEL_OK) status = kinetics_explain(k, status, a->error);
    }
    kinetics_free(k);
    return status == HAMEL_NO_MEMORY ? analysis_no_memory(a) : status;
}

/* Values of all nodes up to the last one. NULL without memory; free() it. */
static double *evaluate(const analysis *a, const state *s, graph_node last) {
    program_inputs in = model_inputs(a->model, &s->t, s->q, s->v, s->a, s->lambda, s->a);
    graph_point point = {{0}, {0}};
    double *value = malloc(2 * ((size_t)last + 1) * sizeof *value);
    in.values[SYMBOL_NONIDEAL] = in.values[SYMBOL_IDEAL] = s->nonideal;
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

/* One generalized force before it has a value. */
typedef struct pending {
    size_t action;
    int32_t coordinate;
    graph_node node;
} pending;

/* Generalized forces of one action after the other, by coordinate. */
typedef struct collector {
    graph_node *on;   /* n, of the action at hand; GRAPH_NONE: none */
    int32_t *touched; /* in the order of their first part */
    size_t count;
    pending *all; /* of all actions */
    size_t all_count, all_capacity;
} collector;

static void collect(analysis *a, collector *c, int32_t i, graph_node force) {
    graph *g = a->system->graph;
    if (graph_is_zero(g, force)) return;
    if (c->on[i] < 0) c->touched[c->count++] = i;
    c->on[i] = c->on[i] < 0 ? force : graph_add(g, c->on[i], force);
}

static bool collect_action(analysis *a, collector *c, const system_action *action) {
    graph *g = a->system->graph;
    int32_t *list;
    if (action->potential < 0) {
        collect(a, c, action->coordinate, action->force);
        return true;
    }
    size_t count = node_support(a->system, action->potential, SYMBOL_COORDINATE, &list);
    for (size_t k = 0; k < count; k++)
        collect(a, c, list[k], graph_neg(g, graph_partial(g, action->potential, a->system->q[list[k]])));
    return graph_status(g) == HAMEL_OK;
}

/* −∂D/∂q' */
static void collect_dissipation(analysis *a, collector *c) {
    graph *g = a->system->graph;
    for (size_t i = 0; i < a->n; i++)
        collect(a, c, (int32_t)i, graph_neg(g, graph_partial(g, a->system->dissipation, a->system->v[i])));
}

/* The action is complete: what was collected becomes its own, and the collector is empty. */
static bool finish_action(analysis *a, hamel_forces *to, const char *origin, collector *c) {
    hamel_action *action = &to->actions[to->count];
    if (c->count == 0) return true;
    pending *all = arena_grow(a->memory, c->all, &c->all_capacity, c->all_count + c->count, sizeof *all);
    action->origin = arena_text(a->memory, origin, strlen(origin));
    action->on = arena_alloc(a->memory, c->count, sizeof *action->on);
    if (!all || !action->origin || !action->on) return false;
    c->all = all;
    for (size_t k = 0; k < c->count; k++) {
        int32_t i = c->touched[k];
        all[c->all_count++] = (pending){to->count, i, c->on[i]};
        c->on[i] = GRAPH_NONE;
    }
    c->count = 0;
    to->count++;
    return true;
}

/* Values of all, in one pass over the graph. */
static hamel_status fill_in(analysis *a, hamel_forces *to, const collector *c, const state *s) {
    graph_node last = 0;
    hamel_status status = HAMEL_OK;
    for (size_t k = 0; k < c->all_count; k++) last = c->all[k].node > last ? c->all[k].node : last;
    double *value = evaluate(a, s, last);
    if (!value) return analysis_no_memory(a);
    for (size_t k = 0; k < c->all_count && status == HAMEL_OK; k++) {
        pending p = c->all[k];
        hamel_action *action = &to->actions[p.action];
        if (system_interrupted(a->system))
            status = a->error->status;
        else if (!isfinite(value[p.node]))
            status = not_finite(a, action->origin, p.coordinate);
        else if (!describe(a, &action->on[action->count++], p.coordinate, p.node, value[p.node]))
            status = analysis_no_memory(a);
    }
    free(value);
    return status;
}

static bool collect_all(analysis *a, hamel_forces *to, collector *c) {
    const hamel_system *s = a->system;
    for (size_t k = 0; k < s->action_count; k++) {
        bool last = k + 1 == s->action_count || s->actions[k + 1].origin != s->actions[k].origin;
        if (!collect_action(a, c, &s->actions[k])) return false;
        if (last && !finish_action(a, to, s->actions[k].origin, c)) return false;
    }
    collect_dissipation(a, c);
    return finish_action(a, to, "dissipation", c);
}

static hamel_status find_forces(analysis *a, hamel_forces *to) {
    state start;
    collector c = {.on = arena_alloc(a->memory, a->n, sizeof *c.on),
                   .touched = arena_alloc(a->memory, a->n, sizeof *c.touched)};
    to->actions = arena_alloc(a->memory, a->system->action_count + 1, sizeof *to->actions);
    if (!c.on || !c.touched || !to->actions) return analysis_no_memory(a);
    for (size_t i = 0; i < a->n; i++) c.on[i] = GRAPH_NONE;
    hamel_status status = make_state(a, &start);
    if (status != HAMEL_OK) return status;
    if (!collect_all(a, to, &c)) {
        status = equations_status(a->system);
        return status != HAMEL_OK ? status : analysis_no_memory(a);
    }
    return fill_in(a, to, &c, &start);
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
    double *value = evaluate(a, &start, last);
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

static owned_forces *open_owned(analysis *a, const hamel_description *d, const hamel_limits *limits,
                                const atomic_bool *cancel, hamel_error *error, hamel_status *status) {
    hamel_limits taken = limits ? *limits : hamel_limits_default();
    owned_forces *owned = calloc(1, sizeof *owned);
    a->error = error;
    *status = owned ? HAMEL_OK : analysis_no_memory(a);
    if (!owned) return NULL;
    arena_init(&owned->memory, taken.memory);
    a->memory = &owned->memory;
    *status = analysis_open(a, d, &taken, cancel, error);
    return owned;
}

static void free_owned(owned_forces *owned) {
    if (!owned) return;
    arena_free(&owned->memory);
    free(owned);
}

hamel_status hamel_find_forces(hamel_forces **out, const hamel_description *d, const hamel_limits *limits,
                               const atomic_bool *cancel, hamel_error *error) {
    analysis a = {0};
    hamel_status status;
    owned_forces *owned = open_owned(&a, d, limits, cancel, error, &status);
    if (status == HAMEL_OK) status = find_forces(&a, &owned->as.forces);
    hamel_model_free(a.model);
    *out = status == HAMEL_OK ? &owned->as.forces : NULL;
    if (status != HAMEL_OK) free_owned(owned);
    return status;
}

hamel_status hamel_relax(hamel_relaxation **out, const hamel_description *d, hamel_argument constraint,
                         const hamel_limits *limits, const atomic_bool *cancel, hamel_error *error) {
    analysis a = {0};
    hamel_status status;
    owned_forces *owned = open_owned(&a, d, limits, cancel, error, &status);
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
