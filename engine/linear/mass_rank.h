/* mass_rank.h — tests whether a mass matrix is singular.
 *
 * The mass matrix of the four coordinates of a quaternion has rank three, and coordinates without inertia have zero
 * rows. Constraints compensate for the missing rank. If such a matrix is eliminated without pivoting, the last pivot is
 * a rounding error. Near states at which an earlier pivot is small, this rounding error is so large that it can be
 * mistaken for a regular pivot. Singular mass matrices are therefore detected in advance. */
#pragma once

#include "engine/base/error.h"
#include "engine/linear/sparse_block.h"

/* Sets *singular to true if the symmetric, positive semidefinite M is singular within rounding errors relative to its
 * diagonal. Uncoupled parts of M are tested separately. Parts that are indefinite or too large for dense matrices are
 * treated as regular. Returns HAMEL_OK or HAMEL_NO_MEMORY. */
hamel_status mass_is_singular(const sparse_block *M, const double *values, bool *singular) HAMEL_CHECKED;
