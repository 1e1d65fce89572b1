/* roots.c — see the header. */
#include "engine/simulate/roots.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A step is looked at in so many parts (fewer where each look solves for accelerations); dips between three neighbours are
 * followed to their bottom in so many steps. */
enum { PARTS = 4, DEAR_PARTS = 2, DIP_STEPS = 8, BRACKET_STEPS = 200 };
/* A start this part of the span (in time, by the rate) beside a zero is a start at it. */
static const double START_PART = 1e-13;
/* The first look at what sticks, of the span; by how much of its limit a force may miss what was foreseen, and by how
 * little for looks twice as far apart; and how many of them a step may take. */
static const double FIRST_LOOK = 1e-6, UNFORESEEN = 0.2, FORESEEN = 0.05, LOOKS = 10;
static const double UNCERTAIN = 10; /* what a state is off by between projections, in tolerances */
static const double EXACT = 1e-3;   /* of that, what initial values are off by at most, which are given or projected */
/* When an event stops the function of its contact, rounding may leave this part of the previous rate: a contact that
 * closes a million times more slowly than it slides loses ten digits of a double. */
static const double STOPPED = 1e-8;
static const double ROUNDING = 1e-15; /* of the terms of a function: a few units in the last place */

struct roots {
    const hamel_model *model;
    kinetics *kinetics;
    sticking *slips; /* NULL: none */
    size_t n, count;
    double t;
    int *side, *first_side;
    bool *touching, *first_touching; /* stands at its zero since the start of the search; first_: at that start */
    bool *passed;                    /* at `t`, when the search found something */
    bool *jumped;                    /* across its zero or away from it, at the start of the search */
    /* Of events. Those of `jumped` that stood at their zero, and of these the ones that left it by their second rate; what
     * its own event has made of the rate of one that passed; what acts on it; and what has no side. */
    bool *stood, *at_rest, *turned, *stopped, *stuck, *held, *released, *undecided, *unnoticed;
    bool begun;
    double *noise, *last_noise; /* of a function that is touching: it has not moved while it is no larger */
    double *slack;              /* of a rate: a rate no larger counts as 0 */
    double *first;              /* values at the start of the search */
    double *low, *high;         /* values at both ends of the part looked at, and */
    double *older, *trial;      /* at the beginning of the part before; in between */
    double *q, *v, *a, *lambda, *free;
    uncertainty uncertain;
    bool needs_motion;
    double weight_low, weight_high; /* of the bracket */
    double pace, older_time;        /* of looks at what sticks; when `older` was looked at, NAN: not yet */
};

roots *roots_create(const hamel_model *model, kinetics *k, sticking *slips) {
    const unsigned motion = GRAPH_DEPENDS(SYMBOL_ACCELERATION) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER) |
                            GRAPH_DEPENDS(SYMBOL_FREE) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    size_t n = model->n, count = model->root_count;
    roots *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (roots){.model = model, .kinetics = k, .slips = slips, .n = n, .count = count};
    w->needs_motion = (program_depends(model->roots) & motion) != 0;
    w->side = calloc(2 * count, sizeof *w->side);
    w->touching = calloc(13 * count, sizeof *w->touching);
    w->noise = calloc(8 * count + 4 * n + model->m + 1, sizeof *w->noise);
    bool good = uncertainty_create(&w->uncertain, model, model->roots);
    if (!good || !w->side || !w->touching || !w->noise) {
        roots_free(w);
        return NULL;
    }
    w->first_side = w->side + count;
    bool **flags[] = {&w->first_touching, &w->passed, &w->jumped, &w->stood,    &w->at_rest,   &w->turned,
                      &w->stopped,        &w->stuck,  &w->held,   &w->released, &w->undecided, &w->unnoticed};
    for (size_t j = 0; j < sizeof flags / sizeof *flags; j++) *flags[j] = w->touching + (j + 1) * count;
    w->slack = w->noise + count;
    w->last_noise = w->slack + count;
    w->first = w->last_noise + count;
    w->low = w->first + count;
    w->high = w->low + count;
    w->older = w->high + count;
    w->trial = w->older + count;
    w->q = w->trial + count;
    w->v = w->q + n;
    w->a = w->v + n;
    w->free = w->a + n;
    w->lambda = w->free + n;
    return w;
}

void roots_free(roots *w) {
    if (!w) return;
    free(w->side);
    free(w->touching);
    free(w->noise);
    uncertainty_free(&w->uncertain);
    free(w);
}

