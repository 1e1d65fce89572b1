/* memory_left.h — test for free memory before calls of libraries that do not check their allocations (SUNDIALS 6.4.1:
 * SUNLogger_Create, N_VClone) or exit if out of memory (UDUNITS-2: ut_parse). Another thread may allocate the memory in
 * between. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true if `vectors` vectors of `length` doubles with their headers can be allocated. */
bool memory_left(size_t vectors, size_t length);
