/* arena.h — memory that lives and dies together: one arena per description and per model.
 *
 * Chunks are taken from malloc, grow geometrically and are freed all at once. `limit` bounds the sum, so that a
 * client's description cannot make the process grow without end. Under AddressSanitizer the unused part of a chunk
 * and a gap after each allocation are poisoned, so that an overrun is seen. One thread at a time. */
#ifndef HAMEL_BASE_ARENA_H
#define HAMEL_BASE_ARENA_H

#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct arena_chunk arena_chunk;
typedef struct arena {
    arena_chunk *head;
    size_t used;  /* bytes handed out and held in chunks */
    size_t limit; /* bytes that may be held; 0: no limit */
    bool starved; /* the machine has refused memory: it was not the limit */
} arena;

void arena_init(arena *a, size_t limit);
void arena_free(arena *a); /* frees every allocation; the arena may be used again */

/* Zeroed memory aligned for any type, or NULL when malloc fails or the limit is reached. `count * size` is checked
 * for overflow. Zero bytes give a valid pointer. */
void *arena_alloc(arena *a, size_t count, size_t size);

/* Makes room for at least `needed` items in an array of *capacity items, doubling; the old array stays in the arena,
 * so the sum wasted is at most the final size. Returns the array to use, or NULL (the old one then still holds). */
void *arena_grow(arena *a, void *items, size_t *capacity, size_t needed, size_t size);

char *arena_text(arena *a, const char *text, size_t length); /* copy, NUL added */
char *arena_format(arena *a, const char *format, ...) HAMEL_PRINTF(2, 3);

#endif
