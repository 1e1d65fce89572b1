/* members_vec8.c — integration of members in SIMD lanes. When a member ends, the next one is started in its lane.
 *
 * Each lane performs the same operations as a run of its member alone. These are the steps of runge_kutta.c under
 * integrator.c, the evaluations of run.c, and the checks of monitor.c. The functions of dop853_control.h and
 * integrator_control.h make the decisions for one lane after the other. If a run would do anything else, the lane is
 * given up. */
#include "engine/simulate/members_vec8.h"

#include "engine/base/monotonic.h"
#include "engine/dynamics/dynamics_vec8.h"
#include "engine/simulate/integrator_control.h"
#include "engine/simulate/methods/dop853_control.h"
#include "engine/simulate/methods/dop853_vec8.h"
#include "engine/simulate/methods/stepper.h"
#include "engine/simulate/monitor.h"
#include "engine/simulate/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lane {
    bool taken;
    size_t member, next_row, next_check;
    double began;                   /* clock time at the start, in seconds */
    double visited;                 /* time of the state evaluated last */
    long rhs, tiny_steps;           /* numbers of evaluations of the rates, and of consecutive tiny steps */
    stiffness_window counts;        /* number of steps so far, and of those that indicate stiffness */
    stiffness_window window;        /* counts at the start of a stiffness window */
    double last, next_h;            /* length of the last step, 0 initially; length to try next */
    bool rejected;                  /* whether the last try was rejected */
    double start_energy, most_work; /* energy tolerance at the start; largest |W| so far */
    double energy;                  /* energy at the start; NAN before the first state */
    double imbalance, tolerance;    /* largest error of the work balance; largest energy tolerance */
} lane;

typedef struct vec8_run {
    const hamel_model *model;
    const hamel_variation *variation;
    const model_settings *settings;
    const hamel_members_options *options;
    const hamel_members_sink *sink;
    const double *values;
    size_t count, next; /* number of members; the next member to start */
    bool *left;
    hamel_header header;
    hamel_summary summary; /* summary of a completed member */
    variation_member member;
    dynamics_vec8 *dynamics;
    dop853_vec8 steps; /* steps of (q, q'), and of W if the model has an energy rate */
    lane lanes[VEC8_SIZE];
    arena memory;        /* memory of the next six arrays */
    double rtol, *atol;  /* 2n: tolerances with the method's factor */
    double *check_times; /* times of checks, sorted */
    double *row;         /* scratch for a row */
    double *q, *v, *a;   /* n each: state and accelerations of one lane */
    size_t check_count;  /* number of check_times */
    double longest;      /* upper bound on the length of steps, or INFINITY */
    bool watched;        /* whether states at the ends of steps are evaluated */
    vec8 *vectors;       /* memory of the arrays in `steps` and of the next three arrays */
    vec8 *state;         /* length: state that is evaluated */
    vec8 *acceleration;  /* n: accelerations of that state */
    vec8 *weights;       /* length: error weights at the start of the step */
} vec8_run;

bool members_vec8_serves(const hamel_model *model) {
    hamel_method method = model->settings.method;
    return dynamics_vec8_serves(model) && (method == HAMEL_METHOD_AUTO || method == HAMEL_METHOD_ERK) &&
           model->events.root_count == 0 && !model->sensitivities && !model->settings.certify &&
           model->settings.time_limit <= 0 && isfinite(model->settings.stop);
}

static int lane_rates(void *context, const vec8 *t, const vec8 *y, vec8 *dy) {
    const vec8_run *a = context;
    size_t n = a->model->n;
    memcpy(dy, y + n, n * sizeof *dy);
    dynamics_vec8_rates(a->dynamics, t, y, y + n, dy + n);
    if (a->model->dynamics.energy_rate) dynamics_vec8_energy_rate(a->dynamics, t, y, y + n, dy + 2 * n);
    return 0;
}

static bool is_good(const vec8_run *a, int k) {
    return a->dynamics->good[k] != 0;
}

/* Ends a member in its lane. hamel_run_members reruns the member alone. */
static void give_up(vec8_run *a, int k) {
    a->left[a->lanes[k].member] = true;
    a->lanes[k].taken = false;
    a->steps.h[k] = 0;
}

/* --- states of rows and checks ----------------------------------------------------------------------------------- */

