/* monitor.c — see the header. The summary itself holds all running values. */
#include "engine/simulate/monitor.h"

#include "engine/simulate/energy.h"
#include "engine/solve/redundancy.h"

#include <math.h>
#include <stdlib.h>

/* Of residuals and rtol, as of energies (energy.c): Baumgarte's constants keep them near it, no stabilization at all does
 * not for long. */
static const double ADRIFT = 1e3;
/* A gradient this part of its largest is near its zero: there no step is so long that a regular motion turns it round. */
static const double FLAT = 0.1;

bool monitor_start(hamel_summary *s, const hamel_model *model) {
    s->residuals = calloc(model->m + 1, sizeof *s->residuals);
    s->invariants = calloc(model->invariant_count + 1, sizeof *s->invariants);
    s->checks = calloc(model->check_count + 1, sizeof *s->checks);
    if (!s->residuals || !s->invariants || !s->checks) return false;
    if (!model->linear_velocities && !(s->gradients = calloc(model->A.count + 1, sizeof *s->gradients))) return false;
    s->residual_count = model->named_count;
    s->invariant_count = model->invariant_count;
    s->check_count = model->check_count;
    for (size_t c = 0; c < s->residual_count; c++) {
        s->residuals[c].name = model->system->constraints[c].name;
        s->residuals[c].holonomic = model->order[c] == CONSTRAINT_HOLONOMIC;
    }
    for (size_t i = 0; i < model->invariant_count; i++) {
        s->invariants[i].name = model->invariants[i].name;
        s->invariants[i].has_tolerance = model->invariants[i].has_tolerance;
    }
    for (size_t i = 0; i < model->check_count; i++) s->checks[i].name = model->checks[i].name;
    s->initial_energy = NAN;
    return true;
}

