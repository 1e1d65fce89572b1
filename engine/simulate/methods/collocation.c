/* collocation.c — the stepper that crosses singular configurations, at which constraints are dependent.
 *
 * Along one branch of the motion the rates are smooth across such a state; only close to it rounding dominates them. So
 * the stepper takes one long step across, with the rates at ten Gauss points, none of which is close. Each is evaluated
 * at the nearest state on the constraints. The rates are expanded in Legendre polynomials of the step,
 *     y'(x) = Σ c_k P_k(x),   y(x) = y(−1) + h/2 Σ c_k ∫ P_k,   −1 ≤ x ≤ 1,
 * and states and coefficients iterated to a fixed point: the Gauss method of order 20 (Hairer, Nørsett & Wanner,
 * Solving ODEs I, II.7). Explicit stages and extrapolation would leave the constraints so far that a projection could
 * end on another branch; the points of this method lie on the motion itself. The last coefficients estimate the error:
 * those of a smooth motion decay like a power, those of a motion that changes its branch within the step do not. */
#include "engine/simulate/stepper.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 10, ITERATIONS = 30, FREE_ITERATIONS = 3, TRIES = 40, SEARCH = 12, GROWING = 3 };

/* Of the Gauss-Legendre formula (Abramowitz & Stegun, 25.4.30). */
static const double POINT[POINTS / 2] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                         0.9739065285171717};
static const double WEIGHT[POINTS / 2] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820,
                                          0.1494513491505806, 0.0666713443086881};

/* The fixed point is reached when errors are this part of the tolerance, or rounding keeps them below it; the iteration
 * has to gain by SLOWEST at least. */
static const double REACHED = 0.01, SLOWEST = 0.7;
/* The next step is h (SAFE / error^(1/9)), within bounds. Without convergence a step shrinks by HALVE. If a point lies
 * too close to the singularity, the step changes by MOVE, which shifts the points by a part of their spacing. */
static const double SAFE = 0.8, GROW = 3, SHRINK = 0.2, HALVE = 0.5, MOVE = 0.85, SAME = 0.98;
/* In units of x: the two points in the middle are 0.149 from the centre. Rounding in the rates is ε/s² at the distance s. */
static const double CLEAR = 0.1, CLEAR_OF_STOP = 0.01;
static const double FIRST = 0.01; /* of the time in which the state changes by its size */
static const double PROBE = 1e-3; /* part of a step over which second derivatives are estimated */
static const double EVEN = 0.1;   /* weight of the last coefficient but one: the last may vanish by symmetry */
/* The margin counts as zero at its minimum: rounding leaves some 1e-8, √ε. Two points are on both sides of a zero if
 * the sum of their margins does not exceed that of the lines through the other points. */
static const double ZERO = 3e-6, DEEP = 2e-5, STRAIGHT = 1.2;
static const double ROUNDING = 1e-6; /* of the last coefficients, relative to the state: ε/s² where points may be */
static const double CLOSER = 0.4;    /* a step that ends before dependence leaves this part of the way to it */

typedef struct collocation {
    stepper base;
    double t, h, last, most;
    double *memory;                  /* of all vectors */
    double *y, *start, *weights;     /* at t, at t − last; of errors */
    double *scratch, *correction;    /* correction: what brought the end of the last step onto the constraints */
    double *first, *second;          /* rates at t, and theirs */
    double *states, *rates, *series; /* POINTS each: at the points; coefficients of the rates */
    double margin[POINTS + 1];       /* of the points and the end */
    double x[POINTS], to_series[POINTS][POINTS], to_state[POINTS][POINTS];
    double start_margin;
    double instant;    /* of dependence within the last step; NAN: none */
    bool begun, stops; /* stops: the step that is tried ends at the stop */
    stepper_counts count;
} collocation;

/* --- polynomials --------------------------------------------------------------------------------------------------------- */

