/* arena.h — arena allocator: allocations are freed together. Each description, model and solver has its own arena.
 *
 * Chunks are allocated by calloc, grow geometrically and are freed all at once. `limit` bounds their total size, so
 * that a client's description cannot exhaust memory. Under AddressSanitizer the unused part of a chunk and a gap after
 * each allocation are poisoned, so that overruns are reported. Not thread-safe. */
#pragma once

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct arena_chunk arena_chunk;
typedef struct arena {
    arena_chunk *head;
    size_t used;                /* total size of all chunks in bytes */
    size_t limit;               /* upper bound on `used`; 0: no limit */
    bool starved;               /* calloc has failed; `starved` remains false if the limit is reached */
    bool failed;                /* an allocation has returned NULL; one test after several allocations suffices */
    const struct arena *beside; /* another arena whose size counts against the limit, or NULL */
} arena;

void arena_init(arena *a, size_t limit);
void arena_free(arena *a); /* frees every allocation; the arena may be used again */

/* Returns zeroed memory aligned for any type, or NULL if calloc fails or the limit is reached. `count * size` is
 * checked for overflow. A request for zero bytes returns a valid pointer. */
void *arena_alloc(arena *a, size_t count, size_t size);
double *arena_doubles(arena *a, size_t count);
int *arena_ints(arena *a, size_t count);

/* Allocates the arrays of doubles listed as {&pointer, count}, and sets their pointers. Returns false if a->failed. */
#define ARENA_DOUBLES(a, ...)                             \
    arena_vectors(a, (const arena_vector[]){__VA_ARGS__}, \
                  sizeof((const arena_vector[]){__VA_ARGS__}) / sizeof(arena_vector))
typedef struct arena_vector {
    double **items;
    size_t count;
} arena_vector;
bool arena_vectors(arena *a, const arena_vector *list, size_t count);

/* Grows an array of *capacity items to at least `needed` items by doubling. The old arrays remain in the arena; all old
 * arrays together are at most as large as the final array. Returns the new array, or NULL on failure; the old array
 * then remains valid. */
void *arena_grow(arena *a, void *items, size_t *capacity, size_t needed, size_t size);

char *arena_text(arena *a, const char *text, size_t length); /* NUL-terminated copy */
char *arena_format(arena *a, const char *format, ...) HAMEL_PRINTF(2, 3);
