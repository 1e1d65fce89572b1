/* memory.c — see memory.h.
 *
 * glibc gives a block back when it was mapped by itself, or lies at the end of its heap. By default its threshold for
 * blocks of their own grows up to 32 MiB once such a block has been freed, so that the chunks of large models would stay
 * in the heaps; here it is fixed. What many small blocks leave behind in the heaps is trimmed. */
#include "server/memory.h"

#include "server/stamp.h"

#include <malloc.h>
#include <stddef.h>

enum {
    ARENAS = 4,                     /* hundreds of threads would otherwise each keep freed memory to themselves */
    OWN_MAPPING_BYTES = 512 * 1024, /* more than the ring of a stream, which comes and goes with each run */
    FREE_BYTES = 32 * 1024 * 1024,
};

void memory_set_up(void) {
    mallopt(M_ARENA_MAX, ARENAS);
    mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
    mallopt(M_TRIM_THRESHOLD, FREE_BYTES);
}

void memory_give_back(void) {
    if (mallinfo2().fordblks > (size_t)FREE_BYTES) malloc_trim(FREE_BYTES / 4);
}
