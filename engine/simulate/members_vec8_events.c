/* members_vec8_events.c — members with events in SIMD lanes.
 *
 * Each member has a run of its own (run_int.h). The run starts the member, searches the steps in which an event may
 * happen, applies events, and ends the member. The other steps are taken in a lane. After the start and after each
 * event, the lane continues from the state of the run. Before a search, the run receives the step that the lane has
 * taken, with all counts and histories of the integration. While other constraints act than at the start, the run takes
 * its steps alone. */
#include "engine/simulate/members_vec8_int.h"

#include "engine/base/monotonic.h"
#include "engine/simulate/methods/runge_kutta.h"
#include "engine/simulate/run.h"
#include "engine/simulate/run_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lane_run {
    run run;
    hamel_summary summary;
    hamel_error error;
    hamel_run_options options;
    hamel_sink sink;
    variation_member member;
    const hamel_members_sink *members;
    size_t number; /* of the member */
    bool open;     /* whether `run` must be ended */
};

static bool send_lane_header(void *context, const hamel_header *header) {
    const lane_run *l = context;
    return !l->members->begin || l->members->begin(l->members->context, l->number, header);
}

static bool send_lane_row(void *context, const double *values, size_t count) {
    const lane_run *l = context;
    return !l->members->row || l->members->row(l->members->context, l->number, values, count);
}

static bool send_lane_event(void *context, const hamel_event_record *event) {
    const lane_run *l = context;
    return l->members->event(l->members->context, l->number, event);
}

bool lane_runs_create(vec8_run *a) {
    if (a->model->events.root_count == 0) return true;
    a->roots = vec8_alloc(ROOTS_PARTS * a->model->events.root_count);
    a->root_values = arena_doubles(&a->memory, ROOTS_PARTS * a->model->events.root_count);
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane_run *l = a->lanes[k].run = calloc(1, sizeof *l);
        if (!l || !variation_member_create(&l->member, a->variation)) return false;
        l->member.model.settings = *a->settings;
        l->members = a->sink;
        l->options.poll = a->options->poll;
        l->sink = (hamel_sink){.context = l,
                               .header = send_lane_header,
                               .row = send_lane_row,
                               .event = a->sink->event ? send_lane_event : NULL};
    }
    return a->roots && a->root_values;
}

/* Ends the run of a lane. Returns its status. */
static hamel_status close_run(lane_run *l, hamel_status status) {
    if (!l->open) return status;
    l->open = false;
    return run_end(&l->run, status);
}

void lane_run_drop(lane_run *l) {
    if (!l) return;
    (void)close_run(l, HAMEL_CANCELED);
    hamel_summary_free(&l->summary);
    hamel_error_clear(&l->error);
}

void lane_runs_free(vec8_run *a) {
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane_run *l = a->lanes[k].run;
        lane_run_drop(l);
        if (l) variation_member_free(&l->member);
        free(l);
    }
    free(a->roots);
}

/* --- between runs and lanes --------------------------------------------------------------------------------------- */

/* Returns true if the next step of a run can be taken in a lane. */
static bool suits_lane(const vec8_run *a, const run *r) {
    const integrator *w = r->main.integrator;
    const dynamics *k = r->main.dynamics;
    if (memcmp(k->discrete_state.active, a->model->active, a->model->m * sizeof *a->model->active) != 0) return false;
    return dynamics_is_regular(k) && runge_kutta_suits_lane(w->stepper) && !w->suspended && !w->collocation_failed &&
           !w->near_singularity && !r->branch_check.inside && isinf(r->main.roots->pace);
}

/* Sets lane k to the state of its run, which needs a step. Sets *begun to false if the integration has been
 * restarted. */
