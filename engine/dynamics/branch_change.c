/* branch_change.c — see the header. Newton's method on v⁺ in the metric of M, one step where p and ψ are linear. */
#include "engine/solve/branch_change.h"

#include "engine/base/text_buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 40, LOOKS = 1000, CHANGES = 1000, PLACES = 3 };
/* A value has jumped if it changes by more than it moves in this part of the span: a step is located to some ulps of
 * time. */
static const double MOMENT = 1e-9;
static const double ROUNDING = 1e-11;     /* of a value, and of the terms of a momentum */
static const double CONVERGED = 1e-13;    /* size of a Newton step beside the velocities */
static const double MISSED = 1e-10;       /* scaled residual from which velocities have to jump */
static const double CONTRADICTION = 1e-6; /* of dependent rows, relative to the jump: far above rounding */

struct branch_change {
    kinetics *k;
    const hamel_model *model;
    size_t count;                                     /* outputs of the program */
    double *work, *before, *after, *moved_on, *shown; /* count each: at the instant, and a moment later */
    double *branches, *A, *seen;                      /* those before; and at the look before */
    double *place, *v, *change, *g, *r, *multipliers;
    double t;
    const double *q;
};

branch_change *branch_change_create(kinetics *k) {
    const hamel_model *model = k->model;
    size_t n = model->n, m = model->m, count = n + 1 + model->continuous_count;
    branch_change *c = calloc(1, sizeof *c);
    double *at = calloc(program_workspace_doubles(model->continuity) + 4 * count + 2 * model->system->switch_count +
                            model->A.count + 4 * n + 2 * m + 1,
                        sizeof *at);
    if (!c || !at) {
        free(c), free(at);
        return NULL;
    }
    *c = (branch_change){.k = k, .model = model, .count = count, .work = at};
    c->before = at += program_workspace_doubles(model->continuity);
    c->after = at += count;
    c->moved_on = at += count;
    c->shown = at += count;
    c->branches = at += count;
    c->seen = at += model->system->switch_count;
    c->A = at += model->system->switch_count;
    c->place = at += model->A.count;
    c->v = at += n;
    c->change = at += n;
    c->g = at += n;
    c->r = at += n;
    c->multipliers = at + m;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->continuity, &in, c->work);
    return c;
}

void branch_change_free(branch_change *c) {
    if (!c) return;
    free(c->work);
    free(c);
}

/* --- values by the branches in force ----------------------------------------------------------------------------------- */

static hamel_status evaluate(branch_change *c, double t, const double *q, const double *v, double *out,
                             hamel_error *error) {
    program_inputs in = model_inputs(c->model, &t, q, v, NULL, NULL, NULL);
    in.values[SYMBOL_BRANCH] = c->k->mode.branches;
    program_evaluate(c->model->continuity, &in, c->work, out);
    for (size_t i = 0; i < c->count; i++)
        if (!isfinite(out[i]))
            return model_not_finite(c->model, c->model->continuity, &in, c->work, t, "", "a momentum or a position",
                                    error);
    return HAMEL_OK;
}

/* Adds to `moved_on` how far each value moves within a moment on the current branches. `at`: the values now. */
static hamel_status add_motion(branch_change *c, double t, const double *q, const double *v, const double *at,
                               hamel_error *error) {
    const model_settings *s = &c->model->settings;
    double moment = MOMENT * fmax(fabs(t), s->stop - s->start);
    for (size_t i = 0; i < c->model->n; i++) c->place[i] = q[i] + moment * v[i];
    hamel_status status = evaluate(c, t + moment, c->place, v, c->shown, error);
    for (size_t i = 0; status == HAMEL_OK && i < c->count; i++) c->moved_on[i] += fabs(c->shown[i] - at[i]);
    return status;
}

/* Whether value i jumps from `before` to `after`. */
static bool jumps(const branch_change *c, size_t i, double scale) {
    double size = fmax(fmax(fabs(c->before[i]), fabs(c->after[i])), scale);
    return fabs(c->after[i] - c->before[i]) > c->moved_on[i] + ROUNDING * size;
}

static bool is_position(const branch_change *c, size_t i) {
    int32_t of = c->model->continuous[i].constraint;
    return of < 0 || c->k->mode.active[of];
}

/* The first of the functions that must be continuous that jumps, or `continuous_count`. */
static size_t first_jump(const branch_change *c) {
    size_t i = 0, count = c->model->continuous_count;
    while (i < count && !(is_position(c, i) && jumps(c, c->model->n + 1 + i, 0))) i++;
    return i;
}

/* --- which branches ------------------------------------------------------------------------------------------------------ */

