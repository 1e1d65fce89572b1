/* vector_ops.h — N_Vector operations of our own.
 *
 * Debian's libsundials is built without optimization, and its vector loops then dominate the cost of a step. The data
 * stay those of a serial N_Vector; only the operations that CVODE spends its time in are replaced. */
#ifndef HAMEL_SIMULATE_VECTOR_OPS_H
#define HAMEL_SIMULATE_VECTOR_OPS_H

#include <nvector/nvector_serial.h>

/* A serial vector of `length` zeros with our operations, inherited by its clones. N_VDestroy; NULL without memory. */
N_Vector vector_create(sunindextype length, SUNContext context);

#endif
