/* sticking.c — see the header. A decision is a handful of solutions at one state; between decisions nothing is done here
 * but to compare. */
#include "engine/solve/sticking.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8 };                   /* changes of mind for each slip, before there is no decision */
static const double BACKWARDS = 1e-9;  /* of the acceleration without friction: less is rounding */
static const double NO_FORCE = 1e-9;   /* of the largest generalized force: far above rounding */
static const double UNCERTAIN = 10;    /* what a speed is off by between projections, in tolerances (as in roots.c) */
static const double NEAR_REST = 10;    /* a slip in space that turned back comes to rest by so many of these */
static const double HELD = 1e-40;      /* at least: the size of a direction held (mechanics/friction.c) */
static const double DEPENDENT = 1e-10; /* of a row's square: what is left of another one when they are one condition */

enum { PARTS = 3 };
typedef struct slip_state {
    bool marked, acts; /* acts: some constraint of it is active */
    bool rest;         /* nothing but the decision says whether it sticks */
    bool sticks;
    bool holds[PARTS];                         /* the rows that act while it sticks: independent ones */
    double now[PARTS];                         /* as taken in last, at the decision at first */
    double slack;                              /* what of |now| the tolerances left open at the decision */
    double direction[PARTS];                   /* unit vector; 0 where nothing slips */
    double force[PARTS];                       /* that holds it, of the solution looked at last */
    double acceleration[PARTS], freely[PARTS]; /* of `now`: of the solution found last; without friction */
} slip_state;

struct sticking {
    kinetics *k;
    const hamel_model *model;
    slip_state *slips;
    bool *active;             /* m */
    double *rows;             /* values of the dynamics program with all rows that may act */
    double *a, *lambda;       /* n, m */
    double *bounds, *forces;  /* of frictions for each unit of |λ|; of slips in all */
    double *held;             /* of slips: |F|, with `forces` what sticking_distance compares */
    size_t *of_row, *entries; /* m − ideal_count: the slip of each row; and 1 more: its entries in A */
    double rounding;          /* forces smaller than this are none */
    double *work;
};

/* The rows of slips are the last ones of A. */
static void index_rows(sticking *w) {
    const hamel_model *model = w->model;
    size_t rows = model->m - model->ideal_count, e = model->A.count;
    w->entries = w->of_row + rows;
    w->entries[rows] = e;
    for (size_t r = rows; r-- > 0;) {
        while (e > 0 && (size_t)model->A.row[e - 1] == model->ideal_count + r) e--;
        w->entries[r] = e;
    }
    for (size_t j = 0; j < model->slip_count; j++)
        for (size_t part = 0; part < model->slips[j].parts; part++)
            w->of_row[model->slips[j].row + part - model->ideal_count] = j;
}

sticking *sticking_create(kinetics *k) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m, count = model->slip_count;
    sticking *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (sticking){.k = k, .model = model};
    w->slips = calloc(count, sizeof *w->slips);
    w->active = calloc(m + 1, sizeof *w->active);
    w->rows = calloc(model->dynamics_count + n + m + model->bounds_count + 2 * count, sizeof *w->rows);
    w->of_row = calloc(2 * (m - model->ideal_count) + 1, sizeof *w->of_row);
    w->work = calloc(program_workspace_doubles(model->bounds) + 1, sizeof *w->work);
    if (!w->slips || !w->active || !w->rows || !w->of_row || !w->work) {
        sticking_free(w);
        return NULL;
    }
    w->a = w->rows + model->dynamics_count;
    w->lambda = w->a + n;
    w->bounds = w->lambda + m;
    w->forces = w->bounds + model->bounds_count;
    w->held = w->forces + count;
    index_rows(w);
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->bounds, &in, w->work);
    return w;
}

