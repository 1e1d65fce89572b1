/* arena.c — arena allocator: chunks of memory that are freed together.
 *
 * Allocations are taken from the head chunk in sequence. Chunks come from calloc, and no byte is allocated twice, so
 * the arena need not clear allocations. Untouched pages of a large chunk take no physical memory. If a request exceeds
 * the size of the next chunk, it gets a separate chunk after the head. Later allocations continue in the rest of the
 * head chunk.
 *
 * Invariants: `used` is the sum of the sizes of all chunks, headers included. It never exceeds a nonzero `limit`. In
 * each chunk, chunk->used <= chunk->size. Under AddressSanitizer every byte of a chunk that is not allocated is
 * poisoned. */
#include "engine/base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif

#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
enum { ARENA_GAP = 32 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { ARENA_GAP = 0 };
#endif

enum { CHUNK_FIRST = 4096, CHUNK_LARGEST = 1 << 22, ARENA_ALIGNMENT = _Alignof(max_align_t) };

struct arena_chunk {
    arena_chunk *next;
    size_t size, used; /* size: bytes after the header; used: allocated part of these bytes */
};

enum { CHUNK_HEADER = (sizeof(arena_chunk) + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT };

static unsigned char *chunk_bytes(arena_chunk *chunk) {
    return (unsigned char *)chunk + CHUNK_HEADER;
}

void arena_init(arena *a, size_t limit) {
    *a = (arena){.limit = limit};
}

void arena_free(arena *a) {
    for (arena_chunk *chunk = a->head; chunk != NULL;) {
        arena_chunk *next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk_bytes(chunk), chunk->size);
        free(chunk);
        chunk = next;
    }
    *a = (arena){.limit = a->limit};
}

static size_t next_chunk_size(const arena *a) {
    if (a->head == NULL) return CHUNK_FIRST;
    size_t size = a->head->size + CHUNK_HEADER;
    return size >= CHUNK_LARGEST / 2 ? CHUNK_LARGEST : size * 2;
}

/* Creates and links a chunk with space for `need` bytes. Returns NULL if calloc fails or if the chunk would exceed the
 * limit. */
static arena_chunk *chunk_create(arena *a, size_t need) {
    size_t held = a->used + (a->beside ? a->beside->used : 0);
    size_t room = a->limit == 0 ? SIZE_MAX : a->limit > held ? a->limit - held : 0;
    if (room < CHUNK_HEADER || need > room - CHUNK_HEADER) return NULL;
    size_t total = next_chunk_size(a);
    bool alone = a->head != NULL && need > total - CHUNK_HEADER;
    if (need > total - CHUNK_HEADER || total > room) total = need + CHUNK_HEADER;
    arena_chunk *chunk = calloc(1, total), **at = alone ? &a->head->next : &a->head;
    if (chunk == NULL) {
        a->starved = true;
        return NULL;
    }
    chunk->size = total - CHUNK_HEADER;
    a->used += total;
    ASAN_POISON_MEMORY_REGION(chunk_bytes(chunk), chunk->size);
    chunk->next = *at;
    *at = chunk;
    return chunk;
}

void *arena_alloc(arena *a, size_t count, size_t size) {
    size_t bytes, need = ARENA_ALIGNMENT;
    bool fits = !__builtin_mul_overflow(count, size, &bytes) && bytes <= (size_t)PTRDIFF_MAX / 2;
    if (fits && bytes > 0) need = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT + ARENA_GAP;
    arena_chunk *chunk = a->head;
    if (fits && (chunk == NULL || chunk->size - chunk->used < need)) chunk = chunk_create(a, need);
    if (!fits || chunk == NULL) {
        a->failed = true;
        return NULL;
    }
    unsigned char *result = chunk_bytes(chunk) + chunk->used;
    chunk->used += need;
    assert(chunk->used <= chunk->size && (a->limit == 0 || a->used <= a->limit));
    ASAN_UNPOISON_MEMORY_REGION(result, bytes);
    return result;
}

double *arena_doubles(arena *a, size_t count) {
    return arena_alloc(a, count, sizeof(double));
}

int *arena_ints(arena *a, size_t count) {
    return arena_alloc(a, count, sizeof(int));
}

bool arena_vectors(arena *a, const arena_vector *list, size_t count) {
    for (size_t i = 0; i < count; i++) *list[i].items = arena_doubles(a, list[i].count);
    return !a->failed;
}

void *arena_grow(arena *a, void *items, size_t *capacity, size_t needed, size_t size) {
    assert(items != NULL || *capacity == 0);
    if (needed <= *capacity && items != NULL) return items;
    size_t larger = *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity * 2;
    if (larger < needed) larger = needed;
    if (larger < 8) larger = 8;
    bool failed = a->failed;
    void *result = arena_alloc(a, larger, size);
    if (result == NULL && larger > needed) {
        larger = needed; /* near the limit, a chunk of `needed` bytes may still fit */
        result = arena_alloc(a, larger, size);
    }
    if (result == NULL) return NULL;
    a->failed = failed;
    if (items != NULL) memcpy(result, items, *capacity * size);
    *capacity = larger;
    return result;
}

char *arena_text(arena *a, const char *text, size_t length) {
    if (length == SIZE_MAX) return NULL;
    char *copy = arena_alloc(a, length + 1, 1);
    if (copy == NULL) return NULL;
    if (length > 0) memcpy(copy, text, length);
    return copy; /* the byte after the copy is already 0 */
}

char *arena_format(arena *a, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) return NULL;
    char *text = arena_alloc(a, (size_t)length + 1, 1);
    if (text == NULL) return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
