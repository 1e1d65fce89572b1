/* roots_sides.c — sides of the root functions at the start of a search, and events that happen then because functions
 * leave zero. */
#include "engine/simulate/roots_int.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* At the start of a run, the uncertainties of the root functions and of their rates are multiplied by this factor.
 * Initial values contain no integration error. Projected initial values have residuals up to 1e-11 (PROJECTION_ERROR),
 * a thousandth of rtol = 1e-8. */
static const double EXACT = 1e-3;
/* If an event stops the function of its contact, rounding may leave up to this fraction of the previous rate. In a
 * contact that slides a million times faster than it closes, the rate loses six of sixteen digits; two more digits are
 * a reserve. */
static const double STOPPED = 1e-8;
/* Rounding error of the value of a root function, relative to its terms: a few rounding units (2.2e-16). */
static const double VALUE_ROUNDING = 1e-15;

static double rate_of(const motion_state *at, size_t i) {
    return isfinite(at->rates[i]) ? at->rates[i] : 0;
}

static double time_span(const roots *w) {
    return w->model->settings.stop - w->model->settings.start;
}

/* Sets the side of a function that has just passed through zero. */
static void place_passed(roots *w, size_t i, double rate, bool changed) {
    double value = w->first[i];
    w->of[i].touching = fabs(value) <= 2 * w->last_noise[i];
    if (!w->of[i].touching) {
        w->of[i].side = roots_sign(value); /* an event has moved the function away from zero */
        w->noise[i] = 0;
    } else if (changed && fabs(rate) <= w->slack[i]) {
        /* The function is at its zero within the tolerances. A constraint holds the function there, or the function is
         * about to pass its zero again. */
        w->of[i].side = -w->of[i].side;
        w->noise[i] = fmax(w->noise[i], w->last_noise[i]);
    } else {
        if (rate != 0) w->of[i].side = roots_sign(rate);
        w->noise[i] = fmax(fabs(value), w->last_noise[i]);
    }
}

/* Returns the sign of the function after a crossing in the direction of its event. Returns 0 if the event has no
 * direction and the function has no previous side. */
static int event_sign(const roots *w, size_t i) {
    hamel_direction direction = w->model->events.list[i].direction;
    if (direction != HAMEL_BOTH) return direction == HAMEL_RISING ? 1 : -1;
    return w->of[i].passed ? w->of[i].side : -w->of[i].side;
}

/* Returns the side of a function at rest at its zero. A contact that no constraint holds counts as open, so it closes
 * if its function later leaves zero in the direction of the event. The side of any other function is 0
 * until the function is no longer zero. */
static int resting_side(const roots *w, size_t i) {
    return w->model->events.list[i].contact && !w->of[i].held && !w->of[i].released ? -event_sign(w, i) : 0;
}

/* Sets the side of a function that is still at its zero after another event. Such a function may leave zero in either
 * direction. */
static void place_resting(roots *w, size_t i, double rate, bool changed) {
    if (changed) w->of[i].side = fabs(rate) <= w->slack[i] ? resting_side(w, i) : roots_sign(rate);
    w->noise[i] = fmax(w->noise[i], w->last_noise[i]);
}

/* Sets the side of the nonsmooth operator that belongs to function i. The argument of the operator is inside the
 * current branch, or at an edge that it has just passed or at which it starts. An argument that starts at an edge may
 * initially be slightly outside the branch. */
static void place_branch(roots *w, size_t i) {
    bool passed = w->of[i].passed, slip = roots_is_slip(w, i);
    double value = fabs(w->first[i]), slack = passed ? 2 * w->last_noise[i] : fmax(0, -w->first[i]);
    if (slip) slack = roots_of_slip(w, i, stick_slip_slack, 0);
    w->of[i].side = 1;
    w->of[i].touching = value <= slack;
    w->noise[i] = !w->of[i].touching ? 0 : slip ? slack : fmax(value, passed ? w->last_noise[i] : 0);
}

/* Sets the side of an event function in all cases that place_passed and place_resting do not handle. A function that an
 * event has moved across its zero counts as passed. */
static void place_other(roots *w, size_t i, double rate, bool start, bool changed) {
    double value = w->first[i];
    if (start && fabs(value) <= EXACT * w->noise[i] && fabs(rate) <= w->slack[i]) {
        w->of[i].touching = true;
        w->of[i].side = resting_side(w, i);
        return;
    }
    w->of[i].jumped =
        changed && !start && !w->of[i].touching && roots_sign(value) * w->of[i].side < 0 && roots_counts(w, i);
    w->of[i].touching = value == 0 || (start && fabs(value) <= fabs(rate) * INSTANT * time_span(w));
    w->of[i].side = w->of[i].touching ? roots_sign(rate) : roots_sign(value);
    w->noise[i] = w->of[i].touching ? fabs(value) : 0;
}

