/* monitor.c — checks during a run, with their results in the summary; names of outcomes, and deallocation of
 * summaries. */
#include "engine/simulate/monitor.h"

#include "engine/base/larger.h"
#include "engine/base/tolerances.h"
#include "engine/dynamics/redundancy_report.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A reversal counts if the gradient is below this part of its largest value before and after the step. A larger value
 * would also count regular gradients that turn fast; a smaller value would miss reversals in long steps. */
static const double FLAT = 0.1;

const char *hamel_outcome_name(hamel_outcome outcome) {
    static const char *const names[] = {"completed", "terminated", "incomplete", "failed"};
    return (size_t)outcome < sizeof names / sizeof *names ? names[outcome] : "failed";
}

void hamel_summary_free(hamel_summary *s) {
    if (!s) return;
    for (size_t i = 0; i < s->warning_count; i++) free(s->warnings[i]);
    void *const arrays[] = {s->warnings,        s->residuals, s->invariants, s->checks,
                            s->initial_changes, s->redundant, s->redundancy, s->error_estimate};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    *s = (hamel_summary){0};
}

bool monitor_start(monitor *o, hamel_summary *s, arena *memory, const hamel_model *model) {
    *o = (monitor){.summary = s, .initial_energy = NAN};
    assert(!s->residuals && !s->invariants && !s->checks);
    s->residuals = calloc(model->m + 1, sizeof *s->residuals);
    s->invariants = calloc(model->observation.invariant_count + 1, sizeof *s->invariants);
    s->checks = calloc(model->observation.check_count + 1, sizeof *s->checks);
    if (!s->residuals || !s->invariants || !s->checks) return false;
    if (!model->dynamics.linear_velocities) {
        o->gradients = arena_doubles(memory, model->dynamics.A.count);
        o->steepest = arena_doubles(memory, model->m);
        if (!o->gradients || !o->steepest) return false;
    }
    s->residual_count = model->named_count;
    s->invariant_count = model->observation.invariant_count;
    s->check_count = model->observation.check_count;
    for (size_t c = 0; c < s->residual_count; c++) {
        s->residuals[c].name = model->system->constraints[c].name;
        s->residuals[c].holonomic = model->order[c] == CONSTRAINT_HOLONOMIC;
    }
    for (size_t i = 0; i < s->invariant_count; i++) {
        s->invariants[i].name = model->observation.invariants[i].name;
        s->invariants[i].has_tolerance = model->observation.invariants[i].has_tolerance;
    }
    for (size_t i = 0; i < s->check_count; i++) s->checks[i].name = model->observation.checks[i].name;
    return true;
}

bool monitor_watches_steps(const hamel_model *model) {
    bool watched = model->observation.invariant_count > 0 || !model->dynamics.linear_velocities;
    for (size_t i = 0; i < model->observation.check_count; i++)
        watched = watched || model->observation.checks[i].at == HAMEL_CHECK_ALWAYS;
    return watched;
}

/* Adds an error if the normal force of a constraint with friction is not unique. */
static hamel_status check_friction(const hamel_model *model, const redundancy *found, hamel_error *error) {
    char names[400];
    for (size_t k = 0; k < model->friction.count; k++) {
        size_t c = (size_t)model->friction.constraint[k], set = 0;
        if (!found->involved[c]) continue;
        while (!redundancy_holds(found, set, c)) set++;
        redundancy_names(found, model, set, names, sizeof names);
        (void)hamel_fail(error, HAMEL_SINGULAR, model->system->constraints[c].pointer, 0,
                         "friction needs the normal force of `%s`, which is not unique: %s depend on each other",
                         model->system->constraints[c].name, names);
        hamel_suggest(error, "remove one of these constraints");
        return HAMEL_SINGULAR;
    }
    return HAMEL_OK;
}

hamel_status monitor_redundancy(monitor *o, const trajectory *l, hamel_error *error) {
    hamel_summary *s = o->summary;
    const hamel_model *model = l->model;
    redundancy found;
    if (motion_rank(&l->dynamics->motion) == model->m) return HAMEL_OK;
    hamel_status status =
        redundancy_find(&found, &model->dynamics.A, l->dynamics->values, l->dynamics->discrete_state.active,
                        l->dynamics->survey.usual, RANK_TOLERANCE);
    if (status == HAMEL_OK && found.count > 0) {
        s->redundancy = redundancy_report(&found, model);
        s->redundant = calloc(found.count + 1, sizeof *s->redundant);
        if (!s->redundancy || !s->redundant) status = HAMEL_NO_MEMORY;
    }
    for (size_t k = 0; status == HAMEL_OK && k < found.count; k++)
        s->redundant[s->redundant_count++] = model->system->constraints[found.dependent[k]].name;
    if (status == HAMEL_NO_MEMORY) (void)hamel_out_of_memory(error);
    if (status == HAMEL_OK) status = check_friction(model, &found, error);
    redundancy_free(&found);
    return status;
}

static void add_residuals(hamel_summary *s, const trajectory *l) {
    double scaled[2] = {0, 0};
    if (l->model->settings.projection != HAMEL_PROJECTION_ON) dynamics_residuals(l->dynamics, &scaled[0], &scaled[1]);
    s->scaled_residual = larger(s->scaled_residual, larger(scaled[0], scaled[1]));
    const double *position = dynamics_position(l->dynamics), *velocity = dynamics_velocity(l->dynamics);
    for (size_t c = 0; c < s->residual_count; c++) {
        s->residuals[c].position = larger(s->residuals[c].position, fabs(position[c]));
        s->residuals[c].velocity = larger(s->residuals[c].velocity, fabs(velocity[c]));
    }
}

