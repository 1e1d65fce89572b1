/* runge_kutta.c — the stepper `erk`: an explicit Runge–Kutta method of order 8 (dop853.h).
 *
 * Each step begins anew from one state: nothing has to be rebuilt after an event, the projection takes effect at once,
 * and all that a step costs beside its twelve evaluations is their weighted sums. It is not ARKODE's ERKStep: its order 6
 * (Verner) takes forty times the evaluations on a double pendulum at an error of 1e-8, and with these coefficients, whose
 * second error estimate it has no place for, 1.8 times as many and as packaged five times the time (Adams: nine times).
 * Its dense output has order 5 at most; this one has order 7 at three evaluations a step, made when asked for. */
#include "engine/simulate/dop853.h"
#include "engine/simulate/stepper.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The next step from the last: h (SAFE / error^(1/8)), within bounds; as in DOP853, but for SAFE, which saves a third of
 * the steps that are rejected. The first one may be far too
 * small (a system at rest). Where the rates fail the step shrinks by REFUSED. */
static const double SAFE = 0.8, SHRINK = 1.0 / 3, GROW = 6, GROW_FIRST = 1e4, REFUSED = 0.25;
/* Where the boundary of stability meets the negative real axis (Hairer & Wanner, Solving ODEs II, IV.2). */
static const double STABLE = 6.1;
/* Tight tolerances feel stiffness before stability does: at h |λ| = 2 the error is that of a part of the motion that decays,
 * follows the rest, and would need no such steps. It shows as rates that change against the state. Forty steps in which
 * it falls to a quarter and less are its end if it were the motion itself; what oscillates changes at right angles. */
static const double DECAYS = 1.5, AGAINST = -0.9;
enum { TERMS = 7, AT_ONCE = 4 }; /* of the continuous extension; components that are summed together */

typedef struct runge_kutta {
    stepper base;
    double t, h, last, most;        /* h: the step to try next, 0: to be found; last: its beginning is t − last */
    double *memory;                 /* of all vectors */
    double *y, *before, *weights;   /* at t, at t − last; of errors */
    double *scratch, *k;            /* k: DOP853_ALL rates of `length` each; the first and the one at `ahead` */
    double *dense;                  /* TERMS · length */
    bool begun, extended, rejected; /* k[0] is there; dense is; the last try was */
    stepper_counts count;
} runge_kutta;

static double *stage(const runge_kutta *w, size_t i) {
    return w->k + i * w->base.problem->length;
}

static int rates(runge_kutta *w, double t, const double *y, double *dy) {
    const stepper_problem *p = w->base.problem;
    w->count.rhs++;
    return p->rates(p->user, t, y, dy);
}

/* out := y + h Σ_j c_j k_j, j < count; y NULL: 0. */
static void combine(const runge_kutta *w, const double *y, double h, const double *c, size_t count, double *out) {
    size_t length = w->base.problem->length, used = 0, at[DOP853_ALL];
    double factor[DOP853_ALL];
    for (size_t j = 0; j < count; j++) {
        if (c[j] == 0) continue;
        factor[used] = h * c[j];
        at[used++] = j * length;
    }
    size_t i = 0;
    for (; i + AT_ONCE <= length; i += AT_ONCE) {
        double sum[AT_ONCE] = {0};
        for (size_t j = 0; j < used; j++)
            for (size_t e = 0; e < AT_ONCE; e++) sum[e] += factor[j] * w->k[at[j] + i + e];
        for (size_t e = 0; e < AT_ONCE; e++) out[i + e] = (y ? y[i + e] : 0) + sum[e];
    }
    for (; i < length; i++) {
        double sum = 0;
        for (size_t j = 0; j < used; j++) sum += factor[j] * w->k[at[j] + i];
        out[i] = (y ? y[i] : 0) + sum;
    }
}

static double norm(const runge_kutta *w, const double *x) {
    size_t length = w->base.problem->length;
    double sum = 0;
    for (size_t i = 0; i < length; i++) {
        double e = x[i] * w->weights[i];
        sum += e * e;
    }
    return sqrt(sum / (double)length);
}

/* --- opening and closing ----------------------------------------------------------------------------------------------- */

static void runge_kutta_close(stepper *s) {
    runge_kutta *w = (runge_kutta *)s;
    free(w->memory);
    free(w);
}

static bool runge_kutta_restart(stepper *s, double t, const double *y, double step) {
    runge_kutta *w = (runge_kutta *)s;
    w->t = t;
    w->h = step;
    w->last = 0;
    w->begun = w->extended = w->rejected = false;
    memcpy(w->y, y, s->problem->length * sizeof *y);
    return true;
}