/* Returns true if active constraints already hold the function at its zero. This means that all constraints that its
 * event activates are active, or all constraints to which its event applies impulses. */
static bool is_held(const roots *w, size_t i) {
    const model_event *e = &w->model->events.list[i];
    const bool *active = w->dynamics->discrete_state.active;
    size_t k = 0, c = 0;
    while (k < e->activate_count && active[e->activate[k]]) k++;
    while (c < e->impulse_count && active[e->impulses[c]]) c++;
    return (k > 0 && k == e->activate_count) || (c > 0 && c == e->impulse_count);
}

/* Records whether constraints hold a contact. If an event deactivates the constraint of a contact, the contact counts
 * as open until its function has moved away from zero. */
static void note_held(roots *w, size_t i) {
    bool held = is_held(w, i);
    w->of[i].released = (w->of[i].released && w->of[i].touching) || (w->of[i].held && !held);
    w->of[i].held = held;
}

static bool is_at_zero(const roots *w, size_t i, double rate, bool start) {
    double value = fabs(w->first[i]);
    if (w->of[i].passed) return value <= 2 * w->last_noise[i];
    if (start) return value <= fmax(EXACT * w->noise[i], fabs(rate) * INSTANT * time_span(w));
    return value == 0 || (w->of[i].touching && value <= w->last_noise[i]);
}

/* Returns the sign with which a function leaves its zero: the sign of its rate or, if the rate is 0, of its second
 * rate. Returns 0 if both rates are below their error bounds. The rate is treated as exact at the start. For a contact
 * with a direction the rate is also treated as exact, because an unnecessary event does not change the motion. */
static int next_sign(const roots *w, size_t i, const motion_state *at, bool start) {
    const model_event *e = &w->model->events.list[i];
    double rate = rate_of(at, i), exact = EXACT * w->slack[i];
    bool given = start || (e->contact && e->direction != HAMEL_BOTH);
    if (fabs(rate) > (given ? exact : w->slack[i])) return roots_sign(rate);
    return fabs(rate) <= exact && fabs(at->bends[i]) > at->bend_slack[i] ? roots_sign(at->bends[i]) : 0;
}

/* Returns true if the function of a contact has already crossed its zero in the direction of the event. No impact then
 * keeps the contact from closing further. */
static bool is_beyond(const roots *w, size_t i) {
    const model_event *e = &w->model->events.list[i];
    return e->contact && e->impulse_count > 0 && !w->of[i].held && roots_sign(w->first[i]) == event_sign(w, i);
}

/* Returns true if a function is about to leave its zero in the direction of its event. The event then happens now. This
 * is possible at the start, after another event has reversed the rate, and after a change of the forces. An event that
 * does not change the motion happens only at zero crossings. */
static bool leaves_zero(roots *w, size_t i, const motion_state *at, bool start) {
    const model_event *e = &w->model->events.list[i];
    double rate = rate_of(at, i);
    bool zero = is_at_zero(w, i, rate, start);
    w->of[i].undecided = false;
    w->of[i].unnoticed = start && !zero && is_beyond(w, i);
    if (!zero || w->of[i].held || w->of[i].released) return false;
    int sign = next_sign(w, i, at, start), out = event_sign(w, i);
    if (out == 0 && !e->contact) out = sign;
    if (sign == 0 || (out != 0 && sign != out)) return false;
    /* Functions of contacts are usually distances, so a contact whose function grows at the start counts as opening. */
    bool opens = start && out == 0 && sign > 0;
    w->of[i].undecided = out == 0 && !opens;
    w->of[i].unnoticed = opens || (start && e->terminate && !model_event_acts(e));
    if (out == 0 || !model_event_acts(e)) return false;
    if (w->of[i].passed) return e->contact && w->of[i].turned && fabs(rate) > w->slack[i];
    return start || w->of[i].side != out;
}

/* Makes the event of function i occur now, because the function is about to leave its zero. */
static void let_leave(roots *w, size_t i, const motion_state *at, bool start) {
    w->of[i].jumped = w->of[i].from_zero = w->of[i].touching = true;
    w->of[i].by_second_rate = fabs(rate_of(at, i)) <= w->slack[i];
    w->of[i].side = next_sign(w, i, at, start);
    w->noise[i] = fmax(fabs(w->first[i]), w->noise[i] * (VALUE_ROUNDING / w->model->settings.rtol));
}

/* Returns true if an event has left its contact closed, at rest and under load. */
static bool is_stuck(const roots *w, size_t i, const motion_state *at) {
    if (!w->model->events.list[i].contact || !w->of[i].passed || !w->of[i].stopped || w->of[i].held ||
        w->of[i].released)
        return false;
    return is_at_zero(w, i, 0, false) && at->bends[i] * w->of[i].side > at->bend_slack[i];
}

