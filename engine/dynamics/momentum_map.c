/* momentum_map.c — see the header.
 *
 * Velocities are found by Newton's method, whose first step is exact where L is quadratic and the constraints are linear
 * in the velocities. */
#include "engine/solve/momentum_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A momentum that is small at the start, by its coefficients, may grow: its tolerance is this part of the largest. */
static const double TOLERANCE_FLOOR = 1e-3;

enum { ITERATIONS = 40, HALVINGS = 60, TRIALS = 12 };
/* Newton's steps square their relative size: after one of 1e-12 the next would be rounding, and so is one below 1e-8 that
 * is not much smaller than the one before. */
static const double CONVERGED = 1e-12, STALLED = 1e-8;

bool momentum_map_open(momentum_map *map, const motion_mode *mode) {
    const hamel_model *model = mode->model;
    size_t count = model->momenta_count;
    *map = (momentum_map){.model = model, .mode = mode};
    map->values = calloc(count + 1, sizeof *map->values);
    map->dots = calloc((count + 1) * PROGRAM_LANES, sizeof *map->dots);
    map->work = calloc(program_workspace_doubles(model->momenta) + 1, sizeof *map->work);
    map->tangent_work = calloc(program_tangent_doubles(model->momenta) + 1, sizeof *map->tangent_work);
    map->seeds = calloc((2 * model->n + 1) * PROGRAM_LANES, sizeof *map->seeds);
    map->step = calloc(model->n + 1, sizeof *map->step);
    if (!map->step || !map->values || !map->dots || !map->work || !map->tangent_work || !map->seeds) return false;
    program_inputs in = model_inputs(model, NULL, NULL, NULL, NULL, NULL, NULL);
    program_prepare(model->momenta, &in, map->work);
    return true;
}

void momentum_map_close(momentum_map *map) {
    free(map->values);
    free(map->dots);
    free(map->work);
    free(map->tangent_work);
    free(map->seeds);
    free(map->step);
    *map = (momentum_map){0};
}

static bool is_finite(const momentum_map *map) {
    double sum = 0;
    for (size_t i = 0; i < map->model->momenta_count; i++) sum += 0 * map->values[i];
    return sum == 0;
}

hamel_status momentum_map_evaluate(momentum_map *map, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = map->model;
    program_inputs in = model_inputs(model, &t, q, v, NULL, NULL, NULL);
    in.values[SYMBOL_BRANCH] = map->mode->branches;
    program_evaluate(model->momenta, &in, map->work, map->values);
    if (is_finite(map)) return HAMEL_OK;
    if (!error) return HAMEL_NOT_FINITE;
    return model_not_finite(model, model->momenta, &in, map->work, t, "", "a momentum", error);
}

hamel_status momentum_map_differentiate(momentum_map *map, double t, const double *q, const double *v, double dt,
                                        const double *dq, const double *dv) {
    const hamel_model *model = map->model;
    double *of_time = map->seeds, *of_q = of_time + PROGRAM_LANES, *of_v = of_q + model->n * PROGRAM_LANES;
    program_inputs in = model_inputs(model, &t, q, v, NULL, NULL, NULL), seeds = {{0}};
    in.values[SYMBOL_BRANCH] = map->mode->branches;
    of_time[0] = dt;
    for (size_t i = 0; dq && i < model->n; i++) of_q[i * PROGRAM_LANES] = dq[i];
    for (size_t i = 0; dv && i < model->n; i++) of_v[i * PROGRAM_LANES] = dv[i];
    seeds.values[SYMBOL_TIME] = of_time;
    seeds.values[SYMBOL_COORDINATE] = dq ? of_q : NULL;
    seeds.values[SYMBOL_VELOCITY] = dv ? of_v : NULL;
    program_tangent(model->momenta, &in, &seeds, map->work, map->tangent_work, map->values, map->dots);
    double sum = 0;
    for (size_t i = 0; i < model->momenta_count; i++) sum += 0 * map->dots[i * PROGRAM_LANES];
    return sum == 0 && is_finite(map) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

typedef struct inversion {
    momentum_map *map;
    const momentum_search *search;
    double t, *v;
    const double *q;
} inversion;

static hamel_status evaluate(const inversion *w, hamel_error *error) {
    return momentum_map_evaluate(w->map, w->t, w->q, w->v, error);
}

/* (target − p)·step at the values evaluated last. */
static double along_step(const inversion *w) {
    double sum = 0;
    for (size_t i = 0; i < w->map->model->n; i++)
        sum += (w->search->p[i] - momentum_map_p(w->map, i)) * w->map->step[i];
    return sum;
}

/* v += step, or the half of it, or the half of that: the momenta must be defined there (a speed below that of light,
 * say), and not miss their target by more along the step than before it. For small steps that holds: the derivative of
 * (target − p)·step is −stepᵀ M step, which is −(target − p)·step where the step keeps the constraints. A step that leads
 * onto constraints that are not linear in the velocities has another sign there; its only test is that the momenta are
 * defined. */
static hamel_status advance(const inversion *w, hamel_error *error) {
    size_t n = w->map->model->n;
    double before = w->map->model->linear_velocities ? fabs(along_step(w)) : INFINITY;
    for (size_t i = 0; i < n; i++) w->v[i] += w->map->step[i];
    for (int k = 0;; k++) {
        hamel_status status = evaluate(w, k == HALVINGS ? error : NULL);
        bool better = status == HAMEL_OK && (k >= TRIALS || fabs(along_step(w)) <= before);
        if (better || k == HALVINGS) return status;
        for (size_t i = 0; i < n; i++) {
            w->map->step[i] *= 0.5;
            w->v[i] -= w->map->step[i];
        }
        before *= 0.5;
    }
}

static double largest(size_t n, const double *z) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(z[i]));
    return most;
}

