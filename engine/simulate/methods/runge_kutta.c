/* runge_kutta.c — stepper `erk`: DOP853, an explicit Runge–Kutta method of order 8 (dop853_template.h).
 *
 * A one-step method needs no history: it restarts after an event without a loss of order, and a projection takes effect
 * at once. A step costs twelve evaluations and their weighted sums. ARKODE's ERKStep is slower: on a double pendulum at
 * an error of 1e-8, its method of order 6 (Verner) takes forty times the evaluations. ERKStep does not support the
 * second error estimate of DOP853. With the coefficients of DOP853, ERKStep takes 1.8 times as many evaluations and
 * five times the time. Adams takes nine times the time. The dense output of ERKStep has order 5 at most. The dense
 * output of this file has order 7 and costs three evaluations, only in steps that need it. */
#include "engine/simulate/methods/runge_kutta.h"
#include "engine/simulate/methods/dop853_control.h"
#include "engine/simulate/methods/dop853_scalar.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* If the rates cannot be evaluated, the step is multiplied by this factor. A larger factor needs more tries; a smaller
 * one can shorten the step more than necessary. */
static const double REFUSED = 0.25;

typedef struct runge_kutta {
    stepper base;
    dop853_scalar steps; /* the last step, or the one that is tried; steps.t is the start of the next step */
    double next_h;       /* length to try next, or 0 if it is not determined yet */
    double *weights;     /* error weights */
    bool begun;          /* whether slope 0 has been computed */
    bool extended;       /* whether the terms of the continuous extension have been computed */
    bool rejected;       /* whether the last try was rejected */
    bool taken;          /* whether the state after the last step is `next`, not y */
} runge_kutta;

static double *slope(const runge_kutta *w, size_t i) {
    return dop853_scalar_slope(&w->steps, i);
}

static int count_rates(void *context, const double *t, const double *y, double *dy) {
    runge_kutta *w = context;
    w->base.counts.rhs++;
    return w->base.problem->rates(w->base.problem->user, *t, y, dy);
}

static int rates_at(runge_kutta *w, double t, const double *y, double *dy) {
    return count_rates(w, &t, y, dy);
}

static bool runge_kutta_restart(stepper *s, double t, const double *y, double step) {
    runge_kutta *w = (runge_kutta *)s;
    w->steps.t = t;
    w->next_h = step;
    s->last = 0;
    w->begun = w->extended = w->rejected = w->taken = false;
    memcpy(w->steps.y, y, s->problem->length * sizeof *y);
    return true;
}

static stepper *runge_kutta_open(const stepper_kind *kind, const stepper_problem *p, double t, const double *y) {
    runge_kutta *w = arena_alloc(p->memory, 1, sizeof *w);
    double *vectors = arena_alloc(p->memory, (DOP853_VECTORS + 1) * p->length, sizeof *vectors);
    if (!w || !vectors) return NULL;
    w->base = (stepper){.kind = kind, .problem = p, .most = INFINITY, .message = ""};
    w->steps.rates = count_rates;
    w->steps.context = w;
    dop853_scalar_init(&w->steps, p->length, vectors);
    w->weights = vectors + DOP853_VECTORS * p->length;
    (void)runge_kutta_restart(&w->base, t, y, 0);
    return &w->base;
}

/* Finds the first step from the change of the rates over a short step of Euler's method (Hairer, Nørsett & Wanner,
 * II.4). */
static int find_first_step(runge_kutta *w) {
    dop853_scalar *d = &w->steps;
    size_t length = d->length;
    double *change = slope(w, 1), *k = slope(w, 0);
    double rate = stepper_norm(k, w->weights, length);
    double small =
        dop853_probe(stepper_norm(d->y, w->weights, length), rate, fmin(w->base.most, w->base.problem->stop - d->t));
    for (size_t i = 0; i < length; i++) d->stage[i] = d->y[i] + small * k[i];
    w->next_h = small;
    int flag = rates_at(w, d->t + small, d->stage, change);
    if (flag != 0) return flag < 0 ? flag : 0; /* the step itself will fail as well */
    for (size_t i = 0; i < length; i++) change[i] -= k[i];
    w->next_h = dop853_first_step(small, rate, stepper_norm(change, w->weights, length));
    return 0;
}

