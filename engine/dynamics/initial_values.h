/* initial_values.h — the consistent state that is nearest to a specified state. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Replaces the original values (q0, v0) by the nearest consistent values (q, v) in the metric of M at (q0, v0):
 *
 *     min (q − q0)ᵀM(q − q0)  subject to Φ = 0
 *     min (v − v0)ᵀM(v − v0)  subject to the velocity-level constraints
 *
 * Sets *residual to the largest scaled residual of the original values. If this residual exceeds INITIAL_MISS in strict
 * mode, returns HAMEL_INCONSISTENT, with an error for each violated constraint and the nearest values as a suggestion.
 * If no consistent values are found, returns HAMEL_INCOMPATIBLE. */
hamel_status initial_values_make_consistent(dynamics *k, double t, double *q, double *v, hamel_initialization mode,
                                            double *residual, hamel_error *error) HAMEL_CHECKED;

/* Replaces v by the velocities of least norm that satisfy the constraints and the specified initial values of
 * quasi-velocities and velocities. Returns HAMEL_INCONSISTENT if these conditions contradict each other by more than
 * INITIAL_MISS. If no quasi-velocity has an initial value, does nothing. */
hamel_status initial_velocities_from_quasi(dynamics *k, double t, const double *q, double *v,
                                           hamel_error *error) HAMEL_CHECKED;

/* Up to PROGRAM_LANES tangents of the initial values:
 *   dynamics, quasi   tangents of the outputs of the two programs at the original coordinates and zero velocities
 *                     (outputs × lanes)
 *   u0, v0            tangents of the initial quasi-velocities and velocities (one row per lane) */
typedef struct initial_directions {
    size_t count;
    const double *dynamics, *quasi, *u0, *v0;
} initial_directions;

/* Sets dv[lane] to the tangents of v, the velocities that initial_velocities_from_quasi has computed. Before the call,
 * evaluate `k` at the original coordinates and zero velocities. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status initial_velocities_along(dynamics *k, const double *v, const initial_directions *d,
                                      double *const *dv) HAMEL_CHECKED;

/* Computes the consistent initial state of the model, with accelerations (n) and multipliers (m). If a failure of the
 * last step adds no error, call dynamics_explain. */
hamel_status initial_state(dynamics *k, double *q, double *v, double *a, double *lambda,
                           hamel_error *error) HAMEL_CHECKED;
