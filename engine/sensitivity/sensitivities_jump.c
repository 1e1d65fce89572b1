/* sensitivities_jump.c — derivatives across an event (saltation).
 *
 * An event happens where g(t, x, p) = 0, so that its time moves with the input: along the motion before it
 *
 *     dτ/dp = −(∂g/∂x s⁻ + ∂g/∂p) / ġ
 *
 * What it does is a map x⁺ = h(t, x⁻, p). Total variations δx = s + x' dτ/dp, those of the states at which it happens, go
 * through the derivative of the map as they are: δx⁺ = ∂h/∂x δx⁻ + ∂h/∂t dτ + ∂h/∂p; and s⁺ = δx⁺ − x'⁺ dτ/dp. Together
 * (Rozenvasser, Automation and Remote Control 28 (1967); Hiskens & Pai, IEEE Trans. Circuits Syst. I 47 (2000) 204, eq. 21-26;
 * Galán, Feehery & Barton, Appl. Numer. Math. 31 (1999) 17, eq. 12)
 *
 *     s⁺ = h_x s⁻ + h_p + (h_x x'⁻ + h_t − x'⁺) dτ/dp
 *
 * Branches and frictions that change leave the state as it is, h = 1; only x' jumps.
 *
 * Two events at one instant have a derivative where one moves with the other or neither notices it: both their times, as
 * they were before the first, still agree with each other or with the second's own. */
#include "engine/solve/sensitivities_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = SENSITIVITY_LANES };
static const double SAME = 1e3; /* derivatives of times this near to each other, in rtol, are one */

typedef struct jump {
    double *roots_work, *jumps_work, *bounds_work;
    double *roots, *jumps, *bounds; /* tangents: outputs × lanes */
    double *limits;                 /* bounds themselves */
    double *assigned;               /* count × jump_count: what events assign, along each input */
    double *times;                  /* count × root_count: dτ, of the instant at hand */
    double *dt;                     /* count: of the event at hand */
    double *now;                    /* as `times`, after something has happened at the instant */
    double *along;                  /* 2n: the motion's own direction */
    bool met;                       /* something has happened at the instant, with dt */
    bool follows;                   /* what passes now passes because of it */
    bool moving;                    /* s are total variations */
} jump;

static size_t work_of(const program *p) {
    return p ? program_workspace_doubles(p) : 0;
}

bool sensitivities_jump_create(sensitivities *w) {
    const hamel_model *model = w->model;
    if (model->root_count == 0) return true;
    jump *j = w->jump = calloc(1, sizeof *j);
    struct {
        double **to;
        size_t count;
    } parts[] = {{&j->roots_work, work_of(model->roots)},   {&j->jumps_work, work_of(model->jumps)},
                 {&j->bounds_work, work_of(model->bounds)}, {&j->roots, model->root_count * LANES},
                 {&j->jumps, model->jump_count * LANES},    {&j->bounds, model->friction_count * LANES},
                 {&j->limits, model->friction_count},       {&j->assigned, model->jump_count * w->count},
                 {&j->times, model->root_count * w->count}, {&j->dt, w->count},
                 {&j->now, model->root_count * w->count},   {&j->along, 2 * w->n}};
    size_t all = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) all += parts[i].count;
    double *memory = j ? calloc(all + 1, sizeof *memory) : NULL;
    if (!memory) return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = memory;
        memory += parts[i].count;
    }
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->roots, &in, j->roots_work);
    program_prepare(model->jumps, &in, j->jumps_work);
    if (model->bounds) program_prepare(model->bounds, &in, j->bounds_work);
    return true;
}

void sensitivities_jump_free(sensitivities *w) {
    if (!w->jump) return;
    free(w->jump->roots_work); /* the first part of the one block */
    free(w->jump);
}

/* --- when ------------------------------------------------------------------------------------------------------------ */

