/* run.c — execution of one run, from initial values to the summary.
 *
 * The integrator chooses its own steps. Rows and checks between steps are evaluated on the dense output, so output
 * times do not influence the steps. For an estimate of the global error, a second trajectory with a tenth of the
 * tolerances is integrated from row to row. Rows can then be compared without being stored. */
#include "engine/simulate/run.h"

#include "engine/base/monotonic.h"
#include "engine/dynamics/initial_values.h"
#include "engine/simulate/run_int.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CERTIFY_FACTOR = 0.1, PROGRESS_SECONDS = 0.25;
/* Times that differ by at most this fraction of the largest time count as equal. The value is a few rounding units,
 * because each of the two times is a rounded result. */
static const double SAME_TIME = 1e-15;
/* Two adjacent steps may both detect a singular configuration at their common end. Detections whose times differ by
 * less than this fraction of the span count as one. The rounding error of t is about 1e-16 of the largest time. */
static const double SAME_SINGULARITY = 1e-8;
enum { MAX_SINGULARITY_WARNINGS = 5 };
enum { CLOCK_ROWS = 16 }; /* rows between two readings of the clock, so that most rows do not read it */

HAMEL_PRINTF(2, 3)
static void warn(hamel_summary *s, const char *format, ...) {
    va_list arguments;
    char **warnings = realloc(s->warnings, (s->warning_count + 1) * sizeof *warnings);
    if (!warnings) return;
    s->warnings = warnings;
    va_start(arguments, format);
    warnings[s->warning_count] = hamel_text(format, arguments);
    va_end(arguments);
    if (warnings[s->warning_count]) s->warning_count++;
}

/* --- start -------------------------------------------------------------------------------------------------------- */

static bool record_initial_changes(run *r) {
    const hamel_model *model = r->model;
    size_t n = model->n, *count = &r->summary->initial_change_count;
    hamel_initial_value *list = r->summary->initial_changes = calloc(2 * n + 1, sizeof *list);
    for (size_t i = 0; list && i < 2 * n; i++) {
        double given = i < n ? model->q0[i] : model->v0[i - n], used = r->main.q[i]; /* main.q is q, then v */
        if (given == used) continue;
        list[(*count)++] = (hamel_initial_value){model->system->coordinates[i % n].name, i >= n, given, used};
    }
    return list != NULL;
}

static int by_time(const void *a, const void *b, void *context) {
    const model_check *checks = context;
    double x = checks[*(const size_t *)a].time, y = checks[*(const size_t *)b].time;
    return (x > y) - (x < y);
}

static bool collect_checks(run *r) {
    const hamel_model *model = r->model;
    r->timed_checks = arena_alloc(&r->memory, model->observation.check_count, sizeof *r->timed_checks);
    if (!r->timed_checks) return false;
    r->watched = monitor_watches_steps(model);
    for (size_t i = 0; i < model->observation.check_count; i++)
        if (model->observation.checks[i].at == HAMEL_CHECK_TIME) r->timed_checks[r->timed_count++] = i;
    qsort_r(r->timed_checks, r->timed_count, sizeof *r->timed_checks, by_time, model->observation.checks);
    return true;
}

static hamel_status start_trajectory(run *r, trajectory *l, double factor) {
    integrator_options options = {factor, r->options->poll, r->deadline, l->sensitivities,
                                  (const double *const *)l->sensitive};
    return trajectory_start(l, &options, r->error);
}

/* Warns if the function of an event leaves zero at the start without causing the event. */
static void warn_of_unnoticed(run *r) {
    const hamel_model *model = r->model;
    for (size_t i = 0; i < model->events.count; i++) {
        const model_event *e = &model->events.list[i];
        if (!r->main.roots->of[i].unnoticed) continue;
        warn(r->summary,
             e->contact && e->direction != HAMEL_BOTH
                 ? "at the start the function of the event `%s` has already crossed the zero at which its contact "
                   "closes: no impact keeps it from closing further; start from the other side of the zero, or "
                   "correct the function"
             : model_event_acts(e)
                 ? "the function of the event `%s` is 0 at the start and the event has no direction: the contact opens "
                   "there; if it closes, give the event a direction"
                 : "the function of the event `%s` is 0 at the start: that is not a crossing, and the event ends the "
                   "run at the next crossing",
             e->name);
    }
}