/* P_0 to P_POINTS at x. */
static void legendre(double x, double p[POINTS + 1]) {
    p[0] = 1;
    p[1] = x;
    for (int k = 1; k < POINTS; k++) p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

/* ∫ P_k from −1 to x. */
static void integrals(double x, double out[POINTS]) {
    double p[POINTS + 1];
    legendre(x, p);
    out[0] = x + 1;
    for (int k = 1; k < POINTS; k++) out[k] = (p[k + 1] - p[k - 1]) / (2 * k + 1);
}

static void make_points(collocation *w) {
    double p[POINTS + 1];
    for (int i = 0; i < POINTS; i++) {
        int place = i < POINTS / 2 ? POINTS / 2 - 1 - i : i - POINTS / 2;
        w->x[i] = i < POINTS / 2 ? -POINT[place] : POINT[place];
        legendre(w->x[i], p);
        integrals(w->x[i], w->to_state[i]);
        for (int k = 0; k < POINTS; k++) w->to_series[k][i] = (k + 0.5) * WEIGHT[place] * p[k];
    }
}

/* out := base + factor Σ_k c[k] v_k. */
static void combine(size_t length, const double *base, double factor, const double *c, const double *v, double *out) {
    for (size_t i = 0; i < length; i++) out[i] = 0;
    for (size_t k = 0; k < POINTS; k++)
        for (size_t i = 0; i < length; i++) out[i] += factor * c[k] * v[k * length + i];
    for (size_t i = 0; base && i < length; i++) out[i] += base[i];
}

static double norm(const collocation *w, const double *x) {
    size_t length = w->base.problem->length;
    double sum = 0;
    for (size_t i = 0; i < length; i++) sum += x[i] * w->weights[i] * x[i] * w->weights[i];
    return sqrt(sum / (double)length);
}

/* --- opening and closing ----------------------------------------------------------------------------------------------- */

static void collocation_close(stepper *s) {
    collocation *w = (collocation *)s;
    free(w->memory);
    free(w);
}

static bool collocation_restart(stepper *s, double t, const double *y, double step) {
    collocation *w = (collocation *)s;
    w->t = t;
    w->h = step;
    w->last = 0;
    w->begun = false;
    memcpy(w->y, y, s->problem->length * sizeof *y);
    return true;
}

static stepper *collocation_open(const stepper_problem *p, double t, const double *y) {
    size_t length = p->length;
    collocation *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->base = (stepper){&stepper_collocation, p};
    w->most = INFINITY;
    w->y = w->memory = calloc((7 + 3 * POINTS) * length, sizeof *w->y);
    if (!w->memory) {
        free(w);
        return NULL;
    }
    w->start = w->y + length;
    w->weights = w->start + length;
    w->scratch = w->weights + length;
    w->correction = w->scratch + length;
    w->first = w->correction + length;
    w->second = w->first + length;
    w->states = w->second + length;
    w->rates = w->states + POINTS * length;
    w->series = w->rates + POINTS * length;
    make_points(w);
    (void)collocation_restart(&w->base, t, y, 0);
    return &w->base;
}

static bool collocation_limit(stepper *s, double most) {
    ((collocation *)s)->most = most;
    return true;
}

/* --- steps -------------------------------------------------------------------------------------------------------------- */

static int rates(collocation *w, double t, const double *y, double *dy) {
    const stepper_problem *p = w->base.problem;
    w->count.rhs++;
    return p->rates(p->user, t, y, dy);
}

/* y comes onto the constraints; `change` (may be NULL) loses what leads off them. */
static int project(collocation *w, double t, double *y, double *correction, double *change) {
    const stepper_problem *p = w->base.problem;
    if (!p->project) return 0;
    w->count.projections++;
    int flag = p->project(p->user, t, y, correction, change);
    for (size_t i = 0; flag == 0 && i < p->length; i++) y[i] += correction[i];
    return flag;
}

/* Rates at the state in w->scratch, brought onto the constraints, in `out`. */
static int rates_nearby(collocation *w, double t, double *change, double *out, double *margin) {
    int flag = project(w, t, w->scratch, w->correction, change);
    if (flag == 0) flag = rates(w, t, w->scratch, out);
    *margin = w->base.problem->margin(w->base.problem->user);
    return flag;
}

/* The first guess of the rates: f + (1 + x) h/2 f'. */
static int guess(collocation *w, double h) {
    size_t length = w->base.problem->length;
    double probe = PROBE * h;
    for (size_t i = 0; i < length; i++) w->scratch[i] = w->y[i] + probe * w->first[i];
    int flag = rates(w, w->t + probe, w->scratch, w->second);
    for (size_t i = 0; i < length; i++) w->second[i] = flag == 0 ? (w->second[i] - w->first[i]) / probe : 0;
    memset(w->series, 0, POINTS * length * sizeof *w->series);
    for (size_t i = 0; i < length; i++) {
        w->series[length + i] = h / 2 * w->second[i];
        w->series[i] = w->first[i] + w->series[length + i];
    }
    return flag < 0 ? flag : 0;
}

static double time_of(const collocation *w, size_t point, double h) {
    return w->t + (1 + w->x[point]) * h / 2;
}

/* One iteration; *change is by how much states did along the constraints, relative to the tolerance. Across them, rounding
 * turns velocities by ε/s² at the distance s from dependence and accelerations by ε/s³, which the next projection takes
 * out. */
static int iterate(collocation *w, double h, bool first, double *change) {
    size_t length = w->base.problem->length;
    *change = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double *state = w->states + i * length, *moved = w->second;
        combine(length, w->y, h / 2, w->to_state[i], w->series, w->scratch);
        for (size_t j = 0; j < length; j++) moved[j] = w->scratch[j] - state[j];
        int flag = rates_nearby(w, time_of(w, i, h), first ? NULL : moved, w->rates + i * length, &w->margin[i]);
        if (flag != 0) return flag;
        memcpy(state, w->scratch, length * sizeof *state);
        *change = fmax(*change, first ? INFINITY : norm(w, moved));
    }
    for (size_t k = 0; k < POINTS; k++) combine(length, NULL, 1, w->to_series[k], w->rates, w->series + k * length);
    return 0;
}