static int sign(double x) {
    return (x > 0) - (x < 0);
}

/* --- values ---------------------------------------------------------------------------------------------------------- */

static program_inputs inputs_of(const roots *w, const double *t, const double *q, const double *v, const double *a,
                                const double *lambda, const double *free) {
    program_inputs in = model_inputs(w->model, t, q, v, a, lambda, free);
    in.values[SYMBOL_IDEAL] = w->kinetics->ideal;
    in.values[SYMBOL_NONIDEAL] = w->kinetics->nonideal;
    in.values[SYMBOL_BRANCH] = w->kinetics->mode.branches;
    return in;
}

static bool is_switch(const roots *w, size_t i) {
    return i >= w->model->event_count;
}

static const system_switch *switch_at(const roots *w, size_t i) {
    return &w->model->system->switches[i - w->model->event_count];
}

static double *branch_at(const roots *w, size_t i) {
    return &w->kinetics->mode.branches[i - w->model->event_count];
}

static bool is_slip(const roots *w, size_t i) {
    return is_switch(w, i) && (switch_at(w, i)->kind == SWITCH_SLIP || switch_at(w, i)->kind == SWITCH_GLIDE);
}

/* The first component of a slip stands for all: the others never end. */
static double slip_distance(const roots *w, size_t i) {
    return switch_at(w, i)->part == 0 ? sticking_distance(w->slips, (size_t)switch_at(w, i)->slip) : 1;
}

/* The functions as programs give them: of a switch its argument. */
static hamel_status raw_values_at(roots *w, const program_inputs *in, double t, double *values, hamel_error *error) {
    const hamel_model *model = w->model;
    program_evaluate(model->roots, in, w->uncertain.work, values);
    for (size_t i = 0; i < w->count; i++)
        if (!isfinite(values[i]))
            return model_not_finite(model, model->roots, in, w->uncertain.work, t,
                                    is_switch(w, i) ? "" : model->events[i].pointer, "what an event waits for", error);
    return HAMEL_OK;
}

static hamel_status values_at(roots *w, const program_inputs *in, double t, double *values, hamel_error *error) {
    hamel_status status = raw_values_at(w, in, t, values, error);
    if (status == HAMEL_OK && w->slips && sticking_any(w->slips)) sticking_evaluate(w->slips, in);
    if (status != HAMEL_OK) return status;
    for (size_t i = w->model->event_count; i < w->count; i++) {
        const system_switch *at = switch_at(w, i);
        if (is_slip(w, i))
            sticking_see(w->slips, (size_t)at->slip, (size_t)at->part, values[i]);
        else
            values[i] = switch_distance(at, *branch_at(w, i), values[i]);
    }
    for (size_t i = w->model->event_count; i < w->count; i++)
        if (is_slip(w, i)) values[i] = slip_distance(w, i);
    return HAMEL_OK;
}

/* Whether a look asks for accelerations and multipliers. */
static bool needs_motion(const roots *w) {
    return w->needs_motion || (w->slips && sticking_any(w->slips));
}

/* On the dense output of the last step. */
static hamel_status interpolated(roots *w, integrator *steps, double t, double *values, hamel_error *error) {
    double work;
    hamel_status status = integrator_interpolate(steps, t, w->q, w->v, &work, error);
    if (status == HAMEL_OK && needs_motion(w)) {
        status = kinetics_evaluate(w->kinetics, t, w->q, w->v, error);
        if (status == HAMEL_OK) status = kinetics_accelerations(w->kinetics, 0, 0, w->a, w->lambda, error);
        if (status == HAMEL_OK && w->model->needs_free) status = kinetics_free_accelerations(w->kinetics, w->free);
    }
    if (status != HAMEL_OK) return status;
    program_inputs in = inputs_of(w, &t, w->q, w->v, w->a, w->lambda, w->free);
    return values_at(w, &in, t, values, error);
}

/* --- sides ----------------------------------------------------------------------------------------------------------- */

static double rate_of(const roots_state *at, size_t i) {
    return isfinite(at->rates[i]) ? at->rates[i] : 0;
}

static double span(const roots *w) {
    return w->model->settings.stop - w->model->settings.start;
}

