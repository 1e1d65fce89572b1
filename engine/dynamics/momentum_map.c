/* momentum_map.c — see the header. */
#include "engine/dynamics/momentum_map.h"

#include "engine/base/finite.h"
#include "engine/linear/dense.h"
#include "engine/linear/newton_progress.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Lower bound on the tolerance of a momentum, relative to the largest tolerance. Coefficients of M that are small
 * initially may grow before the tolerances are updated. With this bound, a tolerance is then too strict by at most a
 * factor of 1e3. */
static const double TOLERANCE_FLOOR = 1e-3;

enum { ITERATIONS = 40, HALVINGS = 60, TRIALS = 12 };

bool momentum_map_create(momentum_map *map, const discrete_state *state, arena *memory) {
    const hamel_model *model = state->model;
    size_t count = model->momenta.count;
    *map = (momentum_map){.model = model, .state = state};
    map->work = model_workspace(model, model->momenta.program, memory);
    return ARENA_DOUBLES(memory, {&map->values, count}, {&map->dots, count * PROGRAM_LANES},
                         {&map->tangent_work, program_tangent_doubles(model->momenta.program)},
                         {&map->seeds, (2 * model->n + 1) * PROGRAM_LANES}, {&map->step, model->n});
}

static bool is_finite(const momentum_map *map) {
    return all_finite(map->values, map->model->momenta.count);
}

hamel_status momentum_map_evaluate(momentum_map *map, double t, const double *q, const double *v, hamel_error *error) {
    const hamel_model *model = map->model;
    program_inputs in = discrete_state_inputs(map->state, &t, q, v, NULL, NULL);
    program_evaluate(model->momenta.program, &in, map->work, map->values);
    if (is_finite(map)) return HAMEL_OK;
    if (!error) return HAMEL_NOT_FINITE;
    return model_not_finite(model, model->momenta.program, &in, map->work, t, "", "a momentum", error);
}

hamel_status momentum_map_differentiate(momentum_map *map, double t, const double *q, const double *v, double dt,
                                        const double *dq, const double *dv) {
    const hamel_model *model = map->model;
    double *of_time = map->seeds, *of_q = of_time + PROGRAM_LANES, *of_v = of_q + model->n * PROGRAM_LANES;
    program_inputs in = discrete_state_inputs(map->state, &t, q, v, NULL, NULL), seeds = {{0}};
    of_time[0] = dt;
    for (size_t i = 0; dq && i < model->n; i++) of_q[i * PROGRAM_LANES] = dq[i];
    for (size_t i = 0; dv && i < model->n; i++) of_v[i * PROGRAM_LANES] = dv[i];
    seeds.values[SYMBOL_TIME] = of_time;
    seeds.values[SYMBOL_COORDINATE] = dq ? of_q : NULL;
    seeds.values[SYMBOL_VELOCITY] = dv ? of_v : NULL;
    program_tangent(model->momenta.program, &in, &seeds, map->work, map->tangent_work, map->values, map->dots);
    double sum = 0;
    for (size_t i = 0; i < model->momenta.count; i++) sum += 0 * map->dots[i * PROGRAM_LANES];
    return sum == 0 && is_finite(map) ? HAMEL_OK : HAMEL_NOT_FINITE;
}

typedef struct inversion {
    momentum_map *map;
    const momentum_search *search;
    double t, *v;
    const double *q;
} inversion;

static hamel_status evaluate_momenta(const inversion *w, hamel_error *error) {
    return momentum_map_evaluate(w->map, w->t, w->q, w->v, error);
}

/* Returns (target − p)·step for the momenta p evaluated last. */
static double along_step(const inversion *w) {
    double sum = 0;
    for (size_t i = 0; i < w->map->model->n; i++)
        sum += (w->search->p[i] - momentum_map_p(w->map, i)) * w->map->step[i];
    return sum;
}

