/* memory_left.h — tests for free memory before a call of a library that does not handle failed allocations.
 *
 * SUNDIALS 6.4.1 does not check its allocations (SUNLogger_Create, N_VClone). UDUNITS-2 exits if ut_parse runs out of
 * memory. The test is not a guarantee: another thread may allocate the memory before the library does. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

/* Returns true if malloc can provide `vectors` vectors of `length` doubles, each with a header of 512 bytes, and 64 KiB
 * in addition. The header of a SUNDIALS vector contains a table of 56 function pointers (448 bytes). The 64 KiB allow
 * for smaller objects of the libraries. */
static inline bool memory_left(size_t vectors, size_t length) {
    size_t bytes;
    if (__builtin_mul_overflow(length, sizeof(double), &bytes) || __builtin_add_overflow(bytes, 512, &bytes) ||
        __builtin_mul_overflow(bytes, vectors, &bytes) || __builtin_add_overflow(bytes, 64 * 1024, &bytes))
        return false;
    void *volatile block = malloc(bytes); /* volatile: otherwise the compiler removes malloc and free */
    free(block);
    return block != NULL;
}