/* A function that has just passed through zero, and what the state is now. */
static void place_passed(roots *w, size_t i, double rate, bool changed) {
    double value = w->first[i];
    w->touching[i] = fabs(value) <= 2 * w->last_noise[i];
    if (!w->touching[i]) {
        w->side[i] = sign(value); /* an event has moved it away */
        w->noise[i] = 0;
    } else if (changed && fabs(rate) <= w->slack[i]) {
        /* It is at rest there: held by a constraint, or about to pass once more. Of its value no more is known than the
         * tolerances say. */
        w->side[i] = -w->side[i];
        w->noise[i] = fmax(w->noise[i], w->last_noise[i]);
    } else {
        if (rate != 0) w->side[i] = sign(rate);
        w->noise[i] = fmax(fabs(value), w->last_noise[i]);
    }
}

/* The sign with which the function leaves its zero as its event expects; 0 where the event expects both and the function has
 * come from neither side. */
static int leaving(const roots *w, size_t i) {
    hamel_direction direction = w->model->events[i].direction;
    if (direction != HAMEL_BOTH) return direction == HAMEL_RISING ? 1 : -1;
    return w->passed[i] ? w->side[i] : -w->side[i];
}

/* The side of a function that rests at its zero. A contact that nothing holds is open: if it leaves later in the direction of
 * its event, it closes. Others have no side before they have moved away. */
static int resting_side(const roots *w, size_t i) {
    return w->model->events[i].contact && !w->held[i] && !w->released[i] ? -leaving(w, i) : 0;
}

/* A function that still stood at its zero when something else happened: it may go either way from here. */
static void place_resting(roots *w, size_t i, double rate, bool changed) {
    if (changed) w->side[i] = fabs(rate) <= w->slack[i] ? resting_side(w, i) : sign(rate);
    w->noise[i] = fmax(w->noise[i], w->last_noise[i]);
}

/* A switch is always inside its branch: at an edge that it has just passed, or starts at, or further in. */
static void place_switch(roots *w, size_t i) {
    double slack = w->passed[i] ? 2 * w->last_noise[i] : fmax(0, -w->first[i]); /* a start may be a moment before it */
    w->side[i] = 1;
    if (is_slip(w, i)) {
        slack = switch_at(w, i)->part == 0 ? sticking_slack(w->slips, (size_t)switch_at(w, i)->slip) : 0;
        w->touching[i] = fabs(w->first[i]) <= slack;
        w->noise[i] = w->touching[i] ? slack : 0;
        return;
    }
    w->touching[i] = fabs(w->first[i]) <= slack;
    w->noise[i] = w->touching[i] ? fmax(fabs(w->first[i]), w->passed[i] ? w->last_noise[i] : 0) : 0;
}

/* Whether anything happens when it leaves. */
static bool counts(const roots *w, size_t i) {
    if (is_switch(w, i)) return true;
    hamel_direction direction = w->model->events[i].direction;
    return direction == HAMEL_BOTH || (direction == HAMEL_RISING) == (w->side[i] < 0);
}

/* Any other function, or at the start. An event may have moved it across its zero: that is a crossing, too. */
static void place(roots *w, size_t i, double rate, bool start, bool changed) {
    double value = w->first[i];
    if (start && fabs(value) <= EXACT * w->noise[i] && fabs(rate) <= w->slack[i]) {
        w->touching[i] = true;
        w->side[i] = resting_side(w, i);
        return;
    }
    w->jumped[i] = changed && !start && !w->touching[i] && sign(value) * w->side[i] < 0 && counts(w, i);
    w->touching[i] = value == 0 || (start && fabs(value) <= fabs(rate) * START_PART * span(w));
    w->side[i] = w->touching[i] ? sign(rate) : sign(value);
    w->noise[i] = w->touching[i] ? fabs(value) : 0;
}

/* --- at zero --------------------------------------------------------------------------------------------------------- */

/* Whether constraints that the event strikes or activates act already: they hold the function at its zero. */
static bool is_held(const roots *w, size_t i) {
    const model_event *e = &w->model->events[i];
    const bool *active = w->kinetics->mode.active;
    size_t k = 0, c = 0;
    while (k < e->activate_count && active[e->activate[k]]) k++;
    while (c < e->impulse_count && active[e->impulses[c]]) c++;
    return (k > 0 && k == e->activate_count) || (c > 0 && c == e->impulse_count);
}

/* An event that deactivates the constraint of a contact opens it; the contact stays open until the function has moved
 * away. */
static void note_held(roots *w, size_t i) {
    bool held = is_held(w, i);
    w->released[i] = (w->released[i] && w->touching[i]) || (w->held[i] && !held);
    w->held[i] = held;
}

