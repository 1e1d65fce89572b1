/* members_vec8_visit.c — rows and checks of the members in SIMD lanes: the states that run.c evaluates, by the
 * functions of trajectory.c, with the checks of monitor.c. */
#include "engine/simulate/members_vec8_int.h"

#include "engine/simulate/singularity/singularity.h"
#include "engine/simulate/uncertainty.h"

#include <math.h>

double lane_next_visit(const vec8_run *a, const lane *p) {
    const model_settings *s = a->settings;
    double row = p->next_row < s->row_count ? settings_time(s, p->next_row) : INFINITY;
    double check = p->next_check < a->check_count ? a->check_times[p->next_check] : INFINITY;
    double next = fmin(row, check);
    return next == INFINITY && p->visited < s->stop ? s->stop : next;
}

void lanes_evaluate(vec8_run *a, const vec8_bits *which, const vec8_bits *regular, const vec8 *t) {
    size_t n = a->model->n;
    lanes_reset(a);
    dynamics_vec8_project(a->dynamics, which, t, a->state, a->state + n);
    dynamics_vec8_observe(a->dynamics, regular, t, a->state, a->state + n, a->acceleration);
}

void lane_select(vec8_run *a, int k) {
    size_t n = a->model->n;
    for (size_t i = 0; i < n; i++) {
        a->q[i] = a->state[i][k];
        a->v[i] = a->state[n + i][k];
    }
    dynamics_vec8_select(a->dynamics, k);
}

double lane_energy_tolerance(const vec8_run *a, double energy) {
    const model_dynamics *d = &a->model->dynamics;
    const double *values = a->dynamics->lane_values;
    return energy_tolerance(a->model, values + d->M.at, values + d->at_Q, a->q, a->v, energy);
}

/* Checks the state of a lane evaluated last, and follows its energy (monitor_add). Returns false if a run would
 * fail, or solve in another way. */
static bool admit_state(vec8_run *a, int k) {
    lane *p = &a->lanes[k];
    if (!lane_is_good(a, k)) return false;
    lane_select(a, k);
    double energy = a->dynamics->observed[a->model->observation.count - 1][k];
    double work = (a->model->dynamics.energy_rate ? a->state[2 * a->model->n][k] : 0) + p->event_work;
    if (isnan(p->energy)) p->energy = energy;
    p->imbalance = fmax(p->imbalance, fabs(energy - p->energy - work));
    p->tolerance = fmax(p->tolerance, lane_energy_tolerance(a, energy));
    return true;
}

/* Updates the largest residuals of rows from the state selected last (add_residuals in monitor.c). */
static void add_lane_residuals(const vec8_run *a, lane *p) {
    const model_dynamics *d = &a->model->dynamics;
    const double *position = a->dynamics->lane_values + d->at_position,
                 *velocity = a->dynamics->lane_values + d->at_velocity;
    for (size_t c = 0; c < a->model->named_count; c++) {
        p->residuals[c].position = fmax(p->residuals[c].position, fabs(position[c]));
        p->residuals[c].velocity = fmax(p->residuals[c].velocity, fabs(velocity[c]));
    }
}

static bool send_row(vec8_run *a, int k, double t) {
    const hamel_model *model = a->model;
    const vec8 *q = a->state, *observed = a->dynamics->observed;
    size_t n = model->n, columns = model->header.column_count;
    add_lane_residuals(a, &a->lanes[k]);
    for (size_t c = 0; c < columns; c++) {
        size_t i = model->columns.recorded[c];
        a->row[c] = i == 0 ? t : i <= 2 * n ? q[i - 1][k] : observed[i - 1 - 2 * n][k];
    }
    return !a->sink->row || a->sink->row(a->sink->context, a->lanes[k].member, a->row, columns);
}

bool lane_visit(vec8_run *a, int k, double t) {
    lane *p = &a->lanes[k];
    if (!admit_state(a, k)) {
        lane_give_up(a, k);
        return true;
    }
    p->visited = t;
    while (p->next_check < a->check_count && a->check_times[p->next_check] == t) p->next_check++;
    for (; p->next_row < a->settings->row_count && settings_time(a->settings, p->next_row) == t; p->next_row++)
        if (!send_row(a, k, t)) return false;
    return true;
}

/* Sets the state of each lane that has a step to that at the part `part` of the step, or at its end. */
VEC8_INLINE void interpolate_body(const dop853_vec8 *d, const vec8 *part, const vec8_bits *ended, bool extended,
                                  vec8 *state) {
    vec8_bits stepped = (vec8_bits)(d->h > 0);
    if (extended) dop853_vec8_interpolate(d, part, state);
    for (size_t i = 0; i < d->length; i++) {
        vec8 end;
        vec8_choose(&stepped, &d->next[i], &d->y[i], &end);
        vec8_choose(ended, &end, &state[i], &state[i]);
    }
}
VEC8_FUNCTION(void, interpolate,
              (const dop853_vec8 *d, const vec8 *part, const vec8_bits *ended, bool extended, vec8 *state),
              (d, part, ended, extended, state))

