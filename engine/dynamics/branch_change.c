/* branch_change.c — see the header. Newton's method computes v⁺ in the metric of M. One step suffices if p and ψ are
 * linear in the velocities. */
#include "engine/dynamics/branch_change.h"

#include "engine/base/text_buffer.h"
#include "engine/base/tolerances.h"
#include "engine/linear/dense.h"
#include "engine/linear/newton_progress.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ITERATIONS bounds the number of Newton steps; linear p and ψ need one step. Before a run, the branches are chosen at
 * LOOKS instants, and at most CHANGES changes are checked in PLACES configurations each. This check takes fewer than
 * 100,000 evaluations of programs. Jumps that it misses are found during the run. */
enum { ITERATIONS = 40, CHANGES = 1000, LOOKS = 1000, PLACES = 3 };
/* A value jumps if it changes more at an instant than smooth motion changes it within this fraction of the time span.
 * Events are located to a few ulps, about 1e-15 of the time. */
static const double MOMENT = 1e-9;
/* Bound on the rounding error of a value or a momentum, relative to the size of its terms: ε times about 45,000
 * terms. */
static const double JUMP_ROUNDING = 1e-11;
static const double MISSED = 1e-10; /* scaled residual above which velocities must jump: a tenth of ON_CONSTRAINTS */

struct branch_change {
    dynamics *k;
    const hamel_model *model;
    size_t count;             /* number of outputs of model->continuity.program */
    double *work;             /* workspace of this program */
    double *before, *after;   /* count each: values on the branches before and after the change */
    double *moved_on, *shown; /* count entries each; moved_on: changes of the values within MOMENT; shown: scratch */
    double *branches, *A;     /* branches and A before the change */
    double *seen;             /* branches at the previous sample */
    double *place, *v, *change, *g, *r, *multipliers;
    double t;
    const double *q;
};

branch_change *branch_change_create(dynamics *k) {
    const hamel_model *model = k->model;
    arena *memory = &k->memory;
    size_t n = model->n, m = model->m, count = n + 1 + model->continuity.count,
           branches = model->system->nonsmooth_count;
    branch_change *c = arena_alloc(memory, 1, sizeof *c);
    if (!c) return NULL;
    *c = (branch_change){.k = k, .model = model, .count = count};
    c->work = model_workspace(model, model->continuity.program, memory);
    bool good =
        ARENA_DOUBLES(memory, {&c->before, count}, {&c->after, count}, {&c->moved_on, count}, {&c->shown, count},
                      {&c->branches, branches}, {&c->seen, branches}, {&c->A, model->dynamics.A.count}, {&c->place, n},
                      {&c->v, n}, {&c->change, n}, {&c->g, n}, {&c->r, m}, {&c->multipliers, m});
    return good ? c : NULL;
}

/* --- values on the current branches ------------------------------------------------------------------------------- */

static hamel_status evaluate_continuity(branch_change *c, double t, const double *q, const double *v, double *out,
                                        hamel_error *error) {
    program_inputs in = discrete_state_inputs(&c->k->discrete_state, &t, q, v, NULL, NULL);
    program_evaluate(c->model->continuity.program, &in, c->work, out);
    for (size_t i = 0; i < c->count; i++)
        if (!isfinite(out[i]))
            return model_not_finite(c->model, c->model->continuity.program, &in, c->work, t, "",
                                    "a momentum or a position", error);
    return HAMEL_OK;
}

/* Writes the values on the current branches to `out`, and adds their changes within MOMENT to c->moved_on. */
static hamel_status evaluate_motion(branch_change *c, double t, const double *q, const double *v, double *out,
                                    hamel_error *error) {
    const model_settings *s = &c->model->settings;
    double moment = MOMENT * fmax(fabs(t), s->stop - s->start);
    for (size_t i = 0; i < c->model->n; i++) c->place[i] = q[i] + moment * v[i];
    hamel_status status = evaluate_continuity(c, t, q, v, out, error);
    if (status == HAMEL_OK) status = evaluate_continuity(c, t + moment, c->place, v, c->shown, error);
    for (size_t i = 0; status == HAMEL_OK && i < c->count; i++) c->moved_on[i] += fabs(c->shown[i] - out[i]);
    return status;
}

/* Returns true if value i jumps from `before` to `after`. */
static bool jumps(const branch_change *c, size_t i, double scale) {
    assert(i < c->count);
    double size = fmax(fmax(fabs(c->before[i]), fabs(c->after[i])), scale);
    return fabs(c->after[i] - c->before[i]) > c->moved_on[i] + JUMP_ROUNDING * size;
}