/* Returns a positive value if the iteration does not converge. */
static int find_fixed_point(collocation *w, double h) {
    double change = INFINITY, before = INFINITY;
    int flag = guess(w, h);
    for (int i = 0; i < ITERATIONS && flag == 0; i++) {
        flag = iterate(w, h, i == 0, &change);
        if (flag != 0 || change <= REACHED) return flag;
        if (i > FREE_ITERATIONS && !(change < SLOWEST * before)) return change <= 1 ? 0 : 1;
        before = change;
    }
    return flag != 0 ? flag : 1;
}

/* The last coefficients of the states, along the constraints, relative to the tolerance. The point that rounding says most of
 * is next to the centre: what leads off the constraints there is left out. INFINITY where the motion changes its branch. */
static double error_of(collocation *w, double h) {
    size_t length = w->base.problem->length, centre = POINTS / 2;
    double most = 0, size = norm(w, w->y);
    for (size_t k = POINTS - 2; k < POINTS; k++) {
        double part = k + 1 < POINTS ? EVEN : 1;
        combine(length, NULL, part, w->to_series[k], w->states, w->second);
        if (norm(w, w->second) > 1 + ROUNDING * size) return INFINITY;
        memcpy(w->scratch, w->states + centre * length, length * sizeof *w->scratch);
        if (project(w, time_of(w, centre, h), w->scratch, w->correction, w->second) != 0) return INFINITY;
        most = fmax(most, norm(w, w->second));
    }
    return most;
}

/* How fast the margin falls to zero along a line, or rises along another, by x. */
static double slope_of(const collocation *w) {
    double slope = 0;
    for (int i = 0; i + 1 < POINTS; i++)
        slope = fmax(slope, fabs(w->margin[i + 1] - w->margin[i]) / (w->x[i + 1] - w->x[i]));
    return slope;
}

static size_t nearest_point(const collocation *w) {
    size_t least = 0;
    for (size_t i = 1; i < POINTS; i++)
        if (w->margin[i] < w->margin[least]) least = i;
    return least;
}

/* Whether the rates at a point may be rounding. A stop may be where the constraints are dependent, and the last point is not
 * far from it. */
static bool point_is_too_near(const collocation *w) {
    size_t least = nearest_point(w);
    double clear = w->stops && least + 1 == POINTS ? CLEAR_OF_STOP : CLEAR;
    return w->margin[least] < clear * slope_of(w);
}