/* Returns the time of the next row or check. After the last of them, returns the stop once, and then INFINITY. */
static double next_visit(const vec8_run *a, const lane *p) {
    const model_settings *s = a->settings;
    double row = p->next_row < s->row_count ? settings_time(s, p->next_row) : INFINITY;
    double check = p->next_check < a->check_count ? a->check_times[p->next_check] : INFINITY;
    double next = fmin(row, check);
    return next == INFINITY && p->visited < s->stop ? s->stop : next;
}

/* Evaluates the states in a->state at *t, and their outputs. */
static void evaluate_lanes(vec8_run *a, const vec8 *t) {
    dynamics_vec8_reset(a->dynamics);
    dynamics_vec8_observe(a->dynamics, t, a->state, a->state + a->model->n, a->acceleration);
}

/* Copies the state of lane k that was evaluated last to a->q, a->v and a->a. Also copies the values of the lane's
 * dynamics program to a->dynamics->lane_values. */
static void select_lane(vec8_run *a, int k) {
    size_t n = a->model->n;
    for (size_t i = 0; i < n; i++) {
        a->q[i] = a->state[i][k];
        a->v[i] = a->state[n + i][k];
        a->a[i] = a->acceleration[i][k];
    }
    dynamics_vec8_select(a->dynamics, k);
}

static double tolerance_of_energy(const vec8_run *a, double energy) {
    const model_dynamics *d = &a->model->dynamics;
    const double *values = a->dynamics->lane_values;
    return energy_tolerance(a->model, values + d->M.at, values + d->at_Q, a->q, a->v, energy);
}

/* Checks the state of lane k that was evaluated last, and updates its work balance like monitor_add. Returns false if a
 * run would fail or use another solver. */
static bool admit_state(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    if (!is_good(a, k)) return false;
    select_lane(a, k);
    if (!dynamics_vec8_is_verified(a->dynamics, a->v, a->a)) return false;
    double energy = a->dynamics->observed[a->model->observation.count - 1][k];
    double work = a->model->dynamics.energy_rate ? a->state[2 * a->model->n][k] : 0;
    if (isnan(p->energy)) p->energy = energy;
    p->imbalance = fmax(p->imbalance, fabs(energy - p->energy - work));
    p->tolerance = fmax(p->tolerance, tolerance_of_energy(a, energy));
    return true;
}

static bool send_row(vec8_run *a, int k, double t) {
    const hamel_model *model = a->model;
    const vec8 *q = a->state, *observed = a->dynamics->observed;
    size_t n = model->n, columns = model->header.column_count;
    for (size_t c = 0; c < columns; c++) {
        size_t i = model->columns.recorded[c];
        a->row[c] = i == 0 ? t : i <= 2 * n ? q[i - 1][k] : observed[i - 1 - 2 * n][k];
    }
    return !a->sink->row || a->sink->row(a->sink->context, a->lanes[k].member, a->row, columns);
}

/* Handles the rows and checks of lane k at t, the time of the state evaluated last. Returns false if the sink returns
 * false. */
static bool visit_state(vec8_run *a, int k, double t) {
    lane *p = &a->lanes[k];
    if (!admit_state(a, k)) {
        give_up(a, k);
        return true;
    }
    p->visited = t;
    while (p->next_check < a->check_count && a->check_times[p->next_check] == t) p->next_check++;
    for (; p->next_row < a->settings->row_count && settings_time(a->settings, p->next_row) == t; p->next_row++)
        if (!send_row(a, k, t)) return false;
    return true;
}

/* Sets a->state to the states at the times t within the steps tried, which end at `until`. */
static void interpolate_lanes(vec8_run *a, const vec8 *t, const vec8 *until, bool extended) {
    const dop853_vec8 *d = &a->steps;
    vec8 start = *until - d->h, part = {0};
    for (int k = 0; k < VEC8_SIZE; k++) part[k] = d->h[k] > 0 ? ((*t)[k] - start[k]) / d->h[k] : 0;
    if (extended) dop853_vec8_interpolate(d, &part, a->state);
    for (int k = 0; k < VEC8_SIZE; k++)
        for (size_t i = 0; (!extended || (*t)[k] >= (*until)[k]) && i < d->length; i++)
            a->state[i][k] = d->h[k] > 0 ? d->next[i][k] : d->y[i][k];
}