static bool is_at_zero(const roots *w, size_t i, double rate, bool start) {
    double value = fabs(w->first[i]);
    if (w->passed[i]) return value <= 2 * w->last_noise[i];
    if (start) return value <= fmax(EXACT * w->noise[i], fabs(rate) * START_PART * span(w));
    return value == 0 || (w->touching[i] && value <= w->last_noise[i]);
}

/* The sign with which a function at its zero is about to leave it: of its rate or, at rest, of its second rate. 0: neither is
 * known to differ from 0. Those at the start are given; a contact that meets another one too many times does no harm. */
static int heading(const roots *w, size_t i, const roots_state *at, bool start) {
    const model_event *e = &w->model->events[i];
    double rate = rate_of(at, i), exact = EXACT * w->slack[i];
    bool given = start || (e->contact && e->direction != HAMEL_BOTH);
    if (fabs(rate) > (given ? exact : w->slack[i])) return sign(rate);
    return fabs(rate) <= exact && fabs(at->bends[i]) > at->bend_slack[i] ? sign(at->bends[i]) : 0;
}

/* Whether impacts do not keep a contact from closing further. */
static bool is_beyond(const roots *w, size_t i) {
    const model_event *e = &w->model->events[i];
    return e->contact && e->impulse_count > 0 && !w->held[i] && sign(w->first[i]) == leaving(w, i);
}

/* Whether a function at its zero is about to leave it such that its event happens now: at the start, after another event has
 * turned it, or after forces have changed. An event that changes nothing waits for a crossing from one side to the other. */
static bool leaves_zero(roots *w, size_t i, const roots_state *at, bool start) {
    const model_event *e = &w->model->events[i];
    double rate = rate_of(at, i);
    bool zero = is_at_zero(w, i, rate, start);
    w->undecided[i] = false;
    w->unnoticed[i] = start && !zero && is_beyond(w, i);
    if (!zero || w->held[i] || w->released[i]) return false;
    int way = heading(w, i, at, start), out = leaving(w, i);
    if (out == 0 && !e->contact) out = way;
    if (way == 0 || (out != 0 && way != out)) return false;
    /* Functions of contacts are usually distances, so a contact whose function grows at the start counts as opening. */
    bool opens = start && out == 0 && way > 0;
    w->undecided[i] = out == 0 && !opens;
    w->unnoticed[i] = opens || (start && e->terminate && !model_event_acts(e));
    if (out == 0 || !model_event_acts(e)) return false;
    if (w->passed[i]) return e->contact && w->turned[i] && fabs(rate) > w->slack[i];
    return start || w->side[i] != out;
}

/* The event of function i happens at this instant. */
static void let_leave(roots *w, size_t i, const roots_state *at, bool start) {
    w->jumped[i] = w->stood[i] = w->touching[i] = true;
    w->at_rest[i] = fabs(rate_of(at, i)) <= w->slack[i];
    w->side[i] = heading(w, i, at, start);
    w->noise[i] = fmax(fabs(w->first[i]), w->noise[i] * (ROUNDING / w->model->settings.rtol));
}

/* Whether its event has left a contact closed, at rest and pressed together. */
static bool is_stuck(const roots *w, size_t i, const roots_state *at) {
    if (!w->model->events[i].contact || !w->passed[i] || !w->stopped[i] || w->held[i] || w->released[i]) return false;
    return is_at_zero(w, i, 0, false) && at->bends[i] * w->side[i] > at->bend_slack[i];
}

static hamel_status fail_stuck(const roots *w, size_t i, double t, hamel_error *error) {
    const model_event *e = &w->model->events[i];
    (void)hamel_fail(error, HAMEL_INTEGRATION, e->pointer, 0,
                     "at t = %.9g the event `%s` leaves its contact closed, at rest and under load: infinitely many "
                     "impacts would follow (Zeno)",
                     t, e->name);
    hamel_suggest(error, "declare a constraint with \"active\": false that holds the contact, and let the event "
                         "strike it with restitution 0 and activate it; or end the run with `terminate`");
    return HAMEL_INTEGRATION;
}

static hamel_status fail_undecided(const roots *w, size_t i, double t, bool start, hamel_error *error) {
    const model_event *e = &w->model->events[i];
    hamel_status status = start ? HAMEL_INVALID : HAMEL_INTEGRATION;
    (void)hamel_fail(
        error, status, e->pointer, 0,
        "at t = %.9g the function of the event `%s` leaves 0, where it has been since the start: without a "
        "direction it is undetermined whether the contact opens or closes",
        t, e->name);
    hamel_suggest(error,
                  "give the event a direction: `falling` where its function is positive while the contact is open");
    return status;
}

