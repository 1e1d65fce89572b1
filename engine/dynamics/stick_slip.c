/* stick_slip.c — see the header. A decision solves a few linear systems at one state. Between decisions, only root
 * functions are evaluated. */
#include "engine/dynamics/stick_slip.h"

#include "engine/base/tolerances.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Upper bound on changes of state per contact in one decision; more changes are treated as a cycle. In the examples and
 * unit tests, a decision needs at most one change per contact. A smaller bound could stop the search before a
 * consistent state is found. A larger bound delays the error message: each change requires the solution of one linear
 * system. */
enum { ROUNDS = 8 };
/* A backward acceleration below this fraction of the frictionless acceleration counts as a rounding error. Rounding
 * errors of a solution are about 1e-16 times its condition number, so the bound covers condition numbers up to 1e7. */
static const double BACKWARDS = 1e-9;
/* Forces below this fraction of the largest force are treated as zero, for the same reason as for BACKWARDS. */
static const double NO_FORCE = 1e-9;
/* Factor on `slack` for a marked contact in space (stick_slip_mark), because a slip vector seldom passes exactly
 * through 0. A larger factor would stop contacts that slide noticeably. */
static const double NEAR_REST = 10;
/* Lower bound on the length of a stored direction, which must not be 0 (mechanics/friction.c). The square of this
 * length, 1e-80, does not underflow. */
static const double DIRECTION_SIZE = 1e-40;
/* If the squared sine of the angle between two rows is below this bound, the rows count as one condition. The rounding
 * error of the squared sine is about 1e-16. */
static const double ONE_CONDITION = 1e-10;

enum { PARTS = 3 };
typedef struct slip_state {
    bool marked, acts; /* acts: true if any constraint of the contact is active */
    bool rest;         /* true if the slip is 0, so that the decision determines whether the contact sticks */
    bool sticks;
    bool holds[PARTS];       /* true if the row is one of the independent rows, which act while the contact sticks */
    double now[PARTS];       /* slip components, from stick_slip_set_speed or the decision */
    double slack;            /* uncertainty of |now| at the decision, computed from the tolerances */
    double direction[PARTS]; /* unit vector; 0 if the contact sticks or is idle */
    double force[PARTS];     /* friction force in the last solution, while the contact sticks */
    /* rates of `now`; acceleration: in the last solution; freely: without friction */
    double acceleration[PARTS], freely[PARTS];
} slip_state;

struct stick_slip {
    dynamics *k;
    const hamel_model *model;
    slip_state *slips;
    bool *active;            /* m */
    double *rows;            /* outputs of the dynamics program with the rows of all slips active */
    double *a, *lambda;      /* a: n entries; lambda: m entries */
    double *bounds, *forces; /* bounds: limit of each friction per unit of |λ|; forces: total limit of each contact */
    double *held;            /* |F| of each contact, which stick_slip_distance compares with `forces` */
    /* of_row: m − ideal_count entries, index of the slip of each row; entries: one more, index in A of the first entry
     * of each row */
    size_t *of_row, *entries;
    double rounding; /* forces below this are treated as zero */
    double *work;
};

/* Lists the rows of A that belong to slips, which are the last rows of A. */
static void index_rows(stick_slip *w) {
    const hamel_model *model = w->model;
    size_t rows = model->m - model->ideal_count, e = model->dynamics.A.count;
    w->entries[rows] = e;
    for (size_t r = rows; r-- > 0;) {
        while (e > 0 && (size_t)model->dynamics.A.row[e - 1] == model->ideal_count + r) e--;
        w->entries[r] = e;
    }
    for (size_t j = 0; j < model->friction.slip_count; j++)
        for (size_t part = 0; part < model->friction.slips[j].parts; part++)
            w->of_row[model->friction.slips[j].row + part - model->ideal_count] = j;
}

stick_slip *stick_slip_create(dynamics *k) {
    assert(k->model->friction.slip_count > 0);
    const hamel_model *model = k->model;
    arena *memory = &k->memory;
    size_t count = model->friction.slip_count, slip_rows = model->m - model->ideal_count;
    stick_slip *w = arena_alloc(memory, 1, sizeof *w);
    if (!w) return NULL;
    *w = (stick_slip){.k = k, .model = model};
    w->slips = arena_alloc(memory, count, sizeof *w->slips);
    w->active = arena_alloc(memory, model->m, sizeof *w->active);
    w->of_row = arena_alloc(memory, slip_rows, sizeof *w->of_row);
    w->entries = arena_alloc(memory, slip_rows + 1, sizeof *w->entries);
    w->work = model_workspace(model, model->friction.bounds, memory);
    if (!ARENA_DOUBLES(memory, {&w->rows, model->dynamics.value_count}, {&w->a, model->n}, {&w->lambda, model->m},
                       {&w->bounds, model->friction.bounds_count}, {&w->forces, count}, {&w->held, count}))
        return NULL;
    index_rows(w);
    return w;
}

