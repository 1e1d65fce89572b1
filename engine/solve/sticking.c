/* sticking.c — see the header. A decision is a handful of solutions at one state; between decisions nothing is done here
 * but to compare. */
#include "engine/solve/sticking.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8 };                  /* changes of mind for each slip, before there is no decision */
static const double BACKWARDS = 1e-9; /* of the acceleration without friction: less is rounding */
static const double NO_FORCE = 1e-9;  /* of the largest generalized force: far above rounding */
static const double UNCERTAIN = 10;   /* what a speed is off by between projections, in tolerances (as in roots.c) */

typedef struct slip_state {
    bool marked, acts; /* acts: some constraint of it is active */
    bool rest;         /* nothing but the decision says whether it sticks */
    bool sticks;
    double speed, slack;         /* at the decision; what of it the tolerances leave open */
    double acceleration, freely; /* of the speed: of the solution found last; without friction */
} slip_state;

struct sticking {
    kinetics *k;
    const hamel_model *model;
    slip_state *slips;
    bool *active;            /* m */
    double *rows;            /* values of the dynamics program with all rows that may act */
    double *a, *lambda;      /* n, m */
    double *bounds, *forces; /* of frictions for each unit of |λ|; of slips in all */
    double *held;            /* of slips: |F|, with `forces` what sticking_distance compares */
    double rounding;         /* forces smaller than this are none */
    double *work;
};

sticking *sticking_create(kinetics *k) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m, count = model->slip_count;
    sticking *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (sticking){.k = k, .model = model};
    w->slips = calloc(count, sizeof *w->slips);
    w->active = calloc(m + 1, sizeof *w->active);
    w->rows = calloc(model->dynamics_count + n + m + model->friction_count + 2 * count, sizeof *w->rows);
    w->work = calloc(program_workspace_doubles(model->bounds) + 1, sizeof *w->work);
    if (!w->slips || !w->active || !w->rows || !w->work) {
        sticking_free(w);
        return NULL;
    }
    w->a = w->rows + model->dynamics_count;
    w->lambda = w->a + n;
    w->bounds = w->lambda + m;
    w->forces = w->bounds + model->friction_count;
    w->held = w->forces + count;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->bounds, &in, w->work);
    return w;
}

void sticking_free(sticking *w) {
    if (!w) return;
    free(w->slips);
    free(w->active);
    free(w->rows);
    free(w->work);
    free(w);
}

void sticking_mark(sticking *w, size_t j) {
    w->slips[j].marked = true;
}

bool sticking_any(const sticking *w) {
    for (size_t j = 0; j < w->model->slip_count; j++)
        if (w->slips[j].sticks) return true;
    return false;
}

static double *branch(sticking *w, size_t j) {
    return &w->k->mode.branches[w->model->slips[j].switched];
}

/* Makes the rows of those that stick act. */
static hamel_status select_rows(sticking *w) {
    memcpy(w->active, w->k->mode.active, w->model->m * sizeof *w->active);
    for (size_t j = 0; j < w->model->slip_count; j++) w->active[w->model->slips[j].row] = w->slips[j].sticks;
    return kinetics_select(w->k, w->active);
}

hamel_status sticking_release(sticking *w) {
    for (size_t j = 0; j < w->model->slip_count; j++) w->slips[j].sticks = false;
    return select_rows(w);
}

/* --- distances ------------------------------------------------------------------------------------------------------- */

void sticking_evaluate(sticking *w, const program_inputs *state) {
    const hamel_model *model = w->model;
    const double *lambda = state->values[SYMBOL_MULTIPLIER];
    program_evaluate(model->bounds, state, w->work, w->bounds);
    for (size_t j = 0; j < model->slip_count; j++) {
        const model_slip *slip = &model->slips[j];
        w->forces[j] = 0;
        for (size_t i = slip->first; i < slip->last; i++) {
            size_t f = model->slip_frictions[i];
            w->forces[j] += w->bounds[f] * fabs(lambda[model->friction_constraint[f]]);
        }
        w->held[j] = fabs(lambda[slip->row]);
    }
    w->rounding = 0;
    for (size_t i = 0; i < model->n; i++)
        w->rounding = fmax(w->rounding, NO_FORCE * fabs(w->k->values[model->at_Q + i]));
}

