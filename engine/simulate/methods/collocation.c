/* collocation.c — stepper that passes singular configurations.
 *
 * Along one branch of the motion the rates are smooth across a singular configuration, and rounding dominates the rates
 * only close to the configuration. The stepper therefore takes one long step across the configuration. The stepper
 * evaluates the rates at ten Gauss points, none of them close to the configuration. At each point, the rates are those
 * of the nearest state on the constraint manifold. The rates are expanded in Legendre polynomials of the step:
 *     y'(x) = Σ c_k P_k(x),   y(x) = y(−1) + h/2 Σ c_k ∫ P_k,   −1 ≤ x ≤ 1.
 * The fixed point of states and coefficients, found by iteration, is the Gauss method of order 20 (Hairer, Nørsett &
 * Wanner, Solving ODEs I, II.7). Explicit stages and extrapolation would violate the constraints so much that a
 * projection could end on another branch. The last coefficients estimate the error: for a smooth motion the
 * coefficients decay geometrically, but not if the branch changes within the step. */
#include "engine/simulate/methods/stepper.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { POINTS = 10, ITERATIONS = 30, FREE_ITERATIONS = 3, TRIES = 40, SEARCH = 12, GROWING = 3 };

/* Points and weights of the Gauss-Legendre formula (Abramowitz & Stegun, 25.4.30). */
static const double POINT[POINTS / 2] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                         0.9739065285171717};
static const double WEIGHT[POINTS / 2] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820,
                                          0.1494513491505806, 0.0666713443086881};

/* The iteration ends when the change is below CONVERGED tolerances, or when it stagnates below the tolerance. An error
 * of a hundredth of the tolerance does not affect the error test. Each iteration must multiply the change by SLOWEST or
 * less. At 0.7, a factor of 100 takes 13 iterations; if more are needed, a shorter step costs less. */
static const double CONVERGED = 0.01, SLOWEST = 0.7;
/* The next step is h (SAFE / error^(1/9)), within bounds. If the iteration does not converge, the step is multiplied by
 * HALVE. If a point is too close to the singularity, the step is multiplied by MOVE, which shifts the points by a part
 * of their spacing. SAFE, GROW and SHRINK are in the usual range (Hairer, Nørsett & Wanner, Solving ODEs I, II.4).
 * Other values of HALVE and MOVE only change the number of tries. Ratios between SAME and 1/SAME count as 1. */
static const double SAFE = 0.8, GROW = 3, SHRINK = 0.2, HALVE = 0.5, MOVE = 0.85, SAME = 0.98;
/* Least distance of a point from the singularity in units of x. The two middle points are 0.149 from the centre, so a
 * singularity halfway between the two points is far enough from both. Rounding changes the rates by ε/s² at the
 * distance s. CLEAR_OF_STOP applies to the last point of a step that ends at the stop, because this point is only 0.026
 * from the end. */
static const double CLEAR = 0.1, CLEAR_OF_STOP = 0.01;
/* First step, relative to the time in which the state changes by its own size. If the first step is too short, five
 * steps that grow by GROW make up for the factor 0.01. */
static const double FIRST = 0.01;
/* Part of a step over which a difference quotient estimates second derivatives, for the first guess of an iteration.
 * The relative truncation error is about 1e-3, and the relative rounding error about ε/1e-3 = 2e-13. */
static const double PROBE = 1e-3;
/* Weight of the second-to-last coefficient in the error estimate. The estimate includes this coefficient because the
 * last one may vanish by symmetry. The weight assumes that coefficients decay by a factor of about ten. */
static const double EVEN = 0.1;
/* Rank margins below this are treated as zero. The value is between √ε = 1e-8, the rank margin that rounding leaves at
 * a singularity, and DEEP. */
static const double ZERO = 3e-6;
/* Least rank margin s at the start of a step (README.md). At this rank margin, rounding changes the rates by 6e-7
 * (ε/s²). */
static const double DEEP = 2e-5;
/* If m1 + m2 < STRAIGHT · slope · gap, the rank margin has a zero between two points. m1 and m2 are the rank margins at
 * these points, `gap` is their distance, and `slope` is the steepest slope between any points. STRAIGHT = 1 is exact
 * for a straight line, and 1.2 allows for curvature. */
static const double STRAIGHT = 1.2;
/* Rounding error of the last coefficients, relative to the state. At the points nearest to the singularity it is ε/s²,
 * with rank margins s above 1.5e-5. */
static const double SERIES_ROUNDING = 1e-6;
/* A step that ends before the singularity must leave at least this part of the distance to the singularity. The value
 * is below 1/2, so that a step over half of the distance is accepted. */
static const double CLOSER = 0.4;