void stick_slip_mark(stick_slip *w, size_t j) {
    assert(j < w->model->friction.slip_count);
    w->slips[j].marked = true;
}

bool stick_slip_any_sticks(const stick_slip *w) {
    for (size_t j = 0; j < w->model->friction.slip_count; j++)
        if (w->slips[j].sticks) return true;
    return false;
}

static size_t parts_of(const stick_slip *w, size_t j) {
    return w->model->friction.slips[j].parts;
}

static double slip_product(const stick_slip *w, size_t j, const double *x, const double *y) {
    double sum = 0;
    for (size_t part = 0; part < parts_of(w, j); part++) sum += x[part] * y[part];
    return sum;
}

static double length(const stick_slip *w, size_t j, const double *x) {
    return parts_of(w, j) == 1 ? fabs(x[0]) : sqrt(slip_product(w, j, x, x));
}

/* Sets the direction of slip j to `turn` times the direction of x. `turn` is 1, −1, or 0 for no direction. */
static void set_direction(stick_slip *w, size_t j, const double *x, double turn) {
    assert(turn == 1 || turn == 0 || turn == -1);
    const model_slip *slip = &w->model->friction.slips[j];
    slip_state *s = &w->slips[j];
    double size = length(w, j, x), held = slip->parts == 1 ? 1 : fmax(s->slack, DIRECTION_SIZE);
    for (size_t part = 0; part < slip->parts; part++) {
        s->direction[part] = size > 0 ? turn * x[part] / size : 0;
        w->k->discrete_state.branches[slip->nonsmooth[part]] = held * s->direction[part];
    }
}

/* Activates the rows of the sticking contacts. */
static hamel_status select_rows(stick_slip *w) {
    memcpy(w->active, w->k->discrete_state.active, w->model->m * sizeof *w->active);
    for (size_t j = 0; j < w->model->friction.slip_count; j++)
        for (size_t part = 0; part < parts_of(w, j); part++)
            w->active[w->model->friction.slips[j].row + part] = w->slips[j].sticks && w->slips[j].holds[part];
    return dynamics_select(w->k, w->active);
}

hamel_status stick_slip_release(stick_slip *w) {
    for (size_t j = 0; j < w->model->friction.slip_count; j++) w->slips[j].sticks = false;
    return select_rows(w);
}

/* --- distances ---------------------------------------------------------------------------------------------------- */

/* Computes the friction force at a sticking contact j: Σ λ_i (e_i − n n_i), where n is the normal of the surface
 * (mechanics/friction.c). */
static void find_force(stick_slip *w, size_t j, const double *lambda) {
    const model_slip *slip = &w->model->friction.slips[j];
    slip_state *s = &w->slips[j];
    const double *normal = w->bounds + slip->at_facing;
    double across = slip->parts > 1 ? slip_product(w, j, normal, lambda + slip->row) : 0;
    for (size_t part = 0; part < slip->parts; part++)
        s->force[part] = lambda[slip->row + part] - (slip->parts > 1 ? normal[part] * across : 0);
    w->held[j] = length(w, j, s->force);
}

void stick_slip_evaluate(stick_slip *w, const program_inputs *state) {
    const hamel_model *model = w->model;
    const double *lambda = state->values[SYMBOL_MULTIPLIER];
    program_evaluate(model->friction.bounds, state, w->work, w->bounds);
    for (size_t j = 0; j < model->friction.slip_count; j++) {
        const model_slip *slip = &model->friction.slips[j];
        w->forces[j] = 0;
        for (size_t i = slip->first; i < slip->last; i++) {
            size_t f = model->friction.slip_frictions[i];
            w->forces[j] += w->bounds[f] * fabs(lambda[model->friction.constraint[f]]);
        }
        find_force(w, j, lambda);
    }
    w->rounding = 0;
    for (size_t i = 0; i < model->n; i++)
        w->rounding = fmax(w->rounding, NO_FORCE * fabs(w->k->values[model->dynamics.at_Q + i]));
}

void stick_slip_set_speed(stick_slip *w, size_t j, size_t part, double speed) {
    assert(j < w->model->friction.slip_count && part < w->model->friction.slips[j].parts);
    w->slips[j].now[part] = speed;
}

double stick_slip_distance(const stick_slip *w, size_t j) {
    const slip_state *s = &w->slips[j];
    if (!s->acts) return 1;
    return s->sticks ? w->forces[j] - w->held[j] : slip_product(w, j, s->direction, s->now);
}