double sticking_distance(const sticking *w, size_t j, double speed) {
    const slip_state *s = &w->slips[j];
    if (!s->acts) return 1;
    return s->sticks ? w->forces[j] - w->held[j] : w->k->mode.branches[w->model->slips[j].switched] * speed;
}

double sticking_scale(const sticking *w, size_t j) {
    return w->slips[j].sticks ? w->forces[j] + w->held[j] + w->rounding : 0;
}

double sticking_slack(const sticking *w, size_t j) {
    const slip_state *s = &w->slips[j];
    if (!s->acts || !s->rest) return 0;
    return s->sticks ? 4 * DBL_EPSILON * w->forces[j] : s->slack;
}

/* --- decisions ------------------------------------------------------------------------------------------------------- */

static bool acts(const sticking *w, const model_slip *slip) {
    for (size_t i = slip->first; i < slip->last; i++)
        if (w->k->mode.active[w->model->friction_constraint[w->model->slip_frictions[i]]]) return true;
    return false;
}

/* Speeds, and which of them are none; the rows of all are kept for slip accelerations. */
static hamel_status look(sticking *w, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = w->model;
    const model_settings *settings = &model->settings;
    for (size_t j = 0; j < model->slip_count; j++) w->slips[j].sticks = w->slips[j].acts = acts(w, &model->slips[j]);
    hamel_status status = select_rows(w);
    if (status == HAMEL_OK) status = kinetics_evaluate(w->k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    memcpy(w->rows, w->k->values, model->dynamics_count * sizeof *w->rows);
    for (size_t j = 0; j < model->slip_count; j++) {
        w->slips[j].speed = kinetics_velocity(w->k)[model->slips[j].row];
        w->slips[j].slack = 0;
    }
    for (size_t e = model->A.count; e-- > 0 && (size_t)model->A.row[e] >= model->ideal_count;) {
        size_t i = (size_t)model->A.column[e];
        w->slips[(size_t)model->A.row[e] - model->ideal_count].slack +=
            UNCERTAIN * fabs(w->rows[model->at_A + e]) * (settings->rtol * fabs(v[i]) + settings->atol[i]);
    }
    for (size_t j = 0; j < model->slip_count; j++) {
        slip_state *s = &w->slips[j];
        s->rest = s->acts && (s->marked || fabs(s->speed) <= s->slack);
        s->marked = false;
    }
    return HAMEL_OK;
}

/* The accelerations of the mode as it is in `slips` and branches. */
static hamel_status solve(sticking *w, double t, const double *q, const double *v, hamel_error *error) {
    hamel_status status = select_rows(w);
    if (status == HAMEL_OK) status = kinetics_evaluate(w->k, t, q, v, error);
    return status == HAMEL_OK ? kinetics_accelerations(w->k, 0, 0, w->a, w->lambda, error) : status;
}

/* dw/dt of all slips under w->a. */
static void accelerate(sticking *w) {
    const hamel_model *model = w->model;
    for (size_t j = 0; j < model->slip_count; j++)
        w->slips[j].acceleration = -w->rows[model->at_b + (size_t)model->slips[j].row];
    for (size_t e = model->A.count; e-- > 0 && (size_t)model->A.row[e] >= model->ideal_count;)
        w->slips[(size_t)model->A.row[e] - model->ideal_count].acceleration +=
            w->rows[model->at_A + e] * w->a[model->A.column[e]];
}

/* What those at rest would do without friction: the direction in which they are driven. */
static hamel_status let_loose(sticking *w, double t, const double *q, const double *v, hamel_error *error) {
    for (size_t j = 0; j < w->model->slip_count; j++) {
        slip_state *s = &w->slips[j];
        s->sticks = false;
        *branch(w, j) = s->rest || !s->acts ? 0 : s->speed > 0 ? 1 : -1;
    }
    hamel_status status = solve(w, t, q, v, error);
    if (status != HAMEL_OK) return status;
    accelerate(w);
    for (size_t j = 0; j < w->model->slip_count; j++) w->slips[j].freely = w->slips[j].acceleration;
    return HAMEL_OK;
}

/* Constraints move a point that should stick: lets the one slip that is driven most. False when none is. */
static bool give_way(sticking *w) {
    size_t worst = w->model->slip_count;
    for (size_t j = 0; j < w->model->slip_count; j++)
        if (w->slips[j].sticks && w->slips[j].freely != 0 &&
            (worst == w->model->slip_count || fabs(w->slips[j].freely) > fabs(w->slips[worst].freely)))
            worst = j;
    if (worst == w->model->slip_count) return false;
    w->slips[worst].sticks = false;
    *branch(w, worst) = w->slips[worst].freely > 0 ? 1 : -1;
    return true;
}

/* Changes what contradicts the solution most. False when nothing does. */
static bool revise(sticking *w) {
    size_t count = w->model->slip_count, worst = count;
    double most = 1;
    for (size_t j = 0; j < count; j++) {
        if (!w->slips[j].sticks || !(w->held[j] > w->forces[j])) continue;
        double ratio = w->held[j] / w->forces[j];
        if (worst < count && !(ratio > most)) continue;
        most = ratio;
        worst = j;
    }
    if (worst < count) {
        w->slips[worst].sticks = false;
        *branch(w, worst) = w->lambda[w->model->slips[worst].row] > 0 ? -1 : 1;
        return true;
    }
    accelerate(w);
    for (size_t j = 0; j < count; j++) {
        slip_state *s = &w->slips[j];
        if (!s->rest || s->sticks) continue;
        if (!(*branch(w, j) * s->acceleration < -BACKWARDS * fabs(s->freely))) continue;
        s->sticks = true;
        *branch(w, j) = 0;
        return true;
    }
    return false;
}

static hamel_status no_decision(const sticking *w, double t, hamel_error *error) {
    const hamel_model *model = w->model;
    size_t j = 0;
    while (j + 1 < model->slip_count && !w->slips[j].rest) j++;
    const system_constraint *c =
        &model->system->constraints[model->friction_constraint[model->slip_frictions[model->slips[j].first]]];
    (void)hamel_fail(error, HAMEL_SINGULAR, c->pointer, 0,
                     "at t = %.9g friction on `%s` can neither hold nor slide: both contradict its forces", t, c->name);
    hamel_suggest(error, "`static` must not be less than `coefficient`; else lower both (Painlevé's paradox)");
    return HAMEL_SINGULAR;
}

hamel_status sticking_decide(sticking *w, double t, const double *q, const double *v, hamel_error *error) {
    hamel_status status = look(w, t, q, v, error);
    if (status == HAMEL_OK) status = let_loose(w, t, q, v, error);
    for (size_t j = 0; j < w->model->slip_count; j++) w->slips[j].sticks = w->slips[j].rest;
    for (size_t round = 0; status == HAMEL_OK && round < ROUNDS * w->model->slip_count + 2; round++) {
        status = solve(w, t, q, v, NULL);
        if (status == HAMEL_INCOMPATIBLE && give_way(w)) {
            status = HAMEL_OK;
            continue;
        }
        if (status != HAMEL_OK) return solve(w, t, q, v, error); /* once more, to say why */
        program_inputs in = model_inputs(w->model, &t, q, v, w->a, w->lambda, NULL);
        in.values[SYMBOL_BRANCH] = w->k->mode.branches;
        sticking_evaluate(w, &in);
        if (!revise(w)) return HAMEL_OK;
    }
    return status == HAMEL_OK ? no_decision(w, t, error) : status;
}
