/* roots.c — values of the root functions, and the search of a step for roots. roots_sides.c starts a search. */
#include "engine/simulate/roots_int.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A step is searched in ROOTS_PARTS intervals, or in EXPENSIVE_PARTS if a value needs accelerations. Few intervals
 * suffice, because find_dip finds pairs of roots between two samples. DIP_STEPS bounds the iterations for the minimum
 * of a function between three samples; fewer could miss two close roots. BRACKET_STEPS bounds the iterations that
 * narrow a bracket. Every eighth iteration is a bisection, so 200 iterations divide the bracket by at least 2^25. */
enum { EXPENSIVE_PARTS = 2, DIP_STEPS = 8, BRACKET_STEPS = 200 };
/* First sampling interval of forces on sticking contacts, relative to the span. Ten doublings increase the interval to
 * a thousandth of the span. The interval is halved if the relative extrapolation error of the force exceeds ERROR_MOST,
 * and doubled if the error is below ERROR_LEAST. The error grows with the square of the interval, so ERROR_LEAST is a
 * quarter of ERROR_MOST. A larger ERROR_MOST could miss a short peak of a force; a smaller value costs more samples.
 * INTERVALS bounds the number of intervals in a step, and so the cost of a step. */
static const double FIRST_INTERVAL = 1e-6, ERROR_MOST = 0.2, ERROR_LEAST = 0.05, INTERVALS = 10;

