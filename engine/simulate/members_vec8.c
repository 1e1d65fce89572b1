/* abreast.c — see the header. A place is one of the eight; a member that has ended leaves it to the next one. */
#include "engine/simulate/abreast.h"

#include "engine/simulate/dormand_prince.h"
#include "engine/simulate/energy.h"
#include "engine/solve/kinetics_abreast.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* On tolerances: steps add up to the error that a user reads rtol as. Measured: README.md. */
static const double SAFETY = 0.01;
static const double RTOL_LEAST = 1e-13;
/* Hairer & al. II.4: a step is 0.9 of the one that would just do, and between a third and six times the last one. */
static const double CAUTION = 0.9, SHRINK = 1.0 / 3, GROW = 6;
static const double STABLE = 6.1; /* of h |λ| (Hairer & Wanner IV.2) */
enum { STIFF_STEPS = 15, CALM_STEPS = 6, FAILURES_MOST = 30 };

typedef struct place {
    bool taken;
    size_t member, next_row;
    double steps;
    int failures, stiff, calm; /* in a row */
    double energy;             /* at the start */
} place;

typedef struct abreast {
    const hamel_model *model;
    const hamel_variation *variation;
    const model_settings *settings;
    const hamel_ensemble_options *options;
    const hamel_ensemble_sink *sink;
    const double *values;
    size_t count, next; /* members, and the one that is to start next */
    bool *left;
    variation_member member;
    kinetics_abreast *kinetics;
    dormand_prince steps;
    place places[OCTET];
    double rtol, *atol; /* 2n */
    double *row;        /* one, and M, Q, q, v of a place for its energy */
    octet *state;       /* 2n: seen; n: accelerations there; 2n: scratch */
    bool canceled;
} abreast;

bool abreast_serves(const hamel_model *model) {
    hamel_method method = model->settings.method;
    return kinetics_abreast_serves(model) && (method == HAMEL_METHOD_AUTO || method == HAMEL_METHOD_ERK) &&
           model->root_count == 0 && !model->sensitivities && !model->settings.certify &&
           model->settings.time_limit <= 0;
}

static void rates(void *context, const octet *t, const octet *y, octet *dy) {
    const abreast *a = context;
    size_t n = a->model->n;
    memcpy(dy, y + n, n * sizeof *dy);
    kinetics_abreast_accelerations(a->kinetics, t, y, y + n, dy + n);
}

/* --- rows ----------------------------------------------------------------------------------------------------------- */

static bool is_finite(const octet *x, size_t count, int k) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += 0 * x[i][k];
    return sum == 0;
}

/* Out of reach of this run: another one will tell why. */
static void leave(abreast *a, int k) {
    a->left[a->places[k].member] = true;
    a->places[k].taken = false;
    a->steps.h[k] = 0;
}

static bool send_row(abreast *a, int k, double t) {
    const hamel_model *model = a->model;
    const octet *q = a->state, *observed = a->kinetics->observed;
    size_t n = model->n, columns = model->header.column_count;
    if (!is_finite(observed, model->observed_count, k)) {
        leave(a, k);
        return true;
    }
    for (size_t c = 0; c < columns; c++) {
        size_t i = model->recorded[c];
        a->row[c] = i == 0 ? t : i <= 2 * n ? q[i - 1][k] : observed[i - 1 - 2 * n][k];
    }
    return !a->sink->row || a->sink->row(a->sink->context, a->places[k].member, a->row, columns);
}

/* The states in a->state at *t, with everything observed there. */
static void see(abreast *a, const octet *t) {
    size_t n = a->model->n;
    octet *acceleration = a->state + 2 * n;
    kinetics_abreast_accelerations(a->kinetics, t, a->state, a->state + n, acceleration);
    kinetics_abreast_observe(a->kinetics, t, a->state, a->state + n, acceleration);
}

static bool is_due(const abreast *a, int k, double until) {
    const place *p = &a->places[k];
    return p->taken && p->next_row < a->settings->row_count && settings_time(a->settings, p->next_row) <= until;
}