static stepper *runge_kutta_open(const stepper_problem *p, double t, const double *y) {
    size_t length = p->length;
    runge_kutta *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->base = (stepper){&stepper_erk, p};
    w->most = INFINITY;
    w->y = w->memory = calloc((4 + DOP853_ALL + TERMS) * length, sizeof *w->y);
    if (!w->memory) {
        free(w);
        return NULL;
    }
    w->before = w->y + length;
    w->weights = w->before + length;
    w->scratch = w->weights + length;
    w->k = w->scratch + length;
    w->dense = w->k + DOP853_ALL * length;
    (void)runge_kutta_restart(&w->base, t, y, 0);
    return &w->base;
}

static bool runge_kutta_limit(stepper *s, double most) {
    ((runge_kutta *)s)->most = most;
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------------- */

/* From how fast the rates change over a small step of Euler's (Hairer, Nørsett & Wanner, II.4). */
static int first_step(runge_kutta *w) {
    size_t length = w->base.problem->length;
    double *next = w->scratch, *change = stage(w, 1), *k = stage(w, 0);
    double size = norm(w, w->y), rate = norm(w, k), small = size < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * size / rate;
    small = fmin(small, fmin(w->most, w->base.problem->stop - w->t));
    for (size_t i = 0; i < length; i++) next[i] = w->y[i] + small * k[i];
    w->h = small;
    int flag = rates(w, w->t + small, next, change);
    if (flag != 0) return flag < 0 ? flag : 0; /* the step itself will tell */
    for (size_t i = 0; i < length; i++) change[i] -= k[i];
    double most = fmax(rate, norm(w, change) / small);
    w->h = fmin(100 * small, most <= 1e-15 ? fmax(1e-6, 1e-3 * small) : pow(0.01 / most, 1.0 / 8));
    return 0;
}

/* What is tried: not past the stop, nor a sliver short of it. */
static double bounded(const runge_kutta *w) {
    double h = fmin(w->h, w->most), left = w->base.problem->stop - w->t;
    return left <= fmin(1.01 * h, w->most) ? left : h;
}

/* The stages of a step from w->y; the new state in w->before. */
static int try_stages(runge_kutta *w, double h) {
    for (size_t i = 1; i < DOP853_STAGES; i++) {
        combine(w, w->y, h, dop853_a[i], i, w->scratch);
        int flag = rates(w, w->t + dop853_c[i] * h, w->scratch, stage(w, i));
        if (flag != 0) return flag;
    }
    combine(w, w->y, h, dop853_a[DOP853_STAGES], DOP853_STAGES, w->before);
    return 0;
}

/* Both estimates together fall as h^8 (loc. cit., II.10, and its program DOP853). */
static double error_of(runge_kutta *w, double h) {
    double *x = stage(w, DOP853_STAGES);
    combine(w, NULL, 1, dop853_error_5, DOP853_STAGES, x);
    double fifth = norm(w, x);
    combine(w, NULL, 1, dop853_error_3, DOP853_STAGES, x);
    double third = norm(w, x), both = sqrt(fifth * fifth + 0.01 * third * third);
    return both > 0 ? h * fifth * fifth / both : 0;
}

/* Whether rates that differ by `slopes` at the same time at states that differ by `states` are those of a stiff system. */
static bool shows_stiffness(const double *slopes, const double *states, double h, size_t length) {
    double slope = 0, state = 0, product = 0;
    for (size_t i = 0; i < length; i++) {
        slope += slopes[i] * slopes[i];
        state += states[i] * states[i];
        product += slopes[i] * states[i];
    }
    if (h * h * slope > STABLE * STABLE * state) return true;
    return h * h * slope > DECAYS * DECAYS * state && product < AGAINST * sqrt(slope * state);
}

/* Brings the new state onto the constraints and evaluates its rates, with which the next step begins. w->scratch holds
 * the state of the last stage, at the same time. */
static int settle(runge_kutta *w, double h) {
    const stepper_problem *p = w->base.problem;
    size_t length = p->length;
    double t = w->t + h, *y = w->before, *last = stage(w, DOP853_STAGES - 1), *new = stage(w, DOP853_STAGES);
    double *states = stage(w, DOP853_STAGES + 1); /* the continuous extension's, which begins anew */
    for (size_t i = 0; i < length; i++) states[i] = y[i] - w->scratch[i];
    if (p->project) {
        w->count.projections++;
        int flag = p->project(p->user, t, y, w->scratch, NULL);
        if (flag != 0) return flag;
        for (size_t i = 0; i < length; i++) y[i] += w->scratch[i];
    }
    int flag = rates(w, t, y, new);
    if (flag != 0) return flag;
    for (size_t i = 0; i < length; i++) w->scratch[i] = new[i] - last[i];
    if (shows_stiffness(w->scratch, states, h, length)) w->count.stiff++;
    return 0;
}

static int begin(runge_kutta *w) {
    const stepper_problem *p = w->base.problem;
    if (w->begun) { /* the rates at the end of the last step */
        memcpy(stage(w, 0), stage(w, DOP853_STAGES), p->length * sizeof(double));
        return p->weights(p->user, w->y, w->weights);
    }
    int flag = rates(w, w->t, w->y, stage(w, 0));
    if (flag == 0) flag = p->weights(p->user, w->y, w->weights);
    if (flag == 0 && w->h == 0) flag = first_step(w);
    w->begun = flag == 0;
    return flag;
}

/* The step is taken: w->before and w->y change places. */
static void accept(runge_kutta *w, double h, double factor) {
    double *y = w->before, left = w->base.problem->stop - w->t;
    w->before = w->y;
    w->y = y;
    w->t = h == left ? w->base.problem->stop : w->t + h;
    w->last = h;
    w->h = h * (w->rejected ? fmin(factor, 1) : factor);
    w->rejected = w->extended = false;
    w->count.steps++;
}

static step_result runge_kutta_step(stepper *s, double *t, double *y) {
    runge_kutta *w = (runge_kutta *)s;
    step_result why = STEP_TOO_ERRONEOUS;
    int flag = begin(w);
    if (flag != 0) return flag < 0 ? STEP_ENDED : STEP_NOT_EVALUATED;
    for (;;) {
        double h = bounded(w), factor = REFUSED, error = 0;
        if (!(h > 4 * DBL_EPSILON * fabs(w->t))) return why;
        flag = try_stages(w, h);
        if (flag == 0) error = error_of(w, h);
        if (flag == 0) factor = fmin(w->last > 0 ? GROW : GROW_FIRST, fmax(SHRINK, SAFE * pow(error, -1.0 / 8)));
        if (flag == 0 && error <= 1) {
            flag = settle(w, h);
            if (flag == 0) {
                accept(w, h, factor);
                *t = w->t;
                memcpy(y, w->y, s->problem->length * sizeof *y);
                return STEP_TAKEN;
            }
            factor = REFUSED;
        }
        if (flag < 0) return STEP_ENDED;
        why = flag > 0 ? STEP_NOT_EVALUATED : STEP_TOO_ERRONEOUS;
        w->h = h * factor;
        w->rejected = true;
    }
}

/* --- between steps -------------------------------------------------------------------------------------------------------- */

/* The terms of the continuous extension of the last step. Its first two see to the ends: with a projected end it stays
 * continuous. What is evaluated for it is not counted: rows are no part of the steps. */
static bool extend(runge_kutta *w) {
    const stepper_problem *p = w->base.problem;
    size_t length = p->length;
    double h = w->last, start = w->t - h, *F = w->dense;
    const double *first = stage(w, 0), *last = stage(w, DOP853_STAGES);
    for (size_t i = DOP853_STAGES + 1; i < DOP853_ALL; i++) {
        combine(w, w->before, h, dop853_a[i], i, w->scratch);
        if (p->rates(p->user, start + dop853_c[i] * h, w->scratch, stage(w, i)) != 0) return false;
    }
    for (size_t i = 0; i < length; i++) {
        F[i] = w->y[i] - w->before[i];
        F[length + i] = h * first[i] - F[i];
        F[2 * length + i] = 2 * F[i] - h * (first[i] + last[i]);
    }
    for (size_t f = 3; f < TERMS; f++) combine(w, NULL, h, dop853_dense[f - 3], DOP853_ALL, F + f * length);
    w->extended = true;
    return true;
}

static bool runge_kutta_interpolate(stepper *s, double t, double *y) {
    runge_kutta *w = (runge_kutta *)s;
    size_t length = s->problem->length;
    if (!w->extended && !extend(w)) return false;
    double part = (t - (w->t - w->last)) / w->last, rest = 1 - part;
    for (size_t i = 0; i < length; i++) {
        const double *F = w->dense + i;
        double sum = F[5 * length] + part * F[6 * length];
        sum = F[3 * length] + part * (F[4 * length] + rest * sum);
        sum = F[length] + part * (F[2 * length] + rest * sum);
        y[i] = w->before[i] + part * (F[0] + rest * sum);
    }
    return true;
}

static double runge_kutta_last_step(const stepper *s) {
    return ((const runge_kutta *)s)->last;
}

static stepper_counts runge_kutta_count(const stepper *s) {
    return ((const runge_kutta *)s)->count;
}

static const char *runge_kutta_message(const stepper *s) {
    (void)s;
    return "";
}

const stepper_kind stepper_erk = {
    .name = "erk",
    .safety = 0.03,
    .projects = true,
    .rough_stages = true,
    .stiff_of_many = 40,
    .open = runge_kutta_open,
    .close = runge_kutta_close,
    .restart = runge_kutta_restart,
    .limit = runge_kutta_limit,
    .step = runge_kutta_step,
    .last_step = runge_kutta_last_step,
    .interpolate = runge_kutta_interpolate,
    .count = runge_kutta_count,
    .message = runge_kutta_message,
};