void sticking_free(sticking *w) {
    if (!w) return;
    free(w->slips);
    free(w->active);
    free(w->rows);
    free(w->of_row);
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

static size_t parts_of(const sticking *w, size_t j) {
    return w->model->slips[j].parts;
}

static double product(const sticking *w, size_t j, const double *x, const double *y) {
    double sum = 0;
    for (size_t part = 0; part < parts_of(w, j); part++) sum += x[part] * y[part];
    return sum;
}

static double length(const sticking *w, size_t j, const double *x) {
    return parts_of(w, j) == 1 ? fabs(x[0]) : sqrt(product(w, j, x, x));
}

/* The direction of `x`, or its opposite with turn = −1, none with 0. */
static void point(sticking *w, size_t j, const double *x, double turn) {
    const model_slip *slip = &w->model->slips[j];
    slip_state *s = &w->slips[j];
    double size = length(w, j, x), held = slip->parts == 1 ? 1 : fmax(s->slack, HELD);
    for (size_t part = 0; part < slip->parts; part++) {
        s->direction[part] = size > 0 ? turn * x[part] / size : 0;
        w->k->mode.branches[slip->switched[part]] = held * s->direction[part];
    }
}

/* Makes the rows of those that stick act. */
static hamel_status select_rows(sticking *w) {
    memcpy(w->active, w->k->mode.active, w->model->m * sizeof *w->active);
    for (size_t j = 0; j < w->model->slip_count; j++)
        for (size_t part = 0; part < parts_of(w, j); part++)
            w->active[w->model->slips[j].row + part] = w->slips[j].sticks && w->slips[j].holds[part];
    return kinetics_select(w->k, w->active);
}

hamel_status sticking_release(sticking *w) {
    for (size_t j = 0; j < w->model->slip_count; j++) w->slips[j].sticks = false;
    return select_rows(w);
}

/* --- distances ------------------------------------------------------------------------------------------------------- */

/* The force that holds slip j: Σ λ_i (e_i − n n_i), n the normal of the surface (mechanics/friction.c). */
static void find_force(sticking *w, size_t j, const double *lambda) {
    const model_slip *slip = &w->model->slips[j];
    slip_state *s = &w->slips[j];
    const double *normal = w->bounds + slip->at_facing;
    double across = slip->parts > 1 ? product(w, j, normal, lambda + slip->row) : 0;
    for (size_t part = 0; part < slip->parts; part++)
        s->force[part] = lambda[slip->row + part] - (slip->parts > 1 ? normal[part] * across : 0);
    w->held[j] = length(w, j, s->force);
}

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
        find_force(w, j, lambda);
    }
    w->rounding = 0;
    for (size_t i = 0; i < model->n; i++)
        w->rounding = fmax(w->rounding, NO_FORCE * fabs(w->k->values[model->at_Q + i]));
}

void sticking_see(sticking *w, size_t j, size_t part, double speed) {
    w->slips[j].now[part] = speed;
}

double sticking_distance(const sticking *w, size_t j) {
    const slip_state *s = &w->slips[j];
    if (!s->acts) return 1;
    return s->sticks ? w->forces[j] - w->held[j] : product(w, j, s->direction, s->now);
}

double sticking_scale(const sticking *w, size_t j) {
    return w->slips[j].sticks ? w->forces[j] + w->held[j] + w->rounding : 0;
}

double sticking_slack(const sticking *w, size_t j) {
    const slip_state *s = &w->slips[j];
    if (!s->acts || !s->rest) return 0;
    return s->sticks ? 4 * DBL_EPSILON * w->forces[j] : s->slack;
}

static bool turns(const sticking *w, size_t j) {
    return parts_of(w, j) > 1 && w->slips[j].acts && !w->slips[j].sticks;
}

bool sticking_turns(const sticking *w) {
    for (size_t j = 0; j < w->model->slip_count; j++)
        if (turns(w, j)) return true;
    return false;
}

void sticking_follow(sticking *w) {
    for (size_t j = 0; j < w->model->slip_count; j++)
        if (turns(w, j) && length(w, j, w->slips[j].now) > w->slips[j].slack) point(w, j, w->slips[j].now, 1);
}

/* --- decisions ------------------------------------------------------------------------------------------------------- */

static bool acts(const sticking *w, const model_slip *slip) {
    for (size_t i = slip->first; i < slip->last; i++)
        if (w->k->mode.active[w->model->friction_constraint[w->model->slip_frictions[i]]]) return true;
    return false;
}

/* Of two rows of slips; columns increase along both. */
static double row_product(const sticking *w, size_t a, size_t b) {
    const model_pattern *A = &w->model->A;
    const double *values = w->rows + w->model->at_A;
    size_t i = w->entries[a], k = w->entries[b];
    double sum = 0;
    while (i < w->entries[a + 1] && k < w->entries[b + 1]) {
        if (A->column[i] == A->column[k])
            sum += values[i++] * values[k++];
        else if (A->column[i] < A->column[k])
            i++;
        else
            k++;
    }
    return sum;
}

/* At most two of a slip's rows are independent: the largest, and the one farthest from it. */
static void choose_rows(sticking *w, size_t j) {
    const model_slip *slip = &w->model->slips[j];
    slip_state *s = &w->slips[j];
    size_t first = 0, second = 0, base = slip->row - w->model->ideal_count;
    double square[PARTS] = {0}, most = 0;
    for (size_t part = 0; part < slip->parts; part++) {
        square[part] = row_product(w, base + part, base + part);
        if (square[part] > square[first]) first = part;
        s->holds[part] = false;
    }
    for (size_t part = 0; part < slip->parts; part++) {
        if (part == first) continue;
        double along = row_product(w, base + first, base + part), rest = square[part] - along * along / square[first];
        if (rest > most) most = rest, second = part;
    }
    s->holds[first] = true;
    if (most > DEPENDENT * square[first]) s->holds[second] = true;
}

