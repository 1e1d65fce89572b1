/* sensitivities_jump.c — derivatives across an event (saltation).
 *
 * An event happens when g(t, x, p) = 0, so its time τ depends on the input. With the sensitivity s⁻ before the event,
 *
 *     dτ/dp = −(∂g/∂x s⁻ + ∂g/∂p) / ġ
 *
 * The effect of the event is a map x⁺ = h(t, x⁻, p). The derivative of h maps the total variations δx = s + x' dτ/dp of
 * the state at the event:
 *
 *     δx⁺ = ∂h/∂x δx⁻ + ∂h/∂t dτ/dp + ∂h/∂p
 *
 * With s⁺ = δx⁺ − x'⁺ dτ/dp this gives (Rozenvasser, Automation and Remote Control 28 (1967); Hiskens & Pai, IEEE
 * Trans. Circuits Syst. I 47 (2000) 204, eq. 21-26; Galán, Feehery & Barton, Appl. Numer. Math. 31 (1999) 17, eq. 12)
 *
 *     s⁺ = h_x s⁻ + h_p + (h_x x'⁻ + h_t − x'⁺) dτ/dp
 *
 * At changes of branches and stick-slip states, h is the identity and only x' jumps.
 *
 * The state after two events at one instant has derivatives if one event causes the other or if they are independent.
 * Two events are independent if their times have equal derivatives before the first event. Two events are also
 * independent if the first event does not change the derivatives of the time of the second event. */
#include "engine/base/finite.h"
#include "engine/sensitivity/sensitivities_int.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LANES = SENSITIVITY_LANES };
/* Derivatives of times count as equal if their relative difference is below this multiple of rtol. The value equals
 * ANOTHER_MOTION (tolerances.h): smaller differences are treated as integration errors. */
static const double SAME_TIMES = 1e3;

typedef struct sensitivities_jump {
    double *roots_work, *jumps_work, *bounds_work;
    double *roots, *jumps, *bounds; /* tangents: outputs × lanes */
    double *limits;                 /* values of the friction bounds */
    double *assigned;               /* count × jump_count: derivatives of assigned values */
    double *times;                  /* count × root_count: dτ/dp at the instant */
    double *dt;                     /* count: dτ/dp of the current event */
    double *now;                    /* count × root_count: dτ/dp after the first event at the instant */
    double *along;                  /* 2n: (q', q''), the direction of the motion */
    bool met;                       /* true if an event has begun at the instant; dt is then set */
    bool follows;                   /* true if the previous event causes the current crossings */
    bool moving;                    /* true if s contains total variations */
} sensitivities_jump;

sensitivities_jump *sensitivities_jump_create(const hamel_model *model, arena *memory) {
    const model_events *events = &model->events;
    size_t inputs = model->sensitivities->count;
    sensitivities_jump *j = arena_alloc(memory, 1, sizeof *j);
    if (!j) return NULL;
    size_t roots = events->root_count, jumps = events->jump_count, frictions = model->friction.count;
    j->roots_work = model_workspace(model, events->roots, memory);
    j->jumps_work = model_workspace(model, events->jumps, memory);
    j->bounds_work = model_workspace(model, model->friction.bounds, memory);
    bool good =
        ARENA_DOUBLES(memory, {&j->roots, roots * LANES}, {&j->jumps, jumps * LANES}, {&j->bounds, frictions * LANES},
                      {&j->limits, frictions}, {&j->assigned, jumps * inputs}, {&j->times, roots * inputs},
                      {&j->dt, inputs}, {&j->now, roots * inputs}, {&j->along, 2 * model->n});
    return good ? j : NULL;
}

/* --- times of events ---------------------------------------------------------------------------------------------- */

/* Returns the tangent, in one lane, of the friction limit minus the friction force at a sticking contact: Σ μ_s |g| |λ|
 * − |F|. */
static double sticking_along(const sensitivities *w, const model_slip *slip, size_t lane) {
    const hamel_model *model = w->model;
    const sensitivities_jump *j = w->jump;
    double sum = 0;
    for (size_t i = slip->first; i < slip->last; i++) {
        size_t f = model->friction.slip_frictions[i], c = (size_t)model->friction.constraint[f];
        double pressing = w->lambda_seeds[c * LANES + lane];
        sum +=
            j->bounds[f * LANES + lane] * fabs(w->lambda[c]) + j->limits[f] * (w->lambda[c] < 0 ? -pressing : pressing);
    }
    double held = w->lambda_seeds[(size_t)slip->row * LANES + lane];
    return sum - (w->lambda[slip->row] < 0 ? -held : held);
}

