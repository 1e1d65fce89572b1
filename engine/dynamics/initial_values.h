/* initial_values.h — a state that satisfies every constraint, nearest to the one given. */
#ifndef HAMEL_SOLVE_INITIAL_VALUES_H
#define HAMEL_SOLVE_INITIAL_VALUES_H

#include "engine/solve/kinetics.h"

/* Replaces (q, v) by the nearest consistent values in the metric of M at the given state: min (q − q0)ᵀM(q − q0) subject
 * to Φ = 0, then min (v − v0)ᵀM(v − v0) subject to the velocity-level constraints. *residual gets the largest scaled
 * residual of the values given. In strict mode a residual above 1e-6 is HAMEL_INCONSISTENT: one fault a constraint, and
 * the nearest values in the suggestion. HAMEL_INCOMPATIBLE when no consistent values were found. */
hamel_status initial_values_make_consistent(kinetics *k, double t, double *q, double *v, hamel_initialization mode,
                                            double *residual, hamel_error *error) HAMEL_CHECKED;

/* Replaces v by the velocities that the quasi-velocities' initial values, the constraints and the velocities given for
 * coordinates fix together; what they leave open is as small as possible. HAMEL_INCONSISTENT when they contradict each
 * other by more than 1e-6. Does nothing for a model without such initial values. */
hamel_status initial_velocities_from_quasi(kinetics *k, double t, const double *q, double *v,
                                           hamel_error *error) HAMEL_CHECKED;

/* Up to PROGRAM_LANES directions: what the programs do along them at the given coordinates and no velocities (outputs ×
 * lanes), and the initial values of quasi-velocities and of coordinates (rows of the model's own lengths). */
typedef struct initial_directions {
    size_t count;
    const double *dynamics, *quasi, *u0, *v0;
} initial_directions;

/* dv[i] := what velocities v of initial_velocities_from_quasi do along each direction. `k` has been evaluated at the given
 * coordinates without velocities. HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status initial_velocities_along(kinetics *k, const double *v, const initial_directions *d,
                                      double *const *dv) HAMEL_CHECKED;

/* The model's initial state on its constraints, with accelerations (n) and multipliers (m); failures are told, but for
 * those that kinetics_explain explains. */
hamel_status initial_state(kinetics *k, double *q, double *v, double *a, double *lambda,
                           hamel_error *error) HAMEL_CHECKED;

#endif
