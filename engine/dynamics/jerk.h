/* jerk.h — third derivatives of the coordinates along the motion.
 *
 * The derivatives of the equations of motion r(t, q, q', q'', λ) = M q'' − Q − Aᵀλ = 0 and A q'' − b = 0 are linear in
 * q''' and λ', with the matrix of the equations themselves:
 *
 *     M q''' − Aᵀλ' = −dr/dt,   A q''' = −d(A q'' − b)/dt      q'' and λ constant on the right-hand sides
 *
 * The equations must not contain friction, nonideal reactions or forces that depend on multipliers. */
#pragma once

#include "engine/dynamics/dynamics.h"

/* Sets k->jerk to q''' for the accelerations a and the multipliers lambda of the state evaluated last. The model must
 * have observation.jerk. Returns HAMEL_OK, HAMEL_SINGULAR, HAMEL_NOT_FINITE or HAMEL_INCOMPATIBLE. */
hamel_status jerk_compute(dynamics *k, const double *a, const double *lambda) HAMEL_CHECKED;