/* Returns the tangent of root i in one lane from the tangents in j->roots and j->bounds. */
static double root_along(const sensitivities *w, size_t i, size_t lane) {
    const hamel_model *model = w->model;
    const system_nonsmooth *at = i < model->events.count ? NULL : &model->system->nonsmooth[i - model->events.count];
    if (at && at->kind == NONSMOOTH_SLIP) {
        const model_slip *slip = &model->friction.slips[at->slip];
        if (w->dynamics->discrete_state.active[slip->row]) return sticking_along(w, slip, lane);
    }
    return w->jump->roots[i * LANES + lane];
}

/* Computes the tangents of all root functions along the directions `d` at the state of the last sensitivities_see. */
static hamel_status roots_along(sensitivities *w, const directions *d) {
    const hamel_model *model = w->model;
    dynamics *k = w->dynamics;
    sensitivities_jump *j = w->jump;
    hamel_status status = sensitivities_accelerate(w, d, 0, 0);
    if (status != HAMEL_OK) return status;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, NULL, NULL);
    program_inputs seeds = sensitivities_seeds(w, d);
    sensitivities_seed_solution(w, &in, &seeds);
    program_tangent(model->events.roots, &in, &seeds, j->roots_work, w->tangent_work, NULL, j->roots);
    if (model->friction.bounds)
        program_tangent(model->friction.bounds, &in, &seeds, j->bounds_work, w->tangent_work, j->limits, j->bounds);
    return HAMEL_OK;
}

/* Sets times[i × count + input] to dτ/dp of root i, which is not finite if the rate of the root function is 0. */
static hamel_status find_times(sensitivities *w, const double *const *s, double *times) {
    sensitivities_jump *j = w->jump;
    size_t roots = w->model->events.root_count;
    hamel_status status = HAMEL_OK;
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, s);
        status = roots_along(w, &d);
        for (size_t i = 0; i < roots && status == HAMEL_OK; i++)
            for (size_t k = 0; k < d.count; k++) times[i * w->count + (size_t)d.first + k] = -root_along(w, i, k);
    }
    const double one = 1, *along = j->along;
    directions d = {SENSITIVITY_NO_INPUTS, 1, &along, &one};
    memcpy(j->along, w->dynamics->v, w->n * sizeof *j->along);
    memcpy(j->along + w->n, w->a, w->n * sizeof *j->along);
    if (status == HAMEL_OK) status = roots_along(w, &d);
    for (size_t i = 0; i < roots && status == HAMEL_OK; i++)
        for (size_t k = 0; k < w->count; k++) times[i * w->count + k] /= root_along(w, i, 0);
    return status;
}

hamel_status sensitivities_instant(sensitivities *w, bool again, const double *const *s, hamel_error *error) {
    sensitivities_jump *j = w->jump;
    j->follows = again;
    if (again) return HAMEL_OK;
    j->met = false;
    hamel_status status = find_times(w, s, j->times);
    return status == HAMEL_OK ? status : dynamics_explain(w->dynamics, status, error);
}

static bool same_times(const sensitivities *w, const double *x, const double *y) {
    const model_settings *settings = &w->model->settings;
    double tolerance = fmin(SAME_TIMES * settings->rtol, 1e-2), span = settings->stop - settings->start;
    for (size_t k = 0; k < w->count; k++) {
        double size = fmax(fabs(x[k]), fabs(y[k])) + 1e-6 * span / w->inputs->size[k];
        if (!(fabs(x[k] - y[k]) <= tolerance * size)) return false;
    }
    return true;
}

static const char TOUCHES[] = "has a root function that only touches zero",
                  ORDER_MATTERS[] = "happens at the same instant as another event, and their order matters",
                  CHANGE[] = "change the initial values slightly";

