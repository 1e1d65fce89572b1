/* members_vec8.c — integration of members in SIMD lanes. When a member ends, the next one is started in its lane.
 *
 * Each lane repeats the run of its member alone: its start (members_vec8_start.c), its steps (members_vec8_steps.c) and
 * the states that are output or checked (members_vec8_visit.c). A lane in which a run would do anything else is given
 * up. */
#include "engine/simulate/members_vec8_int.h"

#include "engine/base/monotonic.h"
#include "engine/dynamics/dynamics.h"
#include "engine/simulate/methods/dop853_control.h"
#include "engine/simulate/methods/stepper.h"
#include "engine/simulate/monitor.h"
#include "engine/simulate/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns true if the model has no nonsmooth operators, and root functions that can be evaluated without
 * accelerations. */
static bool has_simple_events(const hamel_model *model) {
    const unsigned motion = GRAPH_DEPENDS(SYMBOL_ACCELERATION) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER) |
                            GRAPH_DEPENDS(SYMBOL_FREE) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    const model_events *e = &model->events;
    return e->root_count == e->count && !e->nonsmooth && !model->continuity.program &&
           (e->count == 0 || (program_depends(e->roots) & motion) == 0);
}

bool members_vec8_serves(const hamel_model *model) {
    hamel_method method = model->settings.method;
    return dynamics_vec8_serves(model) && (method == HAMEL_METHOD_AUTO || method == HAMEL_METHOD_ERK) &&
           has_simple_events(model) && !model->sensitivities && !model->settings.certify &&
           model->settings.time_limit <= 0 && isfinite(model->settings.stop);
}

/* Lists the initial values that the start has changed in a->changes. Returns their number. */
static size_t list_initial_changes(vec8_run *a, const lane *p) {
    size_t n = a->model->n, count = 0;
    for (size_t i = 0; i < 2 * n; i++)
        if (p->given[i] != p->used[i])
            a->changes[count++] =
                (hamel_initial_value){a->model->system->coordinates[i % n].name, i >= n, p->given[i], p->used[i]};
    return count;
}

