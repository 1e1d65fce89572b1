/* linear.h — from local equations to a linear system in independent coordinates. */
#ifndef HAMEL_ANALYZE_LINEAR_H
#define HAMEL_ANALYZE_LINEAR_H

#include "engine/analyze/local.h"

#include <lapacke.h>
#include <stdbool.h>

/* Fills everything of *out but coordinates, q, v, lambda and inputs, from derivatives evaluated at a state whose
 * accelerations are a[n]; memory is the arena's. HAMEL_SINGULAR where accelerations are not determined. */
hamel_status linear_reduce(hamel_linearization *out, const local_equations *l, const double *v, const double *a,
                           arena *memory, hamel_error *error) HAMEL_CHECKED;

/* LAPACKE could not do what it was asked for because it got no memory for its work. */
static inline bool lapacke_starved(int info) {
    return info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR;
}

#endif