static hamel_status fail_to_meet(const sensitivities *w, size_t i, const char *why, const char *hint,
                                 hamel_error *error) {
    bool event = i < w->model->events.count;
    (void)hamel_fail(error, HAMEL_SINGULAR, event ? w->model->events.list[i].pointer : "/simulation/sensitivities", 0,
                     "at t = %.9g the motion has no derivatives: %s%s%s%s", w->dynamics->t, event ? "the event `" : "",
                     event ? w->model->events.list[i].name : "a branch change", event ? "` " : " ", why);
    hamel_suggest(error, "%s", hint);
    return HAMEL_SINGULAR;
}

/* Chooses dτ/dp of a root function that was 0 and leaves 0. The root time has a derivative only if the function is 0 at
 * this time for all values of the inputs. At the initial state, dτ/dp must therefore be 0. At a later time, dτ/dp must
 * equal that of the previous event. */
static hamel_status choose_time_at_zero(sensitivities *w, size_t i, const double *const *s, hamel_error *error) {
    sensitivities_jump *j = w->jump;
    if (j->met) {
        hamel_status status = find_times(w, s, j->now);
        if (status != HAMEL_OK) return dynamics_explain(w->dynamics, status, error);
        return same_times(w, j->now + i * w->count, j->dt) ? HAMEL_OK
                                                           : fail_to_meet(w, i, ORDER_MATTERS, CHANGE, error);
    }
    memset(j->dt, 0, w->count * sizeof *j->dt);
    if (!all_finite(j->times + i * w->count, w->count)) return fail_to_meet(w, i, TOUCHES, CHANGE, error);
    if (same_times(w, j->times + i * w->count, j->dt)) return HAMEL_OK;
    return fail_to_meet(w, i, "happens at the start because its function is 0 there, and an input changes that value",
                        "let its function be 0 for all values of the inputs, or start a little before the event",
                        error);
}

/* Sets j->dt to dτ/dp of root i. */
static hamel_status choose_time(sensitivities *w, size_t i, bool at_zero, const double *const *s, hamel_error *error) {
    sensitivities_jump *j = w->jump;
    const double *before = j->times + i * w->count, *now = j->now + i * w->count;
    if (at_zero) return choose_time_at_zero(w, i, s, error);
    if (j->follows && j->met) return HAMEL_OK; /* caused by the previous event */
    if (!all_finite(before, w->count)) return fail_to_meet(w, i, TOUCHES, CHANGE, error);
    if (!j->met) memcpy(j->dt, before, w->count * sizeof *j->dt);
    if (same_times(w, before, j->dt)) return HAMEL_OK;
    hamel_status status = j->moving ? HAMEL_OK : find_times(w, s, j->now);
    if (status != HAMEL_OK) return dynamics_explain(w->dynamics, status, error);
    if (j->moving || !same_times(w, before, now)) return fail_to_meet(w, i, ORDER_MATTERS, CHANGE, error);
    memcpy(j->dt, now, w->count * sizeof *j->dt);
    return HAMEL_OK;
}

/* --- effects of events -------------------------------------------------------------------------------------------- */

static directions moving_directions(const sensitivities *w, size_t batch, const double *const *s) {
    directions d = directions_of(w, batch, s);
    d.dt = w->jump->dt + d.first;
    return d;
}

/* Sets j->assigned to the derivatives of the values that events assign, along total variations. */
static hamel_status assignments_along(sensitivities *w, const double *const *s) {
    const hamel_model *model = w->model;
    dynamics *k = w->dynamics;
    sensitivities_jump *j = w->jump;
    for (size_t batch = 0; batch < sensitivities_batches(w); batch++) {
        directions d = moving_directions(w, batch, s);
        hamel_status status = sensitivities_accelerate(w, &d, 0, 0);
        if (status != HAMEL_OK) return status;
        program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, NULL, NULL);
        program_inputs seeds = sensitivities_seeds(w, &d);
        sensitivities_seed_solution(w, &in, &seeds);
        program_tangent(model->events.jumps, &in, &seeds, j->jumps_work, w->tangent_work, NULL, j->jumps);
        for (size_t i = 0; i < model->events.jump_count; i++)
            memcpy(j->assigned + i * w->count + d.first, j->jumps + i * LANES, d.count * sizeof *j->assigned);
    }
    return HAMEL_OK;
}

