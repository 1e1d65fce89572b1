/* differences.h — comparison of the equations of motion with finite differences of the description.
 *
 * All formulations use one derivation, so they share its errors. This check does not differentiate expressions. It
 * evaluates the Lagrangian (or the Gibbs–Appell function), the dissipation function, the constraints as written and the
 * positions and velocities along which given forces do work, at points near a random state. Finite differences of these
 * values are compared with M, Q, A, b and the friction of the model. */
#pragma once

#include "engine/analyze/analysis_int.h"

/* Compares at states[count], which must satisfy the constraints, and fills *out. In large systems only some coordinates
 * are compared. Allocates in a->memory. On HAMEL_NO_MEMORY and HAMEL_CANCELED an error has been added. */
hamel_status differences_compare(analysis *a, const sample *const *states, size_t count,
                                 hamel_difference_check *out) HAMEL_CHECKED;
