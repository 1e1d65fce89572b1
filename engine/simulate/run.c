/* run.c — one run from consistent initial values to the summary.
 *
 * The integrator takes its own steps to the end; output times and times of checks are visited in between through dense
 * output, so they never influence the steps. A second lane at a tenth of the tolerances runs abreast when an estimate of
 * the global error is asked for, so that no rows need to be kept. */
#include "engine/base/monotonic.h"
#include "engine/simulate/crossing.h"
#include "engine/simulate/lane.h"
#include "engine/simulate/monitor.h"
#include "engine/simulate/passage.h"
#include "engine/solve/initial_values.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CERTIFY_FACTOR = 0.1, PROGRESS_SECONDS = 0.25;
static const double SAME_TIME = 1e-15;    /* of the largest time: two roundings */
static const double SAME_CROSSING = 1e-8; /* of the span: one at the end of a step is seen twice */
enum { CROSSINGS_TOLD = 5 };
enum { CLOCK_ROWS = 16 }; /* look at the clock every so many rows */

/* Times of the events that one lane has been through and the other has not yet. */
typedef struct unmatched {
    double *times;
    size_t first, count, capacity;
    const lane *ahead;
} unmatched;

typedef struct run {
    const hamel_model *model;
    const hamel_run_options *options;
    const hamel_sink *sink;
    hamel_summary *summary;
    hamel_error *error;
    lane main, certifier;
    double *row, *certified_row;
    double *crossing; /* 2n: scratch */
    passage passage;
    int crossings;
    double last_crossing;
    size_t *timed_checks, timed_count; /* checks with a time, by time */
    size_t next_row, next_check;
    double began, next_progress, deadline; /* deadline 0: none */
    double target;                         /* the time that is being visited */
    bool watched;                          /* something is to be seen between rows */
    bool terminated, certifier_terminated; /* by an event */
    bool turn_told;
    bool refused; /* by the sink */
    unmatched events;
    bool no_memory; /* a callback had none */
} run;

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

/* --- start ---------------------------------------------------------------------------------------------------------- */

static bool record_initial_changes(run *r) {
    const hamel_model *model = r->model;
    size_t n = model->n, count = 0;
    hamel_initial_value *list = calloc(2 * n + 1, sizeof *list);
    if (!list) return false;
    for (size_t i = 0; i < 2 * n; i++) {
        double given = i < n ? model->q0[i] : model->v0[i - n], used = i < n ? r->main.q[i] : r->main.v[i - n];
        if (given == used) continue;
        list[count++] = (hamel_initial_value){model->system->coordinates[i % n].name, i >= n, given, used};
    }
    r->summary->initial_changes = list;
    r->summary->initial_change_count = count;
    return true;
}

static hamel_status no_memory(run *r) {
    return hamel_fail(r->error, HAMEL_NO_MEMORY, "", 0, "no memory for the run");
}

static int by_time(const void *a, const void *b, void *context) {
    const model_check *checks = context;
    double x = checks[*(const size_t *)a].time, y = checks[*(const size_t *)b].time;
    return (x > y) - (x < y);
}

static bool collect_checks(run *r) {
    const hamel_model *model = r->model;
    r->timed_checks = calloc(model->check_count + 1, sizeof *r->timed_checks);
    if (!r->timed_checks) return false;
    r->watched = model->invariant_count > 0 || !model->linear_velocities;
    for (size_t i = 0; i < model->check_count; i++) {
        if (model->checks[i].at == HAMEL_CHECK_TIME) r->timed_checks[r->timed_count++] = i;
        if (model->checks[i].at == HAMEL_CHECK_ALWAYS) r->watched = true;
    }
    qsort_r(r->timed_checks, r->timed_count, sizeof *r->timed_checks, by_time, model->checks);
    return true;
}

/* The end of the wall time that the description gives the run, or 0. */
static double deadline_of(const run *r) {
    double limit = r->model->settings.time_limit;
    return limit > 0 ? r->began + limit : 0;
}

static hamel_status start_lane(run *r, lane *l, double factor) {
    integrator_options options = {factor, r->options ? r->options->poll : NULL, r->deadline, l->sensitivities,
                                  (const double *const *)l->along};
    return lane_start(l, &options, r->error);
}