/* Sends rows up to until[k] of these places: one of each at a time, within the step tried. */
static bool send_rows(abreast *a, const bool *which, const octet *until) {
    const dormand_prince *d = &a->steps;
    bool open = false;
    for (;;) {
        octet t = *until, part = {0};
        bool any = false, inner = false, due[OCTET];
        for (int k = 0; k < OCTET; k++) {
            due[k] = which[k] && is_due(a, k, (*until)[k]);
            any = any || due[k];
            if (due[k]) t[k] = settings_time(a->settings, a->places[k].next_row);
            inner = inner || (due[k] && t[k] < (*until)[k]);
            part[k] = d->h[k] > 0 ? (t[k] - d->t[k]) / d->h[k] : 0;
        }
        if (!any) return true;
        if (inner && !open) dp_open_dense(&a->steps);
        open = open || inner;
        if (open) dp_interpolate(d, &part, a->state);
        for (size_t i = 0; i < d->length; i++)
            for (int k = 0; k < OCTET; k++)
                if (!open || t[k] >= (*until)[k]) a->state[i][k] = d->h[k] > 0 ? d->next[i][k] : d->y[i][k];
        see(a, &t);
        for (int k = 0; k < OCTET; k++) {
            if (!due[k]) continue;
            a->places[k].next_row++;
            if (!send_row(a, k, t[k])) return false;
        }
    }
}

/* --- beginning ------------------------------------------------------------------------------------------------------ */

/* Gives the next members that have numbers to the places that are free; started[k]: place k has a new one. */
static bool take_members(abreast *a, bool *started) {
    size_t n = a->model->n, targets = variation_target_count(a->variation);
    bool any = false;
    for (int k = 0; k < OCTET; k++) {
        started[k] = false;
        while (!a->places[k].taken && a->next < a->count) {
            size_t member = a->next++;
            a->left[member] = variation_set(a->variation, a->values + member * targets, &a->member, NULL) != HAMEL_OK;
            if (a->left[member]) continue;
            a->places[k] = (place){.taken = true, .member = member};
            any = started[k] = true;
        }
        if (!started[k]) continue;
        for (size_t i = 0; i < a->model->system->parameter_count; i++)
            a->kinetics->parameters[i][k] = a->member.parameters[i];
        for (size_t i = 0; i < n; i++) {
            a->steps.y[i][k] = a->member.q0[i];
            a->steps.y[n + i][k] = a->member.v0[i];
        }
        a->steps.t[k] = a->settings->start;
        a->steps.h[k] = 0;
    }
    if (any) kinetics_abreast_prepare(a->kinetics);
    return any;
}

static double eighth_root(double x) {
    return sqrt(sqrt(sqrt(x)));
}

/* Weighted root mean square of a column of x. */
static double size_of(const abreast *a, const octet *x, int k) {
    double sum = 0;
    for (size_t i = 0; i < a->steps.length; i++) {
        double scaled = x[i][k] / (a->rtol * fabs(a->steps.y[i][k]) + a->atol[i]);
        sum += scaled * scaled;
    }
    return sqrt(sum / (double)a->steps.length);
}

static double first_try(const abreast *a, const octet *slope, int k) {
    double state = size_of(a, a->steps.y, k), rate = size_of(a, slope, k);
    return state < 1e-5 || rate < 1e-5 ? 1e-6 : 0.01 * state / rate;
}

static double most_of(const abreast *a, int k) {
    double most = a->settings->stop - a->steps.t[k], given = a->settings->max_step;
    return given > 0 && given < most ? given : most;
}

/* First steps by a try of Euler's method (Hairer & al. II.4), of the places that have begun. */
static void find_steps(abreast *a, const bool *started, const octet *slope, octet *other) {
    dormand_prince *d = &a->steps;
    octet first = {0}, *moved = other, *change = other + d->length, t;
    for (int k = 0; k < OCTET; k++) first[k] = started[k] ? first_try(a, slope, k) : 0;
    for (size_t i = 0; i < d->length; i++) moved[i] = d->y[i] + first * slope[i];
    t = d->t + first;
    rates(a, &t, moved, change);
    for (size_t i = 0; i < d->length; i++) change[i] -= slope[i];
    for (int k = 0; k < OCTET; k++) {
        if (!started[k]) continue;
        double curvature = size_of(a, change, k) / first[k], largest = fmax(size_of(a, slope, k), curvature);
        double h = largest <= 1e-15 ? fmax(1e-6, 1e-3 * first[k]) : eighth_root(0.01 / largest);
        d->h[k] = fmin(fmin(100 * first[k], h), most_of(a, k));
    }
}