double stick_slip_scale(const stick_slip *w, size_t j) {
    return w->slips[j].sticks ? w->forces[j] + w->held[j] + w->rounding : 0;
}

double stick_slip_slack(const stick_slip *w, size_t j) {
    const slip_state *s = &w->slips[j];
    if (!s->acts || !s->rest) return 0;
    return s->sticks ? 4 * DBL_EPSILON * w->forces[j] : s->slack;
}

static bool has_turning_direction(const stick_slip *w, size_t j) {
    return parts_of(w, j) > 1 && w->slips[j].acts && !w->slips[j].sticks;
}

bool stick_slip_turns(const stick_slip *w) {
    for (size_t j = 0; j < w->model->friction.slip_count; j++)
        if (has_turning_direction(w, j)) return true;
    return false;
}

void stick_slip_follow(stick_slip *w) {
    for (size_t j = 0; j < w->model->friction.slip_count; j++)
        if (has_turning_direction(w, j) && length(w, j, w->slips[j].now) > w->slips[j].slack)
            set_direction(w, j, w->slips[j].now, 1);
}

/* --- decisions ---------------------------------------------------------------------------------------------------- */

static bool acts(const stick_slip *w, const model_slip *slip) {
    for (size_t i = slip->first; i < slip->last; i++)
        if (w->k->discrete_state.active[w->model->friction.constraint[w->model->friction.slip_frictions[i]]])
            return true;
    return false;
}