/* Computes the continuous extension of the steps that end at `until`. Sets *good to the lanes where this succeeds. */
static void extend_steps(vec8_run *a, const vec8 *until, vec8_bits *good) {
    vec8 start = *until - a->steps.h; /* this may differ from the time at which the step began, as in runge_kutta.c */
    dynamics_vec8_reset(a->dynamics);
    (void)dop853_vec8_extend(&a->steps, &start); /* lane_rates always returns 0 */
    *good = a->dynamics->good;
}

/* Evaluates the states of the lanes in `which` at their rows and checks in the steps tried, which end at `until`. If
 * `always` is true, a lane without rows and checks is evaluated at `until`. Returns false if the sink does so. */
static bool visit_states(vec8_run *a, const bool *which, const vec8 *until, bool always) {
    vec8_bits extended_lanes;
    bool extended = false;
    for (bool first = true;; first = false) {
        vec8 t = *until;
        bool any = false, inner = false, due[VEC8_SIZE];
        for (int k = 0; k < VEC8_SIZE; k++) {
            bool open = which[k] && a->lanes[k].taken;
            double next = open ? next_visit(a, &a->lanes[k]) : INFINITY;
            due[k] = next <= (*until)[k] || (open && first && always);
            if (next <= (*until)[k]) t[k] = next;
            any = any || due[k];
            inner = inner || t[k] < (*until)[k];
        }
        if (!any) return true;
        if (inner && !extended) extend_steps(a, until, &extended_lanes);
        extended = extended || inner;
        interpolate_lanes(a, &t, until, extended);
        evaluate_lanes(a, &t);
        for (int k = 0; k < VEC8_SIZE; k++) {
            if (!due[k]) continue;
            if (t[k] < (*until)[k] && !extended_lanes[k])
                give_up(a, k);
            else if (!visit_state(a, k, t[k]))
                return false;
        }
    }
}

/* --- beginning ---------------------------------------------------------------------------------------------------- */

/* Starts a member with valid numbers in lane k. Returns false if no member is left. */
static bool take_member(vec8_run *a, int k) {
    size_t n = a->model->n, targets = variation_target_count(a->variation);
    lane *p = &a->lanes[k];
    while (!p->taken && a->next < a->count) {
        size_t member = a->next++;
        a->left[member] = variation_set(a->variation, a->values + member * targets, &a->member, NULL) != HAMEL_OK;
        if (!a->left[member])
            *p = (lane){.taken = true,
                        .member = member,
                        .began = monotonic(),
                        .visited = a->settings->start,
                        .energy = (double)NAN};
    }
    if (!p->taken) return false;
    for (size_t i = 0; i < a->model->system->parameter_count; i++)
        a->dynamics->parameters[i][k] = a->member.parameters[i];
    for (size_t i = 0; i < a->steps.length; i++)
        a->steps.y[i][k] = i < n ? a->member.q0[i] : i < 2 * n ? a->member.v0[i - n] : 0;
    a->steps.t[k] = a->settings->start;
    a->steps.h[k] = 0;
    return true;
}

/* Starts members in free lanes. Sets started[k] to whether lane k has a new member. Returns true if any lane has
 * one. */
static bool take_members(vec8_run *a, bool *started) {
    bool any = false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        started[k] = !a->lanes[k].taken && take_member(a, k);
        any = any || started[k];
    }
    if (any) dynamics_vec8_prepare(a->dynamics);
    return any;
}

/* Sets the weights of lane k at the state y (integrator_weights). Returns false if they are not finite. */
static bool set_weights(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    size_t states = 2 * a->model->n;
    double finite = 0;
    for (size_t i = 0; i < states; i++) {
        a->weights[i][k] = control_weight(a->rtol, a->atol[i], a->steps.y[i][k]);
        finite += 0 * a->weights[i][k];
    }
    if (a->model->dynamics.energy_rate)
        a->weights[states][k] =
            control_work_weight(a->steps.y[states][k], &p->most_work, p->start_energy, a->settings->rtol, a->rtol);
    return finite == 0;
}

/* Decides whether lane k begins another step (integrate_to, integrator_step), and sets its weights. */
static void begin_step(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    bool stiff = a->settings->method == HAMEL_METHOD_AUTO &&
                 stiffness_window_shows(&p->window, p->counts, stepper_erk.stiff_of_many);
    if ((double)p->counts.steps >= a->settings->max_steps || stiff ||
        control_is_at_stop(a->steps.t[k], a->settings->stop) || !set_weights(a, k))
        give_up(a, k);
}

