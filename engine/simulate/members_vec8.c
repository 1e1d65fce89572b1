/* members_vec8.c — integration of members in SIMD lanes. When a member ends, the next one is started in its lane. */
#include "engine/simulate/members_vec8.h"

#include "engine/base/tolerances.h"
#include "engine/dynamics/dynamics_vec8.h"
#include "engine/simulate/methods/dop853_vec8.h"
#include "engine/simulate/uncertainty.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Factor on tolerances, because the errors of steps accumulate; measured in README.md, "Sweeps". */
static const double LANE_SAFETY = 0.01;
/* Ratio of the next step to the estimated step that just meets the tolerance (Hairer, Nørsett & Wanner, I, II.4). */
static const double CAUTION = 0.9;
/* If stability bounds STIFF_STEPS steps, separated by fewer than CALM_STEPS other steps, the member is rerun alone.
 * DOP853 has the same test and numbers. After more than FAILURES_MOST consecutive failures the member is rerun as well;
 * FAILURES_MOST is chosen. */
enum { STIFF_STEPS = 15, CALM_STEPS = 6, FAILURES_MOST = 30 };

/* State of one SIMD lane. */
typedef struct lane {
    bool taken;
    size_t member, next_row;
    long steps;
    int failures;    /* consecutive rejected steps */
    int stiff, calm; /* number of steps bounded by stability; number of consecutive other steps since */
    double energy;   /* energy at the start */
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
    variation_member member;
    dynamics_vec8 *dynamics;
    dop853_vec8 steps;
    lane lanes[VEC8_SIZE];
    arena memory;       /* memory of atol and row */
    double rtol, *atol; /* atol: 2n */
    double *row;        /* a row; then M, Q, q and v of one lane */
    vec8 *vectors;      /* memory of the arrays in `steps` and of `state` */
    vec8 *state;        /* 2n: state that is evaluated; n: accelerations of that state; 2n: scratch */
} vec8_run;

bool members_vec8_serves(const hamel_model *model) {
    hamel_method method = model->settings.method;
    return dynamics_vec8_serves(model) && (method == HAMEL_METHOD_AUTO || method == HAMEL_METHOD_ERK) &&
           model->events.root_count == 0 && !model->sensitivities && !model->settings.certify &&
           model->settings.time_limit <= 0;
}

static int lane_rates(void *context, const vec8 *t, const vec8 *y, vec8 *dy) {
    const vec8_run *a = context;
    size_t n = a->model->n;
    memcpy(dy, y + n, n * sizeof *dy);
    dynamics_vec8_accelerations(a->dynamics, t, y, y + n, dy + n);
    return 0;
}

/* --- rows ----------------------------------------------------------------------------------------------------------- */

static bool is_finite(const vec8 *x, size_t count, int k) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += 0 * x[i][k];
    return sum == 0;
}

/* Ends a member in its lane. hamel_members reruns the member alone, and that run reports the cause. */
static void give_up(vec8_run *a, int k) {
    a->left[a->lanes[k].member] = true;
    a->lanes[k].taken = false;
    a->steps.h[k] = 0;
}

static bool send_row(vec8_run *a, int k, double t) {
    const hamel_model *model = a->model;
    const vec8 *q = a->state, *observed = a->dynamics->observed;
    size_t n = model->n, columns = model->header.column_count;
    if (!is_finite(observed, model->observation.count, k)) {
        give_up(a, k);
        return true;
    }
    for (size_t c = 0; c < columns; c++) {
        size_t i = model->columns.recorded[c];
        a->row[c] = i == 0 ? t : i <= 2 * n ? q[i - 1][k] : observed[i - 1 - 2 * n][k];
    }
    return !a->sink->row || a->sink->row(a->sink->context, a->lanes[k].member, a->row, columns);
}

/* Evaluates the states in a->state at *t, and their outputs. */
static void evaluate_lanes(vec8_run *a, const vec8 *t) {
    size_t n = a->model->n;
    vec8 *acceleration = a->state + 2 * n;
    dynamics_vec8_accelerations(a->dynamics, t, a->state, a->state + n, acceleration);
    dynamics_vec8_observe(a->dynamics, t, a->state, a->state + n, acceleration);
}