/* Adds the step to v after halving the step until two conditions hold. The momenta must be finite: relativistic momenta
 * are finite only below the speed of light. The other condition is that |(target − p)·step| does not increase. Short
 * steps satisfy the second condition, because the derivative of (target − p)·step is −stepᵀ M step. If the step
 * satisfies the constraints, this derivative is −(target − p)·step. If constraints are not linear in the velocities,
 * the sign may differ, so only finiteness is tested. */
static hamel_status take_damped_step(const inversion *w, hamel_error *error) {
    size_t n = w->map->model->n;
    double before = w->map->model->dynamics.linear_velocities ? fabs(along_step(w)) : INFINITY;
    for (size_t i = 0; i < n; i++) w->v[i] += w->map->step[i];
    for (int k = 0;; k++) {
        hamel_status status = evaluate_momenta(w, k == HALVINGS ? error : NULL);
        bool better = status == HAMEL_OK && (k >= TRIALS || fabs(along_step(w)) <= before);
        if (better || k == HALVINGS) return status;
        for (size_t i = 0; i < n; i++) {
            w->map->step[i] *= 0.5;
            w->v[i] -= w->map->step[i];
        }
        before *= 0.5;
    }
}

/* Takes one full Newton step, which is exact for linear momenta. */
static hamel_status take_linear_step(const inversion *w, hamel_error *error) {
    size_t n = w->map->model->n;
    hamel_status status = evaluate_momenta(w, error);
    if (status == HAMEL_OK) status = w->search->step(w->search->context, w->search->p, w->map->step);
    for (size_t i = 0; i < n; i++) w->v[i] += w->map->step[i];
    return status;
}

/* Iterates Newton's method from the velocities in v. */
static hamel_status iterate_velocities(const inversion *w, hamel_error *error) {
    size_t n = w->map->model->n;
    hamel_status status = evaluate_momenta(w, error);
    double before = INFINITY;
    for (int k = 0; k < ITERATIONS && status == HAMEL_OK; k++) {
        status = w->search->step(w->search->context, w->search->p, w->map->step);
        if (status != HAMEL_OK) return status;
        double size = dense_magnitude(n, w->map->step), speed = dense_magnitude(n, w->v);
        if (newton_has_ended(&before, speed > 0 ? size / speed : size, NEWTON_STEP)) {
            for (size_t i = 0; i < n; i++) w->v[i] += w->map->step[i];
            return evaluate_momenta(w, error);
        }
        status = take_damped_step(w, error);
    }
    return status == HAMEL_OK ? HAMEL_SINGULAR : status;
}

hamel_status momentum_map_invert(momentum_map *map, double t, const double *q, const momentum_search *search, double *v,
                                 hamel_error *error) {
    assert(search->start != v && map->step != v);
    inversion w = {.map = map, .search = search, .t = t, .v = v, .q = q};
    size_t n = map->model->n;
    /* Newton's method may diverge from a guess near the speed of light in the wrong direction: restart from
     * search->start */
    if (!map->model->momenta.linear && iterate_velocities(&w, NULL) == HAMEL_OK) return HAMEL_OK;
    memcpy(v, search->start, n * sizeof *v);
    hamel_status status = map->model->momenta.linear ? take_linear_step(&w, error) : iterate_velocities(&w, error);
    if (status != HAMEL_SINGULAR || !error || error->status != HAMEL_OK) return status;
    (void)hamel_fail(error, status, "", 0, "at t = %.9g the momenta do not determine the velocities", t);
    hamel_suggest(error, "give every coordinate a mass or inertia, or a constraint that fixes it");
    return status;
}

void momentum_map_tolerances(const momentum_map *map, const double *atol, double *out) {
    const hamel_model *model = map->model;
    memset(out, 0, model->n * sizeof *out);
    sparse_block_multiply_magnitudes(&model->dynamics.M, map->values, atol, out);
    double most = dense_magnitude(model->n, out);
    for (size_t i = 0; i < model->n; i++) {
        out[i] = fmax(out[i], TOLERANCE_FLOOR * most);
        if (!(out[i] > 0)) out[i] = atol[i];
    }
}