static void enter_lane(vec8_run *a, int k, bool *begun) {
    lane *p = &a->lanes[k];
    const run *r = &p->run->run;
    const integrator *w = r->main.integrator;
    stepper_counts counts = w->stepper->counts;
    p->next_row = r->next_row - (r->aimed && r->target_row);
    p->next_check = r->next_check;
    p->visited = r->main.t;
    p->rhs = counts.rhs;
    p->projections = counts.projections;
    p->tiny_steps = w->tiny_steps;
    p->since_start = w->since_start;
    p->counts = (stiffness_window){w->steps, counts.stiff, w->failed_evaluations};
    p->window = w->window;
    p->shrinking = w->shrinking;
    p->last = w->stepper->last;
    p->rejected = false;
    p->start_energy = w->start_energy;
    p->most_work = w->most_work;
    p->energy = r->monitor.initial_energy;
    p->imbalance = p->tolerance = 0;
    p->event_work = r->main.event_work;
    p->near = false;
    p->margin = w->start_margin;
    p->margin_slope = w->margin_slope;
    p->regular_step = w->regular_step;
    a->largest_margin[k] = w->largest_margin;
    p->next_h = runge_kutta_get_state(w->stepper, &a->steps, k, begun);
    a->steps.h[k] = 0;
}

/* Gives the run of lane k the step that the lane has taken, which ends at t. `extended`: the continuous extension is
 * valid. */
static void leave_lane(vec8_run *a, int k, double t, bool extended) {
    lane *p = &a->lanes[k];
    run *r = &p->run->run;
    trajectory *l = &r->main;
    integrator *w = l->integrator;
    const vec8 *next = a->steps.next;
    const size_t n = a->model->n;
    r->next_row = r->summary->rows = p->next_row;
    r->next_check = p->next_check;
    l->t = fmax(l->t, p->visited);
    r->summary->max_work_balance_error = fmax(r->summary->max_work_balance_error, p->imbalance);
    r->summary->energy_tolerance = fmax(r->summary->energy_tolerance, p->tolerance);
    w->previous = a->steps.t[k];
    w->t = t;
    w->steps = p->counts.steps;
    w->stepper->counts.steps = p->counts.steps;
    w->stepper->counts.stiff = p->counts.stiff;
    w->stepper->counts.rhs = p->rhs;
    w->stepper->counts.projections = p->projections;
    w->since_start = p->since_start;
    w->tiny_steps = p->tiny_steps;
    w->window = p->window;
    w->shrinking = p->shrinking;
    w->most_work = p->most_work;
    w->failure = HAMEL_OK;
    w->margin = w->start_margin = p->margin;
    w->margin_slope = p->margin_slope;
    w->regular_step = p->regular_step;
    w->least_margin = a->least_margin[k];
    w->largest_margin = a->largest_margin[k];
    w->rank = motion_rank(&l->dynamics->motion);
    for (size_t i = 0; i < a->steps.length; i++) w->y[i] = next[i][k];
    for (size_t i = 0; i < n; i++) w->velocity[i] = next[n + i][k];
    runge_kutta_set_step(w->stepper, &a->steps, k, t, p->next_h, extended);
    l->recalled = dynamics_remember(l->dynamics);
}

/* Reports the end of the run of lane k, or has the member rerun alone if the run failed. Returns false if the sink has
 * returned false. */
static bool end_lane_run(vec8_run *a, int k, hamel_status status) {
    lane *p = &a->lanes[k];
    lane_run *l = p->run;
    status = close_run(l, status);
    if (l->run.refused) return false;
    if (status != HAMEL_OK || l->summary.outcome == HAMEL_INCOMPLETE) {
        lane_give_up(a, k);
        return true;
    }
    hamel_summary summary = l->summary;
    summary.invariant_count = summary.check_count = 0;
    summary.max_dynamics_residual = (double)NAN;
    summary.passed = true;
    hamel_member_end end = {.status = HAMEL_OK, .summary = &summary};
    p->taken = false;
    a->steps.h[k] = 0;
    bool sent = !a->sink->end || a->sink->end(a->sink->context, p->member, &end);
    lane_run_drop(l);
    return sent;
}

/* Continues the run of lane k until a step can be taken in the lane, or to its end. Sets *entered and *begun as
 * enter_lane does. Returns false if the sink has returned false. */
static bool continue_alone(vec8_run *a, int k, hamel_status status, bool *entered, bool *begun) {
    run *r = &a->lanes[k].run->run;
    bool done = false;
    *entered = false;
    while (status == HAMEL_OK && !done) {
        status = run_continue(r, &done);
        if (status != HAMEL_OK || done) break;
        if (suits_lane(a, r)) {
            enter_lane(a, k, begun);
            return *entered = true;
        }
        status = run_step(r);
    }
    return end_lane_run(a, k, status);
}

/* --- starts ------------------------------------------------------------------------------------------------------- */