static bool has_changed(const branch_change *c, size_t i) {
    switch_kind kind = c->model->system->switches[i].kind;
    return kind != SWITCH_SLIP && kind != SWITCH_GLIDE && c->k->mode.branches[i] != c->branches[i];
}

static unsigned depends(const branch_change *c, size_t i) {
    return graph_depends(c->model->system->graph, c->model->system->switches[i].written);
}

/* Whether a branch has changed that depends on more than time; *which: the first such branch, else the first that
 * changed. */
static bool state_decides(const branch_change *c, size_t *which) {
    size_t first = c->model->system->switch_count;
    for (size_t i = first; i-- > 0;) {
        if (!has_changed(c, i)) continue;
        if (depends(c, i) & (GRAPH_DEPENDS(SYMBOL_COORDINATE) | GRAPH_DEPENDS(SYMBOL_VELOCITY))) {
            *which = i;
            return true;
        }
        first = i;
    }
    *which = first;
    return false;
}

/* --- faults -------------------------------------------------------------------------------------------------------------- */

HAMEL_PRINTF(6, 7)
static hamel_status fail(const branch_change *c, hamel_status status, const char *pointer, size_t branch,
                         hamel_error *error, const char *format, ...) {
    char what[300];
    text_buffer text;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    text_buffer_init(&text, 400);
    const hamel_system *s = c->model->system;
    const graph_table *table = branch < s->switch_count ? s->switches[branch].table : NULL;
    if (table) text_buffer_printf(&text, "table(%s, ", table->name ? table->name : "");
    if (branch < s->switch_count) system_name_symbol(c->model->system, SYMBOL_BRANCH, (int32_t)branch, &text);
    if (table) text_buffer_puts(&text, ")");
    (void)hamel_fail(error, status, pointer, 0, "at t = %.9g %s where `%s` changes", c->t, what,
                     text.bytes && !text.failed ? text.bytes : "a branch");
    text_buffer_free(&text);
    return status;
}

static hamel_status fail_position(const branch_change *c, hamel_status status, size_t i, size_t branch,
                                  hamel_error *error) {
    const model_continuous *at = &c->model->continuous[i];
    double by = c->after[c->model->n + 1 + i] - c->before[c->model->n + 1 + i];
    if (at->constraint >= 0)
        (void)fail(c, status, at->pointer, branch, error, "the equation of `%s` jumps by %.6g",
                   c->model->system->constraints[at->constraint].name, by);
    else
        (void)fail(c, status, at->pointer, branch, error, "%s jumps by %.6g", at->what, by);
    hamel_suggest(error,
                  "make it continuous, however steep: no motion satisfies a jump of a position; to set a coordinate, "
                  "use an event");
    return status;
}

static hamel_status fail_energy(const branch_change *c, size_t branch, hamel_error *error) {
    size_t n = c->model->n;
    (void)fail(
        c, HAMEL_INTEGRATION, "", branch, error,
        "momenta or the energy (by %.6g) jump at a configuration, so the velocities afterwards are undetermined,",
        c->after[n] - c->before[n]);
    hamel_suggest(error,
                  "smooth the mass, curve or potential there: a cubic table instead of a linear one, tanh(x/eps) "
                  "instead of sign(x)");
    return HAMEL_INTEGRATION;
}

/* Forces that contain multipliers act in an impact, too, but the description does not define their law of impact. */
static hamel_status check_forces(const branch_change *c, size_t branch, hamel_error *error) {
    const hamel_model *model = c->model;
    const unsigned reactions = GRAPH_DEPENDS(SYMBOL_MULTIPLIER) | GRAPH_DEPENDS(SYMBOL_IDEAL);
    double most = 0;
    const char *what = NULL;
    for (size_t i = 0; i < model->m; i++) most = fmax(most, fabs(c->multipliers[i]));
    for (size_t k = 0; k < model->friction_count; k++)
        if (fabs(c->multipliers[model->friction_constraint[k]]) > ROUNDING * most) what = "friction";
    if (most > 0 && (model->W.count || (model->nonideal && (program_depends(model->nonideal) & reactions))))
        what = "a force that contains reactions";
    if (!what) return HAMEL_OK;
    (void)fail(c, HAMEL_INTEGRATION, "", branch, error, "velocities jump, and no law of impact is defined for %s,",
               what);
    hamel_suggest(error, "make the prescribed velocity continuous, however steep");
    return HAMEL_INTEGRATION;
}

/* --- the jump ------------------------------------------------------------------------------------------------------------ */