static hamel_status start_certifier(run *r) {
    const hamel_model *model = r->model;
    r->summary->error_estimate = calloc(model->header.column_count + 1, sizeof *r->summary->error_estimate);
    if (!r->summary->error_estimate) return hamel_out_of_memory(r->error);
    hamel_status status = trajectory_create(&r->certifier, model, r->error);
    if (status != HAMEL_OK) return status;
    dynamics_limit(r->certifier.dynamics, r->options->poll, r->deadline);
    memcpy(r->certifier.q, r->main.q, 2 * model->n * sizeof *r->main.q); /* q and v */
    status = trajectory_start_sensitivities(&r->certifier, r->error);
    return status == HAMEL_OK ? start_trajectory(r, &r->certifier, CERTIFY_FACTOR) : status;
}

static hamel_status start_run(run *r) {
    const hamel_model *model = r->model;
    hamel_summary *s = r->summary;
    if (!isfinite(model->settings.stop))
        return hamel_fail(r->error, HAMEL_INVALID, "/simulation/stop", 0, "simulation.stop is missing");
    hamel_status status = trajectory_create(&r->main, model, r->error);
    if (status != HAMEL_OK) return status;
    dynamics_limit(r->main.dynamics, r->options->poll, r->deadline);
    r->row = arena_doubles(&r->memory, model->header.column_count);
    r->certified_row = arena_doubles(&r->memory, model->header.column_count);
    r->singular_state = arena_doubles(&r->memory, 2 * model->n);
    r->branch_check =
        (branch_check){.v = arena_doubles(&r->memory, model->n), .a = arena_doubles(&r->memory, model->n), .least = 1};
    if (!collect_checks(r) || !monitor_start(&r->monitor, s, &r->memory, model) || r->memory.failed)
        return hamel_out_of_memory(r->error);
    status = initial_velocities_from_quasi(r->main.dynamics, model->settings.start, r->main.q, r->main.v, r->error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(r->main.dynamics, model->settings.start, r->main.q, r->main.v,
                                                model->settings.initialization, &s->initial_residual, r->error);
    if (status == HAMEL_OK) status = trajectory_start_sensitivities(&r->main, r->error);
    if (status == HAMEL_OK) status = trajectory_evaluate(&r->main, model->settings.start, r->error);
    if (status != HAMEL_OK) return status;
    s->degrees_of_freedom = (int)model->n - (int)motion_rank(&r->main.dynamics->motion);
    if (!record_initial_changes(r)) return hamel_out_of_memory(r->error);
    status = monitor_redundancy(&r->monitor, &r->main, r->error);
    if (status != HAMEL_OK) return status;
    if (s->redundant_count)
        warn(s,
             "%zu constraint%s redundant: %zu of the multipliers are not unique, and the solution of least norm is "
             "reported; all other multipliers and the total reactions are unique",
             s->redundant_count, s->redundant_count == 1 ? " is" : "s are", s->redundancy->not_unique.count);
    if (model->settings.certify) status = start_certifier(r);
    if (status == HAMEL_OK) status = start_trajectory(r, &r->main, 1);
    if (status == HAMEL_OK) warn_of_unnoticed(r);
    return status;
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static bool send_header(run *r) {
    hamel_header header = r->model->header;
    header.degrees_of_freedom = r->summary->degrees_of_freedom;
    return !r->sink->header || r->sink->header(r->sink->context, &header);
}

static bool send_progress(run *r) {
    if (!r->sink->progress) return true;
    double now = monotonic();
    if (now < r->next_progress) return true;
    r->next_progress = now + PROGRESS_SECONDS;
    const integrator *w = r->main.integrator;
    hamel_progress p = {w->t, r->model->settings.start, r->model->settings.stop, w->steps};
    return r->sink->progress(r->sink->context, &p);
}

static hamel_status fail_canceled(run *r) {
    double t = r->main.integrator ? r->main.integrator->t : r->model->settings.start;
    return hamel_fail(r->error, HAMEL_CANCELED, "", 0, "canceled at t = %.9g", t);
}

/* Ends the run because the sink returned false. */
static hamel_status refuse_rows(run *r) {
    r->refused = true;
    return fail_canceled(r);
}

/* Replaces the status of a run that was canceled or has exceeded its time limit. Evaluations then fail
 * (dynamics_limit), so the errors of these evaluations are discarded. */
static hamel_status ended_early(run *r, hamel_status status, bool started) {
    if (status == HAMEL_OK || status == HAMEL_LIMIT || status == HAMEL_NO_MEMORY) return status;
    hamel_status asked = hamel_ask(r->options->poll);
    bool late = asked == HAMEL_LIMIT || (r->deadline > 0 && monotonic() > r->deadline);
    if (asked != HAMEL_CANCELED && !(late && !r->refused)) return status;
    hamel_error_clear(r->error);
    if (asked == HAMEL_CANCELED) return fail_canceled(r);
    return started || send_header(r) ? HAMEL_LIMIT : refuse_rows(r);
}

/* Compares the times of events: the k-th event of one trajectory corresponds to the k-th event of the other. The
 * largest difference of two corresponding times is reported as the error of column t. */
static bool match_event(run *r, const trajectory *l, double t) {
    unmatched *u = &r->events;
    if (!r->summary->error_estimate) return true;
    if (u->first < u->count && u->ahead != l) {
        double *estimate = &r->summary->error_estimate[0];
        *estimate = fmax(*estimate, fabs(t - u->times[u->first++]));
        return true;
    }
    if (u->first == u->count) u->first = u->count = 0;
    double *times = arena_grow(&r->memory, u->times, &u->capacity, u->count + 1, sizeof *times);
    r->no_memory = !times;
    if (!times) return false;
    u->times = times;
    u->ahead = l;
    u->times[u->count++] = t;
    return true;
}

static bool send_event(void *context, const hamel_event_record *record) {
    run *r = context;
    r->summary->events++;
    if (!match_event(r, &r->main, record->t)) return false;
    r->refused = r->sink->event && !r->sink->event(r->sink->context, record);
    return !r->refused;
}

static bool match_certifier_event(void *context, const hamel_event_record *record) {
    run *r = context;
    return match_event(r, &r->certifier, record->t);
}

/* Warns once if an impact at a corner of a constraint has changed the energy, because the motion along a rounded corner
 * would conserve it. */
static void warn_of_turn(run *r) {
    const trajectory *l = &r->main;
    if (l->turned < 0 || r->warned_of_turn) return;
    r->warned_of_turn = true;
    warn(r->summary,
         "at t = %.9g the direction of the constraint `%s` jumps: the run assumes an impact without restitution, which "
         "changes the energy by %.3g; a rounded corner would conserve it",
         l->turned_at, r->model->system->constraints[l->turned].name, l->turned_energy);
}

/* Applies the pending events. Events of the main trajectory are sent to the sink. Events of the certifying trajectory
 * are used only to compare event times. */
static hamel_status apply_events(run *r, trajectory *l, bool *terminated) {
    bool main = l == &r->main;
    l->events.recording = main && r->sink->event;
    hamel_status status =
        trajectory_apply_events(l, main ? send_event : match_certifier_event, r, terminated, r->error);
    if (r->no_memory) return hamel_out_of_memory(r->error);
    if (status == HAMEL_CANCELED && r->refused) return fail_canceled(r);
    if (status == HAMEL_OK && main) monitor_add(&r->monitor, l, false, true);
    if (main) warn_of_turn(r);
    if (main) branch_check_reset(&r->branch_check);
    return status;
}

static hamel_status watch_singularity(run *r) {
    trajectory *l = &r->main;
    bool found;
    double t, apart = SAME_SINGULARITY * (r->model->settings.stop - r->model->settings.start);
    char names[300] = "";
    hamel_status status =
        singularity_detect(l, r->singular_state, r->singular_state + r->model->n, &found, &t, r->error);
    if (status != HAMEL_OK || !found || (r->singularities > 0 && t - r->last_singularity <= apart)) return status;
    bool named = dynamics_dependent_names(l->dynamics, 0, names, sizeof names);
    branch_check_note(&r->branch_check, t, names);
    r->last_singularity = t;
    r->summary->rank_changes++;
    if (++r->singularities > MAX_SINGULARITY_WARNINGS) return HAMEL_OK;
    warn(r->summary,
         "at t = %.9g the constraints%s%s become redundant: two solution branches meet here, and the run followed the "
         "current velocity%s",
         t, named ? " " : "", named ? names : "",
         r->singularities == MAX_SINGULARITY_WARNINGS
             ? "; later singular configurations are only counted, in rank_changes"
             : "");
    return HAMEL_OK;
}

/* Checks the last step of the main trajectory for singular configurations and changes of branch. */
static hamel_status watch_step(run *r) {
    trajectory *l = &r->main;
    const double t = r->target;
    if (!send_progress(r)) return refuse_rows(r);
    hamel_status status = watch_singularity(r);
    if (status == HAMEL_OK) status = branch_check_follow(&r->branch_check, l, r->error);
    if (status != HAMEL_OK) return status;
    monitor_add_step(&r->monitor, l);
    if (!r->watched || trajectory_reach(l) >= t || l->event_pending || branch_check_is_deep(&r->branch_check, l))
        return HAMEL_OK;
    status = trajectory_evaluate(l, trajectory_reach(l), r->error);
    if (status == HAMEL_OK) monitor_add(&r->monitor, l, false, false);
    return status;
}

/* An output row at an event time holds the state after the event, even if the two times differ by rounding. */
static bool is_reached(const run *r, const trajectory *l, double t) {
    if (!l->event_pending) return trajectory_reach(l) >= t;
    return trajectory_reach(l) - t > SAME_TIME * fmax(fabs(r->model->settings.start), fabs(r->model->settings.stop));
}

/* Integrates the certifying trajectory to t or to an event that ends it. */
static hamel_status integrate_certifier(run *r, double t) {
    trajectory *l = &r->certifier;
    hamel_status status = HAMEL_OK;
    while (status == HAMEL_OK && !r->certifier_terminated && !is_reached(r, l, t))
        status = l->event_pending ? apply_events(r, l, &r->certifier_terminated) : trajectory_step(l, r->error);
    return status;
}

static hamel_status certify_row(run *r, double t) {
    hamel_status status = integrate_certifier(r, t);
    if (status == HAMEL_OK && !r->certifier_terminated) status = trajectory_evaluate(&r->certifier, t, r->error);
    if (status != HAMEL_OK) return status;
    trajectory_row(&r->certifier, r->certified_row);
    for (size_t c = 0; c < r->model->header.column_count; c++)
        r->summary->error_estimate[c] = fmax(r->summary->error_estimate[c], fabs(r->row[c] - r->certified_row[c]));
    return HAMEL_OK;
}

static hamel_status output_row(run *r, double t) {
    trajectory_row(&r->main, r->row);
    if (r->summary->error_estimate) {
        hamel_status status = certify_row(r, t);
        if (status != HAMEL_OK) return status;
    }
    r->summary->rows++;
    if (r->sink->row && !r->sink->row(r->sink->context, r->row, r->model->header.column_count)) return refuse_rows(r);
    hamel_status asked = hamel_ask(r->options->poll);
    if (asked != HAMEL_OK) return asked == HAMEL_CANCELED ? fail_canceled(r) : asked;
    if (r->summary->rows % CLOCK_ROWS != 0) return HAMEL_OK;
    if (r->deadline > 0 && monotonic() > r->deadline)
        return HAMEL_LIMIT; /* checked here too, because a step may contain many rows */
    return send_progress(r) ? HAMEL_OK : refuse_rows(r);
}

/* Outputs the last row of a run that an event has ended. */
static hamel_status output_last_row(run *r) {
    monitor_add(&r->monitor, &r->main, true, false);
    hamel_status status = output_row(r, r->main.t);
    if (status != HAMEL_OK || !r->summary->error_estimate) return status;
    /* The certifying trajectory may reach the same event later, so it is integrated further. */
    return integrate_certifier(r, r->model->settings.stop);
}

static hamel_status check_here(run *r, size_t check) {
    hamel_status status = trajectory_require_check(&r->main, check, r->error);
    if (status == HAMEL_OK) monitor_check_at(&r->monitor, &r->main, check);
    return status;
}

/* If the run is canceled before the state at the target is output, returns to the time of the last state. */
static hamel_status return_before(run *r, hamel_status status) {
    if (status == HAMEL_CANCELED) r->main.t = r->before;
    return status;
}

/* Evaluates the state at the target, which has been reached. Outputs a row if one is due, and evaluates the checks at
 * this time. */
static hamel_status visit_target(run *r) {
    const double t = r->target;
    hamel_status status = HAMEL_OK;
    r->aimed = false;
    if (!(r->main.t == t && r->summary->rows == 0 && t == r->model->settings.start))
        status = return_before(r, trajectory_visit(&r->main, t, r->error));
    if (status != HAMEL_OK) return status;
    monitor_add(&r->monitor, &r->main, r->target_row, false);
    while (status == HAMEL_OK && r->next_check < r->timed_count &&
           r->model->observation.checks[r->timed_checks[r->next_check]].time == t)
        status = check_here(r, r->timed_checks[r->next_check++]);
    return status == HAMEL_OK && r->target_row ? output_row(r, t) : status;
}

/* Sets the time of the next row or check, or the stop after all of them. Returns false after the stop. */
static bool choose_target(run *r) {
    const model_settings *settings = &r->model->settings;
    bool rows = r->next_row < settings->row_count, checks = r->next_check < r->timed_count;
    if (!rows && !checks && !(r->main.t < settings->stop)) return false;
    double row_time = rows ? settings_time(settings, r->next_row) : INFINITY;
    double check_time = checks ? r->model->observation.checks[r->timed_checks[r->next_check]].time : INFINITY;
    r->before = r->main.t;
    r->target = rows || checks ? fmin(row_time, check_time) : settings->stop;
    r->target_row = rows && row_time <= check_time;
    if (r->target_row) r->next_row++;
    assert(r->target >= r->before);
    return r->aimed = true;
}

/* Outputs the last row if an event has ended the run, and evaluates the checks at the end. */
static hamel_status finish_rows(run *r) {
    hamel_status status = r->terminated ? output_last_row(r) : HAMEL_OK;
    for (size_t i = 0; i < r->model->observation.check_count && status == HAMEL_OK; i++)
        if (r->model->observation.checks[i].at == HAMEL_CHECK_FINAL) status = check_here(r, i);
    return status;
}

hamel_status run_continue(run *r, bool *done) {
    trajectory *l = &r->main;
    hamel_status status = HAMEL_OK;
    *done = false;
    while (status == HAMEL_OK && !*done) {
        *done = r->terminated || (!r->aimed && !choose_target(r));
        if (*done)
            status = finish_rows(r);
        else if (is_reached(r, l, r->target))
            status = visit_target(r);
        else if (l->event_pending)
            status = return_before(r, apply_events(r, l, &r->terminated));
        else
            return (double)l->integrator->steps >= r->model->settings.max_steps ? HAMEL_LIMIT : HAMEL_OK;
    }
    return status;
}

hamel_status run_search_step(run *r) {
    r->aimed = false; /* the member may have reached the last target in an SIMD lane */
    (void)choose_target(r);
    hamel_status status = r->main.roots ? trajectory_search_step(&r->main, r->error) : HAMEL_OK;
    return return_before(r, status == HAMEL_OK ? watch_step(r) : status);
}

hamel_status run_step(run *r) {
    hamel_status status = trajectory_step(&r->main, r->error);
    return return_before(r, status == HAMEL_OK ? watch_step(r) : status);
}

static hamel_status integrate(run *r) {
    bool done = false;
    hamel_status status = HAMEL_OK;
    while (status == HAMEL_OK && !done) {
        status = run_continue(r, &done);
        if (status == HAMEL_OK && !done) status = run_step(r);
    }
    return status;
}

/* Reports failures of the description as HAMEL_INTEGRATION, because the start was consistent. The message keeps the
 * cause. */
static hamel_status restate_failure(run *r, hamel_status status) {
    bool of_description = status == HAMEL_INVALID || status == HAMEL_INCONSISTENT || status == HAMEL_INCOMPATIBLE ||
                          status == HAMEL_SINGULAR || status == HAMEL_UNSUPPORTED;
    return of_description ? hamel_restate(r->error, HAMEL_INTEGRATION) : status;
}

/* Returns the time that the run has reached. The integrator may have passed the last output time, or stopped before the
 * next output time. */
static double time_reached(const run *r) {
    if (!r->main.integrator) return r->model->settings.start;
    double t = trajectory_reach(&r->main);
    return t < r->target ? t : r->main.t;
}

/* For a run that reached its end, adds an error if the error of the work balance or a residual is far above its
 * tolerance. */
static hamel_status check_errors(run *r) {
    const hamel_summary *s = r->summary;
    if (monitor_is_unbalanced(&r->monitor)) {
        (void)hamel_fail(
            r->error, HAMEL_INTEGRATION, "/simulation", 0,
            "energy balance error %.3g exceeds the %.3g implied by rtol and atol; part of the solution is wrong",
            s->max_work_balance_error, s->energy_tolerance);
        hamel_suggest(r->error, "compare with runs that use a smaller rtol, another method or a max_step");
    }
    if (monitor_has_drifted(&r->monitor)) {
        (void)hamel_fail(r->error, HAMEL_INTEGRATION, "/simulation", 0,
                         "constraints are violated by up to %.3g of their terms, far more than rtol = %.3g",
                         s->scaled_residual, s->rtol);
        hamel_suggest(r->error, "keep `projection` on");
    }
    return monitor_is_unbalanced(&r->monitor) || monitor_has_drifted(&r->monitor) ? HAMEL_INTEGRATION : HAMEL_OK;
}

static void warn_of_tolerance(run *r) {
    double least = integrator_least_rtol(r->main.integrator), asked = r->model->settings.rtol;
    if (asked < least)
        warn(r->summary, "rtol = %.3g is too tight for double precision: method %s used %.2g instead", asked,
             integrator_method(r->main.integrator), least);
}

/* Adds the warnings of a run that has reached its end. */
static void warn_of_motion(run *r) {
    const trajectory *l = &r->main;
    const model_event *all = r->model->events.list;
    char more[60] = "";
    if (r->monitor.reversed)
        warn(r->summary,
             "near t = %.6g the gradient of `%s` passes through 0: the velocity constraint does not determine the "
             "motion afterwards; another tolerance may give a different one",
             r->monitor.reversed_at, r->monitor.reversed);
    if (l->events.gains)
        warn(r->summary, "at t = %.9g the event `%s` adds energy, as its restitution is greater than 1",
             l->events.gained_at, l->events.gains->name);
    if (l->unordered > 1) snprintf(more, sizeof more, "; there are %ld such instants", l->unordered);
    if (l->unordered > 0)
        warn(r->summary,
             "at t = %.9g impacts of `%s` and `%s` happen at one instant in the order of declaration, and the reverse "
             "order gives different velocities%s",
             l->unordered_first, all[l->unordered_events[0]].name, all[l->unordered_events[1]].name, more);
}

static hamel_status finish_run(run *r, hamel_status status) {
    hamel_summary *s = r->summary;
    const hamel_model *model = r->model;
    bool ended = status == HAMEL_OK; /* the run has reached its end, whether or not its checks pass */
    if (ended) status = check_errors(r);
    s->outcome = status == HAMEL_OK ? HAMEL_COMPLETED : status == HAMEL_LIMIT ? HAMEL_INCOMPLETE : HAMEL_FAILED;
    s->t = time_reached(r);
    if (ended) s->t = r->terminated ? r->main.t : model->settings.stop;
    if (status == HAMEL_OK && r->terminated) s->outcome = HAMEL_TERMINATED;
    if (r->main.integrator) {
        stepper_counts c = integrator_count(r->main.integrator);
        s->steps = c.steps;
        s->rhs_evaluations = c.rhs;
        s->jacobian_evaluations = c.jacobians;
        s->projections = c.projections;
        s->branch_changes = (size_t)r->main.branch_changes;
        s->method = integrator_method(r->main.integrator);
        warn_of_tolerance(r);
    }
    if (status == HAMEL_LIMIT && (double)s->steps >= model->settings.max_steps)
        warn(s, "the run ended at t = %.9g after max_steps = %.0f steps", s->t, model->settings.max_steps);
    else if (status == HAMEL_LIMIT)
        warn(s, "the run ended at t = %.9g at its limit of %s", s->t,
             hamel_ask(r->options->poll) == HAMEL_LIMIT ? r->options->poll->spent : "wall time");
    if (ended) warn_of_motion(r);
    if (s->invariants && r->main.observed) monitor_finish(&r->monitor, model, ended);
    s->passed = s->passed && status == HAMEL_OK;
    return status == HAMEL_LIMIT ? HAMEL_OK : status;
}

void run_summary_init(hamel_summary *s, const hamel_model *model) {
    static const char *const methods[] = {[HAMEL_METHOD_AUTO] = "auto",
                                          [HAMEL_METHOD_BDF] = "bdf",
                                          [HAMEL_METHOD_ADAMS] = "adams",
                                          [HAMEL_METHOD_ERK] = "erk"};
    *s = (hamel_summary){.t = model->settings.start, .outcome = HAMEL_FAILED, .derive_seconds = model->derive_seconds};
    s->formulation = model->formulation->name;
    s->method = methods[model->settings.method];
    s->evaluation = model->native.size ? "machine code" : "interpreter";
    if (model->not_translated) warn(s, "the programs were interpreted, because %s", model->not_translated);
    s->start = model->settings.start;
    s->stop = model->settings.stop;
    s->rtol = model->settings.rtol;
    s->atol = model->settings.atol;
    s->coordinate_count = model->n;
    s->column_count = model->header.column_count;
    s->columns = model->header.columns;
    s->description_hash = model->hash;
    for (size_t i = 0; i < hamel_model_warning_count(model); i++) warn(s, "%s", hamel_model_warning(model, i));
}

hamel_status run_begin(run *r) {
    run_summary_init(r->summary, r->model);
    hamel_status status = start_run(r);
    r->started = status == HAMEL_OK;
    if (!r->started) return status;
    if (!send_header(r)) return refuse_rows(r);
    monitor_add(&r->monitor, &r->main, false, false); /* the initial state, whether or not it is a row */
    return HAMEL_OK;
}

hamel_status run_end(run *r, hamel_status status) {
    if (r->started && !r->refused) status = restate_failure(r, status);
    status = ended_early(r, status, r->started);
    status = finish_run(r, status);
    r->summary->wall_seconds = monotonic() - r->began;
    trajectory_free(&r->main);
    trajectory_free(&r->certifier);
    arena_free(&r->memory);
    return status;
}

hamel_status hamel_run(const hamel_model *model, const hamel_run_options *options, const hamel_sink *sink,
                       hamel_summary *summary, hamel_error *error) {
    hamel_error own = {0};
    double began = monotonic(), limit = model->settings.time_limit;
    run r = {.model = model,
             .options = options ? options : &(hamel_run_options){0},
             .sink = sink ? sink : &(hamel_sink){0},
             .summary = summary,
             .error = error ? error : &own,
             .began = began,
             .deadline = limit > 0 ? began + limit : 0,
             .target = model->settings.start,
             .before = model->settings.start,
             .next_progress = began + PROGRESS_SECONDS};
    hamel_status status = run_begin(&r);
    if (status == HAMEL_OK) status = integrate(&r);
    status = run_end(&r, status);
    hamel_error_clear(&own);
    return status;
}
