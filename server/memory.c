/* memory.c — settings of the C library's allocator; see memory.h.
 *
 * glibc returns a block to the system if the block has its own mapping or is at the end of its heap. By default its
 * threshold for mappings grows up to 32 MiB when such a block is freed, so that freed parts of large models would
 * stay in the heaps. Here the threshold is fixed. Free space between small blocks is trimmed. */
#include "server/memory.h"

#include "server/clock.h"

#include <malloc.h>
#include <stddef.h>

enum {
    ARENAS = 4, /* bound on heaps: otherwise each of hundreds of threads could keep freed memory in its own */
    OWN_MAPPING_BYTES = 512 * 1024, /* above the ring of a stream (256 KiB), which each run allocates */
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