/* Marks the events that happen at this instant because their functions leave zero. */
static hamel_status place_events(roots *w, const roots_state *at, bool start, bool changed, hamel_error *error) {
    bool any = false;
    for (size_t i = 0; i < w->model->event_count; i++) {
        double rate = rate_of(at, i);
        note_held(w, i);
        if ((start || changed) && leaves_zero(w, i, at, start))
            let_leave(w, i, at, start);
        else if (w->passed[i])
            w->stuck[i] = is_stuck(w, i, at), place_passed(w, i, rate, changed);
        else if (!start && w->touching[i] && fabs(w->first[i]) <= w->last_noise[i])
            place_resting(w, i, rate, changed);
        else
            place(w, i, rate, start, changed);
        any = any || w->jumped[i];
    }
    for (size_t i = 0; i < w->model->event_count; i++) {
        if ((start || changed) && w->undecided[i]) return fail_undecided(w, i, at->t, start, error);
        if (!any && w->stuck[i]) return fail_stuck(w, i, at->t, error);
    }
    return HAMEL_OK;
}

hamel_status roots_start(roots *w, const roots_state *at, bool changed, bool *again, hamel_error *error) {
    program_inputs in = inputs_of(w, &at->t, at->q, at->v, at->a, at->lambda, at->free);
    hamel_status status = values_at(w, &in, at->t, w->first, error);
    if (status != HAMEL_OK) return status;
    bool any = false, start = !w->begun;
    for (size_t i = 0; i < w->model->event_count; i++) any = any || start || w->passed[i] || w->touching[i];
    memset(w->jumped, 0, w->count * sizeof *w->jumped);
    memset(w->stood, 0, w->count * sizeof *w->stood);
    memset(w->stuck, 0, w->count * sizeof *w->stuck);
    memcpy(w->last_noise, w->noise, w->count * sizeof *w->noise);
    w->begun = true;
    if (any && (changed || start)) {
        uncertainty_find(&w->uncertain, &in, at->q, at->v, at->a, w->noise, w->slack, NULL);
        for (size_t i = 0; i < w->count; i++) w->noise[i] *= UNCERTAIN;
    }
    for (size_t i = w->model->event_count; i < w->count; i++) place_switch(w, i);
    status = place_events(w, at, start, changed, error);
    if (status != HAMEL_OK) return status;
    memcpy(w->first_side, w->side, w->count * sizeof *w->side);
    memcpy(w->first_touching, w->touching, w->count * sizeof *w->touching);
    w->t = at->t;
    roots_again(w);
    memcpy(w->passed, w->jumped, w->count * sizeof *w->passed);
    *again = false;
    for (size_t i = 0; i < w->count; i++) *again = *again || w->jumped[i];
    return HAMEL_OK;
}

void roots_acted(roots *w, size_t i, double before, double after) {
    double least = w->stood[i] && w->at_rest[i] ? w->slack[i] : STOPPED * fabs(before);
    w->turned[i] = after * w->side[i] <= least;
    w->stopped[i] = fabs(after) <= least;
}

void roots_again(roots *w) {
    memcpy(w->side, w->first_side, w->count * sizeof *w->side);
    memcpy(w->touching, w->first_touching, w->count * sizeof *w->touching);
    memcpy(w->low, w->first, w->count * sizeof *w->low);
    memcpy(w->high, w->first, w->count * sizeof *w->high);
    memset(w->passed, 0, w->count * sizeof *w->passed);
    w->pace = w->slips && sticking_any(w->slips) ? FIRST_LOOK * (w->model->settings.stop - w->model->settings.start)
                                                 : INFINITY;
    w->older_time = NAN;
}

/* Whether the function has left its side with this value. */
static bool left_side(const roots *w, size_t i, double value) {
    return w->side[i] != 0 &&
           (w->touching[i] ? sign(value) == -w->side[i] && fabs(value) > w->noise[i] : sign(value) != w->side[i]);
}

/* Functions that moved away from the zero they stood at, and those that crossed without anything happening. */
static void settle_sides(roots *w, const double *values) {
    for (size_t i = 0; i < w->count; i++) {
        int now = sign(values[i]);
        if (w->touching[i] && fabs(values[i]) <= w->noise[i]) continue;
        if (now == 0) continue;
        w->side[i] = now;
        w->touching[i] = false;
    }
}