/* Returns the weighted root mean square of one lane of x (stepper_norm). */
static double lane_norm(const vec8_run *a, const vec8 *x, int k) {
    double sum = 0;
    for (size_t i = 0; i < a->steps.length; i++) {
        double e = x[i][k] * a->weights[i][k];
        sum += e * e;
    }
    return sqrt(sum / (double)a->steps.length);
}

static void give_up_failed(vec8_run *a, const bool *which) {
    for (int k = 0; k < VEC8_SIZE; k++)
        if (which[k] && a->lanes[k].taken && !is_good(a, k)) give_up(a, k);
}

/* Computes the first slopes and steps of the lanes that have started (find_first_step in runge_kutta.c). The slopes of
 * later stages are scratch between two steps. */
static void find_first_steps(vec8_run *a, const bool *started) {
    dop853_vec8 *d = &a->steps;
    vec8 *slope = dop853_vec8_slope(d, 1), *change = dop853_vec8_slope(d, 2), probe = {0}, t;
    double rate[VEC8_SIZE] = {0};
    dynamics_vec8_reset(a->dynamics);
    (void)lane_rates(a, &d->t, d->y, slope);
    give_up_failed(a, started);
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (started[k] && a->lanes[k].taken) begin_step(a, k);
        if (!started[k] || !a->lanes[k].taken) continue;
        for (size_t i = 0; i < d->length; i++) dop853_vec8_slope(d, 0)[i][k] = slope[i][k];
        rate[k] = lane_norm(a, slope, k);
        probe[k] = dop853_probe(lane_norm(a, d->y, k), rate[k], fmin(a->longest, a->settings->stop - d->t[k]));
    }
    for (size_t i = 0; i < d->length; i++) d->stage[i] = d->y[i] + probe * slope[i];
    t = d->t + probe;
    dynamics_vec8_reset(a->dynamics);
    (void)lane_rates(a, &t, d->stage, change);
    give_up_failed(a, started);
    for (size_t i = 0; i < d->length; i++) change[i] -= slope[i];
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        if (!started[k] || !p->taken) continue;
        p->next_h = dop853_first_step(probe[k], rate[k], lane_norm(a, change, k));
        p->rhs = 2;
    }
}

/* Checks the initial state of lane k, which was evaluated last, and computes its energy tolerance (note_energy in
 * integrator.c). Returns false if the lane must be given up. */
static bool admit_start(vec8_run *a, int k) {
    if (!is_good(a, k)) return false;
    select_lane(a, k);
    if (!dynamics_vec8_mass_is_regular(a->dynamics)) return false;
    if (a->model->dynamics.energy_rate)
        a->lanes[k].start_energy =
            fmax(0, tolerance_of_energy(a, 0) +
                        energy_at_rest(a->model, a->dynamics->lane_values + a->model->dynamics.M.at));
    return true;
}

/* Starts members in free lanes, with their first rows. */
static bool start_members(vec8_run *a) {
    dop853_vec8 *d = &a->steps;
    bool started[VEC8_SIZE];
    if (!take_members(a, started)) return true;
    for (int k = 0; k < VEC8_SIZE; k++)
        if (started[k] && a->sink->begin && !a->sink->begin(a->sink->context, a->lanes[k].member, &a->header))
            return false;
    memcpy(a->state, d->y, d->length * sizeof *a->state);
    evaluate_lanes(a, &d->t);
    for (int k = 0; k < VEC8_SIZE; k++)
        if (started[k] && !admit_start(a, k)) give_up(a, k);
    if (!visit_states(a, started, &d->t, true)) return false;
    find_first_steps(a, started);
    return true;
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

static bool end_member(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    if (energy_is_unbalanced(p->imbalance, p->tolerance)) {
        give_up(a, k);
        return true;
    }
    hamel_summary summary = a->summary;
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

static void choose_steps(vec8_run *a) {
    dop853_vec8 *d = &a->steps;
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!a->lanes[k].taken) continue;
        d->h[k] = dop853_bounded_step(a->lanes[k].next_h, a->longest, a->settings->stop - d->t[k]);
        if (!dop853_is_long_enough(d->h[k], d->t[k])) give_up(a, k);
    }
}

/* Tries a step in each lane. Sets accepted[k] to true if the error of its step is small enough, and ratio[k] to the
 * ratio of the next step to this step. */