static bool is_position(const branch_change *c, size_t i) {
    int32_t of = c->model->continuity.functions[i].constraint;
    return of < 0 || c->k->discrete_state.active[of];
}

/* Returns the index of the first function that jumps although it must be continuous. If no function jumps, returns
 * c->model->continuity.count. */
static size_t first_jump(const branch_change *c) {
    size_t i = 0, count = c->model->continuity.count;
    while (i < count && !(is_position(c, i) && jumps(c, c->model->n + 1 + i, 0))) i++;
    return i;
}

/* --- which branches ----------------------------------------------------------------------------------------------- */

static bool has_changed(const branch_change *c, size_t i) {
    return !nonsmooth_is_slip(&c->model->system->nonsmooth[i]) && c->k->discrete_state.branches[i] != c->branches[i];
}

static unsigned branch_depends(const branch_change *c, size_t i) {
    return graph_depends(c->model->system->graph, c->model->system->nonsmooth[i].written);
}

/* Returns true if a changed branch depends on coordinates or velocities. Sets *which to the first such branch, or if
 * there is none, to the first changed branch. */
static bool state_decides(const branch_change *c, size_t *which) {
    size_t first = c->model->system->nonsmooth_count;
    for (size_t i = first; i-- > 0;) {
        if (!has_changed(c, i)) continue;
        if (branch_depends(c, i) & (GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY))) {
            *which = i;
            return true;
        }
        first = i;
    }
    *which = first;
    return false;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

HAMEL_PRINTF(6, 7)
static hamel_status fail_at_branch(const branch_change *c, hamel_status status, const char *pointer, size_t branch,
                                   hamel_error *error, const char *format, ...) {
    char what[300];
    text_buffer text;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    text_buffer_init(&text, 400);
    const hamel_system *s = c->model->system;
    const graph_table *table = branch < s->nonsmooth_count ? s->nonsmooth[branch].table : NULL;
    if (table) text_buffer_printf(&text, "table(%s, ", table->name ? table->name : "");
    if (branch < s->nonsmooth_count) system_name_symbol(c->model->system, SYMBOL_BRANCH, (int32_t)branch, &text);
    if (table) text_buffer_puts(&text, ")");
    (void)hamel_fail(error, status, pointer, 0, "at t = %.9g %s where `%s` changes", c->t, what,
                     text.bytes && !text.failed ? text.bytes : "a branch");
    text_buffer_free(&text);
    return status;
}

static hamel_status fail_position(const branch_change *c, hamel_status status, size_t i, size_t branch,
                                  hamel_error *error) {
    assert(i < c->model->continuity.count);
    const model_continuous *at = &c->model->continuity.functions[i];
    double by = c->after[c->model->n + 1 + i] - c->before[c->model->n + 1 + i];
    if (at->constraint >= 0)
        (void)fail_at_branch(c, status, at->pointer, branch, error, "the equation of `%s` jumps by %.6g",
                             c->model->system->constraints[at->constraint].name, by);
    else
        (void)fail_at_branch(c, status, at->pointer, branch, error, "%s jumps by %.6g", at->what, by);
    hamel_suggest(
        error, "replace the jump by a steep, continuous function, because positions cannot jump; to set a coordinate, "
               "use an event");
    return status;
}

static hamel_status fail_energy(const branch_change *c, size_t branch, hamel_error *error) {
    size_t n = c->model->n;
    (void)fail_at_branch(c, HAMEL_INTEGRATION, "", branch, error,
                         "the momenta or the energy jump (the energy by %.6g) and leave the velocities undetermined",
                         c->after[n] - c->before[n]);
    hamel_suggest(error, "smooth the mass, curve or potential there: use a cubic table instead of a linear table, or "
                         "tanh(x/eps) instead of sign(x)");
    return HAMEL_INTEGRATION;
}

/* Adds an error if forces contain multipliers: the description defines no impact law for such forces. */
static hamel_status check_forces(const branch_change *c, size_t branch, hamel_error *error) {
    const hamel_model *model = c->model;
    const unsigned reactions = GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL);
    double most = dense_magnitude(model->m, c->multipliers);
    const char *what = NULL;
    for (size_t k = 0; k < model->friction.count; k++)
        if (fabs(c->multipliers[model->friction.constraint[k]]) > JUMP_ROUNDING * most) what = "friction";
    if (most > 0 && (model->dynamics.W.count ||
                     (model->dynamics.nonideal && (program_depends(model->dynamics.nonideal) & reactions))))
        what = "a force that contains reactions";
    if (!what) return HAMEL_OK;
    (void)fail_at_branch(c, HAMEL_INTEGRATION, "", branch, error,
                         "velocities jump, but no impact law is defined for %s,", what);
    hamel_suggest(error, "replace the jump of the prescribed velocity by a steep, continuous function");
    return HAMEL_INTEGRATION;
}