/* --- the instant ----------------------------------------------------------------------------------------------------- */

/* The function i crosses between a and b: regula falsi with Illinois weights (Dowell & Jarratt, BIT 11 (1971) 168). */
static double estimate(const roots *w, size_t i, double a, double b) {
    double fa = w->weight_low * w->low[i], fb = w->weight_high * w->high[i];
    return fa == fb ? 0.5 * (a + b) : b - fb * (b - a) / (fb - fa);
}

/* Whether any function that counts has left its side with these values. */
static bool any_left(const roots *w, const double *values) {
    for (size_t i = 0; i < w->count; i++)
        if (counts(w, i) && left_side(w, i, values[i])) return true;
    return false;
}

/* Narrows [a, b], at whose end some function has left its side and at whose beginning none, to rounding. */
static hamel_status narrow(roots *w, integrator *steps, double a, double b, hamel_error *error) {
    int last = 0; /* which end moved last */
    w->weight_low = w->weight_high = 1;
    for (int step = 0; step < BRACKET_STEPS; step++) {
        double least = 2 * DBL_EPSILON * fmax(fabs(a), fabs(b)), t = b;
        if (b - a <= 2 * least) break;
        for (size_t i = 0; i < w->count; i++)
            if (counts(w, i) && left_side(w, i, w->high[i])) t = fmin(t, estimate(w, i, a, b));
        if (step % 8 == 7) t = 0.5 * (a + b); /* whatever the functions do, the bracket shrinks */
        t = fmin(fmax(t, a + least), b - least);
        hamel_status status = interpolated(w, steps, t, w->trial, error);
        if (status != HAMEL_OK) return status;
        int end = any_left(w, w->trial) ? 1 : -1;
        double *kept = end > 0 ? w->high : w->low;
        memcpy(kept, w->trial, w->count * sizeof *kept);
        *(end > 0 ? &b : &a) = t;
        w->weight_low = last > 0 && end > 0 ? 0.5 * w->weight_low : 1;
        w->weight_high = last < 0 && end < 0 ? 0.5 * w->weight_high : 1;
        last = end;
    }
    w->t = b;
    for (size_t i = 0; i < w->count; i++) {
        w->passed[i] = counts(w, i) && left_side(w, i, w->high[i]);
        if (!w->passed[i]) continue;
        w->noise[i] = fmax(fabs(w->low[i]), fabs(w->high[i]));
        if (!is_switch(w, i)) w->side[i] = -w->side[i];
    }
    return HAMEL_OK;
}

/* --- the search ------------------------------------------------------------------------------------------------------ */

/* |f| has a least value between three neighbours a < b < c: where a parabola through them has its bottom. NAN when it has
 * none, or when that is not near zero. */
static double bottom(double a, double b, double c, double fa, double fb, double fc) {
    if (!(fabs(fb) <= fabs(fa) && fabs(fb) <= fabs(fc)) || sign(fa) != sign(fb) || sign(fb) != sign(fc)) return NAN;
    double left = (fb - fa) / (b - a), right = (fc - fb) / (c - b), curvature = (right - left) / (c - a);
    if (curvature == 0) return NAN;
    double slope = left + curvature * (b - a), t = b - slope / (2 * curvature);
    double value = fb - slope * slope / (4 * curvature);
    return fabs(value) < 0.1 * fmin(fabs(fa), fabs(fc)) || sign(value) != sign(fb) ? t : NAN;
}

/* Looks between `a` (values in `older`), b (`low`) and c (`high`), at none of which any function has left its side, for
 * one that does so and comes back. When there is one, *t is an instant at which it is away, with values in `trial`. */
static hamel_status find_dip(roots *w, integrator *steps, double a, double b, double c, double *t, hamel_error *error) {
    *t = NAN;
    for (size_t i = 0; i < w->count; i++) {
        double x[3] = {a, b, c}, f[3] = {w->older[i], w->low[i], w->high[i]};
        if (w->touching[i] || w->side[i] == 0) continue;
        for (int step = 0; step < DIP_STEPS; step++) {
            double at = bottom(x[0], x[1], x[2], f[0], f[1], f[2]);
            if (!(at > x[0] && at < x[2]) || fabs(at - x[1]) <= 1e-9 * (x[2] - x[0])) break;
            hamel_status status = interpolated(w, steps, at, w->trial, error);
            if (status != HAMEL_OK) return status;
            if (left_side(w, i, w->trial[i])) {
                *t = at;
                return HAMEL_OK;
            }
            int upper = at > x[1], inner = fabs(w->trial[i]) < fabs(f[1]); /* keep the lowest in the middle */
            int moved = upper == inner ? 0 : 2;
            if (inner) {
                x[moved] = x[1], f[moved] = f[1];
                x[1] = at, f[1] = w->trial[i];
            } else {
                x[moved] = at, f[moved] = w->trial[i];
            }
        }
    }
    return HAMEL_OK;
}

