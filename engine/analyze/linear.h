/* linear.h — reduction of local equations to a linear system in independent coordinates. */
#pragma once

#include "engine/analyze/local.h"

#include <lapacke.h>
#include <stdbool.h>

/* Fills *out, except coordinates, q, v, lambda and inputs, from the derivatives in l. The state that they were
 * evaluated at has velocities v[n] and accelerations a[n]. Allocates in `memory`. Returns HAMEL_SINGULAR if
 * accelerations are not determined. */
hamel_status linear_reduce(hamel_linearization *out, const local_equations *l, const double *v, const double *a,
                           arena *memory, hamel_error *error) HAMEL_CHECKED;

/* Returns true if LAPACKE failed to allocate its workspace. */
static inline bool lapacke_starved(int info) {
    return info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR;
}
