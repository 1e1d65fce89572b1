/* vector_ops.h — vectorized N_Vector operations.
 *
 * Debian's libsundials is built without optimization, so its vector loops would dominate the cost of a step. The data
 * are those of a serial N_Vector. Only the operations in which CVODE spends most of its time are replaced. */
#pragma once

#include <nvector/nvector_serial.h>

/* Creates a serial vector of `length` zeros with these operations, which its clones inherit. Free it with N_VDestroy.
 * Returns NULL if out of memory. */
N_Vector vector_create(sunindextype length, SUNContext context);