/* Warns of functions that leave zero at the start without their events happening. */
static void warn_of_unnoticed(run *r) {
    const hamel_model *model = r->model;
    for (size_t i = 0; i < model->event_count; i++) {
        const model_event *e = &model->events[i];
        if (!roots_unnoticed(r->main.roots, i)) continue;
        if (e->contact && e->direction != HAMEL_BOTH)
            warn(
                r->summary,
                "at the start the function of the event `%s` is beyond the zero at which its contact closes: no impact "
                "keeps it from closing further; start from the other side of the zero, or correct the function",
                e->name);
        else if (model_event_acts(e))
            warn(r->summary,
                 "the function of the event `%s` is 0 at the start and the event has no direction: the contact opens "
                 "there; if it closes, give the event a direction",
                 e->name);
        else
            warn(r->summary,
                 "the function of the event `%s` is 0 at the start: that is not a crossing, and the event ends the run "
                 "at "
                 "the next one",
                 e->name);
    }
}

static hamel_status start(run *r) {
    const hamel_model *model = r->model;
    hamel_summary *s = r->summary;
    if (!isfinite(model->settings.stop))
        return hamel_fail(r->error, HAMEL_INVALID, "/simulation/stop", 0,
                          "a model without a time to stop does not run");
    for (size_t i = 0; i < hamel_model_warning_count(model); i++) warn(s, "%s", hamel_model_warning(model, i));
    if (!lane_create(&r->main, model, r->error)) return r->error->status;
    kinetics_limit(r->main.kinetics, r->options ? r->options->poll : NULL, r->deadline);
    r->row = calloc(2 * model->header.column_count + 4 * model->n + 1, sizeof *r->row);
    if (!r->row || !monitor_start(s, model) || !collect_checks(r)) return no_memory(r);
    r->certified_row = r->row + model->header.column_count;
    r->crossing = r->certified_row + model->header.column_count;
    r->passage = (passage){.v = r->crossing + 2 * model->n, .a = r->crossing + 3 * model->n, .least = 1};
    hamel_status status =
        initial_velocities_from_quasi(r->main.kinetics, model->settings.start, r->main.q, r->main.v, r->error);
    if (status == HAMEL_OK)
        status = initial_values_make_consistent(r->main.kinetics, model->settings.start, r->main.q, r->main.v,
                                                model->settings.initialization, &s->initial_residual, r->error);
    if (status == HAMEL_OK) status = lane_start_sensitivities(&r->main, r->error);
    if (status == HAMEL_OK) status = lane_see(&r->main, model->settings.start, r->error);
    if (status != HAMEL_OK) return status;
    s->degrees_of_freedom = (int)model->n - (int)motion_rank(&r->main.kinetics->motion);
    if (!record_initial_changes(r)) return no_memory(r);
    status = monitor_redundancy(s, &r->main, r->error);
    if (status != HAMEL_OK) return status;
    if (s->redundant_count)
        warn(
            s,
            "%zu constraint%s on others: %zu of the multipliers are not unique, and those of least norm are given; all "
            "other multipliers, and what the constraints exert together, are unique",
            s->redundant_count, s->redundant_count == 1 ? " depends" : "s depend", s->redundancy->not_unique.count);
    if (model->settings.certify) {
        s->error_estimate = calloc(model->header.column_count + 1, sizeof *s->error_estimate);
        if (!s->error_estimate) return no_memory(r);
        if (!lane_create(&r->certifier, model, r->error)) return r->error->status;
        kinetics_limit(r->certifier.kinetics, r->options ? r->options->poll : NULL, r->deadline);
        memcpy(r->certifier.q, r->main.q, 2 * model->n * sizeof *r->main.q); /* q and v lie together */
        status = lane_start_sensitivities(&r->certifier, r->error);
        if (status == HAMEL_OK) status = start_lane(r, &r->certifier, CERTIFY_FACTOR);
    }
    if (status == HAMEL_OK) status = start_lane(r, &r->main, 1);
    if (status == HAMEL_OK) warn_of_unnoticed(r);
    return status;
}

/* --- the way ---------------------------------------------------------------------------------------------------------- */

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
    hamel_progress p = {integrator_time(r->main.integrator), r->model->settings.start, r->model->settings.stop,
                        integrator_steps(r->main.integrator)};
    return r->sink->progress(r->sink->context, &p);
}

static hamel_status ask(const run *r) {
    return r->options ? hamel_ask(r->options->poll) : HAMEL_OK;
}