hamel_status branch_change_begin(branch_change *c, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = c->model;
    c->t = t;
    c->q = q;
    memcpy(c->branches, c->k->mode.branches, model->system->switch_count * sizeof *c->branches);
    memset(c->moved_on, 0, c->count * sizeof *c->moved_on);
    hamel_status status = kinetics_evaluate(c->k, t, q, v, error);
    if (status != HAMEL_OK) return status;
    memcpy(c->A, c->k->values + model->at_A, model->A.count * sizeof *c->A);
    status = evaluate(c, t, q, v, c->before, error);
    return status == HAMEL_OK ? add_motion(c, t, q, v, c->before, error) : status;
}

/* c->v := Σ |M_ij v_j|, the size of the terms of each momentum, at the state evaluated last. */
static void momentum_sizes(branch_change *c, const double *v) {
    const hamel_model *model = c->model;
    const double *M = c->k->values + model->at_M;
    memset(c->v, 0, model->n * sizeof *c->v);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        c->v[i] += fabs(M[e] * v[j]);
        if (i != j) c->v[j] += fabs(M[e] * v[i]);
    }
}

static bool momenta_jump(branch_change *c, const double *v) {
    size_t i = 0;
    momentum_sizes(c, v);
    while (i < c->model->n && !jumps(c, i, c->v[i])) i++;
    return i < c->model->n;
}

/* v := v⁺; c->change, c->multipliers. */
static hamel_status find_velocities(branch_change *c, double *v, hamel_error *error) {
    kinetics *k = c->k;
    size_t n = c->model->n, m = c->model->m;
    double *now = c->v;
    memcpy(now, v, n * sizeof *v);
    for (int i = 0; i < ITERATIONS; i++) {
        double step = 0, size = 0;
        hamel_status status = kinetics_evaluate(k, c->t, c->q, now, error);
        if (status == HAMEL_OK) status = evaluate(c, c->t, c->q, now, c->after, error);
        if (status != HAMEL_OK) return status;
        for (size_t j = 0; j < n; j++) c->g[j] = c->before[j] - c->after[j];
        for (size_t j = 0; j < m; j++) c->r[j] = -kinetics_velocity(k)[j];
        status = kkt_factor(k->velocities, k->values);
        if (status == HAMEL_OK) status = kkt_solve(k->velocities, c->g, c->r, CONTRADICTION, c->change, c->multipliers);
        if (status != HAMEL_OK) return kinetics_explain(k, status, error);
        for (size_t j = 0; j < n; j++) {
            now[j] += c->change[j];
            step = fmax(step, fabs(c->change[j]));
            size = fmax(size, fabs(now[j]));
        }
        if (!(step > CONVERGED * size)) break;
    }
    for (size_t j = 0; j < n; j++) c->change[j] = now[j] - v[j];
    memcpy(v, now, n * sizeof *v);
    hamel_status status = kinetics_evaluate(k, c->t, c->q, v, error);
    return status == HAMEL_OK ? evaluate(c, c->t, c->q, v, c->after, error) : status;
}

/* A constraint that took part in the impact and points another way than before, or −1. */
static int32_t turned(const branch_change *c) {
    const hamel_model *model = c->model;
    const double *A = c->k->values + model->at_A;
    double most = 0;
    for (size_t i = 0; i < model->m; i++) most = fmax(most, fabs(c->multipliers[i]));
    for (size_t e = 0; e < model->A.count; e++) {
        int row = model->A.row[e];
        bool moved = fabs(A[e] - c->A[e]) > MOMENT * fmax(fabs(A[e]), fabs(c->A[e]));
        if (moved && model->order[row] != CONSTRAINT_ACCELERATION && fabs(c->multipliers[row]) > MOMENT * most)
            return row;
    }
    return -1;
}

hamel_status branch_change_end(branch_change *c, double *v, branch_jump *jump, hamel_error *error) {
    kinetics *k = c->k;
    size_t n = c->model->n, branch;
    bool state = state_decides(c, &branch);
    double position, velocity;
    *jump = (branch_jump){.turned = -1, .change = c->change, .multipliers = c->multipliers};
    if (branch == c->model->system->switch_count) return HAMEL_OK;
    hamel_status status = kinetics_evaluate(k, c->t, c->q, v, error);
    if (status == HAMEL_OK) status = evaluate(c, c->t, c->q, v, c->after, error);
    if (status == HAMEL_OK) status = add_motion(c, c->t, c->q, v, c->after, error);
    if (status != HAMEL_OK) return status;
    size_t at = first_jump(c);
    if (at < c->model->continuous_count) return fail_position(c, HAMEL_INTEGRATION, at, branch, error);
    jump->momenta = momenta_jump(c, v);
    if (state && (jump->momenta || jumps(c, n, 0))) return fail_energy(c, branch, error);
    kinetics_residuals(k, &position, &velocity);
    jump->jumped = jump->momenta || velocity > MISSED;
    double energy = c->before[n];
    if (jump->jumped) {
        status = find_velocities(c, v, error);
        if (status == HAMEL_OK) status = check_forces(c, branch, error);
        jump->turned = turned(c);
    }
    if (jump->jumped || !state) jump->energy = c->after[n] - energy;
    return status;
}