void lanes_interpolate(vec8_run *a, const vec8 *t, const vec8 *until, bool extended) {
    const dop853_vec8 *d = &a->steps;
    vec8 start = *until - d->h, part = {0};
    vec8_bits ended = extended ? (vec8_bits)(*t >= *until) : ~(vec8_bits){0};
    for (int k = 0; k < VEC8_SIZE; k++) part[k] = d->h[k] > 0 ? ((*t)[k] - start[k]) / d->h[k] : 0;
    interpolate(d, &part, &ended, extended, a->state);
}

void lanes_extend(vec8_run *a, const vec8 *until, vec8_bits *good) {
    vec8 start = *until - a->steps.h; /* this may differ from the time at which the step began, as in runge_kutta.c */
    lanes_reset(a);
    (void)dop853_vec8_extend(&a->steps, &start); /* rates of lanes do not return failures */
    *good = a->dynamics->good;
}

/* Returns false if a run would search the step for a singular configuration, or might fail its branch check. */
static bool is_regular_step(const vec8_run *a, int k, const double *margin) {
    double relative = a->least_margin[k] / a->largest_margin[k];
    return singularity_is_monotonic(margin) && relative * relative >= a->settings->rtol;
}

void lanes_watch_singularities(vec8_run *a, const bool *which, const vec8 *until) {
    const dop853_vec8 *d = &a->steps;
    double margin[VEC8_SIZE][SINGULARITY_PARTS + 1];
    const vec8_bits none = {0};
    vec8_bits lanes, good;
    lanes_bits(a, which, &lanes);
    lanes_extend(a, until, &good);
    for (int i = 0; i <= SINGULARITY_PARTS; i++) {
        vec8 t = i == SINGULARITY_PARTS ? *until : d->t + (*until - d->t) * (double)i / (double)SINGULARITY_PARTS, now;
        lanes_interpolate(a, &t, until, true);
        lanes_evaluate(a, &lanes, &none, &t); /* the branch check evaluates the first of these states as a row */
        dynamics_vec8_margin(a->dynamics, &now);
        good &= a->dynamics->good;
        for (int k = 0; k < VEC8_SIZE; k++) margin[k][i] = now[k];
    }
    for (int k = 0; k < VEC8_SIZE; k++)
        if (lanes[k] && (!good[k] || !is_regular_step(a, k, margin[k]))) lane_give_up(a, k);
}

/* Evaluates the states at *t of the lanes that are due. Returns false if the sink does. */
static bool visit_due(vec8_run *a, const bool *due, const vec8_bits *good, const vec8 *t) {
    vec8_bits which, regular = {0};
    lanes_bits(a, due, &which);
    for (int k = 0; k < VEC8_SIZE; k++) regular[k] = a->roots || (due[k] && a->lanes[k].near) ? 0 : UINT64_MAX;
    lanes_evaluate(a, &which, &regular, t);
    for (int k = 0; k < VEC8_SIZE; k++) {
        if (!due[k]) continue;
        if (!(*good)[k])
            lane_give_up(a, k);
        else if (!lane_visit(a, k, (*t)[k]))
            return false;
    }
    return true;
}

bool lanes_visit(vec8_run *a, const bool *which, const vec8 *until, bool always) {
    vec8_bits extended_lanes = {0};
    bool extended = false;
    for (bool first = true;; first = false) {
        vec8 t = *until;
        vec8_bits good = ~(vec8_bits){0};
        bool any = false, inner = false, due[VEC8_SIZE];
        for (int k = 0; k < VEC8_SIZE; k++) {
            bool open = which[k] && a->lanes[k].taken;
            double next = open ? lane_next_visit(a, &a->lanes[k]) : INFINITY;
            due[k] = next <= (*until)[k] || (open && first && always);
            if (next <= (*until)[k]) t[k] = next;
            any = any || due[k];
            inner = inner || t[k] < (*until)[k];
        }
        if (!any) return true;
        if (inner && !extended) lanes_extend(a, until, &extended_lanes);
        extended = extended || inner;
        lanes_interpolate(a, &t, until, extended);
        for (int k = 0; k < VEC8_SIZE; k++)
            if (t[k] < (*until)[k]) good[k] = extended_lanes[k];
        if (!visit_due(a, due, &good, &t)) return false;
    }
}
