/* members_vec8_steps.c — steps of the members in SIMD lanes: those of runge_kutta.c under integrator.c. Decisions are
 * made by the functions of dop853_control.h and integrator_control.h, one lane after the other. */
#include "engine/simulate/members_vec8_int.h"

#include "engine/simulate/methods/dop853_control.h"
#include "engine/simulate/methods/stepper.h"
#include "engine/simulate/singularity/singularity.h"

#include <math.h>
#include <string.h>

/* Sets the weights of the lanes in `which` at the state y, by the operations of control_weight. Clears the bits of
 * *finite in the lanes in which a weight is not finite. */
VEC8_INLINE void set_weights_body(vec8_run *a, const vec8_bits *which, vec8_bits *finite) {
    const vec8_bits magnitude = (vec8_bits){0} + INT64_MAX;
    size_t states = 2 * a->model->n;
    for (size_t i = 0; i < states; i++) {
        vec8 size = (vec8)((vec8_bits)a->steps.y[i] & magnitude), weight = 1 / (a->rtol * size + a->atol[i]);
        vec8_choose(which, &weight, &a->weights[i], &a->weights[i]);
    }
    vec8_require_finite_body(a->weights, states, finite);
}
VEC8_FUNCTION(void, set_weights, (vec8_run * a, const vec8_bits *which, vec8_bits *finite), (a, which, finite))

/* Returns true if `auto` changes the method before the next step (integrator_step). */
static bool changes_method(const vec8_run *a, lane *p) {
    if (a->settings->method != HAMEL_METHOD_AUTO) return false;
    if (stiffness_window_shows(&p->window, p->counts, stepper_erk.stiff_of_many)) return true;
    return a->model->m > 0 && shrinking_steps_show(&p->shrinking, p->last, p->since_start, p->near);
}

/* Decides whether the taken lanes in `which` begin another step (integrate_to, integrator_step), and sets their weights
 * (integrator_weights). */
static void begin_steps(vec8_run *a, const bool *which) {
    const model_settings *s = a->settings;
    const size_t states = 2 * a->model->n;
    vec8_bits lanes, finite = ~(vec8_bits){0};
    lanes_bits(a, which, &lanes);
    set_weights(a, &lanes, &finite);
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        if (!lanes[k]) continue;
        a->least_margin[k] = 1;
        bool ends = (double)p->counts.steps >= s->max_steps || changes_method(a, p);
        if (ends || control_is_at_stop(a->steps.t[k], s->stop) || !finite[k])
            lane_give_up(a, k);
        else if (a->model->dynamics.energy_rate)
            a->weights[states][k] =
                control_work_weight(a->steps.y[states][k], &p->most_work, p->start_energy, s->rtol, a->rtol);
    }
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

/* Updates the smallest rank margins. Clears the lanes in which a stage is near a singular configuration
 * (rough_stage_rates in nearby.c). */
VEC8_INLINE void note_margins_body(vec8_run *a) {
    vec8 margin = a->dynamics->margin;
    vec8_bits less = (vec8_bits)(margin < a->margin);
    a->dynamics->good &= (vec8_bits)(margin >= SINGULARITY_ROUGH * a->largest_margin);
    vec8_choose(&less, &margin, &a->margin, &a->margin);
}
VEC8_FUNCTION(void, note_margins, (vec8_run * a), (a))

int lanes_rates(void *context, const vec8 *t, const vec8 *y, vec8 *dy) {
    vec8_run *a = context;
    size_t n = a->model->n;
    memcpy(dy, y + n, n * sizeof *dy);
    dynamics_vec8_rates(a->dynamics, t, y, y + n, dy + n);
    if (a->model->dynamics.energy_rate) dynamics_vec8_energy_rate(a->dynamics, t, y, y + n, dy + 2 * n);
    if (a->model->m == 0) return 0;
    note_margins(a);
    return 0;
}

/* Call after evaluations of rates. Gives up the taken lanes in `which` in which an evaluation has failed. Updates the
 * smallest rank margin of the others. */