static double estimate_error(runge_kutta *w) {
    static const double one = 1;
    static const double *const rows[] = {dop853_error_5, dop853_error_3};
    double *const errors[] = {slope(w, DOP853_STAGES), slope(w, DOP853_STAGES + 1)}; /* scratch until the step ends */
    dop853_scalar_sums_body(&w->steps, &one, rows, 2, DOP853_STAGES, errors);
    double fifth = stepper_norm(errors[0], w->weights, w->steps.length);
    return dop853_error(w->steps.h, fifth, stepper_norm(errors[1], w->weights, w->steps.length));
}

/* Returns true if the system seems stiff. `slopes` is the difference of the rates at two states at the same time, and
 * `states` is the difference of these states. */
static bool shows_stiffness(const double *slopes, const double *states, double h, size_t length) {
    double rate = 0, state = 0, product = 0;
    for (size_t i = 0; i < length; i++) {
        rate += slopes[i] * slopes[i];
        state += states[i] * states[i];
        product += slopes[i] * states[i];
    }
    return dop853_shows_stiffness(rate, state, product, h);
}

/* Projects the new state and evaluates the rates with which the next step begins. `stage` is the state of the last
 * stage, at the same time. */
static int complete_step(runge_kutta *w) {
    const stepper_problem *p = w->base.problem;
    dop853_scalar *d = &w->steps;
    size_t length = d->length;
    double *y = d->next, *last = slope(w, DOP853_STAGES - 1), *new = slope(w, DOP853_STAGES);
    double *states = slope(w, DOP853_STAGES + 1); /* scratch: the continuous extension uses this slope later */
    for (size_t i = 0; i < length; i++) states[i] = y[i] - d->stage[i];
    if (p->project) {
        w->base.counts.projections++;
        int flag = p->project(p->user, d->t + d->h, y, d->stage, NULL);
        if (flag != 0) return flag;
        for (size_t i = 0; i < length; i++) y[i] += d->stage[i];
    }
    int flag = rates_at(w, d->t + d->h, y, new);
    if (flag != 0) return flag;
    for (size_t i = 0; i < length; i++) d->stage[i] = new[i] - last[i];
    if (shows_stiffness(d->stage, states, d->h, length)) w->base.counts.stiff++;
    return 0;
}

static int begin_step(runge_kutta *w) {
    const stepper_problem *p = w->base.problem;
    dop853_scalar *d = &w->steps;
    if (w->taken) {
        double *end = d->next;
        d->next = d->y;
        d->y = end;
    }
    w->taken = false;
    if (w->begun) { /* slope DOP853_STAGES has the rates at the end of the last step */
        memcpy(slope(w, 0), slope(w, DOP853_STAGES), p->length * sizeof(double));
        return p->weights(p->user, d->y, w->weights);
    }
    int flag = rates_at(w, d->t, d->y, slope(w, 0));
    if (flag == 0) flag = p->weights(p->user, d->y, w->weights);
    if (flag == 0 && w->next_h == 0) flag = find_first_step(w);
    w->begun = flag == 0;
    return flag;
}

static void accept_step(runge_kutta *w, double factor) {
    dop853_scalar *d = &w->steps;
    d->t = dop853_end(d->t, d->h, w->base.problem->stop);
    w->base.last = d->h;
    w->next_h = dop853_next_step(d->h, factor, w->rejected);
    w->rejected = w->extended = false;
    w->taken = true;
    w->base.counts.steps++;
}