/* v += the step that would be exact if momenta were linear. */
static hamel_status take_step(const inversion *w, hamel_error *error) {
    size_t n = w->map->model->n;
    hamel_status status = evaluate(w, error);
    if (status == HAMEL_OK) status = w->search->step(w->search->context, w->search->p, w->map->step);
    for (size_t i = 0; i < n; i++) w->v[i] += w->map->step[i];
    return status;
}

/* From the velocities in v. */
static hamel_status iterate(const inversion *w, hamel_error *error) {
    size_t n = w->map->model->n;
    hamel_status status = evaluate(w, error);
    double before = INFINITY;
    for (int k = 0; k < ITERATIONS && status == HAMEL_OK; k++) {
        status = w->search->step(w->search->context, w->search->p, w->map->step);
        if (status != HAMEL_OK) return status;
        double size = largest(n, w->map->step), speed = largest(n, w->v);
        if (size <= CONVERGED * speed || (size <= STALLED * speed && size > 0.5 * before)) {
            for (size_t i = 0; i < n; i++) w->v[i] += w->map->step[i];
            return evaluate(w, error);
        }
        before = size;
        status = advance(w, error);
    }
    return status == HAMEL_OK ? HAMEL_SINGULAR : status;
}

hamel_status momentum_map_invert(momentum_map *map, double t, const double *q, const momentum_search *search, double *v,
                                 hamel_error *error) {
    inversion w = {.map = map, .search = search, .t = t, .v = v, .q = q};
    size_t n = map->model->n;
    /* Close to the speed of light in the wrong direction the way is long: then not from the guess. */
    if (!map->model->momenta_linear && iterate(&w, NULL) == HAMEL_OK) return HAMEL_OK;
    memcpy(v, search->start, n * sizeof *v);
    hamel_status status = map->model->momenta_linear ? take_step(&w, error) : iterate(&w, error);
    if (status != HAMEL_SINGULAR || !error || error->status != HAMEL_OK) return status;
    (void)hamel_fail(error, status, "", 0, "at t = %.9g the momenta do not determine the velocities", t);
    hamel_suggest(error, "give every coordinate a mass or inertia, or a constraint that fixes it");
    return status;
}

void momentum_map_tolerances(const momentum_map *map, const double *atol, double *out) {
    const hamel_model *model = map->model;
    double most = 0;
    memset(out, 0, model->n * sizeof *out);
    for (size_t e = 0; e < model->M.count; e++) {
        int i = model->M.row[e], j = model->M.column[e];
        double mass = fabs(map->values[model->at_M + e]);
        out[i] += mass * atol[j];
        if (i != j) out[j] += mass * atol[i];
    }
    for (size_t i = 0; i < model->n; i++) most = fmax(most, out[i]);
    for (size_t i = 0; i < model->n; i++) {
        out[i] = fmax(out[i], TOLERANCE_FLOOR * most);
        if (!(out[i] > 0)) out[i] = atol[i];
    }
}