/* Adds sign · (q', q'') dτ/dp to s. */
static void shift(const sensitivities *w, double sign, const double *v, const double *a, double *const *s) {
    for (size_t k = 0; k < w->count; k++)
        for (size_t i = 0; i < w->n; i++) {
            s[k][i] += sign * w->jump->dt[k] * v[i];
            s[k][w->n + i] += sign * w->jump->dt[k] * a[i];
        }
}

hamel_status sensitivities_meet(sensitivities *w, size_t i, bool at_zero, double *const *s, hamel_error *error) {
    assert(i < w->model->events.root_count);
    sensitivities_jump *j = w->jump;
    hamel_status status = choose_time(w, i, at_zero, (const double *const *)s, error);
    if (status != HAMEL_OK || j->moving) return status;
    shift(w, 1, w->dynamics->v, w->a, s);
    j->met = j->moving = true;
    if (i < w->model->events.count) status = assignments_along(w, (const double *const *)s);
    return status == HAMEL_OK ? status : dynamics_explain(w->dynamics, status, error);
}

void sensitivities_part(sensitivities *w, const double *v, const double *a, double *const *s) {
    if (!w->jump || !w->jump->moving) return;
    shift(w, -1, v, a, s);
    w->jump->moving = false;
}

void sensitivities_assign(sensitivities *w, const model_event *event, double *const *s) {
    for (size_t i = 0; i < event->set_count; i++)
        for (size_t k = 0; k < w->count; k++)
            s[k][event->targets[i]] = w->jump->assigned[(event->at_set + i) * w->count + k];
}

/* Sets w->g and w->r to the right-hand sides of the equations M x − Aᵀμ = P, A x = −ψ, differentiated with respect to
 * one input, for one lane. For a constraint with an impulse, −(1 + e) ψ replaces −ψ. The right-hand sides contain the
 * terms without δx and δμ. */
static void strike_right_side(sensitivities *w, const model_event *event, const sensitivities_impulse *at, size_t lane,
                              size_t input) {
    const hamel_model *model = w->model;
    const double *A_along = w->dynamics_tangents + model->dynamics.A.at * LANES,
                 *M_along = w->dynamics_tangents + model->dynamics.M.at * LANES,
                 *velocity = w->dynamics_tangents + model->dynamics.at_velocity * LANES, *x = at->change;
    memset(w->g, 0, w->n * sizeof *w->g);
    for (size_t i = 0; i < event->momentum_count; i++)
        w->g[event->momentum_columns[i]] += w->jump->assigned[(event->at_momentum + i) * w->count + input];
    for (size_t c = 0; c < w->m; c++) w->r[c] = -velocity[c * LANES + lane];
    for (size_t i = 0; i < event->impulse_count; i++) {
        size_t c = (size_t)event->impulses[i];
        w->r[c] *= 1 + at->restitutions[i];
        w->r[c] -=
            w->jump->assigned[(event->at_restitution + i) * w->count + input] * dynamics_velocity(w->dynamics)[c];
    }
    for (size_t e = 0; e < model->dynamics.M.count; e++) {
        int i = model->dynamics.M.row[e], k = model->dynamics.M.column[e];
        w->g[i] -= M_along[e * LANES + lane] * x[k];
        if (i != k) w->g[k] -= M_along[e * LANES + lane] * x[i];
    }
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        int c = model->dynamics.A.row[e], i = model->dynamics.A.column[e];
        w->g[i] += A_along[e * LANES + lane] * at->multipliers[c];
        w->r[c] -= A_along[e * LANES + lane] * x[i];
    }
}

hamel_status sensitivities_strike(sensitivities *w, const model_event *event, const sensitivities_impulse *at,
                                  double *const *s) {
    assert(w->jump->moving && w->model == w->dynamics->model);
    for (size_t batch = 0; batch < sensitivities_batches(w); batch++) {
        directions d = moving_directions(w, batch, (const double *const *)s);
        sensitivities_dynamics(w, &d);
        for (size_t lane = 0; lane < d.count; lane++) {
            size_t k = (size_t)d.first + lane;
            strike_right_side(w, event, at, lane, k);
            hamel_status status = kkt_solve(w->dynamics->velocities, w->g, w->r, INFINITY, w->x, NULL);
            if (status != HAMEL_OK) return status;
            for (size_t i = 0; i < w->n; i++) s[k][w->n + i] += w->x[i];
        }
    }
    return HAMEL_OK;
}