/* A function stood at a zero and has come out on the other side than its rate said: it was away within the part. */
static bool missed(roots *w, const integrator *steps, double start) {
    bool any = false;
    if (integrator_previous_time(steps) != start) return false;
    for (size_t i = 0; i < w->count; i++) {
        w->passed[i] = !is_switch(w, i) && w->touching[i] && counts(w, i) && left_side(w, i, w->high[i]);
        any = any || w->passed[i];
    }
    return any;
}

/* A dip at t between a and c: its beginning, or, where only that counts, its end. `low` and `high` as in the search. */
static hamel_status enter_dip(roots *w, integrator *steps, double a, double t, double c, roots_finding *finding,
                              hamel_error *error) {
    size_t bytes = w->count * sizeof *w->low;
    *finding = ROOTS_FOUND;
    if (any_left(w, w->trial)) {
        memcpy(w->high, w->trial, bytes);
        memcpy(w->low, w->older, bytes);
        return narrow(w, steps, a, t, error);
    }
    settle_sides(w, w->trial);
    memcpy(w->low, w->trial, bytes);
    if (any_left(w, w->high)) return narrow(w, steps, t, c, error);
    *finding = ROOTS_NONE;
    return HAMEL_OK;
}

/* While points stick nothing in their motion limits the steps, however the forces on them change. So looks are as near to
 * each other as makes the forces foreseen. True when c, the next look after b, was too far. */
static bool too_far(roots *w, double b, double c) {
    double worst = 0, ahead = (c - b) / (b - w->older_time);
    if (isinf(w->pace) || isnan(w->older_time)) return false;
    for (size_t i = w->model->event_count; i < w->count; i++) {
        double scale =
            is_slip(w, i) && switch_at(w, i)->part == 0 ? sticking_scale(w->slips, (size_t)switch_at(w, i)->slip) : 0;
        if (scale > 0) worst = fmax(worst, fabs(w->high[i] - w->low[i] - ahead * (w->low[i] - w->older[i])) / scale);
    }
    if (worst > UNFORESEEN && c - b > 16 * DBL_EPSILON * fmax(fabs(b), fabs(c))) {
        w->pace = 0.5 * (c - b);
        return true;
    }
    if (worst < FORESEEN && !(c - b < 0.99 * w->pace)) w->pace *= 2;
    return false;
}

/* Friction in space keeps the direction that the slip has at the end of the step. */
static hamel_status follow(roots *w, integrator *steps, double t, hamel_error *error) {
    hamel_status status = interpolated(w, steps, t, w->trial, error);
    if (status != HAMEL_OK) return status;
    sticking_follow(w->slips);
    for (size_t i = w->model->event_count; i < w->count; i++)
        if (is_slip(w, i)) w->low[i] = slip_distance(w, i);
    return HAMEL_OK;
}

hamel_status roots_search(roots *w, integrator *steps, roots_finding *finding, hamel_error *error) {
    double start = w->t, from = fmax(integrator_previous_time(steps), start), to = integrator_time(steps);
    double a = from, b = from;
    *finding = ROOTS_NONE;
    const int parts = needs_motion(w) ? DEAR_PARTS : PARTS;
    for (int part = 1; part <= parts;) {
        double end = part < parts ? from + (to - from) * part / parts : to, c = fmin(end, b + w->pace), dip = NAN;
        hamel_status status = c > b ? interpolated(w, steps, c, w->high, error) : HAMEL_OK;
        if (status != HAMEL_OK) return status;
        if (c < end && integrator_stopped(steps))
            return HAMEL_CANCELED; /* there is no bound on how many looks follow */
        if (c > b && too_far(w, b, c)) continue;
        part += c >= end;
        if (!(c > b)) continue;
        if (any_left(w, w->high)) {
            *finding = missed(w, steps, start) ? ROOTS_MISSED : ROOTS_FOUND;
            return *finding == ROOTS_FOUND ? narrow(w, steps, b, c, error) : HAMEL_OK;
        }
        if (b > a) status = find_dip(w, steps, a, b, c, &dip, error);
        if (status != HAMEL_OK) return status;
        if (!isnan(dip)) status = enter_dip(w, steps, a, dip, c, finding, error);
        if (status != HAMEL_OK || *finding == ROOTS_FOUND) return status;
        settle_sides(w, w->high);
        memcpy(w->older, w->low, w->count * sizeof *w->older);
        memcpy(w->low, w->high, w->count * sizeof *w->low);
        w->older_time = a = b;
        b = c;
    }
    return w->slips && sticking_turns(w->slips) ? follow(w, steps, to, error) : HAMEL_OK;
}