static void add_invariants(hamel_summary *s, const trajectory *l, bool first) {
    const double *values = trajectory_invariants(l);
    for (size_t i = 0; i < s->invariant_count; i++) {
        hamel_invariant_result *r = &s->invariants[i];
        if (first) r->initial = values[i];
        r->max_drift = larger(r->max_drift, fabs(values[i] - r->initial));
    }
}

/* Returns the distance of a value from the range that a check allows. If the value is in the range, the result is not
 * positive. */
static double violation(const model_check *c, double value) {
    double worst = -INFINITY;
    if (c->has_equals) worst = fmax(worst, fabs(value - c->equals) - c->tolerance);
    if (c->has_min) worst = fmax(worst, c->min - value);
    if (c->has_max) worst = fmax(worst, value - c->max);
    return worst;
}

static void add_always_checks(hamel_summary *s, const trajectory *l) {
    const double *values = trajectory_checks(l);
    for (size_t i = 0; i < s->check_count; i++) {
        const model_check *c = &l->model->observation.checks[i];
        hamel_check_result *r = &s->checks[i];
        if (c->at != HAMEL_CHECK_ALWAYS) continue;
        if (!r->reached || violation(c, values[i]) > violation(c, r->value)) r->value = values[i];
        r->reached = true;
    }
}

/* Counts a change of rank if the new rank is found at two consecutive states. A rank found only once belongs to a
 * singular configuration. Singular configurations are counted when they are detected. */
static void add_rank(monitor *o, size_t rank) {
    bool settled = rank == o->latest_rank;
    o->latest_rank = rank;
    if (!settled || rank == o->settled_rank) return;
    o->summary->rank_changes++;
    o->settled_rank = rank;
}

/* The gradient of a nonlinear velocity constraint may pass through 0, for example at the vertex of a cone of
 * velocities. The constraint does not determine the motion there. The computed gradient then reverses within one
 * step. */
static void add_gradients(monitor *o, const trajectory *l, bool follows) {
    const sparse_block *pattern = &l->model->dynamics.A;
    const double *A = l->dynamics->values + pattern->at;
    size_t e = 0;
    for (size_t c = 0; o->gradients && c < o->summary->residual_count; c++) {
        double now = 0, before = 0, product = 0;
        for (; e < pattern->count && (size_t)pattern->row[e] == c; e++) {
            now += A[e] * A[e];
            before += o->gradients[e] * o->gradients[e];
            product += A[e] * o->gradients[e];
            o->gradients[e] = A[e];
        }
        o->steepest[c] = fmax(o->steepest[c], sqrt(now));
        if (l->model->order[c] != CONSTRAINT_VELOCITY || !follows || o->reversed || product >= 0 ||
            sqrt(fmax(now, before)) > FLAT * o->steepest[c])
            continue;
        o->reversed = o->summary->residuals[c].name;
        o->reversed_at = l->t;
    }
}

void monitor_add(monitor *o, const trajectory *l, bool row, bool after_event) {
    hamel_summary *s = o->summary;
    bool first = isnan(o->initial_energy);
    assert(s->residuals && isfinite(trajectory_jacobi(l)));
    if (after_event) o->settled_rank = kkt_rank(l->dynamics->all);
    if (first) {
        o->initial_energy = trajectory_jacobi(l);
        o->settled_rank = motion_rank(&l->dynamics->motion);
    }
    s->max_work_balance_error =
        larger(s->max_work_balance_error, fabs(trajectory_jacobi(l) - o->initial_energy - l->work));
    s->max_dynamics_residual = larger(s->max_dynamics_residual, larger(l->residual.motion, l->residual.constraints));
    if (l->has_dynamics) s->energy_tolerance = larger(s->energy_tolerance, trajectory_energy_tolerance(l));
    add_rank(o, motion_rank(&l->dynamics->motion));
    if (row) add_residuals(s, l);
    add_gradients(o, l, !after_event && !first);
    add_invariants(s, l, first);
    add_always_checks(s, l);
}

void monitor_add_step(monitor *o, trajectory *l) {
    hamel_summary *s = o->summary;
    s->energy_tolerance = fmax(s->energy_tolerance, trajectory_energy_tolerance_of_step(l));
}

bool monitor_is_unbalanced(const monitor *o) {
    return energy_is_unbalanced(o->summary->max_work_balance_error, o->summary->energy_tolerance);
}

bool monitor_has_drifted(const monitor *o) {
    return o->summary->scaled_residual > ANOTHER_MOTION * o->summary->rtol;
}

void monitor_check_at(monitor *o, const trajectory *l, size_t check) {
    hamel_summary *s = o->summary;
    assert(check < s->check_count);
    s->checks[check].value = trajectory_checks(l)[check];
    s->checks[check].reached = true;
}

void monitor_finish(monitor *o, const hamel_model *model, bool completed) {
    hamel_summary *s = o->summary;
    s->passed = completed;
    for (size_t i = 0; i < s->check_count; i++) {
        const model_check *c = &model->observation.checks[i];
        hamel_check_result *r = &s->checks[i];
        r->passed = r->reached && (completed || c->at == HAMEL_CHECK_TIME) && violation(c, r->value) <= 0;
        if (!r->passed) s->passed = false;
    }
    for (size_t i = 0; i < s->invariant_count; i++) {
        hamel_invariant_result *r = &s->invariants[i];
        double size = fabs(r->initial);
        r->max_relative_drift = size > 0 ? r->max_drift / size : 0;
        r->passed = !r->has_tolerance || r->max_drift <= model->observation.invariants[i].tolerance;
        if (!r->passed) s->passed = false;
    }
}