/* Slips, and which of them are none; the rows of all are kept for slip accelerations. */
static hamel_status look(sticking *w, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = w->model;
    const model_settings *settings = &model->settings;
    for (size_t j = 0; j < model->slip_count; j++) {
        w->slips[j].sticks = w->slips[j].acts = acts(w, &model->slips[j]);
        for (size_t part = 0; part < PARTS; part++) w->slips[j].holds[part] = true;
    }
    hamel_status status = select_rows(w);
    if (status == HAMEL_OK) status = kinetics_evaluate(w->k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    memcpy(w->rows, w->k->values, model->dynamics_count * sizeof *w->rows);
    for (size_t j = 0; j < model->slip_count; j++) {
        slip_state *s = &w->slips[j];
        const model_slip *slip = &model->slips[j];
        double slack[PARTS] = {0};
        for (size_t part = 0; part < slip->parts; part++) {
            size_t row = slip->row + part - model->ideal_count;
            s->now[part] = kinetics_velocity(w->k)[slip->row + part];
            for (size_t e = w->entries[row]; e < w->entries[row + 1]; e++) {
                size_t i = (size_t)model->A.column[e];
                slack[part] +=
                    UNCERTAIN * fabs(w->rows[model->at_A + e]) * (settings->rtol * fabs(v[i]) + settings->atol[i]);
            }
        }
        s->slack = length(w, j, slack) * (s->marked && slip->parts > 1 ? NEAR_REST : 1);
        s->rest = s->acts && ((s->marked && slip->parts == 1) || length(w, j, s->now) <= s->slack);
        s->marked = false;
        choose_rows(w, j);
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
    for (size_t r = 0; r < model->m - model->ideal_count; r++) {
        size_t j = w->of_row[r];
        double sum = -w->rows[model->at_b + model->ideal_count + r];
        for (size_t e = w->entries[r]; e < w->entries[r + 1]; e++)
            sum += w->rows[model->at_A + e] * w->a[model->A.column[e]];
        w->slips[j].acceleration[r + model->ideal_count - model->slips[j].row] = sum;
    }
}

/* What those at rest would do without friction: the direction in which they are driven. */
static hamel_status let_loose(sticking *w, double t, const double *q, const double *v, hamel_error *error) {
    for (size_t j = 0; j < w->model->slip_count; j++) {
        slip_state *s = &w->slips[j];
        s->sticks = false;
        point(w, j, s->now, s->rest || !s->acts ? 0 : 1);
    }
    hamel_status status = solve(w, t, q, v, error);
    if (status != HAMEL_OK) return status;
    accelerate(w);
    for (size_t j = 0; j < w->model->slip_count; j++)
        memcpy(w->slips[j].freely, w->slips[j].acceleration, sizeof w->slips[j].freely);
    return HAMEL_OK;
}

/* Constraints move a point that should stick: lets the one slip that is driven most. False when none is. */
static bool give_way(sticking *w) {
    size_t worst = w->model->slip_count;
    double most = 0;
    for (size_t j = 0; j < w->model->slip_count; j++) {
        double driven = length(w, j, w->slips[j].freely);
        if (w->slips[j].sticks && driven > most) most = driven, worst = j;
    }
    if (worst == w->model->slip_count) return false;
    w->slips[worst].sticks = false;
    point(w, worst, w->slips[worst].freely, 1);
    return true;
}

/* Lets the one slip, against the force on it, that exceeds its limit most. False when none does. */
static bool let_slip(sticking *w) {
    size_t count = w->model->slip_count, worst = count;
    double most = 1;
    for (size_t j = 0; j < count; j++) {
        if (!w->slips[j].sticks || !(w->held[j] > w->forces[j])) continue;
        double ratio = w->held[j] / w->forces[j];
        if (worst < count && !(ratio > most)) continue;
        most = ratio;
        worst = j;
    }
    if (worst == count) return false;
    w->slips[worst].sticks = false;
    point(w, worst, w->slips[worst].force, -1);
    return true;
}

/* Makes one stick that would slip backwards. False when none would. */
static bool let_stick(sticking *w) {
    accelerate(w);
    for (size_t j = 0; j < w->model->slip_count; j++) {
        slip_state *s = &w->slips[j];
        if (!s->rest || s->sticks) continue;
        if (!(product(w, j, s->direction, s->acceleration) < -BACKWARDS * length(w, j, s->freely))) continue;
        s->sticks = true;
        point(w, j, s->now, 0);
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
        if (!let_slip(w) && !let_stick(w)) return HAMEL_OK;
    }
    return status == HAMEL_OK ? no_decision(w, t, error) : status;
}