static hamel_status canceled(run *r) {
    double t = r->main.integrator ? integrator_time(r->main.integrator) : r->model->settings.start;
    return hamel_fail(r->error, HAMEL_CANCELED, "", 0, "canceled at t = %.9g", t);
}

/* The sink refuses further rows. */
static hamel_status refused(run *r) {
    r->refused = true;
    return canceled(r);
}

/* Once a run is canceled or out of time, evaluations are refused (kinetics_limit), so any later failure is a
 * consequence and not a verdict on the motion. */
static hamel_status ended_early(run *r, hamel_status status, bool started) {
    if (status == HAMEL_OK || status == HAMEL_LIMIT || status == HAMEL_NO_MEMORY) return status;
    hamel_status asked = ask(r);
    bool late = asked == HAMEL_LIMIT || (r->deadline > 0 && monotonic() > r->deadline);
    if (asked != HAMEL_CANCELED && !(late && !r->refused)) return status;
    hamel_error_clear(r->error);
    if (asked == HAMEL_CANCELED) return canceled(r);
    return started || send_header(r) ? HAMEL_LIMIT : refused(r);
}

/* The k-th events of both lanes are one: how far apart they are is the error of its time, told with the column t. */
static bool match_event(run *r, const lane *l, double t) {
    unmatched *u = &r->events;
    if (!r->summary->error_estimate) return true;
    if (u->first < u->count && u->ahead != l) {
        double *estimate = &r->summary->error_estimate[0];
        *estimate = fmax(*estimate, fabs(t - u->times[u->first++]));
        return true;
    }
    if (u->first == u->count) u->first = u->count = 0;
    if (u->count == u->capacity) {
        size_t capacity = 2 * u->capacity + 64;
        double *times = realloc(u->times, capacity * sizeof *times);
        r->no_memory = !times;
        if (!times) return false;
        u->times = times;
        u->capacity = capacity;
    }
    u->ahead = l;
    u->times[u->count++] = t;
    return true;
}

static bool tell(void *context, const hamel_happening *happening) {
    run *r = context;
    r->summary->events++;
    if (!match_event(r, &r->main, happening->t)) return false;
    r->refused = r->sink->event && !r->sink->event(r->sink->context, happening);
    return !r->refused;
}

static bool tell_certifier(void *context, const hamel_happening *happening) {
    run *r = context;
    return match_event(r, &r->certifier, happening->t);
}

/* Warns once: the energy that an impact at a corner removes is a modelling choice. */
static void warn_of_turn(run *r) {
    const lane *l = &r->main;
    if (l->turned < 0 || r->turn_told) return;
    r->turn_told = true;
    warn(r->summary,
         "at t = %.9g the direction of the constraint `%s` jumps: the run assumes an impact without restitution, which "
         "changes the energy by %.3g; a rounded corner would conserve it",
         l->turned_at, r->model->system->constraints[l->turned].name, l->turned_energy);
}

/* The event that is due. Its row of values before belongs to the motion as much as the one after. */
static hamel_status happen(run *r, lane *l, bool *terminated) {
    bool main = l == &r->main;
    hamel_status status = lane_happen(l, main ? tell : tell_certifier, r, terminated, r->error);
    if (r->no_memory) return no_memory(r);
    if (status == HAMEL_CANCELED && r->refused) return canceled(r);
    if (status == HAMEL_OK && main) monitor_jump(r->summary, l);
    if (main) warn_of_turn(r);
    if (main) passage_forget(&r->passage);
    return status;
}

/* Constraints that become dependent for an instant within the last step. */
static hamel_status watch_rank(run *r) {
    lane *l = &r->main;
    hamel_summary *s = r->summary;
    bool found;
    double t, apart = SAME_CROSSING * (r->model->settings.stop - r->model->settings.start);
    char names[300] = "";
    hamel_status status = crossing_find(l, r->crossing, r->crossing + r->model->n, &found, &t, r->error);
    if (status != HAMEL_OK || !found || (r->crossings > 0 && t - r->last_crossing <= apart)) return status;
    bool named = kinetics_dependent_names(l->kinetics, 0, names, sizeof names);
    passage_note(&r->passage, t, names);
    r->last_crossing = t;
    s->rank_changes++;
    if (++r->crossings > CROSSINGS_TOLD) return HAMEL_OK;
    warn(s,
         "at t = %.9g the constraints%s%s become dependent: the motion goes on as its velocity points, but another "
         "one branches off there%s",
         t, named ? " " : "", named ? names : "",
         r->crossings == CROSSINGS_TOLD ? "; later ones are counted in rank_changes" : "");
    return HAMEL_OK;
}