bool lane_end(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    if (energy_is_unbalanced(p->imbalance, p->tolerance)) {
        lane_give_up(a, k);
        return true;
    }
    hamel_summary summary = a->summary;
    summary.initial_changes = a->changes;
    summary.initial_change_count = list_initial_changes(a, p);
    summary.initial_residual = p->initial_residual;
    summary.residuals = p->residuals;
    summary.projections = p->projections;
    summary.rows = p->next_row;
    summary.steps = p->counts.steps;
    summary.rhs_evaluations = p->rhs;
    summary.max_work_balance_error = p->imbalance;
    summary.energy_tolerance = p->tolerance;
    summary.wall_seconds = monotonic() - p->began;
    hamel_member_end end = {.status = HAMEL_OK, .summary = &summary};
    p->taken = false;
    a->steps.h[k] = 0;
    return !a->sink->end || a->sink->end(a->sink->context, p->member, &end);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static bool is_canceled(const vec8_run *a) {
    return hamel_ask(a->options->poll) != HAMEL_OK;
}

static bool any_taken(const vec8_run *a) {
    bool any = false;
    for (int k = 0; k < VEC8_SIZE; k++) any = any || a->lanes[k].taken;
    return any;
}

static int rising(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void collect_checks(vec8_run *a) {
    const model_observation *o = &a->model->observation;
    for (size_t i = 0; i < o->check_count; i++)
        if (o->checks[i].at == HAMEL_CHECK_TIME) a->check_times[a->check_count++] = o->checks[i].time;
    qsort(a->check_times, a->check_count, sizeof *a->check_times, rising);
}

static void init_results(vec8_run *a) {
    int freedoms = (int)a->model->n;
    for (size_t c = 0; c < a->model->m; c++) freedoms -= a->model->active[c]; /* active rows are independent */
    a->header = a->model->header;
    a->header.degrees_of_freedom = freedoms;
    run_summary_init(&a->summary, a->model);
    a->summary.outcome = HAMEL_COMPLETED;
    a->summary.t = a->settings->stop;
    a->summary.degrees_of_freedom = freedoms;
    a->summary.method = "erk";
    a->summary.max_dynamics_residual = (double)NAN;
    a->summary.residual_count = a->model->named_count;
    a->summary.passed = true;
}

static bool create_lanes(vec8_run *a) {
    const hamel_model *model = a->model;
    size_t states = 2 * model->n;
    a->changes = arena_alloc(&a->memory, states, sizeof *a->changes);
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        p->given = arena_doubles(&a->memory, states);
        p->used = arena_doubles(&a->memory, states);
        p->residuals = arena_alloc(&a->memory, model->named_count, sizeof *p->residuals);
        for (size_t c = 0; p->residuals && c < model->named_count; c++)
            p->residuals[c] = (hamel_residual){.name = model->system->constraints[c].name,
                                               .holonomic = model->order[c] == CONSTRAINT_HOLONOMIC};
    }
    return !a->memory.failed;
}

static bool create_vec8_run(vec8_run *a) {
    const hamel_model *model = a->model;
    const double max_step = a->settings->max_step;
    size_t n = model->n, length = 2 * n + (model->dynamics.energy_rate ? 1 : 0);
    assert(members_vec8_serves(model));
    init_results(a);
    a->rtol = fmax(a->settings->rtol * DOP853_SAFETY, RTOL_LEAST);
    a->longest = max_step > 0 ? max_step : INFINITY;
    a->watched = monitor_watches_steps(model);
    a->vectors = vec8_alloc((size_t)DOP853_VECTORS * length + 2 * length + n);
    a->dynamics = dynamics_vec8_create(model);
    if (!ARENA_DOUBLES(&a->memory, {&a->atol, 2 * n}, {&a->check_times, model->observation.check_count},
                       {&a->row, model->header.column_count}, {&a->q, n}, {&a->v, n}) ||
        !create_lanes(a) || !lane_runs_create(a) || !variation_member_create(&a->member, a->variation) || !a->vectors ||
        !a->dynamics)
        return false;
    if (model->m > 0 && !a->roots && !(a->starter = dynamics_create(&a->member.model))) return false;
    a->steps.rates = lanes_rates;
    a->steps.context = a;
    dop853_vec8_init(&a->steps, length, a->vectors);
    a->state = a->vectors + (size_t)DOP853_VECTORS * length;
    a->weights = a->state + length;
    a->acceleration = a->weights + length;
    for (size_t i = 0; i < 2 * n; i++) a->atol[i] = DOP853_SAFETY * a->settings->atol[i % n];
    collect_checks(a);
    return true;
}

hamel_status members_vec8_run(const hamel_variation *v, const model_settings *settings,
                              const hamel_members_options *options, size_t count, const double *values,
                              const hamel_members_sink *sink, bool *left, hamel_error *error) {
    vec8_run a = {.model = variation_model(v),
                  .variation = v,
                  .settings = settings,
                  .options = options,
                  .sink = sink,
                  .values = values,
                  .count = count,
                  .left = left};
    bool created = create_vec8_run(&a), good = created;
    while (good && !is_canceled(&a)) {
        good = lanes_start(&a);
        if (!good || (a.next >= a.count && !any_taken(&a))) break;
        if (any_taken(&a)) good = lanes_step(&a);
    }
    variation_member_free(&a.member);
    lane_runs_free(&a);
    if (a.starter) dynamics_free(a.starter);
    dynamics_vec8_free(a.dynamics);
    free(a.vectors);
    arena_free(&a.memory);
    hamel_summary_free(&a.summary);
    if (!created) return hamel_out_of_memory(error);
    if (good && !is_canceled(&a)) return HAMEL_OK;
    return hamel_fail(error, HAMEL_CANCELED, "", 0, "canceled at member %zu", a.next);
}