/* What of its limit the force on a slip that sticks leaves, by friction: Σ μ_s |g| |λ| − |F|; its tangent in one lane. */
static double sticking_along(const sensitivities *w, const model_slip *slip, size_t lane) {
    const hamel_model *model = w->model;
    const jump *j = w->jump;
    double sum = 0;
    for (size_t i = slip->first; i < slip->last; i++) {
        size_t f = model->slip_frictions[i], c = (size_t)model->friction_constraint[f];
        double pressing = w->lambda_seeds[c * LANES + lane];
        sum +=
            j->bounds[f * LANES + lane] * fabs(w->lambda[c]) + j->limits[f] * (w->lambda[c] < 0 ? -pressing : pressing);
    }
    double held = w->lambda_seeds[(size_t)slip->row * LANES + lane];
    return sum - (w->lambda[slip->row] < 0 ? -held : held);
}

/* The tangent of root i in one lane; j->roots and j->bounds are those of its directions. */
static double root_along(const sensitivities *w, size_t i, size_t lane) {
    const hamel_model *model = w->model;
    const system_switch *at = i < model->event_count ? NULL : &model->system->switches[i - model->event_count];
    if (at && at->kind == SWITCH_SLIP) {
        const model_slip *slip = &model->slips[at->slip];
        if (w->kinetics->mode.active[slip->row]) return sticking_along(w, slip, lane);
    }
    return w->jump->roots[i * LANES + lane];
}

/* Tangents of all roots along these directions at the state seen last. */
static hamel_status roots_along(sensitivities *w, const directions *d) {
    const hamel_model *model = w->model;
    kinetics *k = w->kinetics;
    jump *j = w->jump;
    hamel_status status = sensitivities_accelerate(w, d, 0, 0);
    if (status != HAMEL_OK) return status;
    program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, NULL, NULL);
    program_inputs seeds = sensitivities_seeds(w, d);
    sensitivities_seed_solution(w, &in, &seeds);
    program_tangent(model->roots, &in, &seeds, j->roots_work, w->tangent_work, NULL, j->roots);
    if (model->bounds)
        program_tangent(model->bounds, &in, &seeds, j->bounds_work, w->tangent_work, j->limits, j->bounds);
    return HAMEL_OK;
}

/* times[i × count + input] := dτ by the input, of root i, not finite where it does not pass. */
static hamel_status find_times(sensitivities *w, const double *const *s, double *times) {
    jump *j = w->jump;
    size_t roots = w->model->root_count;
    hamel_status status = HAMEL_OK;
    for (size_t batch = 0; batch < sensitivities_batches(w) && status == HAMEL_OK; batch++) {
        directions d = directions_of(w, batch, s);
        status = roots_along(w, &d);
        for (size_t i = 0; i < roots && status == HAMEL_OK; i++)
            for (size_t k = 0; k < d.count; k++) times[i * w->count + (size_t)d.first + k] = -root_along(w, i, k);
    }
    const double one = 1, *along = j->along;
    directions d = {SENSITIVITY_NO_INPUTS, 1, &along, &one};
    memcpy(j->along, w->kinetics->v, w->n * sizeof *j->along);
    memcpy(j->along + w->n, w->a, w->n * sizeof *j->along);
    if (status == HAMEL_OK) status = roots_along(w, &d);
    for (size_t i = 0; i < roots && status == HAMEL_OK; i++)
        for (size_t k = 0; k < w->count; k++) times[i * w->count + k] /= root_along(w, i, 0);
    return status;
}

hamel_status sensitivities_instant(sensitivities *w, bool again, const double *const *s, hamel_error *error) {
    jump *j = w->jump;
    j->follows = again;
    if (again) return HAMEL_OK;
    j->met = false;
    hamel_status status = find_times(w, s, j->times);
    return status == HAMEL_OK ? status : kinetics_explain(w->kinetics, status, error);
}

static bool same(const sensitivities *w, const double *x, const double *y) {
    const model_settings *settings = &w->model->settings;
    double tolerance = fmin(SAME * settings->rtol, 1e-2), span = settings->stop - settings->start;
    for (size_t k = 0; k < w->count; k++) {
        double size = fmax(fabs(x[k]), fabs(y[k])) + 1e-6 * span / w->inputs->size[k];
        if (!(fabs(x[k] - y[k]) <= tolerance * size)) return false;
    }
    return true;
}

