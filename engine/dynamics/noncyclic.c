/* noncyclic.c — variables w = q' of the coordinates that are not cyclic (engine/mechanics/routh.c).
 *
 * The momenta β of the cyclic ones are taken where the run starts, or starts again after an event, and never change. Their
 * velocities solve p_c(t, q, q') = β_c with the other velocities given: M_cc q'_c = β − M_cn w − ... where L is quadratic. */
#include "engine/solve/dense.h"
#include "engine/solve/momentum_map.h"
#include "engine/solve/variables_int.h"

#include <stdlib.h>
#include <string.h>

typedef struct noncyclic {
    momentum_map map;
    size_t cyclic_count;
    size_t *cyclic, *other;           /* coordinates; as many as cyclic_count, and as w */
    size_t *place;                    /* n: of a coordinate in its list */
    double *beta, *start, *direction; /* n each: momenta (only cyclic entries count); scratch */
    double *matrix, *scale, *right;   /* M_cc and its factors; of cyclic_count */
    size_t *pivot;
} noncyclic;

static void noncyclic_close(variables *x) {
    noncyclic *o = x->own;
    if (!o) return;
    momentum_map_close(&o->map);
    free(o->cyclic);
    free(o->beta);
    free(o);
    x->own = NULL;
}

static hamel_status noncyclic_open(variables *x, hamel_error *error) {
    const hamel_model *model = x->kinetics->model;
    noncyclic *o = x->own = calloc(1, sizeof *o);
    size_t n = x->n, count = 0;
    for (size_t i = 0; i < n; i++) count += model->cyclic[i];
    bool good = o && momentum_map_open(&o->map, &x->kinetics->mode);
    if (good) o->cyclic = calloc(2 * n + count + 1, sizeof *o->cyclic);
    if (good) o->beta = calloc(3 * n + count * (count + 2) + 1, sizeof *o->beta);
    if (!good || !o->cyclic || !o->beta)
        return hamel_fail(error, HAMEL_NO_MEMORY, "", 0, "no memory for the variables of the formulation");
    o->other = o->cyclic + count;
    o->place = o->cyclic + n;
    o->pivot = o->place + n;
    o->start = o->beta + n;
    o->direction = o->start + n;
    o->matrix = o->direction + n;
    o->scale = o->matrix + count * count;
    o->right = o->scale + count;
    x->count = 0;
    for (size_t i = 0; i < n; i++) {
        o->place[i] = model->cyclic[i] ? o->cyclic_count : x->count;
        if (model->cyclic[i])
            o->cyclic[o->cyclic_count++] = i;
        else
            o->other[x->count++] = i;
    }
    hamel_status status = momentum_map_evaluate(&o->map, x->t, x->q, x->v, error);
    for (size_t i = 0; i < n; i++) o->beta[i] = momentum_map_p(&o->map, i);
    return status;
}

/* M_cc z = o->right at the values evaluated last; z into the cyclic entries of out[n]. */
static hamel_status solve(const variables *x, noncyclic *o, double *out) {
    const hamel_model *model = x->kinetics->model;
    size_t c = o->cyclic_count;
    memset(o->matrix, 0, c * c * sizeof *o->matrix);
    for (size_t e = 0; e < model->M.count; e++) {
        size_t i = (size_t)model->M.row[e], j = (size_t)model->M.column[e];
        if (!model->cyclic[i] || !model->cyclic[j]) continue;
        o->matrix[o->place[i] + c * o->place[j]] = o->matrix[o->place[j] + c * o->place[i]] =
            o->map.values[model->at_M + e];
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
    return solve(x, o, step);
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

/* The change dv of q' with changes of t, q and w at constant momenta: M_cc dv_c = −(dp_c without it). */
static hamel_status change_velocities(variables *x, double dt, const double *dq, const double *dw, double *dv) {
    noncyclic *o = x->own;
    memset(o->direction, 0, x->n * sizeof *o->direction);
    for (size_t k = 0; k < x->count; k++) o->direction[o->other[k]] = dw[k];
    hamel_status status = momentum_map_differentiate(&o->map, x->t, x->q, x->v, dt, dq, o->direction);
    if (status != HAMEL_OK) return status;
    for (size_t k = 0; k < o->cyclic_count; k++) o->right[k] = -momentum_map_p_dot(&o->map, o->cyclic[k]);
    memcpy(dv, o->direction, x->n * sizeof *dv);
    return solve(x, o, dv);
}

static hamel_status noncyclic_velocity_change(variables *x, const double *dq, const double *dw, double *dv) {
    return change_velocities(x, 0, dq, dw, dv);
}

static hamel_status noncyclic_accelerations(variables *x, const double *dw, double *a) {
    return change_velocities(x, 1, x->v, dw, a);
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
    .close = noncyclic_close,
    .velocities = noncyclic_velocities,
    .from_velocities = noncyclic_from_velocities,
    .rates = noncyclic_rates,
    .accelerations = noncyclic_accelerations,
    .velocity_change = noncyclic_velocity_change,
    .change = noncyclic_change,
    .tolerances = noncyclic_tolerances,
};