static void try_steps(vec8_run *a, bool *accepted, double *ratio) {
    dop853_vec8 *d = &a->steps;
    vec8 fifth, third;
    dynamics_vec8_reset(a->dynamics);
    (void)dop853_vec8_try(d); /* lane_rates always returns 0 */
    dop853_vec8_errors(d, a->weights, &fifth, &third);
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        double length = (double)d->length;
        accepted[k] = false;
        if (p->taken && !is_good(a, k)) give_up(a, k);
        if (!p->taken) continue;
        double error = dop853_error(d->h[k], sqrt(fifth[k] / length), sqrt(third[k] / length));
        ratio[k] = dop853_ratio(error, !(p->last > 0));
        accepted[k] = error <= 1;
        p->rhs += DOP853_STAGES - 1;
        if (accepted[k]) continue;
        p->next_h = d->h[k] * ratio[k];
        p->rejected = true;
    }
}

/* Completes the accepted steps (complete_step, accept_step in runge_kutta.c). Sets *until to the ends of all steps. */
static void complete_steps(vec8_run *a, const bool *accepted, const double *ratio, vec8 *until) {
    dop853_vec8 *d = &a->steps;
    const model_settings *s = a->settings;
    dop853_vec8_changes changes;
    vec8 end = d->t + d->h;
    dynamics_vec8_reset(a->dynamics);
    (void)lane_rates(a, &end, d->next, dop853_vec8_slope(d, DOP853_STAGES));
    dop853_vec8_compare(d, &changes);
    give_up_failed(a, accepted);
    *until = end;
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        if (!accepted[k] || !p->taken) continue;
        (*until)[k] = dop853_end(d->t[k], d->h[k], s->stop);
        p->rhs++;
        p->counts.steps++;
        p->counts.stiff += dop853_shows_stiffness(changes.rates[k], changes.states[k], changes.product[k], d->h[k]);
        p->next_h = dop853_next_step(d->h[k], ratio[k], p->rejected);
        p->last = d->h[k];
        p->rejected = false;
        if (control_creeps((*until)[k] - d->t[k], s->stop - s->start, &p->tiny_steps)) give_up(a, k);
    }
}

/* Moves lane k to the end of its step. Returns false if the sink returns false. */
static bool advance(vec8_run *a, int k, double until) {
    dop853_vec8 *d = &a->steps;
    d->t[k] = until;
    for (size_t i = 0; i < d->length; i++) {
        d->y[i][k] = d->next[i][k];
        dop853_vec8_slope(d, 0)[i][k] = dop853_vec8_slope(d, DOP853_STAGES)[i][k];
    }
    if (next_visit(a, &a->lanes[k]) == INFINITY) return end_member(a, k);
    begin_step(a, k);
    return true;
}

static bool step_lanes(vec8_run *a) {
    bool accepted[VEC8_SIZE];
    double ratio[VEC8_SIZE];
    vec8 until;
    choose_steps(a);
    try_steps(a, accepted, ratio);
    complete_steps(a, accepted, ratio, &until);
    if (!visit_states(a, accepted, &until, a->watched)) return false;
    for (int k = 0; k < VEC8_SIZE; k++)
        if (accepted[k] && a->lanes[k].taken && !advance(a, k, until[k])) return false;
    return true;
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
    a->header = a->model->header;
    a->header.degrees_of_freedom = freedoms;
    run_summary_init(&a->summary, a->model);
    a->summary.outcome = HAMEL_COMPLETED;
    a->summary.t = a->settings->stop;
    a->summary.degrees_of_freedom = freedoms;
    a->summary.method = "erk";
    a->summary.max_dynamics_residual = (double)NAN;
    a->summary.passed = true;
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
                       {&a->row, model->header.column_count}, {&a->q, n}, {&a->v, n}, {&a->a, n}) ||
        !variation_member_create(&a->member, a->variation) || !a->vectors || !a->dynamics)
        return false;
    a->steps.rates = lane_rates;
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
        good = start_members(&a);
        if (!good || (a.next >= a.count && !any_taken(&a))) break;
        if (any_taken(&a)) good = step_lanes(&a);
    }
    variation_member_free(&a.member);
    dynamics_vec8_free(a.dynamics);
    free(a.vectors);
    arena_free(&a.memory);
    hamel_summary_free(&a.summary);
    if (!created) return hamel_out_of_memory(error);
    if (good && !is_canceled(&a)) return HAMEL_OK;
    return hamel_fail(error, HAMEL_CANCELED, "", 0, "canceled at member %zu", a.next);
}
