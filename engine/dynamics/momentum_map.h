/* momentum_map.h — p = ∂L/∂q' and the velocity-level residuals ψ at states of its own, with their derivatives.
 *
 * Belongs to one run; evaluates without touching what the kinetics has evaluated last. */
#ifndef HAMEL_SOLVE_MOMENTUM_MAP_H
#define HAMEL_SOLVE_MOMENTUM_MAP_H

#include "engine/solve/mode.h"

typedef struct momentum_map {
    const hamel_model *model;
    const motion_mode *mode; /* whose branches hold */
    double *values;          /* M, A, p, ψ: the model's momenta program at the state evaluated last */
    double *dots;            /* their derivatives along the direction given last, PROGRAM_LANES each */
    double *work, *tangent_work, *seeds, *step;
} momentum_map;

/* `mode` is borrowed. False without memory; momentum_map_close in both cases. */
bool momentum_map_open(momentum_map *map, const motion_mode *mode);
void momentum_map_close(momentum_map *map);

/* HAMEL_OK or HAMEL_NOT_FINITE; `error` may be NULL. */
hamel_status momentum_map_evaluate(momentum_map *map, double t, const double *q, const double *v,
                                   hamel_error *error) HAMEL_CHECKED;

/* The same, and the derivatives along (dt, dq, dv); dq[n] and dv[n] may be NULL for zeros. */
hamel_status momentum_map_differentiate(momentum_map *map, double t, const double *q, const double *v, double dt,
                                        const double *dq, const double *dv) HAMEL_CHECKED;

static inline double momentum_map_p(const momentum_map *map, size_t i) {
    return map->values[map->model->at_momentum + i];
}
static inline double momentum_map_residual(const momentum_map *map, size_t c) {
    return map->values[map->model->at_momentum_velocity + c];
}
static inline double momentum_map_p_dot(const momentum_map *map, size_t i) {
    return map->dots[(map->model->at_momentum + i) * PROGRAM_LANES];
}
static inline double momentum_map_residual_dot(const momentum_map *map, size_t c) {
    return map->dots[(map->model->at_momentum_velocity + c) * PROGRAM_LANES];
}

/* Velocities are sought whose momenta are p[n], or those of them that `step` cares for. */
typedef struct momentum_search {
    const double *p;
    const double *start; /* n: velocities to start from where the guess is of no use */
    /* Newton's step[n] towards p from the velocities evaluated last. */
    hamel_status (*step)(void *context, const double *p, double *step);
    void *context;
} momentum_search;

/* v[n]: on entry a guess, which only momenta that are not linear in the velocities use; then the velocities found.
 * HAMEL_OK, HAMEL_SINGULAR, HAMEL_NOT_FINITE, with a fault unless `error` is NULL. */
hamel_status momentum_map_invert(momentum_map *map, double t, const double *q, const momentum_search *search, double *v,
                                 hamel_error *error) HAMEL_CHECKED;

/* Absolute tolerances of the momenta, out[n], that follow from those of the velocities: Σ_j |M_ij| atol_j, where that
 * is not too small by chance, at the state evaluated last. */
void momentum_map_tolerances(const momentum_map *map, const double *atol, double *out);

#endif