roots *roots_create(arena *memory, dynamics *k, stick_slip *slips) {
    const unsigned motion = GRAPH_DEPENDS(SYMBOL_ACCELERATION) | GRAPH_DEPENDS(SYMBOL_MULTIPLIER) |
                            GRAPH_DEPENDS(SYMBOL_FREE) | GRAPH_DEPENDS(SYMBOL_IDEAL) | GRAPH_DEPENDS(SYMBOL_NONIDEAL);
    const hamel_model *model = k->model;
    size_t n = model->n, count = model->events.root_count;
    roots *w = arena_alloc(memory, 1, sizeof *w);
    assert(count >= model->events.count && (slips || model->friction.slip_count == 0));
    if (!w) return NULL;
    *w = (roots){.model = model, .dynamics = k, .slips = slips, .count = count};
    w->needs_motion = (program_depends(model->events.roots) & motion) != 0;
    w->of = arena_alloc(memory, count, sizeof *w->of);
    w->kept = arena_alloc(memory, count, sizeof *w->kept);
    double **values[] = {&w->noise, &w->last_noise, &w->slack, &w->first, &w->low, &w->high, &w->older, &w->trial};
    for (size_t j = 0; j < sizeof values / sizeof *values; j++) *values[j] = arena_doubles(memory, count);
    double **vectors[] = {&w->q, &w->v, &w->a};
    for (size_t j = 0; j < sizeof vectors / sizeof *vectors; j++) *vectors[j] = arena_doubles(memory, n);
    w->free = arena_doubles(memory, 2 * n);
    w->lambda = arena_doubles(memory, model->m);
    return uncertainty_create(&w->uncertain, memory, k, model->events.roots) && !memory->failed ? w : NULL;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static double *branch_at(const roots *w, size_t i) {
    return &w->dynamics->discrete_state.branches[i - w->model->events.count];
}

double roots_of_slip(const roots *w, size_t i, double (*get)(const stick_slip *, size_t), double otherwise) {
    const system_nonsmooth *at = roots_operator(w, i);
    return at->part == 0 ? get(w->slips, (size_t)at->slip) : otherwise;
}

/* Computes the root functions of events and the arguments of nonsmooth operators. */
static hamel_status raw_values_at(roots *w, const motion_state *at, double *values, hamel_error *error) {
    const hamel_model *model = w->model;
    program_inputs in = motion_inputs(w->dynamics, at);
    program_evaluate(model->events.roots, &in, w->uncertain.work, values);
    for (size_t i = 0; i < w->count; i++)
        if (!isfinite(values[i]))
            return model_not_finite(model, model->events.roots, &in, w->uncertain.work, at->t,
                                    roots_is_branch(w, i) ? "" : model->events.list[i].pointer,
                                    "the function of an event", error);
    return HAMEL_OK;
}

hamel_status roots_evaluate(roots *w, const motion_state *state, double *values, hamel_error *error) {
    hamel_status status = raw_values_at(w, state, values, error);
    if (status != HAMEL_OK) return status;
    program_inputs in = motion_inputs(w->dynamics, state);
    if (w->slips && stick_slip_any_sticks(w->slips)) stick_slip_evaluate(w->slips, &in);
    for (size_t i = w->model->events.count; i < w->count; i++) {
        const system_nonsmooth *at = roots_operator(w, i);
        if (roots_is_slip(w, i))
            stick_slip_set_speed(w->slips, (size_t)at->slip, (size_t)at->part, values[i]);
        else
            values[i] = nonsmooth_distance(at, *branch_at(w, i), values[i]);
    }
    for (size_t i = w->model->events.count; i < w->count; i++)
        if (roots_is_slip(w, i)) values[i] = roots_of_slip(w, i, stick_slip_distance, 1);
    return HAMEL_OK;
}

/* Returns true if any function needs accelerations and multipliers. */
static bool needs_motion(const roots *w) {
    return w->needs_motion || (w->slips && stick_slip_any_sticks(w->slips));
}

/* Computes values from the dense output of the last step. */
static hamel_status interpolate_values(roots *w, integrator *steps, double t, double *values, hamel_error *error) {
    double work;
    hamel_status status = integrator_interpolate(steps, t, w->q, w->v, &work, error);
    if (status == HAMEL_OK && needs_motion(w)) {
        status = dynamics_evaluate(w->dynamics, t, w->q, w->v, error);
        if (status == HAMEL_OK) status = dynamics_accelerations(w->dynamics, 0, 0, w->a, w->lambda, error);
        if (status == HAMEL_OK && w->model->observation.needs_free)
            status = dynamics_free_accelerations(w->dynamics, w->a, w->lambda, w->free);
    }
    motion_state at = {.t = t, .q = w->q, .v = w->v, .a = w->a, .lambda = w->lambda, .free = w->free};
    return status == HAMEL_OK ? roots_evaluate(w, &at, values, error) : status;
}

bool roots_counts(const roots *w, size_t i) {
    if (roots_is_branch(w, i)) return true;
    hamel_direction direction = w->model->events.list[i].direction;
    return direction == HAMEL_BOTH || (direction == HAMEL_RISING) == (w->of[i].side < 0);
}

void roots_again(roots *w) {
    for (size_t i = 0; i < w->count; i++) {
        w->of[i].side = w->of[i].start_side;
        w->of[i].touching = w->of[i].start_touching;
        w->of[i].passed = false;
    }
    memcpy(w->low, w->first, w->count * sizeof *w->low);
    memcpy(w->high, w->first, w->count * sizeof *w->high);
    w->pace = w->slips && stick_slip_any_sticks(w->slips)
                  ? FIRST_INTERVAL * (w->model->settings.stop - w->model->settings.start)
                  : INFINITY;
    w->older_time = NAN;
}

/* Returns true if `value` is not on the side of function i. If the function is at its zero, the value must also exceed
 * the noise. */
static bool left_side(const roots *w, size_t i, double value) {
    return w->of[i].side != 0 && (w->of[i].touching ? roots_sign(value) == -w->of[i].side && fabs(value) > w->noise[i]
                                                    : roots_sign(value) != w->of[i].side);
}

/* Updates the sides of functions that have moved away from their zero, or have crossed zero in a direction that does
 * not trigger an event. */
static void update_sides(roots *w, const double *values) {
    for (size_t i = 0; i < w->count; i++) {
        int now = roots_sign(values[i]);
        if (w->of[i].touching && fabs(values[i]) <= w->noise[i]) continue;
        if (now == 0) continue;
        w->of[i].side = now;
        w->of[i].touching = false;
    }
}

/* --- bracketing --------------------------------------------------------------------------------------------------- */

/* Estimates a root of function i between a and b by regula falsi with Illinois weights (Dowell & Jarratt, BIT 11 (1971)
 * 168). */
static double estimate_root(const roots *w, size_t i, double a, double b) {
    double fa = w->weight_low * w->low[i], fb = w->weight_high * w->high[i];
    return fa == fb ? 0.5 * (a + b) : b - fb * (b - a) / (fb - fa);
}

/* Returns true if, at these values, any function has left its side in a direction that triggers its event or changes a
 * branch. */
static bool any_left(const roots *w, const double *values) {
    for (size_t i = 0; i < w->count; i++)
        if (roots_counts(w, i) && left_side(w, i, values[i])) return true;
    return false;
}

/* Narrows the bracket [a, b] to a few units in the last place. At `a` all functions are on their sides; at `b` some
 * function has left its side. */
static hamel_status narrow_bracket(roots *w, integrator *steps, double a, double b, hamel_error *error) {
    int last = 0; /* the end that moved last */
    assert(a < b);
    w->weight_low = w->weight_high = 1;
    for (int step = 0; step < BRACKET_STEPS; step++) {
        double least = 2 * DBL_EPSILON * fmax(fabs(a), fabs(b)), t = b;
        if (b - a <= 2 * least) break;
        for (size_t i = 0; i < w->count; i++)
            if (roots_counts(w, i) && left_side(w, i, w->high[i])) t = fmin(t, estimate_root(w, i, a, b));
        if (step % 8 == 7) t = 0.5 * (a + b); /* bisection guarantees that the bracket shrinks */
        t = fmin(fmax(t, a + least), b - least);
        hamel_status status = interpolate_values(w, steps, t, w->trial, error);
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
        w->of[i].passed = roots_counts(w, i) && left_side(w, i, w->high[i]);
        if (!w->of[i].passed) continue;
        w->noise[i] = fmax(fabs(w->low[i]), fabs(w->high[i]));
        if (!roots_is_branch(w, i)) w->of[i].side = -w->of[i].side;
    }
    return HAMEL_OK;
}

/* --- the search --------------------------------------------------------------------------------------------------- */

/* Returns the time at which the parabola through samples at a < b < c has its minimum. Returns NAN if |f| is not least
 * at b, if the parabola has no minimum, or if its minimum is not near zero. */
static double dip_time(double a, double b, double c, double fa, double fb, double fc) {
    if (!(fabs(fb) <= fabs(fa) && fabs(fb) <= fabs(fc)) || roots_sign(fa) != roots_sign(fb) ||
        roots_sign(fb) != roots_sign(fc))
        return NAN;
    double left = (fb - fa) / (b - a), right = (fc - fb) / (c - b), curvature = (right - left) / (c - a);
    if (curvature == 0) return NAN;
    double slope = left + curvature * (b - a), t = b - slope / (2 * curvature);
    double value = fb - slope * slope / (4 * curvature);
    return fabs(value) < 0.1 * fmin(fabs(fa), fabs(fc)) || roots_sign(value) != roots_sign(fb) ? t : NAN;
}

/* Returns true if a time is between x[0] and x[2] and apart from x[1]. */
static bool is_new_time(double at, const double x[3]) {
    return at > x[0] && at < x[2] && !(fabs(at - x[1]) <= 1e-9 * (x[2] - x[0]));
}

/* Searches for a function that leaves its side and returns between a and c. At `a`, `b` and `c` (values in `older`,
 * `low` and `high`) all functions are on their sides. Sets *t to a time at which the function is on the other side,
 * with all values in `trial`, or to NAN. */
static hamel_status find_dip(roots *w, integrator *steps, double a, double b, double c, double *t, hamel_error *error) {
    *t = NAN;
    for (size_t i = 0; i < w->count; i++) {
        double x[3] = {a, b, c}, f[3] = {w->older[i], w->low[i], w->high[i]};
        if (w->of[i].touching || w->of[i].side == 0) continue;
        for (int step = 0; step < DIP_STEPS; step++) {
            double at = dip_time(x[0], x[1], x[2], f[0], f[1], f[2]);
            if (!is_new_time(at, x)) break;
            hamel_status status = interpolate_values(w, steps, at, w->trial, error);
            if (status != HAMEL_OK) return status;
            if (left_side(w, i, w->trial[i])) {
                *t = at;
                return HAMEL_OK;
            }
            int upper = at > x[1], inner = fabs(w->trial[i]) < fabs(f[1]); /* the least value stays in the middle */
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

/* Returns true if the search skipped two roots of a function. Such a function was at its zero when the search began,
 * and is now not on the side that its rate indicated. */
static bool has_missed(roots *w, const integrator *steps, double start) {
    bool any = false;
    if (steps->previous != start) return false;
    for (size_t i = 0; i < w->count; i++) {
        w->of[i].passed =
            !roots_is_branch(w, i) && w->of[i].touching && roots_counts(w, i) && left_side(w, i, w->high[i]);
        any = any || w->of[i].passed;
    }
    return any;
}

/* In the dip at t between `a` and `c`, a function leaves its side and returns. Finds the root at the beginning of the
 * dip or, if only the return triggers an event, the root at the end of the dip. On entry, w->low and w->high are the
 * values at the last two samples of roots_search. */
static hamel_status bracket_dip(roots *w, integrator *steps, double a, double t, double c, roots_finding *finding,
                                hamel_error *error) {
    size_t bytes = w->count * sizeof *w->low;
    *finding = ROOTS_FOUND;
    if (any_left(w, w->trial)) {
        memcpy(w->high, w->trial, bytes);
        memcpy(w->low, w->older, bytes);
        return narrow_bracket(w, steps, a, t, error);
    }
    update_sides(w, w->trial);
    memcpy(w->low, w->trial, bytes);
    if (any_left(w, w->high)) return narrow_bracket(w, steps, t, c, error);
    *finding = ROOTS_NONE;
    return HAMEL_OK;
}

/* While contacts stick, fast changes of the friction forces do not shorten the steps of the integrator. The sampling
 * interval is therefore adapted until linear extrapolation predicts the friction force. Returns true if c, the sample
 * after b, is too far from b. */
static bool is_too_far(roots *w, double b, double c) {
    double worst = 0, ahead = (c - b) / (b - w->older_time);
    if (isinf(w->pace) || isnan(w->older_time)) return false;
    for (size_t i = w->model->events.count; i < w->count; i++) {
        double scale = roots_is_slip(w, i) ? roots_of_slip(w, i, stick_slip_scale, 0) : 0;
        if (scale > 0) worst = fmax(worst, fabs(w->high[i] - w->low[i] - ahead * (w->low[i] - w->older[i])) / scale);
    }
    if (worst > ERROR_MOST && c - b > 16 * DBL_EPSILON * fmax(fabs(b), fabs(c))) {
        w->pace = 0.5 * (c - b);
        return true;
    }
    if (worst < ERROR_LEAST && !(c - b < 0.99 * w->pace)) w->pace *= 2;
    return false;
}

/* Sets the directions of slips in space from the state at t, and w->low to the values of the functions of slips. */
static hamel_status follow_slips(roots *w, integrator *steps, double t, hamel_error *error) {
    hamel_status status = interpolate_values(w, steps, t, w->trial, error);
    if (status != HAMEL_OK) return status;
    stick_slip_follow(w->slips);
    for (size_t i = w->model->events.count; i < w->count; i++)
        if (roots_is_slip(w, i)) w->low[i] = roots_of_slip(w, i, stick_slip_distance, 1);
    return HAMEL_OK;
}

hamel_status roots_search(roots *w, integrator *steps, roots_finding *finding, hamel_error *error) {
    double start = w->t, from = fmax(steps->previous, start), to = steps->t;
    double a = from, b = from;
    assert(w->begun && start <= to);
    *finding = ROOTS_NONE;
    const int parts = needs_motion(w) ? EXPENSIVE_PARTS : ROOTS_PARTS;
    for (int part = 1; part <= parts;) {
        double end = roots_sample_time(from, to, part, parts), c = fmin(end, b + w->pace), dip = NAN;
        hamel_status status = c > b ? interpolate_values(w, steps, c, w->high, error) : HAMEL_OK;
        if (status != HAMEL_OK) return status;
        if (c < end && integrator_stopped(steps)) return HAMEL_CANCELED; /* the number of samples is not bounded */
        if (c > b && is_too_far(w, b, c)) continue;
        part += c >= end;
        if (!(c > b)) continue;
        if (any_left(w, w->high)) {
            *finding = has_missed(w, steps, start) ? ROOTS_MISSED : ROOTS_FOUND;
            return *finding == ROOTS_FOUND ? narrow_bracket(w, steps, b, c, error) : HAMEL_OK;
        }
        if (b > a) status = find_dip(w, steps, a, b, c, &dip, error);
        if (status != HAMEL_OK) return status;
        if (!isnan(dip)) status = bracket_dip(w, steps, a, dip, c, finding, error);
        if (status != HAMEL_OK || *finding == ROOTS_FOUND) return status;
        update_sides(w, w->high);
        memcpy(w->older, w->low, w->count * sizeof *w->older);
        memcpy(w->low, w->high, w->count * sizeof *w->low);
        w->older_time = a = b;
        b = c;
    }
    return w->slips && stick_slip_turns(w->slips) ? follow_slips(w, steps, to, error) : HAMEL_OK;
}

/* Returns true if the search would only add the sample `now` at x[2]. `older` and `low` are the samples before it, at
 * x[0] and x[1]; the first sample has x[0] = x[1]. */
static bool is_quiet_sample(const roots *w, const double x[3], const double *older, const double *low,
                            const double *now) {
    for (size_t i = 0; i < w->count; i++) {
        if (!isfinite(now[i])) return false;
        if (!(x[1] > x[0]) || w->of[i].touching || w->of[i].side == 0) continue;
        if (is_new_time(dip_time(x[0], x[1], x[2], older[i], low[i], now[i]), x)) return false;
    }
    return x[2] > x[1] && !any_left(w, now);
}

bool roots_pass_quietly(roots *w, double from, double to, const double *values) {
    size_t bytes = w->count * sizeof *w->low;
    double x[3] = {from, from, from};
    const double *older = w->older, *low = w->low, *now = values;
    assert(w->begun && isinf(w->pace) && !needs_motion(w) && from >= w->t);
    memcpy(w->kept, w->of, w->count * sizeof *w->of);
    for (int part = 1; part <= ROOTS_PARTS; part++, now += w->count) {
        x[2] = roots_sample_time(from, to, part, ROOTS_PARTS);
        if (!is_quiet_sample(w, x, older, low, now)) {
            memcpy(w->of, w->kept, w->count * sizeof *w->of);
            return false;
        }
        update_sides(w, now);
        older = low;
        low = now;
        x[0] = x[1];
        x[1] = x[2];
    }
    memcpy(w->older, older, bytes);
    memcpy(w->low, low, bytes);
    memcpy(w->high, low, bytes);
    w->older_time = x[0];
    return true;
}

double roots_pace(const roots *w) {
    return INTERVALS * w->pace;
}

/* --- branches ----------------------------------------------------------------------------------------------------- */

hamel_status roots_flip(roots *w, const motion_state *at, size_t *count, hamel_error *error) {
    *count = 0;
    if (w->count == w->model->events.count) return HAMEL_OK;
    hamel_status status = raw_values_at(w, at, w->trial, error);
    for (size_t i = w->model->events.count; i < w->count && status == HAMEL_OK; i++) {
        if (!w->of[i].passed) continue;
        (*count)++;
        if (roots_is_slip(w, i))
            stick_slip_mark(w->slips, (size_t)roots_operator(w, i)->slip);
        else
            *branch_at(w, i) = nonsmooth_neighbour(roots_operator(w, i), *branch_at(w, i), w->trial[i]);
    }
    return status;
}

hamel_status roots_follow_jump(roots *w, const motion_state *at, hamel_error *error) {
    const size_t first = w->model->events.count;
    if (w->count == first) return HAMEL_OK;
    hamel_status status = raw_values_at(w, at, w->trial, error);
    if (status != HAMEL_OK) return status;
    for (size_t i = first; i < w->count; i++) { /* w->trial becomes the new branches; a NAN is replaced below */
        if (roots_is_slip(w, i)) {
            w->trial[i] = *branch_at(w, i); /* stick_slip_decide sets it later */
            continue;
        }
        const system_nonsmooth *of = roots_operator(w, i);
        double branch = *branch_at(w, i), z = w->trial[i];
        bool stays = w->of[i].passed && fabs(nonsmooth_distance(of, branch, z)) <= 2 * w->noise[i];
        w->trial[i] = stays ? branch : of->held ? NAN : nonsmooth_branch(of, z);
    }
    discrete_state_choose_branches(&w->dynamics->discrete_state, at->t, at->q, at->v);
    for (size_t i = first; i < w->count; i++)
        if (!isnan(w->trial[i])) *branch_at(w, i) = w->trial[i];
    return HAMEL_OK;
}