/* --- before a run -------------------------------------------------------------------------------------------------------- */

/* c->t := the time between `low` and `high`, at which branch i differs, at which it changes; all branches before go into
 * c->branches, those after are in force. */
static void locate(branch_change *c, size_t i, double from, const double *q, const double *v, double low, double high) {
    motion_mode *mode = &c->k->mode;
    for (double t = low + 0.5 * (high - low); t > low && t < high; t = low + 0.5 * (high - low)) {
        mode_choose_branches(mode, t, q, v);
        *(mode->branches[i] == from ? &low : &high) = t;
    }
    mode_choose_branches(mode, low, q, v);
    memcpy(c->branches, mode->branches, c->model->system->switch_count * sizeof *c->branches);
    mode_choose_branches(mode, high, q, v);
    c->t = high;
}

static void swap_branches(branch_change *c) {
    for (size_t i = 0; i < c->model->system->switch_count; i++) {
        double kept = c->branches[i];
        c->branches[i] = c->k->mode.branches[i];
        c->k->mode.branches[i] = kept;
    }
}

/* Refuses what jumps by the same amount at q and at places beside it, from the branches in c->branches to those in force. */
static hamel_status compare_places(branch_change *c, const double *q, const double *v, size_t branch,
                                   hamel_error *error) {
    size_t n = c->model->n, found = 0;
    double *place = c->g, by = 0;
    for (size_t look = 0; look < PLACES; look++) {
        for (size_t i = 0; i < n; i++) place[i] = q[i] + 0.1 * (double)look * (1 + fabs(q[i])) / (double)(i + 1);
        swap_branches(c);
        memset(c->moved_on, 0, c->count * sizeof *c->moved_on);
        hamel_status status = evaluate(c, c->t, place, v, c->before, NULL);
        if (status == HAMEL_OK) status = add_motion(c, c->t, place, v, c->before, NULL);
        swap_branches(c);
        if (status == HAMEL_OK) status = evaluate(c, c->t, place, v, c->after, NULL);
        if (status == HAMEL_OK) status = add_motion(c, c->t, place, v, c->after, NULL);
        size_t at = status == HAMEL_OK ? first_jump(c) : c->model->continuous_count;
        if (at == c->model->continuous_count || (look > 0 && at != found)) return HAMEL_OK;
        double here = c->after[n + 1 + at] - c->before[n + 1 + at];
        if (look > 0 && !(fabs(here - by) <= MOMENT * fabs(by))) return HAMEL_OK;
        found = at;
        by = here;
    }
    return fail_position(c, HAMEL_INVALID, found, branch, error);
}

/* Branch i changes between `low` and `high`, where it is `from` at first. */
static hamel_status foresee_change(branch_change *c, size_t i, double from, const double *q, const double *v,
                                   double low, double high, hamel_error *error) {
    locate(c, i, from, q, v, low, high);
    return compare_places(c, q, v, i, error);
}

static bool is_of_time(const branch_change *c, size_t i) {
    const unsigned time = GRAPH_DEPENDS(SYMBOL_PARAMETER) | GRAPH_DEPENDS(SYMBOL_TIME);
    return c->model->system->switches[i].held && !(depends(c, i) & ~time);
}

hamel_status branch_change_foresee(branch_change *c, const double *q, const double *v, hamel_error *error) {
    const model_settings *s = &c->model->settings;
    const size_t count = c->model->system->switch_count;
    motion_mode *mode = &c->k->mode;
    if (c->model->continuous_count == 0 || !isfinite(s->stop)) return HAMEL_OK;
    mode_choose_branches(mode, s->start, q, v);
    memcpy(c->seen, mode->branches, count * sizeof *c->seen);
    for (size_t look = 1, changes = 0; look <= LOOKS; look++) {
        double step = (s->stop - s->start) / LOOKS, low = s->start + step * (double)(look - 1),
               high = look < LOOKS ? low + step : s->stop;
        mode_choose_branches(mode, high, q, v);
        for (size_t i = 0; i < count; i++) {
            double from = c->seen[i], to = c->seen[i] = mode->branches[i];
            if (to == from || look == 1 || !is_of_time(c, i)) continue;
            if (++changes > CHANGES) return HAMEL_OK; /* what comes later is met, or not */
            hamel_status status = foresee_change(c, i, from, q, v, low, high, error);
            if (status != HAMEL_OK) return status;
            mode_choose_branches(mode, high, q, v);
        }
    }
    return HAMEL_OK;
}