static void admit_rates(vec8_run *a, const bool *which) {
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!which[k] || !a->lanes[k].taken) continue;
        a->least_margin[k] = fmin(a->least_margin[k], a->margin[k]);
        if (!lane_is_good(a, k)) lane_give_up(a, k);
    }
}

/* Computes the first slopes and steps of the lanes that have started (find_first_step in runge_kutta.c). The slopes of
 * later stages are scratch between two steps. */
void lanes_find_first_steps(vec8_run *a, const bool *started) {
    dop853_vec8 *d = &a->steps;
    vec8 *slope = dop853_vec8_slope(d, 1), *change = dop853_vec8_slope(d, 2), probe = {0}, t;
    double rate[VEC8_SIZE] = {0};
    lanes_reset(a);
    (void)lanes_rates(a, &d->t, d->y, slope);
    admit_rates(a, started);
    vec8 margin = a->margin;
    begin_steps(a, started);
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!started[k] || !a->lanes[k].taken) continue;
        a->least_margin[k] = margin[k];
        for (size_t i = 0; i < d->length; i++) dop853_vec8_slope(d, 0)[i][k] = slope[i][k];
        rate[k] = lane_norm(a, slope, k);
        probe[k] = dop853_probe(lane_norm(a, d->y, k), rate[k], fmin(a->longest, a->settings->stop - d->t[k]));
    }
    for (size_t i = 0; i < d->length; i++) d->stage[i] = d->y[i] + probe * slope[i];
    t = d->t + probe;
    lanes_reset(a);
    (void)lanes_rates(a, &t, d->stage, change);
    admit_rates(a, started);
    for (size_t i = 0; i < d->length; i++) change[i] -= slope[i];
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        if (!started[k] || !p->taken) continue;
        p->next_h = dop853_first_step(probe[k], rate[k], lane_norm(a, change, k));
        p->rhs += 2;
    }
}

void lanes_begin(vec8_run *a, const bool *entered, const bool *begun) {
    bool started[VEC8_SIZE], going[VEC8_SIZE], any = false;
    for (int k = 0; k < VEC8_SIZE; k++) {
        started[k] = entered[k] && !begun[k];
        going[k] = entered[k] && begun[k];
        any = any || started[k];
    }
    if (any) lanes_find_first_steps(a, started);
    begin_steps(a, going);
}

/* Sets the steps to try. */
static void choose_steps(vec8_run *a) {
    dop853_vec8 *d = &a->steps;
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!a->lanes[k].taken) continue;
        d->h[k] = dop853_bounded_step(a->lanes[k].next_h, a->longest, a->settings->stop - d->t[k]);
        if (!dop853_is_long_enough(d->h[k], d->t[k])) lane_give_up(a, k);
    }
}

/* Tries a step in each lane. Sets accepted[k] to true if its error is small enough, and ratio[k] to the ratio of the
 * next step to it. */