static bool is_due(const vec8_run *a, int k, double until) {
    const lane *p = &a->lanes[k];
    return p->taken && p->next_row < a->settings->row_count && settings_time(a->settings, p->next_row) <= until;
}

/* For each lane k, outputs the rows within the step tried up to (*until)[k]. */
static bool send_rows(vec8_run *a, const bool *which, const vec8 *until) {
    const dop853_vec8 *d = &a->steps;
    bool open = false;
    for (;;) {
        vec8 t = *until, part = {0};
        bool any = false, inner = false, due[VEC8_SIZE];
        for (int k = 0; k < VEC8_SIZE; k++) {
            due[k] = which[k] && is_due(a, k, (*until)[k]);
            any = any || due[k];
            if (due[k]) t[k] = settings_time(a->settings, a->lanes[k].next_row);
            inner = inner || (due[k] && t[k] < (*until)[k]);
            part[k] = d->h[k] > 0 ? (t[k] - d->t[k]) / d->h[k] : 0;
        }
        if (!any) return true;
        if (inner && !open) (void)dop853_vec8_extend(&a->steps, &a->steps.t); /* rates of lanes do not fail */
        open = open || inner;
        if (open) dop853_vec8_interpolate(d, &part, a->state);
        for (size_t i = 0; i < d->length; i++)
            for (int k = 0; k < VEC8_SIZE; k++)
                if (!open || t[k] >= (*until)[k]) a->state[i][k] = d->h[k] > 0 ? d->next[i][k] : d->y[i][k];
        evaluate_lanes(a, &t);
        for (int k = 0; k < VEC8_SIZE; k++) {
            if (!due[k]) continue;
            a->lanes[k].next_row++;
            if (!send_row(a, k, t[k])) return false;
        }
    }
}

/* --- beginning ------------------------------------------------------------------------------------------------------ */

/* Assigns the next members with valid numbers to free lanes. Sets started[k] to true if lane k has a new member. */
static bool take_members(vec8_run *a, bool *started) {
    size_t n = a->model->n, targets = variation_target_count(a->variation);
    bool any = false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        started[k] = false;
        while (!a->lanes[k].taken && a->next < a->count) {
            size_t member = a->next++;
            a->left[member] = variation_set(a->variation, a->values + member * targets, &a->member, NULL) != HAMEL_OK;
            if (a->left[member]) continue;
            a->lanes[k] = (lane){.taken = true, .member = member};
            any = started[k] = true;
        }
        if (!started[k]) continue;
        for (size_t i = 0; i < a->model->system->parameter_count; i++)
            a->dynamics->parameters[i][k] = a->member.parameters[i];
        for (size_t i = 0; i < n; i++) {
            a->steps.y[i][k] = a->member.q0[i];
            a->steps.y[n + i][k] = a->member.v0[i];
        }
        a->steps.t[k] = a->settings->start;
        a->steps.h[k] = 0;
    }
    if (any) dynamics_vec8_prepare(a->dynamics);
    return any;
}

static double eighth_root(double x) {
    return sqrt(sqrt(sqrt(x)));
}

/* Returns the weighted root mean square of one lane of x. */
static double lane_norm(const vec8_run *a, const vec8 *x, int k) {
    double sum = 0;
    for (size_t i = 0; i < a->steps.length; i++) {
        double scaled = x[i][k] / (a->rtol * fabs(a->steps.y[i][k]) + a->atol[i]);
        sum += scaled * scaled;
    }
    return sqrt(sum / (double)a->steps.length);
}

static double longest_step(const vec8_run *a, int k) {
    double most = a->settings->stop - a->steps.t[k], given = a->settings->max_step;
    return given > 0 && given < most ? given : most;
}