/* Whether the end is close to the singularity, or has come much closer to it. */
static bool end_is_too_near(const collocation *w) {
    return !w->stops && w->margin[POINTS] < fmax(CLOSER * w->start_margin, CLEAR * slope_of(w));
}

/* The longest step that has the instant in the middle of two points, over the present one; `most`: at most. */
static double straddling(const collocation *w, double most) {
    size_t least = nearest_point(w);
    double before = least > 0 ? w->margin[least - 1] : w->start_margin;
    bool falls = least + 1 == POINTS || w->margin[least + 1] < before;
    double way = 1 + w->x[least] + (falls ? 1 : -1) * w->margin[least] / slope_of(w);
    for (size_t i = POINTS / 2 - 1; i + 1 < POINTS; i++) {
        double part = way / (1 + (w->x[i] + w->x[i + 1]) / 2);
        if (part <= most && !(part > SAME && part < 1 / SAME)) return part;
    }
    return MOVE;
}

/* The margin of the nearest state on the constraints, within the step that is tried; NAN if no such state is found. */
static double margin_at(collocation *w, double h, double x) {
    const stepper_problem *p = w->base.problem;
    double c[POINTS], t = w->t + (1 + x) * h / 2;
    integrals(x, c);
    combine(p->length, w->y, h / 2, c, w->series, w->scratch);
    if (project(w, t, w->scratch, w->correction, NULL) != 0) return NAN;
    return rates(w, t, w->scratch, w->second) < 0 ? NAN : p->margin(p->user);
}

/* The points between which the margin falls to about zero and rises again, on both sides by lines; POINTS if no such points exist. */
static size_t find_gap(const collocation *w) {
    double slope = slope_of(w);
    for (size_t i = 0; i + 1 < POINTS; i++) {
        double gap = w->x[i + 1] - w->x[i];
        if (w->margin[i] + w->margin[i + 1] < STRAIGHT * slope * gap) return i;
    }
    return POINTS;
}

/* Whether the constraints are dependent at an instant of the step, or at none; false where they only come near to that: there
 * the motion turns as sharply as it comes near, and no step must go over it. */
static bool passes_dependence(collocation *w, double h) {
    size_t i = find_gap(w);
    w->instant = NAN;
    if (i == POINTS) return true;
    double a = w->margin[i], b = w->margin[i + 1], gap = w->x[i + 1] - w->x[i], slope = (a + b) / gap;
    double x = w->x[i] + gap * a / (a + b), least = margin_at(w, h, x);
    for (int k = 0; k < SEARCH && least > 0; k++) {
        double way = least / slope, after = margin_at(w, h, x + way),
               before = after < least ? NAN : margin_at(w, h, x - way);
        if (!(after < least) && !(before < least)) break;
        x += after < least ? way : -way;
        least = fmin(after, before); /* of a number and NAN: the number */
    }
    w->instant = w->t + (1 + x) * h / 2;
    return least < ZERO;
}

double collocation_instant(const stepper *s) {
    return ((const collocation *)s)->instant;
}

static int begin(collocation *w) {
    const stepper_problem *p = w->base.problem;
    int flag = w->begun ? 0 : rates(w, w->t, w->y, w->first);
    w->start_margin = w->begun ? w->margin[POINTS] : p->margin(p->user);
    w->begun = flag == 0;
    if (flag == 0) flag = p->weights(p->user, w->y, w->weights);
    if (w->h == 0) w->h = FIRST * fmax(norm(w, w->y), 1) / fmax(norm(w, w->first), 1e-9);
    return flag;
}

/* The end of the step in w->scratch, its rates in w->second. A stop may lie at a dependent state itself: there nothing is
 * projected, as the polynomial is more exact. */
static int find_end(collocation *w, double h) {
    size_t length = w->base.problem->length;
    for (size_t i = 0; i < length; i++) w->scratch[i] = w->y[i] + h * w->series[i];
    int flag = rates_nearby(w, w->t + h, NULL, w->second, &w->margin[POINTS]);
    if (flag < 0 || !w->stops || (flag == 0 && w->margin[POINTS] >= CLEAR * slope_of(w))) return flag;
    for (size_t i = 0; i < length; i++) w->scratch[i] = w->y[i] + h * w->series[i];
    memset(w->correction, 0, length * sizeof *w->correction);
    w->margin[POINTS] = w->margin[POINTS - 1];
    return 0;
}