static hamel_status fail_to_meet(const sensitivities *w, size_t i, const char *why, const char *hint,
                                 hamel_error *error) {
    bool event = i < w->model->event_count;
    (void)hamel_fail(error, HAMEL_SINGULAR, event ? w->model->events[i].pointer : "/simulation/sensitivities", 0,
                     "at t = %.9g the motion has no derivatives: %s%s%s%s", w->kinetics->t, event ? "the event `" : "",
                     event ? w->model->events[i].name : "a branch of the equations", event ? "` " : " ", why);
    hamel_suggest(error, "%s", hint);
    return HAMEL_SINGULAR;
}

static hamel_status fail_touching(const sensitivities *w, size_t i, hamel_error *error) {
    return fail_to_meet(w, i, "only touches its zero", "start a little beside this motion", error);
}

static hamel_status fail_order(const sensitivities *w, size_t i, hamel_error *error) {
    return fail_to_meet(w, i, "happens at the same instant as another, and the order matters",
                        "start a little beside this motion", error);
}

/* A function that stood at its zero and leaves it. Its event has a derivative if every input lets it stand there until then:
 * at the start no input moves it, and later its own time is that of the event before. */
static hamel_status choose_time_at_zero(sensitivities *w, size_t i, const double *const *s, hamel_error *error) {
    jump *j = w->jump;
    if (j->met) {
        hamel_status status = find_times(w, s, j->now);
        if (status != HAMEL_OK) return kinetics_explain(w->kinetics, status, error);
        return same(w, j->now + i * w->count, j->dt) ? HAMEL_OK : fail_order(w, i, error);
    }
    memset(j->dt, 0, w->count * sizeof *j->dt);
    if (!sensitivities_finite(j->times + i * w->count, w->count)) return fail_touching(w, i, error);
    if (same(w, j->times + i * w->count, j->dt)) return HAMEL_OK;
    return fail_to_meet(w, i, "happens at the start because its function is 0 there, and an input changes that value",
                        "let its function be 0 for all values of the inputs, or start a little before the event",
                        error);
}

/* j->dt := what holds for root i. */
static hamel_status choose_time(sensitivities *w, size_t i, bool at_zero, const double *const *s, hamel_error *error) {
    jump *j = w->jump;
    const double *before = j->times + i * w->count, *now = j->now + i * w->count;
    if (at_zero) return choose_time_at_zero(w, i, s, error);
    if (j->follows && j->met) return HAMEL_OK; /* what happened last has brought it about */
    if (!sensitivities_finite(before, w->count)) return fail_touching(w, i, error);
    if (!j->met) memcpy(j->dt, before, w->count * sizeof *j->dt);
    if (same(w, before, j->dt)) return HAMEL_OK;
    hamel_status status = j->moving ? HAMEL_OK : find_times(w, s, j->now);
    if (status != HAMEL_OK) return kinetics_explain(w->kinetics, status, error);
    if (j->moving || !same(w, before, now)) return fail_order(w, i, error);
    memcpy(j->dt, now, w->count * sizeof *j->dt);
    return HAMEL_OK;
}

/* --- what ------------------------------------------------------------------------------------------------------------ */

static directions moving_directions(const sensitivities *w, size_t batch, const double *const *s) {
    directions d = directions_of(w, batch, s);
    d.dt = w->jump->dt + d.first;
    return d;
}

