/* jerk.h — third derivatives of the coordinates along the motion.
 *
 * The time derivatives of the equations of motion r(t, q, q', q'', λ) = M q'' − Q − Aᵀλ = 0 and A q'' − b = 0 are
 * linear in q''' and λ'. Their matrix is that of the equations of motion:
 *
 *     M q''' − Aᵀλ' = −dr/dt,   A q''' = −d(A q'' − b)/dt
 *
 * In the derivatives on the right-hand sides, q'' and λ are held constant.
 *
 * Models with friction, nonideal constraints or forces that depend on multipliers (including servo-constraints) are not
 * supported; path_rate (engine/system/path.c) rejects them. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Sets k->jerk[n] to q''' at the state evaluated last, whose accelerations are a[n] and whose multipliers are
 * lambda[m]. model->observation.jerk must not be NULL. Returns HAMEL_SINGULAR if the equations do not determine q''',
 * HAMEL_INCOMPATIBLE if redundant constraints contradict each other, and HAMEL_NOT_FINITE if a right-hand side is not
 * finite. */
hamel_status jerk_compute(dynamics *k, const double *a, const double *lambda) HAMEL_CHECKED;
