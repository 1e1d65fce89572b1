/* lane.h — one integration and the view of it: states brought onto the manifold, with everything observed there. */
#ifndef HAMEL_SIMULATE_LANE_H
#define HAMEL_SIMULATE_LANE_H

#include "engine/simulate/integrator.h"

typedef struct lane {
    const hamel_model *model;
    kinetics *kinetics;
    integrator *integrator;
    double t, *q, *v, *a, *lambda, *free; /* the state seen last, projected */
    double work;                          /* W there */
    double *observed;                     /* outputs, invariants, checks, h */
} lane;

/* Makes workspaces and takes the given initial state, not consistent yet. False with a fault. */
bool lane_create(lane *l, const hamel_model *model, hamel_error *error);
void lane_free(lane *l);

/* Sees the state at a time that the last step covers, or (integrator NULL) the one in q, v: interpolated, projected onto
 * the constraints, accelerations and multipliers solved for, outputs evaluated. */
hamel_status lane_see(lane *l, double t, hamel_error *error);

/* The values of the recorded columns at the state seen last. */
void lane_row(const lane *l, double *row);

static inline const double *lane_invariants(const lane *l) {
    return l->observed + l->model->output_count;
}
static inline const double *lane_checks(const lane *l) {
    return lane_invariants(l) + l->model->invariant_count;
}
static inline double lane_jacobi(const lane *l) {
    return l->observed[l->model->observed_count - 1];
}

#endif