static step_result runge_kutta_step(stepper *s, double *t, double *y) {
    runge_kutta *w = (runge_kutta *)s;
    dop853_scalar *d = &w->steps;
    step_result why = STEP_TOO_ERRONEOUS;
    assert(d->length == s->problem->length && d->t <= s->problem->stop);
    int flag = begin_step(w);
    if (flag != 0) return flag < 0 ? STEP_ENDED : STEP_NOT_EVALUATED;
    for (;;) {
        double factor = REFUSED, error = 0;
        d->h = dop853_bounded_step(w->next_h, s->most, s->problem->stop - d->t);
        if (!dop853_is_long_enough(d->h, d->t)) return why;
        flag = dop853_scalar_try(d);
        if (flag == 0) error = estimate_error(w);
        if (flag == 0) factor = dop853_ratio(error, !(s->last > 0));
        if (flag == 0 && error <= 1) {
            flag = complete_step(w);
            if (flag == 0) {
                accept_step(w, factor);
                *t = d->t;
                memcpy(y, d->next, d->length * sizeof *y);
                return STEP_TAKEN;
            }
            factor = REFUSED;
        }
        if (flag < 0) return STEP_ENDED;
        why = flag > 0 ? STEP_NOT_EVALUATED : STEP_TOO_ERRONEOUS;
        w->next_h = d->h * factor;
        w->rejected = true;
    }
}

static bool runge_kutta_interpolate(stepper *s, double t, double *y) {
    runge_kutta *w = (runge_kutta *)s;
    assert(w->taken);
    double start = w->steps.t - s->last, part = (t - start) / s->last;
    long rhs = s->counts.rhs; /* evaluations for dense output are not counted: counts must not depend on the rows */
    if (!w->extended && dop853_scalar_extend(&w->steps, &start) != 0) return false;
    s->counts.rhs = rhs;
    w->extended = true;
    dop853_scalar_interpolate(&w->steps, &part, y);
    return true;
}

void runge_kutta_set_step(stepper *s, const dop853_vec8 *d, int lane, double t, double next_h, bool extended) {
    runge_kutta *w = (runge_kutta *)s;
    assert(s->kind == &stepper_erk && w->steps.length == d->length);
    w->steps.t = t;
    w->steps.h = s->last = d->h[lane];
    w->next_h = next_h;
    w->begun = w->taken = true;
    w->extended = extended;
    w->rejected = false;
    for (size_t i = 0; i < d->length; i++) {
        w->steps.y[i] = d->y[i][lane];
        w->steps.next[i] = d->next[i][lane];
    }
    for (size_t i = 0; extended && i < DOP853_TERMS * d->length; i++) w->steps.dense[i] = d->dense[i][lane];
    for (size_t i = 0; i < (DOP853_STAGES + 1) * d->length; i++) w->steps.slopes[i] = d->slopes[i][lane];
}

bool runge_kutta_suits_lane(const stepper *s) {
    const runge_kutta *w = (const runge_kutta *)s;
    return s->kind == &stepper_erk && !w->rejected && (w->begun || w->next_h == 0);
}

double runge_kutta_get_state(const stepper *s, dop853_vec8 *d, int lane, bool *begun) {
    const runge_kutta *w = (const runge_kutta *)s;
    assert(runge_kutta_suits_lane(s) && w->steps.length == d->length);
    const double *y = w->taken ? w->steps.next : w->steps.y, *rates = slope(w, DOP853_STAGES);
    *begun = w->begun;
    d->t[lane] = w->steps.t;
    for (size_t i = 0; i < d->length; i++) {
        d->y[i][lane] = y[i];
        if (w->begun) dop853_vec8_slope(d, 0)[i][lane] = rates[i];
    }
    return w->next_h;
}

const stepper_kind stepper_erk = {
    .safety = DOP853_SAFETY,
    .projects = true,
    .rough_stages = true,
    .stiff_of_many = 40,
    .open = runge_kutta_open,
    .restart = runge_kutta_restart,
    .step = runge_kutta_step,
    .interpolate = runge_kutta_interpolate,
};
