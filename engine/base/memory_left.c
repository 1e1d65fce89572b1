/* memory_left.c — probe for free memory by malloc and free. */
#include "engine/base/memory_left.h"

#include <stdlib.h>

enum { BESIDES = 64 * 1024, VECTOR_HEAD = 512 };

bool memory_left(size_t vectors, size_t length) {
    size_t bytes;
    if (__builtin_mul_overflow(length, sizeof(double), &bytes) || __builtin_add_overflow(bytes, VECTOR_HEAD, &bytes) ||
        __builtin_mul_overflow(bytes, vectors, &bytes) || __builtin_add_overflow(bytes, BESIDES, &bytes))
        return false;
    void *volatile block = malloc(bytes); /* volatile: otherwise the compiler removes malloc and free */
    free(block);
    return block != NULL;
}