typedef struct collocation {
    stepper base;
    double t, h;                     /* t: start of the next step; h: length to try, or 0 if it is not determined yet */
    double *y, *start, *weights;     /* y: state at t; start: state at t − last; weights: error weights */
    double *scratch, *correction;    /* correction: the projection of the end of the last step */
    double *first, *second;          /* derivatives of the state at t: first, second */
    double *states, *rates, *series; /* POINTS vectors each; series: Legendre coefficients of the rates */
    double margin[POINTS + 1];       /* rank margins at the points and at the end */
    double x[POINTS], to_series[POINTS][POINTS], to_state[POINTS][POINTS];
    double start_margin;
    double instant; /* time of the singular configuration within the last step, or NAN */
    bool begun;     /* whether `first` has been computed */
    bool stops;     /* whether the step that is tried ends at the stop */
} collocation;

/* --- polynomials -------------------------------------------------------------------------------------------------- */

/* Computes P_0 to P_POINTS at x. */
static void legendre(double x, double p[POINTS + 1]) {
    p[0] = 1;
    p[1] = x;
    for (int k = 1; k < POINTS; k++) p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
}

/* Computes ∫ P_k from −1 to x. */
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
static void add_series(size_t length, const double *base, double factor, const double *c, const double *v,
                       double *out) {
    for (size_t i = 0; i < length; i++) out[i] = 0;
    for (size_t k = 0; k < POINTS; k++)
        for (size_t i = 0; i < length; i++) out[i] += factor * c[k] * v[k * length + i];
    for (size_t i = 0; base && i < length; i++) out[i] += base[i];
}

static double size_in_tolerances(const collocation *w, const double *x) {
    return stepper_norm(x, w->weights, w->base.problem->length);
}

/* --- opening and closing ------------------------------------------------------------------------------------------ */

static bool collocation_restart(stepper *s, double t, const double *y, double step) {
    collocation *w = (collocation *)s;
    w->t = t;
    w->h = step;
    w->base.last = 0;
    w->begun = false;
    memcpy(w->y, y, s->problem->length * sizeof *y);
    return true;
}