static void try_steps(vec8_run *a, bool *accepted, double *ratio) {
    dop853_vec8 *d = &a->steps;
    vec8 fifth, third;
    lanes_reset(a);
    (void)dop853_vec8_try(d); /* rates of lanes do not return failures */
    dop853_vec8_errors(d, a->weights, &fifth, &third);
    for (int k = 0; k < VEC8_SIZE; k++) accepted[k] = a->lanes[k].taken;
    admit_rates(a, accepted);
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        double length = (double)d->length;
        accepted[k] = false;
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

/* Moves the new states of the lanes in `which` onto the constraints (integrator_project). The times are *end. */
static void project_steps(vec8_run *a, const bool *which, const vec8 *end) {
    dop853_vec8 *d = &a->steps;
    size_t states = 2 * a->model->n;
    vec8_bits lanes;
    lanes_bits(a, which, &lanes);
    memcpy(d->stage, d->next, states * sizeof *d->stage);
    dynamics_vec8_project(a->dynamics, &lanes, end, d->stage, d->stage + a->model->n);
    for (size_t i = 0; i < d->length; i++) d->next[i] += i < states ? d->stage[i] - d->next[i] : (vec8){0};
    for (int k = 0; k < VEC8_SIZE; k++) a->lanes[k].projections += which[k];
}

/* Follows the rank margin to the end of a step, where it was evaluated last (follow_margin in integrator.c). */
static void follow_lane_margin(vec8_run *a, int k, double step) {
    lane *p = &a->lanes[k];
    double margin = a->dynamics->margin[k], slope = p->margin_slope, start = p->margin;
    a->largest_margin[k] = fmax(a->largest_margin[k], margin);
    p->margin_slope = step > 0 ? fabs(margin - start) / step : 0;
    p->margin = margin;
    if (a->least_margin[k] >= SINGULARITY_NEAR) p->regular_step = fmax(step, 0.9 * p->regular_step);
    p->near = singularity_may_be_within(a->least_margin[k], start, slope, step);
}

/* Completes the steps accepted (complete_step, accept_step in runge_kutta.c). Sets *until to their ends. */
static void complete_steps(vec8_run *a, const bool *accepted, const double *ratio, vec8 *until) {
    dop853_vec8 *d = &a->steps;
    const model_settings *s = a->settings;
    dop853_vec8_changes changes;
    vec8 end = d->t + d->h;
    lanes_reset(a);
    dop853_vec8_keep_change(d);
    if (a->model->m > 0) project_steps(a, accepted, &end);
    (void)lanes_rates(a, &end, d->next, dop853_vec8_slope(d, DOP853_STAGES));
    dop853_vec8_compare(d, &changes);
    admit_rates(a, accepted);
    *until = end;
    for (int k = 0; k < VEC8_SIZE; k++) {
        lane *p = &a->lanes[k];
        if (!accepted[k] || !p->taken) continue;
        (*until)[k] = dop853_end(d->t[k], d->h[k], s->stop);
        p->rhs++;
        p->counts.steps++;
        p->since_start++;
        p->counts.stiff += dop853_shows_stiffness(changes.rates[k], changes.states[k], changes.product[k], d->h[k]);
        p->next_h = dop853_next_step(d->h[k], ratio[k], p->rejected);
        p->last = d->h[k];
        p->rejected = false;
        if (control_creeps((*until)[k] - d->t[k], s->stop - s->start, &p->tiny_steps)) lane_give_up(a, k);
        if (a->model->m > 0) follow_lane_margin(a, k, (*until)[k] - d->t[k]);
    }
}

/* Moves the lanes in `which` to the ends of their steps. */
VEC8_INLINE void advance_body(dop853_vec8 *d, const vec8_bits *which, const vec8 *until) {
    vec8 *first = dop853_vec8_slope(d, 0), *last = dop853_vec8_slope(d, DOP853_STAGES);
    vec8_choose(which, until, &d->t, &d->t);
    for (size_t i = 0; i < d->length; i++) {
        vec8_choose(which, &d->next[i], &d->y[i], &d->y[i]);
        vec8_choose(which, &last[i], &first[i], &first[i]);
    }
}
VEC8_FUNCTION(void, advance, (dop853_vec8 * d, const vec8_bits *which, const vec8 *until), (d, which, until))

bool lanes_step(vec8_run *a) {
    bool accepted[VEC8_SIZE];
    double ratio[VEC8_SIZE];
    vec8 until;
    choose_steps(a);
    try_steps(a, accepted, ratio);
    complete_steps(a, accepted, ratio, &until);
    bool any = false, near[VEC8_SIZE];
    for (int k = 0; k < VEC8_SIZE; k++) {
        near[k] = accepted[k] && a->lanes[k].taken && a->lanes[k].near;
        any = any || near[k];
    }
    if (any) lanes_watch_singularities(a, near, &until);
    bool entered[VEC8_SIZE] = {false}, begun[VEC8_SIZE];
    if (a->roots && !lanes_search(a, accepted, &until, entered, begun)) return false;
    if (!lanes_visit(a, accepted, &until, a->watched)) return false;
    vec8_bits which;
    lanes_bits(a, accepted, &which);
    advance(&a->steps, &which, &until);
    for (int k = 0; k < VEC8_SIZE; k++)
        if (which[k] && lane_next_visit(a, &a->lanes[k]) == INFINITY && !lane_end(a, k)) return false;
    begin_steps(a, accepted);
    if (a->roots) lanes_begin(a, entered, begun);
    return true;
}