/* Tries a step: *factor is that of the next one, *taken whether it is good. A step that may be longer is made so for the
 * sake of its points only if it `may_grow`, so that lengths do not go up and down without end. */
static int try_step(collocation *w, double h, bool may_grow, double *factor, bool *taken) {
    *factor = HALVE;
    *taken = false;
    int flag = find_fixed_point(w, h);
    if (flag != 0) return flag;
    double error = error_of(w, h), next = fmin(GROW, fmax(SHRINK, SAFE * pow(error, -1.0 / (POINTS - 1))));
    bool good = error <= 1;
    double most = good && may_grow ? next : SAME;
    *factor = point_is_too_near(w) ? straddling(w, most) : next;
    if (!good || point_is_too_near(w)) return 0;
    flag = find_end(w, h);
    if (flag != 0 || end_is_too_near(w)) return *factor = straddling(w, most), flag;
    *taken = passes_dependence(w, h);
    if (!*taken) *factor = MOVE;
    if (!*taken || isnan(w->instant)) return 0;
    flag = find_end(w, h); /* the search has evaluated other states */
    *taken = flag == 0;
    return flag;
}

static void accept(collocation *w, double h, double factor) {
    size_t bytes = w->base.problem->length * sizeof *w->y;
    memcpy(w->start, w->y, bytes);
    memcpy(w->y, w->scratch, bytes);
    memcpy(w->first, w->second, bytes);
    w->t = w->stops ? w->base.problem->stop : w->t + h;
    w->last = h;
    w->h = h * factor;
    w->count.steps++;
}

static step_result collocation_step(stepper *s, double *t, double *y) {
    collocation *w = (collocation *)s;
    step_result why = STEP_TOO_ERRONEOUS;
    int flag = begin(w);
    if (flag != 0) return flag < 0 ? STEP_ENDED : STEP_NOT_EVALUATED;
    if (w->start_margin < DEEP) return STEP_REFUSED;
    for (int i = 0; i < TRIES; i++) {
        bool taken;
        double factor, left = s->problem->stop - w->t, h = fmin(w->h, w->most);
        w->stops = left <= 1.01 * h;
        if (w->stops) h = left;
        if (!(h > 4 * DBL_EPSILON * fabs(w->t))) return why;
        flag = try_step(w, h, i < GROWING, &factor, &taken);
        if (flag < 0) return STEP_ENDED;
        if (taken) {
            accept(w, h, factor);
            *t = w->t;
            memcpy(y, w->y, s->problem->length * sizeof *y);
            return STEP_TAKEN;
        }
        why = flag > 0 ? STEP_NOT_CONVERGENT : STEP_TOO_ERRONEOUS;
        w->h = h * factor;
    }
    return why;
}

/* --- between steps -------------------------------------------------------------------------------------------------------- */

static bool collocation_interpolate(stepper *s, double t, double *y) {
    collocation *w = (collocation *)s;
    size_t length = s->problem->length;
    double x = 2 * (t - (w->t - w->last)) / w->last - 1, c[POINTS];
    integrals(x, c);
    combine(length, w->start, w->last / 2, c, w->series, y);
    for (size_t i = 0; i < length; i++) y[i] += (x + 1) / 2 * w->correction[i];
    return true;
}

static double collocation_last_step(const stepper *s) {
    return ((const collocation *)s)->last;
}

static stepper_counts collocation_count(const stepper *s) {
    return ((const collocation *)s)->count;
}

static const char *collocation_message(const stepper *s) {
    (void)s;
    return "";
}

const stepper_kind stepper_collocation = {
    .name = "collocation",
    .safety = 1,
    .projects = true,
    .open = collocation_open,
    .close = collocation_close,
    .restart = collocation_restart,
    .limit = collocation_limit,
    .step = collocation_step,
    .last_step = collocation_last_step,
    .interpolate = collocation_interpolate,
    .count = collocation_count,
    .message = collocation_message,
};