/* Starts members where there is room, with their first rows. */
static bool begin(abreast *a) {
    dormand_prince *d = &a->steps;
    size_t n = a->model->n;
    bool started[OCTET];
    octet *slope = a->state + 3 * n; /* a->state: the states themselves */
    if (!take_members(a, started)) return true;
    for (int k = 0; k < OCTET; k++)
        if (started[k] && a->sink->begin && !a->sink->begin(a->sink->context, a->places[k].member)) return false;
    memcpy(a->state, d->y, d->length * sizeof *a->state);
    see(a, &d->t);
    memcpy(slope, d->y + n, n * sizeof *slope);
    memcpy(slope + n, a->state + d->length, n * sizeof *slope);
    for (int k = 0; k < OCTET; k++) {
        if (!started[k]) continue;
        a->places[k].energy = a->kinetics->observed[a->model->observed_count - 1][k];
        for (size_t i = 0; i < d->length; i++) dp_slope(d, 0)[i][k] = slope[i][k];
        if (!is_finite(slope, d->length, k)) leave(a, k), started[k] = false;
    }
    if (!send_rows(a, started, &d->t)) return false;
    find_steps(a, started, slope, dp_slope(d, 1));
    return true;
}

/* --- steps ---------------------------------------------------------------------------------------------------------- */

/* What the energy of the place has changed by since the start, though nothing changes it. */
static bool keeps_energy(abreast *a, int k) {
    const hamel_model *model = a->model;
    const octet *values = a->kinetics->values;
    size_t n = model->n;
    double *M = a->row + model->header.column_count, *Q = M + model->M.count, *q = Q + n;
    if (model->energy_rate) return true;
    for (size_t e = 0; e < model->M.count; e++) M[e] = values[model->at_M + e][k];
    for (size_t i = 0; i < n; i++) Q[i] = values[model->at_Q + i][k];
    for (size_t i = 0; i < 2 * n; i++) q[i] = a->state[i][k];
    double energy = a->kinetics->observed[model->observed_count - 1][k];
    double tolerance = energy_tolerance(model, M, Q, q, q + n, energy);
    return !energy_is_unbalanced(fabs(energy - a->places[k].energy), tolerance);
}

static bool end(abreast *a, int k) {
    place *p = &a->places[k];
    if (!keeps_energy(a, k)) {
        leave(a, k);
        return true;
    }
    hamel_member_end what = {.status = HAMEL_OK, .outcome = HAMEL_COMPLETED, .t = a->settings->stop, .steps = p->steps};
    p->taken = false;
    a->steps.h[k] = 0;
    return !a->sink->end || a->sink->end(a->sink->context, p->member, &what);
}

static bool bounded_by_stability(place *p, double product) {
    if (product > STABLE) {
        p->calm = 0;
        return ++p->stiff >= STIFF_STEPS;
    }
    if (p->stiff > 0 && ++p->calm >= CALM_STEPS) p->stiff = 0;
    return false;
}

/* The step of place k after one whose error was so large. */
static double next_step(const abreast *a, int k, double error, bool good) {
    double factor = error > 0 ? CAUTION / eighth_root(error) : GROW;
    if (!(factor > SHRINK)) factor = error == error ? SHRINK : 0.1;
    return a->steps.h[k] * fmin(factor, good && a->places[k].failures == 0 ? GROW : 1);
}