static hamel_status fail_stuck(const roots *w, size_t i, double t, hamel_error *error) {
    const model_event *e = &w->model->events.list[i];
    (void)hamel_fail(error, HAMEL_INTEGRATION, e->pointer, 0,
                     "at t = %.9g the event `%s` leaves its contact closed, at rest and under load: infinitely many "
                     "impacts would follow (Zeno)",
                     t, e->name);
    hamel_suggest(error, "declare a constraint with \"active\": false that holds the contact, and let the event "
                         "apply an impulse with restitution 0 to it and activate it; or end the run with `terminate`");
    return HAMEL_INTEGRATION;
}

static hamel_status fail_undecided(const roots *w, size_t i, double t, bool start, hamel_error *error) {
    const model_event *e = &w->model->events.list[i];
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

/* Sets the side of each event function, and marks the events that occur now because their functions leave zero. Adds an
 * error if an event is undecided or if infinitely many impacts would follow. */
static hamel_status place_events(roots *w, const motion_state *at, bool start, bool changed, hamel_error *error) {
    bool any = false;
    for (size_t i = 0; i < w->model->events.count; i++) {
        double rate = rate_of(at, i);
        note_held(w, i);
        if ((start || changed) && leaves_zero(w, i, at, start))
            let_leave(w, i, at, start);
        else if (w->of[i].passed)
            w->of[i].stuck = is_stuck(w, i, at), place_passed(w, i, rate, changed);
        else if (!start && w->of[i].touching && fabs(w->first[i]) <= w->last_noise[i])
            place_resting(w, i, rate, changed);
        else
            place_other(w, i, rate, start, changed);
        any = any || w->of[i].jumped;
    }
    for (size_t i = 0; i < w->model->events.count; i++) {
        if ((start || changed) && w->of[i].undecided) return fail_undecided(w, i, at->t, start, error);
        if (!any && w->of[i].stuck) return fail_stuck(w, i, at->t, error);
    }
    return HAMEL_OK;
}

hamel_status roots_start(roots *w, const motion_state *at, bool changed, bool *again, hamel_error *error) {
    assert(!w->begun || at->t >= w->t);
    hamel_status status = roots_evaluate(w, at, w->first, error);
    if (status != HAMEL_OK) return status;
    bool any = false, start = !w->begun;
    for (size_t i = 0; i < w->count; i++) {
        root *f = &w->of[i];
        any = any || (i < w->model->events.count && (start || f->passed || f->touching));
        f->jumped = f->from_zero = f->stuck = false;
    }
    memcpy(w->last_noise, w->noise, w->count * sizeof *w->noise);
    w->begun = true;
    if (any && (changed || start)) {
        uncertainty_find(&w->uncertain, at, w->noise, w->slack, NULL);
        for (size_t i = 0; i < w->count; i++) w->noise[i] *= STATE_UNCERTAINTY;
    }
    for (size_t i = w->model->events.count; i < w->count; i++) place_branch(w, i);
    status = place_events(w, at, start, changed, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = 0; i < w->count; i++) {
        w->of[i].start_side = w->of[i].side;
        w->of[i].start_touching = w->of[i].touching;
    }
    w->t = at->t;
    roots_again(w);
    *again = false;
    for (size_t i = 0; i < w->count; i++) {
        w->of[i].passed = w->of[i].jumped;
        *again = *again || w->of[i].jumped;
    }
    return HAMEL_OK;
}

void roots_acted(roots *w, size_t i, double before, double after) {
    assert(i < w->model->events.count && w->of[i].passed);
    double least = w->of[i].from_zero && w->of[i].by_second_rate ? w->slack[i] : STOPPED * fabs(before);
    w->of[i].turned = after * w->of[i].side <= least;
    w->of[i].stopped = fabs(after) <= least;
}

bool roots_is_apart(const roots *w, size_t i, double before, double rate) {
    return rate * event_sign(w, i) < -STOPPED * fabs(before);
}

bool roots_is_closing(const roots *w, size_t i, bool meets, double rate) {
    if (!w->model->events.list[i].contact || w->of[i].held || w->of[i].released) return false;
    return (meets || w->of[i].touching) && rate * event_sign(w, i) > EXACT * w->slack[i];
}

bool roots_meet(roots *w, size_t i, double rate) {
    const model_event *e = &w->model->events.list[i];
    const model_settings *s = &w->model->settings;
    double instant = 16 * DBL_EPSILON * fmax(fabs(s->start), fabs(s->stop));
    if (!e->contact || w->of[i].passed) return e->contact;
    if (!roots_is_closing(w, i, true, rate) || fabs(w->high[i]) > instant * fabs(rate)) return false;
    w->of[i].side = event_sign(w, i);
    w->noise[i] = instant * fabs(rate);
    return w->of[i].passed = true;
}

bool roots_contradicts(const roots *w, size_t i, double rate) {
    return w->of[i].start_touching && !w->of[i].jumped && roots_sign(rate) == -w->of[i].side;
}
