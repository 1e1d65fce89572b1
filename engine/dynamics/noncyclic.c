/* noncyclic.c — velocities of the noncyclic coordinates as velocity variables w (engine/mechanics/routh.c).
 *
 * The momenta β of the cyclic coordinates are computed at the start of the run and after each event, and are constant
 * between events. For a given w, the cyclic velocities are the solution of p_c(t, q, q') = β_c. If L is quadratic, this
 * equation is M_cc q'_c = β_c − M_cn w − ... */
#include "engine/dynamics/momentum_map.h"
#include "engine/dynamics/variables.h"
#include "engine/linear/dense.h"

#include <assert.h>
#include <string.h>

typedef struct noncyclic {
    momentum_map map;
    size_t cyclic_count;
    /* cyclic: indices of the cyclic_count cyclic coordinates; other: indices of the noncyclic coordinates */
    size_t *cyclic, *other;
    size_t *place; /* n: index of a coordinate in `cyclic` or `other` */
    /* n entries each; beta: momenta (only cyclic entries are used); start, direction: scratch */
    double *beta, *start, *direction;
    double *matrix, *scale, *right; /* matrix, scale: M_cc and its factors; right: cyclic_count entries */
    size_t *pivot;
} noncyclic;

static hamel_status noncyclic_open(variables *x, hamel_error *error) {
    const hamel_model *model = x->dynamics->model;
    arena *memory = &x->memory;
    noncyclic *o = x->own = arena_alloc(memory, 1, sizeof *o);
    size_t n = x->n, count = 0;
    for (size_t i = 0; i < n; i++) count += model->momenta.cyclic[i];
    if (!o || !momentum_map_create(&o->map, &x->dynamics->discrete_state, memory)) return hamel_out_of_memory(error);
    o->cyclic = arena_alloc(memory, count, sizeof *o->cyclic);
    o->other = arena_alloc(memory, n - count, sizeof *o->other);
    o->place = arena_alloc(memory, n, sizeof *o->place);
    o->pivot = arena_alloc(memory, count, sizeof *o->pivot);
    if (!ARENA_DOUBLES(memory, {&o->beta, n}, {&o->start, n}, {&o->direction, n}, {&o->matrix, count * count},
                       {&o->scale, count}, {&o->right, count}))
        return hamel_out_of_memory(error);
    x->count = 0;
    for (size_t i = 0; i < n; i++) {
        o->place[i] = model->momenta.cyclic[i] ? o->cyclic_count : x->count;
        if (model->momenta.cyclic[i])
            o->cyclic[o->cyclic_count++] = i;
        else
            o->other[x->count++] = i;
    }
    hamel_status status = momentum_map_evaluate(&o->map, x->t, x->q, x->v, error);
    for (size_t i = 0; i < n; i++) o->beta[i] = momentum_map_p(&o->map, i);
    return status;
}

/* Solves M_cc z = o->right at the values evaluated last and stores z in the cyclic entries of out[n]. */
static hamel_status solve_cyclic(const variables *x, noncyclic *o, double *out) {
    assert(o->cyclic_count + x->count == x->n);
    const hamel_model *model = x->dynamics->model;
    size_t c = o->cyclic_count;
    memset(o->matrix, 0, c * c * sizeof *o->matrix);
    for (size_t e = 0; e < model->dynamics.M.count; e++) {
        size_t i = (size_t)model->dynamics.M.row[e], j = (size_t)model->dynamics.M.column[e];
        if (!model->momenta.cyclic[i] || !model->momenta.cyclic[j]) continue;
        o->matrix[o->place[i] + c * o->place[j]] = o->matrix[o->place[j] + c * o->place[i]] =
            o->map.values[model->dynamics.M.at + e];
    }
    if (!dense_lu(c, o->matrix, o->pivot, o->scale)) return HAMEL_SINGULAR;
    dense_lu_solve(c, o->matrix, o->pivot, o->scale, o->right);
    for (size_t k = 0; k < c; k++) out[o->cyclic[k]] = o->right[k];
    return HAMEL_OK;
}

static hamel_status step_towards(void *context, const double *p, double *step) {
    const variables *x = context;
    noncyclic *o = x->own;
    memset(step, 0, x->n * sizeof *step);
    for (size_t k = 0; k < o->cyclic_count; k++) o->right[k] = p[o->cyclic[k]] - momentum_map_p(&o->map, o->cyclic[k]);
    return solve_cyclic(x, o, step);
}

static hamel_status noncyclic_velocities(variables *x, const double *w, hamel_error *error) {
    noncyclic *o = x->own;
    momentum_search search = {.p = o->beta, .start = o->start, .step = step_towards, .context = x};
    for (size_t k = 0; k < x->count; k++) o->start[o->other[k]] = x->v[o->other[k]] = w[k];
    return momentum_map_invert(&o->map, x->t, x->q, &search, x->v, error);
}

static hamel_status take_others(const variables *x, const double *from, double *to) {
    const noncyclic *o = x->own;
    for (size_t k = 0; k < x->count; k++) to[k] = from[o->other[k]];
    return HAMEL_OK;
}

static hamel_status noncyclic_from_velocities(variables *x, double *w) {
    return take_others(x, x->v, w);
}

static hamel_status noncyclic_rates(variables *x, const double *a, const double *lambda, double *dw) {
    (void)lambda;
    return take_others(x, a, dw);
}

/* Computes the differential dv of q' for dt, dq and dw at constant momenta. The cyclic part solves M_cc dv_c = −dp_c,
 * where dp_c is the differential of the momenta for dv_c = 0. */
static hamel_status noncyclic_velocity_change(variables *x, double dt, const double *dq, const double *dw, double *dv) {
    noncyclic *o = x->own;
    memset(o->direction, 0, x->n * sizeof *o->direction);
    for (size_t k = 0; k < x->count; k++) o->direction[o->other[k]] = dw[k];
    hamel_status status = momentum_map_differentiate(&o->map, x->t, x->q, x->v, dt, dq, o->direction);
    if (status != HAMEL_OK) return status;
    for (size_t k = 0; k < o->cyclic_count; k++) o->right[k] = -momentum_map_p_dot(&o->map, o->cyclic[k]);
    memcpy(dv, o->direction, x->n * sizeof *dv);
    return solve_cyclic(x, o, dv);
}

static hamel_status noncyclic_change(variables *x, const double *dq, const double *dv, double *dw) {
    (void)dq;
    return take_others(x, dv, dw);
}

static void noncyclic_tolerances(const variables *x, const double *atol, double *out) {
    (void)take_others(x, atol, out);
}

const variables_table variables_noncyclic = {
    .open = noncyclic_open,
    .velocities = noncyclic_velocities,
    .from_velocities = noncyclic_from_velocities,
    .rates = noncyclic_rates,
    .velocity_change = noncyclic_velocity_change,
    .change = noncyclic_change,
    .tolerances = noncyclic_tolerances,
};