double roots_pace(const roots *w) {
    return LOOKS * w->pace;
}
double roots_time(const roots *w) {
    return w->t;
}
bool roots_is_apart(const roots *w, size_t i, double before, double rate) {
    return rate * leaving(w, i) < -STOPPED * fabs(before);
}
bool roots_is_closing(const roots *w, size_t i, bool meets, double rate) {
    if (!w->model->events[i].contact || w->held[i] || w->released[i]) return false;
    return (meets || w->touching[i]) && rate * leaving(w, i) > EXACT * w->slack[i];
}
bool roots_meet(roots *w, size_t i, double rate) {
    const model_event *e = &w->model->events[i];
    const model_settings *s = &w->model->settings;
    double instant = 16 * DBL_EPSILON * fmax(fabs(s->start), fabs(s->stop));
    if (!e->contact || w->passed[i]) return e->contact;
    if (!roots_is_closing(w, i, true, rate) || fabs(w->high[i]) > instant * fabs(rate)) return false;
    w->side[i] = leaving(w, i);
    w->noise[i] = instant * fabs(rate);
    return w->passed[i] = true;
}
bool roots_passed(const roots *w, size_t i) {
    return w->passed[i];
}
bool roots_stood(const roots *w, size_t i) {
    return w->stood[i];
}
bool roots_unnoticed(const roots *w, size_t i) {
    return w->unnoticed[i];
}
bool roots_contradicts(const roots *w, size_t i, double rate) {
    return w->first_touching[i] && !w->jumped[i] && sign(rate) == -w->side[i];
}

/* --- switches -------------------------------------------------------------------------------------------------------- */

static hamel_status raw_at(roots *w, const roots_state *at, hamel_error *error) {
    program_inputs in = inputs_of(w, &at->t, at->q, at->v, at->a, at->lambda, at->free);
    return raw_values_at(w, &in, at->t, w->trial, error);
}

hamel_status roots_flip(roots *w, const roots_state *at, size_t *count, hamel_error *error) {
    *count = 0;
    if (w->count == w->model->event_count) return HAMEL_OK;
    hamel_status status = raw_at(w, at, error);
    for (size_t i = w->model->event_count; i < w->count && status == HAMEL_OK; i++) {
        if (!w->passed[i]) continue;
        (*count)++;
        if (is_slip(w, i))
            sticking_mark(w->slips, (size_t)switch_at(w, i)->slip);
        else
            *branch_at(w, i) = switch_neighbour(switch_at(w, i), *branch_at(w, i), w->trial[i]);
    }
    return status;
}

hamel_status roots_follow_jump(roots *w, const roots_state *at, hamel_error *error) {
    const size_t first = w->model->event_count;
    if (w->count == first) return HAMEL_OK;
    hamel_status status = raw_at(w, at, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = first; i < w->count; i++) { /* w->trial: the branch where it is known already */
        if (is_slip(w, i)) {
            w->trial[i] = *branch_at(w, i); /* that is decided later */
            continue;
        }
        bool stays =
            w->passed[i] && fabs(switch_distance(switch_at(w, i), *branch_at(w, i), w->trial[i])) <= 2 * w->noise[i];
        if (stays || !switch_at(w, i)->held)
            w->trial[i] = stays ? *branch_at(w, i) : switch_branch(switch_at(w, i), w->trial[i]);
        else
            w->trial[i] = NAN;
    }
    mode_choose_branches(&w->kinetics->mode, at->t, at->q, at->v);
    for (size_t i = first; i < w->count; i++)
        if (!isnan(w->trial[i])) *branch_at(w, i) = w->trial[i];
    return HAMEL_OK;
}
