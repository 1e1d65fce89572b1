/* initial_values.h — the state nearest to a specified one that satisfies all constraints. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Replaces (q, v) by the nearest consistent values in the metric of M at the given state: min (q − q0)ᵀM(q − q0)
 * subject to Φ = 0, then min (v − v0)ᵀM(v − v0) subject to the velocity-level constraints. Sets *residual to the
 * largest scaled residual of the given values. In strict mode, returns HAMEL_INCONSISTENT if it exceeds INITIAL_MISS,
 * with an error for each violated constraint and the nearest values as a suggestion. Returns HAMEL_INCOMPATIBLE if no
 * consistent values are found. */
hamel_status initial_values_make_consistent(dynamics *k, double t, double *q, double *v, hamel_initialization mode,
                                            double *residual, hamel_error *error) HAMEL_CHECKED;

/* Replaces v by the smallest velocities that satisfy the initial values of quasi-velocities, the constraints and the
 * given velocities of coordinates. Returns HAMEL_INCONSISTENT if these contradict each other by more than INITIAL_MISS.
 * Does nothing for a model without such initial values. */
hamel_status initial_velocities_from_quasi(dynamics *k, double t, const double *q, double *v,
                                           hamel_error *error) HAMEL_CHECKED;

/* Up to PROGRAM_LANES tangents of the initial values. dynamics, quasi: tangents of the two programs at the given
 * coordinates and zero velocities (outputs × lanes). u0, v0: tangents of the initial quasi-velocities and velocities
 * (one row per lane). */
typedef struct initial_directions {
    size_t count;
    const double *dynamics, *quasi, *u0, *v0;
} initial_directions;

/* Sets dv[lane] to the tangents of the velocities v computed by initial_velocities_from_quasi. First evaluate `k` at
 * the given coordinates and zero velocities. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status initial_velocities_along(dynamics *k, const double *v, const initial_directions *d,
                                      double *const *dv) HAMEL_CHECKED;

/* Computes the consistent initial state of the model, with accelerations (n) and multipliers (m). A failure of
 * the final solution adds no error; call dynamics_explain. */
hamel_status initial_state(dynamics *k, double *q, double *v, double *a, double *lambda,
                           hamel_error *error) HAMEL_CHECKED;
