/* momentum_map.h — momenta p = ∂L/∂q' and velocity-level residuals ψ with their derivatives at any state.
 *
 * An evaluation of the map does not change the values that dynamics_evaluate has computed. */
#pragma once

#include "engine/dynamics/discrete_state.h"

typedef struct momentum_map {
    const hamel_model *model;
    const discrete_state *state; /* source of the branches */
    double *values;              /* M, A, p, ψ: outputs of the momenta program at the state evaluated last */
    double *dots;                /* derivatives along the last direction, PROGRAM_LANES for each output */
    double *work, *tangent_work, *seeds, *step;
} momentum_map;

/* `state` is borrowed. Returns false if out of memory. */
bool momentum_map_create(momentum_map *map, const discrete_state *state, arena *memory);

/* Evaluates p, ψ, M and A. Returns HAMEL_OK or HAMEL_NOT_FINITE; `error` may be NULL. */
hamel_status momentum_map_evaluate(momentum_map *map, double t, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

/* Evaluates p, ψ, M and A and their derivatives along (dt, dq, dv). dq[n] and dv[n] may be NULL for zeros. */
hamel_status momentum_map_differentiate(momentum_map *map, double t, const double *q, const double *v, double dt,
                                        const double *dq, const double *dv) HAMEL_CHECKED;

static inline double momentum_map_p(const momentum_map *map, size_t i) {
    return map->values[map->model->momenta.at_momentum + i];
}
static inline double momentum_map_residual(const momentum_map *map, size_t c) {
    return map->values[map->model->momenta.at_velocity + c];
}
static inline double momentum_map_p_dot(const momentum_map *map, size_t i) {
    return map->dots[(map->model->momenta.at_momentum + i) * PROGRAM_LANES];
}
static inline double momentum_map_residual_dot(const momentum_map *map, size_t c) {
    return map->dots[(map->model->momenta.at_velocity + c) * PROGRAM_LANES];
}

/* Input of momentum_map_invert, which finds the velocities for the momenta p[n]. `step` may use a subset of these
 * momenta. */
typedef struct momentum_search {
    const double *p;
    const double *start; /* n: velocities for a second attempt if the guess fails */
    /* Computes the Newton step[n] towards p from the velocities evaluated last. */
    hamel_status (*step)(void *context, const double *p, double *step);
    void *context;
} momentum_search;

/* Computes the velocities v[n]. On entry, v is an initial guess, which is used only if the momenta are not linear in
 * the velocities. Returns HAMEL_OK, HAMEL_SINGULAR or HAMEL_NOT_FINITE. A failure adds an error unless `error` is
 * NULL. */
hamel_status momentum_map_invert(momentum_map *map, double t, const double *q, const momentum_search *search, double *v,
                                 hamel_error *error) HAMEL_CHECKED;

/* Computes absolute tolerances out[n] of the momenta from atol[n] of the velocities. Each tolerance is Σ_j |M_ij|
 * atol_j at the state evaluated last, with a lower bound. */
void momentum_map_tolerances(const momentum_map *map, const double *atol, double *out);