/* One step of the main lane is watched; where it ends beyond what was asked for, it will be seen there. */
static hamel_status watch(run *r, double t) {
    lane *l = &r->main;
    if (!send_progress(r)) return refused(r);
    hamel_status status = watch_rank(r);
    if (status == HAMEL_OK) status = passage_follow(&r->passage, l, r->error);
    if (status != HAMEL_OK) return status;
    monitor_follow(r->summary, l);
    if (!r->watched || lane_reach(l) >= t || l->due || passage_is_deep(&r->passage, l)) return HAMEL_OK;
    status = lane_see(l, lane_reach(l), r->error);
    if (status == HAMEL_OK) monitor_see(r->summary, l, false);
    return status;
}

/* A row at the time of an event shows what is after it, whatever rounding did to either time. */
static bool is_reached(const run *r, const lane *l, double t) {
    if (!l->due) return lane_reach(l) >= t;
    return lane_reach(l) - t > SAME_TIME * fmax(fabs(r->model->settings.start), fabs(r->model->settings.stop));
}

/* HAMEL_LIMIT (without a fault) when a budget ended the run. *terminated: an event before or at t did. */
static hamel_status advance(run *r, lane *l, double t, bool *terminated) {
    hamel_status status = HAMEL_OK;
    while (status == HAMEL_OK && !*terminated && !is_reached(r, l, t)) {
        if (l->due) {
            status = happen(r, l, terminated);
            continue;
        }
        if (l == &r->main && integrator_steps(l->integrator) >= r->model->settings.max_steps) return HAMEL_LIMIT;
        status = lane_step(l, r->error);
        if (status == HAMEL_OK && l == &r->main) status = watch(r, t);
    }
    return status;
}

static hamel_status certify(run *r, double t) {
    hamel_status status = advance(r, &r->certifier, t, &r->certifier_terminated);
    if (status == HAMEL_OK && !r->certifier_terminated) status = lane_see(&r->certifier, t, r->error);
    if (status != HAMEL_OK) return status;
    lane_row(&r->certifier, r->certified_row);
    for (size_t c = 0; c < r->model->header.column_count; c++)
        r->summary->error_estimate[c] = fmax(r->summary->error_estimate[c], fabs(r->row[c] - r->certified_row[c]));
    return HAMEL_OK;
}

static hamel_status emit(run *r, double t) {
    lane_row(&r->main, r->row);
    if (r->summary->error_estimate) {
        hamel_status status = certify(r, t);
        if (status != HAMEL_OK) return status;
    }
    r->summary->rows++;
    if (r->sink->row && !r->sink->row(r->sink->context, r->row, r->model->header.column_count)) return refused(r);
    hamel_status asked = ask(r);
    if (asked != HAMEL_OK) return asked == HAMEL_CANCELED ? canceled(r) : asked;
    if ((long long)r->summary->rows % CLOCK_ROWS != 0) return HAMEL_OK;
    if (r->deadline > 0 && monotonic() > r->deadline) return HAMEL_LIMIT; /* one step may span any number of rows */
    return send_progress(r) ? HAMEL_OK : refused(r);
}

/* The last row of a run that an event ends. */
static hamel_status end_there(run *r) {
    monitor_see(r->summary, &r->main, true);
    hamel_status status = emit(r, r->main.t);
    if (status != HAMEL_OK || !r->summary->error_estimate) return status;
    return advance(r, &r->certifier, r->model->settings.stop, &r->certifier_terminated); /* to its own end */
}

static hamel_status check_here(run *r, size_t check) {
    hamel_status status = lane_demand_check(&r->main, check, r->error);
    if (status == HAMEL_OK) monitor_check_at(r->summary, &r->main, check);
    return status;
}