static stepper *collocation_open(const stepper_kind *kind, const stepper_problem *p, double t, const double *y) {
    collocation *w = arena_alloc(p->memory, 1, sizeof *w);
    if (!w) return NULL;
    w->base = (stepper){.kind = kind, .problem = p, .most = INFINITY, .message = ""};
    double **vectors[] = {&w->y, &w->start, &w->weights, &w->scratch, &w->correction, &w->first, &w->second};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = arena_doubles(p->memory, p->length);
    double **points[] = {&w->states, &w->rates, &w->series};
    for (size_t i = 0; i < 3; i++) *points[i] = arena_doubles(p->memory, POINTS * p->length);
    if (p->memory->failed) return NULL;
    make_points(w);
    (void)collocation_restart(&w->base, t, y, 0);
    return &w->base;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static int collocation_rates(collocation *w, double t, const double *y, double *dy) {
    const stepper_problem *p = w->base.problem;
    w->base.counts.rhs++;
    return p->rates(p->user, t, y, dy);
}

/* Projects y onto the constraint manifold, and `change` (may be NULL) onto the tangent space of the manifold. */
static int project_state(collocation *w, double t, double *y, double *correction, double *change) {
    const stepper_problem *p = w->base.problem;
    if (!p->project) return 0;
    w->base.counts.projections++;
    int flag = p->project(p->user, t, y, correction, change);
    for (size_t i = 0; flag == 0 && i < p->length; i++) y[i] += correction[i];
    return flag;
}

/* Projects the state in w->scratch onto the constraint manifold and sets `out` to its rates. */
static int rates_nearby(collocation *w, double t, double *change, double *out, double *margin) {
    int flag = project_state(w, t, w->scratch, w->correction, change);
    if (flag == 0) flag = collocation_rates(w, t, w->scratch, out);
    *margin = w->base.problem->margin(w->base.problem->user);
    return flag;
}

/* Sets the initial guess of the rates at the points to f + (1 + x) h/2 f', with f and f' at the start of the step. */
static int guess(collocation *w, double h) {
    size_t length = w->base.problem->length;
    double probe = PROBE * h;
    for (size_t i = 0; i < length; i++) w->scratch[i] = w->y[i] + probe * w->first[i];
    int flag = collocation_rates(w, w->t + probe, w->scratch, w->second);
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

/* Performs one iteration. Sets *change to the change of the states along the constraint manifold, relative to the
 * tolerance. At the distance s from the singularity, rounding changes velocities by ε/s² and accelerations by ε/s³.
 * These changes are normal to the constraint manifold, and the next projection removes them. */
static int iterate_points(collocation *w, double h, bool first, double *change) {
    size_t length = w->base.problem->length;
    *change = 0;
    for (size_t i = 0; i < POINTS; i++) {
        double *state = w->states + i * length, *moved = w->second;
        add_series(length, w->y, h / 2, w->to_state[i], w->series, w->scratch);
        for (size_t j = 0; j < length; j++) moved[j] = w->scratch[j] - state[j];
        int flag = rates_nearby(w, time_of(w, i, h), first ? NULL : moved, w->rates + i * length, &w->margin[i]);
        if (flag != 0) return flag;
        memcpy(state, w->scratch, length * sizeof *state);
        *change = fmax(*change, first ? INFINITY : size_in_tolerances(w, moved));
    }
    for (size_t k = 0; k < POINTS; k++) add_series(length, NULL, 1, w->to_series[k], w->rates, w->series + k * length);
    return 0;
}

/* Iterates to the fixed point. Returns a positive value if the iteration does not converge. */
static int find_fixed_point(collocation *w, double h) {
    double change = INFINITY, before = INFINITY;
    int flag = guess(w, h);
    for (int i = 0; i < ITERATIONS && flag == 0; i++) {
        flag = iterate_points(w, h, i == 0, &change);
        if (flag != 0 || change <= CONVERGED) return flag;
        if (i > FREE_ITERATIONS && !(change < SLOWEST * before)) return change <= 1 ? 0 : 1;
        before = change;
    }
    return flag != 0 ? flag : 1;
}

/* Returns the size of the last two coefficients of the states along the constraint manifold, relative to the tolerance.
 * The part normal to the constraint manifold is removed at the point next to the centre, where rounding is largest. If
 * the coefficients are so large that the branch must have changed within the step, returns INFINITY. */
static double error_of(collocation *w, double h) {
    size_t length = w->base.problem->length, centre = POINTS / 2;
    double most = 0, size = size_in_tolerances(w, w->y);
    for (size_t k = POINTS - 2; k < POINTS; k++) {
        double part = k + 1 < POINTS ? EVEN : 1;
        add_series(length, NULL, part, w->to_series[k], w->states, w->second);
        if (size_in_tolerances(w, w->second) > 1 + SERIES_ROUNDING * size) return INFINITY;
        memcpy(w->scratch, w->states + centre * length, length * sizeof *w->scratch);
        if (project_state(w, time_of(w, centre, h), w->scratch, w->correction, w->second) != 0) return INFINITY;
        most = fmax(most, size_in_tolerances(w, w->second));
    }
    return most;
}

/* Returns the steepest slope of the rank margin between two adjacent points, per unit of x. */
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

/* Returns true if rounding may dominate the rates at a point. If the stop is a singular configuration, the last point
 * is always close to the singularity. */
static bool point_is_too_near(const collocation *w) {
    size_t least = nearest_point(w);
    double clear = w->stops && least + 1 == POINTS ? CLEAR_OF_STOP : CLEAR;
    return w->margin[least] < clear * slope_of(w);
}

/* Returns true if the end of the step is close to the singularity, or much closer to the singularity than the start of
 * the step. */
static bool end_is_too_near(const collocation *w) {
    return !w->stops && w->margin[POINTS] < fmax(CLOSER * w->start_margin, CLEAR * slope_of(w));
}

/* Returns the largest ratio up to `most` of the next step to this step that places the singularity halfway between two
 * points. If no ratio does, returns MOVE. */
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

/* Returns the rank margin at x within the step that is tried, at the nearest state on the constraint manifold. If no
 * such state is found, returns NAN. */
static double margin_within(collocation *w, double h, double x) {
    const stepper_problem *p = w->base.problem;
    double c[POINTS], t = w->t + (1 + x) * h / 2;
    integrals(x, c);
    add_series(p->length, w->y, h / 2, c, w->series, w->scratch);
    if (project_state(w, t, w->scratch, w->correction, NULL) != 0) return NAN;
    return collocation_rates(w, t, w->scratch, w->second) < 0 ? NAN : p->margin(p->user);
}

/* Finds two adjacent points between which the rank margin falls linearly to about zero and rises again. Returns the
 * index of the first point, or POINTS if no such points exist. */
static size_t find_gap(const collocation *w) {
    double slope = slope_of(w);
    for (size_t i = 0; i + 1 < POINTS; i++) {
        double gap = w->x[i + 1] - w->x[i];
        if (w->margin[i] + w->margin[i + 1] < STRAIGHT * slope * gap) return i;
    }
    return POINTS;
}

/* If the step contains a singular configuration, sets w->instant to its time and returns true. If the step does not
 * come near a singular configuration, returns true as well. If the rank margin becomes small but does not vanish,
 * returns false. The motion then changes direction sharply and must be integrated with shorter steps. */
static bool passes_or_avoids_singularity(collocation *w, double h) {
    size_t i = find_gap(w);
    w->instant = NAN;
    if (i == POINTS) return true;
    double a = w->margin[i], b = w->margin[i + 1], gap = w->x[i + 1] - w->x[i], slope = (a + b) / gap;
    double x = w->x[i] + gap * a / (a + b), least = margin_within(w, h, x);
    for (int k = 0; k < SEARCH && least > 0; k++) {
        double way = least / slope, after = margin_within(w, h, x + way),
               before = after < least ? NAN : margin_within(w, h, x - way);
        if (!(after < least) && !(before < least)) break;
        x += after < least ? way : -way;
        least = fmin(after, before); /* fmin ignores NAN */
    }
    w->instant = w->t + (1 + x) * h / 2;
    return least < ZERO;
}

double collocation_instant(const stepper *s) {
    return ((const collocation *)s)->instant;
}

static int prepare_step(collocation *w) {
    const stepper_problem *p = w->base.problem;
    int flag = w->begun ? 0 : collocation_rates(w, w->t, w->y, w->first);
    w->start_margin = w->begun ? w->margin[POINTS] : p->margin(p->user);
    w->begun = flag == 0;
    if (flag == 0) flag = p->weights(p->user, w->y, w->weights);
    if (w->h == 0) w->h = FIRST * fmax(size_in_tolerances(w, w->y), 1) / fmax(size_in_tolerances(w, w->first), 1e-9);
    return flag;
}

/* Computes the state at the end of the step in w->scratch, and its rates in w->second. If the stop is a singular
 * configuration, the state is not projected, because the polynomial is more accurate there. */
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

/* Tries a step. Sets *factor to the ratio of the next step to this one, and *taken to true if the step is accepted. If
 * `may_grow` is false, the step is not lengthened to move its points, because lengths could oscillate without end. */
static int try_collocation(collocation *w, double h, bool may_grow, double *factor, bool *taken) {
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
    *taken = passes_or_avoids_singularity(w, h);
    if (!*taken) *factor = MOVE;
    if (!*taken || isnan(w->instant)) return 0;
    flag = find_end(w, h); /* the search has evaluated other states */
    *taken = flag == 0;
    return flag;
}

static void accept_step(collocation *w, double h, double factor) {
    size_t bytes = w->base.problem->length * sizeof *w->y;
    memcpy(w->start, w->y, bytes);
    memcpy(w->y, w->scratch, bytes);
    memcpy(w->first, w->second, bytes);
    w->t = w->stops ? w->base.problem->stop : w->t + h;
    w->base.last = h;
    w->h = h * factor;
    w->base.counts.steps++;
}

static step_result collocation_step(stepper *s, double *t, double *y) {
    collocation *w = (collocation *)s;
    step_result why = STEP_TOO_ERRONEOUS;
    assert(w->t <= s->problem->stop && s->problem->margin);
    int flag = prepare_step(w);
    if (flag != 0) return flag < 0 ? STEP_ENDED : STEP_NOT_EVALUATED;
    if (w->start_margin < DEEP) return STEP_REFUSED;
    for (int i = 0; i < TRIES; i++) {
        bool taken;
        double factor, left = s->problem->stop - w->t, h = fmin(w->h, s->most);
        w->stops = left <= 1.01 * h;
        if (w->stops) h = left;
        if (!(h > 4 * DBL_EPSILON * fabs(w->t))) return why;
        flag = try_collocation(w, h, i < GROWING, &factor, &taken);
        if (flag < 0) return STEP_ENDED;
        if (taken) {
            accept_step(w, h, factor);
            *t = w->t;
            memcpy(y, w->y, s->problem->length * sizeof *y);
            return STEP_TAKEN;
        }
        why = flag > 0 ? STEP_NOT_CONVERGENT : STEP_TOO_ERRONEOUS;
        w->h = h * factor;
    }
    return why;
}

/* --- between steps ------------------------------------------------------------------------------------------------ */

static bool collocation_interpolate(stepper *s, double t, double *y) {
    collocation *w = (collocation *)s;
    size_t length = s->problem->length;
    assert(s->last > 0);
    double x = 2 * (t - (w->t - w->base.last)) / w->base.last - 1, c[POINTS];
    integrals(x, c);
    add_series(length, w->start, w->base.last / 2, c, w->series, y);
    for (size_t i = 0; i < length; i++) y[i] += (x + 1) / 2 * w->correction[i];
    return true;
}

const stepper_kind stepper_collocation = {
    .safety = 1,
    .projects = true,
    .open = collocation_open,
    .restart = collocation_restart,
    .step = collocation_step,
    .interpolate = collocation_interpolate,
};