/* --- the jump ----------------------------------------------------------------------------------------------------- */

hamel_status branch_change_begin(branch_change *c, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = c->model;
    c->t = t;
    c->q = q;
    memcpy(c->branches, c->k->discrete_state.branches, model->system->nonsmooth_count * sizeof *c->branches);
    memset(c->moved_on, 0, c->count * sizeof *c->moved_on);
    hamel_status status = dynamics_evaluate(c->k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    memcpy(c->A, c->k->values + model->dynamics.A.at, model->dynamics.A.count * sizeof *c->A);
    return evaluate_motion(c, t, q, v, c->before, error);
}

/* Returns true if a momentum jumps, relative to the size Σ |M_ij v_j| of its terms at the state evaluated last. */
static bool momenta_jump(branch_change *c, const double *v) {
    size_t i = 0;
    memset(c->v, 0, c->model->n * sizeof *c->v);
    sparse_block_multiply_magnitudes(&c->model->dynamics.M, c->k->values, v, c->v);
    while (i < c->model->n && !jumps(c, i, c->v[i])) i++;
    return i < c->model->n;
}

/* Replaces v by v⁺ and sets c->change and c->multipliers. */
static hamel_status find_velocities(branch_change *c, double *v, hamel_error *error) {
    dynamics *k = c->k;
    size_t n = c->model->n, m = c->model->m;
    double *now = c->v, before = INFINITY;
    memcpy(now, v, n * sizeof *v);
    for (int i = 0; i < ITERATIONS; i++) {
        double step = 0, size = 0;
        hamel_status status = dynamics_evaluate(k, c->t, c->q, now, error);
        if (status == HAMEL_OK) status = evaluate_continuity(c, c->t, c->q, now, c->after, error);
        if (status != HAMEL_OK) return status;
        for (size_t j = 0; j < n; j++) c->g[j] = c->before[j] - c->after[j];
        for (size_t j = 0; j < m; j++) c->r[j] = -dynamics_velocity(k)[j];
        status = kkt_factor(k->velocities, k->values);
        if (status == HAMEL_OK)
            status = kkt_solve(k->velocities, c->g, c->r, JUMP_CONTRADICTION, c->change, c->multipliers);
        if (status != HAMEL_OK) return dynamics_explain(k, status, error);
        for (size_t j = 0; j < n; j++) {
            now[j] += c->change[j];
            step = fmax(step, fabs(c->change[j]));
            size = fmax(size, fabs(now[j]));
        }
        if (newton_has_ended(&before, size > 0 ? step / size : 0, NEWTON_STEP)) break;
    }
    for (size_t j = 0; j < n; j++) c->change[j] = now[j] - v[j];
    memcpy(v, now, n * sizeof *v);
    hamel_status status = dynamics_evaluate(k, c->t, c->q, v, error);
    return status == HAMEL_OK ? evaluate_continuity(c, c->t, c->q, v, c->after, error) : status;
}

/* Returns the index of a constraint that transmits an impulse and whose row of A has changed, or −1. */
static int32_t turned_row(const branch_change *c) {
    const hamel_model *model = c->model;
    const double *A = c->k->values + model->dynamics.A.at;
    double most = dense_magnitude(model->m, c->multipliers);
    for (size_t e = 0; e < model->dynamics.A.count; e++) {
        int row = model->dynamics.A.row[e];
        bool moved = fabs(A[e] - c->A[e]) > MOMENT * fmax(fabs(A[e]), fabs(c->A[e]));
        if (moved && model->order[row] != CONSTRAINT_ACCELERATION && fabs(c->multipliers[row]) > MOMENT * most)
            return row;
    }
    return -1;
}

hamel_status branch_change_end(branch_change *c, double *v, branch_jump *jump, hamel_error *error) {
    assert(c->k->model == c->model && v != c->v);
    dynamics *k = c->k;
    size_t n = c->model->n, branch;
    bool state = state_decides(c, &branch);
    double position, velocity;
    *jump = (branch_jump){.turned = -1, .change = c->change, .multipliers = c->multipliers};
    if (branch == c->model->system->nonsmooth_count) return HAMEL_OK;
    hamel_status status = dynamics_evaluate(k, c->t, c->q, v, error);
    if (status == HAMEL_OK) status = evaluate_motion(c, c->t, c->q, v, c->after, error);
    if (status != HAMEL_OK) return status;
    size_t at = first_jump(c);
    if (at < c->model->continuity.count) return fail_position(c, HAMEL_INTEGRATION, at, branch, error);
    jump->momenta = momenta_jump(c, v);
    if (state && (jump->momenta || jumps(c, n, 0))) return fail_energy(c, branch, error);
    dynamics_residuals(k, &position, &velocity);
    jump->jumped = jump->momenta || velocity > MISSED;
    double energy = c->before[n];
    if (jump->jumped) {
        status = find_velocities(c, v, error);
        if (status == HAMEL_OK) status = check_forces(c, branch, error);
        jump->turned = turned_row(c);
    }
    if (jump->jumped || !state) jump->energy = c->after[n] - energy;
    return status;
}

/* --- before a run ------------------------------------------------------------------------------------------------- */

/* Sets c->t to the time between `low` and `high` at which branch i changes, found by bisection. Sets c->branches to the
 * branches before the change, and the current branches to the branches after the change. */
static void locate_change(branch_change *c, size_t i, double from, const double *q, const double *v, double low,
                          double high) {
    discrete_state *state = &c->k->discrete_state;
    for (double t = low + 0.5 * (high - low); t > low && t < high; t = low + 0.5 * (high - low)) {
        discrete_state_choose_branches(state, t, q, v);
        *(state->branches[i] == from ? &low : &high) = t;
    }
    discrete_state_choose_branches(state, low, q, v);
    memcpy(c->branches, state->branches, c->model->system->nonsmooth_count * sizeof *c->branches);
    discrete_state_choose_branches(state, high, q, v);
    c->t = high;
}

static void swap_branches(branch_change *c) {
    dense_exchange(c->model->system->nonsmooth_count, 1, c->branches, c->k->discrete_state.branches);
}

/* Compares the functions on c->branches with the functions on the current branches. If a function jumps by the same
 * amount at q and at other configurations, adds an error. */
static hamel_status compare_places(branch_change *c, const double *q, const double *v, size_t branch,
                                   hamel_error *error) {
    size_t n = c->model->n, found = 0;
    double *place = c->g, by = 0;
    for (size_t look = 0; look < PLACES; look++) {
        for (size_t i = 0; i < n; i++) place[i] = q[i] + 0.1 * (double)look * (1 + fabs(q[i])) / (double)(i + 1);
        swap_branches(c);
        memset(c->moved_on, 0, c->count * sizeof *c->moved_on);
        hamel_status status = evaluate_motion(c, c->t, place, v, c->before, NULL);
        swap_branches(c);
        if (status == HAMEL_OK) status = evaluate_motion(c, c->t, place, v, c->after, NULL);
        size_t at = status == HAMEL_OK ? first_jump(c) : c->model->continuity.count;
        if (at == c->model->continuity.count || (look > 0 && at != found)) return HAMEL_OK;
        double here = c->after[n + 1 + at] - c->before[n + 1 + at];
        if (look > 0 && !(fabs(here - by) <= MOMENT * fabs(by))) return HAMEL_OK;
        found = at;
        by = here;
    }
    return fail_position(c, HAMEL_INVALID, found, branch, error);
}

/* Returns true if branch i depends on time and parameters only. */
static bool is_of_time(const branch_change *c, size_t i) {
    const unsigned time = GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME);
    return c->model->system->nonsmooth[i].held && !(branch_depends(c, i) & ~time);
}