/* Sets the first steps of the lanes that have started, from a step of Euler's method (Hairer, Nørsett & Wanner, I, II.4). */
static void find_first_steps(vec8_run *a, const bool *started, const vec8 *slope, vec8 *other) {
    dop853_vec8 *d = &a->steps;
    vec8 first = {0}, *moved = other, *change = other + d->length, t;
    for (int k = 0; k < VEC8_SIZE; k++)
        first[k] = started[k] ? dop853_probe(lane_norm(a, d->y, k), lane_norm(a, slope, k)) : 0;
    for (size_t i = 0; i < d->length; i++) moved[i] = d->y[i] + first * slope[i];
    t = d->t + first;
    lane_rates(a, &t, moved, change);
    for (size_t i = 0; i < d->length; i++) change[i] -= slope[i];
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!started[k]) continue;
        double curvature = lane_norm(a, change, k) / first[k], largest = fmax(lane_norm(a, slope, k), curvature);
        double h = largest <= 1e-15 ? fmax(1e-6, 1e-3 * first[k]) : eighth_root(0.01 / largest);
        d->h[k] = fmin(fmin(100 * first[k], h), longest_step(a, k));
    }
}

/* Starts members in free lanes, with their first rows. */
static bool start_members(vec8_run *a) {
    dop853_vec8 *d = &a->steps;
    size_t n = a->model->n;
    bool started[VEC8_SIZE];
    vec8 *slope = a->state + 3 * n; /* scratch after the state and its accelerations */
    if (!take_members(a, started)) return true;
    for (int k = 0; k < VEC8_SIZE; k++)
        if (started[k] && a->sink->begin && !a->sink->begin(a->sink->context, a->lanes[k].member)) return false;
    memcpy(a->state, d->y, d->length * sizeof *a->state);
    evaluate_lanes(a, &d->t);
    memcpy(slope, d->y + n, n * sizeof *slope);
    memcpy(slope + n, a->state + d->length, n * sizeof *slope);
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!started[k]) continue;
        a->lanes[k].energy = a->dynamics->observed[a->model->observation.count - 1][k];
        for (size_t i = 0; i < d->length; i++) dop853_vec8_slope(d, 0)[i][k] = slope[i][k];
        if (!is_finite(slope, d->length, k)) give_up(a, k), started[k] = false;
    }
    if (!send_rows(a, started, &d->t)) return false;
    find_first_steps(a, started, slope, dop853_vec8_slope(d, 1));
    return true;
}

/* --- steps ---------------------------------------------------------------------------------------------------------- */

/* Returns false if the energy of this SIMD lane should be conserved but has drifted. */
static bool keeps_energy(vec8_run *a, int k) {
    const hamel_model *model = a->model;
    const vec8 *values = a->dynamics->values;
    size_t n = model->n;
    double *M = a->row + model->header.column_count, *Q = M + model->dynamics.M.count, *q = Q + n;
    if (model->dynamics.energy_rate) return true;
    for (size_t e = 0; e < model->dynamics.M.count; e++) M[e] = values[model->dynamics.M.at + e][k];
    for (size_t i = 0; i < n; i++) Q[i] = values[model->dynamics.at_Q + i][k];
    for (size_t i = 0; i < 2 * n; i++) q[i] = a->state[i][k];
    double energy = a->dynamics->observed[model->observation.count - 1][k];
    double tolerance = energy_tolerance(model, M, Q, q, q + n, energy);
    return !energy_is_unbalanced(fabs(energy - a->lanes[k].energy), tolerance);
}

static bool end_member(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    if (!keeps_energy(a, k)) {
        give_up(a, k);
        return true;
    }
    hamel_member_end end = {.status = HAMEL_OK, .outcome = HAMEL_COMPLETED, .t = a->settings->stop, .steps = p->steps};
    p->taken = false;
    a->steps.h[k] = 0;
    return !a->sink->end || a->sink->end(a->sink->context, p->member, &end);
}

static bool bounded_by_stability(lane *p, double product) {
    if (product > DOP853_STABLE) {
        p->calm = 0;
        return ++p->stiff >= STIFF_STEPS;
    }
    if (p->stiff > 0 && ++p->calm >= CALM_STEPS) p->stiff = 0;
    return false;
}

/* Returns the next step of SIMD lane k after a step with this error. */
static double lane_step(const vec8_run *a, int k, double error, bool good) {
    double factor = error > 0 ? CAUTION / eighth_root(error) : DOP853_GROW;
    if (!(factor > DOP853_SHRINK)) factor = error == error ? DOP853_SHRINK : 0.1;
    return a->steps.h[k] * fmin(factor, good && a->lanes[k].failures == 0 ? DOP853_GROW : 1);
}