/* Friction needs the normal force of its own constraint. */
static hamel_status check_friction(const hamel_model *model, const redundancy *found, hamel_error *error) {
    char names[400];
    for (size_t k = 0; k < model->friction_count; k++) {
        size_t c = (size_t)model->friction_constraint[k], set = 0;
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

hamel_status monitor_redundancy(hamel_summary *s, const lane *l, hamel_error *error) {
    const hamel_model *model = l->model;
    redundancy found;
    if (motion_rank(&l->kinetics->motion) == model->m) return HAMEL_OK;
    hamel_status status = redundancy_find(&found, model, l->kinetics->values, l->kinetics->mode.active,
                                          l->kinetics->survey.usual, REDUNDANCY_TOLERANCE);
    if (status == HAMEL_OK && found.count > 0) {
        s->redundancy = redundancy_report(&found, model);
        s->redundant = calloc(found.count + 1, sizeof *s->redundant);
        if (!s->redundancy || !s->redundant) status = HAMEL_NO_MEMORY;
    }
    for (size_t k = 0; status == HAMEL_OK && k < found.count; k++)
        s->redundant[s->redundant_count++] = model->system->constraints[found.dependent[k]].name;
    if (status == HAMEL_NO_MEMORY) (void)hamel_fail(error, status, "", 0, "no memory for the run");
    if (status == HAMEL_OK) status = check_friction(model, &found, error);
    redundancy_free(&found);
    return status;
}

static void see_residuals(hamel_summary *s, const lane *l) {
    double scaled[2] = {0, 0};
    if (l->model->settings.projection != HAMEL_PROJECTION_ON) kinetics_residuals(l->kinetics, &scaled[0], &scaled[1]);
    s->scaled_residual = fmax(s->scaled_residual, fmax(scaled[0], scaled[1]));
    const double *position = kinetics_position(l->kinetics), *velocity = kinetics_velocity(l->kinetics);
    for (size_t c = 0; c < s->residual_count; c++) {
        s->residuals[c].position = fmax(s->residuals[c].position, fabs(position[c]));
        s->residuals[c].velocity = fmax(s->residuals[c].velocity, fabs(velocity[c]));
    }
}

static void see_invariants(hamel_summary *s, const lane *l, bool first) {
    const double *values = lane_invariants(l);
    for (size_t i = 0; i < s->invariant_count; i++) {
        hamel_invariant_result *r = &s->invariants[i];
        if (first) r->initial = values[i];
        r->max_drift = fmax(r->max_drift, fabs(values[i] - r->initial));
    }
}

/* How far a value lies outside what a check allows; ≤ 0 within. */
static double violation(const model_check *c, double value) {
    double worst = -INFINITY;
    if (c->has_equals) worst = fmax(worst, fabs(value - c->equals) - c->tolerance);
    if (c->has_min) worst = fmax(worst, c->min - value);
    if (c->has_max) worst = fmax(worst, value - c->max);
    return worst;
}

static void see_always(hamel_summary *s, const lane *l) {
    const double *values = lane_checks(l);
    for (size_t i = 0; i < s->check_count; i++) {
        const model_check *c = &l->model->checks[i];
        hamel_check_result *r = &s->checks[i];
        if (c->at != HAMEL_CHECK_ALWAYS) continue;
        if (!r->reached || violation(c, values[i]) > violation(c, r->value)) r->value = values[i];
        r->reached = true;
    }
}

/* A rank that is met twice has changed; one that is met once belongs to an instant, and is counted as such. */
static void see_rank(hamel_summary *s, size_t rank) {
    bool settled = rank == s->met_rank;
    s->met_rank = rank;
    if (!settled || rank == s->last_rank) return;
    s->rank_changes++;
    s->last_rank = rank;
}

/* The gradient of a nonlinear velocity constraint may pass through 0, as that of a cone at rest. Nothing tells there which
 * way the motion goes on: the row comes out of it in another direction, within one step. */
static void see_gradients(hamel_summary *s, const lane *l, bool follows) {
    const model_pattern *pattern = &l->model->A;
    const double *A = l->kinetics->values + l->model->at_A;
    size_t e = 0;
    for (size_t c = 0; s->gradients && c < s->residual_count; c++) {
        double now = 0, before = 0, along = 0;
        for (; e < pattern->count && (size_t)pattern->row[e] == c; e++) {
            now += A[e] * A[e];
            before += s->gradients[e] * s->gradients[e];
            along += A[e] * s->gradients[e];
            s->gradients[e] = A[e];
        }
        s->residuals[c].steepest = fmax(s->residuals[c].steepest, sqrt(now));
        if (l->model->order[c] != CONSTRAINT_VELOCITY || !follows || s->turned || along >= 0 ||
            sqrt(fmax(now, before)) > FLAT * s->residuals[c].steepest)
            continue;
        s->turned = s->residuals[c].name;
        s->turned_at = l->t;
    }
}

static void see(hamel_summary *s, const lane *l, bool row, bool follows) {
    bool first = isnan(s->initial_energy);
    if (first) {
        s->initial_energy = lane_jacobi(l);
        s->last_rank = motion_rank(&l->kinetics->motion);
    }
    s->max_work_balance_error = fmax(s->max_work_balance_error, fabs(lane_jacobi(l) - s->initial_energy - l->work));
    s->max_dynamics_residual = fmax(s->max_dynamics_residual, fmax(l->missed.motion, l->missed.constraints));
    s->energy_tolerance = fmax(s->energy_tolerance, lane_energy_tolerance(l));
    see_rank(s, motion_rank(&l->kinetics->motion));
    if (row) see_residuals(s, l);
    see_gradients(s, l, follows && !first);
    see_invariants(s, l, first);
    see_always(s, l);
}

void monitor_see(hamel_summary *s, const lane *l, bool row) {
    see(s, l, row, true);
}

void monitor_follow(hamel_summary *s, lane *l) {
    s->energy_tolerance = fmax(s->energy_tolerance, lane_energy_tolerance_of_step(l));
}

bool monitor_unbalanced(const hamel_summary *s) {
    return energy_is_unbalanced(s->max_work_balance_error, s->energy_tolerance);
}

bool monitor_adrift(const hamel_summary *s) {
    return s->scaled_residual > ADRIFT * s->rtol;
}

void monitor_jump(hamel_summary *s, const lane *l) {
    s->last_rank = kkt_rank(l->kinetics->all);
    see(s, l, false, false);
}

void monitor_check_at(hamel_summary *s, const lane *l, size_t check) {
    s->checks[check].value = lane_checks(l)[check];
    s->checks[check].reached = true;
}

void monitor_finish(hamel_summary *s, const hamel_model *model, bool completed) {
    s->passed = completed;
    for (size_t i = 0; i < s->check_count; i++) {
        const model_check *c = &model->checks[i];
        hamel_check_result *r = &s->checks[i];
        r->passed = r->reached && (completed || c->at == HAMEL_CHECK_TIME) && violation(c, r->value) <= 0;
        if (!r->passed) s->passed = false;
    }
    for (size_t i = 0; i < s->invariant_count; i++) {
        hamel_invariant_result *r = &s->invariants[i];
        double size = fabs(r->initial);
        r->max_relative_drift = size > 0 ? r->max_drift / size : 0;
        r->passed = !r->has_tolerance || r->max_drift <= model->invariants[i].tolerance;
        if (!r->passed) s->passed = false;
    }
}