/* j->assigned := how all that events assign moves, along total variations. */
static hamel_status assignments_along(sensitivities *w, const double *const *s) {
    const hamel_model *model = w->model;
    kinetics *k = w->kinetics;
    jump *j = w->jump;
    for (size_t batch = 0; batch < sensitivities_batches(w); batch++) {
        directions d = moving_directions(w, batch, s);
        hamel_status status = sensitivities_accelerate(w, &d, 0, 0);
        if (status != HAMEL_OK) return status;
        program_inputs in = model_inputs(model, &k->t, k->q, k->v, NULL, NULL, NULL);
        program_inputs seeds = sensitivities_seeds(w, &d);
        sensitivities_seed_solution(w, &in, &seeds);
        program_tangent(model->jumps, &in, &seeds, j->jumps_work, w->tangent_work, NULL, j->jumps);
        for (size_t i = 0; i < model->jump_count; i++)
            memcpy(j->assigned + i * w->count + d.first, j->jumps + i * LANES, d.count * sizeof *j->assigned);
    }
    return HAMEL_OK;
}

/* s += sign · x' dτ. */
static void shift(const sensitivities *w, double sign, const double *v, const double *a, double *const *s) {
    for (size_t k = 0; k < w->count; k++)
        for (size_t i = 0; i < w->n; i++) {
            s[k][i] += sign * w->jump->dt[k] * v[i];
            s[k][w->n + i] += sign * w->jump->dt[k] * a[i];
        }
}

hamel_status sensitivities_meet(sensitivities *w, size_t i, bool at_zero, double *const *s, hamel_error *error) {
    jump *j = w->jump;
    hamel_status status = choose_time(w, i, at_zero, (const double *const *)s, error);
    if (status != HAMEL_OK || j->moving) return status;
    shift(w, 1, w->kinetics->v, w->a, s);
    j->met = j->moving = true;
    if (i < w->model->event_count) status = assignments_along(w, (const double *const *)s);
    return status == HAMEL_OK ? status : kinetics_explain(w->kinetics, status, error);
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

/* w->g, w->r := δ of  M x − Aᵀμ = 0,  A x = −ψ  (of struck rows: −(1 + e) ψ), all but what x and μ themselves do, in one
 * lane, that of an input. */
static void strike_right_side(sensitivities *w, const model_event *event, const sensitivities_impulse *at, size_t lane,
                              size_t input) {
    const hamel_model *model = w->model;
    const double *A_along = w->dynamics + model->at_A * LANES, *M_along = w->dynamics + model->at_M * LANES,
                 *velocity = w->dynamics + model->at_velocity * LANES, *x = at->change;
    memset(w->g, 0, w->n * sizeof *w->g);
    for (size_t c = 0; c < w->m; c++) w->r[c] = -velocity[c * LANES + lane];
    for (size_t i = 0; i < event->impulse_count; i++) {
        size_t c = (size_t)event->impulses[i];
        w->r[c] *= 1 + at->restitutions[i];
        w->r[c] -=
            w->jump->assigned[(event->at_restitution + i) * w->count + input] * kinetics_velocity(w->kinetics)[c];
    }
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], k = model->M.column[e];
        w->g[i] -= M_along[e * LANES + lane] * x[k];
        if (i != k) w->g[k] -= M_along[e * LANES + lane] * x[i];
    }
    for (size_t e = 0; e < model->A.count; e++) {
        int c = model->A.row[e], i = model->A.column[e];
        w->g[i] += A_along[e * LANES + lane] * at->multipliers[c];
        w->r[c] -= A_along[e * LANES + lane] * x[i];
    }
}

hamel_status sensitivities_strike(sensitivities *w, const model_event *event, const sensitivities_impulse *at,
                                  double *const *s) {
    for (size_t batch = 0; batch < sensitivities_batches(w); batch++) {
        directions d = moving_directions(w, batch, (const double *const *)s);
        sensitivities_dynamics(w, &d);
        for (size_t lane = 0; lane < d.count; lane++) {
            size_t k = (size_t)d.first + lane;
            strike_right_side(w, event, at, lane, k);
            hamel_status status = kkt_solve(w->kinetics->velocities, w->g, w->r, INFINITY, w->x, NULL);
            if (status != HAMEL_OK) return status;
            for (size_t i = 0; i < w->n; i++) s[k][w->n + i] += w->x[i];
        }
    }
    return HAMEL_OK;
}