/* Judges the step tried. good[k]: it is taken, to *until. */
static void judge(abreast *a, bool *good, octet *until, octet *next) {
    dormand_prince *d = &a->steps;
    octet error, product;
    dp_error(d, a->rtol, a->atol, &error);
    dp_stiffness(d, &product);
    for (int k = 0; k < OCTET; k++) {
        place *p = &a->places[k];
        double left = a->settings->stop - d->t[k];
        good[k] = p->taken && error[k] <= 1 && is_finite(dp_slope(d, DOP853_STAGES), d->length, k);
        (*until)[k] = d->h[k] >= left ? a->settings->stop : d->t[k] + d->h[k];
        (*next)[k] = 0;
        if (!p->taken) continue;
        (*next)[k] = next_step(a, k, good[k] ? error[k] : error[k] <= 1 ? (double)NAN : error[k], good[k]);
        p->failures = good[k] ? 0 : p->failures + 1;
        p->steps += good[k];
        bool lost = p->failures > FAILURES_MOST || !((*next)[k] > 16 * DBL_EPSILON * fabs(d->t[k])) ||
                    p->steps >= a->settings->max_steps || !(a->kinetics->margin[k] > 0) ||
                    (good[k] && bounded_by_stability(p, product[k]));
        if (!lost) continue;
        good[k] = false;
        leave(a, k);
        (*next)[k] = 0;
    }
}

static bool step(abreast *a) {
    dormand_prince *d = &a->steps;
    bool good[OCTET];
    octet until, next;
    for (int k = 0; k < OCTET; k++) a->kinetics->margin[k] = INFINITY;
    dp_try(d);
    judge(a, good, &until, &next);
    if (!send_rows(a, good, &until)) return false;
    for (int k = 0; k < OCTET; k++) {
        if (!good[k] || !a->places[k].taken) {
            d->h[k] = a->places[k].taken ? next[k] : 0;
            continue;
        }
        d->t[k] = until[k];
        for (size_t i = 0; i < d->length; i++) {
            d->y[i][k] = d->next[i][k];
            dp_slope(d, 0)[i][k] = dp_slope(d, DOP853_STAGES)[i][k];
        }
        if (d->t[k] >= a->settings->stop) {
            if (!end(a, k)) return false;
        } else {
            d->h[k] = fmin(next[k], most_of(a, k));
        }
    }
    return true;
}

/* --- the whole ------------------------------------------------------------------------------------------------------ */

static bool is_canceled(const abreast *a) {
    return hamel_ask(a->options->poll) != HAMEL_OK;
}

static bool any_taken(const abreast *a) {
    bool any = false;
    for (int k = 0; k < OCTET; k++) any = any || a->places[k].taken;
    return any;
}

static bool create(abreast *a) {
    const hamel_model *model = a->model;
    size_t n = model->n;
    a->rtol = fmax(SAFETY * a->settings->rtol, RTOL_LEAST);
    a->atol = calloc(2 * n + 1, sizeof *a->atol);
    a->row = calloc(model->header.column_count + model->M.count + 3 * n + 1, sizeof *a->row);
    a->state = octets_alloc(5 * n);
    a->kinetics = kinetics_abreast_create(model);
    bool good = dp_create(&a->steps, 2 * n, rates, a) && variation_member_create(&a->member, a->variation);
    if (!good || !a->atol || !a->row || !a->state || !a->kinetics) return false;
    for (size_t i = 0; i < 2 * n; i++) a->atol[i] = SAFETY * a->settings->atol[i % n];
    return true;
}

hamel_status abreast_run(const hamel_variation *v, const model_settings *settings,
                         const hamel_ensemble_options *options, size_t count, const double *values,
                         const hamel_ensemble_sink *sink, bool *left, hamel_error *error) {
    abreast a = {.model = variation_model(v),
                 .variation = v,
                 .settings = settings,
                 .options = options,
                 .sink = sink,
                 .values = values,
                 .count = count,
                 .left = left};
    bool made = create(&a), good = made;
    while (good && !is_canceled(&a)) {
        good = begin(&a);
        if (!good || (a.next >= a.count && !any_taken(&a))) break;
        if (any_taken(&a)) good = step(&a);
    }
    variation_member_free(&a.member);
    kinetics_abreast_free(a.kinetics);
    dp_free(&a.steps);
    free(a.atol);
    free(a.row);
    free(a.state);
    if (!made) return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the members");
    if (good && !is_canceled(&a)) return HAMEL_OK;
    return hamel_fail(error, HAMEL_CANCELED, "", 0, "canceled at member %zu", a.next);
}