/* Starts the run of a member in lane k. Returns its status. */
static hamel_status begin_run(vec8_run *a, int k, size_t member) {
    lane *p = &a->lanes[k];
    lane_run *l = p->run;
    const double *values = a->values + member * variation_target_count(a->variation);
    hamel_status status = variation_set(a->variation, values, &l->member, &l->error);
    if (status != HAMEL_OK) return status;
    l->number = member;
    l->run = (run){.model = &l->member.model,
                   .options = &l->options,
                   .sink = &l->sink,
                   .summary = &l->summary,
                   .error = &l->error,
                   .began = monotonic(),
                   .target = a->settings->start,
                   .before = a->settings->start,
                   .next_progress = INFINITY};
    l->open = true;
    return run_begin(&l->run);
}

/* Starts members in lane k until one of them needs a step in the lane. Returns false if the sink does. */
static bool start_run_in_lane(vec8_run *a, int k, bool *entered, bool *begun) {
    lane *p = &a->lanes[k];
    *entered = false;
    while (!*entered && a->next < a->count) {
        size_t member = a->next++;
        p->taken = true;
        p->member = member;
        hamel_status status = begin_run(a, k, member);
        p->residuals = p->run->summary.residuals;
        if (!p->run->open) {
            lane_give_up(a, k);
            continue;
        }
        for (size_t i = 0; status == HAMEL_OK && i < a->model->system->parameter_count; i++)
            a->dynamics->parameters[i][k] = p->run->member.parameters[i];
        if (!continue_alone(a, k, status, entered, begun)) return false;
    }
    return true;
}

bool lanes_start_runs(vec8_run *a) {
    bool entered[VEC8_SIZE], begun[VEC8_SIZE] = {false}, any = false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        entered[k] = false;
        if (!a->lanes[k].taken && !start_run_in_lane(a, k, &entered[k], &begun[k])) return false;
        any = any || entered[k];
    }
    if (!any) return true;
    dynamics_vec8_prepare(a->dynamics);
    lanes_begin(a, entered, begun);
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* Samples the root functions in the steps tried, which end at `until`. Sets *good to the lanes in which this
 * succeeds. */
static void sample_roots(vec8_run *a, const vec8 *until, vec8_bits *good) {
    const dop853_vec8 *d = &a->steps;
    size_t n = a->model->n, count = a->model->events.root_count;
    lanes_extend(a, until, good);
    for (int part = 1; part <= ROOTS_PARTS; part++) {
        vec8 t = *until;
        for (int k = 0; k < VEC8_SIZE; k++) {
            const lane *p = &a->lanes[k];
            double from = p->taken ? fmax(d->t[k], p->run->run.main.roots->t) : d->t[k];
            t[k] = roots_sample_time(from, (*until)[k], part, ROOTS_PARTS);
        }
        lanes_interpolate(a, &t, until, true);
        dynamics_vec8_roots(a->dynamics, &t, a->state, a->state + n, a->roots + (size_t)(part - 1) * count);
    }
}

/* Returns true if no event happens in the step of lane k, and its run has noted that. */
static bool is_quiet(vec8_run *a, int k, double until) {
    roots *w = a->lanes[k].run->run.main.roots;
    for (size_t i = 0; i < ROOTS_PARTS * w->count; i++) a->root_values[i] = a->roots[i][k];
    double from = fmax(a->steps.t[k], w->t);
    return until < a->settings->stop && roots_pass_quietly(w, from, until, a->root_values);
}

bool lanes_search(vec8_run *a, bool *which, const vec8 *until, bool *entered, bool *begun) {
    vec8_bits good;
    bool any = false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        entered[k] = begun[k] = false;
        which[k] = which[k] && a->lanes[k].taken;
        any = any || which[k];
    }
    if (!any) return true;
    sample_roots(a, until, &good);
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!which[k] || (good[k] && is_quiet(a, k, (*until)[k]))) continue;
        which[k] = false;
        if (a->lanes[k].near) { /* the branch check of the run has not followed the lane */
            lane_give_up(a, k);
            continue;
        }
        leave_lane(a, k, (*until)[k], good[k] != 0);
        hamel_status status = run_search_step(&a->lanes[k].run->run);
        if (!continue_alone(a, k, status, &entered[k], &begun[k])) return false;
    }
    return true;
}
