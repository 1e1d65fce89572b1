/* momentum_map.h — p = ∂L/∂q' and the velocity-level residuals ψ at states of its own, with their derivatives.
 *
 * Belongs to one run; evaluates without touching what the kinetics has evaluated last. */
#ifndef HAMEL_SOLVE_MOMENTUM_MAP_H
#define HAMEL_SOLVE_MOMENTUM_MAP_H

#include "engine/model/model.h"

typedef struct momentum_map {
    const hamel_model *model;
    double *values; /* M, A, p, ψ: the model's momenta program at the state evaluated last */
    double *dots;   /* their derivatives along the direction given last, PROGRAM_LANES each */
    double *work, *tangent_work, *seeds;
} momentum_map;

/* False without memory; momentum_map_close in both cases. */
bool momentum_map_open(momentum_map *map, const hamel_model *model);
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

/* Absolute tolerances of the momenta, out[n], that follow from those of the velocities: Σ_j |M_ij| atol_j, where that
 * is not too small by chance, at the state evaluated last. */
void momentum_map_tolerances(const momentum_map *map, const double *atol, double *out);

#endif
