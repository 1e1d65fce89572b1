/* memory_left.h — is there memory for a library that does not look whether it gets any (SUNDIALS 6.4.1: SUNLogger_Create,
 * N_VClone), or ends the process then (UDUNITS-2: ut_parse)? Asked before such a library is called. It is no promise: another thread may take what was there. */
#ifndef HAMEL_BASE_MEMORY_LEFT_H
#define HAMEL_BASE_MEMORY_LEFT_H

#include <stdbool.h>
#include <stddef.h>

/* `vectors` of `length` doubles, and what comes with them. */
bool memory_left(size_t vectors, size_t length);

#endif