/* Visits a time: advance to it, see it, and use it as a row, for checks, or both. */
static hamel_status visit(run *r, double t, bool row) {
    double before = r->main.t;
    r->target = t;
    hamel_status status = advance(r, &r->main, t, &r->terminated);
    if (status == HAMEL_OK && r->terminated) return end_there(r);
    if (status == HAMEL_OK && !(r->main.t == t && r->summary->rows == 0 && t == r->model->settings.start))
        status = lane_see(&r->main, t, r->error);
    if (status == HAMEL_CANCELED) r->main.t = before; /* no row has been output for it */
    if (status != HAMEL_OK) return status;
    monitor_see(r->summary, &r->main, row);
    while (status == HAMEL_OK && r->next_check < r->timed_count &&
           r->model->checks[r->timed_checks[r->next_check]].time == t)
        status = check_here(r, r->timed_checks[r->next_check++]);
    return status == HAMEL_OK && row ? emit(r, t) : status;
}

static hamel_status integrate(run *r) {
    const model_settings *settings = &r->model->settings;
    hamel_status status = HAMEL_OK;
    monitor_see(r->summary, &r->main, false); /* the initial state, whether or not it is a row */
    while (status == HAMEL_OK && !r->terminated) {
        bool rows = r->next_row < settings->row_count, checks = r->next_check < r->timed_count;
        if (!rows && !checks) break;
        double row_time = rows ? settings_time(settings, r->next_row) : INFINITY;
        double check_time = checks ? r->model->checks[r->timed_checks[r->next_check]].time : INFINITY;
        bool row = row_time <= check_time;
        if (row) r->next_row++;
        status = visit(r, row ? row_time : check_time, row);
    }
    if (status == HAMEL_OK && !r->terminated && r->main.t < settings->stop) status = visit(r, settings->stop, false);
    for (size_t i = 0; i < r->model->check_count && status == HAMEL_OK; i++)
        if (r->model->checks[i].at == HAMEL_CHECK_FINAL) status = check_here(r, i);
    return status;
}

/* Once the description has been accepted and the start is consistent, any failure belongs to the integration. The
 * message keeps the cause. */
static hamel_status failed_in_motion(run *r, hamel_status status) {
    bool of_description = status == HAMEL_INVALID || status == HAMEL_INCONSISTENT || status == HAMEL_INCOMPATIBLE ||
                          status == HAMEL_SINGULAR || status == HAMEL_UNSUPPORTED;
    return of_description ? hamel_restate(r->error, HAMEL_INTEGRATION) : status;
}

/* The integrator may be ahead of the time last seen, or short of the one that was to be seen next. */
static double reached(const run *r) {
    if (!r->main.integrator) return r->model->settings.start;
    double t = lane_reach(&r->main);
    return t < r->target ? t : r->main.t;
}

/* A run that reached its end may still be wrong by far more than its tolerances; then its own checks fail it. */
static hamel_status judge(run *r) {
    const hamel_summary *s = r->summary;
    if (monitor_unbalanced(s)) {
        (void)hamel_fail(
            r->error, HAMEL_INTEGRATION, "/simulation", 0,
            "the energy is off its balance by %.3g, while rtol and atol amount to %.3g: part of the motion is "
            "wrong",
            s->max_work_balance_error, s->energy_tolerance);
        hamel_suggest(r->error, "compare with runs at a smaller rtol, by another method, or with a max_step");
    }
    if (monitor_adrift(s)) {
        (void)hamel_fail(r->error, HAMEL_INTEGRATION, "/simulation", 0,
                         "constraints are violated by up to %.3g of their terms, far more than rtol = %.3g",
                         s->scaled_residual, s->rtol);
        hamel_suggest(r->error, "keep `projection` on");
    }
    return monitor_unbalanced(s) || monitor_adrift(s) ? HAMEL_INTEGRATION : HAMEL_OK;
}

static void warn_of_gradient(run *r) {
    const hamel_summary *s = r->summary;
    if (s->turned)
        warn(r->summary,
             "near t = %.6g the gradient of `%s` passes through 0: the velocity constraint does not determine the "
             "motion "
             "behind; another tolerance may give another one",
             s->turned_at, s->turned);
}

static void warn_of_tolerance(run *r) {
    double least = integrator_least_rtol(r->main.integrator), asked = r->model->settings.rtol;
    if (asked < least)
        warn(r->summary, "rtol = %.3g is too tight for double precision: method %s took its steps as for %.2g", asked,
             integrator_method(r->main.integrator), least);
}

static void warn_of_gain(run *r) {
    const events *e = &r->main.events;
    if (e->gains)
        warn(r->summary, "at t = %.9g the event `%s` adds energy, as its restitution is greater than 1", e->gained_at,
             e->gains->name);
}