/* Returns the inner product of two rows of slips, whose columns are sorted. */
static double row_product(const stick_slip *w, size_t a, size_t b) {
    const sparse_block *A = &w->model->dynamics.A;
    const double *values = w->rows + A->at;
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

/* Chooses at most two independent rows of a slip: the largest row, and the row with the largest part orthogonal to
 * it. */
static void choose_rows(stick_slip *w, size_t j) {
    const model_slip *slip = &w->model->friction.slips[j];
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
    if (most > ONE_CONDITION * square[first]) s->holds[second] = true;
}

/* Computes all slip components, finds the contacts with slip 0 and stores the rows for slip accelerations. */
static hamel_status measure_slips(stick_slip *w, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = w->model;
    const model_settings *settings = &model->settings;
    for (size_t j = 0; j < model->friction.slip_count; j++) {
        w->slips[j].sticks = w->slips[j].acts = acts(w, &model->friction.slips[j]);
        for (size_t part = 0; part < PARTS; part++) w->slips[j].holds[part] = true;
    }
    hamel_status status = select_rows(w);
    if (status == HAMEL_OK) status = dynamics_evaluate(w->k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    memcpy(w->rows, w->k->values, model->dynamics.value_count * sizeof *w->rows);
    for (size_t j = 0; j < model->friction.slip_count; j++) {
        slip_state *s = &w->slips[j];
        const model_slip *slip = &model->friction.slips[j];
        double slack[PARTS] = {0};
        for (size_t part = 0; part < slip->parts; part++) {
            size_t row = slip->row + part - model->ideal_count;
            s->now[part] = dynamics_velocity(w->k)[slip->row + part];
            for (size_t e = w->entries[row]; e < w->entries[row + 1]; e++) {
                size_t i = (size_t)model->dynamics.A.column[e];
                slack[part] += STATE_UNCERTAINTY * fabs(w->rows[model->dynamics.A.at + e]) *
                               (settings->rtol * fabs(v[i]) + settings->atol[i]);
            }
        }
        s->slack = length(w, j, slack) * (s->marked && slip->parts > 1 ? NEAR_REST : 1);
        s->rest = s->acts && ((s->marked && slip->parts == 1) || length(w, j, s->now) <= s->slack);
        s->marked = false;
        choose_rows(w, j);
    }
    return HAMEL_OK;
}

/* Solves for the accelerations. w->slips and the branches specify the discrete state. */
static hamel_status solve_motion(stick_slip *w, double t, const double *q, const double *v, hamel_error *error) {
    hamel_status status = select_rows(w);
    if (status == HAMEL_OK) status = dynamics_evaluate(w->k, t, q, v, error);
    return status == HAMEL_OK ? dynamics_accelerations(w->k, 0, 0, w->a, w->lambda, error) : status;
}

/* Computes dw/dt of all slips for the accelerations w->a. */
static void accelerate(stick_slip *w) {
    const hamel_model *model = w->model;
    for (size_t r = 0; r < model->m - model->ideal_count; r++) {
        size_t j = w->of_row[r];
        double sum = -w->rows[model->dynamics.at_b + model->ideal_count + r];
        for (size_t e = w->entries[r]; e < w->entries[r + 1]; e++)
            sum += w->rows[model->dynamics.A.at + e] * w->a[model->dynamics.A.column[e]];
        w->slips[j].acceleration[r + model->ideal_count - model->friction.slips[j].row] = sum;
    }
}

/* Computes the driving accelerations of all slips: for contacts with slip 0, the accelerations without friction. */
static hamel_status release_all(stick_slip *w, double t, const double *q, const double *v, hamel_error *error) {
    for (size_t j = 0; j < w->model->friction.slip_count; j++) {
        slip_state *s = &w->slips[j];
        s->sticks = false;
        set_direction(w, j, s->now, s->rest || !s->acts ? 0 : 1);
    }
    hamel_status status = solve_motion(w, t, q, v, error);
    if (status != HAMEL_OK) return status;
    accelerate(w);
    for (size_t j = 0; j < w->model->friction.slip_count; j++)
        memcpy(w->slips[j].freely, w->slips[j].acceleration, sizeof w->slips[j].freely);
    return HAMEL_OK;
}

/* Call if the sticking constraints are incompatible. Lets the sticking contact with the largest driving acceleration
 * slide. Returns false if no sticking contact has a nonzero driving acceleration. */
static bool release_driven(stick_slip *w) {
    size_t count = w->model->friction.slip_count, worst = count;
    double most = 0;
    for (size_t j = 0; j < count; j++) {
        double driven = length(w, j, w->slips[j].freely);
        if (w->slips[j].sticks && driven > most) most = driven, worst = j;
    }
    if (worst == count) return false;
    w->slips[worst].sticks = false;
    set_direction(w, worst, w->slips[worst].freely, 1);
    return true;
}

/* Lets the sticking contact slide whose friction force exceeds its limit by the largest factor. Sets the direction of
 * its slip opposite to the friction force. Returns false if no friction force exceeds its limit. */
static bool release_overloaded(stick_slip *w) {
    size_t count = w->model->friction.slip_count, worst = count;
    double most = 1;
    for (size_t j = 0; j < count; j++) {
        if (!w->slips[j].sticks || !(w->held[j] > w->forces[j])) continue;
        double ratio = w->held[j] / w->forces[j];
        if (worst == count || ratio > most) most = ratio, worst = j;
    }
    if (worst == count) return false;
    w->slips[worst].sticks = false;
    set_direction(w, worst, w->slips[worst].force, -1);
    return true;
}

/* Finds a sliding contact whose slip is 0 and accelerates against the stored direction, and makes this contact stick.
 * Returns false if there is no such contact. */
static bool stick_reversed(stick_slip *w) {
    accelerate(w);
    for (size_t j = 0; j < w->model->friction.slip_count; j++) {
        slip_state *s = &w->slips[j];
        if (!s->rest || s->sticks) continue;
        if (!(slip_product(w, j, s->direction, s->acceleration) < -BACKWARDS * length(w, j, s->freely))) continue;
        s->sticks = true;
        set_direction(w, j, s->now, 0);
        return true;
    }
    return false;
}

static hamel_status fail_to_decide(const stick_slip *w, double t, hamel_error *error) {
    const hamel_model *model = w->model;
    size_t j = 0;
    while (j + 1 < model->friction.slip_count && !w->slips[j].rest) j++;
    const system_constraint *c =
        &model->system
             ->constraints[model->friction.constraint[model->friction.slip_frictions[model->friction.slips[j].first]]];
    (void)hamel_fail(error, HAMEL_SINGULAR, c->pointer, 0,
                     "at t = %.9g no consistent stick or slip state was found for the friction on `%s`", t, c->name);
    hamel_suggest(
        error,
        "raise `static` if it is less than `coefficient`; otherwise lower both coefficients (Painlevé's paradox)");
    return HAMEL_SINGULAR;
}

hamel_status stick_slip_decide(stick_slip *w, double t, const double *q, const double *v, hamel_error *error) {
    hamel_status status = measure_slips(w, t, q, v, error);
    if (status == HAMEL_OK) status = release_all(w, t, q, v, error);
    for (size_t j = 0; j < w->model->friction.slip_count; j++) w->slips[j].sticks = w->slips[j].rest;
    for (size_t round = 0; status == HAMEL_OK && round < ROUNDS * w->model->friction.slip_count + 2; round++) {
        status = solve_motion(w, t, q, v, NULL);
        if (status == HAMEL_INCOMPATIBLE && release_driven(w)) {
            status = HAMEL_OK;
            continue;
        }
        if (status != HAMEL_OK)
            return solve_motion(w, t, q, v, error); /* repeats the solution to obtain its error message */
        program_inputs in = discrete_state_inputs(&w->k->discrete_state, &t, q, v, w->a, w->lambda);
        stick_slip_evaluate(w, &in);
        if (!release_overloaded(w) && !stick_reversed(w)) return HAMEL_OK;
    }
    return status == HAMEL_OK ? fail_to_decide(w, t, error) : status;
}