hamel_status branch_change_foresee(branch_change *c, const double *q, const double *v, hamel_error *error) {
    const model_settings *s = &c->model->settings;
    const size_t count = c->model->system->nonsmooth_count;
    discrete_state *state = &c->k->discrete_state;
    if (c->model->continuity.count == 0 || !isfinite(s->stop)) return HAMEL_OK;
    discrete_state_choose_branches(state, s->start, q, v);
    memcpy(c->seen, state->branches, count * sizeof *c->seen);
    for (size_t look = 1, changes = 0; look <= LOOKS; look++) {
        double step = (s->stop - s->start) / LOOKS, low = s->start + step * (double)(look - 1),
               high = look < LOOKS ? low + step : s->stop;
        discrete_state_choose_branches(state, high, q, v);
        for (size_t i = 0; i < count; i++) {
            double from = c->seen[i], to = c->seen[i] = state->branches[i];
            if (to == from || look == 1 || !is_of_time(c, i)) continue;
            if (++changes > CHANGES) return HAMEL_OK; /* later changes are checked during the run */
            locate_change(c, i, from, q, v, low, high);
            hamel_status status = compare_places(c, q, v, i, error);
            if (status != HAMEL_OK) return status;
            discrete_state_choose_branches(state, high, q, v);
        }
    }
    return HAMEL_OK;
}