static void warn_of_order(run *r) {
    const lane *l = &r->main;
    const model_event *all = r->model->events;
    char more[60] = "";
    if (l->disordered > 1) snprintf(more, sizeof more, "; there are %.0f such instants", l->disordered);
    if (l->disordered > 0)
        warn(r->summary,
             "at t = %.9g impacts of `%s` and `%s` happen at one instant in the order of declaration, and the reverse "
             "order gives different velocities%s",
             l->disordered_first, all[l->disordered_events[0]].name, all[l->disordered_events[1]].name, more);
}

static hamel_status finish(run *r, hamel_status status) {
    hamel_summary *s = r->summary;
    const hamel_model *model = r->model;
    bool ended = status == HAMEL_OK; /* it has reached its end, whatever its checks report */
    if (ended) status = judge(r);
    s->outcome = status == HAMEL_OK ? HAMEL_COMPLETED : status == HAMEL_LIMIT ? HAMEL_INCOMPLETE : HAMEL_FAILED;
    s->t = reached(r);
    if (ended) s->t = r->terminated ? r->main.t : model->settings.stop;
    if (status == HAMEL_OK && r->terminated) s->outcome = HAMEL_TERMINATED;
    if (r->main.integrator) {
        integrator_counts c = integrator_count(r->main.integrator);
        s->steps = c.steps;
        s->rhs_evaluations = c.rhs;
        s->jacobian_evaluations = c.jacobians;
        s->projections = c.projections;
        s->switches = r->main.switches;
        s->method = integrator_method(r->main.integrator);
        warn_of_tolerance(r);
    }
    if (status == HAMEL_LIMIT) {
        bool steps = s->steps >= model->settings.max_steps;
        if (steps)
            warn(s, "the run ended at t = %.9g after max_steps = %.0f steps", s->t, model->settings.max_steps);
        else
            warn(s, "the run ended at t = %.9g at its limit of %s", s->t,
                 ask(r) == HAMEL_LIMIT ? r->options->poll->spent : "wall time");
    }
    if (ended) {
        warn_of_gradient(r);
        warn_of_gain(r);
        warn_of_order(r);
    }
    if (s->invariants && r->main.observed) monitor_finish(s, model, ended);
    s->passed = s->passed && status == HAMEL_OK;
    return status == HAMEL_LIMIT ? HAMEL_OK : status;
}

static void describe(hamel_summary *s, const hamel_model *model) {
    static const char *const methods[] = {[HAMEL_METHOD_AUTO] = "auto",
                                          [HAMEL_METHOD_BDF] = "bdf",
                                          [HAMEL_METHOD_ADAMS] = "adams",
                                          [HAMEL_METHOD_ERK] = "erk"};
    *s = (hamel_summary){.t = model->settings.start, .outcome = HAMEL_FAILED, .derive_seconds = model->derive_seconds};
    s->formulation = model->formulation->name;
    s->method = methods[model->settings.method];
    s->evaluation = model->native.size ? "machine code" : "interpreter";
    if (model->not_translated) warn(s, "no machine code, as %s: the programs were interpreted", model->not_translated);
    s->start = model->settings.start;
    s->stop = model->settings.stop;
    s->rtol = model->settings.rtol;
    s->atol = model->settings.atol;
    s->coordinate_count = model->n;
    s->column_count = model->header.column_count;
    s->columns = model->header.columns;
    s->description_hash = model->hash;
}

hamel_status hamel_run(const hamel_model *model, const hamel_run_options *options, const hamel_sink *sink,
                       hamel_summary *summary, hamel_error *error) {
    hamel_sink none = {0};
    hamel_error own = {0};
    run r = {.model = model,
             .options = options,
             .sink = sink ? sink : &none,
             .summary = summary,
             .error = error ? error : &own};
    r.began = monotonic();
    r.deadline = deadline_of(&r);
    r.target = model->settings.start;
    r.next_progress = r.began + PROGRESS_SECONDS;
    describe(summary, model);
    hamel_status status = start(&r);
    bool started = status == HAMEL_OK;
    if (started) status = send_header(&r) ? failed_in_motion(&r, integrate(&r)) : refused(&r);
    status = ended_early(&r, status, started);
    status = finish(&r, status);
    summary->wall_seconds = monotonic() - r.began;
    lane_free(&r.main);
    lane_free(&r.certifier);
    free(r.row);
    free(r.timed_checks);
    free(r.events.times);
    hamel_error_clear(&own);
    return status;
}