/* Accepts or rejects the step tried. If lane k accepts the step, sets good[k] to true and (*until)[k] to the end of the
 * step. */
static void check_steps(vec8_run *a, bool *good, vec8 *until, vec8 *next) {
    dop853_vec8 *d = &a->steps;
    vec8 error, product;
    dop853_vec8_error(d, a->rtol, a->atol, &error);
    dop853_vec8_stiffness(d, &product);
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        double left = a->settings->stop - d->t[k];
        good[k] = p->taken && error[k] <= 1 && is_finite(dop853_vec8_slope(d, DOP853_STAGES), d->length, k);
        (*until)[k] = d->h[k] >= left ? a->settings->stop : d->t[k] + d->h[k];
        (*next)[k] = 0;
        if (!p->taken) continue;
        (*next)[k] = lane_step(a, k, good[k] ? error[k] : error[k] <= 1 ? (double)NAN : error[k], good[k]);
        p->failures = good[k] ? 0 : p->failures + 1;
        p->steps += good[k];
        bool lost = p->failures > FAILURES_MOST || !((*next)[k] > 16 * DBL_EPSILON * fabs(d->t[k])) ||
                    (double)p->steps >= a->settings->max_steps || !(a->dynamics->margin[k] > 0) ||
                    (good[k] && bounded_by_stability(p, product[k]));
        if (!lost) continue;
        good[k] = false;
        give_up(a, k);
        (*next)[k] = 0;
    }
}

static bool step_lanes(vec8_run *a) {
    dop853_vec8 *d = &a->steps;
    bool good[VEC8_SIZE];
    vec8 until, next;
    for (int k = 0; k < VEC8_SIZE; k++) a->dynamics->margin[k] = INFINITY;
    (void)dop853_vec8_try(d); /* rates of lanes do not fail */
    vec8 end = d->t + d->h;
    (void)lane_rates(a, &end, d->next, dop853_vec8_slope(d, DOP853_STAGES));
    check_steps(a, good, &until, &next);
    if (!send_rows(a, good, &until)) return false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!good[k] || !a->lanes[k].taken) {
            d->h[k] = a->lanes[k].taken ? next[k] : 0;
            continue;
        }
        d->t[k] = until[k];
        for (size_t i = 0; i < d->length; i++) {
            d->y[i][k] = d->next[i][k];
            dop853_vec8_slope(d, 0)[i][k] = dop853_vec8_slope(d, DOP853_STAGES)[i][k];
        }
        if (d->t[k] >= a->settings->stop) {
            if (!end_member(a, k)) return false;
        } else {
            d->h[k] = fmin(next[k], longest_step(a, k));
        }
    }
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

static bool create_vec8_run(vec8_run *a) {
    const hamel_model *model = a->model;
    size_t n = model->n;
    assert(members_vec8_serves(model));
    a->rtol = fmax(LANE_SAFETY * a->settings->rtol, RTOL_LEAST);
    a->atol = arena_doubles(&a->memory, 2 * n);
    a->row = arena_doubles(&a->memory, model->header.column_count + model->dynamics.M.count + 3 * n);
    a->vectors = vec8_alloc((size_t)DOP853_VECTORS * 2 * n + 5 * n);
    a->dynamics = dynamics_vec8_create(model);
    if (!variation_member_create(&a->member, a->variation) || a->memory.failed || !a->vectors || !a->dynamics)
        return false;
    a->steps.rates = lane_rates;
    a->steps.context = a;
    dop853_vec8_init(&a->steps, 2 * n, a->vectors);
    a->state = a->vectors + (size_t)DOP853_VECTORS * 2 * n;
    for (size_t i = 0; i < 2 * n; i++) a->atol[i] = LANE_SAFETY * a->settings->atol[i % n];
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
    if (!created) return hamel_out_of_memory(error);
    if (good && !is_canceled(&a)) return HAMEL_OK;
    return hamel_fail(error, HAMEL_CANCELED, "", 0, "canceled at member %zu", a.next);
}
